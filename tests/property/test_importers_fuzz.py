"""Importers under random and mutated input: only errors of Loci's own, nothing lost, nothing held in memory."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from example_counts import count_examples
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from importer_checks import FIXTURES, memory_bundle

from core.errors import LociError
from core.importers.conversation import cut_blocks
from core.importers.detect import detect_format, list_importers
from core.importers.dry_run import dry_run_import, import_items
from core.importers.formats.assistants.chatgpt import ChatGptImporter
from core.importers.input import strict_json
from core.importers.input.source import Bundle, SourceFile, open_bundle
from core.importers.input.streams import (
    BadJson,
    iter_json_array,
    key_paths,
    parse_json_text,
    read_file_lines,
    read_whole_text,
    replace_surrogates,
)
from core.importers.records import Record
from core.importers.transcripts.tree import walk_tree
from core.text.times import parse_time

MODEST = settings(
    max_examples=count_examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
MORE = settings(max_examples=count_examples(200), deadline=None)

any_text = st.text(st.characters(exclude_categories=()), max_size=40)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | any_text
words = st.sampled_from(
    [
        "mapping", "message", "parent", "children", "author", "role", "content", "parts", "text", "metadata",
        "current_node", "id", "title", "create_time", "chat_messages", "uuid", "sender", "name", "attachments",
        "extracted_content", "docs", "prompt_template", "conversations_memory", "project_memories", "type", "payload",
        "sessionId", "parentUuid", "timestamp", "cwd", "user", "assistant", "tool", "system", "human", "bio",
        "session_meta", "response_item", "event_msg", "user_message", "input_text", "recipient", "all",
        "conversations", "results", "memories", "memory", "entity", "relation", "observations", "files", "export_id",
        "is_do_not_remember", "<system-reminder>", "tags",
    ]
)  # fmt: skip
json_values = st.recursive(
    scalars | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words | any_text, inner, max_size=6),
    max_leaves=30,
)


def mem_file(data: bytes) -> SourceFile:
    return memory_bundle({"x": data}).files[0]


def survives(bundle: Bundle) -> None:
    """Every importer reads it to the end or says no in Loci's own way."""
    for importer in list_importers():
        try:
            importer.detects(bundle)
            for item in import_items(bundle, importer):
                if isinstance(item, Record):
                    assert item.identity
                    (item.text + item.identity + item.where + str(item.author)).encode()
                    json.dumps(dict(item.extra), allow_nan=False).encode()
        except LociError as refusal:
            sentence = refusal.sentence
            assert len(sentence) < 400


@MODEST
@given(st.lists(json_values, max_size=3), st.booleans())
def test_random_json_never_breaks_an_importer(value: list[Any], as_lines: bool) -> None:
    text = "\n".join(map(json.dumps, value)) if as_lines else json.dumps(value)
    survives(memory_bundle({"conversations.json": text}))


@MODEST
@given(st.binary(max_size=300))
def test_random_bytes_never_break_an_importer(data: bytes) -> None:
    survives(memory_bundle({"x": data or b" "}))
    survives(memory_bundle({"conversations.json": data, "a.jsonl": data, "b.md": data, "memory.json": data}, "folder"))


nodes = st.sampled_from(["a", "b", "c", "d", "e"])
messages = st.none() | st.fixed_dictionaries(
    {
        "author": st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "tool", "system", "x"])}),
        "create_time": st.none() | st.floats(0, 2e9),
        "content": st.fixed_dictionaries({"parts": st.lists(st.none() | any_text, max_size=2)}),
    }
)
mappings = st.dictionaries(
    nodes,
    st.fixed_dictionaries({"parent": st.none() | nodes, "children": st.lists(nodes, max_size=3), "message": messages}),
)


@MORE
@given(mappings, st.none() | nodes)
def test_every_message_of_a_tree_is_on_the_branch_or_counted_as_abandoned(
    mapping: dict[str, Any], current: str | None
) -> None:
    tree = walk_tree(mapping, current)
    told = sum(1 for node in mapping.values() if node["message"] is not None)
    assert len(tree.chain) + tree.abandoned == told
    assert len({node for node, _ in tree.chain}) == len(tree.chain)
    if current in mapping and mapping[current]["message"] is not None:
        assert tree.chain[-1][0] == current
    items = list(
        ChatGptImporter().read(memory_bundle({"c": json.dumps([{"mapping": mapping, "current_node": current}])}))
    )
    kept = [item for item in items if isinstance(item, Record)]
    assert [record.position for record in kept] == list(range(len(kept)))


FILES = sorted(path for path in FIXTURES.rglob("*") if path.is_file() and path.name != "expected.json")


@settings(
    max_examples=count_examples(120),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.sampled_from(FILES), st.data())
def test_mutated_fixtures_never_break_an_import(tmp_path: Path, path: Path, data: st.DataObject) -> None:
    raw = bytearray(path.read_bytes()[:120_000])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw)))
        change = data.draw(st.sampled_from(["flip", "cut", "insert", "repeat"]))
        if change == "flip" and at < len(raw):
            raw[at] ^= data.draw(st.integers(1, 255))
        elif change == "cut":
            del raw[at : at + data.draw(st.integers(1, 200))]
        elif change == "insert":
            raw[at:at] = data.draw(st.binary(min_size=1, max_size=8))
        else:
            raw[at:at] = raw[at : at + 200]
    target = tmp_path / path.name
    target.write_bytes(raw)
    try:
        with open_bundle(target) as bundle:
            dry_run_import(bundle, detect_format(bundle))
            survives(bundle)
    except LociError as refusal:
        sentence = str(refusal)
        assert str(tmp_path) not in sentence
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    target.unlink()


@pytest.mark.slow
@MORE
@given(st.lists(json_values, max_size=6), st.integers(1, 40), st.sampled_from([None, 1]), st.booleans())
def test_array_elements_are_what_the_whole_parser_says(
    value: list[Any], chunk: int, indent: int | None, ascii_only: bool
) -> None:
    raw = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    before, strict_json.CHUNK = strict_json.CHUNK, chunk + 2
    try:
        for document, prefix in ((raw, ""), (b'{"n": [1], "items": ' + raw + b', "z": {}}', "items")):
            found = [parsed.value for parsed in iter_json_array(mem_file(document), (prefix,))]
            text = raw.decode("utf-8", "surrogatepass")
            assert found == parse_json_text(text).value
    finally:
        strict_json.CHUNK = before


@MORE
@given(st.text('[]{},:"\\ \n1aN-.eu0', max_size=30))
@example('["\\"]')
@example('[1,[2,{"a":"]"}]]')
def test_the_stream_and_the_whole_parser_agree_on_what_is_json(text: str) -> None:
    try:
        want = parse_json_text(text).value
    except BadJson:
        want = BadJson
    try:
        found: Any = [parsed.value for parsed in iter_json_array(mem_file(text.encode()), ("",))]
    except LociError:
        found = BadJson
    if want is BadJson or isinstance(want, list):
        assert found == want
    else:
        assert found == []


@MORE
@given(json_values)
def test_mending_leaves_no_surrogate_and_changes_nothing_else(value: Any) -> None:
    parsed = parse_json_text(json.dumps(value))
    plain = json.dumps(parsed.value, ensure_ascii=False)
    plain.encode()
    if parsed.surrogates == 0:
        assert parsed.value == json.loads(json.dumps(value))


@MORE
@given(any_text)
def test_replacing_surrogates_keeps_every_other_character(text: str) -> None:
    mended, count = replace_surrogates(text)
    mended.encode()
    pairs = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert mended == pairs
    assert count == mended.count("\ufffd") - text.count("\ufffd")


@pytest.mark.slow
@MORE
@given(
    st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=20)), st.integers(1, 9)
)
def test_lines_join_to_the_text(rows: list[str], chunk: int) -> None:
    text = "\n".join(rows)
    before, strict_json.CHUNK = strict_json.CHUNK, chunk + 2
    try:
        lines = [line for _, line in read_file_lines(mem_file(text.encode()))]
        whole, flags = read_whole_text(mem_file(text.encode()))
    finally:
        strict_json.CHUNK = before
    want = text.removeprefix("\ufeff").split("\n")
    assert lines == [row.removesuffix("\r") for row in (want if want[-1] else want[:-1])]
    assert (whole, flags) == (text.removeprefix("\ufeff"), frozenset())


@MORE
@given(scalars | st.text("0123456789-:TZ+. W/eE", max_size=30))
def test_any_value_is_a_time_within_the_calendar_or_none(value: object) -> None:
    when = parse_time(value)
    assert when is None or -62_135_596_800_000 <= when.ms <= 253_402_300_799_999


@MORE
@given(st.datetimes(), st.integers(-12 * 60, 14 * 60))
def test_iso_times_are_read_as_the_library_reads_them(moment: Any, offset: int) -> None:
    text = f"{moment.isoformat()}{'-' if offset < 0 else '+'}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
    try:
        want = type(moment).fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return
    when = parse_time(text)
    if when is not None:
        assert abs(when.ms / 1000 - want) < 0.002
        assert when.offset_min == offset


@MORE
@given(any_text)
def test_text_without_blocks_stays_as_it_is(text: str) -> None:
    if "</" not in text:
        assert cut_blocks(text, ("a", "system-reminder")) == text
    assert cut_blocks(f"own {text} words", ("nothing-there",)) == f"own {text} words"


@MORE
@given(st.lists(st.sampled_from(["<a>", "</a>", "<b>", "</b>", "x", " ", "`", "\n"]), max_size=30))
def test_cutting_blocks_twice_is_cutting_them_once(pieces: list[str]) -> None:
    once = cut_blocks("".join(pieces), ("a", "b"))
    assert once.count("x") <= "".join(pieces).count("x")
    assert len(once) <= len("".join(pieces))


@MORE
@given(json_values, st.integers(0, 200))
def test_key_paths_of_a_cut_are_among_those_of_the_whole(value: Any, cut: int) -> None:
    text = json.dumps(value)
    whole = key_paths(text)
    for path, keys in key_paths(text[:cut]).items():
        assert keys <= whole[path]


@MODEST
@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,6}(/[a-z]{1,4})?\.md", fullmatch=True), st.binary(max_size=3000), min_size=1, max_size=5
    )
)
def test_archives_give_back_every_byte(tmp_path: Path, files: dict[str, bytes]) -> None:
    target = tmp_path / "a.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)
    with open_bundle(target) as bundle:
        found = {}
        for file in bundle.files:
            with file.open() as stream:
                found[file.name] = stream.read()
    assert found == files


def conversations(count: int) -> Iterator[bytes]:
    """A ChatGPT export of `count` conversations of about 15 kB, piece by piece."""
    text = 'The ferry leaves at a quarter past six, and the harbour office "knows" it.\n' * 40 + "🌊"
    yield b"["
    for number in range(count):
        mapping: dict[str, Any] = {}
        for node in range(5):
            role = "user" if node % 2 else "assistant"
            message = {"author": {"role": role}, "create_time": 1e9 + node, "content": {"parts": [f"{number} {text}"]}}
            parent = f"{number}-{node - 1}" if node else None
            mapping[f"{number}-{node}"] = {"message": message, "parent": parent, "children": []}
        talk = {"id": f"c{number}", "title": "t", "mapping": mapping, "current_node": f"{number}-4"}
        yield (b"," if number else b"") + json.dumps(talk).encode()
    yield b"]"


@pytest.mark.slow
@pytest.mark.parametrize("zipped", [False, True])
def test_a_large_export_streams(tmp_path: Path, zipped: bool) -> None:
    count = 520
    target = tmp_path / "conversations.json"
    with target.open("wb") as file:
        file.writelines(conversations(count))
    assert target.stat().st_size > 8_000_000
    if zipped:
        # Stored, because words repeated so often would be taken for a bomb.
        archived = tmp_path / "export.zip"
        with zipfile.ZipFile(archived, "w", zipfile.ZIP_STORED) as made:
            made.write(target, "conversations.json")
        target = archived
    tracemalloc.start()
    try:
        with open_bundle(target) as bundle:
            told = dry_run_import(bundle, detect_format(bundle))
        assert tracemalloc.get_traced_memory()[1] < 6 << 20
    finally:
        tracemalloc.stop()
    assert told.conversations == count
    assert told.records == count * 5


def deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


@MODEST
@given(st.binary(max_size=400), st.integers(0, 400), st.integers(1, 255))
def test_a_flipped_bit_in_a_member_is_never_taken_for_its_content(
    tmp_path: Path, data: bytes, at: int, flip: int
) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("a.md", data)
    raw = bytearray(target.getvalue())
    body = range(34, 34 + len(deflated(data)))
    raw[body[at % len(body)]] ^= flip
    path = tmp_path / "a.zip"
    path.write_bytes(raw)
    try:
        with open_bundle(path) as bundle, bundle.files[0].open() as stream:
            found = stream.read()
    except LociError:
        return
    assert found == data
