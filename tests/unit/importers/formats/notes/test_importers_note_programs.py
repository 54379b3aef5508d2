"""Keep, Evernote, Day One, Roam and Joplin: words, boxes, dates in zones, and files made to hurt."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from importer_checks import items_of, memory_bundle, reasons, records

from core.errors import Code, UserError
from core.importers.formats.notes.day_one import DayOneImporter
from core.importers.formats.notes.evernote import EvernoteImporter
from core.importers.formats.notes.joplin import JoplinImporter
from core.importers.formats.notes.keep import KeepImporter
from core.importers.formats.notes.roam import RoamImporter
from core.importers.records import Importer
from core.text.times import format_time

KEEP, EVERNOTE, DAY_ONE, ROAM, JOPLIN = (
    KeepImporter(),
    EvernoteImporter(),
    DayOneImporter(),
    RoamImporter(),
    JoplinImporter(),
)


def enex(content: str, extra: str = "") -> str:
    page = f"<![CDATA[<en-note>{content}</en-note>]]>"
    return f"<en-export><note><title>T</title><content>{page}</content>{extra}</note></en-export>"


def one(importer: Importer, text: str | bytes, name: str = "a.json") -> Any:
    (record,) = records(items_of(importer, {name: text}))
    return record


@pytest.mark.parametrize(
    ("content", "want"),
    [
        ("<div>a</div><div><br/></div><div>b</div>", "a\n\nb"),
        ('<en-todo checked="true"/>a<br/><en-todo/>b<br/><en-todo checked="false"></en-todo>c', "[x] a\n[ ] b\n[ ] c"),
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        ("&lt;tag&gt; &#233;&nbsp;x", "<tag> é\xa0x"),
        ("]]]]><![CDATA[>", "]]>"),
    ],
)
def test_a_page_of_evernote_is_its_words(content: str, want: str) -> None:
    assert one(EVERNOTE, enex(content), "a.enex").text == want


@pytest.mark.parametrize(
    "head",
    [
        '<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;&a;">]>',
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x [<!ENTITY % a "b">]>',
    ],
)
def test_declared_entities_are_refused(head: str) -> None:
    with pytest.raises(UserError, match="no program writes") as error:
        items_of(EVERNOTE, {"a.enex": head + enex("words")})
    assert error.value.code is Code.IMPORT_REFUSED


@pytest.mark.parametrize(
    "raw", [enex("words")[:-9], "<en-export>" + "<a>" * 600, "<en-export>&nothing;</en-export>", "<en-export"]
)
def test_xml_that_is_none_is_refused(raw: str) -> None:
    with pytest.raises(UserError) as error:
        items_of(EVERNOTE, {"a.enex": raw})
    assert error.value.code is Code.IMPORT_REFUSED


def test_what_is_attached_is_passed_over_however_long(tmp_path: Any) -> None:
    attached = f'<resource><data encoding="base64">{"QUJD" * 2_000_000}</data><mime>image/png</mime></resource>'
    record = one(EVERNOTE, enex("words", attached), "a.enex")
    assert (record.text, record.extra["attachments"]) == ("words", ["file"])


@pytest.mark.parametrize(
    ("zone", "want"),
    [
        ("Asia/Tokyo", "2024-02-11T07:30:00+09:00"),
        ("America/St_Johns", "2024-02-10T19:00:00-03:30"),
        (None, "2024-02-10T22:30:00+00:00"),
        ("../../etc/passwd", "2024-02-10T22:30:00+00:00"),
        ("", "2024-02-10T22:30:00+00:00"),
    ],
)
def test_an_entry_is_dated_in_the_zone_it_was_written_in(zone: str | None, want: str) -> None:
    entry = {"uuid": "A", "creationDate": "2024-02-10T22:30:00Z", "timeZone": zone, "text": "x"}
    record = one(DAY_ONE, json.dumps({"metadata": {}, "entries": [entry]}))
    assert record.occurred is not None
    assert format_time(record.occurred) == want


def test_roam_blocks_are_an_outline_however_deep() -> None:
    block: dict[str, Any] = {"string": "last", "uid": "x"}
    for _ in range(150):
        block = {"string": "b", "uid": "x", "children": [block]}
    record = one(ROAM, json.dumps([{"title": "Page", "uid": "p", "edit-time": 1, "children": [block]}]))
    assert record.text.split("\n")[0] == "- b"
    assert record.text.split("\n")[-1] == "  " * 150 + "- last"


@pytest.mark.parametrize(
    ("title", "day"), [("January 5th, 2024", "2024-01-05"), ("February 29th, 2024", "2024-02-29"), ("A page", None)]
)
def test_a_page_called_after_a_day_is_of_that_day(title: str, day: str | None) -> None:
    record = one(ROAM, json.dumps([{"title": title, "uid": "p", "edit-time": 1700000000000}]))
    assert format_time(record.occurred) == (day or "2023-11-14T22:13:20.000Z")


def test_joplin_words_that_look_like_fields_stay() -> None:
    ident = "0" * 31 + "1"
    body = f"Title\n\nwords\nkey: value\n\nid: {ident}\nparent_id: \ncreated_time: 2024-03-01T09:00:00.000Z\ntype_: 1"
    record = one(JOPLIN, body, f"{ident}.md")
    assert (record.text, record.extra["title"]) == ("words\nkey: value", "Title")


@pytest.mark.parametrize("importer", [KEEP, EVERNOTE, DAY_ONE, ROAM, JOPLIN])
@pytest.mark.parametrize(
    "text",
    ["", "words", "[]", "{}", '{"title": "x", "textContent": "y"}', '[{"title": "x"}]', "<html/>", '{"entries": []}'],
)
def test_other_files_are_left_to_others(importer: Importer, text: str) -> None:
    assert not importer.detects(memory_bundle({"a.json": text}))
    assert not importer.detects(memory_bundle({"a.json": text, "0" * 32 + ".md": text}, "folder"))


VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-9, 10**18)
    | st.text(max_size=6)
    | st.lists(st.text(max_size=4), max_size=2)
)
FIELDS = [
    "textContent",
    "title",
    "listContent",
    "labels",
    "annotations",
    "attachments",
    "isTrashed",
    "text",
    "tags",
    "uuid",
    "creationDate",
    "location",
    "photos",
    "string",
    "uid",
    "children",
    "create-time",
    "edit-time",
]
MARKS = {"isTrashed": False, "isPinned": False, "isArchived": False, "userEditedTimestampUsec": 1}


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=8))
def test_any_fields_are_read_or_told(fields: dict[str, Any]) -> None:
    assert len(items_of(KEEP, {"a.json": json.dumps(MARKS | fields)})) == 1
    assert len(items_of(DAY_ONE, {"a.json": json.dumps({"metadata": {}, "entries": [fields]})})) == 1
    assert len(items_of(ROAM, {"a.json": json.dumps([fields])})) == 1


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40))
def test_a_text_comes_back_as_it_was_written(text: str) -> None:
    items = items_of(KEEP, {"a.json": json.dumps(MARKS | {"textContent": text})})
    assert [record.text for record in records(items)] == ([text] if text.strip() else [])
    assert reasons(items) == ({} if text.strip() else {"no_text": 1})
