"""The dialog before a change to many memories: what it asks, what it would do, one button that says so.

Must not do: change anything; it tells what was agreed to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRect, Qt, QTimer, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QDialog, QWidget

from core.types.views import RevisionPreview
from ui.context import Context
from ui.lists.list_view import Keep, ListView
from ui.lists.row_spec import RowSpec, RowState
from ui.pages.library.forms import Form
from ui.tasks import problem_of, query
from ui.widgets.basics import button, column, hairline, label, restyle, row
from ui.widgets.plaintext import one_line
from ui.widgets.words import count_of, memories

_PAUSE_MS = 200
_WIDTH = 560
_LINE = 46


@dataclass(frozen=True, slots=True)
class Example:
    """What would change about one memory.

    Attributes:
        id: the memory.
        head: its beginning.
        before: what it has now.
        after: what it would have.
    """

    id: str
    head: str
    before: str
    after: str


class ExampleRows(RowSpec[Example]):
    """How examples look: a memory's beginning, and under it what changes."""

    def key(self, row: Example) -> str:
        """The memory."""
        return row.id

    def describe(self, row: Example) -> str:
        """All of it."""
        return f"{one_line(row.head, 120)}: {row.before}, then {row.after}"

    def hint(self, _row: Example) -> str:
        """Nothing."""
        return ""

    def height(self, _row: Example, _place: int) -> int:
        """All are of one height."""
        return self.theme.px(_LINE)

    def draw_ground(self, _painter: QPainter, _rect: QRect, _row: Example, _state: RowState) -> None:
        """Nothing: they cannot be chosen."""

    def draw_row(self, painter: QPainter, rect: QRect, row: Example, _state: RowState) -> None:
        """Its two lines."""
        inner = rect.adjusted(12, 5, -12, -5)
        half = inner.height() // 2
        upper = QRect(inner.x(), inner.y(), inner.width(), half)
        self.write(painter, upper, one_line(row.head, 160), "ink", self.theme.font("body"))
        self.write(painter, upper.translated(0, half), change_of(row), "muted", self.theme.font("small"))


def change_of(example: Example) -> str:
    """`home → garden`."""
    return f"{example.before}  →  {example.after}"


class RevisionDialog(QDialog):
    """Asks, shows what would happen, and is told to do it.

    Signals:
        agreed: the form; the person pressed the button.
    """

    agreed = Signal(object)

    def __init__(self, context: Context, ids: Sequence[str], form: Form, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(context.theme.px(_WIDTH))
        self._context, self._ids, self.form = context, tuple(ids), form
        self._summary = label("", wrap=True)
        self._refusals = label("", "warning", wrap=True)
        self._refusals.hide()
        self._list = ListView(ExampleRows(context.theme), "What changes", keep=Keep.NONE)
        self._list.setSelectionMode(ListView.SelectionMode.NoSelection)
        self._list.setObjectName("framed")
        self._list.hide()  # until there is something to show; then it stays, so that nothing jumps
        self._list.setMinimumHeight(context.theme.px(_LINE * 4) + 10)
        self.cancel = button("Cancel", self.reject)
        self.act = button(form.verb, self._agree, kind="danger" if form.is_dangerous else "primary")
        self.act.setDefault(True)
        layout = column(self, label(title, "title"), form, hairline(), margins=24, gap=12)
        layout.addWidget(self._summary)
        layout.addWidget(self._refusals)
        layout.addWidget(self._list, 1)
        layout.addLayout(row(None, self.cancel, self.act))
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(self._ask)
        form.changed.connect(self._changed)
        self._changed()
        self._ask()
        if form.focusPolicy() == Qt.FocusPolicy.NoFocus and form.focusProxy() is None:
            self.act.setFocus()

    @property
    def summary(self) -> str:
        """What would happen, in words."""
        refused = self._refusals.text() if not self._refusals.isHidden() else ""
        return f"{self._summary.text()} {refused}".strip()

    def examples(self) -> list[tuple[str, str]]:
        """Beginnings of memories, and what changes about them."""
        return [(one_line(one.head, 160), change_of(one)) for one in self._list.lines.rows()]

    def _changed(self) -> None:
        self.act.setEnabled(False)
        self._pause.start()

    def _ask(self) -> None:
        self._pause.stop()
        revision = self.form.revision()
        if revision is None:
            self._show(RevisionPreview(0, 0), "Say what shall change, and you see here what it does.")
            return
        library = self._context.bridge.engine.library
        self._context.tasks.run(
            query("Looking at what would change", lambda: library.preview(self._ids, revision))
            .within(self, "preview")
            .success(self._show)
            .failure(self._fail)
        )

    def _fail(self, error: BaseException) -> None:
        problem = problem_of(error)
        self._show(RevisionPreview(0, 0), problem.sentence if problem is not None else "")
        restyle(self._summary, "role", "danger")

    def _show(self, preview: RevisionPreview, instead: str = "") -> None:
        restyle(self._summary, "role", "body")
        self._summary.setText(instead or _summary(preview))
        refused = [f"{memories(count)} cannot: {reason}" for reason, count in preview.refused.items()]
        self._refusals.setText("\n".join(refused))
        self._refusals.setVisible(bool(refused))
        words = self.form.words
        self._list.show_lines(
            [Example(one, head, words(before), words(after)) for one, head, before, after in preview.examples]
        )
        if preview.examples:
            self._list.show()
        self.act.setText(f"{self.form.verb} {memories(preview.changes)}" if preview.changes else self.form.verb)
        self.act.setAccessibleName(self.act.text())
        self.act.setEnabled(bool(preview.changes))
        if self.sizeHint().height() > self.height():
            self.adjustSize()

    def _agree(self) -> None:
        self.agreed.emit(self.form)
        self.accept()


def _summary(preview: RevisionPreview) -> str:
    if not preview.changes:
        return "Nothing would change." if not preview.unchanged else "They are like that already."
    more = len(preview.examples) < preview.changes
    said = f"{memories(preview.changes)} will change" + (", such as these:" if more else ":")
    if preview.unchanged:
        said = f"{count_of(preview.unchanged, 'is', 'are')} like that already. {said}"
    return said
