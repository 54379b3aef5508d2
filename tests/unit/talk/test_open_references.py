"""What a told sentence leaves open is seen by its own words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.talk.open_references import QualifiedNouns, points_outside
from core.talk.vocabulary import tokenize_talk

NAMES = frozenset(("ida", "omar"))


def _points_outside(text: str) -> bool:
    return points_outside(tokenize_talk(text.rstrip(".")), NAMES)


@pytest.mark.parametrize(
    "text",
    [
        "Ida read the bill.",
        "Omar looked at the swollen knee and the wrist.",
        "The policy renews every year on 1 October.",
        "The opening night is on 20 June 2025.",
        "Ida moved the oak because it looked better.",
        "Omar is determined to find the right spot.",
    ],
)
def test_a_thing_of_which_nobody_knows_which_it_is_points_outside(text: str) -> None:
    assert _points_outside(text)


@pytest.mark.parametrize(
    "text",
    [
        "Ida took the kids to the sea.",
        "Omar lost the key of their shed.",
        "Omar works in the garden centre.",
        "The neighbour, Mr. Vance, lets Omar use a tap.",
        "The bank offered Ida two years.",
        "Ida bought a boat and painted the boat.",
        "Omar is flying to Porto on 27 October 2025 for the fair.",
        "The boss was rude to Omar.",
        "Ida plays the piano and swims in the Wend.",
        "Ida helps at the kitchen where they eat.",
    ],
)
def test_a_thing_of_everyones_world_or_one_that_is_narrowed_does_not(text: str) -> None:
    assert not _points_outside(text)


@pytest.mark.parametrize(
    "text",
    [
        "Ida did something similar with her sisters.",
        "Omar's arms would not hold a pencil afterwards.",
        "Omar and Ida trust one another.",
        "There are so many, but two were better.",
        "Ida shook hands with all of them.",
        "Ida does, and will not tell.",
        "Omar has read several.",
        "Ida is learning a lot.",
        "Ida has started.",
        "Ida painted that sunrise in 2022.",
        "Omar does not go often.",
        "Omar is making everything right.",
        "Omar swims instead.",
        "Ida has been one because she asked.",
        "Omar met Ida last summer.",
    ],
)
def test_a_word_that_stands_for_what_was_said_before_points_outside(text: str) -> None:
    assert _points_outside(text)


@pytest.mark.parametrize(
    "text",
    [
        "Ida learnt that support matters.",
        "Omar has read several books.",
        "Ida swims a lot.",
        "Omar swims instead of running.",
        "Ida sold the caravan.",
        "Ida played the tuba at school.",
        "Omar loves everything about trains.",
        "Ida goes to school.",
        "No sprouts before May, learned that in 2024.",
        "Omar wants to start over.",
        "Omar is allergic to nuts, and Ida is not allergic to any.",
    ],
)
def test_what_a_sentence_says_itself_does_not(text: str) -> None:
    assert not _points_outside(text)


@given(st.text(max_size=80), st.sampled_from(["the", "that", "the old", "everything", "does", "go", "several"]))
def test_any_words_are_looked_at(text: str, word: str) -> None:
    for sentence in (text, f"{word} {text}", f"{text} {word}", word):
        assert isinstance(points_outside(tokenize_talk(sentence), NAMES), bool)


@given(st.lists(st.sampled_from(["Ida", "keeps", "bees", "and", "swims", "at", "night"]), min_size=1, max_size=8))
def test_words_that_point_nowhere_do_not(words: list[str]) -> None:
    told = " ".join(["Omar", *words, "gladly", "today"])
    assert not points_outside(tokenize_talk(told), NAMES)


def test_a_kind_is_forgotten_after_a_while_and_a_plain_word_is_none() -> None:
    nouns = QualifiedNouns()
    nouns.note(tokenize_talk("Ida runs a dance studio and a big shop."), 0)
    assert nouns.qualify("Ida painted the studio.") == "Ida painted the dance studio."
    assert nouns.qualify("Ida painted the shop.") == "Ida painted the shop."
    nouns.note(tokenize_talk("It rains."), 100)
    assert nouns.qualify("Ida painted the studio.") == "Ida painted the studio."


@given(st.lists(st.text(max_size=60), max_size=6), st.text(max_size=60))
def test_telling_in_full_takes_nothing_away(said: list[str], told: str) -> None:
    nouns = QualifiedNouns()
    for turn, text in enumerate(said):
        nouns.note(tokenize_talk(text), turn)
    left = iter(nouns.qualify(told))
    assert all(sign in left for sign in told)
