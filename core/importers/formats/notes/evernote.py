"""Evernote's export, ENEX: XML with each note's page inside as XML of its own.

What is attached stands there too, as text of the document; it is passed over. Must not do: keep a picture's bytes, or
read text that Evernote recognised in one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from core.importers.document import Document
from core.importers.html_text import LONGEST, read_html_words
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import read_head_text, visible_files
from core.importers.input.xml_stream import iter_xml
from core.importers.records import Item, SkippedPart
from core.text.times import format_time, parse_time

_FORMAT = "evernote"
_ROOT = re.compile(r"<en-export[\s>]")
_BOX = re.compile(r"<en-todo([^<>]{0,200}?)/?>(?:</en-todo>)?", re.IGNORECASE)
_FIELDS: dict[tuple[str, ...], str] = {
    ("note", "title"): "title",
    ("note", "created"): "created",
    ("note", "updated"): "updated",
    ("note", "content"): "content",
    ("note", "tag"): "tag",
    ("note-attributes", "author"): "author",
    ("note-attributes", "source-url"): "source_url",
    ("note-attributes", "reminder-time"): "reminder",
    ("resource-attributes", "file-name"): "file",
    ("resource", "mime"): "mime",
}
_LISTS = frozenset({"tag", "file"})
_BASIC = re.compile(r"(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z")


class EvernoteImporter:
    """Reads ENEX files."""

    @property
    def format(self) -> str:
        """`evernote`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a file's head has the root of an export."""
        return any(_is_export(file) for file in visible_files(bundle)[:50])

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the notes file by file; see `records.Importer`."""
        files = [file for file in visible_files(bundle) if bundle.kind == "file" or _is_export(file)]
        for file in files:
            yield from _read_export(file)
        if len(bundle.files) > len(files):
            yield SkippedPart("media_files", bundle.label, len(bundle.files) - len(files))


def _is_export(file: SourceFile) -> bool:
    return _ROOT.search(read_head_text(file, 2_048)) is not None


@dataclass(slots=True)
class _Note:
    """What was read of a note so far."""

    values: dict[str, list[str]] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)

    def add_text(self, name: str, text: str) -> None:
        """Take a piece of a field, as far as it is no longer than any words are."""
        pieces = self.values.setdefault(name, [])
        if len(pieces) < 4_096:
            pieces.append(text)

    def end_field(self, name: str) -> None:
        """Take the end of a field of which there are several."""
        if name in _LISTS:
            self.lists.setdefault(name, []).append("".join(self.values.pop(name, [])))

    def value(self, name: str) -> str:
        return "".join(self.values.get(name, []))


def _read_export(file: SourceFile) -> Iterator[Item]:
    note, number = _Note(), 0
    for event in iter_xml(file):
        name = _FIELDS.get(event.path[-2:])
        if event.kind == "text" and name:
            note.add_text(name, event.text)
        elif event.kind == "close" and name:
            note.end_field(name)
        elif event.kind == "close" and event.path[-1] == "note":
            number += 1
            yield _make_item(note, f"{file.name}:{number}")
            note = _Note()


def _make_item(note: _Note, where: str) -> Item:
    created, updated = (
        parse_time(_BASIC.sub(r"\1-\2-\3T\4:\5:\6Z", note.value(one))) for one in ("created", "updated")
    )
    page = _BOX.sub(lambda found: "[x] " if "true" in found[1] else "[ ] ", note.value("content")[:LONGEST])
    return Document(
        form=_FORMAT,
        text=read_html_words(page),
        where=where,
        title=note.value("title").strip() or None,
        occurred=created or updated,
        author=note.value("author").strip() or None,
        tags=[tag.strip() for tag in note.lists.get("tag", [])],
        attachments=note.lists.get("file", []) or (["file"] if note.value("mime") else []),
        facts={
            "edited": format_time(updated) if updated and updated != created else None,
            "source_url": note.value("source_url"),
        },
        flags=() if created or updated else ("time_unreadable",),
    ).to_item()
