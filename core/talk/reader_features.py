"""What the reader model reads of a sentence: its tokens, then what was said before it, and what kind of token each is.

Training and running share this file, so the model always sees in use what it saw when it learned. The tokenizer knows
no capitals; a word that is written with one without beginning the sentence has a kind of its own. Must not do: decide
anything, or keep a text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.embed.embedder import WordTokens
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
_MOST_CHARS = 16
"""Characters a token that are read of what was said before; few words are longer, and far more would be thrown away."""
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


class TextTokens:
    """A tokenizer that reads the same text once in a call: what is said stands before all that is said next."""

    def __init__(self, tokenizer: Any, word_tokens: WordTokens | None = None) -> None:
        """Nothing is read yet.

        Args:
            tokenizer: the embedder's, without padding and truncation.
            word_tokens: reads by it; None for one of this call alone.
        """
        self._tokenizer = tokenizer
        self._word_tokens = word_tokens or WordTokens(tokenizer)
        self._texts: dict[str, tuple[list[int], list[tuple[int, int]]]] = {}
        self._ends: dict[tuple[str, int], list[int]] = {}
        self.first = int(tokenizer.token_to_id("[CLS]"))
        self.separator = int(tokenizer.token_to_id("[SEP]"))

    def read(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Ids and offsets of a text's tokens."""
        found = self._texts.get(text)
        if found is None:
            found = self._texts[text] = self._word_tokens.read(text)
        return found

    def read_end(self, pieces: Sequence[str], most: int) -> list[int]:
        """The last tokens of texts that are joined by blanks.

        No token reaches over a blank, so the tokens of a piece are the same alone and among others.

        Args:
            most: how many; of characters that many times `_MOST_CHARS` are read.
        """
        ids: list[int] = []
        left = most * _MOST_CHARS
        for piece in reversed(pieces):
            if len(piece) > left:
                return self._read_cut(" ".join(pieces)[-most * _MOST_CHARS :], most)
            ids = [*self.read(replace_surrogates(piece))[0], *ids]
            left -= len(piece) + 1
            if len(ids) >= most:
                break
        return ids[-most:]

    def _read_cut(self, text: str, most: int) -> list[int]:
        """The last tokens of a long text: as a rule its last words have as many."""
        found = self._ends.get((text, most))
        if found is None:
            last = text.rsplit(" ", most)[1:]
            found = self._encode(" ".join(last)) if len(last) == most else []
            found = self._ends[text, most] = (found if len(found) >= most else self._encode(text))[-most:]
        return found

    def _encode(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(replace_surrogates(text), add_special_tokens=False).ids)


def encode_sentence(tokens: TextTokens, sentence: SentenceInContext) -> SentenceFeatures:
    """Read a sentence: `[CLS] sentence [SEP] turn before [SEP] this turn so far [SEP]`.

    Args:
        tokens: of the texts of this call.
        sentence: any text, also an empty one.
    """
    text = replace_surrogates(sentence.text[:SENTENCE_CHARS])
    earlier, own = _split_speaker_line(sentence.before)
    read, spans = tokens.read(text)
    ids, offsets = read[:SENTENCE_TOKENS], tuple(spans[:SENTENCE_TOKENS])
    capitals = {start for match in _CAPITAL.finditer(text) for start in range(match.start(), match.end())}
    kinds = [CAPITAL if start in capitals else WORD for start, _ in offsets]
    ids, kinds = [tokens.first, *ids, tokens.separator], [FRAME, *kinds, FRAME]
    for said, kind, most in ((earlier, OTHER, OTHER_TOKENS), (own, OWN, OWN_TOKENS)):
        piece = tokens.read_end(said, most) if said else []
        ids += [*piece, tokens.separator]
        kinds += [kind] * len(piece) + [FRAME]
    return SentenceFeatures(np.array(ids, np.int64), np.array(kinds, np.int64), offsets)


def _split_speaker_line(before: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    if before and _NAMED.match(before[0]):
        return before[:1], before[1:]
    return (), before


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
        tokens: shape (at least 1 + the sentence's, POINTERS); asked only where it states something.
        features: of the sentence they were made of.
        temperatures: what the logits of `type`, `assertion`, `lasting` and `worth` are divided by.
    """
    first, second = len(TYPES), len(TYPES) + len(ASSERTIONS)
    logits = sentence.tolist()
    types = _softmax_of_few(logits[:first], temperatures["type"])
    assertions = _softmax_of_few(logits[first:second], temperatures["assertion"])
    worths = _softmax_of_few(logits[second + 1 :], temperatures["worth"])
    kind = TYPES[types.index(max(types))]
    if kind is StatementType.NONE and worths[0] < 0.5:
        kind = TYPES[types.index(max(types[:-1]))]  # worth keeping by the other head: the likeliest type that is one
    return Reading(
        type=kind,
        statement=1 - worths[0],
        assertion=ASSERTIONS[assertions.index(max(assertions))],
        asserted=sum(assertions[:2]),
        lasting=1 / (1 + math.exp(-min(30.0, max(-30.0, logits[second] / temperatures["lasting"])))),
        worth=min(WORTHS - 1.0, sum(worth * share for worth, share in enumerate(worths))),
        spans=dict(_likeliest_spans(tokens, features.offsets)) if kind is not StatementType.NONE else {},
    )


def _softmax_of_few(logits: Sequence[float], temperature: float) -> list[float]:
    """`softmax` of a few logits: a list is done before an array is made."""
    most = max(logits)
    raised = [math.exp((logit - most) / temperature) for logit in logits]
    whole = sum(raised)
    return [one / whole for one in raised]


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logits as probabilities, along the last axis."""
    raised = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(raised / raised.sum(-1, keepdims=True), np.float64)


def _likeliest_spans(
    tokens: NDArray[np.float64], offsets: Sequence[tuple[int, int]]
) -> Iterator[tuple[str, tuple[int, int]]]:
    """The likeliest begin and end of each span, where together they are likelier than that there is none."""
    read = len(offsets)
    for nr, name in enumerate(SPANS):
        begins, ends = tokens[: read + 1, 2 * nr].tolist(), tokens[: read + 1, 2 * nr + 1].tolist()
        best, place, end = begins[0] + ends[0], None, read
        for start in range(read, 0, -1):
            end = start if ends[start] >= ends[end] else end
            score = begins[start] + ends[end]
            if score > best or (score == best and place is not None):  # of several the first
                best, place = score, (start, end)
        if place is not None:
            yield name, (offsets[place[0] - 1][0], offsets[place[1] - 1][1])
