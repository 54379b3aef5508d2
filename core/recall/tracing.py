"""Puts down what happened to the candidates of a recall: the trace that receipts keep and the laboratory draws.

Must not do: decide anything, or hold a text.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from core.recall.answer import Answer
from core.recall.result import RecallItem
from core.types.plans import QueryPlan
from core.types.traces import Trace, TracedCandidate

KEPT = 60
"""Candidates a trace holds at most: all of the answer, then the strongest of the others."""

_DIGITS = 9


def traced(
    answer: Answer, items: tuple[RecallItem, ...], plan: QueryPlan, brought: Mapping[str, int], chance: float
) -> Trace:
    """The trace of an answer.

    Args:
        answer: after `items` was called.
        items: what it returned.
        plan: how the question was understood.
        brought: how many each list brought: `vector`, `words`, `graph`, `time`.
        chance: how likely there is an answer at all.

    Returns:
        The trace.
    """
    place = {item.memory.id: number for number, item in enumerate(items, 1)}
    over, left = answer.counts if items else (0, 0)
    stages = {**brought, "in_scope": len(answer.right.facts), "fused": over}
    stages |= {"after_duplicates": left, "answered": len(items)}
    right = [at for at in answer.ranked.order if answer.right.facts[at].id in place]
    others = [(float(-answer.right.evidence[at]), 0, at) for at in answer.ranked.order if at not in set(right)]
    others += [(float(-value), 1, at) for at, value in enumerate(answer.wrong.evidence.tolist())]
    others.sort()
    rank_of = {at: number for number, at in enumerate(answer.ranked.order, 1)}
    kept = [_right(answer, at, rank_of[at], place) for at in right[:KEPT]]
    kept += [
        _wrong(answer, at) if withheld else _right(answer, at, rank_of[at], place)
        for _, withheld, at in others[: max(0, KEPT - len(kept))]
    ]
    weights = {name: float(value) for name, value in answer.ranked.weights.items()}
    return Trace(plan, stages, tuple(kept), weights, answer.best, answer.bar, chance)


def _right(answer: Answer, at: int, rank: int, place: Mapping[str, int]) -> TracedCandidate:
    ranked, fact = answer.ranked, answer.right.facts[at]
    dropped, by = answer.dropped.get(at, (None, None))
    because = "" if by is None else answer.right.facts[by].id
    repeats = float(ranked.repeats[at])
    signals = ranked.signals(at)
    return TracedCandidate(
        id=fact.id,
        place=place.get(fact.id),
        rank=rank,
        lists={name: (number, round(raw, _DIGITS)) for name, (number, raw) in ranked.places(at).items()},
        evidence=round(float(answer.right.evidence[at]), _DIGITS),
        relevance=float(ranked.relevance[at]),
        signals={
            "confidence": signals.confidence,
            "recency": signals.recency,
            "importance": signals.importance,
            "utility": signals.utility,
        },
        factor=float(ranked.factor[at]),
        score=float(ranked.score[at]),
        diversity=None if np.isnan(repeats) else repeats,
        dropped=None if fact.id in place else (dropped or "filtered"),
        because=because,
        recorded_at=fact.recorded_at,
    )


def _wrong(answer: Answer, at: int) -> TracedCandidate:
    fact = answer.wrong.facts[at]
    columns = {"vector": answer.wrong.vector, "window": answer.wrong.window, "coverage": answer.wrong.coverage}
    return TracedCandidate(
        id=fact.id,
        place=None,
        rank=None,
        lists={name: (0, round(float(c[at]), _DIGITS)) for name, c in columns.items() if np.isfinite(c[at])},
        evidence=round(float(answer.wrong.evidence[at]), _DIGITS),
        relevance=0.0,
        signals={},
        factor=1.0,
        score=0.0,
        diversity=None,
        dropped=answer.why_not(at)[0],
        because="",
        recorded_at=fact.recorded_at,
    )
