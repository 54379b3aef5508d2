"""A document of Word and its like (`.docx`): the words of its pages, of notes below them, and who wrote it when.

What was struck out while changes were tracked is no part of the words. Must not do: open a picture, follow a link, or
run a macro.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from core.errors import UserError
from core.importers.document import Document
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.xml_stream import XmlEvent, iter_xml
from core.importers.records import Item, SkippedPart
from core.text.times import parse_time

_FORMAT = "docx"
_PAGES, _ABOUT = "word/document.xml", "docProps/core.xml"
_NOTES = ("word/footnotes.xml", "word/endnotes.xml")
_TYPES = "[Content_Types].xml"
_LEFT_OUT = frozenset({"del", "moveFrom", "instrText", "fldData", "Fallback"})
_ABOUT_FIELDS = {"title": "title", "creator": "creator", "created": "created", "modified": "modified"}


class WordImporter:
    """Reads one document."""

    @property
    def format(self) -> str:
        """`docx`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether an archive has the pages and the list of types that such a document has."""
        return bundle.kind != "file" and all(bundle.find_file(name) is not None for name in (_PAGES, _TYPES))

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the document; see `records.Importer`."""
        pages = bundle.find_file(_PAGES)
        if pages is None:
            yield SkippedPart("no_text", bundle.label)
            return
        text = _read_words(pages)
        notes = [words for name in _NOTES if (file := bundle.find_file(name)) and (words := _read_words(file).strip())]
        about = _read_about(bundle.find_file(_ABOUT))
        yield Document(
            form=_FORMAT,
            text="\n\n".join([text.strip("\n"), *notes]).strip("\n"),
            where=bundle.label,
            title=about.get("title") or bundle.label.rpartition(".")[0] or bundle.label,
            occurred=parse_time(about.get("modified") or about.get("created")),
            author=about.get("creator") or None,
            facts={"path": bundle.label, "written": about.get("created")},
        ).to_item()
        media = sum(file.name.startswith("word/media/") for file in bundle.files)
        if media:
            yield SkippedPart("media_files", bundle.label, media)


@dataclass(slots=True)
class _PageWriter:
    """Puts the words of pages together."""

    parts: list[str] = field(default_factory=list)
    is_listed: bool = False

    def open_element(self, name: str) -> None:
        """Take what begins."""
        if name == "p":
            self.is_listed = False
        elif name == "numPr" and not self.is_listed:
            self.is_listed = True
            self.parts.append("- ")
        elif name in ("tab", "ptab"):
            self.parts.append("\t")
        elif name in ("br", "cr"):
            self.parts.append("\n")
        elif name == "noBreakHyphen":
            self.parts.append("-")

    def close_element(self, path: tuple[str, ...]) -> None:
        """Take what ends: a paragraph is a line, a cell of a table stands beside the next."""
        if path[-1] == "p" and "tc" not in path[:-1]:
            self.parts.append("\n")
        elif path[-1] == "tc":
            self.parts.append("\t")
        elif path[-1] == "tr":
            if self.parts[-1:] == ["\t"]:
                self.parts.pop()
            self.parts.append("\n")


def _read_words(file: SourceFile) -> str:
    writer = _PageWriter()
    for event in iter_xml(file):
        if _is_left_out(event):
            continue
        if event.kind == "text":
            writer.parts.append(event.text if event.path[-1] == "t" else "")
        elif event.kind == "open":
            # A stop that a paragraph defines is none that is set in its words.
            writer.open_element(event.path[-1] if event.path[-2:-1] != ("tabs",) else "")
        else:
            writer.close_element(event.path)
    return "".join(writer.parts)


def _is_left_out(event: XmlEvent) -> bool:
    return not _LEFT_OUT.isdisjoint(event.path)


def _read_about(file: SourceFile | None) -> dict[str, str]:
    """Title, author and times; a part that is broken says nothing of them."""
    found: dict[str, str] = {}
    try:
        for event in iter_xml(file) if file is not None else ():
            name = _ABOUT_FIELDS.get(event.path[-1])
            if event.kind == "text" and name and event.text.strip():
                found[name] = found.get(name, "") + event.text
    except UserError:
        return {}
    return {name: value.strip() for name, value in found.items()}
