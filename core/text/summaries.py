"""Shorter forms of a text, by rules: its four tiers (full, summary, key fact, tag; E8.8, C37), and digests of many.

A summary is about half of the text, in whole sentences and in their order; a key fact is the one sentence that tells
most; a tag is what it is and a few of its words. Which sentence tells most: the rarity of its words within the text,
damped by its length, and more for the first sentence, for names, for numbers and for what states something. A digest
is sentences taken verbatim from its sources. Must not do: reword a sentence, cut one, touch the stored text, or decide
which sentences say the same.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import log, sqrt

from core.text.sentences import extract_propositions, split_sentences
from core.text.terms import fold_case, fold_width, stop_words

JOINED_BY = "\n"
"""Between two sentences: each stands on a line of its own, so that none runs into the next."""
_ENDS = ".!?… \t\n"
SUMMARY_SHARE = 0.55
"""A summary has at most this share of the text's characters (E8.8: about half)."""
TIERS = ("full", "summary", "key_fact", "tag")
"""From the most to the least."""
_FIRST, _NAME, _NUMBER, _STATED, _ASKED, _SHORT = 1.2, 0.12, 0.15, 1.25, 0.6, 0.4
_MARKS_COUNTED = 3
_LEAST_WORDS = 3
_TAG_WORDS = 4
_TAG_CHARS = 24
_WORD = re.compile(r"\w+(?:['’.-]\w+)*")


@dataclass(frozen=True, slots=True)
class SourceSentence:
    """A sentence of a source.

    Attributes:
        source: the memory's id.
        start: where it begins in that memory's text, code points; `end` is exclusive.
        text: what stands there.
    """

    source: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Tiers:
    """One text in four lengths. A tier that would be no shorter than the next is the same text.

    Attributes:
        full: the text itself.
        summary: about half of it.
        key_fact: one sentence.
        tag: kind, category and a few words.
    """

    full: str
    summary: str
    key_fact: str
    tag: str

    def named(self) -> tuple[tuple[str, str], ...]:
        """The tiers that differ, from the most to the least: (name, text)."""
        found: list[tuple[str, str]] = []
        for name, text in zip(TIERS, (self.full, self.summary, self.key_fact, self.tag), strict=True):
            if all(text != other for _, other in found):
                found.append((name, text))
        return tuple(found)

    def rows(self) -> tuple[tuple[str, str], ...]:
        """What is worth storing: (tier, text) of each that differs from the one above; none for one sentence."""
        if self.key_fact == self.full:
            return ()
        return self.named()[1:]


def informative_sentences(source: str, text: str) -> tuple[SourceSentence, ...]:
    """The sentences of a text that say something: a greeting, a question or a bare word is left out.

    Args:
        source: the memory's id.

    Returns:
        Spans in their order, without blanks at their ends. Where no sentence says something by itself, the whole text
        is one, so that nothing vanishes; empty only for a blank text.
    """
    found = [
        span for start, end in split_sentences(text) if (span := _trim_sentence(source, text, start, end)) is not None
    ]
    saying = tuple(span for span in found if not span.text.endswith(("?", "？")) and extract_propositions(span.text))
    if saying or not found:
        return saying
    return (SourceSentence(source, found[0].start, found[-1].end, text[found[0].start : found[-1].end]),)


def normalize_sentence(text: str) -> str:
    """A sentence without case, blanks, letter forms and its last stop: equal ones are said once.

    Returns:
        The form that is compared.
    """
    return " ".join(fold_case(fold_width(text)).split()).rstrip(_ENDS)


def compose_digest(spans: Sequence[SourceSentence]) -> tuple[str, tuple[int, ...]]:
    """One text of several sentences.

    Args:
        spans: the sentences, in the order in which they are to stand.

    Returns:
        The text, and where each sentence begins in it, code points: `text[at:at + len(span.text)] == span.text`.
    """
    places: list[int] = []
    at = 0
    for span in spans:
        places.append(at)
        at += len(span.text) + len(JOINED_BY)
    return JOINED_BY.join(span.text for span in spans), tuple(places)


def make_tiers(text: str, kind: str, category: str) -> Tiers:
    """All four tiers of a text.

    Args:
        kind: a word of `core.types.values.Kind`, for the tag.
        category: its category, for the tag.

    Returns:
        The tiers; summary and key fact are the text itself where it is one sentence.
    """
    found = [_read(text[start:end]) for start, end in split_sentences(text)]
    found = [one for one in found if one.text]
    whole = " ".join(one.text for one in found)
    weights = _weights(found)
    if len(found) < 2:
        return Tiers(text, text, text, _tag(kind, category, found, weights))
    told = [_sentence_weight(one, place, weights) for place, one in enumerate(found)]
    order = sorted(range(len(found)), key=lambda place: (-told[place], place))
    room = SUMMARY_SHARE * len(whole) - len(found[order[0]].text)
    kept = {order[0]}
    for place in order[1:]:
        size = len(found[place].text) + 1
        if size <= room:
            kept.add(place)
            room -= size
    summary = " ".join(found[place].text for place in sorted(kept))
    return Tiers(text, summary, found[order[0]].text, _tag(kind, category, found, weights))


def _trim_sentence(source: str, text: str, start: int, end: int) -> SourceSentence | None:
    held = text[start:end]
    bare = held.strip()
    begin = start + len(held) - len(held.lstrip())
    return SourceSentence(source, begin, begin + len(bare), bare) if bare else None


@dataclass(frozen=True, slots=True)
class _Sentence:
    """One sentence: its text, its words as they stand, and folded without function words."""

    text: str
    words: tuple[str, ...]
    terms: frozenset[str]


def _read(text: str) -> _Sentence:
    words = tuple(_WORD.findall(text))
    folded = (word.lower().replace("’", "'") for word in words)
    return _Sentence(text.strip(), words, frozenset(word for word in folded if word.replace("'", "") not in _stops()))


@cache
def _stops() -> frozenset[str]:
    return stop_words()


@cache
def _verbs() -> frozenset[str]:
    loaded = json.loads((files("resources") / "text" / "clauses.json").read_text("utf-8"))
    return frozenset(loaded["verbs"])


def _weights(found: list[_Sentence]) -> dict[str, float]:
    """How much each word tells: the rarer within the text, the more. ln(1 + sentences / sentences with it)."""
    df = Counter(term for one in found for term in one.terms)
    return {term: log(1 + len(found) / count) for term, count in df.items()}


def _sentence_weight(one: _Sentence, place: int, weights: dict[str, float]) -> float:
    """How much a sentence tells, 0 or more."""
    count = len(one.words)
    if not count:
        return 0.0
    score = sum(sorted(weights[term] for term in one.terms)) / sqrt(count)
    names = sum(word[0].isupper() and word.lower() in one.terms for word in one.words[1:])
    numbers = sum(word[0].isdigit() for word in one.words)
    score *= 1.0 + _NAME * min(names, _MARKS_COUNTED) + _NUMBER * min(numbers, _MARKS_COUNTED)
    if place == 0:
        score *= _FIRST
    if count < _LEAST_WORDS:
        score *= _SHORT
    if one.text.endswith(("?", "\uff1f")):
        return score * _ASKED
    return score * _STATED if any(word.lower() in _verbs() for word in one.words) else score


def _tag(kind: str, category: str, found: list[_Sentence], weights: dict[str, float]) -> str:
    """What it is and what it is about: names first, then the words that tell most."""
    names: dict[str, str] = {}
    others: dict[str, str] = {}
    for one in found:
        for place, word in enumerate(one.words):
            folded = word.lower().replace("’", "'")
            if folded in one.terms and len(word) <= _TAG_CHARS:
                (names if place and word[0].isupper() else others).setdefault(folded, word)
    rest = sorted((term for term in others if term not in names), key=lambda term: (-weights[term], -len(term), term))
    about = [*names.values(), *(others[term] for term in rest)][:_TAG_WORDS]
    return " · ".join(part for part in (kind, category, " ".join(about)) if part)
