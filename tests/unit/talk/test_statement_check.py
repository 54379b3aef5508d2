"""What is told has to be understood without what stood around it."""

from __future__ import annotations

import pytest

from core.talk.statement_check import has_substance, stands_alone
from core.talk.statements import content_words
from core.talk.vocabulary import tokenize_talk


def words_of(text: str) -> list[str]:
    return [token.low for token in tokenize_talk(text.rstrip("."))]


@pytest.mark.parametrize(
    "text",
    [
        "Wren has her own cake shop in Leith.",
        "Joss found the idea of a second shop too risky.",
        "Omar leads a group for new fathers.",
        "Pottery is a large part of Ida's week, and it helps her back.",
    ],
)
def test_a_sentence_that_says_what_it_means_stands_alone(text: str) -> None:
    assert stands_alone(words_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "Ida got the idea from a magazine.",
        "Omar told her about that event.",
        "Since Wren was seventeen or.",
        "Joss is planning a few.",
        "Ida enjoyed it with her sister.",
        "Omar would never part with it.",
        "Joss loved taking lessons with a cousin.",
    ],
)
def test_a_sentence_that_points_outside_does_not(text: str) -> None:
    assert not stands_alone(words_of(text))


@pytest.mark.parametrize(
    ("text", "name", "says_something"),
    [
        ("Joss is doing really well lately.", "Joss", False),
        ("Ida had a great time.", "Ida", False),
        ("Ida had a great time on 4 March 2023.", "Ida", False),
        ("Omar goes a few times a week.", "Omar", False),
        ("Marlon is married.", "Marlon", True),
        ("Otis cried.", "Otis", True),
        ("Joss has two older siblings.", "Joss", True),
    ],
)
def test_that_somebody_is_well_says_nothing(text: str, name: str, *, says_something: bool) -> None:
    assert has_substance(content_words(text) - content_words(name)) is says_something
