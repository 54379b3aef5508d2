"""The write transaction of one verb, and which memories it touched, for subscribers told of changes at commit.

`Vault.write` begins and ends it. Rows with a meaning go through `insert`, `update` and `delete`, which hand their
images to the recorder for undo; `run` is for what is derived or is itself a journal. Touched memories are collected
from the rows that change, not from the verb, so undo, erasure and upkeep count too. Must not do: commit, read the clock
twice, know what a verb is, or judge who may know of a change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from sqlite3 import Cursor
from typing import Any, Protocol

from sqlcipher3 import dbapi2

from core.errors import BugError, CancelledError, LociError
from core.vault.database.faults import RAISED
from core.vault.database.rows import Params, SqlRows, bind_params, to_bindable


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

    def require_columns(self, names: Iterable[str]) -> None:
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
        listed = connection.execute(_COLUMNS).fetchall()
        self._tables = {
            name: _table_of(name, [(column, key) for _, column, key in rows])
            for name, rows in groupby(listed, key=itemgetter(0))
        }

    def get_table(self, name: str) -> SchemaTable:
        """Look a table up.

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


_COLUMNS = """
    SELECT tables.name, columns.name, columns.pk
    FROM pragma_table_list AS tables JOIN pragma_table_info(tables.name) AS columns
    WHERE tables.schema = 'main' AND tables.type = 'table'
    ORDER BY tables.name, columns.cid
"""


def _table_of(name: str, columns: Sequence[tuple[str, int]]) -> SchemaTable:
    key = sorted((place, column) for column, place in columns if place)
    return SchemaTable(name, tuple(column for column, _ in columns), tuple(column for _, column in key))


_MEMORIES = "memories"
_BESIDE = frozenset({"evidence", "memory_sources", "procedures", "rules", "verdicts"})
"""Tables whose rows say how a memory of theirs stands."""
_QUIET = frozenset({"access_count", "last_accessed_at", "read_at", "strength"})
"""Columns by which nobody is told anything: reading, and upkeep that counts it."""

Row = Mapping[str, object]


class TouchedMemories:
    """The memories of one transaction.

    Attributes:
        before: id to the row as it was, in the order they were touched; None for one that was not there.
        beside: ids of memories of which another table holds something else now.
    """

    def __init__(self) -> None:
        """Nothing yet."""
        self.before: dict[str, Row | None] = {}
        self.beside: dict[str, None] = {}

    @property
    def size(self) -> tuple[int, int]:
        """How far it has come, for `cut`."""
        return len(self.before), len(self.beside)

    def note_row(self, table: str, row: Row, before: Row | None, names: Collection[str] | None = None) -> None:
        """Take down one changed row.

        Args:
            row: it, with at least its memory's id.
            before: how it was; None for an insertion.
            names: the columns that change; None for all.
        """
        if table == _MEMORIES:
            if names is None or not _QUIET.issuperset(names):
                self.before.setdefault(str(row["id"]), before)
        elif table in _BESIDE:
            self.beside.setdefault(str(row["memory_id"]))

    def cut_to_size(self, size: tuple[int, int]) -> None:
        """Forget what was first touched since; those changes were taken back.

        Args:
            size: as `size` was then.
        """
        while len(self.before) > size[0]:
            self.before.popitem()
        while len(self.beside) > size[1]:
            self.beside.popitem()


UNLOGGED = frozenset(
    {
        "accesses", "audit", "clients", "consolidation_log", "contexts", "embeddings", "entities", "entity_aliases",
        "feedback", "handed", "imports", "inferred", "job_deeds", "jobs", "memory_fts", "mentions", "probe_runs",
        "probes", "receipts", "requests", "sealed_files", "settings", "stored_chunks", "stored_files", "sync_devices",
        "sync_invitations", "sync_keys", "sync_rows", "sync_state", "tiers", "tombstones", "tunings", "undo_rows",
        "undo_steps", "vault_state", "watched_files", "watched_folders", "watched_log", "watched_records", "working",
    }
)  # fmt: skip
"""Tables that `Tx.run` may change: derived ones and journals, which undo does not look at."""

_TERMS = frozenset({"clients", "grants"})
"""Who may come in, and what for: `vault.head` tells of them."""

_COUNTED = frozenset({"claims", "memories"})
"""Tables where `Tx.run` may UPDATE besides: counters of reads and decay, what is derived (`images.VOLATILE`)."""

# One statement for twenty rows opens every index once for all of them: half the time of a statement a row.
_ROWS_AT_ONCE = 20
_ROW_IMAGES_AT_ONCE = 500

_TARGET = re.compile(
    r"\s*(?P<verb>INSERT(?:\s+OR\s+\w+)?\s+INTO|REPLACE\s+INTO|UPDATE(?:\s+OR\s+\w+)?|DELETE\s+FROM)\s+(?P<table>\w+)",
    re.IGNORECASE,
)


class Recorder(Protocol):
    """Remembers what a verb changed, so that it can be undone."""

    def record_change(
        self,
        table: str,
        key: Mapping[str, object],
        before: Mapping[str, object] | None,
        after: Mapping[str, object] | None,
    ) -> None:
        """One row changed.

        Args:
            key: what finds it: its primary key, or all its columns where the table has none.
            before: the whole row as it was; None for an insertion.
            after: the whole row as it is now; None for a deletion.
        """
        ...


class _Deferred:
    """Keeps what it is told until an attempt has held."""

    def __init__(self, kept: list[tuple[Any, ...]]) -> None:
        self._kept = kept

    def record_change(
        self,
        table: str,
        key: Mapping[str, object],
        before: Mapping[str, object] | None,
        after: Mapping[str, object] | None,
    ) -> None:
        self._kept.append((table, key, before, after))


class Tx(SqlRows):
    """Reads and writes inside one transaction.

    Attributes:
        now_ms: the verb's one time, epoch ms UTC; never below the last committed one.
        clock_ms: what the clock says, epoch ms UTC; behind `now_ms` where the clock was set back.
        seq: the vault's sequence if this transaction changes anything.
        recorder: gets the images of changed rows; None for changes nobody will undo.
        touched: the memories it changes, recorded or not.
        is_terms_changed: whether a client came, went, or may do something else from now on.
    """

    def __init__(
        self,
        connection: dbapi2.Connection,
        schema: Schema,
        now_ms: int,
        seq: int,
        stopped: Callable[[], LociError] = CancelledError,
        is_ended: Callable[[], bool] = lambda: False,
        clock_ms: int | None = None,
    ) -> None:
        """Wrap a connection on which BEGIN IMMEDIATE was run.

        Args:
            connection: the writer's.
            now_ms: the verb's time.
            seq: `vault_state.seq` + 1.
            stopped: tells why a statement was interrupted.
            is_ended: whether nothing more shall run; an interrupt alone misses a verb of many short statements.
            clock_ms: what the clock says; None for `now_ms`.
        """
        super().__init__(connection, stopped)
        self.now_ms = now_ms
        self.clock_ms = now_ms if clock_ms is None else clock_ms
        self.seq = seq
        self.recorder: Recorder | None = None
        self.touched = TouchedMemories()
        self._schema = schema
        self._ended = is_ended
        self._changed = False
        self.is_terms_changed = False
        self._gate = False
        self._actions: list[Callable[[], None]] = []

    @property
    def is_changed(self) -> bool:
        """Whether anything was written, so that `seq` was taken."""
        return self._changed

    @property
    def actions(self) -> tuple[Callable[[], None], ...]:
        """What was asked to run after the commit, in order."""
        return tuple(self._actions)

    def all(self, sql: str, params: Params = ()) -> list[tuple[Any, ...]]:
        """Run a query; see `Rows.all`."""
        self._need_going()
        return super().all(sql, params)

    def insert(self, table: str, row: Mapping[str, object]) -> int:
        """Add a row.

        Args:
            row: column to value; columns left out take their defaults.

        Returns:
            The new rowid.

        Raises:
            LociError: a constraint or the disk refused it.
        """
        known = self._schema.get_table(table)
        known.require_columns(row)
        self._take_seq(table)
        rowid = self._execute_sql(
            _insert_sql(known, tuple(row)), tuple(to_bindable(value) for value in row.values())
        ).lastrowid
        if rowid is None:
            raise BugError("insert without a rowid")
        self.touched.note_row(table, row, None)
        if self.recorder is not None:
            for after in self._select_rows(known, "rowid", (rowid,)):
                self.recorder.record_change(table, _key_of(known, after), None, after)
        return rowid

    def insert_many(self, table: str, rows: Sequence[Mapping[str, object]]) -> None:
        """Add rows that all name the same columns.

        Args:
            rows: column to value.

        Raises:
            LociError: a constraint or the disk refused one; the transaction must then be given up.
        """
        if not rows:
            return
        known = self._schema.get_table(table)
        names = tuple(rows[0])
        known.require_columns(names)
        if any(row.keys() != rows[0].keys() for row in rows):
            raise BugError("rows of one shape")
        key = known.key[0] if len(known.key) == 1 and known.key[0] in names else None
        if self.recorder is not None and key is None:
            for row in rows:
                self.insert(table, row)
            return
        self._take_seq(table)
        given = [tuple(to_bindable(row[name]) for name in names) for row in rows]
        whole = len(given) - len(given) % _ROWS_AT_ONCE
        for at in range(0, whole, _ROWS_AT_ONCE):
            values = tuple(value for row in given[at : at + _ROWS_AT_ONCE] for value in row)
            self._execute_sql(_insert_sql(known, names, _ROWS_AT_ONCE), values)
        self._execute_many(_insert_sql(known, names), given[whole:])
        for row in rows:
            self.touched.note_row(table, row, None)
        if self.recorder is not None and key is not None:
            self._record_inserted(self.recorder, known, [row[names.index(key)] for row in given])

    def _record_inserted(self, recorder: Recorder, table: SchemaTable, values: Sequence[object]) -> None:
        """Tell the recorder of new rows in the order they came, each as it stands in the vault."""
        key = table.key[0]
        for at in range(0, len(values), _ROW_IMAGES_AT_ONCE):
            found = self._select_unique_rows(table, key, some := values[at : at + _ROW_IMAGES_AT_ONCE])
            if len(found) < len(some):
                raise BugError(f"row of {table.name}")
            for value, after in found.items():
                recorder.record_change(table.name, {key: value}, None, after)

    def update(self, table: str, key: Mapping[str, object], changes: Mapping[str, object]) -> bool:
        """Change one row. A change to what it holds already writes nothing.

        Args:
            key: columns that find at most one row.
            changes: column to new value; the primary key stays.

        Returns:
            False when there is no such row.

        Raises:
            LociError: a constraint or the disk refused it.
        """
        known = self._schema.get_table(table)
        known.require_columns((*key, *changes))
        if not known.key or any(name in known.key for name in changes):
            raise BugError(f"key of {table}")
        before = self._find_row(known, key)
        if before is None:
            return False
        new = {name: to_bindable(value) for name, value in changes.items()}
        new = {name: value for name, value in new.items() if not _is_same_value(before[name], value)}
        if not new:
            return True
        self._take_seq(table)
        own = _key_of(known, before)
        where, values = _where_clause(own)
        setting = ", ".join(f'"{name}" = ?' for name in new)
        self._execute_sql(f'UPDATE "{table}" SET {setting} WHERE {where}', (*new.values(), *values))  # noqa: S608 - checked names
        self.touched.note_row(table, before, before, new)
        if self.recorder is not None:
            self.recorder.record_change(table, own, before, self._find_row(known, own))
        return True

    def update_many(self, table: str, column: str, values: Iterable[object], changes: Mapping[str, object]) -> None:
        """`update` for many rows that are changed alike: a tenth of the time for 10,000 memories.

        Args:
            column: finds at most one row for each value.
            values: of that column; those without a row are left out.
            changes: column to new value; the primary key stays.

        Raises:
            LociError: a constraint or the disk refused one; the transaction must then be given up.
        """
        known = self._schema.get_table(table)
        known.require_columns((column, *changes))
        if not known.key or any(name in (*known.key, column) for name in changes):
            raise BugError(f"key of {table}")
        new = {name: to_bindable(value) for name, value in changes.items()}
        setting = ", ".join(f'"{name}" = ?' for name in new)
        wanted = list(dict.fromkeys(to_bindable(value) for value in values))
        for at in range(0, len(wanted), _ROW_IMAGES_AT_ONCE):
            before = self._select_unique_rows(known, column, wanted[at : at + _ROW_IMAGES_AT_ONCE])
            changed_keys = [
                key for key, row in before.items() if not all(_is_same_value(row[name], new[name]) for name in new)
            ]
            if not changed_keys:
                continue
            self._take_seq(table)
            found = f'"{column}" IN ({", ".join("?" * len(changed_keys))})'
            self._execute_sql(f'UPDATE "{table}" SET {setting} WHERE {found}', (*new.values(), *changed_keys))  # noqa: S608 - checked names
            for key in changed_keys:
                self.touched.note_row(table, before[key], before[key], new)
            if self.recorder is not None:
                for key, after in self._select_unique_rows(known, column, changed_keys).items():
                    self.recorder.record_change(table, _key_of(known, after), before[key], after)

    def delete(self, table: str, key: Mapping[str, object]) -> bool:
        """Remove one row. Memories go only while `purge` is open.

        Args:
            key: columns that find at most one row.

        Returns:
            False when there is no such row.

        Raises:
            LociError: a constraint or the disk refused it.
        """
        known = self._schema.get_table(table)
        known.require_columns(key)
        before = self._find_row(known, key)
        if before is None:
            return False
        self._take_seq(table)
        own = _key_of(known, before)
        where, values = _where_clause(own)
        self._execute_sql(f'DELETE FROM "{table}" WHERE {where}', values)  # noqa: S608 - checked names
        self.touched.note_row(table, before, before)
        if self.recorder is not None:
            self.recorder.record_change(table, own, before, None)
        return True

    def row(self, table: str, key: Mapping[str, object]) -> dict[str, Any] | None:
        """One row as it stands.

        Args:
            key: columns that find at most one row.

        Returns:
            Column to value; None when there is no such row.
        """
        known = self._schema.get_table(table)
        known.require_columns(key)
        return self._find_row(known, key)

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Changes inside happen whole or not at all; an error takes them back and goes on to the caller.

        Yields:
            Nothing; change inside. What a failed attempt told the recorder, or left for after the commit, is forgotten.

        Raises:
            LociError: whatever went wrong inside.
        """
        self._take_seq()
        self._execute_sql("SAVEPOINT attempt", ())
        kept: list[tuple[Any, ...]] = []
        recorder, actions, touched = self.recorder, len(self._actions), self.touched.size
        self.recorder = _Deferred(kept) if recorder is not None else None
        try:
            yield
        except LociError:
            self._execute_sql("ROLLBACK TO attempt", ())
            self._execute_sql("RELEASE attempt", ())
            del self._actions[actions:]
            self.touched.cut_to_size(touched)
            raise
        else:
            self._execute_sql("RELEASE attempt", ())
            for change in kept:
                if recorder is not None:
                    recorder.record_change(*change)
        finally:
            self.recorder = recorder

    def run(self, sql: str, params: Params = ()) -> int:
        """Change a derived table or a journal; nothing is recorded.

        Args:
            sql: one INSERT, UPDATE or DELETE on one of `UNLOGGED`, or an UPDATE of what is counted or derived
                in `_COUNTED`.

        Returns:
            How many rows it touched.

        Raises:
            BugError: another table.
            LociError: a constraint or the disk refused it.
        """
        _need_unlogged(sql)
        self._take_seq()
        return self._execute_sql(sql, bind_params(params)).rowcount

    def run_many(self, sql: str, rows: Iterable[Params]) -> None:
        """`run` for many sets of values.

        Args:
            sql: as for `run`.
            rows: values of each.

        Raises:
            LociError: as for `run`.
        """
        _need_unlogged(sql)
        self._take_seq()
        self._execute_many(sql, (bind_params(row) for row in rows))

    @contextmanager
    def purge(self) -> Iterator[None]:
        """Open the gate through which rows may vanish, and close it again.

        Yields:
            Nothing; delete inside.

        Raises:
            BugError: it is open already.
        """
        if self._gate:
            raise BugError("purge inside a purge")
        self._take_seq()
        self._set_gate(1)
        try:
            yield
        finally:
            # After a full disk SQLite has rolled the transaction back, and the gate with it.
            if self._connection.in_transaction:
                self._set_gate(0)
            self._gate = False

    def after_commit(self, action: Callable[[], None]) -> None:
        """Run `action` on the writer's thread right after the commit, never after a rollback; it must not raise."""
        self._actions.append(action)

    def need_closed_gate(self) -> None:
        """Refuse to commit an open purge gate; `Vault.write` asks before it commits.

        Raises:
            BugError: the gate is open.
        """
        if self._gate:
            raise BugError("purge left open")

    def _set_gate(self, value: int) -> None:
        self._execute_sql("UPDATE vault_state SET purge_open = ? WHERE one = 1", (value,))
        self._gate = bool(value)

    def _take_seq(self, table: str = "") -> None:
        self.is_terms_changed = self.is_terms_changed or table in _TERMS
        if self._changed:
            return
        self._changed = True
        self._execute_sql("UPDATE vault_state SET seq = ?, last_at = ? WHERE one = 1", (self.seq, self.now_ms))

    def _find_row(self, table: SchemaTable, key: Mapping[str, object]) -> dict[str, Any] | None:
        if not key:
            raise BugError(f"key of {table.name}")
        where, values = _where_clause({name: to_bindable(value) for name, value in key.items()})
        rows = self.all(f'SELECT * FROM "{table.name}" WHERE {where} LIMIT 2', values)  # noqa: S608 - checked names
        if len(rows) > 1:
            raise BugError(f"key of {table.name} finds several rows")
        return dict(zip(table.columns, rows[0], strict=True)) if rows else None

    def _select_rows(self, table: SchemaTable, column: str, values: Sequence[object]) -> list[dict[str, Any]]:
        marks = ", ".join("?" * len(values))
        sql = f'SELECT * FROM "{table.name}" WHERE "{column}" IN ({marks})'  # noqa: S608 - checked names
        return [dict(zip(table.columns, row, strict=True)) for row in self.all(sql, tuple(values))]

    def _select_unique_rows(
        self, table: SchemaTable, column: str, values: Sequence[object]
    ) -> dict[object, dict[str, Any]]:
        rows = self._select_rows(table, column, values)
        found = {row[column]: row for row in rows}
        if len(found) != len(rows):
            raise BugError(f"key of {table.name} finds several rows")
        return {value: found[value] for value in values if value in found}

    def _need_going(self) -> None:
        if self._ended():
            raise self._stopped()

    def _execute_sql(self, sql: str, values: tuple[object, ...] | dict[str, object]) -> Cursor:
        self._need_going()
        try:
            return self._connection.execute(sql, values)
        except RAISED as error:
            fault = self._translate_fault(error)
        raise fault

    def _execute_many(self, sql: str, values: Iterable[Any]) -> None:
        self._need_going()
        try:
            self._connection.executemany(sql, values)
        except RAISED as error:
            fault = self._translate_fault(error)
        else:
            return
        raise fault


@contextmanager
def without_recorder(tx: Tx) -> Iterator[None]:
    """No images are taken inside: not by this verb, and not by a job's in which it runs."""
    recorder, tx.recorder = tx.recorder, None
    try:
        yield
    finally:
        tx.recorder = recorder


def _insert_sql(table: SchemaTable, names: tuple[str, ...], rows: int = 1) -> str:
    columns = ", ".join(f'"{name}"' for name in names)
    marks = "(" + ", ".join("?" * len(names)) + ")"
    values = ", ".join([marks] * rows)
    return f'INSERT INTO "{table.name}" ({columns}) VALUES {values}'  # noqa: S608 - names checked against the schema


def _where_clause(key: Mapping[str, object]) -> tuple[str, tuple[object, ...]]:
    return " AND ".join(f'"{name}" IS ?' for name in key), tuple(key.values())


def _key_of(table: SchemaTable, row: Mapping[str, object]) -> dict[str, object]:
    return {name: row[name] for name in table.key or table.columns}


def _is_same_value(current: object, wanted: object) -> bool:
    return current == wanted and isinstance(current, bytes) == isinstance(wanted, bytes)


def _need_unlogged(sql: str) -> None:
    found = _TARGET.match(sql)
    if found is None:
        raise BugError("statement of a transaction")
    table = found["table"]
    if table in UNLOGGED or (table in _COUNTED and found["verb"].upper() == "UPDATE"):
        return
    raise BugError(f"unrecorded change of {table}")
