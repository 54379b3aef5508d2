"""The vault of every past version opens with its own keys, is brought up to date and gives its known answers."""

from __future__ import annotations

import json
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import vault_kit as kit

import golden_belief
from core.security.keyfile import load_keys
from core.security.keys import Purpose
from core.security.slots import open_with_passphrase
from core.types.clock import ManualClock
from core.vault.database.migrations import known_migrations
from core.vault.files.home import Home, SubKeys
from core.vault.vault import Vault
from core.vault.verification import verify_vault

_VAULTS = Path(__file__).resolve().parents[3] / "vaults"
_VERSIONS = sorted(int(path.name[1:]) for path in _VAULTS.glob("v*"))


def _copy(version: int, target: Path) -> tuple[Home, dict[str, Any]]:
    shutil.copytree(_VAULTS / f"v{version}", target)
    for path in target.iterdir():
        path.chmod(0o600)
    return kit.home_at(target), json.loads((target / "answers.json").read_text(encoding="utf-8"))


def test_every_version_has_its_golden_vault() -> None:
    assert [step.version for step in known_migrations()] == _VERSIONS


@pytest.mark.parametrize("version", _VERSIONS)
def test_a_golden_vault_gives_its_answers(version: int, tmp_path: Path) -> None:
    home, answers = _copy(version, tmp_path / "home")
    key_file = load_keys(home.keys, repair=False).keys
    assert answers["schema"] == version
    with open_with_passphrase(key_file, answers["passphrase"]) as root:
        keys = SubKeys(root.derive(Purpose.VAULT), root.derive(Purpose.HEAD), root.derive(Purpose.AUDIT))
    newest = known_migrations()[-1].version
    vault = Vault.open(home, keys, key_file.vault_id, ManualClock(kit.START_MS))
    try:
        assert vault.info.migrated_from == (None if version == newest else version)
        assert (vault.info.schema_version, vault.info.head_state, vault.info.older_than_head) == (newest, "ok", None)
        assert vault.seq == answers["seq"]
        for table, count in answers["counts"].items():
            assert vault.read(lambda rows, t=table: rows.value(f'SELECT count(*) FROM "{t}"')) == count, table  # type: ignore[misc]  # noqa: S608
        texts = [text for (text,) in vault.read(lambda rows: rows.all("SELECT text FROM memories ORDER BY n"))]
        assert sha256("\x1e".join(texts).encode()).hexdigest() == answers["texts_sha256"]
        search = "SELECT rowid FROM memory_fts WHERE memory_fts MATCH ? ORDER BY rowid"
        for word, found in answers["found"].items():
            assert vault.read(lambda rows, w=word: rows.all(search, (f'"{w}"',))) == [(n,) for n in found], word  # type: ignore[misc]
        claims = vault.read(lambda rows: rows.all("SELECT subject, predicate, value, state FROM claims ORDER BY id"))
        assert [list(row) for row in claims] == (answers["claims"] if version > 1 else [answers["claim"]])
        if version > 1:
            told = json.loads(json.dumps(golden_belief.answers(vault)))
            assert told == {name: answers[name] for name in told}
        assert verify_vault(vault, keys).status == "ok"
        vault.write(lambda tx: tx.insert("settings", {"key": "new", "value": "1", "changed_at": 1}))
        assert vault.seq == answers["seq"] + 1
    finally:
        assert vault.close() == ()


def test_the_golden_schema_is_the_schema_of_today(tmp_path: Path) -> None:
    """A vault of version 1 must have exactly the tables that 001 makes now: 001 is never edited after a release."""
    home, answers = _copy(_VERSIONS[-1], tmp_path / "old")
    with open_with_passphrase(load_keys(home.keys, repair=False).keys, answers["passphrase"]) as root:
        key = root.derive(Purpose.VAULT)
    new = kit.new_vault(tmp_path / "new")
    assert _schema(home, key) == _schema(new, kit.KEYS.db)


def _schema(home: Home, key: bytes) -> list[tuple[str, str]]:
    connection = kit.raw(home.vault, key)
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").fetchall()
    connection.close()
    return found
