"""Keys that a widget of a page and a command of the window both have: the widget's own keys are the widget's."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from engine_rig import Rig, facts
from library_rig import put_away
from palace_rig import first, furnish, opened, shut
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot
from window_rig import settle

from ui.context import Context
from ui.pages.journal.page import JournalPage
from ui.pages.journal.undo.imports import RemoveImportDialog
from ui.pages.library.dialogs import RevisionDialog
from ui.pages.library.page import LIBRARY, LibraryPage
from ui.theme.theme import Theme
from ui.widgets.basics import KeyButton

KEYS = ("Del", "F2", "Ctrl+L", "Ctrl+K")


def shortcuts(window: QWidget) -> list[str]:
    """Commands of the window; the list says which ran."""
    ran: list[str] = []
    for keys in KEYS:
        QShortcut(QKeySequence(keys), window).activated.connect(_noting(ran, keys))
    window.activateWindow()
    return ran


def _noting(ran: list[str], keys: str) -> Callable[[], None]:
    return lambda: ran.append(keys)


@pytest.fixture
def journal(context: Context, rig: Rig, qtbot: QtBot) -> Iterator[JournalPage]:
    rig.bring(facts(3))
    rig.store("The shed is green.")
    page = JournalPage(context)
    page.resize(900, 640)
    page.show()
    qtbot.waitExposed(page)
    yield page
    page.deactivate()
    page.close()
    page.deleteLater()


def test_del_in_the_library_forgets_all_that_are_chosen_and_shows_them_first(
    qtbot: QtBot, context: Context, rig: Rig
) -> None:
    rig.bring(facts(5))
    page = LIBRARY.make(context)
    assert isinstance(page, LibraryPage)
    page.resize(1200, 700)
    page.show()
    ran = shortcuts(page)
    page.activate()
    settle(qtbot, lambda: page.facets is not None and page.table.memories.rowCount() == 5)
    page.table.selectAll()
    page.table.setFocus()
    settle(qtbot, page.table.hasFocus)
    QTest.keyClick(page.table, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(page.table, Qt.Key.Key_Delete)
    assert ran == ["Ctrl+L"]
    assert isinstance(page.changes.dialog, RevisionDialog)
    settle(qtbot, page.changes.dialog.act.isEnabled)
    assert page.changes.dialog.act.text() == "Forget 5 memories"
    page.changes.dialog.reject()
    put_away(qtbot, page)


def test_del_in_the_journal_undoes_a_step(qtbot: QtBot, journal: JournalPage, rig: Rig) -> None:
    ran = shortcuts(journal)
    journal.activate("changes")
    settle(qtbot, journal.is_settled)
    steps = journal.tabs.changes.list
    steps.setFocus()
    settle(qtbot, steps.hasFocus)
    QTest.keyClick(steps, Qt.Key.Key_Delete)
    settle(qtbot, lambda: rig.value("SELECT count(*) FROM memories WHERE status = 'active'") == 3)
    assert ran == []


def test_del_among_the_imports_asks_to_remove_one(qtbot: QtBot, journal: JournalPage) -> None:
    ran = shortcuts(journal)
    journal.activate("imports")
    settle(qtbot, journal.is_settled)
    journal.tabs.imports.table.setFocus()
    settle(qtbot, journal.tabs.imports.table.hasFocus)
    QTest.keyClick(journal.tabs.imports.table, Qt.Key.Key_Delete)
    dialog = journal.findChild(RemoveImportDialog)
    assert dialog is not None
    dialog.reject()
    assert ran == []


def test_a_name_being_written_leaves_the_window_its_keys(qtbot: QtBot, context: Context, rig: Rig) -> None:
    furnish(rig)
    page = opened(qtbot, context)
    ran = shortcuts(page)
    field = page.verbs.start_rename(first(page).room)
    settle(qtbot, field.hasFocus)
    for key in (Qt.Key.Key_F2, Qt.Key.Key_Delete):
        QTest.keyClick(field, key)
    assert ran == []
    held = Qt.KeyboardModifier.ControlModifier
    for key in (Qt.Key.Key_K, Qt.Key.Key_L):
        event = QKeyEvent(QEvent.Type.ShortcutOverride, key, held)
        event.ignore()
        QApplication.sendEvent(field, event)
        assert not event.isAccepted()
        QTest.keyClick(field, key, held)
    assert ran == ["Ctrl+K", "Ctrl+L"]
    QTest.keyClick(field, Qt.Key.Key_Escape)
    shut(qtbot, page)


def test_a_button_shows_its_key_and_cuts_nothing_off(qtbot: QtBot, context: Context) -> None:
    pressed: list[str] = []
    theme: Theme = context.theme
    made = KeyButton(theme, "Salt & pepper …", "Del", lambda: pressed.append("once"), "danger")
    qtbot.addWidget(made)
    made.show()
    theme.apply_theme("light", 150)
    made.resize(made.sizeHint())
    words, cap = made.findChildren(QLabel)
    assert (words.text(), cap.text()) == ("Salt & pepper …", "Del")
    settle(qtbot, lambda: words.width() >= words.sizeHint().width() and cap.width() >= cap.sizeHint().width())
    assert (made.accessibleName(), made.accessibleDescription()) == ("Salt & pepper", "Key Del")
    made.set_title("Pepper")
    assert (made.title, words.text(), made.accessibleName()) == ("Pepper", "Pepper", "Pepper")
    QTest.mouseClick(made, Qt.MouseButton.LeftButton, pos=words.geometry().center())
    assert pressed == ["once"]
    theme.apply_theme("light", 100)
