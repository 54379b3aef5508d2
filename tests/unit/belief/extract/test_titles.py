"""Values with a title in quotes: they end behind it, not behind the name of its maker."""

from __future__ import annotations

import pytest

from core.belief.extract.extraction import extract_claims
from core.belief.extract.sentence import strip_marks


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('Melanie enjoys modern music like Ed Sheeran\'s "Perfect".', 'modern music like Ed Sheeran\'s "Perfect"'),
        ("Melanie enjoys modern music like Ed Sheeran’s “Perfect”.", "modern music like Ed Sheeran’s “Perfect”"),
        ('Ana loves Miyazaki\'s "Totoro" and green tea.', 'Miyazaki\'s "Totoro"'),
        ('Ana likes books like Tolkien\'s "The Hobbit".', 'books like Tolkien\'s "The Hobbit"'),
        ('I love Queen\'s "Bohemian Rhapsody".', 'Queen\'s "Bohemian Rhapsody"'),
        ("Ana hates Orwell's '1984'.", "Orwell's '1984'"),
        ("Ana likes the film 'Amelie'.", "film 'Amelie'"),
        ("Ana likes McDonald's.", "McDonald's"),
        ("Ana enjoys songs like Queen's.", "songs like Queen's"),
        ('Ana likes "Amelie".', "Amelie"),
        ("Melanie likes modern music like Ed Sheeran's songs.", "modern music like Ed Sheeran's songs"),
    ],
)
def test_a_value_ends_behind_a_title(text: str, value: str) -> None:
    assert value in {one.value for one in extract_claims(text)}


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ('"Dune",', "Dune"),
        ('Queen\'s "Dune" ', 'Queen\'s "Dune"'),
        ("the  dogs'", "the dogs"),
        ("Queen's \"Dune", "Queen's \"Dune"),
        ('"', ""),
    ],
)
def test_marks_around_a_value_go_and_those_within_stay(text: str, bare: str) -> None:
    assert strip_marks(text) == bare
