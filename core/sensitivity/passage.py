"""A text as the rules look at it, and the words and patterns that they look for.

A passage is in plain signs and lower case, with its words and sentences, every place the one in the text. The words and
patterns are those of `resources/sensitivity`, read and compiled once, when they are first needed. A file holds `words`,
lists divided by `|`, `patterns`, regular expressions in which `<name>` stands for one of the lists, and tables of
`numbers`. A blank inside a listed word stands for any one blank of the text. A pattern whose name ends in `_cased` is
matched against the text as written, any other against the text in lower case. Must not do: say that anything found is
sensitive.
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Mapping
from functools import cache, cached_property
from importlib.resources import files
from typing import NamedTuple

# One sign for one sign, so that a place stays the same.
_PLAIN = {
    **dict.fromkeys(
        map(ord, "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u3000"), " "
    ),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212\ufe63\uff0d"), "-"),
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u02bc\u2032\u00b4`"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033"), '"'),
    **{0xFF01 + n: chr(0x21 + n) for n in range(94)},
}
_LETTERS = str.maketrans({"ß": "s", "ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "a", "œ": "o", "ð": "d", "þ": "t"})
_WORD = re.compile(r"\w+(?:'\w+)?")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[\n;]|\s-\s")
_SHORT = re.compile(r"\b(?:dr|mr|mrs|ms|prof|st|no|nr|tel|approx|ext|av|avda|ul|str|rd|fr|hr|sra?|mme|mg|vs|[a-z])\.$")
_LIST = re.compile(r"<(\w+)>")
# A bar outside brackets divides two words; one inside belongs to a word that is written as a pattern.
_BAR = re.compile(r"\||\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")


class Word(NamedTuple):
    """One word of a passage.

    Attributes:
        start: where it begins.
        end: where it ends, exclusive.
        folded: in lower case and without accents.
    """

    start: int
    end: int
    folded: str


class Passage:
    """A text with what the rules ask of it, each computed once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = text.translate(_PLAIN)
        lower = self.plain.lower()
        if len(lower) != len(text):
            lower = "".join(one if len(one := sign.lower()) == 1 else sign for sign in self.plain)
        self.lower = lower

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """All words in order."""
        return tuple(Word(*match.span(), fold(match[0])) for match in _WORD.finditer(self.lower))

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The words that occur, folded."""
        return frozenset(word.folded for word in self.words)

    def has_word(self, words: frozenset[str]) -> bool:
        """Whether one of these words occurs, folded; a quick look before a slow pattern."""
        return not words.isdisjoint(self.vocabulary)

    @cached_property
    def _sentence_ends(self) -> tuple[int, ...]:
        marks = _SENTENCE_END.finditer(self.lower)
        return (0, *(mark.end() for mark in marks if mark[0] != "." or not self._is_abbreviated(mark.end())))

    def _is_abbreviated(self, at: int) -> bool:
        return _SHORT.search(self.lower, max(0, at - 8), at) is not None

    def sentence(self, at: int) -> tuple[int, int]:
        """Where the sentence around a place begins and ends."""
        n = bisect_right(self._sentence_ends, at)
        return self._sentence_ends[n - 1], self._sentence_ends[n] if n < len(self._sentence_ends) else len(self.text)

    def before(self, at: int, reach: int) -> str:
        """What stands before a place, in lower case, not beyond its sentence."""
        return self.lower[max(self.sentence(at)[0], at - reach) : at]

    def after(self, at: int, reach: int) -> str:
        """What stands behind a place, in lower case, not beyond its sentence."""
        begin = max(0, at - 1)
        return self.lower[at : min(max(at, self.sentence(begin)[1]), at + reach)]


def fold(word: str) -> str:
    """A word of lower case without accents; as many signs as before do not matter here."""
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFKD", word.translate(_LETTERS))
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


class Vocabulary:
    """One file of words and patterns."""

    def __init__(
        self, words: Mapping[str, str], patterns: Mapping[str, str], numbers: Mapping[str, Mapping[str, int]]
    ) -> None:
        self._numbers = numbers
        self._lists = {
            name: tuple(filter(None, _BAR.sub(_mark_division, told).split("\0"))) for name, told in words.items()
        }
        self._sources = patterns
        self._patterns: dict[str, re.Pattern[str]] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._folded: dict[str, frozenset[str]] = {}

    def words(self, name: str) -> frozenset[str]:
        """A list as a set of plain words."""
        if name not in self._words:
            self._words[name] = frozenset(self._lists[name])
        return self._words[name]

    def folded(self, name: str) -> frozenset[str]:
        """A list as a set of plain words without accents, as a passage has its words."""
        if name not in self._folded:
            self._folded[name] = frozenset(map(fold, self._lists[name]))
        return self._folded[name]

    def entries(self, name: str) -> tuple[str, ...]:
        """A list in the order written."""
        return self._lists[name]

    def number(self, table: str, key: str) -> int | None:
        """An entry of a table of numbers."""
        return self._numbers[table].get(key)

    def pattern(self, name: str) -> re.Pattern[str]:
        """A compiled pattern."""
        if name not in self._patterns:
            self._patterns[name] = re.compile(_LIST.sub(self._join_alternatives, self._sources[name]))
        return self._patterns[name]

    def names(self, prefix: str) -> tuple[str, ...]:
        """The patterns whose name begins so, in the order written."""
        return tuple(name for name in self._sources if name.startswith(prefix))

    def _join_alternatives(self, match: re.Match[str]) -> str:
        # Of two words that begin alike the longer one is tried first.
        longest = sorted(self._lists[match[1]], key=len, reverse=True)
        return "(?:" + "|".join(word.replace(" ", r"\s") for word in longest) + ")"


@cache
def load_vocabulary(name: str) -> Vocabulary:
    """The vocabulary of `resources/sensitivity/<name>.json`."""
    told = json.loads((files("resources") / "sensitivity" / f"{name}.json").read_text("utf-8"))
    patterns = {key: _join_pattern_source(one) for key, one in told.get("patterns", {}).items()}
    return Vocabulary(told.get("words", {}), patterns, told.get("numbers", {}))


@cache
def load_folded_names(folder: str) -> frozenset[str]:
    """The folded names of `resources/sensitivity/<folder>/names.txt`, one a line."""
    told = (files("resources") / "sensitivity" / folder / "names.txt").read_text("utf-8")
    return frozenset(told.splitlines())


@cache
def load_common_words() -> frozenset[str]:
    """Common English words, of any kind, from `resources/lexicon`."""
    told = (files("resources") / "lexicon" / "nouns_en.txt").read_text("utf-8")
    return frozenset(word for line in told.splitlines() if line[:1] not in "#[" for word in line.split())


def _mark_division(match: re.Match[str]) -> str:
    return "\0" if match[0] == "|" else match[0]


def _join_pattern_source(told: str | list[str]) -> str:
    return told if isinstance(told, str) else "".join(told)
