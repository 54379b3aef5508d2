"""Names and identifiers in a question: what is written with capitals or in quotation marks, and what looks like code.

Must not do: know a vault; other names come from the caller's `known`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from core.text.fold import fold_case, fold_width
from core.text.stopwords import stop_words
from core.text.timephrases.tokens import time_vocabulary

Known = Callable[[str], tuple[str, ...]]
"""Gives other names of the entity that a folded name stands for; empty where there is none."""

MOST = 16
"""Names, and identifiers, that are taken from one question at most."""
MOST_ASKED = 64
"""Runs of words that `known` is asked about at most."""
RUN_WORDS = 3
_IDENTIFIER = re.compile(
    r"""
      (?P<url>(?:https?|ftp|file|git|ssh)://[^\s<>")\]]+)
    | (?P<email>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)
    | (?P<path>(?<![\w/])(?:~|\.{1,2}|[A-Za-z]:)?(?:[/\\][\w.@+-]+)+[/\\]?|(?<![\w/])[\w.@+-]+(?:[/\\][\w.@+-]+)+\.\w+)
    | (?P<code>(?<!\w)(?:[\w-]+\(\)|[\w-]*_[\w-]+|[a-z]+(?:[A-Z][a-z0-9]+)+|--?[a-z][\w-]+(?==|\s|$))(?!\w))
    | (?P<dotted>(?<![\w.])[A-Za-z_][\w-]*(?:(?:\.|::|\#)[\w-]+)+)
    | (?P<version>(?<![\w.])v?\d+(?:\.\d+)+(?:-[\w.]+)?(?![\w]))
    | (?P<mixed>(?<![\w.])(?=[\w-]*\d)(?=[\w-]*[^\W\d_])[\w]+(?:-[\w]+)*(?!\w))
    | (?P<number>(?<![\w.,])\#?\d{2,}(?:[ .-]\d{2,})*(?!\w))
    """,
    re.VERBOSE,
)
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)|'?\d+s", re.IGNORECASE)
_QUOTED = re.compile(
    r"\"([^\"]{1,200})\"|“([^”]{1,200})”|«([^»]{1,200})»|„([^“”]{1,200})[“”]|(?<!\w)'([^']{1,200})'(?!\w)"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*\.?|\d+")
_SENTENCE = re.compile(r"(?:^|[.!?:…]\s+)[\s\"'“‘(\[]*$")
_POSSESSIVE = re.compile(r"['’]s?$|['’]$")


_Found = tuple[int, int, str]  # begin, exclusive end, as typed


@dataclass(frozen=True, slots=True)
class QuestionNames:
    """What a question names.

    Attributes:
        entities: names as typed, in the question's order.
        aliases: name to other names of the same entity.
        identifiers: terms that look like code, as typed.
    """

    entities: tuple[str, ...]
    aliases: dict[str, tuple[str, ...]]
    identifiers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int
    first: bool


def find_question_names(query: str, known: Known | None = None, without: tuple[int, int] = (0, 0)) -> QuestionNames:
    """Find names and identifiers.

    A run of capitalised words is a name; the first word of a sentence only if it is no common word. Words in quotation
    marks are a name. Any other run of up to three words is a name only if `known` knows it.

    Args:
        known: other names of a folded name; asked for each name found, and for up to `MOST_ASKED` other runs.
        without: where a phrase of time stands, begin and exclusive end; nothing in it is a name.

    Returns:
        Names without possessive endings.
    """
    codes = [found for found in _identifiers(query) if not _touches(found, [without])]
    quoted = [found for found in _quoted(query) if not _touches(found, codes)]
    taken = [without, *((start, end) for start, end, _ in (*codes, *quoted))]
    words = [word for word in _tokenize(query) if not _touches((word.start, word.end), taken)]
    found: dict[str, tuple[int, str]] = {}
    for start, end, name in (*quoted, *_capitalised(query, words)):
        if (key := _folded(name)) and start < end:
            found.setdefault(key, (start, name))
    aliases: dict[str, tuple[str, ...]] = {}
    if known is not None:
        _ask(words, known, found, aliases)
    names = tuple(name for _, name in sorted(found.values()))[:MOST]
    identifiers = tuple(dict.fromkeys(code for _, _, code in codes))[:MOST]
    return QuestionNames(names, {name: aliases[name] for name in names if aliases.get(name)}, identifiers)


def _touches(place: tuple[int, int] | _Found, others: Iterable[tuple[int, int] | _Found]) -> bool:
    return any(place[0] < other[1] and other[0] < place[1] for other in others)


def _identifiers(query: str) -> Iterator[_Found]:
    for match in _IDENTIFIER.finditer(query):
        text = match.group().rstrip(".,;:!?")
        if match.lastgroup == "mixed" and _ORDINAL.fullmatch(text):
            continue
        if text:
            yield match.start(), match.start() + len(text), text


def _quoted(query: str) -> Iterator[_Found]:
    for match in _QUOTED.finditer(query):
        name = next((part for part in match.groups() if part), "").strip()
        if name:
            yield match.start(), match.end(), name


def _tokenize(query: str) -> list[_Word]:
    words = []
    for match in _WORD.finditer(query):
        text = match.group()
        # "Dr." keeps its full stop, the last word of a sentence does not.
        text = text if text.lower() in _set("titles") else text.rstrip(".")
        before = query[max(0, match.start() - 4) : match.start()]
        is_first = bool(_SENTENCE.search(before)) if match.start() > 3 else not query[: match.start()].strip("\"'“‘([ ")
        words.append(_Word(text, match.start(), match.start() + len(text), is_first))
    return words


@cache
def _set(name: str) -> frozenset[str]:
    """A word list of `resources/query/names.json`."""
    data = json.loads((files("resources") / "query" / "names.json").read_text("utf-8"))
    lines = data[name]
    return frozenset((lines if isinstance(lines, str) else " ".join(lines)).split())


def _capitalised(query: str, words: list[_Word]) -> Iterator[_Found]:
    if words and all(word.text.isupper() for word in words) and len(words) > 2:
        return  # shouted: capitals tell nothing
    run: list[_Word] = []
    for word in words:
        if run and not _joined(query, run[-1], word):
            yield from _closed(query, run)
            run = []
        if _is_name(word, has_run=bool(run)) or (run and word.text in _set("links")) or (run and word.text.isdigit()):
            run.append(word)
        elif run:
            yield from _closed(query, run)
            run = []
    yield from _closed(query, run)


def _joined(query: str, left: _Word, right: _Word) -> bool:
    """Whether only a blank or a dash lies between, and the left one does not own the right one."""
    between = query[left.end : right.start]
    return between in (" ", "-", "  ") and not _POSSESSIVE.search(left.text)


def _is_name(word: _Word, *, has_run: bool) -> bool:
    text = _POSSESSIVE.sub("", word.text)
    if not text[:1].isupper():
        return False
    folded = fold_case(fold_width(text))
    joined = folded.replace("'", "")
    if joined in stop_words() or joined in _set("not_names") or _is_calendar(folded):
        return False
    if word.first:
        return not text.isupper() and joined not in _common() if len(text) > 1 else False
    return has_run or len(text) > 1


def _is_calendar(folded: str) -> bool:
    words = time_vocabulary()
    return folded in words.weekdays or (folded in words.months and folded not in words.sets["names_of_people"])


@cache
def _common() -> frozenset[str]:
    """Words that are no name at the beginning of a sentence."""
    lines = (files("resources") / "text" / "stopwords_names.txt").read_text("utf-8").splitlines()
    found = {fold_case(word).replace("'", "") for line in lines if not line.startswith("#") for word in line.split()}
    return _set("openers") | found


def _closed(query: str, run: list[_Word]) -> Iterator[_Found]:
    while run and run[-1].text in _set("links"):
        run = run[:-1]
    if run:
        start, end = run[0].start, run[-1].end
        yield start, end, _POSSESSIVE.sub("", query[start:end])


def _folded(name: str) -> str:
    return fold_case(fold_width(name)).strip()


def _ask(
    words: list[_Word], known: Known, found: dict[str, tuple[int, str]], aliases: dict[str, tuple[str, ...]]
) -> None:
    for key, (_, name) in tuple(found.items()):
        aliases[name] = _others(known(key), name)
    taken: set[int] = set()
    for run in _runs(words):
        name = " ".join(_POSSESSIVE.sub("", word.text) for word in run)
        key = _folded(name)
        places = {word.start for word in run}
        if key in found or places & taken or any(key in other.split() for other in found):
            continue
        if others := known(key):
            taken |= places
            found[key] = (run[0].start, name)
            aliases[name] = _others(others, name)


def _runs(words: list[_Word]) -> Iterable[list[_Word]]:
    """Runs of up to three words, the longest first, that do not begin or end with a function word."""
    asked = 0
    for size in range(RUN_WORDS, 0, -1):
        for at in range(len(words) - size + 1):
            run = words[at : at + size]
            edges = (_folded(_POSSESSIVE.sub("", run[0].text)), _folded(_POSSESSIVE.sub("", run[-1].text)))
            if any(edge.replace("'", "") in stop_words() for edge in edges) or asked == MOST_ASKED:
                continue
            asked += 1
            yield run


def _others(others: tuple[str, ...], name: str) -> tuple[str, ...]:
    return tuple(other for other in others if _folded(other) != _folded(name))
