"""What is asked about other devices: a code shown, a code entered, and whether one shall go.

Must not do: keep a code longer than it is shown, or show one that was not just made.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QGridLayout, QLineEdit, QPushButton, QWidget

from core.types.folders.sync import SyncReport
from core.types.replies import PairingOffer
from ui.bridge import make_query, make_write, problem_of
from ui.context import Context
from ui.pages.settings.keys import SecretDialog
from ui.strings import device_strings, window_strings
from ui.widgets.basics import find_usual_folder, make_button, make_column, make_label, make_row, make_timer
from ui.widgets.labels import time_of
from ui.widgets.plaintext import one_line
from ui.widgets.secret import SecretClipboard

LOOK_MS = 4_000
_MOST_NAME, _COLUMNS = 40, 3


def own_name() -> str:
    """What this device is called where the person says nothing else."""
    return platform.node()[:_MOST_NAME] or str(device_strings()["title"])


def ask_folder(parent: QWidget, title: str, chosen: QLineEdit) -> QFileDialog:
    """Let the person choose a folder, into a field.

    Args:
        chosen: shows it; where it begins.
    """
    asking = QFileDialog(parent, title, chosen.text() or find_usual_folder())
    asking.setFileMode(QFileDialog.FileMode.Directory)
    asking.setOption(QFileDialog.Option.ShowDirsOnly)
    asking.fileSelected.connect(chosen.setText)
    asking.open()
    return asking


class _DeviceDialog(SecretDialog):
    """Fields for the folder and the name, and how it is said that something is worked on."""

    def __init__(self, context: Context, topic: str, parent: QWidget) -> None:
        self.strings: Mapping[str, Any] = device_strings()[topic]
        super().__init__(context, self.strings["title"], parent)
        self.folder = QLineEdit()
        self.folder.setAccessibleName(self.strings["folder"])
        self.name = QLineEdit(own_name())
        self.name.setAccessibleName(self.strings["name"])
        self.choose = make_button(device_strings()["pair"]["choose"], self._choose_folder)
        self.choose.setAccessibleName(f"{self.strings['folder']}: {self.choose.text().removesuffix(' …')}")
        self.cancel = make_button(window_strings()["buttons"]["cancel"], self.reject)
        self.fields = QWidget()
        row = make_row(self.folder, self.choose, gap=8)
        row.setStretch(0, 1)
        column = make_column(self.fields, make_label(self.strings["folder"], "strong"), gap=8)
        column.addLayout(row)
        column.addWidget(make_label(self.strings["name"], "strong"))
        column.addWidget(self.name)
        context.bridge.state.connect(self._on_vault_state)

    def _choose_folder(self) -> None:
        ask_folder(self, self.strings["folder"], self.folder)

    def _on_vault_state(self, state: str) -> None:
        if state != "open":
            self.is_busy = False
            self.reject()

    def set_busy(self, button: QPushButton, words: str, *, is_busy: bool) -> None:
        """Wait for the engine, or no more.

        Args:
            words: on the button.
        """
        self.is_busy = is_busy
        button.setText(words)
        for part in (button, self.cancel, self.fields):
            part.setEnabled(not is_busy)

    def show_failure(self, error: BaseException) -> None:
        """Say in place what is wrong."""
        problem = problem_of(error)
        if problem is not None:
            self.show_problem(problem.sentence)


class PairDeviceDialog(_DeviceDialog):
    """Shows a code, and looks into the folder until the other device has answered.

    Signals:
        changed: there is a code now, or a device was let in.
    """

    changed = Signal()

    def __init__(self, context: Context, parent: QWidget, folder: str) -> None:
        """Make it.

        Args:
            folder: where bundles lie already; "" where this is the first device.
        """
        super().__init__(context, "pair", parent)
        self.code = ""
        self._is_first = not folder
        self.make = make_button(self.strings["make"], self._submit_form, kind="primary")
        self.shown = QWidget()
        self.hint = make_label("", "muted", wrap=True)
        self.groups = QWidget()
        self._grid = QGridLayout(self.groups)
        self.copy = make_button(self.strings["copy"], self._copy_code, theme=context.theme, icon="copy")
        self.state = make_label("", "strong", wrap=True)
        make_column(self.shown, self.hint, self.groups, self.state, gap=10)
        self.shown.hide()
        self.copy.hide()
        layout = make_column(self, make_label(self.strings["title"], "title"), margins=24, gap=10)
        self.first = make_label(self.strings["hint"], "muted", wrap=True)
        for part in (self.first, self.fields, self.shown, self.trouble):
            layout.addWidget(part)
        layout.addLayout(make_row(None, self.cancel, self.copy, self.make))
        self.fields.setVisible(self._is_first)
        self._looks = make_timer(self, self._look, LOOK_MS)
        self.finished.connect(self._forget_code)

    def _submit_form(self) -> None:
        if self.is_busy:
            return
        if self._is_first and not self.folder.text().strip():
            self.show_problem(self.strings["no_folder"], self.folder)
            return
        folder = Path(self.folder.text().strip()) if self._is_first else None
        name, devices = self.name.text(), self.context.bridge.engine.devices
        self.show_problem("")
        self.set_busy(self.make, self.strings["busy"], is_busy=True)
        task = make_write(self.strings["task"], lambda: devices.pair(folder, name)).within(self)
        self.context.tasks.run(task.success(self._show_code).failure(self._show_pair_failure))

    def _show_pair_failure(self, error: BaseException) -> None:
        self.set_busy(self.make, self.strings["make"], is_busy=False)
        self.show_failure(error)

    def _show_code(self, offer: PairingOffer) -> None:
        self.set_busy(self.make, self.strings["make"], is_busy=False)
        self.code = offer.code
        self.hint.setText(self.strings["code"].format(when=time_of(offer.expires_at)))
        for nr, group in enumerate(offer.code.split("-")):
            words = make_label(group)
            words.setObjectName("code")
            words.setAccessibleName(self.strings["letters"].format(number=nr + 1, letters=" ".join(group)))
            self._grid.addWidget(words, nr // _COLUMNS, nr % _COLUMNS)
        for part in (self.fields, self.first, self.make):
            part.hide()
        self.shown.show()
        self.copy.show()
        self.cancel.setText(self.strings["close"])
        self.state.setText(self.strings["waiting"])
        self.adjustSize()
        self.changed.emit()
        self._looks.start()

    def _copy_code(self) -> None:
        context = self.context
        SecretClipboard(context.desk, context.bridge.state, context.prefs.options.clipboard_s).copy_secret(self.code)
        self.copy.setText(self.strings["copied"])

    def _look(self) -> None:
        devices = self.context.bridge.engine.devices
        task = make_query(self.strings["look"], devices.run).within(self, "look")
        self.context.tasks.run(task.success(self._on_looked).failure(self._on_look_failed))

    def _on_look_failed(self, error: BaseException) -> None:
        self.show_failure(error)
        self._looks.start()

    def _on_looked(self, report: SyncReport) -> None:
        self.show_problem("")
        if not report.admitted:
            self._looks.start()
            return
        self.state.setText(self.strings["admitted"].format(name=one_line(report.admitted[0], _MOST_NAME)))
        self.copy.hide()
        self.groups.hide()
        self.hint.hide()
        self.changed.emit()

    def _forget_code(self) -> None:
        self._looks.stop()
        self.code = ""


class JoinDialog(_DeviceDialog):
    """Asks for the code of another device.

    Signals:
        joined: this device is paired.
    """

    joined = Signal()

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(context, "join", parent)
        self.typed = QLineEdit()
        self.typed.setAccessibleName(self.strings["code"])
        self.act = make_button(self.strings["join"], self._submit_form, kind="primary")
        layout = make_column(self, make_label(self.strings["title"], "title"), margins=24, gap=10)
        layout.addWidget(make_label(self.strings["text"], "muted", wrap=True))
        layout.addWidget(make_label(self.strings["code"], "strong"))
        for part in (self.typed, self.fields, self.trouble):
            layout.addWidget(part)
        layout.addLayout(make_row(None, self.cancel, self.act))
        self.typed.setFocus()

    def _submit_form(self) -> None:
        if self.is_busy:
            return
        if not self.typed.text().strip():
            self.show_problem(self.strings["no_code"], self.typed)
            return
        if not self.folder.text().strip():
            self.show_problem(self.strings["no_folder"], self.folder)
            return
        codes, folder, name = [self.typed.text()], Path(self.folder.text().strip()), self.name.text()
        devices = self.context.bridge.engine.devices
        self.show_problem("")
        self.set_busy(self.act, self.strings["busy"], is_busy=True)
        task = make_write(self.strings["task"], lambda: devices.join(codes.pop(), folder, name)).within(self)
        self.context.tasks.run(task.success(self._on_joined).failure(self._show_join_failure))

    def _show_join_failure(self, error: BaseException) -> None:
        self.set_busy(self.act, self.strings["join"], is_busy=False)
        self.show_failure(error)

    def _on_joined(self, _report: SyncReport) -> None:
        self.set_busy(self.act, self.strings["join"], is_busy=False)
        self.typed.clear()
        self.joined.emit()
        self.accept()


class RenameDialog(SecretDialog):
    """Asks how this device shall be called.

    Signals:
        renamed: the name that it has now.
    """

    renamed = Signal(str)

    def __init__(self, context: Context, name: str, parent: QWidget) -> None:
        """Make it.

        Args:
            name: how it is called.
        """
        self.strings: Mapping[str, Any] = device_strings()["rename"]
        super().__init__(context, self.strings["title"], parent)
        self.name = QLineEdit(name)
        self.name.setAccessibleName(self.strings["name"])
        self.cancel = make_button(window_strings()["buttons"]["cancel"], self.reject)
        self.act = make_button(self.strings["act"], self._submit_form, kind="primary")
        layout = make_column(self, make_label(self.strings["title"], "title"), margins=24, gap=10)
        layout.addWidget(make_label(self.strings["text"], "muted", wrap=True))
        for part in (self.name, self.trouble):
            layout.addWidget(part)
        layout.addLayout(make_row(None, self.cancel, self.act))
        self.name.selectAll()
        self.name.setFocus()

    def _submit_form(self) -> None:
        name = self.name.text()
        if self.is_busy:
            return
        if not name.strip():
            self.show_problem(self.strings["no_name"], self.name)
            return
        devices = self.context.bridge.engine.devices
        self.show_problem("")
        self._set_busy(is_busy=True)
        task = make_write(self.strings["task"], lambda: devices.rename(name)).within(self)
        self.context.tasks.run(task.success(self._on_renamed).failure(self._show_failure))

    def _set_busy(self, *, is_busy: bool) -> None:
        self.is_busy = is_busy
        self.act.setText(self.strings["busy" if is_busy else "act"])
        for part in (self.act, self.cancel, self.name):
            part.setEnabled(not is_busy)

    def _on_renamed(self, name: str) -> None:
        self._set_busy(is_busy=False)
        self.renamed.emit(name)
        self.accept()

    def _show_failure(self, error: BaseException) -> None:
        self._set_busy(is_busy=False)
        problem = problem_of(error)
        if problem is not None:
            self.show_problem(problem.sentence, self.name)


class EndDialog(SecretDialog):
    """Asks before a device goes: this one, or another.

    Signals:
        agreed: the person pressed the button.
    """

    agreed = Signal()

    def __init__(self, context: Context, title: str, sentences: tuple[str, ...], act: str, parent: QWidget) -> None:
        """Make it.

        Args:
            act: title of the button that agrees.
        """
        super().__init__(context, title, parent)
        self.cancel = make_button(window_strings()["buttons"]["cancel"], self.reject)
        self.act = make_button(act, self._on_agree_clicked, kind="danger")
        self.act.setAutoDefault(False)
        layout = make_column(self, make_label(title, "title", wrap=True), margins=24, gap=10)
        for sentence in sentences:
            layout.addWidget(make_label(sentence, "muted", wrap=True))
        layout.addLayout(make_row(None, self.cancel, self.act))
        self.cancel.setDefault(True)
        self.cancel.setFocus()

    def _on_agree_clicked(self) -> None:
        self.agreed.emit()
        self.accept()
