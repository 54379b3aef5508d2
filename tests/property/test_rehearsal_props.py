"""Intervals of the rehearsal grow with every recall, shrink with a lapse, and depend on what is given alone."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from core.score.rehearsal import FIRST_STEP, MOST_DAYS, Rehearsal, forecast_intervals, grade_rehearsal
from core.types.views import Grade

DAY = 86_400_000
START = 1_700_000_000_000
STEP = int(FIRST_STEP.total_seconds() * 1000)
_pasts = st.lists(st.tuples(st.sampled_from(list(Grade)), st.floats(0, 3)), max_size=12)
"""Grades, each given so many intervals after the one before."""


def rehearse(past: list[tuple[Grade, float]]) -> tuple[Rehearsal | None, int]:
    """What a past leaves, and when the landmark is due."""
    state: Rehearsal | None = None
    now = START
    for grade, share in past:
        if state is not None:
            now = state.last_at + int((state.due_at - state.last_at) * share)
        state = grade_rehearsal(state, grade, now)
    return state, now if state is None else max(now, state.due_at)


@given(st.integers(2, 20))
def test_intervals_grow_with_every_good(times: int) -> None:
    state, now, intervals = None, START, []
    for _ in range(times):
        state = grade_rehearsal(state, Grade.GOOD, now)
        intervals.append(state.due_at - now)
        now = state.due_at
    assert all(later > earlier or later == MOST_DAYS * DAY for earlier, later in pairwise(intervals))
    assert state is not None
    assert state.times == times


@given(_pasts)
def test_intervals_are_in_the_order_of_the_grades_and_never_negative(past: list[tuple[Grade, float]]) -> None:
    state, now = rehearse(past)
    intervals = [forecast_intervals(state, now)[grade] for grade in (Grade.AGAIN, Grade.HARD, Grade.GOOD, Grade.EASY)]
    assert intervals[0] == STEP
    assert all(less <= more for less, more in pairwise(intervals))
    assert intervals[-1] <= MOST_DAYS * DAY


@given(_pasts)
def test_again_shortens(past: list[tuple[Grade, float]]) -> None:
    state, now = rehearse([*past, (Grade.GOOD, 1.0)])
    assert state is not None
    lapsed = grade_rehearsal(state, Grade.AGAIN, now)
    assert lapsed.due_at - now < state.due_at - state.last_at
    assert lapsed.stability < state.stability
    recalled = grade_rehearsal(lapsed, Grade.GOOD, lapsed.due_at)
    assert recalled.due_at - lapsed.due_at <= state.due_at - state.last_at


@given(_pasts, st.sampled_from(list(Grade)))
def test_a_forecast_is_what_the_grade_then_gives(past: list[tuple[Grade, float]], grade: Grade) -> None:
    state, now = rehearse(past)
    assert grade_rehearsal(state, grade, now).due_at == now + forecast_intervals(state, now)[grade]


@given(_pasts, st.sampled_from(list(Grade)))
def test_a_state_that_was_kept_and_read_goes_on_alike(past: list[tuple[Grade, float]], grade: Grade) -> None:
    state, now = rehearse(past)
    kept = None if state is None else Rehearsal(**asdict(state))
    assert grade_rehearsal(kept, grade, now) == grade_rehearsal(state, grade, now)


@given(_pasts, st.sampled_from(list(Grade)), st.integers(0, 400))
def test_a_clock_set_back_gives_a_time_after_the_grade(
    past: list[tuple[Grade, float]], grade: Grade, days: int
) -> None:
    state, _ = rehearse(past)
    now = START - days * DAY
    assert grade_rehearsal(state, grade, now).due_at >= now + STEP
