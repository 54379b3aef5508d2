"""The Journal's next run: deeds with their reasons, filtered by chips, kept, pinned, confirmed, and run on request."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engine_rig import Rig
from jobs_rig import DAY_MS, HOUR_MS, JournalRoom, deed, job_row, journal_over
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.errors import Code, EnvironmentFaultError
from core.events import Progress
from core.types.lifecycle import JobAction, JobState, JobType
from core.types.values import OWNER_ACTOR
from ui.context import CLOSER, Context
from ui.pages.journal.jobs.next_run import (
    MOST,
    ChangeChips,
    change_entries,
    describe_keeping,
    describe_other_memories,
    offered_actions,
    protected_memory_ids,
)
from ui.pages.journal.jobs.runner import RunDialog
from ui.pages.journal.labels import format_near_moment
from ui.widgets.labels import capitalize_first, date_of


@pytest.fixture
def room(context: Context, qtbot: QtBot) -> Iterator[JournalRoom]:
    with journal_over(context, qtbot) as made:
        yield made


def furnish(room: JournalRoom, rig: Rig) -> list[str]:
    """A plan of four deeds on memories that exist; their ids."""
    texts = ("The boat is called Heron.", "The shed is green.", "Jar 4 holds quinces.", "The weir closes at dusk.")
    ids = [rig.store(text).memory_id for text in texts]
    room.jobs.items = [
        deed(JobAction.ARCHIVE, ids[0], texts[0], value=0.04, words="It has faded.", reason="faded"),
        deed(JobAction.FADE, ids[1], texts[1], value=0.18, words="It is no longer sure."),
        deed(JobAction.FADE, ids[2], texts[2], value=0.19, words="It is no longer sure."),
        deed(JobAction.MERGE, ids[3], texts[3], value=0.97, others=(ids[0], ids[1]), other_texts=("The weir shuts.",)),
    ]
    return ids


def due(room: JournalRoom) -> str:
    """When the next run is, in words."""
    return format_near_moment(room.jobs.now + 3 * HOUR_MS, room.context.clock.now_ms())


def chips(room: JournalRoom) -> dict[str, QPushButton]:
    found = room.page.tabs.next.chips.findChildren(QPushButton)
    return {made.text().strip(): made for made in found if made.isVisible()}


def pinned(rig: Rig) -> list[str]:
    return [row[0] for row in rig.rows("SELECT text FROM memories WHERE pinned = 1 ORDER BY n")]


def test_deeds_stand_with_what_why_and_beside_what(
    room: JournalRoom, rig: Rig, context: Context, qtmodeltester: ModelTester
) -> None:
    ids = furnish(room, rig)
    tab = room.enter("next").tabs.next
    first, *_, last = (tab.list.lines.row_at(at) for at in range(4))
    assert first is not None
    assert (first.word, first.title, first.note) == ("Archived", "The boat is called Heron.", "It has faded.")
    assert (first.aside, first.aside_note) == ("0.04", "strength")
    assert last is not None
    assert (last.beside, last.aside_note) == ("With “The weir shuts.” and 1 more", "likeness")
    qtmodeltester.check(tab.list.lines)  # type: ignore[no-untyped-call]  # pytest-qt has no types
    assert context.selection.current == ids[0]
    assert "What you keep is left as it is; what you pin or confirm does not fade" in tab.lead.text()
    assert tab.lead.text().startswith(capitalize_first(due(room)))
    assert room.page.segments._buttons["next"].text() == "Next run 4"


def test_hostile_text_is_shown_as_it_is() -> None:
    item = deed(JobAction.MERGE, "one", "<b>bold</b>\nand\u202e back", other_texts=("two\nlines",), others=("two",))
    [entry] = change_entries([item])
    assert entry.title == "<b>bold</b> and‹U+202E› back"
    assert describe_other_memories(item) == "With “two lines”"


def test_a_chip_lists_its_deeds_alone(room: JournalRoom, rig: Rig, qtbot: QtBot) -> None:
    furnish(room, rig)
    tab = room.enter("next").tabs.next
    assert list(chips(room)) == ["All 4", "1 archived", "2 fade", "1 merged"]
    assert chips(room)["2 fade"].accessibleName() == "2 would fade"
    chips(room)["2 fade"].click()
    assert room.heads(tab.list) == ["The shed is green.", "Jar 4 holds quinces."]
    room.jobs.items = [item for item in room.jobs.items if item.planned.action is not JobAction.FADE]
    tab.reload()
    room.rest()
    assert room.heads(tab.list) == [
        "The boat is called Heron.",
        "The weir closes at dusk.",
    ]  # the filter went with them
    chips(room)["All 2"].click()
    assert tab.chips.current == ""


def test_one_kind_of_deed_needs_no_filter(room: JournalRoom, qtbot: QtBot) -> None:
    made = ChangeChips(room.context.theme)
    qtbot.addWidget(made)
    made.show_counts({"fade": 3})
    [only] = made.findChildren(QPushButton)
    only.click()
    assert (only.text().strip(), only.isCheckable(), made.current) == ("3 fade", False, "")


def test_keeping_takes_what_is_chosen_out_of_the_plan(room: JournalRoom, rig: Rig) -> None:
    ids = furnish(room, rig)
    tab = room.enter("next").tabs.next
    tab.list.select_rows(f"archive:{ids[0]}", f"fade:{ids[1]}")
    assert tab.acts.buttons["spare"].isEnabled()
    assert not tab.acts.buttons["confirm"].isEnabled()  # one at a time
    QTest.keyClick(tab.list, Qt.Key.Key_S)
    room.rest()
    assert room.jobs.asked == [("spare", ((ids[0], ids[1]), 90))]
    assert room.said[-1][:2] == ("2 memories are kept for another 90 days.", "Undo")
    assert room.heads(tab.list) == ["Jar 4 holds quinces.", "The weir closes at dusk."]
    assert [entry.title for entry in tab.list.chosen] == ["Jar 4 holds quinces."]  # the neighbour, not nothing


def test_what_is_united_is_kept_with_all_that_it_would_take_in(room: JournalRoom, rig: Rig) -> None:
    ids = furnish(room, rig)
    tab = room.enter("next").tabs.next
    tab.list.select_rows(f"merge:{ids[3]}")
    assert tab.list.offered == {"open", "spare", "pin", "confirm"}
    tab.acts.buttons["spare"].click()
    room.rest()
    assert room.jobs.asked == [("spare", ((ids[3], ids[0], ids[1]), 90))]
    assert room.said[-1][:2] == ("They are left as they are for 90 days.", "Undo")
    assert tab.list.lines.place_of(f"merge:{ids[3]}") < 0


@pytest.mark.parametrize("what", [JobAction.STACK, JobAction.MERGE, JobAction.CORROBORATE, JobAction.DIGEST])
def test_keeping_is_about_all_that_would_be_laid_together(what: JobAction) -> None:
    entries = change_entries([deed(what, "a", "The shed is green.", others=("b", "c"))])
    assert "spare" in offered_actions(entries)
    assert protected_memory_ids(entries) == ("a", "b", "c")
    assert describe_keeping(entries) == "They are left as they are for 90 days."


def test_keeping_what_fades_is_about_it_alone() -> None:
    entries = change_entries([deed(JobAction.ARCHIVE, "a", "The shed is green.", others=("newer",))])
    assert protected_memory_ids(entries) == ("a",)
    assert describe_keeping(entries) == "It is kept for another 90 days."


@pytest.mark.parametrize("what", [JobAction.SUPERSEDE, JobAction.ASK, JobAction.RECOVER, JobAction.ERASE])
def test_what_the_engine_does_all_the_same_is_not_offered_to_be_kept(what: JobAction) -> None:
    assert "spare" not in offered_actions(change_entries([deed(what, "a", "The shed is green.", others=("b",))]))


def test_what_is_united_can_be_pinned_alone(room: JournalRoom, rig: Rig) -> None:
    ids = furnish(room, rig)
    tab = room.enter("next").tabs.next
    tab.list.select_rows(f"merge:{ids[3]}")
    tab.acts.buttons["pin"].click()
    room.rest()
    assert pinned(rig) == ["The weir closes at dusk."]
    assert room.said[-1][:2] == ("Pinned: it never fades.", "Undo")
    room.said[-1][2]()
    room.rest()
    assert pinned(rig) == []


def test_pinning_what_is_pinned_says_so(room: JournalRoom, rig: Rig) -> None:
    ids = furnish(room, rig)
    tab = room.enter("next").tabs.next
    for _ in range(2):
        tab.list.select_rows(f"fade:{ids[1]}")
        tab.run_action("pin")
        room.rest()
    assert room.said[-1][:2] == ("Nothing to change.", "")


def test_confirming_says_that_it_is_still_true(room: JournalRoom, rig: Rig) -> None:
    ids = furnish(room, rig)
    tab = room.enter("next").tabs.next
    tab.list.select_rows(f"fade:{ids[1]}")
    QTest.keyClick(tab.list, Qt.Key.Key_C)
    room.rest()
    assert rig.value("SELECT last_confirmed_at FROM memories WHERE id = ?", ids[1]) is not None
    assert room.said[-1][1] == "Undo"


def test_opening_looks_closer(room: JournalRoom, rig: Rig, context: Context) -> None:
    ids = furnish(room, rig)
    tab = room.enter("next").tabs.next
    seen: list[tuple[str, str]] = []
    context.selection.changed.connect(lambda memory_id, origin: seen.append((memory_id, origin)))
    tab.list.select_rows(f"fade:{ids[2]}")
    QTest.keyClick(tab.list, Qt.Key.Key_Return)
    assert seen[-1] == (ids[2], CLOSER)
    QTest.keyClick(tab.list, Qt.Key.Key_Escape)
    assert not tab.list.chosen
    assert tab.list.offered == frozenset()


def test_the_menu_offers_what_the_keys_do(room: JournalRoom, rig: Rig) -> None:
    ids = furnish(room, rig)
    tab = room.enter("next").tabs.next
    tab.list.select_rows(f"fade:{ids[1]}")
    menu = tab.list.menu()
    assert menu is not None
    shown = [action.text().split("\t") for action in menu.actions()]
    assert [title for title, _ in shown] == ["Keep for 90 days", "Pin", "Confirm", "Open"]
    assert [key for _, key in shown][:3] == ["S", "P", "C"]
    menu.actions()[0].trigger()
    room.rest()
    assert room.jobs.asked[0][0] == "spare"
    menu.deleteLater()


def test_nothing_to_do_teaches_when_loci_looks(room: JournalRoom, rig: Rig) -> None:
    tab = room.enter("next").tabs.next
    said = tab.states.currentWidget()
    assert said is not None
    assert said.accessibleName().startswith("Nothing would change. ")
    assert f"Loci checks again {due(room)}." in said.accessibleName()
    assert not room.page.run_button.isEnabled()
    room.jobs.paused = True
    tab.reload()
    room.rest()
    said = tab.states.currentWidget()
    assert said is not None
    assert "Paused: nothing runs until you resume it." in said.accessibleName()


def test_a_long_plan_says_how_much_of_it_is_listed(room: JournalRoom) -> None:
    room.jobs.items = [deed(JobAction.FADE, f"{nr}", f"Jar {nr} holds quinces.", value=0.1) for nr in range(MOST + 40)]
    tab = room.enter("next").tabs.next
    assert tab.list.lines.rowCount() == MOST
    assert "The first 200 are listed." in tab.lead.text()
    assert list(chips(room)) == ["240 fade"]


def test_running_now_says_what_it_does_and_can_be_undone(room: JournalRoom, rig: Rig) -> None:
    furnish(room, rig)
    room.enter("next")
    room.page.run_button.click()
    dialog = room.dialog(RunDialog)
    said = [found.text() for found in dialog.findChildren(QLabel)]
    assert said[1] == f"This happens now instead of {due(room)}:"
    assert said[2:5] == [
        "1 memory goes to the archive, and can come back from there.",
        "2 memories are marked as fading; they stay where they are.",
        "1 memory absorbs others that say the same; they stay reachable.",
    ]
    assert room.jobs.asked == []
    dialog.act.click()
    room.rest()
    settle(room.qtbot, lambda: bool(room.said))
    assert room.jobs.asked == [("run", JobType.SWEEP), ("run", JobType.CONSOLIDATE)]
    sentence, act, _ = room.said[-1]
    assert sentence == "Look for fading memories is done: 2 fading. Consolidate is done: 2 fading."
    assert act == "Show"  # two steps: the runs show both


def test_one_run_is_undone_where_it_is_told(room: JournalRoom, rig: Rig) -> None:
    furnish(room, rig)
    room.jobs.items = room.jobs.items[:2]
    room.enter("next")
    room.page.tabs.next.run_now()
    settle(room.qtbot, lambda: bool(room.said))
    assert room.said[-1][:2] == ("Look for fading memories is done: 2 fading.", "Undo")
    room.rest()


def test_saying_no_runs_nothing(room: JournalRoom, rig: Rig) -> None:
    furnish(room, rig)
    room.enter("next").tabs.next.confirm_run()
    room.dialog(RunDialog).cancel.click()
    room.rest()
    assert room.jobs.asked == []


def test_what_is_to_be_erased_waits_for_its_own_time(room: JournalRoom) -> None:
    room.jobs.items = [
        deed(JobAction.ERASE, "one", "The boat is called Heron.", job=JobType.ERASE),
        deed(JobAction.FADE, "two", "The shed is green."),
    ]
    tab = room.enter("next").tabs.next
    tab.list.select_rows("erase:one")
    assert tab.list.offered == {"open"}
    tab.confirm_run()
    dialog = room.dialog(RunDialog)
    assert "Memories due to be erased wait for their own date." in dialog.sentences[-1]
    assert not any("for good" in sentence for sentence in dialog.sentences)
    dialog.act.click()
    settle(room.qtbot, lambda: bool(room.said))
    room.rest()
    assert room.jobs.asked == [("run", JobType.SWEEP)]


def test_a_run_tells_its_progress_and_is_stopped_by_its_id(room: JournalRoom, rig: Rig, context: Context) -> None:
    furnish(room, rig)
    room.jobs.items = room.jobs.items[:2]
    room.jobs.holds = True
    tab = room.enter("next").tabs.next
    tab.run_now()
    settle(room.qtbot, lambda: any(one.can_cancel for one in context.tasks.running))
    assert not room.page.run_button.isEnabled()
    assert room.page.run_button.text() == "Running …"
    [running] = [one for one in context.tasks.running if one.can_cancel]
    context.bridge.progressed.emit(Progress("job:sweep", "Looking for fading memories", 30, 90))
    context.bridge.progressed.emit(Progress("index", "Loading the index", 1, 2))
    assert (running.watch.done, running.watch.total) == (30, 90)
    running.cancel()
    settle(room.qtbot, lambda: ("cancel", "job-sweep") in room.jobs.asked)
    room.jobs.release()
    settle(room.qtbot, lambda: bool(room.said))
    assert room.said[-1][:2] == ("Look for fading memories was stopped.", "")
    room.rest()
    assert room.page.run_button.isEnabled()


def test_a_run_that_fails_says_why(room: JournalRoom, rig: Rig) -> None:
    furnish(room, rig)
    room.jobs.items = room.jobs.items[:2]
    tab = room.enter("next").tabs.next
    ended = job_row("x", JobType.SWEEP, JobState.FAILED, room.jobs.now, code="E1003")
    tab.runner._on_run_done([], ended)
    assert room.said[-1][0] == "Look for fading memories did not finish. The disk is full (E1003)."


def test_trouble_offers_to_look_again(room: JournalRoom, rig: Rig) -> None:
    furnish(room, rig)
    room.jobs.fails = EnvironmentFaultError(Code.DISK_FULL, "The disk is full.")
    room.page.activate("next")
    tab = room.page.tabs.next
    settle(room.qtbot, lambda: "The disk is full." in room.words(tab))
    room.jobs.fails = None
    again = next(made for made in tab.findChildren(QPushButton) if made.text() == "Try again")
    again.click()
    room.rest()
    assert tab.list.lines.rowCount() == 4
    room.jobs.fails = EnvironmentFaultError(Code.DISK_FULL, "The disk is full.")
    tab.reload()
    settle(room.qtbot, lambda: bool(room.said))
    assert room.said[-1][:2] == ("The disk is full.", "Try again")
    assert tab.list.lines.rowCount() == 4  # what was shown stays


def test_it_looks_ahead_again_once_nothing_has_changed_for_a_while(
    room: JournalRoom, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.pages.journal.page._AHEAD_MS", 40)
    ids = furnish(room, rig)
    tab = room.enter("next").tabs.next
    room.jobs.items = room.jobs.items[:1]
    rig.engine.memories.confirm(ids[1], OWNER_ACTOR).result(30)
    settle(room.qtbot, lambda: tab.list.lines.rowCount() == 1)
    room.rest()


def test_a_time_long_ahead_is_said_with_its_date(room: JournalRoom, rig: Rig) -> None:
    furnish(room, rig)
    room.jobs.now += 3 * DAY_MS
    tab = room.enter("next").tabs.next
    assert date_of(room.jobs.now + 3 * HOUR_MS) in tab.lead.text()
    assert " Loci would do this." in tab.lead.text()


def test_where_there_is_little_room_the_chips_are_one_menu(room: JournalRoom, rig: Rig) -> None:
    furnish(room, rig)
    tab = room.enter("next").tabs.next
    assert not tab.is_low
    room.page.resize(900, 420)
    settle(room.qtbot, lambda: tab.is_low)
    settle(room.qtbot, lambda: len(chips(room)) == 1)
    [menu] = chips(room).values()
    assert menu.accessibleName() == "Show: All 4"
    assert "left as it is" not in tab.lead.text()
    next(action for action in menu.menu().actions() if action.text() == "2 fade").trigger()
    assert room.heads(tab.list) == ["The shed is green.", "Jar 4 holds quinces."]
    room.page.resize(900, 640)
    settle(room.qtbot, lambda: "2 fade" in chips(room))
    assert chips(room)["2 fade"].isChecked()
    assert "left as it is" in tab.lead.text()
