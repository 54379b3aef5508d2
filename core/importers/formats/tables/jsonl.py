"""Generic rows of JSON: one object a line, or one array of objects.

Must not do: stop at a bad line, or keep more than one row in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.importers.front_matter import plain_name
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import (
    BadJson,
    is_hidden,
    items_in_head,
    iter_json_array,
    keys_in_head,
    parse_json_text,
    read_head_text,
    visible_files,
)
from core.importers.json_lines import JsonLine, read_object_lines
from core.importers.records import Item, SkippedPart, UnreadablePart
from core.importers.rows import TEXT_NAMES, Row, RowReader

_SNIFFED_FILES = 20


class JsonlImporter:
    """Reads what the person's own scripts write."""

    @property
    def format(self) -> str:
        """`jsonl`."""
        return "jsonl"

    def detects(self, bundle: Bundle) -> bool:
        """Whether every file holds rows with a text: half of the lines in its head at least."""
        files = visible_files(bundle)
        return bool(files) and all(_holds_rows(file) for file in files[:_SNIFFED_FILES])

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield every row of every file in order.

        Raises:
            UserError: IMPORT_REFUSED for an array that is no JSON or a line over 256 MiB.
        """
        reader = RowReader(self.format)
        for file in bundle.files:
            if bundle.kind != "file" and is_hidden(file.name):
                yield SkippedPart("hidden_file", file.name)
            elif bundle.kind != "file" and not _holds_rows(file):
                yield SkippedPart("not_jsonl", file.name)
            else:
                yield from reader.read_rows(_array_rows(file) if _is_array(file) else _read_jsonl_rows(file))


def _has_text(row: Any) -> bool:
    return isinstance(row, Mapping) and any(plain_name(key) in TEXT_NAMES for key in row)


def _is_array(file: SourceFile) -> bool:
    start = read_head_text(file).lstrip()
    return start.startswith("[") and start[1:].lstrip().startswith("{")


def _holds_rows(file: SourceFile) -> bool:
    if _is_array(file):
        return any(_has_text(item) for item in items_in_head(file, ("",)))
    text = read_head_text(file)
    whole, mark, _ = text.rpartition("\n")
    lines = [line for line in (whole if mark else text).split("\n") if line.strip()]
    rows = sum(_has_text(_parse_line(line)) for line in lines)
    if rows:
        return rows * 2 >= len(lines)
    # The first line may be longer than the head.
    return len(lines) <= 1 and any(plain_name(key) in TEXT_NAMES for key in keys_in_head(file))


def _parse_line(line: str) -> Any:
    try:
        return parse_json_text(line).value
    except BadJson:
        return None


def _array_rows(file: SourceFile) -> Iterator[Row | UnreadablePart]:
    for number, parsed in enumerate(iter_json_array(file, ("",)), 1):
        where = f"{file.name}:item {number}"
        if isinstance(parsed.value, Mapping):
            yield Row(parsed.value, where, frozenset(parsed.flags))
        else:
            yield UnreadablePart(where, "not an object")


def _read_jsonl_rows(file: SourceFile) -> Iterator[Row | SkippedPart | UnreadablePart]:
    for part in read_object_lines(file):
        yield Row(part.value, part.where, part.flags) if isinstance(part, JsonLine) else part
