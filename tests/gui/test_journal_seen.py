"""The count beside the Journal: runs that nobody has seen yet."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engine_rig import HandClock, Rig
from life_rig import run
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.types.lifecycle import JobType
from core.types.replies import WaitingKind
from ui.context import RUNS_SEEN, Context
from ui.registry import ROOMS
from ui.shell.window import MainWindow

DAY_MS = 86_400_000


@pytest.fixture
def window(context: Context, qtbot: QtBot) -> Iterator[MainWindow]:
    made = MainWindow(context, ROOMS)
    made.show()
    qtbot.waitExposed(made)
    settle(qtbot, lambda: not context.tasks.running)
    yield made
    made.close()
    made.deleteLater()


def swept(rig: Rig) -> None:
    """A sweep by itself archives one memory."""
    rig.bring([{"text": "The plum jars stand on the cellar shelf.", "kind": "fact", "source": "inference"}])
    rig.settle()
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(700 * DAY_MS)
    run(rig, JobType.SWEEP)
    rig.write(lambda tx: tx.run("UPDATE jobs SET actor = 'scheduler'"))
    assert rig.texts(("archived",))
    rig.clock.advance(1_000)


def counted(window: MainWindow) -> str:
    assert window.house is not None
    return window.house._rail._buttons["journal"].accessibleName()


def test_a_run_is_told_beside_the_journal_until_it_is_looked_at(
    window: MainWindow, rig: Rig, qtbot: QtBot, context: Context
) -> None:
    assert counted(window) == "Journal"
    swept(rig)
    settle(qtbot, lambda: counted(window) == "Journal, 1 new")
    assert window.status._counts["journal"].accessibleName() == "Journal: 1 new"
    window.show_page("journal", "archive")
    settle(qtbot, lambda: not context.tasks.running)
    assert counted(window) == "Journal, 1 new"  # what was archived is seen there, not that a run did it
    window.show_page("journal", "runs")
    settle(qtbot, lambda: counted(window) == "Journal")


def test_what_happens_under_the_persons_eyes_is_seen(
    window: MainWindow, rig: Rig, qtbot: QtBot, context: Context
) -> None:
    window.show_page("journal", "changes")
    swept(rig)

    def unseen() -> int:
        since = int(context.prefs.read_text(RUNS_SEEN))
        return rig.engine.conflicts.count_waiting(since).result(30)[WaitingKind.RUNS]

    settle(qtbot, lambda: unseen() == 0 and counted(window) == "Journal")


def test_a_mark_that_cannot_be_read_begins_now(rig: Rig, context: Context) -> None:
    now = rig.clock.now_ms()
    context.prefs.store_value(RUNS_SEEN, "yesterday")
    assert context.prefs.read_moment(RUNS_SEEN, now) == now
    assert context.prefs.read_moment(RUNS_SEEN, now + DAY_MS) == now
