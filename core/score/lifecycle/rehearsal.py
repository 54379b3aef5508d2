"""Replay in numbers: who is drawn, and by how much a replay strengthens (E44.2, E45.C1, X56).

Must not do: read a vault.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.score.lifecycle.strength import MOST, Values, initial_strength

STEP = 0.2
"""What one replay adds to where strength begins (E44.2)."""
MOVED_ABOVE, MOVED_WEIGHT = 0.6, 2.0
"""Above this arousal a memory is drawn twice as often (E45.C1)."""


def boosted(importance: ArrayLike, arousal: ArrayLike, boost: ArrayLike) -> Values:
    """The boost after one more replay: +0.2, as far as the beginning stays within 1.5 (X56).

    Args:
        importance: 0 to 1, one number a memory; so are the others.
        arousal: 0 to 1.
        boost: of earlier replays, 0 to 1.

    Returns:
        0 to 1, never below the boost given.
    """
    had = np.asarray(boost, np.float64)
    room = MOST - initial_strength(importance, arousal)
    return np.asarray(np.maximum(had, np.minimum(np.minimum(had + STEP, 1.0), room)), np.float64)


def draw(arousal: ArrayLike, count: int, seed: int) -> NDArray[np.int64]:
    """Draw some without putting them back, what moved twice as likely (E45.C1; Efraimidis and Spirakis 2006).

    Args:
        arousal: 0 to 1, one number a memory, in an order that does not change.
        count: how many at most.
        seed: the same seed draws the same.

    Returns:
        Places of those drawn, the first drawn first.
    """
    moved = np.asarray(arousal, np.float64)
    weights = np.where(moved > MOVED_ABOVE, MOVED_WEIGHT, 1.0)
    keys = np.log(np.maximum(np.random.default_rng(seed).random(len(weights)), np.finfo(np.float64).tiny)) / weights
    return np.asarray(np.argsort(-keys, kind="stable")[: max(0, count)], np.int64)
