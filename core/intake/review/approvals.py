"""What a client asked for and the person decides: the row beside its review item, and what allowing it does.

The item is one of kind `approval`; of an update it holds the new text against the old, of a removal the memory alone.
Must not do: say whether a client needs to ask (`core.intake.revise.change_requests` does), or put its reason anywhere
else.
"""

from __future__ import annotations

from core.intake.transitions.transitions import Transitions, apply_forget
from core.memory.landmarks import carry_place
from core.memory.protection import inherited_tier
from core.types.memory import RequestedChange
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

OPEN_AT_MOST = 50
"""Requests of one client that may wait at once; our choice, so that nobody is flooded with questions."""

_CARRIED = ("caused_by", "instance_of", "inferred_from", "supports", "related_to", "example_of")
_ABOUT = (
    "SELECT c.id FROM conflicts c JOIN approvals a ON a.conflict_id = c.id "
    "WHERE c.incoming_id = :id OR c.existing_id = :id ORDER BY c.id"
)


def record_request(tx: Tx, item_id: str, change: RequestedChange, client_id: str, reason: str | None) -> None:
    """Record a client's request beside the review item that was opened for it.

    Args:
        reason: why, in the client's own words.
    """
    row = {
        "conflict_id": item_id,
        "verb": change.value,
        "client_id": client_id,
        "reason": reason,
        "asked_at": tx.now_ms,
    }
    tx.insert("approvals", row)


def change_request_of(rows: Rows, item_id: str) -> RequestedChange | None:
    """What a client asked for with an item.

    Returns:
        The wish; None where no client asked.
    """
    found = rows.value("SELECT verb FROM approvals WHERE conflict_id = ?", (item_id,))
    return None if found is None else RequestedChange(found)


def count_open_change_requests(rows: Rows, client_id: str) -> int:
    """How many requests of a client wait.

    Returns:
        0 or more.
    """
    return int(
        rows.value(
            "SELECT count(*) FROM approvals a JOIN conflicts c ON c.id = a.conflict_id "
            "WHERE a.client_id = ? AND c.state = 'open'",
            (client_id,),
        )
    )


def requests_about(rows: Rows, memory_id: str) -> list[str]:
    """The items by which clients asked for something about a memory, open or closed."""
    return [str(row[0]) for row in rows.all(_ABOUT, {"id": memory_id})]


def withdraw_requests(tx: Tx, memory_id: str) -> None:
    """Withdraw the requests about a memory that leaves with an undo: a request must not hold it back."""
    for item_id in requests_about(tx, memory_id):
        tx.delete("approvals", {"conflict_id": item_id})
        tx.delete("conflicts", {"id": item_id})


def carry_over(transitions: Transitions, old_id: str, new_id: str) -> None:
    """Carry over to a client's new version what belongs to the memory and not to its text.

    Its place, its pin, and the relations that somebody drew. What it earned as a rule it earned with other words.

    Args:
        old_id: the version that is over.
        new_id: the one that stands.
    """
    tx = transitions.tx
    old, new = tx.row("memories", {"id": old_id}), tx.row("memories", {"id": new_id})
    if old is None or new is None:
        return
    tx.update("memories", {"id": new_id}, {"pinned": old["pinned"], **inherited_tier(tx, old, new)})
    if old["space_id"] == new["space_id"]:
        carry_place(tx, old_id, new_id, is_moved=False)
    for (edge_id,) in tx.all("SELECT id FROM edges WHERE from_id = ? OR to_id = ? ORDER BY id", (old_id, old_id)):
        edge = tx.row("edges", {"id": edge_id}) or {}
        if edge["type"] not in _CARRIED:
            continue
        ends = {name: new_id if edge[name] == old_id else edge[name] for name in ("from_id", "to_id")}
        if ends["from_id"] != ends["to_id"]:
            tx.insert("edges", {**edge, **ends, "id": transitions.make_id()})


def apply_removal(transitions: Transitions, memory_id: str) -> None:
    """Remove a memory from recall at a client's request that the person allowed; an undo brings it back.

    Args:
        memory_id: the memory; of a split text the head.
    """
    parts = apply_forget(transitions.tx, transitions.make_id, memory_id)
    for one in (memory_id, *parts):
        if one not in transitions.touched:
            transitions.touched.append(one)
