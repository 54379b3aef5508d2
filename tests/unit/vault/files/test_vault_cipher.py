"""Connections: every setting read back, and no way to a vault without encryption."""

from __future__ import annotations

from pathlib import Path

import pytest
import vault_kit as kit
from sqlcipher3 import dbapi2

from core.errors import BugError, Code, LociError
from core.vault.database import connections
from core.vault.files.home import Home, SubKeys, new_file

_WANTED = {
    "cipher_page_size": "8192",
    "page_size": "8192",
    "cipher_memory_security": "0",
    "temp_store": 2,
    "trusted_schema": 0,
    "foreign_keys": 1,
    "cell_size_check": 1,
    "mmap_size": 0,
    "journal_mode": "wal",
    "secure_delete": 1,
    "auto_vacuum": 2,
    "query_only": 0,
    "synchronous": 2,
    "wal_autocheckpoint": 100,
}


def _settings(connection: dbapi2.Connection, names: set[str]) -> dict[str, object]:
    return {name: connection.execute(f"PRAGMA {name}").fetchall()[0][0] for name in names}


def test_the_writer_is_set_up_and_stays_so_after_reopening(home: Home) -> None:
    for _ in range(2):
        connection = connections.open_writer(home.vault, kit.KEYS.db)
        assert _settings(connection, set(_WANTED)) == _WANTED
        assert connection.execute("PRAGMA cipher_version").fetchall()
        connection.close()


def test_a_reader_is_set_up(home: Home) -> None:
    connection = connections.open_reader(home.vault, kit.KEYS.db)
    same = {"temp_store", "trusted_schema", "foreign_keys", "cell_size_check", "mmap_size", "page_size", "auto_vacuum"}
    assert _settings(connection, same) == {name: _WANTED[name] for name in same}
    assert _settings(connection, {"query_only"}) == {"query_only": 1}
    connection.close()


def test_extensions_cannot_be_loaded(home: Home) -> None:
    connection = connections.open_writer(home.vault, kit.KEYS.db)
    with pytest.raises(dbapi2.OperationalError, match="not authorized"):
        connection.execute("SELECT load_extension('x')")
    connection.close()


def test_a_missing_file_is_not_made(tmp_path: Path) -> None:
    for opener in (connections.open_writer, connections.open_reader, connections.read_versions):
        with pytest.raises(LociError) as caught:
            opener(tmp_path / "none.db", kit.KEYS.db)
        assert caught.value.code is Code.WRITE_FAILED
        assert "none" not in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("length", [0, 16, 31, 33, 64])
def test_only_a_raw_key_of_32_bytes_is_a_key(tmp_path: Path, length: int) -> None:
    new_file(tmp_path / "v.db")
    with pytest.raises(BugError):
        connections.open_writer(tmp_path / "v.db", b"k" * length)
    with pytest.raises(BugError):
        SubKeys(b"k" * length, b"h" * 32, b"a" * 32)
    assert (tmp_path / "v.db").stat().st_size == 0


def test_keys_are_not_shown() -> None:
    assert "ddd" not in repr(kit.KEYS)


def test_an_old_sqlite_is_refused(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dbapi2, "sqlite_version_info", (3, 51, 2))
    with pytest.raises(LociError) as caught:
        connections.open_writer(home.vault, kit.KEYS.db)
    assert "too old" in caught.value.sentence


def test_the_installed_sqlite_is_new_enough() -> None:
    assert dbapi2.sqlite_version_info >= connections.OLDEST_SQLITE


def test_a_setting_that_does_not_take_stops_the_opening(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_BOTH", (("temp_store", "FILE", "2"),))
    with pytest.raises(BugError, match="temp_store"):
        connections.open_writer(home.vault, kit.KEYS.db)


def test_odd_characters_in_the_path(tmp_path: Path) -> None:
    home = kit.new_vault(tmp_path / "a b?c#d%20'\"é")
    with kit.opened(home) as vault:
        kit.store_many(vault, 1)
        vault.copy_into(home.backups / "c'opy?.db")
        assert vault.read(lambda rows: rows.value("SELECT count(*) FROM memories")) == 1


def test_a_copy_opens_with_the_same_key_and_keeps_its_settings(home: Home) -> None:
    """VACUUM INTO takes the cipher's default page size; with another one its copy could not be opened."""
    with kit.opened(home) as vault:
        kit.store_many(vault, 2)
        vault.copy_into(home.backups / "c.db")
    assert connections.read_versions(home.backups / "c.db", kit.KEYS.db) == connections.read_versions(
        home.vault, kit.KEYS.db
    )
    connection = connections.open_writer(home.backups / "c.db", kit.KEYS.db)
    assert connection.execute("SELECT count(*) FROM memories").fetchall() == [(2,)]
    assert connection.execute("PRAGMA auto_vacuum").fetchall() == [(2,)]
    connection.close()
    assert not (home.backups / "c.db").read_bytes().startswith(b"SQLite")


def test_nothing_is_printed_about_damage(home: Home, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(LociError):
        connections.read_versions(home.vault, b"w" * 32)
    assert capfd.readouterr() == ("", "")
