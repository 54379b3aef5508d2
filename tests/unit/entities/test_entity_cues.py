"""What stands beside a name says what it names; titles of works; words that people write small are no names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.entities.name_cues import find_works, plain_words, read_cue
from core.entities.recognition import recognize_names


def types(text: str) -> dict[str, str]:
    return {one.name: one.type for one in recognize_names(text).candidates}


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("we took our hamster Nubbin along", "Nubbin", "pet"),
        ("I got a kitten last week! Her name's Plum and she sleeps", "Plum", "pet"),
        ("did you groom Tolstoy yesterday", "Tolstoy", "pet"),
        ("they flew to Antofagasta on the third", "Antofagasta", "place"),
        ("it rains in Ålesund", "Ålesund", "place"),
        ("she got a job at Quillfeather this year", "Quillfeather", "organization"),
        ("my bank is New York based, not British Gas", "British Gas", "organization"),
        ("so I asked Ottoline about it", "Ottoline", "person"),
        ("a guy called Winibald sings here", "Winibald", "person"),
        ("well, thanks Ottoline!", "Ottoline", "person"),
        ("I was reading Klara and the Moon on the train", "Klara and the Moon", "work"),
        ("we finished 'Tea at Seven' and then watched Ganymede again", "Ganymede", "work"),
        ("the book that I like most is \u201cThe Slow Boat\u201d by Ottoline Prye", "The Slow Boat", "work"),
    ],
)
def test_a_cue_tells_the_type(text: str, name: str, kind: str) -> None:
    assert types(text).get(name) == kind


@pytest.mark.parametrize(
    "text",
    [
        "Cool! Wow! Thankfully it rained.", "Y, after eight.", "Paid. Landed at four. Barely.", "See you Friday, Mum",
        "Good Morning! Happy Birthday!", "Congrats on the job", "Poor thing", "Absolutely. Same here. Great job!",
    ],
)  # fmt: skip
def test_greetings_days_and_openers_are_no_names(text: str) -> None:
    assert types(text) == {}


def test_an_adverb_before_a_name_is_no_part_of_it() -> None:
    assert list(types("Thankfully Ottoline said yes.")) == ["Ottoline"]
    assert list(types("I lost my job at Door Dash today.")) == ["Door Dash"], "in a sentence a capital has a reason"


def test_a_shouted_text_and_one_of_short_sentences_differ() -> None:
    assert types("OTTOLINE IS NOT HERE AND NOT HAPPY TODAY") == {}
    assert types("In. Can Amara come? She is in Lagos. Yes.")["Amara"] == "other"


def test_plain_words_are_small_words() -> None:
    assert {"paid", "landed", "poor"} <= plain_words()
    assert all(word.islower() for word in plain_words())


@given(st.text(max_size=120), st.integers(0, 119), st.integers(1, 20), st.booleans())
def test_any_place_of_any_text_is_read(text: str, start: int, size: int, is_first_name: bool) -> None:
    cue = read_cue(text, start, min(len(text), start + size), is_first_name=is_first_name)
    assert cue is None or cue.type in ("person", "pet", "place", "organization")
    spans = list(find_works(text))
    assert all(0 <= a < b <= len(text) for a, b in spans)
