"""What a local model is asked next, and what its answers may change after everything else was decided without it.

Asked are open pairs and texts it has not read, newest first, each once; how far it came is a note in `settings`, two
bounds for each of the two lists, so an undone answer is not asked for again. Two things may change: claims that rules
did not read are added to a memory, and a pair that nobody was sure of is settled or gets a better suggestion. Both go
the way of the store path: claims start as drafts and are asserted only beside nothing that excludes them; a relation
passes the gate. What the person said is never displaced (design sections 4 and 7).

Must not do: ask a model, believe one, open more than a few questions for one memory, or offer a text that may not leave
the vault, that is too long, part of a longer one, or under suspicion of carrying instructions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.belief.trust_gate import GateDecision, SourceAuthority, Verdict, decide_gate, may_act_on
from core.errors import BugError
from core.intake.candidate import (
    Neighbour,
    StoreCandidate,
    authority_of,
    find_claim_conflicts,
    has_other_claims,
    load_candidate_claims,
    load_neighbours,
)
from core.intake.claims import EvidenceSource, exclusive_rivals, write_claims
from core.intake.store.plan_execution import PlanExecution
from core.intake.store.relations import limit_to_part
from core.intake.store.store import StoreService
from core.intake.store.store_plan import NeighbourCase, StorePlan
from core.intake.transitions.review_items import ItemSubject
from core.intake.transitions.transitions import Transitions
from core.memory.write import Stored
from core.types.belief import ACTED_ON, LABELS, ClaimDraft, ComparedText, Label, Relation
from core.types.values import Action, Actor, Kind, Status
from core.vault.database.rows import MAY_BELONG, Rows, to_json
from core.vault.database.tx import Tx

NOTE = "refined"
"""A key of `settings`: how far a local model came."""

_FIT = (
    "m.security_tier = 'cleartext' AND m.part_of IS NULL AND length(m.text) <= :most "
    "AND NOT EXISTS (SELECT 1 FROM memories p WHERE p.part_of = m.id) "
    "AND NOT EXISTS (SELECT 1 FROM conflicts x WHERE x.incoming_id = m.id AND x.kind = 'injection' "
    "AND x.state = 'open')"
)
_PAIR = (
    "SELECT c.id, c.incoming_id, i.text, i.occurred_at, c.existing_id, e.text, "  # noqa: S608 - constants
    "e.occurred_at, c.detail, i.security_tier, e.security_tier FROM conflicts c "
    "JOIN memories i ON i.id = c.incoming_id JOIN memories e ON e.id = c.existing_id "
    f"WHERE (c.state = 'open' OR c.note = '{MAY_BELONG}') AND c.kind = 'classification' "
    f"AND (coalesce(c.confidence, 0) < :sure OR c.note = '{MAY_BELONG}') "
    "AND +i.status IN ('active', 'quarantined') AND +e.status = 'active' "
    "AND EXISTS (SELECT 1 FROM memories m WHERE m.id = i.id AND " + _FIT + ") "
    "AND EXISTS (SELECT 1 FROM memories m WHERE m.id = e.id AND " + _FIT + ") "
)
_TEXT = (
    "SELECT m.n, m.id, m.text, m.occurred_at, m.security_tier FROM memories m "  # noqa: S608 - constants
    "WHERE m.kind = 'fact' AND m.status = 'active' AND " + _FIT + " "
)
# Newer than the upper bound, oldest first; then older than the lower bound, newest first.
_PAIRS = (_PAIR + "AND c.id > :high ORDER BY c.id LIMIT 1", _PAIR + "AND c.id < :low ORDER BY c.id DESC LIMIT 1")
_TEXTS = (_TEXT + "AND m.n > :high ORDER BY m.n LIMIT 1", _TEXT + "AND m.n < :low ORDER BY m.n DESC LIMIT 1")
_LAST_ID, _LAST_N = "~", 2**62


@dataclass(frozen=True, slots=True)
class OpenPair:
    """An open item on two memories that nobody was sure of.

    Attributes:
        before: probabilities of the labels as they were believed when it was opened; may be empty.
        tiers: security tiers of both memories.
    """

    item_id: str
    incoming_id: str
    incoming: ComparedText
    existing_id: str
    existing: ComparedText
    before: Mapping[Label, float]
    tiers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnreadMemory:
    """A memory that the local model has not read.

    Attributes:
        n: its label.
        known: what rules read in it, or was given with it.
        tiers: its security tier.
    """

    n: int
    memory_id: str
    compared: ComparedText
    known: tuple[ClaimDraft, ...]
    tiers: tuple[str, ...]


def next_pair(rows: Rows, most: int) -> OpenPair | None:
    """The next pair of a review item that the local model is asked about.

    Args:
        most: code points of a text, at most.

    Returns:
        The item; None where there is none.
    """
    low, high = _read_bounds(rows).get("items", (_LAST_ID, _LAST_ID))
    values = {"low": low, "high": high, "most": most, "sure": ACTED_ON}
    row = rows.one(_PAIRS[0], values) or rows.one(_PAIRS[1], values)
    if row is None:
        return None
    claims = load_candidate_claims(rows, [row[1], row[4]])
    sides = [
        ComparedText(text, at_ms, tuple(draft for _, draft in claims.get(memory_id, ())))
        for memory_id, text, at_ms in (row[1:4], row[4:7])
    ]
    return OpenPair(
        str(row[0]), str(row[1]), sides[0], str(row[4]), sides[1], _parse_probabilities(row[7]), tuple(row[8:10])
    )


def next_text(rows: Rows, most: int) -> UnreadMemory | None:
    """The next memory that the local model reads.

    Args:
        most: code points of a text, at most.

    Returns:
        The memory; None where there is none.
    """
    low, high = _read_bounds(rows).get("texts", (_LAST_N, _LAST_N))
    values = {"low": low, "high": high, "most": most}
    row = rows.one(_TEXTS[0], values) or rows.one(_TEXTS[1], values)
    if row is None:
        return None
    known = tuple(draft for _, draft in load_candidate_claims(rows, [row[1]]).get(row[1], ()))
    return UnreadMemory(int(row[0]), str(row[1]), ComparedText(row[2], row[3], known), known, (row[4],))


def mark_asked(tx: Tx, offered: OpenPair | UnreadMemory) -> None:
    """Note that a model was asked; it is asked once, whatever it said.

    Args:
        tx: the transaction in which its answer is acted on.
        offered: what it was asked about.
    """
    name, place = ("items", offered.item_id) if isinstance(offered, OpenPair) else ("texts", offered.n)
    bounds: dict[str, tuple[Any, Any]] = _read_bounds(tx)
    low, high = bounds.get(name, (place, place))
    bounds[name] = (min(place, low), max(place, high))
    tx.run(
        "INSERT INTO settings (key, value, changed_at) VALUES (?, ?, ?) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at",
        (NOTE, json.dumps(bounds), tx.now_ms),
    )


def _read_bounds(rows: Rows) -> dict[str, tuple[Any, Any]]:
    """Lower and upper bound of each list: ids of items, labels of memories."""
    found = rows.value("SELECT value FROM settings WHERE key = ?", (NOTE,))
    bounds = {} if found is None else json.loads(found)
    return {name: (pair[0], pair[1]) for name, pair in bounds.items()}


def _parse_probabilities(detail: str) -> dict[Label, float]:
    shares = json.loads(detail).get("probabilities")
    if not isinstance(shares, dict):
        return {}
    return {Label[name]: float(share) for name, share in shares.items() if name in Label.__members__}


VERB = "refine"
MODEL_ACTOR = Actor("scheduler", name="local model")
SETTLED = "model"
"""`conflicts.note` of an item that a local model settled: a key of `resources/help/review.json`."""

READING = "reading"
"""`conflicts.detail.opened_by` of an item about a claim that a local model read."""

_QUESTIONS = 2
_UNSURE = 0.6
_LABELS = {
    Label.SUPERSEDE: "Let a newer memory replace an older one, as the local model reads them",
    Label.MERGE: "Unite two memories, as the local model reads them",
    Label.DUPLICATE: "Put a memory under one that says the same, as the local model reads them",
    Label.COEXIST: "Keep two memories side by side, as the local model reads them",
}
_READ = "Add claims that the local model read"
_SUGGESTED = {
    Label.DUPLICATE: Action.REJECT,
    Label.SUPERSEDE: Action.SUPERSEDE,
    Label.MERGE: Action.MERGE,
    Label.COEXIST: Action.KEEP_BOTH,
}
_DISPLACING = frozenset({GateDecision.SUPERSEDE, GateDecision.ENTER_SUPERSEDED, GateDecision.MERGE, GateDecision.STACK})


@dataclass(frozen=True, slots=True)
class RefinementResult:
    """What became of the local model's answer.

    Attributes:
        step_id: the undo step; None where no memory and no claim changed.
        changed: memories that changed.
        suggested: whether an open item has another suggestion now.
        opened: items that were opened.
    """

    step_id: str | None = None
    changed: tuple[str, ...] = ()
    suggested: bool = False
    opened: tuple[str, ...] = ()


def settle_pair(
    tx: Tx, store_service: StoreService, pair: OpenPair, relation: Relation, stored: Stored
) -> RefinementResult:
    """Act on what a model made of an open pair, as far as the gate and the person's word let it.

    Args:
        pair: the item as the model saw it; where anything of it changed meanwhile, nothing is done.
        relation: what is believed now (`core.belief.extract.model_proposals.weigh_model_answer`).
        stored: told of changed vectors after the commit.
    """
    if not _is_still(tx, pair):
        return RefinementResult()
    candidate = _load_refined_candidate(tx, pair.incoming_id)
    other = load_neighbours(tx, {pair.existing_id: 1.0})[pair.existing_id]
    relation = limit_to_part(candidate, other, relation)
    verdict = decide_gate(candidate.authority, other.authority, relation)
    if not _may_apply(tx, pair, candidate.authority, other.authority, verdict, relation):
        return _update_suggestion(tx, store_service, pair, verdict, relation)
    with store_service.work.verb(tx, VERB, _LABELS[relation.label], MODEL_ACTOR) as verb:
        transitions = store_service.make_transitions(tx, verb, stored, by="model")
        transitions.weighed = "model"
        transitions.close_conflict(pair.item_id, "moot", None, SETTLED)
        case = _make_case(tx, candidate, other, relation, verdict)
        plan = StorePlan(relation.label.value, relation.confidence, "model", None, (case,), verdict.decision, (case,))
        if verdict.decision in _DISPLACING:
            PlanExecution(transitions, candidate, plan, store_service.readers).apply_plan()
        else:
            transitions.coexist(candidate.memory_id, other.id)
        verb.note_audit(pair.item_id, deed=verdict.decision.value, confidence=round(relation.confidence, 4))
    return RefinementResult(verb.step_id, (candidate.memory_id, other.id), opened=tuple(transitions.opened))


def add_refined_claims(
    tx: Tx, store_service: StoreService, text: UnreadMemory, drafts: Sequence[ClaimDraft], stored: Stored
) -> RefinementResult:
    """Add what a model read and the text bears out (`core.belief.extract.model_proposals.keep_grounded`).

    A claim beside nothing that excludes it is asserted. One that is at odds with what stands stays a draft, and a
    person is asked; nobody's standing changes by it.

    Args:
        text: the memory as the model saw it; where it changed meanwhile, nothing is done.
        stored: told of changed vectors after the commit.
    """
    row = tx.row("memories", {"id": text.memory_id})
    if not drafts or row is None or row["text"] != text.compared.text or row["status"] != Status.ACTIVE.value:
        return RefinementResult()
    candidate = _load_refined_candidate(tx, text.memory_id)
    with store_service.work.verb(tx, VERB, _READ, MODEL_ACTOR) as verb:
        transitions = store_service.make_transitions(tx, verb, stored, by="model")
        transitions.weighed = "model"
        on = EvidenceSource(text.memory_id, row["text"], row["space_id"], row["lineage"], candidate.authority.at_ms)
        made = write_claims(tx, store_service.make_id, drafts, on, candidate.authority.scope_session)
        transitions.assert_claims(text.memory_id)
        for claim_id in made:
            if len(transitions.opened) < _QUESTIONS:
                _ask_about_claim(transitions, candidate, claim_id)
        verb.note_audit(text.memory_id, claims=len(made), items=len(transitions.opened))
    return RefinementResult(
        verb.step_id if made else None, (text.memory_id,) if made else (), opened=tuple(transitions.opened)
    )


def _is_still(tx: Tx, pair: OpenPair) -> bool:
    """Whether the item is open, or a note, and both texts are what the model read."""
    item = tx.row("conflicts", {"id": pair.item_id})
    if item is None or (item["state"] != "open" and item["note"] != MAY_BELONG):
        return False
    sides = ((pair.incoming_id, pair.incoming), (pair.existing_id, pair.existing))
    rows = [(tx.row("memories", {"id": memory_id}), expected) for memory_id, expected in sides]
    waits = (Status.ACTIVE.value, Status.QUARANTINED.value)
    return all(row is not None and row["text"] == expected.text and row["status"] in waits for row, expected in rows)


def _may_apply(
    tx: Tx, pair: OpenPair, candidate: SourceAuthority, existing: SourceAuthority, verdict: Verdict, relation: Relation
) -> bool:
    """Whether a model's answer may be carried out without a person.

    Both must stand: who waits for the person goes on waiting. Where the person said either of the two nothing gives
    way; two of the person's own may stand side by side. A verdict that asks a person is left to the person.
    """
    stand = tx.value(
        "SELECT count(*) FROM memories WHERE id IN (?, ?) AND status = 'active'", (pair.incoming_id, pair.existing_id)
    )
    if not may_act_on(relation) or verdict.review or stand != 2:
        return False
    owners = (candidate.persons or candidate.owner_said, existing.persons or existing.owner_said)
    if verdict.decision is GateDecision.COEXIST:
        return relation.label is Label.COEXIST and owners[0] == owners[1]
    return verdict.decision in _DISPLACING and not any(owners)


def _make_case(
    tx: Tx, candidate: StoreCandidate, other: Neighbour, relation: Relation, verdict: Verdict
) -> NeighbourCase:
    own = tuple(one for one in find_claim_conflicts(tx, candidate) if one.memory_id == other.id)
    whole = not own or not has_other_claims(tx, other.id, [one.claim_id for one in own])
    return NeighbourCase(other, relation, verdict, own, whole)


def _update_suggestion(
    tx: Tx, store_service: StoreService, pair: OpenPair, verdict: Verdict, relation: Relation
) -> RefinementResult:
    """The item stays the person's to decide; what Loci would do, and how sure it is, is brought up to date.

    A note becomes a question where the model surely read a change.
    """
    item = tx.row("conflicts", {"id": pair.item_id}) or {}
    wanted = verdict.suggestion or _SUGGESTED[relation.label]
    detail = {
        **json.loads(item["detail"]),
        "relation": relation.label.value,
        "why": relation.reason,
        "probabilities": {label.value: round(relation.probabilities[label], 4) for label in LABELS},
        "by": "model",
    }
    sure = None if wanted is Action.REJECT and relation.label is not Label.DUPLICATE else relation.confidence
    # Outside of the verb: a suggestion is no change of anything, and no step that an undo would have to pass.
    changes = {
        "suggestion": wanted.value,
        "confidence": None if sure is None else round(sure, 4),
        "detail": to_json(detail),
    }
    if item["note"] == MAY_BELONG and may_act_on(relation) and relation.label is Label.SUPERSEDE:
        changes |= {"state": "open", "note": None, "closed_at": None}
    tx.update("conflicts", {"id": pair.item_id}, changes)
    with store_service.work.verb(tx, VERB, _READ, MODEL_ACTOR) as verb:
        verb.note_audit(pair.item_id, suggestion=wanted.value, confidence=round(relation.confidence, 4))
    return RefinementResult(suggested=True)


def _ask_about_claim(transitions: Transitions, candidate: StoreCandidate, claim_id: str) -> None:
    """A claim that a model read excludes, or is excluded by, one that stands: ask about the two memories."""
    claim = transitions.tx.row("claims", {"id": claim_id})
    if claim is None or claim["state"] != "draft":
        return
    for rival_claim in exclusive_rivals(transitions.tx, claim):
        found = transitions.tx.one(
            "SELECT m.id, c.claim_key FROM evidence e JOIN memories m ON m.id = e.memory_id "
            "JOIN claims c ON c.id = e.claim_id WHERE e.claim_id = ? AND e.stance = 'supporting' "
            "AND m.status = 'active' AND m.id <> ? ORDER BY m.n LIMIT 1",
            (rival_claim, candidate.memory_id),
        )
        if found is not None:
            transitions.open_conflict(
                _make_item_subject(
                    transitions.tx, candidate, str(found[0]), (found[1], claim["claim_key"]), rival_claim
                )
            )
            return


def _make_item_subject(
    tx: Tx, candidate: StoreCandidate, other_id: str, keys: tuple[bytes, bytes], claim_id: str
) -> ItemSubject:
    sides = [(candidate.memory_id, candidate.authority), (other_id, authority_of(tx, other_id))]
    existing, incoming = sorted(sides, key=lambda side: (side[1].at_ms, side[0]))
    rest = (1.0 - _UNSURE) / (len(LABELS) - 1)
    shares: Mapping[Label, float] = {label: _UNSURE if label is Label.SUPERSEDE else rest for label in LABELS}
    verdict = decide_gate(
        incoming[1], existing[1], Relation(Label.SUPERSEDE, _UNSURE, shares, "model", "claims_at_odds")
    )
    return ItemSubject(
        kind="classification",
        incoming=incoming[0],
        existing=existing[0],
        reason=verdict.reason,
        suggestion=verdict.suggestion,
        confidence=_UNSURE if verdict.suggestion is not Action.REJECT else None,
        by="model",
        detail={
            "relation": Label.SUPERSEDE.value,
            "why": "claims_at_odds",
            "claims": [claim_id],
            "opened_by": READING,
        },
        keys=keys,
    )


def _load_refined_candidate(tx: Tx, memory_id: str) -> StoreCandidate:
    row: dict[str, Any] | None = tx.row("memories", {"id": memory_id})
    if row is None:
        raise BugError("refining a memory that is not there")
    stored_claims = load_candidate_claims(tx, [memory_id]).get(memory_id, [])
    return StoreCandidate(
        memory_id=memory_id,
        texts=(row["text"],),
        kind=Kind(row["kind"]),
        space_id=row["space_id"],
        claims=tuple(draft for _, draft in stored_claims),
        authority=authority_of(tx, memory_id),
        vector=None,
    )
