"""What happened to every candidate of a recall, from the lists to the answer; ids and numbers, no text of a memory.

From a trace alone the order can be computed again (`core.score.ranking.rank_replay`). Must not do: compute.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.types.plans import QueryPlan

STAGES = ("vector", "words", "graph", "time", "in_scope", "fused", "after_duplicates", "answered")
"""The funnel, in its order: how many each list brought, how many of all were in scope, how many cleared the floor, how
many were left without duplicates, how many were returned."""


@dataclass(frozen=True, slots=True)
class TracedCandidate:
    """One candidate.

    Attributes:
        id: the memory.
        place: its place in the answer, from 1; None where it is not in it.
        rank: its place in the final order before anything was cut, from 1; None where it could not be returned.
        lists: list to (rank from 1, raw score); lists it does not stand in are missing.
        evidence: how strongly it answers, before any ranking.
        relevance: fused, 0 to 1.
        signals: `confidence`, `recency`, `importance`, `utility`, 0 to 1 each.
        factor: what the side signals did to the relevance, about 1.
        score: relevance times factor, 0 to 1.
        diversity: the greatest likeness to what stands above it; None where that was not looked at.
        dropped: the stage that dropped it: a status, `in_review`, `over`, `at_odds`, `filtered`, `suppressed`,
            `not_valid_then`, `below_bar`, `below_floor`, `duplicate`, `beyond_limit`; None for what is in the answer.
        because: more about it: the id of the memory it is a duplicate of; `""` where there is nothing more to say.
        recorded_at: epoch ms, for ties.
    """

    id: str
    place: int | None
    rank: int | None
    lists: Mapping[str, tuple[int, float]]
    evidence: float
    relevance: float
    signals: Mapping[str, float]
    factor: float
    score: float
    diversity: float | None
    dropped: str | None
    because: str
    recorded_at: int


@dataclass(frozen=True, slots=True)
class Trace:
    """A recall from the inside.

    Attributes:
        plan: how the question was understood.
        stages: stage to count, in the order of `STAGES`.
        candidates: the best of them by evidence, whether returned or not; at most `core.recall.answer.trace.KEPT`.
        weights: the numbers that ranked them: profile names to values as they were used, the intent's changes included.
        best: the greatest evidence there was among what may be returned.
        bar: what the chance must reach.
        chance: how likely there is an answer at all, 0 to 1.
        signs: what the chance was computed from (`core.score.ranking.abstention`); empty where one list alone was
        searched.
        rerank: how the order was made: `rrf`, `mmr` or `rrf_then_mmr`.
    """

    plan: QueryPlan
    stages: Mapping[str, int]
    candidates: tuple[TracedCandidate, ...]
    weights: Mapping[str, float]
    best: float
    bar: float
    chance: float
    signs: Mapping[str, float] = field(default_factory=dict)
    rerank: str = "rrf_then_mmr"
