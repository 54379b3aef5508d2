"""Single notes and boards of a folder as records: one note is one record, byte for byte.

Links and tags are read from the text, and links resolved to the notes they mean. Must not do: change a character, or
mint categories from checkboxes and clock times.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, replace
from typing import Any

from core.importers.front_matter import FrontMatter, read_front_matter
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import is_binary, read_head, read_whole_text
from core.importers.notes.board import canvas_record
from core.importers.notes.dates import dated_sections, named_date, written_date
from core.importers.notes.links import NoteIndex, link_rows, links_in
from core.importers.notes.survey import MAX_NOTE, relative_name, survey_notes
from core.importers.notes.tags import is_tag, tags_in, unique_tags
from core.importers.records import Item, Record, SkippedPart, UnreadablePart
from core.importers.rows import text_digest
from core.text.markdown import blank_code
from core.types.values import Role, Source

_AUTHOR = ("author", "authors", "by")
_NOBODY = "source"


@dataclass(frozen=True, slots=True)
class NoteText:
    """A note's text as decoded, with the marks of its reading."""

    text: str
    flags: frozenset[str]


class NoteReader:
    """Reads single notes and boards of a vault or folder, knowing all files that their links can mean."""

    def __init__(self, bundle: Bundle) -> None:
        """Survey the folder.

        Args:
            bundle: all of it; of most files no more than the name is looked at.
        """
        self.survey = survey_notes(bundle)
        found = self.survey
        self._index = NoteIndex((*found.notes, *found.canvases, *found.attachments))
        self._reasons = {path: reason for reason, path in found.skipped}
        self._notes, self._canvases = frozenset(found.notes), frozenset(found.canvases)

    def read(self, file: SourceFile) -> Item | None:
        """Read one file of the folder.

        Returns:
            Its record, or why it is left out; None for an attachment.
        """
        path = relative_name(file, self.survey.root)
        if path in self._reasons:
            return SkippedPart(self._reasons[path], path)
        if path in self._notes:
            item = read_note_text(file, path)
            return _make_note_record(path, item, self._index) if isinstance(item, NoteText) else item
        if path in self._canvases:
            item = read_note_text(file, path)
            board = canvas_record(path, item.text, self._index, item.flags) if isinstance(item, NoteText) else item
            return replace(board, occurred=named_date(path)) if isinstance(board, Record) else board
        return None


def read_note_text(file: SourceFile, path: str) -> NoteText | SkippedPart | UnreadablePart:
    """Read a file as the text of a note.

    Args:
        file: any file of a bundle.
        path: its path, for messages.

    Returns:
        The text; the skip `empty_file` for one without words; what is wrong with one that is too long or no text.
    """
    if file.size > MAX_NOTE:
        return UnreadablePart(path, f"is longer than {MAX_NOTE >> 20} MiB, too long for one note", "too_large")
    start = read_head(file)
    if not start:
        return SkippedPart("empty_file", path)
    if is_binary(start):
        return UnreadablePart(path, "is no text", "not_text")
    text, flags = read_whole_text(file)
    if not text.strip():
        return SkippedPart("empty_file", path)
    # The mark is one of the file's bytes, and a note is kept byte for byte.
    return NoteText("\ufeff" + text if start.startswith(codecs.BOM_UTF8) else text, flags)


def _make_note_record(path: str, item: NoteText, index: NoteIndex) -> Record:
    front = read_front_matter(item.text)
    body = blank_code(item.text[front.body_at :])
    tags = unique_tags([*_front_tags(front), *tags_in(body)])
    links = [link for text in front.list_texts() for link in links_in(text) if not link.markdown]
    occurred, sections = dated_sections(front, body, path)
    extra: dict[str, Any] = {
        "path": path,
        "title": front.first_value("title") or _stem_of(path),
        "aliases": front.read_list("aliases", "alias"),
        "tags": list(tags),
        "links": link_rows([*links, *links_in(body)], index, path),
        "front_matter": dict(front.values),
    }
    record = make_text_record(path, item, extra, tags, front)
    return replace(record, occurred=occurred, sections=sections)


def _stem_of(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0] or path


def _front_tags(front: FrontMatter) -> list[str]:
    tags = (tag.lstrip("#").strip("/") for tag in front.read_list("tags", "tag", spaces=True))
    return [tag for tag in tags if is_tag(tag)]


def make_text_record(
    path: str, item: NoteText, extra: dict[str, Any], tags: tuple[str, ...] = (), front: FrontMatter | None = None
) -> Record:
    """Make the record of a text.

    Args:
        path: where it lies; it is part of what the note is known by.
        item: its text.
        extra: facts to keep with it.
        tags: what it is filed under.
        front: its front matter, where it may have one.
    """
    front = front or FrontMatter()
    written, unreadable = written_date(front)
    flags = set(item.flags)
    if front.broken:
        flags.add("front_matter_broken")
    if unreadable:
        flags.add("time_unreadable")
    return Record(
        identity=f"note:{path}:{text_digest(item.text)}",
        text=item.text,
        where=path,
        role=Role.SOURCE,
        source=Source.DOCUMENT,
        author=front.first_value(*_AUTHOR) or _NOBODY,
        occurred=written or named_date(path),
        tags=tags,
        flags=tuple(sorted(flags)),
        extra=extra,
    )
