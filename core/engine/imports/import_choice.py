"""What of a running import was chosen, kept beside its row so that a restart goes on with the same choice.

A choice can name thousands of conversations, so it is written once and not with every batch; it goes when the import
ends. Must not do: outlive its import.
"""

from __future__ import annotations

import json

from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

_PREFIX = "import_choice:"


def remember_choice(tx: Tx, import_id: str, only: frozenset[str] | None) -> None:
    """Keep what was chosen.

    Args:
        tx: the transaction that begins the import.
        import_id: the import.
        only: keys of the chosen conversations; None for all, which needs no note.
    """
    if only is not None:
        tx.run(
            "INSERT INTO settings (key, value, changed_at) VALUES (?, ?, ?)",
            (_PREFIX + import_id, json.dumps(sorted(only)), tx.now_ms),
        )


def choice_of(rows: Rows, import_id: str) -> frozenset[str] | None:
    """What was chosen of a running import.

    Args:
        rows: a snapshot.
        import_id: the import.

    Returns:
        Keys of the chosen conversations; None for all.
    """
    found = rows.value("SELECT value FROM settings WHERE key = ?", (_PREFIX + import_id,))
    return None if found is None else frozenset(json.loads(found))


def forget_choice(tx: Tx, import_id: str) -> None:
    """Take the note away; the import has ended.

    Args:
        tx: the transaction that ends it.
        import_id: the import.
    """
    tx.run("DELETE FROM settings WHERE key = ?", (_PREFIX + import_id,))
