"""Reads the times that exports write: ISO 8601 in its many spellings and epoch numbers of four magnitudes.

Must not do: guess a missing time, or take the present for it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from email.utils import parsedate_to_datetime

from core.types.values import When
from core.types.words import Precision

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
    offset = _offset(match["zone"])
    if match["hour"] is not None and offset is None and not assume_utc:
        return None
    hour, minute, second = (int(match[name] or 0) for name in ("hour", "minute", "second"))
    if hour > 24 or minute > 59 or second > 60 or (hour == 24 and (minute or second)):
        return None
    day = datetime(int(match["year"]), int(match["month"] or 1), int(match["day"] or 1), tzinfo=UTC)
    part = int(((match["part"] or "") + "000")[:3])
    moment = day + timedelta(hours=hour, minutes=minute - (offset or 0), seconds=second, milliseconds=part)
    return _when(moment, _precision(match), offset)


def _from_week_or_ordinal(text: str) -> When | None:
    if match := _WEEK.fullmatch(text):
        day = datetime.fromisocalendar(int(match["year"]), int(match["week"]), int(match["weekday"] or 1))
        return _when(day.replace(tzinfo=UTC), Precision.DAY, None)
    if match := _ORDINAL.fullmatch(text):
        number = int(match["day"])
        first = datetime(int(match["year"]), 1, 1, tzinfo=UTC)
        day = first + timedelta(days=number - 1)
        return _when(day, Precision.DAY, None) if number and day.year == first.year else None
    return None


def _precision(match: re.Match[str]) -> Precision:
    order = (
        ("part", Precision.MS),
        ("second", Precision.SECOND),
        ("minute", Precision.MINUTE),
        ("hour", Precision.HOUR),
        ("day", Precision.DAY),
        ("month", Precision.MONTH),
    )
    return next((precision for name, precision in order if match[name] is not None), Precision.YEAR)


def _offset(zone: str | None) -> int | None:
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
    return _when(moment, Precision.SECOND, None if zone is None else int(zone.total_seconds() // 60))


def _when(moment: datetime, precision: Precision, offset: int | None) -> When | None:
    ms = (moment - _EPOCH) // _MILLISECOND
    return When(ms, precision, offset) if _MIN_MS <= ms <= _MAX_MS else None
