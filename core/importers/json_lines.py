"""Files with one JSON value a line: rows that somebody wrote, and logs to which a program appends.

In a table of rows each line counts, and an empty one is told. In a log empty lines say nothing, and the last line may
be half written. Must not do: know any format, keep more than one line, or stop at a bad one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from core.importers.input.source import SourceFile
from core.importers.input.streams import BadJson, key_paths, parse_json_text, read_file_lines, read_head_text
from core.importers.records import SkippedPart, UnreadablePart


@dataclass(frozen=True, slots=True)
class JsonLine:
    """One line as it was parsed.

    Attributes:
        value: what it holds; an object, where only such are read.
        where: file and line, for messages.
        flags: how its bytes were read.
    """

    value: Any
    where: str
    flags: frozenset[str]


def read_value_lines(file: SourceFile) -> Iterator[JsonLine | SkippedPart | UnreadablePart]:
    """Read rows of any kind of value.

    Args:
        file: lines of JSON.

    Yields:
        Each line; the skip `blank_line` for an empty one; what is wrong with one that is not JSON.
    """
    with closing(read_file_lines(file)) as lines:
        for number, line in lines:
            where = f"{file.name}:{number}"
            if not line.strip():
                yield SkippedPart("blank_line", where)
                continue
            try:
                value = parse_json_text(line).value
            except BadJson as error:
                yield UnreadablePart(where, _explain_error(line, error))
                continue
            yield JsonLine(value, where, lines.line_flags)


def read_object_lines(file: SourceFile) -> Iterator[JsonLine | SkippedPart | UnreadablePart]:
    """Read rows that are objects; any other value is told as unreadable."""
    for part in read_value_lines(file):
        if isinstance(part, JsonLine) and not isinstance(part.value, Mapping):
            yield UnreadablePart(part.where, "not an object")
        else:
            yield part


def read_log_lines(file: SourceFile) -> Iterator[JsonLine | SkippedPart | UnreadablePart]:
    """Read the objects of a log.

    Yields:
        Each line; the skip `incomplete_last_line` for one that is not yet written to its end; what is wrong with one
        that is not JSON or no object.
    """
    with closing(read_file_lines(file)) as lines:
        for number, line in lines:
            if not line.strip():
                continue
            where = f"{file.name}:{number}"
            try:
                value = parse_json_text(line).value
            except BadJson as error:
                if lines.complete_last:
                    yield UnreadablePart(where, f"this line is not valid JSON: {error.reason}", "bad_line")
                else:
                    yield SkippedPart("incomplete_last_line", where)
                continue
            if isinstance(value, dict):
                yield JsonLine(value, where, lines.line_flags)
            else:
                yield UnreadablePart(where, "this line is not an object", "not_an_object")


def list_log_objects(file: SourceFile, is_worth_reading: Callable[[str], bool] = bool) -> Iterator[Mapping[str, Any]]:
    """The objects of a log that can be read, for what is looked up in it before it is read in order.

    Args:
        file: the log.
        is_worth_reading: whether a line, as text, may hold what is looked for.
    """
    with closing(read_file_lines(file)) as lines:
        for _, line in lines:
            if not is_worth_reading(line):
                continue
            try:
                value = parse_json_text(line).value
            except BadJson:
                continue
            if isinstance(value, dict):
                yield value


def list_head_objects(file: SourceFile, most: int) -> Iterator[tuple[Mapping[str, Any], frozenset[str]]]:
    """The first lines of a file as objects, by which its format is told.

    Args:
        file: lines of JSON, or anything else.
        most: how many lines.

    Yields:
        The fields and their names. A line that is longer than the head has no fields; its first names still tell.
    """
    for line in read_head_text(file).split("\n")[:most]:
        try:
            value = parse_json_text(line).value
        except BadJson:
            yield {}, key_paths(line).get("", frozenset())
            continue
        fields = value if isinstance(value, dict) else {}
        yield fields, frozenset(fields)


def _explain_error(line: str, error: BadJson) -> str:
    start, end = line.lstrip(), line.rstrip()
    if start.startswith("{") and not end.endswith("}"):
        return "not JSON: the object is not closed"
    return f"not JSON: {error.reason}"
