"""Permanence and effective confidence (seed B), against numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.errors import Code, UserError
from core.score.decay import (
    EXPIRED,
    FADING,
    HOLDS,
    RATES,
    check_permanence,
    classify_bands,
    days_until,
    decay_rate,
    decay_rates,
    effective_confidence,
)


def test_permanence_levels_and_their_decay_rates() -> None:
    assert dict(RATES) == {"permanent": 0.0, "stable": 0.002, "standard": 0.008, "volatile": 0.03, "ephemeral": 0.1}
    assert decay_rates(["fact", "digest", "fact"], ["stable", "standard", "stable"]).tolist() == [0.002, 0.008, 0.002]


def test_invalid_permanence_rejected() -> None:
    for refuse in (lambda: check_permanence("eternal"), lambda: decay_rates(["fact"], ["eternal"])):
        with pytest.raises(UserError) as raised:
            refuse()
        assert raised.value.code is Code.INVALID_INPUT
        assert all(level in raised.value.sentence for level in RATES)
        assert "eternal" not in raised.value.sentence
    assert check_permanence("volatile") == "volatile"


def test_a_rule_of_unsaid_permanence_has_its_own_rate_and_an_episode_none() -> None:
    assert decay_rate("rule", "standard") == 0.01
    assert decay_rate("rule", "volatile") == 0.03
    assert decay_rate("rule", "permanent") == 0.0
    assert decay_rate("procedure", "standard") == 0.008
    assert [decay_rate("episode", level) for level in RATES] == [0.0] * 5


def test_effective_confidence_falls_with_the_days() -> None:
    values = effective_confidence([0.9, 0.9, 0.5], [0.008, 0.1, 0.03], [100, 10, 0])
    assert values.tolist() == pytest.approx([0.9 * math.exp(-0.8), 0.9 / math.e, 0.5])
    assert float(effective_confidence(0.7, 0.1, -5)) == 0.7  # confirmed in the future: the clock was set back


def test_permanent_facts_never_decay() -> None:
    assert effective_confidence([0.9, 0.4], 0.0, [1e9, math.nan]).tolist() == [0.9, 0.4]


def test_unconfirmed_memory_returns_zero_confidence() -> None:
    assert float(effective_confidence(0.9, 0.008, math.nan)) == 0.0


def test_decay_sweep_threshold_transitions() -> None:
    values = [0.2, 0.19999, 0.05, 0.04999, 0.0, 1.0]
    assert classify_bands(values, 0.2, 0.05).tolist() == [HOLDS, FADING, FADING, EXPIRED, EXPIRED, HOLDS]
    assert classify_bands([0.3, 0.1], 0.2, 0.4).tolist() == [EXPIRED, EXPIRED]  # expiry goes before


def test_the_day_on_which_it_comes_down_to_a_line() -> None:
    days = days_until([0.9, 0.9, 0.1, 0.9], [0.008, 0.0, 0.008, 0.1], 0.2)
    assert days.tolist() == pytest.approx([math.log(4.5) / 0.008, math.inf, 0.0, math.log(4.5) / 0.1])
    assert days_until(0.9, 0.008, 0.0) == math.inf
    assert np.isclose(float(effective_confidence(0.9, 0.008, days[0])), 0.2)
