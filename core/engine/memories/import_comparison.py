"""Comparing what was imported with what stands, and the nightly reconciliation, behind everything else.

Must not do: hold the writer for more than one small batch, or judge an episode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core import log
from core.engine.runtime.search import Search
from core.engine.runtime.storage import Storage, log_failure, submit_work
from core.intake.store.classification import ReconciliationBatch, add_classified_counts, find_unread, reconcile_batch
from core.types.replies import Reconciled
from core.types.values import LIFECYCLE_ACTOR
from core.vault.database.tx import Tx

_LAST = "reconciled"
_DAY_MS = 86_400_000
_RECONCILED = 250
_log = log.get("engine")
BATCH = 50
AT_ONCE = 500
"""So many are compared before an import says that it is done; what is left over follows behind it."""


def compare_imported(storage: Storage, search: Search, most: int | None = None) -> int:
    """Judge stored memories that nobody has compared yet, the earliest said first.

    Args:
        most: stop after so many; None for all of them.

    Returns:
        How many were looked at.
    """
    done = 0
    while not storage.closing.is_set() and (most is None or done < most):
        limit = BATCH if most is None else min(BATCH, most - done)
        ids = storage.vault.read(lambda rows: find_unread(rows, limit))  # noqa: B023 - read at once
        if not ids:
            break
        storage.write(_make_batch_writer(storage, search, ids), background=True).result()
        done += len(ids)
    return done


def compare_in_turns(storage: Storage, search: Search, name: str) -> None:
    """Compare all that nobody has compared yet, a batch at a time: names are read and jobs go on in between.

    Args:
        name: what is compared, in words, for the log.

    Raises:
        UserError: VAULT_LOCKED; the vault closes.
    """

    def take_turn() -> None:
        if compare_imported(storage, search, BATCH):
            compare_in_turns(storage, search, name)

    log_failure(submit_work(storage.threads.jobs, take_turn), _log, name)


def _make_batch_writer(storage: Storage, search: Search, ids: Sequence[str]) -> Callable[[Tx], None]:
    def write(tx: Tx) -> None:
        with storage.verb(tx, LIFECYCLE_ACTOR, "settle") as verb:
            search.store_service.judge_batch(tx, ids, search.add_vectors)
            verb.set_outcome(())

    return write


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
