"""Notes: an Obsidian vault, a folder of Markdown, or one text file. One note is one record, byte for byte.

One file that is a list may come in line by line instead, where the person says so.

Must not do: write into the vault, or take any text for a note that is not called one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from core.importers.input.files import refused_file_error
from core.importers.input.source import Bundle
from core.importers.input.streams import is_binary, looks_like_json, read_head, read_head_text
from core.importers.notes.lines import list_line_identities, make_line_records, read_list_lines
from core.importers.notes.reader import NoteReader, NoteText, make_text_record, read_note_text
from core.importers.notes.survey import NOTE_ENDINGS, survey_notes, vault_root
from core.importers.records import Item, Record, SkippedPart, UnreadablePart
from core.types.values import LINES

_MAY_BE_LISTS = frozenset({"markdown", "text", LINES})


class ObsidianImporter:
    """Reads a vault: a folder or zip with `.obsidian/` in it."""

    @property
    def format(self) -> str:
        """`obsidian`."""
        return "obsidian"

    def detects(self, bundle: Bundle) -> bool:
        """Whether there is a folder `.obsidian` with a file in it."""
        return vault_root(bundle) is not None

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield notes and boards in order of their paths; attachments are counted by `survey_notes` alone."""
        yield from _read_all_notes(bundle, NoteReader(bundle))


class MarkdownImporter:
    """Reads a folder or zip of Markdown and text files, or one Markdown file."""

    @property
    def format(self) -> str:
        """`markdown`."""
        return "markdown"

    def detects(self, bundle: Bundle) -> bool:
        """Whether there are notes; one file alone must be called one, as its words cannot tell it from any text."""
        if bundle.kind == "file":
            return all(
                f.size and f.name.lower().endswith(NOTE_ENDINGS) and not is_binary(read_head(f)) for f in bundle.files
            )
        return bool(survey_notes(bundle).notes)

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield notes in order of their paths; other files are skipped as `not_a_note`."""
        reader = NoteReader(bundle)
        for item in _read_all_notes(bundle, reader):
            yield _with_its_lines(bundle, item) if isinstance(item, Record) else item
        for path in reader.survey.attachments:
            yield SkippedPart("not_a_note", path)


class TextImporter:
    """Reads one file that is text and nothing else that is known."""

    @property
    def format(self) -> str:
        """`text`."""
        return "text"

    def detects(self, bundle: Bundle) -> bool:
        """Whether it is one file of text that is not JSON."""
        if bundle.kind != "file" or len(bundle.files) != 1 or not bundle.files[0].size:
            return False
        file = bundle.files[0]
        return not is_binary(read_head(file)) and not looks_like_json(read_head_text(file))

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield one record for each file.

        Raises:
            UserError: IMPORT_REFUSED where a single file is no text.
        """
        for file in bundle.files:
            item = read_note_text(file, file.name)
            if isinstance(item, UnreadablePart) and bundle.kind == "file":
                raise refused_file_error(file.name, item.message)
            if isinstance(item, NoteText):
                record = make_text_record(file.name, item, {"path": file.name, "title": file.path.stem})
                yield _with_its_lines(bundle, record)
            else:
                yield item


class LinesImporter:
    """Reads one text or Markdown file that is a list: each line a memory of its own. It is never detected."""

    @property
    def format(self) -> str:
        """`lines`."""
        return LINES

    def detects(self, bundle: Bundle) -> bool:  # noqa: ARG002 - the protocol's
        """Never: a file is one memory unless the person says otherwise."""
        return False

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield one record for each line.

        Raises:
            UserError: IMPORT_REFUSED for a folder or an archive, and for a file that is no list of short lines.
        """
        if bundle.kind != "file":
            raise refused_file_error(bundle.label, "is no single file, and only one file can come in line by line")
        whole = _read_single_note(bundle)
        if not isinstance(whole, Record):
            if isinstance(whole, UnreadablePart):
                raise refused_file_error(bundle.label, whole.message)
            yield whole
            return
        if not read_list_lines(whole.text):
            raise refused_file_error(bundle.label, "is no list of short lines, so it can only come in as one memory")
        yield from make_line_records(whole)


def count_list_lines(bundle: Bundle, form: str) -> int:
    """How many memories a file would be line by line; 0 where it is no list, or no single text or Markdown file.

    Args:
        form: the format that it is read as.
    """
    if form not in _MAY_BE_LISTS or bundle.kind != "file" or len(bundle.files) != 1:
        return 0
    whole = _read_single_note(bundle)
    return len(list_line_identities(whole)) if isinstance(whole, Record) else 0


def _read_single_note(bundle: Bundle) -> Item:
    """The one file of a bundle as the note that it is by its name: Markdown has tags, plain text has none."""
    importer = MarkdownImporter() if MarkdownImporter().detects(bundle) else TextImporter()
    return next(importer.read(bundle))


def _with_its_lines(bundle: Bundle, record: Record) -> Record:
    """The record of a file, known also where all its lines came in one by one."""
    return replace(record, same_as=list_line_identities(record)) if bundle.kind == "file" else record


def _read_all_notes(bundle: Bundle, reader: NoteReader) -> Iterator[Item]:
    for file in bundle.files:
        item = reader.read(file)
        if item is not None:
            yield item
