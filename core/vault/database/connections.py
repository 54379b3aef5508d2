"""Connections to the encrypted database: opening and setting them up, whole copies, checks of every page.

They are set up in the one order that passed the kill tests, and every value is read back (E9 of the reliability
study): the page size before anything reads the file, `auto_vacuum` before the first table, WAL after it. A copy counts
once it was opened and checked (B15).

Must not do: install a trace callback (it would receive the key), pass the key through SQL, create a file (`mode=rw` at
most), copy the files of an open vault byte by byte (most such copies are torn: B16), start threads, say more about a
failure than its kind.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from sqlcipher3 import dbapi2

from core.errors import BugError, Code, EnvironmentFaultError, LociError
from core.security.atomic import file_write_error
from core.vault.database.faults import RAISED, translate_error
from core.vault.database.rows import fetch_rows
from core.vault.files.home import PAGE_SIZE, new_file


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


_COPIED_PAGES = 1024
"""Pages of a step between two reports: 8 MiB."""


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
