"""Maximal marginal relevance: what says the same as something above it comes later. Pure.

Must not do: drop anything.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


def likeness(cosines: Values, near: float) -> Values:
    """How much two memories say the same: 0 up to a cosine of `near`, 1 at a cosine of 1.

    Two messages of one talk are always somewhat alike; only what lies above that is repetition.

    Args:
        cosines: -1 to 1.
        near: the cosine from which likeness counts, below 1.

    Returns:
        0 to 1, of the same shape.
    """
    return np.asarray(np.clip((cosines - near) / (1.0 - near), 0.0, 1.0), np.float64)


def diversified(scores: Values, alike: Values, trade: float) -> tuple[tuple[int, ...], Values, Values]:
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
