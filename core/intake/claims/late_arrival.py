"""What was said before what stands, and comes in late: what it ends, and what ended it, by time.

Versions of a chain follow each other in the order in which they were said, whatever the order in which they came. Must
not do: give a version its number, or touch what stands.
"""

from __future__ import annotations

from typing import Any

from core.vault.database.tx import Tx

_AT = "coalesce(m.valid_from, m.occurred_at, m.recorded_at)"
# Whether a version speaks of the same as the newcomer: of what it says nothing is known, or all of it.
_SAME = (
    "(NOT EXISTS (SELECT 1 FROM evidence e WHERE e.memory_id = :id AND e.stance = 'supporting') "
    "OR NOT EXISTS (SELECT 1 FROM evidence e JOIN claims c ON c.id = e.claim_id WHERE e.memory_id = m.id "
    "AND e.stance = 'supporting' AND NOT EXISTS (SELECT 1 FROM evidence f JOIN claims o ON o.id = f.claim_id "
    "WHERE f.memory_id = :id AND f.stance = 'supporting' AND o.subject_key = c.subject_key "
    "AND o.predicate = c.predicate)))"
)
_VERSION = (
    "FROM memories m WHERE m.chain_id = :chain AND m.id <> :id AND coalesce(m.part_index, 0) = 0 "
    "AND (m.status IN ('active', 'disputed') "
    "OR (m.status = 'superseded' AND m.status_reason IN ('replaced', 'older'))) "
    "AND " + _SAME + " "
)
_NEXT = "SELECT m.id " + _VERSION + "AND " + _AT + " > :at ORDER BY " + _AT + ", m.version LIMIT 1"
_LAST = (
    "SELECT m.id " + _VERSION + "AND +m.status = 'superseded' AND " + _AT + " < :at "
    "ORDER BY " + _AT + " DESC, m.version DESC LIMIT 1"
)
_CLAIMS = (
    "SELECT c.id FROM evidence f JOIN claims o ON o.id = f.claim_id JOIN claims c ON c.space_id = o.space_id "  # noqa: S608
    "AND c.subject_key = o.subject_key AND c.predicate = o.predicate AND c.scope_session = o.scope_session "
    "AND c.qualifiers = o.qualifiers AND c.value_key <> o.value_key "
    "WHERE f.memory_id = :id AND f.stance = 'supporting' "
    "AND o.exclusive = 1 AND c.exclusive = 1 AND c.state = 'superseded' AND c.valid_to > :at "
    "AND coalesce(c.valid_from, (SELECT min(" + _AT + ") FROM evidence e JOIN memories m ON m.id = e.memory_id "
    "WHERE e.claim_id = c.id AND e.stance = 'supporting')) < :at ORDER BY c.id"
)


def next_said(tx: Tx, chain_id: str, new: dict[str, Any], otherwise: str) -> str:
    """The version that ended a late newcomer: the one said next after it.

    Args:
        tx: the verb's transaction.
        chain_id: the chain it enters.
        new: its row of `memories`.
        otherwise: what stands.

    Returns:
        The version's id; what stands, where none was said after it.
    """
    found = tx.value(_NEXT, {"chain": chain_id, "id": new["id"], "at": _said_at(new)})
    return otherwise if found is None else str(found)


def end_before(tx: Tx, chain_id: str, new: dict[str, Any]) -> None:
    """What was said before a late newcomer held until it was said, and no longer.

    Args:
        tx: the verb's transaction.
        chain_id: the chain it enters.
        new: its row of `memories`.
    """
    at = _said_at(new)
    known = {"id": new["id"], "at": at}
    for (claim_id,) in tx.all(_CLAIMS, known):
        tx.update("claims", {"id": claim_id}, {"valid_to": at, "valid_to_prec": "ms"})
    before = tx.value(_LAST, {**known, "chain": chain_id})
    for part, until in tx.all("SELECT id, valid_to FROM memories WHERE id = ? OR part_of = ?", (before, before)):
        if until is None or until > at:
            changes = {"valid_to": at, "valid_to_prec": "ms", "superseded_by_id": new["id"]}
            tx.update("memories", {"id": part}, changes)


def _said_at(row: dict[str, Any]) -> int:
    told = (row["valid_from"], row["occurred_at"], row["recorded_at"])
    return int(next(at for at in told if at is not None))
