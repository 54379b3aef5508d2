"""The settings: generated from their models, searched, changed at once, reset and undone; the vault's keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_rig import PASSPHRASE, Rig, opens_with_code
from memory_ring import Ring
from PySide6.QtCore import QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QSpinBox, QWidget
from pytestqt.qtbot import QtBot
from window_rig import hear, settle

from core.config.options import Options
from core.config.window import WindowOptions
from core.engine.runtime.settings import Settings
from core.errors import Code, EnvironmentFaultError
from core.types.replies import OptionRow
from ui.context import Context
from ui.pages.settings.keys import KeyringDialog, PassphraseDialog, RecoveryDialog, RotationDialog, shorten_path
from ui.pages.settings.page import PARTS, LicenceDialog, ResetDialog, SettingsPage, find_line, settings_commands
from ui.pages.settings.rows import Switch, describe_option_value, make_control
from ui.shell.actions import PaletteEntry, rank_entries
from ui.strings import command_strings, settings_strings
from ui.widgets.check_report import CheckReportDialog


@pytest.fixture
def page(context: Context, qtbot: QtBot) -> Iterator[SettingsPage]:
    made = SettingsPage(context)
    context.bridge.changed.connect(made.handle_change)
    made.resize(1000, 640)
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()
    made.activate()
    settle(qtbot, made.is_settled)
    yield made
    made.deactivate()
    made.close()
    made.deleteLater()


def field_of(page: SettingsPage, name: str) -> Any:
    return page.lines[name].control.field


def stored(rig: Rig, name: str) -> object:
    return {row.name: row.value for row in rig.engine.settings.read_rows().result(30)}[name]


def seen(page: SettingsPage) -> list[str]:
    return [line.title.text() for section in page.sections for line in section.lines if line.isVisibleTo(page)]


def option(**more: Any) -> OptionRow:
    return OptionRow("x", "Title", "Description.", "Group", **{"kind": "int", "default": 1, "value": 1, **more})


# ---- what there is


def test_every_option_has_a_line_under_its_group(page: SettingsPage) -> None:
    assert set(page.lines) == set(WindowOptions.model_fields) | set(Options.model_fields)
    titles = [section.title for section in page.sections]
    assert titles[:3] == ["Appearance", "Window", "History"]
    assert titles[-2:] == ["Vault and keys", "About"]
    assert [page.groups.item(at).text() for at in range(page.groups.count())] == titles
    assert page.lines["undo_days"].note == "Default 90 days · 1 to 3,650"
    assert "takes effect at the next start" in page.lines["hnsw_from"].note


def test_searching_leaves_what_holds_every_word(page: SettingsPage) -> None:
    page.search.setText("undo hist")
    assert seen(page) == ["Undo history"]
    page.search.setText("PASSPHRASE")
    assert "Passphrase" in seen(page)
    assert "Theme" not in seen(page)
    page.search.setText("zebra")
    instead = page.states.currentWidget()
    assert instead is not None
    assert "zebra" in instead.accessibleName()
    page.search.clear()
    assert page.states.currentWidget() is page.area
    assert "Theme" in seen(page)


def test_a_wish_leads_to_a_group_or_searches(page: SettingsPage, qtbot: QtBot) -> None:
    page.activate("Vault and keys")
    settle(qtbot, lambda: page.area.verticalScrollBar().value() > 0)
    current = page.groups.currentItem()
    assert current is not None
    assert current.text() == "Vault and keys"
    page.activate("theme")
    assert "Theme" in seen(page)
    assert "Backups" not in seen(page)


def test_where_it_is_narrow_everything_still_fits(page: SettingsPage, context: Context, qtbot: QtBot) -> None:
    page.advanced.setChecked(True)
    context.theme.apply_theme("light", 150)
    page.resize(560, 500)
    settle(qtbot, page.groups.isHidden)
    settle(qtbot, lambda: page._inner.width() <= page.area.viewport().width())
    for line in page.lines.values():
        right = line.control.mapTo(page._inner, QPoint(line.control.width(), 0)).x()
        assert right <= page.area.viewport().width()


def test_what_only_experts_need_is_behind_a_switch_and_a_search_finds_it(
    page: SettingsPage, context: Context, qtbot: QtBot
) -> None:
    plain = seen(page)
    assert "Undo history" in plain
    assert not {"Import batch", "Merge from", "Fast index from"} & set(plain)
    hidden = [page.groups.item(at).text() for at in range(page.groups.count()) if page.groups.item(at).isHidden()]
    assert "Merging duplicates" in hidden
    page.search.setText("import batch")
    assert seen(page) == ["Import batch"]
    page.search.clear()
    assert seen(page) == plain
    page.advanced.click()
    assert {"Import batch", "Merge from", "Fast index from"} <= set(seen(page))
    assert context.prefs.read_text("settings.advanced") == "shown"
    page.advanced.click()
    context.bridge.engine.settings.set_option("import_batch", 100).result(30)
    settle(qtbot, lambda: page.lines["import_batch"].row.value == 100)
    settle(qtbot, lambda: "Import batch" in seen(page))


def test_every_control_has_a_name(page: SettingsPage) -> None:
    for widget in page.findChildren(QWidget):
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisibleTo(page):
            inside = isinstance(widget.parent(), QSpinBox)  # a spin box's own line has its name
            assert inside or widget.accessibleName() or getattr(widget, "text", str)(), type(widget).__name__


def test_no_turn_makes_more_than_a_few_lines_of_one_group(context: Context, qtbot: QtBot) -> None:
    page = SettingsPage(context)
    assert not page.lines, "nothing is made before the page is shown"
    page.show()
    page.activate()
    assert not page.is_settled()
    before: set[str] = set()
    while page._unbuilt:
        page._build_next_group()
        made = set(page.lines) - before
        assert len({page.lines[name].row.group for name in made}) == 1
        assert 1 <= len(made) <= 3
        before = set(page.lines)
    assert not page.is_settled(), "the vault's options are still being read"
    settle(qtbot, page.is_settled)
    assert set(page.lines) == set(WindowOptions.model_fields) | set(Options.model_fields)
    assert not page._slices.isActive()
    page.deactivate()
    page.close()
    page.deleteLater()


# ---- changing


def test_a_number_is_told_once_after_a_pause(page: SettingsPage, rig: Rig, qtbot: QtBot) -> None:
    spin = field_of(page, "undo_days")
    for _ in range(3):
        QTest.keyClick(spin, Qt.Key.Key_Up)
    assert stored(rig, "undo_days") == 90
    settle(qtbot, lambda: stored(rig, "undo_days") == 93)
    steps = rig.engine.history.list_steps().result(30)
    assert [step.label for step in steps.rows] == ["Change the setting Undo history"]
    settle(qtbot, page.lines["undo_days"].reset_button.isVisible)


def test_a_reset_gives_one_option_its_default(page: SettingsPage, rig: Rig, qtbot: QtBot) -> None:
    rig.engine.settings.set_option("undo_days", 12).result(30)
    settle(qtbot, page.lines["undo_days"].reset_button.isVisible)
    assert field_of(page, "undo_days").value() == 12  # changed elsewhere, shown here
    page.lines["undo_days"].reset_button.click()
    settle(qtbot, lambda: stored(rig, "undo_days") == 90)
    settle(qtbot, lambda: not page.lines["undo_days"].reset_button.isVisible())


def test_an_undo_is_shown(page: SettingsPage, rig: Rig, qtbot: QtBot) -> None:
    rig.engine.settings.set_option("receipt_days", 3).result(30)
    settle(qtbot, lambda: field_of(page, "receipt_days").value() == 3)
    rig.undo()
    settle(qtbot, lambda: field_of(page, "receipt_days").value() == 30)


def test_a_change_that_fails_is_told_in_place(
    page: SettingsPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> object:
        raise EnvironmentFaultError(Code.DISK_FULL, "The disk is full.")

    monkeypatch.setattr(Settings, "set_option", full)
    spin = field_of(page, "backups_kept")
    spin.setValue(9)
    page.lines["backups_kept"].control.submit_pending()
    settle(qtbot, lambda: page.lines["backups_kept"].told.text() == "The disk is full.")
    assert spin.value() == 3


def test_options_of_the_window_hold_at_once(page: SettingsPage, context: Context) -> None:
    combo = field_of(page, "theme")
    assert isinstance(combo, QComboBox)
    combo.setCurrentIndex(combo.findData("dark"))
    combo.activated.emit(combo.currentIndex())
    assert context.prefs.options.theme == "dark"
    switch = field_of(page, "reduced_motion")
    assert isinstance(switch, Switch)
    QTest.keyClick(switch, Qt.Key.Key_Space)
    assert context.prefs.options.reduced_motion
    context.prefs.change_options(lambda options: options.model_copy(update={"text_size": 130}))
    assert field_of(page, "text_size").currentText() == "130 %"  # not among the choices, shown all the same
    page.lines["theme"].reset_button.click()
    assert page.lines["theme"].row.value == "system"


def test_leaving_the_page_keeps_what_was_typed(page: SettingsPage, rig: Rig, qtbot: QtBot) -> None:
    field_of(page, "undo_days").setValue(44)
    page.deactivate()
    settle(qtbot, lambda: stored(rig, "undo_days") == 44)


def test_the_wheel_does_not_change_what_one_scrolls_over(page: SettingsPage) -> None:
    page.search.setFocus()
    for name, before in (("undo_days", 90), ("text_size", 100)):
        field = field_of(page, name)
        event = QWheelEvent(
            QPointF(5, 5),
            QPointF(field.mapToGlobal(QPoint(5, 5))),
            QPoint(0, 0),
            QPoint(0, 120),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,  # noqa: FBT003 - Qt's order
        )
        QApplication.sendEvent(field, event)
        assert (field.value() if isinstance(field, QSpinBox) else field.currentData()) == before


def test_everything_is_reset_and_brought_back(page: SettingsPage, context: Context, rig: Rig, qtbot: QtBot) -> None:
    told: list[tuple[str, Any]] = []
    context.desk.message_asked.connect(lambda sentence, _action, run: told.append((sentence, run)))
    rig.engine.settings.set_option("undo_days", 12).result(30)
    context.prefs.change_options(lambda options: options.model_copy(update={"theme": "dark"}))
    settle(qtbot, lambda: page.lines["undo_days"].row.value == 12)
    page.reset_all.click()
    dialog = page.findChild(ResetDialog)
    assert dialog is not None
    assert dialog.act.text() == "Reset 2 settings"
    dialog.act.click()
    settle(qtbot, lambda: bool(told))
    assert (stored(rig, "undo_days"), context.prefs.options.theme) == (90, "system")
    rig.store("Another step, after it.")
    told[0][1]()
    settle(qtbot, lambda: stored(rig, "undo_days") == 12)
    assert context.prefs.options.theme == "dark"


@pytest.mark.parametrize(
    ("row", "value", "words"),
    [
        (option(unit="days"), 1200, "1,200 days"),
        (option(kind="bool"), True, "on"),
        (option(kind="choice", choices={"a": "First"}), "a", "First"),
        (option(kind="text"), "", "none"),
        (option(kind="float"), 0.25, "0.25"),
    ],
)
def test_values_are_said_in_words(row: OptionRow, value: object, words: str) -> None:
    assert describe_option_value(row, value) == words


@pytest.mark.parametrize(
    ("row", "value"),
    [
        (option(least=0, most=9), 4),
        (option(kind="float", default=0.1, value=0.1, least=0.0, most=1.0), 0.35),
        (option(kind="text", default="a", value="a"), "b"),
        (option(kind="bool", default=False, value=False), True),
        (option(kind="choice", default="a", value="a", choices={"a": "A", "b": "B"}), "b"),
    ],
)
def test_every_kind_has_a_control_that_shows_and_tells(
    context: Context, qtbot: QtBot, row: OptionRow, value: object
) -> None:
    control = make_control(context.theme, row)
    qtbot.addWidget(control)
    told: list[object] = []
    control.wanted.connect(told.append)
    control.show_value(value)
    control.submit_pending()
    assert told == []
    field: Any = control.field
    match row.kind:
        case "bool":
            field.click()
        case "choice":
            field.setCurrentIndex(0)
            field.activated.emit(0)
        case "text":
            field.setText("c")
        case _:
            field.stepUp()
    control.submit_pending()
    assert told == [{"bool": False, "choice": "a", "text": "c", "int": 5, "float": 0.4}[row.kind]]


# ---- the vault and its keys


def test_the_passphrase_is_changed(page: SettingsPage, rig: Rig, qtbot: QtBot) -> None:
    page.vault.passphrase.button.click()  # type: ignore[union-attr]  # it is there, or the test fails here
    dialog = page.vault.findChild(PassphraseDialog)
    assert dialog is not None
    for field, typed in ((dialog.old, "wrong"), (dialog.first, "harbour lamp"), (dialog.second, "harbour lump")):
        field.setText(typed)
    dialog.act.click()
    assert "do not match" in dialog.trouble.text()
    dialog.second.setText("harbour lamp")
    dialog.act.click()
    assert [field.text() for field in (dialog.old, dialog.first, dialog.second)] == ["", "", ""]  # while keys are made
    settle(qtbot, lambda: dialog.trouble.isVisible() and not dialog.is_busy)
    for field in (dialog.old, dialog.first, dialog.second):
        assert field.text() == ""
    for field, typed in ((dialog.old, PASSPHRASE), (dialog.first, "harbour lamp"), (dialog.second, "harbour lamp")):
        field.setText(typed)
    dialog.act.click()
    settle(qtbot, lambda: page.vault.passphrase.told.text() == "The passphrase was changed.")
    rig.lock()
    rig.engine.vault.open("harbour lamp").result(60)


def type_back(dialog: RecoveryDialog, code: str) -> None:
    """Type the two groups that are asked for."""
    assert len(dialog.typed.fields) == 2
    for number, field in dialog.typed.fields.items():
        field.setText(code.split("-")[number - 1])


def test_a_new_recovery_code_is_shown_once_and_checked(
    page: SettingsPage, context: Context, rig: Rig, qtbot: QtBot
) -> None:
    heard = hear(context)
    page.vault.recovery.button.click()  # type: ignore[union-attr]  # it is there, or the test fails here
    dialog = page.vault.findChild(RecoveryDialog)
    assert dialog is not None
    assert dialog.make.isDefault()  # Enter goes on, and does not leave
    dialog.secret.setText(PASSPHRASE)
    dialog.make.click()
    settle(qtbot, lambda: dialog.step == 1)
    code = dialog.code
    assert not opens_with_code(rig.engine.home, code)  # the old one holds until this one is typed back
    dialog.copy.click()
    dialog.kept.click()
    for field in dialog.typed.fields.values():
        field.setText("AAAA")
    dialog.check.click()
    assert dialog.trouble.text().startswith("Groups ")
    assert not opens_with_code(rig.engine.home, code)
    type_back(dialog, code.lower())
    dialog.check.click()
    settle(qtbot, lambda: len(heard.sentences) == 1)
    assert heard.sentences[0].startswith("The new recovery code is valid. The old one no longer opens this vault;")
    assert QGuiApplication.clipboard().text() == ""
    assert opens_with_code(rig.engine.home, code)


def test_a_code_that_loci_wrote_into_a_file_need_not_be_typed_back(
    page: SettingsPage, rig: Rig, qtbot: QtBot, tmp_path: Path
) -> None:
    page.vault.recovery.button.click()  # type: ignore[union-attr]  # it is there, or the test fails here
    dialog = page.vault.findChild(RecoveryDialog)
    assert dialog is not None
    dialog.secret.setText(PASSPHRASE)
    dialog.make.click()
    settle(qtbot, lambda: dialog.step == 1)
    code, closed = dialog.code, list[int]()
    dialog.finished.connect(closed.append)
    dialog.save_code(dialog.groups, tmp_path / "code.txt")
    settle(qtbot, lambda: dialog.groups.is_saved)
    dialog.kept.click()
    settle(qtbot, lambda: bool(closed))
    assert opens_with_code(rig.engine.home, code)


@pytest.mark.parametrize("by_locking", [False, True])
def test_a_new_recovery_code_that_was_not_checked_is_given_up(
    page: SettingsPage, context: Context, rig: Rig, qtbot: QtBot, by_locking: bool
) -> None:
    old = rig.engine.vault.new_recovery_code(PASSPHRASE).result(30)
    assert rig.engine.vault.confirm_recovery_code(old).result(30)
    heard = hear(context)
    page.vault.recovery.button.click()  # type: ignore[union-attr]  # it is there, or the test fails here
    dialog = page.vault.findChild(RecoveryDialog)
    assert dialog is not None
    dialog.secret.setText(PASSPHRASE)
    dialog.make.click()
    settle(qtbot, lambda: dialog.step == 1)
    dialog.copy.click()
    assert QGuiApplication.clipboard().text() == dialog.code
    if by_locking:
        rig.lock()
    else:
        dialog.leave.click()
    settle(qtbot, lambda: heard.sentences == ["The new code was discarded. The old one stays valid."])
    assert QGuiApplication.clipboard().text() == ""
    assert opens_with_code(rig.engine.home, old)


def test_backups_from_before_a_seal_are_counted_and_offered(
    page: SettingsPage, context: Context, rig: Rig, qtbot: QtBot
) -> None:
    button, line = page.backups.sealed.button, page.backups.sealed
    assert button is not None
    settle(qtbot, lambda: not button.isEnabled())
    rig.engine.seal.set_up("a second secret").result(30)
    memory = rig.store("The spare key hangs behind the meter.").memory_id
    rig.engine.vault.backup().result(60)
    rig.engine.seal.seal([memory]).result(30)
    page.backups.reload()
    settle(qtbot, button.isEnabled)
    assert line.description.text().startswith("1 backup made before a memory was sealed")
    asked: list[bool] = []
    context.desk.sealed_copies.connect(lambda: asked.append(True))
    button.click()
    assert asked == [True]
    rig.engine.seal.copies.rewrite().result(60)
    context.desk.looked.emit()
    settle(qtbot, lambda: not button.isEnabled())
    assert line.description.text() == "No backup holds the text of a sealed memory unsealed."


def _begin_rotation(page: SettingsPage, rig: Rig, qtbot: QtBot) -> RotationDialog:
    button = page.vault.rotation.button
    assert button is not None
    button.click()
    dialog = page.window().findChild(RotationDialog)
    assert dialog is not None
    dialog.secret.setText(PASSPHRASE)
    dialog.make.click()
    settle(qtbot, lambda: dialog.step == 1)
    return dialog


def test_the_vault_gets_new_keys_while_the_dialog_waits(
    page: SettingsPage, context: Context, rig: Rig, qtbot: QtBot
) -> None:
    heard = hear(context)
    states: list[str] = []
    context.bridge.state.connect(states.append)
    dialog = _begin_rotation(page, rig, qtbot)
    code = dialog.code
    dialog.kept.click()
    dialog.check.click()
    assert dialog.trouble.text().startswith("Groups ")
    type_back(dialog, code)
    dialog.check.click()
    settle(qtbot, lambda: heard.sentences == ["The vault is encrypted with new keys."])
    assert "locked" in states
    assert rig.engine.state == "open"
    assert opens_with_code(rig.engine.home, code)


def test_new_keys_name_how_many_backups_keep_the_old_ones(
    page: SettingsPage, context: Context, rig: Rig, qtbot: QtBot
) -> None:
    rig.engine.vault.backup().result(60)
    heard = hear(context)
    dialog = _begin_rotation(page, rig, qtbot)
    dialog.kept.click()
    type_back(dialog, dialog.code)
    dialog.check.click()
    settle(qtbot, lambda: bool(heard.sentences))
    assert "1 earlier backup still opens" in heard.sentences[0]


def test_new_keys_that_were_not_confirmed_are_given_up(
    page: SettingsPage, context: Context, rig: Rig, qtbot: QtBot
) -> None:
    before = rig.home.keys.read_bytes()
    heard = hear(context)
    dialog = _begin_rotation(page, rig, qtbot)
    dialog.leave.click()
    settle(qtbot, lambda: heard.sentences == ["The new keys were discarded. The old ones stay valid."])
    assert rig.home.keys.read_bytes() == before


def test_the_keyring_is_turned_on_and_off_here(page: SettingsPage, rig: Rig, qtbot: QtBot) -> None:
    ring = Ring()
    rig.engine._keys.keyring = ring
    button = page.vault.keyring.button
    assert button is not None
    for words, is_kept in (("Turn on …", True), ("Turn off …", False)):
        settle(qtbot, lambda: button.text() == words)  # noqa: B023 - called before the loop goes on
        button.click()
        dialog = page.vault.findChildren(KeyringDialog)[-1]
        dialog.secret.setText("wrong")
        dialog.act.click()
        settle(qtbot, lambda: "passphrase is wrong" in dialog.trouble.text())  # noqa: B023
        dialog.secret.setText(PASSPHRASE)
        dialog.act.click()
        settle(qtbot, lambda: bool(ring.kept) is is_kept)  # noqa: B023
    settle(qtbot, lambda: button.text() == "Turn on …")


def test_making_backups_stands_above_how_often_they_are_made(page: SettingsPage) -> None:
    assert [line.title.text() for line in page.backups.lines[:3]] == [
        "Backup",
        "Backups here",
        "Backups made before sealing",
    ]
    assert page.lines["backup_days"] in page.backups.lines
    assert [one.title for one in page.sections].count("Backups") == 1


def test_a_backup_and_a_check_say_what_came_of_them(
    page: SettingsPage, rig: Rig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.store("The boat is called Heron.")
    page.backups.backup.button.click()  # type: ignore[union-attr]  # it is there, or the test fails here
    settle(qtbot, lambda: page.backups.backup.told.text().startswith("Saved and verified: loci-"))
    assert page.backups.backup.told.text().endswith(f" in {shorten_path(str(rig.home.backups))}.")
    opened: list[str] = []

    def open_url(url: QUrl) -> bool:
        opened.append(url.toLocalFile())
        return len(opened) == 1

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    page.backups.show_folder.click()
    assert opened == [str(rig.home.backups)]
    page.backups.show_folder.click()
    assert page.backups.backup.told.text().startswith("Nothing on this computer shows folders.")
    page.vault.verify.button.click()  # type: ignore[union-attr]  # it is there, or the test fails here
    settle(qtbot, lambda: page.vault.findChild(CheckReportDialog) is not None)
    assert page.vault.verify.told.text().startswith("Everything is in order.")
    dialog = page.vault.findChild(CheckReportDialog)
    assert dialog is not None
    dialog.close_button.click()


def test_the_vault_says_how_it_is(page: SettingsPage, qtbot: QtBot) -> None:
    settle(qtbot, lambda: page.vault.state.description.text().startswith("Unlocked: 0 memories."))
    settle(qtbot, lambda: page.vault.keyring.description.text().startswith("Does not unlock this vault."))


def test_licences_can_be_read(page: SettingsPage, context: Context, qtbot: QtBot) -> None:
    for part in PARTS:
        dialog = LicenceDialog(context.theme, part, page)
        qtbot.addWidget(dialog)
        assert len(dialog.text.toPlainText()) > 500, part.title


def test_the_group_one_looks_at_is_marked_by_more_than_a_colour(page: SettingsPage, context: Context) -> None:
    def is_barred(at: int) -> bool:
        item = page.groups.item(at)
        page.groups.scrollToItem(item)
        rect = page.groups.visualItemRect(item)
        pixel = page.groups.viewport().grab().toImage().pixelColor(rect.left() + 1, rect.center().y())
        return pixel == context.theme.colour("accent")

    assert page.groups.currentRow() == 0
    assert is_barred(0)
    assert not is_barred(1)
    third = page.sections[2]
    page.area.verticalScrollBar().setValue(third.y())
    assert page.groups.currentItem().text() == third.title
    assert is_barred(2)
    assert not is_barred(0)


def palette_titles(context: Context, typed: str) -> list[str]:
    sealed = command_strings()["commands"]["file.sealed"]
    entries = [PaletteEntry(sealed["title"], "", "", sealed["words"], lambda: None)]
    entries += [PaletteEntry(one.title, "", "", one.words, one.run) for one in settings_commands(context)]
    return [one.title for one in rank_entries(entries, typed)]


def test_the_palette_knows_what_can_be_done_with_keys_and_backups(context: Context) -> None:
    first = {
        "passphrase": "Change passphrase …",
        "recovery": "New recovery code …",
        "certificate": "Erasure certificates …",
        "pair": "Pair a device …",
        "look inside": "Look inside a backup …",
        "backup": "Back up now",
    }
    assert {typed: palette_titles(context, typed)[0] for typed in first} == first
    assert "Look inside a backup …" in palette_titles(context, "restore")


def test_a_command_presses_the_button_of_its_line(page: SettingsPage, qtbot: QtBot) -> None:
    for target in settings_strings()["commands"]:
        line = find_line(page, target)
        assert target == page.vault.title.casefold() or (line is not None and line.button is not None), target
    page.activate("vault:passphrase")
    settle(qtbot, lambda: bool(page.findChildren(PassphraseDialog)))
    current = page.groups.currentItem()
    assert current is not None
    assert current.text() == page.vault.title
    page.findChildren(PassphraseDialog)[-1].reject()


def test_the_side_list_is_whole_before_the_options_are_read(context: Context, qtbot: QtBot, page: SettingsPage) -> None:
    early = SettingsPage(context)
    qtbot.addWidget(early)

    def shown(of: SettingsPage) -> list[tuple[str, bool, int]]:
        items = (of.groups.item(at) for at in range(of.groups.count()))
        return [(item.text(), item.isHidden(), item.sizeHint().height()) for item in items]

    assert shown(early) == shown(page)
    early.show()
    early.activate()
    early._scroll_to(early.groups.item(early.groups.count() - 1))
    settle(qtbot, lambda: early._is_read and not early._target)
    assert early.groups.currentItem().text() == "About"
    early.deactivate()
