"""Steps of a how-to, and the words that call it up."""

from __future__ import annotations

import pytest

from core.text.metadata import extract_cues, extract_steps

RELEASE = "Release the garden app\n1. Run the tests\n2. Tag the commit\n3. Push the tag"


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (RELEASE, ("Run the tests", "Tag the commit", "Push the tag")),
        ("Tea:\n- boil water\n* pour it\n• wait", ("boil water", "pour it", "wait")),
        ("Step 1: open the lid\nStep 2: close it", ("open the lid", "close it")),
        ("To brew: 1) grind beans, 2) pour 92. degrees 3) stir", ("grind beans", "pour 92. degrees", "stir")),
        ("Bake at 1. heat only", ()),
        ("Nothing is listed here.", ()),
        ("- only one", ()),
    ],
)
def test_steps(text: str, steps: tuple[str, ...]) -> None:
    assert extract_steps(text) == steps


def test_cues_are_the_words_before_the_steps() -> None:
    assert extract_cues(RELEASE) == ("release", "garden", "app")


def test_without_steps_the_first_sentence_gives_the_cues() -> None:
    assert extract_cues("Deploy with the blue button. Then have a coffee.") == ("deploy", "blue", "button")
