"""Confidence and strength only fall while nobody touches a memory, and come to their lines on the day that is told."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.score.decay import (
    EXPIRED,
    FADING,
    HOLDS,
    MOST,
    RATES,
    classify_bands,
    days_until,
    effective_confidence,
    strength_course,
)

DAY = 86_400_000
_unit = st.floats(0, 1)
_days = st.floats(0, 20_000)
_rate = st.sampled_from(list(RATES.values()))


@given(_unit, _rate, _days, _days)
def test_effective_confidence_is_a_share_that_only_falls(sure: float, rate: float, days: float, more: float) -> None:
    now, later = (float(effective_confidence(sure, rate, passed)) for passed in (days, days + more))
    assert 0.0 <= later <= now <= sure


@given(st.lists(st.tuples(_unit, _rate, _days), min_size=1, max_size=20))
def test_many_at_once_are_as_one_by_one(given_: list[tuple[float, float, float]]) -> None:
    sure, rate, days = zip(*given_, strict=True)
    together = effective_confidence(sure, rate, days)
    assert together.tolist() == [float(effective_confidence(*row)) for row in given_]


@given(_unit, _rate, st.floats(0.001, 1))
def test_it_comes_to_the_line_on_the_day_told(sure: float, rate: float, line: float) -> None:
    days = float(days_until(sure, rate, line))
    if math.isinf(days):
        assert rate == 0.0
        assert sure >= line
        return
    assert days >= 0.0
    at = float(effective_confidence(sure, rate, days))
    assert at <= line or math.isclose(at, line, rel_tol=1e-9)
    assert days == 0.0 or math.isclose(at, line, rel_tol=1e-9)


@given(_unit, _unit, _unit)
def test_every_value_lies_in_one_band(value: float, fading: float, expired: float) -> None:
    band = int(classify_bands(value, fading, expired))
    assert band == (EXPIRED if value < expired else FADING if value < fading else HOLDS)


@given(
    importance=_unit, arousal=_unit, boost=_unit, count=st.integers(0, 10_000), replays=st.integers(0, 500),
    sessions=st.integers(0, 500), recorded=st.integers(0, 10**13), spared=st.none() | st.integers(0, 10**13),
    line=st.floats(0.001, 0.2), pinned=st.booleans(), days=_days,
)  # fmt: skip
def test_strength_falls_to_its_line_on_the_day_told(
    importance: float, arousal: float, boost: float, count: int, replays: int, sessions: int, recorded: int,
    spared: int | None, line: float, pinned: bool, days: float,
) -> None:  # fmt: skip
    course = strength_course(
        importance=importance, recorded_at=recorded, last_accessed_at=np.nan, access_count=count, sessions=sessions,
        pinned=pinned, arousal=arousal, spared_at=np.nan if spared is None else spared, replays=replays, boost=boost,
    )  # fmt: skip
    since = float(course.since)
    assert since == max(recorded, spared or 0)
    assert float(course.begun) <= MOST * (1 + 0.3 * math.log(max(1, sessions))) + 1e-12
    assert 0.0 <= float(course.strength_at(since + days * DAY)) <= float(course.strength_at(since)) <= 1.0
    when = float(course.time_until(line))
    if pinned:
        assert math.isinf(when)
        assert float(course.strength_at(since + days * DAY)) == 1.0
    else:
        # Milliseconds of a day far away are no longer told apart exactly.
        assert math.isclose(float(course.strength_at(when)), line, rel_tol=1e-6)
        assert float(course.strength_at(when + 30 * DAY)) < line


@given(_unit, _unit, st.integers(0, 1000), _days)
def test_what_moves_or_was_replayed_is_never_weaker(arousal: float, boost: float, count: int, days: float) -> None:
    known = {"importance": 0.5, "recorded_at": 0, "last_accessed_at": np.nan, "sessions": 1, "pinned": False}
    at = days * DAY
    plain = float(strength_course(access_count=count, **known).strength_at(at))
    assert float(strength_course(access_count=count, arousal=arousal, **known).strength_at(at)) >= plain
    assert float(strength_course(access_count=count, boost=boost, replays=1, **known).strength_at(at)) >= plain
