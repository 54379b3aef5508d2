"""Numbers, times of day and lengths of time that are written in several ways, brought to one form each.

"Fifty-eight" is 58, "18:30" is 6:30, "20 minutes" lasts as long as "1200 seconds", "08/2028" is an August. Hours are
those of a dial: "at 3", "3 pm" and "15:00" are one form, and the word "pm" stands for itself.

Must not do: decide whether two texts agree, or keep a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

_CLOCK = re.compile(r"\b(\d{1,2})(?:[:.](\d\d))?(?=[ ]?[ap]\.?m\b)|\b(\d{1,2}):(\d\d)\b(?!:)", re.IGNORECASE)
_PAST = re.compile(r"\b(half past|quarter past|quarter to) (\w+)|\b(\w+) o'clock\b", re.IGNORECASE)
_MONTH = re.compile(r"(?<![\d/])(0?[1-9]|1[0-2])/(?=(?:19|20)\d\d\b(?!/))")
_ISO = re.compile(r"\b(?:19|20)\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])\b")
_PLAIN = re.compile(r"(?<![\w.:/-])\d+(?:\.\d+)*(?![\w:/]|\.\d)")
_GLUED = re.compile(r"(?<![\w.:/-])(\d+)(?=(?:mins?|hrs?|h|secs?|s)\b)", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_HALF_HOUR = re.compile(r"\bhalf an(?= hour\b)", re.IGNORECASE)
_FORTNIGHT = re.compile(r"\bfortnight\b", re.IGNORECASE)
_UNIT = re.compile(r"[ -]?(second|sec|s|minute|min|hour|hr|h|day|week)s?\b(?!')", re.IGNORECASE)
_SECONDS = {
    "second": 1, "sec": 1, "s": 1, "minute": 60, "min": 60, "hour": 3600, "hr": 3600, "h": 3600, "day": 86_400,
    "week": 604_800,
}  # fmt: skip
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MINUTES = {"half past": 30, "quarter past": 15, "quarter to": -15}
_HOURS = 24
_NO_NUMBER = frozenset({"once", "twice", "noon", "midnight", "dozen"})
_ORDINAL = ("th", "first", "third")


@dataclass(frozen=True, slots=True)
class Value:
    """A value found in a text: characters `start` to `end` (exclusive), and its one form."""

    start: int
    end: int
    form: str


def find_values(text: str, numbers: Mapping[str, str]) -> tuple[Value, ...]:
    """The values of a text that could be written in another way.

    Args:
        text: prepared text.
        numbers: number words to digits, one word each.

    Returns:
        In order, never overlapping. A plain number that no unit follows is no such value.
    """
    found: list[Value] = []
    for find in (_dates, _clocks, _lengths_in_words, _plain):
        for value in find(text, numbers):
            if all(value.end <= other.start or other.end <= value.start for other in found):
                found.append(value)
    return tuple(sorted(found, key=lambda value: value.start))


def parse_number_words(words: list[int]) -> int | None:
    """The number that a row of number words says, such as 4, 1000, 2, 100 for 4200; None if it is no number.

    Args:
        words: what each says by itself.
    """
    whole = part = 0
    for word in words:
        if word == 1000:
            whole, part = whole + max(1, part) * 1000, 0
        elif word == 100 and part < 10:
            part = max(1, part) * 100
        elif 0 < word < 100 and part % (10 if word < 10 else 100) == 0 and part % 100 != 10:
            part += word
        else:
            return None
    return whole + part


def _dates(text: str, _: Mapping[str, str]) -> Iterator[Value]:
    for match in _MONTH.finditer(text):
        yield Value(match.start(1), match.end(1), _MONTHS[int(match[1]) - 1])
    for match in _ISO.finditer(text):
        yield Value(match.start(1), match.end(1), _MONTHS[int(match[1]) - 1])
        yield Value(match.start(2), match.end(2), str(int(match[2])))


def _clocks(text: str, numbers: Mapping[str, str]) -> Iterator[Value]:
    for match in _CLOCK.finditer(text):
        hour, minute = int(match[1] or match[3]), int(match[2] or match[4] or 0)
        if hour < _HOURS and minute < 60:
            yield Value(match.start(), match.end(), _on_a_dial(hour * 60 + minute))
    for match in _PAST.finditer(text):
        told = (match[2] or match[3]).lower()
        said = numbers.get(told, told)
        if said.isdecimal() and len(said) < 3 and int(said) <= _HOURS:
            yield Value(
                match.start(), match.end(), _on_a_dial(int(said) * 60 + _MINUTES.get((match[1] or "").lower(), 0))
            )


def _on_a_dial(minutes: int) -> str:
    """The time of day without its half: "3" on the hour, else "3:15"."""
    hour, minute = divmod(minutes % (12 * 60), 60)
    return f"{hour or 12}:{minute:02}" if minute else str(hour or 12)


def _lengths_in_words(text: str, numbers: Mapping[str, str]) -> Iterator[Value]:
    for match in _HALF_HOUR.finditer(text):
        yield Value(match.start(), match.end(), "1800s")
    for match in _FORTNIGHT.finditer(text):
        yield Value(match.start(), match.end(), f"{14 * 86_400}s")
    # Most texts have no such word, and looking for each everywhere takes long. Every row begins with a whole word.
    if text.isascii() and numbers.keys().isdisjoint(_WORD.findall(text.lower())):
        return
    for row in _rows(tuple(numbers)).finditer(text):
        whole, point, rest = row.group().lower().partition(" point ")
        words = re.split(r" and |[ -]", whole)
        value = parse_number_words([int(numbers[word]) for word in words])
        if value is None:
            continue
        told = f"{value}.{''.join(numbers[word] for word in rest.split())}" if point else str(value)
        several = len(words) > 1 or bool(point)
        if not words[-1].endswith(_ORDINAL):
            yield from _iter_value(text, row.start(), row.end(), told, always=several)
        elif several:
            yield Value(row.start(), row.end(), told)


@lru_cache(maxsize=4)
def _rows(numbers: tuple[str, ...]) -> re.Pattern[str]:
    """What finds number words that stand in a row."""
    one = "|".join(sorted((each for each in numbers if each not in _NO_NUMBER), key=len, reverse=True))
    return re.compile(rf"\b(?:{one})(?:(?: and |[ -])(?:{one}))*(?: point (?:{one})(?: (?:{one}))*)?\b", re.IGNORECASE)


def _plain(text: str, _: Mapping[str, str]) -> Iterator[Value]:
    for match in _PLAIN.finditer(text):
        yield from _iter_value(text, match.start(), match.end(), match.group(), always="." in match.group())
    for match in _GLUED.finditer(text):
        yield from _iter_value(text, match.start(), match.end(), match.group(), always=False)


def _iter_value(text: str, start: int, end: int, number: str, *, always: bool) -> Iterator[Value]:
    """The number with the unit of time after it, if one follows; else by itself, where it needs a form of its own."""
    unit = _UNIT.match(text, end)
    if unit is not None and number.count(".") < 2 and len(number) < 8:
        yield Value(start, end, f"{float(number) * _SECONDS[unit[1].lower()]:.10g}s")
    elif always:
        yield Value(start, end, number)
