"""Looking into copies of the open vault for some memories, and rewriting backups so that they hold them no longer so.

Erasing and sealing share it: what a rewritten backup is to be like they say themselves. Must not do: decide which
memories are looked for; touch the vault that is open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from core.engine.home.keys import sub_keys
from core.engine.runtime.storage import Storage
from core.errors import LociError
from core.intake.transaction.unit_of_work import UnitOfWork
from core.security.keys import Purpose
from core.types.memory import CopyFinding, CopyState
from core.vault.audit import AuditChain
from core.vault.backup import OpenedKeys, is_backup
from core.vault.copies import open_copy, rewrite_backup, state_of_fault
from core.vault.database.rows import SqlRows, to_json
from core.vault.database.tx import Tx

ReportStep = Callable[[str, int, int | None], None]
"""Told what is done by its code word, with done and total."""

_HELD = (
    "SELECT count(*) FROM memories WHERE id IN (SELECT value FROM json_each(:ids)) "
    "OR content_hash IN (SELECT unhex(value) FROM json_each(:hashes))"
)


class CopyRewrites:
    """The copies of one open vault, opened with its present keys."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._keys = OpenedKeys(storage.root.vault_id, sub_keys(storage.root), storage.root.derive(Purpose.BACKUP))

    def look_into(self, copy: Path, ids: Sequence[str], hashes: Sequence[bytes] = ()) -> CopyFinding:
        """Look for memories in a copy.

        Args:
            copy: a backup, or another copy of the vault.
            ids: of the memories; one of another id whose text has one of `hashes` is found too.

        Returns:
            What it holds, or why that cannot be told.
        """
        wanted = {"ids": to_json(list(ids)), "hashes": to_json([one.hex() for one in hashes])}
        try:
            with open_copy(self._storage.home, copy, self._keys) as reader:
                held = int(SqlRows(reader).value(_HELD, wanted))
        except LociError as error:
            return CopyFinding(copy.name, state_of_fault(copy, error))
        return CopyFinding(copy.name, CopyState.HOLDS if held else CopyState.CLEAN, held)

    def rewrite(self, copy: Path, ids: Sequence[str], change: Callable[[Tx, UnitOfWork], None]) -> CopyFinding:
        """Rewrite a backup where it holds memories; any other copy is only looked into.

        Args:
            copy: as for `look_into`.
            ids: of the memories.
            change: one transaction in the vault of the backup, after which it holds them no longer so.

        Returns:
            How the copy is afterwards.

        Raises:
            LociError: as `core.vault.copies.rewrite_backup`, and what `change` raises; the old backup stands.
        """
        finding = self.look_into(copy, ids)
        if finding.state is not CopyState.HOLDS or not is_backup(copy):
            return finding
        shared = self._storage.work
        work = UnitOfWork(
            self._storage.make_id, AuditChain(self._keys.keys.audit), shared.undo_days, shared.client_waits
        )
        rewrite_backup(
            self._storage.home,
            copy,
            self._keys,
            self._storage.clock,
            lambda vault: vault.write(lambda tx: change(tx, work)),
        )
        finding = self.look_into(copy, ids)
        return replace(finding, state=CopyState.REWRITTEN) if finding.state is CopyState.CLEAN else finding
