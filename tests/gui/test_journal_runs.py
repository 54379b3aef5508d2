"""The Journal's runs and jobs: what runs, waits and ran, stopped, undone, tried again; the calendar; pausing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engine_rig import Rig
from jobs_rig import HOUR_MS, JournalRoom, job_row, journal_over
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.events import Progress
from core.types.lifecycle import Consolidated, JobState, JobType
from core.types.values import OWNER_ACTOR, Pressure, Status
from ui.context import Context
from ui.pages.journal.jobs.runner import RunDialog
from ui.pages.journal.jobs.runs import _MOST
from ui.pages.journal.labels import format_near_moment
from ui.pages.journal.rows import JournalEntry
from ui.shell.status_bar import StatusBar


@pytest.fixture
def room(context: Context, qtbot: QtBot) -> Iterator[JournalRoom]:
    with journal_over(context, qtbot) as made:
        yield made


def due(room: JournalRoom) -> str:
    """When the next run is, in words."""
    return format_near_moment(room.jobs.now + 3 * HOUR_MS, room.jobs.now)


def furnish(room: JournalRoom) -> None:
    now = room.jobs.now
    report = Consolidated(deduplicated=2, clusters=1, source_memories=5, pruned_decayed=6, before={"total": 9})
    room.jobs.rows = [
        job_row("running", JobType.CONSOLIDATE, JobState.RUNNING, now, progress=30, total=120),
        job_row("waiting", JobType.REPLAY, JobState.QUEUED, now, waits_for="Waits: this machine is on battery."),
        job_row("poison", JobType.ERASE, JobState.POISON, now, attempts=5, code="E1003"),
        job_row("done", JobType.CONSOLIDATE, JobState.DONE, now - HOUR_MS, report=report.to_json(), step_id="s",
                can_undo=True),
        job_row("undone", JobType.SWEEP, JobState.DONE, now - 26 * HOUR_MS, report={"fading": 1}, step_id="t",
                undone=True),
        job_row("failed", JobType.SWEEP, JobState.FAILED, now - 27 * HOUR_MS, code="E9999"),
        job_row("stopped", JobType.REPLAY, JobState.CANCELLED, now - 28 * HOUR_MS, actor="client:x"),
    ]  # fmt: skip


def test_what_needs_somebody_stands_first_then_what_runs_then_what_ran(
    room: JournalRoom, qtmodeltester: ModelTester
) -> None:
    furnish(room)
    tab = room.enter("runs").tabs.runs
    assert room.heads(tab.list) == [
        "NEEDS YOU", "Erase from the archive", "NOW", "Consolidate", "Replay", "TODAY", "Consolidate", "YESTERDAY",
        "Look for fading memories", "Look for fading memories", "Replay",
    ]  # fmt: skip
    notes = {entry.id: entry.note for at in range(11) if (entry := tab.list.lines.row_at(at)) is not None}
    assert notes == {
        "poison": "It failed 5 times and needs you: the disk is full (E1003)",
        "running": "30 of 120 · started by Loci",
        "waiting": "Waits: this machine is on battery",
        "done": "2 merged, 1 digest of 5 memories, 6 faded and archived · started by Loci",
        "undone": "1 fading · started by Loci · undone",
        "failed": "It did not finish: an error ended it (E9999)",
        "stopped": "Stopped by request · Nothing to do · started by an assistant",
    }
    running = tab.list.lines.row_at(tab.list.lines.place_of("running"))
    assert running is not None
    assert running.progress == pytest.approx(0.25)
    qtmodeltester.check(tab.list.lines)  # type: ignore[no-untyped-call]  # pytest-qt has no types
    assert room.page.segments._buttons["runs"].text() == "Runs 4"
    assert tab.status.text() == "Consolidate is running."


@pytest.mark.parametrize(
    ("chosen", "acts"),
    [
        ("running", {"stop"}),
        ("waiting", {"stop"}),
        ("poison", {"retry"}),
        ("failed", set()),
        ("done", {"undo"}),
        ("undone", set()),
        ("stopped", set()),
    ],
)
def test_each_run_offers_what_makes_sense(room: JournalRoom, chosen: str, acts: set[str]) -> None:
    furnish(room)
    tab = room.enter("runs").tabs.runs
    tab.list.select_rows(chosen)
    assert tab.list.offered == acts
    assert {name for name, made in tab.panel.acts.buttons.items() if made.isVisible()} == acts


def test_a_run_is_stopped_and_another_tried_again(room: JournalRoom) -> None:
    furnish(room)
    tab = room.enter("runs").tabs.runs
    tab.list.select_rows("running")
    QTest.keyClick(tab.list, Qt.Key.Key_S)
    room.rest()
    assert room.heads(tab.list)[:4] == ["NEEDS YOU", "Erase from the archive", "NOW", "Replay"]
    tab.list.select_rows("poison")
    tab.panel.acts.buttons["retry"].click()
    room.rest()
    assert room.jobs.asked == [("cancel", "running"), ("retry", "poison")]
    assert "NEEDS YOU" not in room.heads(tab.list)


def test_a_run_is_undone_and_redone(room: JournalRoom, rig: Rig) -> None:
    stored = rig.store("The boat is called Heron.")
    archived = rig.forget(stored.memory_id)
    now = room.jobs.now
    room.jobs.rows = [job_row("done", JobType.SWEEP, JobState.DONE, now, step_id=archived, can_undo=True)]
    tab = room.enter("runs").tabs.runs
    QTest.keyClick(tab.list, Qt.Key.Key_Delete)
    settle(room.qtbot, lambda: bool(room.said))
    assert status_of(rig, stored.memory_id) is Status.ACTIVE
    sentence, act, run = room.said[-1]
    assert (sentence.startswith("Undone: "), act) == (True, "Redo")
    run()
    settle(room.qtbot, lambda: len(room.said) == 2)
    assert status_of(rig, stored.memory_id) is Status.DELETED
    room.rest()


def status_of(rig: Rig, memory_id: str) -> Status:
    return rig.engine.memories.show(memory_id, OWNER_ACTOR).result(30).memory.status


def test_the_panel_says_what_a_run_did_and_why_it_cannot_be_undone(room: JournalRoom) -> None:
    now = room.jobs.now
    room.jobs.rows = [
        job_row("derived", JobType.REPLAY, JobState.DONE, now, report={"embedded": 12, "odd_count": 2}),
        job_row("old", JobType.SWEEP, JobState.DONE, now, report={"fading": 1}, step_id="gone"),
    ]
    tab = room.enter("runs").tabs.runs
    assert tab.panel.sentences == (
        "12 embedded, 2 odd count.", "It took 12 seconds.", "There is nothing to undo: it changed no memory.",
    )  # fmt: skip
    tab.list.select_rows("old")
    assert "It is too old to be undone." in tab.panel.sentences


def test_nothing_has_run_yet(room: JournalRoom) -> None:
    tab = room.enter("runs").tabs.runs
    assert "Nothing has run yet" in room.words(tab)
    assert tab.status.text() == f"Nothing runs now. Next: Look for fading memories, {due(room)}."
    assert not tab.panel.isVisible()
    room.jobs.held, room.jobs.pressure = "Waits: memory is short.", Pressure.CRITICAL
    tab.reload()
    room.rest()
    assert tab.status.text().endswith("Waits: memory is short. Memory is low, so only necessary work runs.")


def test_more_runs_come_as_somebody_scrolls(room: JournalRoom) -> None:
    now = room.jobs.now
    room.jobs.rows = [
        job_row(f"{nr}", JobType.SWEEP, JobState.DONE, now - nr * HOUR_MS // 8) for nr in range(_MOST + 30)
    ]
    tab = room.enter("runs").tabs.runs
    tab.list.verticalScrollBar().setValue(tab.list.verticalScrollBar().maximum())
    if tab.list.lines.canFetchMore(tab.list.rootIndex()):  # else the list asked by itself
        tab.list.lines.fetchMore(tab.list.rootIndex())
    room.rest()
    assert sum(isinstance(line, JournalEntry) for line in tab.list.lines.lines) == _MOST + 30
    assert not tab.list.lines.canFetchMore(tab.list.rootIndex())


def test_pausing_and_going_on(room: JournalRoom) -> None:
    tab = room.enter("runs").tabs.runs
    assert (room.page.pause_button.text(), room.page.pause_button.isVisible()) == ("Pause", True)
    room.page.pause_button.click()
    room.rest()
    assert room.jobs.asked == [("pause", True)]
    assert tab.status.text() == "Paused. No scheduled work runs until you resume it."
    assert room.page.pause_button.text() == "Resume"
    assert room.page.pause_button.accessibleName() == "Resume"
    room.page.pause_button.click()
    room.rest()
    assert room.jobs.asked[-1] == ("pause", False)
    room.page.show_tab("archive")
    assert not room.page.pause_button.isVisible()


def test_the_calendar_says_what_runs_when_and_runs_it_now(room: JournalRoom) -> None:
    tab = room.enter("runs").tabs.runs
    tab.views._buttons["calendar"].click()
    assert room.heads(tab.calendar)[0] == "Look for fading memories"
    assert room.heads(tab.calendar)[-1] == "Erase from the archive"  # no fixed time
    first = tab.calendar.lines.row_at(0)
    assert first is not None
    last = format_near_moment(room.jobs.now - 20 * HOUR_MS, room.jobs.now)
    assert first.beside == f"Next {due(room)} · last {last}"
    QTest.keyClick(tab.calendar, Qt.Key.Key_R)
    dialog = room.dialog(RunDialog)
    assert dialog.sentences[1] == "Marks what fades and archives what nothing protects."
    dialog.act.click()
    settle(room.qtbot, lambda: bool(room.said))
    room.rest()
    assert room.jobs.asked == [("run", JobType.SWEEP)]


def test_erasing_now_is_a_danger_and_not_the_default(room: JournalRoom) -> None:
    tab = room.enter("runs").tabs.runs
    tab.show_view("calendar")
    tab.calendar.select_rows("erase")
    tab.panel.acts.buttons["run"].click()
    dialog = room.dialog(RunDialog)
    assert (dialog.windowTitle(), dialog.act.property("kind")) == ("Erase now", "danger")
    assert dialog.cancel.isDefault()
    assert dialog.sentences[-1].endswith("cannot be undone.")
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    room.rest()
    assert room.jobs.asked == []


def test_progress_is_followed_while_it_is_shown(room: JournalRoom, context: Context) -> None:
    furnish(room)
    tab = room.enter("runs").tabs.runs
    tab._follow.setInterval(20)
    room.jobs.rows[0] = job_row("running", JobType.CONSOLIDATE, JobState.RUNNING, room.jobs.now, progress=60, total=120)
    context.bridge.progressed.emit(Progress("index", "Loading the index", 1, 2))
    assert not tab._follow.isActive()
    context.bridge.progressed.emit(Progress("job:consolidate", "Consolidating", 60, 120))
    settle(room.qtbot, lambda: _share(room) == pytest.approx(0.5))
    room.rest()


def _share(room: JournalRoom) -> float | None:
    entry = room.page.tabs.runs.list.lines.row_at(room.page.tabs.runs.list.lines.place_of("running"))
    return None if entry is None else entry.progress


def test_the_status_bar_shows_a_job_that_runs(context: Context, qtbot: QtBot) -> None:
    bar = StatusBar(context.theme)
    qtbot.addWidget(bar)
    bar.show()
    bar.show_progress(Progress("job:sweep", "Looking for fading memories", 3, 12))
    assert bar._work.whole == "Looking for fading memories …"
    assert (bar._bar.value(), bar._bar.maximum()) == (3, 12)
    bar.show_progress(Progress("job:sweep", "Looking for fading memories", 12, 12))
    assert not bar._work.isVisible()


def test_where_there_is_little_room_the_panel_says_less(room: JournalRoom) -> None:
    furnish(room)
    tab = room.enter("runs").tabs.runs
    tab.list.select_rows("done")
    settle(room.qtbot, lambda: "It took 12 seconds." in room.words(tab.panel))
    room.page.resize(900, 420)
    settle(room.qtbot, lambda: "It took 12 seconds." not in room.words(tab.panel))
    assert tab.panel.acts.buttons["undo"].isVisible()
    assert len(tab.panel.sentences) == 2  # whoever asks it still hears both
