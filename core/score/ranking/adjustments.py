"""What moves a relevance once it is fused: side signals, and maximal marginal relevance against repetition. Pure.

Confidence, recency, importance and utility may reorder near-equals and nothing more; what repeats something above it
comes later. Must not do: look at a query, or drop anything.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.score.ranking.profile import SideWeights


def redundancy(cosines: Values, near: float) -> Values:
    """How much two memories say the same: 0 up to a cosine of `near`, 1 at a cosine of 1.

    Two messages of one talk are always somewhat alike; only what lies above that is repetition.

    Args:
        cosines: -1 to 1.
        near: the cosine from which likeness counts, below 1.

    Returns:
        0 to 1, of the same shape.
    """
    return np.asarray(np.clip((cosines - near) / (1.0 - near), 0.0, 1.0), np.float64)


def diversify(scores: Values, alike: Values, trade: float) -> tuple[tuple[int, ...], Values, Values]:
    """Choose one after the other: the greatest score x (1 - (1 - trade) x likeness to what is chosen already).

    The form is multiplicative (our choice for E35.1 and X2): scores keep their scale, and what is chosen later never
    has a greater value, so that sorting by the values gives the order again.

    Args:
        scores: 0 to 1, best first; equal scores keep their order.
        alike: likeness of each pair, 0 to 1, square.
        trade: lambda; 1 keeps the order, 0 puts every repetition last.

    Returns:
        The order; the value of each by its place in `scores`; its greatest likeness to what was chosen before it.
    """
    count = scores.size
    if not (alike > np.eye(count)).any():  # nothing repeats anything, which is usual
        ordered = np.argsort(-scores, kind="stable")
        return tuple(ordered.tolist()), scores.astype(np.float64).copy(), np.zeros(count)
    order: list[int] = []
    values, most = scores.astype(np.float64).copy(), np.zeros(count)
    open_places = np.ones(count, np.bool_)
    for _ in range(count):
        now = np.where(open_places, scores * (1.0 - (1.0 - trade) * most), -1.0)
        best = int(np.argmax(now))
        order.append(best)
        values[best] = now[best]
        open_places[best] = False
        most = np.where(open_places, np.maximum(most, alike[best]), most)
    return tuple(order), values, most


Values = NDArray[np.float64]
_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class SideSignals:
    """The four side signals, each 0 to 1; see the functions of this module."""

    confidence: Values
    recency: Values
    importance: Values
    utility: Values


def recency_score(now_ms: int, at_ms: ArrayLike, half_life_days: float) -> Values:
    """How new something is: 2 ** (-age / half-life) (seed B; half-lives of the seeds are in the profiles).

    Args:
        at_ms: when it was said or happened, epoch ms; a future time counts as now.
        half_life_days: days, above 0.

    Returns:
        0 to 1.
    """
    age_days = np.maximum(0.0, (now_ms - np.asarray(at_ms, np.float64)) / _DAY_MS)
    return np.asarray(np.exp2(-np.minimum(age_days / half_life_days, 1000.0)), np.float64)


def utility_score(reinforcements: ArrayLike, disputes: ArrayLike, accesses: ArrayLike) -> Values:
    """How useful it proved: clamp01(0.5 + 0.1 r - 0.1 d + 0.05 ln(1 + accesses)) (E7, settled gap).

    Args:
        reinforcements: positive feedback, 0 or more.
        disputes: negative feedback, 0 or more.
        accesses: how often it was recalled, 0 or more.

    Returns:
        0 to 1.
    """
    told = 0.1 * (np.asarray(reinforcements, np.float64) - np.asarray(disputes, np.float64))
    used = 0.05 * np.log1p(np.asarray(accesses, np.float64))
    return np.asarray(np.clip(0.5 + told + used, 0.0, 1.0), np.float64)


def side_multiplier(signals: SideSignals, weights: SideWeights, bound: float) -> Values:
    """What the side signals do to a relevance.

    Each signal of 0..1 pulls down or up in proportion to its weight; together they stay within the bound, so an item
    whose relevance is more than (1 + bound) / (1 - bound) times another's always stands above it.

    Args:
        signals: the four signals.
        weights: their shares.
        bound: 0 to 1.

    Returns:
        1 - bound to 1 + bound.
    """
    if weights.total <= 0:
        return np.ones_like(signals.confidence)
    pull = (
        weights.confidence * (2 * signals.confidence - 1)
        + weights.recency * (2 * signals.recency - 1)
        + weights.importance * (2 * signals.importance - 1)
        + weights.utility * (2 * signals.utility - 1)
    ) / weights.total
    return 1.0 + bound * pull
