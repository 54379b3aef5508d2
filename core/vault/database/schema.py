"""What tables and columns the open vault has.

Names of tables and columns in `Tx.insert`, `update` and `delete` are checked against this
before they go into a statement. Must not do: change the schema; `migrations` does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlcipher3 import dbapi2

from core.errors import BugError


@dataclass(frozen=True)
class SchemaTable:
    """One table.

    Attributes:
        name: as the schema spells it.
        columns: in their order.
        key: the columns of the primary key in their order; empty where there is none.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    def need(self, names: Iterable[str]) -> None:
        """Refuse a column the table does not have.

        Args:
            names: columns about to go into a statement.

        Raises:
            BugError: one of them is unknown.
        """
        known = frozenset(self.columns)
        if any(name not in known for name in names):
            raise BugError(f"column of {self.name}")


class Schema:
    """The ordinary tables of a vault, read once after the migrations."""

    def __init__(self, connection: dbapi2.Connection) -> None:
        """Read the schema.

        Args:
            connection: an open vault; errors are the caller's to translate.
        """
        listed = connection.execute("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
        self._tables = {name: _read(connection, name) for (name,) in listed.fetchall()}

    def table(self, name: str) -> SchemaTable:
        """Look a table up.

        Args:
            name: its name.

        Returns:
            The table.

        Raises:
            BugError: there is no such ordinary table.
        """
        found = self._tables.get(name)
        if found is None:
            raise BugError("table of the vault")
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """All tables, sorted; SQLite's own left out."""
        return tuple(sorted(name for name in self._tables if not name.startswith("sqlite_")))


def _read(connection: dbapi2.Connection, name: str) -> SchemaTable:
    rows = connection.execute("SELECT name, pk FROM pragma_table_info(?) ORDER BY cid", (name,)).fetchall()
    key = sorted((pk, column) for column, pk in rows if pk)
    return SchemaTable(name, tuple(column for column, _ in rows), tuple(column for _, column in key))
