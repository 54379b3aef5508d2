"""Copies of the vault from before a memory was sealed, which hold its text unsealed, and rewriting them.

In a rewritten backup the memory is sealed under the same key: restoring it loses nothing. Which copies were seen to
hold nothing any more is noted by file, so that nobody is asked about them twice; a file that changed is asked about
again. Must not do: keep a key; say of a copy that it is clean because it could not be opened.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from core.engine.runtime.open_vault import OpenVault, VaultSlot
from core.engine.runtime.storage import Storage
from core.engine.vault.copy_rewrites import CopyRewrites, ReportStep
from core.errors import Code, EnvironmentFaultError, LociError, UserError
from core.intake.seal.seal import SealKey, seal_memories
from core.intake.sync.device import read_state
from core.intake.transaction.unit_of_work import UnitOfWork
from core.types.memory import CopiesBeforeSeal, CopyFinding, CopyState, SealedCopiesReport
from core.types.values import OWNER_ACTOR
from core.vault.backup import is_backup, read_times
from core.vault.copies import known_copies, noted_elsewhere
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx, without_recorder

REWRITE = "rewrite_sealed_copies"
_NOTE = "sealed_copies"
_EVER = 2**63 - 1
_NOT_OF_THE_COPY = frozenset({Code.SEALED, Code.VAULT_LOCKED, Code.CANCELLED})
_SEALED = "SELECT id, sealed_at FROM sealed_memories WHERE ? IN ('', id) ORDER BY sealed_at"
_BODIES = "SELECT id, key_id, label, summary, body FROM sealed_memories ORDER BY sealed_at, id"
_PRESENT = "SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(?2)) ORDER BY id = ?1 DESC, n DESC LIMIT 1"
"""The sealed memory itself where the copy has it, else its newest version there."""
_KEY_COLUMNS = ("id", "slots", "made_at")
_PUT = (
    "INSERT INTO settings (key, value, changed_at) VALUES (?, ?, ?) "
    "ON CONFLICT (key) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at"
)


@dataclass(frozen=True, slots=True)
class _Sealed:
    """A sealed memory as copies are to hold it.

    Attributes:
        ids: of all its rows: versions and parts too.
        key_row: the row of its key.
    """

    id: str
    label: str
    summary: str
    ids: tuple[str, ...]
    key_row: Mapping[str, Any]


class SealedCopies:
    """Copies that are older than a seal."""

    def __init__(self, slot: VaultSlot, key_of: Callable[[OpenVault, str], SealKey]) -> None:
        """Tie the ends together.

        Args:
            slot: holds the open vault.
            key_of: the seal key of an id, while it is in memory.
        """
        self._slot, self._key_of = slot, key_of

    def list_older(self, memory_id: str = "") -> Future[CopiesBeforeSeal]:
        """Copies that were made before a memory was sealed, and were not rewritten since; needs no key.

        Args:
            memory_id: of one sealed memory alone; "" for all.
        """
        storage = self._slot.require_vault().storage

        def read(rows: Rows) -> CopiesBeforeSeal:
            copies = _find_older(storage, rows, memory_id)
            return CopiesBeforeSeal(
                tuple(name_copy(storage, copy) for copy in copies if copy.is_file()),
                tuple(name_copy(storage, copy) for copy in copies if not copy.is_file()),
            )

        return storage.read_quietly(read)

    def rewrite(
        self, report: ReportStep = lambda *_: None, is_cancelled: Callable[[], bool] = lambda: False
    ) -> Future[SealedCopiesReport]:
        """Seal in the backups too what is sealed in the vault.

        Args:
            report: told what is done.
            is_cancelled: asked before each copy.

        Returns:
            How each copy from before a seal is afterwards. The future raises SEALED, DISK_FULL; each backup is the old
            one or the new one, whole.
        """
        open_vault = self._slot.require_vault()
        storage = open_vault.storage

        def run() -> SealedCopiesReport:
            sealed, others = self._read_bodies(open_vault)
            known = storage.vault.read(partial(_find_older, storage))
            copies = [copy for copy in known if copy.is_file()]
            rewrites, found, seen = CopyRewrites(storage), [], []
            for done, copy in enumerate(copies):
                if is_cancelled():
                    found += [CopyFinding(name_copy(storage, one), CopyState.NOT_CHECKED) for one in copies[done:]]
                    break
                report("rewrite", done, len(copies))
                finding = self._rewrite_one(open_vault, rewrites, copy, sealed)
                found.append(replace(finding, name=name_copy(storage, copy)))
                if finding.state in (CopyState.CLEAN, CopyState.REWRITTEN):
                    seen.append(copy)
            storage.write(partial(_write_seen, storage, seen, [row.id for row in sealed])).result()
            away = tuple(name_copy(storage, copy) for copy in known if not copy.is_file())
            return SealedCopiesReport(tuple(found), away, others)

        return storage.run_on(storage.threads.checks, run)

    def _rewrite_one(
        self, open_vault: OpenVault, rewrites: CopyRewrites, copy: Path, sealed: Sequence[_Sealed]
    ) -> CopyFinding:
        wanted = tuple(one for row in sealed for one in row.ids)
        try:
            return rewrites.rewrite(copy, wanted, partial(self._seal_in_copy, open_vault, sealed))
        except EnvironmentFaultError:
            if copy.is_relative_to(open_vault.storage.home.path):
                raise
            # A stick that is full or cannot be written keeps no other copy from being rewritten.
        except LociError as error:
            if error.code in _NOT_OF_THE_COPY:
                raise
            # Damaged, of a newer version, or a file of it is on another device: the old one stays, and is told.
        return rewrites.look_into(copy, wanted)

    def _read_bodies(self, open_vault: OpenVault) -> tuple[list[_Sealed], int]:
        """The sealed memories whose key is in memory, and how many others there are."""
        vault = open_vault.storage.vault
        key_rows = {str(row[0]): dict(zip(_KEY_COLUMNS, row, strict=True)) for row in vault.read(_read_keys)}
        sealed, closed = [], 0
        fault: UserError | None = None
        for memory_id, key_id, label, summary, body in vault.read(lambda rows: rows.all(_BODIES)):
            try:
                key = self._key_of(open_vault, str(key_id))
            except UserError as error:
                if error.code is not Code.SEALED:
                    raise
                closed, fault = closed + 1, error
                continue
            ids = tuple(str(row["id"]) for row in key.decrypt(str(memory_id), bytes(body)).memories)
            sealed.append(_Sealed(str(memory_id), str(label), str(summary), ids, key_rows[str(key_id)]))
        if fault is not None and not sealed:
            raise fault
        return sealed, closed

    def _seal_in_copy(self, open_vault: OpenVault, sealed: Sequence[_Sealed], tx: Tx, work: UnitOfWork) -> None:
        """Seal in the vault of a backup what it holds of these, as it holds it."""
        for row in sealed:
            wanted = (row.id, to_json(list(row.ids)))
            while (found := tx.value(_PRESENT, wanted)) is not None:
                with without_recorder(tx):
                    if not tx.update("seal_keys", {"id": row.key_row["id"]}, {"slots": row.key_row["slots"]}):
                        tx.insert("seal_keys", row.key_row)
                key = self._key_of(open_vault, row.key_row["id"])
                labels = {str(found): row.label}
                seal_memories(tx, work, labels, key, OWNER_ACTOR, lambda *_: None, summary=row.summary)


def _read_keys(rows: Rows) -> list[tuple[Any, ...]]:
    return rows.all("SELECT id, slots, made_at FROM seal_keys")


def _find_older(storage: Storage, rows: Rows, memory_id: str = "") -> list[Path]:
    sealed = {str(one): int(at) for one, at in rows.all(_SEALED, (memory_id,))}
    notes, elsewhere = _read_note(rows), noted_elsewhere(rows)
    if read_state(rows) is not None:
        # Another device may have sealed it before this one heard of it: a backup made in between is newer.
        sealed = dict.fromkeys(sealed, _EVER)
    copies = (*known_copies(storage.home), *sorted(elsewhere))
    return [copy for copy in copies if _may_hold(copy, sealed, notes, elsewhere.get(copy))]


def _may_hold(copy: Path, sealed: Mapping[str, int], notes: Mapping[str, Any], noted_at: int | None) -> bool:
    """Whether a copy may hold one of some sealed memories as it was: made in the very second of the seal counts.

    Args:
        sealed: when each was sealed.
        notes: of copies that were seen to hold nothing.
        noted_at: when a backup elsewhere was made, which may be away now; None for a copy in the home.
    """
    mark = _mark_of(copy)
    seen, ids = notes.get(str(copy), (None, ()))
    made_at = noted_at or 0
    if mark is not None:
        made_at = read_times(copy).made_at_ms if is_backup(copy) else mark[0] // 1_000_000
    is_same = mark is not None and mark == seen
    return any(made_at <= at and not (is_same and one in ids) for one, at in sealed.items())


def _mark_of(copy: Path) -> list[int] | None:
    """By what a file is known again; None where it is not there."""
    try:
        stat = copy.stat()
    except OSError:
        return None
    return [stat.st_mtime_ns, stat.st_size]


def find_seen(copies: Sequence[Path], rows: Rows) -> dict[str, list[str]]:
    """What was noted of copies that have not changed since.

    Returns:
        Path of a copy to the ids of the sealed memories that it was seen not to hold unsealed.
    """
    notes = _read_note(rows)
    noted = {str(copy): notes[str(copy)] for copy in copies if str(copy) in notes}
    return {name: ids for name, (mark, ids) in noted.items() if mark == _mark_of(Path(name))}


def keep_seen(tx: Tx, seen: Mapping[str, list[str]]) -> None:
    """Note it of the files as they are now: rewriting a backup for an erasure unseals nothing in it.

    Args:
        seen: as `find_seen` told it before they were rewritten.
    """
    kept = {name: [_mark_of(Path(name)), ids] for name, ids in seen.items()}
    if kept:
        _put_note(tx, {**_read_note(tx), **kept})


def _write_seen(storage: Storage, seen: Sequence[Path], ids: Sequence[str], tx: Tx) -> None:
    home = storage.home.path  # what is away elsewhere may come back
    notes = {
        one: kept for one, kept in _read_note(tx).items() if Path(one).is_file() or not Path(one).is_relative_to(home)
    }
    for copy in seen:
        notes[str(copy)] = [_mark_of(copy), list(ids)]
    with storage.verb(tx, OWNER_ACTOR, REWRITE, label="Rewrite backups") as verb:
        _put_note(tx, notes)
        verb.note_audit(copies=len(seen))


def _put_note(tx: Tx, notes: Mapping[str, Any]) -> None:
    with without_recorder(tx):
        tx.run(_PUT, (_NOTE, json.dumps(notes), tx.now_ms))


def _read_note(rows: Rows) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(rows.value("SELECT value FROM settings WHERE key = ?", (_NOTE,), default="{}"))
    return found


def name_copy(storage: Storage, copy: Path) -> str:
    """The name of a copy in the home, the whole path of another."""
    return copy.name if copy.is_relative_to(storage.home.path) else str(copy)
