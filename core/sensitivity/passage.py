"""A text as the rules look at it: plain signs, lower case, words and sentences, every place the one in the text."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import cached_property
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
