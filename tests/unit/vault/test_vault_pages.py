"""Searching decrypted pages: rows, free pages, and what deleting without wiping leaves."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.vault.database.connections import copy_under_key, open_writer
from core.vault.database.pages import PIECE, Fragments, fragments_of_text, log_bytes, search_pages
from core.vault.files.home import new_file

KEY = bytes(range(32))
TEXT = "The key of the Schlangengurkenturm lies under the third step."


@given(st.text(), st.text(), st.text())
def test_every_piece_of_a_text_is_found_in_it_and_in_none_without_it(before: str, text: str, other: str) -> None:
    pieces = fragments_of_text(text)
    data = (before + text).encode("utf-8", "surrogatepass")
    assert Fragments(pieces).find_in(data) == pieces
    elsewhere = other.encode("utf-8", "surrogatepass")
    assert Fragments(pieces).find_in(elsewhere) == {piece for piece in pieces if piece in elsewhere}


@given(st.binary(max_size=200), st.binary(min_size=PIECE, max_size=PIECE), st.binary(max_size=200))
def test_a_piece_is_found_at_every_offset(before: bytes, piece: bytes, behind: bytes) -> None:
    places = list(Fragments([piece]).find_places(before + piece + behind))
    assert (piece, len(before)) in places
    assert all((before + piece + behind)[at : at + PIECE] == found for found, at in places)


def test_no_piece_ends_with_a_blank() -> None:
    assert fragments_of_text("abcdefg hij") == set()
    assert fragments_of_text("abcdefgh ij klmn") == {b"abcdefgh"}
    assert fragments_of_text("Tea at 6") == {b"Tea at 6"}
    assert fragments_of_text("short") == set()


@pytest.mark.parametrize("wipes", [True, False])
def test_a_deleted_text_is_found_only_where_it_was_not_wiped(tmp_path: Path, wipes: bool) -> None:
    vault, copy = tmp_path / "vault.db", tmp_path / "copy.db"
    new_file(vault)
    writer = open_writer(vault, KEY)
    fragments = Fragments(fragments_of_text(TEXT))

    def found() -> int:
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert log_bytes(vault) == 0
        copy_under_key(vault, KEY, copy, KEY, lambda *_: None)
        searched = search_pages(copy, KEY, fragments)
        assert searched.pages == copy.stat().st_size // 8192
        copy.unlink()
        return searched.found

    writer.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)")
    writer.executemany("INSERT INTO t (text) VALUES (?)", [(f"Ada keeps bees {n}. " * 40,) for n in range(100)])
    assert found() == 0
    writer.execute(f"PRAGMA secure_delete = {'ON' if wipes else 'OFF'}")
    writer.execute("INSERT INTO t (text) VALUES (?)", (TEXT,))
    assert found() == 1
    writer.execute("DELETE FROM t")
    assert writer.execute("PRAGMA freelist_count").fetchone()[0] > 0
    assert found() == (0 if wipes else 1)
    writer.close()


def test_another_key_reads_nothing_out_of_a_page(tmp_path: Path) -> None:
    vault = tmp_path / "vault.db"
    new_file(vault)
    writer = open_writer(vault, KEY)
    writer.execute("CREATE TABLE t (text TEXT)")
    writer.execute("INSERT INTO t VALUES (?)", (TEXT,))
    writer.close()
    fragments = Fragments(fragments_of_text(TEXT))
    assert search_pages(vault, KEY, fragments).found == 1
    assert search_pages(vault, bytes(32), fragments).found == 0
