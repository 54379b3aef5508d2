"""Erasing for good from a page: what would go, one question, and the certificate of what was done.

Must not do: know a page; show a word of what was erased; erase without the question.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QFileDialog, QListWidget, QPlainTextEdit, QWidget

from core.config.erasure_wording import certificate_lines, erasure_words, preview_lines
from core.types.memory import CertificateLine, CopyState, ErasePreview, ErasureCertificate, ErasureRequest
from core.types.values import OWNER_ACTOR
from ui.bridge import make_query, make_write, problem_of
from ui.context import Context
from ui.strings import format_count, window_strings
from ui.theme.tokens import sizes
from ui.widgets.basics import make_button, make_column, make_label, make_row
from ui.widgets.labels import date_of
from ui.widgets.plaintext import one_line

_NAME = 60
_SIGNS = 8
Then = Callable[[ErasureCertificate], object]


class ErasureDialog(QDialog):
    """Tells what an erasure would take along, and asks.

    Signals:
        agreed: the person pressed the button.
    """

    agreed = Signal()

    def __init__(self, context: Context, request: ErasureRequest, words: str, name: str, parent: QWidget) -> None:
        """Make it.

        Args:
            request: what would be erased.
            words: `about` or `import`: whose sentences are shown.
            name: of what is named; hostile, plain text only.
        """
        super().__init__(parent)
        strings = erasure_words()["window"]
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        title = strings[words]["title"].format(name=one_line(name, _NAME))
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setMinimumWidth(context.theme.px(sizes().dialog_middle))
        self.summary = make_label(strings["reading"], "muted", wrap=True)
        self.backups = make_label("", "muted", wrap=True)
        self.backups.hide()
        self.cancel = make_button(window_strings()["buttons"]["cancel"], self.reject)
        self.act = make_button(erasure_words()["window"][words]["open"], self._on_agree_clicked, kind="danger")
        self.act.setEnabled(False)
        self.act.setAutoDefault(False)
        self.cancel.setDefault(True)
        layout = make_column(
            self,
            make_label(title, "title", wrap=True),
            make_label(strings[words]["sentence"], wrap=True),
            self.summary,
            self.backups,
            margins=24,
            gap=12,
        )
        layout.addLayout(make_row(None, self.cancel, self.act))
        self.cancel.setFocus()
        erasures = context.bridge.engine.erasures
        task = make_query(strings["reading"], lambda: erasures.preview(request)).within(self)
        context.tasks.run(task.success(self._show_preview).failure(self._show_failure))

    def _show_preview(self, found: ErasePreview) -> None:
        strings = erasure_words()["window"]
        self.summary.setText("\n".join(preview_lines(asdict(found))))
        if found.backups:
            self.backups.setText(format_count(strings["backups"], len(found.backups)))
            self.backups.show()
        self.act.setText(format_count(strings["act"], found.memories))
        self.act.setAccessibleName(self.act.text())
        self.act.setEnabled(True)
        self.adjustSize()

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        self.summary.setText("" if problem is None else problem.sentence)

    def _on_agree_clicked(self) -> None:
        self.agreed.emit()
        self.accept()


class CertificateDialog(QDialog):
    """Shows an erasure certificate; it can be saved, and backups that hold something be rewritten.

    Attributes:
        certificate: the one that is shown.
        asking: where it shall be saved, while that is asked.
    """

    def __init__(self, context: Context, certificate: ErasureCertificate, parent: QWidget) -> None:
        super().__init__(parent)
        words = erasure_words()
        strings = words["window"]
        self.context, self.certificate = context, certificate
        self.asking: QFileDialog | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(words["title"])
        self.setAccessibleName(words["title"])
        self.setMinimumWidth(context.theme.px(sizes().dialog_middle))
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName(words["title"])
        self.text.setMinimumHeight(context.theme.px(sizes().dialog))
        self.note = make_label("", "muted", wrap=True)
        self.note.hide()
        self.save = make_button(strings["save"], self._ask_file)
        self.rewrite = make_button(strings["rewrite"], self._rewrite_backups, hint=strings["rewrite_hint"])
        self.close_button = make_button(strings["close"], self.accept, kind="primary")
        layout = make_column(self, make_label(words["title"], "title"), self.text, self.note, margins=24, gap=12)
        layout.addLayout(make_row(self.save, self.rewrite, None, self.close_button))
        self._show(certificate)

    def _show(self, certificate: ErasureCertificate) -> None:
        self.certificate = certificate
        values = {**certificate.as_json(), "is_authentic": certificate.is_authentic}
        self.text.setPlainText("\n".join(certificate_lines(values, date_of(certificate.at))))
        self.rewrite.setVisible(any(one.state is CopyState.HOLDS for one in certificate.copies))
        self.rewrite.setEnabled(True)

    def _ask_file(self) -> None:
        strings = erasure_words()["window"]
        asking = QFileDialog(self, strings["save_title"])
        asking.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        asking.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        asking.setNameFilters(list(strings["filters"].values()))
        asking.setDefaultSuffix(next(iter(strings["filters"])))
        asking.filterSelected.connect(lambda chosen: asking.setDefaultSuffix(_ending_of(chosen)))
        asking.selectFile(strings["file"].format(id=self.certificate.id[-_SIGNS:]))
        asking.fileSelected.connect(lambda path: self.save_to(Path(path)))
        self.asking = asking
        asking.open()

    def save_to(self, to: Path) -> None:
        """Save the certificate.

        Args:
            to: the file; one that is there is replaced.
        """
        strings = erasure_words()["window"]
        erasures = self.context.bridge.engine.erasures
        task = make_query(strings["save_title"], lambda: erasures.save_certificate(self.certificate, to)).within(self)
        told = strings["saved"].format(name=one_line(to.name, _NAME))
        self.context.tasks.run(task.success(lambda _: self._tell(told)).failure(self._show_failure))

    def _rewrite_backups(self) -> None:
        erasures, certificate_id = self.context.bridge.engine.erasures, self.certificate.id
        self.rewrite.setEnabled(False)
        task = make_write(
            erasure_words()["window"]["rewrite_task"], lambda: erasures.rewrite_backups(certificate_id)
        ).within(self)
        self.context.tasks.run(task.success(self._show).failure(self._show_failure))

    def _show_failure(self, error: BaseException) -> None:
        self.rewrite.setEnabled(True)
        problem = problem_of(error)
        if problem is not None:
            self._tell(problem.sentence)

    def _tell(self, sentence: str) -> None:
        self.note.setText(sentence)
        self.note.show()


def _ending_of(chosen: str) -> str:
    """The ending of a file by the filter that was chosen."""
    filters = erasure_words()["window"]["filters"]
    return next((ending for ending, words in filters.items() if words == chosen), "json")


class CertificatesDialog(QDialog):
    """Lists all erasure certificates, the newest first; one that is chosen opens, to be read and saved."""

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(parent)
        strings = erasure_words()["list"]
        self.context = context
        self.lines: tuple[CertificateLine, ...] = ()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(strings["title"])
        self.setAccessibleName(strings["title"])
        self.setMinimumWidth(context.theme.px(sizes().dialog_middle))
        self.list = QListWidget()
        self.list.setObjectName("framed")
        self.list.setAccessibleName(strings["title"])
        self.note = make_label(strings["reading"], "muted", wrap=True)
        self.open_button = make_button(strings["open"], self._open_chosen)
        self.open_button.setEnabled(False)
        self.close_button = make_button(erasure_words()["window"]["close"], self.accept, kind="primary")
        self.close_button.setAutoDefault(False)
        layout = make_column(self, make_label(strings["title"], "title"), self.note, self.list, margins=24, gap=12)
        layout.addLayout(make_row(self.open_button, None, self.close_button))
        self.list.itemActivated.connect(lambda _: self._open_chosen())
        self.list.currentRowChanged.connect(lambda row: self.open_button.setEnabled(row >= 0))
        task = make_query(strings["task"], context.bridge.engine.erasures.list_certificates).within(self, "list")
        context.tasks.run(task.success(self._show_lines).failure(self._show_failure))

    def _show_lines(self, lines: tuple[CertificateLine, ...]) -> None:
        strings = erasure_words()["list"]
        self.lines = lines
        self.list.clear()
        for line in lines:
            words = format_count(
                strings["line"], line.memories, when=date_of(line.at), state=strings["states"][line.state.value]
            )
            self.list.addItem(words)
        self.note.setText(strings["sentence"] if lines else strings["none"])
        self.list.setVisible(bool(lines))
        self.open_button.setVisible(bool(lines))
        if lines:
            self.list.setCurrentRow(0)
            self.list.setFocus()

    def _open_chosen(self) -> None:
        row = self.list.currentRow()
        if not 0 <= row < len(self.lines):
            return
        erasures, chosen = self.context.bridge.engine.erasures, self.lines[row].id
        task = make_query(erasure_words()["list"]["task"], lambda: erasures.read_certificate(chosen)).within(
            self, "one"
        )
        self.context.tasks.run(
            task.success(lambda found: CertificateDialog(self.context, found, self).open()).failure(self._show_failure)
        )

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        self.note.setText("" if problem is None else problem.sentence)


def ask_erasure(
    context: Context, request: ErasureRequest, words: str, name: str, parent: QWidget, then: Then
) -> ErasureDialog:
    """Ask whether something shall be erased; where the person agrees, erase it and show the certificate.

    Args:
        request: what is erased.
        words: `about` or `import`.
        name: of what is named.
        parent: dialogs are before it.
        then: called with the certificate once it is erased.
    """
    dialog = ErasureDialog(context, request, words, name, parent)
    dialog.agreed.connect(lambda: erase(context, request, parent, then))
    dialog.open()
    return dialog


def erase(context: Context, request: ErasureRequest, parent: QWidget, then: Then) -> None:
    """Erase for good and show the certificate.

    Args:
        request: what is erased; the person has agreed.
        parent: the certificate is before it.
        then: called with the certificate once it is erased.
    """
    erasures = context.bridge.engine.erasures
    task = make_write(erasure_words()["window"]["task"], lambda: erasures.erase(request, OWNER_ACTOR)).within(parent)
    context.tasks.run(task.success(partial(_show_certificate, context, parent, then)))


def _show_certificate(context: Context, parent: QWidget, then: Then, certificate: ErasureCertificate) -> None:
    then(certificate)
    CertificateDialog(context, certificate, parent).open()
