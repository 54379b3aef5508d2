"""When something holds, and how long it goes on being true: dates, phrases of time, and the permanence of a memory.

Seed B lets whoever stores a fact choose its permanence; where nobody does, `resources/lifecycle/permanence.json` says
what a person would expect of such a claim. In doubt it is `standard`. Pure. Must not do: say how fast a level falls
(`core.score.decay` does), or read a claim.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files

from core.belief.extract.sentence import word_lists
from core.score.decay import RATES, STANDARD, check_permanence
from core.text.sentences import split_sentences
from core.text.terms import fold_width
from core.text.times import parse_time
from core.types.belief import ClaimDraft
from core.types.values import Kind, When

LEVELS: tuple[str, ...] = tuple(sorted(RATES, key=lambda name: RATES[name]))
"""The five levels, the longest-lasting first."""
_STABLE = "stable"
_JUDGED = frozenset({Kind.FACT, Kind.RULE, Kind.PROCEDURE})
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_GAP = "..."
_SAYS_LITTLE = 2
"""A sentence of so many words ("Hello!") says nothing that could last, and stands in no other's way."""
_Run = tuple[frozenset[str], ...]
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
_LEAD = re.compile(
    r"(?:(?:ever )?since(?: about| around| early| late)?|as of|as from|from|starting(?: in| from| on)?|"
    r"effective(?: from)?|between|"
    r"until|till|up to|up until|through|back in|in|on|at|during|around|by) $",
    re.IGNORECASE,
)
_JOIN = re.compile(r"\s?(?:to|until|till|through|up to|and|-|–|—)\s?", re.IGNORECASE)
_THEN = re.compile(r"\b(?:ever since|since then|since)(?=\s*(?:[.,;!)]|$))", re.IGNORECASE)


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


def classify_permanence(text: str, claims: Sequence[ClaimDraft], kind: Kind) -> str:
    """The level at which a text is stored (seed B, permanence-to-decay-rate mapping).

    A sentence is as lasting as the longest-lasting claim in it; one without a claim as its cues, if they agree. The
    memory is as lasting as its longest-lasting sentence, if each of them has a level.

    Args:
        claims: what was read from it, or came with it; their spans lie in it.
        kind: the memory's kind.

    Returns:
        One of `LEVELS`; `standard` for what is no fact, rule or procedure, and in doubt.
    """
    if kind not in _JUDGED:
        return STANDARD
    spans = split_sentences(text)
    phrases = [
        (place, level)
        for claim in claims
        if (level := claim_permanence(claim)) and (place := _sentence_of_claim(text, claim, spans))
    ]
    found: list[str] = []
    for span in spans:
        levels = [level for place, level in phrases if place == span]
        words = _WORD.findall(fold_width(text[slice(*span)]).casefold())
        level = (
            _longest(levels)
            if levels
            else _permanence_by_cues(words, is_asked=text[slice(*span)].rstrip().endswith("?"))
        )
        if level is not None:
            found.append(level)
        elif len(words) > _SAYS_LITTLE:
            return STANDARD
    return _longest(found) if found else STANDARD


def longest_permanence(levels: Sequence[str]) -> str:
    """The longest-lasting of some levels, as when memories are united.

    Args:
        levels: one or more of `LEVELS`.

    Raises:
        UserError: INVALID_INPUT for an unknown level.
    """
    return _longest([check_permanence(level) for level in levels])


def reconcile_permanence(given: str, read: str) -> str:
    """What comes of a level that a model gave: it may be one level off what the rules read, no further.

    `standard` is no opinion, of the model as of the rules; where the rules have none the model may say that something
    passes, and at most that it is `stable`.

    Args:
        given: the model's.
        read: from `classify_permanence`.

    Returns:
        One of the two.

    Raises:
        UserError: INVALID_INPUT for an unknown level.
    """
    longer = LEVELS.index(check_permanence(read)) - LEVELS.index(check_permanence(given))
    if given == STANDARD or longer > 1:
        return read
    return given if read == STANDARD or longer >= -1 else read


def claim_permanence(claim: ClaimDraft) -> str | None:
    """The level of a claim; that something is not so is never surer than `stable`: a first child may be born.

    Args:
        claim: what was read.

    Returns:
        One of `LEVELS`; None where its predicate says nothing of it.
    """
    level = _load_table().predicates.get(claim.predicate)
    if level is None or claim.polarity == "positive":
        return level
    return LEVELS[max(LEVELS.index(level), LEVELS.index(_STABLE))]


def find_written_dates(text: str, start: int, end: int) -> tuple[WrittenDate, ...]:
    """The dates of a sentence, in their order."""
    found: list[WrittenDate] = []
    for match in _DATE.finditer(text, start, end):
        if not _is_date_match(match):
            continue
        one = _read_date_match(match)
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


def find_validity_phrases(
    text: str, start: int, end: int, found: tuple[WrittenDate, ...], said_ms: int | None
) -> tuple[ValidityPhrase, ...]:
    """The phrases of time of a sentence.

    Args:
        start: where the sentence begins; `end` is exclusive.
        end: where it ends.
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
            out += _read_single_date(word, begin, dated, said_ms)
    out += [ValidityPhrase(*match.span(), again=True) for match in _THEN.finditer(text, start, end)]
    return tuple(sorted(out, key=lambda one: one.start))


def to_when(iso: str) -> When | None:
    """A date as far as it is told, as a moment."""
    return parse_time(iso) if iso else None


@dataclass(frozen=True, slots=True)
class _Table:
    """What the resource holds.

    Attributes:
        predicates: predicate to level.
        cues: runs of words, one after the other in a sentence; the words any of which each place has; their level.
    """

    predicates: Mapping[str, str]
    cues: tuple[tuple[tuple[_Run, ...], _Run, str], ...]


@cache
def _load_table() -> _Table:
    loaded = json.loads((files("resources") / "lifecycle" / "permanence.json").read_text("utf-8"))
    cues = [
        (runs := _split_cue(cue), tuple(part for run in runs for part in run), check_permanence(level))
        for level, found in loaded["cues"].items()
        for cue in found
    ]
    return _Table({name: check_permanence(level) for name, level in loaded["predicates"].items()}, tuple(cues))


def _split_cue(cue: str) -> tuple[_Run, ...]:
    return tuple(tuple(frozenset(word.split("|")) for word in run.split()) for run in cue.split(_GAP))


def _sentence_of_claim(text: str, claim: ClaimDraft, spans: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The sentence that tells a claim: where its value stands, else the one that its evidence lies in."""
    at = text.find(claim.value, claim.start, claim.end) if claim.value else -1
    begin, end = (at, at + 1) if at >= 0 else (claim.start, claim.end)
    return next((span for span in spans if span[0] <= begin and end <= span[1]), None)


def _longest(levels: Sequence[str]) -> str:
    return min(levels, key=RATES.__getitem__)


def _permanence_by_cues(words: Sequence[str], *, is_asked: bool) -> str | None:
    """What the cues of a sentence say; None without any, for a question, and where they disagree."""
    if is_asked:
        return None
    present = frozenset(words)
    found = [
        level
        for runs, parts, level in _load_table().cues
        if not any(part.isdisjoint(present) for part in parts) and _are_in_order(words, runs)
    ]
    if not found or len({RATES[level] < RATES[STANDARD] for level in found}) > 1:
        return None
    return _longest(found)


def _are_in_order(words: Sequence[str], runs: Sequence[_Run]) -> bool:
    """Whether runs of words stand in a sentence one after the other."""
    after = 0
    for run in runs:
        place = next(_find_run(words, run, after), None)
        if place is None:
            return False
        after = place + len(run)
    return True


def _find_run(words: Sequence[str], run: _Run, start: int) -> Iterator[int]:
    for at in range(start, len(words) - len(run) + 1):
        if all(words[at + n] in part for n, part in enumerate(run)):
            yield at


def _is_date_match(match: re.Match[str]) -> bool:
    loose = (match["loose"] or "").strip()
    # "may", "march" and "sat" are dates only with a capital; "mar" and "sun" hardly ever.
    if loose.lower() in word_lists().sets["wanted"]:
        return loose[:1].isupper() and loose.lower() in ("may", "march")
    return True


def _read_date_match(match: re.Match[str]) -> WrittenDate:
    for month, day, year in (("month", "day", "year"), ("month2", "day2", "year2"), ("month3", "", "year3")):
        if match[month]:
            return _make_written_date(match, match[month], match[day] if day else "", match[year])
    if match["iso"]:
        return WrittenDate(*match.span(), iso=match["iso"])
    if match["year4"]:
        return _make_written_date(match, match["month4"], "", match["year4"])
    if match["dotted"]:
        first, second, year = re.split(r"[./]", match["dotted"])
        fits = len(year) == 4 and int(second) <= 12
        return WrittenDate(*match.span(), iso=f"{year}-{int(second):02d}-{int(first):02d}" if fits else "")
    if match["year5"]:
        return WrittenDate(*match.span(), iso=match["year5"])
    return WrittenDate(*match.span(), iso="", month=_month_number(match["loose"]), loose=True)


def _make_written_date(match: re.Match[str], month: str | None, day: str | None, year: str | None) -> WrittenDate:
    number = _month_number(month or "")
    iso = year or ""
    if year and number:
        iso += f"-{number:02d}" + (f"-{int(day):02d}" if day else "")
    return WrittenDate(*match.span(), iso=iso, month=number)


def _month_number(written: str) -> int:
    low = written.lower()[:3]
    return next((n for n, name in enumerate(word_lists().lists["months"], 1) if low and name.startswith(low)), 0)


def _read_single_date(word: str, begin: int, dated: WrittenDate, said_ms: int | None) -> list[ValidityPhrase]:
    iso = dated.iso or _latest_month(dated.month if dated.loose else 0, word, said_ms)
    first = word.split(" ")[0] if word else ""
    if first in word_lists().sets["from"] or word.startswith(("as of", "as from", "ever")):
        return [ValidityPhrase(begin, dated.end, since=iso)]
    if first in word_lists().sets["until"] or word.startswith("up"):
        return [ValidityPhrase(begin, dated.end, until=iso)]
    if word in ("in", "back in", "at", "on", "during", "around") and dated.iso:
        return [ValidityPhrase(begin, dated.end, at=iso)]
    return []


def _latest_month(month: int, word: str, said_ms: int | None) -> str:
    """The last March before it was said, for "since March"."""
    if not month or said_ms is None or not word.startswith(("since", "ever")):
        return ""
    try:
        stated_at = datetime.fromtimestamp(said_ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return ""
    return f"{stated_at.year if month <= stated_at.month else stated_at.year - 1}-{month:02d}"
