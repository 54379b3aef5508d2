"""Several exports at once: each goes to its own importer, what one program wrote stays whole, no fault stops others."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest
from importer_checks import FIXTURES, memory_bundle, reasons, records, troubles, zip_bytes

from core.importers.detect import detect_format, list_importers
from core.importers.dry_run import dry_run_import, import_items
from core.importers.input.source import open_bundle
from core.importers.records import Item, Part, SkippedPart

CASES = sorted(FIXTURES.glob("*/input/*"))
EVENT = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:x\nEND:VEVENT\nEND:VCALENDAR\n"
CARD = "BEGIN:VCARD\nFN:Ana\nEND:VCARD\n"
CHAT = "25/2/2024, 9:41 - Ana: said\n"


def read(path: Path) -> tuple[str, list[Item]]:
    with open_bundle(path) as bundle:
        importer = detect_format(bundle)
        items = list(import_items(bundle, importer))
        assert items == list(import_items(bundle, importer))
        assert dry_run_import(bundle, importer).records == len(records(items))
    return importer.format, items


def identities(path: Path) -> set[str]:
    return {record.identity for record in records(read(path)[1])}


def mixed_folder(into: Path) -> Path:
    """Every fixture with rows side by side, each under a name that says nothing."""
    into.mkdir()
    for number, source in enumerate(CASES):
        target = into / f"{number:02d}-{source.name}"
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)
    return into


def test_a_folder_of_all_formats_gives_what_each_gives_alone(tmp_path: Path) -> None:
    form, items = read(mixed_folder(tmp_path / "all"))
    assert form == "mixed"
    # A file or folder that is found by its name alone inside a folder, and a chat whose key is its file's name.
    renamed = {"whatsapp", "signal", "imessage"}
    alone = {one for case in CASES if case.parts[-3] not in renamed for one in identities(case)}
    found = {record.identity for record in records(items)}
    assert {one for one in found if one.partition(":")[0] not in renamed} == alone
    assert Counter(one.partition(":")[0] for one in found)["whatsapp"] == 15


def test_zips_beside_each_other_are_opened_and_a_broken_one_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zip_bytes({"_chat.txt": CHAT, "card.vcf": CARD}))
    (tmp_path / "b.zip").write_bytes(zip_bytes({"c.ics": EVENT}))
    (tmp_path / "c.zip").write_bytes(b"PK\x03\x04 nothing")
    (tmp_path / "d.bin").write_bytes(b"\x00\x01")
    form, items = read(tmp_path)
    assert form == "mixed"
    assert [(r.identity.partition(":")[0], r.where) for r in records(items)] == [
        ("whatsapp", "a.zip/_chat.txt:1"),
        ("calendar", "b.zip/c.ics:2"),
    ]
    assert [(one.where, one.reason) for one in troubles(items)] == [("c.zip", "refused_file")]
    assert reasons(items) == {"media_files": 1, "refused_file": 1, "unknown_file": 1}


def test_a_refused_file_does_not_take_the_others_with_it(tmp_path: Path) -> None:
    (tmp_path / "telegram.json").write_text(
        '{"name": "x", "type": "x", "messages": [{"date": "", "text": "", "from_id": "u"}'
    )
    (tmp_path / "b.ics").write_text(EVENT)
    _, items = read(tmp_path)
    assert [record.text for record in records(items)] == ["x"]
    (trouble,) = troubles(items)
    assert trouble.where == "telegram.json"
    assert "nothing was imported" not in trouble.message


@pytest.mark.parametrize(
    ("files", "kind", "want"),
    [
        ({"_chat.txt": CHAT, "card.vcf": CARD}, "folder", "whatsapp"),
        ({"_chat.txt": CHAT, "card.vcf": CARD}, "zip", "whatsapp"),
        ({"a/_chat.txt": CHAT, "b/card.vcf": CARD}, "folder", "mixed"),
        ({"Takeout/a/x.ics": EVENT, "Takeout/b/card.vcf": CARD}, "zip", "mixed"),
        ({"Other/a/x.ics": EVENT, "Other/b/card.vcf": CARD}, "zip", "mixed"),
        ({"Other/a/x.ics": EVENT, "Other/b/photo.jpg": "x"}, "zip", "calendar"),
        ({".obsidian/app.json": "{}", "note.md": "x", "a.ics": EVENT}, "folder", "obsidian"),
        ({"a.ics": EVENT, "note.md": "x"}, "folder", "mixed"),
        ({"notes/a.md": "x", "notes/b.txt": "y", "notes/c.jpg": "z"}, "folder", "markdown"),
        ({"a.ics": EVENT, "b.vcf": CARD, "note.md": "x", "t.txt": "y"}, "folder", "mixed"),
    ],
)
def test_what_one_program_wrote_stays_whole(files: dict[str, str], kind: str, want: str) -> None:
    assert detect_format(memory_bundle(files, kind)).format == want


def test_loose_notes_and_tables_come_in_by_their_names_and_others_are_counted() -> None:
    files = {
        "a.ics": EVENT,
        "b.vcf": CARD,
        "note.md": "words",
        "t.txt": "text",
        "page.html": "<p>x</p>",
        "x.json": "{}",
        "notes/one.md": "one",
        "notes/two.md": "two",
        ".hidden": "x",
        "rows.csv": "text,time\nrow,2024-01-01\n",
    }
    bundle = memory_bundle(files, "folder")
    items = list(import_items(bundle, detect_format(bundle)))
    assert sorted(record.text for record in records(items)) == ["Ana", "one", "row", "text", "two", "words", "x"]
    assert reasons(items) == {"unknown_file": 2}
    assert sum(record.where.startswith("notes/") for record in records(items)) == 2


def test_the_collection_is_asked_first_and_can_be_forced() -> None:
    assert list_importers()[0].format == "mixed"
    bundle = memory_bundle({"a.ics": EVENT, "b.bin": b"\x00"}, "folder")
    items = list(import_items(bundle, detect_format(bundle, "mixed")))
    assert reasons(items) == {"unknown_file": 1}


def test_many_files_that_nobody_knows_are_named_once_and_few_one_by_one(tmp_path: Path) -> None:
    for number in range(7):
        (tmp_path / f"p{number}.heic").write_bytes(b"\x00\x00\x00\x18ftypheic\x00\x01\x02")
    (tmp_path / "a.bin").write_bytes(b"\x00\x01")
    (tmp_path / "note.md").write_text("MZ words, not a program")
    (tmp_path / "b.ics").write_text(EVENT)
    _, items = read(tmp_path)
    assert [(one.where, one.count) for one in items if isinstance(one, SkippedPart)] == [("a.bin", 1), ("*.heic", 7)]
    assert {record.part for record in records(items)} == {Part("note.md", "markdown"), Part("b.ics", "calendar")}


def test_loose_files_of_one_kind_are_one_source_and_notes_keep_their_names(tmp_path: Path) -> None:
    for name in ("one.md", "two.md", "rows.csv", "deep/three.md", "deep/page.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        text = {"csv": "text\nrow\n", "html": "<!doctype html><html><body>page</body></html>"}
        (tmp_path / name).write_text(text.get(name.rpartition(".")[2], f"see [[two]] {name}"))
    form, items = read(tmp_path)
    assert form == "mixed"
    assert {(record.part.name, record.part.format, record.where) for record in records(items) if record.part} == {
        ("*.md", "markdown", "one.md"),
        ("*.md", "markdown", "two.md"),
        ("rows.csv", "csv", "rows.csv:record 1"),
        ("deep/three.md", "markdown", "three.md"),
        ("deep/page.html", "html", "page.html"),
    }
    one = next(record for record in records(items) if record.where == "one.md")
    assert one.extra["links"][0]["to"] == "two.md"


@pytest.mark.parametrize(
    "inner",
    [
        {"META-INF/MANIFEST.MF": "x", "LICENSE.txt": "words"},
        {"[Content_Types].xml": "<Types/>", "xl/workbook.xml": "<w/>"},
        {"pkg-1.dist-info/METADATA": "x", "pkg/README.md": "words"},
        {"data.bin": "\x00\x01"},
    ],
)
def test_an_archive_of_a_program_is_one_unknown_file(inner: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "program.pkg").write_bytes(zip_bytes(inner))
    (tmp_path / "b.ics").write_text(EVENT)
    (tmp_path / "c.vcf").write_text(CARD)
    _, items = read(tmp_path)
    assert [(one.where, one.count) for one in items if isinstance(one, SkippedPart)] == [("program.pkg", 1)]
    assert len(records(items)) == 2
