"""Seed B's rule formulas at their edges."""

from __future__ import annotations

import pytest

from core.score.trust import (
    Maturity,
    demote_maturity,
    harmful_effectiveness,
    helpful_effectiveness,
    needs_inversion,
    promote_maturity,
    running_average,
)

CANDIDATE, ESTABLISHED, PROVEN = Maturity


def test_mark_helpful_recalculates_as_successes_over_applications() -> None:
    assert helpful_effectiveness(3, 1) == 0.75
    assert helpful_effectiveness(0, 0) == 0.0


def test_mark_harmful_weighs_four_helpful_ones() -> None:
    assert harmful_effectiveness(9, 1) == pytest.approx(9 / 13.01)
    assert harmful_effectiveness(0, 1) == 0.0


@pytest.mark.parametrize(
    ("held", "helpful", "worth", "age", "now"),
    [
        (CANDIDATE, 5, 0.6, 0.0, ESTABLISHED),
        (CANDIDATE, 4, 1.0, 99.0, CANDIDATE),
        (CANDIDATE, 5, 0.59, 99.0, CANDIDATE),
        (CANDIDATE, 15, 1.0, 99.0, ESTABLISHED),
        (ESTABLISHED, 15, 0.8, 30.0, PROVEN),
        (ESTABLISHED, 15, 0.8, 29.9, ESTABLISHED),
        (ESTABLISHED, 14, 1.0, 30.0, ESTABLISHED),
        (ESTABLISHED, 15, 0.79, 30.0, ESTABLISHED),
        (PROVEN, 0, 0.0, 0.0, PROVEN),
    ],
)
def test_promotion(held: Maturity, helpful: int, worth: float, age: float, now: Maturity) -> None:
    assert promote_maturity(held, helpful, worth, age) is now


@pytest.mark.parametrize(
    ("held", "worth", "now"),
    [
        (ESTABLISHED, 0.59, CANDIDATE),
        (ESTABLISHED, 0.6, ESTABLISHED),
        (PROVEN, 0.79, ESTABLISHED),
        (PROVEN, 0.1, ESTABLISHED),
        (PROVEN, 0.8, PROVEN),
        (CANDIDATE, 0.0, CANDIDATE),
    ],
)
def test_demotion(held: Maturity, worth: float, now: Maturity) -> None:
    assert demote_maturity(held, worth) is now


@pytest.mark.parametrize(
    ("harmful", "worth", "due"), [(3, 0.29, True), (2, 0.0, False), (3, 0.3, False), (9, 0.9, False)]
)
def test_anti_pattern_inversion_trigger(harmful: int, worth: float, due: bool) -> None:
    assert needs_inversion(harmful, worth) is due


def test_running_average() -> None:
    assert running_average(0, 0, 900) == 900
    assert running_average(900, 1, 1_100) == 1_000
