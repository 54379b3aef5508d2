"""Puts candidates in order: fused ranks and evidence, bounded side signals, and repetition last.

Must not do: read the vault.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

import numpy as np

from core.recall.candidates.candidates import Candidates, ComparedQuery
from core.recall.candidates.windows import Floats
from core.recall.query.scope import Labels
from core.recall.results.result import Signals
from core.score.ranking.adjustments import (
    SideSignals,
    diversify,
    recency_score,
    redundancy,
    side_multiplier,
    utility_score,
)
from core.score.ranking.fusion import fuse_ranks, rank_scores
from core.score.ranking.profile import Profile
from core.types.values import Intent

# Scores nearer than this are equal: a sum of floats must not decide a tie.
_DIGITS = 9
_LEAST = 1e-9
_LOOKED_AT = 30
"""So many of the best are looked at for repetition; what stands behind them is seldom read."""


@dataclass(frozen=True, slots=True)
class RankedCandidates:
    """Candidates in their final order; lists hold infinity where a candidate does not stand in one.

    Attributes:
        order: places in the candidates, best first.
        score: final score by place in the candidates, 0 to 1; never greater than that of what stands above.
        relevance: by place, before the side signals.
        sides: the side signals.
        factor: what the side signals did, by place.
        repeats: greatest likeness to what stands above it, by place; NaN where that was not looked at.
        ranks: rank by list and place.
        raw: raw score by list and place.
        weights: every number that made the order, by name.
    """

    order: tuple[int, ...]
    score: Floats
    relevance: Floats
    sides: SideSignals
    factor: Floats
    repeats: Floats
    ranks: dict[str, Floats]
    raw: dict[str, Floats]
    weights: dict[str, float]

    def places(self, at: int) -> dict[str, tuple[int, float]]:
        """The lists a candidate stands in: rank and raw score."""
        return {
            name: (int(places[at]), float(self.raw[name][at]))
            for name, places in self.ranks.items()
            if np.isfinite(places[at])
        }

    def signals(self, at: int) -> Signals:
        """The signals of one candidate."""
        return Signals(
            relevance=float(self.relevance[at]),
            confidence=float(self.sides.confidence[at]),
            recency=float(self.sides.recency[at]),
            importance=float(self.sides.importance[at]),
            utility=float(self.sides.utility[at]),
        )


def rank_candidates(
    found: Candidates,
    bm25_scores: dict[int, float],
    question: ComparedQuery,
    strongest: float,
    intent: Intent,
    now_ms: int,
) -> RankedCandidates:
    """Order candidates.

    Args:
        bm25_scores: label to BM25 score.
        question: what they were compared with, and the weights.
        strongest: the greatest evidence there can be in this mode.
        intent: what kind of answer is asked for.

    Returns:
        The order with all that made it. Ties: newer first, then by id.
    """
    profile = question.profile
    raw = {
        "vector": found.vector,
        "bm25": np.array([bm25_scores.get(label, np.nan) for label in found.labels.tolist()], np.float64),
        "window": found.window,
        "coverage": np.where(found.coverage > 0, found.coverage, np.nan),
        "evidence": found.evidence,
        "time": found.time,
        "graph": found.graph,
    }
    places = {name: rank_scores(np.round(scores, _DIGITS)) for name, scores in raw.items()}
    listed = {name: value for name, value in asdict(profile.lists).items() if np.isfinite(places[name]).any()}
    strength = {"mmr": 1.0, "rrf": 0.0}.get(profile.rerank, profile.strength)
    share = np.clip(found.evidence / max(strongest, _LEAST), 0.0, 1.0)
    relevance = strength * share + (1.0 - strength) * fuse_ranks(places, listed, profile.rrf_k)
    sides = _sides(found, profile, now_ms)
    factor = side_multiplier(sides, profile.sides, profile.side_bound)
    score = np.asarray(np.round(np.clip(relevance * factor, 0.0, 1.0), _DIGITS), np.float64)
    trade = 1.0 if profile.rerank == "rrf" else float(asdict(profile.trades)[intent.value])
    order, score, repeats = _spread_out(found, question, _ordered(found, score), score, trade)
    weights = {f"list.{name}": value for name, value in listed.items()}
    weights |= {f"side.{name}": value for name, value in asdict(profile.sides).items()}
    weights |= {"rrf_k": profile.rrf_k, "strength": strength, "strongest": max(strongest, _LEAST), "trade": trade}
    weights |= {"side_bound": profile.side_bound}
    return RankedCandidates(order, score, relevance, sides, factor, repeats, places, raw, weights)


def _sides(found: Candidates, profile: Profile, now_ms: int) -> SideSignals:
    at_ms, confidence, importance, reinforcements, disputes, accesses = found.sides.T
    return SideSignals(
        confidence=confidence,
        recency=recency_score(now_ms, at_ms, profile.recency_half_life_days),
        importance=importance,
        utility=utility_score(reinforcements, disputes, accesses),
    )


def _ordered(found: Candidates, score: Floats) -> tuple[int, ...]:
    keys = [(-value, -fact.recorded_at, fact.id) for value, fact in zip(score.tolist(), found.facts, strict=True)]
    return tuple(sorted(range(len(keys)), key=keys.__getitem__))


def _spread_out(
    found: Candidates, question: ComparedQuery, order: tuple[int, ...], score: Floats, trade: float
) -> tuple[tuple[int, ...], Floats, Floats]:
    """Let repetition of what stands above come later; only among the first, whose vectors are looked up."""
    repeats = np.full(score.size, np.nan)
    head = np.array(order[:_LOOKED_AT], np.int64)
    if trade >= 1.0 or head.size < 2 or question.vector is None:
        return order, score, repeats
    _, values, most = diversify(
        score[head], redundancy(_cosines(found.labels[head], question), question.profile.alike_from), trade
    )
    changed = score.copy()
    changed[head] = np.round(values, _DIGITS)
    repeats[head] = most
    # What was put last among the first may now stand behind one that was not looked at: the scores decide.
    return _ordered(found, changed), changed, repeats


def _cosines(labels: Labels, question: ComparedQuery) -> Floats:
    """Cosine of each pair; 0 where one has no vector."""
    having, vectors = question.vectors.fetch(np.sort(labels))
    table = np.zeros((labels.size, vectors.shape[1] if vectors.size else 1))
    if having.size:
        at = np.minimum(np.searchsorted(having, labels), having.size - 1)
        there = having[at] == labels
        table[there] = vectors[at[there]]
    # Row by row: a product of matrices wakes the library's threads, which wait for each other on a busy machine.
    return np.asarray([table @ row for row in table], np.float64)


@dataclass(frozen=True, slots=True)
class ResultGroup:
    """One item of the answer with all it stands for.

    Attributes:
        at: place of the one that is shown.
        first: place of the best of them, which gives the score.
        refs: references of all, the best one's first.
    """

    at: int
    first: int
    refs: tuple[str, ...]


def fold_groups(
    found: Candidates, order: Iterable[int], leads: Mapping[int, int]
) -> tuple[tuple[ResultGroup, ...], dict[int, int]]:
    """Fold the parts of one split text, exact duplicates, and the sources of a digest or fact into one item each.

    Args:
        order: places, best first.
        leads: place of a source to the place of what was made of it and stands for it.

    Returns:
        The items, best first; and for each candidate that is not shown itself the place of the one that stands for it.
    """
    kept: list[tuple[int, int, list[str]]] = []
    stands_for: dict[int, int] = {}
    seen: dict[object, int] = {}
    for at in order:
        fact = found.facts[at]
        shown = leads.get(at, at)
        keys: tuple[object, ...] = (fact.twin, fact.whole)
        if shown != at:
            keys += (found.facts[shown].twin, found.facts[shown].whole)
        group = None
        for key in keys:
            group = seen.get(key) if group is None else group
        if group is None:
            group = len(kept)
            kept.append((shown, at, []))
        if kept[group][0] != at:
            stands_for[at] = kept[group][0]
        for key in keys:
            seen.setdefault(key, group)
        refs = kept[group][2]
        if fact.ref is not None and fact.ref not in refs:
            refs.append(fact.ref)
    return tuple(ResultGroup(at, first, tuple(refs)) for at, first, refs in kept), stands_for
