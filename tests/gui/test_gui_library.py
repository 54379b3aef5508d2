"""The library page: the table shows what a search finds, keeps its place, and its line, chips and menus agree."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial

import pytest
from engine_rig import Rig, facts
from library_rig import put_away
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot
from window_rig import hear, remember, settle

from core.text.screening.injection import ALLOWED, FLAG
from core.types.values import Kind, Status
from core.types.views import Facets, FindRequest, MemoryRow, Revision
from core.vault.database.tx import Tx
from ui.context import Command, Context
from ui.pages.library.filters import time_choices
from ui.pages.library.model import (
    BY_SORT,
    COLUMNS,
    PAGE_ROWS,
    PLACE,
    MemoryTable,
    cell_text,
    columns_that_fit,
    describe_sort,
    format_columns,
    parse_columns,
    parse_sort,
)
from ui.pages.library.page import LIBRARY, LibraryPage
from ui.pages.library.pictures import RowPictures
from ui.pages.library.search_line import read_documentation
from ui.pages.library.table import LibraryCells
from ui.strings import library_strings


@pytest.fixture
def page(qtbot: QtBot, context: Context) -> Iterator[LibraryPage]:
    """The page as the window shows it, over an empty vault; not entered yet."""
    made = LIBRARY.make(context)
    assert isinstance(made, LibraryPage)
    made.resize(1000, 700)
    made.show()
    context.bridge.changed.connect(made.handle_change)
    yield made
    put_away(qtbot, made)


def texts(page: LibraryPage) -> list[str]:
    """What stands in the column of texts."""
    model = page.table.memories
    return [str(model.index(line, PLACE["text"]).data()) for line in range(model.rowCount())]


def entered(qtbot: QtBot, page: LibraryPage, count: int, wish: str = "") -> None:
    """Enter the page and wait for its rows."""
    page.activate(wish)
    shows(qtbot, page, count)


def shows(qtbot: QtBot, page: LibraryPage, count: int) -> None:
    """Wait until so many rows are listed and have come."""
    settle(qtbot, lambda: page.table.memories.rowCount() == count and "…" not in texts(page)[:PAGE_ROWS])


def said(page: LibraryPage) -> str:
    """All words on labels and buttons of the state that is shown."""
    shown = page.states.currentWidget()
    assert shown is not None
    words = [one.text() for one in shown.findChildren(QLabel)]
    return " ".join([*words, *(one.text() for one in shown.findChildren(QPushButton))])


def press(page: LibraryPage, key: Qt.Key) -> None:
    """Press a key in the table."""
    QTest.keyClick(page.table, key)


# ---- the model


@pytest.mark.parametrize(
    ("query", "change"),
    [
        ("kettle", Revision(text="The pot is red.")),
        ("kind:fact kettle", Revision(kind=Kind.RULE)),
        ("tag:blue", Revision(remove_tags=("blue",))),
        ("-is:pinned kettle", Revision(pinned=True)),
        ("status:active kettle", Revision(status=Status.ARCHIVED)),
        ("space:home kettle", Revision(space="work")),
    ],
)
def test_a_row_goes_once_an_edit_no_longer_matches_the_filter(
    qtbot: QtBot, page: LibraryPage, rig: Rig, query: str, change: Revision
) -> None:
    edited = remember(rig.engine, "The kettle is red.").memory_id
    remember(rig.engine, "The shed is green.")
    rig.engine.library.revise_memories([edited], Revision(add_tags=("blue",))).result(30)
    entered(qtbot, page, 1, query)
    page.table.select_memory(edited)
    report = rig.engine.library.revise_memories([edited], change).result(30)
    assert report.changed == 1
    settle(qtbot, lambda: page.table.memories.ids == ())


def test_model_keeps_the_rules(qtbot: QtBot, context: Context, rig: Rig, qtmodeltester: ModelTester) -> None:
    rig.bring(facts(30))
    model = MemoryTable(context)
    qtmodeltester.check(model, force_py=True)  # type: ignore[no-untyped-call]  # pytest-qt has no types
    ids = tuple(rig.opened.storage.vault.read(lambda rows: [row[0] for row in rows.all("SELECT id FROM memories")]))
    model.show_ids(ids)
    model.load_lines(0, 10)
    settle(qtbot, lambda: model.index(29, PLACE["text"]).data() != "…")
    model.show_ids(ids[:7])
    assert model.rowCount() == 7
    assert model.index(3, PLACE["text"]).data() == "The shelf holds jar number 3"  # kept from the earlier list


def _mark(memory_id: str, flags: list[str], tx: Tx) -> None:
    tx.update("memories", {"id": memory_id}, {"flags": json.dumps(flags)})


def test_what_reads_like_an_instruction_is_marked(qtbot: QtBot, context: Context, rig: Rig) -> None:
    plain = remember(rig.engine, "The boat is called Heron.").memory_id
    marked, passed = (remember(rig.engine, f"{name} Lane has a shed.").memory_id for name in ("Elm", "Oak"))
    for memory_id, flags in ((marked, [FLAG]), (passed, [FLAG, ALLOWED])):
        rig.write(partial(_mark, memory_id, flags))
    model = MemoryTable(context)
    model.show_ids((plain, marked, passed))
    model.load_lines(0, 3)
    settle(qtbot, lambda: model.row_at(2) is not None)
    cells = [model.index(line, PLACE["text"]) for line in range(3)]
    told = [cell.data(Qt.ItemDataRole.AccessibleTextRole) for cell in cells]
    assert told == [
        "The boat is called Heron.", "Reads like an instruction: Elm Lane has a shed.", "Oak Lane has a shed."
    ]  # fmt: skip
    assert [cell.data(Qt.ItemDataRole.ToolTipRole) for cell in cells] == [None, "Reads like an instruction", None]
    assert cells[1].data() == "Elm Lane has a shed."
    assert model.index(1, PLACE["kind"]).data(Qt.ItemDataRole.ToolTipRole) is None


@pytest.mark.parametrize("wide", [700, 300])
def test_the_mark_of_a_text_is_a_shape_beside_its_words_and_alone_where_there_is_little_room(
    qtbot: QtBot, context: Context, rig: Rig, wide: int
) -> None:
    memory_id = remember(rig.engine, "Elm Lane has a shed.").memory_id
    (row,) = rig.engine.library.read_rows((memory_id,)).result(10)
    model, pictures = MemoryTable(context), RowPictures(context, context.theme)
    cells = LibraryCells(context.theme, model, pictures, context.theme)
    drawn = []
    for is_warned in (False, True):
        picture = QImage(wide, 36, QImage.Format.Format_ARGB32)
        picture.fill(context.theme.colour("surface"))
        painter = QPainter(picture)
        cells._draw_text(painter, QRect(0, 0, wide, 36), replace(row, warned=is_warned), _is_chosen=False)
        painter.end()
        drawn.append(picture)
    changed = [x for x in range(wide) if any(drawn[0].pixel(x, y) != drawn[1].pixel(x, y) for y in range(36))]
    assert changed
    assert (wide - min(changed) > 100) == (wide == 700)
    assert qtbot is not None


def test_model_fetches_only_what_is_in_sight(qtbot: QtBot, context: Context, rig: Rig) -> None:
    rig.bring(facts(450))
    ids = rig.engine.library.find_memories(_all()).result(30).ids
    model = MemoryTable(context)
    model.show_ids(ids)
    assert model.fetched == 0
    model.load_lines(0, 20)
    settle(qtbot, lambda: model.row_at(0) is not None)
    assert model.fetched == 1
    assert model.row_at(PAGE_ROWS) is None
    model.load_lines(10, 30)
    assert model.fetched == 1
    model.load_lines(PAGE_ROWS - 1, PAGE_ROWS + 5)
    settle(qtbot, lambda: model.row_at(PAGE_ROWS) is not None)
    assert model.fetched == 2


def _all() -> FindRequest:
    return FindRequest()


# ---- what is listed


def test_lists_searches_and_counts(qtbot: QtBot, page: LibraryPage, rig: Rig) -> None:
    rig.bring(facts(5))
    remember(rig.engine, "The boat lies at Ashholt", kind=Kind.RULE)
    entered(qtbot, page, 6)
    assert texts(page)[0] == "The boat lies at Ashholt"
    assert page._count.whole == "6 active"
    assert "disputed" in page._count.accessibleDescription()
    assert page._count.accessibleDescription() in page._count.toolTip()
    QTest.keyClicks(page.line.field, "kind:rule")
    shows(qtbot, page, 1)
    assert page._count.whole == "1 of 6 active"
    assert [chip.words for chip in page.query.make_chips()] == ["kind: rule"]


def test_a_long_text_is_one_memory_in_several_rows(qtbot: QtBot, page: LibraryPage, rig: Rig) -> None:
    long = "".join(f"Sentence {n} of the long letter. " for n in range(2000))
    rig.bring([{"text": long}, {"text": "A short one."}])
    rows = int(rig.value("SELECT count(*) FROM memories"))
    assert rows > 2
    entered(qtbot, page, rows)
    assert page._count.whole == f"2 active, in {rows} rows"
    counted = rig.engine.vault.read_status(brief=True).result(30).values["memories"]
    assert counted["by_status"] == {"active": 2}


def test_a_wish_is_a_search(qtbot: QtBot, page: LibraryPage, rig: Rig) -> None:
    rig.bring(facts(5))
    entered(qtbot, page, 1, "4")
    assert page.line.field.text() == "4"


def test_a_memory_chosen_elsewhere_is_listed_and_marked_whatever_the_filter_was(
    qtbot: QtBot, page: LibraryPage, rig: Rig, context: Context
) -> None:
    red = remember(rig.engine, "The kettle is red.").memory_id
    shed = remember(rig.engine, "The shed is green.").memory_id
    entered(qtbot, page, 1, "kettle")
    heard = hear(context)
    context.selection.select(shed, "search")
    page.activate(f"show:{shed}")
    settle(qtbot, lambda: page.table.chosen_ids() == (shed,))
    assert page.query.text == ""
    assert heard.sentences == ["The filter was cleared: it left out the memory you chose."]
    assert context.selection.current == shed
    page.query.set_text("kettle")
    shows(qtbot, page, 1)
    context.selection.select(red, "search")
    page.activate(f"show:{red}")
    assert page.query.text == "kettle", "what lists it stays"
    assert page.table.chosen_ids() == (red,)


def test_a_chosen_memory_that_cannot_be_read_is_told_and_can_be_tried_again(
    qtbot: QtBot, page: LibraryPage, rig: Rig, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(rig.engine, "The kettle is red.")
    shed = remember(rig.engine, "The shed is green.").memory_id
    entered(qtbot, page, 1, "kettle")
    library, again = rig.engine.library, list[Callable[[], None]]()
    true_read = library.read_rows

    def broken(ids: Sequence[str]) -> Future[tuple[MemoryRow, ...]]:
        if tuple(ids) == (shed,):
            raise RuntimeError
        return true_read(ids)

    heard = hear(context)
    context.desk.message_asked.connect(lambda _sentence, _title, run: again.append(run))
    monkeypatch.setattr(library, "read_rows", broken)
    context.selection.select(shed, "search")
    page.activate(f"show:{shed}")
    settle(qtbot, lambda: any("E5007" in one or "went wrong" in one for one in heard.sentences))
    assert page.query.text == "kettle"
    monkeypatch.setattr(library, "read_rows", true_read)
    again[0]()
    settle(qtbot, lambda: page.table.chosen_ids() == (shed,))
    assert heard.sentences[-1] == "The filter was cleared: it left out the memory you chose."


def test_a_filter_stays_where_the_memory_is_found_by_it_or_by_none(
    qtbot: QtBot, page: LibraryPage, rig: Rig, context: Context
) -> None:
    gone = remember(rig.engine, "The kettle whistles.").memory_id
    remember(rig.engine, "The shed is green.")
    entered(qtbot, page, 1, "kettle")
    page.deactivate()
    fresh = remember(rig.engine, "A new kettle.").memory_id  # it is listed once the page reads again
    settle(qtbot, lambda: page.is_stale)
    heard = hear(context)
    context.selection.select(fresh, "search")
    page.activate(f"show:{fresh}")
    settle(qtbot, lambda: page.table.chosen_ids() == (fresh,))
    rig.forget(gone)
    shows(qtbot, page, 1)
    context.selection.select(gone, "search")
    page.activate(f"show:{gone}")
    settle(qtbot, lambda: not page.table.chosen_ids() and page.is_settled())
    qtbot.wait(50)
    assert page.query.text == "kettle"
    assert heard.sentences == []
    assert context.selection.current == gone


def test_small_talk_is_known_and_can_be_left_out(qtbot: QtBot, page: LibraryPage, rig: Rig) -> None:
    small = remember(rig.engine, "Bye!").memory_id
    remember(rig.engine, "I sold it.")

    def mark(tx: Tx) -> None:
        row = tx.row("memories", {"id": small})
        assert row is not None
        reading = {"memory_id": small, "version": "t", "content_hash": row["content_hash"]}
        tx.insert("readings", {**reading, "small_talk": 1, "at": 0})

    rig.write(mark)
    entered(qtbot, page, 2)
    offered = page.filters.chips["more"].choices_menu
    offered.aboutToShow.emit()
    next(one for one in offered.actions() if one.text() == "Without small talk").trigger()
    assert page.query.text == "-is:smalltalk"
    settle(qtbot, lambda: texts(page) == ["I sold it."])
    page.query.set_text("is:smalltalk")
    settle(qtbot, lambda: texts(page) == ["Bye!"])
    row = page.table.memories.row_of(page.table.memories.ids[0])
    assert row is not None
    assert (row.head, row.is_small_talk) == ("Bye!", True)


def test_a_change_shows_by_itself_and_nothing_moves(qtbot: QtBot, page: LibraryPage, rig: Rig) -> None:
    rig.bring(facts(80))
    entered(qtbot, page, 80)
    page.table.select_memory(page.table.memories.ids[50])
    bar = page.table.verticalScrollBar()
    bar.setValue(40 * page.table.rowHeight(0) + 7)
    top, chosen = page.table.memories.ids[page.table.rowAt(0)], page.table.chosen_ids()
    remember(rig.engine, "A new one at the top")
    shows(qtbot, page, 81)
    assert texts(page)[0] == "A new one at the top"
    assert page.table.memories.ids[page.table.rowAt(0)] == top
    assert page.table.chosen_ids() == chosen


def test_a_hidden_page_only_notes_changes(qtbot: QtBot, page: LibraryPage, rig: Rig) -> None:
    entered(qtbot, page, 0)
    settle(qtbot, lambda: page.facets is not None)
    page.deactivate()
    remember(rig.engine, "Something")
    settle(qtbot, lambda: page.is_stale)
    assert not page._refresh.isActive()
    entered(qtbot, page, 1)


def test_sorting_by_the_header_and_by_the_menu(qtbot: QtBot, page: LibraryPage, rig: Rig, context: Context) -> None:
    for text, importance in (("low", 0.1), ("high", 0.9), ("middle", 0.5)):
        remember(rig.engine, text, importance=importance)
    entered(qtbot, page, 3)
    columns = page.table.columns
    page.table.horizontalHeader().sectionClicked.emit(PLACE["importance"])
    settle(qtbot, lambda: texts(page) == ["high", "middle", "low"])
    page.table.horizontalHeader().sectionClicked.emit(PLACE["importance"])
    settle(qtbot, lambda: texts(page) == ["low", "middle", "high"])
    settle(qtbot, lambda: not page.controls._later.isActive())
    assert page.controls.order.accessibleName() == "Sort: least important first"
    assert context.prefs.read_text("library.sort") == "importance+"
    page.table.horizontalHeader().sectionClicked.emit(PLACE["tags"])
    assert (columns.sort, columns.falls) == ("importance", False)
    page.controls.order.chosen.emit("text+")
    settle(qtbot, lambda: texts(page) == ["high", "low", "middle"])
    assert page.table.memories.headerData(PLACE["text"], Qt.Orientation.Horizontal) == "Text ↑"


# ---- the search line


def test_what_is_not_understood_is_said_with_its_place(qtbot: QtBot, page: LibraryPage, rig: Rig) -> None:
    rig.bring(facts(3))
    entered(qtbot, page, 3)
    page.line.field.setText("jar knd:fact")
    page.line.apply_typed()
    assert page.line.problem.startswith("Character 5: There is no such filter")
    assert page.table.memories.rowCount() == 3  # what was found before stays
    page.line._select_problem()
    assert page.line.field.selectedText() == "knd:fact"
    page.query.set_text("jar")
    assert page.line.problem == ""
    assert page.line.field.text() == "jar"


def test_a_chip_shows_an_ampersand_as_it_is(page: LibraryPage) -> None:
    page.query.set_text('tag:"salt & pepper"')
    (chip,) = page.terms.chip_buttons()
    assert chip.text().replace("&&", "\0").replace("&", "").replace("\0", "&") == "tag: salt & pepper"
    assert chip.accessibleName() == "Remove the filter tag: salt & pepper"


def test_chips_take_a_term_away(qtbot: QtBot, page: LibraryPage, rig: Rig) -> None:
    rig.bring(facts(3))
    entered(qtbot, page, 3)
    page.query.set_text('kind:fact,rule -"no jar" trust:>=0.1')
    names = [one.text() for one in page.terms.chip_buttons()]
    assert names == ["kind: fact or rule", "not “no jar”", "trust: ≥ 0.1", "Clear all"]
    page.terms.chip_buttons()[0].click()
    assert page.query.text == '-"no jar" trust:>=0.1'
    page.query.set_text("")
    assert page.terms.isHidden()


def test_menus_count_and_toggle(qtbot: QtBot, page: LibraryPage, rig: Rig) -> None:
    rig.bring(facts(4))
    remember(rig.engine, "Never on Sundays", kind=Kind.RULE, tags=("a&b",))
    entered(qtbot, page, 5)
    chip = page.filters.chips["kind"]
    settle(qtbot, lambda: chip.has_choices)
    chip._fill_menu()
    actions = {action.text(): action for action in chip.choices_menu.actions()}
    assert list(actions) == ["Facts\t4", "Rules\t1"]
    actions["Rules\t1"].trigger()
    assert page.query.text == "kind:rule"
    shows(qtbot, page, 1)
    chip._fill_menu()
    assert [action.isChecked() for action in chip.choices_menu.actions()] == [False, True]
    assert chip.property("used") is True
    chip.choices_menu.actions()[1].trigger()
    assert page.query.text == ""
    page.filters.chips["tags"]._fill_menu()
    assert page.filters.chips["tags"].choices_menu.actions()[0].text() == "a&&b\t1"
    assert not page.filters.chips["client"].has_choices


def test_every_example_of_the_help_can_be_taken(qtbot: QtBot, page: LibraryPage, rig: Rig) -> None:
    rig.bring(facts(3))
    entered(qtbot, page, 3)
    QTest.keyClick(page.line.field, Qt.Key.Key_F1)
    assert page.helper.panel.isVisible()
    QTest.keyClick(page.helper.panel._list, Qt.Key.Key_Down)
    QTest.keyClick(page.helper.panel._list, Qt.Key.Key_Return)
    assert page.helper.panel.isHidden()
    assert page.line.field.text() == read_documentation()[1][1].example
    for entry in read_documentation()[1]:
        page.query.set_text("")
        page.line.insert_example(entry.example)
        assert page.line.field.selectedText()
        assert page.line.field.selectedText() in entry.example
        assert page.line.problem == ""


def test_times_of_the_menu_are_understood(context: Context) -> None:
    some = Facets({"fact": 1}, {"active": 1}, {}, {}, {}, {}, {}, 1_000_000_000_000, 1_700_000_000_000)
    choices = [choice for choice in time_choices(some, 1_700_000_000_000) if choice.key]
    library = context.bridge.engine.library
    assert {choice.key for choice in choices} == {"on", "recorded", "before"}
    assert all(not library.parse_search(f"{choice.key}:{choice.value}").problems for choice in choices)
    assert time_choices(Facets({}, {}, {}, {}, {}, {}, {}, None, None), 0) == []


# ---- states


def test_an_empty_vault_teaches(qtbot: QtBot, page: LibraryPage, context: Context) -> None:
    asked: list[object] = []
    context.desk.import_paths.connect(asked.append)
    context.commands.add(Command("file.new", "New memory", lambda: asked.append("new")))
    page.activate()
    settle(qtbot, lambda: "No memories yet" in said(page))
    shown = page.states.currentWidget()
    assert shown is not None
    for act in shown.findChildren(QPushButton):
        act.click()
    assert asked == [[], "new"]


def test_no_match_offers_ways_out(qtbot: QtBot, page: LibraryPage, rig: Rig, context: Context) -> None:
    kept = remember(rig.engine, "The zeppelin landed").memory_id
    rig.bring(facts(2))
    rig.engine.library.revise_memories([kept], Revision(status=Status.ARCHIVED)).result(30)
    page.activate("zeppelin")
    settle(qtbot, lambda: "No memory matches" in said(page))
    assert "Remove “zeppelin”" in said(page)
    shown = page.states.currentWidget()
    assert shown is not None
    gone: list[tuple[str, str]] = []
    context.desk.go.connect(lambda page_id, target: gone.append((page_id, target)))
    next(one for one in shown.findChildren(QPushButton) if one.text() == "Search by meaning").click()
    assert gone == [("recall", "ask:zeppelin")]
    next(one for one in shown.findChildren(QPushButton) if one.text() == "Search everything").click()
    shows(qtbot, page, 1)
    assert page.query.text == "zeppelin status:all"
    assert page._count.whole == "1 of 3 in total"
    assert "every status" in page._count.accessibleDescription()


def test_trouble_can_be_tried_again(qtbot: QtBot, page: LibraryPage, rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.bring(facts(2))
    library = rig.engine.library
    true_find = library.find_memories

    def broken(_request: object) -> object:
        raise RuntimeError

    monkeypatch.setattr(library, "find_memories", broken)
    page.activate()
    settle(qtbot, lambda: "E5007" in said(page))
    monkeypatch.setattr(library, "find_memories", true_find)
    shown = page.states.currentWidget()
    assert shown is not None
    shown.findChildren(QPushButton)[0].click()
    shows(qtbot, page, 2)


# ---- choosing, keys


def test_the_selection_goes_both_ways(qtbot: QtBot, page: LibraryPage, rig: Rig, context: Context) -> None:
    rig.bring(facts(6))
    entered(qtbot, page, 6)
    ids = page.table.memories.ids
    page.table.selectRow(2)
    assert context.selection.current == ids[2]
    context.selection.select(ids[4], "palace")
    assert page.table.chosen_ids() == (ids[4],)
    page.table.selectAll()
    assert page.bar.words == "6 memories selected"
    assert not page.bar.isHidden()
    assert context.selection.current == ids[4]
    press(page, Qt.Key.Key_Escape)
    assert page.bar.isHidden()


def test_what_another_search_does_not_find_is_not_looked_at_any_more(
    qtbot: QtBot, page: LibraryPage, rig: Rig, context: Context
) -> None:
    kettle = remember(rig.engine, "The kettle is red.").memory_id
    shed = remember(rig.engine, "The shed is green.").memory_id
    entered(qtbot, page, 2)
    page.table.select_memory(kettle)
    assert context.selection.current == kettle
    page.query.set_text("red")
    shows(qtbot, page, 1)
    assert context.selection.current == kettle
    page.query.set_text("shed")
    settle(qtbot, lambda: context.selection.current == shed)
    page.query.set_text("quince")
    settle(qtbot, lambda: page.is_empty)
    assert context.selection.current == ""
    page.query.set_text("")
    shows(qtbot, page, 2)
    assert not page.is_empty
    rig.engine.library.revise_memories([kettle], Revision(text="The pot is blue.")).result(30)
    context.selection.select(kettle, "inspector")
    shows(qtbot, page, 2)
    assert context.selection.current == kettle, "a change in the vault takes nothing out of sight"


def test_no_row_is_marked_that_the_inspector_does_not_show(
    qtbot: QtBot, page: LibraryPage, rig: Rig, context: Context
) -> None:
    rig.bring(facts(3))
    entered(qtbot, page, 3)
    page.table.selectRow(1)
    elsewhere = remember(rig.engine, "Not in this list.").memory_id
    context.selection.select(elsewhere, "ask")
    assert page.table.chosen_ids() == ()
    assert context.selection.current == elsewhere


def test_a_row_is_edited_itself_whatever_the_inspector_showed(
    qtbot: QtBot, page: LibraryPage, rig: Rig, context: Context
) -> None:
    rig.bring(facts(3))
    entered(qtbot, page, 3)
    ran: list[str] = []
    context.commands.add(Command("memory.edit", "Edit", lambda: ran.append(context.selection.current)))
    page.table.selectRow(1)
    wanted = page.table.memories.ids[1]
    context.selection.current = "another"  # shown without a word, as an answer of a conversation may be
    where = page.table.visualRect(page.table.memories.index(1, PLACE["text"])).center()
    QTest.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert context.selection.current == wanted
    context.selection.current = "another"
    press(page, Qt.Key.Key_F2)
    assert ran == [wanted]


def test_enter_edits_in_the_inspector(qtbot: QtBot, page: LibraryPage, rig: Rig, context: Context) -> None:
    rig.bring(facts(2))
    entered(qtbot, page, 2)
    page.table.selectRow(0)
    press(page, Qt.Key.Key_Return)  # nobody offers it: nothing happens
    ran: list[str] = []
    context.commands.add(Command("memory.edit", "Edit", lambda: ran.append(context.selection.current)))
    press(page, Qt.Key.Key_F2)
    assert ran == [page.table.memories.ids[0]]
    press(page, Qt.Key.Key_Slash)
    settle(qtbot, page.line.field.hasFocus)


def test_what_is_typed_while_an_import_ends_stays_in_the_field(qtbot: QtBot, page: LibraryPage, rig: Rig) -> None:
    page.activate()
    settle(qtbot, page.is_settled)
    page.line.field.setFocus()
    settle(qtbot, page.line.field.hasFocus)
    QTest.keyClicks(page.line.field, "jar")
    rig.bring(facts(3))
    shows(qtbot, page, 3)
    assert page.window().focusWidget() is page.line.field
    assert page.line.field.text() == "jar"


def test_the_list_that_was_waited_for_takes_the_keyboard(qtbot: QtBot, page: LibraryPage, rig: Rig) -> None:
    page.activate()
    settle(qtbot, page.is_settled)
    rig.bring(facts(3))
    shows(qtbot, page, 3)
    assert page.window().focusWidget() is page.table


def test_keyboard_search_does_not_run_through_the_rows(qtbot: QtBot, page: LibraryPage, rig: Rig) -> None:
    rig.bring(facts(4))
    entered(qtbot, page, 4)
    page.table.selectRow(1)
    QTest.keyClicks(page.table, "zzz")
    assert page.table.currentIndex().row() == 1


# ---- columns


def test_columns_step_back_or_stay_as_chosen(qtbot: QtBot, page: LibraryPage, rig: Rig, context: Context) -> None:
    rig.bring(facts(2))
    entered(qtbot, page, 2)
    columns = page.table.columns
    wide = columns.visible_ids
    page.resize(520, 700)
    settle(qtbot, lambda: columns.visible_ids < wide)
    assert {"kind", "text"} <= columns.visible_ids
    page.controls.fill_menu()
    next(one for one in page.controls.menu.actions() if one.text() == "Strength").trigger()
    assert "strength" in columns.visible_ids
    assert parse_columns(context.prefs.read_text("library.shown")) == columns.visible_ids
    page.resize(1000, 700)
    assert "strength" in columns.visible_ids
    page.controls.fill_menu()
    page.controls.menu.actions()[-1].trigger()
    settle(qtbot, lambda: columns.visible_ids == wide)


def test_column_words(rig: Rig) -> None:
    stored = remember(rig.engine, "A text\nin two lines", tags=("one", "two"), importance=0.25)
    row = rig.engine.library.read_rows([stored.memory_id]).result(30)[0]
    words = {column.id: cell_text(column, row) for column in COLUMNS}
    assert words["text"] == "A text in two lines"
    assert (words["kind"], words["tags"], words["importance"]) == ("Fact", "one, two", "0.25")
    assert words["recalled"] == "never"
    assert words["said"] == words["learned"]


def test_kept_choices_are_read_back() -> None:
    assert parse_columns("") is None
    assert parse_columns("nonsense,trust") == frozenset({"trust", "text"})
    assert parse_columns(format_columns(frozenset({"text", "tags"}))) == frozenset({"text", "tags"})
    assert parse_sort("trust-") == ("trust", True)
    assert parse_sort("trust") == parse_sort("nonsense+") == ("occurred", True)
    orders = [(sort, falls) for sort in BY_SORT for falls in (True, False)]
    assert all(parse_sort(f"{sort}{'-' if falls else '+'}") == (sort, falls) for sort, falls in orders)
    assert set(library_strings()["sorts"]) == set(BY_SORT)
    assert len({describe_sort(sort, falls=falls) for sort, falls in orders}) == len(orders)
    assert columns_that_fit(10, round) == {"kind", "text"}
    assert columns_that_fit(5_000, round) == {column.id for column in COLUMNS if column.rank}


def test_a_new_version_is_marked_once_it_is_listed(qtbot: QtBot, page: LibraryPage, rig: Rig, context: Context) -> None:
    """The inspector shows what an edit made before the table has read it."""
    rig.bring(facts(3))
    entered(qtbot, page, 3)
    page.table.selectRow(1)
    made = remember(rig.engine, "What the edit made.").memory_id
    context.selection.select(made, "inspector")
    assert page.table.chosen_ids() == ()
    shows(qtbot, page, 4)
    settle(qtbot, lambda: page.table.chosen_ids() == (made,))
    assert context.selection.current == made
