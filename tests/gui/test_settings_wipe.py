"""Removing everything from this computer in the settings: the secret, what goes, the word, the report, the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import shiboken6
from engine_rig import PASSPHRASE, Rig
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from window_rig import settle

from app.window.desktop import HomeStore
from core.config.window import WindowOptions
from ui.context import Command, Context
from ui.pages.settings.page import SETTINGS, SettingsPage, settings_commands
from ui.pages.settings.wipe import WipeDialog


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def dialog(context: Context, window: QWidget, rig: Rig) -> Iterator[WipeDialog]:
    rig.store("Ada keeps bees")
    made = WipeDialog(context, window)
    made.open()
    yield made
    if shiboken6.isValid(made):
        made.reject()


def show_preview(dialog: WipeDialog, qtbot: QtBot) -> None:
    dialog.secret.setText(PASSPHRASE)
    dialog.show_button.click()
    settle(qtbot, lambda: dialog.preview is not None)


def test_nothing_is_shown_without_the_secret(dialog: WipeDialog, qtbot: QtBot) -> None:
    dialog.show_button.click()
    assert "Enter the passphrase" in dialog.trouble.text()
    dialog.secret.setText("not it")
    dialog.show_button.click()
    settle(qtbot, lambda: not dialog.is_busy)
    assert dialog.trouble.text()
    assert dialog.preview is None
    assert dialog.act.isHidden()


def test_the_word_is_asked_for_and_without_it_nothing_goes(dialog: WipeDialog, qtbot: QtBot, rig: Rig) -> None:
    show_preview(dialog, qtbot)
    assert "1 memory" in dialog.text.toPlainText()
    assert "WARNING" in dialog.text.toPlainText()
    assert dialog.ask.isHidden()
    for typed in ("", "yes", "wipe it"):
        dialog.word.setText(typed)
        dialog.act.click()
        assert "Type wipe" in dialog.trouble.text()
    assert rig.texts() == ["Ada keeps bees"]


def test_everything_goes_and_the_report_is_shown_and_saved(
    dialog: WipeDialog, qtbot: QtBot, rig: Rig, context: Context, tmp_path: Path
) -> None:
    quits: list[str] = []
    context.commands.add(Command("file.quit", "Quit", lambda: quits.append("quit")))
    show_preview(dialog, qtbot)
    dialog.word.setText(" Wipe ")
    dialog.act.click()
    assert dialog.secret.text() == ""
    settle(qtbot, lambda: dialog.report is not None)
    assert not rig.home.path.exists()
    assert "Loci: data removed" in dialog.text.toPlainText()
    assert dialog.cancel.isHidden()
    to = tmp_path / "report.txt"
    dialog.save_to(to)
    settle(qtbot, lambda: "Saved" in dialog.state.text())
    assert "What you still have to do" in to.read_text(encoding="utf-8")
    dialog.save_to(tmp_path / "nowhere" / "report.txt")
    settle(qtbot, lambda: "could not be saved" in dialog.state.text())
    dialog.quit.click()
    assert quits == ["quit"]
    HomeStore(rig.engine).save(WindowOptions(), {"house.page": "settings"})
    assert rig.engine.run_aside(rig.home.path.exists).result(30) is False


def test_a_secret_that_was_changed_meanwhile_is_asked_for_again(dialog: WipeDialog, qtbot: QtBot, rig: Rig) -> None:
    show_preview(dialog, qtbot)
    rig.engine.vault.change_passphrase(PASSPHRASE, "another one").result(60)
    dialog.word.setText("wipe")
    dialog.act.click()
    settle(qtbot, lambda: not dialog.is_busy)
    assert dialog.preview is None
    assert not dialog.ask.isHidden()
    assert dialog.trouble.text()
    assert rig.home.keys.exists()


def test_locking_closes_it(dialog: WipeDialog, qtbot: QtBot, rig: Rig) -> None:
    show_preview(dialog, qtbot)
    closed: list[int] = []
    dialog.finished.connect(closed.append)
    rig.lock()
    settle(qtbot, lambda: bool(closed))


def test_the_palette_the_vault_and_the_devices_lead_to_it(
    context: Context, qtbot: QtBot, rig: Rig, window: QWidget
) -> None:
    gone: list[tuple[str, str]] = []
    context.desk.go.connect(lambda page, target: gone.append((page, target)))
    (command,) = (one for one in settings_commands(context) if one.id == "settings.wipe")
    command.run()
    page = SETTINGS.make(context)
    assert isinstance(page, SettingsPage)
    qtbot.addWidget(page)
    page.show()
    page.activate(gone[0][1])
    settle(qtbot, lambda: bool(page.findChildren(WipeDialog)))
    page.findChildren(WipeDialog)[-1].reject()
    for line in (page.vault.wipe, page.devices.retire):
        assert line.button is not None
        line.button.click()
        found = [one for one in page.findChildren(WipeDialog) if one.isVisible()]
        assert len(found) == 1
        found[0].reject()
    page.deactivate()
