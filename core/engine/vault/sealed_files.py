"""Files of sealed memories: listed, read and saved with the seal key, while it is in memory.

Must not do: keep a key, or read a file without an entry in the audit.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from core.engine.archive.file_copy import check_copy, write_copy
from core.engine.runtime.open_vault import OpenVault, VaultSlot
from core.errors import Code, UserError
from core.intake.seal.seal import SealKey, read_sealed_files
from core.memory.stored_files import read_content
from core.types.files.attachments import AttachedFile
from core.types.values import OWNER_ACTOR
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx


class SealedFiles:
    """Files of sealed memories."""

    def __init__(self, slot: VaultSlot, key_of: Callable[[OpenVault, str], SealKey]) -> None:
        """Tie the ends together.

        Args:
            slot: holds the open vault.
            key_of: the seal key of an id, while it is in memory.
        """
        self._slot, self._key_of = slot, key_of

    def list_files(self, memory_id: str) -> Future[tuple[AttachedFile, ...]]:
        """The files of a sealed memory; the future raises NOT_FOUND, SEALED, ENCRYPTION_FAILED."""
        open_vault = self._slot.require_vault()
        return open_vault.storage.read_quietly(
            lambda rows: tuple(
                file for file, _ in read_sealed_files(rows, memory_id, lambda key: self._key_of(open_vault, key))
            )
        )

    def read_file(self, memory_id: str, file_id: str) -> Future[bytes]:
        """A file of a sealed memory as it was attached; that it was read stands in the audit.

        Returns:
            Its bytes. The future raises SEALED, NOT_FOUND, ENCRYPTION_FAILED.
        """
        open_vault = self._slot.require_vault()
        return open_vault.storage.run_on(open_vault.storage.threads.reads, self._read, open_vault, memory_id, file_id)

    def _read(self, open_vault: OpenVault, memory_id: str, file_id: str) -> bytes:
        """Decrypt a file, which may take long, and give it out once its line in the audit is saved."""
        storage = open_vault.storage

        def decrypt(rows: Rows) -> bytes:
            found = read_sealed_files(rows, memory_id, lambda key_id: self._key_of(open_vault, key_id))
            content = next((content for file, content in found if file.id == file_id), None)
            if content is None:
                raise UserError(Code.NOT_FOUND, "That memory has no such file.")
            return b"".join(read_content(rows, content))

        def note(tx: Tx) -> None:
            with storage.verb(tx, OWNER_ACTOR, "read_sealed", label="Read a sealed file") as verb:
                verb.note_audit(memory_id)

        data = storage.vault.read(decrypt, deadline_s=None)  # a large file takes its time
        storage.write(note).result()
        return data

    def save_file(self, memory_id: str, file_id: str, path: Path) -> Future[Path]:
        """Write a file of a sealed memory where the person says; that it was read stands in the audit.

        Args:
            path: a new file; what exists there is not replaced.

        Returns:
            Where it was written. The future raises SEALED, NOT_FOUND, FILE_REFUSED where something has that name,
            DISK_FULL, READ_ONLY, WRITE_FAILED, ENCRYPTION_FAILED.
        """
        open_vault = self._slot.require_vault()
        storage = open_vault.storage

        def save() -> Path:
            check_copy(path, storage.home.path)
            return write_copy(path, (self._read(open_vault, memory_id, file_id),))

        return storage.run_on(storage.threads.checks, save)
