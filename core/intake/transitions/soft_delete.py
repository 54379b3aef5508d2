"""Forgetting softly: the memory leaves recall and review, and comes back with an undo."""

from __future__ import annotations

from collections.abc import Callable

from core.errors import Code, UserError
from core.intake.claims.assertion import sync_claims
from core.intake.claims.candidate import authority_of
from core.intake.transaction.unit_of_work import UnitOfWork
from core.intake.transitions.digest_support import release_digests
from core.intake.transitions.review_items import close_moot
from core.types.values import Actor, Status
from core.vault.database.tx import Tx

VERB = "forget"
_PARTS = "SELECT id FROM memories WHERE id = ? OR part_of = ?"


def forget_memory(
    tx: Tx, work: UnitOfWork, memory_id: str, actor: Actor, verb_name: str = VERB, label: str = "Forget a memory"
) -> str:
    """Set a memory, with all parts of a split text, to `deleted`; what a person was asked about it is moot.

    A digest that says its words goes with it, and what else went into that digest stands again.

    Args:
        memory_id: the memory; the caller has checked that the actor may reach it.
        verb_name: what it is called in the audit; `label` names the step.
        label: see there.

    Returns:
        The id of the undo step.

    Raises:
        UserError: NOT_FOUND when there is no such memory or it is forgotten already; ACCESS_DENIED when a client
            would forget what the person said.
    """
    row = tx.one("SELECT status, coalesce(part_of, id) FROM memories WHERE id = ?", (memory_id,))
    if row is None or row[0] == Status.DELETED.value:
        raise UserError(Code.NOT_FOUND, "There is no such memory.")
    if not actor.is_owner and authority_of(tx, memory_id).is_guarded_from(actor.client_id):
        raise UserError(Code.ACCESS_DENIED, "Only the person may forget what the person said.")
    with work.verb(tx, verb_name, label, actor) as verb:
        told = apply_forget(tx, work.make_id, str(row[1]))
        parts = [str(part) for (part,) in tx.all(_PARTS, (row[1], row[1]))]
        close_moot(tx, [*parts, *told])
        verb.note(memory_id, parts=len(parts))
    return verb.step_id


def apply_forget(tx: Tx, make_id: Callable[[], str], head: str) -> tuple[str, ...]:
    """The steps of forgetting, within a running verb.

    Args:
        head: the memory; of a split text the head.

    Returns:
        Digests that left with it and memories that stand again: what was asked about them may be moot.
    """
    parts = [str(part) for (part,) in tx.all(_PARTS, (head, head))]
    for part in parts:
        tx.update(
            "memories",
            {"id": part},
            {"status": Status.DELETED.value, "status_reason": "forgotten", "retired_at": tx.now_ms},
        )
    sync_claims(tx, make_id, parts)
    return tuple(release_digests(tx, make_id, parts, Status.DELETED))
