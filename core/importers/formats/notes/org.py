"""Org files of Emacs and its kin: a file is one record, an outline; a heading with a date begins a section of that day.

Kept are the words with their headings, tasks and lists; links become their words. Must not do: keep drawers, clocks,
comments and settings as words, run a block of code, or recurse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from core.importers.document import Document
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import is_binary, read_head, read_head_text, read_whole_text, visible_files
from core.importers.records import Item, Record, Section, SkippedPart
from core.text.times import find_labelled_date, parse_time
from core.types.values import When

_FORMAT = "org"
_ENDING = ".org"
_MOST = 64 << 20
_KEYWORD = re.compile(r"\s*#\+([A-Za-z_]{2,40}):\s?(.*)$")
_KNOWN = re.compile(r"^#\+(?:title|author|date|startup|options|filetags|property|todo):", re.IGNORECASE | re.MULTILINE)
_HEADING = re.compile(r"(\*+) +(.*?)(?:\s+:([\w@#%:]+):)?\s*$")
_HEADING_THERE = re.compile(r"^\*+ \S", re.MULTILINE)
_DRAWER = re.compile(r"\s*:(PROPERTIES|LOGBOOK|CLOCK|RESULTS):\s*$", re.IGNORECASE)
_DRAWER_END = re.compile(r"\s*:END:\s*$", re.IGNORECASE)
_PROPERTY = re.compile(r"\s*:([\w-]{1,60}):\s+(.*)$")
_COMMENT = re.compile(r"\s*#(?: |$)")
_CLOCK = re.compile(r"\s*CLOCK: ")
_BLOCK = re.compile(r"\s*#\+(begin|end)_(\w+)", re.IGNORECASE)
_STAMP = re.compile(r"[<\[](\d{4}-\d{2}-\d{2})(?: [^\W\d_]+\.?)?(?: (\d{1,2}:\d{2}))?[^>\]\n]{0,40}[>\]]")
_LINK = re.compile(r"\[\[([^\[\]\n]{1,2000})\](?:\[([^\[\]\n]{1,2000})\])?\]")
_MADE = ("created", "date")


class OrgImporter:
    """Reads files, one or a folder of them."""

    @property
    def format(self) -> str:
        """`org`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a text has the settings or the headings and drawers of an outline; in a folder also by its name."""
        return any(_is_org(file) for file in _likely_files(bundle))

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the files in order; see `records.Importer`."""
        files = [file for file in _likely_files(bundle) if bundle.kind == "file" or _is_org(file)]
        for file in files:
            yield _read_file(file)
        if len(bundle.files) > len(files):
            yield SkippedPart("not_a_note", bundle.label, len(bundle.files) - len(files))


def _likely_files(bundle: Bundle) -> list[SourceFile]:
    files = visible_files(bundle)
    return files if bundle.kind == "file" else [one for one in files if one.path.suffix.lower() == _ENDING]


def _is_org(file: SourceFile) -> bool:
    if is_binary(read_head(file)):
        return False
    head = read_head_text(file)
    headed = _HEADING_THERE.search(head) is not None
    if file.path.suffix.lower() == _ENDING:
        return headed or _KNOWN.search(head) is not None
    return _KNOWN.search(head[:2_000]) is not None or (headed and "\n:PROPERTIES:" in head and "\n:END:" in head)


@dataclass(slots=True)
class _Outline:
    """A file while it is read: its words line by line, and what it says of itself."""

    lines: list[str] = field(default_factory=list)
    length: int = 0
    told: dict[str, str] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    first: When | None = None
    heading_at: int | None = None
    drawer: str = ""
    block: str = ""

    def take_line(self, line: str) -> None:
        """Take the next line of the file."""
        if self.drawer:
            self._follow_drawer(line)
        elif self.block or _BLOCK.match(line):
            self._follow_block(line)
        elif found := _DRAWER.match(line):
            self.drawer = found[1].lower()
        elif found := _KEYWORD.match(line):
            self._take_keyword(found[1].lower(), found[2].strip())
        elif not _COMMENT.match(line) and not _CLOCK.match(line):
            self._take_words(line)

    def _follow_drawer(self, line: str) -> None:
        if _DRAWER_END.match(line):
            self.drawer = ""
        elif self.drawer == "properties" and (found := _PROPERTY.match(line)):
            name, value = found[1].lower(), found[2].strip()
            if self.heading_at is None:
                self.told.setdefault(name, value)
            elif name in _MADE:
                self._date_heading(_read_stamp(value))

    def _follow_block(self, line: str) -> None:
        """Words in a block stay, its marks do not; of code, too."""
        found = _BLOCK.match(line)
        if found is None:
            self._add(line)
        elif found[1].lower() == "begin" and not self.block:
            self.block = found[2].lower()
        elif found[1].lower() == "end" and found[2].lower() == self.block:
            self.block = ""
        else:
            self._add(line)

    def _take_keyword(self, name: str, value: str) -> None:
        if name == "filetags":
            self.tags += [tag for tag in value.split(":") if tag.strip()]
        elif value:
            self.told.setdefault(name, value)

    def _take_words(self, line: str) -> None:
        heading = _HEADING.match(line)
        if heading is not None:
            self.heading_at = self.length
            self.tags += [tag for tag in (heading[3] or "").split(":") if tag]
            line = f"{heading[1]} {heading[2]}"
            self._date_heading(_read_stamp(heading[2]) or find_labelled_date(heading[2]))
        elif self.heading_at is not None and line.strip().startswith("CLOSED:"):
            self._date_heading(_read_stamp(line))
        self.links += [found[1] for found in _LINK.finditer(line)]
        self._add(_LINK.sub(lambda found: found[2] or found[1], line))

    def _date_heading(self, when: When | None) -> None:
        """The section that a heading begins is of this day; the first date of a heading counts."""
        if when is None or self.heading_at is None:
            return
        if self.heading_at == 0:
            self.first = self.first or when
        elif not self.sections or self.sections[-1].start < self.heading_at:
            self.sections.append(Section(self.heading_at, when))

    def _add(self, line: str) -> None:
        if not self.lines and not line.strip():
            return
        self.lines.append(line)
        self.length += len(line) + 1


def _read_stamp(words: str) -> When | None:
    found = _STAMP.search(words)
    if found is None:
        return parse_time(words)
    return parse_time(f"{found[1]}T{found[2].zfill(5)}" if found[2] else found[1])


def _read_file(file: SourceFile) -> Item:
    text, flags = read_whole_text(file, _MOST)
    outline = _Outline()
    for line in text.replace("\r\n", "\n").split("\n"):
        outline.take_line(line)
    while outline.lines and not outline.lines[-1].strip():
        outline.lines.pop()
    told = outline.told
    own = (
        _read_stamp(told.get("date", "")) or _read_stamp(told.get("created", "")) or find_labelled_date(file.path.stem)
    )
    item = Document(
        form=_FORMAT,
        text="\n".join(outline.lines),
        where=file.name,
        title=told.get("title") or file.path.stem,
        occurred=outline.first or own or find_labelled_date(file.path.stem),
        author=told.get("author"),
        tags=outline.tags,
        facts={"path": file.name, "id": told.get("id"), "links": outline.links[:1_000]},
        flags=flags,
    ).to_item()
    sections = _within(outline.sections, len(item.text)) if isinstance(item, Record) else ()
    return replace(item, sections=sections) if isinstance(item, Record) else item


def _within(sections: Sequence[Section], length: int) -> tuple[Section, ...]:
    return tuple(one for one in sections if 0 < one.start < length)
