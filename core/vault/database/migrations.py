"""Forward-only migrations: `sql/NNN_name.sql`, each whole in one transaction or not at all.

The version (`user_version`) and its row in `schema_version` are written inside the same
transaction, so a kill leaves either the old version or the new one (B35). Must not do: go
back, edit a released step, run on a vault that was not copied first.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sqlcipher3 import dbapi2

from core.errors import BugError, Code, IntegrityError, LociError
from core.vault.database.connections import APPLICATION_ID
from core.vault.database.faults import RAISED, translate_error
from core.vault.database.rows import fetch_rows

_NAME = re.compile(r"(?P<version>\d{3})_(?P<words>[a-z0-9_]+)\.sql")


@dataclass(frozen=True)
class Migration:
    """One step.

    Attributes:
        version: the schema's version after it, from 1 without gaps.
        description: what it is called.
        statements: in their order.
    """

    version: int
    description: str
    statements: tuple[str, ...]


@cache
def known_migrations() -> tuple[Migration, ...]:
    """All steps this program knows, in order.

    Returns:
        Steps 1 .. newest.

    Raises:
        BugError: a gap, a second step of one number, or an unfinished statement.
    """
    found = []
    for entry in files("core.vault").joinpath("sql").iterdir():
        named = _NAME.fullmatch(entry.name)
        if named is not None:
            text = entry.read_text(encoding="utf-8")
            found.append(Migration(int(named["version"]), named["words"].replace("_", " "), split_statements(text)))
    found.sort(key=lambda step: step.version)
    if [step.version for step in found] != list(range(1, len(found) + 1)):
        raise BugError("numbers of the migrations")
    return tuple(found)


def split_statements(text: str) -> tuple[str, ...]:
    """Cut a script into statements; triggers keep their inner semicolons.

    Args:
        text: SQL, a statement ending at the end of its line.

    Raises:
        BugError: something is left over.
    """
    whole: list[str] = []
    pending = ""
    for line in text.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            whole.append(pending)
            pending = ""
    if any(line.strip() and not line.strip().startswith("--") for line in pending.splitlines()):
        raise BugError("end of a migration")
    return tuple(whole)


def migrate_schema(
    connection: dbapi2.Connection,
    steps: Sequence[Migration],
    now_ms: int,
    extra: Sequence[tuple[str, tuple[object, ...]]] = (),
) -> None:
    """Run the steps that a vault has not had.

    Args:
        connection: the writer's, with nothing begun.
        steps: of `known_migrations`.
        now_ms: epoch ms, for `schema_version`.
        extra: statements with their values for the transaction of the first step, of a new vault.

    Raises:
        IntegrityError: MIGRATION_FAILED; the version before it stands.
        LociError: DISK_FULL and what else the system said.
    """
    (stored_version,) = fetch_rows(connection, "PRAGMA user_version")[0]
    for step in steps:
        if step.version > stored_version:
            _run_migration(connection, step, now_ms, extra if step.version == 1 else ())


def _run_migration(
    connection: dbapi2.Connection, step: Migration, now_ms: int, extra: Sequence[tuple[str, tuple[object, ...]]]
) -> None:
    fault: LociError | None = None
    try:
        connection.execute("BEGIN IMMEDIATE")
        for sql in step.statements:
            connection.execute(sql)
        connection.execute(
            "INSERT INTO schema_version (version, applied_at, description) VALUES (?, ?, ?)",
            (step.version, now_ms, step.description),
        )
        for sql, values in extra:
            connection.execute(sql, values)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {step.version}")
        connection.execute("COMMIT")
    except RAISED as error:
        fault = translate_error(error)
    if fault is None:
        return
    if connection.in_transaction:
        fetch_rows(connection, "ROLLBACK")
    if fault.code in (Code.DISK_FULL, Code.READ_ONLY, Code.BUSY):
        raise fault
    raise IntegrityError(
        Code.MIGRATION_FAILED,
        f"The vault could not be brought to version {step.version} and stays at version {step.version - 1}.",
    )
