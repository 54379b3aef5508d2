"""The nightly reconciliation: claims and memories are checked against what they rest on, behind everything else.

Must not do: hold the writer for more than one small batch, or judge a memory anew.
"""

from __future__ import annotations

from collections.abc import Callable

from core import log
from core.engine.runtime.storage import Storage, log_failure, submit_work
from core.intake.store.classification import ReconciliationBatch, add_classified_counts, reconcile_batch
from core.types.replies import Reconciled
from core.vault.database.tx import Tx

_log = log.get("engine")
_LAST = "reconciled"
_DAY_MS = 86_400_000
_RECONCILED = 250


def reconcile_all(storage: Storage) -> Reconciled:
    """Check every claim and every standing memory against what it rests on, batch by batch, and mend what is wrong.

    Returns:
        What was looked at, mended and found broken.
    """
    after: tuple[str, int] = ("", 0)
    whole = Reconciled()
    while not storage.closing.is_set():
        turn = storage.write(_make_reconcile_writer(storage, after), background=True).result()
        whole, after = add_classified_counts(whole, turn.found), turn.after
        if turn.is_last:
            break
    if whole.broken:
        _log.warning("%d pieces of evidence do not match their texts", whole.broken)
    return whole


def _make_reconcile_writer(storage: Storage, after: tuple[str, int]) -> Callable[[Tx], ReconciliationBatch]:
    return lambda tx: reconcile_batch(tx, storage.work, after, _RECONCILED)


def reconcile_daily(storage: Storage) -> None:
    """Check once a day, by the wall clock, that the states of claims and memories fit what they rest on."""
    now = storage.clock.now_ms()
    last = storage.vault.read(lambda rows: rows.value("SELECT changed_at FROM settings WHERE key = ?", (_LAST,)))
    if last is not None and 0 <= now - int(last) < _DAY_MS:
        return

    def note_day(tx: Tx) -> None:
        tx.run(
            "INSERT INTO settings (key, value, changed_at) VALUES (?, 'true', ?) "
            "ON CONFLICT (key) DO UPDATE SET changed_at = excluded.changed_at",
            (_LAST, now),
        )

    storage.write(note_day, background=True).result()
    if last is not None:  # a vault that was made or opened for the first time today has nothing to mend yet
        log_failure(submit_work(storage.threads.jobs, reconcile_all, storage), _log, "reconciling claims")
