"""Google Keep as Takeout has it: one JSON file a note. The HTML beside each says the same.

Must not do: bring back what is in the trash, or open what is attached.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.importers.conversation import MOST_SNIFFED, as_list, as_mapping, as_text, json_files
from core.importers.document import Document
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import head_keys, read_json
from core.importers.records import Item, SkippedPart
from core.text.times import format_time, parse_time

_FORMAT = "keep"
_MARKS = frozenset({"isTrashed", "isPinned", "isArchived", "userEditedTimestampUsec"})
_MOST = 16 << 20


class KeepImporter:
    """Reads notes of Keep."""

    @property
    def format(self) -> str:
        """`keep`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a JSON file's head shows a note with Keep's marks."""
        return any(_is_note(file) for file in json_files(bundle)[:MOST_SNIFFED])

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the notes in order of their files; see `records.Importer`."""
        notes = [file for file in json_files(bundle) if bundle.kind == "file" or _is_note(file)]
        for file in notes:
            yield _read_note(file)
        if len(bundle.files) > len(notes):
            yield SkippedPart("media_files", bundle.label, len(bundle.files) - len(notes))


def _is_note(file: SourceFile) -> bool:
    return head_keys(file).get("", frozenset()) >= _MARKS


def _read_note(file: SourceFile) -> Item:
    parsed = read_json(file, _MOST)
    note = as_mapping(parsed.value)
    if note.get("isTrashed") is True:
        return SkippedPart("trash", file.name)
    edited = parse_time(note.get("userEditedTimestampUsec"))
    created = parse_time(note.get("createdTimestampUsec"))
    links = [as_text(as_mapping(one).get("url")) for one in as_list(note.get("annotations"))]
    return Document(
        form=_FORMAT,
        text=_read_text(note),
        where=file.name,
        title=as_text(note.get("title")),
        occurred=created or edited,
        tags=[name for one in as_list(note.get("labels")) if (name := as_text(as_mapping(one).get("name")))],
        attachments=[as_text(as_mapping(one).get("filePath")) or "file" for one in as_list(note.get("attachments"))],
        facts={
            "edited": format_time(edited) if edited and edited != created else None,
            "archived": note.get("isArchived") is True,
            "pinned": note.get("isPinned") is True,
            "links": [link for link in links if link],
        },
        flags=parsed.flags,
    ).to_item()


def _read_text(note: Mapping[str, Any]) -> str:
    """A note's text, or its list, a line each with a box."""
    entries = [as_mapping(one) for one in as_list(note.get("listContent"))]
    lines = [f"- [{'x' if one.get('isChecked') is True else ' '}] {as_text(one.get('text')) or ''}" for one in entries]
    return "\n".join([text for text in (as_text(note.get("textContent")),) if text] + lines)
