"""The numbers behind the names of the Journal's tabs: true for tabs that nobody looked at, and after what happened."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engine_rig import Rig
from jobs_rig import DAY_MS, JournalRoom, buried, deed, health, job_row, journal_over
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.errors import Code, EnvironmentFaultError
from core.events import Progress
from core.types.lifecycle import JobAction, JobState, JobType
from ui.context import Context


@pytest.fixture
def room(context: Context, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[JournalRoom]:
    monkeypatch.setattr("ui.pages.journal.page._SOON_MS", 20)
    with journal_over(context, qtbot) as made:
        yield made


def told(room: JournalRoom, tab: str) -> str:
    return room.page.segments._buttons[tab].text()


def furnish(room: JournalRoom) -> None:
    now = room.jobs.now
    room.jobs.graves = [buried("a", "The shed is green.", now - DAY_MS)]
    room.jobs.told = health(now, warnings=("The disk is full.", "There is no backup."))
    room.jobs.rows = [job_row("r", JobType.SWEEP, JobState.DONE, now)]


def test_tabs_that_were_never_visited_have_their_numbers(room: JournalRoom, rig: Rig) -> None:
    rig.store("The boat is called Heron.")
    furnish(room)
    room.enter("imports")
    shown = {name: told(room, name) for name in ("changes", "runs", "archive", "health")}
    assert shown == {
        "changes": "Changes 1", "runs": "Runs 1", "archive": "Archive 1", "health": "Health 2",
    }  # fmt: skip
    assert set(room.page.tabs.made) <= {"changes", "imports"}  # counting makes no tab


def test_what_happens_while_another_tab_is_shown_is_counted(room: JournalRoom, rig: Rig) -> None:
    rig.store("The boat is called Heron.")
    room.enter("archive")
    assert told(room, "changes") == "Changes 1"
    for nr in range(5):
        rig.store(f"Jar {nr} holds quinces.")
    settle(room.qtbot, lambda: told(room, "changes") == "Changes 6")


def test_what_was_foretold_has_no_number_once_it_may_be_another(room: JournalRoom, rig: Rig) -> None:
    room.jobs.items = [
        deed(JobAction.FADE, "a", "The shed is green."),
        deed(JobAction.FADE, "b", "The weir closes at dusk."),
    ]
    room.enter("next")
    room.enter("runs")
    assert told(room, "next") == "Next run 2"
    rig.store("The boat is called Heron.")
    settle(room.qtbot, lambda: told(room, "next") == "Next run")
    room.rest()
    room.enter("next")
    assert told(room, "next") == "Next run 2"


class SlowClock:
    """Tells of every reading that it took four seconds."""

    TOOK_MS = 4_000

    def start(self) -> None:
        """It begins."""

    def elapsed(self) -> int:
        """Milliseconds since."""
        return self.TOOK_MS


def test_a_run_that_changed_no_memory_is_counted(room: JournalRoom, context: Context) -> None:
    room.enter("archive")
    assert told(room, "runs") == "Runs"
    context.bridge.progressed.emit(Progress("job:sweep", "Looking for fading memories", 12, 12))
    furnish(room)
    settle(room.qtbot, lambda: told(room, "runs") == "Runs 1")
    assert told(room, "health") == "Health 2"


def test_other_progress_counts_nothing(room: JournalRoom, context: Context) -> None:
    room.enter("archive")
    context.bridge.progressed.emit(Progress("index", "Loading the index", 1, 2))
    assert not room.page.counts._timer.isActive()


def test_what_happens_meanwhile_is_read_once_more(room: JournalRoom) -> None:
    room.enter("archive")
    counts = room.page.counts
    room.rest()
    counts._timer.stop()
    counts.read_counts()
    counts.schedule_read()
    counts.schedule_read()
    counts.read_counts()
    assert not counts._timer.isActive()  # no two readings at a time
    room.rest()
    assert counts._timer.isActive()
    counts._timer.stop()
    counts._on_timeout()
    room.rest()
    assert not counts._timer.isActive()


def test_a_reading_that_took_long_is_followed_by_a_longer_pause(
    room: JournalRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.enter("archive")
    room.rest()
    counts = room.page.counts
    counts._timer.stop()
    monkeypatch.setattr(counts, "_clock", SlowClock())
    counts.read_counts()
    counts.schedule_read()
    room.rest()
    assert counts._timer.interval() == 5 * SlowClock.TOOK_MS
    counts._timer.stop()


def test_what_cannot_be_counted_stays_silent(room: JournalRoom) -> None:
    room.enter("changes")
    room.jobs.fails = EnvironmentFaultError(Code.DISK_FULL, "The disk is full.")
    room.page.counts.read_counts()
    room.rest()
    assert room.said == []
