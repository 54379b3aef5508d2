"""Writing the whole vault into an encrypted archive, from one snapshot, streamed.

The file is the person's own (mode 0600) and gets its name once it is whole. Every export is in the audit before a byte
is written, a failed one once more. Must not do: write a key of the vault or the token of a client.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO

from core.archive.container import ChunkWriter, check_archive_passphrase, derive_archive_keys, make_header
from core.archive.records import ArchiveEnd, ArchiveOrigin, RecordWriter, Row
from core.engine.export.formats import check_destination, export_fault
from core.engine.runtime.progress import ImportProgress
from core.engine.runtime.storage import Storage
from core.errors import Code, EnvironmentFaultError, LociError
from core.intake.archive.snapshot import SCHEMA, count_archived_rows, read_table
from core.intake.archive.tables import TABLES
from core.security.atomic import open_atomic
from core.security.keys import Purpose, keyed_digest
from core.security.passphrase import KdfCost
from core.types.replies import ArchiveReceipt
from core.types.values import OWNER_ACTOR
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

FORMAT = "archive"
_SEAL_LABEL = b"loci-archive-seal-v1"
_UNWRITTEN = frozenset({Code.DISK_FULL, Code.READ_ONLY, Code.WRITE_FAILED})
_COUNT = (
    "SELECT (SELECT count(*) FROM memories WHERE coalesce(part_index, 0) = 0) + (SELECT count(*) FROM sealed_memories)"
)


def seal_archive(storage: Storage, digest: bytes) -> bytes:
    """The vault's seal of an archive, by which it knows its own again.

    Args:
        digest: of the archive's lines.
    """
    return keyed_digest(storage.root.derive(Purpose.BACKUP), _SEAL_LABEL, digest)


def write_archive(
    storage: Storage, to: Path, passphrase: str, progress: ImportProgress, cost: KdfCost
) -> ArchiveReceipt:
    """Write everything into an encrypted archive.

    Args:
        to: the file; one that is there is replaced once the new one is whole.
        passphrase: the archive's own.
        cost: of a guess at it.

    Raises:
        UserError: INVALID_INPUT for a short passphrase or a place in Loci's home; VAULT_LOCKED.
        CancelledError: stopping was asked for; no file is left.
        EnvironmentFaultError: the file cannot be written there.
    """
    check_archive_passphrase(passphrase)
    check_destination(to, storage.home.path)
    header = make_header(cost)
    keys = derive_archive_keys(header, passphrase)
    memories = storage.vault.read(lambda rows: int(rows.value(_COUNT)))
    _note_export(storage, memories)

    def write(rows: Rows) -> ArchiveEnd:
        origin = ArchiveOrigin(
            storage.vault.vault_id,
            int(rows.value(SCHEMA)),
            storage.clock.now_ms(),
            f"loci {version('loci-palace')}",
        )
        total, done = count_archived_rows(rows), 0
        with open_export(to) as file:
            writer = RecordWriter(ChunkWriter(file, header, keys), origin)
            for table in TABLES.values():
                columns, pages = read_table(rows, table)
                writer.write_table(table.name, columns, _counted(pages, progress, done, total))
                done += writer.rows[table.name]
            return writer.finish(lambda digest: seal_archive(storage, digest))

    try:
        end = storage.vault.read(write, deadline_s=None)
    except LociError as error:
        if not storage.closing.is_set():
            _note_export(storage, memories, failed=error.code.value)
        raise
    if not storage.closing.is_set():
        _note_export(storage, memories, outcome="whole")  # a wipe counts on no archive that was only begun
    return ArchiveReceipt(str(to), memories, dict(end.rows), to.stat().st_size, end.rows.get("sealed_memories", 0))


@contextmanager
def open_export(to: Path) -> Iterator[BinaryIO]:
    """A file that a person asked for, which gets its name once it is whole.

    Raises:
        EnvironmentFaultError: DISK_FULL, READ_ONLY or WRITE_FAILED, in the words of somebody who exports.
    """
    try:
        with open_atomic(to) as file:
            yield file
    except EnvironmentFaultError as error:
        if error.code not in _UNWRITTEN:
            raise
        fault = export_fault(error)
    else:
        return
    raise fault


def _counted(pages: Iterator[list[Row]], progress: ImportProgress, done: int, total: int) -> Iterator[list[Row]]:
    for page in pages:
        progress.report_progress(done, total)
        yield page
        done += len(page)


def _note_export(storage: Storage, memories: int, **detail: str) -> None:

    def note(tx: Tx) -> None:
        with storage.work.verb(tx, "export", "Export everything", OWNER_ACTOR) as verb:
            verb.note_audit(
                memories=memories, format="encrypted_v1", kdf="argon2id", cipher="chacha20-poly1305", **detail
            )

    storage.write(note).result()
