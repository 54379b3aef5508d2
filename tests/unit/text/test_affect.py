"""The feeling of a text (E37.1, X26)."""

from __future__ import annotations

import pytest

from core.text.metadata import TaskOutcome, affect_of


def test_the_two_examples_of_the_plan() -> None:
    found = affect_of("Thank you! This is perfect. NOW we go on.", outcome=TaskOutcome.SUCCESS)
    assert (found.valence, found.intensity, found.arousal) == pytest.approx((0.6, 0.5, 0.3))
    worst = affect_of("broken " * 10)
    assert (worst.valence, worst.intensity, worst.arousal) == (-1.0, 1.0, 1.0)


def test_a_plain_text_feels_nothing() -> None:
    found = affect_of("The train leaves at nine from platform four.")
    assert (found.valence, found.intensity, found.signals) == (0.0, 0.0, {})


@pytest.mark.parametrize(
    ("text", "valence"),
    [
        ("I am not happy", 0.0),
        ("No problem, I'm happy", 0.15),
        ("nothing is broken", 0.0),
        ("It isn’t wrong", 0.0),
        ("sadly unwrong brokenness", 0.0),
        ("THANK YOU", 0.15),
        ("Awful, terrible", -0.3),
    ],
)
def test_markers_are_whole_words_that_nothing_denies(text: str, valence: float) -> None:
    assert affect_of(text).valence == pytest.approx(valence)


def test_emphasis_and_urgency_are_intensity_alone() -> None:
    assert affect_of("This is REALLY **late**!!").signals == {"emphasis": 3}
    assert affect_of("NASA and the HTTP API").signals == {}
    found = affect_of("Please answer ASAP, the deadline is near.")
    assert (found.valence, found.intensity) == pytest.approx((0.0, 0.3))
    assert found.signals == {"urgent": 2}


@pytest.mark.parametrize(
    ("outcome", "valence", "intensity"),
    [
        (TaskOutcome.SUCCESS, 0.3, 0.2),
        (TaskOutcome.PARTIAL, 0.1, 0.0),
        (TaskOutcome.FAILURE, -0.3, 0.3),
        (TaskOutcome.RETRY, -0.15, 0.15),
    ],
)
def test_outcomes_count_as_the_plan_says(outcome: TaskOutcome, valence: float, intensity: float) -> None:
    found = affect_of("Done.", outcome=outcome)
    assert (found.valence, found.intensity) == pytest.approx((valence, intensity))


def test_a_correction_and_a_first_time_are_felt() -> None:
    found = affect_of("Done.", is_correction=True, is_first=True)
    assert found.intensity == pytest.approx(0.45)
    assert found.signals == {"correction": 1, "first": 1}
