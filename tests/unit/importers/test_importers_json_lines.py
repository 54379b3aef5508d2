"""Lines of JSON: rows each of which counts, logs whose last line may be half written, and heads that tell a format."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from importer_checks import memory_bundle

from core.importers.input.source import SourceFile
from core.importers.json_lines import (
    JsonLine,
    list_head_objects,
    list_log_objects,
    read_log_lines,
    read_object_lines,
    read_value_lines,
)
from core.importers.records import SkippedPart, UnreadablePart


def file_of(text: str) -> SourceFile:
    return memory_bundle({"a.jsonl": text}).files[0]


def test_of_rows_every_line_is_told() -> None:
    found = list(read_object_lines(file_of('{"a": 1}\n\n[2]\n{"a": \n7 8\n{"b": 2}')))
    assert [part.where.rpartition(":")[2] for part in found] == ["1", "2", "3", "4", "5", "6"]
    assert [part.value for part in found if isinstance(part, JsonLine)] == [{"a": 1}, {"b": 2}]
    assert [part.reason for part in found if isinstance(part, SkippedPart)] == ["blank_line"]
    assert [part.message for part in found if isinstance(part, UnreadablePart)] == [
        "not an object",
        "not JSON: the object is not closed",
        "not JSON: it breaks off or is malformed near character 2",
    ]
    assert [part.value for part in read_value_lines(file_of("[2]\n3")) if isinstance(part, JsonLine)] == [[2], 3]


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ('{"a": 1}\n\n{"b": 2}\n', []),
        ('{"a": 1}\n{"b": ', ["incomplete_last_line"]),
        ('{"a": 1}\n{"b": \n', ["bad_line"]),
        ("3\n", ["not_an_object"]),
    ],
)
def test_of_a_log_the_last_line_may_be_half_written(text: str, reasons: list[str]) -> None:
    found = list(read_log_lines(file_of(text)))
    assert [part.reason for part in found if not isinstance(part, JsonLine)] == reasons
    assert [part.value for part in found if isinstance(part, JsonLine)] == list(list_log_objects(file_of(text)))


def test_what_is_looked_up_in_a_log_is_parsed_alone() -> None:
    text = '{"title": 1}\nnot read\n{"other": 2}\n'
    assert list(list_log_objects(file_of(text), lambda line: "title" in line)) == [{"title": 1}]


def test_a_line_that_is_longer_than_the_head_still_tells_its_names() -> None:
    long = json.dumps({"sessionId": "s", "text": "x" * 200_000})
    ((fields, names),) = list_head_objects(file_of(long), 5)
    assert (fields, "sessionId" in names) == ({}, True)
    assert list(list_head_objects(file_of('{"a": 1}\n3'), 1)) == [({"a": 1}, frozenset("a"))]


@given(st.lists(st.one_of(st.just(""), st.integers().map(str), st.dictionaries(st.text(), st.text()).map(json.dumps))))
def test_no_line_is_lost(lines: list[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    assert len(list(read_value_lines(file_of(text)))) == len(lines)
    assert len(list(read_log_lines(file_of(text)))) == sum(bool(line) for line in lines)
