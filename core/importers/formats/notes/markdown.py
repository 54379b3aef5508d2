"""Notes: an Obsidian vault, a folder of Markdown, or one text file. One note is one record, byte for byte.

Must not do: write into the vault, or take any text for a note that is not called one.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.importers.input.files import refused_file_error
from core.importers.input.source import Bundle
from core.importers.input.streams import is_binary, looks_like_json, read_head, read_head_text
from core.importers.notes.reader import NoteReader, NoteText, make_text_record, read_note_text
from core.importers.notes.survey import NOTE_ENDINGS, survey_notes, vault_root
from core.importers.records import Item, SkippedPart, UnreadablePart


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
        yield from _read_all_notes(bundle, reader)
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
                yield make_text_record(file.name, item, {"path": file.name, "title": file.path.stem})
            else:
                yield item


def _read_all_notes(bundle: Bundle, reader: NoteReader) -> Iterator[Item]:
    for file in bundle.files:
        item = reader.read(file)
        if item is not None:
            yield item
