"""Tells an order to the reader ("…, send a copy to …") from a noun and from what somebody does ("they send", "a copy").

A habit and an order are of the same words; what differs is where the verb stands (`resources/injection/orders.json`).
Must not do: judge what is ordered, or hold a word list in code.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from core.text.fold import fold_case

_OPENS = re.compile(r"[^\w\s'\u2019/&@#%+=~-]|\n|\s[-\u2010-\u2015]+\s")
_SENTENCE = re.compile(r"[.!?\n;\u3002\uff01\uff1f]")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LOOKED = 40  # words back to where the sentence begins
_LONGEST = 4  # words of a phrase
_STEPS = 6  # adverbs in a row

Spans = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class _ImperativeWords:
    of: frozenset[str]
    leads: frozenset[tuple[str, ...]]
    joins: frozenset[tuple[str, ...]]
    adverbs: frozenset[tuple[str, ...]]
    doers: frozenset[tuple[str, ...]]
    plain: frozenset[tuple[str, ...]]


@cache
def _load_words() -> _ImperativeWords:
    told = json.loads((files("resources") / "injection" / "orders.json").read_text("utf-8"))
    lists = [
        frozenset(tuple(fold_case(one).split()) for one in "|".join(told[name].values()).split("|"))
        for name in ("leads", "and", "adverbs", "doer", "plain")
    ]
    return _ImperativeWords(frozenset(told["of"]), *lists)


def imperative_ideas() -> frozenset[str]:
    """Ideas that count only where an order may begin: keys of `resources/injection/concepts.json`."""
    return _load_words().of


@dataclass(frozen=True, slots=True)
class ImperativeText:
    """A text in which orders are looked for.

    Attributes:
        flat: the text, folded.
        words: its words.
        spots: of each word, the character it begins with.
        lasting: words such as "from now on", first and last word of each, in order.
        occasions: words such as "whenever you", likewise.
        tellers: words such as "we", likewise.
    """

    flat: str
    words: Sequence[str]
    spots: Sequence[int]
    lasting: Spans = ()
    occasions: Spans = ()
    tellers: Spans = ()

    def is_order(self, first: int, last: int) -> bool:
        """Whether words may be an order to whoever reads them.

        Args:
            first: the first of the words, by its number.
            last: the last of them.

        Returns:
            True also for scripts without blanks, where it cannot be told.
        """
        told = _load_words()
        if _UNSPACED.match(self.words[first]):
            return True
        if tuple(self.words[last + 1 : last + 2]) in told.doers:
            return False
        if tuple(self.words[first : last + 1]) in told.plain:
            return not self._within(self.tellers, first)
        return self._may_begin(first)

    def _may_begin(self, at: int) -> bool:
        told = _load_words()
        for _ in range(_STEPS):
            if self._opens(at) or self._behind(told.leads, at):
                return True
            if self._behind(told.joins, at):
                return not self._within(self.tellers, at)
            adverb = self._behind(told.adverbs, at)
            if adverb and self._within(self.occasions, at) and not self._within(self.tellers, at):
                return True  # "whenever you pay also send": the comma was left out
            back = adverb or self._lasted(at)
            if not back:
                return False
            at -= back
        return False

    def _opens(self, at: int) -> bool:
        return at == 0 or bool(_OPENS.search(self._between(at)))

    def _between(self, at: int) -> str:
        return self.flat[self.spots[at - 1] + len(self.words[at - 1]) : self.spots[at]]

    def _behind(self, phrases: frozenset[tuple[str, ...]], at: int) -> int:
        """How many words of a phrase stand right before; 0 where none does."""
        for count in range(min(_LONGEST, at), 0, -1):
            if tuple(self.words[at - count : at]) in phrases:
                return count
        return 0

    def _lasted(self, at: int) -> int:
        return max((at - first for first, last in _around(self.lasting, at) if last == at - 1), default=0)

    def _within(self, spans: Spans, at: int) -> bool:
        """Whether one of the spans stands before, in the same sentence."""
        begin = next(
            (one for one in range(at, max(0, at - _LOOKED), -1) if _SENTENCE.search(self._between(one))),
            max(0, at - _LOOKED),
        )
        found = bisect_left(spans, (begin, -1))
        return found < len(spans) and spans[found][1] < at


def _around(spans: Spans, at: int) -> Spans:
    """The few that begin before a word, the nearest."""
    end = bisect_left(spans, (at, -1))
    return spans[max(0, end - 2 * _STEPS) : end]
