"""Judging what is stored already: imported facts afterwards, what a person lets in, and the nightly reconciliation.

An episode is never judged. The reconciliation (seed C 7.7) works out again what is derived, and holds evidence against
its text; evidence whose quote is not in its text any more is counted, not mended, so that somebody can look. Must not
do: hold up an import, or leave anything behind that taking the import back would not take along.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.belief.extract.validity import classify_permanence
from core.belief.trust_gate import GateDecision
from core.embed.embedder import from_blob
from core.errors import BugError
from core.intake.candidate import StoreCandidate, authority_of, find_claim_conflicts, load_candidate_claims
from core.intake.claims import EvidenceSource, TextReaders, read_claims, sync_claims, write_claims
from core.intake.store.plan_execution import PlanExecution
from core.intake.store.store_plan import StorePlan
from core.intake.transaction.sources import (
    KINDS_BY_TEXT,
    find_active_duplicate,
    is_partly_over,
    refresh_claims,
    refresh_trust,
)
from core.intake.transaction.unit_of_work import UnitOfWork, Verb
from core.intake.transitions.transitions import Transitions
from core.memory.read import time_of_memory_sql
from core.memory.write import VectorSpace
from core.score.decay import STANDARD
from core.types.belief import ClaimDraft
from core.types.replies import Classification, Reconciled, StoreReply
from core.types.values import LIFECYCLE_ACTOR, Kind, Status
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

RECONCILE = "reconcile"
RECONCILE_LABEL = "Reconcile claims with their evidence"


@dataclass(frozen=True, slots=True)
class ReconciliationBatch:
    """One batch of claims and memories that the reconciliation has looked at.

    Attributes:
        after: where the next batch begins: the last claim and the last label of a memory that were looked at.
        found: counts of this batch.
        is_last: nothing is left.
    """

    after: tuple[str, int]
    found: Reconciled
    is_last: bool


def reconcile_batch(tx: Tx, work: UnitOfWork, after: tuple[str, int], limit: int) -> ReconciliationBatch:
    """Check one batch of claims and memories against what they rest on, and mend their states.

    Args:
        work: opens the verb; a step is written only where the state of a claim was wrong.
        after: (claim id, memory label) where to go on; ("", 0) to begin.
        limit: claims and memories of one batch.

    Returns:
        What was found, and where to go on.
    """
    claims = [
        str(row[0]) for row in tx.all("SELECT id FROM claims WHERE id > ? ORDER BY id LIMIT ?", (after[0], limit))
    ]
    # An episode's trust is what its source says; the others' goes down with age.
    memories = tx.all(
        "SELECT n, id FROM memories WHERE n > ? AND kind <> 'episode' AND status IN ('active', 'disputed') "
        "ORDER BY n LIMIT ?",
        (after[1], limit),
    )
    broken = broken_evidence(tx, claims)
    sure = _read_confidences(tx, claims)
    with work.verb(tx, RECONCILE, RECONCILE_LABEL, LIFECYCLE_ACTOR) as verb:
        sync_claims(tx, work.make_id, _memories_resting_on(tx, claims))
        mended = verb.changes
        verb.note_audit(claims=len(claims), memories=len(memories), states=mended, broken=len(broken))
    trusts = 0
    for _, memory_id in memories:
        before = float(tx.value("SELECT trust FROM memories WHERE id = ?", (memory_id,)))
        trusts += abs(refresh_trust(tx, memory_id) - before) > 1e-12
    refresh_claims(tx, claims)
    confidences = sum(abs(now - sure[claim_id]) > 1e-12 for claim_id, now in _read_confidences(tx, claims).items())
    cursor = (claims[-1] if claims else after[0], int(memories[-1][0]) if memories else after[1])
    found = Reconciled(len(claims), mended, confidences, len(memories), trusts, len(broken))
    return ReconciliationBatch(cursor, found, len(claims) < limit and len(memories) < limit)


def broken_evidence(rows: Rows, claim_ids: list[str]) -> list[str]:
    """Evidence whose span is not its quote any more, or whose quote does not match its hash.

    Args:
        claim_ids: the claims whose evidence is looked at.
    """
    found = rows.all(
        "SELECT e.id, e.quote, e.start_at, e.end_at, e.span_hash, m.text FROM json_each(?) w "
        "JOIN evidence e ON e.claim_id = w.value JOIN memories m ON m.id = e.memory_id ORDER BY e.id",
        (to_json(claim_ids),),
    )
    return [
        str(evidence_id)
        for evidence_id, quote, start, end, digest, text in found
        if text[start:end] != quote or hashlib.sha256(quote.encode("utf-8")).digest() != bytes(digest)
    ]


def _read_confidences(rows: Rows, claim_ids: list[str]) -> dict[str, float]:
    return dict(
        rows.all(
            "SELECT id, confidence FROM claims WHERE id IN (SELECT value FROM json_each(?))", (to_json(claim_ids),)
        )
    )


def _memories_resting_on(rows: Rows, claim_ids: list[str]) -> list[str]:
    found = rows.all(
        "SELECT DISTINCT e.memory_id FROM json_each(?) w JOIN evidence e ON e.claim_id = w.value "
        "JOIN memories m ON m.id = e.memory_id AND m.read_at IS NOT NULL ORDER BY 1",
        (to_json(claim_ids),),
    )
    return [str(row[0]) for row in found]


def add_classified_counts(first: Reconciled, second: Reconciled) -> Reconciled:
    """The counts of two batches together."""
    return Reconciled(
        first.claims + second.claims,
        first.states + second.states,
        first.confidences + second.confidences,
        first.memories + second.memories,
        first.trusts + second.trusts,
        first.broken + second.broken,
    )


VERB = "settle"
LABEL = "Compare what came in with what stands"
_KINDS = to_json([kind.value for kind in KINDS_BY_TEXT])
_OCCURRED_AT = "SELECT occurred_at FROM memories WHERE id = ?"
# What nobody has said it of, and what no earlier step that can still be taken back left as it is.
_LEVELLESS = (
    "SELECT m.id FROM json_each(:parts) w JOIN memories m ON m.id = w.value LEFT JOIN imports i ON i.id = m.import_id "
    "WHERE m.permanence = :level AND (m.status <> 'active' OR m.recorded_at >= :now OR i.step_id = :step "
    "OR m.recorded_at < (SELECT coalesce(min(at), :now) FROM undo_steps))"
)


def mark_read(tx: Tx, ids: Iterable[str]) -> None:
    """Note that the claims of memories were read and that they were compared with what stands."""
    tx.run_many("UPDATE memories SET read_at = ? WHERE id = ?", [(tx.now_ms, memory_id) for memory_id in ids])


def find_unread(rows: Rows, limit: int) -> list[str]:
    """Memories that stand and were never compared: facts, rules and procedures of finished imports or older versions.

    Returns:
        Ids, what was said first before what was said later.
    """
    found = rows.all(
        "SELECT m.id FROM memories m LEFT JOIN imports i ON i.id = m.import_id "  # noqa: S608 - constants
        "WHERE m.kind IN (SELECT value FROM json_each(?)) AND m.status = 'active' AND coalesce(m.part_index, 0) = 0 "
        "AND coalesce(i.state, 'done') <> 'running' "
        "AND m.read_at IS NULL AND m.kind <> 'episode' "
        f"ORDER BY {time_of_memory_sql('m')}, m.n LIMIT ?",
        (_KINDS, limit),
    )
    return [str(row[0]) for row in found]


@dataclass
class StoredMemoryJudge:
    """Judges stored memories within one verb.

    Attributes:
        transitions: the steps of the verb.
        readers: reads texts.
        plan: what becomes of a candidate (`core.intake.store.store_plan.plan_store`).
    """

    transitions: Transitions
    readers: TextReaders
    plan: Callable[[Tx, StoreCandidate], StorePlan]

    def judge_memory(self, memory_id: str, *, by_owner: bool = False, said_ms: int | None = None) -> StoreReply:
        """Compare one stored memory with what stands, and do what the gate says.

        Args:
            memory_id: the memory; of a split text the head.
            by_owner: the person lets it in: it counts as the owner's word.
            said_ms: when the person said so, epoch ms; None for now.
        """
        candidate = self._load_judged_candidate(memory_id, by_owner=by_owner, said_ms=said_ms)
        twin = find_active_duplicate(
            self._tx, candidate.texts, candidate.kind, candidate.space_id, candidate.authority.scope_session
        )
        known = None if twin is None or twin == memory_id or is_partly_over(self._tx, twin) else twin
        wanted = StorePlan("DUPLICATE", 1.0, "rules", known=known) if known else self.plan(self._tx, candidate)
        if wanted.known is not None:
            self.transitions.stack(memory_id, wanted.known)
            self.transitions.close_moot()
            return StoreReply(
                "NOOP", wanted.known, deduplicated=True, classification=Classification("DUPLICATE", 1.0, "rules")
            )
        self.transitions.weighed = wanted.by
        return PlanExecution(self.transitions, candidate, wanted, self.readers).apply_plan()

    def admit_memory(self, memory_id: str, *, by_owner: bool) -> StoreReply:
        """Judge what a person or a client lets in.

        Where it contradicts what the person said, and the person was shown it alone, both are shown before it ends
        anything: it goes on waiting, with a question of its own.

        Args:
            memory_id: the memory; of a split text the head.
            by_owner: the person lets it in.
        """
        if by_owner:
            candidate = self._load_judged_candidate(memory_id)
            wanted = self.plan(self._tx, candidate)
            if wanted.known is None and wanted.decision is GateDecision.QUARANTINE:
                carrying = PlanExecution(self.transitions, candidate, wanted, self.readers)
                if carrying.is_new_question:
                    self.transitions.weighed = wanted.by
                    return carrying.apply_plan()
        return self.judge_memory(memory_id, by_owner=by_owner)

    def read_anew(self, memory_id: str) -> None:
        """Read the claims of the text that a person gave a memory that stands, and let them hold.

        Only where they are at odds with what stands the memory is judged, as the owner's word of now where the owner
        decides: that a changed text is like another makes it no copy of it.

        Args:
            memory_id: the memory; an episode, and what does not stand, is passed over.
        """
        row = self._tx.one("SELECT kind, status FROM memories WHERE id = ?", (memory_id,))
        if row is None or row[0] not in KINDS_BY_TEXT or row[1] != Status.ACTIVE.value:
            return
        by_owner = self.transitions.by == "owner"
        self._tx.update("memories", {"id": memory_id}, {"read_at": None})
        self._reset_permanence(memory_id)
        if find_claim_conflicts(self._tx, self._load_judged_candidate(memory_id, by_owner=by_owner)):
            self.judge_memory(memory_id, by_owner=by_owner)
        else:
            self.transitions.assert_claims(memory_id)

    def add_claim(self, memory_id: str, draft: ClaimDraft) -> StoreReply | None:
        """A claim that is given for a text that stands.

        Returns:
            What happened; None where it replaced nothing.
        """
        candidate = replace(self._load_judged_candidate(memory_id), claims=(draft,))
        wanted = self.plan(self._tx, candidate)
        self._write_drafts([draft], memory_id, candidate)
        if (
            wanted.known is None
            and wanted.decision in (GateDecision.SUPERSEDE, GateDecision.HOLD_EXISTING)
            and wanted.label == "SUPERSEDE"
        ):
            return PlanExecution(self.transitions, candidate, wanted, self.readers).apply_plan()
        if wanted.known is None and wanted.decision in (GateDecision.QUARANTINE, GateDecision.DISPUTE):
            return None  # the claim stays a draft: the text stood before, and goes on standing without it
        self.transitions.assert_claims(memory_id)
        return None

    @property
    def _tx(self) -> Tx:
        return self.transitions.tx

    def _load_judged_candidate(
        self, memory_id: str, *, by_owner: bool = False, said_ms: int | None = None
    ) -> StoreCandidate:
        candidate = load_candidate(self._tx, memory_id, self.transitions.space)
        authority = candidate.authority
        if by_owner:
            at_ms = max(self._tx.now_ms if said_ms is None else said_ms, authority.at_ms)
            authority = replace(authority, owners_word=True, owner_said=True, persons=True, at_ms=at_ms)
        candidate = replace(candidate, claims=(), authority=authority)
        self._read_unread_claims(memory_id, candidate, self.transitions.list_parts(memory_id))
        return replace(candidate, claims=_load_drafts(self._tx, memory_id))

    def _read_unread_claims(self, memory_id: str, candidate: StoreCandidate, parts: Sequence[str]) -> None:
        """Read the claims of a text that nobody has read yet, beside those it was given."""
        if self._tx.value("SELECT read_at FROM memories WHERE id = ?", (memory_id,)) is not None:
            return
        known_drafts = [draft for _, draft in load_candidate_claims(self._tx, [memory_id]).get(memory_id, [])]
        occurred_at, vouched = self._tx.value(_OCCURRED_AT, (memory_id,)), candidate.authority.owner_said
        times = (None, None) if occurred_at is None else (self._tx.now_ms, int(occurred_at))
        found = read_claims(self.readers.stored, candidate.texts[0], known_drafts, times, vouched=vouched)
        self._write_drafts([draft for draft in found if draft not in known_drafts], memory_id, candidate)
        level = classify_permanence("".join(candidate.texts), found, candidate.kind)
        if level != STANDARD:
            self._set_permanence(parts, level)
        mark_read(self._tx, parts)

    def _set_permanence(self, parts: Sequence[str], level: str) -> None:
        """Say how long a text lasts, where nobody has said so yet.

        Trigger: a memory that stands came in with another step that can still be taken back, as in a vault of an older
        version. Why: its row would no longer be as that step left it. Outcome: it stays `standard`.
        """
        asked = {"parts": to_json(list(parts)), "level": STANDARD, "now": self._tx.now_ms}
        found = self._tx.all(_LEVELLESS, {**asked, "step": self.transitions.verb.step_id})
        self._tx.update_many("memories", "id", [str(row[0]) for row in found], {"permanence": level})

    def _reset_permanence(self, memory_id: str) -> None:
        """An edited text lasts as long as it says itself; what was set for the old one against its words stays set."""
        row = self._tx.one(
            "SELECT o.text, m.permanence, m.kind FROM memories m JOIN memories o ON o.id = m.supersedes_id "
            "WHERE m.id = ? AND o.permanence = m.permanence",
            (memory_id,),
        )
        if row is not None:
            read = read_claims(self.readers.stored, str(row[0]), (), (self._tx.now_ms, None))
            if classify_permanence(str(row[0]), read, Kind(row[2])) == row[1]:
                self._tx.update("memories", {"id": memory_id}, {"permanence": STANDARD})

    def _write_drafts(self, drafts: Sequence[ClaimDraft], memory_id: str, candidate: StoreCandidate) -> None:
        lineage = str(self._tx.value("SELECT lineage FROM memories WHERE id = ?", (memory_id,)))
        on = EvidenceSource(memory_id, candidate.texts[0], candidate.space_id, lineage, candidate.authority.at_ms)
        write_claims(self._tx, self.transitions.make_id, drafts, on, candidate.authority.scope_session)


def load_candidate(rows: Rows, memory_id: str, space: VectorSpace) -> StoreCandidate:
    """A stored memory as one that is judged now, with the claims that were read from it.

    Args:
        memory_id: the memory; of a split text the head.
        space: the vector space that is searched.
    """
    found = rows.all(
        "SELECT id, text, kind, space_id, n FROM memories WHERE part_of = ? OR id = ? ORDER BY id <> ?, part_index",
        (memory_id, memory_id, memory_id),
    )
    if not found:
        raise BugError("judging a memory that is not there")
    return StoreCandidate(
        memory_id=memory_id,
        texts=[str(row[1]) for row in found],
        kind=Kind(found[0][2]),
        space_id=found[0][3],
        claims=_load_drafts(rows, memory_id),
        authority=authority_of(rows, memory_id),
        vector=_load_vector(rows, int(found[0][4]), space),
    )


def _load_drafts(rows: Rows, memory_id: str) -> tuple[ClaimDraft, ...]:
    back = rows.value("SELECT status FROM memories WHERE id = ?", (memory_id,)) == Status.QUARANTINED.value
    stored_claims = load_candidate_claims(rows, [memory_id], back=back).get(memory_id, [])
    return tuple(draft for _, draft in stored_claims)


def _load_vector(rows: Rows, label: int, space: VectorSpace) -> NDArray[np.float32] | None:
    blob = rows.value(
        "SELECT vector FROM embeddings WHERE owner = 'memory' AND vector_space = ? AND dims = ? AND n = ?",
        (space.name, space.dims, label),
    )
    return None if blob is None else from_blob(blob, space.dims)


def judge_stored(tx: Tx, work: UnitOfWork, ids: Sequence[str], judging: Callable[[Verb], StoredMemoryJudge]) -> int:
    """Judge a batch of stored memories.

    What an import brought is judged within that import's undo step, so that taking the import back takes all of it
    along; the rest is a step of its own.

    Args:
        ids: from `find_unread`, in that order.
        judging: makes the judge for a verb.
    """
    done = 0
    for step, group in _group_by_import_step(tx, ids):
        with work.verb(tx, VERB, LABEL, LIFECYCLE_ACTOR, step_id=step) as verb:
            judge = judging(verb)
            for memory_id in group:
                # One of this batch may have been taken away by another.
                if tx.value("SELECT status FROM memories WHERE id = ?", (memory_id,)) == "active":
                    judge.judge_memory(memory_id)
                done += 1
                mark_read(tx, [memory_id])
            verb.note_audit(judged=len(group))
    return done


def _group_by_import_step(tx: Tx, ids: Sequence[str]) -> list[tuple[str | None, list[str]]]:
    """Runs of memories of one import, in their order."""
    found = dict(
        tx.all(
            "SELECT m.id, s.id FROM json_each(?) w JOIN memories m ON m.id = w.value "
            "JOIN imports i ON i.id = m.import_id AND i.state = 'done' "
            "JOIN undo_steps s ON s.id = i.step_id AND s.undone_by IS NULL",
            (to_json(list(ids)),),
        )
    )
    groups: list[tuple[str | None, list[str]]] = []
    for memory_id in ids:
        step = found.get(memory_id)
        if groups and groups[-1][0] == step:
            groups[-1][1].append(memory_id)
        else:
            groups.append((step, [memory_id]))
    return groups
