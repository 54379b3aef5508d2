"""How near a memory lies to the time that a question speaks of. Pure.

Must not do: read a calendar; `core.text` turns a phrase into moments.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]
_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
LEAST_SIGMA_H = 6.0
"""Our choice, as E39.2 gives none: the width of a question that speaks of a single moment."""

OPEN_H, OPEN_SIGMA_H = 24.0 * 400, 24.0 * 7
"""Our choice: a range with a longer half than this is open to one side, and how soon nearness falls outside of it."""

TOLD_LATER_DAYS = 3.0
"""Our choice: people tell of a day for some days afterwards; what is said then still speaks of it, half as surely."""


def proximity(at_ms: ArrayLike, from_ms: int, to_ms: int) -> Values:
    """exp(-d^2 / (2 sigma^2)), d from the middle of the range, sigma half the range and at least six hours (E39.2).

    What was said within some days after the range counts too: at most one half, halved again each `TOLD_LATER_DAYS`.

    Args:
        at_ms: when memories were said or happened, epoch ms.
        from_ms: first moment of the range.
        to_ms: first moment after it.

    Returns:
        0 to 1 each; 1 in the middle of the range.
    """
    at = np.asarray(at_ms, np.float64)
    middle, half_h = (from_ms + to_ms) / 2.0, (to_ms - from_ms) / 2.0 / _HOUR_MS
    sigma = max(LEAST_SIGMA_H, half_h)
    near = np.exp(-0.5 * np.square(np.minimum(np.abs(at - middle) / _HOUR_MS / sigma, 40.0)))
    if half_h > OPEN_H:
        # "Until May" has its middle centuries ago: all of it is as near, and what lies outside soon is not.
        outside_h = np.maximum(np.maximum(from_ms - at, at - to_ms), 0.0) / _HOUR_MS
        near = np.exp(-0.5 * np.square(np.minimum(outside_h / OPEN_SIGMA_H, 40.0)))
    days_after = (at - to_ms) / _DAY_MS
    later = np.where(days_after >= 0, 0.5 * np.exp2(-np.clip(days_after, 0.0, 3000.0) / TOLD_LATER_DAYS), 0.0)
    return np.asarray(np.maximum(near, later), np.float64)
