"""Who belongs into the room of a theme: those who speak of it, and some of their kin and of the talk around them.

A theme is a name and the memories that speak of it. Where a memory speaks of several, the nearest in meaning takes it.
Kin that speak of none join the nearest theme, the nearest first, as long as those who speak of it have at least
`LEAST_COVERAGE` of their weight and that of the kin together. Then follow those who were said beside the room's own, as
long as those who speak of it have at least `LEAST_WITH_TALK` of the weight of all that are there by then; small talk
weighs nothing. What threads of talk carry into a room before and after that keeps to no share. The same input always
gives the same outcome. Must not do: name a theme, read a text, a clock or a vault.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.score.centres import FAR, Groups, Vectors, mean_directions

LEAST_COVERAGE = 0.55
"""Share that those who speak of a theme have at least of their weight and that of its kin together."""
LEAST_WITH_TALK = 0.45
"""Share that they have at least of all that is there while more joins from the midst of its talk."""
GROUND_WEIGHT = 0.5
"""What small talk weighs beside a statement: it is about what was said before, whatever its own words are."""
NONE = -1
_NEXT_TO = 0.15
"""What being said right before or after one who speaks of a theme counts, as cosine."""
_REACH = 2
"""So many turns away is what a turn may go on with."""
_OWN_STATEMENT, _BETWEEN, _REPLY = 3.0, 2.0, 1.0
"""What was made of a memory joins it first, then what stands between two of a theme, then small talk after one."""

_FARTHER, _OF_NEARNESS, _BESIDE = 0.25, 0.8, 0.5
"""Kin is at least this part as near to a theme as all but so few of those who speak of it; what was said right beside
its own may be farther."""


@dataclass(frozen=True, slots=True)
class Gathering:
    """What is gathered, one entry for each memory, in the order in which they were said.

    Attributes:
        vectors: unit rows, (n, dims).
        talks: the conversation of each as a number; -1 for none.
        weights: what each counts in a room, above 0.
        origins: of each statement the place of the memory it was made of; -1 for none.
        is_small: who is small talk, and no kin of a theme; None for nobody.
    """

    vectors: Vectors
    talks: Groups
    weights: NDArray[np.float64]
    origins: Groups | None = None
    is_small: NDArray[np.bool_] | None = None

    def may_join(self, themes: Groups) -> NDArray[np.bool_]:
        """Who has no theme yet, and says something that may be of one."""
        return (themes < 0) if self.is_small is None else (themes < 0) & ~self.is_small


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


def add_kin(
    gathering: Gathering, themes: Groups, count: int, least_cosine: float = FAR, closed: Sequence[int] = ()
) -> Groups:
    """Let those without a theme join the one they are nearest to, while enough of its room speaks of it.

    Args:
        themes: of each memory the theme it speaks of, or `NONE`.
        count: of themes.
        least_cosine: who is farther from every theme joins none.
        closed: themes that have no kin.

    Returns:
        The theme of each memory, or `NONE`; who had one keeps it.
    """
    found = themes.copy()
    speaking = np.flatnonzero(themes >= 0)
    rest = np.flatnonzero(gathering.may_join(themes))
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
    near[:, list(closed)] = -np.inf
    places, options = np.nonzero(near >= _usual_nearness(gathering.vectors, themes, centres, least_cosine))
    for at in np.argsort(-near[places, options], kind="stable").tolist():
        member, theme = int(rest[places[at]]), int(options[at])
        if found[member] == NONE and left[theme] >= gathering.weights[member]:
            found[member] = theme
            left[theme] -= gathering.weights[member]
    return found


def follow_talk(gathering: Gathering, speaking: Groups, themes: Groups, count: int) -> Groups:
    """Let those without a theme go where the turns around them went, or what was made of them.

    Args:
        speaking: of each memory the theme it speaks of, or `NONE`.
        themes: the same with the kin that joined.
        count: of themes.

    Returns:
        The theme of each memory, or `NONE`; who had one keeps it.
    """
    found = themes.copy()
    placed = np.flatnonzero(themes >= 0)
    if not placed.size:
        return found
    centres = mean_directions(gathering.vectors[placed], themes[placed], count)
    usual = _usual_nearness(gathering.vectors, speaking, centres, 0.0, _BESIDE)
    told = speaking >= 0
    left = np.bincount(speaking[told], gathering.weights[told], minlength=count) / LEAST_WITH_TALK
    left -= np.bincount(themes[placed], gathering.weights[placed], minlength=count)
    may_join = gathering.may_join(themes)
    options = [
        (-rank, -near, member, theme)
        for member, theme, rank in (*_from_statements(gathering, speaking, themes), *_from_turns(gathering, themes))
        for near in (round(float(gathering.vectors[member] @ centres[theme]), 6),)
        if may_join[member] and (rank > 0 or near >= usual[theme])
    ]
    for _, _, member, theme in sorted(options):
        if found[member] == NONE and left[theme] >= gathering.weights[member]:
            found[member] = theme
            left[theme] -= gathering.weights[member]
    return found


def _from_statements(gathering: Gathering, speaking: Groups, themes: Groups) -> Iterator[tuple[int, int, float]]:
    """A statement and the theme of its memory; a memory and the theme that its statement speaks of."""
    if gathering.origins is None:
        return
    for member in np.flatnonzero(gathering.origins >= 0).tolist():
        origin = int(gathering.origins[member])
        if themes[member] == NONE and themes[origin] >= 0:
            yield member, int(themes[origin]), _OWN_STATEMENT
        elif themes[origin] == NONE and speaking[member] >= 0:
            yield origin, int(speaking[member]), _OWN_STATEMENT


def _from_turns(gathering: Gathering, themes: Groups) -> Iterator[tuple[int, int, float]]:
    """A turn without a theme, and the themes before and after it in its conversation, with how sure they are."""
    for member in np.flatnonzero((themes == NONE) & (gathering.talks >= 0)).tolist():
        before, after = (_theme_beside(gathering.talks, themes, member, step) for step in (-1, 1))
        is_small = gathering.weights[member] < 1.0
        if before == after != NONE:
            yield member, before, _BETWEEN
            continue
        if before != NONE:
            yield member, before, _REPLY if is_small else 0.0
        if after != NONE:
            yield member, after, 0.0


def _theme_beside(talks: Groups, themes: Groups, member: int, step: int) -> int:
    """The theme of the nearest turn in one direction that has one and is within reach."""
    for place in range(member + step, member + step * (_REACH + 1), step):
        if not 0 <= place < len(themes) or talks[place] != talks[member]:
            return NONE
        if themes[place] >= 0:
            return int(themes[place])
    return NONE


def _usual_nearness(
    vectors: Vectors, themes: Groups, centres: Vectors, least: float, part: float = _OF_NEARNESS
) -> NDArray[np.float32]:
    """How near to each theme kin is at least: nearly as near as who speaks of it, `least` at least."""
    found = np.full(len(centres), least, np.float32)
    for theme in range(len(centres)):
        own = np.flatnonzero(themes == theme)
        if own.size:
            found[theme] = max(least, part * float(np.quantile(vectors[own] @ centres[theme], _FARTHER)))
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
