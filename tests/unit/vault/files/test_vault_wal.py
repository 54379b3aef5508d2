"""The audit of the log: what is lost, what only looks lost, and what must be put aside."""

from __future__ import annotations

import random
import shutil
import struct
from pathlib import Path

import pytest
import vault_kit as kit

from core.vault.files.home import PAGE_SIZE, Home
from core.vault.files.wal_audit import NO_LOG, WalScan, scan_log

_STEP = 24 + PAGE_SIZE


def _left_behind(tmp_path: Path, home: Home, *, checkpoint_after: int = 0, commits: int = 40) -> Home:
    """A copy of the files as a kill would leave them, with a log of many commits."""
    copy = kit.home_at(tmp_path / "copy")
    with kit.opened(home) as vault:
        vault.with_writer(lambda connection: connection.execute("PRAGMA wal_autocheckpoint = 0").fetchall())
        kit.store_many(vault, checkpoint_after or commits)
        if checkpoint_after:
            vault.checkpoint_log(truncate=False)
            kit.store_many(vault, commits - checkpoint_after, first=checkpoint_after + 1)
        shutil.copytree(home.path, copy.path)
    return copy


def _flip(path: Path, position: int, bit: int = 1) -> None:
    with path.open("r+b") as file:
        file.seek(position)
        byte = file.read(1)[0]
        file.seek(position)
        file.write(bytes([byte ^ bit]))


def _scan(home: Home) -> WalScan:
    return scan_log(home.wal, home.shm, PAGE_SIZE)


def _rows(home: Home) -> tuple[int, int, int]:
    with kit.opened(home) as vault:
        found = vault.read(lambda rows: rows.one("SELECT count(*), coalesce(max(n), 0) FROM memories"))
        assert vault.read(lambda rows: rows.all("PRAGMA integrity_check")) == [("ok",)]
        assert found is not None
        return found[0], vault.info.lost_commits, int(vault.info.is_log_damaged)


def test_no_log_and_an_empty_log(tmp_path: Path, home: Home) -> None:
    assert _scan(home) == NO_LOG
    (tmp_path / "w").write_bytes(b"short")
    assert scan_log(tmp_path / "w", tmp_path / "s", PAGE_SIZE) == WalScan(size=5, readable=0, lost=0)


def test_a_sound_log_after_a_kill_is_no_alarm(tmp_path: Path, home: Home) -> None:
    copy = _left_behind(tmp_path, home)
    found = _scan(copy)
    assert not found.is_damaged
    assert found.readable == (copy.wal.stat().st_size - 32) // _STEP
    assert _rows(copy) == (40, 0, 0)


@pytest.mark.slow
def test_a_log_cut_anywhere_is_no_alarm(tmp_path: Path, home: Home) -> None:
    whole = _left_behind(tmp_path, home, commits=12)
    size = whole.wal.stat().st_size
    chance = random.Random(7)
    for nr in range(12):
        copy = kit.home_at(tmp_path / f"cut{nr}")
        shutil.copytree(whole.path, copy.path)
        with copy.wal.open("r+b") as file:
            file.truncate(chance.randrange(32, size))
        count, lost, damaged = _rows(copy)
        assert (lost, damaged) == (0, 0)
        assert count <= 12


@pytest.mark.slow
def test_every_flipped_bit_is_counted_exactly(tmp_path: Path, home: Home) -> None:
    whole = _left_behind(tmp_path, home, commits=24)
    (whole.path / "vault.db-shm").unlink()
    size = whole.wal.stat().st_size
    chance = random.Random(11)
    for nr in range(20):
        copy = kit.home_at(tmp_path / f"flip{nr}")
        shutil.copytree(whole.path, copy.path)
        _flip(copy.wal, chance.randrange(32, size - _STEP), 1 << chance.randrange(8))
        before = _scan(copy)
        count, lost, damaged = _rows(copy)
        assert (lost, damaged) == (24 - count, 1)
        assert lost == before.lost > 0
        assert (copy.backups / "journal-damaged.bin").stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_a_damaged_header_is_told_apart(tmp_path: Path, home: Home) -> None:
    whole = _left_behind(tmp_path, home, commits=5)
    (whole.path / "vault.db-shm").unlink()
    for position in (0, 5, 9, 13, 17, 21, 25, 31):
        copy = kit.home_at(tmp_path / f"head{position}")
        shutil.copytree(whole.path, copy.path)
        _flip(copy.wal, position)
        assert _scan(copy).is_header_damaged
        assert _rows(copy) == (0, 5, 1)


def test_frames_of_an_older_generation_do_not_count(tmp_path: Path, home: Home) -> None:
    copy = kit.home_at(tmp_path / "copy")
    with kit.opened(home) as vault:
        kit.store_many(vault, 10)
        vault.checkpoint_log(truncate=False)
        kit.store_many(vault, 1, first=100)
        shutil.copytree(home.path, copy.path)
    frames = (copy.wal.stat().st_size - 32) // _STEP
    assert 0 < _scan(copy).readable < frames
    _flip(copy.wal, copy.wal.stat().st_size - 100)
    assert not _scan(copy).is_damaged
    assert _rows(copy) == (11, 0, 0)


def test_a_settled_log_is_put_aside_instead_of_laid_over_newer_pages(tmp_path: Path, home: Home) -> None:
    """All of the log is in the database already; SQLite would lay the frames before the damage over it."""
    copy = _left_behind(tmp_path, home, checkpoint_after=20, commits=20)
    _flip(copy.wal, 32 + 3 * _STEP + 500)
    found = _scan(copy)
    assert found.is_settled
    assert found.lost == 0
    assert _rows(copy) == (20, 0, 1)
    assert (copy.backups / "journal-damaged.bin").stat().st_size == found.size
    again = kit.home_at(copy.path)
    assert _rows(again) == (20, 0, 0)


def test_without_its_index_a_log_is_never_put_aside(tmp_path: Path, home: Home) -> None:
    copy = _left_behind(tmp_path, home, checkpoint_after=20, commits=20)
    _flip(copy.wal, 32 + 3 * _STEP + 500)
    for index in (b"", b"\0" * 136, copy.shm.read_bytes()[:60]):
        copy.shm.write_bytes(index)
        assert not _scan(copy).is_settled


@pytest.mark.parametrize(("done", "attempted", "settled"), [(9, 9, True), (9, 12, False), (1, 1, False), (0, 0, False)])
def test_settled_means_that_a_finished_checkpoint_covers_what_is_readable(
    tmp_path: Path, home: Home, done: int, attempted: int, settled: bool
) -> None:
    copy = _left_behind(tmp_path, home, commits=6)
    _flip(copy.wal, 32 + 4 * _STEP + 500)  # four frames stay readable
    index = bytearray(copy.shm.read_bytes())
    index[96:100] = struct.pack("=I", done)
    index[128:132] = struct.pack("=I", attempted)
    copy.shm.write_bytes(index)
    assert _scan(copy).is_settled is settled
