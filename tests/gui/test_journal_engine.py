"""The Journal over the real scheduler: what a run would do is kept from it, run, undone, and brought back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engine_rig import Rig, facts
from inspector_rig import look, shown_inspector, words_of
from jobs_rig import journal_over_engine
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.engine.jobs.scheduler import SchedulerPacing
from core.types.lifecycle import JobAction, JobState, JobType
from core.types.values import Status
from core.types.views import Revision
from ui.context import Context
from ui.inspector.gauges import GaugesSection
from ui.pages.journal.jobs.runner import RunDialog
from ui.pages.journal.lifecycle.archive import EraseDialog
from ui.pages.journal.page import JournalPage

YEARS_MS = 6 * 365 * 86_400_000


@pytest.fixture
def page(rig: Rig, context: Context, qtbot: QtBot) -> Iterator[JournalPage]:
    rig.engine.scheduler.beats = SchedulerPacing(every_s=0.0, quiet_s=0.0)
    with journal_over_engine(context, qtbot) as made:
        yield made


def rest(page: JournalPage, qtbot: QtBot) -> None:
    settle(qtbot, lambda: not page.context.tasks.running and page.is_settled())


def enter(page: JournalPage, qtbot: QtBot, tab: str) -> JournalPage:
    page.activate(tab)
    rest(page, qtbot)
    return page


def old_notes(rig: Rig, count: int = 4) -> list[str]:
    """Notes that nobody looked at for years; their ids."""
    rig.bring(facts(count))
    rig.settle()
    rig.clock.advance(YEARS_MS)  # type: ignore[attr-defined]  # the clock of this test has it
    return [row[0] for row in rig.rows("SELECT id FROM memories ORDER BY n")]


def active(rig: Rig) -> set[str]:
    return {row[0] for row in rig.rows("SELECT id FROM memories WHERE status = 'active'")}


def told(said: list[str]) -> str:
    return " | ".join(said)


def test_what_is_kept_stays_and_the_rest_goes_and_comes_back(
    page: JournalPage, rig: Rig, context: Context, qtbot: QtBot
) -> None:
    said: list[str] = []
    context.desk.message_asked.connect(lambda sentence, *_: said.append(sentence))
    ids = old_notes(rig)
    tab = enter(page, qtbot, "next").tabs.next
    entries = [tab.list.lines.row_at(at) for at in range(tab.list.lines.rowCount())]
    planned = {entry.value.planned.memory_id for entry in entries if entry is not None}
    assert planned == set(ids)
    assert active(rig) == set(ids)  # looking ahead does nothing
    first = entries[0]
    assert first is not None
    tab.list.select_rows(first.id)
    kept = first.value.planned.memory_id
    QTest.keyClick(tab.list, Qt.Key.Key_S)
    rest(page, qtbot)
    settle(qtbot, lambda: bool(said))
    assert told(said) == "It is kept for another 90 days."
    assert tab.preview is not None
    assert kept not in {
        item.planned.memory_id for item in tab.preview.items if item.planned.action in {"archive", "expire"}
    }
    tab.confirm_run()
    dialog = next(found for found in page.findChildren(RunDialog) if found.isVisible())
    dialog.act.click()
    settle(qtbot, lambda: not page.runner.is_running and len(said) > 1)
    rest(page, qtbot)
    assert active(rig) == {kept}

    archive = enter(page, qtbot, "archive").tabs.archive
    buried = {entry.id for at in range(archive.list.lines.rowCount()) if (entry := archive.list.lines.row_at(at))}
    assert buried == set(ids) - {kept}
    archive.list.selectAll()
    QTest.keyClick(archive.list, Qt.Key.Key_R)
    settle(qtbot, lambda: active(rig) == set(ids))
    rest(page, qtbot)
    assert told(said).endswith("3 memories were restored.")


def test_what_would_fade_and_is_kept_leaves_the_list(page: JournalPage, rig: Rig, qtbot: QtBot) -> None:
    ids = old_notes(rig, 3)
    rig.engine.library.revise_memories(ids, Revision(importance=1.0)).result(30)  # too important for the archive
    tab = enter(page, qtbot, "next").tabs.next
    assert tab.preview is not None
    assert {item.planned.action for item in tab.preview.items} == {JobAction.FADE}
    tab.list.select_rows(f"fade:{ids[1]}")
    QTest.keyClick(tab.list, Qt.Key.Key_S)
    rest(page, qtbot)
    settle(qtbot, lambda: tab.list.lines.place_of(f"fade:{ids[1]}") < 0)
    rest(page, qtbot)
    assert {item.planned.memory_id for item in tab.preview.items} == {ids[0], ids[2]}
    rig.engine.jobs.run(JobType.SWEEP).result(30)
    assert {row[0] for row in rig.rows("SELECT memory_id FROM fading")} == {ids[0], ids[2]}


def test_a_run_is_told_in_counts_and_undone_from_its_line(page: JournalPage, rig: Rig, qtbot: QtBot) -> None:
    ids = old_notes(rig)
    row = rig.engine.jobs.run(JobType.SWEEP).result(30)
    assert (row.state, active(rig)) == (JobState.DONE, set())
    tab = enter(page, qtbot, "runs").tabs.runs
    tab.list.select_rows(row.id)
    assert tab.panel.sentences[0].startswith("4 ")
    assert tab.list.offered == {"undo"}
    QTest.keyClick(tab.list, Qt.Key.Key_Delete)
    settle(qtbot, lambda: active(rig) == set(ids))
    rest(page, qtbot)
    entry = tab.list.lines.row_at(tab.list.lines.place_of(row.id))
    assert entry is not None
    assert entry.is_struck
    assert tab.list.offered == frozenset()


def test_pausing_is_the_option(page: JournalPage, rig: Rig, qtbot: QtBot) -> None:
    tab = enter(page, qtbot, "runs").tabs.runs
    tab.toggle_pause()
    rest(page, qtbot)
    settle(qtbot, lambda: tab.is_paused)
    assert rig.opened.options.lifecycle_on is False
    assert len(tab.calendar.lines.lines) >= 1


def test_the_gauges_are_those_of_the_engine(rig: Rig, context: Context, qtbot: QtBot) -> None:
    [memory_id, *_] = old_notes(rig)
    known = rig.engine.jobs.read_gauges(memory_id).result(30)
    with shown_inspector(qtbot, context) as inspector:
        look(qtbot, inspector, context, memory_id)
        part = inspector.find_section("gauges")
        assert isinstance(part, GaugesSection)
        settle(qtbot, part.strength.isVisible)
        assert f"Strength | {known.strength:.2f}" in words_of(part)
        assert f"Confidence | {known.confidence:.2f}" in words_of(part)


def test_the_health_is_told_by_the_engine(page: JournalPage, rig: Rig, qtbot: QtBot) -> None:
    rig.bring(facts(3))
    rig.settle()
    tab = enter(page, qtbot, "health").tabs.health
    named = {found.accessibleName() for found in tab.findChildren(QWidget)}
    assert "Facts: 3" in named
    assert len(tab.banners) == len(rig.engine.jobs.read_health().result(30).warnings)


def test_what_is_erased_from_the_archive_is_gone(page: JournalPage, rig: Rig, qtbot: QtBot) -> None:
    ids = old_notes(rig, 2)
    rig.engine.library.revise_memories(ids, Revision(status=Status.ARCHIVED)).result(30)
    tab = enter(page, qtbot, "archive").tabs.archive
    tab.list.select_rows(ids[0])
    QTest.keyClick(tab.list, Qt.Key.Key_Delete)
    [dialog] = page.findChildren(EraseDialog)
    settle(qtbot, dialog.act.isEnabled)
    dialog.act.click()
    settle(qtbot, lambda: [row[0] for row in rig.rows("SELECT id FROM memories")] == ids[1:])
    rest(page, qtbot)
    assert [entry.id for at in range(2) if (entry := tab.list.lines.row_at(at)) is not None] == ids[1:]
