"""Reads and writes times: ISO 8601 in its many spellings, epoch numbers of four magnitudes, dated labels.

`parse_time` reads back exactly the moment and precision that `format_time` wrote. Must not do: guess a missing time,
take the present for it, or add a precision that the time does not have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from email.utils import parsedate_to_datetime
from functools import cache
from importlib.resources import files

from core.types.values import Precision, When


def format_time(when: When) -> str | None:
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
    return texts[when.precision] + _format_zone(when.offset_min, coarse=coarse)


def _format_zone(offset_min: int | None, *, coarse: bool) -> str:
    if offset_min is None:
        return "" if coarse else "Z"
    hours, minutes = divmod(abs(offset_min), 60)
    return f"{'-' if offset_min < 0 else '+'}{hours:02d}:{minutes:02d}"


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_MAX_MS = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z
_MIN_MS = -62_135_596_800_000  # 0001-01-01T00:00:00Z
_LONGEST = 64
_HUGE = 10**20

# Below 1e11 a number is seconds (until the year 5138), then milliseconds, microseconds, nanoseconds, 1e3 apart.
_MAGNITUDES = (
    (Decimal("1e11"), Decimal(1000)),
    (Decimal("1e14"), Decimal(1)),
    (Decimal("1e17"), Decimal("1e-3")),
    (Decimal("1e20"), Decimal("1e-6")),
)
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?")
_ISO = re.compile(
    r"""(?P<year>\d{4})
    (?: (?P<mark>[-/.]?) (?P<month>\d{1,2}) (?: (?P=mark) (?P<day>\d{1,2}) )? )?
    (?: (?:[Tt]|[ ]+|_) (?P<hour>\d{1,2})
        (?: :?(?P<minute>\d{2}) (?: :?(?P<second>\d{2}) (?:[.,](?P<part>\d+))? )? )? )?
    [ ]* (?P<zone> [Zz] | UTC | utc | GMT | (?:UTC|GMT)?[+\-−]\d{2}(?::?\d{2}(?::\d{2})?)? )?""",
    re.VERBOSE,
)
_WEEK = re.compile(r"(?P<year>\d{4})-?W(?P<week>\d{2})(?:-?(?P<weekday>[1-7]))?")
_ORDINAL = re.compile(r"(?P<year>\d{4})-(?P<day>\d{3})")


def parse_time(value: object, *, assume_utc: bool = True) -> When | None:
    """Read one written time.

    Args:
        value: ISO 8601 or RFC 2822 text, a date, or epoch seconds, milliseconds, microseconds or nanoseconds as a
            number or its digits; told apart by magnitude.
        assume_utc: whether a time of day without a zone is UTC; if not, it is unreadable. Dates and epoch numbers need
            no zone.

    Returns:
        The moment with the precision and the offset it was written with, fractions of a millisecond cut off; None
        for null, empty, unreadable and impossible times.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return _from_number(str(value)) if -_HUGE < value < _HUGE else None
    if isinstance(value, float | Decimal):
        return _from_number(str(value))
    if not isinstance(value, str):
        return None
    text = value.strip()
    if not text or len(text) > _LONGEST:
        return None
    if _NUMBER.fullmatch(text) and not _looks_like_date(text):
        return _from_number(text)
    try:
        return _from_iso(text, assume_utc) or _from_mail(text, assume_utc)
    except (ValueError, OverflowError):
        return None


def _looks_like_date(digits: str) -> bool:
    """Four digits are a year, six a month, eight a day when they can be; a real epoch number has nine or more."""
    if not digits.isascii() or not digits.isdigit():
        return False
    if len(digits) == 4:
        return True
    return len(digits) in (6, 8) and digits[:2] in ("19", "20") and 1 <= int(digits[4:6]) <= 12


def _from_number(digits: str) -> When | None:
    try:
        number = Decimal(digits)
    except InvalidOperation:
        return None
    if not number.is_finite():
        return None
    size = abs(number)
    for limit, factor in _MAGNITUDES:
        if size < limit:
            ms = int((number * factor).to_integral_value(rounding="ROUND_FLOOR"))
            if not _MIN_MS <= ms <= _MAX_MS:
                return None
            whole_seconds = factor == 1000 and number == number.to_integral_value()
            return When(ms, Precision.SECOND if whole_seconds else Precision.MS)
    return None


def _from_iso(text: str, assume_utc: bool) -> When | None:
    if special := _from_week_or_ordinal(text):
        return special
    match = _ISO.fullmatch(text)
    if not match or (match["day"] is None and match["hour"] is not None):
        return None
    offset = _parse_offset(match["zone"])
    if match["hour"] is not None and offset is None and not assume_utc:
        return None
    hour, minute, second = (int(match[name] or 0) for name in ("hour", "minute", "second"))
    if hour > 24 or minute > 59 or second > 60 or (hour == 24 and (minute or second)):
        return None
    day = datetime(int(match["year"]), int(match["month"] or 1), int(match["day"] or 1), tzinfo=UTC)
    part = int(((match["part"] or "") + "000")[:3])
    moment = day + timedelta(hours=hour, minutes=minute - (offset or 0), seconds=second, milliseconds=part)
    return _make_when(moment, _precision_of(match), offset)


def _from_week_or_ordinal(text: str) -> When | None:
    if match := _WEEK.fullmatch(text):
        year, week = int(match["year"]), int(match["week"])
        if match["weekday"] is None:
            return _time_of_week(year, week)
        day = datetime.fromisocalendar(year, week, int(match["weekday"]))
        return _make_when(day.replace(tzinfo=UTC), Precision.DAY, None)
    if match := _ORDINAL.fullmatch(text):
        number = int(match["day"])
        first = datetime(int(match["year"]), 1, 1, tzinfo=UTC)
        day = first + timedelta(days=number - 1)
        return _make_when(day, Precision.DAY, None) if number and day.year == first.year else None
    return None


def _time_of_week(year: int, week: int) -> When | None:
    """A whole week: its month where all of it lies in one, else its year; no precision lies between.

    The moment is the week's Thursday, which lies in the month and the year that ISO 8601 counts the week to.
    """
    days = [datetime.fromisocalendar(year, week, day).replace(tzinfo=UTC) for day in (1, 4, 7)]
    return _make_when(days[1], Precision.MONTH if days[0].month == days[2].month else Precision.YEAR, None)


def _precision_of(match: re.Match[str]) -> Precision:
    order = (
        ("part", Precision.MS),
        ("second", Precision.SECOND),
        ("minute", Precision.MINUTE),
        ("hour", Precision.HOUR),
        ("day", Precision.DAY),
        ("month", Precision.MONTH),
    )
    return next((precision for name, precision in order if match[name] is not None), Precision.YEAR)


def _parse_offset(zone: str | None) -> int | None:
    if not zone:
        return None
    digits = re.sub(r"[^\d+\-−]", "", zone)
    if not digits:
        return 0
    minutes = int(digits[1:3]) * 60 + int(digits[3:5] or 0)
    if minutes > 18 * 60:
        raise ValueError
    return -minutes if digits[0] in "-−" else minutes


def _from_mail(text: str, assume_utc: bool) -> When | None:
    if not text[:1].isalpha() and "," not in text and text.count(" ") < 3:
        return None
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError):
        return None
    zone = moment.utcoffset()
    if zone is None:
        if not assume_utc:
            return None
        moment = moment.replace(tzinfo=UTC)
    return _make_when(moment, Precision.SECOND, None if zone is None else int(zone.total_seconds() // 60))


def _make_when(moment: datetime, precision: Precision, offset: int | None) -> When | None:
    ms = (moment - _EPOCH) // _MILLISECOND
    return When(ms, precision, offset) if _MIN_MS <= ms <= _MAX_MS else None


def is_within(inner: When, outer: When) -> bool:
    """Whether one time lies in the day, month or year that the other names.

    Args:
        inner: any time; it counts in the zone it was written with.
        outer: a day, a month or a year; nothing lies within a time of day.
    """
    reach = {Precision.YEAR: 4, Precision.MONTH: 7, Precision.DAY: 10}
    length = reach.get(outer.precision)
    if length is None or reach.get(inner.precision, length) < length:
        return False
    first, second = format_time(inner), format_time(outer)
    return first is not None and second is not None and first[:length] == second[:length]


# ---- dates in labels

_FIRST_YEAR, _LAST_YEAR = 1900, 2100
_LONGEST_LABEL = 300
_WORD = re.compile(r"[^\W\d_]+")
_ANY = re.compile(r"(?<!\d)\d{4}([-_/.])\d{1,2}\1\d{1,2}(?!\d)")


@dataclass(frozen=True, slots=True)
class _Labels:
    """What dates in labels are told by.

    Attributes:
        forms: name to pattern; each has groups named `year`, `month`, `name`, `day`, `week`, `quarter`, `a`, `b`.
        months: folded name to number.
        planned: words that make the date one to come, not one on which something was said.
        numbered: words before a number that only looks like a date.
    """

    forms: Mapping[str, tuple[re.Pattern[str], re.Pattern[str]]]
    months: Mapping[str, int]
    planned: frozenset[str]
    numbered: frozenset[str]


_STRICT = ("dotted", "compact", "month")
"""Forms that versions, ticket numbers and quantities have too."""


@cache
def _load_date_labels() -> _Labels:
    spoken = json.loads((files("resources") / "query" / "time.json").read_text("utf-8"))
    lists = json.loads((files("resources") / "text" / "dates.json").read_text("utf-8"))
    names = "|".join(sorted(map(re.escape, spoken["months"]), key=len, reverse=True))
    weekday = "|".join(sorted(map(re.escape, spoken["weekdays"]), key=len, reverse=True))
    fill = {"name": rf"(?P<name>{names})\b\.?", "weekday": rf"(?:{weekday})"}
    forms: dict[str, tuple[re.Pattern[str], re.Pattern[str]]] = {}
    for form, source in _FORMS.items():
        body = f"(?P<date>{source.format_map(fill)})"
        after = rf"(?:(?=T\d)|(?![^\W_])(?!{'[-_.]' if form in _STRICT else '[.]'}\d))"
        before = r"(?<![^\W_])(?<![\d#+.])" + (r"(?<![-/])" if form in _STRICT else r"(?<!\d[-/])")
        around = rf"(?:{weekday})\b\.?,?"
        forms[form] = (
            re.compile(rf"[\W_]*(?:{around}\s*[-–—]?\s*)?(?<![#+.]){body}{after}", re.IGNORECASE | re.VERBOSE),
            re.compile(rf"{before}{body}{after}(?:[\W_]*{around})?[\W_]*$", re.IGNORECASE | re.VERBOSE),
        )
    planned, numbered = (frozenset(lists[name].split()) for name in ("planned", "numbered"))
    return _Labels(forms, spoken["months"], planned, numbered)


_FORMS = {
    "iso": r"(?P<year>\d{{4}})(?P<mark>[-_/])(?P<month>\d{{1,2}})(?P=mark)(?P<day>\d{{1,2}})",
    "dotted": r"(?P<year>\d{{4}})\.(?P<month>\d{{2}})\.(?P<day>\d{{2}})",
    # A time of day behind it is that of a note named by the second; which zone it was in nobody knows.
    "compact": r"(?P<year>\d{{4}})(?P<month>\d{{2}})(?P<day>\d{{2}})"
    r"(?:[-_T\ ]?(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d)?)?",
    "month": r"(?P<year>\d{{4}})[-_](?P<month>\d{{2}})",
    "week": r"(?P<year>\d{{4}})[-_\ ]?W(?P<week>\d{{2}})",
    "quarter": r"(?P<year>\d{{4}})[-_\ ]?Q(?P<quarter>[1-4])",
    "day_name": r"(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?[-_\ ]+(?:of\ )?{name}[-_,\ ]+(?P<year>\d{{4}})",
    "name_day": r"{name}[-_\ ]+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[-_,\ ]+(?P<year>\d{{4}})",
    "name": r"{name}[-_,\ ]+(?P<year>\d{{4}})",
    "either": r"(?P<a>\d{{1,2}})(?P<mark>[-_./])(?P<b>\d{{1,2}})(?P=mark)(?P<year>\d{{4}})",
}


def find_labelled_date(label: str) -> When | None:
    """The date that a file's name or a heading bears.

    Args:
        label: the name without its ending, or the words of the heading.

    Returns:
        The day, month or year with which the label begins or ends, in UTC; a quarter is its year. None where there is
        none, where there are two, where day and month cannot be told apart, where it names what is to come ("due
        2026-05-01"), and for a number that only looks like a date.
    """
    if len(label) > _LONGEST_LABEL or not any(ch.isdigit() for ch in label):
        return None
    known = _load_date_labels()
    words = frozenset(word.casefold() for word in _WORD.findall(label))
    if words & known.planned or len({match[0] for match in _ANY.finditer(label)}) > 1:
        return None
    found = _without_inner(_find_date_forms(label, known, is_numbered=bool(words & known.numbered)))
    try:
        dates = {_parse_labelled_date(form, match, known.months) for form, match in found}
    except ValueError:  # no such day
        return None
    return dates.pop() if len(dates) == 1 else None


def _find_date_forms(label: str, known: _Labels, *, is_numbered: bool) -> list[tuple[str, re.Match[str]]]:
    """What has the form of a date where the label begins or ends, by form."""
    found = []
    for form, (begins, ends) in known.forms.items():
        strict = form in _STRICT
        first, last = begins.match(label), ends.search(label)
        if first is not None and not (strict and is_numbered):
            found.append((form, first))
        if last is None or is_numbered:
            continue
        before = label[: last.start()].rstrip(" _([{")
        if not (strict and before) or before[-1].isalpha():
            found.append((form, last))
    return found


def _without_inner(found: list[tuple[str, re.Match[str]]]) -> list[tuple[str, re.Match[str]]]:
    """What lies within a longer date goes: "14 February 2026" is no month."""
    spans = [match.span("date") for _, match in found]

    def is_within(inner: tuple[int, int]) -> bool:
        return any(a <= inner[0] and inner[1] <= b and (a, b) != inner for a, b in spans)

    return [one for one, span in zip(found, spans, strict=True) if not is_within(span)]


def _parse_labelled_date(form: str, match: re.Match[str], months: Mapping[str, int]) -> When | None:
    given = match.groupdict()
    year = int(given["year"])
    if not _FIRST_YEAR <= year <= _LAST_YEAR:
        return None
    if form == "week":
        return _time_of_week(year, int(given["week"]))
    if form == "quarter":
        return _make_when(datetime(year, 3 * int(given["quarter"]) - 2, 1, tzinfo=UTC), Precision.YEAR, None)
    month, day = _month_and_day(form, given, months)
    if month is None or (form == "month" and month == (year + 1) % 100):  # 2011-12 is a season as well
        return None
    moment = datetime(year, month, day or 1, tzinfo=UTC)
    return _make_when(moment, Precision.MONTH if day is None else Precision.DAY, None)


def _month_and_day(
    form: str, given: Mapping[str, str | None], months: Mapping[str, int]
) -> tuple[int | None, int | None]:
    if form == "either":
        a, b = int(given["a"] or 0), int(given["b"] or 0)
        if a <= 12 and b <= 12 and a != b:
            return None, None
        return (b, a) if a > 12 else (a, b)
    name, day = given.get("name"), given.get("day")
    month = months[name.casefold()] if name else int(given["month"] or 0)
    return month, None if day is None else int(day)


def localise_time(text: str) -> str:
    """Add this machine's offset to a time of the command line that names no zone.

    Args:
        text: as typed.

    Returns:
        The same with `+02:00` and the like behind it; unchanged when it has a zone, is an epoch number or no time.
    """
    bare = text.strip()
    plain, zoned = parse_time(bare), parse_time(bare + "+00:00")
    if plain is None or zoned is None or plain.offset_min is not None or zoned.offset_min != 0:
        return text
    try:
        local = (_EPOCH + timedelta(milliseconds=plain.ms)).replace(tzinfo=None).astimezone()
    except (OverflowError, ValueError, OSError):
        return text
    offset = local.utcoffset() or timedelta(0)
    minutes = round(offset.total_seconds() / 60)
    sign, (hours, rest) = "-" if minutes < 0 else "+", divmod(abs(minutes), 60)
    return f"{bare}{sign}{hours:02d}:{rest:02d}"
