"""Finds the time range a question speaks of: the first phrase that resolves, a range of two dates, or an open range.

"between 3 and 9 May", "from X to Y", "since X", "after X" are one phrase each; in a range the start decides, and the
end is the first such date from the start on. A phrase that only looks like a time (a name, a title, a verb, a recurring
day, a count) is not taken. Conventions: the README of the labelled set `temporal-dev.jsonl`.
Must not do: ask for the present, or raise at any text.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, time, timedelta, tzinfo

from core.text.terms import stop_words
from core.text.time_parts import (
    DaySpan,
    TimeHit,
    TimeToken,
    TokenizedQuestion,
    date_of,
    day_span,
    first_occurrence_from,
    latest_by,
    latest_occurrence,
    loose_day,
    time_vocabulary,
    tokenize_question,
)
from core.text.time_phrases import read_bare_day, read_phrase, read_this_unit
from core.types.recall import TimeRange

_MARKS = ("mark", "dash", "quote")
MAX_CHARS = 1024
"""Characters of a question that are read."""
_EARLIEST, _LATEST = 1000, 9000  # years: beyond them no moment can be told in milliseconds


def is_time(reading: TokenizedQuestion, hit: TimeHit) -> bool:
    """Whether a phrase is meant as a time in its question.

    Args:
        hit: a phrase with its place.

    Returns:
        False for what stands in quotation marks, recurs, is a name, a verb or a number of things.
    """
    tokens = reading.tokens[hit.start : hit.end]
    if all(token.quoted for token in tokens) or _is_recurring(reading, hit):
        return False
    first = _content_start(reading, hit)
    if hit.unit == "month" and reading.kind_at(hit.start - 1) in ("number", "ordinal"):
        return False  # "30 February": there is no such day
    if hit.sort == "now":
        return not _is_title(reading, first)
    if hit.sort == "nth" or hit.sort == "nth word":
        return _is_day(reading, hit)
    bare = hit.end - first == 1
    if bare and hit.sort == "weekday":
        return _is_weekday(reading, hit, first)
    if bare and hit.sort == "month":
        return _is_month(reading, hit, first)
    if hit.sort == "year":
        return _is_year(reading, hit)
    return not _lowercase_verb(reading, hit)


def range_at(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """A range that begins at a token.

    Args:
        place: of its first token: `between`, `from`, or its first date.

    Returns:
        The range; None where there is none, or where it would end before it begins.
    """
    word = reading.word_at(place)
    is_between = word == "between"
    at = place + (is_between or word == "from")
    if not is_between and word != "from" and reading.word_at(place) in reading.words.weekdays:
        return None  # "Monday to Friday" are the days of any week
    begin = _read_side(reading, at)
    day = read_bare_day(reading, at)
    joined = begin.end if begin else None
    if begin is None or not _is_range_joint(reading, begin.end, is_between=is_between):
        joined = day[1] if day and _is_range_joint(reading, day[1], is_between=is_between) else None
        begin = None
    if joined is None:
        return None
    after = joined + 1
    end = _read_side(reading, after)
    if day and begin and end and begin.sort in ("nth", "nth word") and end.sort in ("day", "full"):
        return _with_day(reading, place, day[0], end)
    if begin is not None:
        return _read_range_of_two(reading, place, begin, end, after)
    return _with_day(reading, place, day[0], end) if day and end else None


def open_at(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    """Reads "Since X", "from X on", "after X": from its first day, or the day behind it, to today."""
    word = reading.word_at(place)
    at = place + (word == "ever")
    word = reading.word_at(at)
    if word not in ("since", "from", "after"):
        return None
    inner = _read_side(reading, at + 1)
    if inner is None or inner.sort == "nth word":
        return None
    if word == "from":
        if reading.word_at(inner.end) not in ("on", "onward", "onwards"):
            return None
        inner = replace(inner, end=inner.end + 1)
    first = inner.span.last + timedelta(days=1) if word == "after" else inner.span.first
    if first > reading.today:
        return None
    return replace(inner, span=DaySpan(first, reading.today), start=place, loose=None)


def find_time_range(query: str, now_ms: int, zone: tzinfo) -> TimeRange | None:
    """The days a question speaks of.

    Args:
        query: any text; its first `MAX_CHARS` characters are read.
        zone: the local zone; days are its days.

    Returns:
        The days with the words that name them; None where the question names none.
    """
    tokens = tokenize_question(query[:MAX_CHARS])
    now = datetime.fromtimestamp(now_ms / 1000, zone)
    hit = first_hit(TokenizedQuestion(tokens, now, time_vocabulary()))
    if hit is None:
        return None
    first, last = tokens[hit.start], tokens[hit.end - 1]
    return to_moments(hit.span, query[first.start : last.end], (first.start, last.end), zone)


def to_moments(span: DaySpan, words: str, place: tuple[int, int], zone: tzinfo) -> TimeRange:
    """Days as moments of a zone.

    Args:
        words: the phrase.
        place: where it begins and where it ends, exclusive.
        zone: the local zone.
    """
    return TimeRange(
        words,
        *place,
        span.first.isoformat(),
        span.last.isoformat(),
        _midnight_ms(span.first, zone),
        _midnight_ms(span.last + timedelta(days=1), zone),
    )


def first_hit(reading: TokenizedQuestion) -> TimeHit | None:
    """The first phrase that is meant as a time."""
    place = 0
    while place < len(reading.tokens):
        hit = _read_hit_at(reading, place) if _may_begin(reading, reading.tokens[place]) else None
        if hit is None:
            place += 1
        elif _is_standing_alone(reading, hit):
            return hit
        else:
            place = hit.end
    return None


def _content_start(reading: TokenizedQuestion, hit: TimeHit) -> int:
    return hit.start + (reading.word_at(hit.start) == "the")


def _is_recurring(reading: TokenizedQuestion, hit: TimeHit) -> bool:
    before = hit.start - 1
    if reading.is_in_set(before, "recurring"):
        return True
    if reading.word_at(before) == "other" and reading.word_at(before - 1) == "every":
        return True
    if hit.sort in ("weekday", "weekend") or hit.unit == "weekend":
        return reading.is_in_set(before, "articles") or reading.is_in_set(hit.end, "day_part_plurals")
    return reading.is_in_set(hit.end, "day_part_plurals")


def _is_sentence_start(reading: TokenizedQuestion, place: int) -> bool:
    """Whether a token begins a sentence, where a capital tells nothing."""
    return place <= 0 or reading.word_at(place - 1) in (".", "!", "?", ":")


def _is_capitalized(reading: TokenizedQuestion, place: int) -> bool:
    if not 0 <= place < len(reading.tokens) or reading.kind_at(place) != "word":
        return False
    token = reading.tokens[place]
    return token.capital and token.text not in ("i", "i'm", "i've", "i'd", "i'll") and not _is_shouted(reading, token)


def _is_shouted(reading: TokenizedQuestion, token: TimeToken) -> bool:
    """In a question all in capitals a capital tells nothing."""
    return token.raw.isupper() and all(one.raw.isupper() for one in reading.tokens if one.kind == "word")


def _is_title(reading: TokenizedQuestion, place: int) -> bool:
    """Whether it is as in "USA Today", "the song Yesterday": a capital where none is needed."""
    if _is_sentence_start(reading, place):
        return (
            _is_capitalized(reading, place)
            and _is_capitalized(reading, place + 1)
            and reading.tokens[place + 1].text not in _known_words()
        )
    return _is_capitalized(reading, place)


def _known_words() -> frozenset[str]:
    return stop_words()


def _is_end_of_content(reading: TokenizedQuestion, place: int) -> bool:
    """Whether nothing of content follows: the end, a mark or a function word."""
    if place >= len(reading.tokens) or reading.kind_at(place) in _MARKS:
        return True
    return reading.word_at(place).replace("'", "") in stop_words() or reading.is_in_set(place, "soft_before")


def _is_day(reading: TokenizedQuestion, hit: TimeHit) -> bool:
    """Whether it is as in "on the 14th", and not "the 2nd floor" or "the third"."""
    if reading.kind_at(hit.end) == "mark" and reading.word_at(hit.end) == ".":
        return hit.sort == "nth"
    follows = reading.word_at(hit.end)
    is_free = _is_end_of_content(reading, hit.end) and follows not in ("of", "one", "more", "most")
    if hit.sort == "nth":
        return is_free
    return (
        is_free
        and reading.word_at(hit.start - 1) in ("on", "since")
        and not reading.is_in_set(hit.start + 1, "numbered")
    )


def _is_weekday(reading: TokenizedQuestion, hit: TimeHit, first: int) -> bool:
    token = reading.tokens[first]
    prep = reading.word_at(hit.start - 1)
    if _opening_days(reading, first):
        return False
    if first > hit.start or reading.is_in_set(first - 1, "own") or reading.is_in_set(first - 1, "holiday_words"):
        return False
    if token.text in reading.words.sets["short"]:
        return prep in ("on", "since", "from") or (token.capital and first > 0 and _is_end_of_content(reading, hit.end))
    if reading.is_in_set(first - 1, "week_preps"):
        return not (prep == "for" and not _is_end_of_content(reading, hit.end) and not token.owns)
    if _is_capitalized(reading, first - 1) and not _is_sentence_start(reading, first - 1):
        return False
    if token.owns:
        return True
    return _is_end_of_content(reading, hit.end) and not _is_capitalized(reading, hit.end)


def _opening_days(reading: TokenizedQuestion, place: int) -> bool:
    """Whether it is an end of "Monday to Friday", the days of any week."""
    for joint, other in ((place + 1, place + 2), (place - 1, place - 2)):
        is_joint = reading.is_in_set(joint, "joins") or reading.kind_at(joint) == "dash"
        if is_joint and reading.word_at(other) in reading.words.weekdays:
            return True
    return False


def _is_month(reading: TokenizedQuestion, hit: TimeHit, first: int) -> bool:
    token = reading.tokens[first]
    before, after = first - 1, hit.end
    prep = reading.word_at(before)
    is_name = token.text in reading.words.sets["names_of_people"]
    is_doubtful = is_name or token.text in reading.words.sets["verbs_too"] or token.text in reading.words.sets["short"]
    if token.owns and is_name:
        return reading.is_in_set(after, "calendar_nouns")
    if reading.is_in_set(before, "month_preps"):
        return True
    if not is_doubtful:
        if _is_capitalized(reading, before) and not _is_sentence_start(reading, before):
            return False
        return (
            not _is_capitalized(reading, after)
            or reading.is_in_set(before, "week_preps")
            or reading.word_at(after) in _known_words()
        )
    if reading.is_in_set(before, "own") or reading.is_in_set(before, "articles"):
        return token.capital and reading.is_in_set(after, "calendar_nouns")
    if prep == "from":
        return not reading.is_in_set(before - 1, "senders")
    if prep in ("for", "of"):
        return not is_name or reading.is_in_set(before - 1, "calendar_nouns")
    if reading.is_in_set(after, "calendar_nouns"):
        return token.capital or not is_doubtful
    return (
        token.text == "march"
        and token.capital
        and _is_end_of_content(reading, after)
        and not reading.is_in_set(after, "of_it")
    )


def _is_year(reading: TokenizedQuestion, hit: TimeHit) -> bool:
    before = hit.start - 1
    if reading.is_in_set(before, "articles") or reading.is_in_set(hit.end, "counted"):
        return False
    if reading.word_at(before) == "in" or (
        reading.is_in_set(before, "year_preps") and _is_end_of_content(reading, hit.end)
    ):
        return True
    if reading.word_at(before) in ("number", "no", "nr", "#", ".") or reading.is_in_set(before, "numbered"):
        return False
    is_call = reading.kind_at(before) == "dash" and reading.kind_at(before - 1) == "word"
    return not is_call or not reading.tokens[before - 1].raw.isupper()


def _lowercase_verb(reading: TokenizedQuestion, hit: TimeHit) -> bool:
    """Whether it is as in "this may take long", "last march forward": a small letter, no month."""
    last = reading.tokens[hit.end - 1]
    return (
        hit.end - hit.start == 2
        and last.text == "may"
        and not last.capital
        and reading.word_at(hit.start) == "this"
        and not _is_end_of_content(reading, hit.end)
    )


def _read_side(reading: TokenizedQuestion, at: int) -> TimeHit | None:
    if reading.word_at(at) in ("now", "date"):
        return TimeHit(at + 1, day_span(reading.today), "now", "day")
    return read_phrase(reading, at) or (read_this_unit(reading, at) if reading.word_at(at) == "the" else None)


def _is_range_joint(reading: TokenizedQuestion, at: int, *, is_between: bool) -> bool:
    if is_between:
        return reading.word_at(at) == "and" or reading.kind_at(at) == "dash"
    return reading.is_in_set(at, "joins") or reading.kind_at(at) == "dash"


def _read_range_of_two(
    reading: TokenizedQuestion, place: int, begin: TimeHit, end: TimeHit | None, after: int
) -> TimeHit | None:
    """The second side as a date of its own, or as the number of a day in the month of the first."""
    day = read_bare_day(reading, after)
    if day and (end is None or end.sort in ("nth", "nth word", "year") or end.end < day[1]):
        first = begin.span.first
        is_dated = begin.sort in ("day", "full") and begin.unit == "day" and begin.span.first == begin.span.last
        span = date_of(first.year, first.month, day[0]) if is_dated else None
        if span and span.first >= first:
            return TimeHit(day[1], DaySpan(first, span.last), "range", start=place)
    if end is None:
        return None
    left, right = _settle_sides(reading, begin, end)
    if left is None or right is None or left.first > right.last:
        return None
    return TimeHit(end.end, DaySpan(left.first, right.last), "range", start=place)


def _settle_sides(reading: TokenizedQuestion, begin: TimeHit, end: TimeHit) -> tuple[DaySpan | None, DaySpan | None]:
    if begin.loose and end.loose:
        left = latest_occurrence(begin.loose, reading.today)
        return left, first_occurrence_from(end.loose, left.first) if left else None
    if begin.loose:
        return latest_by(begin.loose, end.span.first), end.span
    if end.loose:
        return begin.span, first_occurrence_from(end.loose, begin.span.first)
    return begin.span, end.span


def _with_day(reading: TokenizedQuestion, place: int, day: int, end: TimeHit) -> TimeHit | None:
    """Reads "3 to 9 May": the first side has the month of the second."""
    last = end.span.first
    if end.span.last != last or end.sort not in ("day", "full") or day > last.day:
        return None
    if end.loose is None:
        span = date_of(last.year, last.month, day)
        return TimeHit(end.end, DaySpan(span.first, last), "range", start=place) if span else None
    left = latest_occurrence(loose_day(last.month, day), reading.today)
    right = first_occurrence_from(end.loose, left.first) if left else None
    return TimeHit(end.end, DaySpan(left.first, right.last), "range", start=place) if left and right else None


def _midnight_ms(day: date, zone: tzinfo) -> int:
    """The first moment of a day; where the clocks skip midnight, the moment of the change."""
    return int(datetime.combine(day, time(), zone).timestamp() * 1000)


def _may_begin(reading: TokenizedQuestion, token: TimeToken) -> bool:
    if token.kind != "word":
        return token.kind not in ("code", "dash", "quote", "mark")
    return token.text in reading.words.starters


def _read_hit_at(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    try:
        for read in (range_at, open_at, read_phrase):
            hit = read(reading, place)
            if hit is not None and hit.span.first.year >= _EARLIEST and hit.span.last.year <= _LATEST:
                return replace(hit, start=place)
    except (OverflowError, ValueError):
        return None  # a day before the first year or after the last
    return None


def _is_standing_alone(reading: TokenizedQuestion, hit: TimeHit) -> bool:
    if reading.is_in_set(hit.start - 1, "deadlines") and hit.sort != "range":
        return False
    if reading.word_at(hit.start - 2) == "up" and reading.word_at(hit.start - 1) == "to":
        return False
    return not _closes_range(reading, hit) and is_time(reading, hit)


def _closes_range(reading: TokenizedQuestion, hit: TimeHit) -> bool:
    """Whether it is the end of a range whose beginning is an event: "between the move and 3 January"."""
    is_joined = hit.sort != "range" and reading.word_at(hit.start - 1) == "and"
    return is_joined and any(reading.word_at(before) == "between" for before in range(max(0, hit.start - 6), hit.start))
