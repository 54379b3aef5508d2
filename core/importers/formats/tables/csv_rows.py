"""Rows of CSV and TSV files: any of four delimiters, quoted line breaks, byte order mark.

Must not do: run or change a cell (`=SUM(B2:B9)` is its text; only the apostrophe which an export puts before such a
sign is taken off), trim one, or lose the rest behind a lost quote.
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass

from core.importers.front_matter import plain_name
from core.importers.input.files import refused_file_error
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import LINE_CAP, is_hidden, read_head_text, visible_files
from core.importers.input.strict_json import decode_ladder, utf8_chunks
from core.importers.records import Item, SkippedPart, UnreadablePart
from core.importers.rows import KNOWN_NAMES, TEXT_NAMES, Row, RowReader
from core.text.screening.fences import unescape_formula

DELIMITERS = (";", ",", "\t", "|")
_SNIFFED_RECORDS = 200
_LONGEST_HEADING = 60
_MOST_BUFFERED = 64 << 20
_MOST_REWINDS = 200
_SEP_LINE = re.compile(r"sep=([;,\t|])\r?\n")
_PIECE = "it is a piece of a damaged record"
_LINE_BYTES = re.compile(rb"[^\n]*\n|[^\n]+")
_LONE_RETURN = re.compile(r"(?<=\r)(?!\n)")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a file parts its cells.

    Attributes:
        delimiter: one of four.
        lead: lines before the header: 1 where a spreadsheet wrote `sep=;`.
    """

    delimiter: str
    lead: int = 0


class CsvImporter:
    """Reads tables with a column of text."""

    @property
    def format(self) -> str:
        """`csv`."""
        return "csv"

    def detects(self, bundle: Bundle) -> bool:
        """Whether every file has a header with a text column and rows of as many cells."""
        files = visible_files(bundle)
        return bool(files) and all(sniff_dialect(file, strict=True) is not None for file in files)

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield every record of every file in order; records are numbered from 1 below the header.

        Raises:
            UserError: IMPORT_REFUSED for a file without a text column.
        """
        reader = RowReader(self.format)
        for file in bundle.files:
            if bundle.kind != "file" and is_hidden(file.name):
                yield SkippedPart("hidden_file", file.name)
                continue
            dialect = sniff_dialect(file, strict=False)
            if dialect is not None:
                yield from _read_file(file, dialect, reader)
            elif bundle.kind == "file":
                raise refused_file_error(
                    file.name, "has no column named text, content, message or body in its first line"
                )
            else:
                yield SkippedPart("not_csv", file.name)


def sniff_dialect(file: SourceFile, *, strict: bool) -> Dialect | None:
    """Find the delimiter under which the first line is a header with a text column.

    Args:
        strict: whether it must also look like a table and not like prose that begins with such a word.

    Returns:
        The dialect, or None.
    """
    text = read_head_text(file)
    if marked := _SEP_LINE.match(text):
        text = text[marked.end() :]
        found = Dialect(marked[1], 1)
        return found if _score_delimiter(text, found.delimiter, strict) else None
    best = max(DELIMITERS, key=lambda delimiter: _score_delimiter(text, delimiter, strict))
    if _score_delimiter(text, best, strict):
        return Dialect(best)
    alone = file.name.lower().endswith((".csv", ".tsv")) or not strict
    return Dialect(",") if alone and plain_name(text.partition("\n")[0]) in TEXT_NAMES else None


def _score_delimiter(text: str, delimiter: str, strict: bool) -> int:
    """How well a delimiter fits: 0 for not at all, else more for each heading that is known."""
    records = _records_in(text, delimiter)
    header = next(records, [])
    names = [plain_name(cell) for cell in header]
    if len(header) < 2 or not TEXT_NAMES.intersection(names):
        return 0
    if strict:
        rows = [row for row in records if row]
        even = sum(len(row) == len(header) for row in rows)
        if not rows or even * 2 < len(rows) or any(len(cell) > _LONGEST_HEADING for cell in header):
            return 0
    return 1000 * len(KNOWN_NAMES.intersection(names)) + len(header)


def _records_in(text: str, delimiter: str) -> Iterator[list[str]]:
    lines = (piece for line in text.split("\n") for piece in _split_returns(line + "\n"))
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        for _ in range(_SNIFFED_RECORDS):
            record = next(reader, None)
            if record is None:
                return
            yield record
    except csv.Error:
        return


def _split_returns(line: str) -> list[str]:
    """Old Macs end a line with a carriage return alone."""
    return [piece for piece in _LONE_RETURN.split(line) if piece]


class _RawLines:
    """Lines with their ends; the lines of the current record can be read again from its second one."""

    def __init__(self, file: SourceFile) -> None:
        self._again: deque[str] = deque()
        self._held: list[str] = []
        self._buffered_size = 0
        self._file_flags: set[str] = set()
        self._fresh = self._read_lines(file)
        self.flags: set[str] = set()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._fresh)
        self._buffered_size += len(line)
        if self._buffered_size <= _MOST_BUFFERED:
            self._held.append(line)
        return line

    def begin_record(self) -> None:
        """A new record begins with the next line."""
        self._held, self._buffered_size = [], 0
        self.flags = set(self._file_flags)

    def rewind_record(self) -> None:
        """Give the current record's lines again, without its first. Records over 64 MiB are not given again."""
        if self._buffered_size <= _MOST_BUFFERED:
            self._again.extendleft(reversed(self._held[1:]))

    def odd_quotes(self) -> bool:
        """Whether the current record's lines hold a quote without its partner."""
        return sum(line.count('"') for line in self._held) % 2 == 1

    def close(self) -> None:
        """Close the file before its end."""
        self._fresh.close()

    def _read_lines(self, file: SourceFile) -> Generator[str, None, None]:
        proven = False
        with closing(file.open()) as stream:
            for raw in _byte_lines(file, utf8_chunks(stream, self._file_flags)):
                text, flags = decode_ladder(raw, proven_utf8=proven)
                proven = proven or not (flags or raw.isascii())
                self.flags |= flags
                yield from _split_returns(text)


def _byte_lines(file: SourceFile, chunks: Iterator[bytes]) -> Iterator[bytes]:
    rest: list[bytes] = []
    line_size = 0
    for chunk in chunks:
        for line in _LINE_BYTES.findall(chunk):
            rest.append(line)
            line_size += len(line)
            if line.endswith(b"\n"):
                yield b"".join(rest)
                rest, line_size = [], 0
        if line_size > LINE_CAP:
            raise refused_file_error(file.name, f"has a line longer than {LINE_CAP >> 20} MiB")
    if rest:
        yield b"".join(rest)


def _read_file(file: SourceFile, dialect: Dialect, reader: RowReader) -> Iterator[Item]:
    # The limit is the process's own; 128 KiB would refuse a long diary entry, and nothing else here reads CSV.
    csv.field_size_limit(max(csv.field_size_limit(), LINE_CAP))
    with closing(_RawLines(file)) as lines:
        for _ in range(dialect.lead):
            next(lines, None)
        header = _column_names(next(csv.reader(lines, delimiter=dialect.delimiter), []))
        yield from reader.read_rows(_read_records(file, _Table(lines, dialect.delimiter, header)))


def _column_names(cells: list[str]) -> list[str]:
    names: list[str] = []
    for number, cell in enumerate(cells, 1):
        name = cell.strip() or f"column {number}"
        names.append(name if name not in names else f"{name} ({number})")
    return names


@dataclass(slots=True)
class _Table:
    """A file below its header."""

    lines: _RawLines
    delimiter: str
    header: list[str]
    rewinds: int = 0
    recovering: bool = False

    def next_record(self) -> list[str] | str | None:
        """The next record's cells, or what is wrong with it in words, or None at the end."""
        self.lines.begin_record()
        try:
            # strict: without it a lost quote would swallow or glue cells without a word.
            cells = next(csv.reader(self.lines, delimiter=self.delimiter, strict=True), None)
        except csv.Error:
            self.recovering = True
            self.rewinds += 1
            if self.rewinds <= _MOST_REWINDS:
                self.lines.rewind_record()
            return "a quoted cell is not closed, or something follows its closing quote"
        if not cells:
            return cells
        while len(cells) > len(self.header) and not cells[-1].strip():
            cells.pop()
        if len(cells) > len(self.header):
            return f"it has {len(cells)} cells where the header has {len(self.header)}"
        if self.recovering and (len(cells) < len(self.header) or self.lines.odd_quotes()):
            # The rest of a record that went wrong must not pass for rows of its own.
            return _PIECE
        self.recovering = False
        return cells


def _read_records(file: SourceFile, table: _Table) -> Iterator[Row | SkippedPart | UnreadablePart]:
    number = 0
    while (cells := table.next_record()) is not None:
        if not cells:
            yield SkippedPart("blank_line", f"{file.name}:after record {number}")
            continue
        if cells is _PIECE:
            yield UnreadablePart(f"{file.name}:after record {number}", _PIECE)
            continue
        number += 1
        where = f"{file.name}:record {number}"
        if isinstance(cells, str):
            yield UnreadablePart(where, cells)
        else:
            plain = [unescape_formula(cell) for cell in cells]
            yield Row(dict(zip(table.header, plain, strict=False)), where, frozenset(table.lines.flags))
