"""What changed here since the last bundle, or everything, as the lines of a bundle.

What is gone comes first, the last tables before the first; then what is there, table by table. Must not do: write a
row; decide when a bundle is written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from core.intake.sync.device import SyncState, read_devices
from core.intake.sync.records import BundleOrigin, NamedPlace, RowRecord, device_line
from core.intake.sync.registers import PLACE_COLUMNS, TABLES, RowPresence, RowStamps, SyncedTable, parse_key
from core.vault.database.rows import Rows, to_json

_AT_ONCE = 500
_COLUMNS = "SELECT name FROM pragma_table_info(?) ORDER BY cid"
_COUNT = "SELECT count(*) FROM sync_rows WHERE is_pending = 1"
_GONE = (
    "SELECT row_key, presence, born FROM sync_rows WHERE tbl = ? AND presence <> 1 AND is_pending >= ? ORDER BY row_key"
)
_THERE = (
    "SELECT row_key, born, stamps FROM sync_rows WHERE tbl = ? AND presence = 1 AND is_pending >= ? ORDER BY row_key"
)
# The head of a split text comes before its parts.
_MEMORIES = (
    "SELECT s.row_key, s.born, s.stamps FROM sync_rows s JOIN memories m ON m.id = s.row_key "
    "WHERE s.tbl = ? AND s.presence = 1 AND s.is_pending >= ? ORDER BY m.n"
)
_BY_KEY = {
    name: f"SELECT * FROM {name} WHERE {table.key[0]} IN (SELECT value FROM json_each(?))"  # noqa: S608 - fixed words
    for name, table in TABLES.items()
    if len(table.key) == 1
}
_BY_OCTETS = "SELECT * FROM fingerprints WHERE identity IN (SELECT unhex(value) FROM json_each(?))"
_BY_KEYS = {
    name: f"SELECT * FROM {name} WHERE " + " AND ".join(f"{column} = ?" for column in table.key)  # noqa: S608 - likewise
    for name, table in TABLES.items()
    if len(table.key) > 1
}
_NAMED = {
    "client_id": "SELECT id, name FROM clients",
    "space_id": "SELECT id, name FROM spaces",
}
_CLIENT = "SELECT trust_ceiling FROM clients WHERE id = ?"
_SPACE = "SELECT client_id FROM spaces WHERE id = ?"
_CONVERSATION = (
    "SELECT identity, title, space_id, client_id, started_at, recorded_at, extra FROM conversations WHERE id = ?"
)

Sink = Callable[[Mapping[str, Any]], None]


def count_pending(rows: Rows) -> int:
    """How many rows are in none of this device's bundles yet."""
    return int(rows.value(_COUNT))


class ChangeCollector:
    """Reads what goes into one bundle."""

    def __init__(self, rows: Rows, write: Sink) -> None:
        """Begin.

        Args:
            rows: the transaction, or a snapshot.
            write: takes each line.
        """
        self._rows, self._write = rows, write
        self._names = {column: {str(one): str(name) for one, name in rows.all(sql)} for column, sql in _NAMED.items()}
        self._conversations: dict[str, str] = {}
        self._told: set[tuple[str, str]] = set()
        self.count = 0

    def write_all(self, state: SyncState, *, is_whole: bool) -> int:
        """Write all lines.

        Args:
            is_whole: everything, and not only what is in no bundle yet.

        Returns:
            How many rows there were.
        """
        devices = read_devices(self._rows)
        self._write(BundleOrigin(state.clock, {one.id: (one.number, one.digest) for one in devices}).to_line())
        for device in devices:
            self._write(device_line(device))
        least = 0 if is_whole else 1
        for table in reversed(list(TABLES.values())):
            for key, presence, born in self._rows.all(_GONE, (table.name, least)):
                self._write_row(RowRecord(table, key, RowStamps(RowPresence(presence), born, {}), {}, {}))
        for table in TABLES.values():
            for record in self.read_records(table, least):
                self._write_row(record)
        return self.count

    def read_records(self, table: SyncedTable, least: int = 0) -> Iterator[RowRecord]:
        """The rows of a table that are there.

        Args:
            least: 1 for those that are in no bundle yet, 0 for all.
        """
        found = self._rows.all(_MEMORIES if table.name == "memories" else _THERE, (table.name, least))
        names = [str(row[0]) for row in self._rows.all(_COLUMNS, (table.name,))]
        for at in range(0, len(found), _AT_ONCE):
            some = found[at : at + _AT_ONCE]
            rows = self._rows_of(table, names, [str(key) for key, _, _ in some])
            for key, born, stamps in some:
                row = rows.get(str(key))
                if row is not None:
                    yield self._make_record(table, key, RowStamps(RowPresence.PRESENT, born, _parse(stamps)), row)

    def _rows_of(self, table: SyncedTable, names: Sequence[str], keys: Sequence[str]) -> dict[str, dict[str, Any]]:
        if len(table.key) > 1:
            found = {}
            for key in keys:
                parts = parse_key(table, key) or {}
                row = self._rows.one(_BY_KEYS[table.name], tuple(parts.values()))
                if row is not None:
                    found[key] = dict(zip(names, row, strict=True))
            return found
        sql = _BY_OCTETS if table.name == "fingerprints" else _BY_KEY[table.name]
        rows = [dict(zip(names, row, strict=True)) for row in self._rows.all(sql, (to_json(list(keys)),))]
        own = table.key[0]
        return {row[own].hex() if isinstance(row[own], bytes) else str(row[own]): row for row in rows}

    def _make_record(self, table: SyncedTable, key: str, stamps: RowStamps, row: Mapping[str, Any]) -> RowRecord:
        columns = {name: self._by_name(name, row[name]) for name in table.columns}
        return RowRecord(table, key, stamps, columns, {name: row[name] for name in table.sent})

    def _write_row(self, record: RowRecord) -> None:
        self._write(record.to_line())
        self.count += 1

    # ---- what rows refer to by name

    def _by_name(self, column: str, value: object) -> object:
        if value is None or column not in PLACE_COLUMNS:
            return value
        if column == "client_id":
            return self._name_client(str(value))
        return self._name_space(str(value)) if column == "space_id" else self._name_conversation(str(value))

    def _tell(self, place: NamedPlace) -> None:
        self._told.add((place.kind, place.name))
        self._write(place.to_line())

    def _name_client(self, client_id: str) -> str:
        name = self._names["client_id"][client_id]
        if ("client", name) not in self._told:
            fields = {"id": client_id, "trust_ceiling": self._rows.value(_CLIENT, (client_id,))}
            self._tell(NamedPlace("client", name, fields))
        return name

    def _name_space(self, space_id: str) -> str:
        name = self._names["space_id"][space_id]
        if ("space", name) not in self._told:
            client = self._rows.value(_SPACE, (space_id,))
            fields = {"id": space_id, "client": None if client is None else self._name_client(str(client))}
            self._tell(NamedPlace("space", name, fields))
        return name

    def _name_conversation(self, conversation_id: str) -> str:
        known = self._conversations.get(conversation_id)
        if known is not None:
            return known
        row = self._rows.one(_CONVERSATION, (conversation_id,)) or ("", None, "home", None, None, 0, "{}")
        identity, title, space, client, started_at, recorded_at, extra = row
        fields = {
            "id": conversation_id,
            "title": title,
            "space": self._name_space(str(space)),
            "client": None if client is None else self._name_client(str(client)),
            "started_at": started_at,
            "recorded_at": recorded_at,
            "extra": extra,
        }
        self._tell(NamedPlace("conversation", str(identity), fields))
        self._conversations[conversation_id] = str(identity)
        return str(identity)


def _parse(stamps: str) -> dict[str, str]:
    found: dict[str, str] = json.loads(stamps)
    return found
