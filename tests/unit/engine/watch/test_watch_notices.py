"""How changes of a folder are noticed, and when one of its files is read: the system tells, or it is looked at."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig, rig_at
from watch_rig import WrittenFolder, look, watch

from core.engine.watch import notices
from core.engine.watch.notices import LIMIT, REMOTE, FolderNotices, is_remote
from core.engine.watch.rounds import LONGEST_WAIT_S, REST_S, RestCheck
from core.importers.input.files import DiskFile, disk_file
from core.types.clock import ManualClock
from core.types.folders.watch import WatchMeans, WatchState

MOUNTS = """\
21 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
40 21 0:45 / /home/nora/share rw - nfs4 server:/share rw
41 21 0:46 / /home/nora/My\\040Disk rw - fuse.sshfs host: rw
42 40 8:2 / /home/nora/share/local rw shared:1 - ext4 /dev/sdb1 rw
broken line
"""


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as made:
        yield made


@pytest.fixture
def mounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "mountinfo"
    file.write_text(MOUNTS, encoding="utf-8")
    monkeypatch.setattr(notices, "_MOUNTS", file)
    return file


@pytest.mark.parametrize(
    ("folder", "remote"),
    [
        ("/home/nora/notes", False),
        ("/home/nora/share", True),
        ("/home/nora/share/notes", True),
        ("/home/nora/shared", False),
        ("/home/nora/My Disk/notes", True),
        ("/home/nora/share/local/notes", False),
    ],
)
@pytest.mark.usefixtures("mounts")
def test_a_folder_on_another_machine_is_known(folder: str, remote: bool) -> None:
    assert is_remote(Path(folder)) is remote


def test_a_folder_on_another_machine_is_looked_at(mounts: Path) -> None:
    made = FolderNotices()
    assert made.watch_folders([Path("/home/nora/share/notes")])
    assert (made.means, made.reason) == (WatchMeans.LOOKING, REMOTE)
    assert not made.has_changed()
    mounts.unlink()
    assert not is_remote(Path("/home/nora/share/notes"))


def test_the_system_tells_of_a_change(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    made = FolderNotices()
    assert made.watch_folders([tmp_path, tmp_path / "in"])
    assert not made.watch_folders([tmp_path, tmp_path / "in"])
    assert (made.means, made.reason) == (WatchMeans.EVENTS, "")
    (tmp_path / "in" / "a.md").write_text("One.")
    for _ in range(10_000):
        if made.has_changed():
            break
    else:
        pytest.fail("nobody told")
    made.close()
    assert made.means is WatchMeans.NONE
    assert not made.has_changed()


@pytest.mark.expected_logs("the system does not tell of its changes")
def test_without_watches_left_it_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_folders: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(notices, "make_watcher", refuse)
    made = FolderNotices()
    assert made.watch_folders([tmp_path])
    assert (made.means, made.reason) == (WatchMeans.LOOKING, LIMIT)


def test_a_file_is_read_once_it_rests(tmp_path: Path) -> None:
    clock = ManualClock(1_700_000_000_000)
    rest = RestCheck(clock)

    def file_of(name: str) -> DiskFile:
        path = tmp_path / name
        path.touch()
        os.utime(path, (1_700_000_000, 1_700_000_000))
        return disk_file(path, os.lstat(path))

    note, log = file_of("a.md"), file_of("a.jsonl")
    assert not rest.is_rested("a.md", note, "1")
    clock.advance(int(REST_S * 1000) - 1)
    assert not rest.is_rested("a.md", note, "2")
    clock.advance(1)
    assert rest.is_rested("a.md", note, "2")
    # A log that grows without a pause, by a clock that is behind.
    clock.advance(-10_000)
    rest = RestCheck(clock)
    for second in range(int(LONGEST_WAIT_S)):
        assert not rest.is_rested("a.jsonl", log, str(second))
        assert not rest.is_rested("a.md", note, str(second))
        os.utime(tmp_path / "a.jsonl", (1_700_000_000 + second, 1_700_000_000 + second))
        log = disk_file(tmp_path / "a.jsonl", os.lstat(tmp_path / "a.jsonl"))
        note = disk_file(tmp_path / "a.jsonl", os.lstat(tmp_path / "a.jsonl"))
        clock.advance(1_000)
    assert rest.is_rested("a.jsonl", log, "last")
    assert not rest.is_rested("a.md", note, "last")


def test_a_file_that_is_written_while_it_is_read_comes_the_next_time(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = WrittenFolder(tmp_path / "notes")
    path = notes.write("one.md", "The ferry leaves at")
    notes.write("two.md", "The boat is moored.")
    opened = DiskFile.open_bounded

    def open_while_written(self: DiskFile) -> object:
        if self.name == "one.md":
            with path.open("a") as file:
                file.write(" seven.")
        return opened(self)

    with monkeypatch.context() as patched:
        patched.setattr(DiskFile, "open_bounded", open_while_written)
        assert watch(rig, notes.root, "markdown").asked == 0
    assert rig.texts() == ["The boat is moored."]
    notes.age(path)
    assert look(rig).state is WatchState.RESTING
    assert sorted(rig.texts()) == ["The boat is moored.", "The ferry leaves at seven."]
