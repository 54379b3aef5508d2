"""The order of the review queue holds for all numbers."""

from __future__ import annotations

import math

from hypothesis import assume, given
from hypothesis import strategies as st

from core.belief.review.queue import FADES_DAYS, LOW, OPPOSED, harm_score, score_novelty, score_opposition
from core.score.trust import age_days

_counts = st.integers(0, 1_000_000)
_unit = st.floats(0, 1)
_days = st.floats(0, 36_500)
_kinds = st.sampled_from(sorted(OPPOSED))


@given(_counts, _counts, _unit, _days)
def test_what_is_recalled_more_often_never_stands_lower(low: int, more: int, opposition: float, days: float) -> None:
    few, many = sorted((low, more))
    assert harm_score(few, opposition, days) <= harm_score(many, opposition, days)
    if few < many and opposition > 1e-6:
        assert harm_score(few, opposition, days) < harm_score(many, opposition, days)


@given(_counts, _unit, _unit, _days)
def test_what_is_more_opposed_never_stands_lower(recalled: int, a: float, b: float, days: float) -> None:
    low, high = sorted((a, b))
    assert harm_score(recalled, low, days) <= harm_score(recalled, high, days)


@given(_counts, _unit, _days, _days)
def test_what_is_newer_never_stands_lower(recalled: int, opposition: float, a: float, b: float) -> None:
    young, old = sorted((a, b))
    assert harm_score(recalled, opposition, young) >= harm_score(recalled, opposition, old)
    assume(opposition > 1e-6 and old - young > 1e-3)
    assert harm_score(recalled, opposition, young) > harm_score(recalled, opposition, old)


@given(_kinds, _unit, _unit)
def test_the_surer_the_more_opposed_and_always_a_share(kind: str, a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert 0 < score_opposition(kind, low) <= score_opposition(kind, high) <= 1
    assert score_opposition(kind, 0) <= score_opposition(kind, None) <= score_opposition(kind, 1) == OPPOSED[kind]


@given(st.integers(-1000, 1_000_000), st.floats(-5, 5), st.floats(-1000, 1e6))
def test_harm_is_a_finite_number_whatever_it_is_given(recalled: int, opposition: float, days: float) -> None:
    assert 0 <= harm_score(recalled, opposition, days) < math.inf


def test_an_unrecalled_question_may_close_itself_after_ninety_days_and_a_recalled_contradiction_not() -> None:
    assert all(harm_score(0, most, 91) < LOW for most in OPPOSED.values())
    assert harm_score(10, score_opposition("contradiction", 1.0), 91) > LOW


def test_newness_halves_after_its_days_and_a_clock_set_back_makes_nothing_newer() -> None:
    assert score_novelty(0) == 1
    assert score_novelty(FADES_DAYS) == 0.5
    assert score_novelty(-3) == 1
    assert age_days(1_000, 2_000) == 0
    assert age_days(86_400_000, 0) == 1


def test_an_unknown_kind_counts_least() -> None:
    assert score_opposition("something new", 1.0) == min(OPPOSED.values())
