"""Strength by E4.4.1, against numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.score.strength import BASE_TAU_DAYS, initial_strength, strength_of

DAY = 86_400_000
NOW = 400 * DAY


def one(**known: float) -> float:
    values = {
        "importance": 0.5,
        "recorded_at": NOW,
        "last_accessed_at": math.nan,
        "access_count": 0,
        "sessions": 0,
        "pinned": 0,
    } | known
    return float(strength_of(NOW, **{name: np.array([value]) for name, value in values.items()})[0])


def test_it_begins_with_importance() -> None:
    assert initial_strength([0.0, 0.5, 1.0]).tolist() == [0.5, 0.75, 1.0]
    assert one() == 0.75


def test_after_tau_it_has_faded_to_one_e() -> None:
    aged = one(recorded_at=NOW - BASE_TAU_DAYS * DAY, access_count=1, sessions=1)
    assert aged == pytest.approx(0.75 / math.e)
    assert one(recorded_at=NOW - BASE_TAU_DAYS * DAY) == aged  # never used fades like used once


def test_use_makes_it_last() -> None:
    old = NOW - BASE_TAU_DAYS * DAY
    assert one(recorded_at=old, access_count=math.e, sessions=1) == pytest.approx(0.75 * math.exp(-0.5))
    assert one(recorded_at=old, access_count=1, sessions=math.e) == pytest.approx(0.75 / math.e * 1.3)


def test_time_counts_from_the_later_of_storing_and_use() -> None:
    assert one(recorded_at=NOW - 100 * DAY, last_accessed_at=NOW) == 0.75
    assert one(recorded_at=NOW, last_accessed_at=NOW - 100 * DAY) == 0.75


def test_it_is_shown_up_to_one_and_what_is_pinned_stays() -> None:
    assert one(importance=1.0, sessions=20, access_count=20, last_accessed_at=NOW) == 1.0
    assert one(recorded_at=0, pinned=1) == 1.0
