"""Items of the conflict desk made by hand, for its tests: memories, claims and the question, in one step of their own.

The store path has tests of its own; here a pair is put where a test wants it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from engine_rig import START_MS, Rig

from core.engine.conflicts import run_review_chores
from core.intake.claims import EvidenceSource, draft_claim
from core.intake.transaction.sources import refresh_trust
from core.intake.transitions.review_items import ItemSubject
from core.intake.transitions.transitions import Transitions
from core.memory.write import Draft, ensure_space, insert_memories, write_vectors
from core.types.belief import ClaimDraft
from core.types.reviews import Decision, DecisionReply, Queue, QueueRequest, ReviewItem
from core.types.values import OWNER_ACTOR, Action, Actor, Kind, Role, Source, Status, When
from core.vault.database.tx import Tx

DAY_MS = 86_400_000


def lives_in(value: str, subject: str = "user", **more: Any) -> ClaimDraft:
    """A claim that only one value can hold."""
    return ClaimDraft(subject, "lives_in", value, exclusive=True, **more)


@dataclass(frozen=True)
class Side:
    """A memory to be.

    Attributes:
        status: how it stands in the end.
        client_id: who brought it; None for the owner.
    """

    text: str
    status: Status = Status.ACTIVE
    source: Source = Source.USER_EXPLICIT
    client_id: str | None = None
    claims: Sequence[ClaimDraft] = ()
    kind: Kind = Kind.FACT
    space: str = "home"
    trust: float = 0.8
    occurred_ms: int | None = START_MS
    valid_from: int | None = None
    recalled: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Pair:
    """What was made: ids."""

    item: str
    came: str
    have: str | None


def have(text: str = "User lives in Graz.", value: str | None = "Graz", **more: Any) -> Side:
    """What stands: the owner's word."""
    return Side(text, claims=() if value is None else (lives_in(value),), trust=1.0, **more)


def came(text: str = "User lives in Vienna.", value: str | None = "Vienna", **more: Any) -> Side:
    """A newcomer that was held back."""
    given = {
        "status": Status.QUARANTINED,
        "source": Source.DOCUMENT,
        "trust": 0.6,
        "occurred_ms": START_MS + 10 * DAY_MS,
    }
    return Side(text, claims=() if value is None else (lives_in(value),), **{**given, **more})


def make_pair(
    rig: Rig,
    old: Side | None = None,
    new: Side | None = None,
    *,
    kind: str = "contradiction",
    reason: str = "against_owner",
    suggestion: Action | None = Action.REJECT,
    confidence: float | None = 0.9,
    detail: Mapping[str, Any] | None = None,
    alone: bool = False,
    opened_ms: int | None = None,
) -> Pair:
    """Two memories and the question about them; one memory with `alone`."""

    def write(tx: Tx) -> Pair:
        with rig.opened.storage.work.verb(tx, "store", "Make a pair", OWNER_ACTOR) as verb:
            transitions = Transitions(
                tx, verb, rig.opened.storage.make_id, rig.opened.search.space, rig.opened.search.add_vectors
            )
            first = None if alone else put(rig, transitions, old or have())
            second = put(rig, transitions, new or came())
            item = transitions.open_conflict(
                ItemSubject(
                    kind,
                    second,
                    first,
                    reason=reason,
                    suggestion=suggestion,
                    confidence=confidence,
                    detail=detail or {},
                )
            )
            assert item is not None
            if opened_ms is not None:
                tx.update("conflicts", {"id": item}, {"opened_at": opened_ms})
        return Pair(item, second, first)

    pair: Pair = rig.write(write)
    return pair


def put(rig: Rig, transitions: Transitions, side: Side) -> str:
    """One memory with its claims, standing as it should."""
    tx, make_id = transitions.tx, rig.opened.storage.make_id
    memory_id = make_id()
    lineage = "owner" if side.client_id is None else f"client:{side.client_id}:"
    draft = Draft(
        id=memory_id,
        text=side.text,
        kind=side.kind,
        status=Status.QUARANTINED,
        space_id=ensure_space(tx, side.space, make_id()),
        source=side.source,
        role=Role.USER,
        lineage=lineage,
        recorded_at=tx.now_ms,
        trust=side.trust,
        last_confirmed_at=tx.now_ms,
        client_id=side.client_id,
        occurred=None if side.occurred_ms is None else When(side.occurred_ms),
        valid_from=None if side.valid_from is None else When(side.valid_from),
        extra=side.extra,
    )
    labels = insert_memories(tx, [draft])
    vectors = rig.opened.search.embedder.embed([side.text])
    write_vectors(tx, labels, np.asarray(vectors, np.float32), rig.opened.search.space)
    seq = tx.seq
    tx.after_commit(lambda: rig.opened.search.add_vectors(seq, labels, vectors))
    tx.insert(
        "memory_sources",
        {"memory_id": memory_id, "lineage": lineage, "source": side.source.value, "at": tx.now_ms},
    )
    on = EvidenceSource(memory_id, side.text, draft.space_id, lineage, tx.now_ms)
    for claim in side.claims:
        spanned = ClaimDraft(**{**_fields(claim), "end": len(side.text)})
        draft_claim(tx, spanned, on, (make_id(), make_id()))
    if side.status is Status.ACTIVE:
        transitions.activate(memory_id)
    elif side.status is Status.DISPUTED:
        transitions.dispute(memory_id, "equals_disagree")
    refresh_trust(tx, memory_id)
    tx.run("UPDATE memories SET read_at = ? WHERE id = ?", (tx.now_ms, memory_id))
    if side.recalled:
        tx.run("UPDATE memories SET access_count = ? WHERE id = ?", (side.recalled, memory_id))
    return memory_id


def _fields(claim: ClaimDraft) -> dict[str, Any]:
    return {name: getattr(claim, name) for name in ClaimDraft.__slots__}


def decide(rig: Rig, item: str, action: Action | str, actor: Actor = OWNER_ACTOR, **more: Any) -> DecisionReply:
    """Decide an item."""
    return rig.engine.conflicts.resolve(item, Decision(Action(action), **more), actor).result(30)


def statuses(rig: Rig, *ids: str | None) -> list[str]:
    """How memories stand."""
    return [str(rig.value("SELECT status FROM memories WHERE id = ?", one)) for one in ids if one is not None]


def claims_of(rig: Rig, memory_id: str | None) -> list[tuple[str, str, str]]:
    """Value, state and qualifiers of a memory's claims."""
    found = rig.rows(
        "SELECT DISTINCT c.value, c.state, c.qualifiers FROM claims c JOIN evidence e ON e.claim_id = c.id "
        "WHERE e.memory_id = ? ORDER BY c.id",
        memory_id,
    )
    return [(value, state, qualifiers) for value, state, qualifiers in found]


def state_of(rig: Rig, item: str) -> tuple[str, str | None, str | None]:
    """State, resolution and note of an item."""
    row = rig.rows("SELECT state, resolution, note FROM conflicts WHERE id = ?", item)[0]
    return (row[0], row[1], row[2])


def queue(rig: Rig, **more: Any) -> Queue:
    """What waits, as the desk shows it."""
    return rig.engine.conflicts.list_queue(QueueRequest(**more)).result(30)


def item(rig: Rig, item_id: str, actor: Actor = OWNER_ACTOR) -> ReviewItem:
    """One item with all it takes to decide."""
    return rig.engine.conflicts.read_item(item_id, actor).result(30)


def upkeep(rig: Rig, *, expiry: bool = False) -> int:
    """Tends the desk once; gives how many items changed."""
    changed: int = rig.write(lambda tx: run_review_chores(tx, rig.opened.storage, rig.opened.search, expiry=expiry))
    return changed


def others(name: str, **more: Any) -> tuple[Side, Side]:
    """A pair of which neither side is the owner's."""
    old = have(f"{name} is here.", None, source=Source.INFERENCE, client_id=more.pop("old_client", None))
    return old, came(f"{name} is there.", None, **more)
