"""What stands in a database file that nobody uses: it is checked page by page, and its rows are counted.

Must not do: write into a file that it checks, say more about a failure than its kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlcipher3 import dbapi2

from core.errors import IntegrityError
from core.vault.database.connections import APPLICATION_ID, Versions, cipher_problems, integrity_problems, open_reader
from core.vault.database.faults import RAISED, translate_error, vault_damaged_error
from core.vault.database.rows import fetch_rows

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
