"""What the rows of an archive meet in a vault: nothing, the same, a twin under another id, an older or a newer row.

Must not do: write; the same questions are asked for the preview and for the import.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from core.intake.archive.snapshot import read_columns
from core.intake.archive.tables import OCTET_KEYS, TEXT_KEYS, ArchivedTable
from core.intake.store.import_batch import ImportTally
from core.intake.transaction.sources import KINDS_BY_TEXT
from core.vault.database.rows import Rows, without_volatile_columns

Fields = Mapping[str, Any]

_STANDING = frozenset({"active", "disputed"})
_BY_TEXT = frozenset(kind.value for kind in KINDS_BY_TEXT)
_TWIN_MEMORY = (
    "SELECT id FROM memories WHERE content_hash = ? AND space_id = ? AND kind = ? AND scope_session = ? "
    "AND coalesce(part_index, 0) = ? AND status IN ('active', 'disputed') AND id <> ?"
)
_BY_TEXT_KEY = {
    name: f"SELECT * FROM {name} WHERE {column} IN (SELECT value FROM json_each(?))"  # noqa: S608 - fixed names
    for name, column in TEXT_KEYS.items()
}
_BY_OCTETS = {
    name: f"SELECT * FROM {name} WHERE {column} IN (SELECT unhex(value) FROM json_each(?))"  # noqa: S608 - fixed names
    for name, column in OCTET_KEYS.items()
}


class Meeting(StrEnum):
    """What became, or would become, of a row of an archive; the words are those of `resources/help/skips.json`."""

    NEW = "new"
    KNOWN = "known"
    TWIN = "duplicate_text"
    NEWER = "newer"
    DIFFERENT = "differs_here"
    ERASED = "erased"
    REFUSED = "not_accepted"


def compare_row(table: ArchivedTable, row: Fields, current: Fields, *, may_change: bool) -> Meeting:
    """What a row of an archive is to the row of the same key.

    Args:
        row: as it would stand here.
        may_change: whether a newer row of this archive may take its place.

    Returns:
        KNOWN, NEWER or DIFFERENT.
    """
    passed_over = {"n", *table.blank}
    ours = {name: value for name, value in current.items() if name in row and name not in passed_over}
    theirs = {name: row[name] for name in ours}
    if without_volatile_columns(table.name, theirs) == without_volatile_columns(table.name, ours):
        return Meeting.KNOWN
    is_newer = may_change and _changed_at(table, row) > _changed_at(table, current)
    return Meeting.NEWER if is_newer else Meeting.DIFFERENT


def _changed_at(table: ArchivedTable, row: Fields) -> int:
    return max((row[name] for name in table.times if isinstance(row.get(name), int)), default=0)


def find_twin(rows: Rows, table: str, row: Fields) -> str | None:
    """Something of the same content that stands under another id.

    Args:
        table: of the row.
        row: as it would stand here.

    Returns:
        The other id; None where there is none, and for what may be there twice.
    """
    find = _TWINS.get(table)
    return None if find is None else find(rows, row)


def _find_twin_memory(rows: Rows, row: Fields) -> str | None:
    if row["kind"] not in _BY_TEXT or row["status"] not in _STANDING:
        return None
    place = row["part_index"] or 0
    found = rows.value(
        _TWIN_MEMORY,
        (row["content_hash"], row["space_id"], row["kind"], row["scope_session"], place, row["id"]),
    )
    return None if found is None else str(found)


def _find_named(sql: str, *columns: str) -> Callable[[Rows, Fields], str | None]:
    def find(rows: Rows, row: Fields) -> str | None:
        found = rows.value(sql, tuple(row[name] for name in columns))
        return None if found is None else str(found)

    return find


_TWINS: Mapping[str, Callable[[Rows, Fields], str | None]] = {
    "clients": _find_named("SELECT id FROM clients WHERE name = ? AND id <> ?", "name", "id"),
    "spaces": _find_named("SELECT id FROM spaces WHERE name = ? AND id <> ?", "name", "id"),
    "conversations": _find_named("SELECT id FROM conversations WHERE identity = ? AND id <> ?", "identity", "id"),
    "entities": _find_named(
        "SELECT id FROM entities WHERE name = ? AND space_id = ? AND type = ? AND merged_into_id IS NULL AND id <> ? "
        "ORDER BY id",
        "name",
        "space_id",
        "type",
        "id",
    ),
    "memories": _find_twin_memory,
    "stored_files": _find_named("SELECT id FROM stored_files WHERE digest = ? AND id <> ?", "digest", "id"),
    "claims": _find_named(
        "SELECT id FROM claims WHERE space_id = ? AND claim_key = ? AND state IN ('asserted', 'disputed') AND id <> ?",
        "space_id",
        "claim_key",
        "id",
    ),
}


def read_rows_by_key(rows: Rows, table: str, keys: Sequence[object]) -> dict[object, dict[str, Any]]:
    """Rows as a table holds them.

    Args:
        table: one whose key is one column.
        keys: values of it; those of another kind than its own find nothing.

    Returns:
        Key to row, of those there are.
    """
    names = read_columns(rows, table)
    if table in OCTET_KEYS:
        column, sql = OCTET_KEYS[table], _BY_OCTETS[table]
        wanted = [key.hex() for key in keys if isinstance(key, bytes)]
    else:
        column, sql = TEXT_KEYS[table], _BY_TEXT_KEY[table]
        wanted = [key for key in keys if isinstance(key, str)]
    found = (dict(zip(names, row, strict=True)) for row in rows.all(sql, (json.dumps(wanted),)))
    return {row[column]: row for row in found}


_ROLES = {"user": "user", "assistant": "assistant"}


@dataclass
class ArchiveTally(ImportTally):
    """What an archive brought, or would bring. A long text in parts counts once.

    Attributes:
        updated: memories whose newer row took the place of an older one.
        sealed: of what is stored, those that are sealed and stay so.
        conversations, people, files: new ones.
        messages: new memories by role.
        earliest: of what is new, when it was said or happened, epoch ms; None where nobody knows.
    """

    updated: int = 0
    sealed: int = 0
    conversations: int = 0
    people: int = 0
    files: int = 0
    messages: Counter[str] = field(default_factory=Counter)
    earliest: int | None = None
    latest: int | None = None

    def count_row(self, table: str, row: Fields, meeting: Meeting) -> None:
        """Count a row: memories, sealed ones too, conversations, people and files; others are not counted."""
        if table == "conversations":
            self.conversations += meeting is Meeting.NEW
        elif table == "entities":
            self.people += meeting is Meeting.NEW and row["type"] == "person" and row["merged_into_id"] is None
        elif table == "files":
            self.files += meeting is Meeting.NEW
        elif table == "memories" and not row["part_index"]:
            self._count_memory(row, meeting)
        elif table == "sealed_memories":
            self._count_sealed(meeting)

    def _count_sealed(self, meeting: Meeting) -> None:
        if meeting is Meeting.NEWER:
            self.updated += 1
        elif meeting is not Meeting.NEW:
            self.skipped[meeting.value] += 1
        else:
            self.stored += 1
            self.sealed += 1

    def _count_memory(self, row: Fields, meeting: Meeting) -> None:
        if meeting is Meeting.NEWER:
            self.updated += 1
        elif meeting is not Meeting.NEW:
            self.skipped[meeting.value] += 1
        else:
            self.stored += 1
            self.proposals += row["status"] == "quarantined"
            self.messages[_ROLES.get(row["role"], "other")] += 1
            at = row["occurred_at"]
            if isinstance(at, int):
                self.earliest = at if self.earliest is None else min(self.earliest, at)
                self.latest = at if self.latest is None else max(self.latest, at)
