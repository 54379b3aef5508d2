"""What a wipe removes of a home and what it leaves: names, links, folders, files of others, what cannot be removed."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from vault_kit import VAULT_ID, new_vault

from core.errors import Code, LociError
from core.vault.files.destruction import (
    Destruction,
    WipeNote,
    WipeStep,
    destroy_home,
    mark_home,
    read_wipe_note,
    survey_home,
    tidy_home,
)
from core.vault.files.home import Home
from core.vault.files.lockfile import VaultLock

NOTE = WipeNote(VAULT_ID)
HOSTILE = [
    "a\nb",
    "\x1b[31m",
    "‮txt",
    "--home",
    "vault.txt",
    "restore-notes.txt",
    "vault.keys.txt",
    b"\xff".decode("utf-8", "surrogateescape"),
]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = new_vault(tmp_path / "home")
    for name in ("vault.keys", "vault.keys.bak", "vault.keys.before-restore", ".vault.keys.abcd1234.partial"):
        (made.path / name).write_bytes(b"slot" * 500)
    (made.backups / "loci-20260101-000000-7.tar").write_bytes(b"manifest.json\0" + b"slot" * 90_000)
    (made.backups / "named by me.tar").write_bytes(b"manifest.json\0" + b'{"vault_id": "00"}' + b"slot" * 90)
    (made.logs / "loci.log").write_text("opened", encoding="utf-8")
    (made.sync / "quarantine").mkdir(parents=True)
    (made.sync / f"{'0' * 16}-00000001.loci-bundle").write_bytes(b"bundle")
    (made.sync / "quarantine" / "holiday.jpg").write_bytes(b"copy")
    (made.path / "restore.next").mkdir()
    (made.path / "restore.next" / "vault.keys").write_bytes(b"slot")
    return made


def wipe(home: Home, *, is_served: bool = False) -> Destruction:
    mark_home(home, NOTE)
    return destroy_home(home, is_served=is_served)


def test_nothing_is_left_of_a_home_that_is_locis_alone(home: Home) -> None:
    done = wipe(home)
    assert done.is_home_gone
    assert not home.path.exists()
    assert done.left == []
    assert done.kept == ()
    assert done.overwritten == 7


def test_files_of_others_stay_and_are_named(home: Home) -> None:
    for name in HOSTILE:
        (home.path / name).write_bytes(b"mine")
    for folder in (home.backups, home.logs, home.sync):
        (folder / "mine.txt").write_bytes(b"mine")
    (home.backups / "photos.tar").write_bytes(b"manifest.json\0 of an image, and no vault")
    (home.path / "photos").mkdir()
    (home.path / "photos" / "vault.keys").write_bytes(b"mine")
    done = wipe(home)
    inner = ["backups/mine.txt", "backups/photos.tar", "logs/mine.txt", "sync/mine.txt"]
    assert sorted(done.kept) == sorted([*HOSTILE, *inner, "photos"])
    left = {str(path.relative_to(home.path)) for path in home.path.rglob("*") if not path.is_dir()}
    assert left == {*HOSTILE, *inner, "photos/vault.keys"}
    assert all((home.path / name).read_bytes() == b"mine" for name in HOSTILE)


def test_of_a_link_only_the_link_goes(home: Home, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "loci-20260101-000000-9.tar").write_bytes(b"mine")
    (outside / "keys").write_bytes(b"mine")
    for path in home.logs.iterdir():
        path.unlink()
    home.logs.rmdir()
    home.logs.symlink_to(outside)
    (home.path / "vault.keys").unlink()
    (home.path / "vault.keys").symlink_to(outside / "keys")
    (home.backups / "loci-20260102-000000-9.tar").symlink_to(outside / "loci-20260101-000000-9.tar")
    done = wipe(home)
    assert not home.path.exists()
    assert sorted(done.links) == ["backups/loci-20260102-000000-9.tar", "logs", "vault.keys"]
    assert {path.read_bytes() for path in outside.iterdir()} == {b"mine"}


def test_a_file_with_a_second_name_elsewhere_is_not_overwritten(home: Home, tmp_path: Path) -> None:
    other = tmp_path / "kept"
    os.link(home.keys, other)
    wipe(home)
    assert other.read_bytes() == b"slot" * 500


def test_keys_are_overwritten_before_anything_goes(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bytes] = []
    real = Path.unlink

    def unlink(path: Path, missing_ok: bool = False) -> None:
        if "vault.keys" in path.name or path.suffix == ".tar":
            seen.append(path.read_bytes())
        real(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", unlink)
    wipe(home)
    assert len(seen) == 7
    assert all(b"slot" not in data[:1000] for data in seen)


def test_a_read_only_file_goes_too(home: Home) -> None:
    home.keys.chmod(0o400)
    done = wipe(home)
    assert done.is_home_gone
    assert done.overwritten == 7


def test_what_cannot_be_removed_is_named_and_tried_again(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.unlink

    def unlink(path: Path, missing_ok: bool = False) -> None:
        if path == home.snapshot:
            raise PermissionError
        real(path, missing_ok)

    home.snapshot.write_bytes(b"index")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", unlink)
        done = wipe(home)
    assert done.left == ["index.snap"]
    assert read_wipe_note(home) == NOTE
    assert not home.keys.exists()
    again = destroy_home(home)
    assert again.is_home_gone


def test_a_home_that_may_not_be_written_is_refused_whole(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(LociError) as refused:
        mark_home(home, NOTE)
    assert refused.value.code is Code.READ_ONLY
    assert read_wipe_note(home) is None
    assert home.keys.read_bytes() == b"slot" * 500


def test_sockets_that_are_listened_at_stay_until_the_end(home: Home) -> None:
    run = home.path / "run"
    run.mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        os.chdir(run)
        listener.bind("loci.sock")
        done = wipe(home, is_served=True)
        assert not done.is_home_gone
        assert [path.name for path in home.path.iterdir()] == ["run"]
        os.chdir("/")
    (run / "loci.sock").unlink()
    assert tidy_home(home)
    assert not home.path.exists()


def test_the_steps_come_in_their_order(home: Home) -> None:
    steps: list[WipeStep] = []
    mark_home(home, NOTE)
    destroy_home(home, steps.append)
    assert steps == [WipeStep.KEYS, WipeStep.FILES, WipeStep.HOME]


@pytest.mark.parametrize(
    "text", [b"", b"{}", b"[]", b'{"v": 1, "vault": "00", "backend": ""}', b"\xff", b"[" * 4000, b'{"v": 1}']
)
def test_a_note_of_another_hand_is_none(home: Home, text: bytes) -> None:
    home.wiping.write_bytes(text)
    assert read_wipe_note(home) is None


def test_a_survey_changes_nothing(home: Home) -> None:
    before = {path: path.lstat().st_mtime_ns for path in home.path.rglob("*")}
    found = survey_home(home)
    assert found.size > 300_000
    assert {path: path.lstat().st_mtime_ns for path in home.path.rglob("*")} == before


def test_the_lock_of_a_home_that_was_wiped_is_taken_anew(home: Home) -> None:
    first, second = VaultLock(home.lock), VaultLock(home.lock)
    first.acquire()
    with pytest.raises(LociError) as busy:
        second.acquire()
    assert busy.value.code is Code.VAULT_BUSY
    home.lock.unlink()
    first.release()
    second.acquire()
    assert home.lock.exists()
    with pytest.raises(LociError):
        first.acquire()
    second.release()
