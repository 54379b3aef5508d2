"""Draws the cells of a table: words in one line, cut where there is no room; hairlines; a ring round the line.

Must not do: know what stands in them; the table's specification says.
"""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from ui.lists.table_model import FONT, INK
from ui.theme.theme import Theme
from ui.theme.tokens import FontRole

_PAD = 8


class CellPainter(QStyledItemDelegate):
    """Draws cells: words in one line, cut where there is no room; hairlines; a ring round the line with the keyboard.

    Attributes:
        hovered: the line under the pointer; -1 for none.
        ends: the first and the last column that are shown.
    """

    def __init__(self, theme: Theme, view: QTableView) -> None:
        super().__init__(view)
        self._theme, self._view = theme, view
        self.hovered = -1
        self.ends = (0, 0)

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: N802
        """All lines are of one height."""
        return QSize(40, self._theme.px(self._theme.tokens.sizes.row))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw a cell."""
        theme, rect = self._theme, QRect(option.rect)
        painter.save()
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if is_chosen:
            painter.fillRect(rect, theme.colour("selection"))
        elif index.row() == self.hovered:
            painter.fillRect(rect, theme.colour("raised"))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme.colour("line"))
        if is_chosen and self._view.hasFocus():
            self._ring(painter, rect, index.column())
        role: FontRole = index.data(FONT) or "body"
        font = theme.font(role)
        painter.setFont(font)
        painter.setPen(theme.colour(index.data(INK) or "ink"))
        inner = rect.adjusted(_PAD, 0, -_PAD, 0)
        shown = QFontMetrics(font).elidedText(str(index.data()), Qt.TextElideMode.ElideRight, inner.width())
        align = index.data(Qt.ItemDataRole.TextAlignmentRole)
        painter.drawText(inner, align, shown)
        painter.restore()

    def _ring(self, painter: QPainter, rect: QRect, column: int) -> None:
        painter.setPen(QPen(self._theme.colour("focus"), 2))
        painter.drawLine(rect.left(), rect.top() + 1, rect.right(), rect.top() + 1)
        painter.drawLine(rect.left(), rect.bottom() - 1, rect.right(), rect.bottom() - 1)
        if column == self.ends[0]:
            painter.drawLine(rect.left() + 1, rect.top(), rect.left() + 1, rect.bottom())
        if column == self.ends[1]:
            painter.drawLine(rect.right() - 1, rect.top(), rect.right() - 1, rect.bottom())
