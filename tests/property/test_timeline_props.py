"""Periods cut the time without gap or overlap, counts lose nothing, and a line's steps name earlier ones only."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.recall.browse.evolution import classify_transitions
from core.recall.browse.timeline import MAX_PERIODS, TimeColumns, count_by_period, period_edges
from core.types.values import Kind
from core.types.views import GRAINS, TimeFilter, Transition

ZONES = [
    ZoneInfo(name) for name in ("UTC", "Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Kathmandu")
]
HOUR_MS = 3_600_000
MOMENTS = st.integers(-2_000_000_000_000, 4_000_000_000_000)
LEAST = {"day": 22, "week": 166, "month": 670, "year": 8_700}  # hours; some places left out a day


@given(grain=st.sampled_from(GRAINS), one=MOMENTS, length=st.integers(0, 80_000_000_000), zone=st.sampled_from(ZONES))
def test_periods_follow_each_other_and_hold_both_ends(grain: str, one: int, length: int, zone: ZoneInfo) -> None:
    found = period_edges(grain, one, one + length, zone)
    assert found[0] <= one < found[1] or len(found) == MAX_PERIODS + 1
    assert found[-2] <= one + length < found[-1]
    assert all(after - before >= LEAST[grain] * HOUR_MS for before, after in pairwise(found))
    for start in found[:3]:
        at = datetime.fromtimestamp(start / 1000, UTC).astimezone(zone)
        assert at.weekday() == 0 or grain != "week"
        assert at.day == 1 or grain not in ("month", "year")


def columns_of(times: list[int]) -> TimeColumns:
    at = np.array(sorted(times), np.int64)
    zeros = np.zeros(at.size, np.int16)
    kinds = (np.arange(at.size) % len(Kind)).astype(np.int16)
    return TimeColumns(np.arange(at.size), at, zeros == 0, at, kinds, zeros, zeros, ("home",))


@given(
    times=st.lists(st.integers(1_600_000_000_000, 1_700_000_000_000), min_size=1, max_size=60),
    grain=st.sampled_from(GRAINS),
    zone=st.sampled_from(ZONES),
)
def test_every_memory_is_counted_once(times: list[int], grain: str, zone: ZoneInfo) -> None:
    found = count_by_period(columns_of(times), grain, None, None, TimeFilter(), top=3, zone=zone)
    assert sum(found.totals) == found.total == len(times)
    assert len(found.starts) == len(found.totals) + 1
    for place, (start, end) in enumerate(pairwise(found.starts)):
        assert found.totals[place] == sum(start <= at < end for at in times)
    assert [sum(counts) for counts in zip(*found.by_kind.values(), strict=True)] == list(found.totals)
    most = sorted(found.totals, reverse=True)[:3]
    assert [found.totals[place] for place in found.busiest] == [count for count in most if count]


@given(st.data())
def test_each_step_is_told_by_what_stands_before_it(data: st.DataObject) -> None:
    times = sorted(data.draw(st.lists(st.integers(0, 100), max_size=12)))
    line = [(f"m{nr}", at) for nr, at in enumerate(times)]
    ids = st.sampled_from([one for one, _ in line] or ["none"])
    pairs = (
        st.frozensets(st.frozensets(ids, min_size=2, max_size=2), max_size=8) if len(line) > 1 else st.just(frozenset())
    )
    opposed, supported = data.draw(pairs), data.draw(pairs)
    steps = classify_transitions(line, opposed, supported)
    assert len(steps) == len(line)
    assert sum(step.gap_ms or 0 for step in steps) == (times[-1] - times[0] if times else 0)
    for place, step in enumerate(steps):
        assert (step.transition is Transition.START) == (place == 0)
        ties = {Transition.CORRECTION: opposed, Transition.REINFORCEMENT: supported}.get(step.transition)
        if ties is None:
            assert step.about is None
        else:
            assert step.about is not None
            assert step.about < place
            assert frozenset((line[place][0], line[step.about][0])) in ties
