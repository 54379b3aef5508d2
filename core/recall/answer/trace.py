"""Puts down what happened to the candidates of a recall: the trace that receipts keep and the laboratory draws.

Must not do: decide anything, or hold a text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.recall.answer.answer import RecallAnswer
from core.recall.candidates.windows import Floats
from core.recall.results.result import RecallItem
from core.types.recall import QueryPlan, Trace, TracedCandidate

KEPT = 40
"""Candidates a trace holds: all of the answer, and of the others the strongest, until there are so many."""

_DIGITS = 9
_SIDES = ("confidence", "recency", "importance", "utility")


def build_trace(
    answer: RecallAnswer, items: tuple[RecallItem, ...], plan: QueryPlan, brought: Mapping[str, int]
) -> Trace:
    """The trace of an answer.

    Args:
        answer: after `items` was called.
        items: what it returned.
        plan: how the question was understood.
        brought: how many each list brought: `vector`, `words`, `graph`, `time`.

    Returns:
        The trace.
    """
    place = {item.memory.id: number for number, item in enumerate(items, 1)}
    over, left = answer.counts if items else (0, 0)
    stages = {**brought, "in_scope": len(answer.right.facts), "fused": over}
    stages |= {"after_duplicates": left, "answered": len(items)}
    shown = [at for at in answer.ranked.order if answer.right.facts[at].id in place]
    shown += [at for at in answer.firsts if items]
    known = set(shown)
    strength, withheld = answer.right.evidence.tolist(), answer.wrong.evidence.tolist()
    others = [(-strength[at], False, at) for at in answer.ranked.order if at not in known]
    others += [(-value, True, at) for at, value in enumerate(withheld)]
    others.sort()
    others = others[: max(0, KEPT - len(shown))]
    told = _Right.of(answer, place, [*shown, *(at for _, is_withheld, at in others if not is_withheld)])
    kept = [told.candidate(at) for at in shown]
    kept += [_wrong(answer, at) if is_withheld else told.candidate(at) for _, is_withheld, at in others]
    weights = {name: float(value) for name, value in answer.ranked.weights.items()}
    return Trace(
        plan, stages, tuple(kept), weights, answer.best, answer.needed, answer.chance, answer.signs, answer.rerank
    )


@dataclass(frozen=True, slots=True)
class _Right:
    """The columns of some of what could be returned as plain numbers, by place: one by one an array is slow to read."""

    answer: RecallAnswer
    place: Mapping[str, int]
    rank: Mapping[int, int]
    lists: Mapping[int, dict[str, tuple[int, float]]]
    sides: Mapping[int, dict[str, float]]
    numbers: Mapping[int, tuple[float, ...]]

    @classmethod
    def of(cls, answer: RecallAnswer, place: Mapping[str, int], places: list[int]) -> _Right:
        """Read the columns at some places."""
        at, ranked = np.array(places, np.int64), answer.ranked
        lists: dict[int, dict[str, tuple[int, float]]] = {one: {} for one in places}
        for name, ranks in ranked.ranks.items():
            raw = np.round(ranked.raw[name][at], _DIGITS)
            for one, number, value in zip(places, ranks[at].tolist(), raw.tolist(), strict=True):
                if number != np.inf:
                    lists[one][name] = (int(number), value)
        columns: list[Floats] = [answer.right.evidence, ranked.relevance, ranked.factor, ranked.score, ranked.repeats]
        numbers = zip(*(column[at].tolist() for column in columns), strict=True)
        sides = zip(*(getattr(ranked.sides, name)[at].tolist() for name in _SIDES), strict=True)
        return cls(
            answer,
            place,
            {one: number for number, one in enumerate(ranked.order, 1)},
            lists,
            {one: dict(zip(_SIDES, values, strict=True)) for one, values in zip(places, sides, strict=True)},
            dict(zip(places, numbers, strict=True)),
        )

    def candidate(self, at: int) -> TracedCandidate:
        """One of them."""
        fact = self.answer.right.facts[at]
        dropped, by = self.answer.dropped.get(at, (None, None))
        evidence, relevance, factor, score, repeats = self.numbers[at]
        return TracedCandidate(
            id=fact.id,
            place=self.place.get(fact.id),
            rank=self.rank[at],
            lists=self.lists[at],
            evidence=round(evidence, _DIGITS),
            relevance=relevance,
            signals=self.sides[at],
            factor=factor,
            score=score,
            diversity=None if repeats != repeats else repeats,
            dropped=None if fact.id in self.place else (dropped or "filtered"),
            because="" if by is None else self.answer.right.facts[by].id,
            recorded_at=fact.recorded_at,
        )


def _wrong(answer: RecallAnswer, at: int) -> TracedCandidate:
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
