"""Hostile fixtures: refused with a sentence and nothing left behind, or stored byte for byte."""

from __future__ import annotations

import os
import shutil
import tracemalloc
from pathlib import Path

import pytest
from importer_checks import EXPECTED, fixture, memory_bundle, path_of, reasons, records, sha

from core.errors import Code, UserError
from core.importers.detect import detect_format, list_importers
from core.importers.dry_run import dry_run_import, import_items
from core.importers.input.source import open_bundle

HOSTILE = [row["id"] for row in EXPECTED["fixtures"] if row["id"].startswith("hostile-")]
REFUSED = [name for name in HOSTILE if fixture(name)["outcome"] == "refused"]


def test_every_hostile_fixture_has_a_test() -> None:
    stored = {"hostile-lone-surrogates", "hostile-wrong-extension"}  # test_importers_chatgpt
    here = {"hostile-nul-bytes", "hostile-nul-escapes", "hostile-fifo-folder"}
    assert set(HOSTILE) == set(REFUSED) | stored | here


@pytest.mark.slow
@pytest.mark.parametrize("fixture_id", REFUSED)
def test_refused_with_one_sentence_and_little_memory(fixture_id: str, tmp_path: Path) -> None:
    want = fixture(fixture_id)
    path = tmp_path / path_of(fixture_id).name
    shutil.copyfile(path_of(fixture_id), path)
    tracemalloc.start()
    try:
        with pytest.raises(UserError) as error, open_bundle(path) as bundle:
            dry_run_import(bundle, detect_format(bundle))
        assert tracemalloc.get_traced_memory()[1] < want.get("max_extra_memory_mb", 64) << 20
    finally:
        tracemalloc.stop()
    assert error.value.code is Code.IMPORT_REFUSED
    assert f"“{path.name}”" in error.value.sentence
    assert error.value.sentence.count(".") == path.name.count(".") + 1
    assert str(tmp_path) not in str(error.value)
    chain: BaseException | None = error.value
    while chain is not None:  # a traceback that is logged must not tell the text either
        assert not any(phrase in repr(chain.args) for phrase in want.get("must_not_store", ()))
        chain = chain.__cause__
    assert [file.name for file in tmp_path.rglob("*")] == [path.name]
    assert not list(tmp_path.parent.glob("**/escaped-harbour.txt"))


@pytest.mark.parametrize("fixture_id", ["hostile-nan-infinity", "hostile-nan-and-surrogates"])
def test_what_is_no_json_is_still_known_for_what_it_poses_as(fixture_id: str) -> None:
    with open_bundle(path_of(fixture_id)) as bundle:
        assert detect_format(bundle).format == fixture(fixture_id)["detected_format"]


@pytest.mark.parametrize("fixture_id", ["hostile-nul-bytes", "hostile-nul-escapes"])
def test_nul_is_kept(fixture_id: str) -> None:
    want = fixture(fixture_id)
    with open_bundle(path_of(fixture_id)) as bundle:
        found = records(list(import_items(bundle, detect_format(bundle))))
        told = dry_run_import(bundle, detect_format(bundle))
    assert [sha(record.text) for record in found] == [row["sha256"] for row in want["exact_texts"]]
    assert [len(record.text) for record in found] == [row["chars"] for row in want["exact_texts"]]
    assert "".join(record.text for record in found).count("\0") >= want.get("nul_bytes", 1)
    assert (told.earliest, told.latest) == (want.get("earliest"), want.get("latest"))
    assert told.records == want["counts"].get("items", want["counts"].get("rows_stored"))


def test_a_pipe_in_a_folder_is_told_and_never_waited_for(tmp_path: Path) -> None:
    want = fixture("hostile-fifo-folder")
    folder = tmp_path / "notes"
    shutil.copytree(path_of("hostile-fifo-folder"), folder, copy_function=shutil.copyfile)
    os.mkfifo(folder / want["fifo_name"])
    with open_bundle(folder) as bundle:
        assert detect_format(bundle).format == "markdown"
        items = list(import_items(bundle, detect_format(bundle)))
    found = records(items)
    assert reasons(items) == {row["reason"]: row["count"] for row in want["skipped"]}
    assert [sha(record.text) for record in found] == [row["sha256"] for row in want["exact_texts"]]
    assert all(any(phrase in record.text for record in found) for phrase in want["must_find"])


def test_the_registry_offers_each_format_once() -> None:
    names = [importer.format for importer in list_importers()]
    assert len(set(names)) == len(names)
    # What almost anything could be taken for comes last, a vault of notes, which may hold anything, first.
    assert (names[:2], names[-5:]) == (["mixed", "obsidian"], ["csv", "markdown", "text", "lines", "pictures"])


def test_a_forced_format_is_taken_without_looking_and_an_unknown_one_refused() -> None:
    bundle = memory_bundle({"a": "words"})
    assert detect_format(bundle, "csv").format == "csv"
    with pytest.raises(UserError, match="chatgpt") as error:
        detect_format(bundle, "word")
    assert error.value.code is Code.IMPORT_UNKNOWN_FORMAT


@pytest.mark.parametrize("data", [b"\x7fELF" + bytes(200), b'{"a": 1}', b"[]", b"[[[]]]"])
def test_what_nobody_knows_is_told_so(data: bytes) -> None:
    with pytest.raises(UserError) as error:
        detect_format(memory_bundle({"some.bin": data}))
    assert error.value.code is Code.IMPORT_UNKNOWN_FORMAT
    assert "some.bin" in error.value.sentence


def test_broken_json_that_nobody_claims_is_explained() -> None:
    with pytest.raises(UserError, match="not valid JSON") as error:
        detect_format(memory_bundle({"a.json": '{"a": {"secret words": [1, 2'}))
    assert error.value.code is Code.IMPORT_REFUSED
    assert "secret" not in str(error.value)


def test_a_forced_format_on_foreign_data_gives_troubles_or_a_refusal_only() -> None:
    for data in (b'[{"a": 1}]', b"words", b"\x00\xff\xfe", b"[1, null]", b'{"a": [1]}'):
        for name in [importer.format for importer in list_importers()]:
            bundle = memory_bundle({"a": data})
            try:
                told = dry_run_import(bundle, detect_format(bundle, name))
            except UserError as refusal:
                code = refusal.code
                assert code is Code.IMPORT_REFUSED
            else:
                assert told.format == name
