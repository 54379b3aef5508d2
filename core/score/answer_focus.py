"""Which memories of an answer a context keeps: those with enough of the best one's evidence.

A clear first answers by itself; behind any other more is kept, the more the weaker it is. Must not do: look at a query
or a text, search, read a vault.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.score.profile import Focus

Flags = NDArray[np.bool_]
Values = NDArray[np.float64]
_LEAST = 1e-9
_RISE = 0.2
"""Over so much of the first's strength, below that of a clear one, the share rises."""


@dataclass(frozen=True, slots=True)
class AnswerRows:
    """The memories of a recall's answer as columns of their evidence, best first.

    Attributes:
        evidence: how strongly each answers, 0 or more.
        own: which words of the question each has itself; a column for each word.
        near: which it or a neighbour in its conversation has.
        weights: what each word tells, above 0.
        bounded: whether another client says it: by that nothing else is measured.
        strongest: the greatest evidence there can be.
        asks: whether the first only asks: what asks the same answers nothing.
        several: whether the question wants more than one thing.
    """

    evidence: Values
    own: Flags
    near: Flags
    weights: Values
    bounded: Flags
    strongest: float
    asks: bool = False
    several: bool = False

    @property
    def first(self) -> int:
        """The first memory of an answer that others are measured by."""
        return int(np.argmin(self.bounded))

    @property
    def best(self) -> float:
        """The greatest evidence among the memories of an answer, those that another client says left out."""
        free = self.evidence if self.bounded.all() else self.evidence[~self.bounded]
        return max(float(free.max()), _LEAST)

    def coverage_of(self, has: Flags) -> Values:
        """The share of the question's words that each row of `has` holds, by what they tell."""
        total = float(self.weights.sum())
        return np.asarray(has @ self.weights / total if total > 0 else np.zeros(len(has)), np.float64)


def is_clear_answer(found: AnswerRows, focus: Focus) -> bool:
    """Whether the first memory of an answer answers the question by itself.

    It has the words of the question itself, comes near the greatest evidence there can be, and few come near it.

    Args:
        found: what the answer holds, one or more.

    Returns:
        Whether it does; never where several things are asked for, where the first only asks, or where other clients
        alone answer.
    """
    if found.several or found.asks or not found.weights.size or found.bounded.all():
        return False
    rivals = int((found.evidence >= focus.near * found.best).sum())
    words = float(found.coverage_of(found.own[found.first][None])[0])
    strength = float(found.evidence[found.first]) / max(found.strongest, _LEAST)
    return words >= focus.words and strength >= focus.evidence and rivals <= focus.rivals


def select_focus(found: AnswerRows, focus: Focus) -> Flags:
    """Which memories of a recall's answer are kept, by their share of the best one's evidence.

    Behind a clear first: what has `clear` of the best evidence, and what stands in a conversation that holds the words
    too. Behind any other: the first `kept`, and what has a share of the best evidence that rises with it from `weak` to
    `strong`; `weak` where several things are asked for. The first that has a word of the question stays either way.

    Returns:
        A flag each; the first of all and the first that others are measured by always stay.
    """
    size = found.evidence.size
    if not size:
        return np.zeros(0, np.bool_)
    share = found.evidence / found.best
    least = _least_share(found.best / max(found.strongest, _LEAST), focus, several=found.several)
    if is_clear_answer(found, focus):
        stays = (share >= focus.clear) | ((found.coverage_of(found.near) >= focus.words) & (share >= least))
    else:
        stays = (share >= least) | (np.arange(size) < focus.kept)
    if found.weights.size:
        stays[np.argmax(found.own, axis=0)[found.own.any(axis=0)]] = True
    stays[[0, found.first]] = True
    return np.asarray(stays, np.bool_)


def _least_share(strength: float, focus: Focus, *, several: bool) -> float:
    """The share of the best evidence that is needed behind a first of some strength that is not clear."""
    if several:
        return focus.weak
    risen = float(np.interp(strength, (focus.evidence - _RISE, focus.evidence), (0.0, 1.0)))
    return focus.weak + (focus.strong - focus.weak) * risen
