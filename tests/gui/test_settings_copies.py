"""Looking into backups from the settings: which there are, what is in one, and why one cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_rig import Rig
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from window_rig import settle

from ui.context import Context
from ui.pages.settings.copies import CopiesDialog

HOSTILE = "<b>Ada</b> keeps bees"


@pytest.fixture
def host(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    made.show()
    return made


def test_a_backup_is_searched_and_stays_as_it_is(context: Context, rig: Rig, qtbot: QtBot, host: QWidget) -> None:
    rig.store(HOSTILE)
    rig.store("The lamp is lit at dusk.")
    backup = Path(rig.engine.vault.backup().result(60)["path"])
    before = backup.read_bytes()
    rig.store("Tea is drunk at six.")
    dialog = CopiesDialog(context, host)
    dialog.open()
    settle(qtbot, lambda: dialog.copies.count() == 1)
    assert dialog.copies.item(0).text().startswith(f"{backup.name} · made ")
    assert dialog.copies.currentRow() == 0  # the newest is looked into at once, and shows that it is
    settle(qtbot, lambda: dialog.memories.count() == 2)
    assert dialog.memories.currentRow() == 0
    assert dialog.text.toPlainText() == str(dialog.memories.item(0).data(Qt.ItemDataRole.UserRole))
    assert dialog.note.text().startswith("2 memories found, of 2 in it; last changed on ")
    dialog.search.setFocus()
    QTest.keyClicks(dialog.search, "bees")
    assert (dialog.memories.count(), dialog.text.toPlainText(), dialog.note.text()) == (0, "", "Looking inside …")
    settle(qtbot, lambda: dialog.memories.count() == 1)  # nothing was pressed
    assert dialog.text.toPlainText() == HOSTILE
    QTest.keyClicks(dialog.search, " wax")
    QTest.keyClick(dialog.search, Qt.Key.Key_Return)  # it searches at once, and closes nothing
    settle(qtbot, lambda: dialog.note.text().startswith("0 memories found, of 2 in it"))
    assert dialog.isVisible()
    assert backup.read_bytes() == before
    dialog.close_button.click()


def test_a_damaged_backup_says_so_and_none_is_said(context: Context, rig: Rig, qtbot: QtBot, host: QWidget) -> None:
    empty = CopiesDialog(context, host)
    empty.open()
    settle(qtbot, lambda: "no backup" in empty.note.text())
    empty.close()
    rig.store(HOSTILE)
    backup = Path(rig.engine.vault.backup().result(60)["path"])
    raw = bytearray(backup.read_bytes())
    raw[len(raw) // 2] ^= 1
    backup.write_bytes(raw)
    dialog = CopiesDialog(context, host)
    dialog.open()
    settle(qtbot, lambda: dialog.copies.count() == 1)
    dialog.copies.setCurrentRow(0)
    settle(qtbot, lambda: "it is damaged" in dialog.note.text())
    assert dialog.memories.count() == 0
    dialog.close()


def test_what_was_sealed_since_is_not_shown_until_it_is_opened(
    context: Context, rig: Rig, qtbot: QtBot, host: QWidget
) -> None:
    rig.engine.seal.set_up("a second secret").result(30)
    secret = rig.store(HOSTILE).memory_id
    rig.store("The lamp is lit at dusk.")
    rig.engine.vault.backup().result(60)
    rig.engine.seal.seal([secret]).result(30)
    rig.engine.seal.close()
    dialog = CopiesDialog(context, host)
    dialog.open()
    settle(qtbot, lambda: dialog.copies.count() == 1)
    dialog.copies.setCurrentRow(0)
    settle(qtbot, lambda: dialog.memories.count() == 1)
    assert dialog.memories.item(0).text() == "The lamp is lit at dusk."
    assert dialog.note.text().endswith("1 was sealed since; open Sealed memories to read it here.")
    rig.engine.seal.open("a second secret").result(30)
    dialog.look_inside()
    settle(qtbot, lambda: dialog.memories.count() == 2)
    dialog.close()
