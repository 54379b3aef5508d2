"""Phrases that count from the present: "last week", "three days ago", "the past month", "the week before last".

The conventions are those of the labelled set `temporal-dev.jsonl` (its README). Must not do: read a date.
"""

from __future__ import annotations

from datetime import date, timedelta

from core.text.timephrases.atoms import TimeHit, number_at, today_span, unit_date
from core.text.timephrases.spans import (
    DaySpan,
    LooseDate,
    day_span,
    first_from,
    latest,
    latest_over,
    loose_weekday,
    months_on,
    unit_span,
)
from core.text.timephrases.tokens import TokenizedQuestion

_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_DAYS = {"day": 1, "week": 7, "fortnight": 14}
_HALVES = {"hour": ("minute", 30), "year": ("month", 6), "decade": ("year", 5)}


def read_day_word(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Today, yesterday, tomorrow, this morning, last night, lately."""
    word, after = reading.word(place), reading.word(place + 1)
    if word in ("earlier", "later", "late", "early"):
        inner = read_day_word(reading, place + 1)
        return inner if inner and inner.sort == "now" else None
    if word in reading.words.days:
        end = place + 1 + (reading.within(place + 1, "day_parts") and not reading.tokens[place].owns)
        return TimeHit(end, today_span(reading, reading.words.days[word]), "now", "day")
    if word == "this" and reading.within(place + 1, "this_parts"):
        return TimeHit(place + 2, today_span(reading, 0), "now", "day")
    if word == "last" and after in ("night", "evening"):
        return TimeHit(place + 2, today_span(reading, -1), "now", "day")
    if reading.within(place, "recent"):
        return TimeHit(place + 1, DaySpan(reading.today - timedelta(days=6), reading.today), "relative")
    return None


def read_ago(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "Three days ago", "two Mondays ago", "half a year ago", "a week ago today"."""
    if half := _HALVES.get(reading.word(place + 2)) if reading.word(place) == "half" else None:
        is_ago = reading.within(place + 1, "articles") and reading.word(place + 3) == "ago"
        return _ago_hit(reading, half[0], -half[1], place + 4) if is_ago else None
    found = number_at(reading, place)
    if found is None and reading.words.units.get(reading.word(place)) == "fortnight":
        found = 1, place
    if found is None:
        return None
    count, at = found
    word = reading.word(at)
    plural = reading.words.weekday_plurals.get(word)
    if plural is not None and reading.word(at + 1) == "ago":
        span = latest(loose_weekday(plural), reading.today)
        return TimeHit(at + 2, _moved(span, -7 * (count - 1)), "relative", "day") if span else None
    unit = reading.words.units.get(word)
    at += 1
    at += reading.word(at) == "'"
    if unit is None:
        return None
    step = _direction(reading, at)
    if step is None:
        return None
    return _ago_hit(reading, unit, step[0] * count, step[1])


def _direction(reading: TokenizedQuestion, at: int) -> tuple[int, int] | None:
    """Backwards or forwards, and the place behind the words that say so."""
    word = reading.word(at)
    if word == "ago":
        return -1, at + 1
    if word == "hence" or (word == "from" and reading.word(at + 1) in ("now", "today")):
        return 1, at + (1 if word == "hence" else 2)
    return None


def _ago_hit(reading: TokenizedQuestion, unit: str, count: int, end: int) -> TimeHit | None:
    if unit in ("minute", "hour"):
        moment = reading.now + timedelta(**{f"{unit}s": count})
        return TimeHit(end, day_span(moment.date()), "relative", "day")
    base = reading.today
    if reading.word(end) in reading.words.days and unit != "day":
        # "a year ago today" is one day.
        base += timedelta(days=reading.words.days[reading.word(end)])
        day = base + timedelta(days=count * _DAYS[unit]) if unit in _DAYS else months_on(base, count * _MONTHS[unit])
        return TimeHit(end + 1, day_span(day), "relative", "day")
    span = unit_span(base, unit, count)
    return TimeHit(end, span, "relative", "week" if unit == "fortnight" else unit)


def read_in_units(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "In three days", "in two weeks' time"; where the question asks about what was, it is a duration."""
    if reading.word(place) != "in":
        return None
    found = number_at(reading, place + 1)
    if found is None:
        return None
    count, at = found
    unit = reading.words.units.get(reading.word(at))
    if unit is None or reading.word(at + 1) in ("ago", "of", "a"):
        return None
    end = at + 1
    if reading.word(end) == "time" or (reading.word(end) == "'" and reading.word(end + 1) == "time"):
        return _ago_hit(reading, unit, count, end + 1 + (reading.word(end) != "time"))
    tense = _tense(reading, place)
    if tense == "past" or (reading.within(place + 1, "articles") and tense != "ahead" and unit != "fortnight"):
        return None
    return _ago_hit(reading, unit, count, end)


def _tense(reading: TokenizedQuestion, place: int) -> str:
    for before in range(place - 1, -1, -1):
        if reading.within(before, "told_past") or reading.word(before) in ("many", "much", "long"):
            return "past"
        if reading.within(before, "told_ahead"):
            return "ahead"
        if reading.word(before).endswith("ed") and len(reading.word(before)) > 4:
            return "past"
    return ""


def read_ordinal_unit(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "Last week", "the past three days", "next Friday", "this quarter", "last May"."""
    has_article = reading.word(place) in ("the", "these", "this") and any(
        reading.within(place + 1, name) for name in ("back", "rolling", "ahead")
    )
    at = place + has_article
    word = reading.word(at)
    side = next((name for name in ("back", "rolling", "now", "ahead") if reading.within(at, name)), None)
    if side is None:
        return None
    if word == "last" and reading.word(at + 1) in ("past",):
        return None
    after = at + 1
    if counted := _counted(reading, at, after, side, has_article):
        return counted
    unit = reading.words.units.get(reading.word(after))
    if unit is not None and reading.word(after) not in ("night", "nights"):
        # "The last week of term" is no week of the calendar; its own phrases are read elsewhere.
        if reading.word(after + 1) == "of" and unit != "fortnight" and (has_article or reading.word(at - 1) == "the"):
            return None
        return _unit_hit(reading, after + 1, unit, side, has_article)
    return _named(reading, after, side)


def _counted(reading: TokenizedQuestion, at: int, after: int, side: str, has_article: bool) -> TimeHit | None:
    if reading.within(after, "articles") or side == "now":
        return None
    found = number_at(reading, after)
    unit = reading.words.units.get(reading.word(found[1])) if found else None
    if found is None or unit is None or not 1 <= found[0] <= 2000:
        return None
    is_verb = reading.word(at) == "last" and not has_article and _lasts(reading, at)
    if is_verb or reading.word(found[1] + 1) == "of" or reading.word(found[1]).startswith("night"):
        return None
    span = _rolling(reading, unit, found[0], ahead=side == "ahead")
    return TimeHit(found[1] + 1, span, "relative") if span else None


def _lasts(reading: TokenizedQuestion, at: int) -> bool:
    if reading.word(at - 1) in ("in", "over", "during", "within", "for", "from", "of", ""):
        return False
    return any(reading.within(before, "lasting") for before in range(at))


def _rolling(reading: TokenizedQuestion, unit: str, count: int, *, ahead: bool) -> DaySpan | None:
    today = reading.today
    if unit in ("minute", "hour"):
        other = (reading.now + timedelta(**{f"{unit}s": count if ahead else -count})).date()
        return DaySpan(min(other, today), max(other, today))
    if unit == "weekend":
        return None
    if unit in _DAYS:
        days = timedelta(days=count * _DAYS[unit] - 1)
        return DaySpan(today, today + days) if ahead else DaySpan(today - days, today)
    other = months_on(today, count * _MONTHS[unit] * (1 if ahead else -1))
    return DaySpan(today, other) if ahead else DaySpan(other, today)


def _unit_hit(reading: TokenizedQuestion, end: int, unit: str, side: str, has_article: bool) -> TimeHit | None:
    if unit == "weekend":
        if side == "rolling":
            return TimeHit(end, weekend_span(reading.today), "relative", unit)
        return TimeHit(end, unit_span(reading.today, unit, _step(side)), "relative", unit)
    if unit in ("minute", "hour"):
        return TimeHit(end, today_span(reading, 0), "relative", "day")
    if unit == "day":
        return None
    # "The last week" and "the past week" run up to today, "last week" is one of the calendar.
    is_rolling = side == "rolling" or (has_article and unit != "quarter" and reading.word(end - 2) in ("last", "next"))
    if is_rolling or (unit == "fortnight" and side != "now"):
        span = _rolling(reading, unit, 1, ahead=side == "ahead")
        return TimeHit(end, span, "relative") if span else None
    return TimeHit(
        end, unit_span(reading.today, unit, _step(side)), "relative", "week" if unit == "fortnight" else unit
    )


def _step(side: str) -> int:
    return {"back": -1, "rolling": -1, "now": 0, "ahead": 1}[side]


def _named(reading: TokenizedQuestion, place: int, side: str) -> TimeHit | None:
    weekday = reading.words.weekdays.get(reading.word(place))
    today = reading.today
    if weekday is not None:
        end = place + 1
        if side == "now":
            monday = today - timedelta(days=today.weekday())
            return TimeHit(end, day_span(monday + timedelta(days=weekday)), "relative", "day")
        span = _chosen(loose_weekday(weekday), today, side)
        return TimeHit(end, span, "relative", "day") if span else None
    if reading.word(place) == "the":
        return None
    hit = unit_date(reading, place)
    if hit is None or hit.loose is None:
        return None
    if side == "now":
        span = hit.loose.part(hit.loose.occurrences(today.year)[0]) if hit.loose.occurrences(today.year) else None
    else:
        span = _chosen(hit.loose, today, side)
    return TimeHit(hit.end, span, "relative", hit.unit) if span else None


def _chosen(loose: LooseDate, today: date, side: str) -> DaySpan | None:
    return first_from(loose, today + timedelta(days=1)) if side == "ahead" else latest_over(loose, today)


def read_before_last(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "The week before last", "the Friday after next", "the night before last"."""
    at = place + (reading.word(place) == "the")
    pair = (reading.word(at + 1), reading.word(at + 2))
    if pair not in (("before", "last"), ("after", "next")):
        return None
    # "the day before last Monday" is another phrase: something must not follow that "last" could belong to.
    follower = reading.word(at + 3)
    if follower in reading.words.units or follower in reading.words.weekdays or follower in reading.words.months:
        return None
    step = -2 if pair[0] == "before" else 2
    word, end = reading.word(at), at + 3
    weekday = reading.words.weekdays.get(word)
    if weekday is not None:
        span = _chosen(loose_weekday(weekday), reading.today, "back" if step < 0 else "ahead")
        return TimeHit(end, _moved(span, -7 if step < 0 else 7), "relative", "day") if span else None
    unit = reading.words.units.get(word) or ("day" if word == "evening" else None)
    if unit is None or unit in ("minute", "hour"):
        return None
    return TimeHit(end, unit_span(reading.today, unit, step), "relative", "week" if unit == "fortnight" else unit)


def _moved(span: DaySpan, days: int) -> DaySpan:
    return DaySpan(span.first + timedelta(days=days), span.last + timedelta(days=days))


def weekend_span(today: date) -> DaySpan:
    """The most recent Saturday and Sunday whose Saturday is not after today."""
    saturday = today - timedelta(days=(today.weekday() - 5) % 7)
    return DaySpan(saturday, saturday + timedelta(days=1))


def read_weekend(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "The weekend" behind a preposition; "for the weekend" is the one of this week."""
    before = reading.word(place - 1)
    if reading.word(place) != "the" or reading.word(place + 1) != "weekend":
        return None
    if before == "for":
        return TimeHit(place + 2, unit_span(reading.today, "weekend"), "relative", "weekend")
    if before in ("at", "over", "during", "on", "from", "since", "through", "of", "in", "about") or before == "":
        return TimeHit(place + 2, weekend_span(reading.today), "relative", "weekend")
    return None


def read_this_unit(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "The month" where a part of it is asked for: the one of today."""
    unit = reading.words.units.get(reading.word(place + 1))
    if reading.word(place) == "the" and unit in ("week", "month", "quarter", "year", "decade"):
        return TimeHit(place + 2, unit_span(reading.today, unit), "relative", unit)
    return None
