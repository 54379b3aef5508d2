"""Sentences cut into the smallest parts that can be true or false by themselves.

A clause that leaves its subject out ("I use Rust and love it": "love it") carries the one before it, so that it can be
read alone. Nothing is reworded: a proposition is a span of the text and, beside it, the words it borrows.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from core.text.split import split_sentences

LEAST_WORDS = 3
_MOST_WORDS = 400
_SUBJECT_WORDS = 8
_WORD = re.compile(r"[^\W_](?:[^\W_]|[-.'’&/](?=[^\W_]))*|[;,–—]|--")
_BREAK = frozenset((";", "–", "—", "--"))


@dataclass(frozen=True, slots=True)
class Proposition:
    """One statement of a text.

    Attributes:
        start: where it begins, code points; `end` is exclusive.
        text: the text between them.
        carried: the subject it borrows from the clause before it, as written there; "" where it has its own.
    """

    start: int
    end: int
    text: str
    carried: str = ""

    @property
    def said(self) -> str:
        """The statement by itself: the borrowed subject, then the text."""
        return f"{self.carried} {self.text}" if self.carried else self.text


@dataclass(frozen=True, slots=True)
class _Lists:
    joiners: frozenset[str]
    subjects: frozenset[str]
    owners: frozenset[str]
    verbs: frozenset[str]
    filler: frozenset[str]


@cache
def _lists() -> _Lists:
    loaded = json.loads((files("resources") / "text" / "clauses.json").read_text("utf-8"))
    return _Lists(**{name: frozenset(loaded[name]) for name in _Lists.__dataclass_fields__})


def extract_propositions(text: str) -> tuple[Proposition, ...]:
    """The statements of a text that say something (spec E6.1.3: at least three words, no filler).

    Returns:
        Statements in their order; `text[start:end]` is each one's text.
    """
    return tuple(one for one in extract_clauses(text) if _says(one))


def extract_clauses(text: str) -> tuple[Proposition, ...]:
    """All clauses of a text, also the shortest.

    Returns:
        Clauses in their order, without blanks at their ends.
    """
    out: list[Proposition] = []
    for start, end in split_sentences(text):
        out += _of_sentence(text, start, end)
    return tuple(out)


def _says(one: Proposition) -> bool:
    bare = " ".join(one.text.lower().split()).strip(" .,!?;:")
    return len(one.said.split()) >= LEAST_WORDS and bare not in _lists().filler


def _of_sentence(text: str, start: int, end: int) -> list[Proposition]:
    words = [match for match, _ in zip(_WORD.finditer(text, start, end), range(_MOST_WORDS), strict=False)]
    lows = [match.group().lower().replace("’", "'") for match in words]
    cuts = [(start, start)]
    cuts += [cut for i in range(1, len(words)) if (cut := _cut_at(words, lows, i)) is not None]
    out: list[Proposition] = []
    subject = ""
    for place, (_, begin) in enumerate(cuts):
        stop = cuts[place + 1][0] if place + 1 < len(cuts) else end
        own = _subject(text, words, lows, begin, stop)
        bare = text[begin:stop]
        left = len(bare) - len(bare.lstrip())
        trimmed = bare.strip()
        if trimmed:
            carried = subject if not own and place and subject else ""
            out.append(Proposition(begin + left, begin + left + len(trimmed), trimmed, carried))
        subject = own or subject
    return out


def _cut_at(words: list[re.Match[str]], lows: list[str], i: int) -> tuple[int, int] | None:
    """Whether a clause ends before word `i`: where it ends and where the next begins."""
    if lows[i] in _BREAK:
        return (words[i].start(), words[i].end()) if i + 1 < len(words) else None
    lists = _lists()
    comma = lows[i] == ","
    joiner = i + 1 if comma and i + 1 < len(lows) and lows[i + 1] in lists.joiners else i
    if lows[joiner] not in lists.joiners or joiner + 1 >= len(lows) or lows[i - 1] == ",":
        return None
    behind = lows[joiner + 1]
    begins = (
        behind in lists.subjects or behind in lists.verbs or (behind in lists.owners and _verb_near(lows, joiner + 2))
    )
    return (words[i].start(), words[joiner].end()) if begins else None


def _verb_near(lows: list[str], i: int) -> bool:
    return any(low in _lists().verbs for low in lows[i : i + 5])


def _subject(text: str, words: list[re.Match[str]], lows: list[str], begin: int, stop: int) -> str:
    """The words before a clause's verb, if they can be its subject."""
    inside = [i for i in range(len(words)) if begin <= words[i].start() < stop][: _SUBJECT_WORDS + 1]
    if not inside:
        return ""
    lists = _lists()
    first = inside[0]
    if lows[first] in lists.subjects:
        return words[first].group().replace("’", "'").split("'")[0]
    verb = next((i for i in inside if lows[i] in lists.verbs), None)
    if verb is None or verb == first or "," in lows[first:verb]:
        return ""
    return text[words[first].start() : words[verb - 1].end()]
