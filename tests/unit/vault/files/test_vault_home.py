"""Files, modes and what may lie under the vault's name."""

from __future__ import annotations

import os
import socket
import sqlite3
from pathlib import Path

import pytest
import vault_kit as kit

from core.errors import Code, LociError
from core.types.clock import ManualClock
from core.vault.files.home import PAGE_SIZE, Home, SubKeys
from core.vault.vault import Vault


def _listing(folder: Path) -> dict[Path, tuple[int, int, int, int]]:
    """All but the time of the last reading, which reading changes."""
    found = {path: path.lstat() for path in folder.iterdir()}
    return {path: (one.st_ino, one.st_mode, one.st_size, one.st_mtime_ns) for path, one in found.items()}


def _refusal(home: Home) -> LociError:
    before = _listing(home.path)
    with pytest.raises(LociError) as caught:
        kit.open_at(home)
    assert _listing(home.path) == before, "something was created or changed"
    assert str(home.path) not in str(caught.value)
    return caught.value


def test_modes_are_private_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        home = kit.new_vault(tmp_path / "deep" / "home")
        with kit.opened(home) as vault:
            kit.store_many(vault, 3)
            vault.checkpoint_log()
            kit.store_many(vault, 3, first=10)
            vault.copy_into(home.backups / "copy.db")
            found = kit.modes(home.path)
    finally:
        os.umask(old)
    assert {"vault.db", "vault.db-wal", "vault.db-shm", "vault.head", "reserve.bin", "backups/copy.db"} <= set(found)
    folders = {"backups", "logs"}
    assert {name: mode for name, mode in found.items() if mode != (0o700 if name in folders else 0o600)} == {}
    assert home.path.stat().st_mode & 0o777 == 0o700
    assert home.path.parent.stat().st_mode & 0o777 == 0o700


def test_an_empty_home_made_by_someone_else_is_tightened(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    kit.home_at(tmp_path).prepare_folders()
    assert tmp_path.stat().st_mode & 0o777 == 0o700


def test_a_folder_with_other_things_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    tmp_path.chmod(0o755)
    kit.home_at(tmp_path).prepare_folders()
    assert tmp_path.stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "backups").stat().st_mode & 0o777 == 0o700


def test_a_home_is_kept_out_of_repositories_but_not_out_of_backups(tmp_path: Path) -> None:
    home = kit.new_vault(tmp_path / "home")
    assert (home.path / ".gitignore").read_text() == "*\n"
    assert not list(home.path.rglob("CACHEDIR.TAG"))


def test_a_file_where_the_home_should_be(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("x")
    for path in (tmp_path / "home", tmp_path / "home" / "below"):
        with pytest.raises(LociError) as caught:
            kit.home_at(path).prepare_folders()
        assert caught.value.code is Code.INVALID_INPUT


def test_nothing_here(tmp_path: Path) -> None:
    home = kit.home_at(tmp_path / "home")
    with pytest.raises(LociError) as caught:
        kit.open_at(home)
    assert caught.value.code is Code.NO_VAULT
    assert not home.path.exists()


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("missing", "missing"),
        ("empty", "empty"),
        ("directory", "directory"),
        ("fifo", "ordinary"),
        ("socket", "ordinary"),
        ("symlink", "symbolic link"),
        ("plaintext", "unencrypted"),
        ("cut", "cut"),
        ("random", "damaged"),
    ],
)
def test_what_cannot_be_a_vault_is_named_and_left_alone(tmp_path: Path, kind: str, word: str) -> None:
    home = kit.new_vault(tmp_path / "h")
    home.keys.write_bytes(b"keys")
    real = home.path / "elsewhere.db"
    home.vault.rename(real)
    listener = socket.socket(socket.AF_UNIX)
    if kind == "empty":
        home.vault.touch()
    elif kind == "directory":
        home.vault.mkdir()
    elif kind == "fifo":
        os.mkfifo(home.vault)
    elif kind == "socket":
        listener.bind(str(home.vault))
    elif kind == "symlink":
        home.vault.symlink_to(real)
    elif kind == "plaintext":
        connection = sqlite3.connect(home.vault)
        connection.execute("PRAGMA page_size = 8192")
        connection.execute("CREATE TABLE memories (text)")
        connection.commit()
        connection.close()
    elif kind == "cut":
        home.vault.write_bytes(real.read_bytes()[:-5])
    elif kind == "random":
        home.vault.write_bytes(os.urandom(20 * PAGE_SIZE))
    refused = _refusal(home)
    listener.close()
    assert refused.code is Code.VAULT_DAMAGED
    assert word in refused.sentence


def test_a_wrong_key_opens_nothing_and_makes_nothing(tmp_path: Path) -> None:
    home = kit.new_vault(tmp_path / "h")
    before = home.vault.read_bytes()
    names = sorted(home.path.iterdir())
    wrong = SubKeys(b"w" * 32, kit.KEYS.head, kit.KEYS.audit)
    with pytest.raises(LociError) as caught:
        Vault.open(home, wrong, kit.VAULT_ID, ManualClock(kit.START_MS))
    assert caught.value.code is Code.VAULT_DAMAGED
    assert home.vault.read_bytes() == before
    assert sorted(home.path.iterdir()) == names


def test_an_encrypted_database_of_another_program(tmp_path: Path) -> None:
    home = kit.new_vault(tmp_path / "h")
    connection = kit.raw(home.vault)
    connection.execute("PRAGMA application_id = 7")
    connection.close()
    with pytest.raises(LociError) as caught:
        kit.open_at(home)
    assert caught.value.code is Code.VAULT_DAMAGED
    assert "not a vault" in caught.value.sentence


def test_create_never_overwrites(tmp_path: Path) -> None:
    home = kit.new_vault(tmp_path / "h")
    before = home.vault.read_bytes()
    with pytest.raises(LociError) as caught:
        kit.new_vault(home.path)
    assert caught.value.code is Code.VAULT_EXISTS
    assert home.vault.read_bytes() == before
    home.vault.unlink()
    home.vault.symlink_to(tmp_path / "nowhere")
    with pytest.raises(LociError) as caught:
        kit.new_vault(home.path)
    assert caught.value.code is Code.VAULT_EXISTS
    assert not (tmp_path / "nowhere").exists()


def test_create_goes_on_after_one_that_was_killed(tmp_path: Path) -> None:
    home = kit.home_at(tmp_path / "h")
    home.prepare_folders()
    (home.path / "vault.db.new").write_bytes(b"half")
    (home.path / "vault.db.new-wal").write_bytes(b"half")
    home.wal.write_bytes(b"a log whose vault is gone" * 1000)
    home = kit.new_vault(home.path)
    assert not list(home.path.glob("vault.db.new*"))
    assert (home.backups / "journal-damaged.bin").stat().st_size == 25_000
    with kit.opened(home) as vault:
        assert vault.info.lost_commits == 0
        assert vault.read(lambda rows: rows.all("SELECT id FROM spaces ORDER BY id")) == [("GLOBAL",), ("home",)]


def test_a_new_vault_is_encrypted_from_its_first_byte(home: Home) -> None:
    head = home.vault.read_bytes()
    assert not head.startswith(b"SQLite")
    assert b"CREATE TABLE" not in head


def test_a_read_only_home_is_told(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    # Root may write anywhere, so the system's answer is played; the tmpfs test asks the real one.
    monkeypatch.setattr(os, "access", lambda *_: False)
    refused = _refusal(home)
    assert refused.code is Code.READ_ONLY
    assert "read-only" in refused.sentence
