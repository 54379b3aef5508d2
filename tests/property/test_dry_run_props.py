"""Replay in numbers: a boost never falls and never passes its end; what moved is drawn twice as often."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.score.decay import MOST, STEP, boost_after_replay, draw_without_replacement, initial_strength

SHARE = st.floats(0, 1)


@given(SHARE, SHARE, SHARE)
def test_a_boost_grows_by_a_step_at_most_and_stays_within_the_bound(
    importance: float, arousal: float, boost: float
) -> None:
    after = float(boost_after_replay(importance, arousal, boost))
    assert boost <= after <= max(boost, min(1.0, boost + STEP))
    begun = float(initial_strength(importance, arousal))
    assert begun + after <= MOST + 1e-9 or after == boost


@given(st.lists(SHARE, max_size=20), st.integers(0, 25), st.integers(0, 2**40))
def test_a_draw_takes_each_once_and_the_same_seed_the_same(arousal: list[float], count: int, seed: int) -> None:
    drawn = draw_without_replacement(arousal, count, seed).tolist()
    assert len(drawn) == min(count, len(arousal))
    assert len(set(drawn)) == len(drawn)
    assert set(drawn) <= set(range(len(arousal)))
    assert drawn == draw_without_replacement(arousal, count, seed).tolist()


def test_what_moved_is_drawn_about_twice_as_often() -> None:
    """E45.C1: over 1,000 seeded cycles the pick ratio is about 2:1."""
    arousal = np.array([0.9] + [0.1] * 19)
    picks = np.zeros(len(arousal))
    for seed in range(5_000):
        picks[draw_without_replacement(arousal, 1, seed)] += 1
    assert picks[0] / picks[1:].mean() == pytest.approx(2.0, rel=0.15)
