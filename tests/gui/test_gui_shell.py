"""The shell: pages come and go, the vault's state decides what is there, undo has a name, locking leaves nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import pytest
from engine_rig import PASSPHRASE, Rig
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QTextDocument
from PySide6.QtGui import Qt as GuiQt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot
from window_rig import rail_strings, remember, settle

from core.engine.facade import start_ticker
from core.events import Changed
from core.types.clients import ClientState
from ui.context import Context, InspectorSectionSpec, PageSpec, WindowPage
from ui.shell.actions import PaletteEntry, rank_entries
from ui.shell.idle import IdleWatch
from ui.shell.window import MainWindow, WindowViews
from ui.watchdog import Watchdog
from ui.widgets.plaintext import escape_tooltip


class Leaf(WindowPage):
    """A page that writes down what it is told."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.told: list[str] = []
        self.changes: list[Changed] = []

    def activate(self, wish: str = "") -> None:
        """Note it."""
        self.told.append(f"enter {wish}".strip())

    def deactivate(self) -> None:
        """Note it."""
        self.told.append("leave")

    def handle_change(self, change: Changed) -> None:
        """Note it."""
        super().handle_change(change)
        self.changes.append(change)


class Importing(QDialog):
    """Stands for the import."""

    def __init__(self, _context: Context, paths: Sequence[object], parent: QWidget) -> None:
        super().__init__(parent)
        self.paths = list(paths)


def gate(_context: Context) -> QWidget:
    return QLabel("locked")


def inspector(_context: Context, _parts: Sequence[InspectorSectionSpec]) -> QWidget:
    return QLabel("inspector")


class Searching(Leaf):
    """A page with a search field of its own."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.search_field = QLineEdit("plums", self)


PAGES = [
    PageSpec("one", rail_strings("One"), "landmark", Leaf),
    PageSpec("library", rail_strings("Two", "table list"), "library", Leaf),
]


@pytest.fixture
def window(context: Context, qtbot: QtBot) -> Iterator[MainWindow]:
    made = MainWindow(context, WindowViews(PAGES, [], gate, inspector, Importing))
    made.show()
    qtbot.waitExposed(made)
    yield made
    made.close()
    made.deleteLater()


def page_of(window: MainWindow) -> Leaf:
    assert window.house is not None
    page = window.house.page
    assert isinstance(page, Leaf)
    return page


def test_a_page_with_its_own_search_field_is_the_only_one_that_asks(context: Context, qtbot: QtBot) -> None:
    pages = [*PAGES, PageSpec("own", rail_strings("Own"), "search", Searching, has_search=True)]
    window = MainWindow(context, WindowViews(pages, [], gate, inspector, Importing))
    qtbot.addWidget(window)
    window.show()
    window.top.search.setText("quince")
    window.show_page("own")
    assert not window.top.search.isVisible()
    context.commands.run("edit.find")
    assert window.house is not None
    assert isinstance(window.house.page, Searching)
    assert window.focusWidget() is window.house.page.search_field
    assert isinstance(window.house.page.search_field, QLineEdit)
    assert window.house.page.search_field.selectedText() == "plums"
    window.show_page("one")
    assert window.top.search.isVisible()
    assert window.top.search.text() == "", "what was typed there is not what the page showed"
    context.commands.run("edit.find")
    assert window.focusWidget() is window.top.search


class Finding(Searching):
    """A page with a search field of its own beside the window's."""

    def takes_search(self) -> bool:
        """Unless it is there."""
        return self.window().focusWidget() is not self.search_field


def test_a_page_may_take_the_search_although_the_windows_field_is_there(context: Context, qtbot: QtBot) -> None:
    window = MainWindow(context, WindowViews([PageSpec("own", rail_strings("Own"), "search", Finding)], [], gate,
                                             inspector, Importing))  # fmt: skip
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    settle(qtbot, lambda: window.house is not None and bool(window.house.current))
    assert window.house is not None
    assert isinstance(window.house.page, Finding)
    assert window.top.search.isVisible()
    for wanted in (window.house.page.search_field, window.top.search, window.house.page.search_field):
        context.commands.run("edit.find")
        assert window.focusWidget() is wanted


def test_text_grows_with_either_key_and_goes_back_to_the_usual_size(window: MainWindow) -> None:
    context = window.context
    keys = {shortcut.toString() for shortcut in window.actions_box._actions["view.larger"].shortcuts()}
    assert "Ctrl+=" in keys
    assert window.actions_box._actions["view.usual"].shortcut().toString() == "Ctrl+0"
    try:
        context.commands.run("view.larger")
        assert context.prefs.options.text_size == 110
        context.commands.run("view.usual")
        assert context.prefs.options.text_size == 100
    finally:
        context.theme.apply_theme("light", 100)


def test_the_first_page_is_shown_and_others_are_made_when_asked_for(window: MainWindow) -> None:
    first = page_of(window)
    assert first.told == ["enter"]
    window.context.desk.go.emit("library", "kind:fact")
    second = page_of(window)
    assert second is not first
    assert (first.told, second.told) == (["enter", "leave"], ["enter kind:fact"])


def test_keys_go_to_pages_and_open_the_palette(window: MainWindow, qtbot: QtBot) -> None:
    window.activateWindow()
    QTest.keyClick(window, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    assert window.house is not None
    assert window.house.current == "library"
    QTest.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    settle(qtbot, window.palette_box.isVisible)
    window.palette_box.field.setText("go to one")
    assert window.palette_box.list_titles()[0] == "Go to One"
    QTest.keyClick(window.palette_box.field, Qt.Key.Key_Return)
    settle(qtbot, lambda: window.house is not None and window.house.current == "one")


def test_pages_hear_of_changes_together(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    page = page_of(window)
    ids = {remember(rig.engine, f"Jar {n} holds quinces.").memory_id for n in range(3)}
    settle(qtbot, lambda: {i for change in page.changes for i in change.ids} == ids)


def test_undo_has_the_name_of_its_step_and_takes_it_back(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    stored = remember(rig.engine, "The boat is called Heron.")
    action = window.actions_box._actions["edit.undo"]
    settle(qtbot, lambda: action.text() == "Undo: Remember a fact")
    window.context.commands.run("edit.undo")
    settle(qtbot, lambda: window.toasts.sentence.startswith("Undone: Remember a fact"))
    assert stored.memory_id not in {row[0] for row in rig.rows("SELECT id FROM memories")}
    redo = window.actions_box._actions["edit.redo"]
    settle(qtbot, redo.isEnabled)
    window.context.commands.run("edit.redo")
    settle(qtbot, lambda: window.toasts.sentence.startswith("Redone"))
    assert stored.memory_id in {row[0] for row in rig.rows("SELECT id FROM memories")}


def test_undo_takes_the_persons_own_newest_step_not_an_assistants(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    aster = rig.client("aster", "read", "propose")
    rig.engine.clients.pause("aster").result(30)
    rig.engine.clients.resume("aster").result(30)
    asked = rig.store("The shed is green.", aster).memory_id
    action = window.actions_box._actions["edit.undo"]
    settle(qtbot, lambda: action.text() == "Undo: Resume a client")
    window.context.commands.run("edit.undo")
    settle(qtbot, lambda: window.toasts.sentence == "Undone: Resume a client.")
    assert rig.rows("SELECT id FROM memories") == [(asked,)]
    assert rig.engine.clients.read_card("aster").result(30).standing is ClientState.PAUSED


def test_with_nothing_of_the_persons_undo_says_where_the_rest_is(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    aster = rig.client("aster", "read", "write")
    rig.write(lambda tx: tx.run("DELETE FROM undo_rows"))
    rig.write(lambda tx: tx.run("DELETE FROM undo_steps"))
    asked = rig.store("The shed is green.", aster).memory_id
    settle(qtbot, lambda: window.actions_box._actions["edit.undo"].text() == "Undo")
    window.context.commands.run("edit.undo")
    told = "You have nothing to undo. Changes by assistants and runs are in the Journal."
    settle(qtbot, lambda: window.toasts.sentence == told)
    assert rig.rows("SELECT id FROM memories") == [(asked,)]
    assert window.actions_box._actions["edit.undo"].isEnabled()


def test_locking_takes_everything_of_the_vault_out_of_the_window(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    window.top.search.setText("quince")
    window.context.selection.select("some-id", "test")
    window.lock_vault()
    settle(qtbot, lambda: window.house is None)
    assert window.top.search.text() == ""
    assert window.context.selection.current == ""
    assert window.gate.isVisible()
    assert not window.actions_box._actions["edit.undo"].isEnabled()
    rig.engine.vault.open(PASSPHRASE).result(30)
    settle(qtbot, lambda: window.house is not None)
    assert page_of(window).told == ["enter"]


def test_a_dropped_file_opens_the_import(window: MainWindow) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/nowhere/export.zip")])
    event = QDragEnterEvent(
        QPoint(10, 10),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dragEnterEvent(event)
    assert event.isAccepted()
    window.open_import(["a"])  # type: ignore[list-item]  # stands for a path
    dialog = window.findChild(Importing)
    assert dialog is not None
    assert dialog.paths == ["a"]
    dialog.close()


def test_searching_shows_answers_and_leads_to_the_library(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    stored = remember(rig.engine, "The boat is called Heron.")
    window.activateWindow()
    window.top.search.setFocus()
    QTest.keyClicks(window.top.search, "boat called Heron")
    settle(qtbot, lambda: any("Heron" in head for head in window._box.shown_titles()))
    QTest.keyClick(window.top.search, Qt.Key.Key_Return)
    assert window.context.selection.current == stored.memory_id
    QTest.keyClick(window.top.search, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert page_of(window).told == ["enter boat called Heron"]


def test_enter_before_the_answers_opens_the_first_one_when_it_comes(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    stored = remember(rig.engine, "The boat is called Heron.")
    window.activateWindow()
    window.top.search.setFocus()
    QTest.keyClicks(window.top.search, "boat called Heron")
    QTest.keyClick(window.top.search, Qt.Key.Key_Return)
    settle(qtbot, lambda: window.context.selection.current == stored.memory_id)
    assert window._box.shown_titles() == []
    QTest.keyClicks(window.top.search, "s")
    QTest.keyClick(window.top.search, Qt.Key.Key_Return)
    QTest.keyClick(window.top.search, Qt.Key.Key_Backspace)  # typed on: nothing opens by itself
    window.context.selection.select("", "test")
    settle(qtbot, lambda: bool(window._box.shown_titles()))
    assert window.context.selection.current == ""


def test_an_answer_says_in_which_room_it_lies(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    stored = remember(rig.engine, "The boat is called Heron.")
    rig.engine.palace.place_waiting().result(60)
    room = rig.engine.palace.find_locus(stored.memory_id).result(30).room
    window.activateWindow()
    window.top.search.setFocus()
    QTest.keyClicks(window.top.search, "boat called Heron")
    settle(qtbot, lambda: any(head.endswith(f" · room {room}") for head in window._box.shown_titles()))


def test_all_answers_lead_to_their_reasons_and_say_who_spoke(context: Context, rig: Rig, qtbot: QtBot) -> None:
    pages = [*PAGES, PageSpec("recall", rail_strings("Three"), "search", Leaf)]
    window = MainWindow(context, WindowViews(pages, [], gate, inspector, Importing))
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    remember(rig.engine, "The boat is called Heron.", author="Ingrid")
    window.activateWindow()
    window.top.search.setFocus()
    QTest.keyClicks(window.top.search, "boat called Heron")
    settle(qtbot, lambda: any("Heron" in head for head in window._box.shown_titles()))
    assert " · Ingrid · " in window._box.shown_titles()[0]
    QTest.keyClick(window.top.search, Qt.Key.Key_Down)  # behind the one answer
    QTest.keyClick(window.top.search, Qt.Key.Key_Return)
    assert page_of(window).told == ["enter ask:boat called Heron"]


def test_the_window_comes_back_where_it_stood(context: Context, qtbot: QtBot) -> None:
    rooms = WindowViews(PAGES, [], gate, inspector, Importing)
    first = MainWindow(context, rooms)
    first.resize(1000, 650)
    first.show()
    qtbot.waitExposed(first)
    first.show_page("library")
    first.close()
    second = MainWindow(context, rooms)
    second.show()
    qtbot.waitExposed(second)
    assert second.height() == 650  # its width is cut to the offscreen screen
    assert second.house is not None
    assert second.house.current == "library"
    for one in (first, second):
        one.close()
        one.deleteLater()


def test_every_control_of_the_shell_has_a_name(window: MainWindow) -> None:
    for button in window.findChildren(QWidget):
        if button.focusPolicy() & Qt.FocusPolicy.TabFocus and button.isVisibleTo(window):
            named = button.accessibleName() or getattr(button, "text", lambda: "")()
            assert named, type(button).__name__


ENTRIES = [
    PaletteEntry("Go to Library", "Ctrl+3", "", "table list", lambda: None),
    PaletteEntry("Lock the palace", "Ctrl+L", "", "", lambda: None),
    PaletteEntry("Import …", "", "", "chatgpt claude", lambda: None),
]


@pytest.mark.parametrize(
    ("typed", "first"),
    [("", "Go to Library"), ("lo", "Lock the palace"), ("claude", "Import …"), ("pal loc", "Lock the palace")],
)
def test_the_palette_finds_by_words(typed: str, first: str) -> None:
    assert rank_entries(ENTRIES, typed)[0].title == first


@given(st.text(max_size=20))
def test_what_the_palette_offers_holds_every_word_typed(typed: str) -> None:
    for entry in rank_entries(ENTRIES, typed):
        both = f"{entry.title} {entry.words}".casefold()
        assert all(word in both for word in typed.casefold().split())


def test_the_watchdog_counts_a_stall_and_names_the_place(qtbot: QtBot) -> None:
    dog = Watchdog(start_ticker)
    qtbot.wait(60)
    dog.clear_stalls()
    time.sleep(0.12)
    settle(qtbot, lambda: bool(dog.stalls))
    dog.stop_watching()
    assert max(stall.ms for stall in dog.stalls) > 60
    assert "test_gui_shell" in dog.stalls[0].place


@pytest.mark.expected_logs("the window stood still for")
def test_a_long_stall_is_logged(qtbot: QtBot, caplog: pytest.LogCaptureFixture) -> None:
    dog = Watchdog(start_ticker)
    qtbot.wait(30)
    time.sleep(0.3)
    settle(qtbot, lambda: bool(dog.stalls))
    dog.stop_watching()
    assert any("stood still" in record.getMessage() for record in caplog.records)


def test_idle_is_told_once_and_a_touch_begins_anew(qapp: QApplication, qtbot: QtBot) -> None:
    now = [0.0]
    watch = IdleWatch(qapp, lambda: now[0], lambda: 0)
    told: list[int] = []
    watch.idle.connect(lambda: told.append(1))
    watch.set_limit(5)
    now[0] = 299.0
    watch.check_idle()
    widget = QWidget()
    qtbot.addWidget(widget)
    QTest.keyClick(widget, Qt.Key.Key_A)
    now[0] = 301.0
    watch.check_idle()
    assert told == []
    now[0] = 299.0 + 300.0
    watch.check_idle()
    watch.check_idle()
    assert told == [1]
    watch.set_limit(0)
    now[0] = 10_000.0
    watch.check_idle()
    assert told == [1]
    watch.stop_watch()
    watch.deleteLater()


def test_a_computer_that_slept_too_long_is_told_of_by_the_first_touch(qapp: QApplication, qtbot: QtBot) -> None:
    wall = [0]
    watch = IdleWatch(qapp, lambda: 0.0, lambda: wall[0])
    told: list[int] = []
    watch.idle.connect(lambda: told.append(1))
    watch.set_limit(5)
    wall[0] = 299_000
    watch.check_idle()
    assert told == []
    wall[0] = 300_000
    widget = QWidget()
    qtbot.addWidget(widget)
    QTest.keyClick(widget, Qt.Key.Key_A)
    watch.check_idle()
    assert told == [1]
    watch.stop_watch()
    watch.deleteLater()


def test_a_hand_on_the_window_is_told_once_a_second(qapp: QApplication, qtbot: QtBot) -> None:
    now = [0.0]
    watch = IdleWatch(qapp, lambda: now[0], lambda: 0)
    told: list[float] = []
    watch.touched.connect(lambda: told.append(now[0]))
    widget = QWidget()
    qtbot.addWidget(widget)
    for now[0] in (0.0, 0.4, 0.9, 1.2, 1.3, 2.2):
        QTest.keyClick(widget, Qt.Key.Key_A)
    assert told == [0.0, 1.2, 2.2]
    watch.stop_watch()
    watch.deleteLater()


@pytest.mark.parametrize("text", ["<b>bold</b> claim", "<img src='x'>", "a & b", "2 < 3"])
def test_a_tooltip_shows_markup_as_it_is_written(text: str) -> None:
    shown = escape_tooltip(text)
    if GuiQt.mightBeRichText(shown):
        document = QTextDocument()
        document.setHtml(shown)
        assert document.toPlainText() == text
    else:
        assert shown == text
