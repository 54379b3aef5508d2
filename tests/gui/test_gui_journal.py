"""The journal: changes by day with undo, redo and undo back to here; imports that can be removed; the audit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from engine_rig import HandClock, Rig, facts
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMenu, QPushButton
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot
from window_rig import hear, remember, settle

from core.engine.vault.history import History
from core.types.replies import AuditRow, ChangeCounts, ImportRow, StepRow, UndoReport
from core.types.values import OWNER_ACTOR
from core.types.views import FindRequest, Revision
from ui.context import Context
from ui.lists.list_view import ListModel
from ui.lists.table_view import TableModel, shown_columns
from ui.pages.journal.audit import AuditFeed, AuditRows, audit_counts, short_id
from ui.pages.journal.labels import describe_author
from ui.pages.journal.page import JournalPage
from ui.pages.journal.undo.changes import PAGE_STEPS, StepList, TakeBackDialog
from ui.pages.journal.undo.imports import COLUMNS, RemoveImportDialog
from ui.pages.journal.undo.labels import (
    describe_step,
    describe_step_details,
    describe_step_memories,
    import_sentences,
    step_action,
)
from ui.pages.journal.undo.period import PERIODS, describe_period_counts, period_start
from ui.undo import report_undo
from ui.widgets.check_report import chain_sentence, summarize_checks
from ui.widgets.labels import format_day_heading, to_local
from ui.widgets.states import States

DAY_MS = 86_400_000
NOON = int(datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp() * 1000)


@pytest.fixture
def page(context: Context, qtbot: QtBot) -> Iterator[JournalPage]:
    made = JournalPage(context)
    context.bridge.changed.connect(made.handle_change)
    made.resize(900, 640)
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()
    yield made
    made.deactivate()
    made.close()
    made.deleteLater()


def shown(model: ListModel[StepRow]) -> list[str]:
    lines = []
    for place in range(model.rowCount()):
        step = model.row_at(place)
        lines.append(str(model.index(place, 0).data()) if step is None else step.label)
    return lines


def enter(page: JournalPage, qtbot: QtBot, tab: str = "changes") -> None:
    page.activate(tab)
    settle(qtbot, page.is_settled)


def choose(page: JournalPage, label: str) -> StepRow:
    model = page.tabs.changes.list.lines
    place = shown(model).index(label)
    page.tabs.changes.list.setCurrentIndex(model.index(place, 0))
    step: StepRow | None = page.tabs.changes.list.current
    assert step is not None
    return step


def said_instead(states: States) -> str:
    shown = states.currentWidget()
    return "" if shown is None else shown.accessibleName()


def texts(rig: Rig) -> set[str]:
    return {row[0] for row in rig.rows("SELECT text FROM memories WHERE status = 'active'")}


# ---- changes


def test_an_empty_journal_teaches(page: JournalPage, qtbot: QtBot) -> None:
    enter(page, qtbot)
    assert "No changes yet" in said_instead(page.tabs.changes.states)
    enter(page, qtbot, "imports")
    assert "Nothing was imported yet" in said_instead(page.tabs.imports.states)


def test_steps_stand_under_the_headings_of_their_days(
    page: JournalPage, rig: Rig, qtbot: QtBot, qtmodeltester: ModelTester
) -> None:
    rig.store("The boat is called Heron.")
    rig.clock.advance(DAY_MS)  # type: ignore[attr-defined]  # the widget or clock of this test has it
    stored = rig.store("The shed is green.")
    rig.forget(stored.memory_id)
    enter(page, qtbot)
    model = page.tabs.changes.list.lines
    assert shown(model) == ["Today", "Forget a memory", "Remember a fact", "Yesterday", "Remember a fact"]
    assert not model.flags(model.index(0, 0)) & Qt.ItemFlag.ItemIsSelectable
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]  # pytest-qt has no types
    page.tabs.changes.list.setCurrentIndex(model.index(2, 0))
    QTest.keyClick(page.tabs.changes.list, Qt.Key.Key_Down)
    assert page.tabs.changes.list.current is not None
    assert page.tabs.changes.list.currentIndex().row() == 4  # the heading is passed over


def test_a_step_names_the_memory_it_is_about(page: JournalPage, rig: Rig, qtbot: QtBot) -> None:
    stored = rig.store("The shed is green.\u202e Its door is blue." + " It is old." * 20)
    enter(page, qtbot)
    feed = page.tabs.changes.list.steps
    step = choose(page, "Remember a fact")
    settle(qtbot, lambda: stored.memory_id in feed.openings)
    told = feed.describe_details(step)
    assert told.startswith("“The shed is green.")
    assert "\u202e" not in told
    assert told.endswith("…” · You")
    assert len(told) < 110
    feed._add_openings((stored.memory_id,), ())
    assert feed.describe_details(step) == "an erased memory · You"


def test_a_step_of_several_memories_or_of_none_says_so() -> None:
    one = step_row(memory_ids=("a",))
    assert describe_step_memories(one, 1, {"a": "The shed is green."}) == "“The shed is green.”"
    assert describe_step_memories(one, 1, {}) == ""
    two = step_row(memory_ids=("a", "b"))
    assert describe_step_memories(two, 2, {"a": "Tea at five."}) == "“Tea at five.” and others"
    assert describe_step_memories(one, None, {"a": "Tea at five."}) == "“Tea at five.” and others"  # not counted yet
    assert describe_step_memories(step_row(verb="revise"), 0, {}) == "an erased memory"
    assert describe_step_memories(step_row(verb="settings"), 0, {}) == ""


def test_an_edit_names_the_memory_and_shows_it_before_and_after(
    page: JournalPage, context: Context, rig: Rig, qtbot: QtBot
) -> None:
    stored = rig.store("The shed is green.").memory_id
    context.bridge.engine.library.revise_memories((stored,), Revision(text="The shed is blue.")).result(60)
    enter(page, qtbot)
    feed = page.tabs.changes.list.steps
    step = page.tabs.changes.list.lines.list_rows()[0]
    settle(qtbot, lambda: feed.openings.get(step.memory_ids[0]) is not None)
    assert feed.describe_details(step) == "“The shed is blue.” · You"
    page.tabs.changes._on_step_asked("show", step)
    settle(qtbot, lambda: bool(page.tabs.changes.findChildren(QMenu)))
    menu = page.tabs.changes.findChildren(QMenu)[-1]
    settle(qtbot, lambda: len(menu.actions()) == 2)
    assert [action.text() for action in menu.actions()] == ["After: The shed is blue.", "Before: The shed is green."]
    menu.close()


def test_a_large_step_says_how_many_memories_it_touched_and_shows_all_of_them(
    page: JournalPage, context: Context, rig: Rig, qtbot: QtBot
) -> None:
    ids = [rig.store(f"Jar {nr} holds quinces.").memory_id for nr in range(74)]
    context.bridge.engine.library.revise_memories(ids, Revision(add_tags=("pantry",))).result(60)
    sought: list[str] = []
    context.desk.search.connect(sought.append)
    enter(page, qtbot)
    feed = page.tabs.changes.list.steps
    step = page.tabs.changes.list.lines.list_rows()[0]
    settle(qtbot, lambda: feed.count_of(step) == 74)
    assert feed.describe_details(step).endswith(" and others · You · 74 memories")
    page.tabs.changes._on_step_asked("show", step)
    found = context.bridge.engine.library.find_memories(FindRequest(sought[0])).result(60)
    assert set(found.ids) == set(ids)


def step_row(verb: str = "store", memory_ids: tuple[str, ...] = ()) -> StepRow:
    return StepRow(
        "s", NOON, verb, "Remember a fact", "owner", None, 2,
        undone=False, can_undo=True, is_undo=False, expires_at=NOON, memory_ids=memory_ids,
    )  # fmt: skip


def test_older_steps_come_as_somebody_scrolls(context: Context, rig: Rig, qtbot: QtBot) -> None:
    for number in range(6):
        rig.store(f"Jar {number} holds quinces.")
    made = StepList(context)
    qtbot.addWidget(made)
    feed, model = made.steps, made.lines
    feed.reload()
    settle(qtbot, lambda: feed.is_read)
    first = context.bridge.engine.history.list_steps(None, 4).result(30)
    feed._replace_steps(first)
    assert model.canFetchMore(QModelIndex())
    model.fetchMore(QModelIndex())
    assert not model.canFetchMore(QModelIndex())  # one page at a time
    settle(qtbot, lambda: model.rowCount() == 7)
    assert shown(model).count("Today") == 1
    assert PAGE_STEPS > 4


def test_delete_undoes_and_again_redoes(page: JournalPage, context: Context, rig: Rig, qtbot: QtBot) -> None:
    heard = hear(context)
    stored = rig.store("The boat is called Heron.")
    rig.forget(stored.memory_id)
    enter(page, qtbot)
    choose(page, "Forget a memory")
    assert context.selection.current == stored.memory_id
    QTest.keyClick(page.tabs.changes.list, Qt.Key.Key_Delete)
    settle(qtbot, lambda: heard.sentences == ["Undone: Forget a memory."])
    settle(qtbot, lambda: "Undo: Forget a memory" in shown(page.tabs.changes.list.lines))
    step = choose(page, "Forget a memory")
    assert step.undone
    assert step_action(step) == "redo"
    assert "undone at" in describe_step_details(step, 1, rig.clock.now_ms())
    assert texts(rig) == {"The boat is called Heron."}
    settle(qtbot, page.tabs.changes.list.buttons.act_button.isVisible)
    page.tabs.changes.list.buttons.act_button.click()
    settle(qtbot, lambda: heard.sentences[-1] == "Redone: Forget a memory.")
    assert texts(rig) == set()


def test_the_buttons_offer_what_makes_sense(page: JournalPage, rig: Rig, qtbot: QtBot) -> None:
    rig.store("The boat is called Heron.")
    rig.store("The shed is green.")
    enter(page, qtbot)
    steps, buttons = page.tabs.changes.list.lines, page.tabs.changes.list.buttons
    page.tabs.changes.list.setCurrentIndex(steps.index(1, 0))
    assert (buttons.act_button.isVisible(), buttons.back_button.isVisible()) == (True, False)  # the newest
    page.tabs.changes.list.setCurrentIndex(steps.index(2, 0))
    assert buttons.back_button.isVisible()
    assert buttons.back_button.accessibleName() == "Undo back to here: Remember a fact"
    page.resize(420, 640)
    settle(qtbot, page.tabs.changes.docked.isVisible)
    assert not buttons.isVisible()


def test_undo_back_to_here_shows_what_goes_and_can_be_redone(
    page: JournalPage, context: Context, rig: Rig, qtbot: QtBot
) -> None:
    told: list[tuple[str, object]] = []
    context.desk.message_asked.connect(lambda sentence, _action, run: told.append((sentence, run)))
    for text in ("The boat is called Heron.", "The shed is green.", "The gate is blue."):
        rig.store(text)
    before = texts(rig)
    enter(page, qtbot)
    page.tabs.changes.list.setCurrentIndex(page.tabs.changes.list.lines.index(2, 0))
    QTest.keyClick(page.tabs.changes.list, Qt.Key.Key_B)
    dialog = page.tabs.changes.findChild(TakeBackDialog)
    assert dialog is not None
    settle(qtbot, dialog.act.isEnabled)
    assert dialog.act.text() == "Undo 2 changes"
    assert "They touch 2 memories" in dialog.summary
    assert texts(rig) == before
    dialog.act.click()
    settle(qtbot, lambda: bool(told))
    assert told[0][0] == "2 changes undone."
    assert texts(rig) == {"The boat is called Heron."}
    told[0][1]()  # type: ignore[operator]  # a callable was put there
    settle(qtbot, lambda: len(told) == 2)
    assert told[1][0] == "2 changes redone."
    assert texts(rig) == before


def test_enter_leads_to_what_a_step_touched(page: JournalPage, context: Context, rig: Rig, qtbot: QtBot) -> None:
    searched: list[str] = []
    context.desk.search.connect(searched.append)
    report = rig.bring(facts(3))
    stored = rig.store("The boat is called Heron.")
    enter(page, qtbot)
    choose(page, "Remember a fact")
    context.selection.current = ""
    QTest.keyClick(page.tabs.changes.list, Qt.Key.Key_Return)
    assert context.selection.current == stored.memory_id
    settle(qtbot, lambda: bool(page.tabs.changes.list.steps.imports))
    choose(page, "Import memories")
    QTest.keyClick(page.tabs.changes.list, Qt.Key.Key_Return)
    assert searched == [f"import:{report.import_id}"]
    assert "rows.jsonl" in str(page.tabs.changes.list.currentIndex().data())


def test_a_step_that_touched_several_offers_them(page: JournalPage, context: Context, rig: Rig, qtbot: QtBot) -> None:
    ids = [rig.store(text).memory_id for text in ("The boat is called Heron & Co.", "The shed is green.")]
    context.bridge.engine.library.revise_memories(ids, Revision(add_tags=("yard",))).result(30)
    enter(page, qtbot)
    choose(page, "Tag 2 memories")
    QTest.keyClick(page.tabs.changes.list, Qt.Key.Key_Return)
    settle(qtbot, lambda: page.tabs.changes.findChild(QMenu) is not None)
    menu = page.tabs.changes.findChild(QMenu)
    assert menu is not None
    assert {action.text() for action in menu.actions()} == {"The boat is called Heron && Co.", "The shed is green."}
    menu.actions()[0].trigger()
    assert context.selection.current in ids
    menu.close()


def test_the_list_keeps_its_place_when_something_new_comes(page: JournalPage, rig: Rig, qtbot: QtBot) -> None:
    for number in range(30):
        rig.store(f"Jar {number} holds quinces.")
    enter(page, qtbot)
    listed = page.tabs.changes.list
    listed.setCurrentIndex(listed.lines.index(20, 0))
    step = listed.current
    listed.verticalScrollBar().setValue(300)
    rig.store("The boat is called Heron.")
    settle(qtbot, lambda: listed.steps.total == 31)
    assert listed.current == step
    assert listed.verticalScrollBar().value() == 300


def test_a_failure_is_shown_with_a_way_out(
    page: JournalPage, rig: Rig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> object:
        raise RuntimeError("broken")

    monkeypatch.setattr(History, "list_steps", broken)
    page.activate("changes")
    settle(qtbot, lambda: page.tabs.changes.states.count() == 3)
    monkeypatch.undo()
    rig.store("The boat is called Heron.")
    page.tabs.changes.reload()
    settle(qtbot, page.is_settled)
    assert page.tabs.changes.list.lines.rowCount() == 2


# ---- what was imported


def test_an_import_is_removed_and_brought_back(page: JournalPage, context: Context, rig: Rig, qtbot: QtBot) -> None:
    heard = hear(context)
    rig.bring(facts(3))
    rig.bring([*facts(3), *facts(1, 7)], name="more.jsonl")
    enter(page, qtbot, "imports")
    tab = page.tabs.imports
    assert [one.label for one in tab.table.lines.rows] == ["more.jsonl", "rows.jsonl"]
    assert tab.panel.sentences[1] == "It added 1 memory; it is still here."
    assert any("3 entries you have already" in one for one in tab.panel.sentences)
    QTest.keyClick(tab.table, Qt.Key.Key_Down)
    QTest.keyClick(tab.table, Qt.Key.Key_Delete)
    dialog = tab.findChild(RemoveImportDialog)
    assert dialog is not None
    assert dialog.act.text() == "Remove 3 memories"
    assert "undo it" in dialog.words.text()
    dialog.act.click()
    settle(qtbot, lambda: heard.sentences == ["The import was removed."])
    settle(qtbot, lambda: tab.table.lines.rows[1].state == "undone")
    assert tab.panel.back_button.isVisible()
    assert not tab.panel.remove_button.isVisible()
    tab.panel.back_button.click()
    settle(qtbot, lambda: heard.sentences[-1] == "“rows.jsonl” is back.")
    settle(qtbot, lambda: tab.table.lines.rows[1].memories == 3)


def test_an_import_leads_to_its_memories(
    page: JournalPage, context: Context, rig: Rig, qtbot: QtBot, qtmodeltester: ModelTester
) -> None:
    searched: list[str] = []
    context.desk.search.connect(searched.append)
    report = rig.bring(facts(3))
    enter(page, qtbot, "imports")
    QTest.keyClick(page.tabs.imports.table, Qt.Key.Key_Return)
    page.tabs.imports.panel.show_button.click()
    assert searched == [f"import:{report.import_id}"] * 2
    qtmodeltester.check(page.tabs.imports.table.lines)  # type: ignore[no-untyped-call]  # pytest-qt has no types


def test_columns_go_where_there_is_no_room_and_the_name_stays(context: Context) -> None:
    titles = [column.title for column in COLUMNS]
    wide = shown_columns(COLUMNS, 1000, context.theme)
    narrow = shown_columns(COLUMNS, 280, context.theme)
    assert len(wide) == len(COLUMNS)
    assert {titles[at] for at in narrow} == {"label", "memories"}


# ---- the audit


def test_the_audit_is_listed_and_checked(page: JournalPage, rig: Rig, qtbot: QtBot, qtmodeltester: ModelTester) -> None:
    rig.store("The boat is called Heron.")
    enter(page, qtbot, "audit")
    table = page.tabs.audit.table.lines
    assert [table.index(0, at).data() for at in (0, 2, 3)] == ["1", "You", "Remembered"]
    qtmodeltester.check(table)  # type: ignore[no-untyped-call]  # pytest-qt has no types
    page.check_button.click()
    assert not page.check_button.isEnabled()
    settle(qtbot, lambda: page.tabs.audit.banner is not None)
    assert page.check_button.isEnabled()
    assert page.tabs.audit.banner is not None
    assert page.tabs.audit.banner.accessibleName().startswith("The chain holds: 1 row, none changed, none missing.")


def test_the_audit_grows_at_both_ends(context: Context, rig: Rig, qtbot: QtBot) -> None:
    for number in range(3):
        rig.store(f"Jar {number} holds quinces.")
    table: TableModel[AuditRow] = TableModel(AuditRows())
    feed = AuditFeed(context, table)
    page = context.bridge.engine.history.list_audit(None, 2).result(30)
    feed._insert_newest(page)
    assert table.canFetchMore(QModelIndex())
    table.fetchMore(QModelIndex())
    settle(qtbot, lambda: table.rowCount() == 3)
    rig.store("The boat is called Heron.")
    feed.read_newest()
    settle(qtbot, lambda: table.rowCount() == 4)
    assert [table.index(place, 0).data() for place in range(4)] == ["4", "3", "2", "1"]
    table.deleteLater()


def test_tabs_are_kept_and_named_with_their_counts(page: JournalPage, context: Context, rig: Rig, qtbot: QtBot) -> None:
    rig.store("The boat is called Heron.")
    enter(page, qtbot)
    settle(qtbot, lambda: not context.tasks.running)  # tabs that were never shown are counted too
    named = {name: made.text() for name, made in page.segments._buttons.items()}
    health = named.pop("health")
    assert health.split()[0] == "Health"  # a machine that is busy with other things may be told of as slow
    assert list(named.values()) == [
        "Changes 1", "Next run", "Runs", "Relations", "Archive", "Imports", "Audit 1",
    ]  # fmt: skip
    page.segments._buttons["audit"].click()
    settle(qtbot, page.is_settled)
    assert context.prefs.read_text("journal.tab") == "audit"
    assert (page.check_button.isVisible(), page.import_button.isVisible()) == (True, False)


def test_a_hidden_page_only_notes_that_it_is_stale(page: JournalPage, context: Context, rig: Rig, qtbot: QtBot) -> None:
    enter(page, qtbot)
    page.deactivate()
    remember(rig.engine, "The boat is called Heron.")
    settle(qtbot, lambda: page.is_stale)
    assert not page._refresh.isActive()
    assert page.tabs.changes.list.lines.rowCount() == 0
    enter(page, qtbot)
    settle(qtbot, lambda: page.tabs.changes.list.lines.rowCount() == 2)
    settle(qtbot, lambda: context.tasks.running == ())  # the other tabs are counted too


# ---- words


@pytest.mark.parametrize(
    ("label", "told"),
    [
        ("Edit a memory", "Edited a memory"),
        ("Remember a fact", "Remembered a fact"),
        ("Move 12 memories to Edit", "Moved 12 memories to Edit"),
        ("Undo: Forget a memory", "Undone: Forgot a memory"),
        ("Redo: Undo: Pin a memory", "Redone: Undone: Pinned a memory"),
        ("Tuned recall", "Tuned recall"),
        ("Import", "Imported"),
    ],
)
def test_what_a_step_did_is_told_in_the_past(label: str, told: str) -> None:
    assert describe_step(label) == told


def test_statements_that_were_made_later_are_told_apart_from_what_an_import_added() -> None:
    found = ImportRow("i", "jsonl", "rows", "personal", "done", NOON, NOON, 414, "s", {"stored": 369})
    told = "It added 369 memories. With what was made of them later, 414 memories are here now."
    assert import_sentences(found)[1] == told
    assert import_sentences(replace(found, memories=7))[1] == "It added 369 memories, of which 7 are here now."


def test_days_people_and_counts_are_said_in_words() -> None:
    assert (format_day_heading(NOON, NOON), format_day_heading(NOON - DAY_MS, NOON)) == ("Today", "Yesterday")
    assert format_day_heading(NOON - 6 * DAY_MS, NOON) == "14 November 2026"
    assert [describe_author("owner"), describe_author("scheduler"), describe_author("client:editor")] == [
        "You",
        "Loci",
        "editor",
    ]
    assert describe_author("client", "editor\u202e") == "editor‹U+202E›"
    entry = AuditRow(1, NOON, "owner", "store", "x", {"operation": "ADD", "parts": 1, "rows": 2, "left": 0, "loci": 1})
    assert audit_counts(entry) == "2 rows, added, 1 part, 1 locus"
    erased = AuditRow(
        2, NOON, "owner", "erase", "x", {"memories": 1, "asked": 1, "state": "not_checked", "digest": "ab"}
    )
    assert audit_counts(erased) == "1 memory, not checked yet"
    begun = AuditRow(3, NOON, "owner", "import", "x", {"phase": "batch", "position": 2976})
    assert audit_counts(begun) == "part stored, 2,976 entries so far"
    other = AuditRow(4, NOON, "owner", "replay", "x", {"asked": 2, "grade": "very_good", "depth": 3})
    assert audit_counts(other) == "2 questions, grade: very good, depth: 3"
    assert (short_id("01a2b3c4d5e6f7"), short_id("undo_days")) == ("…c4d5e6f7", "undo_days")


@pytest.mark.parametrize(
    ("outcomes", "tone", "chain"),
    [
        ({"audit": "ok", "index": "ok"}, "success", "The chain holds"),
        ({"audit": "failed", "index": "not_checked"}, "danger", "The chain is broken"),
        ({"audit": "not_checked", "index": "ok"}, "warning", "could not be checked"),
    ],
)
def test_a_check_is_told_apart(outcomes: dict[str, str], tone: str, chain: str) -> None:
    report = {"status": "", "checks": {name: {"status": found, "note": ""} for name, found in outcomes.items()}}
    assert summarize_checks(report).tone == tone
    assert chain in chain_sentence(report)


def test_a_step_with_rows_that_stayed_says_so(context: Context) -> None:
    heard = hear(context)
    report_undo(context, UndoReport("s", "Forget a memory", "u", 1, ({"table": "memories"},)))
    assert heard.sentences == ["Undone: Forget a memory. 1 detail was changed since and was kept."]


def test_a_client_that_came_back_is_named_with_what_it_needs(context: Context) -> None:
    heard = hear(context)
    report_undo(context, UndoReport("s", "Revoke a client", "u", 1, unpaired=("Cla\u202eude",)))
    told = "Cla‹U+202E›ude is restored but unpaired: its old token stays invalid. Pair it again to let it connect."
    assert heard.sentences == [f"Undone: Revoke a client. {told}"]


# ---- periods


def test_periods_begin_at_local_midnight_of_the_day_the_monday_and_the_first() -> None:
    for now in (NOON, NOON + 2 * DAY_MS, NOON + 101 * DAY_MS):
        here = to_local(now)
        starts = {period: to_local(period_start(period, now)) for period in PERIODS[:-1]}
        assert starts["today"].date() == here.date()
        assert (starts["week"].weekday(), (here - starts["week"]).days < 7) == (0, True)
        assert (starts["month"].year, starts["month"].month, starts["month"].day) == (here.year, here.month, 1)
        assert {(start.hour, start.minute) for start in starts.values()} == {(0, 0)}
    assert period_start("all", NOON) == 0


def test_the_month_is_told_in_one_sentence_and_lists_its_own_changes(
    page: JournalPage, qtbot: QtBot, rig: Rig, context: Context
) -> None:
    clock = rig.clock
    assert isinstance(clock, HandClock)
    old = rig.store("The shed is green.").memory_id
    clock.advance(60 * DAY_MS)
    rig.store("The boat is blue.")
    gone = rig.store("The kettle is red.").memory_id
    rig.forget(gone)
    rig.engine.library.revise_memories([old], Revision(text="The shed is black.")).result(30)
    page.activate()
    tab = page.tabs.changes
    settle(qtbot, lambda: page.is_settled() and bool(tab.period.sentence))
    everything = len(shown(tab.list.lines))
    tab.period.segments._buttons["month"].click()
    settle(qtbot, lambda: tab.period.sentence.startswith("This month, "))
    assert tab.period.sentence.endswith("1 replaced and 1 forgotten.")
    settle(qtbot, lambda: len(shown(tab.list.lines)) < everything)
    assert all(row.at >= tab.period.since for row in tab.list.lines.list_rows())
    assert context.prefs.read_text("journal.period") == "month"
    rig.undo()
    settle(qtbot, lambda: tab.period.sentence.endswith("added and 1 forgotten."))


def test_a_day_without_a_change_says_so_and_leads_to_all(page: JournalPage, qtbot: QtBot, rig: Rig) -> None:
    clock = rig.clock
    assert isinstance(clock, HandClock)
    rig.store("The shed is green.")
    clock.advance(3 * DAY_MS)
    page.activate()
    tab = page.tabs.changes
    settle(qtbot, page.is_settled)
    tab.period.segments._buttons["today"].click()
    settle(qtbot, lambda: "Nothing changed today" in [label.text() for label in tab.findChildren(QLabel)])
    assert tab.period.sentence == "Nothing changed today."
    next(one for one in tab.findChildren(QPushButton) if one.text() == "Show all changes").click()
    settle(qtbot, lambda: bool(tab.list.lines.list_rows()))
    assert tab.period.segments.current == "all"


def test_counts_are_worded() -> None:
    told = describe_period_counts("week", ChangeCounts(1, 3, 8, 2))
    assert told == "This week, 1 memory was added, 3 replaced, 8 merged and 2 forgotten."
    assert describe_period_counts("all", ChangeCounts(738, 0, 0, 0)) == "In all, 738 memories were added."
    assert describe_period_counts("all", ChangeCounts(0, 0, 1, 0)) == "In all, 0 memories were added and 1 merged."
    assert describe_period_counts("today", ChangeCounts(0, 0, 0, 0)) == "Nothing changed today."


def test_what_cannot_be_undone_is_a_line_without_a_button(
    page: JournalPage, context: Context, rig: Rig, qtbot: QtBot
) -> None:
    kept = rig.store("The shed is green.").memory_id
    gone = rig.store("The boat is called Heron.").memory_id
    rig.engine.memories.erase([gone], OWNER_ACTOR).result(60)
    enter(page, qtbot)
    settle(qtbot, lambda: "Erase 1 memory for good" in shown(page.tabs.changes.list.lines))
    step = choose(page, "Erase 1 memory for good")
    assert describe_step(step.label) == "Erased 1 memory for good"
    assert (step_action(step), step.can_undo, step.memory_ids) == ("", False, ())
    assert describe_step_details(step, 0, rig.clock.now_ms()) == "You · cannot be undone"
    history = rig.engine.history
    assert not [row for row in history.list_steps().result(30).rows if row.is_final]
    pages: list[StepRow] = []
    after: str | None = None
    while True:
        steps = history.list_steps(after, 1, with_final=True).result(30)
        pages += steps.rows
        after = steps.next
        if after is None:
            break
    assert [row.id for row in pages].count(step.id) == 1
    assert "Heron" not in repr(pages)
    rig.engine.seal.set_up("a second secret of mine").result(60)
    rig.engine.seal.seal([kept]).result(60)
    (sealed, *_) = history.list_steps(with_final=True).result(30).rows
    assert (describe_step(sealed.label), sealed.is_final) == ("Sealed 1 memory", True)
