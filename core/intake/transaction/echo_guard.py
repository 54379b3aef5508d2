"""The echo guard: what Loci handed out and what comes back is not news (design section 4, echo guard).

Must not do: keep a text, or judge the owner, who is one source anyway.
"""

from __future__ import annotations

from collections.abc import Iterable

from core.memory.draft import to_json
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

NO_IDS: frozenset[str] = frozenset()


def note_disclosures(tx: Tx, rows: Iterable[tuple[str, str, int]]) -> None:
    """Write down what was given to clients.

    Args:
        tx: the transaction of the journal.
        rows: client id, memory id, time in epoch ms; rows of a memory or client that is gone are dropped.
    """
    tx.run_many(
        "INSERT INTO handed (client_id, memory_id, last_at) SELECT c.id, m.id, ? FROM memories m, clients c "
        "WHERE m.id = ? AND c.id = ? ON CONFLICT (client_id, memory_id) DO UPDATE "
        "SET last_at = excluded.last_at, times = times + 1",
        [(at, memory_id, client_id) for client_id, memory_id, at in rows],
    )


def was_disclosed(rows: Rows, client_id: str | None, memory_id: str, waiting: frozenset[str] = NO_IDS) -> bool:
    """Whether a client was given a memory, or one that stands in its chain or beneath it.

    Args:
        client_id: the client; None for the owner, who is never an echo.
        waiting: ids that were given to the client and are not written down yet.

    Returns:
        Whether what says the same may be an echo.
    """
    if client_id is None:
        return False
    kin = [
        str(row[0])
        for row in rows.all(
            "SELECT id FROM memories WHERE id = ? OR consolidated_into = ? OR "
            "chain_id = (SELECT chain_id FROM memories WHERE id = ?)",
            (memory_id, memory_id, memory_id),
        )
    ]
    if waiting.intersection(kin):
        return True
    found = rows.one(
        "SELECT 1 FROM handed WHERE client_id = ? AND memory_id IN (SELECT value FROM json_each(?))",
        (client_id, to_json(kin)),
    )
    return found is not None
