"""Which memories a room is known by: central, important and used, told in a line, and unlike each other.

Must not do: read a text or a vault, or prefer one of two equals by chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.lifecycle.palace.clarity import HARDLY

MOST = 6
"""Landmarks of a room at most."""
FEWEST = 3
_EACH = 12
"""So many memories more give a room one landmark more."""
_LIKE = 0.85
"""Cosine from which on two say the same, so that one of them is enough."""
_APART = 0.5
"""Cosine up to which two are as different as need be."""
_OFF_CENTRE = 0.2
_USE = 0.3


@dataclass(frozen=True, slots=True)
class LandmarkCandidates:
    """Who may be a landmark, one entry for each.

    Attributes:
        vectors: unit rows, (n, dims).
        importance: 0 to 1.
        uses: how often each was given as an answer.
        clarity: 0 to 1, how well its text reads as a line; 0 for who cannot be a landmark.
    """

    vectors: NDArray[np.float32]
    importance: NDArray[np.float64]
    uses: NDArray[np.int64]
    clarity: NDArray[np.float64]


def landmark_count(members: int) -> int:
    """How many landmarks a room of so many memories has: 3 to 6, as far as it has memories."""
    return min(members, MOST, FEWEST + members // _EACH)


def score_landmarks(found: LandmarkCandidates) -> NDArray[np.float64]:
    """How well each would do: centrality in the room times importance, use and clarity; 0 or more."""
    if not len(found.vectors):
        return np.zeros(0, np.float64)
    centre = found.vectors[found.clarity > 0].sum(axis=0)
    norm = float(np.linalg.norm(centre))
    central = found.vectors @ centre / norm if norm else np.zeros(len(found.vectors))
    use = 1.0 + _USE * np.log1p(found.uses)
    scores = (_OFF_CENTRE + np.maximum(0.0, central)) * (0.5 + found.importance) * use * found.clarity
    # Rounded: the last bits differ from one processor to the next, the choice must not.
    return np.asarray(np.round(scores.astype(np.float64), 6))


def choose_landmarks(found: LandmarkCandidates, count: int, standing: Sequence[int] = ()) -> list[int]:
    """Choose landmarks one by one: the best of those that are unlike the chosen.

    Args:
        count: how many more are wanted.
        standing: which of the candidates are landmarks already.

    Returns:
        Places among the candidates, the best first; fewer where there are no more.
    """
    scores = score_landmarks(found)
    nearest = np.full(len(scores), -math.inf)
    for place in standing:
        nearest = np.maximum(nearest, found.vectors @ found.vectors[place])
        scores[place] = 0.0
    chosen: list[int] = []
    while len(chosen) < count:
        apart = 1.0 - np.clip((nearest - _APART) / (1.0 - _APART), 0.0, 1.0)
        worth = np.where(nearest < _LIKE, scores * apart, scores * 1e-3)
        best = int(np.argmax(np.round(worth, 9))) if len(worth) else 0
        is_enough = bool(chosen or len(standing)) and len(worth) > 0 and found.clarity[best] <= HARDLY
        if not len(worth) or worth[best] <= 0.0 or is_enough:
            break
        chosen.append(best)
        scores[best] = 0.0
        nearest = np.maximum(nearest, found.vectors @ found.vectors[best])
    return chosen
