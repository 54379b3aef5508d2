"""Scores of the two side lists: nearness in time (E39.2) and spreading activation over links (E5.1). Pure.

Must not do: read a calendar (`core.text` turns a phrase into moments), or read the graph (the caller hands over the
links that lead on from the current front).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

HOP_DECAY = 0.6
"""DECAY_PER_HOP (E5.1.2)."""

LEAST = 0.1
"""Activation below this is not followed, nor kept (E5.1.2, E5.1.3)."""

Links = Iterable[tuple[int, int, float]]
"""From, to, weight 0 to 1."""


def may_spread(value: float, weight: float) -> bool:
    """Whether activation leads on over a link at all: else the link need not be looked up.

    Args:
        value: of the node it leads away from, 0 to 1.
        weight: of the link, 0 to 1.
    """
    return value * min(max(weight, 0.0), 1.0) * HOP_DECAY >= LEAST


def spread_activation(
    seeds: Mapping[int, float], links_of: Callable[[Mapping[int, float]], Links], hops: int
) -> dict[int, float]:
    """Spread activation: level x weight x 0.6 a hop, the greatest counts and never the sum (E5.1.2).

    Args:
        seeds: node to activation, 0 to 1.
        links_of: the links that lead away from some nodes, given with their activation; called once a hop. Those over
            which nothing `may_spread` may be left out.
        hops: how far, 0 or more.

    Returns:
        Node to activation, seeds included, nothing under `LEAST`.
    """
    level = {node: value for node, value in seeds.items() if value >= LEAST}
    front = dict(level)
    for _ in range(hops):
        if not front:
            break
        reached: dict[int, float] = {}
        for start, end, weight in links_of(front):
            given = front[start] * min(max(weight, 0.0), 1.0) * HOP_DECAY
            if given >= LEAST and given > level.get(end, 0.0):
                reached[end] = max(given, reached.get(end, 0.0))
        level.update(reached)
        front = reached
    return level


Values = NDArray[np.float64]
_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
LEAST_SIGMA_H = 6.0
"""Our choice, as E39.2 gives none: the width of a question that speaks of a single moment."""

OPEN_H, OPEN_SIGMA_H = 24.0 * 400, 24.0 * 7
"""Our choice: a range with a longer half than this is open to one side, and how soon nearness falls outside of it."""

TOLD_LATER_DAYS = 3.0
"""Our choice: people tell of a day for some days afterwards; what is said then still speaks of it, half as surely."""


def time_proximity(at_ms: ArrayLike, from_ms: int, to_ms: int) -> Values:
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
