"""Sealing in the window: the key is made and opened, a memory sealed, read, put back and erased, and nothing stays."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import TypeVar

import pytest
from engine_rig import Rig, error_of, later
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot
from window_rig import hear, remember, settle

from core.errors import Code
from core.types.memory import CopyFinding, CopyState, SealedCopiesReport
from core.types.values import OWNER_ACTOR
from ui.context import Context
from ui.erasure import CertificateDialog
from ui.registry import ROOMS
from ui.shell.seal_dialog import SealDialog, SealedCopiesDialog, SealedListDialog, SealKeyDialog, describe_rewritten
from ui.shell.window import MainWindow
from ui.strings import seal_strings

SECRET = "a second secret"
TEXT = "The spare key hangs behind the water meter."


D = TypeVar("D", bound=SealKeyDialog)


def shown(dialog: D, qtbot: QtBot) -> D:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def open_list(context: Context, qtbot: QtBot) -> SealedListDialog:
    return shown(SealedListDialog(context, None), qtbot)  # nothing holds it but the test


@pytest.fixture
def key(rig: Rig) -> str:
    return rig.engine.seal.set_up(SECRET).result(30)


def test_the_key_is_made_and_its_code_shown_once(context: Context, rig: Rig, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = open_list(context, qtbot)
    settle(qtbot, lambda: dialog.set_up_button.isDefault())
    assert dialog.step == 0
    dialog.set_up_button.click()
    assert dialog.trouble.text() == seal_strings()["set_up"]["empty"]
    QTest.keyClicks(dialog.first, SECRET)
    QTest.keyClicks(dialog.second, SECRET + "x")
    dialog.set_up_button.click()
    assert dialog.step == 0
    assert not dialog.trouble.isHidden()
    dialog.second.setText(SECRET)
    dialog.set_up_button.click()
    settle(qtbot, lambda: dialog.step == 1)
    code = dialog.code.code
    dialog.reject()  # Escape does not lose it
    assert dialog.isVisible()
    clipboard = QGuiApplication.clipboard()
    dialog.code.copy.click()
    assert clipboard.text() == code
    mime = clipboard.mimeData()
    assert mime is not None
    assert mime.hasFormat("x-kde-passwordManagerHint")  # a history of the clipboard leaves it out
    dialog.kept.click()  # two groups are typed back, as of every other code
    assert len(dialog.check.fields) == 2
    assert dialog.code.isHidden()
    dialog.kept.click()
    assert dialog.trouble.text().startswith("Groups ")
    assert (dialog.step, dialog.code.code) == (1, code)
    QTest.keyClick(next(iter(dialog.check.fields.values())), Qt.Key.Key_Return)
    assert (dialog.step, dialog.code.code) == (1, code)
    dialog.again.click()
    assert not dialog.code.isHidden()
    dialog.save_code(dialog.code, tmp_path / "code.txt", opens_sealed=True)
    settle(qtbot, lambda: dialog.code.note.text().startswith("Saved"))
    written = tmp_path / "code.txt"
    assert (code in written.read_text(), "sealed memories" in written.read_text()) == (True, True)
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert (dialog.first.text(), dialog.second.text()) == ("", "")
    dialog.kept.click()
    settle(qtbot, lambda: dialog.step == 3 and not dialog.none.isHidden())
    assert (dialog.code.code, clipboard.text()) == ("", "")
    rig.engine.seal.close()
    assert rig.engine.seal.open(code).result(30).is_open


def test_the_code_is_typed_back_with_the_keys_alone(context: Context, rig: Rig, qtbot: QtBot) -> None:
    dialog = open_list(context, qtbot)
    settle(qtbot, lambda: dialog.set_up_button.isDefault())
    dialog.first.setText(SECRET)
    dialog.second.setText(SECRET)
    dialog.set_up_button.click()
    settle(qtbot, lambda: dialog.step == 1)
    code = dialog.code.code
    dialog.kept.click()
    for number, field in dialog.check.fields.items():
        field.setText(code.split("-")[number - 1])
    QTest.keyClick(list(dialog.check.fields.values())[-1], Qt.Key.Key_Return)
    settle(qtbot, lambda: dialog.step == 3)
    assert (dialog.code.code, dialog.check.fields) == ("", {})


def test_a_memory_is_sealed_read_and_put_back(context: Context, rig: Rig, qtbot: QtBot, key: str) -> None:
    heard = hear(context)
    memory = remember(rig.engine, TEXT).memory_id
    rig.engine.seal.close()
    dialog = shown(SealDialog(context, None, (memory,)), qtbot)  # type: ignore[arg-type]  # as above
    settle(qtbot, lambda: dialog.step == 2)
    dialog.secret.setText("wrong")
    dialog.open_button.click()
    settle(qtbot, lambda: not dialog.trouble.isHidden() and not dialog.is_busy)
    assert dialog.secret.text() == ""
    dialog.secret.setText(SECRET)
    dialog.open_button.click()
    settle(qtbot, lambda: dialog.step == 3 and dialog.seal_button.isEnabled())
    assert dialog.head.text() == f"“{TEXT}”"  # which memory it is
    dialog.label.setText("the spare key")
    dialog.seal_button.click()
    settle(qtbot, lambda: not dialog.isVisible())
    assert dialog.head.text() == ""
    assert rig.rows("SELECT id FROM memories") == []

    again = open_list(context, qtbot)
    settle(qtbot, lambda: again.text.toPlainText() == TEXT)
    assert [row.label for row in again.list.lines.list_rows()] == ["the spare key"]
    again.back_button.click()
    settle(qtbot, lambda: not again.none.isHidden())
    assert again.text.toPlainText() == ""
    assert rig.rows("SELECT text FROM memories") == [(TEXT,)]
    done = seal_strings()["done"]
    assert heard.sentences == [done["sealed"]["one"], done["back"]]
    assert not any(TEXT in sentence for sentence in heard.sentences)


def test_erasing_one_needs_a_second_press(context: Context, rig: Rig, qtbot: QtBot, key: str) -> None:
    rig.engine.seal.seal([remember(rig.engine, TEXT).memory_id]).result(30)
    dialog = open_list(context, qtbot)
    settle(qtbot, lambda: dialog.text.toPlainText() == TEXT)
    dialog.erase_button.click()
    assert dialog.erase_button.text() == seal_strings()["list"]["sure"]
    assert len(rig.engine.seal.list_rows().result(30)) == 1
    dialog.erase_button.click()
    settle(qtbot, lambda: not dialog.none.isHidden())
    assert rig.engine.seal.list_rows().result(30) == ()
    assert rig.rows("SELECT id FROM memories") == []
    settle(qtbot, lambda: any(one.isVisible() for one in dialog.findChildren(CertificateDialog)))
    assert len(rig.engine.erasures.list_certificates().result(30)) == 1
    assert rig.rows("SELECT count(*) FROM tombstones") != [(0,)]  # no older archive brings it back


def test_enter_in_the_search_of_sealed_memories_presses_nothing(
    context: Context, rig: Rig, qtbot: QtBot, key: str
) -> None:
    rig.engine.seal.seal([remember(rig.engine, TEXT).memory_id]).result(30)
    dialog = open_list(context, qtbot)
    settle(qtbot, lambda: dialog.text.toPlainText() == TEXT)
    dialog.search.setFocus()
    QTest.keyClicks(dialog.search, "nothing of the kind")
    QTest.keyClick(dialog.search, Qt.Key.Key_Return)
    settle(qtbot, lambda: not dialog.none.isHidden())
    assert dialog.isVisible()


def test_what_was_read_goes_when_the_key_does(context: Context, rig: Rig, qtbot: QtBot, key: str) -> None:
    rig.engine.seal.seal([remember(rig.engine, TEXT).memory_id]).result(30)
    dialog = open_list(context, qtbot)
    settle(qtbot, lambda: dialog.text.toPlainText() == TEXT)
    later(rig)
    dialog.request_state()
    settle(qtbot, lambda: dialog.step == 2)
    assert dialog.text.toPlainText() == ""


def test_it_closes_with_the_vault_and_keeps_nothing(context: Context, rig: Rig, qtbot: QtBot, key: str) -> None:
    rig.engine.seal.seal([remember(rig.engine, TEXT).memory_id]).result(30)
    dialog = open_list(context, qtbot)
    settle(qtbot, lambda: dialog.text.toPlainText() == TEXT)
    dialog.secret.setText("typed")
    rig.lock()
    settle(qtbot, lambda: not dialog.isVisible())
    assert (dialog.text.toPlainText(), dialog.secret.text()) == ("", "")


def test_the_window_opens_it_from_its_menu(context: Context, rig: Rig, qtbot: QtBot, key: str) -> None:
    window = MainWindow(context, ROOMS)
    qtbot.addWidget(window)
    window.show()
    context.bridge.state.emit("open")
    settle(qtbot, lambda: window.house is not None)
    context.commands.run("file.sealed")
    dialog = window.findChild(SealedListDialog)
    assert dialog is not None
    settle(qtbot, lambda: dialog.step == 3)
    dialog.close()


def test_files_are_opened_and_saved_while_it_shows_and_no_copy_stays(
    context: Context, rig: Rig, qtbot: QtBot, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown_files: list[Path] = []

    def show(url: QUrl) -> bool:
        shown_files.append(Path(url.toLocalFile()))
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", show)
    heard = hear(context)
    source = tmp_path / "key.txt"
    source.write_text(TEXT)
    attached = rig.engine.files.attach(source, OWNER_ACTOR, caption="Where it hangs").result(60)
    without = remember(rig.engine, "The meter is read in May.").memory_id
    rig.engine.seal.seal([attached.memory_id], "the key").result(30)
    rig.engine.seal.seal([without], "the meter").result(30)
    dialog = open_list(context, qtbot)
    settle(qtbot, lambda: len(dialog.list.lines.list_rows()) == 2)
    dialog.list.select_rows(without)
    settle(qtbot, lambda: "May" in dialog.text.toPlainText())
    assert dialog.files.isHidden()
    dialog.list.select_rows(attached.memory_id)
    settle(qtbot, lambda: len(dialog.files.cards) == 1)
    assert dialog.files.cards[0].name.text() == "key.txt"

    dialog.files.open_buttons[0].click()
    settle(qtbot, lambda: len(shown_files) == 1)
    assert shown_files[0].read_text() == TEXT
    assert stat.S_IMODE(shown_files[0].stat().st_mode) == 0o600
    file = rig.engine.seal.files.list_files(attached.memory_id).result(30)[0]
    dialog.files.save_to(file, tmp_path / "copy.txt")
    settle(qtbot, lambda: (tmp_path / "copy.txt").exists() and len(heard.sentences) == 2)
    assert heard.sentences[0] == seal_strings()["list"]["opened"]
    assert shown_files[0].exists()

    later(rig)
    dialog.request_state()
    settle(qtbot, lambda: dialog.step == 2)
    assert dialog.files.cards == []
    assert not shown_files[0].exists()
    assert (tmp_path / "copy.txt").read_text() == TEXT


def test_a_file_of_a_sealed_memory_replaces_nothing(rig: Rig, key: str, tmp_path: Path) -> None:
    source = tmp_path / "key.txt"
    source.write_text(TEXT)
    attached = rig.engine.files.attach(source, OWNER_ACTOR).result(60)
    rig.engine.seal.seal([attached.memory_id]).result(30)
    (file,) = rig.engine.seal.files.list_files(attached.memory_id).result(30)
    assert error_of(rig.engine.seal.files.save_file(attached.memory_id, file.id, source)).code is Code.FILE_REFUSED
    rig.engine.seal.close()
    new = tmp_path / "new.txt"
    assert error_of(rig.engine.seal.files.save_file(attached.memory_id, file.id, new)).code is Code.SEALED
    assert not new.exists()


def test_backups_from_before_are_rewritten_after_sealing(context: Context, rig: Rig, qtbot: QtBot, key: str) -> None:
    memory = remember(rig.engine, TEXT).memory_id
    name = Path(rig.engine.vault.backup().result(60)["path"]).name
    host = QWidget()
    qtbot.addWidget(host)
    host.show()
    dialog = SealDialog(context, host, (memory,))
    dialog.open()
    settle(qtbot, lambda: dialog.step == 3 and dialog.seal_button.isEnabled())
    assert "1 backup made earlier holds it unsealed" in dialog.effects.text()
    dialog.seal_button.click()
    settle(qtbot, lambda: host.findChild(SealedCopiesDialog) is not None)
    copies = host.findChild(SealedCopiesDialog)
    assert copies is not None
    settle(qtbot, lambda: copies.rewrite_button.isEnabled())
    assert (copies.names.text(), copies.rewrite_button.isDefault()) == (name, True)
    copies.rewrite_button.click()
    settle(qtbot, lambda: "1 backup was rewritten" in copies.found.text())
    assert name in copies.found.text()
    assert (copies.rewrite_button.isHidden(), copies.later_button.text()) == (True, "Close")
    assert rig.engine.seal.copies.list_older().result(30).names == ()
    copies.later_button.click()
    again = shown(SealedCopiesDialog(context, None), qtbot)
    settle(qtbot, lambda: again.found.text() == seal_strings()["copies"]["none"])


def test_what_cannot_be_rewritten_is_named_with_what_to_do() -> None:
    report = SealedCopiesReport(
        (CopyFinding("a.tar", CopyState.REWRITTEN), CopyFinding("b.db", CopyState.OTHER_KEYS)), ("/stick/c.tar",), 1
    )
    told = describe_rewritten(report)
    assert [line.splitlines()[-1] for line in told[:3]] == ["a.tar", "b.db", "/stick/c.tar"]
    assert len(told) == 4
    clean = SealedCopiesReport((CopyFinding("a.tar", CopyState.CLEAN),), (), 0)
    assert describe_rewritten(clean) == [seal_strings()["copies"]["none"]]


@pytest.mark.parametrize("percent", [100, 150])
def test_it_fits_a_small_window_and_its_buttons_stay_in_sight(
    context: Context, rig: Rig, qtbot: QtBot, key: str, tmp_path: Path, percent: int
) -> None:
    note = tmp_path / "where it hangs.txt"
    note.write_text(TEXT)
    attached = rig.engine.files.attach(note, OWNER_ACTOR, caption="Where it hangs").result(60).memory_id
    ids = [remember(rig.engine, f"{TEXT} Hook {nr}.").memory_id for nr in range(6)]
    rig.engine.seal.seal(ids, "the spare key").result(30)
    later(rig, 0.001)
    rig.engine.seal.seal([attached], "the file").result(30)  # the newest is shown first
    context.theme.apply_theme("light", percent)
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1024, 700)
    window.show()
    dialog = SealedListDialog(context, window)
    dialog.open()
    settle(qtbot, lambda: dialog.step == 3 and not dialog.files.isHidden())
    qtbot.wait(50)
    assert dialog.height() <= 700
    for button in (dialog.done_button, dialog.close_button, dialog.back_button, dialog.erase_button):
        assert button.isVisible()
        assert dialog.rect().contains(button.mapTo(dialog, button.rect().bottomRight()))
    assert dialog.done_button.isDefault()
    if percent == 150:
        assert dialog.area.verticalScrollBar().maximum() > 0  # what does not fit is reached by scrolling
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert rig.engine.seal.is_open  # it closes, and locks nothing


def test_a_step_that_is_higher_stays_on_the_screen(context: Context, rig: Rig, qtbot: QtBot, key: str) -> None:
    rig.engine.seal.seal([remember(rig.engine, TEXT).memory_id]).result(30)
    rig.engine.seal.close()
    dialog = open_list(context, qtbot)
    settle(qtbot, lambda: dialog.step == 2)
    screen = dialog.screen().availableGeometry()
    dialog.move(10, screen.bottom() - dialog.frameGeometry().height())  # low, but all of it is to be seen
    low = dialog.height()
    dialog.secret.setText(SECRET)
    dialog.open_button.click()
    settle(qtbot, lambda: dialog.step == 3 and dialog.text.toPlainText() == TEXT)
    assert dialog.height() > low
    assert screen.contains(dialog.frameGeometry())


@pytest.mark.parametrize(
    ("opens_sealed", "name"), [(True, "Loci recovery code for sealed memories.txt"), (False, "Loci recovery code.txt")]
)
def test_each_recovery_code_is_saved_under_a_name_of_its_own(
    context: Context, qtbot: QtBot, name: str, *, opens_sealed: bool
) -> None:
    dialog = open_list(context, qtbot)
    view = dialog.make_code_view(opens_sealed=opens_sealed)
    for widget in (view, view.copy, view.save):
        qtbot.addWidget(widget)
    view.save.click()
    asking = view.findChild(QFileDialog)
    assert isinstance(asking, QFileDialog)
    assert [Path(one).name for one in asking.selectedFiles()] == [name]
    asking.close()
