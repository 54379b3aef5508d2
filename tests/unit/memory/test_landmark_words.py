"""The words of a landmark begin where something is said, and hold no marks of a program."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.memory.landmark_words import landmark_words, words_from_opening

KITE = "We flew the red kite over the marsh."
ASIDE = "\ue200cite\ue202turn0search1\ue202turn0search4\ue201"


@pytest.mark.parametrize(
    "before",
    [
        "Thanks, Nora! ",
        "Thank you so much! ",
        "Wow, Nora, ",
        "Wow! ",
        "Hey Nora! ",
        "Hi! Good to see you! ",
        "Oh, wow, ",
        "Yeah, totally! ",
        "That's great to hear, Nora! ",
        "That’s awesome! Thanks, Nora! ",
        "So, ",
    ],
)
def test_thanks_greetings_and_calls_are_left_out(before: str) -> None:
    assert landmark_words(before + KITE[:1].lower() + KITE[1:], 200) == KITE


@pytest.mark.parametrize(
    "text",
    [
        KITE,
        "Thanks, Nora!",
        "Wow, so nice!",
        "No, the boiler was never mended.",
        "Great Yarmouth has a long pier.",
        "So many herons stood in the marsh that we stopped counting them.",
        "Hello Kitty is painted on the small lamp in the hall.",
        "2 * 3 * 4 = 24 and snake_case_name stays",
    ],
)
def test_what_says_something_stays_as_it_came(text: str) -> None:
    assert landmark_words(text, 200) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**Work** begins at *eight*", "Work begins at eight"),
        ("---\ntags: [lost]\ndate: 2024-01-02\n---\n# Kites\nWe lost the red one.", "Kites:\nWe lost the red one."),
        (f"The tide turns at noon {ASIDE}today.", "The tide turns at noon today."),
        ("The tide turns \ue203at noon", "The tide turns at noon"),
        ("It ends open \ue200cite\ue202turn0", "It ends open"),
        ("The red kite flew far. [photo: a photo of a kite]", "The red kite flew far."),
        ("The red kite flew far. [image: a kite over a long", "The red kite flew far."),
        ("[photo: a photo of a kite]", "[photo: a photo of a kite]"),
        ("We met [the whole family] there", "We met [the whole family] there"),
    ],
)
def test_marks_of_a_program_are_left_out(text: str, shown: str) -> None:
    assert landmark_words(text, 200) == shown


@given(st.text(), st.integers(1, 200))
def test_any_text_has_words_that_are_short_enough(text: str, most: int) -> None:
    shown = landmark_words(text, most)
    assert len(shown) <= most
    assert not any("\ue000" <= letter <= "\uf8ff" for letter in shown)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Thanks, Nora! The *red* kite flew far. [photo: a kite]", "The *red* kite flew far."),
        ("[photo: a photo of a kite]", "[photo: a photo of a kite]"),
        ("Thanks, Nora!", "Thanks, Nora!"),
    ],
)
def test_a_text_begins_behind_its_thanks_and_else_stays_as_it_came(text: str, words: str) -> None:
    assert words_from_opening(text) == words
