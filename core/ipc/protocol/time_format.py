"""Times as the contract writes and reads them: ISO 8601 UTC with `Z` out, ISO 8601 or epoch numbers in.

Must not do: ask for the present.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, datetime, timedelta

from core.errors import Code, UserError
from core.text.times import parse_time
from core.types.values import Precision, When

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def format_time(ms: int | None) -> str | None:
    """Write a moment.

    Args:
        ms: epoch milliseconds UTC; None stays None.

    Returns:
        `2026-01-31T12:00:00Z`, with `.123` where there are milliseconds; None outside the years 1 to 9999.
    """
    if ms is None:
        return None
    try:
        moment = _EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return None
    text = f"{moment.year:04d}{moment:-%m-%dT%H:%M:%S}"
    part = ms % 1000
    return f"{text}.{part:03d}Z" if part else f"{text}Z"


def read_time(value: object, field: str) -> When | None:
    """Read a moment from a parameter; without a zone it is UTC.

    Args:
        value: ISO 8601 text or an epoch number; None stays None.
        field: the parameter's name, for the error.

    Returns:
        The moment with its precision.

    Raises:
        UserError: INVALID_INPUT; the value is not in the sentence.
    """
    if value is None:
        return None
    found = parse_time(value)
    if found is None:
        raise UserError(Code.INVALID_INPUT, f"`{field}` is not a time; write it like 2026-01-31 or 2026-01-31T12:00Z.")
    return found


def read_as_of(value: object, field: str = "as_of") -> int | None:
    """Read the moment of a question about the past: a day, month or year means its last millisecond.

    Args:
        value: ISO 8601 text or an epoch number; None stays None.
        field: the parameter's name, for the error.

    Returns:
        Epoch milliseconds UTC.

    Raises:
        UserError: INVALID_INPUT.
    """
    found = read_time(value, field)
    if found is None:
        return None
    start = _EPOCH + timedelta(milliseconds=found.ms, minutes=found.offset_min or 0)
    if found.precision is Precision.YEAR:
        days = 366 if monthrange(start.year, 2)[1] == 29 else 365
    elif found.precision is Precision.MONTH:
        days = monthrange(start.year, start.month)[1]
    elif found.precision is Precision.DAY:
        days = 1
    else:
        return found.ms
    return found.ms + days * 86_400_000 - 1


def localise(text: str) -> str:
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
