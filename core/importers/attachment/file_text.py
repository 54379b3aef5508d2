"""What one file is, by its content, and the words in it: the importers of documents read them, page by page.

A file that cannot be read is attached all the same, and it is said what was not read. Must not do: raise for what a
file holds, or read a format by itself.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, field
from typing import BinaryIO

from core.errors import UserError
from core.importers.dry_run import import_items
from core.importers.formats.documents.pdf import LOCKED, PICTURES, PdfImporter
from core.importers.formats.documents.web_page import WebPageImporter
from core.importers.formats.documents.word import WordImporter
from core.importers.formats.notes.markdown import TextImporter
from core.importers.formats.pictures.picture import Picture, read_picture
from core.importers.formats.pictures.picture_words import is_picture
from core.importers.input.archive import SourceFile, list_archive
from core.importers.input.files import looks_like_zip
from core.importers.input.source import Bundle
from core.importers.input.streams import is_binary, read_head, read_head_text
from core.importers.records import Importer, Record, SkippedPart, UnreadablePart
from core.types.files.attachments import AttachNote, ViewMethod
from core.types.values import When

MOST_CHARACTERS = 2_000_000
"""Of the words of one file that are read: a thousand pages of print."""
UNKNOWN = "application/octet-stream"
_SVG = re.compile(
    r"(?:\s|\ufeff|<\?xml[^>]{0,200}\?>|<!DOCTYPE[^>]{0,300}>|<!--.{0,2000}?-->)*+<(?:\w+:)?svg\b", re.DOTALL
)
_PDF, _WORD, _PAGE, _TEXT = PdfImporter(), WordImporter(), WebPageImporter(), TextImporter()
_WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_CUT = frozenset({"page_beyond_limit", "too_large"})
_LEFT_OUT = frozenset({"empty_page", "bad_page"})
_CUT_FLAGS = frozenset({"page_cut"})


@dataclass(frozen=True, slots=True)
class FileText:
    """What a file is and says.

    Attributes:
        media_type: by content.
        method: by what way the words were read; None where there are none.
        pages: the words, with the page of each stretch from 1; None where the file has no pages.
        page_count: of a document with pages.
        title: what the file calls itself; "" for nothing. `author` likewise.
        occurred: when it was written or taken, as it says itself.
        is_cut: whether it holds more than was read.
        picture: of a picture, what it is and says.
        notes: what was not read.
    """

    media_type: str
    method: ViewMethod | None = None
    pages: tuple[tuple[int | None, str], ...] = ()
    page_count: int | None = None
    title: str = ""
    author: str = ""
    occurred: When | None = None
    is_cut: bool = False
    picture: Picture | None = None
    notes: frozenset[AttachNote] = field(default_factory=frozenset)


def read_file_text(name: str, data: bytes) -> FileText:
    """Tell a file by its content, and read the words in it.

    Args:
        name: what the file is called, for messages and as the title of a document without one.
        data: all of it.
    """
    bundle = _bundle_of(name, data)
    head = data[:64]
    if is_picture(head):
        picture = read_picture(data)
        return _of_picture(picture) if picture else FileText(UNKNOWN, notes=frozenset({AttachNote.DAMAGED}))
    if _PDF.detects(bundle):
        return _read_document(bundle, _PDF, "application/pdf", ViewMethod.PDF_TEXT)
    if looks_like_zip(head):
        return _read_archive(name, data)
    file = bundle.files[0]
    if is_binary(read_head(file)):
        return FileText(UNKNOWN, notes=frozenset({AttachNote.NO_TEXT}))
    if _SVG.match(read_head_text(file, 4_096)):
        return FileText("image/svg+xml", notes=frozenset({AttachNote.NO_TEXT}))
    if _PAGE.detects(bundle):
        return _read_document(bundle, _PAGE, "text/html", ViewMethod.HTML_TEXT)
    return _read_document(bundle, _TEXT, "text/plain", ViewMethod.PLAIN_TEXT)


def _of_picture(picture: Picture) -> FileText:
    notes = set[AttachNote]()
    if picture.is_damaged:
        notes.add(AttachNote.DAMAGED)
    elif picture.thumbnail is None:
        notes.add(AttachNote.PICTURE_TOO_LARGE)
    if not picture.description:
        notes.add(AttachNote.NO_TEXT)
    pages = ((None, picture.description),) if picture.description else ()
    return FileText(
        picture.media_type,
        ViewMethod.EXIF if pages else None,
        pages,
        occurred=picture.taken,
        picture=picture,
        notes=frozenset(notes),
    )


def _read_archive(name: str, data: bytes) -> FileText:
    """A document of Word is an archive; any other is kept and not looked into."""
    try:
        files = tuple(list_archive(lambda: io.BytesIO(data), name))
        bundle = Bundle(name, "zip", files, (), "")
        if not _WORD.detects(bundle):
            return FileText("application/zip", notes=frozenset({AttachNote.NO_TEXT}))
    except UserError:
        return FileText("application/zip", notes=frozenset({AttachNote.DAMAGED}))
    return _read_document(bundle, _WORD, _WORD_TYPE, ViewMethod.DOCX_TEXT)


def _read_document(bundle: Bundle, importer: Importer, media_type: str, method: ViewMethod) -> FileText:
    reading = _Reading()
    try:
        for item in import_items(bundle, importer):
            reading.take(item)
            if reading.is_full:
                break
    except UserError:
        reading.notes.add(AttachNote.DAMAGED)
    return reading.finish(media_type, method)


class _Reading:
    """Takes what an importer gives of one file."""

    def __init__(self) -> None:
        self.notes: set[AttachNote] = set()
        self._pages: list[tuple[int | None, str]] = []
        self._left = MOST_CHARACTERS
        self._is_cut = False
        self._first: Record | None = None

    @property
    def is_full(self) -> bool:
        """Whether no more is read."""
        return self._left <= 0

    def take(self, item: Record | SkippedPart | UnreadablePart) -> None:
        """One page, or what was not read of one."""
        if isinstance(item, Record):
            self._take_page(item)
        elif item.reason in _CUT:
            self._is_cut = True
        elif item.reason in _LEFT_OUT:
            self.notes.add(AttachNote.PAGES_LEFT_OUT)
        elif isinstance(item, UnreadablePart):
            known = {LOCKED: AttachNote.LOCKED, PICTURES: AttachNote.NO_TEXT}
            self.notes.add(known.get(item.message, AttachNote.DAMAGED))

    def _take_page(self, page: Record) -> None:
        self._first = self._first or page
        text = page.text.replace("\0", "\ufffd")
        self._is_cut |= len(text) > self._left or not _CUT_FLAGS.isdisjoint(page.flags)
        text = text[: self._left]
        self._left -= len(text)
        if text.strip():
            number = page.extra.get("page")
            self._pages.append((number if isinstance(number, int) else None, text))

    def finish(self, media_type: str, method: ViewMethod) -> FileText:
        """All that was read."""
        first = self._first
        if self._is_cut:
            self.notes.add(AttachNote.TEXT_CUT)
        if not self._pages and not self.notes:
            self.notes.add(AttachNote.NO_TEXT)
        if first is None:
            return FileText(media_type, is_cut=self._is_cut, notes=frozenset(self.notes))
        count = first.extra.get("pages")
        return FileText(
            media_type,
            method if self._pages else None,
            tuple(self._pages),
            count if isinstance(count, int) else None,
            str(first.extra.get("title") or ""),
            first.author if first.author and first.author != "source" else "",
            first.occurred,
            self._is_cut,
            None,
            frozenset(self.notes),
        )


def _bundle_of(name: str, data: bytes) -> Bundle:
    def open_data() -> BinaryIO:
        return io.BytesIO(data)

    file = SourceFile(name, len(data), None, open_data, open_seekable=open_data)
    return Bundle(name, "file", (file,), (), "")
