"""Side signals: confidence, recency, importance, utility. They may reorder near-equals and nothing more.

All functions take and give one number a memory. Must not do: look at a query.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.score.ranking.profile import SideWeights

Values = NDArray[np.float64]
_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Sides:
    """The four side signals, each 0 to 1; see the functions of this module."""

    confidence: Values
    recency: Values
    importance: Values
    utility: Values


def recency(now_ms: int, at_ms: ArrayLike, half_life_days: float) -> Values:
    """How new something is: 2 ** (-age / half-life) (seed B; half-lives of the seeds are in the profiles).

    Args:
        now_ms: the present, epoch ms.
        at_ms: when it was said or happened, epoch ms; a future time counts as now.
        half_life_days: days, above 0.

    Returns:
        0 to 1.
    """
    age_days = np.maximum(0.0, (now_ms - np.asarray(at_ms, np.float64)) / _DAY_MS)
    return np.asarray(np.exp2(-np.minimum(age_days / half_life_days, 1000.0)), np.float64)


def utility(reinforcements: ArrayLike, disputes: ArrayLike, accesses: ArrayLike) -> Values:
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


def multiplier(signals: Sides, weights: SideWeights, bound: float) -> Values:
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
