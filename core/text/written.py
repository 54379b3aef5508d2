"""Writes a time as exactly as it is known, so that `core.text.times.parse_time` reads the same moment back.

Must not do: ask for the present, or add an exactness that the time does not have.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from core.types.values import Precision, When

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def written_time(when: When) -> str | None:
    """Write a time down in ISO 8601.

    Args:
        when: a moment, its precision and the offset it was written with; without an offset it is UTC.

    Returns:
        `2026`, `2026-03`, `2026-03-14`, `2026-03-14T09Z` … `2026-03-14T09:30:15.250+02:00`; None outside the years 1
        to 9999.
    """
    try:
        at = _EPOCH + timedelta(milliseconds=when.ms, minutes=when.offset_min or 0)
    except OverflowError:
        return None
    texts = {Precision.YEAR: f"{at.year:04d}", Precision.MONTH: f"{at.year:04d}-{at.month:02d}"}
    day = f"{at.year:04d}-{at.month:02d}-{at.day:02d}"
    texts |= {
        Precision.DAY: day,
        Precision.HOUR: f"{day}T{at.hour:02d}",
        Precision.MINUTE: f"{day}T{at:%H:%M}",
        Precision.SECOND: f"{day}T{at:%H:%M:%S}",
        Precision.MS: f"{day}T{at:%H:%M:%S}.{when.ms % 1000:03d}",
    }
    coarse = when.precision in (Precision.YEAR, Precision.MONTH, Precision.DAY)
    return texts[when.precision] + _zone(when.offset_min, coarse=coarse)


def _zone(offset_min: int | None, *, coarse: bool) -> str:
    if offset_min is None:
        return "" if coarse else "Z"
    hours, minutes = divmod(abs(offset_min), 60)
    return f"{'-' if offset_min < 0 else '+'}{hours:02d}:{minutes:02d}"
