"""The search syntax of the library: words, "phrases", -negation and key:value filters, read and written.

Nothing is guessed: what cannot be read is a term of its own with a sentence that says why (`Search.problems`), and
stays in the text where it was. All dates are days, months and years in UTC. `resources/help/search.json` documents
each key in place. Must not do: look anything up, or raise at what somebody typed.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime

from core.text.terms import query_terms
from core.types.values import Kind, SecurityTier, Source, Status

WORD, PHRASE, UNREAD = "word", "phrase", "unread"
"""Keys of terms that are no filters; `UNREAD` is what could not be read."""

WORDS_OF = {
    "kind": tuple(kind.value for kind in Kind),
    "status": (*(status.value for status in Status), "all"),
    "source": tuple(source.value for source in Source),
    "tier": tuple(tier.value for tier in SecurityTier),
    "is": ("pinned", "edited", "split", "placed", "smalltalk"),
    "has": ("time", "conversation", "claims"),
}
"""Filters with a closed list of values."""
NAMED = ("space", "client", "tag", "category", "author", "room", "import", "conversation", "change")
"""Filters whose value is a name."""
NUMBERS = ("trust", "importance", "strength", "confidence")
"""Filters whose value is a range of numbers from 0 to 1."""
DATES = ("before", "after", "on", "recorded")
"""Filters whose value is a date; `on` and `recorded` take a range too."""
KEYS = (*WORDS_OF, *NAMED, *NUMBERS, *DATES)

_MAX_WORD = 200
_SURROGATE = re.compile("[\ud800-\udfff]")
_QUOTED = re.compile(r'"((?:\\.|[^"\\])*)"', re.DOTALL)
_KEY = re.compile(r"([A-Za-z]+):(?!//)")
_BARE = re.compile(r"\S+")
_AROUND = re.compile(r"""^[(\[{“‘«„'"]+|[.,;:!?…)\]}”’»'"]+$""")
_AFTER = re.compile(r"[.,;:!?…)\]}”’»]+(?=\s|$)")
_BARE_VALUE = re.compile(r"[^\s,]+")
_BOUND = re.compile(r"(<=|>=|<|>)(\d+(?:\.\d+)?|\.\d+)", re.ASCII)
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", re.ASCII)

_OPEN_QUOTE = "A quotation mark is missing at the end."
_NO_FILTER = "There is no such filter; put it in quotation marks to search for it as it stands."
_NO_VALUE = "This filter needs a value after the colon, without a gap."
_NO_WORD = "There is no letter or digit in it; put it in quotation marks to search for it as it stands."
_LONG_WORD = "This word is too long; put it in quotation marks to search for it as it stands."
_EMPTY_PHRASE = "There is nothing between the quotation marks."
_BROKEN = "It holds half of a character and cannot be searched for."
_NUMBER = "Write a number from 0 to 1 as >0.7, <0.5 or 0.5..0.9."
_WHEN = "Write a date as 2026, 2026-03 or 2026-03-31."
_PERIOD = "Write a date as 2026, 2026-03 or 2026-03-31, or two of them as 2026-01..2026-03."
_ALL_OR_NONE = "Every memory has a status: leave this out or name the status."


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """Something that could not be read.

    Attributes:
        start: place of its first character in the text; `end` is behind its last.
        sentence: why, and what to write; never what was typed.
    """

    start: int
    end: int
    sentence: str


@dataclass(frozen=True, slots=True)
class SearchTerm:
    """One condition; all terms of a search must hold.

    Attributes:
        key: a word of `KEYS`, or `WORD`, `PHRASE` or `UNREAD`.
        values: any of them may hold; one only for words, phrases and what is unread (as it was typed).
        negated: the condition must not hold.
        problem: why it could not be read; empty where it could.
        start: place of its first character in the text; `end` is behind its last.
    """

    key: str
    values: tuple[str, ...]
    negated: bool = False
    problem: str = ""
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ParsedSearch:
    """A search as it was understood.

    Attributes:
        terms: the conditions in the order in which they were typed.
    """

    terms: tuple[SearchTerm, ...] = ()

    @property
    def problems(self) -> tuple[SyntaxProblem, ...]:
        """What could not be read; empty where all could."""
        return tuple(SyntaxProblem(term.start, term.end, term.problem) for term in self.terms if term.key == UNREAD)

    @property
    def has_status(self) -> bool:
        """Whether it speaks of the status; else active and disputed memories are meant."""
        return any(term.key == "status" for term in self.terms)


@dataclass(frozen=True, slots=True)
class NumberRange:
    """A range of numbers.

    Attributes:
        low: 0 to 1; None for no lower end. `high` likewise.
        with_low: whether the end itself is inside; `with_high` likewise.
    """

    low: float | None = None
    high: float | None = None
    with_low: bool = True
    with_high: bool = True


@dataclass(frozen=True, slots=True)
class DateRange:
    """A stretch of time.

    Attributes:
        from_ms: epoch ms, inside; None for no beginning.
        until_ms: epoch ms, outside; None for no end.
    """

    from_ms: int | None = None
    until_ms: int | None = None


def parse_search(text: str) -> ParsedSearch:
    """Read a search.

    Args:
        text: whatever was typed.

    Returns:
        Its terms; `problems` says what could not be read.
    """
    terms: list[SearchTerm] = []
    at = 0
    while (start := _skip_space(text, at)) < len(text):
        mark = _AFTER.match(text, start) if start == at and terms else None
        if mark is not None:  # a comma behind a phrase belongs to the sentence around it
            at = mark.end()
            continue
        term, at = _read_term(text, start)
        terms.append(term)
    return ParsedSearch(tuple(terms))


def format_search(search: ParsedSearch) -> str:
    """Write a search down.

    Args:
        search: from `parse_search`.

    Returns:
        A text that reads as the same search: one blank between terms, quotation marks only where needed.
    """
    return " ".join(_format_term(term) for term in search.terms)


def with_term(search: ParsedSearch, key: str, value: str, *, negated: bool = False) -> ParsedSearch:
    """Add a condition, as a filter chip does.

    A further value of a list or a name joins the term of its key with "or"; a number or date replaces the one that
    stands; flags, words and phrases are added.

    Args:
        key: a word of `KEYS`, or `WORD` or `PHRASE`.
        value: one value, as it would be typed without quotation marks.
        negated: whether the condition must not hold.

    Returns:
        The new search, its terms placed in the text that `format_search` gives.
    """
    new = SearchTerm(key, (value,), negated)
    terms = list(search.terms)
    same = [place for place, term in enumerate(terms) if term.key == key and term.negated == negated]
    if new in terms or any(value in terms[place].values for place in same):
        return _place_terms(terms)
    if same and key in (*NUMBERS, *DATES):
        terms[same[0]] = new
    elif same and not negated and key in ("kind", "status", "source", *NAMED):
        terms[same[0]] = SearchTerm(key, (*terms[same[0]].values, value), negated)
    else:
        terms.append(new)
    return _place_terms(terms)


def without_term(search: ParsedSearch, term: SearchTerm, value: str | None = None) -> ParsedSearch:
    """Take a condition away, as closing a filter chip does.

    Args:
        value: only this value of it; None for the whole term.

    Returns:
        The new search, its terms placed in the text that `format_search` gives.
    """
    terms = list(search.terms)
    exact = [place for place, one in enumerate(terms) if one == term and one.start == term.start]
    places = exact or [place for place, one in enumerate(terms) if one == term]
    if places:
        left = tuple(one for one in term.values if value is not None and one != value)
        terms[places[0] : places[0] + 1] = [SearchTerm(term.key, left, term.negated)] if left else []
    return _place_terms(terms)


def number_range(value: str) -> NumberRange | None:
    """The range that a value of `NUMBERS` means.

    Args:
        value: `>0.7`, `>=0.7`, `<0.5`, `<=0.5`, `0.5..0.9`, `0.5..` or `..0.9`; both ends of `..` are inside.

    Returns:
        The range; None where the value cannot be read.
    """
    if match := _BOUND.fullmatch(value):
        number = _parse_number(match[2])
        if number is None:
            return None
        inside = match[1].endswith("=")
        return (
            NumberRange(low=number, with_low=inside)
            if match[1][0] == ">"
            else NumberRange(high=number, with_high=inside)
        )
    begin, mark, end = value.partition("..")
    low, high = _parse_number(begin), _parse_number(end)
    if not mark or (begin and low is None) or (end and high is None) or (low is None and high is None):
        return None
    return NumberRange(low, high) if low is None or high is None or low <= high else None


def date_range(key: str, value: str) -> DateRange | None:
    """The time that a value of `DATES` means, in UTC.

    Args:
        key: `before` (until the date begins), `after` (from when it has ended), `on` or `recorded` (within it).
        value: a year, a month or a day; for `on` and `recorded` also `a..b`, `a..` or `..b`, both ends inside.

    Returns:
        The time; None where the value cannot be read.
    """
    begin, mark, end = value.partition("..")
    first, last = _parse_date(begin), _parse_date(end) if mark else _parse_date(begin)
    if key in ("before", "after"):
        if mark or first is None:
            return None
        return DateRange(until_ms=first[0]) if key == "before" else DateRange(from_ms=first[1])
    if (begin and first is None) or (end and last is None) or (first is None and last is None):
        return None
    from_ms, until_ms = None if first is None else first[0], None if last is None else last[1]
    return DateRange(from_ms, until_ms) if from_ms is None or until_ms is None or from_ms < until_ms else None


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _read_term(text: str, start: int) -> tuple[SearchTerm, int]:
    """One term, and where the next may begin."""
    negated = text[start] == "-"
    at = start + negated
    if text[at : at + 1] == '"':
        key, values, problem, end = _read_phrase(text, at)
    elif match := _KEY.match(text, at):
        key, values, problem, end = _read_filter(text, match[1].lower(), match.end(), negated=negated)
    else:
        key, values, problem, end = _read_search_word(text, at)
    if not problem and _SURROGATE.search(text, start, end):
        problem = _BROKEN
    if problem:
        return SearchTerm(UNREAD, (text[start:end],), problem=problem, start=start, end=end), end
    return SearchTerm(key, values, negated, start=start, end=end), end


_Read = tuple[str, tuple[str, ...], str, int]  # key, values, problem, end


def _read_phrase(text: str, at: int) -> _Read:
    match = _QUOTED.match(text, at)
    if match is None:
        return PHRASE, (), _OPEN_QUOTE, len(text)
    return PHRASE, (_unescape_quoted(match[1]),), "" if match[1] else _EMPTY_PHRASE, match.end()


def _read_search_word(text: str, at: int) -> _Read:
    match = _BARE.match(text, at)
    word = "" if match is None else match.group()
    problem = ""
    if len(word) > _MAX_WORD:
        problem = _LONG_WORD
    elif not query_terms(word):
        problem = _NO_WORD
    return WORD, (word if problem else _strip_marks(word),), problem, at + len(word)


def _strip_marks(word: str) -> str:
    """A word without the punctuation round it; as it is where the rest would be read as something else."""
    bare = _AROUND.sub("", word)
    return word if not bare or bare[0] in '-"' or _KEY.match(bare) else bare


def _read_filter(text: str, key: str, at: int, *, negated: bool) -> _Read:
    values: list[str] = []
    problem = "" if key in KEYS else _NO_FILTER
    while True:
        value, at, closed = _read_filter_value(text, at)
        if not closed:
            return key, (), _OPEN_QUOTE, len(text)
        values.append(value)
        if text[at : at + 1] != ",":
            break
        at += 1
    rest = _BARE.match(text, at)
    if rest is not None:  # a quotation mark that ends before the word does
        return key, (), problem or _NO_VALUE, rest.end()
    if not problem and not all(values):
        problem = _NO_VALUE
    if key in WORDS_OF:
        values = [value.lower() for value in values]
    return key, tuple(values), problem or _find_problem(key, values, negated=negated), at


def _read_filter_value(text: str, at: int) -> tuple[str, int, bool]:
    """One value of a filter, where it ends, and whether its quotation marks are closed."""
    if text[at : at + 1] == '"':
        match = _QUOTED.match(text, at)
        return ("", at, False) if match is None else (_unescape_quoted(match[1]), match.end(), True)
    match = _BARE_VALUE.match(text, at)
    return ("", at, True) if match is None else (match.group(), match.end(), True)


def _find_problem(key: str, values: list[str], *, negated: bool) -> str:
    """Why values cannot be those of a filter; empty where they can."""
    if key in WORDS_OF:
        if not set(values) <= set(WORDS_OF[key]):
            return f"After {key}: comes one of {', '.join(WORDS_OF[key])}."
        return _ALL_OR_NONE if negated and "all" in values else ""
    if key in NUMBERS:
        return "" if all(number_range(value) is not None for value in values) else _NUMBER
    if key in DATES and any(date_range(key, value) is None for value in values):
        return _WHEN if key in ("before", "after") else _PERIOD
    return ""


def _unescape_quoted(quoted: str) -> str:
    return re.sub(r"\\([\"\\])", r"\1", quoted)


def _quote_value(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _format_term(term: SearchTerm) -> str:
    if term.key == UNREAD:
        return term.values[0]
    sign = "-" if term.negated else ""
    if term.key == WORD:
        return sign + term.values[0]
    if term.key == PHRASE:
        return sign + _quote_value(term.values[0])
    plain = (
        value if _BARE_VALUE.fullmatch(value) and value[0] != '"' else _quote_value(value) for value in term.values
    )
    return f"{sign}{term.key}:{','.join(plain)}"


def _place_terms(terms: list[SearchTerm]) -> ParsedSearch:
    return parse_search(format_search(ParsedSearch(tuple(terms))))


def _parse_number(text: str) -> float | None:
    if not re.fullmatch(r"\d+(?:\.\d+)?|\.\d+", text, re.ASCII):
        return None
    number = float(text)
    return number if math.isfinite(number) and number <= 1 else None


def _parse_date(text: str) -> tuple[int, int] | None:
    """When a year, a month or a day begins and ends, epoch ms."""
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    year, month, day = int(match[1]), int(match[2] or 1), int(match[3] or 1)
    try:
        begin = datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None
    return _to_ms(begin), _end_of_period(begin, match)


def _end_of_period(begin: datetime, match: re.Match[str]) -> int:
    if match[3]:
        return _to_ms(begin) + 86_400_000
    years, month = (begin.year, begin.month + 1) if match[2] else (begin.year + 1, 1)
    years, month = (years + 1, 1) if month > 12 else (years, month)
    if years > 9999:
        return _to_ms(datetime(9999, 12, 31, tzinfo=UTC)) + 86_400_000
    return _to_ms(datetime(years, month, 1, tzinfo=UTC))


def _to_ms(moment: datetime) -> int:
    return int(moment.timestamp()) * 1000
