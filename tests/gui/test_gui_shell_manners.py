"""How the shell behaves beside its pages: toasts, work in the status bar, one undo at a time, keys of the inspector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future

import pytest
from engine_rig import Rig
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLabel, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot
from window_rig import hear, rail_strings, remember, settle

from core.types.values import Memory
from ui.bridge import Running, Task, make_job
from ui.context import Command, Context, InspectorSectionSpec, PageSpec, WindowPage
from ui.shell.status_bar import StatusBar
from ui.shell.toasts import Toasts
from ui.shell.window import MainWindow, WindowViews
from ui.widgets.states import FOOT

DELETE = "test.delete"


class Seen(QWidget):
    """A page's widget that says which keys reached it."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.keys: list[int] = []

    def keyPressEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """Note it."""
        self.keys.append(event.key())  # type: ignore[attr-defined]  # the widget or clock of this test has it


class Leaf(WindowPage):
    """A page with one widget."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.inner = Seen()
        QVBoxLayout(self).addWidget(self.inner)


def inspector(_context: Context, _parts: Sequence[InspectorSectionSpec]) -> QWidget:
    return QLabel("inspector")


def importing(_context: Context, _paths: Sequence[object], parent: QWidget) -> QDialog:
    return QDialog(parent)


PAGES = [
    PageSpec("library", rail_strings("Library"), "library", Leaf),
    PageSpec("settings", rail_strings("Settings"), "x", Leaf, inspects=False),
    PageSpec("journal", rail_strings("Journal"), "x", Leaf, has_choice=True),
]


@pytest.fixture
def window(context: Context, qtbot: QtBot) -> Iterator[MainWindow]:
    made = MainWindow(context, WindowViews(PAGES, [], lambda _: QLabel("locked"), inspector, importing))
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()
    yield made
    made.close()
    made.deleteLater()


def seen(window: MainWindow) -> bool:
    assert window.house is not None
    assert window.house.inspector is not None
    return window.house.inspector.isVisible()


# ---- the inspector's keys and the search


def test_keys_of_the_inspector_are_the_pages_where_there_is_none(window: MainWindow, qtbot: QtBot) -> None:
    ran: list[str] = []
    window.context.commands.add(
        Command(DELETE, "Forget it", lambda: ran.append("forgot"), "edit", "Del", needs_inspector=True)
    )
    window.show_page("library")
    window.context.selection.select("m", "test")
    QTest.keyClick(window, Qt.Key.Key_Delete)
    assert ran == ["forgot"]
    window.show_page("settings")
    assert window.house is not None
    page = window.house.page
    assert isinstance(page, Leaf)
    page.inner.setFocus()
    settle(qtbot, page.inner.hasFocus)
    QTest.keyClick(page.inner, Qt.Key.Key_Delete)
    assert (ran, page.inner.keys) == (["forgot"], [Qt.Key.Key_Delete])
    assert "Forget it" not in [entry.title for entry in window.actions_box.palette_entries()]
    window.show_page("library")
    window.toggle_inspector()
    QTest.keyClick(window, Qt.Key.Key_Delete)
    assert ran == ["forgot"]
    window.toggle_inspector()
    QTest.keyClick(window, Qt.Key.Key_Delete)
    assert ran == ["forgot", "forgot"]


def test_an_inspector_with_nothing_in_it_leaves_a_narrow_window_to_the_page(window: MainWindow) -> None:
    window.resize(1024, 700)
    window.show_page("library")
    assert not seen(window)
    window.toggle_inspector()
    assert seen(window), "who asks for it gets it"
    window.toggle_inspector()
    window.toggle_inspector()
    window.context.selection.select("m", "test")
    assert seen(window)
    window.context.selection.select("", "test")
    assert not seen(window)
    window.resize(1440, 900)
    assert seen(window)


def test_no_empty_inspector_stands_beside_an_empty_page(window: MainWindow) -> None:
    window.resize(1440, 900)
    window.show_page("library")
    assert window.house is not None
    page = window.house.page
    assert page is not None
    page.note_empty(True)  # noqa: FBT003 - as a signal of Qt's brings it
    assert not seen(window)
    window.context.selection.select("m", "test")
    assert seen(window), "what is looked at can be seen beside any page"
    window.context.selection.select("", "test")
    page.note_empty(False)  # noqa: FBT003 - likewise
    assert seen(window)


def test_what_is_looked_at_on_a_page_of_its_own_is_beside_no_other(window: MainWindow) -> None:
    selection = window.context.selection
    window.show_page("library")
    selection.select("m", "test")
    window.show_page("journal")
    assert (selection.current, seen(window)) == ("", False)
    selection.select("n", "test")
    assert seen(window)
    window.show_page("library")
    assert selection.current == "m"
    window.show_page("journal")
    assert selection.current == "n"
    window.show_page("settings")
    assert selection.current == "m", "pages without a choice of their own share one"


def test_what_was_found_on_a_page_of_its_own_goes_along_where_nothing_is_looked_at(window: MainWindow) -> None:
    selection = window.context.selection
    window.show_page("journal")
    selection.select("n", "test")
    window.show_page("library")
    assert (selection.current, seen(window)) == ("n", True)
    selection.select("m", "test")
    window.show_page("journal")
    assert selection.current == "n"
    window.show_page("library")
    assert selection.current == "m"


@pytest.mark.parametrize("page", ["library", "settings"])
def test_an_answer_that_is_chosen_can_be_seen(window: MainWindow, rig: Rig, qtbot: QtBot, page: str) -> None:
    stored = remember(rig.engine, "The boat is called Heron.")
    window.context.selection.select(stored.memory_id, "test")
    told: list[str] = []
    window.context.selection.changed.connect(lambda memory_id, _origin: told.append(memory_id))
    window.show_page(page)
    window.toggle_inspector()
    assert not seen(window)
    window.top.search.setFocus()
    QTest.keyClicks(window.top.search, "boat called Heron")
    settle(qtbot, lambda: any("Heron" in head for head in window._box.shown_titles()))
    QTest.keyClick(window.top.search, Qt.Key.Key_Return)
    assert told == [stored.memory_id]
    assert seen(window)
    assert window.house is not None
    assert window.house.current == "library"


# ---- undo


def test_a_second_undo_waits_for_the_first(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    heard = hear(window.context)
    kept: list[Memory] = [rig.get(remember(rig.engine, f"Jar {n} holds quinces.").memory_id) for n in range(3)]
    for name, left in (("edit.undo", 2), ("edit.redo", 3)):
        for _ in range(2):
            window.context.commands.run(name)
        settle(qtbot, lambda: not window.actions_box._is_undoing and not window.context.tasks.running)
        assert rig.value("SELECT count(*) FROM memories") == left
    assert heard.problems == []
    assert len(heard.sentences) == 2
    assert len(kept) == 3


def test_an_ampersand_in_the_name_of_a_step_is_one(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    stored = remember(rig.engine, "The boat is called Heron.").memory_id
    rig.engine.palace.place_waiting().result(60)
    room = rig.engine.palace.find_locus(stored).result(30).room_id
    rig.engine.palace.rename_room(room, "Salt & pepper").result(30)
    step = rig.engine.history.next_undo().result(30)
    assert step is not None
    assert "&" in step.label
    undo = window.actions_box._actions["edit.undo"]
    settle(qtbot, lambda: undo.text() == f"Undo: {step.label}".replace("&", "&&"))
    assert f"Undo: {step.label}" in [entry.title for entry in window.actions_box.palette_entries()]


# ---- toasts


def test_what_is_said_on_a_page_goes_with_it(window: MainWindow) -> None:
    window.show_page("library")
    window.context.desk.show_message("Pinned.", "Undo", lambda: None)
    window.show_page("library")
    assert window.toasts.sentence == "Pinned."
    window.context.desk.show_message("The vault is older.", stays=True)
    window.context.desk.show_message("Tagged.", "Undo", lambda: None)
    window.show_page("journal")
    assert window.toasts.sentence == "The vault is older.", "what stays until it is dealt with is about no page"


@pytest.fixture
def toasts(qtbot: QtBot, context: Context) -> Iterator[Toasts]:
    host = QWidget()
    host.resize(1000, 700)
    qtbot.addWidget(host)
    host.show()
    yield Toasts(context.theme, host)
    context.theme.apply_theme("light", 100)


def test_a_sentence_that_stays_comes_back_until_it_is_dealt_with(toasts: Toasts) -> None:
    toasts.show_message("The vault is older.", stays=True)
    toasts.show_message("The log was damaged.", stays=True)
    toasts.show_message("Pinned.")
    assert toasts.sentence == "Pinned."
    toasts.clear_messages()
    assert toasts.sentence == "The log was damaged."
    toasts._close_toast()
    assert toasts.sentence == "The vault is older."
    toasts.clear_messages()
    assert toasts.sentence == "The vault is older."
    toasts.clear_messages(everything=True)
    assert toasts.sentence == ""
    toasts.show_message("Pinned.")
    toasts.clear_messages()
    assert toasts.sentence == ""


def test_what_a_staying_sentence_offers_is_done_once(toasts: Toasts) -> None:
    ran: list[int] = []
    toasts.show_message("The vault is older.", "Resume", lambda: ran.append(1), stays=True)
    toasts.show_message("Pinned.")
    toasts.clear_messages()
    assert toasts._shown is not None
    toasts._run_action(lambda: ran.append(1))
    assert (ran, toasts.sentence) == ([1], "")


def test_a_toast_stands_above_the_buttons_at_the_foot_of_a_page(toasts: Toasts) -> None:
    toasts.show_message("Pinned.")
    assert toasts._shown is not None
    assert toasts._shown.geometry().bottom() < 700 - 40
    line = QWidget(toasts._host)
    line.setProperty(FOOT, True)  # noqa: FBT003 - Qt's name
    line.setGeometry(0, 600, 1000, 1)
    line.show()
    toasts.show_message("Undone.")
    assert 560 < toasts._shown.geometry().bottom() < 600
    line.hide()
    toasts.show_message("Pinned.")
    assert toasts._shown.geometry().bottom() > 600


def test_a_toast_fits_the_text_size(toasts: Toasts, context: Context, qtbot: QtBot) -> None:
    toasts.show_message(
        "Eleven memories were put away; assistants do not get them any more, and the journal knows why they went."
    )
    shown = toasts._shown
    assert shown is not None
    before = shown.width()
    context.theme.apply_theme("light", 150)
    settle(qtbot, lambda: shown.width() > before)
    assert shown.height() >= shown.sizeHint().height()
    assert shown.width() <= context.theme.px(560) + 40
    words = shown.findChild(QLabel)
    assert words is not None
    assert words.height() >= words.heightForWidth(words.width())
    assert words.maximumWidth() == context.theme.px(560)


def test_what_can_be_undone_is_said_for_long_and_says_that_ctrl_z_does_it_later(toasts: Toasts) -> None:
    toasts.show_message("Pinned.")
    short = toasts._timer.interval()
    toasts.show_message("The memory was forgotten.", "Undo", lambda: None)
    assert toasts._timer.interval() >= 20_000 > short
    assert toasts._shown is not None
    keys = QKeySequence(QKeySequence.StandardKey.Undo).toString(QKeySequence.SequenceFormat.NativeText)
    assert any(keys in label.text() for label in toasts._shown.findChildren(QLabel))
    toasts.show_message("It did not work.", "Try again", lambda: None)
    assert not any(keys in label.text() for label in toasts._shown.findChildren(QLabel))


def test_a_toast_stays_while_the_pointer_or_the_keyboard_is_on_it(toasts: Toasts, qtbot: QtBot) -> None:
    toasts.show_message("The memory was forgotten.", "Undo", lambda: None)
    shown = toasts._shown
    assert shown is not None
    shown.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    toasts._timer.timeout.emit()
    assert toasts.sentence
    assert toasts._timer.isActive()
    shown.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)  # noqa: FBT003 - Qt's name
    toasts._host.activateWindow()
    shown.findChildren(QPushButton)[0].setFocus()
    toasts._timer.timeout.emit()
    assert toasts.sentence
    toasts._host.setFocus()
    shown.findChildren(QPushButton)[0].clearFocus()
    toasts._timer.timeout.emit()
    assert toasts.sentence == ""


# ---- work in the status bar


def _slow(label: str, done: Future[object]) -> Task[object]:
    return make_job(label, lambda _: done)


def test_of_two_works_the_one_that_runs_is_shown(qtbot: QtBot, context: Context) -> None:
    status = StatusBar(context.theme)
    qtbot.addWidget(status)
    status.show()
    first, second = (Running(name, can_cancel=name == "Second", parent=context.tasks) for name in ("First", "Second"))
    for one in (first, second):
        status.show_work(one)
    assert (status._work.whole, status._stop.isVisible()) == ("Second …", True)
    first.moved.emit(5, 10)
    assert status._bar.maximum() == 0
    second.mark_over()
    assert (status._work.whole, status._stop.isVisible()) == ("First …", False)
    first.mark_over()
    assert not status._work.isVisible()


def test_stopping_the_newest_work_stops_no_other(qtbot: QtBot, context: Context) -> None:
    status = StatusBar(context.theme)
    qtbot.addWidget(status)
    ends: list[Future[object]] = [Future(), Future()]
    first = context.tasks.run(_slow("First", ends[0]))
    second = context.tasks.run(_slow("Second", ends[1]))
    for one in (first, second):
        status.show_work(one)
    status._cancel_last()
    assert (first.watch.cancelled(), second.watch.cancelled()) == (False, True)
    for end in ends:
        end.set_result(None)
    settle(qtbot, lambda: not context.tasks.running)


def test_the_counts_stand_in_one_order_and_an_empty_one_takes_no_room(qtbot: QtBot, context: Context) -> None:
    """Pages count in whatever order their readings end: the bar looks the same after either."""
    places = []
    for order in ((("a", 2), ("b", 0), ("c", 3)), (("c", 3), ("b", 0), ("a", 2)), (("a", 2), ("c", 3))):
        status = StatusBar(context.theme)
        qtbot.addWidget(status)
        status.resize(900, 28)
        status.show()
        for page_id, count in order:
            status.show_count(page_id, page_id.upper(), count, "open")
        status._layout.activate()
        places.append([status._counts[name].x() for name in ("a", "c")])
    assert places[0] == places[1] == places[2]
    assert places[0][0] < places[0][1]
