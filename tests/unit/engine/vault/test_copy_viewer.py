"""Looking into copies: what is found there, and that not a byte of them changes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from engine_rig import PASSPHRASE, Rig

from core.engine import copy_viewer
from core.engine.copy_viewer import VaultViewer, open_by_secret, open_viewer
from core.engine.facade import Home, HomeKeys, RootKey, create_vault
from core.engine.home.keys import sub_keys
from core.errors import Code, LociError
from core.security.passphrase import KdfCost
from core.types.values import OWNER_ACTOR, Kind
from core.vault.database.connections import open_untouched, open_writer
from core.vault.database.pages import log_bytes
from core.vault.files.home import PAGE_SIZE
from core.vault.files.lockfile import VaultLock

TEXTS = ("Ada keeps bees", "The lamp is lit at dusk.", "Tea is drunk at six.")
Look = Callable[[VaultViewer], Any]


@pytest.fixture
def filled(rig: Rig) -> Rig:
    for text in TEXTS:
        rig.store(text)
    rig.forget(rig.store("Old news.", kind=Kind.EPISODE).memory_id)
    return rig


@pytest.fixture
def backup(filled: Rig) -> Path:
    return Path(filled.engine.vault.backup().result(60)["path"])


def _open_root(rig: Rig, secret: str) -> Callable[[bytes | None], RootKey]:
    def open_root(key_file: bytes | None) -> RootKey:
        if key_file is None:
            return RootKey(rig.root, rig.engine.vault_id)
        return open_by_secret(key_file, secret)

    return open_root


def look(rig: Rig, source: Path, fn: Look, secret: str = PASSPHRASE) -> Any:
    with open_viewer(source, _open_root(rig, secret), rig.clock) as viewer:
        return fn(viewer)


def code(rig: Rig, source: Path, secret: str = PASSPHRASE) -> Code:
    with pytest.raises(LociError) as caught:
        look(rig, source, lambda viewer: viewer.describe(), secret)
    return caught.value.code


def _show(memory_id: str, viewer: VaultViewer) -> dict[str, Any]:
    return viewer.show(memory_id)


def state_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def look_around(viewer: VaultViewer) -> tuple[int, list[str]]:
    viewer.describe()
    viewer.verify()
    total, rows = viewer.find()
    return total, [row.head for row in rows]


def test_a_backup_is_looked_into_and_not_changed(filled: Rig, backup: Path) -> None:
    before = state_of(backup.parent)
    total, texts = look(filled, backup, look_around)
    assert total == 3
    assert sorted(texts) == sorted(TEXTS)
    assert state_of(backup.parent) == before
    assert look(filled, backup, lambda viewer: viewer.describe().memories) == 4
    assert look(filled, backup, lambda viewer: viewer.find("status:all")[0]) == 4
    assert look(filled, backup, lambda viewer: [row.head for row in viewer.find("lamp dusk")[1]]) == [TEXTS[1]]
    assert look(filled, backup, lambda viewer: len(viewer.find(limit=2)[1])) == 2


def test_the_folder_of_a_closed_vault_is_opened_where_it_lies(filled: Rig) -> None:
    filled.engine.close()
    before = state_of(filled.home.path)
    assert look(filled, filled.home.path, look_around)[0] == 3
    assert state_of(filled.home.path) == before


def test_a_plain_copy_is_opened_with_the_keys_of_the_vault(filled: Rig) -> None:
    copy = filled.home.backups / "vault-v7-1.db"
    filled.opened.storage.vault.copy_into(copy)
    before = state_of(filled.home.backups)
    assert look(filled, copy, look_around)[0] == 3
    assert state_of(filled.home.backups) == before


def test_one_is_shown_and_some_are_exported(filled: Rig, backup: Path, tmp_path: Path) -> None:
    one = filled.rows("SELECT id, text FROM memories WHERE n = 2")[0]
    shown = look(filled, backup, lambda viewer: viewer.show(one[0][-8:]))
    assert (shown["id"], shown["text"], shown["kind"]) == (*one, "fact")
    to = tmp_path / "out.jsonl"
    assert look(filled, backup, lambda viewer: viewer.export("bees", to, "jsonl")) == 1
    assert json.loads(to.read_text())["text"] == TEXTS[0]
    assert to.stat().st_mode & 0o777 == 0o600
    for wrong in ("nothing0", ""):
        with pytest.raises(LociError) as caught:
            look(filled, backup, partial(_show, wrong))
        assert caught.value.code is Code.NOT_FOUND


def test_a_vault_that_is_open_or_was_not_closed_is_refused(filled: Rig) -> None:
    assert code(filled, filled.home.path) is Code.VAULT_BUSY
    filled.engine.close()
    filled.home.wal.write_bytes(b"log")
    assert code(filled, filled.home.path) is Code.VAULT_BUSY


def _empty_log(rig: Rig) -> None:
    for _ in range(50):  # a reader may keep it for a moment
        rig.opened.storage.vault.checkpoint_log()
        if not log_bytes(rig.home.vault):
            return
    raise AssertionError("the log is never empty")


def test_a_vault_that_is_open_is_refused_by_its_file_too_and_while_its_log_is_empty(filled: Rig) -> None:
    _empty_log(filled)
    assert code(filled, filled.home.path) is Code.VAULT_BUSY
    assert code(filled, filled.home.vault) is Code.VAULT_BUSY
    link = filled.home.path.with_name("link.db")
    link.symlink_to(filled.home.vault)
    assert code(filled, link) is Code.VAULT_BUSY
    filled.engine.close()
    assert look(filled, filled.home.vault, look_around)[0] == 3


def test_nothing_is_shown_of_a_vault_that_is_opened_while_it_is_looked_at(filled: Rig, tmp_path: Path) -> None:
    filled.engine.close()
    reads: tuple[Look, ...] = (
        lambda viewer: viewer.describe(),
        lambda viewer: viewer.find("lamp"),
        lambda viewer: viewer.show("nothing0"),  # what a damaged page hides seems not to be there
        lambda viewer: viewer.verify(),
        lambda viewer: viewer.export("", tmp_path / "out.jsonl", "jsonl"),
    )
    for fn in reads:
        with open_viewer(filled.home.path, _open_root(filled, PASSPHRASE), filled.clock) as viewer:
            with VaultLock(filled.home.lock), pytest.raises(LociError) as caught:
                fn(viewer)
            assert caught.value.code is Code.VAULT_BUSY
    assert not (tmp_path / "out.jsonl").exists()


def test_what_is_none_is_told_apart(filled: Rig, backup: Path, tmp_path: Path) -> None:
    assert code(filled, tmp_path / "nothing") is Code.NOT_FOUND
    assert code(filled, tmp_path) is Code.NO_VAULT
    assert code(filled, backup, "wrong") is Code.WRONG_SECRET
    other = tmp_path / "other.db"
    other.write_bytes(b"x" * PAGE_SIZE)
    assert code(filled, other) is Code.VAULT_DAMAGED
    raw = bytearray(backup.read_bytes())
    raw[-5 * PAGE_SIZE] ^= 1
    backup.write_bytes(raw)
    assert code(filled, backup) is Code.BACKUP_INVALID


def test_another_schema_is_told_with_what_to_do(filled: Rig) -> None:
    for schema, wanted in ((3, Code.OLDER_SCHEMA), (99, Code.NEWER_VERSION)):
        copy = filled.home.backups / f"vault-v{schema}-1.db"
        filled.opened.storage.vault.copy_into(copy)
        _set_schema(filled, copy, schema)
        assert code(filled, copy) is wanted


def _set_schema(rig: Rig, copy: Path, schema: int) -> None:
    writer = open_writer(copy, sub_keys(rig.opened.storage.root).db)
    writer.execute(f"PRAGMA user_version = {schema}")
    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    writer.close()


def test_damage_is_found_page_by_page(filled: Rig) -> None:
    copy = filled.home.backups / "vault-v7-1.db"
    filled.opened.storage.vault.copy_into(copy)
    assert look(filled, copy, lambda viewer: viewer.verify()["status"]) == "ok"
    with closing(open_untouched(copy, sub_keys(filled.opened.storage.root).db)) as reader:
        ((root,),) = reader.execute("SELECT rootpage FROM sqlite_master WHERE name = 'ix_memories_hash'").fetchall()
    raw = bytearray(copy.read_bytes())
    raw[(root - 1) * PAGE_SIZE + 100] ^= 1
    copy.write_bytes(raw)
    found = look(filled, copy, lambda viewer: viewer.verify())
    assert found["status"] == "damaged"
    assert found["checks"]["cipher"] == {"status": "failed", "note": "1 pages"}


def test_a_golden_vault_of_an_older_schema_is_refused_and_left_alone(filled: Rig, tmp_path: Path) -> None:
    golden, folder = Path(__file__).resolve().parents[3] / "vaults" / "v5", tmp_path / "v5"
    shutil.copytree(golden, folder)
    before = state_of(folder)
    assert code(filled, folder, "golden and public") is Code.OLDER_SCHEMA
    assert state_of(folder) == before


def _seal_first(rig: Rig) -> str:
    sealed = str(rig.value("SELECT id FROM memories WHERE n = 1"))
    rig.engine.seal.set_up("a second secret").result(30)
    rig.engine.seal.seal([sealed]).result(30)
    return sealed


@pytest.mark.parametrize("is_in_use", [True, False])
def test_what_was_sealed_since_is_kept_back(filled: Rig, backup: Path, tmp_path: Path, *, is_in_use: bool) -> None:
    sealed = _seal_first(filled)
    if not is_in_use:
        filled.engine.close()
    before = state_of(filled.home.path)

    def look_without(viewer: VaultViewer) -> None:
        assert viewer.find()[0] == 3
        assert viewer.keep_back_sealed(filled.home)
        assert viewer.find()[0] == 2
        assert viewer.count_kept_back() == 1
        assert viewer.export("status:all", tmp_path / "out.jsonl", "jsonl") == 3
        assert TEXTS[0] not in (tmp_path / "out.jsonl").read_text()
        with pytest.raises(LociError) as caught:
            viewer.show(sealed)
        assert (caught.value.code, TEXTS[0] in str(caught.value)) == (Code.NOT_FOUND, False)

    look(filled, backup, look_without)
    assert is_in_use or state_of(filled.home.path) == before


def test_what_is_sealed_in_a_vault_in_use_is_read_with_its_locks(
    filled: Rig, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _seal_first(filled)
    _empty_log(filled)

    def open_copy(path: Path, key: bytes) -> Any:
        assert path != filled.home.vault
        return open_untouched(path, key)

    monkeypatch.setattr(copy_viewer, "open_untouched", open_copy)
    assert look(filled, backup, lambda viewer: (viewer.keep_back_sealed(filled.home), viewer.count_kept_back())) == (
        True,
        1,
    )


def test_each_memory_that_was_sealed_after_the_backup_counts_once_and_none_that_is_sealed_in_it(filled: Rig) -> None:
    _seal_first(filled)
    second = str(filled.value("SELECT id FROM memories WHERE text = ?", TEXTS[1]))
    filled.engine.client_changes.update_text(second, "The lamp is lit at ten.", OWNER_ACTOR).result(30)
    current = str(filled.value("SELECT superseded_by_id FROM memories WHERE id = ?", second))
    backup = Path(filled.engine.vault.backup().result(60)["path"])
    filled.engine.seal.seal([current]).result(30)

    def look_without(viewer: VaultViewer) -> tuple[int, int]:
        assert viewer.keep_back_sealed(filled.home)
        return viewer.find("status:all")[0], viewer.count_kept_back()

    assert look(filled, backup, look_without) == (2, 1)


def test_a_vault_that_does_not_open_tells_of_no_seal(filled: Rig, backup: Path, tmp_path: Path) -> None:
    other, none = Home(tmp_path / "other"), Home(tmp_path / "none")
    create_vault(HomeKeys(other), "another secret", filled.clock, cost=KdfCost.lowest())
    filled.engine.close()
    assert look(filled, backup, lambda viewer: viewer.keep_back_sealed(other))
    assert look(filled, backup, lambda viewer: viewer.keep_back_sealed(none))
    filled.home.vault.write_bytes(b"x" * PAGE_SIZE)
    assert not look(filled, backup, lambda viewer: viewer.keep_back_sealed(filled.home))
