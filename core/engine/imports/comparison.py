"""Comparing what was imported with what stands, behind everything else.

Must not do: hold the writer for more than one small batch, or judge an episode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core import log
from core.engine.runtime.search import Search
from core.engine.runtime.storage import Storage, log_failure, submit_work
from core.intake.store.classification import find_unread
from core.types.values import LIFECYCLE_ACTOR
from core.vault.database.tx import Tx

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
