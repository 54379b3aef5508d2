"""Phrases of time: those that count from the present ("three days ago"), and those built of parts ("early May").

The conventions are those of the labelled set `temporal-dev.jsonl` (its README). Must not do: decide whether a phrase is
meant as a time; `core.text.time_range` does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

from core.text.time_parts import (
    Cut,
    DaySpan,
    LooseDate,
    TimeHit,
    TokenizedQuestion,
    day_span,
    first_inside,
    first_occurrence_from,
    latest_by,
    latest_occurrence,
    latest_over,
    loose_weekday,
    month_day,
    month_span,
    months_on,
    nth_of_month,
    number_at,
    ordinal_at,
    today_span,
    unit_date,
    unit_span,
    weekday_name,
    written_date,
)

_STEP_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_DAYS = {"day": 1, "week": 7, "fortnight": 14}
_HALVES = {"hour": ("minute", 30), "year": ("month", 6), "decade": ("year", 5)}
Reader = Callable[[TokenizedQuestion, int], TimeHit | None]
_MONTHS = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120}
_PART_OF = {"month": 1, "quarter": 3, "half": 6, "year": 12}
_UNIT_WORDS = ("week", "month", "quarter", "year", "decade", "half")


def read_day_word(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Today, yesterday, tomorrow, this morning, last night, lately."""
    word, after = reading.word_at(place), reading.word_at(place + 1)
    if word in ("earlier", "later", "late", "early"):
        inner = read_day_word(reading, place + 1)
        return inner if inner and inner.sort == "now" else None
    if word in reading.words.days:
        end = place + 1 + (reading.is_in_set(place + 1, "day_parts") and not reading.tokens[place].owns)
        return TimeHit(end, today_span(reading, reading.words.days[word]), "now", "day")
    if word == "this" and reading.is_in_set(place + 1, "this_parts"):
        return TimeHit(place + 2, today_span(reading, 0), "now", "day")
    if word == "last" and after in ("night", "evening"):
        return TimeHit(place + 2, today_span(reading, -1), "now", "day")
    if reading.is_in_set(place, "recent"):
        return TimeHit(place + 1, DaySpan(reading.today - timedelta(days=6), reading.today), "relative")
    return None


def read_ago(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "Three days ago", "two Mondays ago", "half a year ago", "a week ago today"."""
    if half := _HALVES.get(reading.word_at(place + 2)) if reading.word_at(place) == "half" else None:
        is_ago = reading.is_in_set(place + 1, "articles") and reading.word_at(place + 3) == "ago"
        return _ago_hit(reading, half[0], -half[1], place + 4) if is_ago else None
    found = number_at(reading, place)
    if found is None and reading.words.units.get(reading.word_at(place)) == "fortnight":
        found = 1, place
    if found is None:
        return None
    count, at = found
    word = reading.word_at(at)
    plural = reading.words.weekday_plurals.get(word)
    if plural is not None and reading.word_at(at + 1) == "ago":
        span = latest_occurrence(loose_weekday(plural), reading.today)
        return TimeHit(at + 2, _shift_span(span, -7 * (count - 1)), "relative", "day") if span else None
    unit = reading.words.units.get(word)
    at += 1
    at += reading.word_at(at) == "'"
    if unit is None:
        return None
    step = _direction_at(reading, at)
    if step is None:
        return None
    return _ago_hit(reading, unit, step[0] * count, step[1])


def read_in_units(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "In three days", "in two weeks' time"; where the question asks about what was, it is a duration."""
    if reading.word_at(place) != "in":
        return None
    found = number_at(reading, place + 1)
    if found is None:
        return None
    count, at = found
    unit = reading.words.units.get(reading.word_at(at))
    if unit is None or reading.word_at(at + 1) in ("ago", "of", "a"):
        return None
    end = at + 1
    if reading.word_at(end) == "time" or (reading.word_at(end) == "'" and reading.word_at(end + 1) == "time"):
        return _ago_hit(reading, unit, count, end + 1 + (reading.word_at(end) != "time"))
    tense = _find_tense(reading, place)
    if tense == "past" or (reading.is_in_set(place + 1, "articles") and tense != "ahead" and unit != "fortnight"):
        return None
    return _ago_hit(reading, unit, count, end)


def read_ordinal_unit(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "Last week", "the past three days", "next Friday", "this quarter", "last May"."""
    has_article = reading.word_at(place) in ("the", "these", "this") and any(
        reading.is_in_set(place + 1, name) for name in ("back", "rolling", "ahead")
    )
    at = place + has_article
    word = reading.word_at(at)
    side = next((name for name in ("back", "rolling", "now", "ahead") if reading.is_in_set(at, name)), None)
    if side is None:
        return None
    if word == "last" and reading.word_at(at + 1) in ("past",):
        return None
    after = at + 1
    if counted := _read_counted_units(reading, at, after, side, has_article):
        return counted
    unit = reading.words.units.get(reading.word_at(after))
    if unit is not None and reading.word_at(after) not in ("night", "nights"):
        # "The last week of term" is no week of the calendar; its own phrases are read elsewhere.
        if (
            reading.word_at(after + 1) == "of"
            and unit != "fortnight"
            and (has_article or reading.word_at(at - 1) == "the")
        ):
            return None
        return _unit_hit(reading, after + 1, unit, side, has_article)
    return _read_named_day(reading, after, side)


def read_before_last(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "The week before last", "the Friday after next", "the night before last"."""
    at = place + (reading.word_at(place) == "the")
    pair = (reading.word_at(at + 1), reading.word_at(at + 2))
    if pair not in (("before", "last"), ("after", "next")):
        return None
    # "the day before last Monday" is another phrase: something must not follow that "last" could belong to.
    follower = reading.word_at(at + 3)
    if follower in reading.words.units or follower in reading.words.weekdays or follower in reading.words.months:
        return None
    step = -2 if pair[0] == "before" else 2
    word, end = reading.word_at(at), at + 3
    weekday = reading.words.weekdays.get(word)
    if weekday is not None:
        span = _choose_span(loose_weekday(weekday), reading.today, "back" if step < 0 else "ahead")
        return TimeHit(end, _shift_span(span, -7 if step < 0 else 7), "relative", "day") if span else None
    unit = reading.words.units.get(word) or ("day" if word == "evening" else None)
    if unit is None or unit in ("minute", "hour"):
        return None
    return TimeHit(end, unit_span(reading.today, unit, step), "relative", "week" if unit == "fortnight" else unit)


def weekend_span(today: date) -> DaySpan:
    """The most recent Saturday and Sunday whose Saturday is not after today."""
    saturday = today - timedelta(days=(today.weekday() - 5) % 7)
    return DaySpan(saturday, saturday + timedelta(days=1))


def read_weekend(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "The weekend" behind a preposition; "for the weekend" is the one of this week."""
    before = reading.word_at(place - 1)
    if reading.word_at(place) != "the" or reading.word_at(place + 1) != "weekend":
        return None
    if before == "for":
        return TimeHit(place + 2, unit_span(reading.today, "weekend"), "relative", "weekend")
    if before in ("at", "over", "during", "on", "from", "since", "through", "of", "in", "about") or before == "":
        return TimeHit(place + 2, weekend_span(reading.today), "relative", "weekend")
    return None


def read_this_unit(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "The month" where a part of it is asked for: the one of today."""
    unit = reading.words.units.get(reading.word_at(place + 1))
    if reading.word_at(place) == "the" and unit in ("week", "month", "quarter", "year", "decade"):
        return TimeHit(place + 2, unit_span(reading.today, unit), "relative", unit)
    return None


def read_simple_phrase(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """The longest phrase without a part of a phrase in it, with what narrows it.

    Args:
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
    return best and _narrow_hit(reading, replace(best, start=place))


def read_phrase(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """The longest phrase that begins at a token, parts and anchors included; ranges are read by `ranges`."""
    best: TimeHit | None = None
    for read in (read_simple_phrase, read_slice, read_nth_part, read_anchored, read_week_of):
        hit = read(reading, place)
        if hit and (best is None or hit.end > best.end):
            best = hit
    return best and replace(best, start=place)


def read_slice(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "Early May", "the end of last month", "the first half of 2025", "the latter part of June"."""
    at = place + (reading.word_at(place) == "the")
    half = _read_half(reading, at)
    if half:
        number, after = half
        return _read_calendar_part(reading, after, lambda unit: lambda span: _half_span(span, unit, number))
    name = reading.words.slices.get(reading.word_at(at))
    after = at + 1
    ordinal = ordinal_at(reading, at)
    if name is None and ordinal and ordinal[0] == 1 and reading.is_in_set(ordinal[1], "part"):
        name, after = "early", ordinal[1]
    if name is None and reading.word_at(at) == "last" and reading.is_in_set(after, "part"):
        name = "late"
    if name is None:
        return None
    if reading.is_in_set(at, "slice_of") and not reading.is_in_set(after, "of_it"):
        return None
    after += reading.kind_at(after) == "dash"
    after += reading.is_in_set(after, "part") and reading.word_at(after + 1) in ("of", "in")
    after += reading.word_at(after) in ("of", "in")
    return _read_calendar_part(reading, after, lambda unit: lambda span: _third_span(span, unit, str(name)))


def read_nth_part(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "The first week of August", "the last Friday in May", "the first three days of 2024"."""
    at = place + (reading.word_at(place) == "the")
    ordinal = (-1, at + 1) if reading.word_at(at) in ("last", "final") else ordinal_at(reading, at)
    if ordinal is None:
        return None
    counted = None if reading.is_in_set(ordinal[1], "articles") else number_at(reading, ordinal[1])
    count, after = counted or (1, ordinal[1])
    word = reading.word_at(after)
    weekday, unit = reading.words.weekdays.get(word), reading.words.units.get(word)
    if (weekday is None and unit is None) or not reading.is_in_set(after + 1, "of_it"):
        return None
    if counted and ordinal[0] not in (1, -1):
        return None
    nth = ordinal[0]
    if weekday is not None:
        return _read_calendar_part(reading, after + 2, lambda _: lambda span: _nth_weekday(span, weekday, nth))
    return _read_calendar_part(
        reading, after + 2, lambda outer: lambda span: _nth_unit(span, outer, str(unit), nth, count)
    )


def read_anchored(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "Two days before 5 June", "the day after the 14th", "the Friday before 1 May"; never an event."""
    at = place + (reading.word_at(place) == "the")
    counted = number_at(reading, at) or (1, at)
    word, end = reading.word_at(counted[1]), counted[1] + 1
    if reading.word_at(end) not in ("before", "after", "prior", "from"):
        return None
    is_after = reading.word_at(end) in ("after", "from")
    end += 1 + (reading.word_at(end) == "prior" and reading.word_at(end + 1) == "to")
    unit, weekday = reading.words.units.get(word), reading.words.weekdays.get(word)
    if (unit is None or unit in ("minute", "hour")) and weekday is None:
        return None
    base = read_simple_phrase(reading, end)
    # "the day after Monday's call": the call is an event, and the phrase is not about its day.
    if base is None or base.sort == "nth word" or reading.tokens[base.end - 1].owns:
        return None
    if reading.word_at(end - 1) == "from" and base.sort != "now":
        return None
    count = counted[0] if is_after else -counted[0]
    edge = base.span.last if is_after else base.span.first
    if weekday is not None:
        loose = loose_weekday(weekday)
        day = timedelta(days=1)
        span = first_occurrence_from(loose, edge + day) if is_after else latest_by(loose, edge - day)
        return TimeHit(base.end, span, "full", "day") if span else None
    return TimeHit(base.end, unit_span(edge, str(unit), count), "full", str(unit))


def read_week_of(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "The week of 5 May", "week commencing 3 June", "the weekend of the 14th"."""
    at = place + (reading.word_at(place) == "the")
    unit = reading.word_at(at)
    if unit not in ("week", "weekend") or reading.word_at(at + 1) not in ("of", "beginning", "commencing", "starting"):
        return None
    base = month_day(reading, at + 2) or nth_of_month(reading, at + 2) or written_date(reading, at + 2)
    return TimeHit(base.end, unit_span(base.span.first, unit), "full", unit) if base else None


def read_bare_day(reading: TokenizedQuestion, place: int) -> tuple[int, int] | None:
    """A day of a month by its number alone, "3" or "the 3rd": the number and the place behind it."""
    at = place + (reading.word_at(place) == "the")
    found = ordinal_at(reading, at) if reading.kind_at(at) != "number" else number_at(reading, at)
    return found if found and 1 <= found[0] <= 31 else None


def _direction_at(reading: TokenizedQuestion, at: int) -> tuple[int, int] | None:
    """Backwards or forwards, and the place behind the words that say so."""
    word = reading.word_at(at)
    if word == "ago":
        return -1, at + 1
    if word == "hence" or (word == "from" and reading.word_at(at + 1) in ("now", "today")):
        return 1, at + (1 if word == "hence" else 2)
    return None


def _ago_hit(reading: TokenizedQuestion, unit: str, count: int, end: int) -> TimeHit | None:
    if unit in ("minute", "hour"):
        moment = reading.now + timedelta(**{f"{unit}s": count})
        return TimeHit(end, day_span(moment.date()), "relative", "day")
    base = reading.today
    if reading.word_at(end) in reading.words.days and unit != "day":
        # "a year ago today" is one day.
        base += timedelta(days=reading.words.days[reading.word_at(end)])
        day = (
            base + timedelta(days=count * _DAYS[unit]) if unit in _DAYS else months_on(base, count * _STEP_MONTHS[unit])
        )
        return TimeHit(end + 1, day_span(day), "relative", "day")
    span = unit_span(base, unit, count)
    return TimeHit(end, span, "relative", "week" if unit == "fortnight" else unit)


def _find_tense(reading: TokenizedQuestion, place: int) -> str:
    for before in range(place - 1, -1, -1):
        if reading.is_in_set(before, "told_past") or reading.word_at(before) in ("many", "much", "long"):
            return "past"
        if reading.is_in_set(before, "told_ahead"):
            return "ahead"
        if reading.word_at(before).endswith("ed") and len(reading.word_at(before)) > 4:
            return "past"
    return ""


def _read_counted_units(
    reading: TokenizedQuestion, at: int, after: int, side: str, has_article: bool
) -> TimeHit | None:
    if reading.is_in_set(after, "articles") or side == "now":
        return None
    found = number_at(reading, after)
    unit = reading.words.units.get(reading.word_at(found[1])) if found else None
    if found is None or unit is None or not 1 <= found[0] <= 2000:
        return None
    is_verb = reading.word_at(at) == "last" and not has_article and _is_lasting(reading, at)
    if is_verb or reading.word_at(found[1] + 1) == "of" or reading.word_at(found[1]).startswith("night"):
        return None
    span = _rolling_span(reading, unit, found[0], ahead=side == "ahead")
    return TimeHit(found[1] + 1, span, "relative") if span else None


def _is_lasting(reading: TokenizedQuestion, at: int) -> bool:
    if reading.word_at(at - 1) in ("in", "over", "during", "within", "for", "from", "of", ""):
        return False
    return any(reading.is_in_set(before, "lasting") for before in range(at))


def _rolling_span(reading: TokenizedQuestion, unit: str, count: int, *, ahead: bool) -> DaySpan | None:
    today = reading.today
    if unit in ("minute", "hour"):
        other = (reading.now + timedelta(**{f"{unit}s": count if ahead else -count})).date()
        return DaySpan(min(other, today), max(other, today))
    if unit == "weekend":
        return None
    if unit in _DAYS:
        days = timedelta(days=count * _DAYS[unit] - 1)
        return DaySpan(today, today + days) if ahead else DaySpan(today - days, today)
    other = months_on(today, count * _STEP_MONTHS[unit] * (1 if ahead else -1))
    return DaySpan(today, other) if ahead else DaySpan(other, today)


def _unit_hit(reading: TokenizedQuestion, end: int, unit: str, side: str, has_article: bool) -> TimeHit | None:
    if unit == "weekend":
        if side == "rolling":
            return TimeHit(end, weekend_span(reading.today), "relative", unit)
        return TimeHit(end, unit_span(reading.today, unit, _step_of_side(side)), "relative", unit)
    if unit in ("minute", "hour"):
        return TimeHit(end, today_span(reading, 0), "relative", "day")
    if unit == "day":
        return None
    # "The last week" and "the past week" run up to today, "last week" is one of the calendar.
    is_rolling = side == "rolling" or (
        has_article and unit != "quarter" and reading.word_at(end - 2) in ("last", "next")
    )
    if is_rolling or (unit == "fortnight" and side != "now"):
        span = _rolling_span(reading, unit, 1, ahead=side == "ahead")
        return TimeHit(end, span, "relative") if span else None
    return TimeHit(
        end, unit_span(reading.today, unit, _step_of_side(side)), "relative", "week" if unit == "fortnight" else unit
    )


def _step_of_side(side: str) -> int:
    return {"back": -1, "rolling": -1, "now": 0, "ahead": 1}[side]


def _read_named_day(reading: TokenizedQuestion, place: int, side: str) -> TimeHit | None:
    weekday = reading.words.weekdays.get(reading.word_at(place))
    today = reading.today
    if weekday is not None:
        end = place + 1
        if side == "now":
            monday = today - timedelta(days=today.weekday())
            return TimeHit(end, day_span(monday + timedelta(days=weekday)), "relative", "day")
        span = _choose_span(loose_weekday(weekday), today, side)
        return TimeHit(end, span, "relative", "day") if span else None
    if reading.word_at(place) == "the":
        return None
    hit = unit_date(reading, place)
    if hit is None or hit.loose is None:
        return None
    if side == "now":
        span = hit.loose.part_of(hit.loose.occurrences(today.year)[0]) if hit.loose.occurrences(today.year) else None
    else:
        span = _choose_span(hit.loose, today, side)
    return TimeHit(hit.end, span, "relative", hit.unit) if span else None


def _choose_span(loose: LooseDate, today: date, side: str) -> DaySpan | None:
    return first_occurrence_from(loose, today + timedelta(days=1)) if side == "ahead" else latest_over(loose, today)


def _shift_span(span: DaySpan, days: int) -> DaySpan:
    return DaySpan(span.first + timedelta(days=days), span.last + timedelta(days=days))


def _narrow_hit(reading: TokenizedQuestion, hit: TimeHit) -> TimeHit:
    """A loose date with its unit ("Tuesday last week"), or a unit with a date in it ("last year in May")."""
    end = hit.end
    if hit.sort == "now":
        return hit
    after = end + (reading.word_at(end) in ("of", "in", ","))
    if hit.loose is not None:
        outer = read_ordinal_unit(reading, after) or read_before_last(reading, after) or read_ago(reading, after)
        if outer and outer.unit in _wider_units(hit.loose):
            span = first_inside(hit.loose, outer.span)
            return replace(hit, end=outer.end, span=span, sort="full", loose=None) if span else hit
        end += reading.is_in_set(end, "day_parts")
        return replace(hit, end=end) if hit.loose.sort in ("weekday", "day", "date") else hit
    if hit.unit in ("week", "month", "year", "quarter") and hit.sort == "relative":
        inner = _read_inner_date(reading, end)
        if inner and inner.loose and hit.unit in _wider_units(inner.loose):
            span = first_inside(inner.loose, hit.span)
            return replace(hit, end=inner.end, span=span, unit=inner.unit) if span else hit
    if hit.unit == "day":
        return replace(hit, end=end + reading.is_in_set(end, "day_parts"))
    return hit


def _read_inner_date(reading: TokenizedQuestion, end: int) -> TimeHit | None:
    at = end + (reading.word_at(end) in ("on", "in", ","))
    return month_day(reading, at) or weekday_name(reading, at) or nth_of_month(reading, at) or unit_date(reading, at)


def _wider_units(loose: LooseDate) -> tuple[str, ...]:
    return {
        "weekday": ("week",),
        "date": ("month",),
        "month": ("year", "quarter"),
    }.get(loose.sort, ("year",))


def _read_half(reading: TokenizedQuestion, at: int) -> tuple[int, int] | None:
    number = 2 if reading.word_at(at) in ("latter", "last") else 0
    ordinal = ordinal_at(reading, at)
    number, after = (ordinal[0], ordinal[1]) if ordinal else (number, at + 1)
    if number in (1, 2) and reading.word_at(after) == "half" and reading.is_in_set(after + 1, "of_it"):
        return number, after + 2
    return None


def _read_calendar_part(reading: TokenizedQuestion, after: int, make: Callable[[str], Cut]) -> TimeHit | None:
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
