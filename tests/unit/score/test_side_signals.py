"""Side signals, the bar, and the numbers themselves."""

from __future__ import annotations

import numpy as np
import pytest

from core.score.profile import LOCI, PRESETS, SideWeights
from core.score.ranking import SideSignals, evidence_bar, recency_score, side_multiplier, utility_score

DAY = 86_400_000


def sides(confidence: float, recency: float, importance: float, utility: float) -> SideSignals:
    return SideSignals(*(np.array([value]) for value in (confidence, recency, importance, utility)))


def test_recency_halves_with_each_half_life() -> None:
    assert recency_score(100 * DAY, [100 * DAY, 70 * DAY, 40 * DAY], 30).tolist() == pytest.approx([1.0, 0.5, 0.25])


def test_the_future_is_now_and_the_distant_past_is_nothing() -> None:
    assert recency_score(0, [5 * DAY, -(10**18)], 30).tolist() == pytest.approx([1.0, 0.0])


def test_utility_grows_with_use_and_feedback() -> None:
    assert utility_score([0, 2, 0, 0], [0, 0, 3, 0], [0, 0, 0, 9]).tolist() == pytest.approx(
        [0.5, 0.7, 0.2, 0.6151], abs=1e-4
    )
    assert utility_score([99], [0], [0]).tolist() == [1.0]


def test_all_sides_together_stay_within_the_bound() -> None:
    weights = SideWeights(0.4, 0.2, 0.2, 0.2)
    assert side_multiplier(sides(1, 1, 1, 1), weights, 0.05)[0] == pytest.approx(1.05)
    assert side_multiplier(sides(0, 0, 0, 0), weights, 0.05)[0] == pytest.approx(0.95)
    assert side_multiplier(sides(0.5, 0.5, 0.5, 0.5), weights, 0.05)[0] == pytest.approx(1.0)
    assert side_multiplier(sides(1, 0.5, 0.5, 0.5), weights, 0.05)[0] == pytest.approx(1.02)


def test_no_weights_no_effect() -> None:
    assert side_multiplier(sides(1, 1, 1, 1), SideWeights(0, 0, 0, 0), 0.05).tolist() == [1.0]


def test_the_bar_rises_with_the_vault_and_then_stands() -> None:
    levels = [evidence_bar(LOCI, "semantic", size) for size in (0, 1, 10, 100, 1000, 10**6)]
    assert levels == sorted(levels)
    assert levels[0] == levels[1] == LOCI.bar_base
    assert levels[-1] == LOCI.bar_cap


def test_each_mode_has_its_own_bar() -> None:
    assert evidence_bar(LOCI, "keyword", 10**6) == LOCI.keyword_bar
    assert evidence_bar(LOCI, "semantic", 10**6) == LOCI.bar_cap


def test_presets_are_named_and_sound() -> None:
    assert [profile.name for profile in PRESETS] == ["loci", "seed-a", "seed-b", "engram"]
    for profile in PRESETS:
        assert profile.rrf_k == 60
        assert 0 < profile.side_bound <= 0.1
        assert 1 > profile.window_terms[0] > profile.window_terms[1] > 0
        assert 1 > profile.window_cosine[0] > profile.window_cosine[1] > 0
        assert 0 <= profile.strength <= 1
        assert profile.bar_base < profile.bar_cap < profile.cosine_weight + 1
