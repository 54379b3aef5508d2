"""Puts candidates in order: fused ranks and evidence give the relevance, bounded side signals the score.

Must not do: read anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy as np

from core.recall.candidates import Candidates
from core.recall.result import Signals
from core.recall.windows import Floats
from core.score.factors import Sides, multiplier, recency, utility
from core.score.fusion import fuse, ranks
from core.score.profile import Profile

# Scores nearer than this are equal: a sum of floats must not decide a tie.
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates in their final order; lists hold infinity where a candidate does not stand in one.

    Attributes:
        order: places in the candidates, best first.
        score: final score by place in the candidates, 0 to 1.
        relevance: by place, before the side signals.
        sides: the side signals.
        factor: what the side signals did, by place.
        ranks: rank by list and place.
        raw: raw score by list and place.
    """

    order: tuple[int, ...]
    score: Floats
    relevance: Floats
    sides: Sides
    factor: Floats
    ranks: dict[str, Floats]
    raw: dict[str, Floats]

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


def rank(found: Candidates, bm25_scores: dict[int, float], profile: Profile, strongest: float, now_ms: int) -> Ranked:
    """Order candidates.

    Args:
        found: the candidates.
        bm25_scores: label to BM25 score.
        profile: the weights.
        strongest: the greatest evidence there can be in this mode.
        now_ms: the present, epoch ms.

    Returns:
        The order with all that made it. Ties: newer first, then by id.
    """
    raw = {
        "vector": found.vector,
        "bm25": np.array([bm25_scores.get(label, np.nan) for label in found.labels.tolist()], np.float64),
        "window": found.window,
        "coverage": np.where(found.coverage > 0, found.coverage, np.nan),
        "evidence": found.evidence,
    }
    places = {name: ranks(np.round(scores, _DIGITS)) for name, scores in raw.items()}
    weights = {name: value for name, value in asdict(profile.lists).items() if np.isfinite(places[name]).any()}
    fused = fuse(places, weights, profile.rrf_k)
    share = np.clip(found.evidence / strongest, 0.0, 1.0)
    relevance = profile.strength * share + (1.0 - profile.strength) * fused
    sides = _sides(found, profile, now_ms)
    factor = multiplier(sides, profile.sides, profile.side_bound)
    score = np.asarray(np.round(np.clip(relevance * factor, 0.0, 1.0), _DIGITS), np.float64)
    return Ranked(_ordered(found, score), score, relevance, sides, factor, places, raw)


def _sides(found: Candidates, profile: Profile, now_ms: int) -> Sides:
    at_ms, confidence, importance, reinforcements, disputes, accesses = found.sides.T
    return Sides(
        confidence=confidence,
        recency=recency(now_ms, at_ms, profile.recency_half_life_days),
        importance=importance,
        utility=utility(reinforcements, disputes, accesses),
    )


def _ordered(found: Candidates, score: Floats) -> tuple[int, ...]:
    keys = [(-value, -fact.recorded_at, fact.id) for value, fact in zip(score.tolist(), found.facts, strict=True)]
    return tuple(sorted(range(len(keys)), key=keys.__getitem__))


def folded(found: Candidates, order: Iterable[int]) -> list[tuple[int, tuple[str, ...]]]:
    """Fold the parts of one split text, and exact duplicates, into the best of them.

    Args:
        found: the candidates.
        order: places, best first.

    Returns:
        Place of each that stays, best first, with the references of all it stands for, its own first.
    """
    kept: list[tuple[int, list[str]]] = []
    seen: dict[object, int] = {}
    for at in order:
        fact = found.facts[at]
        group = seen.get(fact.twin, seen.get(fact.whole))
        if group is None:
            group = len(kept)
            kept.append((at, []))
        seen.setdefault(fact.twin, group)
        seen.setdefault(fact.whole, group)
        refs = kept[group][1]
        if fact.ref is not None and fact.ref not in refs:
            refs.append(fact.ref)
    return [(at, tuple(refs)) for at, refs in kept]
