"""What a memory is to those before it on the line of a topic (E39.5, X42)."""

from __future__ import annotations

from core.recall.browse.evolution import Pair, classify_transitions
from core.types.views import Transition

START, ADDITION, REINFORCEMENT, CORRECTION = Transition


def pair(one: str, other: str) -> Pair:
    return frozenset((one, other))


def test_the_first_is_a_start_and_ties_decide_about_the_rest() -> None:
    line = [("vim", 0), ("daily", 31), ("helix", 59), ("font", 60)]
    steps = classify_transitions(line, {pair("helix", "vim")}, {pair("vim", "daily")})
    assert [step.transition for step in steps] == [START, REINFORCEMENT, CORRECTION, ADDITION]
    assert [step.gap_ms for step in steps] == [None, 31, 28, 1]
    assert [step.about for step in steps] == [None, 0, 0, None]


def test_a_correction_outweighs_a_reinforcement_and_the_latest_tie_is_named() -> None:
    line = [("a", 0), ("b", 1), ("c", 2)]
    steps = classify_transitions(line, {pair("a", "c")}, {pair("b", "c")})
    assert steps[2].transition is CORRECTION
    assert steps[2].about == 0
    again = classify_transitions(line, {pair("a", "c"), pair("c", "b")}, set())
    assert again[2].about == 1


def test_nothing_has_no_steps() -> None:
    assert classify_transitions([], set(), set()) == ()
