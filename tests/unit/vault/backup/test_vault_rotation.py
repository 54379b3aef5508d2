"""A vault under other keys: everything in it stays, the old keys open nothing, and a kill leaves one of the two."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import vault_kit as kit

from core.errors import CancelledError, Code, IntegrityError, LociError
from core.types.clock import ManualClock
from core.vault.audit import AuditChain
from core.vault.database.inspection import count_rows
from core.vault.files.home import Home, SubKeys
from core.vault.files.replacement import finish_replacement
from core.vault.head import read_head
from core.vault.rotation import RotationInfo, RotationStep, rotate_vault
from core.vault.vault import Vault
from core.vault.verification import verify_vault

NEW = SubKeys(db=b"D" * 32, head=b"H" * 32, audit=b"A" * 32)
OLD_KEY_FILE, NEW_KEY_FILE = b"LOCIKEYS1 of before", b"LOCIKEYS1 of now"


@pytest.fixture
def filled(home: Home) -> Home:
    """A vault with memories, a client, audit rows and gaps where rows were."""
    with kit.opened(home) as vault:
        kit.store_many(vault, 25)
        vault.write(lambda tx: tx.insert("clients", {"id": "c", "name": "tool", "token": b"t" * 32, "paired_at": 1}))
        chain = AuditChain(kit.KEYS.audit)
        for _ in range(7):
            vault.write(lambda tx: chain.append_row(tx, "owner", "store"))
    for name in ("vault.keys", "vault.keys.bak"):
        (home.path / name).write_bytes(OLD_KEY_FILE)
    return home


def _rotate(home: Home, steps: list[tuple[RotationStep, int, int]] | None = None) -> RotationInfo:
    noted = [] if steps is None else steps
    return rotate_vault(
        home,
        kit.KEYS,
        NEW,
        kit.VAULT_ID,
        NEW_KEY_FILE,
        ManualClock(kit.START_MS + 9),
        lambda *step: noted.append(step),
    )


def _open(home: Home, keys: SubKeys) -> Vault:
    return Vault.open(home, keys, kit.VAULT_ID, ManualClock(kit.START_MS + 10), 2)


def _everything(home: Home) -> dict[str, bytes]:
    return {str(path.relative_to(home.path)): content for path, content in kit.every_byte(home.path)}


def _table_rows(path: Path, key: bytes) -> dict[str, list[tuple[object, ...]]]:
    connection = kit.raw(path, key)
    try:
        names = [name for name in count_rows(connection) if name not in {"audit", "vault_state"}]
        return {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in names}  # noqa: S608
    finally:
        connection.close()


def test_every_row_stays_and_only_the_new_keys_open_it(filled: Home) -> None:
    before = _table_rows(filled.vault, kit.KEYS.db)
    steps: list[tuple[RotationStep, int, int]] = []
    done = _rotate(filled, steps)
    assert _table_rows(filled.vault, NEW.db) == before
    assert done.rows > 25
    assert list(dict.fromkeys(step for step, _, _ in steps)) == list(RotationStep)
    with pytest.raises(IntegrityError):
        _open(filled, kit.KEYS)
    assert read_head(filled.head, NEW.head, kit.VAULT_ID).state == "ok"
    vault = _open(filled, NEW)
    try:
        assert verify_vault(vault, NEW).status == "ok"
        assert vault.info.older_than_head is None
        assert not vault.info.recovered_from_crash
        found = vault.read(lambda rows: rows.all("SELECT actor, verb FROM audit ORDER BY nr"))
        assert found[-1] == ("owner", "rotate_keys")
        assert len(found) == 8
        assert vault.read(AuditChain(kit.KEYS.audit).verify_chain).broken_at == 1
    finally:
        vault.close()


def test_nothing_of_the_old_keys_or_the_work_stays_behind(filled: Home) -> None:
    (filled.path / "index.snap").write_bytes(b"of the old index key")
    _rotate(filled)
    assert filled.keys.read_bytes() == (filled.path / "vault.keys.bak").read_bytes() == NEW_KEY_FILE
    names = {entry.name for entry in filled.path.iterdir()}
    assert names == {
        ".gitignore",
        "backups",
        "logs",
        "reserve.bin",
        "vault.db",
        "vault.head",
        "vault.keys",
        "vault.keys.bak",
    }
    assert all((filled.path / name).stat().st_mode & 0o777 == 0o600 for name in names if name.startswith("vault."))


def test_the_settings_of_the_file_stay(filled: Home) -> None:
    questions = ("user_version", "application_id", "auto_vacuum", "page_size")

    def ask(key: bytes) -> list[object]:
        connection = kit.raw(filled.vault, key)
        try:
            schema = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2").fetchall()
            return [schema, *(connection.execute(f"PRAGMA {name}").fetchall() for name in questions)]
        finally:
            connection.close()

    before = ask(kit.KEYS.db)
    _rotate(filled)
    assert ask(NEW.db) == before


def test_changes_that_are_still_in_the_log_come_along(filled: Home, tmp_path: Path) -> None:
    vault = kit.open_at(filled)
    vault.write(lambda tx: kit.store(tx, 77, "in the log alone"))
    copy = kit.home_at(tmp_path / "crashed")
    shutil.copytree(filled.path, copy.path)
    vault.close()
    assert copy.wal.stat().st_size
    _rotate(copy)
    vault = _open(copy, NEW)
    assert vault.read(lambda rows: rows.value("SELECT text FROM memories WHERE n = 77")) == "in the log alone"
    vault.close()


def test_the_audit_still_refuses_changes(filled: Home) -> None:
    _rotate(filled)
    connection = kit.raw(filled.vault, NEW.db)
    with pytest.raises(Exception, match="append-only"):
        connection.execute("UPDATE audit SET verb = 'x'")
    connection.close()


def test_a_changed_audit_is_not_marked_anew(filled: Home) -> None:
    connection = kit.raw(filled.vault)
    ((guard,),) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'audit_fixed'").fetchall()
    connection.execute("DROP TRIGGER audit_fixed")
    connection.execute("UPDATE audit SET verb = 'other' WHERE nr = 3")
    connection.execute(guard)
    connection.close()
    before = _everything(filled)
    with pytest.raises(IntegrityError, match="audit") as caught:
        _rotate(filled)
    assert caught.value.code is Code.VAULT_DAMAGED
    assert _everything(filled) == before


def test_too_little_room_is_told_before_anything_is_done(filled: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(filled.path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=10_000_000))
    before = _everything(filled)
    with pytest.raises(LociError, match=r"free disk .* 10 MB") as caught:
        _rotate(filled)
    assert caught.value.code is Code.DISK_FULL
    assert _everything(filled) == before


@pytest.mark.parametrize("step", [RotationStep.COPY, RotationStep.AUDIT, RotationStep.CHECK])
@pytest.mark.parametrize("error", [OSError(28, "full"), CancelledError()])
def test_what_fails_before_the_switch_leaves_every_byte(filled: Home, step: RotationStep, error: Exception) -> None:
    def fail_at(at: RotationStep, _done: int, _total: int) -> None:
        if at is step:
            raise error

    before = _everything(filled)
    with pytest.raises(LociError) as caught:
        rotate_vault(filled, kit.KEYS, NEW, kit.VAULT_ID, NEW_KEY_FILE, ManualClock(kit.START_MS), fail_at)
    assert caught.value.code is (Code.DISK_FULL if isinstance(error, OSError) else Code.CANCELLED)
    assert _everything(filled) == before


class _Killed(BaseException):
    pass


def _kill_after(steps: int, home: Home, patched: pytest.MonkeyPatch) -> bool:
    """Rotate until so many renames and removals were done; True where it came to its end."""
    left = [steps]
    for name in ("rename", "replace", "unlink", "rmdir"):
        real = getattr(os, name)

        def count(*args: object, real: Callable[..., object] = real, **more: object) -> object:
            if left[0] <= 0:
                raise _Killed
            left[0] -= 1
            return real(*args, **more)

        patched.setattr(os, name, count)
    patched.setattr(shutil, "rmtree", lambda *_, **__: None)
    with suppress(_Killed):
        _rotate(home)
        return True
    return False


def test_a_rotation_killed_between_any_two_renames_is_whole_or_undone(filled: Home, tmp_path: Path) -> None:
    outcomes: list[bool] = []
    for steps in range(80):
        copy = kit.home_at(tmp_path / f"k{steps}")
        shutil.copytree(filled.path, copy.path)
        with pytest.MonkeyPatch.context() as patched:
            is_done = _kill_after(steps, copy, patched)
        finish_replacement(copy)
        is_new = copy.keys.read_bytes() == NEW_KEY_FILE
        keys = NEW if is_new else kit.KEYS
        vault = _open(copy, keys)
        try:
            assert vault.read(lambda rows: rows.value("SELECT count(*) FROM memories")) == 25
            assert vault.info.older_than_head is None
            assert verify_vault(vault, keys).status == "ok"
        finally:
            vault.close()
        assert not [one.name for one in copy.path.iterdir() if "rotat" in one.name]
        outcomes.append(is_new)
        if is_done:
            break
    else:
        pytest.fail("it never came to its end")
    assert set(outcomes) == {False, True}
    assert outcomes == sorted(outcomes), "once decided, always finished"


def test_backups_and_copies_of_before_are_named(filled: Home) -> None:
    for name in ("loci-20231114-221320-27.tar", "vault-v3-17.db", "other.txt"):
        (filled.backups / name).write_bytes(b"x")
    done = _rotate(filled)
    assert done.old_backups == ("loci-20231114-221320-27.tar",)
    assert done.closed_copies == ("vault-v3-17.db",)
    assert (filled.backups / "vault-v3-17.db").exists()
