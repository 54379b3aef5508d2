"""The system's zone as a `tzinfo` that knows its daylight saving.

Must not do: guess a zone's name.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, tzinfo

_NONE = timedelta(0)


class LocalZone(tzinfo):
    """Whatever the system says the offset is, at that moment."""

    def utcoffset(self, dt: datetime | None) -> timedelta:
        """The offset at a local time; of a time that the clocks skip or repeat, what the system takes it for."""
        return timedelta(seconds=_at(dt).tm_gmtoff)

    def dst(self, dt: datetime | None) -> timedelta:
        """What daylight saving adds."""
        at = _at(dt)
        return timedelta(seconds=at.tm_gmtoff + time.timezone) if at.tm_isdst > 0 else _NONE

    def tzname(self, dt: datetime | None) -> str:
        """The zone's name at a local time."""
        return _at(dt).tm_zone

    def fromutc(self, dt: datetime) -> datetime:
        """A moment as local time; the second of two equal ones has `fold` 1."""
        stamp = dt.replace(tzinfo=UTC).timestamp()
        at = _local(stamp)
        made = datetime(*at[:6], dt.microsecond, tzinfo=self)
        is_again = at.tm_isdst == 0 and _local(stamp - 3600).tm_isdst > 0 and _local(stamp - 3600)[:5] == at[:5]
        return made.replace(fold=int(is_again))


def _at(dt: datetime | None) -> time.struct_time:
    if dt is None:
        return time.localtime()
    parts = (dt.year, dt.month, dt.day, dt.hour, dt.minute, dt.second, 0, 0, -1)
    try:
        return _local(time.mktime(parts))
    except (OverflowError, ValueError):  # years that the platform's clock does not reach
        return time.localtime()


def _local(stamp: float) -> time.struct_time:
    try:
        return time.localtime(stamp)
    except (OverflowError, ValueError, OSError):
        return time.localtime()
