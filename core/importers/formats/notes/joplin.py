"""Joplin's raw export: a folder of Markdown files, each ended by a block of fields that says what it is.

Must not do: take the block for somebody's words, or store folders, tags and settings as notes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from core.importers.document import Document
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import read_whole_text, visible_files
from core.importers.records import Item, SkippedPart
from core.text.times import parse_time

_FORMAT = "joplin"
_NAME = re.compile(r"(?:.*/)?[0-9a-f]{32}\.md$")
_FIELD = re.compile(r"([a-z_0-9]{2,40}): ?(.*)$")
_MOST = 64 << 20
_NOTE, _FOLDER, _TAG, _NOTE_TAG = "1", "2", "5", "6"


class JoplinImporter:
    """Reads the folder, or a zip of it."""

    @property
    def format(self) -> str:
        """`joplin`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether files that are called by an id end with a block that has `id` and `type_`."""
        return any("type_" in _read_item(file).fields for file in _item_files(bundle)[:5])

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the notes in order of their files; see `records.Importer`."""
        files = _item_files(bundle)
        names = _read_names(files)
        for file in files:
            item = _read_item(file)
            if item.fields.get("type_") == _NOTE:
                yield _make_item(file, item, names)
        if len(bundle.files) > len(files):
            yield SkippedPart("media_files", bundle.label, len(bundle.files) - len(files))


def _item_files(bundle: Bundle) -> list[SourceFile]:
    return [file for file in visible_files(bundle) if _NAME.match(file.name) and file.size <= _MOST]


@dataclass(frozen=True, slots=True)
class _JoplinItem:
    """One file: its title, its words, and its fields."""

    title: str
    body: str
    fields: Mapping[str, str]
    flags: frozenset[str] = frozenset()


def _read_item(file: SourceFile) -> _JoplinItem:
    text, flags = read_whole_text(file, _MOST)
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    fields: dict[str, str] = {}
    while lines and (found := _FIELD.match(lines[-1])) is not None:
        fields[found[1]] = found[2]
        lines.pop()
    if "id" not in fields or "type_" not in fields:
        return _JoplinItem("", text, {}, flags)
    title = lines.pop(0) if lines and fields["type_"] in (_NOTE, _FOLDER, _TAG) else ""
    return _JoplinItem(title, "\n".join(lines).strip("\n"), fields, flags)


@dataclass(slots=True)
class _Names:
    """What notebooks and tags are called, and which notes have which tags."""

    titles: dict[str, str] = field(default_factory=dict)
    tags: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def _read_names(files: list[SourceFile]) -> _Names:
    names = _Names()
    for file in files:
        item = _read_item(file)
        kind = item.fields.get("type_")
        if kind in (_FOLDER, _TAG):
            names.titles[item.fields["id"]] = item.title
        elif kind == _NOTE_TAG:
            names.tags[item.fields.get("note_id", "")].append(item.fields.get("tag_id", ""))
    return names


def _make_item(file: SourceFile, item: _JoplinItem, names: _Names) -> Item:
    fields = item.fields
    if fields.get("deleted_time", "0") not in ("", "0"):
        return SkippedPart("trash", file.name)
    occurred = parse_time(fields.get("user_created_time") or fields.get("created_time"))
    is_task = fields.get("is_todo") == "1"
    return Document(
        form=_FORMAT,
        text=item.body,
        where=file.name,
        key=fields["id"],
        title=item.title or None,
        occurred=occurred,
        author=fields.get("author") or None,
        tags=[names.titles.get(tag, "") for tag in names.tags.get(fields["id"], [])],
        facts={
            "notebook": names.titles.get(fields.get("parent_id", "")),
            "edited": fields.get("user_updated_time") or fields.get("updated_time"),
            "source_url": fields.get("source_url"),
            "task": ("done" if fields.get("todo_completed", "0") not in ("", "0") else "open") if is_task else None,
        },
        flags=item.flags if occurred else {*item.flags, "time_unreadable"},
    ).to_item()
