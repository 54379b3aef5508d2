"""What is shown of a memory where a name stands in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.entities.excerpts import CUT, LONGEST, body_start, cut_excerpt

NOTE = "---\ncreated: 2026-06-21T15:40:00+01:00\npeople: [Raff]\n---\n# Ljubljana in June\n\nRain. Then Raff sang.\n"


def shown(text: str, name: str) -> tuple[str, str]:
    places, at = [], text.find(name)
    while at >= 0:
        places.append((at, at + len(name)))
        at = text.find(name, at + 1)
    told, start, end = cut_excerpt(text, reversed(places))
    return told, told[start:end]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("It was late. Raff sang.", "Raff sang."),
        ("It was late when Raff sang. We left.", "It was late when Raff sang. We left."),
        ("Things:\n- one for Raff\n- one for Kit", "one for Raff"),
        ("# Raff and the lamps\n\nHe mends them.", "Raff and the lamps"),
        ("Dr. Raff sang.", "Dr. Raff sang."),
    ],
)
def test_it_begins_with_the_sentence_or_the_line(text: str, told: str) -> None:
    assert shown(text, "Raff") == (told, "Raff")


def test_the_properties_of_a_note_are_left_aside() -> None:
    assert shown(NOTE, "Raff") == ("Then Raff sang.", "Raff")
    assert shown(NOTE.replace("Then Raff", "Then he"), "Raff") == ("Ljubljana in June", "")
    assert shown("--- so said Raff ---", "Raff")[1] == "Raff"  # a ruler in prose is none


def test_a_long_beginning_is_left_out_at_a_word() -> None:
    told, name = shown(f"{'remember ' * 30}that Raff sings.", "Raff")
    assert told.startswith(f"{CUT}remember ")
    assert (told.endswith("that Raff sings."), name) == (True, "Raff")
    assert len(shown(f"Raff {'sings ' * 100}", "Raff")[0]) <= LONGEST


@given(st.text(alphabet="ab R.\n-#…🎈", max_size=900), st.text(alphabet="ab R.\n-#🎈", max_size=400))
def test_the_name_is_always_where_it_is_said_to_be(before: str, after: str) -> None:
    text = f"{before}Rosa{after}"
    start = len(before)
    told, begin, end = cut_excerpt(text, [(start, start + 4)])
    assert len(told) <= LONGEST
    if start >= body_start(text):
        assert told[begin:end] == "Rosa"


@given(st.text(max_size=300), st.lists(st.tuples(st.integers(-5, 400), st.integers(-5, 400)), max_size=5))
def test_places_that_are_none_do_no_harm(text: str, places: list[tuple[int, int]]) -> None:
    told, begin, end = cut_excerpt(text, places)
    assert 0 <= begin <= end <= len(told) <= LONGEST
