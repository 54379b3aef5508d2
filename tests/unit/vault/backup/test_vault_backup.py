"""Backups that were opened before they count, and restores that are whole or nothing."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import tarfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import vault_kit as kit

from core.errors import Code, IntegrityError, LociError, UserError
from core.types.clock import ManualClock
from core.vault import backup
from core.vault import backup as restore
from core.vault.audit import AuditChain
from core.vault.backup import (
    KEYS,
    MANIFEST,
    VAULT,
    BackupInfo,
    OpenedKeys,
    automatic_backups,
    make_backup,
    pack_backup,
)
from core.vault.database.migrations import Migration, known_migrations
from core.vault.files.home import Home
from core.vault.files.replacement import clear_leftovers, finish_replacement
from core.vault.vault import Vault
from core.vault.verification import verify_vault

_KEY_FILE = b"LOCIKEYS1 of the backup"
_OLD_KEY_FILE = b"LOCIKEYS1 of the old vault"

_NEWEST = len(known_migrations())
_NEXT = Migration(_NEWEST + 1, "next", ("ALTER TABLE rooms ADD COLUMN colour TEXT",))


def _keys(raw: bytes) -> OpenedKeys:
    assert raw == _KEY_FILE
    return OpenedKeys(kit.VAULT_ID, kit.KEYS, kit.BACKUP_KEY)


def _back_up(vault: Vault, target: Path | None = None, now_ms: int = kit.START_MS) -> BackupInfo:
    return make_backup(vault, kit.KEYS.db, kit.BACKUP_KEY, _KEY_FILE, now_ms, target)


def _filled(home: Home) -> Home:
    with kit.opened(home) as vault:
        kit.store_many(vault, 25)
        client = {"id": "c", "name": "tool", "token": b"t" * 32, "paired_at": 1}
        vault.write(lambda tx: tx.insert("clients", client))
        chain = AuditChain(kit.KEYS.audit)
        vault.write(lambda tx: chain.append_row(tx, "owner", "store"))
    home.keys.write_bytes(_OLD_KEY_FILE)
    return home


@pytest.fixture
def archive(home: Home, tmp_path: Path) -> Path:
    """A backup of 25 memories, one client and one audit row."""
    target = tmp_path / "outside" / "b.tar"
    target.parent.mkdir()
    with kit.opened(_filled(home)) as vault:
        _back_up(vault, target)
    return target


def _restore(archive: Path, home: Home, *steps: Migration) -> restore.RestoreInfo:
    return restore.restore_backup(archive, home, _keys, ManualClock(kit.START_MS + 9), (*known_migrations(), *steps))


def _everything(home: Home) -> dict[str, bytes]:
    return {str(path.relative_to(home.path)): content for path, content in kit.every_byte(home.path)}


def _refused(archive: Path, home: Home, code: Code = Code.BACKUP_INVALID) -> LociError:
    before = _everything(home)
    with pytest.raises(LociError) as caught:
        _restore(archive, home)
    assert caught.value.code is code, caught.value
    assert _everything(home) == before
    return caught.value


def test_a_backup_has_three_members_and_says_what_it_holds(home: Home) -> None:
    with kit.opened(_filled(home)) as vault:
        made = _back_up(vault)
        assert made.path.parent == home.backups
        assert made.path.name == "loci-20231114-221320-27.tar"
        assert made.counts["memories"] == made.counts["memory_fts_docsize"] == 25
    assert made.path.stat().st_mode & 0o777 == 0o600
    assert made.size == made.path.stat().st_size
    with tarfile.open(made.path) as tar:
        assert tar.getnames() == [MANIFEST, KEYS, VAULT]
        assert {member.mode for member in tar.getmembers()} == {0o600}
        manifest = json.load(tar.extractfile(MANIFEST) or io.BytesIO())
        assert (tar.extractfile(KEYS) or io.BytesIO()).read() == _KEY_FILE
    assert (manifest["seq"], manifest["schema"], manifest["counts"]["clients"]) == (27, _NEWEST, 1)
    assert [path.name for path in home.backups.iterdir()] == [made.path.name]


@pytest.mark.slow
def test_three_automatic_backups_stay(home: Home) -> None:
    (home.backups / "mine.tar").write_bytes(b"x")
    with kit.opened(home) as vault:
        made = [_back_up(vault, now_ms=kit.START_MS + day * 86_400_000).path for day in range(5)]
    assert automatic_backups(home) == tuple(reversed(made[2:]))
    assert (home.backups / "mine.tar").exists()


def test_a_clock_that_jumped_back_does_not_cost_the_newest_backup(home: Home) -> None:
    with kit.opened(home) as vault:
        made = []
        for n, day in enumerate((10, 11, 12, 0)):
            kit.store_many(vault, 1, first=n + 1)
            made.append(_back_up(vault, now_ms=kit.START_MS + day * 86_400_000).path)
    assert automatic_backups(home) == (made[3], made[2], made[1])


def test_a_backup_replaces_a_backup_and_nothing_else(home: Home, tmp_path: Path) -> None:
    target, other = tmp_path / "b.tar", tmp_path / "thesis.txt"
    other.write_text("mine")
    with kit.opened(home) as vault:
        _back_up(vault, target)
        kit.store_many(vault, 2)
        assert _back_up(vault, target).counts["memories"] == 2
        for wrong in (other, tmp_path, tmp_path / "no" / "where.tar"):
            with pytest.raises(LociError) as caught:
                _back_up(vault, wrong)
            assert caught.value.code is Code.INVALID_INPUT
    assert other.read_text() == "mine"
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.slow
def test_a_backup_of_a_damaged_vault_is_whole_or_not_made(home: Home, tmp_path: Path) -> None:
    whole = _filled(home).vault.read_bytes()
    outcomes = []
    for page in range(2, len(whole) // 8192, 6):
        damaged = bytearray(whole)
        damaged[page * 8192 + 77] ^= 1
        home.vault.write_bytes(damaged)
        with suppress(IntegrityError), kit.opened(home, readers=1) as vault:
            outcomes.append(_outcome(vault, tmp_path / "b.tar"))
        assert not list(home.backups.iterdir())
    # A copy builds its indexes anew: damage in one of them does not reach it.
    assert set(outcomes) == {"refused", "25 memories"}


def _outcome(vault: Vault, target: Path) -> str:
    try:
        made = _back_up(vault, target)
    except IntegrityError:
        assert not target.exists()
        return "refused"
    target.unlink()
    return f"{made.counts['memories']} memories"


def test_what_was_not_written_whole_gets_no_name(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def pack_and_damage(target: Path, *rest: object) -> None:
        pack_backup(target, *rest)  # type: ignore[arg-type]
        with target.open("r+b") as file:
            middle = file.seek(target.stat().st_size // 2)
            # Every byte is another than before, and no padding of the archive is this long.
            other = bytes(byte ^ 0xFF for byte in file.read(1024))
            file.seek(middle)
            file.write(other)

    monkeypatch.setattr(backup, "pack_backup", pack_and_damage)
    with kit.opened(_filled(home)) as vault, pytest.raises(LociError):
        _back_up(vault)
    assert not list(home.backups.iterdir())


def test_leftovers_of_a_kill_are_cleared(home: Home) -> None:
    (home.backups / ".work-abc").mkdir()
    (home.backups / ".work-abc" / "vault.db").write_bytes(b"x")
    (home.backups / "loci-x.tar.partial").write_bytes(b"x")
    (home.backups / "mine.tar").write_bytes(b"x")
    written_by_the_vault = [home.head, home.keys, home.keys.with_name("vault.keys.bak"), home.snapshot]
    for path in (*written_by_the_vault, home.path / "window.json"):
        path.with_name(f".{path.name}.abc.partial").write_bytes(b"x")
    assert clear_leftovers(home) == 6
    assert [path.name for path in home.path.glob(".*.partial")] == [".window.json.abc.partial"]
    assert [path.name for path in home.backups.iterdir()] == ["mine.tar"]
    assert clear_leftovers(Home(home.path / "none")) == 0


def test_the_vault_from_before_a_restore_is_an_older_copy(home: Home, archive: Path) -> None:
    with kit.opened(home) as vault:
        kit.store_many(vault, 5, first=500)
    _restore(archive, home)
    (home.path / "vault.db.before-restore").replace(home.vault)
    with kit.opened(home) as vault:
        assert vault.older is not None


def test_a_restore_brings_everything_back_but_pairings(home: Home, archive: Path) -> None:
    with kit.opened(home) as vault:
        kit.store_many(vault, 5, first=500)
    info = _restore(archive, home)
    # Above the vault it replaced: that one, put back, is an older copy from here on.
    assert (info.dropped_clients, info.has_old, info.seq, info.counts["memories"]) == (1, True, 33, 25)
    assert home.keys.read_bytes() == _KEY_FILE
    with kit.opened(home) as vault:
        assert vault.info.older_than_head is None
        assert vault.info.seq == 33
        assert vault.read(lambda rows: rows.value("SELECT count(*) FROM memories")) == 25
        assert vault.read(lambda rows: rows.all("SELECT rowid FROM memory_fts WHERE memory_fts MATCH '\"7\"'")) == [
            (7,)
        ]
        revoked = vault.read(lambda rows: rows.one("SELECT revoked_at, token FROM clients"))
        assert revoked is not None
        assert revoked[0] == kit.START_MS + 9
        assert revoked[1] != b"t" * 32
        assert vault.read(lambda rows: rows.all("SELECT actor, verb, detail FROM audit WHERE nr = 2")) == [
            ("owner", "restore", '{"dropped_clients":1}')
        ]
        assert verify_vault(vault, kit.KEYS).status == "ok"
    old = {path.name for path in home.path.glob("*.before-restore*")}
    assert old == {"vault.db.before-restore", "vault.keys.before-restore", "vault.head.before-restore"}
    assert (home.path / "vault.keys.before-restore").read_bytes() == _OLD_KEY_FILE
    (home.path / "vault.db.before-restore").replace(home.vault)
    (home.path / "vault.head.before-restore").replace(home.head)
    with kit.opened(home) as vault:
        assert vault.read(lambda rows: rows.value("SELECT count(*) FROM memories")) == 30


def test_a_restore_into_an_empty_home(tmp_path: Path, archive: Path) -> None:
    fresh = kit.home_at(tmp_path / "fresh")
    old = os.umask(0)
    try:
        info = _restore(archive, fresh)
    finally:
        os.umask(old)
    assert not info.has_old
    assert not list(fresh.path.glob("*.before-restore"))
    assert {mode for name, mode in kit.modes(fresh.path).items() if name not in {"backups", "logs"}} == {0o600}
    with kit.opened(fresh) as vault:
        assert vault.read(lambda rows: rows.value("SELECT count(*) FROM memories")) == 25


def test_the_log_of_the_old_vault_goes_with_it(tmp_path: Path, home: Home, archive: Path) -> None:
    """A log beside another vault would be played into it."""
    killed = kit.home_at(tmp_path / "killed")
    with kit.opened(home) as vault:
        kit.store_many(vault, 5, first=500)
        shutil.copytree(home.path, killed.path)
    killed.snapshot.write_bytes(b"index of the old vault")
    (killed.path / "vault.keys.bak").write_bytes(_OLD_KEY_FILE)
    _restore(archive, killed)
    assert not killed.snapshot.exists()
    assert not (killed.path / "vault.keys.bak").exists()
    with kit.opened(killed) as vault:
        assert vault.read(lambda rows: rows.value("SELECT count(*) FROM memories")) == 25
    old = kit.home_at(tmp_path / "old")
    old.prepare_folders()
    for suffix in ("", "-wal", "-shm"):
        shutil.copy(killed.path / f"vault.db.before-restore{suffix}", old.path / f"vault.db{suffix}")
    with kit.opened(old) as vault:
        assert vault.read(lambda rows: rows.value("SELECT count(*) FROM memories")) == 30


def test_an_older_backup_is_migrated_on_the_way(home: Home, archive: Path) -> None:
    _restore(archive, home, _NEXT)
    vault = Vault.open(home, kit.KEYS, kit.VAULT_ID, ManualClock(1), 1, (*known_migrations(), _NEXT))
    assert vault.info.schema_version == _NEWEST + 1
    assert vault.info.migrated_from is None
    vault.close()


def test_a_backup_of_a_newer_program_is_refused(tmp_path: Path, home: Home) -> None:
    vault = Vault.open(home, kit.KEYS, kit.VAULT_ID, ManualClock(1), 1, (*known_migrations(), _NEXT))
    _back_up(vault, tmp_path / "b.tar")
    vault.close()
    _refused(tmp_path / "b.tar", home, Code.NEWER_VERSION)


def test_a_backup_cut_anywhere_is_refused_whole(home: Home, archive: Path) -> None:
    whole = archive.read_bytes()
    chance = random.Random(3)
    # A tar ends with empty blocks: those alone may be missing.
    end = len(whole.rstrip(b"\0"))
    for size in [0, 1, 511, 512, 513, *(chance.randrange(end) for _ in range(20))]:
        archive.write_bytes(whole[:size])
        _refused(archive, home)


@pytest.mark.slow
def test_a_backup_with_a_flipped_bit_is_refused_or_says_the_same(home: Home, archive: Path, tmp_path: Path) -> None:
    whole = archive.read_bytes()
    chance = random.Random(4)
    places = [
        *(chance.randrange(512, 1600) for _ in range(15)),
        *(chance.randrange(2048, len(whole)) for _ in range(15)),
    ]
    refused = 0
    for nr, place in enumerate(places):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << chance.randrange(8)
        archive.write_bytes(damaged)
        target = kit.home_at(tmp_path / f"t{nr}")
        try:
            _restore(archive, target)
        except LociError:
            refused += 1
            assert not target.vault.exists()
        else:
            with kit.opened(target) as vault:
                assert vault.read(lambda rows: rows.value("SELECT count(*) FROM memories")) == 25
    assert refused >= 25


def _repacked(archive: Path, change: Callable[[list[tuple[tarfile.TarInfo, bytes]]], None]) -> None:
    with tarfile.open(archive) as tar:
        members = [(member, (tar.extractfile(member) or io.BytesIO()).read()) for member in tar.getmembers()]
    change(members)
    with tarfile.open(archive, "w") as tar:
        for member, content in members:
            member.size = len(content) if member.isreg() else 0
            tar.addfile(member, io.BytesIO(content))


def _link(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
    members[2][0].type = tarfile.SYMTYPE
    members[2][0].linkname = "/etc/passwd"


def _rename(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
    members[2][0].name = "../vault.db"


def _more(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
    members.append((tarfile.TarInfo("../../evil"), b"x"))


def _big_keys(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
    members[1] = (members[1][0], b"k" * 100_000)


def _other_keys(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
    members[1] = (members[1][0], b"other")


def _manifest(**changes: object) -> Callable[[list[tuple[tarfile.TarInfo, bytes]]], None]:
    def change(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        found = {**json.loads(members[0][1]), **changes}
        members[0] = (members[0][0], json.dumps(found).encode())

    return change


@pytest.mark.parametrize(
    "change",
    [
        _link,
        _rename,
        _more,
        _big_keys,
        _other_keys,
        lambda members: members.pop(),
        lambda members: members.reverse(),
        _manifest(seq=99),
        _manifest(counts={"memories": 1}),
        _manifest(vault_bytes=10**15),
        _manifest(vault_bytes=-1),
        _manifest(vault_id="00" * 16),
        _manifest(format=2),
        _manifest(schema="1"),
        _manifest(mac="00" * 32),
        _manifest(mac="x"),
        _manifest(counts=[1]),
    ],
)
def test_a_foreign_archive_is_refused(
    home: Home, archive: Path, change: Callable[[list[tuple[tarfile.TarInfo, bytes]]], None]
) -> None:
    _repacked(archive, change)
    _refused(archive, home)


def test_other_files_are_refused(home: Home, archive: Path, tmp_path: Path) -> None:
    for name, content in (("a", b""), ("b", b"hello"), ("c", os.urandom(5000)), ("d", b"PK\x03\x04" + bytes(900))):
        (tmp_path / name).write_bytes(content)
        _refused(tmp_path / name, home)
    os.mkfifo(tmp_path / "fifo")
    _refused(tmp_path / "fifo", home)
    _refused(tmp_path, home)
    _refused(tmp_path / "nothing", home, Code.NOT_FOUND)


def test_a_wrong_secret_ends_the_restore(home: Home, archive: Path) -> None:
    before = _everything(home)

    def wrong(raw: bytes) -> OpenedKeys:
        raise UserError(Code.WRONG_SECRET, "no")

    with pytest.raises(LociError) as caught:
        restore.restore_backup(archive, home, wrong, ManualClock(1))
    assert caught.value.code is Code.WRONG_SECRET
    assert _everything(home) == before


def test_a_backup_signed_by_another_vault_is_refused(home: Home, archive: Path) -> None:
    for other in (
        OpenedKeys(kit.VAULT_ID, kit.KEYS, b"z" * 32),
        OpenedKeys(bytes(16), kit.KEYS, kit.BACKUP_KEY),
    ):
        with pytest.raises(LociError) as caught:
            restore.restore_backup(archive, home, lambda _, other=other: other, ManualClock(1))  # type: ignore[misc]
        assert caught.value.code is Code.BACKUP_INVALID


class _Killed(BaseException):
    pass


@pytest.mark.slow
def test_a_restore_killed_between_any_two_renames_is_finished_at_the_next_start(
    tmp_path: Path, home: Home, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with kit.opened(home) as vault:
        kit.store_many(vault, 5, first=500)
    (home.path / "vault.keys.bak").write_bytes(_OLD_KEY_FILE)
    outcomes: list[int] = []
    for steps in range(40):
        copy = kit.home_at(tmp_path / f"k{steps}")
        shutil.copytree(home.path, copy.path)
        with monkeypatch.context() as patched:
            finished = _run_and_kill_after(steps, archive, copy, patched)
        finish_replacement(copy)
        assert not copy.restoring.exists()
        assert not list(copy.path.glob(".restore-*"))
        with kit.opened(copy) as vault:
            rows = vault.read(lambda rows: rows.value("SELECT count(*) FROM memories"))
            assert verify_vault(vault, kit.KEYS).status == "ok"
            assert vault.info.older_than_head is None
        keys = copy.keys.read_bytes()
        assert (rows, keys) in {(30, _OLD_KEY_FILE), (25, _KEY_FILE)}, "never mixed"
        outcomes.append(rows)
        if finished:
            break
    assert set(outcomes) == {25, 30}
    assert outcomes == sorted(outcomes, reverse=True)


def _run_and_kill_after(steps: int, archive: Path, home: Home, patched: pytest.MonkeyPatch) -> bool:
    """Run a restore until its n-th rename, unlink or removal inside the home."""
    left = [steps]

    def counted(real: Callable[..., object]) -> Callable[..., object]:
        def call(self: Path, *rest: object, **named: object) -> object:
            if left[0] == 0:
                raise _Killed
            left[0] -= 1
            return real(self, *rest, **named)

        return call

    for name in ("rename", "replace", "rmdir", "unlink"):
        patched.setattr(Path, name, counted(getattr(Path, name)))
    patched.setattr(shutil, "rmtree", lambda *_, **__: None)
    try:
        _restore(archive, home)
    except _Killed:
        return False
    return True
