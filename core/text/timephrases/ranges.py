"""Ranges of two dates and open ones: "between 3 and 9 May", "from X to Y", "since X", "after X".

In a range the start decides: the end is the first such date from the start on.
Must not do: read a single phrase; that is `phrases`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from core.text.timephrases.atoms import Hit
from core.text.timephrases.phrases import bare_day, phrase
from core.text.timephrases.relative import this_unit
from core.text.timephrases.spans import Span, date_of, day_span, first_from, latest, latest_by, loose_day
from core.text.timephrases.tokens import Reading


def range_at(reading: Reading, place: int) -> Hit | None:
    """A range that begins at a token.

    Args:
        reading: the question.
        place: of its first token: `between`, `from`, or its first date.

    Returns:
        The range; None where there is none, or where it would end before it begins.
    """
    word = reading.word(place)
    is_between = word == "between"
    at = place + (is_between or word == "from")
    if not is_between and word != "from" and reading.word(place) in reading.words.weekdays:
        return None  # "Monday to Friday" are the days of any week
    begin = _side(reading, at)
    day = bare_day(reading, at)
    joined = begin.end if begin else None
    if begin is None or not _joins(reading, begin.end, is_between=is_between):
        joined = day[1] if day and _joins(reading, day[1], is_between=is_between) else None
        begin = None
    if joined is None:
        return None
    after = joined + 1
    end = _side(reading, after)
    if day and begin and end and begin.sort in ("nth", "nth word") and end.sort in ("day", "full"):
        return _with_day(reading, place, day[0], end)
    if begin is not None:
        return _of_two(reading, place, begin, end, after)
    return _with_day(reading, place, day[0], end) if day and end else None


def _side(reading: Reading, at: int) -> Hit | None:
    if reading.word(at) in ("now", "date"):
        return Hit(at + 1, day_span(reading.today), "now", "day")
    return phrase(reading, at) or (this_unit(reading, at) if reading.word(at) == "the" else None)


def _joins(reading: Reading, at: int, *, is_between: bool) -> bool:
    if is_between:
        return reading.word(at) == "and" or reading.kind(at) == "dash"
    return reading.within(at, "joins") or reading.kind(at) == "dash"


def _of_two(reading: Reading, place: int, begin: Hit, end: Hit | None, after: int) -> Hit | None:
    """The second side as a date of its own, or as the number of a day in the month of the first."""
    day = bare_day(reading, after)
    if day and (end is None or end.sort in ("nth", "nth word", "year") or end.end < day[1]):
        first = begin.span.first
        is_dated = begin.sort in ("day", "full") and begin.unit == "day" and begin.span.first == begin.span.last
        span = date_of(first.year, first.month, day[0]) if is_dated else None
        if span and span.first >= first:
            return Hit(day[1], Span(first, span.last), "range", start=place)
    if end is None:
        return None
    left, right = _settled(reading, begin, end)
    if left is None or right is None or left.first > right.last:
        return None
    return Hit(end.end, Span(left.first, right.last), "range", start=place)


def _settled(reading: Reading, begin: Hit, end: Hit) -> tuple[Span | None, Span | None]:
    if begin.loose and end.loose:
        left = latest(begin.loose, reading.today)
        return left, first_from(end.loose, left.first) if left else None
    if begin.loose:
        return latest_by(begin.loose, end.span.first), end.span
    if end.loose:
        return begin.span, first_from(end.loose, begin.span.first)
    return begin.span, end.span


def _with_day(reading: Reading, place: int, day: int, end: Hit) -> Hit | None:
    """Reads "3 to 9 May": the first side has the month of the second."""
    last = end.span.first
    if end.span.last != last or end.sort not in ("day", "full") or day > last.day:
        return None
    if end.loose is None:
        span = date_of(last.year, last.month, day)
        return Hit(end.end, Span(span.first, last), "range", start=place) if span else None
    left = latest(loose_day(last.month, day), reading.today)
    right = first_from(end.loose, left.first) if left else None
    return Hit(end.end, Span(left.first, right.last), "range", start=place) if left and right else None


def open_at(reading: Reading, place: int) -> Hit | None:
    """Reads "Since X", "from X on", "after X": from its first day, or the day behind it, to today."""
    word = reading.word(place)
    at = place + (word == "ever")
    word = reading.word(at)
    if word not in ("since", "from", "after"):
        return None
    inner = _side(reading, at + 1)
    if inner is None or inner.sort == "nth word":
        return None
    if word == "from":
        if reading.word(inner.end) not in ("on", "onward", "onwards"):
            return None
        inner = replace(inner, end=inner.end + 1)
    first = inner.span.last + timedelta(days=1) if word == "after" else inner.span.first
    if first > reading.today:
        return None
    return replace(inner, span=Span(first, reading.today), start=place, loose=None)
