"""Computes the order of a recall again from its trace alone: the proof that a receipt explains completely. Pure.

Must not do: read a vault, or use anything that the trace does not hold.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.score.ranking.adjustments import SideSignals, side_multiplier
from core.score.ranking.fusion import fuse_ranks
from core.score.ranking.profile import SideWeights
from core.types.recall import Trace, TracedCandidate

_DIGITS = 9


def replay_ranking(trace: Trace) -> tuple[tuple[str, float], ...]:
    """Rank the candidates of a trace again.

    From each candidate's ranks and evidence, its side signals and the weights: weighted reciprocal rank fusion, the
    share of the evidence, the bounded factor, the repetition; ties newer first, then by id.

    Args:
        trace: of a recall.

    Returns:
        Id and score of every candidate that could be returned, best first, before anything was folded or cut.
    """
    ranked = [candidate for candidate in trace.candidates if candidate.rank is not None]
    if not ranked:
        return ()
    scores = np.round(_scores(trace, ranked), _DIGITS)
    trade = trace.weights["trade"]
    repeats = np.array([candidate.diversity or 0.0 for candidate in ranked])
    final = np.round(scores * (1.0 - (1.0 - trade) * repeats), _DIGITS)
    keys = [
        (-value, -candidate.recorded_at, candidate.id, value)
        for value, candidate in zip(final.tolist(), ranked, strict=True)
    ]
    return tuple((key[2], key[3]) for key in sorted(keys))


def replay_answer(trace: Trace) -> tuple[tuple[str, float], ...]:
    """The answer again: the order, each duplicate and source folded into what stands for it, cut where it was cut.

    Args:
        trace: of a recall.

    Returns:
        Id and score of every item of the answer, best first. An item has the score of the best it stands for.
    """
    stands_for = {one.id: one.because for one in trace.candidates if one.dropped == "duplicate"}
    shown = {one.id for one in trace.candidates if one.place is not None}
    best: dict[str, float] = {}
    for memory_id, score in replay_ranking(trace):
        item = stands_for.get(memory_id, memory_id)
        best[item] = max(score, best.get(item, 0.0))
    return tuple((item, score) for item, score in best.items() if item in shown)


def _scores(trace: Trace, ranked: Sequence[TracedCandidate]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    weights = trace.weights
    lists = {name.removeprefix("list."): value for name, value in weights.items() if name.startswith("list.")}
    places = {
        name: np.array([float(candidate.lists[name][0]) if name in candidate.lists else np.inf for candidate in ranked])
        for name in lists
    }
    evidence = np.array([candidate.evidence for candidate in ranked])
    share = np.clip(evidence / weights["strongest"], 0.0, 1.0)
    relevance = weights["strength"] * share + (1.0 - weights["strength"]) * fuse_ranks(places, lists, weights["rrf_k"])
    names = ("confidence", "recency", "importance", "utility")
    sides = SideSignals(*(np.array([candidate.signals[name] for candidate in ranked]) for name in names))
    factor = side_multiplier(sides, SideWeights(*(weights[f"side.{name}"] for name in names)), weights["side_bound"])
    return np.asarray(np.clip(relevance * factor, 0.0, 1.0), np.float64)
