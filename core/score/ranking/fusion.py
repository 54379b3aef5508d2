"""Adding up what several ranked lists say: term weights, evidence, weighted reciprocal rank fusion.

Must not do: filter or drop candidates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
Ranks = NDArray[np.float64]


def term_weight(documents: int, frequency: int) -> float:
    """How much a query term tells: ln(1 + (N - n + 0.5) / (n + 0.5)), Robertson and Sparck Jones, never below zero.

    Args:
        documents: memories searched, N.
        frequency: memories that have the term, n; more than N counts as N.

    Returns:
        The weight, above 0.
    """
    n = min(max(frequency, 0), max(documents, 0))
    return math.log(1.0 + (max(documents, 0) - n + 0.5) / (n + 0.5))


def rank_scores(scores: Sequence[float] | Scores) -> Ranks:
    """Ranks of scores, best first from 1.

    Args:
        scores: any finite numbers; NaN means that the item is not in the list.

    Returns:
        One rank each, infinite where the item is not in the list. Equal scores share the better rank, so that the
        order of the input never decides.
    """
    values = np.asarray(scores, np.float64)
    result = np.full(values.shape, np.inf)
    listed = np.flatnonzero(~np.isnan(values))
    ordered = np.sort(-values[listed])
    result[listed] = np.searchsorted(ordered, -values[listed], side="left") + 1.0
    return result


def fuse_ranks(lists: Mapping[str, Ranks], weights: Mapping[str, float], k: float) -> Scores:
    """Weighted reciprocal rank fusion: sum over lists of w / (k + rank) (E9.2.2, C25), scaled to 0..1.

    Args:
        lists: ranks by list; all of one length.
        weights: weight by list, 0 or more; a list without a weight counts nothing.
        k: the constant, above 0; 60 by default (Cormack, Clarke and Buettcher 2009).

    Returns:
        One score each; 1 for an item that leads every list that has a weight.
    """
    length = next(iter(lists.values())).size if lists else 0
    total = np.zeros(length)
    best = 0.0
    for name, places in lists.items():
        weight = weights.get(name, 0.0)
        total += weight / (k + places)
        best += weight / (k + 1.0)
    return total / best if best > 0 else total


def evidence_score(cosine: Scores, coverage: Scores, cosine_weight: float) -> Scores:
    """How strongly an item answers, before any ranking: the weighted cosine and the coverage.

    Args:
        cosine: -1 to 1; below 0 counts as 0.
        coverage: 0 to 1.
        cosine_weight: what a cosine of 1 is worth beside a coverage of 1.

    Returns:
        0 to `cosine_weight` + 1.
    """
    return cosine_weight * np.clip(cosine, 0.0, 1.0) + coverage


def blend_weights(text_weight: float) -> tuple[float, float]:
    """What meaning and words are worth under a text weight (E35.2); at one half both are as the profile has them.

    Args:
        text_weight: 0 (meaning alone) to 1 (words alone).

    Returns:
        Factors of meaning and of words, 0 to 2; together 2.
    """
    return 2.0 * (1.0 - text_weight), 2.0 * text_weight


USUAL_BYTES, MOST_BYTES = 80.0, 400.0
"""A message of one sentence, and the size from which a longer one is no richer (our choice)."""


def substance_factor(asks: NDArray[np.bool_], size: Scores, asking: float, saying: float) -> Scores:
    """What the form of a message tells of it as an answer: one that only asks seldom answers, a longer one says more.

    Our own, fitted on conversations written for it (`tests/bench/heldout/conversations`); where the fit is taken from
    either of two quite different sets of conversations, it helps on the other.

    Args:
        asks: whether it ends in a question.
        size: bytes of its text; below 0 for what is no message but knowledge, which counts as a rich one.
        asking: what asking takes away.
        saying: what a size of e times the usual adds.

    Returns:
        What to add to the evidence, about -0.3 to 0.2.
    """
    ratio = np.log(np.clip(np.where(size < 0, MOST_BYTES, size), 8.0, MOST_BYTES) / USUAL_BYTES)
    return np.asarray(saying * ratio - np.where(asks & (size >= 0), asking, 0.0), np.float64)
