"""A list in the import dialog: said in one sentence, and each line a memory of its own where that is chosen, by key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.types.values import OWNER_ACTOR
from ui.context import Context
from ui.imports.wizard import ImportDialog

LIST = "My sister is Ana.\nDentist: Dr Hale\nBlood type 0+\nI am allergic to nuts.\n"
CHOICE = "Each line a memory of its own"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "facts.txt"
    made.write_text(LIST, encoding="utf-8")
    return made


@pytest.fixture
def dialog(context: Context, window: QWidget, path: Path, qtbot: QtBot) -> Iterator[ImportDialog]:
    made = ImportDialog(context, (path,), window)
    made.open()
    read(qtbot, made)
    yield made
    made.close()


def read(qtbot: QtBot, dialog: ImportDialog) -> None:
    settle(qtbot, lambda: dialog.reader.is_done and dialog.rehearse.content.isVisible())


def sentences(dialog: ImportDialog) -> list[str]:
    return [label.text() for label in dialog.rehearse.content.findChildren(QLabel) if label.isVisible()]


def test_a_list_is_one_memory_until_its_lines_are_chosen_by_key(rig: Rig, qtbot: QtBot, dialog: ImportDialog) -> None:
    box = dialog.rehearse.content.by_line
    assert (box.isVisible(), box.isChecked(), box.accessibleName()) == (True, False, CHOICE)
    assert "This file is a list of 4 short lines and comes in as one memory." in sentences(dialog)
    assert box.focusPolicy() & Qt.FocusPolicy.TabFocus
    assert dialog.main.text() == "Import 1 memory"
    for is_on, title in ((True, "Import 4 memories"), (False, "Import 1 memory"), (True, "Import 4 memories")):
        box.setFocus()
        QTest.keyClick(box, Qt.Key.Key_Space)
        read(qtbot, dialog)
        assert (box.isChecked(), box.hasFocus(), dialog.main.text()) == (is_on, True, title)
    assert "This file is a list of 4 short lines, each of which comes in as a memory of its own." in sentences(dialog)
    dialog.main.click()
    settle(qtbot, lambda: dialog.page is dialog.outcome)
    assert [row[0] for row in rig.rows("SELECT text FROM memories ORDER BY rowid")] == LIST.splitlines()


def test_the_other_choice_says_that_the_list_is_there_already(
    rig: Rig, qtbot: QtBot, dialog: ImportDialog, path: Path
) -> None:
    rig.engine.imports.run(path, "lines", None, OWNER_ACTOR).result(30)
    dialog.rehearse_paths([path])
    read(qtbot, dialog)
    assert any("came in line by line before" in words for words in sentences(dialog))
    assert (dialog.main.text(), dialog.main.isEnabled()) == ("Nothing new to import", False)


def test_prose_is_not_asked_about(qtbot: QtBot, dialog: ImportDialog, tmp_path: Path) -> None:
    prose = tmp_path / "walk.txt"
    prose.write_text("A long walk with\nmany turns and\nno end to it.\n", encoding="utf-8")
    dialog.rehearse_paths([prose])
    read(qtbot, dialog)
    assert not dialog.rehearse.content.by_line.isVisible()
    assert not any("list" in words for words in sentences(dialog))
