"""A client that an undo brings back is not let in by it: it waits, paused, to be paired anew.

Whoever revoked a client did so because its token may be in other hands, and an undo is pressed by habit. So a token
that is out of force never comes into force again, whichever step is taken back or brought back, alone or with many
others: in its place stands one that nobody was ever told. And what a client was granted when it was paired anew is left
alone by the undo of anything older: it would take from it, or give it, what the person did not mean. Must not do:
choose what is taken back.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from core.vault.database.rows import both_states, image_from_json
from core.vault.database.tx import Tx

NEVER = 0
"""`paired_at` of a client that is to be paired anew; no clock of a vault shows that hour."""
UNPAIRED = f"(paired_at = {NEVER} AND revoked_at IS NULL)"
"""SQL for such a row of `clients`."""
_TOKEN_BYTES = 32
# Of one millisecond, as where the clock was set back and stands still, the steps' own order tells.
_PAIRED_SINCE = (
    "SELECT c.id FROM undo_steps s JOIN clients c ON c.revoked_at IS NULL AND c.paired_at >= s.at WHERE s.id = ? "
    "AND (c.paired_at > s.at OR EXISTS (SELECT 1 FROM undo_steps p JOIN undo_rows r ON r.step_id = p.id "
    "WHERE p.at = s.at AND p.rowid > s.rowid AND p.verb = 'pair' AND r.tbl = 'clients' "
    "AND json_extract(r.row_key, '$.id') = c.id))"
)

Row = Mapping[str, object]


def is_unpaired(row: Row) -> bool:
    """Whether a client is to be paired anew.

    Args:
        row: of `clients`; `paired_at` and `revoked_at` are enough.
    """
    return row["paired_at"] == NEVER and row["revoked_at"] is None


def is_voided_by_revocation(table: str, before: Row | None, current: Row | None) -> bool:
    """Whether the undo of a pairing meets a client whose revocation was taken back before: nothing of it is in force.

    Args:
        table: whose row.
        before: the row as it was before the step.
        current: the row as it is.
    """
    return table == "clients" and before is None and current is not None and is_unpaired(current)


def restored_client_row(tx: Tx, table: str, before: Row | None, current: Row | None) -> Row | None:
    """The row of a client as an undo puts it back.

    Args:
        table: whose row.
        before: the row as it was before the step; None where there was none.
        current: the row as it is; None where there is none.

    Returns:
        `before`, where nobody is let in by it or its token is in force now; else the same client, paused, with a token
        that nobody knows.
    """
    if table != "clients" or before is None:
        return before
    if before["revoked_at"] is not None or is_unpaired(before):
        return before
    if current is not None and current["revoked_at"] is None and current["token"] == before["token"]:
        return before
    return {**before, "token": secrets.token_bytes(_TOKEN_BYTES), "paired_at": NEVER, "paused_at": tx.now_ms}


def split_newer_terms(
    tx: Tx, step_id: str, rows: Sequence[tuple[Any, ...]]
) -> tuple[list[tuple[Any, ...]], list[dict[str, Any]]]:
    """Set apart what a step did to the terms of clients that were paired anew since: their grants, their own spaces.

    Args:
        step_id: the step that is taken back.
        rows: of it, each `table, key, before, after_hash`, images as JSON.

    Returns:
        The other rows, and the grants among those that stay, as they are listed.
    """
    anew = {str(row[0]) for row in tx.all(_PAIRED_SINCE, (step_id,))}
    if not anew:
        return list(rows), []
    others, left = [], []
    for row in rows:
        table, key, before = row[0], image_from_json(row[1]), None if row[2] is None else image_from_json(row[2])
        if table not in ("grants", "spaces"):
            others.append(row)
            continue
        current = tx.row(table, key)
        if {one.get("client_id") for one in (before, current) if one is not None}.isdisjoint(anew):
            others.append(row)
        elif table == "grants" and before != current:
            left.append(both_states(table, key, before, current))
    return others, left
