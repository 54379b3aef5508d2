"""Relations that a client draws between two memories (E14a, memory_relate): once, within one space, without a circle.

A relation decides nothing: `contradicts` shows that somebody sees a contradiction, and opens no question by itself.
Must not do: move a trust, or reach over the border of a space.
"""

from __future__ import annotations

from core.errors import Code, PreconditionError, UserError
from core.intake.transaction.unit_of_work import UnitOfWork
from core.types.memory import Related, Relationship
from core.types.values import GLOBAL_SPACE, OWNER, Actor
from core.vault.database.tx import Tx

VERB, LABEL = "relate", "Relate two memories"
MADE_BY = "model"
"""`edges.made_by` of what an assistant says; which one, its undo step and the audit know."""
_CIRCLE = (
    "WITH RECURSIVE reach (id) AS (SELECT :to UNION SELECT d.b FROM directed d JOIN reach r ON d.a = r.id) "
    "SELECT 1 FROM reach WHERE id = :from LIMIT 1"
)


def relate(tx: Tx, work: UnitOfWork, from_id: str, to_id: str, relationship: Relationship, actor: Actor) -> Related:
    """Draw one relation; one verb, one step.

    Args:
        tx: the transaction.
        work: opens the verb.
        from_id: the memory it goes out from; the caller has checked that the actor may see both.
        to_id: the other one.
        relationship: what the first is to the second.
        actor: who says so.

    Returns:
        The relation; the one that is there already where it is.

    Raises:
        UserError: INVALID_INPUT for one memory, or for two of different spaces; ACCESS_DENIED for two that only the
            person may relate; CYCLE for a cause of itself.
    """
    if from_id == to_id:
        raise UserError(Code.INVALID_INPUT, "A memory is not related to itself; name two.")
    space = _space(tx, from_id, to_id, actor)
    key = (from_id, to_id, relationship.value)
    known = tx.value("SELECT id FROM edges WHERE from_id = ? AND to_id = ? AND type = ?", key)
    if known is not None:
        return Related(str(known), *key, deduplicated=True)
    if relationship is Relationship.CAUSED_BY and tx.one(_CIRCLE, {"from": from_id, "to": to_id}) is not None:
        raise UserError(Code.CYCLE, "That relation would close a circle of causes.")
    edge_id = work.make_id()
    with work.verb(tx, VERB, LABEL, actor) as verb:
        tx.insert(
            "edges",
            {
                "id": edge_id,
                "from_id": from_id,
                "to_id": to_id,
                "type": relationship.value,
                "space_id": space,
                "made_by": OWNER if actor.is_owner else MADE_BY,
                "recorded_at": tx.now_ms,
            },
        )
        verb.note(from_id, other=to_id, relationship=relationship.value)
    return Related(edge_id, *key, step_id=verb.step_id)


def _space(tx: Tx, from_id: str, to_id: str, actor: Actor) -> str:
    """The space both are in, or the one that is not GLOBAL."""
    spaces = {str(tx.value("SELECT space_id FROM memories WHERE id = ?", (one,))) for one in (from_id, to_id)}
    if spaces == {GLOBAL_SPACE} and not actor.is_owner:
        raise UserError(Code.ACCESS_DENIED, "Only the person relates two memories of GLOBAL.")
    within = sorted(spaces - {GLOBAL_SPACE}) or [GLOBAL_SPACE]
    if len(within) > 1:
        raise PreconditionError("The two lie in different spaces; a relation stays within one.")
    return within[0]
