"""Numbers and dates along an axis: where ticks stand, and how a value is written.

Must not do: know Qt, or what is measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime, time, timedelta

from ui.widgets.labels import to_local

_WHOLE_FROM, _SHORT_FROM, _POWER_FROM = 100, 1e6, 1e15
_SHORT = ((1e12, "T"), (1e9, "B"), (1e6, "M"))
_STEPS = (1.0, 2.0, 5.0, 10.0)
_TOLERANCE = 0.8
"""A step may be so much smaller than what was wished for."""


def format_number(value: float) -> str:
    """A number as it is read: `1,204`, `12.5`, `0.031`, `4.2e+18`."""
    size = abs(value)
    if size >= _POWER_FROM or 0 < size < 1e-4:
        return f"{value:.3g}"
    if size >= _WHOLE_FROM or value == round(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def format_tick(value: float, step: float) -> str:
    """A number at a tick, as short as the distance between ticks allows: `0.25`, `1,200`, `1.5 M`.

    Args:
        step: from one tick to the next, above 0.
    """
    size = max(abs(value), step)
    if size >= _POWER_FROM:
        return f"{value:.2g}"
    if size >= _SHORT_FROM and value:
        unit, letter = next(one for one in _SHORT if size >= one[0])
        return f"{value / unit:.3g} {letter}"
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{value:,.{places}f}"


def number_ticks(least: float, most: float, wanted: int, *, is_count: bool = False) -> tuple[float, ...]:
    """Round numbers within a range, ascending, at equal distances of 1, 2 or 5 times a power of ten.

    Args:
        least: finite.
        most: above `least`.
        wanted: how many there may be, 2 or more.
        is_count: whether only whole numbers make sense.
    """
    raw = (most - least) / max(1, wanted - 1)
    if not math.isfinite(raw) or raw <= 0:
        return ()
    size = 10.0 ** math.floor(math.log10(raw))
    fitting = next(nr for nr, one in enumerate(_STEPS) if one * size >= raw * _TOLERANCE)
    found: tuple[float, ...] = ()
    for nr in (fitting, fitting - 1):  # the next smaller step where no two ticks would be left
        step = _STEPS[nr] * size if nr >= 0 else size / 2
        step = max(1.0, step) if is_count else step
        first, last = math.ceil(least / step - 1e-9), math.floor(most / step + 1e-9)
        found = tuple(number * step for number in range(first, last + 1))
        if len(found) > 1:
            break
    return found


def format_date(ms: float, *, has_time: bool = False) -> str:
    """A moment in the local zone: `12 Mar 2027`, or `12 Mar 2027, 14:00`.

    Args:
        ms: epoch ms.
        has_time: whether the time is told.
    """
    at = to_local(int(ms))
    day = f"{at.day} {at:%b %Y}"
    return f"{day}, {at:%H:%M}" if has_time else day


_HOUR_MS, _DAY_MS, _MONTH_MS = 3_600_000.0, 86_400_000.0, 2_629_800_000.0
_HOURS, _DAYS, _MONTHS = (1, 3, 6, 12), (1, 2, 7, 14), (1, 3, 6, 12, 24, 60, 120, 600, 1200)


def date_ticks(least: float, most: float, wanted: int) -> tuple[tuple[float, str], ...]:
    """Hours, days, months or years within a range, each with its words.

    Args:
        least: epoch ms.
        most: above `least`.
        wanted: how many there may be, 2 or more.

    Returns:
        (epoch ms, words), ascending; a year is told with the first of its ticks.
    """
    raw = (most - least) / max(1, wanted - 1)
    if raw <= _HOURS[-1] * _HOUR_MS:
        hours = next(one for one in _HOURS if one * _HOUR_MS >= raw * _TOLERANCE)
        return _label_dates(_count_hours(least, most, hours), "%H:%M")
    if raw <= _DAYS[-1] * _DAY_MS:
        days = next(one for one in _DAYS if one * _DAY_MS >= raw * _TOLERANCE)
        return _label_dates(_count_days(least, most, days), "day")
    months = next((one for one in _MONTHS if one * _MONTH_MS >= raw * _TOLERANCE), _MONTHS[-1])
    return _label_dates(_count_months(least, most, months), "%Y" if months % 12 == 0 else "month")


def _count_hours(least: float, most: float, step: int) -> Iterator[datetime]:
    """Each moment in its own local time: between two of them the clocks may have changed."""
    begin = to_local(int(least)).replace(minute=0, second=0, microsecond=0)
    at = begin.replace(hour=begin.hour // step * step).timestamp() * 1000
    while at <= most:
        local = to_local(int(at))
        if local.hour % step == 0:
            yield local
        at += _HOUR_MS


def _count_days(least: float, most: float, step: int) -> Iterator[datetime]:
    day = to_local(int(least)).date()
    while (at := datetime.combine(day, time.min).astimezone()).timestamp() * 1000 <= most:
        yield at
        day += timedelta(days=step)


def _count_months(least: float, most: float, step: int) -> Iterator[datetime]:
    first = to_local(int(least))
    number = (first.year * 12 + first.month - 1) // step * step
    while number < 9999 * 12:
        at = datetime(number // 12, number % 12 + 1, 1).astimezone()
        if at.timestamp() * 1000 > most:
            return
        yield at
        number += step


def _label_dates(moments: Iterator[datetime], form: str) -> tuple[tuple[float, str], ...]:
    found: list[tuple[float, str]] = []
    year = 0
    for at in moments:
        if form == "day":
            told = f"{at.day} {at:%b}" if at.year == year or not year else f"{at.day} {at:%b %Y}"
        elif form == "month":
            told = f"{at:%b}" if at.year == year else f"{at:%b %Y}"
        else:
            told = at.strftime(form)
        found.append((at.timestamp() * 1000, told))
        year = at.year
    return tuple(found)
