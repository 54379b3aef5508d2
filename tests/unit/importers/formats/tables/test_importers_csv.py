"""Generic CSV: the fixture, delimiters, quoting, damaged records."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from importer_checks import (
    at,
    check_fixture,
    check_row_times,
    fixture,
    items_of,
    memory_bundle,
    path_of,
    reasons,
    records,
    troubles,
)

from core.errors import Code, UserError
from core.importers.formats.tables.csv_rows import CsvImporter
from core.importers.formats.tables.dialect import Dialect, sniff_dialect
from core.importers.input.source import open_bundle
from core.importers.records import Record
from core.types.values import Kind

CSV = CsvImporter()


def texts(data: bytes | str) -> list[str]:
    return [record.text for record in records(items_of(CSV, {"a.csv": data}))]


def test_the_quay_diary_matches_expected_json() -> None:
    items = check_fixture(CSV, "generic-csv", beyond=("row_times", "delimiter"))
    want = fixture("generic-csv")
    assert len(records(items)) == want["counts"]["rows_stored"]
    assert len(items) == want["counts"]["records"]
    check_row_times(items, "generic-csv", "record")
    for row in want["exact_texts"]:
        assert at(items, row["record"]).text == row["text"]
    with open_bundle(path_of("generic-csv")) as bundle:
        assert sniff_dialect(bundle.files[0], strict=True) == Dialect(want["delimiter"])


def test_the_quay_diary_fields_arrive() -> None:
    items = check_fixture(CSV, "generic-csv", beyond=("row_times", "delimiter"))
    first = at(items, 1)
    assert (first.author, first.session, first.ref, first.tags) == ("Nerea", "may", "q-1", ("quay", "crane", "note"))
    assert (first.importance, first.position, first.kind) == (0.7, 0, Kind.EPISODE)
    assert at(items, 3).kind is Kind.FACT
    assert at(items, 3).importance is None
    assert at(items, 3).flags == ()
    assert [at(items, n).position for n in (1, 2, 3, 4, 6, 7, 8)] == list(range(7))


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiters_and_line_ends(delimiter: str, end: str) -> None:
    rows = ['text,author,"my mood"', '"a, b; c|d\te",Bram,fine', "plain,Åse,", ""]
    data = end.join(rows).replace(",", "\0").replace("a\0 b", "a, b").replace("\0", delimiter)
    items = items_of(CSV, {"a.csv": data})
    assert CSV.detects(memory_bundle({"a.csv": data}))
    first, second = records(items)
    assert (first.text, first.author, first.extra["fields"]) == ("a, b; c|d\te", "Bram", {"my mood": "fine"})
    assert (second.text, second.author) == ("plain", "Åse")
    assert troubles(items) == []


def test_the_separator_that_a_spreadsheet_writes_first() -> None:
    data = "sep=|\ntext|author\na;b|Bram\n"
    assert CSV.detects(memory_bundle({"a": data}))
    assert texts(data) == ["a;b"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(encoding: str) -> None:
    (record,) = records(items_of(CSV, {"a.csv": "text,author\nblå ø,Åse\n".encode(encoding)}))
    assert (record.text, record.author) == ("blå ø", "Åse")
    assert record.flags == (("encoding_guessed",) if encoding == "cp1252" else ())


def test_cells_are_text_and_stay_as_they_are() -> None:
    cells = ["=1+1", "@x", "+4", "-3", " both ", "\ttab", "0042", "a\x00b", "'quoted'"]
    data = "text;author\n" + "".join(f'"{cell}";x\n' for cell in cells)
    assert texts(data) == cells


def test_quoted_line_breaks_stay_as_written() -> None:
    assert texts('text,author\n"a\r\nb\nc\rd\r\n\r\n",x\n') == ["a\r\nb\nc\rd\r\n\r\n"]


def test_a_quote_inside_an_unquoted_cell_is_a_quote() -> None:
    assert texts('text,author\n5" pipe,x\n') == ['5" pipe']


def test_a_lost_quote_costs_one_record() -> None:
    data = 'text;author\none;x\n"two;x\nthree;x\n"four";x\nfive;x\n'
    items = items_of(CSV, {"a.csv": data})
    assert [r.text for r in records(items)] == ["one", "three", "four", "five"]
    (trouble,) = troubles(items)
    assert trouble.where == "a.csv:record 2"
    assert "two" not in trouble.message
    assert [r.where for r in records(items)][1:] == ["a.csv:record 3", "a.csv:record 4", "a.csv:record 5"]


def test_a_lost_quote_before_the_end_of_the_file() -> None:
    items = items_of(CSV, {"a.csv": 'text;author\n"one;x\ntwo;x\nthree;x\n'})
    assert [r.text for r in records(items)] == ["two", "three"]
    assert len(troubles(items)) == 1


def test_pieces_of_a_damaged_record_are_no_rows() -> None:
    items = items_of(CSV, {"a.csv": 'text;author;ref\n"one\nsecond "line\nthird";x;y\nwhole;x;r\n'})
    assert [r.text for r in records(items)] == ["whole"]
    assert troubles(items)[0].where == "a.csv:record 1"
    assert {t.where for t in troubles(items)[1:]} <= {"a.csv:after record 1"}


def test_short_rows_are_rows_and_long_ones_are_told() -> None:
    items = items_of(CSV, {"a.csv": "text,author,ref\none\ntwo,x,r,,\nthree,x,r,lost\n\n,,\n"})
    assert [(r.text, r.author) for r in records(items)] == [("one", None), ("two", "x")]
    assert reasons(items) == {"bad_line": 1, "blank_line": 1, "no_text": 1}
    assert troubles(items)[0].where == "a.csv:record 3"


def test_headings_of_every_kind() -> None:
    (record,) = records(items_of(CSV, {"a.csv": "When;Content ;Role;;x;x\n2025-01-01;w;assistant;nameless;1;2\n"}))
    assert record.text == "w"
    assert record.extra["fields"] == {"When": "2025-01-01", "column 4": "nameless", "x": "1", "x (6)": "2"}


@pytest.mark.parametrize(
    "data",
    [
        "",
        "hello",
        "Dear body, message me\nwhen the boat is in, and the wind, and the sea\nyours\n",
        "name,age\na,1\n",
        "text",
        "text,author\n",
        '{"text": 1, "time": 2}\n',
    ],
)
def test_what_is_no_table(data: str) -> None:
    assert not CSV.detects(memory_bundle({"a": data}))


def test_one_column_is_a_table_by_its_ending_or_on_request() -> None:
    assert CSV.detects(memory_bundle({"a.csv": "text\none\ntwo\n"}))
    assert not CSV.detects(memory_bundle({"a.txt": "text\none\ntwo\n"}))
    assert [r.text for r in records(items_of(CSV, {"a.txt": "text\none, and more\n"}))] == []
    assert [r.text for r in records(items_of(CSV, {"a.txt": 'text\n"one, and more"\n'}))] == ["one, and more"]


def test_a_file_without_a_text_column_is_refused() -> None:
    with pytest.raises(UserError) as raised:
        items_of(CSV, {"a.csv": "name,age\na,1\n"})
    assert raised.value.code is Code.IMPORT_REFUSED


def test_a_folder_of_tables_and_its_strangers() -> None:
    items = items_of(CSV, {"a.csv": "text,ref\na,1\n", ".x": "y", "b.csv": "name,age\na,1\n"}, "folder")
    assert [r.text for r in records(items)] == ["a"]
    assert reasons(items) == {"hidden_file": 1, "not_csv": 1}


@pytest.mark.slow
def test_a_cell_of_ten_megabytes() -> None:
    words = "buoy; " * (2 << 20)
    assert texts(f'text;author\n"{words}";x\n') == [words]


@pytest.mark.slow
def test_a_large_file_streams(tmp_path: Path) -> None:
    path = tmp_path / "big.csv"
    with path.open("w", encoding="utf-8", newline="") as out:
        out.write("text;ref\r\n")
        for number in range(4_000):
            out.write(f'"{number}\r\n{"w" * 2000}";{number}\r\n')
    count = 0
    with open_bundle(path) as bundle:
        tracemalloc.start()
        try:
            for item in CSV.read(bundle):
                assert isinstance(item, Record)
                count += 1
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert count == 4_000
    assert peak < 4 << 20
