"""Finds the time that a question speaks of.

The first phrase that resolves is taken; a range of two dates is one phrase. Conventions: the README of the labelled
set `temporal-dev.jsonl`. Must not do: ask for the present.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, time, timedelta, tzinfo

from core.text.timephrases.atoms import Hit
from core.text.timephrases.licence import is_time
from core.text.timephrases.phrases import phrase
from core.text.timephrases.ranges import open_at, range_at
from core.text.timephrases.spans import Span
from core.text.timephrases.tokens import Reading, Token, time_words, tokens_of
from core.types.recall import TimeRange

MAX_CHARS = 1024
"""Characters of a question that are read."""
_EARLIEST, _LATEST = 1000, 9000  # years: beyond them no moment can be told in milliseconds


def time_range(query: str, now_ms: int, zone: tzinfo) -> TimeRange | None:
    """The days a question speaks of.

    Args:
        query: any text; its first `MAX_CHARS` characters are read.
        now_ms: the present, epoch ms.
        zone: the local zone; days are its days.

    Returns:
        The days with the words that name them; None where the question names none.
    """
    tokens = tokens_of(query[:MAX_CHARS])
    now = datetime.fromtimestamp(now_ms / 1000, zone)
    hit = first_hit(Reading(tokens, now, time_words()))
    if hit is None:
        return None
    first, last = tokens[hit.start], tokens[hit.end - 1]
    return range_of(hit.span, query[first.start : last.end], (first.start, last.end), zone)


def range_of(span: Span, words: str, place: tuple[int, int], zone: tzinfo) -> TimeRange:
    """Days as moments of a zone.

    Args:
        span: the days.
        words: the phrase.
        place: where it begins and where it ends, exclusive.
        zone: the local zone.
    """
    return TimeRange(
        words,
        *place,
        span.first.isoformat(),
        span.last.isoformat(),
        _midnight(span.first, zone),
        _midnight(span.last + timedelta(days=1), zone),
    )


def _midnight(day: date, zone: tzinfo) -> int:
    """The first moment of a day; where the clocks skip midnight, the moment of the change."""
    return int(datetime.combine(day, time(), zone).timestamp() * 1000)


def first_hit(reading: Reading) -> Hit | None:
    """The first phrase that is meant as a time."""
    place = 0
    while place < len(reading.tokens):
        hit = _at(reading, place) if _may_begin(reading, reading.tokens[place]) else None
        if hit is None:
            place += 1
        elif _stands(reading, hit):
            return hit
        else:
            place = hit.end
    return None


def _may_begin(reading: Reading, token: Token) -> bool:
    if token.kind != "word":
        return token.kind not in ("code", "dash", "quote", "mark")
    return token.text in reading.words.starters


def _at(reading: Reading, place: int) -> Hit | None:
    try:
        for read in (range_at, open_at, phrase):
            hit = read(reading, place)
            if hit is not None and hit.span.first.year >= _EARLIEST and hit.span.last.year <= _LATEST:
                return replace(hit, start=place)
    except (OverflowError, ValueError):
        return None  # a day before the first year or after the last
    return None


def _stands(reading: Reading, hit: Hit) -> bool:
    if reading.within(hit.start - 1, "deadlines") and hit.sort != "range":
        return False
    if reading.word(hit.start - 2) == "up" and reading.word(hit.start - 1) == "to":
        return False
    return not _closes_range(reading, hit) and is_time(reading, hit)


def _closes_range(reading: Reading, hit: Hit) -> bool:
    """Whether it is the end of a range whose beginning is an event: "between the move and 3 January"."""
    is_joined = hit.sort != "range" and reading.word(hit.start - 1) == "and"
    return is_joined and any(reading.word(before) == "between" for before in range(max(0, hit.start - 6), hit.start))
