"""A list of cards on the page's own ground: how it looks, moves and hovers; what stands in it is another's.

Must not do: ask the engine, or act on a row.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, Qt
from PySide6.QtGui import QFocusEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView

from ui.pages.recall.answer.lines import AnswerModel, Heading
from ui.pages.recall.answer.row_painter import RowPainter
from ui.theme.theme import Theme

BAR = 12
"""Pixels a scroll bar takes; it stands in the page's margin."""


class CardList(QListView):
    """The list.

    Attributes:
        lines: what stands in it.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.lines = AnswerModel(self)
        self._theme = theme
        self._painter = RowPainter(theme, self)
        self.setModel(self.lines)
        self.setItemDelegate(self._painter)
        self.setObjectName("cards")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.verticalScrollBar().rangeChanged.connect(lambda *_: self._keep_edge())
        self._keep_edge()
        self.entered.connect(self._hover)
        theme.changed.connect(self._restyle)

    def _keep_edge(self) -> None:
        """Cards end at the same place with a scroll bar beside them and without."""
        bar = self.verticalScrollBar()
        self.setViewportMargins(0, 0, 0 if bar.maximum() > 0 else BAR, 0)

    def moveCursor(  # noqa: N802 - Qt's name
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        """Headings and details are passed over."""
        index = super().moveCursor(action, modifiers)
        ups = {QAbstractItemView.CursorAction.MoveUp, QAbstractItemView.CursorAction.MovePageUp}
        ups.add(QAbstractItemView.CursorAction.MoveEnd)
        step = -1 if action in ups else 1
        while index.isValid() and self.lines.row_at(index.row()) is None:
            index = index.siblingAtRow(index.row() + step)
        return index if index.isValid() else self.currentIndex()

    def keyboardSearch(self, _typed: str) -> None:  # noqa: N802 - Qt's name
        """Letters act; they do not search."""

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """A press beside the rows changes nothing."""
        line = self.lines.line_at(self.indexAt(event.position().toPoint()).row())
        if isinstance(line, Heading) or line is None:
            event.accept()
        else:
            super().mousePressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Words wrap anew."""
        super().resizeEvent(event)
        self.scheduleDelayedItemsLayout()

    def _hover(self, index: QModelIndex) -> None:
        self._painter.hovered = index.row()
        self.viewport().update()

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """No line is under the pointer."""
        super().leaveEvent(event)
        self._painter.hovered = -1
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """The ring goes."""
        super().focusOutEvent(event)
        self.viewport().update()

    def _restyle(self) -> None:
        self.doItemsLayout()
        self.viewport().update()
