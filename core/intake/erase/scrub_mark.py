"""The note that rows vanished and their words still lie in pages of the lexical index.

Must not do: scrub; the engine does, when it comes to it.
"""

from __future__ import annotations

import json

from core.vault.database.tx import Tx

SCRUB_DUE = "scrub_due"
"""A key of `settings`: rows vanished and their words are not scrubbed yet; its value is the vault's sequence then."""


def note_scrub(tx: Tx) -> None:
    """Note, in the transaction in which rows vanish, that a scrub is due; a crash does not lose it."""
    tx.run(
        "INSERT INTO settings (key, value, changed_at) VALUES (?, ?, ?) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at",
        (SCRUB_DUE, json.dumps(tx.seq), tx.now_ms),
    )
