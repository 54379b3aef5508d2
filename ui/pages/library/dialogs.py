"""The dialog before a change to many memories: what it asks, what it would do, one button that says so.

Must not do: change anything; it tells what was agreed to.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from core.types.views import RevisionPreview
from ui.context import Context
from ui.pages.library.forms import Form
from ui.tasks import problem_of, query
from ui.theme.theme import Theme
from ui.widgets.basics import button, column, hairline, label, restyle, row
from ui.widgets.plaintext import one_line
from ui.widgets.words import count_of, memories

_PAUSE_MS = 200
_WIDTH = 560
_LINE = 46


class _Examples(QStyledItemDelegate):
    """A memory's beginning, and under it what changes."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: N802
        return QSize(100, self._theme.px(_LINE))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        head, change = index.data(Qt.ItemDataRole.UserRole)
        theme, rect = self._theme, QRect(option.rect).adjusted(12, 5, -12, -5)
        half = rect.height() // 2
        painter.save()
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        for place, (text, role, ink) in enumerate(((head, "body", "ink"), (change, "small", "muted"))):
            painter.setFont(theme.font(role))  # type: ignore[arg-type]
            painter.setPen(theme.colour(ink))
            line = QRect(rect.x(), rect.y() + place * half, rect.width(), half)
            painter.drawText(
                line, left, painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, line.width())
            )
        painter.restore()


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
        self._list = QListWidget()
        self._list.setAccessibleName("What changes")
        self._list.setItemDelegate(_Examples(context.theme, self._list))
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self._list.setSelectionMode(QListWidget.SelectionMode.NoSelection)
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
        return [self._list.item(at).data(Qt.ItemDataRole.UserRole) for at in range(self._list.count())]

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
        self._list.clear()
        for _, head, before, after in preview.examples:
            words = self.form.words
            item = QListWidgetItem(f"{one_line(head, 120)}: {words(before)}, then {words(after)}")
            item.setData(Qt.ItemDataRole.UserRole, (one_line(head, 160), f"{words(before)}  →  {words(after)}"))
            self._list.addItem(item)
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
