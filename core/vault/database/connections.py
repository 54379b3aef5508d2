"""Connections to the encrypted database: opening and setting them up, maintenance, whole copies, and the read pool.

They are set up in the one order that passed the kill tests, and every value is read back (E9 of the reliability
study): the page size before anything reads the file, `auto_vacuum` before the first table, WAL after it. Maintenance
runs on the writer's connection, outside any verb: merging the full-text index, freeing pages, checkpoints;
`core.vault.vault` decides when. A copy counts once it was opened and checked (B15). The pool lends one of four read
connections a call at a time: a call sees one snapshot (BEGIN .. ROLLBACK) and ends at its deadline.

Must not do: install a trace callback (it would receive the key), pass the key through SQL, create a file (`mode=rw` at
most), copy the files of an open vault byte by byte (most such copies are torn: B16), start threads, say more about a
failure than its kind.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import quote

from sqlcipher3 import dbapi2

from core.errors import BugError, CancelledError, Code, EnvironmentFaultError, IntegrityError, LociError
from core.security.atomic import file_write_error
from core.types.clock import Clock
from core.vault.database.faults import RAISED, busy_error, translate_error, vault_damaged_error, vault_locked_error
from core.vault.database.rows import Rows, SqlRows, fetch_rows
from core.vault.files.home import PAGE_SIZE, new_file

T = TypeVar("T")

_STEPS = 8000
"""Virtual machine steps between two looks at the deadline: a few milliseconds at most. Each look waits for the
interpreter, which other threads may hold for 5 ms; at 1,000 steps a recall among 100,000 memories looked 180 times."""

_WAIT_S = 30.0


class _Reader:
    """One connection and the deadline of the call that has it."""

    def __init__(self, connection: dbapi2.Connection, clock: Clock, is_closing: Callable[[], bool]) -> None:
        self.connection = connection
        self._clock = clock
        self._is_closing = is_closing
        self._deadline: float | None = None
        self._late = False
        connection.set_progress_handler(self._stop_now, _STEPS)

    def set_deadline(self, deadline_s: float | None) -> None:
        self._late = False
        self._deadline = None if deadline_s is None else self._clock.monotonic() + deadline_s

    def stop_reason(self) -> LociError:
        if self._is_closing():
            return vault_locked_error()
        if self._late:
            return EnvironmentFaultError(Code.SEARCH_TIMEOUT, "The search took too long and was stopped; narrow it.")
        return CancelledError()

    def _stop_now(self) -> int:
        self._late = self._deadline is not None and self._clock.monotonic() > self._deadline
        return int(self._late or self._is_closing())


class ReadPool:
    """Lends read connections to whatever thread asks, and opens another only where all that are open are lent.

    Each connection reads the whole schema when it is opened (3 ms), and most of the time one is enough.
    """

    def __init__(
        self, first: dbapi2.Connection, size: int, open_connection: Callable[[], dbapi2.Connection], clock: Clock
    ) -> None:
        """Take over a connection; it and those opened later are closed by `close`.

        Args:
            first: opened read-only and `query_only`.
            size: how many there are at most, the first among them.
            open_connection: opens another like the first; raises LociError where it cannot.
            clock: for deadlines.
        """
        self._closing = threading.Event()
        self._open_connection = open_connection
        self._clock = clock
        self._opening = threading.Lock()  # guards _unopened, _readers and, until _closing is set, _open
        self._unopened = size - 1
        self._readers = [_Reader(first, clock, self._closing.is_set)]
        # Last back, first lent: its cached pages are warm, and idle connections hold few.
        self._idle: queue.LifoQueue[_Reader] = queue.LifoQueue()
        self._open = 1  # those not closed yet
        self._abandoned = False
        self._lock = threading.Lock()  # guards _abandoned, and with it _open, against a late return
        self._idle.put(self._readers[0])

    def read(self, fn: Callable[[Rows], T], deadline_s: float | None) -> T:
        """Run a closure on one snapshot.

        Args:
            fn: reads and returns; must not keep the rows object.
            deadline_s: seconds it may take; None for no limit.

        Returns:
            What `fn` returned.

        Raises:
            LociError: SEARCH_TIMEOUT, VAULT_LOCKED, BUSY, or what the vault said.
        """
        reader = self._borrow_reader(deadline_s)
        try:
            reader.set_deadline(deadline_s)
            return _read_snapshot(reader, fn)
        finally:
            reader.set_deadline(None)
            self._give_back(reader)

    @property
    def idle(self) -> int:
        """How many connections nobody uses at the moment, those not opened yet among them."""
        return self._idle.qsize() + self._unopened

    def interrupt_all(self) -> None:
        """Stop what is running on all connections."""
        for reader in tuple(self._readers):
            # Closed meanwhile: then there is nothing to stop.
            with suppress(*RAISED):
                reader.connection.interrupt()

    def close(self, wait_s: float) -> bool:
        """Refuse new reads, stop the running ones, close the connections.

        Args:
            wait_s: how long to wait for running calls to come back, all in all.

        Returns:
            Whether all came back; the rest close when they do.
        """
        self._closing.set()
        with self._opening:  # from here on none is opened
            self.interrupt_all()
        share = wait_s / max(self._open, 1)
        while self._open and self._close_idle(share):
            self._open -= 1
        with self._lock:
            self._abandoned = True
        while self._open and self._close_idle(0):
            self._open -= 1
        return not self._open

    def _borrow_reader(self, deadline_s: float | None) -> _Reader:
        reader: _Reader | None = None
        if not self._closing.is_set():
            reader = self._find_reader(_WAIT_S if deadline_s is None else deadline_s)
        if self._closing.is_set():
            if reader is not None:
                self._give_back(reader)
            raise vault_locked_error()
        if reader is None:
            raise busy_error()
        return reader

    def _find_reader(self, wait_s: float) -> _Reader | None:
        with suppress(queue.Empty):
            return self._idle.get_nowait()
        # It cannot be opened now, for want of file handles or since the file was replaced: one that is open will do.
        with suppress(LociError):
            if (another := self._open_another()) is not None:
                return another
        with suppress(queue.Empty):
            return self._idle.get(timeout=wait_s)
        return None

    def _open_another(self) -> _Reader | None:
        with self._opening:
            if not self._unopened or self._closing.is_set():
                return None
            reader = _Reader(self._open_connection(), self._clock, self._closing.is_set)
            self._unopened -= 1
            self._readers.append(reader)
            self._open += 1
        return reader

    def _give_back(self, reader: _Reader) -> None:
        with self._lock:
            if not self._abandoned:
                self._idle.put(reader)
                return
            self._open -= 1
        reader.connection.close()

    def _close_idle(self, wait_s: float) -> bool:
        try:
            reader = self._idle.get(timeout=wait_s) if wait_s else self._idle.get_nowait()
        except queue.Empty:
            return False
        reader.connection.close()
        return True


def _read_snapshot(reader: _Reader, fn: Callable[[Rows], T]) -> T:
    connection = reader.connection
    _run_statement(connection, "BEGIN", reader.stop_reason)
    try:
        return fn(SqlRows(connection, reader.stop_reason))
    finally:
        if connection.in_transaction:
            _run_statement(connection, "ROLLBACK", reader.stop_reason)


def _run_statement(connection: dbapi2.Connection, sql: str, why: Callable[[], LociError]) -> None:
    try:
        connection.execute(sql)
    except RAISED as error:
        fault = translate_error(error, why())
    else:
        return
    raise fault


COUNTED = (
    "memories",
    "memory_fts_docsize",
    "embeddings",
    "claims",
    "evidence",
    "entities",
    "edges",
    "spaces",
    "clients",
    "conversations",
    "imports",
    "undo_steps",
    "audit",
)
"""Tables whose rows a backup counts, where the schema has them."""


@dataclass(frozen=True)
class DatabaseLook:
    """What stands in a vault that passed its checks.

    Attributes:
        versions: of its header.
        seq: its sequence.
        counts: table to number of rows.
    """

    versions: Versions
    seq: int
    counts: dict[str, int]


def copy_into(
    source: Path, key: bytes, target: Path, watch: Callable[[dbapi2.Connection | None], None] | None = None
) -> None:
    """Copy a vault, whether or not it is being written to.

    Args:
        source: the database file.
        key: 32 raw bytes; of the copy too.
        target: a name that is free; on any failure it is free again.
        watch: gets the connection while it works, then None; for interrupting it.

    Raises:
        LociError: DISK_FULL, CANCELLED, VAULT_DAMAGED …
    """
    try:
        new_file(target)
    except OSError as error:
        fault: LociError = file_write_error(error)
    else:
        _copy_database(source, key, target, watch)
        return
    raise fault


def copy_under_key(
    source: Path, key: bytes, target: Path, new_key: bytes, report_pages: Callable[[int, int], None]
) -> None:
    """Copy a vault that nobody writes to, page by page, into a file under another key.

    Rows, numbers of rows and header stay as they are, which an export into a new schema would not keep, and nothing
    of the source is changed, which `PRAGMA rekey` would do without a way back.

    Args:
        source: the database file; its log, if it has one, is read too.
        key: 32 raw bytes.
        target: a name that is free; on any failure it is free again.
        new_key: 32 raw bytes, of the copy.
        report_pages: told pages done and pages in all; what it raises ends the copy.

    Raises:
        LociError: DISK_FULL, VAULT_DAMAGED …
    """
    fault: LociError | None = None
    try:
        new_file(target)
        with closing(open_reader(source, key)) as reading, closing(_open_connection(target, new_key, "rw")) as writing:
            reading.backup(
                writing, pages=_COPIED_PAGES, progress=lambda _, left, total: report_pages(total - left, total)
            )
    except OSError as error:
        fault = file_write_error(error)
    except RAISED as error:
        fault = translate_error(error)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    if fault is not None:
        target.unlink(missing_ok=True)
        raise fault


def count_rows(connection: dbapi2.Connection) -> dict[str, int]:
    """Count the rows of every table of the vault.

    Returns:
        Table to number of rows; not those that are a view of others.
    """
    tables = fetch_rows(connection, "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
    return {name: _count_table(connection, name) for (name,) in tables}


def _count_table(connection: dbapi2.Connection, name: str) -> int:
    try:
        ((count,),) = connection.execute(f'SELECT count(*) FROM "{name}"').fetchall()  # noqa: S608 - a name of ours
    except RAISED as error:
        fault = translate_error(error)
    else:
        return int(count)
    raise fault


def look_into(path: Path, key: bytes) -> DatabaseLook:
    """Open a vault that nobody uses and check it page by page.

    Args:
        path: the database file; what its opening leaves beside it is removed.
        key: 32 raw bytes.

    Returns:
        What stands in it.

    Raises:
        IntegrityError: VAULT_DAMAGED; a check failed or it is no vault.
        LociError: it could not be read.
    """
    connection = open_reader(path, key)
    try:
        return _inspect_database(connection)
    finally:
        connection.close()
        for suffix in ("-wal", "-shm"):
            # Opened read-only, an unused log stays behind empty; a log with content is not ours to remove.
            beside = path.with_name(path.name + suffix)
            if suffix == "-shm" or (beside.exists() and beside.stat().st_size == 0):
                beside.unlink(missing_ok=True)


def _copy_database(
    source: Path, key: bytes, target: Path, watch: Callable[[dbapi2.Connection | None], None] | None
) -> None:
    is_done = False
    connection = None
    try:
        connection = open_reader(source, key, query_only=False)
        if watch is not None:
            watch(connection)
        fetch_rows(connection, "VACUUM INTO ?", (str(target),))
        is_done = True
    finally:
        if watch is not None:
            watch(None)
        if connection is not None:
            connection.close()
        if not is_done:
            with suppress(OSError):
                target.unlink(missing_ok=True)


def _inspect_database(connection: dbapi2.Connection) -> DatabaseLook:
    if integrity_problems(connection) or cipher_problems(connection):
        raise vault_damaged_error()
    ((application,),) = fetch_rows(connection, "PRAGMA application_id")
    ((schema,),) = fetch_rows(connection, "PRAGMA user_version")
    if application != APPLICATION_ID:
        raise IntegrityError(vault_damaged_error().code, "The file is an encrypted database but not a vault of Loci.")
    ((seq,),) = fetch_rows(connection, "SELECT seq FROM vault_state")
    tables = {name for (name,) in fetch_rows(connection, "SELECT name FROM sqlite_master WHERE type = 'table'")}
    counts = {
        name: fetch_rows(connection, f'SELECT count(*) FROM "{name}"')[0][0]  # noqa: S608 - names of ours
        for name in COUNTED
        if name in tables
    }
    return DatabaseLook(Versions(application, schema), seq, counts)


MERGE_PAGES = 200
MERGE_CHANGES = 2
"""A step of merging that changes less was the last one."""
_BUSY_MS = 5000
_CHECKPOINT_WAIT_MS = 500
_SPARE_PAGES = 128
_SHRINK_PAGES = 64
_COPIED_PAGES = 1024
"""Pages of a step between two reports: 8 MiB."""


def merge_full_text(writer: dbapi2.Connection, pages: int) -> int:
    """Merge a part of the full-text index: only then it loses the words of vanished rows.

    Args:
        pages: how many; a negative number begins a merge of everything.

    Returns:
        How many rows of the index it changed.
    """
    before = writer.total_changes
    fetch_rows(writer, "INSERT INTO memory_fts (memory_fts, rank) VALUES ('merge', ?)", (pages,))
    return int(writer.total_changes - before)


def free_pages(writer: dbapi2.Connection) -> int:
    """Cut free pages off the end of the file, all but some that the next texts take (E10.18.2).

    Returns:
        How many went indeed; 0 where there are few, or none can be cut.
    """
    free = _count_free_pages(writer)
    if free <= _SPARE_PAGES:
        return 0
    fetch_rows(writer, f"PRAGMA incremental_vacuum({_SHRINK_PAGES})")
    return max(0, free - _count_free_pages(writer))


def _count_free_pages(writer: dbapi2.Connection) -> int:
    ((pages,),) = fetch_rows(writer, "PRAGMA freelist_count")
    return int(pages)


def checkpoint_log(writer: dbapi2.Connection, *, truncate: bool) -> bool:
    """Move the write-ahead log into the database file.

    Args:
        truncate: also empty the log; needs a moment without readers.

    Returns:
        Whether everything was moved; False where readers held it up.
    """
    mode = "TRUNCATE" if truncate else "PASSIVE"
    fetch_rows(writer, f"PRAGMA busy_timeout = {_CHECKPOINT_WAIT_MS}")
    try:
        ((is_busy, frames, moved),) = fetch_rows(writer, f"PRAGMA wal_checkpoint({mode})")
    finally:
        fetch_rows(writer, f"PRAGMA busy_timeout = {_BUSY_MS}")
    return not is_busy and frames == moved


APPLICATION_ID = 0x4C4F4349
"""The letters LOCI, in the file's header."""

OLDEST_SQLITE = (3, 51, 3)
"""Versions before can corrupt a database when the log is reset (fixed 2026-03)."""

_BUSY_S = 5.0
_STATEMENTS = 256

# Name, the value that is set (None: only read), what must be read back.
_BEFORE_KEY = (
    ("cipher_log_level", "NONE", "NONE"),
    # Keys are locked in memory and wiped in any case. On, it does so for every page and row too (by mlock, up to some
    # MB): ten thousand memories then answered in 83 ms (p95) instead of 9, while Python keeps its own copies.
    ("cipher_memory_security", "OFF", "0"),
    # VACUUM INTO gives its copy the *default* page size of the cipher: with another one here a
    # backup is written that nobody can open.
    ("cipher_default_page_size", str(PAGE_SIZE), str(PAGE_SIZE)),
)
_AFTER_KEY = (("cipher_page_size", str(PAGE_SIZE), str(PAGE_SIZE)),)
_WRITER = (
    ("journal_mode", "WAL", "wal"),
    ("synchronous", "FULL", "2"),
    ("wal_autocheckpoint", "100", "100"),
    ("secure_delete", "ON", "1"),
    ("auto_vacuum", None, "2"),
)
_BOTH = (
    # 8 MiB: with the default of 2 MiB the pages of the indexes are decrypted again and again (a third of an import).
    ("cache_size", "-8192", "-8192"),
    ("temp_store", "MEMORY", "2"),
    ("trusted_schema", "OFF", "0"),
    ("foreign_keys", "ON", "1"),
    ("cell_size_check", "ON", "1"),
    ("mmap_size", None, "0"),
    ("page_size", None, str(PAGE_SIZE)),
)


class Versions(NamedTuple):
    """The versions that the header of a vault's database file states.

    Attributes:
        application: `APPLICATION_ID`, or 0 before the first migration.
        schema: the schema's version, `user_version`.
    """

    application: int
    schema: int


def open_writer(path: Path, key: bytes) -> dbapi2.Connection:
    """Open the connection that writes. The file must exist; an empty one becomes a vault.

    Args:
        path: the database file.
        key: 32 raw bytes.

    Returns:
        A connection in autocommit mode; the caller begins and ends transactions.

    Raises:
        LociError: VAULT_DAMAGED where the key does not open it, DISK_FULL, READ_ONLY …
    """
    connection = _open_connection(path, key, "rw")
    return _set_up(connection, is_writer=True)


def open_reader(path: Path, key: bytes, *, query_only: bool = True) -> dbapi2.Connection:
    """Open a connection that cannot write.

    Args:
        path: the database file.
        key: 32 raw bytes.
        query_only: False only for VACUUM INTO, which `query_only` would forbid.

    Returns:
        A connection in autocommit mode.

    Raises:
        LociError: as for `open_writer`.
    """
    connection = _set_up(_open_connection(path, key, "ro"), is_writer=False)
    if query_only:
        _apply_pragmas(connection, (("query_only", "ON", "1"),))
    return connection


def open_untouched(path: Path, key: bytes) -> dbapi2.Connection:
    """Open a database that nobody writes to without writing a byte: no log, no index of one, nothing beside it.

    Args:
        path: the database file; it must have no log, since what is in one would be passed by.
        key: 32 raw bytes.

    Returns:
        A connection in autocommit mode.

    Raises:
        LociError: as for `open_writer`.
    """
    connection = _set_up(_open_connection(path, key, "ro&immutable=1"), is_writer=False)
    _apply_pragmas(connection, (("query_only", "ON", "1"),))
    return connection


def read_versions(path: Path, key: bytes) -> Versions:
    """Read a vault's versions without changing a byte of it.

    A connection that may write could checkpoint on closing; this one cannot. It may leave an empty log
    and its index behind where there were none; those are removed again.

    Args:
        path: the database file; no other connection of this process may be open.
        key: 32 raw bytes.

    Raises:
        LociError: VAULT_DAMAGED where the key does not open it.
    """
    with without_traces(path):
        return _read_versions(path, key)


@contextmanager
def without_traces(path: Path) -> Iterator[None]:
    """Remove the empty log and its index that reading a vault nobody uses leaves behind, where there were none.

    Args:
        path: the database file.
    """
    beside = [path.with_name(path.name + suffix) for suffix in ("-wal", "-shm")]
    were_there = [one.exists() for one in beside]
    try:
        yield
    finally:
        for one, was_there in zip(beside, were_there, strict=True):
            if not was_there:
                one.unlink(missing_ok=True)


def integrity_problems(connection: dbapi2.Connection) -> int:
    """SQLite's own check of every page, index and full-text index.

    Returns:
        How many problems it names, 0 for none; 100 stands for many.

    Raises:
        LociError: the check could not be run.
    """
    rows = fetch_rows(connection, "PRAGMA integrity_check")
    return 0 if rows == [("ok",)] else len(rows)


def cipher_problems(connection: dbapi2.Connection) -> int:
    """Count the pages of the database file that fail SQLCipher's authentication.

    Reads the file only: checkpoint first (B10).

    Returns:
        How many pages fail.

    Raises:
        LociError: the check could not be run.
    """
    return len(fetch_rows(connection, "PRAGMA cipher_integrity_check"))


def _read_versions(path: Path, key: bytes) -> Versions:
    connection = _open_connection(path, key, "ro")
    try:
        # Both stand in the first page, which no other key decrypts: the schema need not be read for them.
        (application,) = fetch_rows(connection, "PRAGMA application_id")[0]
        (schema,) = fetch_rows(connection, "PRAGMA user_version")[0]
    finally:
        connection.close()
    return Versions(application, schema)


def _open_connection(path: Path, key: bytes, mode: str) -> dbapi2.Connection:
    if len(key) != 32:
        # 63 hexadecimal digits would become a passphrase without a word.
        raise BugError("vault key length")
    if dbapi2.sqlite_version_info < OLDEST_SQLITE:
        raise EnvironmentFaultError(
            Code.CONFIG_INVALID, "The installed SQLCipher is too old and could damage a vault; run the set-up again."
        )
    uri = f"file:{quote(os.fspath(path.absolute()))}?mode={mode}"
    try:
        connection = dbapi2.connect(
            uri,
            timeout=_BUSY_S,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_STATEMENTS,
            uri=True,
        )
    except RAISED as error:
        fault = translate_error(error)
    else:
        return _set_up_step(connection, lambda: _unlock_connection(connection, key))
    raise fault


def _unlock_connection(connection: dbapi2.Connection, key: bytes) -> None:
    connection.enable_load_extension(False)  # noqa: FBT003 - the driver takes it by place only
    if not connection.execute("PRAGMA cipher_version").fetchall():
        raise BugError("database without encryption")
    _set_pragmas(connection, _BEFORE_KEY)
    connection.set_key(f"x'{key.hex()}'")
    _set_pragmas(connection, _AFTER_KEY)


def _set_up(connection: dbapi2.Connection, *, is_writer: bool) -> dbapi2.Connection:
    def apply_settings() -> None:
        if is_writer:
            # Before the first table or never: on a vault that has tables this changes nothing.
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
        if is_writer:
            _set_pragmas(connection, _WRITER)
        _set_pragmas(connection, _BOTH)

    return _set_up_step(connection, apply_settings)


def _apply_pragmas(connection: dbapi2.Connection, pragmas: tuple[tuple[str, str | None, str], ...]) -> None:
    _set_up_step(connection, lambda: _set_pragmas(connection, pragmas))


def _set_up_step(connection: dbapi2.Connection, action: Callable[[], None]) -> dbapi2.Connection:
    """Run a step of the set-up; a connection that fails it is closed."""
    fault: LociError | None = None
    try:
        action()
    except RAISED as error:
        fault = translate_error(error)
    except LociError as error:
        fault = error
    if fault is not None:
        connection.close()
        raise fault
    return connection


def _set_pragmas(connection: dbapi2.Connection, pragmas: tuple[tuple[str, str | None, str], ...]) -> None:
    for name, value, wanted in pragmas:
        if value is not None:
            connection.execute(f"PRAGMA {name} = {value}").fetchall()
        # Page sizes come back as text, others as numbers.
        actual = connection.execute(f"PRAGMA {name}").fetchall()
        if actual != [(wanted,)] and [tuple(str(one) for one in row) for row in actual] != [(wanted,)]:
            raise BugError(f"database setting {name}")
