"""Notes: the vault and folder fixtures, front matter, links, tags, boards, what is left out."""

from __future__ import annotations

import codecs
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from importer_checks import (
    EXPECTED,
    check_fixture,
    fixture,
    items_of,
    memory_bundle,
    ms_of,
    path_of,
    reasons,
    records,
    sha,
    troubles,
    zip_bytes,
)

from core.errors import Code, UserError
from core.importers.detect import detect_format
from core.importers.dry_run import import_items
from core.importers.formats.notes.markdown import MarkdownImporter, ObsidianImporter, TextImporter
from core.importers.front_matter import read_front_matter
from core.importers.input.source import open_bundle
from core.importers.notes.survey import survey_notes
from core.importers.records import Record
from core.text.times import format_time
from core.types.values import Kind, Precision, Role, Source, When

OBSIDIAN, MARKDOWN, TEXT = ObsidianImporter(), MarkdownImporter(), TextImporter()
VAULT_FIELDS = (
    "notes_list",
    "tags",
    "must_not_be_tags",
    "links",
    "must_not_be_links",
    "must_not_be_categories",
    "front_matter_as_written",
    "byte_exact",
)
SETTINGS = {".obsidian/app.json": "{}"}


def vault() -> dict[str, Record]:
    return {r.where: r for r in records(check_fixture(OBSIDIAN, "obsidian-vault", beyond=VAULT_FIELDS))}


def note(text: str | bytes, **others: str) -> Record:
    (record,) = (r for r in records(items_of(MARKDOWN, {"n.md": text, **others}, "folder")) if r.where == "n.md")
    return record


# --- the vault fixture


def test_the_vault_holds_what_expected_json_lists() -> None:
    want, found = fixture("obsidian-vault"), vault()
    notes = [r for r in found.values() if r.extra.get("type") != "canvas"]
    with open_bundle(path_of("obsidian-vault")) as bundle:
        seen = survey_notes(bundle)
    assert len(notes) == len(want["notes_list"]) == want["counts"]["notes"]
    assert len(found) - len(notes) == len(seen.canvases) == want["counts"]["canvases"]
    assert seen.attachments == ("Attachments/kiln.png",)
    assert len(seen.attachments) == want["counts"]["attachments"]
    for row in want["notes_list"]:
        record = found[row["path"]]
        assert record.extra["path"] == row["path"]
        assert record.extra["title"] == row.get("title", Path(row["path"]).stem)
        assert record.extra["aliases"] == row.get("aliases", [])
        # `created` is what the front matter tells; a journal's page without any tells its day by its name.
        told = row.get("created") or {"Journal/2026-02-04.md": "2026-02-04T00:00:00Z"}.get(row["path"])
        assert (record.occurred.ms if record.occurred else None) == (ms_of(told) if told else None)
        assert ("front_matter_broken" in record.flags) == ("flag" in row)
        assert (record.kind, record.role, record.source, record.author) == (
            Kind.EPISODE,
            Role.SOURCE,
            Source.DOCUMENT,
            "source",
        )


def test_the_vault_is_byte_exact() -> None:
    files = (
        {f["path"]: f["sha256"] for f in EXPECTED["files"]}
        if isinstance(EXPECTED["files"], list)
        else EXPECTED["files"]
    )
    root = fixture("obsidian-vault")["path"]
    for path, record in vault().items():
        if record.extra.get("type") != "canvas":
            told = files[root + path]
            assert sha(record.text) == (told if isinstance(told, str) else told["sha256"])


def test_the_vaults_tags() -> None:
    want, found = fixture("obsidian-vault"), vault()
    tags = {tag for r in found.values() for tag in r.tags}
    assert set(want["tags"]) <= tags
    assert not tags & set(want["must_not_be_tags"])
    assert all(list(r.tags) == r.extra["tags"] for r in found.values())
    assert found["Projects/Lanternfish.md"].tags == ("work/ferry", "rust", "open-question", "q1/plans")


def test_the_vaults_links() -> None:
    want, found = fixture("obsidian-vault"), vault()
    keys = ("target", "to", "kind", "heading", "block", "alias")
    told = [(row["from"], *(row.get(key) for key in keys)) for row in want["links"]]
    links = [(path, *(row[key] for key in keys)) for path, r in found.items() for row in r.extra["links"]]
    assert sorted(map(repr, links)) == sorted(map(repr, told))
    states = {row["target"]: row["state"] for row in found["Index.md"].extra["links"]}
    assert (states["Inbox"], states["Winter berth"], states["Ossian"]) == ("ambiguous", "unresolved", "resolved")
    assert not {link[1] for link in links} & set(want["must_not_be_links"])


def test_the_vaults_categories_and_front_matter() -> None:
    want, found = fixture("obsidian-vault"), vault()
    categories = {r.category for r in found.values()}
    assert categories == {"general"}
    assert not categories & set(want["must_not_be_categories"])
    for row in want["front_matter_as_written"]:
        assert found[row["path"]].extra["front_matter"][row["key"]] == row["text"]


def test_the_vaults_board() -> None:
    board = vault()["Boards/Ferry map.canvas"]
    assert board.text == "Winter route skips the outer islets\n\nSummer 2026 boats\n\nneeds"
    assert board.extra["files"] == ["Projects/Lanternfish.md"]
    assert board.extra["urls"] == ["https://tides.example.org/utsund"]
    assert board.extra["edges"][0]["fromNode"] == "a1"


def test_a_vault_in_a_zip_reads_the_same(tmp_path: Path) -> None:
    root = path_of("obsidian-vault")
    files: dict[str, bytes | str] = {
        f"Harbour Notes/{p.relative_to(root).as_posix()}": p.read_bytes() for p in root.rglob("*") if p.is_file()
    }
    path = tmp_path / "vault.zip"
    path.write_bytes(zip_bytes(files))
    with open_bundle(path) as bundle:
        assert detect_format(bundle).format == "obsidian"
        found = {r.where: r.identity for r in records(list(OBSIDIAN.read(bundle)))}
    assert found == {path: record.identity for path, record in vault().items()}


def test_the_vault_is_never_written_to(tmp_path: Path) -> None:
    copy = shutil.copytree(path_of("obsidian-vault"), tmp_path / "v", copy_function=shutil.copyfile)
    before = {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in copy.rglob("*")}
    with open_bundle(copy) as bundle:
        list(OBSIDIAN.read(bundle))
    assert {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in copy.rglob("*")} == before


# --- the folder with a FIFO, NUL bytes


def test_a_folder_with_a_fifo(tmp_path: Path) -> None:
    copy = shutil.copytree(path_of("hostile-fifo-folder"), tmp_path / "f", copy_function=shutil.copyfile)
    want = fixture("hostile-fifo-folder")
    os.mkfifo(copy / want["fifo_name"])
    items = check_fixture(MARKDOWN, "hostile-fifo-folder", copy, beyond=("setup", "fifo_name"))
    found = {r.where: r for r in records(items)}
    assert len(found) == want["counts"]["notes"]
    for row in want["exact_texts"]:
        assert sha(found[row["file"]].text) == row["sha256"]
    with open_bundle(copy) as bundle:
        assert reasons(list(import_items(bundle, MARKDOWN))) == {"not_a_regular_file": 1}


def test_nul_bytes_stay() -> None:
    items = check_fixture(TEXT, "hostile-nul-bytes", beyond=("nul_bytes",))
    want = fixture("hostile-nul-bytes")
    assert len(items) == want["counts"]["items"]
    assert records(items)[0].text.count("\0") == want["nul_bytes"]


# --- identity


def test_a_changed_note_is_a_new_record_and_an_unchanged_one_is_not() -> None:
    files = {"a.md": "one", "b.md": "two"}
    before = {r.where: r.identity for r in records(items_of(MARKDOWN, files, "folder"))}
    after = {r.where: r.identity for r in records(items_of(MARKDOWN, {**files, "b.md": "two!"}, "folder"))}
    assert before["a.md"] == after["a.md"]
    assert before["b.md"] != after["b.md"]
    same_text = records(items_of(MARKDOWN, {"a.md": "x", "b.md": "x"}, "folder"))
    assert same_text[0].identity != same_text[1].identity


# --- front matter


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("no", "no"),
        ("1:30", "1:30"),
        ("43.0", "43.0"),
        ("1983-11-02", "1983-11-02"),
        ("0777", "0777"),
        ("~", "~"),
        ("", ""),
    ],
)
def test_values_stay_as_written(value: str, written: str) -> None:
    assert note(f"---\nkey: {value}\n---\nbody").extra["front_matter"] == {"key": written}


@pytest.mark.parametrize(
    "text",
    [
        '---\ntitle: "open\n---\nbody #kept',
        "---\ntags: [a, b\n---\nbody #kept",
        "---\n\tkey: tab\n---\nbody #kept",
        "---\na: b: c\n---\nbody #kept",
        "---\nkey: value\nno end #kept",
        "---\n? [a]\n: b\n---\nbody #kept",
        "---\nk: \x07\n---\nbody #kept",
    ],
)
def test_broken_front_matter_is_flagged_and_kept(text: str) -> None:
    record = note(text)
    assert record.flags == ("front_matter_broken",)
    assert record.text == text
    assert record.tags == ("kept",)
    assert record.extra["front_matter"] == {}


@pytest.mark.parametrize(
    "text", ["---\njust prose\n---\nmore", "---\n# Heading\n\nmore", "----\na: b\n---\n", "text\n---\na: b\n---\n"]
)
def test_rulers_are_no_front_matter(text: str) -> None:
    record = note(text)
    assert record.flags == ()
    assert record.extra["front_matter"] == {}


@pytest.mark.slow
def test_front_matter_of_hostile_sizes() -> None:
    deep = "---\na: " + "[" * 3000 + "]" * 3000 + "\n---\nbody"
    laughs = "---\na: &a [x]\n" + "".join(f"b{n}: &b{n} [*a, *a, *a]\n" for n in range(30)) + "---\nbody"
    huge = "---\n" + "key: value\n" * 40_000 + "---\nbody"
    assert note(deep).flags == note(huge).flags == ("front_matter_broken",)
    assert note(laughs).extra["front_matter"]["b3"] == ["*a", "*a", "*a"]


def test_crlf_front_matter() -> None:
    record = note("---\r\ntitle: T\r\ntags:\r\n  - a\r\n---\r\n#b\r\n")
    assert (record.extra["title"], record.tags) == ("T", ("a", "b"))
    assert record.text.count("\r\n") == 6


@pytest.mark.parametrize(
    ("line", "tags"),
    [
        ("tags: [a, b c]", ("a", "b c")),
        ("tags: a, b", ("a", "b")),
        ("tags: a b", ("a", "b")),
        ("tag: a", ("a",)),
        ("Tags: ['#a', A, 2026, work/x/]", ("a", "work/x")),
        ("tags:", ()),
        ("tags: 2026", ()),
        ("tags: [[a], [b]]", ("a", "b")),
    ],
)
def test_tags_of_front_matter(line: str, tags: tuple[str, ...]) -> None:
    assert note(f"---\n{line}\n---\n").tags == tags


@pytest.mark.parametrize(
    ("line", "iso", "precision"),
    [
        ("created: 2026-01-05", "2026-01-05T00:00:00Z", Precision.DAY),
        ("date: 2026-01-05T09:30", "2026-01-05T09:30:00Z", Precision.MINUTE),
        ("Date Created: 2026-01-05 09:30:15", "2026-01-05T09:30:15Z", Precision.SECOND),
        ("created_at: 2026-01-05T09:30:00+02:00", "2026-01-05T07:30:00Z", Precision.SECOND),
        ('created: "[[2026-01-05]]"', "2026-01-05T00:00:00Z", Precision.DAY),
        ("created: yesterday\ndate: 2026-01-05", "2026-01-05T00:00:00Z", Precision.DAY),
    ],
)
def test_times_of_making(line: str, iso: str, precision: Precision) -> None:
    when = note(f"---\n{line}\n---\n").occurred
    assert when is not None
    assert (when.ms, when.precision) == (ms_of(iso), precision)


def dated(files: dict[str, bytes | str], importer: Any = MARKDOWN, kind: str = "folder") -> dict[str, list[str | None]]:
    """By path, the date of each section as it would be written."""
    found: dict[str, list[str | None]] = {}
    for record in records(items_of(importer, files, kind)):
        times = [record.occurred, *(section.occurred for section in record.sections)]
        found[record.where] = [None if when is None else format_time(when) for when in times]
    return found


@pytest.mark.parametrize(
    ("path", "want"),
    [
        ("Daily/2026-02-14.md", "2026-02-14"),
        ("journals/2026_02_14.md", "2026-02-14"),
        ("Weekly/2026-W07.md", "2026-02"),
        ("Monthly/2026-02.md", "2026-02"),
        ("log/2026/02/14.md", "2026-02-14"),
        ("log/2026/02-February/14.md", "2026-02-14"),
        ("2026-02-14 Meeting with the port.txt", "2026-02-14"),
        ("boards/2026-02-14.canvas", "2026-02-14"),
        ("log/2026/13/14.md", None),
        ("Projects/2026.02.1.md", None),
    ],
)
def test_a_note_is_dated_by_its_name(path: str, want: str | None) -> None:
    board = json.dumps({"nodes": [{"type": "text", "text": "words"}]})
    assert dated({path: board if path.endswith(".canvas") else "words"})[path] == [want]


def test_a_single_text_is_dated_by_its_name() -> None:
    assert dated({"2026-02-14.txt": "words"}, TEXT, "file") == {"2026-02-14.txt": ["2026-02-14"]}


def test_the_front_matter_goes_before_the_name_and_the_nearest_heading_before_both() -> None:
    front = "---\ndate: 2026-02-13\n---\n"
    assert dated({"2026-02-14.md": front + "words"}) == {"2026-02-14.md": ["2026-02-13"]}
    assert dated({"2026-02-14.md": front + "# 2026-02-12\nwords"}) == {"2026-02-14.md": ["2026-02-12"]}
    # The day a note is about, not the day its file was made; the more exact of two that tell the same day.
    both = "---\ncreated: 2026-02-16T08:00\nday: 2026-02-14\n---\nwords"
    same = "---\ndate: 2026-02-14\ncreated: 2026-02-14T08:00Z\n---\n# 14 February 2026\nwords"
    assert dated({"a.md": both, "b.md": same}) == {"a.md": ["2026-02-14"], "b.md": ["2026-02-14T08:00+00:00"]}


def test_each_dated_section_has_its_own_date() -> None:
    text = (
        "---\ncreated: 2025-01-05\n---\n# Log\n\nAbout this log.\n\n## 2026-02-03\none\n### detail\ntwo\n"
        "## Monday, 9 February 2026 - port\nthree\n\n```\n## 2026-02-28\n```\n# Ideas\nfour\n"
    )
    (record,) = records(items_of(MARKDOWN, {"n.md": text}, "folder"))
    assert dated({"n.md": text})["n.md"] == ["2025-01-05", "2026-02-03", "2026-02-09", "2025-01-05"]
    assert [text[section.start :].split("\n")[0] for section in record.sections] == [
        "## 2026-02-03",
        "## Monday, 9 February 2026 - port",
        "# Ideas",
    ]
    assert record.text == text


def test_what_stands_above_the_first_dated_section_needs_words_to_be_one() -> None:
    assert dated({"n.md": "# Log\n\n2026-02-03\n----------\none\n## [[2026-02-04]]\ntwo"}) == {
        "n.md": ["2026-02-03", "2026-02-04"]
    }
    assert dated({"n.md": "# Log\nwords\n## 2026-02-03\none\n# Rest\ntwo"}) == {"n.md": [None, "2026-02-03", None]}


def test_the_fixture_s_log_is_dated_section_by_section() -> None:
    log = vault()["Projects/Decision log.md"]
    assert log.occurred == When(ms_of("2026-02-03T20:15:00Z"), Precision.SECOND, 0)
    assert [(log.text[s.start :][:13], s.occurred) for s in log.sections] == [
        ("## 2026-02-10", When(ms_of("2026-02-10T00:00:00Z"), Precision.DAY))
    ]


def test_no_time_is_made_up(tmp_path: Path) -> None:
    (tmp_path / "plain.md").write_text("x", encoding="utf-8")
    os.utime(tmp_path / "plain.md", (1_700_000_000, 1_700_000_000))
    with open_bundle(tmp_path) as bundle:
        assert records(list(MARKDOWN.read(bundle)))[0].occurred is None
    assert note("---\ndate: 03/04/2026\n---\n").occurred is None
    unreadable = note("---\ncreated: long ago\n---\n")
    assert (unreadable.occurred, unreadable.flags) == (None, ("time_unreadable",))


def test_a_named_author_is_kept() -> None:
    assert note("---\nauthor: Torunn\n---\n").author == "Torunn"


def test_front_matter_ends_where_its_line_ends() -> None:
    front = read_front_matter("---\na: b\n---  \nbody")
    assert (front.values, front.body_at) == ({"a": "b"}, 15)
    assert read_front_matter("---\na: b\n---").body_at == 12


# --- what is left out, what is no text


def test_what_a_vault_leaves_out() -> None:
    files = {
        **SETTINGS,
        ".obsidian/plugins/x/main.js": "x",
        ".obsidian/plugins/templater-obsidian/data.json": '{"templates_folder": "Forms"}',
        ".trash/a.md": "x",
        "Forms/Day.md": "x",
        "Work/Templates/Real.md": "a real note",
        "Work/Templates/Form.md": "# {{title}}",
        ".git/config": "x",
        "._n.md": "x",
        ".n.md.icloud": "x",
        "pic.png": "x",
        "notes.txt": "x",
        "blank.md": " \n\ufeff".removesuffix("\ufeff"),
        "n.md": "n",
    }
    items = items_of(OBSIDIAN, files, "folder")
    assert [r.where for r in records(items)] == ["Work/Templates/Real.md", "n.md"]
    assert reasons(items) == {
        "vault_settings": 3,
        "trash": 1,
        "template": 2,
        "hidden_file": 2,
        "not_downloaded": 1,
        "empty_file": 1,
    }
    assert survey_notes(memory_bundle(files, "folder")).attachments == ("notes.txt", "pic.png")


@pytest.mark.parametrize("settings", [{}, {".obsidian/templates.json": "{}"}, {".obsidian/templates.json": "broken"}])
def test_the_templates_folder_by_its_usual_name(settings: dict[str, str]) -> None:
    items = items_of(OBSIDIAN, {**SETTINGS, **settings, "templates/x.md": "plain", "n.md": "n"}, "folder")
    assert [r.where for r in records(items)] == ["n.md"]


def test_a_plain_folder_has_no_templates_and_says_what_is_no_note() -> None:
    files = {
        "Templates/a.md": "{{title}}",
        "b.txt": "b",
        "c.MARKDOWN": "c",
        "d.png": "x",
        "e.md": "",
        "f.canvas": '{"nodes": []}',
    }
    items = items_of(MARKDOWN, files, "folder")
    assert {r.where for r in records(items)} == {"Templates/a.md", "b.txt", "c.MARKDOWN"}
    assert reasons(items) == {"not_a_note": 1, "empty_file": 1, "no_text": 1}


def test_binary_files_that_pose_as_notes() -> None:
    items = items_of(MARKDOWN, {"a.md": b"PK\x03\x04rest", "b.md": bytes(range(256)), "c.md": "good"}, "folder")
    assert [r.where for r in records(items)] == ["c.md"]
    assert [(t.where, t.reason) for t in troubles(items)] == [("a.md", "not_text"), ("b.md", "not_text")]


@pytest.mark.parametrize("board", ["{", "[]", "3"])
def test_a_broken_board_is_told(board: str) -> None:
    items = items_of(OBSIDIAN, {**SETTINGS, "b.canvas": board, "n.md": "n"}, "folder")
    assert reasons(items) == {"vault_settings": 1, "bad_canvas": 1}
    assert len(records(items)) == 1


def test_boards_have_tags_and_links_too() -> None:
    nodes = [{"type": "text", "text": "see [[n]] #t `#no`"}, "stray", {"type": "text", "text": 3}]
    files: dict[str, bytes | str] = {
        **SETTINGS,
        "b.canvas": codecs.BOM_UTF8 + json.dumps({"nodes": nodes}).encode(),
        "n.md": "n",
    }
    board = records(items_of(OBSIDIAN, files, "folder"))[0]
    assert (board.tags, board.extra["links"][0]["to"]) == (("t",), "n.md")


# --- encodings and single files


def test_encodings_of_notes() -> None:
    assert note("blå".encode("cp1252")).text == "blå"
    assert note("blå".encode("cp1252")).flags == ("encoding_guessed",)
    assert note("blå".encode("utf-16")).text == "blå"
    marked = note(codecs.BOM_UTF8 + b"---\ntags: a\n---\nx")
    assert marked.text.encode() == codecs.BOM_UTF8 + b"---\ntags: a\n---\nx"
    assert marked.tags == ("a",)


def test_a_single_note_is_markdown_and_any_other_text_is_text() -> None:
    assert detect_format(memory_bundle({"n.md": "x"})).format == "markdown"
    assert detect_format(memory_bundle({"n": "x"})).format == "text"
    (record,) = records(items_of(TEXT, {"log.txt": "---\ntags: a\n---\n#b [[c]]\r\n"}))
    assert record.tags == ()
    assert record.extra == {"path": "log.txt", "title": "log"}
    assert record.text == "---\ntags: a\n---\n#b [[c]]\r\n"


@pytest.mark.parametrize(
    "text", ["[07:10] Fog.", "[[Note]] first", "{{date}} is a form", "[1] a footnote", "[x] done", "{curly}"]
)
def test_prose_in_brackets_is_text(text: str) -> None:
    assert TEXT.detects(memory_bundle({"a": text}))


@pytest.mark.parametrize(
    "data", [b"", b'{"a": 1}', b"[1, 2]", b"[" * 100, b'[{"a"', b"\x89PNG\r\n", b"%PDF-1.7 x", b"\x00\x01\x02\xff"]
)
def test_what_is_no_text(data: bytes) -> None:
    assert not TEXT.detects(memory_bundle({"a": data}))


def test_a_binary_file_is_refused_when_text_is_asked_for() -> None:
    with pytest.raises(UserError) as raised:
        items_of(TEXT, {"a.bin": b"\x00\x01\x02\x03\xff" * 20})
    assert raised.value.code is Code.IMPORT_REFUSED
    assert "a.bin" in raised.value.sentence


def test_text_asked_for_a_folder_reads_each_file() -> None:
    items = items_of(TEXT, {"a": "x", "b": b"\x00\x01\x02\x03", "c": ""}, "folder")
    assert [r.text for r in records(items)] == ["x"]
    assert reasons(items) == {"not_text": 1, "empty_file": 1}


def test_extra_is_json() -> None:
    record = note("---\na: {b: [c, {d: e}]}\n---\n[[x]]")
    extra: Any = json.loads(json.dumps(record.extra))
    assert extra["front_matter"] == {"a": {"b": ["c", {"d": "e"}]}}
