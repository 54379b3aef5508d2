"""Words of the timeline: periods, gaps, transitions. The sentences are `resources/help/timeline.json`.

Pure but for the local zone. Must not do: show text that is not made visible.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.types.values import Kind, Precision
from core.types.views import Density, MemoryRow
from ui.strings import format_count, timeline_strings
from ui.widgets.labels import (
    KIND_PLURALS,
    KIND_WORDS,
    ROLE_WORDS,
    count_memories,
    date_of,
    format_said_at,
    name_edited,
    to_local,
)
from ui.widgets.plaintext import one_line

SAID = "said"
_MINUTE, _HOUR, _DAY = 60_000, 3_600_000, 86_400_000
_WEEKS_FROM, _MONTHS_FROM, _YEARS_FROM = 14, 63, 730  # days
_ROLES = frozenset({"user", "assistant", "tool", "system", "human"})
_MONTH_DAYS, _YEAR_DAYS = 30.44, 365.25


def period_name(grain: str, start: int) -> str:
    """A period by its name: `Tue 6 Oct 2026`, `week of 5 Oct 2026`, `October 2026`, `2026`.

    Args:
        grain: `day`, `week`, `month` or `year`.
        start: epoch ms at which it begins.
    """
    at = to_local(start)
    if grain == "year":
        return str(at.year)
    if grain == "month":
        return f"{at:%B} {at.year}"
    if grain == "week":
        return str(timeline_strings()["week"]).format(date=date_of(start))
    return f"{at:%a} {date_of(start)}"


def range_name(grain: str, first: int, last: int, end: int) -> str:
    """Several periods by one name.

    Args:
        first: epoch ms at which the first begins.
        last: at which the last begins.
        end: at which the last ends.
    """
    if first == last:
        return period_name(grain, first)
    if grain in {"year", "month"}:
        return f"{period_name(grain, first)} – {period_name(grain, last)}"
    begin, finish = to_local(first), to_local(end - 1)
    if begin.year != finish.year:
        return f"{date_of(first)} – {date_of(end - 1)}"
    if begin.month != finish.month:
        return f"{begin.day} {begin:%b} – {date_of(end - 1)}"
    return f"{begin.day} – {date_of(end - 1)}"


def day_name(ms: int) -> str:
    """A day as a heading: `Tuesday 6 October 2026`."""
    at = to_local(ms)
    return f"{at:%A} {at.day} {at:%B} {at.year}"


def describe_gap(gap_ms: int) -> str:
    """How much later, in words: `3 weeks later`.

    Args:
        gap_ms: milliseconds, 0 or more.
    """
    strings = timeline_strings()["gaps"]
    if gap_ms < _MINUTE:
        return str(strings["none"])
    if gap_ms < _HOUR:
        return format_count(strings["minutes"], gap_ms // _MINUTE)
    if gap_ms < _DAY:
        return format_count(strings["hours"], gap_ms // _HOUR)
    days = gap_ms / _DAY
    if days < _WEEKS_FROM:
        return format_count(strings["days"], int(days))
    if days < _MONTHS_FROM:
        return format_count(strings["weeks"], round(days / 7))
    if days < _YEARS_FROM:
        return format_count(strings["months"], round(days / _MONTH_DAYS))
    return format_count(strings["years"], round(days / _YEAR_DAYS))


def count_period_memories(density: Density, places: Sequence[int]) -> str:
    """How many memories some periods hold, by kind: `12 memories: 8 episodes, 4 facts`."""
    total = sum(density.totals[place] for place in places)
    found = {kind: sum(counts[place] for place in places) for kind, counts in density.by_kind.items()}
    parts = [
        f"{count:,} {(KIND_WORDS if count == 1 else KIND_PLURALS)[kind].lower()}"
        for kind, count in found.items()
        if count
    ]
    if not total:
        return str(timeline_strings()["nothing"])
    return count_memories(total) if len(parts) < 2 else f"{count_memories(total)}: {', '.join(parts)}"


def kinds_of(density: Density) -> tuple[Kind, ...]:
    """The kinds that occur, in their usual order."""
    return tuple(kind for kind in Kind if kind in density.by_kind)


def memory_time_ms(row: MemoryRow) -> int:
    """When a memory was said, else recorded; epoch ms."""
    return row.recorded_at if row.occurred is None else row.occurred.ms


def describe_clock(row: MemoryRow) -> list[str]:
    """The time of day at which a memory was said, where it is known so exactly; its month or year where no day is."""
    if row.occurred is None or row.occurred.precision is Precision.DAY:
        return []
    if row.occurred.precision in (Precision.YEAR, Precision.MONTH):
        return [format_said_at(row.occurred)]
    return [f"{to_local(row.occurred.ms):%H:%M}"]


def describe_speaker(row: MemoryRow) -> str:
    """Whose words a memory is, for its second line: a name where there is one, else `You` or the like."""
    name = row.client or row.author or ""
    who = one_line(name, 40) if name and name.casefold() not in _ROLES else ROLE_WORDS[row.role]
    return name_edited(who) if row.is_edited else who
