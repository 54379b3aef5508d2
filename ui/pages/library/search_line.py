"""The line a search is typed in, and what of it was not understood.

Must not do: run the search; it writes into the `Query`.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from ui.context import Context
from ui.pages.library.filters import Chip, Query
from ui.widgets.basics import button, label, restyle, row, tool

_PAUSE_MS = 220
_PAUSE_UNREAD_MS = 900  # somebody is in the middle of a word, such as `kind:`
_HINT = 'Words, "a phrase", kind:fact, before:2026-03 …'


class QueryLine(QWidget):
    """A field, a button for its documentation, and a sentence about what it does not understand.

    Signals:
        help_asked: the documentation is wanted, or not any more.
        left: Enter or the down key was pressed: on to the list.
    """

    help_asked = Signal()
    left = Signal()

    def __init__(self, context: Context, query: Query) -> None:
        super().__init__()
        self._context, self._query = context, query
        self.field = QLineEdit()
        self.field.setObjectName("search")
        self.field.setPlaceholderText(_HINT)
        self.field.setAccessibleName("Search the library")
        self.field.setAccessibleDescription("Words, phrases in quotation marks and filters; F1 shows all of them")
        self._lens = QAction(self)
        self.field.addAction(self._lens, QLineEdit.ActionPosition.LeadingPosition)
        self._cross = QAction("Clear", self)
        self._cross.triggered.connect(self.clear)
        self.field.addAction(self._cross, QLineEdit.ActionPosition.TrailingPosition)
        self.field.textChanged.connect(self._show_cross)
        self.field.textEdited.connect(self._typed)
        self.field.installEventFilter(self)
        self.help = tool(context.theme, "circle-help", "What can be searched for (F1)", self.help_asked.emit)
        self.help.setCheckable(True)
        self._problem = label("", "danger", wrap=True)
        self._show = button("Show it", self._select_problem, kind="link")
        self._trouble = QWidget()
        line = row(self._problem, self._show, gap=8, parent=self._trouble)
        line.setStretch(0, 1)
        line.setAlignment(self._show, Qt.AlignmentFlag.AlignTop)
        self._trouble.hide()
        self._wrong: Chip | None = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(row(self.field, self.help, gap=6))
        layout.addWidget(self._trouble)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.timeout.connect(self.apply)
        query.changed.connect(self._follow)
        context.theme.changed.connect(self._restyle)
        self._restyle()

    def _restyle(self) -> None:
        self._lens.setIcon(self._context.theme.icon("search", "muted"))
        self._cross.setIcon(self._context.theme.icon("x", "muted"))
        self._show_cross()

    def _show_cross(self) -> None:
        self._cross.setVisible(bool(self.field.text()))

    def clear(self) -> None:
        """Search for nothing."""
        self.field.clear()
        self.apply()

    @property
    def problem(self) -> str:
        """What is said about what was not understood; "" where all was."""
        return self._problem.text() if not self._trouble.isHidden() else ""

    def take_back(self) -> None:
        """The documentation was closed: take the keyboard again."""
        self.help.setChecked(False)
        self.field.setFocus()

    def _typed(self, text: str) -> None:
        wrong = self._context.bridge.engine.library.parse(text).problems
        self._pause.start(_PAUSE_UNREAD_MS if wrong else _PAUSE_MS)

    def apply(self) -> None:
        """Take what is typed."""
        self._pause.stop()
        self._query.put(self.field.text())
        self._show_problem()

    def rest(self) -> None:
        """Nobody types any more."""
        self._pause.stop()

    def insert(self, example: str) -> None:
        """Add an example at the end, its value selected, so that another can be typed over it."""
        before = self.field.text().rstrip()
        text = f"{before} {example}" if before else example
        self.field.setText(text)
        self.field.setFocus()
        value = example.rpartition(":")[2].strip('"')
        self.field.setSelection(text.rfind(value), len(value))
        self.apply()

    def _follow(self) -> None:
        if self.field.text().strip() != self._query.text:
            self._pause.stop()
            self.field.setText(self._query.text)
        self._show_problem()

    def _show_problem(self) -> None:
        wrong = [chip for chip in self._query.chips() if chip.problem]
        self._wrong = wrong[0] if wrong else None
        restyle(self.field, "wrong", bool(wrong))
        if self._wrong is not None:
            more = f" ({len(wrong) - 1} more)" if len(wrong) > 1 else ""
            self._problem.setText(f"Character {self._wrong.start + 1}: {self._wrong.problem}{more}")
        self._trouble.setVisible(bool(wrong))

    def _select_problem(self) -> None:
        if self._wrong is not None:
            lead = len(self.field.text()) - len(self.field.text().lstrip())
            self.field.setFocus()
            self.field.setSelection(self._wrong.start + lead, self._wrong.end - self._wrong.start)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Enter searches at once; Enter and the down key go on to the list; Esc clears."""
        if watched is not self.field or event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return False
        key = event.key()
        if key in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down}:
            self.apply()
            if self._query.is_understood:
                self.left.emit()
            return True
        if key == Qt.Key.Key_Escape and self.field.text():
            self.clear()
            return True
        return False
