"""Files of memories and the texts that were read out of them, as rows and as frozen values.

A file belongs to the first part of a split text; asked for any part or version of a memory, its files are found. Must
not do: read a content (`core.memory.stored_files`), or judge who may see a memory.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.errors import Code, UserError
from core.types.files.attachments import AttachedFile, FileDescription, FileView, FileViewText, SourceRegion, ViewMethod
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

_COLUMNS = (
    "SELECT f.id, f.memory_id, f.name, f.media_type, s.size, s.digest, f.caption, f.pages, f.width, f.height, "
    "s.thumbnail IS NOT NULL, f.attached_at FROM files f JOIN stored_files s ON s.id = f.stored_id "
)
_HEADS = "SELECT coalesce(o.part_of, o.id) FROM memories m JOIN memories o ON o.chain_id = m.chain_id WHERE m.id = ?"
_OF_MEMORY = f"{_COLUMNS} WHERE f.memory_id IN ({_HEADS}) ORDER BY f.attached_at, f.id"
_COUNTS = (
    "SELECT w.value, count(DISTINCT f.id) FROM json_each(?) w JOIN memories m ON m.id = w.value "
    "JOIN memories o ON o.chain_id = m.chain_id JOIN files f ON f.memory_id = coalesce(o.part_of, o.id) "
    "GROUP BY w.value"
)
_VIEWS = "SELECT file_id, id, method, length(text), json_array_length(regions), is_cut FROM file_views WHERE file_id "
_SHORT_ID = 8
_OF = "IN (SELECT value FROM json_each(?)) ORDER BY rowid"


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of a view's text that lies in one part of a memory.

    Attributes:
        page: from 1; None where the file has no pages.
        start: in the view, in characters; `end` likewise.
        part: the place of the memory's part, from 0.
        at: where it begins in the text of that part.
    """

    page: int | None
    start: int
    end: int
    part: int
    at: int


@dataclass(frozen=True, slots=True)
class ViewDraft:
    """A view to be written.

    Attributes:
        text: what was read.
        regions: where its stretches are.
        is_cut: whether the file holds more.
    """

    method: ViewMethod
    text: str
    regions: tuple[Region, ...]
    is_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDraft(FileDescription):
    """A row of `files` to be, with its views."""

    id: str
    memory_id: str
    stored_id: str
    views: tuple[tuple[str, ViewDraft], ...] = field(default=())
    """Each with its id."""


def insert_file(tx: Tx, draft: FileDraft) -> None:
    """Write a file and its views; its memory and its content are there."""
    tx.insert(
        "files",
        {
            "id": draft.id,
            "memory_id": draft.memory_id,
            "stored_id": draft.stored_id,
            "name": draft.name,
            "media_type": draft.media_type,
            "caption": draft.caption,
            "pages": draft.pages,
            "width": draft.width,
            "height": draft.height,
            "attached_at": tx.now_ms,
        },
    )
    for view_id, view in draft.views:
        regions = [[one.page, one.start, one.end, one.part, one.at] for one in view.regions]
        tx.insert(
            "file_views",
            {
                "id": view_id,
                "file_id": draft.id,
                "memory_id": draft.memory_id,
                "method": view.method.value,
                "text": view.text,
                "regions": to_json(regions),
                "is_cut": int(view.is_cut),
                "made_at": tx.now_ms,
            },
        )


def find_attached(rows: Rows, digest: bytes, space_name: str, caption: str) -> AttachedFile | None:
    """A file of these bytes with this caption whose memory stands in a space, attached by the person.

    What another vault's archive says that it read of such bytes is that vault's word, and no reason not to read them.

    Args:
        digest: of the bytes.
        space_name: the space.
    """
    found = rows.value(
        "SELECT f.id FROM files f JOIN stored_files s ON s.id = f.stored_id JOIN memories m ON m.id = f.memory_id "
        "JOIN spaces p ON p.id = m.space_id WHERE s.digest = ? AND p.name = ? AND f.caption = ? "
        "AND m.status IN ('active', 'quarantined', 'disputed') AND json_extract(m.origin, '$.by') = 'file' "
        "ORDER BY f.attached_at LIMIT 1",
        (digest, space_name, caption),
    )
    return None if found is None else read_file(rows, str(found))


def read_file(rows: Rows, file_id: str) -> AttachedFile:
    """One file.

    Raises:
        UserError: NOT_FOUND.
    """
    row = rows.one(f"{_COLUMNS} WHERE f.id = ?", (file_id,))
    if row is None:
        raise UserError(Code.NOT_FOUND, "There is no such file.")
    return _files_from(rows, [row])[0]


def find_files(rows: Rows, typed: str) -> tuple[AttachedFile, ...]:
    """What a person means by an id, or the end of one: a file, or the files of a memory.

    Args:
        typed: of eight signs at least, where it is the end of an id.

    Raises:
        UserError: NOT_FOUND; INVALID_INPUT where several end so.
    """
    found = _ids_like(rows, "files", typed)
    if found:
        return (read_file(rows, found[0]),)
    memories = _ids_like(rows, "memories", typed)
    files = list_files(rows, memories[0]) if memories else ()
    if not files:
        raise UserError(Code.NOT_FOUND, "There is no such file, and no memory of that id has one.")
    return files


def _ids_like(rows: Rows, table: str, typed: str) -> list[str]:
    exact = rows.value(f"SELECT id FROM {table} WHERE id = ?", (typed,))  # noqa: S608 - a table's name
    if exact is not None:
        return [str(exact)]
    if len(typed) < _SHORT_ID or not typed.replace("-", "").isalnum():
        return []
    found = [str(row[0]) for row in rows.all(f"SELECT id FROM {table} WHERE id GLOB ? LIMIT 2", (f"*{typed}",))]  # noqa: S608 - likewise
    if len(found) > 1:
        raise UserError(Code.INVALID_INPUT, "Several ids end like that; give more of it.")
    return found


def list_files(rows: Rows, memory_id: str) -> tuple[AttachedFile, ...]:
    """The files of a memory, with those of its other parts and versions, oldest first."""
    return _files_from(rows, rows.all(_OF_MEMORY, (memory_id,)))


def count_files(rows: Rows, memory_ids: Sequence[str]) -> dict[str, int]:
    """How many files memories have; those without any are left out."""
    return {str(one): int(count) for one, count in rows.all(_COUNTS, (to_json(list(memory_ids)),))}


def stored_id_of(rows: Rows, file_id: str) -> str:
    """The content of a file.

    Raises:
        UserError: NOT_FOUND.
    """
    found = rows.value("SELECT stored_id FROM files WHERE id = ?", (file_id,))
    if found is None:
        raise UserError(Code.NOT_FOUND, "There is no such file.")
    return str(found)


def read_thumbnail(rows: Rows, file_id: str) -> bytes | None:
    """The small picture of a file, PNG; None where there is none.

    Raises:
        UserError: NOT_FOUND.
    """
    found = rows.value("SELECT thumbnail FROM stored_files WHERE id = ?", (stored_id_of(rows, file_id),))
    return None if found is None else bytes(found)


def read_views(rows: Rows, file_id: str) -> tuple[FileViewText, ...]:
    """What was read out of a file.

    Raises:
        UserError: NOT_FOUND.
    """
    views = {view.id: view for view in read_file(rows, file_id).views}
    found = rows.all("SELECT id, text, regions FROM file_views WHERE file_id = ? ORDER BY rowid", (file_id,))
    return tuple(FileViewText(views[str(one)], str(text), _pages_of(str(regions))) for one, text, regions in found)


def _pages_of(regions: str) -> tuple[tuple[int | None, int, int], ...]:
    """The stretches of a view, those that two parts of a memory share joined again."""
    pages: list[tuple[int | None, int, int]] = []
    for page, start, end, *_ in json.loads(regions):
        if pages and pages[-1][0] == page and pages[-1][2] == start:
            pages[-1] = (page, pages[-1][1], end)
        else:
            pages.append((page, start, end))
    return tuple(pages)


def list_regions(rows: Rows, memory_id: str) -> tuple[SourceRegion, ...]:
    """The places in files that a memory's own text is from, in the order of the text."""
    row = rows.one("SELECT coalesce(part_of, id), coalesce(part_index, 0) FROM memories WHERE id = ?", (memory_id,))
    if row is None:
        return ()
    found = rows.all(
        "SELECT v.file_id, v.id, v.method, v.regions FROM files f JOIN file_views v ON v.file_id = f.id "
        "WHERE f.memory_id = ?",
        (row[0],),
    )
    regions = [
        SourceRegion(str(file), str(view), ViewMethod(method), page, memory_id, at, at + end - start, start)
        for file, view, method, stored in found
        for page, start, end, part, at in json.loads(stored)
        if part == row[1]
    ]
    return tuple(sorted(regions, key=lambda one: (one.start, one.end)))


def _files_from(rows: Rows, found: Sequence[tuple[Any, ...]]) -> tuple[AttachedFile, ...]:
    views = _views_of(rows, [str(row[0]) for row in found])
    return tuple(
        AttachedFile(
            id=str(row[0]),
            memory_id=str(row[1]),
            name=str(row[2]),
            media_type=str(row[3]),
            size=int(row[4]),
            digest=bytes(row[5]).hex(),
            caption=str(row[6]),
            pages=row[7],
            width=row[8],
            height=row[9],
            has_thumbnail=bool(row[10]),
            attached_at=int(row[11]),
            views=tuple(views.get(str(row[0]), ())),
        )
        for row in found
    )


def _views_of(rows: Rows, file_ids: Sequence[str]) -> Mapping[str, list[FileView]]:
    views: dict[str, list[FileView]] = {}
    for file_id, view, method, characters, regions, is_cut in rows.all(_VIEWS + _OF, (to_json(list(file_ids)),)):
        made = FileView(str(view), ViewMethod(method), int(characters), int(regions), bool(is_cut))
        views.setdefault(str(file_id), []).append(made)
    return views
