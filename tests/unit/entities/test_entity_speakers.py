"""Who speaks, and short forms of names: what a format tells, what is nobody's name, and when two names are one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.entities.recognition import name_key
from core.entities.speakers import (
    OWNER,
    find_whole_name,
    is_short_form,
    speaker_label_place,
    speaker_of,
    speaker_words,
)

NAMES = st.sampled_from(
    ["sam", "samantha", "samuel", "mel", "melanie", "melissa", "deb", "deborah", "ann", "anna", "jo", "joanna", "bill",
     "william", "rosa", "rosa castellanos", "max", "maximilian", "al", "albert", "zo", "zoe"]
)  # fmt: skip


@pytest.mark.parametrize("author", ["", "Anna", "user"])
def test_the_persons_role_is_the_owner_whatever_the_author_says(author: str) -> None:
    assert speaker_of("user", author) is OWNER


@pytest.mark.parametrize("author", ["Me", "you", "USER", "myself", "Ánna"])
def test_words_and_names_of_the_owner_are_the_owner(author: str) -> None:
    assert speaker_of("other", author, {name_key("Anna")}) is OWNER


@pytest.mark.parametrize(
    "author",
    ["archive", "notebook", "Note", "Q", "TODO", "bot", "42", "+44 20 7946 0958", "", "   ", "x" * 200, "a\u202eb"],
)
def test_what_is_no_name_speaks_for_nobody(author: str) -> None:
    assert speaker_of("other", author) is None


@pytest.mark.parametrize("role", ["assistant", "tool", "source"])
def test_assistants_tools_and_documents_are_no_speakers(role: str) -> None:
    assert speaker_of(role, "Claude") is None


def test_a_speaker_is_called_as_written() -> None:
    found = speaker_of("other", "  Zoë   Ward ")
    assert found is not None
    assert (found.name, found.key, found.is_owner) == ("Zoë Ward", name_key("zoe ward"), False)


def test_a_short_form_is_by_the_table_or_the_beginning_of_the_name() -> None:
    assert is_short_form("liz", "elizabeth")
    assert is_short_form("olu", "oluwaseun")
    assert not is_short_form("ann", "anna")
    assert not is_short_form("paul", "pauline"), "it stands for itself"
    assert not is_short_form("the", "theodora"), "a common word"


def test_a_short_form_means_the_one_whole_name_that_fits() -> None:
    assert find_whole_name("mel", ["melanie"], ["caroline"]) == "melanie"
    assert find_whole_name("mel", ["melissa"], ["melanie"]) == "melanie", "of two the one that speaks"
    assert find_whole_name("mel", ["melissa", "melanie"], []) is None
    assert find_whole_name("mel", [], ["melissa", "melanie"]) is None
    assert find_whole_name("rosa", [], ["rosa castellanos"]) == "rosa castellanos"
    assert find_whole_name("rosa", ["rosa castellanos"], []) == "rosa castellanos"
    assert find_whole_name("rosa", ["rosa castellanos", "rosa prye"], []) is None, "which of two cannot be told"


@given(NAMES)
def test_no_name_is_a_short_form_of_itself(one: str) -> None:
    assert not is_short_form(one, one)


@given(NAMES, st.sets(NAMES), st.sets(NAMES))
def test_two_speakers_are_never_one(short: str, people: set[str], speakers: set[str]) -> None:
    meant = find_whole_name(short, people, speakers)
    assert meant is None or (short not in speakers and meant in people | speakers and meant != short)


@given(st.text(max_size=60), st.sampled_from(["user", "assistant", "tool", "source", "other"]))
def test_any_author_is_read(author: str, role: str) -> None:
    found = speaker_of(role, author)
    assert found is None or found is OWNER or (found.key not in speaker_words() and found.name.isprintable())


@pytest.mark.parametrize(
    ("text", "said", "name"),
    [
        ("Mara: yes", "yes", "Mara"), ("a\n[10:02] Bo Ström : well", "well", "Bo Ström"),
        ("(2 May) Ilka: no", "no", "Ilka"),
        ("nobody says", "says", None), (": bare", "bare", None),
    ],
)  # fmt: skip
def test_a_name_before_a_colon_has_its_place(text: str, said: str, name: str | None) -> None:
    place = speaker_label_place(text, text.index(said))
    assert (None if place is None else text[slice(*place)]) == name
