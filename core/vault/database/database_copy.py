"""Whole copies of a vault under the same key, and looking into such a copy.

A file that exists is not a backup (B15): a copy counts once it was opened and checked.
Must not do: copy the files of an open vault byte by byte; most such copies are torn (B16).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sqlcipher3 import dbapi2

from core.errors import IntegrityError, LociError
from core.security.atomic import write_fault
from core.vault.database.cipher import APPLICATION_ID, Versions, cipher_problems, fetch, integrity_problems, open_reader
from core.vault.database.faults import damaged
from core.vault.files.home import new_file

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
        fault: LociError = write_fault(error)
    else:
        _copy(source, key, target, watch)
        return
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
        return _look(connection)
    finally:
        connection.close()
        for suffix in ("-wal", "-shm"):
            # Opened read-only, an unused log stays behind empty; a log with content is not ours to remove.
            beside = path.with_name(path.name + suffix)
            if suffix == "-shm" or (beside.exists() and beside.stat().st_size == 0):
                beside.unlink(missing_ok=True)


def _copy(source: Path, key: bytes, target: Path, watch: Callable[[dbapi2.Connection | None], None] | None) -> None:
    is_done = False
    connection = None
    try:
        connection = open_reader(source, key, query_only=False)
        if watch is not None:
            watch(connection)
        fetch(connection, "VACUUM INTO ?", (str(target),))
        is_done = True
    finally:
        if watch is not None:
            watch(None)
        if connection is not None:
            connection.close()
        if not is_done:
            with suppress(OSError):
                target.unlink(missing_ok=True)


def _look(connection: dbapi2.Connection) -> DatabaseLook:
    if integrity_problems(connection) or cipher_problems(connection):
        raise damaged()
    ((application,),) = fetch(connection, "PRAGMA application_id")
    ((schema,),) = fetch(connection, "PRAGMA user_version")
    if application != APPLICATION_ID:
        raise IntegrityError(damaged().code, "The file is an encrypted database but not a vault of Loci.")
    ((seq,),) = fetch(connection, "SELECT seq FROM vault_state")
    tables = {name for (name,) in fetch(connection, "SELECT name FROM sqlite_master WHERE type = 'table'")}
    counts = {
        name: fetch(connection, f'SELECT count(*) FROM "{name}"')[0][0]  # noqa: S608 - names of ours
        for name in COUNTED
        if name in tables
    }
    return DatabaseLook(Versions(application, schema), seq, counts)
