"""Relations between two memories: drawn by a client (E14a, memory_relate), or proposed by replay and accepted (E44.4).

Each is drawn once, within one space, without a circle, and a rejected pair is never proposed again. A relation decides
nothing: `contradicts` opens no question by itself. Must not do: move a trust, propose, or cross the border of a space.
"""

from __future__ import annotations

from collections.abc import Callable

from core.errors import Code, PreconditionError, UserError
from core.intake.transaction.unit_of_work import UnitOfWork
from core.types.memory import ProposedLink, Related, Relationship
from core.types.values import GLOBAL_SPACE, OWNER, OWNER_ACTOR, Actor
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

KIND = "related_to"
"""The relation that an accepted link becomes (X59)."""
MOST = 1_000

_OPEN = (
    "SELECT l.from_id, l.to_id, a.text, b.text, s.name, l.cosine, l.at FROM links l "
    "JOIN memories a ON a.id = l.from_id JOIN memories b ON b.id = l.to_id JOIN spaces s ON s.id = l.space_id "
    "WHERE l.state = 'open' AND a.status = 'active' AND b.status = 'active' "
    "ORDER BY l.cosine DESC, l.from_id, l.to_id LIMIT ?"
)


def open_links(rows: Rows, limit: int = 100) -> tuple[ProposedLink, ...]:
    """Proposed relations that wait for the person, nearest first; those of memories that left are passed over.

    Args:
        limit: 1 to 1,000.

    Returns:
        The proposals.

    Raises:
        UserError: INVALID_INPUT for the limit.
    """
    if not 1 <= limit <= MOST:
        raise UserError(Code.INVALID_INPUT, f"A list has 1 to {MOST:,} proposals.")
    return tuple(ProposedLink(*row) for row in rows.all(_OPEN, (limit,)))


def accept_link(tx: Tx, work: UnitOfWork, make_id: Callable[[], str], from_id: str, to_id: str) -> str:
    """The person agrees: the relation is drawn.

    Returns:
        The id of the undo step.

    Raises:
        UserError: NOT_FOUND; there is no such proposal, or it is decided.
    """
    first, second = sorted((from_id, to_id))
    with work.verb(tx, "accept_link", "Accept a relation", OWNER_ACTOR) as verb:
        cosine, space = _decide(tx, first, second, "accepted")
        if tx.one("SELECT 1 FROM edges WHERE from_id = ? AND to_id = ? AND type = ?", (first, second, KIND)) is None:
            tx.insert(
                "edges",
                {
                    "id": make_id(),
                    "from_id": first,
                    "to_id": second,
                    "type": KIND,
                    "space_id": space,
                    "weight": min(1.0, max(0.0, cosine)),
                    "made_by": "owner",
                    "recorded_at": tx.now_ms,
                },
            )
        verb.note(first, other=second)
    return verb.step_id


def reject_link(tx: Tx, work: UnitOfWork, from_id: str, to_id: str) -> str:
    """The person does not agree: the pair is not proposed again.

    Returns:
        The id of the undo step.

    Raises:
        UserError: NOT_FOUND; there is no such proposal, or it is decided.
    """
    first, second = sorted((from_id, to_id))
    with work.verb(tx, "reject_link", "Reject a relation", OWNER_ACTOR) as verb:
        _decide(tx, first, second, "rejected")
        verb.note(first, other=second)
    return verb.step_id


def _decide(tx: Tx, first: str, second: str, state: str) -> tuple[float, str]:
    key = {"from_id": first, "to_id": second}
    row = tx.row("links", key)
    if row is None or row["state"] != "open":
        raise UserError(Code.NOT_FOUND, "There is no such proposal, or it is decided already.")
    tx.update("links", key, {"state": state})
    return float(row["cosine"]), str(row["space_id"])


VERB, LABEL = "relate", "Relate two memories"
MADE_BY = "model"
"""`edges.made_by` of what an assistant says; which one, its undo step and the audit know."""
_CIRCLE = (
    "WITH RECURSIVE reach (id) AS (SELECT :to UNION SELECT d.b FROM directed d JOIN reach r ON d.a = r.id) "
    "SELECT 1 FROM reach WHERE id = :from LIMIT 1"
)


def draw_relation(
    tx: Tx, work: UnitOfWork, from_id: str, to_id: str, relationship: Relationship, actor: Actor
) -> Related:
    """Draw one relation; one verb, one step.

    Args:
        from_id: the memory it goes out from; the caller has checked that the actor may see both.
        to_id: the other one.
        relationship: what the first is to the second.

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
