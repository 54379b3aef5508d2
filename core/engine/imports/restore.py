"""Bringing an encrypted archive in: it is read to its end and found whole before the first row is written.

Then it is read once more, and its rows are stored in batches of one undo step. A lock or a crash on the way takes all
of it back: the passphrase is not kept, so nobody could go on. Must not do: believe that an archive is the vault's own
before its seal was checked.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO, TypeVar

from core import log
from core.archive.container import (
    MAGIC,
    ArchiveHeader,
    ArchiveKeys,
    is_archive,
    open_archive,
    read_chunks,
    read_header,
)
from core.archive.records import ArchiveEnd, ArchiveOrigin, RecordReader, TableRows
from core.engine.archive.export import FORMAT, seal_archive
from core.engine.imports.comparison import AT_ONCE as COMPARED_AT_ONCE
from core.engine.imports.comparison import compare_imported, compare_in_turns
from core.engine.memories.memories import embed_backlog
from core.engine.runtime.expiry import take_back_import
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.progress import ImportProgress, RunningImport
from core.engine.runtime.settings import apply_undone_options
from core.engine.runtime.storage import Storage, log_failure, submit_work
from core.errors import Code, EnvironmentFaultError, LociError, UserError
from core.importers.dry_run import format_iso
from core.intake.archive.comparison import (
    ArchiveTally,
    Meeting,
    compare_row,
    find_twin,
    read_rows_by_key,
)
from core.intake.archive.restoration import AT_ONCE, Restoration
from core.intake.archive.snapshot import SCHEMA, read_columns
from core.intake.archive.tables import TABLES, ArchiveScope, check_table
from core.intake.store.import_batch import ImportRun
from core.intake.transaction.admission import erased_texts
from core.memory.stored_files import remove_unheld
from core.security.keys import same_bytes
from core.types.replies import ImportReport
from core.types.values import HOME_SPACE, OWNER_ACTOR
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

T = TypeVar("T")

_log = log.get("engine")
_ENDING = ".loci"
_ROWS_AT_ONCE = 2000
_CLAIMS_AT_ONCE = 100


def is_archive_file(path: Path) -> bool:
    """Whether a path names an encrypted archive; False for what cannot be read.

    A file that is called one and does not begin as one is taken for a damaged one: whoever opens it is told so.
    """
    try:
        is_called_so = path.suffix.lower() == _ENDING
        return stat.S_ISREG(path.stat().st_mode) and (is_called_so or _has_magic(path))
    except (OSError, ValueError):
        return False


def _has_magic(path: Path) -> bool:
    with path.open("rb") as file:
        return is_archive(file.read(len(MAGIC)))


@dataclass(frozen=True, slots=True)
class _Archive:
    """An archive that opened with its passphrase.

    Attributes:
        signature: of the file: another one means that it was changed while it was read.
    """

    path: Path
    header: ArchiveHeader
    keys: ArchiveKeys
    signature: tuple[int, int, int]
    first_chunk: int

    @contextmanager
    def open_content(self) -> Iterator[RecordReader]:
        """Read the content from its beginning.

        Raises:
            UserError: IMPORT_CHANGED, IMPORT_REFUSED.
        """
        with _open_file(self.path) as file:
            if _signature_of(file) != self.signature:
                raise UserError(Code.IMPORT_CHANGED, "The archive changed while it was read. Nothing was imported.")
            file.seek(self.first_chunk)
            yield RecordReader(read_chunks(file, self.header, self.keys))


@dataclass(frozen=True, slots=True)
class _WholeArchive:
    """An archive that was read to its end.

    Attributes:
        scope: which of its tables come in.
        rows: how many there are.
    """

    archive: _Archive
    origin: ArchiveOrigin
    end: ArchiveEnd
    scope: ArchiveScope
    rows: int


@contextmanager
def _open_file(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("rb") as file:
            yield file
    except OSError:
        fault = EnvironmentFaultError(Code.ACCESS_DENIED, "The archive cannot be read. Nothing was imported.")
    else:
        return
    raise fault


def _signature_of(file: BinaryIO) -> tuple[int, int, int]:
    found = os.fstat(file.fileno())
    return found.st_ino, found.st_size, found.st_mtime_ns


def _open(path: Path, passphrase: str | None) -> _Archive:
    if passphrase is None:
        with _open_file(path) as file:
            read_header(file)  # nobody types a passphrase for what no passphrase opens
        raise UserError(
            Code.IMPORT_SECRET_NEEDED,
            "This is an encrypted Loci archive; it opens with the passphrase it was given when it was exported, "
            "not with that of the vault or of sealed memories.",
        )
    with _open_file(path) as file:
        header, keys = open_archive(file, passphrase)
        return _Archive(path, header, keys, _signature_of(file), file.tell())


def _read_whole(
    storage: Storage, path: Path, passphrase: str | None, progress: ImportProgress, *, is_own: bool
) -> _WholeArchive:
    archive, done = _open(path, passphrase), 0

    @cache
    def columns_of(table: str) -> tuple[str, ...]:
        return storage.vault.read(lambda rows: read_columns(rows, table))

    with archive.open_content() as reader:
        if reader.origin.schema > storage.vault.read(lambda rows: int(rows.value(SCHEMA))):
            raise UserError(Code.NEWER_VERSION, "This archive was written by a newer Loci; update Loci to import it.")
        for batch in reader.read_batches(_ROWS_AT_ONCE):
            check_table(batch, columns_of)
            progress.report_progress(done, None)
            done += len(batch.rows)
        end, origin = reader.end, reader.origin
    is_own = is_own or same_bytes(end.seal, seal_archive(storage, end.digest))
    has_memories = storage.vault.read(lambda rows: rows.one("SELECT 1 FROM memories LIMIT 1")) is not None
    scope = (
        (ArchiveScope.OWN_ARCHIVE if is_own else ArchiveScope.ANY_ARCHIVE) if has_memories else ArchiveScope.EMPTY_VAULT
    )
    return _WholeArchive(archive, origin, end, scope, done)


def rehearse_archive(
    open_vault: OpenVault, path: Path, passphrase: str | None, progress: ImportProgress, *, is_own: bool = False
) -> ImportReport:
    """What importing an archive would change; nothing is written.

    Args:
        passphrase: the archive's own; None asks for it by an error.
        is_own: as for `run_archive`.

    Raises:
        UserError: IMPORT_SECRET_NEEDED, WRONG_SECRET, IMPORT_REFUSED, IMPORT_CHANGED, NEWER_VERSION.
        CancelledError: stopping was asked for.
    """
    storage = open_vault.storage
    whole = _read_whole(storage, path, passphrase, progress, is_own=is_own)
    tally, done = ArchiveTally(), 0
    for batch in _batches_of(whole):
        progress.report_progress(done, whole.rows)
        done += len(batch.rows)
        if batch.table == "conversations":
            tally.conversations += storage.vault.read(lambda rows: _count_new_conversations(rows, batch))  # noqa: B023
        elif batch.table in {"entities", "files"} and TABLES[batch.table].scope >= whole.scope:
            storage.vault.read(lambda rows: _count_new_rows(rows, batch, tally))  # noqa: B023
        elif batch.table == "memories":
            storage.vault.read(lambda rows: _count_memories(rows, batch, whole.scope, tally))  # noqa: B023
        elif batch.table == "sealed_memories":
            storage.vault.read(lambda rows: _count_sealed(rows, batch, whole.scope, tally))  # noqa: B023
    return _make_report(None, tally, whole.scope)


def _batches_of(whole: _WholeArchive) -> Iterator[TableRows]:
    """The content once more; it has to end as it did the first time."""
    with whole.archive.open_content() as reader:
        yield from reader.read_batches(_ROWS_AT_ONCE)
        if reader.end.digest != whole.end.digest:
            raise UserError(Code.IMPORT_CHANGED, "The archive changed while it was read. Nothing was imported.")


def _count_new_conversations(rows: Rows, batch: TableRows) -> int:
    found = batch.as_mappings()
    return sum(
        rows.one("SELECT 1 FROM conversations WHERE id = ? OR identity = ?", (row["id"], row["identity"])) is None
        for row in found
    )


def _count_new_rows(rows: Rows, batch: TableRows, tally: ArchiveTally) -> None:
    found = batch.as_mappings()
    present = read_rows_by_key(rows, batch.table, [row["id"] for row in found])
    for row in found:
        is_new = row["id"] not in present and find_twin(rows, batch.table, row) is None
        tally.count_row(batch.table, row, Meeting.NEW if is_new else Meeting.KNOWN)


def _count_memories(rows: Rows, batch: TableRows, scope: ArchiveScope, tally: ArchiveTally) -> None:
    found = batch.as_mappings()
    present = read_rows_by_key(rows, "memories", [row["id"] for row in found])
    erased = erased_texts(rows, (row["text"] for row in found if isinstance(row["text"], str)))
    for row in found:
        current = present.get(row["id"])
        if current is not None:
            meeting = compare_row(TABLES["memories"], row, current, may_change=scope is not ArchiveScope.ANY_ARCHIVE)
            # Of another vault's archive a row stands here as it was taken, and that is another one.
            meeting = Meeting.KNOWN if scope is ArchiveScope.ANY_ARCHIVE else meeting
        elif row["text"] in erased:
            meeting = Meeting.ERASED
        elif scope is not ArchiveScope.EMPTY_VAULT and find_twin(rows, "memories", row) is not None:
            meeting = Meeting.TWIN
        else:
            meeting = Meeting.NEW
        tally.count_row("memories", row, meeting)


def _count_sealed(rows: Rows, batch: TableRows, scope: ArchiveScope, tally: ArchiveTally) -> None:
    """Sealed memories: nobody reads them here, so they are known by their ids alone."""
    found = batch.as_mappings()
    present = read_rows_by_key(rows, "sealed_memories", [row["id"] for row in found])
    for row in found:
        current, meeting = present.get(row["id"]), Meeting.NEW
        if current is not None:
            may_change = scope is not ArchiveScope.ANY_ARCHIVE
            meeting = compare_row(TABLES["sealed_memories"], row, current, may_change=may_change)
        tally.count_row("sealed_memories", row, meeting)


def run_archive(
    open_vault: OpenVault,
    running: RunningImport,
    path: Path,
    passphrase: str | None,
    space: str | None,
    progress: ImportProgress,
    *,
    is_own: bool = False,
) -> ImportReport:
    """Import an archive.

    Args:
        running: as it is listed.
        space: where goes what another vault had in its `home`; None for this one's.
        is_own: the person says that another vault of theirs wrote it: it counts as this vault's own, and keeps its
            trust. Nothing else can tell: only the vault that wrote an archive knows its seal.

    Raises:
        UserError: as `rehearse_archive`; nothing of it stays.
    """
    whole = _read_whole(open_vault.storage, path, passphrase, progress, is_own=is_own)
    run = _begin_run(open_vault, running, path, space or HOME_SPACE, whole)
    restoration = Restoration(
        open_vault.storage.make_id, open_vault.storage.work, run, whole.scope, whole.origin.vault_id.hex()
    )
    running.is_storing = True
    try:
        _store_everything(open_vault, whole, restoration, progress)
        _finish_run(open_vault, run, restoration.tally)
    except BaseException:
        if not open_vault.storage.closing.is_set():
            with suppress(LociError):
                open_vault.storage.write(lambda tx: _take_back(tx, open_vault, run)).result()
        raise
    _follow_up(open_vault, restoration.tally.stored)
    return _make_report(run.id, restoration.tally, whole.scope)


def _take_back(tx: Tx, open_vault: OpenVault, run: ImportRun) -> None:
    take_back_import(tx, open_vault, run.step_id, OWNER_ACTOR)
    remove_unheld(tx)


def _begin_run(
    open_vault: OpenVault, running: RunningImport, path: Path, space: str, whole: _WholeArchive
) -> ImportRun:
    storage = open_vault.storage

    def write(tx: Tx) -> ImportRun:
        run = ImportRun(running.id, FORMAT, running.label, storage.make_id(), space, storage.make_id())
        location = str(path.absolute()).encode("utf-8", "backslashreplace").decode("utf-8")
        return open_vault.search.import_writer.begin_import(tx, run, location, whole.end.digest.hex(), whole.rows)

    return storage.write(write).result()


def _store_everything(
    open_vault: OpenVault, whole: _WholeArchive, restoration: Restoration, progress: ImportProgress
) -> None:
    storage, done = open_vault.storage, 0
    for batches in _gather(_batches_of(whole)):
        progress.report_progress(done, whole.rows)
        for batch in batches:
            restoration.screen_ahead(batch)
            done += len(batch.rows)
        _write(storage, lambda tx: restoration.store_batches(tx, batches, done))  # noqa: B023 - waited for
    for some in _slices(restoration.pointers, AT_ONCE):
        progress.report_progress(done, whole.rows)
        _write(storage, lambda tx: restoration.store_pointers(tx, some, done))  # noqa: B023 - waited for
    if whole.scope is ArchiveScope.ANY_ARCHIVE:
        for ids in _slices(restoration.stored_memories, _CLAIMS_AT_ONCE):
            progress.report_progress(done, whole.rows)
            _write(storage, lambda tx: restoration.bring_claims_in_step(tx, ids, done))  # noqa: B023 - waited for


def _write(storage: Storage, fn: Callable[[Tx], None]) -> None:
    storage.write(fn, background=True).result()


def _gather(batches: Iterator[TableRows]) -> Iterator[list[TableRows]]:
    """Batches for one transaction: small tables go together."""
    held: list[TableRows] = []
    for batch in batches:
        held.append(batch)
        if sum(len(one.rows) for one in held) >= _ROWS_AT_ONCE:
            yield held
            held = []
    if held:
        yield held


def _slices(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for at in range(0, len(items), size):
        yield items[at : at + size]


def _finish_run(open_vault: OpenVault, run: ImportRun, tally: ArchiveTally) -> None:
    def write(tx: Tx) -> None:
        open_vault.search.import_writer.finish_import(tx, run, tally)
        remove_unheld(tx)  # contents of files whose memories did not come, as of erased ones
        apply_undone_options(tx, open_vault, (run.step_id,), OWNER_ACTOR)

    open_vault.storage.write(write).result()


def _follow_up(open_vault: OpenVault, stored: int) -> None:
    """Vectors are made and claims compared: of a few at once, of many behind everything else."""
    storage, search = open_vault.storage, open_vault.search
    if stored <= COMPARED_AT_ONCE:
        with suppress(LociError):  # without an embedder they wait, as any memory does
            embed_backlog(storage, search)
        compare_imported(storage, search, COMPARED_AT_ONCE)
    log_failure(submit_work(storage.threads.jobs, embed_backlog, storage, search), _log, "embedding an archive")
    compare_in_turns(storage, search, "comparing an archive")
    storage.announce_change("import", (), OWNER_ACTOR, storage.vault.seq)


def _make_report(import_id: str | None, tally: ArchiveTally, scope: ArchiveScope) -> ImportReport:
    return ImportReport(
        import_id=import_id,
        format=FORMAT,
        conversations=tally.conversations,
        messages={role: tally.messages[role] for role in ("user", "assistant", "other")},
        stored=tally.stored,
        proposals=tally.proposals,
        skipped={reason: count for reason, count in tally.skipped.items() if count},
        errors=(),
        earliest=format_iso(tally.earliest),
        latest=format_iso(tally.latest),
        updated=tally.updated,
        sealed=tally.sealed,
        others={"people": tally.people, "files": tally.files},
        is_foreign=scope is ArchiveScope.ANY_ARCHIVE,
    )
