"""Forward-only steps, each whole or not at all, and vaults of a newer program."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest
import vault_kit as kit

from core.errors import BugError, Code, LociError
from core.types.clock import ManualClock
from core.vault.database.connections import Versions, read_versions
from core.vault.database.inspection import look_into
from core.vault.database.migrations import Migration, known_migrations, split_statements
from core.vault.files.home import Home
from core.vault.vault import Vault

_NEWEST = len(known_migrations())
_NEXT = Migration(
    _NEWEST + 1,
    "colours",
    (
        "ALTER TABLE rooms ADD COLUMN colour TEXT",
        "UPDATE memories SET importance = 0.25",
        "CREATE INDEX ix_rooms_colour ON rooms (colour)",
    ),
)
_BROKEN = dataclasses.replace(_NEXT, statements=(*_NEXT.statements, "INSERT INTO nowhere VALUES (1)"))


def _open(home: Home, *steps: Migration) -> Vault:
    return Vault.open(home, kit.KEYS, kit.VAULT_ID, ManualClock(kit.START_MS + 5), 1, (*known_migrations(), *steps))


def _versions(home: Home) -> tuple[Versions, list[tuple[int, int, str]]]:
    connection = kit.raw(home.vault)
    rows = connection.execute("SELECT version, applied_at, description FROM schema_version ORDER BY version").fetchall()
    connection.close()
    return read_versions(home.vault, kit.KEYS.db), rows


def test_the_steps_are_numbered_without_gaps_and_split_whole() -> None:
    steps = known_migrations()
    assert [step.version for step in steps] == list(range(1, len(steps) + 1))
    assert steps[0].description == "first"
    triggers = [one for one in steps[0].statements if "CREATE TRIGGER" in one]
    assert triggers
    assert all(one.rstrip().endswith("END;") for one in triggers)


def test_an_unfinished_script_is_a_fault_of_ours() -> None:
    assert len(split_statements("SELECT 1;\n-- the end\n")) == 1
    with pytest.raises(BugError):
        split_statements("SELECT 1;\nCREATE TABLE x (a\n")


def test_a_new_vault_has_the_newest_version(home: Home) -> None:
    newest = len(known_migrations())
    found, rows = _versions(home)
    assert found == Versions(0x4C4F4349, newest)
    assert [row[0] for row in rows] == list(range(1, newest + 1))
    assert rows[0] == (1, kit.START_MS, "first")


def test_an_older_vault_is_copied_then_brought_up_to_date(home: Home) -> None:
    with kit.opened(home) as vault:
        kit.store_many(vault, 3)
    vault = _open(home, _NEXT)
    try:
        assert (vault.info.migrated_from, vault.info.schema_version) == (_NEWEST, _NEWEST + 1)
        assert vault.read(lambda rows: rows.all("SELECT DISTINCT importance FROM memories")) == [(0.25,)]
        vault.write(
            lambda tx: tx.insert(
                "rooms",
                {"id": "r", "space_id": "home", "name": "r", "made_by": "owner", "created_at": 1, "colour": "red"},
            )
        )
    finally:
        vault.close()
    found, rows = _versions(home)
    assert found.schema == _NEWEST + 1
    assert rows[_NEWEST] == (_NEWEST + 1, kit.START_MS + 5, "colours")
    (copy,) = home.backups.glob(f"vault-v{_NEWEST}-*.db")
    look = look_into(copy, kit.KEYS.db)
    assert (look.versions.schema, look.counts["memories"]) == (_NEWEST, 3)
    vault = _open(home, _NEXT)
    assert vault.info.migrated_from is None
    vault.close()
    assert len(list(home.backups.iterdir())) == 1


def test_a_step_that_fails_leaves_the_version_before_it(home: Home) -> None:
    with kit.opened(home) as vault:
        kit.store_many(vault, 3)
    before = _versions(home)
    with pytest.raises(LociError) as caught:
        _open(home, _BROKEN)
    assert caught.value.code is Code.MIGRATION_FAILED
    assert "nowhere" not in caught.value.sentence
    assert _versions(home) == before
    with kit.opened(home) as vault:
        assert vault.read(lambda rows: rows.all("SELECT DISTINCT importance FROM memories")) == [(0.5,)]
        assert (
            vault.read(lambda rows: rows.all("SELECT name FROM pragma_table_info('rooms') WHERE name = 'colour'")) == []
        )


def test_a_failing_step_keeps_the_one_before_it(home: Home) -> None:
    third = Migration(_NEWEST + 2, "third", ("SELECT no_such_function()",))
    with pytest.raises(LociError) as caught:
        _open(home, _NEXT, third)
    assert f"stays at version {_NEWEST + 1}" in caught.value.sentence
    assert _versions(home)[0].schema == _NEWEST + 1


def test_a_newer_vault_is_left_byte_for_byte(tmp_path: Path, home: Home) -> None:
    vault = _open(home, _NEXT)
    kit.store_many(vault, 3)
    vault.close()
    before = dict(kit.every_byte(home.path))
    with pytest.raises(LociError) as caught:
        kit.open_at(home)
    assert caught.value.code is Code.NEWER_VERSION
    assert caught.value.exit_code == 7
    assert dict(kit.every_byte(home.path)) == before


def test_a_newer_vault_that_was_killed_keeps_its_log(tmp_path: Path, home: Home) -> None:
    copy = kit.home_at(tmp_path / "copy")
    vault = _open(home, _NEXT)
    kit.store_many(vault, 3)
    shutil.copytree(home.path, copy.path)
    vault.close()
    before = (copy.vault.read_bytes(), copy.wal.read_bytes())
    with pytest.raises(LociError) as caught:
        kit.open_at(copy)
    assert caught.value.code is Code.NEWER_VERSION
    assert (copy.vault.read_bytes(), copy.wal.read_bytes()) == before
    vault = _open(copy, _NEXT)
    assert vault.read(lambda rows: rows.value("SELECT count(*) FROM memories")) == 3
    vault.close()
