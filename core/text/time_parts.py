"""The parts of a phrase of time in a question: its tokens, days of the calendar, numbers, ordinals, units and dates.

The vocabulary is `resources/query/time.json`. Each reader takes a question and the place of a token and gives what
stands there, or None. Weeks run from Monday to Sunday (ISO 8601), quarters begin in January, April, July and October.
Must not do: look at what stands before its place, or raise at any text.
"""

from __future__ import annotations

import json
import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import MAXYEAR, MINYEAR, date, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import NamedTuple

_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u2032": "'"})
# The order tells: the first form that fits is taken.
_TOKEN = re.compile(
    r"""
      (?P<iso>(?<![\w.])(?:19|20)\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?)?(?![\w-]))
    | (?P<isoweek>(?<![\w.])(?:19|20)\d\d-?W\d\d?(?![\w-]))
    | (?P<isopart>(?<![\w.])(?:19|20)\d\d[-/ ]?(?:[QH][1-4])(?![\w-]))
    | (?P<isomonth>(?<![\w.])(?:19|20)\d\d-(?:0[1-9]|1[0-2])(?![\w-]))
    | (?P<ymd>(?<![\w.])(?:19|20)\d\d(?P<sep>[/.])\d\d?(?P=sep)\d\d?(?![\w/]|[.]\d))
    | (?P<dmy>(?<![\w./-])\d\d?(?P<joint>[/.-])\d\d?(?P=joint)(?:19|20)\d\d(?![\w/-]|[.]\d))
    | (?P<dmshort>(?<![\w./-])\d\d?/\d\d?/\d\d(?![\w/-]|[.]\d))
    | (?P<decade>(?<!\w)'?(?:(?:19|20)\d0|[2-9]0)'?s(?!\w))
    | (?P<ordinal>(?<!\w)\d\d?(?:st|nd|rd|th)(?!\w))
    | (?P<part>(?<!\w)(?:[QH][1-4]|(?:CW|KW|W)\d\d?)(?!\w))
    | (?P<code>[£$€\#@]\d[\w.,]*|\w*\d\w*(?:[./:@_\\]\w+)+%?|(?:\d+[^\W\d]|[^\W\d]\w*\d)\w*|\d+[%°½¼¾])
    | (?P<number>\d+)
    | (?P<word>[^\W\d_]+(?:'[^\W\d_]+)*)
    | (?P<dash>[-–—])
    | (?P<quote>["“”„«»])
    | (?P<mark>[.,;:!?()\[\]…/])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"]*\"|[“„][^”“]*[”“]|«[^»]*»|(?<!\w)'[^']+'(?!\w)")
_YEARS = 8  # a 29 February is at most so many years away
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
FIRST_YEAR, LAST_YEAR = 1900, 2099
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class TimeToken:
    """One word, number, date or mark.

    Attributes:
        kind: the form, a group of the pattern.
        text: lower case, without a possessive ending.
        start: place in the question; `end` is behind its last character.
        raw: as typed.
        owns: it ended in a possessive `'s`.
        quoted: it stands inside quotation marks.
    """

    kind: str
    text: str
    start: int
    end: int
    raw: str
    owns: bool = False
    quoted: bool = False

    @property
    def capital(self) -> bool:
        """Whether it begins with a capital."""
        return self.raw[:1].isupper()


@dataclass(frozen=True, slots=True)
class TimeVocabulary:
    """The vocabulary of `resources/query/time.json`.

    Attributes:
        months: word to 1 to 12.
        weekdays: word to 0 (Monday) to 6; `weekday_plurals` likewise.
        numbers: word to its number; `ordinals` likewise.
        units: word to the name of a unit.
        days: word to days from today.
        decades: word to the tens of its years.
        slices: word to `early`, `mid` or `late`.
        sets: name to words.
        starters: words that a phrase may begin with.
    """

    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    weekday_plurals: Mapping[str, int]
    numbers: Mapping[str, int]
    ordinals: Mapping[str, int]
    units: Mapping[str, str]
    days: Mapping[str, int]
    decades: Mapping[str, int]
    slices: Mapping[str, str]
    sets: Mapping[str, frozenset[str]]
    starters: frozenset[str]


@dataclass(frozen=True, slots=True)
class TokenizedQuestion:
    """A question that is being read.

    Attributes:
        tokens: in its order.
        now: the present, local.
        words: the vocabulary.
    """

    tokens: tuple[TimeToken, ...]
    now: datetime
    words: TimeVocabulary

    @property
    def today(self) -> date:
        """The day of the present."""
        return self.now.date()

    def word_at(self, place: int) -> str:
        """The text of a token; empty outside of the question."""
        return self.tokens[place].text if 0 <= place < len(self.tokens) else ""

    def kind_at(self, place: int) -> str:
        """The kind of a token; empty outside of the question."""
        return self.tokens[place].kind if 0 <= place < len(self.tokens) else ""

    def is_in_set(self, place: int, name: str) -> bool:
        """Whether a token is a word of the set `name`."""
        return self.word_at(place) in self.words.sets[name]


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

    def part_of(self, span: DaySpan | None) -> DaySpan | None:
        """The part of an occurrence that is meant."""
        return span if span is None or self.cut is None else self.cut(span)


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


@cache
def time_vocabulary() -> TimeVocabulary:
    """The vocabulary, read once."""
    data = json.loads((files("resources") / "query" / "time.json").read_text("utf-8"))
    sets = {name: frozenset(words.split()) for name, words in data.pop("sets").items()}
    data.pop("about")
    tables = ("months", "weekdays", "weekday_plurals", "numbers", "ordinals", "units", "days", "slices")
    starters = frozenset(word for table in tables for word in data[table]).union(
        *(sets[name] for name in ("recent", "back", "rolling", "now", "ahead", "articles", "openers"))
    )
    return TimeVocabulary(sets=sets, starters=starters, **data)


def tokenize_question(text: str) -> tuple[TimeToken, ...]:
    """Cut a question into tokens; what is neither word, number nor mark is left out.

    Returns:
        Tokens whose places are those of `text`.
    """
    plain = text.translate(_APOSTROPHES)
    quoted = [match.span() for match in _QUOTED.finditer(plain)]
    found = []
    for match in _TOKEN.finditer(plain):
        raw = match.group()
        kind = match.lastgroup or "mark"
        word = raw.lower()
        owns = kind == "word" and word.endswith("'s") and len(word) > 2
        start, end = match.span()
        inside = any(first <= start and end <= last for first, last in quoted)
        if owns:
            end -= 2
        found.append(TimeToken(kind, word[:-2] if owns else word, start, end, raw, owns, inside))
    return tuple(found)


def day_span(day: date) -> DaySpan:
    """One day."""
    return DaySpan(day, day)


def month_span(year: int, month: int, months: int = 1) -> DaySpan:
    """Whole months.

    Args:
        year: of the first month.
        month: 1 to 12 of that year; beyond it, of the years before or after.
    """
    first = _month_from_count(year * 12 + month - 1)
    last = _month_from_count(year * 12 + month - 2 + months)
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
    first = _month_from_count(day.year * 12 + day.month - 1 + months)
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
    return LooseDate("week", lambda year: _span_or_nothing(week_span(year, week)))


def loose_day(month: int, day: int) -> LooseDate:
    """A day and month of any year."""
    return LooseDate("day", lambda year: _span_or_nothing(date_of(year, month, day)))


def loose_date(day: int) -> LooseDate:
    """A day of any month."""
    return LooseDate(
        "date", lambda year: [span for month in range(1, 13) for span in _span_or_nothing(date_of(year, month, day))]
    )


def loose_weekday(weekday: int) -> LooseDate:
    """A day of any week (0 is Monday)."""
    return LooseDate("weekday", lambda year: tuple(_weekdays_of_year(year, weekday)))


def latest_occurrence(loose: LooseDate, today: date) -> DaySpan | None:
    """The occurrence that is meant where nothing else is said.

    A weekday is the most recent one before today; all others the most recent that has begun.
    """
    limit = today - timedelta(days=1) if loose.sort == "weekday" else today
    return _last_fitting(loose, lambda span: span.first <= limit, today.year)


def latest_over(loose: LooseDate, today: date) -> DaySpan | None:
    """The most recent occurrence that is over."""
    return _last_fitting(loose, lambda span: span.last < today, today.year)


def latest_by(loose: LooseDate, day: date) -> DaySpan | None:
    """The most recent occurrence that begins on a day or before."""
    return _last_fitting(loose, lambda span: span.first <= day, day.year)


def first_occurrence_from(loose: LooseDate, day: date) -> DaySpan | None:
    """The first occurrence that begins on a day or after."""
    for year in range(day.year, min(MAXYEAR, day.year + _YEARS)):
        for span in loose.occurrences(year):
            if span.first >= day:
                return loose.part_of(span)
    return None


def first_inside(loose: LooseDate, whole: DaySpan) -> DaySpan | None:
    """The first occurrence within a span."""
    for year in range(whole.first.year, whole.last.year + 1):
        for span in loose.occurrences(year):
            if whole.first <= span.first and span.last <= whole.last:
                return loose.part_of(span)
    return None


def number_at(reading: TokenizedQuestion, place: int) -> tuple[int, int] | None:
    """A number in digits or words, "a couple of" for two.

    Args:
        place: of its first token.

    Returns:
        The number and the place behind it.
    """
    if reading.kind_at(place) == "number":
        return (int(reading.word_at(place)), place + 1) if len(reading.word_at(place)) <= 4 else None
    if reading.is_in_set(place, "articles"):
        after = place + 1
        if reading.word_at(after) in ("couple", "dozen", "hundred"):
            return number_at(reading, after)
        return 1, after
    word = reading.word_at(place)
    if word == "couple":
        return 2, place + 2 if reading.word_at(place + 1) == "of" else place + 1
    if word == "hundred":
        return _with_rest(reading, 100, place + 1)
    small = _small_number_at(reading, place)
    if small and reading.word_at(small[1]) == "hundred":
        return _with_rest(reading, 100 * small[0], small[1] + 1)
    return small


def ordinal_at(reading: TokenizedQuestion, place: int) -> tuple[int, int] | None:
    """An ordinal number, "14th" or "twenty-first"; the number and the place behind it."""
    word = reading.word_at(place)
    if reading.kind_at(place) == "ordinal":
        return int(word[:-2]), place + 1
    ordinals = reading.words.ordinals
    if word in ordinals:
        return ordinals[word], place + 1
    tens = reading.words.numbers.get(word, 0)
    if tens in (20, 30):
        ones = place + 2 if reading.kind_at(place + 1) == "dash" else place + 1
        if 1 <= ordinals.get(reading.word_at(ones), 0) <= 9:
            return tens + ordinals[reading.word_at(ones)], ones + 1
    return None


def day_number(reading: TokenizedQuestion, place: int) -> tuple[int, int, bool] | None:
    """A day of a month, 1 to 31: the number, the place behind it, and whether it was an ordinal."""
    ordinal = ordinal_at(reading, place)
    if ordinal is None and reading.kind_at(place) == "number" and len(reading.word_at(place)) <= 2:
        ordinal = int(reading.word_at(place)), place + 1
        return (*ordinal, False) if 1 <= ordinal[0] <= 31 else None
    return (*ordinal, True) if ordinal and 1 <= ordinal[0] <= 31 else None


def year_at(reading: TokenizedQuestion, place: int) -> tuple[int, int] | None:
    """A year of four digits from 1900 to 2099, "the year" before it or not; the year and the place behind it."""
    at = place + (reading.word_at(place) == "the")
    at += reading.word_at(at) == "year"
    if at == place + 1 and reading.word_at(place) == "the":
        return None
    word = reading.word_at(at)
    if reading.kind_at(at) == "number" and len(word) == 4 and FIRST_YEAR <= int(word) <= LAST_YEAR:
        return int(word), at + 1
    return None


def resolve_loose_date(reading: TokenizedQuestion, end: int, loose: LooseDate) -> TimeHit | None:
    """A date without a year, as the days that are meant where nothing else is said."""
    span = latest_occurrence(loose, reading.today)
    return TimeHit(end, span, loose.sort, "" if loose.cut else loose.sort, loose) if span else None


def month_day(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """A day and a month in either order, with or without a year."""
    skipped = place + (reading.word_at(place) == "the")
    found = day_number(reading, skipped)
    if found:
        day, after, is_ordinal = found
        after += reading.word_at(after) == "of"
        month = reading.words.months.get(reading.word_at(after))
        if month is None or (not is_ordinal and _is_verb(reading, after)):
            return None
        return _read_month_day(reading, after + 1, month, day)
    month = reading.words.months.get(reading.word_at(place))
    if month is None:
        return None
    after = place + 1 + (reading.word_at(place + 1) == ".")
    after += reading.word_at(after) == "the"
    found = day_number(reading, after)
    if found is None or (found[0] and reading.word_at(found[1]) in ("of", "am", "pm")):
        return None
    if not found[2] and reading.kind_at(found[1]) == "word" and reading.word_at(found[1]) in reading.words.units:
        return None
    return _read_month_day(reading, found[1], month, found[0])


def written_date(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """A date in digits: ISO 8601, or with the day first unless that cannot be."""
    kind, word = reading.kind_at(place), reading.word_at(place)
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
    for read in (_month_name, _read_quarter, _week_number, _read_decade, _read_year):
        if hit := read(reading, place):
            return hit
    return None


def with_year(reading: TokenizedQuestion, end: int, loose: LooseDate) -> TimeHit | None:
    """A loose date with the year that stands behind it, or with none."""
    after = end + (reading.word_at(end) in ("of", "in", ",", "/", "-"))
    year = year_at(reading, after)
    if year:
        # "in January, 2000 euros": a number behind a comma may count something.
        if reading.is_in_set(year[1], "counted"):
            return resolve_loose_date(reading, end, loose)
        span = first_inside(loose, DaySpan(date(year[0], 1, 1), date(year[0], 12, 31)))
        return TimeHit(year[1], span, "full", loose.sort) if span else None
    return resolve_loose_date(reading, end, loose)


def nth_of_month(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "the 14th", without a month."""
    if reading.word_at(place) != "the":
        return None
    ordinal = ordinal_at(reading, place + 1)
    if ordinal is None or not 1 <= ordinal[0] <= 31:
        return None
    hit = resolve_loose_date(reading, ordinal[1], loose_date(ordinal[0]))
    # A spelled ordinal counts more things than days.
    return hit and replace(hit, sort="nth" if reading.kind_at(place + 1) == "ordinal" else "nth word")


def weekday_name(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """A weekday, or a date with its weekday before it."""
    at = place + (reading.word_at(place) == "the")
    weekday = reading.words.weekdays.get(reading.word_at(at))
    if weekday is None:
        return None
    after = at + 1 + (reading.word_at(at + 1) == ".")
    if not reading.tokens[at].owns:
        comma = after + (reading.word_at(after) == ",")
        comma += reading.word_at(comma) == "on"
        dated = written_date(reading, comma) or month_day(reading, comma)
        dated = dated or (nth_of_month(reading, comma) if reading.kind_at(comma + 1) == "ordinal" else None)
        if dated:
            return dated
    return resolve_loose_date(reading, at + 1, loose_weekday(weekday))


def today_span(reading: TokenizedQuestion, days: int) -> DaySpan:
    """One day, `days` from today."""
    return unit_span(reading.today, "day", days)


def _last_fitting(loose: LooseDate, fits: Callable[[DaySpan], bool], year: int) -> DaySpan | None:
    for back in range(_YEARS + 1):
        if year - back < MINYEAR:
            break
        for span in reversed(loose.occurrences(year - back)):
            if fits(span):
                return loose.part_of(span)
    return None


def _weekdays_of_year(year: int, weekday: int) -> Iterator[DaySpan]:
    day = date(year, 1, 1)
    day += timedelta(days=(weekday - day.weekday()) % 7)
    while day.year == year:
        yield day_span(day)
        day += timedelta(days=7)


def _span_or_nothing(span: DaySpan | None) -> tuple[DaySpan, ...]:
    return () if span is None else (span,)


def _month_from_count(count: int) -> date:
    return date(count // 12, count % 12 + 1, 1)


def _small_number_at(reading: TokenizedQuestion, place: int) -> tuple[int, int] | None:
    numbers = reading.words.numbers
    value = numbers.get(reading.word_at(place))
    if value is None:
        return None
    after = place + 1
    ones = after + 1 if reading.kind_at(after) == "dash" else after
    more = numbers.get(reading.word_at(ones), 0)
    if value >= 20 and 1 <= more <= 9:
        return value + more, ones + 1
    return value, after


def _with_rest(reading: TokenizedQuestion, hundreds: int, place: int) -> tuple[int, int]:
    rest = _small_number_at(reading, place + 1) if reading.word_at(place) == "and" else _small_number_at(reading, place)
    return (hundreds + rest[0], rest[1]) if rest else (hundreds, place)


def _is_verb(reading: TokenizedQuestion, place: int) -> bool:
    """Whether it is as in "option 12 may help": a small letter and a word of content behind it."""
    word = reading.word_at(place)
    return (
        word == "may"
        and not reading.tokens[place].capital
        and reading.kind_at(place + 1) == "word"
        and not reading.is_in_set(place + 1, "soft_before")
    )


def _read_month_day(reading: TokenizedQuestion, end: int, month: int, day: int) -> TimeHit | None:
    before = reading.word_at(end - 1)
    is_short = len(before) <= 4 and before in reading.words.months  # "3 Sept. 2024"; else a full stop ends a sentence
    at = end + (reading.word_at(end) in (",", "of") or (is_short and reading.word_at(end) == "."))
    if year := year_at(reading, at):
        span = date_of(year[0], month, day)
        return TimeHit(year[1], span, "full", "day") if span else None
    return resolve_loose_date(reading, end, loose_day(month, day))


def _month_name(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    at = place
    if reading.word_at(at) == "the" and reading.word_at(at + 1) == "month" and reading.word_at(at + 2) == "of":
        at += 3
    month = reading.words.months.get(reading.word_at(at))
    return None if month is None else with_year(reading, at + 1, loose_month(month))


def _read_quarter(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    word = reading.word_at(place)
    if reading.kind_at(place) == "part" and word[0] in "qh":
        number = int(word[1:])
        if word[0] == "h" and number > 2:
            return None
        return with_year(reading, place + 1, loose_quarter(number) if word[0] == "q" else loose_half(number))
    if word == "quarter":
        number_found = number_at(reading, place + 1)
        if number_found and 1 <= number_found[0] <= 4 and not reading.is_in_set(place + 1, "articles"):
            return with_year(reading, number_found[1], loose_quarter(number_found[0]))
    at = place + (word == "the")
    ordinal = ordinal_at(reading, at)
    if ordinal and 1 <= ordinal[0] <= 4 and reading.word_at(ordinal[1]) == "quarter":
        return with_year(reading, ordinal[1] + 1, loose_quarter(ordinal[0]))
    return None


def _week_number(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    word = reading.word_at(place)
    if reading.kind_at(place) == "part" and word[0] in "ckw":
        return with_year(reading, place + 1, loose_week(int(word.lstrip("ckw"))))
    at = place + (word in ("calendar", "iso"))
    if reading.word_at(at) not in ("week", "wk"):
        return None
    at += 1
    at += reading.word_at(at) in ("number", "no", "nr")
    at += reading.word_at(at) == "."
    found = None if reading.is_in_set(at, "articles") else number_at(reading, at)
    return with_year(reading, found[1], loose_week(found[0])) if found and 1 <= found[0] <= 53 else None


def _read_decade(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    at = place + (reading.word_at(place) == "the")
    if reading.kind_at(at) == "decade":
        tens = int(_DIGITS.findall(reading.word_at(at))[0])
    elif at > place and reading.word_at(at) in reading.words.decades:
        tens = reading.words.decades[reading.word_at(at)]
    else:
        return None
    if tens < 100:
        # The most recent such decade: "the 20s" are these, "the 90s" those of the last century.
        tens += reading.today.year // 100 * 100
        tens -= 100 if tens > reading.today.year else 0
    return TimeHit(at + 1, unit_span(date(tens, 1, 1), "decade"), "full", "decade")


def _read_year(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    year = year_at(reading, place)
    if year is None:
        return None
    span = DaySpan(date(year[0], 1, 1), date(year[0], 12, 31))
    return TimeHit(year[1], span, "year" if reading.word_at(place) != "the" else "full", "year")
