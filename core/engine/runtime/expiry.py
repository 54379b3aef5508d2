"""What expires: undo steps, receipts, remembered requests; and the note that vanished rows wait for a scrub.

Must not do: touch memories, or hold the writer for longer than a small batch.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.settings import apply_undone_options
from core.errors import Code, UserError
from core.types.values import Actor
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx
from core.vault.memory_sql import SCRUB_DUE, note_scrub

if TYPE_CHECKING:
    from core.types.replies import UndoReport

_HOUR_S = 3600.0
_DAY_MS = 86_400_000
_BATCH = 2_000
_STEPS = 50
_TURN_S = 2.0

# A step stays as long as one that took it back, or that it was taken back by, can still be undone itself.
_STEPS_OVER = """
    WITH RECURSIVE kept (id) AS (
        SELECT id FROM undo_steps WHERE expires_at >= :now OR is_open = 1
        UNION SELECT s.undoes_id FROM kept k JOIN undo_steps s ON s.id = k.id WHERE s.undoes_id IS NOT NULL
        UNION SELECT s.undone_by FROM kept k JOIN undo_steps s ON s.id = k.id WHERE s.undone_by IS NOT NULL
    )
    SELECT id FROM undo_steps WHERE expires_at < :now AND is_open = 0 AND id NOT IN (SELECT id FROM kept)
    ORDER BY at LIMIT :most
"""
_ANY = (
    "SELECT EXISTS (SELECT 1 FROM undo_steps WHERE expires_at < :now AND is_open = 0) "
    "OR EXISTS (SELECT 1 FROM receipts WHERE expires_at < :now) OR EXISTS (SELECT 1 FROM requests WHERE at < :old)"
)


def delete_expired(open_vault: OpenVault) -> None:
    """Delete one batch of what expired, at most once an hour unless more is left; nothing by a clock that leapt ahead.

    Raises:
        LociError: what the vault said.
    """
    at = open_vault.storage.clock.monotonic()
    if open_vault.tidied_at is not None and at - open_vault.tidied_at < _HOUR_S:
        return
    from core.lifecycle.job_support.clock_check import believed_ms  # opening asks this module for a note alone

    now, days = open_vault.storage.clock.now_ms(), open_vault.options.undo_days
    if open_vault.storage.vault.read(lambda rows: believed_ms(rows, now)) < now:
        return  # on trial: looked at again with the next call
    due = open_vault.storage.vault.read(lambda rows: bool(rows.value(_ANY, {"now": now, "old": now - days * _DAY_MS})))
    try:
        more = due and open_vault.storage.write(lambda tx: _delete_batch(tx, days), background=True).result(_TURN_S)
    except TimeoutError:
        return  # behind something long in the queue: it is done in its turn
    if not more:
        open_vault.tidied_at = at


def undo_step(
    tx: Tx,
    open_vault: OpenVault,
    step_id: str | None,
    actor: Actor,
    *,
    verb_name: str = "undo",
    may_be_old: bool = False,
) -> UndoReport:
    """Take a step back that has not expired, and note in the same transaction that vanished words wait for a scrub.

    Args:
        step_id: the step; None for the newest.
        verb_name: as `core.intake.undo.undo_step` has it.
        may_be_old: whether an expired step is taken back too (an import that was interrupted long ago).

    Returns:
        What was restored and what was left.

    Raises:
        UserError: NOT_FOUND when there is no such step or it has expired, INVALID_INPUT, BUSY.
    """
    from core.intake import undo

    wanted = step_id or undo.last_step(tx)
    expires_at = None if wanted is None else tx.value("SELECT expires_at FROM undo_steps WHERE id = ?", (wanted,))
    if expires_at is not None and expires_at < tx.clock_ms and not may_be_old:
        raise UserError(Code.NOT_FOUND, "That step is too old; it can no longer be undone.")
    report = undo.undo_step(
        tx, open_vault.storage.work, step_id, actor, open_vault.search.drop_vectors, verb_name=verb_name
    )
    # Of an archive that was taken back the options are the last rows, and were the first of the import.
    apply_undone_options(tx, open_vault, (report.undo_step_id, report.step_id), actor)
    if tx.value(
        "SELECT 1 FROM undo_rows WHERE step_id = ? AND tbl = 'memories' AND after_hash IS NULL LIMIT 1",
        (report.undo_step_id,),
    ):
        note_scrub(tx)
    return report


def take_back_import(tx: Tx, open_vault: OpenVault, step_id: str, actor: Actor) -> None:
    """Close the step of an import that was stopped or failed, and undo it, in one transaction.

    Raises:
        LociError: what the vault said.
    """
    tx.run("UPDATE undo_steps SET is_open = 0 WHERE id = ?", (step_id,))
    undo_step(tx, open_vault, step_id, actor, may_be_old=True)


def scrub_noted(rows: Rows) -> str | None:
    """The note that a scrub is due, as it stands.

    Returns:
        Its value; None where none is due.
    """
    found = rows.value("SELECT value FROM settings WHERE key = ?", (SCRUB_DUE,))
    return None if found is None else str(found)


def clear_scrub_note(tx: Tx, noted: str) -> None:
    """Take the note away, unless more vanished since it was read.

    Args:
        noted: what `scrub_noted` gave before the scrub.
    """
    tx.run("DELETE FROM settings WHERE key = ? AND value = ?", (SCRUB_DUE, noted))


def _delete_batch(tx: Tx, undo_days: int) -> bool:
    """One batch; whether more may be left."""
    left = [_delete_steps(tx), _delete_receipts(tx)]
    requests = tx.run(
        "DELETE FROM requests WHERE rowid IN (SELECT rowid FROM requests WHERE at < ? LIMIT ?)",
        (tx.clock_ms - undo_days * _DAY_MS, _BATCH),
    )
    return any(left) or requests >= _BATCH


def _delete_steps(tx: Tx) -> bool:
    from core.lifecycle.job_support import job_store

    steps = json.dumps([row[0] for row in tx.all(_STEPS_OVER, {"now": tx.clock_ms, "most": _STEPS})])
    if steps == "[]":
        return False
    job_store.keep_reverted_pairs(tx, steps)
    of_them = "IN (SELECT value FROM json_each(?))"
    # Rows first, and so many at a time: an import's step has one for each of its memories.
    deleted = tx.run(
        f"DELETE FROM undo_rows WHERE rowid IN (SELECT rowid FROM undo_rows WHERE step_id {of_them} LIMIT ?)",  # noqa: S608 - constant
        (steps, _BATCH),
    )
    if deleted >= _BATCH:
        return True
    for table, column in (("undo_steps", "undoes_id"), ("undo_steps", "undone_by"), ("consolidation_log", "step_id")):
        tx.run(f"UPDATE {table} SET {column} = NULL WHERE {column} {of_them}", (steps,))  # noqa: S608 - constant
    from core.memory.stored_files import remove_unheld

    remove_unheld(tx)  # files that were taken back and cannot come back any more
    return tx.run(f"DELETE FROM undo_steps WHERE id {of_them}", (steps,)) >= _STEPS  # noqa: S608 - constant


def _delete_receipts(tx: Tx) -> bool:
    over = tx.all("SELECT id FROM receipts WHERE expires_at < ? LIMIT ?", (tx.clock_ms, _BATCH))
    if not over:
        return False
    receipts = json.dumps([row[0] for row in over])
    tx.run("DELETE FROM contexts WHERE receipt_id IN (SELECT value FROM json_each(?))", (receipts,))
    tx.run("UPDATE feedback SET receipt_id = NULL WHERE receipt_id IN (SELECT value FROM json_each(?))", (receipts,))
    tx.run("DELETE FROM receipts WHERE id IN (SELECT value FROM json_each(?))", (receipts,))
    return len(over) >= _BATCH
