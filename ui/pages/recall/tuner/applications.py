"""What was applied by the tuner, newest first, each with an Undo.

Must not do: undo anything but by its step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFrame, QVBoxLayout, QWidget

from core.types.recall import Applied
from core.types.replies import OptionRow
from ui.context import Context
from ui.pages.recall.words import change_told
from ui.strings import recall_strings
from ui.tasks import problem_of, query
from ui.undo import take_back
from ui.widgets.basics import button, clear, column, hairline, label, row, scrolling
from ui.widgets.words import time_of

_WIDTH, _HEIGHT = 540, 460
_MOST = 6


class AppliedDialog(QDialog):
    """The list."""

    def __init__(self, context: Context, options: Mapping[str, OptionRow], parent: QWidget) -> None:
        """Make it.

        Args:
            context: what pages are given.
            options: all options by name.
            parent: the page.
        """
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        said = recall_strings()["history"]
        self._context, self._options = context, options
        self.setWindowTitle(said["title"])
        self.setAccessibleName(said["title"])
        self.resize(context.theme.px(_WIDTH), context.theme.px(_HEIGHT))
        self._note = label(said["sentence"], "muted", wrap=True)
        inner = QFrame()
        self._column: QVBoxLayout = column(inner, gap=10)
        self._column.setContentsMargins(0, 0, 8, 0)
        self.close_button = button("Close", self.accept, kind="primary")
        self.undo_buttons: list[QWidget] = []
        self.lines: list[str] = []
        layout = column(self, label(said["title"], "title"), self._note, margins=24, gap=12)
        layout.addWidget(scrolling(inner), 1)
        layout.addLayout(row(None, self.close_button))
        self._read()
        context.tasks.settled.connect(self._read)

    def _read(self) -> None:
        laboratory = self._context.bridge.engine.laboratory
        asked = query("Reading what was applied", laboratory.applications).within(self, "applied")
        self._context.tasks.run(asked.success(self._show).failure(self._fail))

    @property
    def note(self) -> str:
        """What is said above the list."""
        return self._note.text()

    def _show(self, applied: Sequence[Applied]) -> None:
        clear(self._column)
        self.undo_buttons, self.lines = [], []
        said = recall_strings()["history"]
        self._note.setText(said["sentence"] if applied else said["none"])
        card = QFrame()
        card.setObjectName("card")
        inside = column(card, gap=0)
        for one in applied:
            if self.lines:
                inside.addWidget(hairline())
            inside.addWidget(self._line(one))
        if applied:
            self._column.addWidget(card)
        self._column.addStretch(1)

    def _line(self, one: Applied) -> QWidget:
        said, made = recall_strings()["history"], QWidget()
        found = "" if one.found is None else said["found"].format(count=one.found[0], total=one.found[1])
        head = " · ".join(part for part in (time_of(one.at), said["undone"] if one.undone else "", found) if part)
        changes = [self._change(name, pair) for name, pair in one.changes.items()]
        more = [f"+{len(changes) - _MOST}"] if len(changes) > _MOST else []
        told = ", ".join([*changes[:_MOST], *more])
        texts = column(None, label(told, "muted" if one.undone else "body", wrap=True), label(head, "small"), gap=2)
        layout = row(parent=made, gap=12)
        layout.setContentsMargins(16, 12, 12, 12)
        layout.addLayout(texts, 1)
        self.lines.append(f"{told}. {head}")
        made.setAccessibleName(self.lines[-1])
        if not one.undone:
            undo = button(said["undo"], lambda: take_back(self._context, one.step_id))
            undo.setAccessibleName(f"{said['undo']}: {told}")
            undo.setAutoDefault(False)
            layout.addWidget(undo, 0, Qt.AlignmentFlag.AlignTop)
            self.undo_buttons.append(undo)
        return made

    def _change(self, name: str, pair: tuple[object, object]) -> str:
        option = self._options.get(name)
        title = name if option is None else option.title
        return change_told(name, title, pair)

    def _fail(self, error: BaseException) -> None:
        problem = problem_of(error)
        self._note.setText("" if problem is None else problem.sentence)
