"""Transcripts of a watched folder grow: what is added comes, and what was said stays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig, refused, rig_at
from watch_rig import WrittenFolder, entries, gone, look, watch

from core.errors import CancelledError, Code, EnvironmentFaultError
from core.intake.watch import arrivals
from core.types.folders.watch import GoneChoice, WatchState
from core.types.values import OWNER_ACTOR
from core.vault.database.tx import Tx


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as made:
        yield made


@pytest.fixture
def logs(tmp_path: Path) -> WrittenFolder:
    root = tmp_path / "projects"
    root.mkdir()
    return WrittenFolder(root)


def test_a_session_that_grows_is_added_to(rig: Rig, logs: WrittenFolder) -> None:
    logs.append_turns("a/one.jsonl", [("user", "Where is the boat?"), ("assistant", "At Askøy.")])
    folder = watch(rig, logs.root, "claude-code")
    assert rig.texts() == ["Where is the boat?", "At Askøy."]
    logs.append_turns("a/one.jsonl", [("user", "And the ferry?")])
    look(rig)
    assert rig.texts() == ["Where is the boat?", "At Askøy.", "And the ferry?"]
    assert rig.value("SELECT count(*) FROM conversations") == 1
    assert rig.rows("SELECT position FROM memories ORDER BY n") == [(0,), (1,), (2,)]
    last = entries(rig, folder.id)[-1]
    assert (last.name, dict(last.counts)) == ("a/one.jsonl", {"files": 1, "new": 1})


def test_a_line_that_is_being_written_comes_when_it_is_whole(rig: Rig, logs: WrittenFolder) -> None:
    path = logs.append_turns("one.jsonl", [("user", "Where is the boat?"), ("assistant", "At Askøy.")])
    whole = path.read_bytes()
    logs.write("one.jsonl", whole[:-20])
    watch(rig, logs.root, "claude-code")
    assert rig.texts() == ["Where is the boat?"]
    logs.write("one.jsonl", whole)
    look(rig)
    assert rig.texts() == ["Where is the boat?", "At Askøy."]


def test_a_transcript_that_is_cut_keeps_what_was_said(rig: Rig, logs: WrittenFolder) -> None:
    path = logs.append_turns("one.jsonl", [("user", "Where is the boat?"), ("assistant", "At Askøy.")])
    folder = watch(rig, logs.root, "claude-code")
    logs.write("one.jsonl", path.read_bytes().splitlines(keepends=True)[0])
    assert look(rig).asked == 0
    assert len(rig.texts()) == 2
    path.unlink()
    assert look(rig).asked == 1
    assert [(one.name, one.memories) for one in gone(rig, folder.id)] == [("one.jsonl", 2)]


def test_what_two_files_say_goes_with_neither_alone(rig: Rig, logs: WrittenFolder) -> None:
    first = logs.append_turns("one.jsonl", [("user", "Where is the boat?")])
    logs.write("two.jsonl", first.read_bytes())
    folder = watch(rig, logs.root, "claude-code")
    first.unlink()
    look(rig)
    rig.engine.watches.decide_gone(folder.id, GoneChoice.ARCHIVE).result(30)
    assert rig.texts() == ["Where is the boat?"]


def test_rows_go_to_the_space_they_name(rig: Rig, logs: WrittenFolder) -> None:
    rows = [{"text": f"Row {n}.", "ref": str(n), "space": "harbour"} for n in range(3)]
    logs.write("rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    watch(rig, logs.root, "jsonl")
    look(rig)
    sql = "SELECT m.text FROM memories m JOIN spaces s ON s.id = m.space_id WHERE s.name = 'harbour' ORDER BY m.n"
    assert rig.rows(sql) == [("Row 0.",), ("Row 1.",), ("Row 2.",)]


def test_a_kill_in_the_middle_brings_nothing_twice(
    rig: Rig, logs: WrittenFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        logs.append_turns(f"{number}.jsonl", [("user", f"Turn {n} of {number}.") for n in range(4)], f"s-{number}")
    rig.opened.use_options(rig.opened.options.model_copy(update={"import_batch": 5}))
    written = arrivals.ArrivalWriter.write_pieces
    calls = iter(range(100))

    def fail_at_third(self: arrivals.ArrivalWriter, *given: object) -> object:
        if next(calls) == 2:
            raise EnvironmentFaultError(Code.DISK_FULL, "The disk is full.")
        return written(self, *given)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(arrivals.ArrivalWriter, "write_pieces", fail_at_third)
        with refused(Code.DISK_FULL):
            watch(rig, logs.root, "claude-code")
    some = len(rig.texts())
    assert 0 < some < 24
    (step,) = rig.rows("SELECT step_id FROM watched_folders")[0]
    rig.lock()
    rig.unlock()
    folder = look(rig)
    assert sorted(rig.texts()) == sorted(f"Turn {n} of {m}." for n in range(4) for m in range(6))
    came = [one for one in entries(rig, folder.id) if one.event == "came"]
    assert [(one.step_id, one.counts["new"]) for one in came] == [(step, 24)]
    rig.undo(step)
    assert rig.texts() == []
    assert rig.verify()["status"] == "ok"


def test_a_cancelled_transaction_leaves_nothing_half_done(
    rig: Rig, logs: WrittenFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs.append_turns("one.jsonl", [("user", "Where is the boat?")])
    noted = arrivals.ArrivalWriter._note_records

    def stop(self: arrivals.ArrivalWriter, change: object) -> None:
        raise CancelledError

    with monkeypatch.context() as patched:
        patched.setattr(arrivals.ArrivalWriter, "_note_records", stop)
        with pytest.raises(CancelledError):
            watch(rig, logs.root, "claude-code")
    assert noted is arrivals.ArrivalWriter._note_records
    assert rig.texts() == []
    look(rig)
    assert rig.texts() == ["Where is the boat?"]


def test_a_running_engine_looks_by_itself(tmp_path: Path, logs: WrittenFolder) -> None:
    with rig_at(tmp_path, background=True) as rig:
        logs.append_turns("one.jsonl", [("user", "Where is the boat?")])
        assert watch(rig, logs.root, "claude-code").state in (WatchState.WATCHED, WatchState.WAITING)
        logs.append_turns("one.jsonl", [("assistant", "At Askøy.")])
        while len(rig.texts()) < 2:
            rig.opened.storage.closing.wait(0.05)
        rig.lock()
        logs.append_turns("one.jsonl", [("user", "And the ferry?")])
        rig.unlock()
        while len(rig.texts()) < 3:
            rig.opened.storage.closing.wait(0.05)
        assert rig.texts() == ["Where is the boat?", "At Askøy.", "And the ferry?"]


def test_one_folder_is_read_while_another_fails(rig: Rig, logs: WrittenFolder, tmp_path: Path) -> None:
    other = WrittenFolder(tmp_path / "notes")
    other.write("one.md", "One.")
    logs.append_turns("one.jsonl", [("user", "Where is the boat?")])
    watch(rig, logs.root, "claude-code")
    rig.engine.watches.add(other.root, "markdown", None, OWNER_ACTOR).result(30)
    logs.root.rename(tmp_path / "away")
    other.write("two.md", "Two.")
    states = [one.state for one in rig.engine.watches.look().result(30)]
    assert states == [WatchState.GONE, WatchState.RESTING]
    assert sorted(rig.texts()) == ["One.", "Two.", "Where is the boat?"]


def test_the_rows_of_a_folder_are_no_part_of_undo(rig: Rig, logs: WrittenFolder) -> None:
    logs.append_turns("one.jsonl", [("user", "Where is the boat?")])
    watch(rig, logs.root, "claude-code")

    def tables(tx: Tx) -> set[str]:
        return {str(row[0]) for row in tx.all("SELECT DISTINCT tbl FROM undo_rows")}

    assert not {name for name in rig.write(tables) if name.startswith("watched")}
