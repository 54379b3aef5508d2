"""Laws of the search syntax and of strength that hold for whatever is typed and stored."""

from __future__ import annotations

import math

import numpy as np
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st

from core.score.decay import strength_course
from core.text.search_syntax import KEYS, UNREAD, parse_search, with_term, without_term
from core.text.search_syntax import format_search as put
from core.text.times import format_time, parse_time
from core.types.values import Precision, When

DAY = 86_400_000
_piece = st.sampled_from(
    ["-", '"', "\\", ":", ",", "..", " ", "\t", ">", "0.5", "2026-03", "fact", "all", "Ærø", "x", "\x1c", "\u2028"]
) | st.sampled_from([f"{key}:" for key in KEYS])
_typed = st.lists(_piece, max_size=14).map("".join) | st.text(max_size=40)


@settings(max_examples=count_examples(300))
@given(_typed)
def test_what_is_written_down_reads_the_same(text: str) -> None:
    search = parse_search(text)
    assert parse_search(put(search)) == search
    assert put(parse_search(put(search))) == put(search)


@settings(max_examples=count_examples(150))
@given(_typed)
def test_terms_cover_what_was_typed_in_order(text: str) -> None:
    at = 0
    for term in parse_search(text).terms:
        assert text[at : term.start].strip() == ""
        assert term.end > term.start >= at
        at = term.end
        if term.key == UNREAD:
            assert term.problem
    assert text[at:].strip() == ""


@settings(max_examples=count_examples(150))
@given(
    _typed, st.sampled_from(["tag", "space", "author"]), st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
)
def test_a_chip_that_is_added_can_be_taken_away(text: str, key: str, value: str) -> None:
    search = parse_search(text)
    if any(term.key in (key, UNREAD) for term in search.terms):
        return
    added = with_term(search, key, value)
    assert added.terms[-1].values == (value,)
    assert without_term(added, added.terms[-1]) == search


_unit = st.floats(0, 1)
_ms = st.integers(0, 4_000_000_000_000)


@given(
    _ms, _unit, _ms, st.none() | _ms, st.integers(0, 10_000), st.integers(0, 500), st.booleans(), st.integers(0, 999)
)
def test_strength_is_a_share_that_only_fades(
    now: int, importance: float, recorded: int, accessed: int | None, count: int, sessions: int, pinned: bool, days: int
) -> None:
    def at(moment: int) -> float:
        return float(
            strength_course(
                importance=importance,
                recorded_at=recorded,
                last_accessed_at=math.nan if accessed is None else accessed,
                access_count=count,
                sessions=sessions,
                pinned=pinned,
            ).strength_at(moment)
        )

    later = at(now + days * DAY)
    assert 0.0 <= later <= at(now) <= 1.0
    assert not pinned or later == 1.0


@given(st.lists(_unit, min_size=2, max_size=5), st.integers(0, 100))
def test_the_more_important_is_never_weaker(importances: list[float], days: int) -> None:
    ordered = np.sort(np.array(importances))
    same = np.zeros(ordered.size)
    values = strength_course(
        importance=ordered,
        recorded_at=same,
        last_accessed_at=same * np.nan,
        access_count=same,
        sessions=same,
        pinned=same,
    ).strength_at(days * DAY)
    assert np.all(np.diff(values) >= 0)


_STEP = {
    Precision.MS: 1,
    Precision.SECOND: 1000,
    Precision.MINUTE: 60_000,
    Precision.HOUR: 3_600_000,
    Precision.DAY: DAY,
}


@given(
    st.integers(-60_000_000_000, 250_000_000_000), st.sampled_from(list(_STEP)), st.none() | st.integers(-1000, 1000)
)
def test_a_written_time_is_read_back(seconds: int, precision: Precision, offset: int | None) -> None:
    ms = seconds * 1000 // _STEP[precision] * _STEP[precision] - (offset or 0) * 60_000
    when = When(ms, precision, offset)
    again = parse_time(format_time(when))
    assert again is not None
    assert (again.ms, again.precision, again.offset_min or 0) == (ms, precision, offset or 0)
