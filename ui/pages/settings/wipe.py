"""Removing Loci from this computer: what goes and what stays, the word that is typed, and the report.

Its parent is the window: the page goes with the vault. Must not do: remove anything by itself, or keep the secret
longer than the two calls that need it.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFileDialog, QLineEdit, QPlainTextEdit, QWidget

from core.config.wipe_wording import preview_lines, report_lines, wipe_words
from core.types.files.wipe import WipePreview, WipeReport
from ui.bridge import make_job, make_query, problem_of
from ui.context import Context
from ui.pages.settings.keys import SecretDialog
from ui.strings import window_strings
from ui.theme.tokens import sizes
from ui.widgets.basics import make_button, make_column, make_label, make_row
from ui.widgets.plaintext import one_line
from ui.widgets.secret import SecretField

_NAME = 60
_STEPS = ("mark", "keys", "files", "home")


class Curtain(QWidget):
    """Covers a window while it has no vault: how to make a new one is for whoever has read the report."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Window)
        window.installEventFilter(self)
        self.setGeometry(window.rect())
        self.raise_()
        self.show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """As large as the window, and above what appears in it."""
        if watched is self._window and event.type() in (QEvent.Type.Resize, QEvent.Type.ChildAdded):
            self.setGeometry(self._window.rect())
            self.raise_()
        return super().eventFilter(watched, event)


class WipeDialog(SecretDialog):
    """Asks for the secret, shows what would go, has a word typed, removes everything and shows the report.

    Attributes:
        preview: what would go; None until the secret was given.
        report: what was done; None until then.
        asking: where the report shall be saved, while that is asked.
    """

    def __init__(self, context: Context, parent: QWidget) -> None:
        strings = wipe_words()["window"]
        super().__init__(context, strings["title"], parent)
        self.setFixedWidth(context.theme.px(sizes().dialog_wide))
        self.removal = context.bridge.engine.begin_wipe()
        self.preview: WipePreview | None = None
        self.report: WipeReport | None = None
        self.asking: QFileDialog | None = None
        self.curtain: Curtain | None = None
        self.intro = make_label(strings["intro"], "muted", wrap=True)
        self.ask = QWidget()
        self.secret = SecretField(context.theme, strings["secret"])
        make_column(self.ask, make_label(strings["secret"], "strong"), self.secret, gap=8)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName(strings["preview"])
        self.text.setMinimumHeight(context.theme.px(sizes().dialog) * 3 // 4)
        self.confirm = QWidget()
        self.word = QLineEdit()
        self.word.setAccessibleName(strings["confirm"])
        make_column(self.confirm, make_label(strings["confirm"], "strong"), self.word, gap=8)
        self.state = make_label("", "strong", wrap=True)
        self.cancel = make_button(window_strings()["buttons"]["cancel"], self.reject)
        self.show_button = make_button(strings["show"], self._ask_preview, kind="primary")
        self.act = make_button(strings["act"], self._submit_word, kind="danger")
        self.act.setAutoDefault(False)
        self.cancel.setAutoDefault(False)  # Enter in the field of the word answers there, and closes nothing
        self.save = make_button(strings["save"], self._ask_file)
        self.quit = make_button(strings["quit"], self._quit, kind="primary")
        layout = make_column(self, make_label(strings["title"], "title", wrap=True), margins=24, gap=12)
        for part in (self.intro, self.ask, self.text, self.confirm, self.state, self.trouble):
            layout.addWidget(part)
        layout.addLayout(make_row(self.save, None, self.cancel, self.show_button, self.act, self.quit))
        for hidden in (self.text, self.confirm, self.state, self.act, self.save, self.quit):
            hidden.hide()
        self.word.textChanged.connect(lambda _: self.show_problem(""))
        self.word.returnPressed.connect(self._submit_word)
        self.finished.connect(self._on_finished)
        context.bridge.state.connect(self._on_vault_state)
        self.secret.setFocus()

    def _on_finished(self) -> None:
        self.secret.take_text()
        self._open_curtain()

    def _open_curtain(self) -> None:
        if self.curtain is not None:
            self.curtain.hide()
            self.curtain.deleteLater()
            self.curtain = None

    # ---- what would go

    def _ask_preview(self) -> None:
        if self.is_busy:
            return
        strings = wipe_words()["window"]
        if not self.secret.text():
            self.show_problem(strings["no_secret"], self.secret)
            return
        secrets = [self.secret.text()]
        self.show_problem("")
        self._set_busy(strings["reading"])
        task = make_query(strings["task"], lambda: self.removal.preview(secrets.pop())).within(self)
        self.context.tasks.run(task.success(self._show_preview).failure(self._show_failure))

    def _show_preview(self, preview: WipePreview) -> None:
        self._set_busy("")
        self.preview = preview
        self.text.setPlainText("\n".join(preview_lines(preview)))
        for part in (self.ask, self.show_button):
            part.hide()
        for part in (self.text, self.confirm, self.act):
            part.show()
        self.cancel.setDefault(True)
        self.word.setFocus()
        self.adjustSize()

    # ---- removing

    def _submit_word(self) -> None:
        if self.is_busy or self.preview is None:
            return
        strings = wipe_words()["window"]
        if self.word.text().strip().casefold() != strings["word"]:
            self.show_problem(strings["not_confirmed"], self.word)
            return
        secrets = [self.secret.take_text()]
        self.show_problem("")
        self._set_busy(strings["busy"])
        removal, window = self.removal, self.parentWidget()
        if window is not None:
            self.curtain = Curtain(window)
        task = make_job(
            strings["task"],
            lambda watch: removal.run(
                secrets.pop(), lambda step: watch.progress(_STEPS.index(step.value), len(_STEPS))
            ),
        ).within(self)
        running = self.context.tasks.run(task.success(self._show_report).failure(self._show_failure))
        running.moved.connect(self._show_step)

    def _show_step(self, done: int, _total: int) -> None:
        if self.is_busy and 0 <= done < len(_STEPS):
            self.state.setText(wipe_words()["window"]["steps"][_STEPS[done]])

    def _show_report(self, report: WipeReport) -> None:
        strings = wipe_words()["window"]
        self._set_busy("")
        self.report = report
        self.text.setPlainText("\n".join(report_lines(report)))
        self.text.setAccessibleName(strings["report"])
        for part in (self.intro, self.confirm, self.act, self.cancel):
            part.hide()
        for part in (self.state, self.save, self.quit):
            part.show()
        self.state.setText(strings["done" if report.is_complete else "partly"])
        self.quit.setDefault(True)
        self.quit.setFocus()
        self.adjustSize()

    def _quit(self) -> None:
        self.accept()
        self.context.commands.run("file.quit")

    # ---- the report

    def _ask_file(self) -> None:
        strings = wipe_words()["window"]
        asking = QFileDialog(self, strings["save_title"])
        asking.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        asking.setNameFilter(strings["filter"])
        asking.setDefaultSuffix("txt")
        asking.selectFile(strings["file"])
        asking.fileSelected.connect(lambda path: self.save_to(Path(path)))
        self.asking = asking
        asking.open()

    def save_to(self, to: Path) -> None:
        """Save the report.

        Args:
            to: the file; one that is there is replaced.
        """
        strings, report = wipe_words()["window"], self.report
        if report is None:
            return
        task = make_query(strings["save_title"], lambda: self.removal.save_report(report, to)).within(self)
        told = strings["saved"].format(name=one_line(to.name, _NAME))
        self.context.tasks.run(
            task.success(lambda _: self.state.setText(told)).failure(lambda _: self.state.setText(strings["not_saved"]))
        )

    # ---- meanwhile

    def _set_busy(self, words: str) -> None:
        self.is_busy = bool(words)
        self.state.setText(words)
        self.state.setVisible(self.is_busy)
        for part in (self.secret, self.word, self.cancel, self.show_button, self.act):
            part.setEnabled(not self.is_busy)

    def _show_failure(self, error: BaseException) -> None:
        self._set_busy("")
        problem = problem_of(error)
        self._open_curtain()
        if self.preview is not None:  # the secret went with the attempt
            self.preview = None
            for part in (self.text, self.confirm, self.act):
                part.hide()
            for part in (self.ask, self.show_button):
                part.show()
        if problem is not None:
            self.show_problem(problem.sentence, self.secret)

    def _on_vault_state(self, state: str) -> None:
        if state == "locked" and not self.is_busy and self.report is None:
            self.reject()
