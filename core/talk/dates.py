"""Phrases of time of a sentence as dates: "yesterday" said on 3 March 2025 is "on 2 March 2025".

Which of two days a bare "Thursday" or "April" is follows from the tense; a phrase that recurs or that names no day of
the calendar stays as it is. Must not do: guess a time of day, or raise at any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from core.talk.vocabulary import Edit, Token, talk_words
from core.text.time_parts import (
    DaySpan,
    TimeHit,
    TokenizedQuestion,
    first_occurrence_from,
    latest_occurrence,
    latest_over,
    time_vocabulary,
    tokenize_question,
)
from core.text.time_phrases import read_simple_phrase, read_this_unit
from core.text.time_range import MAX_CHARS, is_time

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_SLICES = frozenset(("end", "beginning", "start", "middle", "rest", "half"))
_KEPT = frozenset(
    (
        "by",
        "since",
        "until",
        "till",
        "til",
        "from",
        "before",
        "after",
        "for",
        "to",
        "through",
        "and",
        "or",
        "of",
        "between",
        "than",
    )
)
_MOVED = frozenset(("on", "in", "at", "over", "during"))
_FORWARD = frozenset(("by", "until", "till", "til", "from"))
_PARTS = {
    "morning": "morning",
    "afternoon": "afternoon",
    "evening": "evening",
    "night": "evening",
    "tonight": "evening",
}
_ABOUT = frozenset(("about", "around", "roughly", "almost", "nearly"))
_VAGUE = re.compile(
    r"(?i)\b(?:(?P<span>(?:a few|some|several|many) (?:days|weeks|months|years)|a (?:long )?while)[ ](?:ago|back)"
    r"|(?:just )?the other (?:day|week|night|evening|morning))\b"
)
_SCENE = re.compile(
    r"(?i)(?:\A|(?<=[,!.] )|(?<=\A\w\w\w ))(?:last|yesterday|this (?:past )?(?:week|weekend|morning)|over)\b"
)
_SCENE_VERB = re.compile(
    r"(?i)[, ]+(?:(?:was|were|has been|'s been) (?:(?:so|really|very|quite|pretty|such|rather|just|a bit|an?) ){0,3}"
    r"(?!over\b|when\b|where\b|spent\b)[a-z]+(?:(?:,| and) [a-z]+)?|(?:i|we) had an? \w+(?: \w+)?)[ .!]*\Z"
)
_STAGED = frozenset(("at", "in", "during", "through", "from"))
_YEARLY = frozenset(
    ("birthday", "birthdays", "anniversary", "born", "every", "each", "yearly", "annually", "always", "usually")
)


def find_date_edits(sentence: str, said_ms: int, *, is_ahead: bool, recurs: bool = False) -> tuple[Edit, ...]:
    """What to put in place of the phrases of time in a sentence.

    Args:
        said_ms: when it was said; its day is counted in UTC.
        is_ahead: whether the sentence speaks of what is to come.
        recurs: whether it tells of a habit, where "in April" is the April of any year.
    """
    tokens = tokenize_question(sentence[:MAX_CHARS])
    try:
        now = datetime.fromtimestamp(said_ms / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return ()
    reading = TokenizedQuestion(tokens, now, time_vocabulary())
    recurs = recurs or any(token.text in _YEARLY for token in tokens)
    out: list[Edit] = []
    place = 0
    while place < len(tokens):
        hit = _read_hit(reading, place)
        if hit is None:
            place += 1
            continue
        place = max(hit.end, place + 1)
        edit = _edit_hit(reading, hit, is_ahead=is_ahead, recurs=recurs)
        if edit is not None:
            out.append(edit)
    return (*out, *_find_vague(sentence[:MAX_CHARS], now.date(), out))


def find_scene_date(sentence: str, said_ms: int) -> Edit | None:
    """The date that a sentence sets for what is told next: of "Last week was wild" the week.

    Returns:
        The place of its phrase with such words as "in the week of 24 July 2023"; None where the sentence does not open
        with a day that is over, or says more of it than how it was.
    """
    found = _SCENE.search(sentence)
    if found is None:
        return None
    scene = sentence[found.start() :]
    edit = next((one for one in find_date_edits(scene, said_ms, is_ahead=False) if one.start == 0), None)
    if edit is None or not _SCENE_VERB.match(scene[edit.end :]):
        return None
    linked = find_date_edits(f"It happened {scene[:1].lower()}{scene[1 : edit.end]}", said_ms, is_ahead=False)
    return Edit(found.start(), found.start() + edit.end, linked[0].text) if linked else None


def has_own_time(tokens: Sequence[Token]) -> bool:
    """Whether a clause says in any way when it was: "when I was ten", "at university", "back then", "at 19"."""
    lows = [token.low for token in tokens]
    own, stages, small = (talk_words().sets[name] for name in ("own_times", "life_stages", "english"))
    if not own.isdisjoint(lows) or not stages.isdisjoint(lows):
        return True
    for at, low in enumerate(lows[:-1]):
        behind = tokens[at + 1]
        is_bare = behind.is_word and not behind.is_capital and behind.low not in small
        if low in _STAGED and is_bare:  # "at work", "in hospital", "at 19"; "in the shed" and "in Leith" are places
            return True
    return False


def _find_vague(sentence: str, today: date, known: Sequence[Edit]) -> Iterator[Edit]:
    """What to put in place of a distance without a number: "a few weeks ago" is before the day on which it was said."""
    for match in _VAGUE.finditer(sentence):
        start, end = match.span()
        if not any(one.start < end and start < one.end for one in known):
            span = match["span"]
            lead = f"{span} before" if span else "shortly before"
            yield Edit(start, end, (lead[:1].upper() + lead[1:] if start == 0 else lead) + f" {_name_day(today)}")


def _read_hit(reading: TokenizedQuestion, place: int) -> TimeHit | None:
    token = reading.tokens[place]
    if token.kind in ("code", "dash", "quote", "mark") or (
        token.kind == "word" and token.text not in reading.words.starters
    ):
        return None
    try:
        hit = read_simple_phrase(reading, place)
        if hit is None and reading.word_at(place - 1) == "of" and reading.word_at(place - 2) in _SLICES:
            hit = read_this_unit(reading, place)
        hit = hit and replace(hit, start=place)
        is_meant = hit and (
            reading.word_at(place - 1) == "of" or _is_day_of_month(reading, hit) or is_time(reading, hit)
        )
        is_other = hit and (
            _counts_something(reading, hit) or _ends_range(reading, hit) or _counts_nights(reading, hit)
        )
        return hit if is_meant and not is_other else None
    except (OverflowError, ValueError):
        return None


def _is_day_of_month(reading: TokenizedQuestion, hit: TimeHit) -> bool:
    """Whether it is as in "on the fourth." at the end of what is said."""
    is_linked = reading.word_at(hit.start) == "the" and reading.word_at(hit.start - 1) in (
        "on",
        "by",
        "since",
        "until",
        "till",
    )
    return is_linked and hit.sort in ("nth", "nth word") and reading.kind_at(hit.end) in ("", "mark")


def _edit_hit(reading: TokenizedQuestion, hit: TimeHit, *, is_ahead: bool, recurs: bool) -> Edit | None:
    tokens = reading.tokens[hit.start : hit.end]
    names_year = any(len(token.text) == 4 and token.text.isdigit() for token in tokens)
    if names_year or hit.sort == "year" or tokens[-1].owns or (recurs and hit.loose is not None):
        return None
    before = reading.word_at(hit.start - 1)
    span = _choose_days(reading, hit, before, is_ahead=is_ahead)
    words_of_days = span and _name_days(span)
    if words_of_days is None or (hit.sort == "relative" and not hit.unit):
        return None
    link, words = words_of_days
    part = next((_PARTS[token.text] for token in (tokens[-1], tokens[0]) if token.text in _PARTS), "")
    if part and link == "on" and hit.sort != "relative":
        words = f"the {part} of {words}"
    start, end = tokens[0].start, tokens[-1].end
    if reading.word_at(hit.end) == "or" or before == "or":
        return None
    is_bare_month = hit.sort == "month" and len(tokens) == 1
    if is_bare_month and before not in _KEPT and before not in _MOVED:
        return None
    if before in _KEPT or reading.kind_at(hit.start - 1) == "dash":
        return Edit(start, end, words)
    if before in _ABOUT:  # "about five years ago" is "in about 2018"
        about_days = f"{before} {words}" if link == "on" else f"{link} {before} {words}"
        return Edit(reading.tokens[hit.start - 1].start, end, about_days)
    is_day_word = tokens[0].text in reading.words.days  # "where I volunteer at yesterday" keeps its "at"
    if before in _MOVED and hit.start > 0 and not is_day_word:
        start = reading.tokens[hit.start - 1].start
    behind = reading.word_at(hit.end)
    if (hit.start and before in ("do", "make", "manage", "book", "confirm", "take", "keep", "says", "said")) or (
        start in (0, tokens[0].start) and behind in ("is", "was", "'s", "works", "suits")
    ):
        return Edit(tokens[0].start, end, words)
    opening = link.capitalize() if start == 0 else link
    return Edit(start, end, f"{opening} {words}")


def _counts_something(reading: TokenizedQuestion, hit: TimeHit) -> bool:
    """Whether the number behind "week" counts what follows: "in the first week forty people came"."""
    is_spelled = reading.word_at(hit.start) == "week" and reading.tokens[hit.end - 1].text.isalpha()
    return is_spelled and hit.end - hit.start > 1 and reading.kind_at(hit.end) == "word"


def _counts_nights(reading: TokenizedQuestion, hit: TimeHit) -> bool:
    """Whether a number counts nights or mornings, as in "on the fourth night", and is no day of a month."""
    last = reading.tokens[hit.end - 1].text
    return hit.end - hit.start > 1 and last in _PARTS and reading.tokens[hit.end - 2].text in reading.words.ordinals


def _ends_range(reading: TokenizedQuestion, hit: TimeHit) -> bool:
    """Whether a day without its month stands before: "the twelfth to the nineteenth of June" stays as it is."""
    joint = hit.start - 1 - (reading.word_at(hit.start - 1) == "the")
    is_linked = reading.word_at(joint) in ("to", "till", "until")
    return is_linked and reading.word_at(joint - 1) in reading.words.ordinals


def _choose_days(reading: TokenizedQuestion, hit: TimeHit, before: str, *, is_ahead: bool) -> DaySpan | None:
    if hit.loose is None:
        return hit.span
    today = reading.today
    if before in _FORWARD or (is_ahead and before != "since"):
        day = today + timedelta(days=hit.loose.sort == "weekday")
        return first_occurrence_from(hit.loose, day)
    if hit.loose.sort == "month":
        return latest_occurrence(hit.loose, today) if before == "since" else latest_over(hit.loose, today) or hit.span
    return latest_occurrence(hit.loose, today)


def _name_days(span: DaySpan) -> tuple[str, str] | None:
    """The preposition and the words of some days; None for a span that has no name."""
    first, last = span
    if first == last:
        return "on", _name_day(first)
    if first.day == 1 and (last + timedelta(days=1)).day == 1:
        if (first.month, last.month) == (1, 12) and first.year == last.year:
            return "in", str(first.year)
        if (first.year, first.month) == (last.year, last.month):
            return "in", f"{_MONTHS[first.month - 1]} {first.year}"
        return None
    if first.weekday() == 0 and (last - first).days == 6:
        return "in", f"the week of {_name_day(first)}"
    if first.weekday() == 5 and (last - first).days == 1:
        return "on", f"the weekend of {_name_day(first)}"
    return None


def _name_day(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"
