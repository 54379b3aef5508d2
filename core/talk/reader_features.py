"""What the reader model reads of a sentence: its tokens, then what was said before it, and what kind of token each is.

Training and running share this file, so the model always sees in use what it saw when it learned. The tokenizer knows
no capitals; a word that is written with one without beginning the sentence has a kind of its own. Must not do: decide
anything, or keep a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.text.terms import replace_surrogates
from core.types.talk import Assertion, Reading, SentenceInContext, StatementType

TYPES = tuple(StatementType)
ASSERTIONS = tuple(Assertion)
WORTHS = 4
SPANS = ("subject", "property", "value", "time")
POOLED = len(TYPES) + len(ASSERTIONS) + 1 + WORTHS
"""Logits of a sentence: types, assertions, lasting, worths 0 to 3."""
POINTERS = 2 * len(SPANS)
"""Logits of a token: for each span whether it begins there, and whether it ends there; on the first token: absent."""

SENTENCE_TOKENS = 64
"""Read of the sentence, from its start."""
OTHER_TOKENS, OWN_TOKENS = 20, 12
"""Read of the turn before and of the same turn so far, each from its end."""
SENTENCE_CHARS = 1_000
FRAME, WORD, CAPITAL, OWN, OTHER, PAD = range(6)
KINDS = 6
_CAPITAL = re.compile(r"(?<=[\w,'’]\s)[A-Z][\w'’-]*")
_NAMED = re.compile(r"[^\s:][^:\n]{0,40}: ")


@dataclass(frozen=True, slots=True)
class SentenceFeatures:
    """A sentence as the model reads it.

    Attributes:
        ids: token ids, shape (length,).
        kinds: 0 to KINDS - 1, shape (length,).
        offsets: characters (from, to) of the sentence for each of its tokens; the first one stands at index 1.
    """

    ids: NDArray[np.int64]
    kinds: NDArray[np.int64]
    offsets: tuple[tuple[int, int], ...]


def encode_sentence(tokenizer: Any, sentence: SentenceInContext) -> SentenceFeatures:
    """Read a sentence: `[CLS] sentence [SEP] turn before [SEP] this turn so far [SEP]`.

    Args:
        tokenizer: the embedder's, without padding and truncation.
        sentence: any text, also an empty one.
    """
    text = replace_surrogates(sentence.text[:SENTENCE_CHARS])
    earlier, own = _context(sentence.before)
    read = tokenizer.encode(text, add_special_tokens=False)
    ids, offsets = list(read.ids[:SENTENCE_TOKENS]), tuple(read.offsets[:SENTENCE_TOKENS])
    capitals = {start for match in _CAPITAL.finditer(text) for start in range(match.start(), match.end())}
    kinds = [CAPITAL if start in capitals else WORD for start, _ in offsets]
    first, separator = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    ids, kinds = [first, *ids, separator], [FRAME, *kinds, FRAME]
    for said, kind, most in ((earlier, OTHER, OTHER_TOKENS), (own, OWN, OWN_TOKENS)):
        piece = tokenizer.encode(replace_surrogates(said[-SENTENCE_CHARS:]), add_special_tokens=False).ids[-most:]
        ids += [*piece, separator]
        kinds += [kind] * len(piece) + [FRAME]
    return SentenceFeatures(np.array(ids, np.int64), np.array(kinds, np.int64), offsets)


def _context(before: Sequence[str]) -> tuple[str, str]:
    if before and _NAMED.match(before[0]):
        return before[0], " ".join(before[1:])
    return "", " ".join(before)


def token_span(offsets: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int] | None:
    """The first and last token (index into the row, so from 1) of characters start to end; None where not read."""
    inside = [nr for nr, (begin, stop) in enumerate(offsets, 1) if begin < end and stop > start]
    return (inside[0], inside[-1]) if inside else None


def read_logits(
    sentence: NDArray[np.float64],
    tokens: NDArray[np.float64],
    features: SentenceFeatures,
    temperatures: Mapping[str, float],
) -> Reading:
    """What the model's logits say.

    Args:
        sentence: shape (POOLED,).
        tokens: shape (length, POINTERS).
        features: of the sentence they were made of.
        temperatures: what the logits of `type`, `assertion`, `lasting` and `worth` are divided by.
    """
    first, second = len(TYPES), len(TYPES) + len(ASSERTIONS)
    types = softmax(sentence[:first] / temperatures["type"])
    assertions = softmax(sentence[first:second] / temperatures["assertion"])
    worths = softmax(sentence[second + 1 :] / temperatures["worth"])
    kind = TYPES[int(types.argmax())]
    if kind is StatementType.NONE and worths[0] < 0.5:
        kind = TYPES[int(types[:-1].argmax())]  # worth keeping by the other head: the likeliest type that is one
    return Reading(
        type=kind,
        statement=float(1 - worths[0]),
        assertion=ASSERTIONS[int(assertions.argmax())],
        asserted=float(assertions[:2].sum()),
        lasting=float(1 / (1 + np.exp(-np.clip(sentence[second] / temperatures["lasting"], -30, 30)))),
        worth=float(worths @ np.arange(WORTHS)),
        spans=dict(_spans(tokens, features.offsets)),
    )


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logits as probabilities, along the last axis."""
    raised = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(raised / raised.sum(-1, keepdims=True), np.float64)


def _spans(tokens: NDArray[np.float64], offsets: Sequence[tuple[int, int]]) -> Iterator[tuple[str, tuple[int, int]]]:
    """The likeliest begin and end of each span, where together they are likelier than that there is none."""
    read = len(offsets)
    for nr, name in enumerate(SPANS):
        begins, ends = tokens[: read + 1, 2 * nr], tokens[: read + 1, 2 * nr + 1]
        best, place = begins[0] + ends[0], None
        for start in range(1, read + 1):
            end = start + int(ends[start:].argmax())
            if begins[start] + ends[end] > best:
                best, place = begins[start] + ends[end], (start, end)
        if place is not None:
            yield name, (offsets[place[0] - 1][0], offsets[place[1] - 1][1])
