"""What each memory on the line of a topic is to those before it: start, addition, reinforcement or correction.

Pure. Must not do: read anything, or decide which memories are on the line.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from core.types.views import Transition

Pair = frozenset[str]
"""Two ids; which of them is the newer does not matter (X42: the direction of an edge is tested both ways)."""


@dataclass(frozen=True, slots=True)
class TransitionStep:
    """One place on the line.

    Attributes:
        transition: what it is.
        about: place of the earlier one that it corrects or confirms; None where it does neither.
        gap_ms: milliseconds since the one before; None for the first.
    """

    transition: Transition
    about: int | None
    gap_ms: int | None


def classify_transitions(
    line: Sequence[tuple[str, int]], opposed: Collection[Pair], supported: Collection[Pair]
) -> tuple[TransitionStep, ...]:
    """Tell what each memory is to those before it (E39.5, with X42: the first one is a start).

    A correction is one that is opposed to any before it, a reinforcement one that supports any, else it is an
    addition; where it is both, the correction is what matters. E39.5 compares with the one directly before; here any
    earlier one counts, because memories of other matters may stand between the two.

    Args:
        line: ids, each once, and times in epoch ms; ascending by time.
        opposed: pairs of which one contradicts or replaced the other.
        supported: pairs of which one supports the other.

    Returns:
        A step for each; `about` is the latest earlier one with that tie.
    """
    steps: list[TransitionStep] = []
    for place, (memory_id, at) in enumerate(line):
        if not place:
            steps.append(TransitionStep(Transition.START, None, None))
            continue
        gap = at - line[place - 1][1]
        corrected = _latest(line, place, memory_id, opposed)
        confirmed = _latest(line, place, memory_id, supported)
        if corrected is not None:
            steps.append(TransitionStep(Transition.CORRECTION, corrected, gap))
        elif confirmed is not None:
            steps.append(TransitionStep(Transition.REINFORCEMENT, confirmed, gap))
        else:
            steps.append(TransitionStep(Transition.ADDITION, None, gap))
    return tuple(steps)


def _latest(line: Sequence[tuple[str, int]], place: int, memory_id: str, ties: Collection[Pair]) -> int | None:
    return next((before for before in reversed(range(place)) if frozenset((line[before][0], memory_id)) in ties), None)
