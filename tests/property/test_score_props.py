"""Laws of scoring that hold for all numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.score.profile import SideWeights
from core.score.ranking import (
    SideSignals,
    evidence_score,
    fuse_ranks,
    rank_scores,
    recency_score,
    side_multiplier,
    term_weight,
    utility_score,
)
from core.score.trust import trust_terms
from core.types.values import Source

_unit = st.floats(0, 1)
_counts = st.integers(0, 1000)


@given(
    st.sampled_from(list(Source)),
    st.integers(1, 100),
    _counts,
    _counts,
    st.floats(-1000, 100_000),
    st.none() | _unit,
    st.none() | _unit,
)
def test_trust_is_a_share_and_never_above_what_limits_it(
    source: Source, count: int, up: int, down: int, days: float, parent: float | None, ceiling: float | None
) -> None:
    terms = trust_terms(
        source,
        corroboration=count,
        reinforcements=up,
        disputes=down,
        age_days=days,
        ancestor_minimum=parent,
        client_ceiling=ceiling,
    )
    assert 0.0 <= terms.trust <= min(1.0, 1.0 if parent is None else parent, 1.0 if ceiling is None else ceiling)
    summed = terms.source + terms.corroboration + terms.feedback + terms.age
    if terms.ancestors is None and terms.ceiling is None:
        assert terms.trust == min(1.0, max(0.0, summed))
    else:
        assert terms.trust <= summed


@given(st.sampled_from(list(Source)), _counts, _counts, _counts, st.floats(0, 1000))
def test_more_support_never_lowers_trust(source: Source, count: int, up: int, down: int, days: float) -> None:
    def value(count: int, up: int, down: int, days: float) -> float:
        return trust_terms(source, corroboration=count, reinforcements=up, disputes=down, age_days=days).trust

    assert value(count + 1, up, down, days) >= value(count, up, down, days)
    assert value(count, up + 1, down, days) >= value(count, up, down, days) - 1e-12
    assert value(count, up, down + 1, days) <= value(count, up, down, days) + 1e-12
    assert value(count, up, down, days + 1) <= value(count, up, down, days)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30), st.randoms())
def test_ranks_do_not_depend_on_the_order_of_the_input(scores: list[float], random: object) -> None:
    placed = dict(zip(scores, rank_scores(scores).tolist(), strict=True))
    turned = list(reversed(scores))
    assert dict(zip(turned, rank_scores(turned).tolist(), strict=True)) == placed
    best = sorted(placed, reverse=True)
    assert placed[best[0]] == 1.0
    assert [placed[score] for score in best] == sorted(placed.values())


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 9)), min_size=2, max_size=20))
def test_what_leads_every_list_leads_the_fusion(rows: list[tuple[float, float]]) -> None:
    both = [max(first for first, _ in rows) + 0.5, max(second for _, second in rows) + 0.5]
    lists = {
        "a": rank_scores([first for first, _ in rows] + [both[0]]),
        "b": rank_scores([second for _, second in rows] + [both[1]]),
    }
    fused = fuse_ranks(lists, {"a": 0.3, "b": 1.7}, 60)
    assert fused[-1] == fused.max()
    assert np.all((fused >= 0) & (fused <= 1 + 1e-12))


@given(_unit, _unit, _unit, _unit, _unit, _unit, _unit, _unit, st.floats(0, 0.1), st.floats(0, 0.9))
def test_an_irrelevant_memory_is_never_lifted_over_a_relevant_one(
    a: float, b: float, c: float, d: float, e: float, f: float, g: float, h: float, bound: float, weak: float
) -> None:
    weights = SideWeights(0.4, 0.2, 0.2, 0.2)
    first = side_multiplier(SideSignals(*(np.array([value]) for value in (a, b, c, d))), weights, bound)[0]
    second = side_multiplier(SideSignals(*(np.array([value]) for value in (e, f, g, h))), weights, bound)[0]
    strong = weak * (1 + bound) / (1 - bound) + 1e-6
    assert strong * first > weak * second


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_term_weights_fall_with_frequency(documents: int, frequency: int) -> None:
    assert term_weight(documents, frequency) >= term_weight(documents, frequency + 1) > 0


@given(st.lists(st.integers(-(10**15), 10**15), max_size=20), st.integers(-(10**15), 10**15), st.floats(0.01, 1e5))
def test_recency_and_utility_are_shares(times: list[int], now: int, half_life: float) -> None:
    values = recency_score(now, times, half_life)
    assert np.all((values >= 0) & (values <= 1))
    counts = np.abs(np.array(times, np.float64))
    assert np.all(
        (utility_score(counts, counts[::-1], counts) >= 0) & (utility_score(counts, counts[::-1], counts) <= 1)
    )


@given(st.floats(-1, 1), _unit, st.floats(0.1, 3))
def test_evidence_stays_in_its_range(cosine: float, covered: float, weight: float) -> None:
    assert 0 <= evidence_score(np.array([cosine]), np.array([covered]), weight)[0] <= weight + 1
