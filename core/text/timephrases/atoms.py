"""The small parts of a phrase of time: numbers, ordinals, units, and dates in their many spellings.

Each reader takes a reading and the place of a token and gives what stands there, or None.
Must not do: look at what stands before its place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date

from core.text.timephrases.spans import (
    DaySpan,
    LooseDate,
    date_of,
    first_inside,
    latest,
    loose_date,
    loose_day,
    loose_half,
    loose_month,
    loose_quarter,
    loose_week,
    loose_weekday,
    month_span,
    unit_span,
    week_span,
)
from core.text.timephrases.tokens import TokenizedQuestion

FIRST_YEAR, LAST_YEAR = 1900, 2099
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class TimeHit:
    """A part of a question that names days.

    Attributes:
        end: place behind its last token.
        span: the days.
        sort: what it is: `now`, `relative`, `full` (a date with its year), `year`, `nth`, or a sort of `LooseDate`.
        unit: the calendar unit it is, where it is one.
        loose: the date without its year, where none was said.
        start: place of its first token.
    """

    end: int
    span: DaySpan
    sort: str
    unit: str = ""
    loose: LooseDate | None = None
    start: int = 0


def number_at(reading: TokenizedQuestion, place: int) -> tuple[int, int] | None:
    """A number in digits or words, "a couple of" for two.

    Args:
        reading: the question.
        place: of its first token.

    Returns:
        The number and the place behind it.
    """
    if reading.kind(place) == "number":
        return (int(reading.word(place)), place + 1) if len(reading.word(place)) <= 4 else None
    if reading.within(place, "articles"):
        after = place + 1
        if reading.word(after) in ("couple", "dozen", "hundred"):
            return number_at(reading, after)
        return 1, after
    word = reading.word(place)
    if word == "couple":
        return 2, place + 2 if reading.word(place + 1) == "of" else place + 1
    if word == "hundred":
        return _with_rest(reading, 100, place + 1)
    small = _small(reading, place)
    if small and reading.word(small[1]) == "hundred":
        return _with_rest(reading, 100 * small[0], small[1] + 1)
    return small


def _small(reading: TokenizedQuestion, place: int) -> tuple[int, int] | None:
    numbers = reading.words.numbers
    value = numbers.get(reading.word(place))
    if value is None:
        return None
    after = place + 1
    ones = after + 1 if reading.kind(after) == "dash" else after
    more = numbers.get(reading.word(ones), 0)
    if value >= 20 and 1 <= more <= 9:
        return value + more, ones + 1
    return value, after


def _with_rest(reading: TokenizedQuestion, hundreds: int, place: int) -> tuple[int, int]:
    rest = _small(reading, place + 1) if reading.word(place) == "and" else _small(reading, place)
    return (hundreds + rest[0], rest[1]) if rest else (hundreds, place)


def ordinal_at(reading: TokenizedQuestion, place: int) -> tuple[int, int] | None:
    """An ordinal number, "14th" or "twenty-first"; the number and the place behind it."""
    word = reading.word(place)
    if reading.kind(place) == "ordinal":
        return int(word[:-2]), place + 1
    ordinals = reading.words.ordinals
    if word in ordinals:
        return ordinals[word], place + 1
    tens = reading.words.numbers.get(word, 0)
    if tens in (20, 30):
        ones = place + 2 if reading.kind(place + 1) == "dash" else place + 1
        if 1 <= ordinals.get(reading.word(ones), 0) <= 9:
            return tens + ordinals[reading.word(ones)], ones + 1
    return None


def day_number(reading: TokenizedQuestion, place: int) -> tuple[int, int, bool] | None:
    """A day of a month, 1 to 31: the number, the place behind it, and whether it was an ordinal."""
    ordinal = ordinal_at(reading, place)
    if ordinal is None and reading.kind(place) == "number" and len(reading.word(place)) <= 2:
        ordinal = int(reading.word(place)), place + 1
        return (*ordinal, False) if 1 <= ordinal[0] <= 31 else None
    return (*ordinal, True) if ordinal and 1 <= ordinal[0] <= 31 else None


def year_at(reading: TokenizedQuestion, place: int) -> tuple[int, int] | None:
    """A year of four digits from 1900 to 2099, "the year" before it or not; the year and the place behind it."""
    at = place + (reading.word(place) == "the")
    at += reading.word(at) == "year"
    if at == place + 1 and reading.word(place) == "the":
        return None
    word = reading.word(at)
    if reading.kind(at) == "number" and len(word) == 4 and FIRST_YEAR <= int(word) <= LAST_YEAR:
        return int(word), at + 1
    return None


def resolve_loose_date(reading: TokenizedQuestion, end: int, loose: LooseDate) -> TimeHit | None:
    """A date without a year, as the days that are meant where nothing else is said."""
    span = latest(loose, reading.today)
    return TimeHit(end, span, loose.sort, "" if loose.cut else loose.sort, loose) if span else None


def month_day(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """A day and a month in either order, with or without a year."""
    skipped = place + (reading.word(place) == "the")
    found = day_number(reading, skipped)
    if found:
        day, after, is_ordinal = found
        after += reading.word(after) == "of"
        month = reading.words.months.get(reading.word(after))
        if month is None or (not is_ordinal and _is_verb(reading, after)):
            return None
        return _dated(reading, after + 1, month, day)
    month = reading.words.months.get(reading.word(place))
    if month is None:
        return None
    after = place + 1 + (reading.word(place + 1) == ".")
    after += reading.word(after) == "the"
    found = day_number(reading, after)
    if found is None or (found[0] and reading.word(found[1]) in ("of", "am", "pm")):
        return None
    if not found[2] and reading.kind(found[1]) == "word" and reading.word(found[1]) in reading.words.units:
        return None
    return _dated(reading, found[1], month, found[0])


def _is_verb(reading: TokenizedQuestion, place: int) -> bool:
    """Whether it is as in "option 12 may help": a small letter and a word of content behind it."""
    word = reading.word(place)
    return (
        word == "may"
        and not reading.tokens[place].capital
        and reading.kind(place + 1) == "word"
        and not reading.within(place + 1, "soft_before")
    )


def _dated(reading: TokenizedQuestion, end: int, month: int, day: int) -> TimeHit | None:
    before = reading.word(end - 1)
    is_short = len(before) <= 4 and before in reading.words.months  # "3 Sept. 2024"; else a full stop ends a sentence
    at = end + (reading.word(end) in (",", "of") or (is_short and reading.word(end) == "."))
    if year := year_at(reading, at):
        span = date_of(year[0], month, day)
        return TimeHit(year[1], span, "full", "day") if span else None
    return resolve_loose_date(reading, end, loose_day(month, day))


def written_date(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """A date in digits: ISO 8601, or with the day first unless that cannot be."""
    kind, word = reading.kind(place), reading.word(place)
    if kind not in ("iso", "isoweek", "isopart", "isomonth", "ymd", "dmy", "dmshort"):
        return None
    numbers = [int(digits) for digits in _DIGITS.findall(word)]
    if kind == "isoweek":
        span = week_span(numbers[0], numbers[1])
        return TimeHit(place + 1, span, "full", "week") if span else None
    if kind == "isopart":
        loose = loose_quarter(numbers[1]) if "q" in word else loose_half(min(2, numbers[1]))
        return TimeHit(place + 1, loose.occurrences(numbers[0])[0], "full", loose.sort)
    if kind == "isomonth":
        return TimeHit(place + 1, month_span(numbers[0], numbers[1]), "full", "month")
    if kind in ("iso", "ymd"):
        year, month, day = numbers[:3]
    else:
        day, month, year = numbers[:3]
        year += 2000 if kind == "dmshort" else 0
    span = date_of(year, month, day) or (date_of(year, day, month) if kind[0] == "d" else None)
    return TimeHit(place + 1, span, "full", "day") if span else None


def unit_date(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """A month, quarter, half, week number, year or decade by its name."""
    for read in (_month_name, _quarter, _week_number, _decade, _year):
        if hit := read(reading, place):
            return hit
    return None


def _month_name(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    at = place
    if reading.word(at) == "the" and reading.word(at + 1) == "month" and reading.word(at + 2) == "of":
        at += 3
    month = reading.words.months.get(reading.word(at))
    return None if month is None else with_year(reading, at + 1, loose_month(month))


def with_year(reading: TokenizedQuestion, end: int, loose: LooseDate) -> TimeHit | None:
    """A loose date with the year that stands behind it, or with none."""
    after = end + (reading.word(end) in ("of", "in", ",", "/", "-"))
    year = year_at(reading, after)
    if year:
        # "in January, 2000 euros": a number behind a comma may count something.
        if reading.within(year[1], "counted"):
            return resolve_loose_date(reading, end, loose)
        span = first_inside(loose, DaySpan(date(year[0], 1, 1), date(year[0], 12, 31)))
        return TimeHit(year[1], span, "full", loose.sort) if span else None
    return resolve_loose_date(reading, end, loose)


def _quarter(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    word = reading.word(place)
    if reading.kind(place) == "part" and word[0] in "qh":
        number = int(word[1:])
        if word[0] == "h" and number > 2:
            return None
        return with_year(reading, place + 1, loose_quarter(number) if word[0] == "q" else loose_half(number))
    if word == "quarter":
        number_found = number_at(reading, place + 1)
        if number_found and 1 <= number_found[0] <= 4 and not reading.within(place + 1, "articles"):
            return with_year(reading, number_found[1], loose_quarter(number_found[0]))
    at = place + (word == "the")
    ordinal = ordinal_at(reading, at)
    if ordinal and 1 <= ordinal[0] <= 4 and reading.word(ordinal[1]) == "quarter":
        return with_year(reading, ordinal[1] + 1, loose_quarter(ordinal[0]))
    return None


def _week_number(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    word = reading.word(place)
    if reading.kind(place) == "part" and word[0] in "ckw":
        return with_year(reading, place + 1, loose_week(int(word.lstrip("ckw"))))
    at = place + (word in ("calendar", "iso"))
    if reading.word(at) not in ("week", "wk"):
        return None
    at += 1
    at += reading.word(at) in ("number", "no", "nr")
    at += reading.word(at) == "."
    found = None if reading.within(at, "articles") else number_at(reading, at)
    return with_year(reading, found[1], loose_week(found[0])) if found and 1 <= found[0] <= 53 else None


def _decade(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    at = place + (reading.word(place) == "the")
    if reading.kind(at) == "decade":
        tens = int(_DIGITS.findall(reading.word(at))[0])
    elif at > place and reading.word(at) in reading.words.decades:
        tens = reading.words.decades[reading.word(at)]
    else:
        return None
    if tens < 100:
        # The most recent such decade: "the 20s" are these, "the 90s" those of the last century.
        tens += reading.today.year // 100 * 100
        tens -= 100 if tens > reading.today.year else 0
    return TimeHit(at + 1, unit_span(date(tens, 1, 1), "decade"), "full", "decade")


def _year(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    year = year_at(reading, place)
    if year is None:
        return None
    span = DaySpan(date(year[0], 1, 1), date(year[0], 12, 31))
    return TimeHit(year[1], span, "year" if reading.word(place) != "the" else "full", "year")


def nth_of_month(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "the 14th", without a month."""
    if reading.word(place) != "the":
        return None
    ordinal = ordinal_at(reading, place + 1)
    if ordinal is None or not 1 <= ordinal[0] <= 31:
        return None
    hit = resolve_loose_date(reading, ordinal[1], loose_date(ordinal[0]))
    # A spelled ordinal counts more things than days.
    return hit and replace(hit, sort="nth" if reading.kind(place + 1) == "ordinal" else "nth word")


def weekday_name(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """A weekday, or a date with its weekday before it."""
    at = place + (reading.word(place) == "the")
    weekday = reading.words.weekdays.get(reading.word(at))
    if weekday is None:
        return None
    after = at + 1 + (reading.word(at + 1) == ".")
    if not reading.tokens[at].owns:
        comma = after + (reading.word(after) == ",")
        comma += reading.word(comma) == "on"
        dated = written_date(reading, comma) or month_day(reading, comma)
        dated = dated or (nth_of_month(reading, comma) if reading.kind(comma + 1) == "ordinal" else None)
        if dated:
            return dated
    return resolve_loose_date(reading, at + 1, loose_weekday(weekday))


def today_span(reading: TokenizedQuestion, days: int) -> DaySpan:
    """One day, `days` from today."""
    return unit_span(reading.today, "day", days)
