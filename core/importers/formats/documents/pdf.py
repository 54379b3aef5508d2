"""PDF documents: the text of each page, one record a page, with its number as its place.

Only text that the document holds as text; a scan is pictures, and the person is told so. A document is read with limits
on its size, its pages and the steps that the drawing of a page takes: by count, never by the clock, so that it gives
the same pages whenever it is read. Must not do: open what is attached, run what a document holds, or follow a link.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from core.errors import UserError
from core.importers.document import Document
from core.importers.formats.documents.pdf_document import (
    About,
    faults,
    open_reader,
    read_about,
    read_page,
)
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import open_seekable, read_head, visible_files
from core.importers.records import Item, SkippedPart, UnreadablePart

if TYPE_CHECKING:
    from pypdf import PdfReader

_FORMAT = "pdf"
_MAGIC = b"%PDF-"
_SNIFFED = 1_024  # bytes in which the mark stands; some programs write something before it
MOST_PAGES = 5_000
"""Pages of one document that are read."""
_MOST_BYTES = 512 << 20
LOCKED = "this PDF is locked with a password; save a copy without one and import that"
_DAMAGED = "this PDF is damaged and cannot be read"
PICTURES = "this PDF holds pictures of pages and no text; make its text recognisable (OCR) and import that"
_HUGE = "this PDF is larger than 512 MiB; divide it and import the parts"


class PdfImporter:
    """Reads documents, one or a folder of them."""

    @property
    def format(self) -> str:
        """`pdf`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a file begins as such a document does."""
        return any(_is_pdf(file) for file in _likely_files(bundle))

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the pages, document by document; see `records.Importer`."""
        files = [file for file in _likely_files(bundle) if bundle.kind == "file" or _is_pdf(file)]
        for file in files:
            yield from _read_document(file)
        if len(bundle.files) > len(files):
            yield SkippedPart("not_a_document", bundle.label, len(bundle.files) - len(files))


def _likely_files(bundle: Bundle) -> list[SourceFile]:
    files = visible_files(bundle)
    return files if bundle.kind == "file" else [one for one in files if one.path.suffix.lower() == ".pdf"]


def _is_pdf(file: SourceFile) -> bool:
    return _MAGIC in read_head(file, _SNIFFED)


def _read_document(file: SourceFile) -> Iterator[Item]:
    if file.size > _MOST_BYTES:
        yield UnreadablePart(file.name, _HUGE, "refused_file")
        return
    wrong = faults()
    with closing(open_seekable(file)) as stream:
        try:
            reader = open_reader(stream)
            # A document that only forbids to print opens with no password at all.
            if reader.is_encrypted and not reader.decrypt(""):
                yield UnreadablePart(file.name, LOCKED, "refused_file")
                return
            about = read_about(reader, file)
        except UserError:
            raise
        except wrong:
            yield UnreadablePart(file.name, _DAMAGED, "refused_file")
            return
        yield from _read_pages(reader, file, about, wrong)


def _read_pages(
    reader: PdfReader, file: SourceFile, about: About, wrong: tuple[type[Exception], ...]
) -> Iterator[Item]:
    empty, found = 0, False
    for number in range(1, min(about.pages, MOST_PAGES) + 1):
        where = f"{file.name}:page {number}"
        try:
            text, flags = read_page(reader, number - 1)
        except wrong:
            yield UnreadablePart(where, "this page is damaged or draws too much", "bad_page")
            found = True
            continue
        finally:
            reader.resolved_objects.clear()  # else a long document stays in memory page by page
        if not text.strip():
            empty += 1
            continue
        found = True
        yield _make_item(about, number, text, where, flags)
    if not found:
        yield UnreadablePart(file.name, PICTURES, "refused_file")
    elif empty:
        yield SkippedPart("empty_page", file.name, empty)
    if about.pages > MOST_PAGES:
        yield SkippedPart("page_beyond_limit", file.name, about.pages - MOST_PAGES)


def _make_item(about: About, number: int, text: str, where: str, flags: frozenset[str]) -> Item:
    return Document(
        form=_FORMAT,
        text=text.strip("\n"),
        where=where,
        key=f"{about.key}:{number}",
        title=about.title,
        occurred=about.occurred,
        author=about.author,
        facts={"page": number, "pages": about.pages},
        flags=flags,
    ).to_item()
