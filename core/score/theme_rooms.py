"""Who belongs into the room of a theme: those who speak of it, and of their kin so many that the name stays true.

A theme is a name and the memories that speak of it. Where a memory speaks of several, the nearest in meaning takes it.
Kin that speak of none join the nearest theme, the nearest first, as long as the weight of those who speak of it is at
least `LEAST_COVERAGE` of the room's. The same input always gives the same outcome. Must not do: name a theme, read a
text, a clock or a vault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.score.topics import FAR, Groups, Vectors, mean_directions

LEAST_COVERAGE = 0.5
"""Share of a room's weight that speaks of its name at least."""
GROUND_WEIGHT = 0.5
"""What small talk weighs beside a statement: it is about what was said before, whatever its own words are."""
NONE = -1
_NEXT_TO = 0.15
"""What being said right before or after one who speaks of a theme counts, as cosine."""


_FARTHER, _OF_NEARNESS = 0.05, 0.65
"""Kin is at least this part as near to a theme as all but so few of those who speak of it."""


@dataclass(frozen=True, slots=True)
class Gathering:
    """What is gathered, one entry for each memory, in the order in which they were said.

    Attributes:
        vectors: unit rows, (n, dims).
        talks: the conversation of each as a number; -1 for none.
        weights: what each counts in a room, above 0.
    """

    vectors: Vectors
    talks: Groups
    weights: NDArray[np.float64]


def assign_speakers(gathering: Gathering, speakers: Sequence[Groups], least: int) -> Groups:
    """Give each memory that speaks of themes the nearest of them.

    Args:
        speakers: of each theme the places of those who speak of it.
        least: how many a theme needs; one that keeps fewer gives its speakers to the others.

    Returns:
        The theme of each memory, or `NONE`.
    """
    kept = [place for place, those in enumerate(speakers) if len(those) >= least]
    while True:
        found = _take_nearest(gathering, speakers, kept)
        small = [place for place in kept if int((found == place).sum()) < least]
        if not small:
            return found
        # The smallest alone: what it gives back may be enough for the next.
        kept.remove(min(small, key=lambda place: (int((found == place).sum()), -place)))


def _take_nearest(gathering: Gathering, speakers: Sequence[Groups], kept: Sequence[int]) -> Groups:
    found = np.full(len(gathering.vectors), NONE, np.int64)
    best = np.full(len(gathering.vectors), -np.inf)
    for place in kept:
        those = speakers[place]
        near = gathering.vectors[those] @ _theme_centre(gathering.vectors, those)
        better = near > best[those]
        found[those[better]] = place
        best[those[better]] = near[better]
    return found


def add_kin(gathering: Gathering, themes: Groups, count: int, least_cosine: float = FAR) -> Groups:
    """Let those without a theme join the one they are nearest to, while enough of its room speaks of it.

    Args:
        themes: of each memory the theme it speaks of, or `NONE`.
        count: of themes.
        least_cosine: who is farther from every theme joins none.

    Returns:
        The theme of each memory, or `NONE`; who had one keeps it.
    """
    found = themes.copy()
    speaking = np.flatnonzero(themes >= 0)
    rest = np.flatnonzero(themes < 0)
    if not speaking.size or not rest.size:
        return found
    centres = mean_directions(gathering.vectors[speaking], themes[speaking], count)
    near = gathering.vectors[rest] @ centres.T
    for step in (-1, 1):
        beside = np.clip(rest + step, 0, len(themes) - 1)
        is_beside = (themes[beside] >= 0) & (gathering.talks[rest] >= 0)
        is_beside &= gathering.talks[beside] == gathering.talks[rest]
        near[np.flatnonzero(is_beside), themes[beside[is_beside]]] += _NEXT_TO
    own = np.bincount(themes[speaking], gathering.weights[speaking], minlength=count)
    left = own * (1 - LEAST_COVERAGE) / LEAST_COVERAGE
    near[:, own == 0] = -np.inf
    places, options = np.nonzero(near >= _usual_nearness(gathering.vectors, themes, centres, least_cosine))
    for at in np.argsort(-near[places, options], kind="stable").tolist():
        member, theme = int(rest[places[at]]), int(options[at])
        if found[member] == NONE and left[theme] >= gathering.weights[member]:
            found[member] = theme
            left[theme] -= gathering.weights[member]
    return found


def _usual_nearness(vectors: Vectors, themes: Groups, centres: Vectors, least: float) -> NDArray[np.float32]:
    """How near to each theme kin is at least: nearly as near as who speaks of it, `least` at least."""
    found = np.full(len(centres), least, np.float32)
    for theme in range(len(centres)):
        own = np.flatnonzero(themes == theme)
        if own.size:
            found[theme] = max(least, _OF_NEARNESS * float(np.quantile(vectors[own] @ centres[theme], _FARTHER)))
    return found


def cohesion(vectors: Vectors, those: Groups) -> float:
    """How near those are to one another: the mean cosine of two different ones; 0 for fewer than two."""
    if len(those) < 2:
        return 0.0
    total = vectors[those].sum(axis=0, dtype=np.float64)
    return (float(total @ total) - len(those)) / (len(those) * (len(those) - 1))


def _theme_centre(vectors: Vectors, those: Groups) -> Vectors:
    centre: Vectors = mean_directions(vectors[those], np.zeros(len(those), np.int64), 1)[0]
    return centre
