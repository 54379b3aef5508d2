"""One text of two."""

from __future__ import annotations

import pytest

from core.text.sentences import unite_texts


@pytest.mark.parametrize(
    ("standing", "newcomer", "both"),
    [
        ("Likes tea.", "Likes green tea. ", "Likes tea. Likes green tea."),
        ("Likes tea", "likes tea and cake", "likes tea and cake"),
        ("Lives in Graz, Austria", "Graz", "Lives in Graz, Austria"),
        ("", "New", "New"),
        ("One", "", "One"),
        ("One", "Two", "One. Two"),
        ("Has a cat", "Keeps a category of cats", "Has a cat. Keeps a category of cats"),
        ("Sorts by category", "cat", "Sorts by category. cat"),
        ("One\nTwo", "Three", "One\nTwo\nThree"),
        ("x" * 200, "y" * 200, "x" * 200 + "\n" + "y" * 200),
    ],
)
def test_two_texts_become_one_with_nothing_lost(standing: str, newcomer: str, both: str) -> None:
    assert unite_texts(standing, newcomer) == both
