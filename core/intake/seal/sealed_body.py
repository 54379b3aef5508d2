"""What is sealed of a memory: its rows and versions, and what cannot be made anew from its text.

Terms, tiers, vectors, claims and mentions are made anew when it is put back; sources, counts, places and the person's
own relations are not, so they are kept. A row of which something else is gone by then comes back without that, or not
at all where it cannot do without. Must not do: encrypt, or remove a row.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.memory.stored_files import StoredContent, is_whole, read_content, require_content, seal_content, store_content
from core.memory.write import refresh_terms, reserve_labels
from core.vault.database.rows import Rows, image_from_json, image_to_json, to_json
from core.vault.database.tx import Tx

_VERSION = 1
_OF = "IN (SELECT value FROM json_each(?))"
_POINTERS = ("supersedes_id", "superseded_by_id", "consolidated_into")
_KEPT: Mapping[str, tuple[str, ...]] = {
    "memory_sources": ("memory_id",),
    "fingerprints": ("memory_id",),
    "episodes": ("memory_id",),
    "rules": ("memory_id",),
    "rule_applications": ("memory_id",),
    "procedures": ("memory_id",),
    "verdicts": ("memory_id",),
    "places": ("memory_id",),
    "unset_landmarks": ("memory_id",),
    "edges": ("from_id", "to_id"),
    "files": ("memory_id",),
    "file_views": ("memory_id",),
}
"""Tables whose rows are kept, and the columns that name a memory, in the order in which they are written again."""


_CONTENTS = "stored_files"


@dataclass(frozen=True, slots=True)
class SealedBody:
    """The rows of one sealed memory, plain.

    Attributes:
        head: the memory's id.
        memories: rows of `memories`: the memory, its parts, its versions, and what lies beneath them.
        kept: table to rows.
        made: texts that were made of it and went with it.
    """

    head: str
    memories: tuple[Mapping[str, Any], ...]
    kept: Mapping[str, tuple[Mapping[str, Any], ...]]
    made: tuple[str, ...]

    def to_text(self) -> str:
        """What is encrypted; `from_text` reads it."""
        return json.dumps(
            {
                "v": _VERSION,
                "head": self.head,
                "memories": [image_to_json(row) for row in self.memories],
                "kept": {table: [image_to_json(row) for row in rows] for table, rows in self.kept.items()},
                "made": list(self.made),
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_text(cls, text: str) -> SealedBody:
        """Read what `to_text` wrote.

        Raises:
            ValueError: it is of a later version.
        """
        found = json.loads(text)
        if found["v"] != _VERSION:
            raise ValueError("version of a sealed body")
        return cls(
            head=found["head"],
            memories=tuple(image_from_json(row) for row in found["memories"]),
            kept={table: tuple(image_from_json(row) for row in rows) for table, rows in found["kept"].items()},
            made=tuple(found["made"]),
        )

    @property
    def text(self) -> str:
        """The memory's whole text."""
        own = [row for row in self.memories if row["id"] == self.head or row["part_of"] == self.head]
        return "".join(str(row["text"]) for row in sorted(own, key=lambda row: row["part_index"] or 0))

    @property
    def contents(self) -> tuple[str, ...]:
        """Ids of the contents of its files."""
        return tuple(str(row["id"]) for row in self.kept.get(_CONTENTS, ()))

    @property
    def row(self) -> Mapping[str, Any]:
        """The memory's own row."""
        return next(row for row in self.memories if row["id"] == self.head)


def read_body(rows: Rows, head: str, ids: Collection[str], made: Collection[str]) -> SealedBody:
    """The body of a memory that is about to be sealed.

    Args:
        head: the memory's id.
        ids: of everything that is kept with it.
        made: ids of texts that go with it and are not restored.
    """
    wanted = to_json(sorted(ids))
    kept = {
        table: _select_rows(rows, table, " OR ".join(f"{column} {_OF}" for column in columns), (wanted,) * len(columns))
        for table, columns in _KEPT.items()
    }
    # With the keys of their contents: outside this body nothing opens those any more.
    held = f"id IN (SELECT stored_id FROM files WHERE memory_id {_OF})"  # noqa: S608 - constant
    kept[_CONTENTS] = _select_rows(rows, _CONTENTS, held, (wanted,))
    texts = rows.all(f"SELECT text FROM memories WHERE id {_OF} ORDER BY n", (to_json(sorted(made)),))  # noqa: S608
    return SealedBody(
        head, _select_rows(rows, "memories", f"id {_OF}", (wanted,)), kept, tuple(str(text) for (text,) in texts)
    )


def _select_rows(rows: Rows, table: str, where: str, params: Sequence[object]) -> tuple[dict[str, Any], ...]:
    columns = [*_columns_of(rows, table)]
    named = ", ".join(f'"{name}"' for name in columns)
    found = rows.all(f'SELECT {named} FROM "{table}" WHERE {where} ORDER BY rowid', tuple(params))  # noqa: S608 - constants
    return tuple(dict(zip(columns, row, strict=True)) for row in found)


def _columns_of(rows: Rows, table: str) -> dict[str, bool]:
    """The columns of a table, and which cannot be empty."""
    found = rows.all('SELECT name, "notnull" FROM pragma_table_info(?) ORDER BY cid', (table,))
    return {str(name): bool(needed) for name, needed in found}


def write_body(tx: Tx, body: SealedBody) -> list[str]:
    """Write the rows of a body where they were.

    Returns:
        The ids of the memories that are there again, heads before parts; their vectors are to be made.
    """
    present = {str(row["id"]) for row in body.memories}
    first = reserve_labels(tx, len(body.memories))
    written = sorted(body.memories, key=lambda row: (row["part_of"] is not None, row["n"]))
    for place, row in enumerate(written):
        fresh = _fit_references(tx, "memories", {**row, "n": first + place, "read_at": None}, present)
        if fresh is not None:
            tx.insert("memories", {**fresh, **dict.fromkeys(_POINTERS)})
    for row in written:
        pointers = {name: row[name] for name in _POINTERS if row[name] is not None and _is_there(tx, row[name])}
        if pointers:
            tx.update("memories", {"id": row["id"]}, pointers)
    contents = _write_contents(tx, body)
    for table in _KEPT:
        for row in body.kept.get(table, ()):
            if table == "files":
                row = {**row, "stored_id": contents.get(str(row["stored_id"]), row["stored_id"])}
            fresh = _fit_references(tx, table, row, frozenset())
            if fresh is not None:
                tx.insert(table, fresh)
    ids = [str(row["id"]) for row in written]
    refresh_terms(tx, ids)
    return ids


def _write_contents(tx: Tx, body: SealedBody) -> dict[str, str]:
    """Write the rows of contents again; one whose bytes were attached anew meanwhile is that other one.

    Where the other one is not what its digest says, as of a stranger's archive, it becomes what was sealed.

    Returns:
        The ids of those others, by the ids in the body.
    """
    others: dict[str, str] = {}
    for row in body.kept.get(_CONTENTS, ()):
        known = tx.value("SELECT id FROM stored_files WHERE digest = ?", (row["digest"],))
        if known is None:
            tx.insert(_CONTENTS, row)
        elif known != row["id"]:
            others[str(row["id"])] = str(known)
            own = StoredContent(str(row["id"]), bytes(row["digest"]), int(row["size"]), bytes(row["key"]))
            if not is_whole(tx, require_content(tx, str(known))) and is_whole(tx, own):
                store_content(tx, seal_content(str(known), b"".join(read_content(tx, own))), row["thumbnail"])
    return others


def _is_there(rows: Rows, memory_id: object) -> bool:
    return rows.one("SELECT 1 FROM memories WHERE id = ?", (memory_id,)) is not None


def _fit_references(tx: Tx, table: str, row: Mapping[str, Any], coming: Collection[str]) -> dict[str, Any] | None:
    """A row without what it referred to and is gone.

    Args:
        coming: ids of memories that are written with it.

    Returns:
        None where it cannot be without that.
    """
    columns = _columns_of(tx, table)
    fresh = {name: value for name, value in row.items() if name in columns}
    for target, column in tx.all('SELECT "table", "from" FROM pragma_foreign_key_list(?)', (table,)):
        value = fresh.get(column)
        if value is None or value in coming or tx.one(f'SELECT 1 FROM "{target}" WHERE id = ?', (value,)):  # noqa: S608 - names of the schema
            continue
        if columns[column]:
            return None
        fresh[column] = None
    return fresh
