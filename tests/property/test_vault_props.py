"""Random work through `Tx`: the images invert it exactly, and the log's audit never miscounts."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import vault_kit as kit
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st

from core.vault.database.migrations import split_statements
from core.vault.database.rows import after_from_json, change_to_json, image_from_json, image_hash, image_to_json
from core.vault.database.tx import Tx
from core.vault.files.home import PAGE_SIZE, Home
from core.vault.files.wal_audit import scan_log
from core.vault.vault import Vault

_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
_VALUES = st.one_of(
    st.none(),
    _TEXTS,
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.binary(max_size=40),
)
_ROWS = st.dictionaries(_TEXTS, _VALUES, max_size=8)
_STEPS = st.lists(
    st.tuples(st.sampled_from(["insert", "update", "delete"]), st.integers(0, 5), _TEXTS, st.integers(0, 1000)),
    max_size=25,
)


@contextmanager
def _fresh() -> Iterator[tuple[Home, Vault]]:
    """A vault for one example; hypothesis runs many of them within one test's tmp_path."""
    folder = Path(tempfile.mkdtemp())
    try:
        home = kit.new_vault(folder / "h")
        with kit.opened(home, readers=1) as vault:
            yield home, vault
    finally:
        shutil.rmtree(folder)


@given(_ROWS)
def test_an_image_comes_back_exactly(row: dict[str, object]) -> None:
    back = image_from_json(image_to_json(row))
    assert back == row
    assert {name: type(value) for name, value in back.items()} == {name: type(value) for name, value in row.items()}
    assert image_hash(back) == image_hash(row)


@given(_ROWS, _ROWS)
def test_different_rows_have_different_images(left: dict[str, object], right: dict[str, object]) -> None:
    same = left == right and {k: type(v) for k, v in left.items()} == {k: type(v) for k, v in right.items()}
    if not same and repr(sorted(left.items())) != repr(sorted(right.items())):
        assert image_to_json(left) != image_to_json(right)


@given(_ROWS, _ROWS)
def test_what_became_of_a_row_gives_the_whole_row(before: dict[str, object], change: dict[str, object]) -> None:
    after = {**before, **change}
    told = change_to_json(before, after)
    back = after_from_json(before, told)
    assert back == after
    assert {name: type(value) for name, value in back.items()} == {name: type(value) for name, value in after.items()}
    assert set(image_from_json(told)) <= set(change)
    assert after_from_json(before, image_to_json(after)) == after  # as steps of an earlier Loci hold it


def _work(tx: Tx, steps: list[tuple[str, int, str, int]]) -> None:
    """Settings and memories appear, change and vanish; impossible steps do nothing."""
    with tx.purge():
        for deed, nr, text, number in steps:
            key = f"k{nr}"
            setting = {"key": key, "value": image_to_json({"t": text}), "changed_at": number}
            held = tx.one("SELECT 1 FROM settings WHERE key = ?", (key,)) is not None
            if deed == "insert" and not held:
                tx.insert("settings", setting)
                tx.insert("memories", kit.memory(nr + 1, text, importance=number / 1000))
            elif deed == "update":
                assert tx.update("settings", {"key": key}, {"changed_at": number}) is held
                assert tx.update("memories", {"n": nr + 1}, {"text": text, "author": text or None}) is held
            elif deed == "delete":
                assert tx.delete("memories", {"id": f"m{nr + 1}"}) is held
                assert tx.delete("settings", {"key": key}) is held


def _contents(vault: Vault) -> dict[str, list[tuple[Any, ...]]]:
    return vault.read(
        lambda rows: {
            "settings": rows.all("SELECT * FROM settings ORDER BY key"),
            "memories": rows.all("SELECT * FROM memories ORDER BY n"),
        }
    )


@pytest.mark.slow
@settings(max_examples=count_examples(12))
@given(_STEPS, _STEPS)
def test_images_undo_any_work_exactly(
    before: list[tuple[str, int, str, int]], steps: list[tuple[str, int, str, int]]
) -> None:
    with _fresh() as (_, vault):
        vault.write(lambda tx: _work(tx, before))
        start, seq = _contents(vault), vault.seq
        recording = kit.Recording()

        def record(tx: Tx) -> None:
            tx.recorder = recording
            _work(tx, steps)

        vault.write(record)
        end = _contents(vault)
        # What was recorded is written down and read again, as the journal does.
        changes = [(table, key, _written(old), _written(new)) for table, key, old, new in recording.seen]
        vault.write(lambda tx: _apply(tx, [(t, k, old) for t, k, old, _ in reversed(changes)]))
        assert _contents(vault) == start
        vault.write(lambda tx: _apply(tx, [(t, k, new) for t, k, _, new in changes]))
        assert _contents(vault) == end
        assert seq + 3 >= vault.seq >= seq


def _written(image: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if image is None else image_from_json(image_to_json(image))


def _apply(tx: Tx, images: list[tuple[str, dict[str, Any], dict[str, Any] | None]]) -> None:
    with tx.purge():
        for table, key, image in images:
            if image is None:
                assert tx.delete(table, key)
            elif not tx.update(table, key, {name: value for name, value in image.items() if name not in key}):
                tx.insert(table, image)


@pytest.mark.slow
@settings(max_examples=count_examples(8))
@given(st.integers(1, 12), st.integers(0, 11), st.integers(0, 2**31), st.integers(0, 7))
def test_a_flipped_bit_in_the_log_is_counted_for_any_place(commits: int, done: int, place: int, bit: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = kit.new_vault(Path(folder) / "h")
        copy = kit.home_at(Path(folder) / "c")
        with kit.opened(home, readers=1) as vault:
            kit.store_many(vault, min(done, commits))
            vault.checkpoint_log(truncate=False)
            kit.store_many(vault, commits, first=100)
            shutil.copytree(home.path, copy.path)
        log = bytearray(copy.wal.read_bytes())
        assert not scan_log(copy.wal, copy.shm, PAGE_SIZE).is_damaged
        log[place % len(log)] ^= 1 << bit
        copy.wal.write_bytes(log)
        with kit.opened(copy, readers=1) as vault:
            rows = vault.read(lambda rows: rows.value("SELECT count(*) FROM memories WHERE n >= 100"))
            sound = vault.read(lambda rows: rows.all("PRAGMA integrity_check")) == [("ok",)]
            if rows < commits:
                last_frame_only = rows == commits - 1 and not vault.info.is_log_damaged
                assert last_frame_only or vault.info.lost_commits == commits - rows
            assert sound


@given(st.lists(st.sampled_from(["SELECT 1;", "CREATE TRIGGER t AFTER INSERT ON a\nBEGIN SELECT 1; SELECT 2;\nEND;"])))
def test_a_script_is_cut_into_its_statements(parts: list[str]) -> None:
    assert [one.strip() for one in split_statements("\n".join(parts) + "\n")] == parts
