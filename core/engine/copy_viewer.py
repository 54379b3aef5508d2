"""Looking into a backup, another copy or a closed vault, read-only: listing, searching by words, showing, exporting.

A vault in a folder of its own and a plain copy are opened where they lie, without a byte being written beside them; a
backup is unpacked into a folder of the system for as long as it is looked at. It is not brought up to date: one of
another schema is refused with what to do. A vault in use is refused, also one that is opened while it is looked at:
what was read of it is not shown. Must not do: show what another process is changing; write anything but an export.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlcipher3 import dbapi2

from core.engine.export.formats import check_destination, check_format
from core.engine.export.memories import pack_export, read_exported, write_export_file
from core.engine.home.folder import Home
from core.engine.home.keys import HomeKeys, sub_keys
from core.engine.runtime.open_vault import OpenVault
from core.errors import Code, EnvironmentFaultError, IntegrityError, LociError, UserError
from core.intake.erase.row_erasure import erasure_scope_of
from core.intake.seal.seal import VERSIONS_NOTE
from core.recall.browse.library import find_library_rows, read_memory_rows
from core.security.atomic import file_write_error
from core.security.keyfile import intact_body, key_file_damaged_error, parse_body
from core.security.keys import Purpose, RootKey
from core.security.slots import open_with_secret
from core.types.clock import Clock
from core.types.memory import CopyContents, CopyLine
from core.types.views import FindRequest, MemoryRow
from core.vault.audit import AuditChain
from core.vault.backup import BackupTimes, OpenedKeys, UnpackedBackup, is_backup, read_times, unpack_backup
from core.vault.copies import known_copies, need_own_seal
from core.vault.database.connections import (
    APPLICATION_ID,
    cipher_problems,
    integrity_problems,
    open_reader,
    open_untouched,
)
from core.vault.database.migrations import known_migrations
from core.vault.database.pages import log_bytes
from core.vault.database.rows import Rows, SqlRows, fetch_rows, to_json
from core.vault.files.lockfile import VaultLock
from core.vault.files.replacement import OLD

_PRESENT = "SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(?))"
_SEALED = (
    "SELECT id, id FROM sealed_memories UNION ALL "
    "SELECT v.value, s.id FROM sealed_memories s JOIN settings n ON n.key = ? || s.id, json_each(n.value) v"
)

OpenRoot = Callable[[bytes | None], RootKey]
"""Opens the bytes of a key file; None where the copy has none and the vault's own keys are to be tried."""


@dataclass(frozen=True, slots=True)
class ViewedVault:
    """What is looked into.

    Attributes:
        seq: the vault's count of changes in it.
        last_at: when it was written last, epoch ms.
        memories: whole texts, whatever their status.
    """

    seq: int
    last_at: int
    memories: int


class _Watch:
    """Over a database file that is read without a lock: what was read while it changed is not to be used.

    Attributes:
        folder: in which it lies.
    """

    def __init__(self, database: Path) -> None:
        self._database, self.folder = database, database.parent
        self._state = self._read_state()

    @contextmanager
    def over_reading(self) -> Iterator[None]:
        """Refuse what was read where a process opened the vault meanwhile, whatever else seemed wrong with it.

        Raises:
            EnvironmentFaultError: VAULT_BUSY.
        """
        try:
            yield
        except LociError:
            self._need_same()
            raise
        self._need_same()

    def _need_same(self) -> None:
        home = Home(self.folder)
        if self._read_state() != self._state or (home.vault == self._database and _is_in_use(home)):
            raise EnvironmentFaultError(
                Code.VAULT_BUSY, "That vault was opened while it was looked at; close it, or look into a backup of it."
            )

    def _read_state(self) -> tuple[int, int, int]:
        try:
            stat = self._database.stat()
        except OSError:
            return 0, 0, 0  # it is gone: that is another state too
        return stat.st_mtime_ns, stat.st_size, log_bytes(self._database)


class VaultViewer:
    """A copy that is open for reading. Not for use by several threads at once."""

    def __init__(self, connection: dbapi2.Connection, keys: OpenedKeys, clock: Clock, watch: _Watch) -> None:
        """Take over a connection.

        Args:
            watch: over the file that is open; nothing is exported into its folder.
        """
        self._connection = connection
        self._rows = SqlRows(connection)
        self._keys, self._clock, self._watch = keys, clock, watch
        self._kept_back: frozenset[str] = frozenset()
        self._sealed_since: frozenset[str] = frozenset()

    def keep_back(self, sealed: Mapping[str, str]) -> None:
        """Show, count and export nothing of some memories: with their versions, their parts and what was made of them.

        Args:
            sealed: ids of memories that are sealed in the vault of which this is a copy, versions and parts too, each
                with the id by which it is listed there.
        """
        with self._watch.over_reading():
            present = [str(row[0]) for row in self._rows.all(_PRESENT, (to_json(list(sealed)),))]
            self._kept_back = frozenset(erasure_scope_of(self._rows, present, whole_chain=True).ids)
        self._sealed_since = frozenset(sealed[one] for one in present)

    def keep_back_sealed(self, home: Home) -> bool:
        """Keep back what is sealed in the vault of a home, where this is a copy of it; no byte of that vault changes.

        Args:
            home: of the vault, which may be in use; where there is none, or another, nothing is kept back.

        Returns:
            False where the vault cannot be read: it is damaged, or its keys are newer than those of the copy.
        """
        if not home.vault.is_file():
            return True
        try:
            if HomeKeys(home).vault_id == self._keys.vault_id:
                self.keep_back(_read_sealed_elsewhere(home, self._keys.keys.db))
        except LociError:
            return False
        return True

    def count_kept_back(self) -> int:
        """How many sealed memories of the vault the copy holds in the clear, each counted once with its versions."""
        return len(self._sealed_since)

    def describe(self) -> ViewedVault:
        """How far it goes."""
        with self._watch.over_reading():
            ((seq, last_at),) = self._rows.all("SELECT seq, last_at FROM vault_state")
            count = self._rows.value("SELECT count(*) FROM memories WHERE coalesce(part_index, 0) = 0")
        return ViewedVault(int(seq), int(last_at), int(count))

    def find(self, query: str = "", limit: int = 50) -> tuple[int, tuple[MemoryRow, ...]]:
        """Memories by the search syntax of the library, newest first.

        Args:
            query: words and conditions such as `status:all`; empty for all that stands.
            limit: rows at most.

        Returns:
            How many there are, and the first of them.

        Raises:
            UserError: INVALID_QUERY.
            EnvironmentFaultError: VAULT_BUSY, as for the others: the vault was opened meanwhile.
        """
        with self._watch.over_reading():
            ids = self._find_ids(query)
            return len(ids), read_memory_rows(self._rows, ids[:limit], self._clock.now_ms())

    def _find_ids(self, query: str) -> list[str]:
        found = find_library_rows(self._rows, FindRequest(query), self._clock.now_ms())
        return [one for one in found if one not in self._kept_back]

    def show(self, memory_id: str) -> dict[str, Any]:
        """One memory as an export has it.

        Args:
            memory_id: its id, or the end of it.

        Raises:
            UserError: NOT_FOUND, also for what is kept back; INVALID_INPUT where several ids end so.
        """
        with self._watch.over_reading():
            found = self._rows.all(
                "SELECT id FROM memories WHERE substr(id, ?) = ? LIMIT 2", (-len(memory_id), memory_id.lower())
            )
        if len(found) > 1:
            raise UserError(Code.INVALID_INPUT, "More than one id ends so; write more of it.")
        if not found or not memory_id:
            raise UserError(Code.NOT_FOUND, "There is no such memory in this copy.")
        if str(found[0][0]) in self._kept_back:
            raise UserError(Code.NOT_FOUND, "That memory was sealed since; read it with `loci sealed`.")
        with self._watch.over_reading():
            (one,) = read_exported(self._rows, [str(found[0][0])])
        return {"id": str(found[0][0]), **one.fields}

    def export(self, query: str, to: Path, format_name: str) -> int:
        """Write what a search finds to a file of the person's own (mode 0600).

        Returns:
            How many memories it holds.

        Raises:
            UserError: INVALID_INPUT for the format or the place, INVALID_QUERY.
            EnvironmentFaultError: DISK_FULL, WRITE_FAILED.
        """
        check_format(format_name)
        check_destination(to, self._watch.folder)
        with self._watch.over_reading():
            count, data = pack_export(self._rows, self._find_ids(query), format_name)
        write_export_file(to, data)
        return count

    def verify(self, report: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
        """Check it page by page.

        Args:
            report: told each check before it is made; what it raises ends the checking.

        Returns:
            The shape of `verify --json`.
        """
        looks: Mapping[str, tuple[str, Callable[[], int]]] = {
            "cipher": ("{count} pages", lambda: cipher_problems(self._connection)),
            "integrity": ("{count} problems", lambda: integrity_problems(self._connection)),
            "foreign_keys": ("{count} rows", lambda: len(self._rows.all("PRAGMA foreign_key_check"))),
            "audit": ("row {count} does not fit", self._check_audit),
        }
        checks: dict[str, dict[str, str]] = {}
        with self._watch.over_reading():
            for name, (note, look) in looks.items():
                report(name)
                checks[name] = _run_check(look, note)
        failed = any(check["status"] == "failed" for check in checks.values())
        return {"status": "damaged" if failed else "ok", "checks": checks}

    def _check_audit(self) -> int:
        return AuditChain(self._keys.keys.audit).verify_chain(self._rows).broken_at or 0


def _run_check(look: Callable[[], int], note: str) -> dict[str, str]:
    try:
        count = look()
    except IntegrityError as error:  # a page that cannot be read ends the check itself
        return {"status": "failed", "note": error.code.value}
    return {"status": "failed", "note": note.format(count=count)} if count else {"status": "ok", "note": ""}


@contextmanager
def open_viewer(source: Path, open_root: OpenRoot, clock: Clock) -> Iterator[VaultViewer]:
    """Open a copy, or a vault nobody uses, for reading.

    Args:
        source: a backup, a plain copy of a vault, or the folder of a vault.
        open_root: opens its key file, or gives the vault's own keys; the root is wiped here.

    Yields:
        The viewer.

    Raises:
        LociError: NOT_FOUND, BACKUP_INVALID, WRONG_SECRET, VAULT_BUSY, VAULT_DAMAGED, NEWER_VERSION, OLDER_SCHEMA.
    """
    with ExitStack() as opened:
        database, key_file, sealed = _find_parts(source, opened)
        with open_root(key_file) as root:
            keys = OpenedKeys(root.vault_id, sub_keys(root), root.derive(Purpose.BACKUP))
        if sealed is not None:
            need_own_seal(sealed, keys)
        watch = _Watch(database)
        with watch.over_reading():
            connection = opened.enter_context(closing(open_untouched(database, keys.keys.db)))
            _need_present_schema(connection)
        yield VaultViewer(connection, keys, clock, watch)


def open_by_secret(key_file: bytes, secret: str) -> RootKey:
    """The root of a key file by a passphrase or a recovery code.

    Raises:
        LociError: KEY_FILE_DAMAGED, WRONG_SECRET, NEWER_VERSION.
    """
    body = intact_body(key_file)
    if body is None:
        raise key_file_damaged_error()
    return open_with_secret(parse_body(body), secret)


def _find_parts(source: Path, opened: ExitStack) -> tuple[Path, bytes | None, UnpackedBackup | None]:
    """The database to open, the bytes of the key file that belongs to it, and a backup whose seal is to be checked."""
    source = source.resolve()  # the log of a database lies beside the file itself, not beside a link to it
    if source.is_dir() or Home(source.parent).vault == source:
        home = Home(source if source.is_dir() else source.parent)
        if not home.vault.is_file():
            raise UserError(Code.NO_VAULT, "There is no vault in that folder.")
        _need_unused(home)
        has_keys = source.is_dir() or home.keys.is_file()  # a file that was copied alone has the keys of the vault
        return home.vault, _read_keys(home.keys) if has_keys else None, None
    if not source.is_file():
        raise UserError(Code.NOT_FOUND, "There is no such backup or vault.")
    if is_backup(source):
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="loci-view-")))
        try:
            parts = unpack_backup(source, folder)
        except OSError as error:
            raise file_write_error(error) from None
        return parts.vault, parts.keys, parts
    _need_no_log(source)
    beside = source.with_name(f"vault.keys{OLD}")
    own = beside if source.name.endswith(OLD) and beside.is_file() else None
    return source, None if own is None else _read_keys(own), None


def _read_keys(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        raise IntegrityError(Code.KEY_FILE_DAMAGED, "The key file of that vault is missing.") from None


def _need_unused(home: Home) -> None:
    """Refuse a vault that a process has open: it is being written to."""
    if _is_in_use(home):
        raise EnvironmentFaultError(
            Code.VAULT_BUSY, "That vault is open in another process; use that one, or look into a backup of it."
        )
    _need_no_log(home.vault)


def _is_in_use(home: Home) -> bool:
    with suppress(EnvironmentFaultError):  # where nothing can be written nobody has it open to write
        return home.lock.is_file() and VaultLock(home.lock).is_taken()
    return False


def _need_no_log(database: Path) -> None:
    if log_bytes(database):
        raise EnvironmentFaultError(
            Code.VAULT_BUSY,
            "That vault was not closed: its newest changes lie in a log, which is not read here. Open it once with "
            "Loci, or look into a backup of it.",
        )


def _need_present_schema(connection: dbapi2.Connection) -> None:
    ((application,),) = fetch_rows(connection, "PRAGMA application_id")
    ((schema,),) = fetch_rows(connection, "PRAGMA user_version")
    newest = known_migrations()[-1].version
    if application != APPLICATION_ID:
        raise IntegrityError(Code.VAULT_DAMAGED, "The file is an encrypted database but not a vault of Loci.")
    if schema > newest:
        raise UserError(Code.NEWER_VERSION, "This was written by a newer Loci; update Loci to look into it.")
    if schema < newest:
        raise UserError(
            Code.OLDER_SCHEMA,
            f"This was written by an older Loci (schema {schema}, now {newest}) and is not changed to be read. Restore "
            "the backup into another folder with `loci --home FOLDER restore FILE`; there it is brought up to date.",
        )


def _describe_copy(copy: Path) -> CopyLine:
    stat = copy.stat()
    times = read_times(copy) if is_backup(copy) else BackupTimes(0)
    return CopyLine(copy.name, times.made_at_ms or int(stat.st_mtime * 1000), stat.st_size, times.rewritten_at_ms)


class KnownCopies:
    """The copies of the open vault in its home; the owner's alone. Each method returns at once with a Future."""

    def __init__(self, open_vault: Callable[[], OpenVault], is_seal_open: Callable[[], bool]) -> None:
        """Tie the ends together.

        Args:
            is_seal_open: whether sealed memories may be read now.
        """
        self._open_vault, self._is_seal_open = open_vault, is_seal_open

    def list_copies(self) -> Future[tuple[CopyLine, ...]]:
        """All known copies, newest first."""
        storage = self._open_vault().storage

        def read() -> tuple[CopyLine, ...]:
            lines = map(_describe_copy, known_copies(storage.home))
            return tuple(sorted(lines, key=lambda line: (-line.made_at, line.name)))

        return storage.run_on(storage.threads.checks, read)

    def find(self, name: str, query: str = "", limit: int = 200) -> Future[CopyContents]:
        """Look into a copy with the keys of the open vault; nothing of it is changed.

        What is sealed in the open vault is kept back, until sealed memories are opened there.

        Args:
            name: of the copy.
            query: as for `VaultViewer.find`.
            limit: rows at most.

        Returns:
            What it holds; the future raises NOT_FOUND, INVALID_QUERY, WRONG_SECRET, BACKUP_INVALID, OLDER_SCHEMA.
        """
        storage = self._open_vault().storage

        def look() -> CopyContents:
            copy = next((one for one in known_copies(storage.home) if one.name == name), None)
            if copy is None:
                raise UserError(Code.NOT_FOUND, "That copy is not there any more.")
            with open_viewer(copy, lambda _: _copy_root(storage.root), storage.clock) as viewer:
                about = viewer.describe()
                if not self._is_seal_open():
                    viewer.keep_back(storage.vault.read(_read_sealed_ids))
                total, rows = viewer.find(query, limit)
                hidden = viewer.count_kept_back()
            heads = tuple((row.id, row.head) for row in rows)
            return CopyContents(about.memories, about.last_at, total, heads, hidden)

        return storage.run_on(storage.threads.checks, look)


def _read_sealed_elsewhere(home: Home, key: bytes) -> dict[str, str]:
    # Where a process has the vault, or left a log, only a reader that locks sees all, and the same all the time.
    if not _is_in_use(home) and not log_bytes(home.vault):
        watch = _Watch(home.vault)
        with suppress(EnvironmentFaultError), watch.over_reading():
            return _read_sealed_with(open_untouched, home, key)
    return _read_sealed_with(open_reader, home, key)


def _read_sealed_with(
    open_database: Callable[[Path, bytes], dbapi2.Connection], home: Home, key: bytes
) -> dict[str, str]:
    with closing(open_database(home.vault, key)) as connection:
        _need_present_schema(connection)
        return _read_sealed_ids(SqlRows(connection))


def _read_sealed_ids(rows: Rows) -> dict[str, str]:
    return {str(one): str(head) for one, head in rows.all(_SEALED, (VERSIONS_NOTE,))}


def _copy_root(root: RootKey) -> RootKey:
    return RootKey(root.expose_copy(), root.vault_id)


def rows_as_json(found: Sequence[MemoryRow]) -> list[dict[str, Any]]:
    """Rows as the command line prints them."""
    return [
        {
            "id": row.id,
            "kind": row.kind.value,
            "status": row.status.value,
            "text": row.head,
            "is_cut": row.is_cut,
            "space": row.space,
            "recorded_at": row.recorded_at,
        }
        for row in found
    ]
