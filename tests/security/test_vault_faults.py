"""Kills, full disks, two starts, flipped bits, and words that must be in no file."""

from __future__ import annotations

import base64
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import vault_child
import vault_kit as kit
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from core.errors import Code, LociError
from core.types.clock import ManualClock, SystemClock
from core.vault.backup import OpenedKeys, restore_backup
from core.vault.database.connections import read_versions
from core.vault.database.migrations import known_migrations
from core.vault.database.tx import Tx
from core.vault.files.home import PAGE_SIZE, Home
from core.vault.files.replacement import clear_leftovers
from core.vault.vault import Vault
from core.vault.verification import verify_vault

_ROOT = Path(__file__).resolve().parents[2]
_HELPERS = _ROOT / "tests" / "helpers"


def _child(*arguments: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(_ROOT), str(_HELPERS)))}
    return subprocess.Popen(
        [sys.executable, str(_HELPERS / "vault_child.py"), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


def _lines_until_killed(child: subprocess.Popen[str], after: int, wait_s: float) -> list[str]:
    """Read lines; some time after the n-th, kill -9; then read what was still said."""
    assert child.stdout is not None
    lines = [line for _, line in zip(range(after), child.stdout, strict=False)]
    time.sleep(wait_s)
    child.send_signal(signal.SIGKILL)
    lines += child.stdout.readlines()
    child.communicate()
    return [line.strip() for line in lines if line.endswith("\n")]


def _store_range(tx: Tx, first: int, end: int, words: str = "word " * 200) -> None:
    for n in range(first, end):
        kit.store(tx, n, f"{words} {n}")


def test_twenty_kills_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    home = kit.new_vault(tmp_path / "h", SystemClock())
    chance = random.Random(1)
    last = torn = 0
    for _ in range(20):
        said = _lines_until_killed(_child("write", home.path, last + 1), 1, chance.uniform(0, 0.12))
        acknowledged = int(said[-1])
        vault = kit.open_at(home, SystemClock(), 1)
        try:
            # Where the kill falls between the header and the page of a frame, a commit that nobody was told of looks
            # like a damaged one: the vault cannot tell the two apart, and warns of one change.
            torn += vault.info.is_log_damaged
            assert vault.info.lost_commits <= vault.info.is_log_damaged
            assert vault.info.recovered_from_crash
            count, highest = vault.read(lambda rows: rows.all("SELECT count(*), max(n) FROM memories"))[0]
            assert highest >= acknowledged
            assert count == highest
            terms = vault.read(
                lambda rows: rows.value("SELECT count(*) FROM memory_fts WHERE memory_fts MATCH 'number'")
            )
            assert terms == count
            assert vault.info.is_log_damaged or verify_vault(vault, kit.KEYS).status == "ok"
        finally:
            assert vault.close() == ()
        last = highest
    assert last > 100
    assert torn <= 2


def test_a_kill_during_creation_leaves_a_whole_vault_or_none(tmp_path: Path) -> None:
    chance = random.Random(2)
    for nr in range(6):
        base = tmp_path / str(nr)
        said = _lines_until_killed(_child("create", base), 1, chance.uniform(0, 0.2))
        for folder in base.iterdir():
            home = kit.home_at(folder)
            if home.is_free():
                assert folder.name not in said
                kit.new_vault(folder)
            with kit.opened(home, readers=1) as vault:
                assert verify_vault(vault, kit.KEYS).checks["integrity"].outcome == "ok"
                assert vault.read(lambda rows: rows.value("SELECT count(*) FROM spaces")) == 2


def test_a_kill_during_migration_leaves_one_version_or_the_other(tmp_path: Path) -> None:
    home = kit.new_vault(tmp_path / "h")
    with kit.opened(home) as vault:
        vault.write(lambda tx: _store_range(tx, 1, 1500))
    chance = random.Random(3)
    found: set[int] = set()
    for nr in range(10):
        copy = kit.home_at(tmp_path / f"c{nr}")
        shutil.copytree(home.path, copy.path)
        _lines_until_killed(_child("migrate", copy.path), 1, chance.uniform(0, 0.8))
        version = read_versions(copy.vault, kit.KEYS.db).schema
        found.add(version)
        newest = len(known_migrations())
        steps = known_migrations() if version == newest else (*known_migrations(), vault_child.SLOW)
        vault = Vault.open(copy, kit.KEYS, kit.VAULT_ID, ManualClock(kit.START_MS), 1, steps)
        importance = vault.read(lambda rows: rows.all("SELECT DISTINCT importance FROM memories"))
        columns = vault.read(lambda rows: rows.all("SELECT name FROM pragma_table_info('rooms') WHERE name = 'colour'"))
        versions = vault.read(lambda rows: rows.value("SELECT max(version) FROM schema_version"))
        assert (importance, len(columns), versions) == (
            ([(0.5,)], 0, newest) if version == newest else ([(0.125,)], 1, newest + 1)
        )
        assert verify_vault(vault, kit.KEYS).status == "ok"
        vault.close()
        shutil.rmtree(copy.path)
    assert len(known_migrations()) in found, "no kill came in time"


def test_a_kill_during_backup_leaves_whole_backups_only(tmp_path: Path) -> None:
    home = kit.new_vault(tmp_path / "h")
    with kit.opened(home) as vault:
        vault.write(lambda tx: _store_range(tx, 1, 500))
    chance = random.Random(4)
    keys = OpenedKeys(kit.VAULT_ID, kit.KEYS, kit.BACKUP_KEY)
    for nr in range(10):
        target = tmp_path / f"t{nr}"
        target.mkdir()
        _lines_until_killed(_child("back_up", home.path, target), 1, chance.uniform(0, 0.5))
        for archive in target.glob("*.tar"):
            fresh = kit.home_at(tmp_path / f"r{nr}-{archive.stem}")
            assert restore_backup(archive, fresh, lambda _: keys, ManualClock(1)).counts["memories"] == 499
            shutil.rmtree(fresh.path)
        clear_leftovers(home)
        assert not list(home.backups.iterdir())
    with kit.opened(home) as vault:
        assert verify_vault(vault, kit.KEYS).status == "ok"


def test_a_flipped_bit_in_the_log_after_a_kill_is_told(tmp_path: Path) -> None:
    chance = random.Random(5)
    for nr in range(5):
        home = kit.new_vault(tmp_path / f"h{nr}", SystemClock())
        said = _lines_until_killed(_child("write", home.path, 1), 12, 0)
        frames = (home.wal.stat().st_size - 32) // 8216
        with home.wal.open("r+b") as file:
            place = 32 + chance.randrange(frames // 2) * 8216 + 24 + chance.randrange(8192)
            file.seek(place)
            byte = file.read(1)[0]
            file.seek(place)
            file.write(bytes([byte ^ 8]))
        with kit.opened(home, SystemClock(), 1) as vault:
            highest = vault.read(lambda rows: rows.value("SELECT coalesce(max(n), 0) FROM memories"))
            assert vault.info.is_log_damaged or highest >= int(said[-1])
            if highest < int(said[-1]):
                assert vault.info.lost_commits > 0
                assert verify_vault(vault, kit.KEYS).status == "damaged"


def test_two_starts_at_once(tmp_path: Path) -> None:
    home = kit.new_vault(tmp_path / "h")
    for _ in range(3):
        children = [_child("open", home.path) for _ in range(4)]
        said = sorted(child.stdout.readline().strip() for child in children if child.stdout is not None)
        assert said == ["E1009"] * 3 + ["open"]
        for child in children:
            child.communicate()
        assert sorted(child.returncode for child in children) == [0, 3, 3, 3]


def test_a_start_after_a_kill(tmp_path: Path) -> None:
    home = kit.new_vault(tmp_path / "h")
    first = _child("open", home.path)
    _lines_until_killed(first, 1, 0)
    second = _child("open", home.path)
    assert second.communicate()[0] == "open\n"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 6 MB, where this user may mount one."""
    point = tmp_path / "disk"
    point.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(point)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("this user may not mount a tmpfs; the test with RLIMIT_FSIZE stands in")
    yield point
    subprocess.run(["umount", "-l", str(point)], check=True, capture_output=True)


def _fill(folder: Path) -> Path:
    """Take every last byte."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        for size in (65536, 4096, 1):
            with suppress(OSError):
                while file.write(bytes(size)):
                    pass
    return ballast


def _write_until_refused(vault: Vault) -> LociError:
    while True:
        try:
            vault.write(lambda tx: kit.store(tx, tx.seq, "x" * 20_000))
        except LociError as error:
            return error


def test_a_full_disk_loses_nothing_and_lets_the_vault_be_closed(small_disk: Path) -> None:
    home = kit.new_vault(small_disk / "h")
    vault = kit.open_at(home)
    kit.store_many(vault, 5)
    assert home.reserve.exists()
    ballast = _fill(small_disk)
    refused = _write_until_refused(vault)
    assert refused.code is Code.DISK_FULL
    assert refused.exit_code == 8
    saved = vault.seq
    assert saved >= 5
    assert vault.read(lambda rows: rows.value("SELECT count(*) FROM memories")) == saved
    with pytest.raises(LociError) as caught:
        vault.copy_into(home.backups / "copy.db")
    assert caught.value.code is Code.DISK_FULL
    assert not (home.backups / "copy.db").exists()
    assert vault.checkpoint_log()
    assert vault.close() == ()
    assert not home.wal.exists()
    ballast.unlink()
    with kit.opened(home) as vault:
        assert home.reserve.exists()
        assert vault.info.older_than_head is None
        assert vault.read(lambda rows: rows.value("SELECT count(*) FROM memories")) == saved
        kit.store_many(vault, 1, first=1000)
        assert verify_vault(vault, kit.KEYS).status == "ok"


def test_opening_and_creating_on_a_full_disk(small_disk: Path) -> None:
    home = kit.new_vault(small_disk / "h")
    ballast = _fill(small_disk)
    with pytest.raises(LociError) as caught:
        kit.new_vault(small_disk / "second")
    assert caught.value.code is Code.DISK_FULL
    assert kit.home_at(small_disk / "second").is_free()
    ballast.unlink()
    with kit.opened(home) as vault:
        assert verify_vault(vault, kit.KEYS).status == "ok"


def test_a_read_only_disk(small_disk: Path) -> None:
    home = kit.new_vault(small_disk / "h")
    remount = ["mount", "-o", "remount,ro", str(small_disk)]
    assert subprocess.run(remount, check=False, capture_output=True).returncode == 0
    for refused in (lambda: kit.open_at(home), lambda: kit.new_vault(small_disk / "other"), home.prepare_folders):
        with pytest.raises(LociError) as caught:
            refused()
        assert caught.value.code is Code.READ_ONLY


def test_a_limit_on_files_is_a_full_disk(tmp_path: Path) -> None:
    home = kit.new_vault(tmp_path / "h")
    child = _child("limited", home.path, home.vault.stat().st_size + 300_000)
    out, _ = child.communicate(timeout=120)
    code, held, saved, end = out.split()
    assert (code, end) == (Code.DISK_FULL.value, "closed")
    assert held == saved
    assert int(saved) > 3
    with kit.opened(home) as vault:
        assert vault.read(lambda rows: rows.value("SELECT count(*) FROM memories")) == int(saved)
        assert verify_vault(vault, kit.KEYS).status == "ok"


def _disguises(word: str) -> list[bytes]:
    raw = word.encode()
    return [
        raw,
        raw.lower(),
        word.encode("utf-16-le"),
        base64.b64encode(raw).rstrip(b"=")[:-1],
        raw.hex().encode(),
        zlib.compress(raw)[2:-6],
    ]


def _seen(home: Home, words: list[bytes]) -> list[str]:
    """Files that hold one of the words; read by another process, so that our own locks stay."""
    script = (
        "import sys, pathlib\n"
        "words = [bytes.fromhex(w) for w in sys.argv[2:]]\n"
        "for p in pathlib.Path(sys.argv[1]).rglob('*'):\n"
        "    if p.is_file() and any(w in p.read_bytes() for w in words): print(p.name)\n"
    )
    command = [sys.executable, "-c", script, str(home.path), *(word.hex() for word in words)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def test_planted_words_are_in_no_file_live_or_closed(tmp_path: Path) -> None:
    home = kit.new_vault(tmp_path / "h")
    words = _disguises(kit.MARKER) + _disguises("marzipanturm")
    (home.logs / "control").write_text(f"x {kit.MARKER}")
    assert _seen(home, words) == ["control"], "the scan itself must see"
    (home.logs / "control").unlink()
    vault = kit.open_at(home)

    def plant(tx: Tx) -> None:
        for n in range(1, 200):
            kit.store(tx, n, f"{kit.MARKER} {n}", tags=f'["{kit.MARKER}"]', author=kit.MARKER)

    vault.write(plant)
    assert _seen(home, words) == []
    vault.copy_into(home.backups / "copy.db")
    vault.checkpoint_log()
    assert vault.read(lambda rows: rows.value("SELECT count(*) FROM memories WHERE text LIKE ?", (f"%{kit.MARKER}%",)))
    assert _seen(home, words) == []
    vault.close()
    assert _seen(home, words) == []


def test_purged_words_are_in_no_page_of_the_decrypted_vault(tmp_path: Path) -> None:
    """Decrypted with the key, free pages and the full-text index included."""
    home = kit.new_vault(tmp_path / "h")
    with kit.opened(home) as vault:
        vault.write(lambda tx: _store_range(tx, 1, 60, "kept sentence"))
        vault.write(lambda tx: _store_range(tx, 60, 120, f"{kit.MARKER} zyxwvut"))
    assert _decrypted(home).count(b"zyxwvut") > 60
    with kit.opened(home) as vault:

        def purge(tx: Tx) -> None:
            with tx.purge():
                for n in range(60, 120):
                    tx.run("DELETE FROM memory_fts WHERE rowid = ?", (n,))
                    tx.delete("memories", {"n": n})

        vault.write(purge)
        assert vault.scrub_deleted()
        assert vault.seq == 3
        assert home.wal.stat().st_size == 0
        assert (
            vault.read(lambda rows: rows.value("SELECT count(*) FROM memory_fts WHERE memory_fts MATCH 'kept'")) == 59
        )
        assert verify_vault(vault, kit.KEYS).status == "ok"
    plain = _decrypted(home)
    assert plain.count(b"kept sentence") == 59
    for gone in (b"zyxwvut", kit.MARKER.encode(), b"marzipanturm", b"quinquagesima"):
        assert gone not in plain


def test_room_that_a_great_purge_leaves_goes_back_to_the_system(tmp_path: Path) -> None:
    home = kit.new_vault(tmp_path / "h")
    with kit.opened(home) as vault:
        vault.write(lambda tx: _store_range(tx, 1, 60, "kept sentence"))
        vault.write(lambda tx: _store_range(tx, 60, 660, "many words " * 1_000))
        vault.checkpoint_log()
        large = home.vault.stat().st_size

        def purge(tx: Tx) -> None:
            with tx.purge():
                for n in range(60, 660):
                    tx.run("DELETE FROM memory_fts WHERE rowid = ?", (n,))
                    tx.delete("memories", {"n": n})

        vault.write(purge)
        assert vault.scrub_deleted()
        assert home.vault.stat().st_size < large / 3
        free = vault.read(lambda rows: rows.value("PRAGMA freelist_count"))
        assert 0 < free <= 128  # the next texts lie there
        assert verify_vault(vault, kit.KEYS).status == "ok"
        assert vault.read(lambda rows: rows.value("SELECT count(*) FROM memories")) == 59


def test_a_purge_that_is_called_off_gives_nothing_back_yet(tmp_path: Path) -> None:
    home = kit.new_vault(tmp_path / "h")
    with kit.opened(home) as vault:
        vault.write(lambda tx: _store_range(tx, 1, 600, "many words " * 1_000))

        def purge(tx: Tx) -> None:
            with tx.purge():
                for n in range(1, 600):
                    tx.run("DELETE FROM memory_fts WHERE rowid = ?", (n,))
                    tx.delete("memories", {"n": n})

        vault.write(purge)
        vault.checkpoint_log()
        large = home.vault.stat().st_size
        assert not vault.scrub_deleted(lambda: True)
        assert home.vault.stat().st_size == large


def _decrypted(home: Home) -> bytes:
    """Every page as it lies in the file: AES-256-CBC, and at its end 16 bytes of IV and 64 of MAC."""
    whole = home.vault.read_bytes()
    plain = b""
    for start in range(0, len(whole), PAGE_SIZE):
        page = whole[start : start + PAGE_SIZE]
        cipher = Cipher(algorithms.AES(kit.KEYS.db), modes.CBC(page[-80:-64])).decryptor()
        plain += cipher.update(page[16 if start == 0 else 0 : -80]) + cipher.finalize()
    return plain


def _stored_at(tx: Tx, n: int) -> int:
    kit.store(tx, n, recorded_at=tx.now_ms)
    return tx.now_ms


def test_the_clock_may_jump_about_between_runs(tmp_path: Path) -> None:
    home = kit.new_vault(tmp_path / "h")
    times: list[int] = []
    for at in (kit.START_MS, 0, kit.START_MS + 10 * 365 * 86_400_000, kit.START_MS - 86_400_000, -5):
        with kit.opened(home, ManualClock(at)) as vault:
            times.append(vault.write(lambda tx: _stored_at(tx, len(times) + 1)))
            assert verify_vault(vault, kit.KEYS).status == "ok"
            assert vault.info.older_than_head is None
    assert times == sorted(times)


def test_readers_on_many_threads_beside_a_writer(tmp_path: Path) -> None:
    home = kit.new_vault(tmp_path / "h")
    wrong: list[str] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            first, second = vault.read(
                lambda rows: (
                    rows.value("SELECT count(*) FROM memories"),
                    rows.value("SELECT count(*) FROM memory_fts_docsize"),
                )
            )
            if first != second:
                wrong.append("torn snapshot")

    with kit.opened(home, SystemClock(), 4) as vault:
        threads = [threading.Thread(target=read) for _ in range(8)]
        for thread in threads:
            thread.start()
        kit.store_many(vault, 150)
        vault.checkpoint_log()
        stop.set()
        for thread in threads:
            thread.join()
        assert vault.read(lambda rows: rows.value("SELECT count(*) FROM memories")) == 150
    assert wrong == []
