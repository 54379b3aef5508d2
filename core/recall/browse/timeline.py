"""How much was said when, and the memories of a period or a moment, in the order of time.

Labels, times, kinds and spaces of the whole vault are read as columns from indexes alone, without touching a row, and
counted here. Must not do: rank, or show a text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.errors import Code, UserError
from core.recall.browse.library import read_memory_rows
from core.recall.scope import OLD_VERSIONS, Labels
from core.types.values import Kind, Status
from core.types.views import AXES, GRAINS, TRUE, Density, TimeCursor, TimeFilter, TimePage
from core.vault.database.rows import Rows, parse_labels

MAX_PERIODS = 4_000
"""Our choice: eleven years of days; more could neither be seen nor counted at once."""
MAX_PAGE = 1_000

Ints = NDArray[np.int64]
Small = NDArray[np.int16]
Flags = NDArray[np.bool_]
Number = TypeVar("Number", bound=np.generic)

_KINDS = tuple(kind.value for kind in Kind)
_STATUSES = tuple(status.value for status in Status)
_CURRENT = (Status.ACTIVE.value, Status.DISPUTED.value)
_OVER = (Status.SUPERSEDED.value, Status.CONSOLIDATED.value, Status.ARCHIVED.value)
_LAST = np.iinfo(np.int64).max
_SPARSE = 8  # labels a memory, from which a table would be too large
_SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")
# Each is read from one index, as one text a column: ten times faster than a row each.
_OCCURRED = (
    "SELECT group_concat(n), group_concat(occurred_at) FROM "
    "(SELECT n, occurred_at FROM memories WHERE occurred_at IS NOT NULL)"
)
_RECORDED = (
    "SELECT group_concat(n), group_concat(recorded_at) FROM "
    "(SELECT n, recorded_at FROM memories INDEXED BY ix_memories_recorded)"
)
_GROUPS = "SELECT space_id, status, kind, group_concat(n) FROM memories GROUP BY space_id, status, kind"
_SPACES = "SELECT id, name FROM spaces"
_SPANS = (
    "SELECT n, retired_at, valid_from, valid_to, coalesce(status_reason, '') FROM memories "
    "WHERE retired_at IS NOT NULL OR valid_from IS NOT NULL OR valid_to IS NOT NULL OR status_reason IS NOT NULL"
)
_IDS = "SELECT n, id FROM memories WHERE n IN (SELECT value FROM json_each(?))"
NEVER_BELIEVED = ("rejected", "hidden_at_source", "older")
"""Reasons of a status: what ended so was never believed, or only for the time of one transaction."""
# A text the person corrected was never true, as does `core.recall.scope` for what is asked as of a time.
_NEVER_TRUE = ("edited", "merged")
_FIRST_DAY, _LAST_DAY = date(2, 1, 1), date(9998, 12, 31)


@dataclass(frozen=True, slots=True)
class TimeColumns:
    """What the timeline knows of all memories, in the order of time; read-only arrays of one length.

    Attributes:
        n: labels.
        at: when it was said, else recorded (X38), epoch ms.
        has_date: whether `at` is when it was said.
        recorded: when it was recorded, epoch ms.
        kind: index into `Kind`; `status` into `Status`; `space` into `spaces`.
        spaces: names.
    """

    n: Ints
    at: Ints
    has_date: Flags
    recorded: Ints
    kind: Small
    status: Small
    space: Small
    spaces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Spans:
    """From when until when each memory held; arrays in the order of the columns, epoch ms.

    Attributes:
        retired: when Loci ceased to believe it; the largest number where it did not.
        begin: from when it is true, where that is said or follows from when it was said; the smallest number else.
        end: until when it is true, exclusive; the largest number where it has no end.
        was_believed: whether it was ever believed, whatever became of it.
        was_true: whether it was ever true, and not worded wrongly.
        replaced: whether a newer version took its place.
    """

    retired: Ints
    begin: Ints
    end: Ints
    was_believed: Flags
    was_true: Flags
    replaced: Flags


def read_columns(rows: Rows) -> TimeColumns:
    """Read what is counted, from covering indexes alone.

    Returns:
        The columns of all memories, deleted ones too; ascending by time, then by label.
    """
    names = dict(rows.all(_SPACES))
    numbers = {space_id: number for number, space_id in enumerate(names)}
    all_n, all_recorded = (parse_labels(text) for text in rows.all(_RECORDED)[0])
    dated_n, dated_at = (parse_labels(text) for text in rows.all(_OCCURRED)[0])
    place = _places_of_labels(all_n)
    has_date = np.zeros(all_n.size, np.bool_)
    has_date[place(dated_n)] = True
    recorded = np.zeros(all_n.size, np.int64)
    kind, status, space = (np.zeros(all_n.size, np.int16) for _ in range(3))
    recorded[place(all_n)] = all_recorded
    for space_id, its_status, its_kind, labels in rows.all(_GROUPS):
        here = place(parse_labels(labels))
        kind[here], status[here], space[here] = _KINDS.index(its_kind), _STATUSES.index(its_status), numbers[space_id]
    undated = ~has_date[place(all_n)]
    n, at = _labels_by_time(dated_n, dated_at, all_n[undated], all_recorded[undated])
    here = place(n)
    return TimeColumns(
        _make_read_only(n),
        _make_read_only(at),
        _make_read_only(has_date[here]),
        _make_read_only(recorded[here]),
        _make_read_only(kind[here]),
        _make_read_only(status[here]),
        _make_read_only(space[here]),
        tuple(names.values()),
    )


def _places_of_labels(labels: Labels) -> Callable[[Labels], Ints]:
    """Where labels stand among some: by a table, ten times faster than a search, where it is not much larger."""
    ordered = np.sort(labels)
    highest = int(ordered[-1]) if ordered.size else 0
    if highest > _SPARSE * ordered.size + _SPARSE:
        return lambda wanted: np.searchsorted(ordered, wanted)
    table = np.zeros(highest + 1, np.int64)
    table[ordered] = np.arange(ordered.size)
    return lambda wanted: table[wanted]


def _labels_by_time(dated_n: Labels, dated_at: Ints, other_n: Labels, other_at: Ints) -> tuple[Ints, Ints]:
    """Two lists that are each in the order of time as one, equals by their labels."""
    n, at = np.concatenate((dated_n, other_n)), np.concatenate((dated_at, other_at))
    order = np.argsort(at, kind="stable")  # two runs: merged, not sorted
    n, at = n[order], at[order]
    if ((at[1:] == at[:-1]) & (n[1:] < n[:-1])).any():
        order = np.lexsort((n, at))
        n, at = n[order], at[order]
    return n, at


def read_spans(rows: Rows, columns: TimeColumns) -> Spans:
    """Read from when until when each memory held; walks through the whole table once.

    Args:
        rows: the snapshot of the columns.
        columns: from `read_columns`.
    """
    size = columns.n.size
    retired, end = (np.full(size, _LAST) for _ in range(2))
    begin = np.where(columns.has_date, columns.at, -_LAST)
    was_believed, was_true = (np.ones(size, np.bool_) for _ in range(2))
    replaced = np.zeros(size, np.bool_)
    by_label = np.argsort(columns.n, kind="stable")
    ordered = columns.n[by_label]
    for label, retired_at, valid_from, valid_to, reason in rows.all(_SPANS):
        place = by_label[np.searchsorted(ordered, label)]
        retired[place] = _LAST if retired_at is None else retired_at
        begin[place] = begin[place] if valid_from is None else valid_from
        end[place] = _LAST if valid_to is None else valid_to
        was_believed[place], was_true[place] = reason not in NEVER_BELIEVED, reason not in _NEVER_TRUE
        replaced[place] = reason in OLD_VERSIONS
    return Spans(retired, begin, end, was_believed, was_true, replaced)


def count_by_period(
    columns: TimeColumns,
    grain: str,
    first_ms: int | None,
    last_ms: int | None,
    wanted: TimeFilter,
    top: int = 5,
    zone: tzinfo | None = None,
) -> Density:
    """Count memories by the period in which they were said (E39.1; X37: periods of the local zone, exact times).

    Args:
        columns: of the vault.
        grain: one of `GRAINS`.
        first_ms: a moment of the first period, epoch ms; None for the first memory's.
        last_ms: a moment of the last one; None for the last memory's.
        wanted: which memories count.
        top: how many of the busiest periods are named.
        zone: the zone whose days count; None for the system's.

    Returns:
        All periods from the first to the last, empty ones among them; of more than `MAX_PERIODS` the last ones. What
        has no date of its own was said in none of them: it is counted apart.

    Raises:
        UserError: INVALID_INPUT for another grain or a last moment before the first; NOT_FOUND for an unknown space.
    """
    let_through = match_filter(columns, wanted)
    kept = let_through & columns.has_date
    times, kinds = columns.at[kept], columns.kind[kept]
    earliest, latest = (int(times[0]), int(times[-1])) if times.size else (None, None)
    first = earliest if first_ms is None else first_ms
    last = latest if last_ms is None else last_ms
    starts = () if first is None or last is None else period_edges(grain, first, last, zone)
    count = max(len(starts) - 1, 0)
    places = np.searchsorted(np.array(starts, np.int64), times, side="right") - 1
    inside = (places >= 0) & (places < count)
    by_kind = {
        kind: tuple(np.bincount(places[inside & (kinds == number)], minlength=count).tolist())
        for number, kind in enumerate(Kind)
        if (inside & (kinds == number)).any()
    }
    totals = np.bincount(places[inside], minlength=count) if count else np.zeros(0, np.int64)
    order = np.lexsort((-np.arange(count), -totals))[: max(top, 0)]
    return Density(
        grain=grain,
        starts=starts,
        totals=tuple(totals.tolist()),
        by_kind=by_kind,
        busiest=tuple(place for place in order.tolist() if totals[place]),
        earliest=earliest,
        latest=latest,
        total=int(times.size),
        undated=int(np.count_nonzero(let_through & ~columns.has_date)),
    )


def period_edges(grain: str, first_ms: int, last_ms: int, zone: tzinfo | None = None) -> tuple[int, ...]:
    """When the periods begin that hold two moments and all between them.

    Args:
        grain: one of `GRAINS`.
        first_ms: epoch ms, in the first period.
        last_ms: epoch ms, in the last one.
        zone: whose days; None for the system's. A day has 23 or 25 hours where the clocks change.

    Returns:
        Epoch ms, ascending; the last is the end of the last period. At most `MAX_PERIODS` periods, the last ones.

    Raises:
        UserError: INVALID_INPUT.
    """
    if grain not in GRAINS:
        raise UserError(Code.INVALID_INPUT, f"Memories are counted by {', '.join(GRAINS)}.")
    if last_ms < first_ms:
        raise UserError(Code.INVALID_INPUT, "The last moment lies before the first.")
    first, day = _first_day(grain, _day_of(first_ms, zone)), _first_day(grain, _day_of(last_ms, zone))
    days = [_shift_day(grain, day, 1)]
    while day >= first and len(days) <= MAX_PERIODS:
        days.append(day)
        if day <= _FIRST_DAY:
            break
        day = _shift_day(grain, day, -1)
    return tuple(_midnight_ms(one, zone) for one in reversed(days))


def _day_of(ms: int, zone: tzinfo | None) -> date:
    try:
        found = datetime.fromtimestamp(ms / 1000, UTC).astimezone(zone).date()
    except (OverflowError, ValueError, OSError):
        return _LAST_DAY if ms > 0 else _FIRST_DAY
    return min(max(found, _FIRST_DAY), _LAST_DAY)


def _first_day(grain: str, day: date) -> date:
    if grain == "week":
        return day - timedelta(days=day.weekday())
    if grain == "month":
        return day.replace(day=1)
    return day.replace(month=1, day=1) if grain == "year" else day


def _shift_day(grain: str, day: date, by: int) -> date:
    if grain == "year":
        return day.replace(year=day.year + by)
    if grain == "month":
        months = day.year * 12 + day.month - 1 + by
        return date(months // 12, months % 12 + 1, 1)
    return day + timedelta(days=by * (7 if grain == "week" else 1))


def _midnight_ms(day: date, zone: tzinfo | None) -> int:
    at = datetime(day.year, day.month, day.day, tzinfo=zone)
    return int((at if zone is not None else at.astimezone()).timestamp()) * 1000


def match_filter(columns: TimeColumns, wanted: TimeFilter) -> Flags:
    """Which memories a filter lets through.

    Args:
        columns: of the vault.

    Returns:
        One flag each.

    Raises:
        UserError: NOT_FOUND for a space that does not exist.
    """
    statuses = (*_CURRENT, *_OVER) if wanted.with_over else _CURRENT
    return _has_status(columns, statuses) & _matches_filter(columns, wanted)


def _has_status(columns: TimeColumns, statuses: Sequence[str]) -> Flags:
    return np.isin(columns.status, [_STATUSES.index(status) for status in statuses])


def _matches_filter(columns: TimeColumns, wanted: TimeFilter) -> Flags:
    kept = np.ones(columns.n.size, np.bool_)
    if wanted.kinds:
        kept &= np.isin(columns.kind, [_KINDS.index(kind.value) for kind in wanted.kinds])
    if wanted.spaces:
        if not set(wanted.spaces) <= set(columns.spaces):
            raise UserError(Code.NOT_FOUND, "There is no such space.")
        kept &= np.isin(columns.space, [columns.spaces.index(name) for name in wanted.spaces])
    return kept


def places_between(columns: TimeColumns, first_ms: int, last_ms: int, wanted: TimeFilter) -> Ints:
    """Places of the memories that were said in a period, in the order of time; what has no date is in none.

    Args:
        columns: of the vault.
        first_ms: epoch ms, inside.
        last_ms: epoch ms, outside.
        wanted: which memories count.

    Raises:
        UserError: NOT_FOUND for an unknown space.
    """
    inside = columns.has_date & (columns.at >= first_ms) & (columns.at < last_ms)
    return np.flatnonzero(match_filter(columns, wanted) & inside)


def places_valid_at(columns: TimeColumns, spans: Spans, at_ms: int, axis: str, wanted: TimeFilter) -> Ints:
    """Places of what was believed, or was true, at a moment; in the order of when it was said.

    Believed is what Loci had learned by then and had not given up (record time, as the palace's slider); true is what
    held then in the world, by its validity or from when it was said on (valid time, as `--as-of`). What was forgotten
    or is held back is neither.

    Args:
        columns: of the vault.
        spans: of the same snapshot.
        axis: one of `AXES`.
        wanted: which kinds and spaces; whether something stands now does not matter.

    Raises:
        UserError: INVALID_INPUT for another axis, NOT_FOUND for an unknown space.
    """
    if axis not in AXES:
        raise UserError(Code.INVALID_INPUT, f"A moment is asked by one of {', '.join(AXES)}.")
    if axis == TRUE:
        kept = _has_status(columns, (*_CURRENT, Status.SUPERSEDED.value))
        # The lifecycle may have archived a version that is over: it was true all the same.
        kept |= _has_status(columns, (Status.ARCHIVED.value,)) & spans.replaced
        kept &= spans.was_true & (spans.begin <= at_ms) & (spans.end > at_ms)
    else:
        is_current = _has_status(columns, _CURRENT)
        kept = (is_current | (_has_status(columns, _OVER) & (spans.retired < _LAST) & spans.was_believed)) & (
            columns.recorded <= at_ms
        )
        kept &= spans.retired > at_ms
    return np.flatnonzero(kept & _matches_filter(columns, wanted))


def read_period_page(
    rows: Rows, columns: TimeColumns, places: Ints, after: TimeCursor | None, limit: int, now_ms: int
) -> TimePage:
    """Some of the memories of a period or a moment.

    Args:
        rows: the snapshot of the columns.
        columns: of the vault.
        places: ascending.
        after: where the page before ended; None for the first page.
        limit: how many at most, 1 to `MAX_PAGE`.
        now_ms: the present, epoch ms; for strength.

    Returns:
        The page, oldest first; each memory comes once, however the vault changed between two pages.

    Raises:
        UserError: INVALID_INPUT for the limit.
    """
    if not 1 <= limit <= MAX_PAGE:
        raise UserError(Code.INVALID_INPUT, f"A page holds 1 to {MAX_PAGE} memories.")
    begin = 0 if after is None else _count_up_to(columns, places, after)
    chosen = places[begin : begin + limit]
    labels = columns.n[chosen]
    found = read_memory_rows(rows, read_memory_ids(rows, labels), now_ms)
    is_last = begin + limit >= places.size
    end = None if is_last else TimeCursor(int(columns.at[chosen[-1]]), int(labels[-1]))
    return TimePage(found, end, int(places.size))


def _count_up_to(columns: TimeColumns, places: Ints, after: TimeCursor) -> int:
    """How many of some places come up to a cursor: equals in time follow their labels."""
    at = columns.at[places]
    first, last = (int(np.searchsorted(at, after.at, side=side)) for side in _SIDES)
    return first + int(np.searchsorted(columns.n[places[first:last]], after.n, side="right"))


def read_memory_ids(rows: Rows, labels: Labels) -> list[str]:
    """Ids of memories in the order of their labels given; unknown ones are left out."""
    known: dict[int, str] = dict(rows.all(_IDS, (json.dumps(labels.tolist()),)))
    return [known[n] for n in labels.tolist() if n in known]


def _make_read_only(array: NDArray[Number]) -> NDArray[Number]:
    array.setflags(write=False)
    return array
