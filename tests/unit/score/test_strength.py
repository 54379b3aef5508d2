"""Strength by E4.4.1, E37.2, X56 and X57, against numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.score.decay import BASE_TAU_DAYS, StrengthCourse, initial_strength, strength_course

DAY = 86_400_000
NOW = 400 * DAY
OLD = NOW - BASE_TAU_DAYS * DAY


def course(**known: float) -> StrengthCourse:
    values = {
        "importance": 0.5,
        "recorded_at": NOW,
        "last_accessed_at": math.nan,
        "access_count": 0,
        "sessions": 0,
        "pinned": 0,
    } | known
    return strength_course(**{name: np.array([value]) for name, value in values.items()})


def one(**known: float) -> float:
    return float(course(**known).strength_at(NOW)[0])


def test_it_begins_with_importance() -> None:
    assert initial_strength([0.0, 0.5, 1.0]).tolist() == [0.5, 0.75, 1.0]
    assert one() == 0.75


def test_it_begins_higher_with_arousal_and_replay_and_not_above_one_and_a_half() -> None:
    assert initial_strength([0.5, 0.5, 1.0], [0.0, 0.8, 1.0]).tolist() == pytest.approx([0.75, 1.15, 1.5])
    assert initial_strength(0.5, 0.0, 0.2) == pytest.approx(0.95)
    assert initial_strength(1.0, 0.8, 0.6) == 1.5


def test_half_is_left_after_thirty_days() -> None:
    assert pytest.approx(43.28, abs=0.01) == BASE_TAU_DAYS
    assert one(importance=1.0, recorded_at=NOW - 30 * DAY) == pytest.approx(0.5)


def test_after_tau_it_has_faded_to_one_e() -> None:
    aged = one(recorded_at=OLD, access_count=1, sessions=1)
    assert aged == pytest.approx(0.75 / math.e)
    assert one(recorded_at=OLD) == aged  # never used fades like used once


def test_use_makes_it_last() -> None:
    assert one(recorded_at=OLD, access_count=math.e, sessions=1) == pytest.approx(0.75 * math.exp(-0.5))
    assert one(recorded_at=OLD, access_count=1, sessions=math.e) == pytest.approx(0.75 / math.e * 1.3)


def test_what_moves_lasts() -> None:
    moved = one(recorded_at=OLD, arousal=0.8)
    assert moved == pytest.approx(1.15 * math.exp(-1 / 1.8))
    assert moved > one(recorded_at=OLD)
    assert one(recorded_at=NOW - 5_000 * DAY, arousal=0.8) < 0.05  # and goes in the end


def test_a_replay_counts_as_an_access_in_tau() -> None:
    assert one(recorded_at=OLD, access_count=3, replays=2) == one(recorded_at=OLD, access_count=5)
    boosted = one(recorded_at=OLD, access_count=3, replays=2, boost=0.2)
    assert boosted == pytest.approx(0.95 * math.exp(-1 / (1 + math.log(5))))
    assert one(recorded_at=OLD, access_count=1, replays=1, sessions=1) == pytest.approx(
        0.75 * math.exp(-1 / (1 + math.log(2)))
    )


def test_time_counts_from_the_later_of_storing_use_and_sparing() -> None:
    assert one(recorded_at=NOW - 100 * DAY, last_accessed_at=NOW) == 0.75
    assert one(recorded_at=NOW, last_accessed_at=NOW - 100 * DAY) == 0.75
    assert one(recorded_at=NOW - 100 * DAY, spared_at=NOW) == 0.75
    assert one(recorded_at=NOW - 100 * DAY, last_accessed_at=NOW, spared_at=NOW - 50 * DAY) == 0.75


def test_it_is_shown_up_to_one_and_what_is_pinned_stays() -> None:
    assert one(importance=1.0, sessions=20, access_count=20, last_accessed_at=NOW) == 1.0
    assert one(recorded_at=0, pinned=1) == 1.0


def test_it_comes_down_to_a_line_on_a_day_that_is_told() -> None:
    known = course(recorded_at=OLD, access_count=4, sessions=3, arousal=0.3)
    when = known.time_until(0.05)
    assert float(known.strength_at(when)[0]) == pytest.approx(0.05)
    assert course(pinned=1).time_until(0.05).tolist() == [math.inf]
    assert course(importance=0.0, recorded_at=OLD).time_until(0.6).tolist() == [OLD]  # it began below
