"""Watched folders in the settings: added after a look, switched, taken out; what came, and what vanished."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot
from watch_rig import WrittenFolder
from window_rig import settle

from core.types.values import OWNER_ACTOR
from ui.context import Context
from ui.pages.settings.watched_folders import FolderLine, WatchedSection, WatchLogDialog

HOSTILE = "<b>ferry</b>.md"


@pytest.fixture
def notes(tmp_path: Path) -> WrittenFolder:
    root = tmp_path / "notes of mine"
    root.mkdir()
    made = WrittenFolder(root)
    made.write(HOSTILE, "The ferry leaves at seven.")
    return made


@pytest.fixture
def section(qtbot: QtBot, context: Context) -> Iterator[WatchedSection]:
    made = WatchedSection(context)
    qtbot.addWidget(made)
    made.resize(720, 500)
    made.show()
    qtbot.waitExposed(made)
    made.activate()
    yield made
    made.deactivate()
    made.close()


def press(qtbot: QtBot, widget: QWidget, title: str) -> None:
    """Press a button; one that was just made is shown with the next event."""

    def find() -> list[QPushButton]:
        return [one for one in widget.findChildren(QPushButton) if one.isVisibleTo(widget) and one.text() == title]

    settle(qtbot, lambda: len(find()) == 1)
    find()[0].click()


def only_line(section: WatchedSection) -> FolderLine:
    (line,) = section.folders.values()
    return line


def test_a_folder_is_watched_when_the_person_agrees(
    section: WatchedSection, rig: Rig, notes: WrittenFolder, qtbot: QtBot
) -> None:
    section.add.rehearse(notes.root)
    settle(qtbot, lambda: "1 memory would come now" in section.add.told.text())
    assert "notes of mine, read as" in section.add.told.text()
    assert rig.texts() == []
    press(qtbot, section.add, "Not now")
    assert section.add.told.text() == ""
    section.add.rehearse(notes.root)
    settle(qtbot, lambda: "1 memory would come now" in section.add.told.text())
    press(qtbot, section.add, "Watch it")
    settle(qtbot, lambda: len(section.folders) == 1)
    assert rig.texts() == ["The ferry leaves at seven."]
    line = only_line(section)
    assert line.title.text().endswith("notes of mine")
    assert "1 memory from 1 file, in home." in line.holds.text()
    assert line.switch.isChecked()


def test_what_cannot_be_watched_is_said_in_place(section: WatchedSection, tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "empty").mkdir()
    section.add.rehearse(tmp_path / "empty")
    settle(qtbot, lambda: "holds no files" in section.add.told.text())
    assert section.add.button is not None
    settle(qtbot, section.add.button.isVisible)  # it was just made, and is shown with the next event


def test_a_folder_is_switched_and_taken_out(
    section: WatchedSection, rig: Rig, notes: WrittenFolder, qtbot: QtBot
) -> None:
    rig.engine.watches.add(notes.root, "markdown", None, OWNER_ACTOR).result(30)
    section.reload()
    settle(qtbot, lambda: len(section.folders) == 1)
    line = only_line(section)
    line.switch.click()
    settle(qtbot, lambda: line.description.text().startswith("Switched off"))
    line.switch.click()
    settle(qtbot, lambda: not line.description.text().startswith("Switched off"))
    line.remove.click()
    assert "What came of it stays" in line.told.text()
    line.go_on.click()
    assert line.remove.isVisibleTo(line)
    line.remove.click()
    line.really.click()
    settle(qtbot, lambda: not section.folders)
    assert rig.engine.watches.list_folders().result(30) == ()
    assert section.filter_lines("watch") == 1


def test_what_came_and_what_vanished(
    context: Context, section: WatchedSection, rig: Rig, notes: WrittenFolder, qtbot: QtBot
) -> None:
    host = QWidget()
    qtbot.addWidget(host)
    notes.write("boat.md", "The boat is moored.")
    folder = rig.engine.watches.add(notes.root, "markdown", None, OWNER_ACTOR).result(30)
    (notes.root / HOSTILE).unlink()
    (notes.root / "boat.md").unlink()
    folder = rig.engine.watches.look().result(30)[0]
    section.reload()
    settle(qtbot, lambda: len(section.folders) == 1)
    assert "2 files vanished" in only_line(section).told.text()
    dialog = WatchLogDialog(context, folder, host)
    dialog.open()
    settle(qtbot, lambda: dialog.gone.count() == 2)
    said = [dialog.entries.item(at).text() for at in range(dialog.entries.count())]
    assert [line.split("   ")[1] for line in said] == [
        "Vanished: 2 files",
        "Came: 2 new memories",
        "Watched from here on",
    ]
    assert dialog.gone.item(0).text() == f"{HOSTILE}: not there any more, 1 memory"
    dialog.gone.setCurrentRow(0)
    dialog.archive.click()
    settle(qtbot, lambda: dialog.gone.count() == 1)
    assert rig.texts() == ["The boat is moored."]
    dialog.gone.clearSelection()
    dialog.keep.click()
    settle(qtbot, lambda: not dialog.gone.isVisibleTo(dialog))
    assert "stay as they are" in dialog.note.text()
    assert rig.texts() == ["The boat is moored."]
    dialog.close()


def test_a_folder_that_is_not_there_is_told(
    section: WatchedSection, rig: Rig, notes: WrittenFolder, qtbot: QtBot
) -> None:
    rig.engine.watches.add(notes.root, "markdown", None, OWNER_ACTOR).result(30)
    shutil.rmtree(notes.root)
    section.reload()
    settle(qtbot, lambda: len(section.folders) == 1)
    settle(qtbot, lambda: "The folder is missing" in only_line(section).description.text())
