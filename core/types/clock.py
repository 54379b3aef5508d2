"""The one clock, and the system's time zone as a `tzinfo` with its daylight saving.

Must not do: guess the name of a zone.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Protocol

_NONE = timedelta(0)


class LocalZone(tzinfo):
    """Whatever the system says the offset is, at that moment."""

    def utcoffset(self, dt: datetime | None) -> timedelta:
        """The offset at a local time; of a time that the clocks skip or repeat, what the system takes it for."""
        return timedelta(seconds=_local_time_at(dt).tm_gmtoff)

    def dst(self, dt: datetime | None) -> timedelta:
        """What daylight saving adds."""
        at = _local_time_at(dt)
        return timedelta(seconds=at.tm_gmtoff + time.timezone) if at.tm_isdst > 0 else _NONE

    def tzname(self, dt: datetime | None) -> str:
        """The zone's name at a local time."""
        return _local_time_at(dt).tm_zone

    def fromutc(self, dt: datetime) -> datetime:
        """A moment as local time; the second of two equal ones has `fold` 1."""
        stamp = dt.replace(tzinfo=UTC).timestamp()
        at = _local_time_of(stamp)
        made = datetime(*at[:6], dt.microsecond, tzinfo=self)
        is_again = (
            at.tm_isdst == 0
            and _local_time_of(stamp - 3600).tm_isdst > 0
            and _local_time_of(stamp - 3600)[:5] == at[:5]
        )
        return made.replace(fold=int(is_again))


def _local_time_at(dt: datetime | None) -> time.struct_time:
    if dt is None:
        return time.localtime()
    parts = (dt.year, dt.month, dt.day, dt.hour, dt.minute, dt.second, 0, 0, -1)
    try:
        return _local_time_of(time.mktime(parts))
    except (OverflowError, ValueError):  # years that the platform's clock does not reach
        return time.localtime()


def _local_time_of(stamp: float) -> time.struct_time:
    try:
        return time.localtime(stamp)
    except (OverflowError, ValueError, OSError):
        return time.localtime()


class Clock(Protocol):
    """Where the current time comes from."""

    def now_ms(self) -> int:
        """Wall clock, epoch milliseconds UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards; for deadlines and durations."""
        ...


class SystemClock:
    """The machine's clock.

    A wall clock that jumps back must not give two rows of one writer times that
    run backwards within a process, so ids stay ordered: see `core.types.values`.
    """

    def now_ms(self) -> int:
        """Wall clock, epoch milliseconds UTC."""
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic()


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment by both clocks: one stands still while the machine sleeps, the other can be set back."""

    monotonic_s: float
    wall_ms: int

    @classmethod
    def after(cls, clock: Clock, seconds: float) -> Deadline:
        """The moment so many seconds from now."""
        return cls(clock.monotonic() + seconds, clock.now_ms() + round(seconds * 1000))

    def seconds_left(self, clock: Clock) -> float:
        """Seconds until then by the clock that is ahead; negative when it is past."""
        return min(self.monotonic_s - clock.monotonic(), (self.wall_ms - clock.now_ms()) / 1000)


@dataclass(frozen=True)
class OffsetClock:
    """The machine's clock moved by a fixed distance (`LOCI_NOW`, test vaults only).

    Attributes:
        offset_ms: milliseconds added to the wall clock, negative for the past.
    """

    offset_ms: int

    def now_ms(self) -> int:
        """Moved wall clock, epoch milliseconds UTC."""
        return time.time_ns() // 1_000_000 + self.offset_ms

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic()


@dataclass
class ManualClock:
    """A clock that only moves when told to; for simulations and tests.

    Attributes:
        at_ms: the present, epoch milliseconds UTC.
    """

    at_ms: int

    def now_ms(self) -> int:
        """The present as set."""
        return self.at_ms

    def monotonic(self) -> float:
        """The present as seconds."""
        return self.at_ms / 1000

    def advance(self, milliseconds: int) -> None:
        """Move the present forward.

        Args:
            milliseconds: how far; may be negative to play a clock that jumps back.
        """
        self.at_ms += milliseconds
