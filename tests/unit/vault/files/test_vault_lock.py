"""One owner of a vault."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import Code, LociError
from core.vault.files.lockfile import VaultLock

_HOLD = """
import sys
from pathlib import Path
from core.vault.files.lockfile import VaultLock
VaultLock(Path(sys.argv[1])).acquire()
print("held", flush=True)
sys.stdin.read()
"""


def _holder(path: Path) -> subprocess.Popen[bytes]:
    child = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path.cwd()
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"held\n"
    return child


@pytest.mark.starts_process
def test_a_second_owner_is_told_who_has_it(tmp_path: Path) -> None:
    path = tmp_path / "vault.lock"
    child = _holder(path)
    try:
        with pytest.raises(LociError) as caught:
            VaultLock(path).acquire()
        assert caught.value.code is Code.VAULT_BUSY
        assert caught.value.exit_code == 3
        assert str(child.pid) in caught.value.sentence
        assert VaultLock(path).find_holder() == child.pid
    finally:
        child.communicate()


@pytest.mark.starts_process
def test_the_lock_dies_with_its_holder_and_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "vault.lock"
    child = _holder(path)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    inode = path.stat().st_ino
    with VaultLock(path) as lock:
        assert path.read_text() == str(os.getpid())
        assert VaultLock(path).find_holder() == os.getpid()
        assert lock.is_held
    assert path.stat().st_ino == inode
    assert path.stat().st_mode & 0o777 == 0o600
    assert VaultLock(path).find_holder() is None


def test_two_locks_in_one_process_exclude_each_other(tmp_path: Path) -> None:
    first, second = VaultLock(tmp_path / "l"), VaultLock(tmp_path / "l")
    first.acquire()
    with pytest.raises(LociError):
        second.acquire()
    assert first.find_holder() == os.getpid()
    first.release()
    first.release()
    second.acquire()
    second.release()


def test_a_link_under_the_locks_name_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "l").symlink_to(tmp_path / "target")
    with pytest.raises(LociError):
        VaultLock(tmp_path / "l").acquire()
    assert not (tmp_path / "target").exists()


def test_a_number_nobody_wrote_is_not_told(tmp_path: Path) -> None:
    first = VaultLock(tmp_path / "l")
    first.acquire()
    (tmp_path / "l").write_text("who knows")
    with pytest.raises(LociError) as caught:
        VaultLock(tmp_path / "l").acquire()
    first.release()
    assert "process" not in caught.value.sentence
