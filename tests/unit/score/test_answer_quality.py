"""How good an answer was: the figures of E5.3 by hand."""

from __future__ import annotations

import math

import pytest

from core.score.answer_quality import (
    answer_health,
    answer_metrics,
    average_relevancy,
    ndcg,
    rank_percentile,
    signal_shares,
)
from core.types.recall import Metrics, QueryPlan, Trace, TracedCandidate


def candidate(nr: int, place: int | None, cosine: float | None, relevance: float, **more: object) -> TracedCandidate:
    lists = {} if cosine is None else {"vector": (nr, cosine)}
    values: dict[str, object] = {
        "id": f"m{nr}", "place": place, "rank": nr, "lists": lists, "evidence": 1.0, "relevance": relevance,
        "signals": {"confidence": 0.5, "recency": 1.0, "importance": 0.0, "utility": 0.5}, "factor": 1.0,
        "score": relevance, "diversity": None, "dropped": None if place else "beyond_limit", "because": "",
        "recorded_at": 0,
    }  # fmt: skip
    return TracedCandidate(**{**values, **more})  # type: ignore[arg-type]  # a bag of members


def trace(*candidates: TracedCandidate, rerank: str = "rrf", **weights: float) -> Trace:
    stages = {"after_duplicates": 7, "answered": sum(one.place is not None for one in candidates)}
    return Trace(QueryPlan(text_weight=0.3), stages, candidates, weights, 1.0, 0.5, 1.0, rerank=rerank)


def figures(relevancy: float, *, packed: int = 3, graded: bool = True) -> Metrics:
    return Metrics(relevancy, 0.9, 0.8, 5, packed, 30, 4.0, "rrf", 0.5, graded)


def test_ndcg_is_that_of_the_plan() -> None:
    by_hand = (0.5 + 1 / math.log2(3)) / (1 + 0.5 / math.log2(3))
    assert ndcg([0.5, 1.0]) == pytest.approx(by_hand) == pytest.approx(0.860, abs=5e-4)
    assert (ndcg([]), ndcg([0.0, 0.0]), ndcg([1.0, 0.5])) == (0.0, 0.0, 1.0)


def test_average_relevancy_is_the_mean_of_the_shown_cosines() -> None:
    assert average_relevancy([0.2, 0.6]) == pytest.approx(0.4)
    assert average_relevancy([-1.0, 0.5]) == 0.25
    assert average_relevancy([]) == 0.0


def test_the_eight_figures_of_an_answer() -> None:
    found = trace(candidate(1, 2, 0.4, 0.9), candidate(2, 1, 0.6, 0.8), candidate(3, None, 0.9, 0.1), strength=0.75)
    metrics = answer_metrics(found, tokens=12, took_ms=3.5)
    assert metrics.average_relevancy == pytest.approx(0.5)
    assert metrics.ndcg == 1.0
    assert metrics.ndcg_before == pytest.approx(ndcg([0.4, 0.6]))
    assert (metrics.candidates_after_filter, metrics.memories_packed) == (7, 2)
    assert (metrics.tokens_consumed, metrics.search_latency_ms, metrics.hybrid_text_weight) == (12, 3.5, 0.3)
    assert (metrics.rerank_applied, metrics.graded) == ("rrf", True)
    assert answer_metrics(found, tokens=0, took_ms=0, packed=1).memories_packed == 1


def test_explicit_feedback_grades_before_the_cosine() -> None:
    found = trace(candidate(1, 1, 0.9, 0.9), candidate(2, 2, 0.1, 0.8))
    assert answer_metrics(found, tokens=0, took_ms=0).ndcg == 1.0
    judged = answer_metrics(found, tokens=0, took_ms=0, feedback={"m1": "irrelevant", "m2": "helpful"})
    assert judged.ndcg == pytest.approx(1 / math.log2(3))


@pytest.mark.parametrize("rerank", ["rrf", "mmr", "rrf_then_mmr"])
def test_the_strategy_is_the_one_that_was_really_used(rerank: str) -> None:
    found = trace(candidate(1, 1, 0.5, 0.9), rerank=rerank)
    assert answer_metrics(found, tokens=0, took_ms=0).rerank_applied == rerank


def test_an_answer_by_words_alone_is_not_graded() -> None:
    metrics = answer_metrics(trace(candidate(1, 1, None, 0.9)), tokens=0, took_ms=0)
    assert (metrics.graded, metrics.average_relevancy, metrics.memories_packed) == (False, 0.0, 1)


def test_empty_and_ungraded_answers_stand_in_no_window_and_break_no_streak() -> None:
    poor, empty = figures(0.1), figures(0.0, packed=0)
    now = answer_health([poor, empty, poor, figures(0.0, graded=False), poor, figures(0.7), poor], 0.3)
    assert now.poor_run == 3
    assert now.average_relevancy == pytest.approx((4 * 0.1 + 0.7) / 5)
    assert answer_health([empty], 0.3).average_relevancy is None
    assert answer_health([poor] * 10, 0.3).poor_run == 10
    assert answer_health([figures(0.5), *[poor] * 10], 0.3).poor_run == 0


def test_percentiles_by_nearest_rank() -> None:
    assert rank_percentile([], 0.5) is None
    assert (
        rank_percentile([3, 1, 2], 0.5),
        rank_percentile([1, 2, 3], 0.95),
        rank_percentile(range(1, 101), 0.95),
    ) == (2, 3, 95)


def test_parts_of_a_score_follow_the_multiplier() -> None:
    one = candidate(1, 1, 0.5, 0.8)
    weights = {
        "side_bound": 0.05,
        "side.confidence": 0.4,
        "side.recency": 0.2,
        "side.importance": 0.2,
        "side.utility": 0.2,
    }
    pull = (0.4 * 0.0 + 0.2 * 1.0 + 0.2 * -1.0 + 0.2 * 0.0) / 1.0
    score = 0.8 * (1 + 0.05 * pull)
    parts = signal_shares(candidate(1, 1, 0.5, 0.8, score=score), weights)
    assert next(iter(parts)) == "relevance"
    assert parts["relevance"] == pytest.approx(0.8 * 0.95)
    assert parts["recency"] == pytest.approx(0.8 * 2 * 0.05 * 0.2 * 1.0)
    assert sum(parts.values()) == pytest.approx(score)
    assert signal_shares(one, {}) == {**dict.fromkeys(parts, 0.0), "relevance": 0.8}
