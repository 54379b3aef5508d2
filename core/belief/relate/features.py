"""What the relation model reads of a pair of texts: tokens, what kind of word each is, and a few figures.

Training and running share this file, so a model always sees in use what it saw when it learned.

Must not do: decide anything, or keep a text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.belief.relate.number_forms import Value, find_values
from core.text.terms import fold_case, fold_width, stop_words

SIDE_TOKENS = 64
"""Tokens read of each side; of a longer one those where most words of the other side are (`_start`)."""

SIDE_CHARS = 3_000
"""Characters looked at of each side: a bound on the work a long text makes."""

KINDS = 16
FIRST, MIDDLE, LAST, PAD = 0, 1, 2, 15
EXISTING, INCOMING = 3, 9
"""Kinds of token: frame marks, then six for a word of either side (`_kind`), then padding."""

FIGURES = 16

_SURROGATE = re.compile("[\ud800-\udfff]")
_GROUPED = re.compile(r"(?<=\d)[,'](?=\d{3}(?!\d))")
_BLANKS = re.compile(r"\s+")
_WORD = re.compile(r"\d+(?=[ap]m\b)|\w+(?:'\w+)*", re.IGNORECASE)
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_ENDS_SENTENCE = re.compile(r"[.!?:;]\s*[\"'(]?$")
_STEM = 5


@dataclass(frozen=True, slots=True)
class FeatureWord:
    """One word of a text.

    Attributes:
        start: where it begins in the prepared text; `end` is exclusive.
        form: folded, with values in one form (`core.belief.relate.number_forms`) and short forms as long ones.
        number: whether it holds a digit after that.
        name: whether it is written like a name: a capital that no sentence start explains.
        goes_on: whether it belongs to the value that the word before begins, whose form it then has too.
    """

    start: int
    end: int
    form: str
    number: bool
    name: bool
    goes_on: bool = False


@dataclass(frozen=True)
class PreparedText:
    """A text made ready: `text` as the tokenizer gets it, and its words in order.

    What is asked of the words is found once, however many pairs the text is in.
    """

    text: str
    words: tuple[FeatureWord, ...]

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of all words."""
        return frozenset(_stem(word.form) for word in self.words)

    @cached_property
    def content(self) -> frozenset[str]:
        """The stems of the words, function words left out."""
        stops = stop_words()
        return frozenset(_stem(word.form) for word in self.words if word.form not in stops)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The forms of numbers."""
        return frozenset(word.form for word in self.words if word.number)

    @cached_property
    def names(self) -> frozenset[str]:
        """The stems of names."""
        return frozenset(_stem(word.form) for word in self.words if word.name)

    @cached_property
    def negations(self) -> int:
        """How many words negate."""
        negating = vocabulary()["negations"]
        return sum(word.form in negating for word in self.words)

    @cached_property
    def forms(self) -> tuple[str, ...]:
        """The words in order, as they are compared; the owner is one word however named."""
        owners = vocabulary()["owners"]
        return tuple("i" if word.form in owners else word.form for word in self.words if not word.goes_on)


@dataclass(frozen=True, slots=True)
class Features:
    """A pair as the model reads it.

    Attributes:
        ids: token ids, shape (length,).
        kinds: 0 to KINDS - 1, shape (length,).
        figures: shape (FIGURES,), each about -1 to 1.
    """

    ids: NDArray[np.int64]
    kinds: NDArray[np.int64]
    figures: NDArray[np.float32]


@lru_cache(maxsize=1)
def vocabulary() -> Mapping[str, Any]:
    """The word lists of `resources/model/relations/words.json`."""
    data = files("resources").joinpath("model").joinpath("relations").joinpath("words.json").read_bytes()
    lists: Mapping[str, Any] = json.loads(data)
    return {name: frozenset(words) if isinstance(words, list) else words for name, words in lists.items()}


def prepare_text(text: str) -> PreparedText:
    """Fold a text's width, blanks and grouped digits, and find its words.

    Args:
        text: any text; the first `SIDE_CHARS` characters are read.

    Returns:
        The prepared side.
    """
    plain = fold_width(_SURROGATE.sub("\ufffd", text[:SIDE_CHARS]))[:SIDE_CHARS]
    plain = _BLANKS.sub(" ", _GROUPED.sub("", plain)).strip()
    words = tuple(_word(plain, found) for found in _WORD.finditer(plain))
    return PreparedText(plain, _valued(words, find_values(plain, vocabulary()["numbers"])))


def _valued(words: tuple[FeatureWord, ...], found: tuple[Value, ...]) -> tuple[FeatureWord, ...]:
    """The words, each that is part of a value with the value's form."""
    if not found:
        return words
    done: list[FeatureWord] = []
    at = 0
    begun: Value | None = None
    for word in words:
        while at < len(found) and found[at].end <= word.start:
            at += 1
        if at < len(found) and found[at].start < word.end:
            value = found[at]
            done.append(_part(word, value, goes_on=value is begun))
            begun = value
        else:
            done.append(word)
    return tuple(done)


def _part(word: FeatureWord, value: Value, *, goes_on: bool) -> FeatureWord:
    number = any(c.isdigit() for c in value.form)
    return FeatureWord(word.start, word.end, value.form, number=number, name=False, goes_on=goes_on)


def _word(text: str, found: re.Match[str]) -> FeatureWord:
    raw = found.group()
    form, number, owner = _form(raw)
    start = found.start()
    name = raw[0].isupper() and not owner and start > 0
    name = name and _ENDS_SENTENCE.search(text, max(0, start - 4), start) is None
    return FeatureWord(start, found.end(), form, number, name)


@lru_cache(maxsize=4096)
def _form(raw: str) -> tuple[str, bool, bool]:
    """The form of a word, whether it holds a digit, and whether it is one of the owner's words."""
    lists = vocabulary()
    bare = fold_case(raw)
    if bare.endswith("'s"):
        bare = bare[:-2]
    ordinal = _ORDINAL.fullmatch(bare)
    same: str = ordinal.group(1) if ordinal else lists["numbers"].get(bare) or lists["same"].get(bare) or bare
    return same, any(c.isdigit() for c in same), same in lists["owners"]


@lru_cache(maxsize=4096)
def _stem(form: str) -> str:
    return form[:_STEM] if len(form) > _STEM and form.isalpha() else form.removesuffix("s")


def encode_pair(tokenizer: Any, existing: PreparedText, incoming: PreparedText) -> Features:
    """Both sides as one row of tokens: first mark, existing, mark, incoming, mark.

    Args:
        tokenizer: the bundled model's, without padding; its own frame marks are not used.
        existing: what stands.
        incoming: what is new.

    Returns:
        The model's input.
    """
    ids: list[int] = [tokenizer.token_to_id("[CLS]")]
    kinds: list[int] = [FIRST]
    frame = tokenizer.token_to_id("[SEP]")
    for side, other, base, mark in ((existing, incoming, EXISTING, MIDDLE), (incoming, existing, INCOMING, LAST)):
        encoded = tokenizer.encode(side.text, add_special_tokens=False)
        known = other.stems
        owners = _owners(encoded.offsets, side)
        start = _start(owners, known)
        ids.extend(encoded.ids[start : start + SIDE_TOKENS])
        kinds.extend(base + _kind(word, known) for word in owners[start : start + SIDE_TOKENS])
        ids.append(frame)
        kinds.append(mark)
    return Features(np.array(ids, np.int64), np.array(kinds, np.int64), pair_figures(existing, incoming))


def _owners(offsets: list[tuple[int, int]], side: PreparedText) -> list[FeatureWord | None]:
    """The word each token is a piece of; None for the signs between words."""
    found: list[FeatureWord | None] = []
    at = 0
    for start, _ in offsets:
        while at < len(side.words) and side.words[at].end <= start:
            at += 1
        inside = at < len(side.words) and side.words[at].start <= start
        found.append(side.words[at] if inside else None)
    return found


def _start(owners: list[FeatureWord | None], known: frozenset[str]) -> int:
    """Where to begin reading a text that is too long: where the most words of the other side are, else its start."""
    last = len(owners) - SIDE_TOKENS
    if last <= 0:
        return 0
    stops = stop_words()
    hits = [word is not None and word.form not in stops and _stem(word.form) in known for word in owners]
    sums: list[int] = [0, *accumulate(hits)]
    starts: list[int] = [*range(0, last, SIDE_TOKENS // 4), last]
    return max(starts, key=lambda start: (sums[start + SIDE_TOKENS] - sums[start], -start))


def _kind(word: FeatureWord | None, known: frozenset[str]) -> int:
    """0 plain or a sign, 1 number, 2 name; 3 more where the other side has the word too."""
    if word is None:
        return 0
    return (1 if word.number else 2 if word.name else 0) + (3 if _stem(word.form) in known else 0)


def pair_figures(existing: PreparedText, incoming: PreparedText) -> NDArray[np.float32]:
    """How much the sides share, as numbers.

    Args:
        existing: what stands.
        incoming: what is new.

    Returns:
        Shape (FIGURES,): shares of words in common; numbers and names that only one or both have; negations;
        lengths; whether the words are the same.
    """
    old, new = existing.content, incoming.content
    both = len(old & new)
    row = [
        both / max(1, len(new)),
        both / max(1, len(old)),
        both / max(1, len(old | new)),
        *_apart(existing.numbers, incoming.numbers),
        *_apart(existing.names, incoming.names),
        *_negated(existing, incoming),
        math.log((len(incoming.words) + 2) / (len(existing.words) + 2)) / 2,
        min(len(incoming.words), 64) / 32 - 1,
        min(len(existing.words), 64) / 32 - 1,
        float(existing.forms == incoming.forms),
    ]
    return np.array(row, np.float32)


def _apart(old: frozenset[str], new: frozenset[str]) -> tuple[float, float, float]:
    """How many only the old, only the new, and both have: up to three, as 0 to 1."""
    return min(3, len(old - new)) / 3, min(3, len(new - old)) / 3, min(3, len(old & new)) / 3


def _negated(existing: PreparedText, incoming: PreparedText) -> tuple[float, float, float]:
    old, new = existing.negations > 0, incoming.negations > 0
    return float(old), float(new), float(old != new)
