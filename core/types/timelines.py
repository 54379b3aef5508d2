"""What the timeline asks for and gets: how much was said when, the memories of a period, how a topic evolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.types.library import MemoryRow
from core.types.words import Kind

GRAINS = ("day", "week", "month", "year")
"""Periods that can be counted by, in the local zone; a week begins on Monday (ISO 8601)."""

BELIEVED, TRUE = "believed", "true"
"""What can be asked of a moment: what Loci believed then (record time), and what was true then (valid time)."""
AXES = (BELIEVED, TRUE)


@dataclass(frozen=True, slots=True)
class TimeFilter:
    """Which memories count.

    Attributes:
        kinds: only these; none for all.
        spaces: names of spaces, only these; none for all.
        with_over: also what stands no longer: superseded, consolidated, archived.
    """

    kinds: tuple[Kind, ...] = ()
    spaces: tuple[str, ...] = ()
    with_over: bool = False


@dataclass(frozen=True, slots=True)
class Density:
    """How many memories were said in each period (E39.1).

    Attributes:
        grain: one of `GRAINS`.
        starts: epoch ms at which each period begins, ascending; one more than there are periods, the last is the end.
        totals: memories of each period.
        by_kind: the same by kind; kinds that do not occur in any of the periods are missing.
        busiest: places of the busiest periods, most memories first, of equals the later one; empty ones are no period.
        earliest: epoch ms of the first memory the filter lets through, whatever the periods; None where there is none.
        latest: of the last one.
        total: how many memories the filter lets through, whatever the periods.
    """

    grain: str
    starts: tuple[int, ...]
    totals: tuple[int, ...]
    by_kind: Mapping[Kind, tuple[int, ...]]
    busiest: tuple[int, ...]
    earliest: int | None
    latest: int | None
    total: int


@dataclass(frozen=True, slots=True)
class TimeCursor:
    """Where a page ended: the time and the label of its last memory."""

    at: int
    n: int


@dataclass(frozen=True, slots=True)
class TimePage:
    """Some memories in the order of time.

    Attributes:
        rows: their light rows.
        after: what to ask for next; None where nothing is left.
        total: how many there are on all pages.
    """

    rows: tuple[MemoryRow, ...]
    after: TimeCursor | None
    total: int


class Transition(StrEnum):
    """What a memory is to those before it on the line of a topic (E39.5, X42)."""

    START = "start"
    ADDITION = "addition"
    REINFORCEMENT = "reinforcement"
    CORRECTION = "correction"


@dataclass(frozen=True, slots=True)
class TopicEvent:
    """One memory on the line of a topic.

    Attributes:
        row: the memory; where others went into it, the one that stands for them.
        at: when it, or the first that went into it, was said, else recorded, epoch ms.
        transition: what it is to those before it.
        gap_ms: milliseconds since the event before; None for the first.
        about: the earlier memory that it corrects or confirms; None where it does neither.
        until: when it ceased to stand, epoch ms; None while it stands.
        wordings: the texts that went into it, worded anew or become one, oldest first.
        version: its place among the versions of its chain that are on the line, from 1; `versions` is how many.
        similarity: its cosine to the topic; None where it stands here for its words or its ties alone.
    """

    row: MemoryRow
    at: int
    transition: Transition
    gap_ms: int | None
    about: MemoryRow | None
    until: int | None
    wordings: tuple[MemoryRow, ...]
    version: int
    versions: int
    similarity: float | None


@dataclass(frozen=True, slots=True)
class Evolution:
    """How what is remembered of a topic came about.

    Attributes:
        topic: as it was asked.
        events: oldest first; the first is the start.
        left_out: how many more of those that were looked at were near enough and did not fit within the limit.
        took_ms: milliseconds.
    """

    topic: str
    events: tuple[TopicEvent, ...]
    left_out: int
    took_ms: float
