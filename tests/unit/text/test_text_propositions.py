"""Texts cut into statements."""

from __future__ import annotations

import pytest

from core.text.sentences import extract_clauses, extract_propositions


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "I use Rust for the backend and React for the frontend. I've been coding for 10 years.",
            ["I use Rust for the backend and React for the frontend.", "I've been coding for 10 years."],
        ),
        (
            "My sister lives in Oslo and works at a bank; she loves it.",
            ["My sister lives in Oslo", "My sister works at a bank", "she loves it."],
        ),
        ("I moved in May, but I still miss the sea.", ["I moved in May", "I still miss the sea."]),
        ("User prefers tea and hates fuss.", ["User prefers tea", "User hates fuss."]),
        ("Bread and butter is fine with me.", ["Bread and butter is fine with me."]),
        ("Ok. Sure. Thanks!", []),
        ("", []),
    ],
)
def test_statements_stand_alone(text: str, said: list[str]) -> None:
    assert [one.full_text for one in extract_propositions(text)] == said


def test_clauses_keep_the_short_ones() -> None:
    assert [one.text for one in extract_clauses("Wow. Meds: sertraline")] == ["Wow.", "Meds: sertraline"]


def test_spans_are_the_text() -> None:
    text = "  I live in Graz;  I like it — mostly.\nWe own a boat."
    for one in extract_clauses(text):
        assert text[one.start : one.end] == one.text == one.text.strip()
