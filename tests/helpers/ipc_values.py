"""Memories, clients and answers with sensible values everywhere, made without an engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.engine.facade import RecallItem, RecallResult
from core.recall.result import NearMiss, Signals
from core.types.clients import ClientRecord
from core.types.recall import STAGES, Metrics, QueryPlan, TimeRange, Trace
from core.types.values import Intent, Kind, Memory, Role, Source, Status, When

START_MS = 1_700_000_000_000
SECRET = "quinquagesima-Marzipanturm"

# Every member has a value that is not its default, so that a door that drops one is noticed.
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


def make_memory(n: int = 1, **changes: Any) -> Memory:
    """A memory with sensible values everywhere."""
    base = Memory(
        n=n,
        id=f"00000000-0000-7000-8000-{n:012d}",
        kind=Kind.FACT,
        status=Status.ACTIVE,
        text=f"text {n}",
        space="home",
        source=Source.USER_EXPLICIT,
        role=Role.USER,
        author=None,
        category="general",
        importance=0.5,
        tags=(),
        client_id=None,
        conversation_id=None,
        position=None,
        session=None,
        ref=None,
        import_id=None,
        occurred=When(START_MS),
        recorded_at=START_MS,
        retired_at=None,
        valid_from=None,
        valid_to=None,
        trust=0.9,
        confidence=0.5,
        corroboration=1,
        reinforcements=0,
        disputes=0,
        last_confirmed_at=START_MS,
        access_count=0,
        last_accessed_at=None,
        supersedes_id=None,
        superseded_by_id=None,
        chain_id="c",
        part_of=None,
        part_index=None,
        pinned=False,
        version=1,
    )
    return replace(base, **changes)


def make_client(name: str, grants: Sequence[str] = ("read", "propose"), **changes: Any) -> ClientRecord:
    """A paired client whose token is its name, repeated."""
    base = ClientRecord(
        id=f"id-{name}",
        name=name,
        token=(name.encode() * 32)[:32],
        grants=frozenset(grant for grant in grants if not grant.startswith("space:")),
        space_ids=frozenset(),
        spaces=tuple(grant[6:] for grant in grants if grant.startswith("space:")),
        own_space_id=f"s-{name}",
        trust_ceiling=0.85,
        limit_minute=20,
        limit_session=200,
        paired_at=START_MS,
        last_seen_at=None,
        paused=False,
        revoked=False,
    )
    return replace(base, **changes)


def found_item(memory: Memory, **changes: Any) -> RecallItem:
    """A recall item with sensible values everywhere."""
    ranks = {"vector": (1, 0.93), "lexical": (2, 7.5)}
    base = RecallItem(memory, 0.86, Signals(0.9, 0.5, 0.61, 0.5, 0.1), ranks, ("It says so.",), ())
    return replace(base, **changes)


def recall_result(items: tuple[RecallItem, ...], **changes: Any) -> RecallResult:
    """A recall result with sensible values everywhere."""
    misses = (NearMiss("m-1", "below_bar", "It is below the bar.", "active", 0.3),)
    base = RecallResult(items, not items, "Found.", misses, "hybrid", "flat", 1, 1, 1, "default", TRACE, 1.25)
    return replace(base, **changes)
