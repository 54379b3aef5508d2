"""Dates in a sentence, and phrases that say from when and until when something holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from core.belief.extract.vocabulary import word_lists
from core.text.times import parse_time
from core.types.values import When

_MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december|"
    "jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec"
)
_DAYS = "(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tue|wed|thu|fri|sat|sun"
_CLOCK = (
    r"(?:,?[ ](?:at[ ])?(?:\d{1,2}(?::\d{2})?[ ]?(?:am|pm)|\d{1,2}:\d{2}|noon|midnight|midday|close[ ]of[ ]business))"
)
_DATE = re.compile(
    rf"""(?<![\w.])(?:
      (?P<iso>\d{{4}}-\d\d(?:-\d\d)?)
    | (?:(?:{_DAYS}),?[ ]{{1,2}})?(?:the[ ])?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[ ](?:of[ ])?(?P<month>{_MONTHS})\b\.?
        (?:,?[ ](?P<year>\d{{4}})\b)?
    | (?:(?:{_DAYS}),?[ ]{{1,2}})?(?P<month2>{_MONTHS})\b\.?[ ](?:the[ ])?(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?(?![\w:])
        (?:,?[ ](?P<year2>\d{{4}})\b)?
    | (?P<month3>{_MONTHS})\b\.?,?[ ](?:of[ ])?(?P<year3>\d{{4}})\b
    | (?P<dotted>\d{{1,2}}[./]\d{{1,2}}[./](?:\d{{4}}|\d\d))
    | (?:(?:the[ ])?(?:end|start|beginning|middle|autumn|spring|summer|winter|fall)[ ](?:of[ ])?|early[ ]|late[ ]|mid-?)
        (?:(?P<month4>{_MONTHS})\b[ ]?)?(?P<year4>(?:19|20)\d\d)\b
    | (?P<year5>(?:19|20)\d\d)(?![\w:-]|,\d|\.\d|[ ](?:euro|pound|dollar|word|page|people|mg|km|m\b))
    | (?P<loose>
        (?:the[ ])?(?:end|close|start|beginning|middle)[ ]of[ ](?:the[ ]|next[ ]|this[ ]|play[ ])?
           (?:{_MONTHS}|week|month|quarter|year|business|day|q[1-4])\b
      | (?:next|this|coming)[ ](?:{_DAYS}|week|month|quarter|year|spring|summer|autumn|winter)\b
      | q[1-4](?:[ ]\d{{4}})?\b | tomorrow(?:[ ](?:morning|evening|night|noon))? | tonight | today | noon | midnight
      | christmas(?:[ ]eve)? | easter | eod | cob
      | (?:the[ ])?\d{{1,2}}(?:st|nd|rd|th)\b(?![ ]\w+[ ](?:floor|century))
      | (?:{_DAYS})\b(?:[ ](?:the[ ])?\d{{1,2}}(?:st|nd|rd|th))?(?:[ ](?:morning|evening|night|noon|afternoon|week))?
      | (?:mid|early|late)[ -](?:{_MONTHS})\b
      | (?:{_MONTHS})\b(?![ ]?\w*['’])
      | \d{{1,2}}(?::\d{{2}})?[ ]?(?:am|pm)\b(?:[ ]on[ ](?:the[ ])?(?:{_DAYS}))?
      )
    ){_CLOCK}?""",
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A date as written.

    Attributes:
        start: where it begins in the text; `end` is exclusive.
        iso: the date as far as it is told, `YYYY`, `YYYY-MM` or `YYYY-MM-DD`; "" without a year.
        month: its month, 1 to 12, if it has one; 0 otherwise.
        loose: whether it is told only by its place in a week, a month or a year.
    """

    start: int
    end: int
    iso: str
    month: int = 0
    loose: bool = False


@dataclass(frozen=True, slots=True)
class ValidityPhrase:
    """A phrase that tells when something holds.

    Attributes:
        start: where it begins in the text; `end` is exclusive.
        since: from when, or "".
        until: until when, or "".
        at: when, for "in 2019": what it bounds depends on what happened then.
        again: whether it points back ("since then").
    """

    start: int
    end: int
    since: str = ""
    until: str = ""
    at: str = ""
    again: bool = False


def find_written_dates(text: str, start: int, end: int) -> tuple[WrittenDate, ...]:
    """The dates of a sentence, in their order."""
    found: list[WrittenDate] = []
    for match in _DATE.finditer(text, start, end):
        if not _wanted(match):
            continue
        one = _dated(match)
        # "midnight on 3 May" is one date
        if (
            found
            and found[-1].loose
            and not found[-1].month
            and text[found[-1].end : one.start] in (" on ", " on the ")
        ):
            one = WrittenDate(found[-1].start, one.end, one.iso, one.month, one.loose)
            found.pop()
        found.append(one)
    return tuple(found)


def _wanted(match: re.Match[str]) -> bool:
    loose = (match["loose"] or "").strip()
    # "may", "march" and "sat" are dates only with a capital; "mar" and "sun" hardly ever.
    if loose.lower() in word_lists().sets["wanted"]:
        return loose[:1].isupper() and loose.lower() in ("may", "march")
    return True


def _dated(match: re.Match[str]) -> WrittenDate:
    for month, day, year in (("month", "day", "year"), ("month2", "day2", "year2"), ("month3", "", "year3")):
        if match[month]:
            return _to_written_date(match, match[month], match[day] if day else "", match[year])
    if match["iso"]:
        return WrittenDate(*match.span(), iso=match["iso"])
    if match["year4"]:
        return _to_written_date(match, match["month4"], "", match["year4"])
    if match["dotted"]:
        first, second, year = re.split(r"[./]", match["dotted"])
        fits = len(year) == 4 and int(second) <= 12
        return WrittenDate(*match.span(), iso=f"{year}-{int(second):02d}-{int(first):02d}" if fits else "")
    if match["year5"]:
        return WrittenDate(*match.span(), iso=match["year5"])
    return WrittenDate(*match.span(), iso="", month=_month(match["loose"]), loose=True)


def _to_written_date(match: re.Match[str], month: str | None, day: str | None, year: str | None) -> WrittenDate:
    number = _month(month or "")
    iso = year or ""
    if year and number:
        iso += f"-{number:02d}" + (f"-{int(day):02d}" if day else "")
    return WrittenDate(*match.span(), iso=iso, month=number)


def _month(written: str) -> int:
    low = written.lower()[:3]
    return next((n for n, name in enumerate(word_lists().lists["months"], 1) if low and name.startswith(low)), 0)


_LEAD = re.compile(
    r"(?:(?:ever )?since(?: about| around| early| late)?|as of|as from|from|starting(?: in| from| on)?|"
    r"effective(?: from)?|between|"
    r"until|till|up to|up until|through|back in|in|on|at|during|around|by) $",
    re.IGNORECASE,
)
_JOIN = re.compile(r"\s?(?:to|until|till|through|up to|and|-|–|—)\s?", re.IGNORECASE)
_THEN = re.compile(r"\b(?:ever since|since then|since)(?=\s*(?:[.,;!)]|$))", re.IGNORECASE)


def find_validity_phrases(
    text: str, start: int, end: int, found: tuple[WrittenDate, ...], said_ms: int | None
) -> tuple[ValidityPhrase, ...]:
    """The phrases of time of a sentence.

    Args:
        text: the whole text.
        start: where the sentence begins; `end` is exclusive.
        end: where it ends.
        found: its dates.
        said_ms: when it was said, epoch ms; tells the year of "since March". None where unknown.

    Returns:
        Phrases in their order; a date that nothing leads in is none.
    """
    out: list[ValidityPhrase] = []
    used = -1
    for place, dated in enumerate(found):
        if place <= used:
            continue
        lead = _LEAD.search(text, max(start, dated.start - 24), dated.start)
        word = lead.group().strip().lower() if lead else ""
        begin = lead.start() if lead else dated.start
        if lead and begin > start and text[begin - 1].isalnum():
            word, begin = "", dated.start
        after = found[place + 1] if place + 1 < len(found) else None
        if after and dated.iso and after.iso and _JOIN.fullmatch(text, dated.end, after.start):
            out.append(ValidityPhrase(begin, after.end, since=dated.iso, until=after.iso))
            used = place + 1
        else:
            out += _single(word, begin, dated, said_ms)
    out += [ValidityPhrase(*match.span(), again=True) for match in _THEN.finditer(text, start, end)]
    return tuple(sorted(out, key=lambda one: one.start))


def _single(word: str, begin: int, dated: WrittenDate, said_ms: int | None) -> list[ValidityPhrase]:
    iso = dated.iso or _latest(dated.month if dated.loose else 0, word, said_ms)
    first = word.split(" ")[0] if word else ""
    if first in word_lists().sets["from"] or word.startswith(("as of", "as from", "ever")):
        return [ValidityPhrase(begin, dated.end, since=iso)]
    if first in word_lists().sets["until"] or word.startswith("up"):
        return [ValidityPhrase(begin, dated.end, until=iso)]
    if word in ("in", "back in", "at", "on", "during", "around") and dated.iso:
        return [ValidityPhrase(begin, dated.end, at=iso)]
    return []


def _latest(month: int, word: str, said_ms: int | None) -> str:
    """The last March before it was said, for "since March"."""
    if not month or said_ms is None or not word.startswith(("since", "ever")):
        return ""
    try:
        said = datetime.fromtimestamp(said_ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return ""
    return f"{said.year if month <= said.month else said.year - 1}-{month:02d}"


def to_when(iso: str) -> When | None:
    """A date as far as it is told, as a moment."""
    return parse_time(iso) if iso else None
