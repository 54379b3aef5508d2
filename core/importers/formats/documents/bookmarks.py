"""A browser's bookmarks as every browser exports them: one HTML file of lists within lists.

A bookmark is one record: its name, its address and what was noted. Must not do: open an address, or keep what is a
program and no address (`javascript:`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from core.importers.document import Document
from core.importers.html_text import HtmlToken, html_tokens
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import read_file_lines, read_head_text, visible_files
from core.importers.records import Item, SkippedPart
from core.text.times import parse_time

_FORMAT = "bookmarks"
_BEGINS = re.compile(r"\s*<!DOCTYPE NETSCAPE-Bookmark-file-1>", re.IGNORECASE)
_BLANKS = re.compile(r"\s+")
_ADDRESS = re.compile(r"(?:https?|ftp|file|gemini|gopher)://", re.IGNORECASE)


class BookmarksImporter:
    """Reads an exported list."""

    @property
    def format(self) -> str:
        """`bookmarks`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a file begins as such a list does."""
        return any(_is_list(file) for file in visible_files(bundle)[:50])

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the bookmarks in file order; see `records.Importer`."""
        files = [file for file in visible_files(bundle) if bundle.kind == "file" or _is_list(file)]
        for file in files:
            yield from _read_list(file)
        if len(bundle.files) > len(files):
            yield SkippedPart("not_bookmarks", bundle.label, len(bundle.files) - len(files))


def _is_list(file: SourceFile) -> bool:
    return _BEGINS.match(read_head_text(file, 1_024)) is not None


@dataclass(slots=True)
class _ListReader:
    """What is open while a list is read: the folders around, a bookmark, and where words belong."""

    folders: list[str] = field(default_factory=list)
    heading: str = ""
    link: HtmlToken | None = None
    name: list[str] = field(default_factory=list)
    note: list[str] = field(default_factory=list)
    place: str = ""

    def take_token(self, token: HtmlToken) -> HtmlToken | None:
        """Take a piece of the list; the bookmark that ends with it is given back, its words still here."""
        if not token.tag:
            self._add_words(token.words)
            return None
        ended = self.link if token.tag in ("dt", "dl", "hr") else None
        if ended is not None:
            self.link = None
        elif token.tag in ("h3", "a") and not token.is_end:
            self.place, self.heading = token.tag, "" if token.tag == "h3" else self.heading
            if token.tag == "a":
                self.link, self.name, self.note = token, [], []
        elif token.tag in ("h3", "a"):
            self.place = ""
        elif token.tag == "dd":
            self.place = "dd"
        if token.tag == "dl":
            self._follow_folder(is_end=token.is_end)
        return ended

    def _follow_folder(self, *, is_end: bool) -> None:
        if not is_end:
            self.folders.append(self.heading.strip())
            self.heading = ""
        elif self.folders:
            self.folders.pop()

    def _add_words(self, words: str) -> None:
        if self.place == "h3":
            self.heading += words
        elif self.place == "a":
            self.name.append(words)
        elif self.place == "dd" and self.link is not None:
            self.note.append(words)


def _read_list(file: SourceFile) -> Iterator[Item]:
    reader = _ListReader()
    lines = read_file_lines(file)
    for number, line in lines:
        for token in html_tokens(line + "\n"):
            folders = tuple(reader.folders)
            ended = reader.take_token(token)
            if ended is not None:
                yield _make_item(reader, ended, folders, f"{file.name}:{number}", lines.flags)
    if reader.link is not None:
        yield _make_item(reader, reader.link, tuple(reader.folders), f"{file.name}:end", lines.flags)


def _make_item(reader: _ListReader, link: HtmlToken, folders: tuple[str, ...], where: str, flags: set[str]) -> Item:
    told = link.attributes()
    address = told.get("href", "").strip()
    if not _ADDRESS.match(address):
        return SkippedPart("no_address", where)
    name, note = (_BLANKS.sub(" ", "".join(words)).strip() for words in (reader.name, reader.note))
    occurred = parse_time(int(told["add_date"])) if told.get("add_date", "").isdigit() else None
    return Document(
        form=_FORMAT,
        text="\n".join(line for line in (name, address, note) if line),
        where=where,
        key=address,
        title=name or None,
        occurred=occurred,
        tags=[tag.strip() for tag in told.get("tags", "").split(",")],
        facts={"folders": [folder for folder in folders if folder], "address": address},
        flags=flags,
    ).to_item()
