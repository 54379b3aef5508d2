"""Days of the calendar: units, steps between them, and dates that lack their year.

Weeks run from Monday to Sunday (ISO 8601), quarters begin in January, April, July and October.
Must not do: know any word of a language.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date, timedelta
from typing import NamedTuple

_YEARS = 8  # a 29 February is at most so many years away
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}


class DaySpan(NamedTuple):
    """Days from `first` to `last`, both inclusive."""

    first: date
    last: date


Cut = Callable[[DaySpan], DaySpan | None]
"""Takes a part of a span; None where there is no such part."""


@dataclass(frozen=True, slots=True)
class LooseDate:
    """A date that lacks its year (or its month or week): "5 June", "the 14th", "Tuesday", "May".

    Attributes:
        sort: `day` (within a year), `date` (within a month), `weekday`, `week`, `month`, `quarter` or `half`.
        occurrences: all of a year, in order.
        cut: the part that is meant, taken once the occurrence is chosen.
    """

    sort: str
    occurrences: Callable[[int], Sequence[DaySpan]]
    cut: Cut | None = None

    def part(self, span: DaySpan | None) -> DaySpan | None:
        """The part of an occurrence that is meant."""
        return span if span is None or self.cut is None else self.cut(span)


def day_span(day: date) -> DaySpan:
    """One day."""
    return DaySpan(day, day)


def month_span(year: int, month: int, months: int = 1) -> DaySpan:
    """Whole months.

    Args:
        year: of the first month.
        month: 1 to 12 of that year; beyond it, of the years before or after.
        months: how many.
    """
    first = _month(year * 12 + month - 1)
    last = _month(year * 12 + month - 2 + months)
    return DaySpan(first, last.replace(day=monthrange(last.year, last.month)[1]))


def unit_span(day: date, unit: str, step: int = 0) -> DaySpan:
    """The calendar unit that holds a day, or one `step` units later.

    Args:
        day: any day.
        unit: `day`, `week`, `fortnight` (a week, two weeks to a step), `weekend`, `month`, `quarter`, `year`, `decade`.
        step: units to go on, negative to go back.

    Raises:
        OverflowError or ValueError: the unit lies outside the years 1 to 9999.
    """
    if unit == "day":
        return day_span(day + timedelta(days=step))
    if unit in ("week", "fortnight", "weekend"):
        weeks = 2 * step if unit == "fortnight" else step
        monday = day + timedelta(weeks=weeks, days=-day.weekday())
        return DaySpan(monday + timedelta(days=5 if unit == "weekend" else 0), monday + timedelta(days=6))
    size = _MONTHS[unit]
    count = day.year * 12 + day.month - 1
    start = (count // size + step) * size
    return month_span(start // 12, start % 12 + 1, size)


def months_on(day: date, months: int) -> date:
    """The same day of the month `months` later (negative: earlier), or that month's last day."""
    first = _month(day.year * 12 + day.month - 1 + months)
    return first.replace(day=min(day.day, monthrange(first.year, first.month)[1]))


def week_span(year: int, week: int) -> DaySpan | None:
    """An ISO week; None where the year has none of that number."""
    try:
        monday = date.fromisocalendar(year, week, 1)
    except ValueError:
        return None
    return DaySpan(monday, monday + timedelta(days=6))


def date_of(year: int, month: int, day: int) -> DaySpan | None:
    """One day; None where there is no such date."""
    try:
        return day_span(date(year, month, day))
    except ValueError:
        return None


def loose_month(month: int) -> LooseDate:
    """A month of any year."""
    return LooseDate("month", lambda year: (month_span(year, month),))


def loose_quarter(quarter: int) -> LooseDate:
    """A quarter (1 to 4) of any year."""
    return LooseDate("quarter", lambda year: (month_span(year, 3 * quarter - 2, 3),))


def loose_half(half: int) -> LooseDate:
    """A half (1 or 2) of any year."""
    return LooseDate("half", lambda year: (month_span(year, 6 * half - 5, 6),))


def loose_week(week: int) -> LooseDate:
    """An ISO week of any year."""
    return LooseDate("week", lambda year: _some(week_span(year, week)))


def loose_day(month: int, day: int) -> LooseDate:
    """A day and month of any year."""
    return LooseDate("day", lambda year: _some(date_of(year, month, day)))


def loose_date(day: int) -> LooseDate:
    """A day of any month."""
    return LooseDate("date", lambda year: [span for month in range(1, 13) for span in _some(date_of(year, month, day))])


def loose_weekday(weekday: int) -> LooseDate:
    """A day of any week (0 is Monday)."""
    return LooseDate("weekday", lambda year: tuple(_weekdays(year, weekday)))


def latest(loose: LooseDate, today: date) -> DaySpan | None:
    """The occurrence that is meant where nothing else is said.

    A weekday is the most recent one before today; all others the most recent that has begun.
    """
    limit = today - timedelta(days=1) if loose.sort == "weekday" else today
    return _last(loose, lambda span: span.first <= limit, today.year)


def latest_over(loose: LooseDate, today: date) -> DaySpan | None:
    """The most recent occurrence that is over."""
    return _last(loose, lambda span: span.last < today, today.year)


def latest_by(loose: LooseDate, day: date) -> DaySpan | None:
    """The most recent occurrence that begins on a day or before."""
    return _last(loose, lambda span: span.first <= day, day.year)


def first_from(loose: LooseDate, day: date) -> DaySpan | None:
    """The first occurrence that begins on a day or after."""
    for year in range(day.year, min(MAXYEAR, day.year + _YEARS)):
        for span in loose.occurrences(year):
            if span.first >= day:
                return loose.part(span)
    return None


def first_inside(loose: LooseDate, whole: DaySpan) -> DaySpan | None:
    """The first occurrence within a span."""
    for year in range(whole.first.year, whole.last.year + 1):
        for span in loose.occurrences(year):
            if whole.first <= span.first and span.last <= whole.last:
                return loose.part(span)
    return None


def _last(loose: LooseDate, fits: Callable[[DaySpan], bool], year: int) -> DaySpan | None:
    for back in range(_YEARS + 1):
        if year - back < MINYEAR:
            break
        for span in reversed(loose.occurrences(year - back)):
            if fits(span):
                return loose.part(span)
    return None


def _weekdays(year: int, weekday: int) -> Iterator[DaySpan]:
    day = date(year, 1, 1)
    day += timedelta(days=(weekday - day.weekday()) % 7)
    while day.year == year:
        yield day_span(day)
        day += timedelta(days=7)


def _some(span: DaySpan | None) -> tuple[DaySpan, ...]:
    return () if span is None else (span,)


def _month(count: int) -> date:
    return date(count // 12, count % 12 + 1, 1)
