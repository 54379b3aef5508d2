"""How the stand-in for the engine understands every question, and how good its answers are.

Every member has a value that is not its default, so that a door that drops one is noticed. Must not be used where the
engine itself is tested.
"""

from __future__ import annotations

from core.types.recall import STAGES, Metrics, QueryPlan, TimeRange, Trace
from core.types.values import Intent

__all__ = ["METRICS", "PLAN", "TRACE", "Metrics"]

PLAN = QueryPlan(
    intent=Intent.TEMPORAL,
    intent_scores={intent.value: 0.7 if intent is Intent.TEMPORAL else 0.1234567 for intent in Intent},
    time=TimeRange("last week", 5, 14, "2026-05-04", "2026-05-10", 1_777_852_800_000, 1_778_457_600_000),
    entities=("Harbour",),
    aliases={"Harbour": ("the quay", "Port")},
    identifiers=("v1.2",),
    text_weight=0.4500001,
    text_signals=("digit", "intent_temporal"),
    given=("intent",),
)
TRACE = Trace(
    plan=PLAN,
    stages=dict(zip(STAGES, (128, 64, 0, 12, 151, 60, 41, 8), strict=True)),
    candidates=(),
    weights={"rrf_k": 60.0},
    best=0.8,
    bar=0.6,
    chance=0.91234567,
)
METRICS = Metrics(0.6234567, 0.93, 0.91, 41, 8, 240, 12.5, "rrf_then_mmr", 0.45)
