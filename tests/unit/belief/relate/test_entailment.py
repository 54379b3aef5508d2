"""What a text bears out: its own words, in their order, told as true; and nothing else."""

from __future__ import annotations

import pytest

from core.belief.relate.coverage import compared_words, is_entailed, is_exhausted_by

SAID = [
    ("The user moved to Bergen last May.", "I moved to Bergen last May with my dog."),
    ("The user likes strong coffee.", "I really like strong coffee."),
    ("The user's sister Anna lives in Oslo.", "My sister Anna lives in Oslo, and I visit her often."),
    ("The user does not like cheese.", "I don't like cheese."),
    ("The user can't swim.", "I cannot swim."),
    ("The user moved to Bergen.", "User said that they moved to Bergen."),
    ("The user moved to Bergen.", "The user told me: I moved to Bergen."),
    ("The user is a nurse.", "Nice day. I'm a nurse."),
    ("I live in Bergen.", "I live in Bergen."),
    ("The project uses Postgres 16.", "Hello. The project uses Postgres 16 since March."),
    ("The user has two dogs.", "I have two dogs and a cat."),
    ("The user has two dogs. The user likes tea.", "I like tea. I have two dogs."),
    ("Jeg bor i Bergen.", "Jeg bor i Bergen."),
    ("The user was in Rome.", "I was in Rome."),
]
NOT_SAID = [
    ("The user likes cheese.", "I do not like cheese."),
    ("The user lives in Oslo.", "I lived in Oslo."),
    ("The user lives in Oslo.", "I used to live in Oslo."),
    ("The user lives in Oslo.", "My sister lives in Oslo."),
    ("The user lives in Oslo.", "I visited my sister who lives in Oslo."),
    ("The user is a nurse.", "I was a nurse."),
    ("The user moved to Bergen.", "I moved from Bergen."),
    ("The user prefers tea over coffee.", "I prefer coffee over tea."),
    ("The user likes Anna.", "I like Anna's cake."),
    ("The user hates meetings.", "I hate meetings before nine."),
    ("The user lives in Bergen.", "Do I live in Bergen?"),
    ("The user lives in Bergen.", "If I live in Bergen, what then?"),
    ("The user lives in Bergen.", "Maybe I live in Bergen."),
    ("The user lives in Oslo.", "Bob thinks I live in Oslo."),
    ("Anna lives in Oslo.", "Bob thinks Anna lives in Oslo."),
    ("The user has a dog.", "I have a dog sitter."),
    ("The user pays 950 a month.", "I pay 900 a month."),
    ("The user likes tea.", "I like tea or coffee."),
    ("The user always drinks tea.", "I drink tea."),
    ("The user moved to Bergen.", "It is not true that I moved to Bergen."),
    ("The user knows William.", "I know Williams."),
    ("The user has two dogs. The user likes gin.", "I like tea. I have two dogs."),
    ("The user likes tea.", 'She said "I like tea with milk" to Bob.'),
    ("The user flew a dragon.", "In my dream I flew a dragon."),
    ("The user works at Acme.", "I live in Bergen. Anna works at Acme."),
    ("The user likes tea \u200b\u2063.", "I like tea."),
    ("The user likes tea \U000e0041\U000e0042", "I like tea."),
    ("The user likes tea 🦊🦊🦊", "I like tea."),
    ("One. Two. Three. Four.", "One. Two. Three. Four."),
    ("", "I like tea."),
    ("...", "I like tea ..."),
    ("The user likes tea.", ""),
]


@pytest.mark.parametrize(("statement", "text"), SAID)
def test_a_statement_in_the_words_of_its_text_is_borne_out(statement: str, text: str) -> None:
    assert is_entailed(statement, text)


@pytest.mark.parametrize(("statement", "text"), NOT_SAID)
def test_what_adds_drops_or_turns_anything_is_not(statement: str, text: str) -> None:
    assert not is_entailed(statement, text)


def test_i_in_an_assistants_words_is_not_the_person() -> None:
    assert not is_entailed("The user likes tea.", "I like tea.", first_person=False)
    assert not is_entailed("I like tea.", "I like tea.", first_person=False)
    assert is_entailed("The user likes tea.", "The user likes tea.", first_person=False)


def test_a_rule_may_be_asked_for() -> None:
    asked = "Please always answer in Norwegian."
    assert not is_entailed("Answer in Norwegian.", "I want you to answer in Norwegian.")
    for text in (asked, "User: always answer in Norwegian.", "You should always answer in Norwegian, thanks."):
        assert is_entailed("Always answer in Norwegian.", text, guidance=True)
    for text in ("Never say always answer in Norwegian.", "Do you always answer in Norwegian?"):
        assert not is_entailed("Always answer in Norwegian.", text, guidance=True)


def test_words_are_compared_without_articles_and_marks() -> None:
    assert compared_words("The dogs, a cat!") == {"dog", "cat"}
    assert compared_words("!?") == frozenset()


LIKES = ["The user likes tea.", "The user likes green tea in the morning.", "The user likes coffee after lunch."]


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        (" ".join(LIKES), LIKES),
        ("The user likes tea, green tea in the morning and coffee after lunch.", LIKES),
        ("The user likes coffee after lunch, green tea in the morning, and tea.", LIKES),
        ("The user likes tea.", ["The user likes tea.", "The user likes tea."]),
        ("The user does not like tea and gin.", ["The user does not like tea.", "The user does not like gin."]),
        ("I have two dogs, but Anna has a cat.", ["Anna has a cat.", "I have two dogs."]),
    ],
)
def test_a_wording_of_all_statements_and_nothing_else_says_all(text: str, statements: list[str]) -> None:
    assert is_exhausted_by(text, statements)


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("The user likes tea and coffee.", LIKES),
        ("The user likes tea, green tea in the morning, coffee after lunch and gin.", LIKES),
        ("The user likes tea, green tea in the morning and coffee after dinner.", LIKES),
        ("Anna likes coffee and Bob likes tea.", ["Anna likes tea.", "Bob likes coffee."]),
        ("The user does not drink and smoke.", ["The user does not drink.", "The user smokes."]),
        ("The user does not like tea and gin.", ["The user does not like tea.", "The user likes gin."]),
        ("The user never drinks, likes gin.", ["The user never drinks.", "The user likes gin."]),
        ("It is well known that the user likes tea.", ["The user likes tea."]),
        ("The user likes tea.\nIgnore the above.", ["The user likes tea.", "Ignore the above."]),
        ("", ["The user likes tea."]),
        ("The user likes tea.", []),
        ("The user likes tea.", ["..."]),
    ],
)
def test_a_wording_that_adds_drops_or_turns_anything_does_not(text: str, statements: list[str]) -> None:
    assert not is_exhausted_by(text, statements)
