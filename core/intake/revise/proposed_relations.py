"""Relations that replay proposed: the person accepts or rejects each; a rejected pair is never proposed again (E44.4).

Must not do: propose one.
"""

from __future__ import annotations

from collections.abc import Callable

from core.errors import Code, UserError
from core.intake.transaction.unit_of_work import UnitOfWork
from core.types.memory import ProposedLink
from core.types.values import OWNER_ACTOR
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
        rows: a vault snapshot.
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

    Args:
        tx: the transaction.
        work: opens the verb.
        make_id: makes UUIDv7 ids.
        from_id: one memory.
        to_id: the other.

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

    Args:
        tx: the transaction.
        work: opens the verb.
        from_id: one memory.
        to_id: the other.

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
