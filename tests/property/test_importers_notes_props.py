"""Properties of the importers of notes, rows and other stores: nothing lost, nothing changed, nothing breaks them."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
from example_counts import count_examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from importer_checks import FIXTURES, items_of, memory_bundle, path_of, records

from core.errors import LociError
from core.importers.formats.memories.mcp_memory import McpMemoryImporter
from core.importers.formats.memories.mem0 import Mem0Importer
from core.importers.formats.memories.openmemory import OpenMemoryImporter
from core.importers.formats.notes.markdown import MarkdownImporter, ObsidianImporter, TextImporter
from core.importers.formats.tables.csv_rows import CsvImporter
from core.importers.formats.tables.jsonl import JsonlImporter
from core.importers.front_matter import read_front_matter
from core.importers.input.source import open_bundle
from core.importers.notes.links import NoteIndex, RawLink, link_rows, links_in
from core.importers.notes.survey import survey_notes
from core.importers.notes.tags import tags_in
from core.importers.records import Importer, Record, SkippedPart, UnreadablePart
from core.text.markdown import blank_code

IMPORTERS: tuple[Importer, ...] = (
    ObsidianImporter(),
    MarkdownImporter(),
    TextImporter(),
    JsonlImporter(),
    CsvImporter(),
    Mem0Importer(),
    OpenMemoryImporter(),
    McpMemoryImporter(),
)
# Text that any writer of JSON, CSV or notes can hold; half characters have their own tests.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
FILLED = TEXTS.filter(lambda text: bool(text.strip()))
MARKDOWN_LIKE = st.lists(
    st.sampled_from(
        [
            "`",
            "```",
            "\n",
            "\n\n",
            "[[",
            "]]",
            "![[",
            "|",
            "#",
            "#a",
            "^",
            "~~~",
            "> ",
            "- ",
            "    ",
            "---\n",
            "a",
            "(",
            ")",
            "\\",
            "$$",
            "<!--",
            "-->",
            "\r",
            "é",
            "[",
            "]",
        ]
    ),
    max_size=60,
).map("".join)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    [
        "text",
        "content",
        "message",
        "body",
        "time",
        "timestamp",
        "author",
        "role",
        "session",
        "ref",
        "id",
        "kind",
        "category",
        "importance",
        "tags",
        "source",
        "space",
        "claim",
        "valid_from",
        "valid_to",
        "memory",
        "data",
        "user_id",
        "hash",
        "created_at",
        "categories",
        "results",
        "memories",
        "items",
        "type",
        "name",
        "entityType",
        "observations",
        "from",
        "to",
        "relationType",
        "entities",
        "relations",
        "state",
        "app_id",
        "category_ids",
        "apps",
        "access_controls",
        "x",
    ]
)
ROWS = st.dictionaries(
    KEYS, JSON_VALUES | st.sampled_from(["entity", "relation", "deleted", "user", "fact"]), max_size=8
)
QUIET = settings(max_examples=count_examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def survives(importer: Importer, data: bytes, name: str = "a.md", kind: str = "file") -> None:
    """Read anything; whatever comes must be well-formed, and only an error of Loci's own may end it."""
    bundle = memory_bundle({name: data, ".obsidian/app.json": "{}"} if kind == "folder" else {name: data}, kind)
    told = ""
    try:
        importer.detects(bundle)
        for item in importer.read(bundle):
            assert isinstance(item, Record | SkippedPart | UnreadablePart)
            if isinstance(item, Record):
                assert type(item.text) is str
                assert item.text.strip()
                item.text.encode()
                assert item.importance is None or 0 <= item.importance <= 1
                json.dumps(dict(item.extra), allow_nan=False)
    except LociError as error:
        told = error.sentence
    assert len(told) < 400


@QUIET
@given(st.binary(max_size=300))
def test_any_bytes_are_survived(data: bytes) -> None:
    for importer in IMPORTERS:
        survives(importer, data)
        survives(importer, b"\x1f\x8b" + data)


@pytest.mark.slow
@QUIET
@given(st.lists(ROWS, max_size=4), st.sampled_from(["lines", "array", "object", "memories"]))
def test_any_rows_are_survived(rows: list[dict[str, Any]], shape: str) -> None:
    shapes = {
        "lines": "\n".join(json.dumps(row) for row in rows),
        "array": json.dumps(rows),
        "object": json.dumps(rows[0] if rows else {}),
        "memories": json.dumps({"apps": [], "categories": [], "memories": rows, "entities": rows, "relations": rows}),
    }
    for importer in IMPORTERS:
        survives(importer, shapes[shape].encode())


@QUIET
@given(MARKDOWN_LIKE)
def test_any_markdown_is_survived_and_kept(text: str) -> None:
    survives(ObsidianImporter(), text.encode(), kind="folder")
    survives(ObsidianImporter(), text.encode(), "a.canvas", "folder")
    plain = blank_code(text)
    assert len(plain) == len(text)
    assert all(new in (old, " ") for new, old in zip(plain, text, strict=True))
    rows = link_rows(links_in(plain), NoteIndex(["a.md", "b/a.md"]), "a.md")
    assert all(row["state"] in ("resolved", "ambiguous", "unresolved") for row in rows)
    assert all(tag in text and not tag.isdigit() for tag in tags_in(plain))
    assert 0 <= read_front_matter(text).body_at <= len(text)


@QUIET
@given(FILLED)
def test_a_note_is_its_file(text: str) -> None:
    # Among words enough that a few control characters do not make it binary.
    text = "words " * 100 + text
    (record,) = records(items_of(MarkdownImporter(), {"n.md": text.encode()}))
    assert record.text == text


@QUIET
@given(st.lists(FILLED, min_size=1, max_size=5), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_jsonl_gives_back_what_was_written(texts: list[str], encoding: str) -> None:
    data = "".join(json.dumps({"text": text, "session": "s"}, ensure_ascii=False) + "\n" for text in texts)
    found = records(items_of(JsonlImporter(), {"a": data.encode(encoding)}))
    assert [r.text for r in found] == texts
    assert [r.position for r in found] == list(range(len(texts)))
    assert len({r.identity for r in found}) == len(texts)


@QUIET
@given(
    st.lists(st.tuples(FILLED, TEXTS), min_size=1, max_size=5),
    st.sampled_from(";,\t|"),
    st.sampled_from(["\r\n", "\n"]),
)
def test_csv_gives_back_what_was_written(rows: list[tuple[str, str]], delimiter: str, end: str) -> None:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerow(["text", "note to self"])
    writer.writerows(rows)
    found = records(items_of(CsvImporter(), {"a": out.getvalue().encode()}))
    assert [r.text for r in found] == [text for text, _ in rows]
    assert [r.extra["fields"]["note to self"] for r in found] == [rest for _, rest in rows]


@QUIET
@given(st.lists(st.text("abcÆ", min_size=1, max_size=3), min_size=1, max_size=6, unique=True), st.data())
def test_a_full_path_always_means_its_file(names: list[str], data: st.DataObject) -> None:
    paths = [f"f{n % 2}/{name}.md" for n, name in enumerate(names)]
    wanted = data.draw(st.sampled_from(paths))
    index = NoteIndex(paths)
    assert index.resolve_link(RawLink(wanted, "link"), "x.md") == (wanted, "resolved")
    assert index.resolve_link(RawLink(wanted.removesuffix(".md"), "link"), "x.md") == (wanted, "resolved")
    to, state = index.resolve_link(RawLink(wanted.rpartition("/")[2], "link"), "x.md")
    assert to == wanted or state == "ambiguous"


@QUIET
@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.from_regex(r"[\w.:+-]{1,12}", fullmatch=True), max_size=5
    )
)
def test_plain_values_of_front_matter_stay_as_written(values: dict[str, str]) -> None:
    block = "".join(f"{key}: {value}\n" for key, value in values.items())
    front = read_front_matter(f"---\n{block}---\nbody")
    # A value such as `a:` or `-` is YAML of its own; then the block is flagged or the value a structure.
    for key, value in front.values.items():
        assert not isinstance(value, str) or value == values[key]


MUTABLE = [
    path
    for path in sorted(FIXTURES.rglob("*"))
    if path.is_file() and path.parent.name in ("generic", "mem0", "mcp-memory", "Projects", "Boards", "People")
]


@pytest.mark.slow
@pytest.mark.parametrize("path", MUTABLE, ids=lambda path: path.name)
def test_mutated_fixtures_are_survived(path: Path) -> None:
    dice = random.Random(path.name)
    original = path.read_bytes()[:20_000]
    for _ in range(25):
        data = bytearray(original)
        for _ in range(dice.randint(1, 8)):
            at = dice.randrange(len(data))
            data[at : at + dice.randint(0, 9)] = dice.randbytes(dice.randint(0, 4))
        for importer in IMPORTERS:
            survives(importer, bytes(data), path.name)


def test_a_mutated_backup_is_survived() -> None:
    with open_bundle(path_of("openmemory-zip")) as bundle:
        files = {}
        for file in bundle.files:
            with file.open() as stream:
                files[file.name] = stream.read()
    dice = random.Random(7)
    for _ in range(60):
        for name, original in files.items():
            data = bytearray(original)
            for _ in range(dice.randint(1, 5)):
                data[dice.randrange(len(data))] = dice.randrange(256)
            survives(OpenMemoryImporter(), bytes(data), name)


@QUIET
@given(
    st.lists(
        st.sampled_from(["a.md", "b/a.md", ".obsidian/x", ".trash/t.md", "c.png", "d.canvas", "Templates/t.md", ".x"]),
        unique=True,
    )
)
def test_every_file_of_a_vault_is_counted_once(names: list[str]) -> None:
    found = survey_notes(memory_bundle(dict.fromkeys(names, "x"), "folder"))
    seen = [*found.notes, *found.canvases, *found.attachments, *(path for _, path in found.skipped)]
    assert sorted(seen) == sorted(names)
