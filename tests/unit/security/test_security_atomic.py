from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import Code, EnvironmentFaultError
from core.security.atomic import clear_partial_files, write_atomic

ROOT = str(Path(__file__).resolve().parents[3])


def names(directory: Path) -> list[str]:
    return sorted(each.name for each in directory.iterdir())


def test_content_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "head"
    write_atomic(path, b"one")
    write_atomic(path, bytearray(b"second"))
    write_atomic(path, memoryview(b"third"))
    assert path.read_bytes() == b"third"
    assert names(tmp_path) == ["head"]


@pytest.mark.usefixtures("open_umask")
@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_mode_is_exact_and_no_wider_at_any_moment(tmp_path: Path, mode: int, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "head"
    path.write_bytes(b"old")
    path.chmod(0o666)
    seen: list[int] = []
    real = os.fsync

    def look(descriptor: int) -> None:
        seen.extend(each.stat().st_mode & 0o777 for each in tmp_path.glob(".head.*"))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", look)
    write_atomic(path, b"new", mode)
    assert path.stat().st_mode & 0o777 == mode
    assert seen == [mode]


def test_file_is_synced_before_the_rename_and_the_directory_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    real_sync, real_replace = os.fsync, Path.replace

    def sync(descriptor: int) -> None:
        order.append("directory" if os.path.isdir(f"/dev/fd/{descriptor}") else "file")  # noqa: PTH112
        real_sync(descriptor)

    def rename(self: Path, target: Path) -> Path:
        order.append("rename")
        return real_replace(self, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", rename)
    write_atomic(tmp_path / "head", b"x")
    assert order == ["file", "rename", "directory"]


@pytest.mark.parametrize(
    ("number", "code", "exit_code"),
    [
        (errno.ENOSPC, Code.DISK_FULL, 8),
        (errno.EDQUOT, Code.DISK_FULL, 8),
        (errno.EFBIG, Code.DISK_FULL, 8),
        (errno.EROFS, Code.READ_ONLY, 1),
        (errno.EACCES, Code.READ_ONLY, 1),
        (errno.EIO, Code.WRITE_FAILED, 1),
    ],
)
def test_a_write_that_fails_keeps_the_old_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: Code, exit_code: int
) -> None:
    path = tmp_path / "head"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(number, "no", str(path))

    for target, name in ((os, "fsync"), (Path, "replace")):
        with monkeypatch.context() as patch:
            patch.setattr(target, name, fail)
            with pytest.raises(EnvironmentFaultError) as caught:
                write_atomic(path, b"new")
        assert (caught.value.code, caught.value.exit_code) == (code, exit_code)
        assert str(tmp_path) not in str(caught.value)
        assert caught.value.__context__ is None
        assert path.read_bytes() == b"old"
        assert names(tmp_path) == ["head"]


def test_a_missing_directory_is_an_environment_fault(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFaultError) as caught:
        write_atomic(tmp_path / "none" / "head", b"x")
    assert caught.value.code is Code.WRITE_FAILED


KILLED = """
import os, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from core.security.atomic import write_atomic
os.fsync = lambda descriptor: os._exit(9)
write_atomic(Path(sys.argv[2]), b"new")
"""


@pytest.mark.starts_process
def test_a_kill_leaves_the_old_content_and_a_leftover_that_is_cleared(tmp_path: Path) -> None:
    path = tmp_path / "head"
    path.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-I", "-c", KILLED, ROOT, str(path)], check=False, timeout=60)
    assert done.returncode == 9
    assert path.read_bytes() == b"old"
    assert len(names(tmp_path)) == 2
    for other in ("visible.partial", ".heads.x.partial"):
        (tmp_path / other).write_bytes(b"of someone else")
    assert clear_partial_files(path) == 1
    assert names(tmp_path) == [".heads.x.partial", "head", "visible.partial"]
    assert clear_partial_files(path) == 0


def test_leftovers_that_cannot_be_removed_are_told(tmp_path: Path) -> None:
    (tmp_path / ".head.x.partial").mkdir()
    with pytest.raises(EnvironmentFaultError):
        clear_partial_files(tmp_path / "head")
