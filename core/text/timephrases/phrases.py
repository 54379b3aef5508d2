"""Phrases of time built of smaller ones: "early May", "Tuesday last week", "two days before 5 June".

Must not do: decide whether a phrase is meant as a time; that is `licence`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from core.text.timephrases.atoms import (
    TimeHit,
    month_day,
    nth_of_month,
    number_at,
    ordinal_at,
    unit_date,
    weekday_name,
    written_date,
)
from core.text.timephrases.relative import (
    read_ago,
    read_before_last,
    read_day_word,
    read_in_units,
    read_ordinal_unit,
    read_this_unit,
    read_weekend,
)
from core.text.timephrases.spans import (
    Cut,
    DaySpan,
    LooseDate,
    first_from,
    first_inside,
    latest_by,
    loose_weekday,
    month_span,
    unit_span,
)
from core.text.timephrases.tokens import TokenizedQuestion

Reader = Callable[[TokenizedQuestion, int], TimeHit | None]

_MONTHS = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120}
_PART_OF = {"month": 1, "quarter": 3, "half": 6, "year": 12}
_UNIT_WORDS = ("week", "month", "quarter", "year", "decade", "half")


def read_simple_phrase(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """The longest phrase without a part of a phrase in it, with what narrows it.

    Args:
        reading: the question.
        place: of the first token.

    Returns:
        The phrase; None where none begins there.
    """
    readers: tuple[Reader, ...] = (
        read_day_word,
        read_before_last,
        read_ordinal_unit,
        read_ago,
        read_in_units,
        written_date,
        month_day,
        unit_date,
        weekday_name,
        nth_of_month,
        read_weekend,
    )
    best: TimeHit | None = None
    for read in readers:
        hit = read(reading, place)
        if hit and (best is None or hit.end > best.end):
            best = hit
    return best and _narrowed(reading, replace(best, start=place))


def read_phrase(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """The longest phrase that begins at a token, parts and anchors included; ranges are read by `ranges`."""
    best: TimeHit | None = None
    for read in (read_simple_phrase, read_slice, read_nth_part, read_anchored, read_week_of):
        hit = read(reading, place)
        if hit and (best is None or hit.end > best.end):
            best = hit
    return best and replace(best, start=place)


def _narrowed(reading: TokenizedQuestion, hit: TimeHit) -> TimeHit:
    """A loose date with its unit ("Tuesday last week"), or a unit with a date in it ("last year in May")."""
    end = hit.end
    if hit.sort == "now":
        return hit
    after = end + (reading.word(end) in ("of", "in", ","))
    if hit.loose is not None:
        outer = read_ordinal_unit(reading, after) or read_before_last(reading, after) or read_ago(reading, after)
        if outer and outer.unit in _wider(hit.loose):
            span = first_inside(hit.loose, outer.span)
            return replace(hit, end=outer.end, span=span, sort="full", loose=None) if span else hit
        end += reading.within(end, "day_parts")
        return replace(hit, end=end) if hit.loose.sort in ("weekday", "day", "date") else hit
    if hit.unit in ("week", "month", "year", "quarter") and hit.sort == "relative":
        inner = _inner(reading, end)
        if inner and inner.loose and hit.unit in _wider(inner.loose):
            span = first_inside(inner.loose, hit.span)
            return replace(hit, end=inner.end, span=span, unit=inner.unit) if span else hit
    if hit.unit == "day":
        return replace(hit, end=end + reading.within(end, "day_parts"))
    return hit


def _inner(reading: TokenizedQuestion, end: int) -> TimeHit | None:
    at = end + (reading.word(end) in ("on", "in", ","))
    return month_day(reading, at) or weekday_name(reading, at) or nth_of_month(reading, at) or unit_date(reading, at)


def _wider(loose: LooseDate) -> tuple[str, ...]:
    return {
        "weekday": ("week",),
        "date": ("month",),
        "month": ("year", "quarter"),
    }.get(loose.sort, ("year",))


def read_slice(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "Early May", "the end of last month", "the first half of 2025", "the latter part of June"."""
    at = place + (reading.word(place) == "the")
    half = _half(reading, at)
    if half:
        number, after = half
        return _cut(reading, after, lambda unit: lambda span: _half_span(span, unit, number))
    name = reading.words.slices.get(reading.word(at))
    after = at + 1
    ordinal = ordinal_at(reading, at)
    if name is None and ordinal and ordinal[0] == 1 and reading.within(ordinal[1], "part"):
        name, after = "early", ordinal[1]
    if name is None and reading.word(at) == "last" and reading.within(after, "part"):
        name = "late"
    if name is None:
        return None
    if reading.within(at, "slice_of") and not reading.within(after, "of_it"):
        return None
    after += reading.kind(after) == "dash"
    after += reading.within(after, "part") and reading.word(after + 1) in ("of", "in")
    after += reading.word(after) in ("of", "in")
    return _cut(reading, after, lambda unit: lambda span: _third_span(span, unit, str(name)))


def _half(reading: TokenizedQuestion, at: int) -> tuple[int, int] | None:
    number = 2 if reading.word(at) in ("latter", "last") else 0
    ordinal = ordinal_at(reading, at)
    number, after = (ordinal[0], ordinal[1]) if ordinal else (number, at + 1)
    if number in (1, 2) and reading.word(after) == "half" and reading.within(after + 1, "of_it"):
        return number, after + 2
    return None


def _cut(reading: TokenizedQuestion, after: int, make: Callable[[str], Cut]) -> TimeHit | None:
    """A part of what stands at `after`: a unit of the calendar, loose or not."""
    hit = read_simple_phrase(reading, after) or read_this_unit(reading, after)
    if hit is None or hit.sort == "nth" or hit.unit not in (*_UNIT_WORDS, "day"):
        return None
    if hit.unit == "day" and hit.sort != "now":
        return None
    cut = make(hit.unit)
    span = cut(hit.span)
    if span is None:
        return None
    loose = LooseDate(hit.loose.sort, hit.loose.occurrences, cut) if hit.loose else None
    return replace(hit, span=span, loose=loose, unit="", sort="full" if hit.loose is None else "part")


def _third_span(span: DaySpan, unit: str, name: str) -> DaySpan:
    """Days 1 to 10, 11 to 20 and 21 to the last of a month; thirds of longer units; shorter ones are whole."""
    if unit == "month":
        tenth, twentieth = span.first.replace(day=10), span.first.replace(day=20)
        day = timedelta(days=1)
        return {
            "early": DaySpan(span.first, tenth),
            "mid": DaySpan(tenth + day, twentieth),
            "late": DaySpan(twentieth + day, span.last),
        }[name]
    if unit not in _MONTHS:
        return span
    if unit == "decade":
        starts = {"early": (0, 4), "mid": (4, 3), "late": (7, 3)}[name]
        return month_span(span.first.year + starts[0], 1, 12 * starts[1])
    third = _MONTHS[unit] // 3
    step = {"early": 0, "mid": 1, "late": 2}[name] * third
    return month_span(span.first.year, span.first.month + step, third)


def _half_span(span: DaySpan, unit: str, number: int) -> DaySpan:
    if unit == "month":
        middle = span.first.replace(day=15)
        return DaySpan(span.first, middle) if number == 1 else DaySpan(middle + timedelta(days=1), span.last)
    if unit in ("year", "decade", "half"):
        size = _MONTHS[unit] // 2
        return month_span(span.first.year, span.first.month + (number - 1) * size, size)
    middle = span.first + (span.last - span.first) // 2
    return DaySpan(span.first, middle) if number == 1 else DaySpan(middle + timedelta(days=1), span.last)


def read_nth_part(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "The first week of August", "the last Friday in May", "the first three days of 2024"."""
    at = place + (reading.word(place) == "the")
    ordinal = (-1, at + 1) if reading.word(at) in ("last", "final") else ordinal_at(reading, at)
    if ordinal is None:
        return None
    counted = None if reading.within(ordinal[1], "articles") else number_at(reading, ordinal[1])
    count, after = counted or (1, ordinal[1])
    word = reading.word(after)
    weekday, unit = reading.words.weekdays.get(word), reading.words.units.get(word)
    if (weekday is None and unit is None) or not reading.within(after + 1, "of_it"):
        return None
    if counted and ordinal[0] not in (1, -1):
        return None
    nth = ordinal[0]
    if weekday is not None:
        return _cut(reading, after + 2, lambda _: lambda span: _nth_weekday(span, weekday, nth))
    return _cut(reading, after + 2, lambda outer: lambda span: _nth_unit(span, outer, str(unit), nth, count))


def _nth_weekday(span: DaySpan, weekday: int, nth: int) -> DaySpan | None:
    days = [
        day
        for year in range(span.first.year, span.last.year + 1)
        for day in loose_weekday(weekday).occurrences(year)
        if span.first <= day.first and day.last <= span.last
    ]
    place = nth - 1 if nth > 0 else nth
    return days[place] if -len(days) <= place < len(days) else None


def _nth_unit(span: DaySpan, outer: str, unit: str, nth: int, count: int) -> DaySpan | None:
    if unit == "weekend":
        saturday = _nth_weekday(span, 5, nth)
        return saturday and DaySpan(saturday.first, saturday.first + timedelta(days=1))
    size = {"day": 1, "week": 7, "fortnight": 14}.get(unit)
    if size is not None:
        days = timedelta(days=size * count - 1)
        if nth < 0:
            return DaySpan(max(span.first, span.last - days), span.last)
        first = span.first + timedelta(days=size * (nth - 1))
        return DaySpan(first, min(span.last, first + days)) if first <= span.last else None
    months, whole = _PART_OF.get(unit, 0), _MONTHS.get(outer, 0)
    if not months or months >= whole or outer == "decade":
        return None
    parts = whole // months
    start = parts - count if nth < 0 else nth - 1
    if not 0 <= start < parts:
        return None
    return month_span(span.first.year, span.first.month + start * months, months * min(count, parts - start))


def read_anchored(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "Two days before 5 June", "the day after the 14th", "the Friday before 1 May"; never an event."""
    at = place + (reading.word(place) == "the")
    counted = number_at(reading, at) or (1, at)
    word, end = reading.word(counted[1]), counted[1] + 1
    if reading.word(end) not in ("before", "after", "prior", "from"):
        return None
    is_after = reading.word(end) in ("after", "from")
    end += 1 + (reading.word(end) == "prior" and reading.word(end + 1) == "to")
    unit, weekday = reading.words.units.get(word), reading.words.weekdays.get(word)
    if (unit is None or unit in ("minute", "hour")) and weekday is None:
        return None
    base = read_simple_phrase(reading, end)
    # "the day after Monday's call": the call is an event, and the phrase is not about its day.
    if base is None or base.sort == "nth word" or reading.tokens[base.end - 1].owns:
        return None
    if reading.word(end - 1) == "from" and base.sort != "now":
        return None
    count = counted[0] if is_after else -counted[0]
    edge = base.span.last if is_after else base.span.first
    if weekday is not None:
        loose = loose_weekday(weekday)
        day = timedelta(days=1)
        span = first_from(loose, edge + day) if is_after else latest_by(loose, edge - day)
        return TimeHit(base.end, span, "full", "day") if span else None
    return TimeHit(base.end, unit_span(edge, str(unit), count), "full", str(unit))


def read_week_of(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "The week of 5 May", "week commencing 3 June", "the weekend of the 14th"."""
    at = place + (reading.word(place) == "the")
    unit = reading.word(at)
    if unit not in ("week", "weekend") or reading.word(at + 1) not in ("of", "beginning", "commencing", "starting"):
        return None
    base = month_day(reading, at + 2) or nth_of_month(reading, at + 2) or written_date(reading, at + 2)
    return TimeHit(base.end, unit_span(base.span.first, unit), "full", unit) if base else None


def read_bare_day(reading: TokenizedQuestion, place: int) -> tuple[int, int] | None:
    """A day of a month by its number alone, "3" or "the 3rd": the number and the place behind it."""
    at = place + (reading.word(place) == "the")
    found = ordinal_at(reading, at) if reading.kind(at) != "number" else number_at(reading, at)
    return found if found and 1 <= found[0] <= 31 else None
