"""How likely two memories are near by chance: of many memories, some are near any text.

A relation model learns from pairs that belong together. In a vault of thousands the nearest memories of a newcomer are
mostly strangers, so that its answers must be weighed with how many strangers are to be expected. Must not do: read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from core.types.belief import Label, Relation


@dataclass(frozen=True, slots=True)
class ChanceModel:
    """How cosines of unrelated texts thin out upwards, for one embedder: `share * exp(-fall * (cosine - at))`.

    Attributes:
        share: of unrelated pairs are at least as near as `at`.
        at: that cosine.
        fall: how fast they become fewer.
    """

    share: float
    at: float
    fall: float


MINILM = ChanceModel(share=0.074, at=0.2, fall=17.8)
"""All-MiniLM-L6-v2, over 490,000 pairs of notes of the project's own training set that do not belong together."""


def expected_chance_neighbours(cosine: float, others: int, known: ChanceModel = MINILM) -> float:
    """How many unrelated memories are at least as near.

    Args:
        cosine: how near, -1 to 1.
        others: how many memories there are.
        known: the embedder's.

    Returns:
        0 or more; at most `others`.
    """
    return max(0, others) * min(1.0, known.share * math.exp(-known.fall * (cosine - known.at)))


def relevance_probability(cosine: float, others: int, known: ChanceModel = MINILM) -> float:
    """Probability that a memory is near because it is related, and not by chance.

    Args:
        cosine: how near, -1 to 1.
        others: how many memories it was picked from.
        known: the embedder's.

    Returns:
        Above 0, up to 1.
    """
    return 1.0 / (1.0 + expected_chance_neighbours(cosine, others, known))


def discount_chance(relation: Relation, cosine: float, others: int, known: ChanceModel = MINILM) -> Relation:
    """A relation with the share that is due to chance given to COEXIST.

    Args:
        relation: what the model says of a pair that belongs together.
        cosine: how near the two are.
        others: how many memories it was picked from.
        known: the embedder's.

    Returns:
        The relation; its probabilities sum to 1 as before. With few memories hardly anything changes.
    """
    belongs = relevance_probability(cosine, others, known)
    shares: Mapping[Label, float] = {
        label: belongs * share + (1.0 - belongs if label is Label.COEXIST else 0.0)
        for label, share in relation.probabilities.items()
    }
    label = max(shares, key=lambda one: (shares[one], one is relation.label))
    confidence = relation.confidence * belongs if label is relation.label is not Label.COEXIST else shares[label]
    if label is relation.label is Label.COEXIST:
        confidence = belongs * relation.confidence + 1.0 - belongs
    return Relation(label, confidence, shares, relation.by, relation.reason)
