"""What the shell does when the vault is locked: nothing of it stays, and what writes is not stopped by the window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path

import pytest
from answered import finished
from engine_rig import PASSPHRASE, Rig, facts
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot
from window_rig import rail_strings, remember, settle

from core.events import Progress
from core.types.replies import ImportReport, Presence
from core.types.values import OWNER_ACTOR
from ui.bridge import Watch, make_job
from ui.context import Command, Context, InspectorSectionSpec, PageSpec, WindowPage
from ui.inspector.actions import MemoryActions
from ui.shell.window import MainWindow, WindowViews
from ui.widgets.secret import SecretClipboard

HELD = Qt.KeyboardModifier.ControlModifier


class Leaving(QDialog):
    """Stands for the import, which says something as it closes."""

    def __init__(self, context: Context, _paths: Sequence[Path], parent: QWidget) -> None:
        super().__init__(parent)
        self.field = QLineEdit(self)
        self.finished.connect(lambda _: context.desk.show_message("The import goes on."))


def gate(_context: Context) -> QWidget:
    return QLabel("locked")


def inspector(_context: Context, _parts: Sequence[InspectorSectionSpec]) -> QWidget:
    return QLabel("inspector")


PAGES = [
    PageSpec("palace", rail_strings("Palace"), "landmark", WindowPage),
    PageSpec("library", rail_strings("Library"), "library", WindowPage),
]
ROOMS = WindowViews(PAGES, [], gate, inspector, Leaving)


@pytest.fixture
def window(context: Context, qtbot: QtBot) -> Iterator[MainWindow]:
    made = MainWindow(context, ROOMS)
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()
    yield made
    made.close()
    made.deleteLater()


def locked(window: MainWindow, qtbot: QtBot) -> None:
    settle(qtbot, lambda: window.house is None and window.context.bridge.engine.state == "locked")


def unlocked(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    rig.engine.vault.open(PASSPHRASE).result(30)
    settle(qtbot, lambda: window.house is not None)


def test_the_names_of_steps_go_out_of_menu_and_palette(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    remember(rig.engine, "The boat is called Heron.")
    undo = window.actions_box._actions["edit.undo"]
    settle(qtbot, lambda: undo.text() == "Undo: Remember a fact")
    window.open_palette()
    assert "Undo: Remember a fact" in window.palette_box.list_titles()
    window.lock_vault()
    locked(window, qtbot)
    assert undo.text() == "Undo"
    assert window.palette_box.list_titles() == []


def test_ctrl_l_locks_and_ctrl_q_ends_while_a_dialog_is_open(window: MainWindow, qtbot: QtBot) -> None:
    ran: list[str] = []
    window.context.commands.add(Command("file.quit", "Quit", lambda: ran.append("quit"), needs_vault=False))
    window.open_import()
    dialog = window.findChild(Leaving)
    assert dialog is not None
    dialog.activateWindow()
    dialog.field.setFocus()
    QTest.keyClick(dialog.field, Qt.Key.Key_Q, HELD)
    assert ran == ["quit"]
    QTest.keyClick(dialog.field, Qt.Key.Key_L, HELD)
    locked(window, qtbot)


def test_ctrl_l_locks_while_the_palette_is_open(window: MainWindow, qtbot: QtBot) -> None:
    window.open_palette()
    QTest.keyClick(window.palette_box.field, Qt.Key.Key_L, HELD)
    locked(window, qtbot)
    assert not window.palette_box.isVisible()


def test_dialogs_of_pages_and_of_the_window_close_without_a_word(window: MainWindow, qtbot: QtBot) -> None:
    assert window.house is not None
    of_a_page = QDialog(window.house.page)
    of_a_page.open()
    closed: list[int] = []
    of_a_page.finished.connect(closed.append)
    window.open_import()
    window.context.desk.show_message("A sentence of the vault.", stays=True)
    window.lock_vault()
    locked(window, qtbot)
    assert closed == [0]
    assert not any(dialog.isVisible() for dialog in window.findChildren(QDialog))
    assert window.toasts.sentence == ""


def test_what_was_typed_does_not_come_back(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    window.top.search.setFocus()
    QTest.keyClicks(window.top.search, "quince")
    window.lock_vault()
    locked(window, qtbot)
    unlocked(window, rig, qtbot)
    window.top.search.undo()
    assert window.top.search.text() == ""


@pytest.mark.parametrize(("first", "shown"), [("last", "palace"), ("library", "library"), ("palace", "palace")])
def test_the_first_page_is_the_one_of_the_options(context: Context, qtbot: QtBot, first: str, shown: str) -> None:
    context.prefs.change_options(lambda options: options.model_copy(update={"first_page": first}))
    context.prefs.store_value("house.page", "library" if shown == "palace" and first != "last" else "palace")
    made = MainWindow(context, ROOMS)
    made.show()
    qtbot.waitExposed(made)
    assert made.house is not None
    assert made.house.current == shown
    made.close()
    made.deleteLater()


# ---- the clipboard


@pytest.fixture
def host(qtbot: QtBot, context: Context) -> Iterator[MemoryActions]:
    """The verbs of an inspector that can be seen."""
    seen = QWidget()
    made = MemoryActions(context, seen)
    QVBoxLayout(seen).addWidget(made.footer)
    qtbot.addWidget(seen)
    seen.show()
    yield made
    QGuiApplication.clipboard().clear()


def test_a_copied_memory_leaves_the_clipboard(host: MemoryActions, context: Context, rig: Rig, qtbot: QtBot) -> None:
    memory = rig.get(remember(rig.engine, "The boat is called Heron.").memory_id)
    context.selection.select(memory.id, "test")
    host.show_memory(memory)
    context.commands.run("memory.copy")
    clipboard = QGuiApplication.clipboard()
    assert clipboard.text() == memory.text
    assert "x-kde-passwordManagerHint" in clipboard.mimeData().formats()
    rig.engine.vault.lock().result(30)
    settle(qtbot, lambda: clipboard.text() == "")


def test_a_copied_memory_leaves_the_clipboard_after_its_time(host: MemoryActions, context: Context, rig: Rig) -> None:
    memory = rig.get(remember(rig.engine, "The boat is called Heron.").memory_id)
    context.selection.select(memory.id, "test")
    host.show_memory(memory)
    context.commands.run("memory.copy")
    (clip,) = context.desk.findChildren(SecretClipboard)
    assert clip._timer.isActive()
    assert clip._timer.interval() == context.prefs.options.clipboard_s * 1000
    clip._timer.timeout.emit()
    assert QGuiApplication.clipboard().text() == ""


def test_without_a_time_it_stays_until_the_vault_is_locked(context: Context) -> None:
    clip = SecretClipboard(context.desk, context.bridge.state, 0)
    clip.copy_secret("The boat is called Heron.")
    assert not clip._timer.isActive()
    context.bridge.state.emit("closing")
    assert QGuiApplication.clipboard().text() == ""


@pytest.mark.usefixtures("host")
def test_what_others_copied_stays_on_the_clipboard(context: Context, rig: Rig, qtbot: QtBot) -> None:
    theirs = QMimeData()
    theirs.setText("a shopping list")
    QGuiApplication.clipboard().setMimeData(theirs)
    states: list[str] = []
    context.bridge.state.connect(states.append)
    rig.engine.vault.lock().result(30)
    settle(qtbot, lambda: states[-1:] == ["locked"])
    assert QGuiApplication.clipboard().text() == "a shopping list"


# ---- work that is under way


def test_locking_stops_no_work_by_itself(window: MainWindow, qtbot: QtBot) -> None:
    watches: list[Watch] = []
    slow: Future[object] = Future()

    def begin(watch: Watch) -> Future[object]:
        watches.append(watch)
        return slow

    window.context.tasks.run(make_job("Importing", begin))
    window.lock_vault()
    locked(window, qtbot)
    assert not watches[0].cancelled()
    slow.set_result(None)
    settle(qtbot, lambda: not window.context.tasks.running)


def test_an_import_under_way_is_finished_after_unlocking(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    rig.engine.settings.set_option("import_batch", 50).result(30)
    path, engine, opened = rig.write_rows(facts(3000)), rig.engine, rig.opened
    told: list[int] = []

    def begin(watch: Watch) -> Future[ImportReport]:
        def progress(done: int, total: int | None) -> None:
            watch.progress(done, total)
            if total is not None:  # the first batch is in; nothing more comes in before the vault is being locked
                told.append(done)
                opened.storage.closing.wait(30)

        return engine.imports.run(path, None, None, OWNER_ACTOR, progress, watch.cancelled)

    running = window.context.tasks.run(make_job("Importing", begin))
    settle(qtbot, lambda: running.watch.total is not None)
    window.lock_vault()
    locked(window, qtbot)
    unlocked(window, rig, qtbot)
    assert 0 < told[-1] < 3000
    assert engine.imports.finish_interrupted().result(120) == 1
    assert rig.value("SELECT count(*) FROM memories") == 3000


def test_work_of_the_engine_is_shown_and_goes_with_the_lock(window: MainWindow, qtbot: QtBot) -> None:
    status, hub = window.status, window.context.bridge.engine.hub
    hub.publish(Progress("index", "Loading the index", 3, 10))
    settle(qtbot, status._work.isVisible)
    assert (status._work.whole, status._bar.value(), status._bar.maximum()) == ("Loading the index …", 3, 10)
    hub.publish(Progress("index", "Loading the index", 10, 10))
    settle(qtbot, lambda: not status._bar.isVisible())
    hub.publish(Progress("index", "Loading the index", 4, 10))
    settle(qtbot, status._bar.isVisible)
    window.lock_vault()
    locked(window, qtbot)
    assert not status._bar.isVisible()
    assert not QApplication.activeModalWidget()


def test_the_status_bar_says_locked_of_a_vault_only(window: MainWindow, qtbot: QtBot, rig: Rig) -> None:
    found, asked = Presence(exists=False), list[Presence]()

    def look() -> Future[Presence]:
        asked.append(found)
        return finished(found)

    rig.engine.vault.read_presence = look  # type: ignore[method-assign]  # as before a home is made
    window.status.show_locked()
    rig.engine.vault.lock().result(30)
    settle(qtbot, lambda: bool(asked) and not window.context.tasks.running)
    assert (window.status._index.whole, window.status._dot.isHidden()) == ("", True)
    found = Presence(exists=True)
    window._on_vault_state("locked")
    settle(qtbot, lambda: window.status._index.whole == "Locked")
    assert not window.status._dot.isHidden()
