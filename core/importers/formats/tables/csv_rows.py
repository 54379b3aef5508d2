"""Rows of CSV and TSV files: any of four delimiters, quoted line breaks, byte order mark.

Must not do: run or change a cell (`=SUM(B2:B9)` is its text; only the apostrophe which an export puts before such a
sign is taken off), trim one, or lose the rest behind a lost quote.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from core.importers.formats.tables.dialect import Dialect, sniff_dialect
from core.importers.input.files import refused_file_error
from core.importers.input.record_lines import RecordLines
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import LINE_CAP, is_hidden, visible_files
from core.importers.records import Item, SkippedPart, UnreadablePart
from core.importers.rows import Row, RowReader
from core.text.screening.fences import unescape_formula

_MOST_REWINDS = 200
_PIECE = "it is a piece of a damaged record"


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


def _read_file(file: SourceFile, dialect: Dialect, reader: RowReader) -> Iterator[Item]:
    # The limit is the process's own; 128 KiB would refuse a long diary entry.
    csv.field_size_limit(max(csv.field_size_limit(), LINE_CAP))
    with closing(RecordLines(file)) as lines:
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

    lines: RecordLines
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
