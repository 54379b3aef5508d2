"""Laws of the figures of an answer, of the parts of a score, of tuned profiles and of receipts."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.option_rows import option_rows
from core.config.retrieval import RetrievalOptions
from core.recall.receipt_codec import DIGITS, receipt_trace, trace_from_json, trace_to_json
from core.recall.receipt_codec import receipt_body as _body_of
from core.recall.result import RecallResult
from core.score.answer_quality import answer_metrics, ndcg, rank_percentile, signal_shares
from core.score.profile import profile_from_options, profile_values, replace_values
from core.types.recall import STAGES, QueryPlan, TimeRange, Trace, TracedCandidate
from core.types.values import Intent

_unit = st.floats(0, 1).map(lambda value: round(value, DIGITS))
_SIDES = ("confidence", "recency", "importance", "utility")
_ids = st.uuids().map(str)
_lists = st.dictionaries(
    st.sampled_from(("vector", "bm25", "window", "coverage", "evidence", "time", "graph")),
    st.tuples(st.integers(0, 500), st.floats(-1, 50).map(lambda value: round(value, DIGITS))),
)
_candidates = st.builds(
    TracedCandidate,
    id=_ids,
    place=st.none() | st.integers(1, 50),
    rank=st.none() | st.integers(1, 500),
    lists=_lists,
    evidence=_unit,
    relevance=_unit,
    signals=st.just({}) | st.fixed_dictionaries(dict.fromkeys(_SIDES, _unit)),
    factor=_unit,
    score=_unit,
    diversity=st.none() | _unit,
    dropped=st.none() | st.sampled_from(("superseded", "below_floor", "duplicate", "beyond_limit")),
    because=st.just("") | _ids,
    recorded_at=st.integers(0, 2**45),
)
_weights = st.dictionaries(
    st.sampled_from(("side_bound", "strength", "trade", *(f"side.{name}" for name in _SIDES))), _unit
)

_REST: dict[str, Any] = {
    "strategy": "hybrid",
    "index_backend": "flat",
    "index_revision": 1,
    "vault_seq": 2,
    "candidates": 3,
    "profile": "loci",
}


@st.composite
def _asked(draw: st.DrawFn) -> tuple[str, QueryPlan]:
    """A question, and a plan whose words stand in it."""
    query = draw(st.text(min_size=1, max_size=60))
    spots = [sorted(draw(st.tuples(st.integers(0, len(query) - 1), st.integers(0, len(query) - 1)))) for _ in range(3)]
    words = [query[start : end + 1] for start, end in spots]
    start, end = spots[2][0], spots[2][1] + 1
    time = TimeRange(query[start:end], start, end, "2026-03-01", "2026-03-31", 0, 9) if draw(st.booleans()) else None
    plan = QueryPlan(
        intent=draw(st.sampled_from(Intent)),
        intent_scores={one.value: draw(_unit) for one in Intent},
        time=time,
        entities=tuple(words[:2]),
        identifiers=(words[2],),
        text_weight=draw(_unit),
        text_signals=("quoted",),
        given=("intent",),
    )
    return query, plan


@st.composite
def _traces(draw: st.DrawFn) -> tuple[str, Trace]:
    query, plan = draw(_asked())
    stages = {name: draw(st.integers(0, 1000)) for name in STAGES}
    found = tuple(draw(st.lists(_candidates, max_size=6)))
    return query, Trace(plan, stages, found, draw(_weights), draw(_unit), draw(_unit), draw(_unit))


@pytest.mark.slow
@given(_traces())
def test_a_trace_comes_back_from_its_receipt(asked: tuple[str, Trace]) -> None:
    query, trace = asked
    told = json.loads(json.dumps(trace_to_json(trace, query)))
    assert trace_from_json(told, query) == trace
    result = RecallResult((), abstained=True, reason="", near_misses=(), trace=trace, **_REST)
    body = json.loads(json.dumps(_body_of(result, query)))
    assert receipt_trace(body, query) == trace
    assert receipt_trace({key: value for key, value in body.items() if key != "trace"}, query) is None


@given(_traces())
def test_a_receipt_holds_no_word_of_the_question(asked: tuple[str, Trace]) -> None:
    marker = "Quittenmarmelade"
    query, trace = f"{asked[0]} {marker}", asked[1]
    plan = replace(trace.plan, entities=(marker,), identifiers=(marker,), aliases={marker: (marker,)})
    told = trace_to_json(replace(trace, plan=plan), query)
    assert marker not in json.dumps(told)
    assert trace_from_json(told, query).plan.entities == (marker,)


@given(st.lists(_unit, max_size=20))
def test_ndcg_is_a_share_and_one_for_the_best_order(grades: list[float]) -> None:
    value = ndcg(grades)
    assert 0.0 <= value <= 1.0
    assert ndcg(sorted(grades, reverse=True)) == (pytest.approx(1.0) if any(grades) else 0.0)
    assert value <= ndcg(sorted(grades, reverse=True)) + 1e-9


@pytest.mark.slow
@given(_traces(), st.dictionaries(_ids, st.sampled_from(("helpful", "irrelevant"))))
def test_figures_of_any_trace_are_shares(asked: tuple[str, Trace], feedback: dict[str, str]) -> None:
    metrics = answer_metrics(asked[1], tokens=1, took_ms=1.0, feedback=feedback)
    for share in (metrics.average_relevancy, metrics.ndcg, metrics.ndcg_before, metrics.hybrid_text_weight):
        assert 0.0 <= share <= 1.0


@given(_candidates, _weights)
def test_the_parts_of_a_score_add_up_to_it_and_none_is_below_zero(
    one: TracedCandidate, weights: dict[str, float]
) -> None:
    parts = signal_shares(one, weights)
    assert all(part >= 0.0 for part in parts.values())
    assert math.isclose(math.fsum(parts.values()), one.score, abs_tol=1e-9)


@given(st.lists(st.floats(0, 1e6), min_size=1), _unit)
def test_a_percentile_is_one_of_the_values(values: list[float], share: float) -> None:
    found = rank_percentile(values, share)
    assert found in values
    assert found is not None
    assert sum(value <= found for value in values) >= share * len(values)


@st.composite
def _options(draw: st.DrawFn) -> RetrievalOptions:
    chosen: dict[str, object] = {}
    for row in option_rows(RetrievalOptions, RetrievalOptions()):
        if row.kind == "bool":
            chosen[row.name] = draw(st.booleans())
        elif row.kind == "choice":
            chosen[row.name] = draw(st.sampled_from(list(row.choices)))
        elif row.kind == "int":
            chosen[row.name] = draw(st.integers(int(row.least or 0), int(row.most or 0)))
        else:
            chosen[row.name] = draw(st.floats(row.least or 0.0, row.most or 0.0))
    return RetrievalOptions(**chosen)  # type: ignore[arg-type]  # drawn by type


@given(_options())
def test_a_profile_holds_every_turned_option(options: RetrievalOptions) -> None:
    profile = profile_from_options(options, "trial")
    told = options.model_dump()
    for dotted, value in profile_values(profile).items():
        assert told[dotted.replace(".", "_")] == value
    assert replace_values(profile_from_options(RetrievalOptions(), "trial"), profile_values(profile)) == profile
