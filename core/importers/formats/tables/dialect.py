"""How a table parts its cells: told by a first line that is a header with a column of text.

Must not do: read more than a file's head, or take prose that begins with such a word for a table.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.importers.front_matter import plain_name
from core.importers.input.record_lines import split_returns
from core.importers.input.source import SourceFile
from core.importers.input.streams import read_head_text
from core.importers.rows import KNOWN_NAMES, TEXT_NAMES

DELIMITERS = (";", ",", "\t", "|")
_SNIFFED_RECORDS = 200
_LONGEST_HEADING = 60
_SEP_LINE = re.compile(r"sep=([;,\t|])\r?\n")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a file parts its cells.

    Attributes:
        delimiter: one of four.
        lead: lines before the header: 1 where a spreadsheet wrote `sep=;`.
    """

    delimiter: str
    lead: int = 0


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
    lines = (piece for line in text.split("\n") for piece in split_returns(line + "\n"))
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        for _ in range(_SNIFFED_RECORDS):
            record = next(reader, None)
            if record is None:
                return
            yield record
    except csv.Error:
        return
