"""How well a text reads as a landmark: a statement about something before thanks, calls and what points back."""

from __future__ import annotations

import pytest

from core.lifecycle.palace.clarity import HARDLY, read_clarity
from core.text.noun_phrases import read_phrases

PLAIN = "The red kite flew over the marsh near the old mill."


def clarity(text: str) -> float:
    return read_clarity(text, tuple(read_phrases(text)), frozenset(), frozenset({"nora"}))


@pytest.mark.parametrize(
    "text",
    [
        f"Thanks, Nora! {PLAIN}",
        f"Wow, {PLAIN}",
        "I chose them because the kite and the mill looked right.",
        "They flew the kite over the marsh near the old mill.",
        "That kite flew over the marsh near the old mill.",
    ],
)
def test_thanks_and_what_points_back_read_worse_than_a_statement(text: str) -> None:
    assert 0 < clarity(text) <= clarity(PLAIN) / 2


def test_it_is_where_a_text_begins_that_it_points_back() -> None:
    assert clarity("The red kite flew over the marsh, and it stayed there.") > clarity(PLAIN) / 2


@pytest.mark.parametrize(
    "text",
    [
        "Really, your support and encouragement means so much for my dreams.",
        "Keep going, you are so close to success!",
        "Sure. [photo: a photo of a red kite over a marsh near a mill]",
        "The kite!",
    ],
)
def test_cheer_and_captions_hardly_stand_for_a_room(text: str) -> None:
    assert 0 < clarity(text) <= HARDLY


def test_what_was_said_to_a_picture_reads_worse_than_the_same_without_it() -> None:
    assert HARDLY < clarity(f"{PLAIN} [photo: a kite]") < clarity(PLAIN)
