"""The nightly reconciliation (seed C 7.7): what is derived is worked out again, and evidence is held against its text.

Must not do: mend evidence whose quote is not in its text any more; it is counted, so that somebody can look.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from core.intake.claims.assertion import sync_claims
from core.intake.store.classification import SCHEDULER
from core.intake.transaction.trust_inputs import refresh_claims, refresh_trust
from core.intake.transaction.unit_of_work import UnitOfWork
from core.memory.draft import to_json
from core.types.replies import Reconciled
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

VERB = "reconcile"
LABEL = "Reconcile claims with their evidence"


@dataclass(frozen=True, slots=True)
class ReconciliationBatch:
    """One batch.

    Attributes:
        after: where the next batch begins: the last claim and the last label of a memory that were looked at.
        found: counts of this batch.
        is_last: nothing is left.
    """

    after: tuple[str, int]
    found: Reconciled
    is_last: bool


def reconcile(tx: Tx, work: UnitOfWork, after: tuple[str, int], limit: int) -> ReconciliationBatch:
    """Look at one batch of claims and of memories.

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
    sure = _confidences(tx, claims)
    with work.verb(tx, VERB, LABEL, SCHEDULER) as verb:
        sync_claims(tx, work.make_id, _behind(tx, claims))
        mended = verb.changes
        verb.note(claims=len(claims), memories=len(memories), states=mended, broken=len(broken))
    trusts = 0
    for _, memory_id in memories:
        before = float(tx.value("SELECT trust FROM memories WHERE id = ?", (memory_id,)))
        trusts += abs(refresh_trust(tx, memory_id) - before) > 1e-12
    refresh_claims(tx, claims)
    confidences = sum(abs(now - sure[claim_id]) > 1e-12 for claim_id, now in _confidences(tx, claims).items())
    cursor = (claims[-1] if claims else after[0], int(memories[-1][0]) if memories else after[1])
    found = Reconciled(len(claims), mended, confidences, len(memories), trusts, len(broken))
    return ReconciliationBatch(cursor, found, len(claims) < limit and len(memories) < limit)


def broken_evidence(rows: Rows, claim_ids: list[str]) -> list[str]:
    """Evidence whose span is not its quote any more, or whose quote does not match its hash.

    Args:
        claim_ids: the claims whose evidence is looked at.

    Returns:
        Ids of evidence.
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


def _confidences(rows: Rows, claim_ids: list[str]) -> dict[str, float]:
    return dict(
        rows.all(
            "SELECT id, confidence FROM claims WHERE id IN (SELECT value FROM json_each(?))", (to_json(claim_ids),)
        )
    )


def _behind(rows: Rows, claim_ids: list[str]) -> list[str]:
    found = rows.all(
        "SELECT DISTINCT e.memory_id FROM json_each(?) w JOIN evidence e ON e.claim_id = w.value "
        "JOIN memories m ON m.id = e.memory_id AND m.read_at IS NOT NULL ORDER BY 1",
        (to_json(claim_ids),),
    )
    return [str(row[0]) for row in found]


def add_counts(first: Reconciled, second: Reconciled) -> Reconciled:
    """The counts of two batches together."""
    return Reconciled(
        first.claims + second.claims,
        first.states + second.states,
        first.confidences + second.confidences,
        first.memories + second.memories,
        first.trusts + second.trusts,
        first.broken + second.broken,
    )
