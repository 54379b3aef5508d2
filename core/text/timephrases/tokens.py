"""A question as tokens with their places, and the vocabulary of time.

Must not do: know what a token means beyond its form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from importlib.resources import files

_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u2032": "'"})

# The order tells: the first form that fits is taken.
_TOKEN = re.compile(
    r"""
      (?P<iso>(?<![\w.])(?:19|20)\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?)?(?![\w-]))
    | (?P<isoweek>(?<![\w.])(?:19|20)\d\d-?W\d\d?(?![\w-]))
    | (?P<isopart>(?<![\w.])(?:19|20)\d\d[-/ ]?(?:[QH][1-4])(?![\w-]))
    | (?P<isomonth>(?<![\w.])(?:19|20)\d\d-(?:0[1-9]|1[0-2])(?![\w-]))
    | (?P<ymd>(?<![\w.])(?:19|20)\d\d(?P<sep>[/.])\d\d?(?P=sep)\d\d?(?![\w/]|[.]\d))
    | (?P<dmy>(?<![\w./-])\d\d?(?P<joint>[/.-])\d\d?(?P=joint)(?:19|20)\d\d(?![\w/-]|[.]\d))
    | (?P<dmshort>(?<![\w./-])\d\d?/\d\d?/\d\d(?![\w/-]|[.]\d))
    | (?P<decade>(?<!\w)'?(?:(?:19|20)\d0|[2-9]0)'?s(?!\w))
    | (?P<ordinal>(?<!\w)\d\d?(?:st|nd|rd|th)(?!\w))
    | (?P<part>(?<!\w)(?:[QH][1-4]|(?:CW|KW|W)\d\d?)(?!\w))
    | (?P<code>[£$€\#@]\d[\w.,]*|\w*\d\w*(?:[./:@_\\]\w+)+%?|(?:\d+[^\W\d]|[^\W\d]\w*\d)\w*|\d+[%°½¼¾])
    | (?P<number>\d+)
    | (?P<word>[^\W\d_]+(?:'[^\W\d_]+)*)
    | (?P<dash>[-–—])
    | (?P<quote>["“”„«»])
    | (?P<mark>[.,;:!?()\[\]…/])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"]*\"|[“„][^”“]*[”“]|«[^»]*»|(?<!\w)'[^']+'(?!\w)")


@dataclass(frozen=True, slots=True)
class TimeToken:
    """One word, number, date or mark.

    Attributes:
        kind: the form, a group of the pattern.
        text: lower case, without a possessive ending.
        start: place in the question; `end` is behind its last character.
        raw: as typed.
        owns: it ended in a possessive `'s`.
        quoted: it stands inside quotation marks.
    """

    kind: str
    text: str
    start: int
    end: int
    raw: str
    owns: bool = False
    quoted: bool = False

    @property
    def capital(self) -> bool:
        """Whether it begins with a capital."""
        return self.raw[:1].isupper()


@dataclass(frozen=True, slots=True)
class TimeVocabulary:
    """The vocabulary of `resources/query/time.json`.

    Attributes:
        months: word to 1 to 12.
        weekdays: word to 0 (Monday) to 6; `weekday_plurals` likewise.
        numbers: word to its number; `ordinals` likewise.
        units: word to the name of a unit.
        days: word to days from today.
        decades: word to the tens of its years.
        slices: word to `early`, `mid` or `late`.
        sets: name to words.
        starters: words that a phrase may begin with.
    """

    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    weekday_plurals: Mapping[str, int]
    numbers: Mapping[str, int]
    ordinals: Mapping[str, int]
    units: Mapping[str, str]
    days: Mapping[str, int]
    decades: Mapping[str, int]
    slices: Mapping[str, str]
    sets: Mapping[str, frozenset[str]]
    starters: frozenset[str]


@dataclass(frozen=True, slots=True)
class TokenizedQuestion:
    """A question that is being read.

    Attributes:
        tokens: in its order.
        now: the present, local.
        words: the vocabulary.
    """

    tokens: tuple[TimeToken, ...]
    now: datetime
    words: TimeVocabulary

    @property
    def today(self) -> date:
        """The day of the present."""
        return self.now.date()

    def word(self, place: int) -> str:
        """The text of a token; empty outside of the question."""
        return self.tokens[place].text if 0 <= place < len(self.tokens) else ""

    def kind(self, place: int) -> str:
        """The kind of a token; empty outside of the question."""
        return self.tokens[place].kind if 0 <= place < len(self.tokens) else ""

    def within(self, place: int, name: str) -> bool:
        """Whether a token is a word of the set `name`."""
        return self.word(place) in self.words.sets[name]


@cache
def time_vocabulary() -> TimeVocabulary:
    """The vocabulary, read once."""
    data = json.loads((files("resources") / "query" / "time.json").read_text("utf-8"))
    sets = {name: frozenset(words.split()) for name, words in data.pop("sets").items()}
    data.pop("about")
    tables = ("months", "weekdays", "weekday_plurals", "numbers", "ordinals", "units", "days", "slices")
    starters = frozenset(word for table in tables for word in data[table]).union(
        *(sets[name] for name in ("recent", "back", "rolling", "now", "ahead", "articles", "openers"))
    )
    return TimeVocabulary(sets=sets, starters=starters, **data)


def tokenize_question(text: str) -> tuple[TimeToken, ...]:
    """Cut a question into tokens; what is neither word, number nor mark is left out.

    Returns:
        Tokens whose places are those of `text`.
    """
    plain = text.translate(_APOSTROPHES)
    quoted = [match.span() for match in _QUOTED.finditer(plain)]
    found = []
    for match in _TOKEN.finditer(plain):
        raw = match.group()
        kind = match.lastgroup or "mark"
        word = raw.lower()
        owns = kind == "word" and word.endswith("'s") and len(word) > 2
        start, end = match.span()
        inside = any(first <= start and end <= last for first, last in quoted)
        if owns:
            end -= 2
        found.append(TimeToken(kind, word[:-2] if owns else word, start, end, raw, owns, inside))
    return tuple(found)
