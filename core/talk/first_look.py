"""A first look at a sentence: a small net that spares the reader model those that are surely not told.

It sees the word vectors of the sentence's own tokens, which are written with a capital, and a few signs of what stands
around them; training and running share `look_at`. It says how likely the reader would let the sentence be told, and how
likely it states anything at all. Must not do: say what a sentence states, fetch anything, or keep a text.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.talk.reader_features import CAPITAL, OTHER, OWN, SentenceFeatures
from core.types.talk import Assertion, Reading, SentenceInContext, StatementType

FILE = "first_look.npz"
MOST_TOKENS = 32
SIGNS = 5
RAISED = 3.0
"""What word vectors are multiplied by: theirs are short."""
SHAPES = ("project", "project_bias", "join", "join_bias", "head", "head_bias", "out", "out_bias")
"""Arrays of the file: (width + 1, n), (n,), (3 * n, m), (m,), (2 * m + SIGNS, h), (h,), (h, 2), (2,)."""


@dataclass(frozen=True, slots=True)
class FirstLook:
    """The net.

    Attributes:
        weights: by the names in `SHAPES`.
        told_from: likelihood that the reader lets a sentence be told, from which the reader is asked.
        worthy_from: likelihood that it states something, from which one that the reader is not asked about does.
    """

    weights: Mapping[str, NDArray[np.float32]]
    told_from: float
    worthy_from: float

    @classmethod
    def open(cls, data: bytes, limits: Mapping[str, Any]) -> FirstLook:
        """Read it.

        Args:
            data: the file.
            limits: `told_from` and `worthy_from`, each 0 to 1.

        Raises:
            ValueError: it is not such a file.
        """
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            weights = {name: arrays[name].astype(np.float32) for name in arrays.files}
        if set(weights) != set(SHAPES) or not all(np.isfinite(one).all() for one in weights.values()):
            raise ValueError("not the weights of a first look")
        return cls(weights, float(limits["told_from"]), float(limits["worthy_from"]))

    def weigh(self, seen: tuple[NDArray[np.float32], NDArray[np.float32]]) -> tuple[float, float]:
        """How likely a sentence is told, and how likely it states anything, 0 to 1.

        Args:
            seen: what `look_at` gives.
        """
        tokens, signs = seen
        found = self.weights
        rows = _layer(tokens, found["project"], found["project_bias"])
        width = rows.shape[1]
        around = np.zeros((len(rows), 3 * width), np.float32)  # each row between the one before and the one behind it
        around[1:, :width], around[:, width : 2 * width], around[:-1, 2 * width :] = rows[:-1], rows, rows[1:]
        joined = _layer(around, found["join"], found["join_bias"])
        pooled = np.concatenate([joined.max(0), joined.sum(0) / 10, signs])
        logits = _layer(pooled, found["head"], found["head_bias"]) @ found["out"] + found["out_bias"]
        told, states = (1 / (1 + math.exp(-min(30.0, max(-30.0, one)))) for one in logits.tolist())
        return told, states

    def settle(self, seen: tuple[NDArray[np.float32], NDArray[np.float32]]) -> Reading | None:
        """The reading of a sentence that is not told; None where the reader is to be asked."""
        told, states = self.weigh(seen)
        if told >= self.told_from:
            return None
        likely = states if states >= self.worthy_from else 0.0
        return Reading(StatementType.NONE, likely, Assertion.NONE, 0.0, 0.0, 0.0)


def _layer(rows: NDArray[np.float32], weights: NDArray[np.float32], bias: NDArray[np.float32]) -> NDArray[np.float32]:
    """What a layer of the net makes of rows: nothing below 0."""
    found = rows @ weights
    found += bias
    return np.asarray(np.maximum(found, 0, out=found), np.float32)


def look_at(
    sentence: SentenceInContext, features: SentenceFeatures, words: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What the net sees of a sentence.

    Args:
        sentence: with what was said before it.
        features: of it, as the reader reads it.
        words: the vector of each of those tokens.

    Returns:
        A row for each of its first tokens, shape (at least 1, width + 1), and the signs around them, shape (SIGNS,).
    """
    end = 1 + max(1, min(len(features.offsets), MOST_TOKENS))  # an empty sentence has its separator
    tokens = np.empty((end - 1, words.shape[1] + 1), np.float32)
    np.multiply(words[1:end], np.float32(RAISED), out=tokens[:, :-1])
    tokens[:, -1] = features.kinds[1:end] == CAPITAL
    kinds = features.kinds[end:].tolist()  # what stands before it is read behind it
    is_own, is_other = OWN in kinds, OTHER in kinds
    is_asked = is_other and not is_own and sentence.before[-1].rstrip().endswith("?")
    is_called = sentence.text.rstrip().endswith("!")
    signs = np.array([is_asked, is_own, is_other, is_called, len(features.offsets) / 20], np.float32)
    return tokens, signs
