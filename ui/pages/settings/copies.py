"""Looking into backups and other copies of the vault: which there are, and what a search finds in one of them.

Must not do: change a copy, or restore one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QPlainTextEdit, QWidget

from core.types.memory import CopyContents, CopyLine
from ui.bridge import make_query, problem_of
from ui.context import Context
from ui.strings import format_count, settings_strings
from ui.theme.tokens import sizes
from ui.widgets.basics import make_button, make_column, make_label, make_row, make_timer
from ui.widgets.labels import date_of, size_of, time_of
from ui.widgets.plaintext import one_line

_NAME, _HEAD = 80, 120
_PAUSE_MS = 400
_WORDS = Qt.ItemDataRole.UserRole


class CopiesDialog(QDialog):
    """Shows the copies, and what is in the one that is chosen."""

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(parent)
        strings = _strings()
        self.context = context
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(strings["title"])
        self.setAccessibleName(strings["title"])
        self.setMinimumWidth(context.theme.px(sizes().dialog_wide))
        self.copies = _make_list(strings["list"])
        self.search = QLineEdit()
        self.search.setPlaceholderText(strings["search"])
        self.search.setAccessibleName(strings["search"])
        self.search.setToolTip(strings["hint"])
        self.search.setClearButtonEnabled(True)
        self.search.setEnabled(False)
        self.note = make_label(strings["choose"], "muted", wrap=True)
        self.memories = _make_list(strings["memories"])
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName(strings["text"])
        self.close_button = make_button(strings["close"], self.accept, kind="primary")
        self.close_button.setAutoDefault(False)
        self.close_button.setDefault(False)  # Enter searches
        layout = make_column(self, make_label(strings["title"], "title"), margins=24, gap=10)
        for part, stretch in ((self.copies, 1), (self.search, 0), (self.note, 0), (self.memories, 3), (self.text, 1)):
            layout.addWidget(part, stretch)
        layout.addLayout(make_row(None, self.close_button))
        self.copies.currentRowChanged.connect(lambda _: self.look_inside())
        self._pause = make_timer(self, self.look_inside, _PAUSE_MS)  # a copy is unpacked for each search
        self.search.textChanged.connect(lambda _: self._await_words())
        self.search.returnPressed.connect(self.look_inside)
        self.memories.currentItemChanged.connect(lambda item, _: self._show_text(item))
        task = make_query(strings["task"], context.bridge.engine.copies.list_copies).within(self, "copies")
        context.tasks.run(task.success(self._show_copies).failure(self._show_failure))

    def _show_copies(self, lines: tuple[CopyLine, ...]) -> None:
        forms = _strings()
        for line in lines:
            words = forms["line"].format(
                name=one_line(line.name, _NAME), when=time_of(line.made_at), size=size_of(line.size)
            )
            if line.rewritten_at:
                words += forms["rewritten"].format(when=time_of(line.rewritten_at))
            item = QListWidgetItem(words, self.copies)
            item.setData(_WORDS, line.name)
        if lines:
            self.copies.setCurrentRow(0)
        else:
            self.note.setText(forms["none"])

    def _await_words(self) -> None:
        """What was found for other words goes; the search begins once the typing pauses."""
        self._clear_found()
        self.note.setText(_strings()["reading"])
        self._pause.start()

    def _clear_found(self) -> None:
        self.memories.clear()
        self.text.clear()

    def look_inside(self) -> None:
        """Search in the copy that is chosen."""
        if self.copies.currentRow() < 0:
            return
        name, query, copies = (
            str(self.copies.currentItem().data(_WORDS)),
            self.search.text(),
            self.context.bridge.engine.copies,
        )
        self._pause.stop()
        self._clear_found()
        self.search.setEnabled(True)
        self.note.setText(_strings()["reading"])
        task = make_query(_strings()["task"], lambda: copies.find(name, query)).within(self, "look")
        self.context.tasks.run(task.success(self._show_contents).failure(self._show_failure))

    def _show_contents(self, found: CopyContents) -> None:
        if self._pause.isActive():
            return  # it was asked with other words
        strings = _strings()
        self._clear_found()
        for _, head in found.rows:
            item = QListWidgetItem(one_line(head, _HEAD), self.memories)
            item.setData(_WORDS, head)
        self.memories.setCurrentRow(0)
        said = format_count(strings["found"], found.total, all=f"{found.memories:,}", when=date_of(found.last_at))
        cut = format_count(strings["first"], len(found.rows)) if found.total > len(found.rows) else ""
        sealed = format_count(strings["sealed"], found.kept_back) if found.kept_back else ""
        self.note.setText(" ".join(part for part in (said, cut, sealed) if part))

    def _show_text(self, item: QListWidgetItem | None) -> None:
        self.text.setPlainText("" if item is None else str(item.data(_WORDS)))

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        self._clear_found()
        self.note.setText("" if problem is None else problem.sentence)


def _strings() -> Mapping[str, Any]:
    found: Mapping[str, Any] = settings_strings()["copies"]
    return found


def _make_list(name: str) -> QListWidget:
    made = QListWidget()
    made.setObjectName("framed")
    made.setAccessibleName(name)
    return made
