"""A trial recall as the laboratory shows it: the owner's view, with texts, and what each signal made of a score.

Must not do: search, or hide anything; only the owner sees it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from core.engine.access.receipts import tokens_of
from core.memory.read import by_ids, client_names
from core.recall.results.result import NearMiss, RecallItem, RecallResult
from core.score.belief.quality import parts_of
from core.types.recall import LabAnswer, LabItem, Trace, TracedCandidate
from core.types.values import Memory
from core.vault.database.rows import Rows

_DIGITS = 9  # less is noise, which must not decide before the rank does


def lab_answer(rows: Rows, result: RecallResult, took_ms: float, seen_as: str) -> LabAnswer:
    """Dress a result for the laboratory.

    Args:
        rows: the snapshot of the result.
        result: the answer.
        took_ms: milliseconds so far.
        seen_as: whose view it is; `""` for the person's own.

    Returns:
        The answer; of a memory that is over in parts, the text is what stands.
    """
    trace = result.trace
    traced = {one.id: one for one in trace.candidates}
    missed = by_ids(rows, [miss.id for miss in result.near_misses])
    items = [_shown(place, item, traced.get(item.memory.id), trace) for place, item in enumerate(result.items, 1)]
    near = [
        _missed(miss, missed[miss.id], traced.get(miss.id), trace) for miss in result.near_misses if miss.id in missed
    ]
    names = client_names(rows, [item.memory for item in (*items, *near)])
    return LabAnswer(
        items=tuple(_named(item, names) for item in items),
        near=tuple(_named(item, names) for item in sorted(near, key=_by_score)),
        abstained=result.abstained,
        reason=result.reason,
        trace=trace,
        strategy=result.strategy,
        took_ms=took_ms,
        tokens=tokens_of(result),
        seen_as=seen_as,
    )


def _named(item: LabItem, names: Mapping[str, str]) -> LabItem:
    client = item.memory.client_id
    return item if client is None else replace(item, client=names.get(client))


def _by_score(item: LabItem) -> tuple[float, float, str]:
    """The best score first, then the first rank; of equal scores what has no rank comes last."""
    return (-round(item.score, _DIGITS), math.inf if item.rank is None else item.rank, item.memory.id)


def _shown(place: int, item: RecallItem, one: TracedCandidate | None, trace: Trace) -> LabItem:
    return LabItem(
        memory=item.memory,
        place=place,
        rank=place if one is None else one.rank,
        score=item.score,
        signals={"relevance": item.signals.relevance, **_sides(item)},
        lists=dict(item.ranks),
        why=item.why,
        dropped=None,
        parts={"relevance": item.score} if one is None else _made(one, item.score, trace),
    )


def _made(one: TracedCandidate, score: float, trace: Trace) -> dict[str, float]:
    """The parts of the score that is shown: a group of several stands with the score of its best."""
    parts = parts_of(one, trace.weights)
    whole = sum(parts.values())
    return {name: part * score / whole for name, part in parts.items()} if whole > 0 else {**parts, "relevance": score}


def _missed(miss: NearMiss, memory: Memory, one: TracedCandidate | None, trace: Trace) -> LabItem:
    if one is None:
        return LabItem(memory, None, None, miss.score, {}, {}, (miss.sentence,), miss.why, {})
    ranked = one.rank is not None
    return LabItem(
        memory=memory,
        place=None,
        rank=one.rank,
        score=one.score if ranked else miss.score,
        signals={"relevance": one.relevance, **one.signals} if ranked else {},
        lists=dict(one.lists),
        why=(miss.sentence,),
        dropped=one.dropped or miss.why,
        parts=parts_of(one, trace.weights) if ranked else {},
    )


def _sides(item: RecallItem) -> dict[str, float]:
    signals = item.signals
    return {
        "confidence": signals.confidence,
        "recency": signals.recency,
        "importance": signals.importance,
        "utility": signals.utility,
    }
