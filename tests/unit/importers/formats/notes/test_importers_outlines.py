"""Org and Notion: drawers, blocks and dated headings; ids in names, fields that stay words, tables and their pages."""

from __future__ import annotations

import csv
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from importer_checks import items_of, memory_bundle, reasons, records

from core.importers.formats.notes.notion import NotionImporter
from core.importers.formats.notes.org import OrgImporter
from core.importers.records import Record
from core.text.times import format_time

ORG, NOTION = OrgImporter(), NotionImporter()
ID = "0123456789abcdef0123456789abcdef"
OTHER = ID[::-1]


def org(text: str, name: str = "a.org") -> Record:
    return records(items_of(ORG, {name: text}))[0]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("* A\nwords", "* A\nwords"),
        ("* A  :tag:\n:PROPERTIES:\n:X: y\n:END:\nwords", "* A\nwords"),
        ("#+TITLE: T\n#+OPTIONS: toc:nil\n\n* A", "* A"),
        ("# comment\n#not one\n* A", "#not one\n* A"),
        ("* A\n#+BEGIN_SRC c\n# kept\n* kept\n#+END_SRC\nend", "* A\n# kept\n* kept\nend"),
        ("* A\n[[file:x.org][the words]] [[https://a]]", "* A\nthe words https://a"),
        ("* A\n:LOGBOOK:\nnever closed", "* A"),
        ("* A\r\nb\r\n", "* A\nb"),
    ],
)
def test_words_stay_and_what_is_for_the_program_goes(text: str, want: str) -> None:
    assert org(text).text == want


def test_headings_with_a_date_begin_sections_of_that_day() -> None:
    text = "intro\n* 2024-01-02 one\na\n* no date\nb\n* <2024-02-03 Sat 14:05> two\nc\n** CREATED\n:PROPERTIES:\n"
    found = org(text + ":CREATED: [2024-03-04 Mon]\n:END:\nd")
    starts = [found.text[one.start :].partition("\n")[0] for one in found.sections]
    assert starts == ["* 2024-01-02 one", "* <2024-02-03 Sat 14:05> two", "** CREATED"]
    assert [format_time(one.occurred) for one in found.sections if one.occurred] == [
        "2024-01-02",
        "2024-02-03T14:05Z",
        "2024-03-04",
    ]
    assert found.occurred is None


def test_a_file_is_dated_by_its_first_heading_its_date_or_its_name() -> None:
    times = [
        org("* <2024-05-06 Mon> x").occurred,
        org("#+DATE: 2024-05-06\n* x").occurred,
        org("* x", "2024-05-06.org").occurred,
    ]
    assert [format_time(one) if one else None for one in times] == ["2024-05-06"] * 3


@pytest.mark.parametrize(
    ("name", "text", "want"),
    [
        ("a", "#+TITLE: x\nwords", True),
        ("a", "* x\n:PROPERTIES:\n:A: b\n:END:\n", True),
        ("a", "* x\n* y", False),
        ("a.org", "* x\n* y", True),
        ("a.org", "words", False),
        ("a.org", "\x00\x01\x02" * 30, False),
    ],
)
def test_an_outline_is_told_by_its_marks(name: str, text: str, want: bool) -> None:
    assert ORG.detects(memory_bundle({name: text})) is want


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.sampled_from(["* A", ":END:", ":PROPERTIES:", "#+begin_src", "#+end_src", "words", "", "<2024-01-01>"]))
)
def test_any_outline_is_survived(lines: list[str]) -> None:
    (item,) = items_of(ORG, {"a.org": "\n".join(["* A", *lines])})
    assert isinstance(item, Record)
    assert all(0 < one.start < len(item.text) for one in item.sections)


def notion(files: dict[str, str]) -> list[Any]:
    return items_of(NOTION, files, "folder")


def test_fields_stay_words_and_give_date_and_tags() -> None:
    (record,) = records(notion({f"Page {ID}.md": "# Page\n\nCreated: March 5, 2024\nTags: a, b\nNote: keep\n\nbody"}))
    assert record.text == "Created: March 5, 2024\nTags: a, b\nNote: keep\n\nbody"
    assert (record.extra["title"], record.tags) == ("Page", ("a", "b"))
    assert record.occurred is not None
    assert record.occurred.ms == 1_709_596_800_000


def test_an_edited_page_is_another_record_and_a_renamed_one_is_not() -> None:
    one, same, edited = (
        records(notion({f"{name} {ID}.md": f"# {name}\n\n{text}"}))[0].identity
        for name, text in (("A", "x"), ("B", "x"), ("A", "y"))
    )
    assert one == same
    assert one != edited


def test_rows_that_are_pages_come_once_and_others_come_as_rows() -> None:
    items = notion(
        {
            f"Log {ID}.csv": "Name,State\nOne,open\n",
            f"Log {ID}_all.csv": 'Name,State\nOne,open\n"Two, three",done\n,\n',
            f"Log {ID}/One {OTHER}.md": "# One\n\nState: open",
        }
    )
    assert [record.text for record in records(items)] == ["State: open", "Name: Two, three\nState: done"]
    assert reasons(items) == {"told_as_page": 1}


@pytest.mark.parametrize(
    ("files", "want"),
    [
        ({f"A {ID}.md": "# A\nx"}, True),
        ({f"A {ID}.md": "# B\nx"}, False),
        ({f"A {ID}.md": "# A", "b.md": "b", "c.md": "c"}, False),
        ({"A.md": "# A"}, False),
        ({f"A long title that is cut {ID}.md": "# A long title that is cut off in a name"}, True),
        ({f"What why {ID}.md": "# What / why?"}, True),
    ],
)
def test_an_export_is_told_by_its_names_and_titles(files: dict[str, str], want: bool) -> None:
    assert NOTION.detects(memory_bundle(files, "folder")) is want


def test_a_table_with_an_endless_cell_is_told_and_the_pages_come_in() -> None:
    files = {f"A {ID}.md": "# A\nx", f"T {OTHER}.csv": "Name\n" + "y" * ((1 << 20) + 1)}
    before = csv.field_size_limit()
    items = notion(files)
    assert [record.text for record in records(items)] == ["x"]
    assert reasons(items) == {"bad_table": 1}
    assert csv.field_size_limit() == before
