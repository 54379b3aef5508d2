"""Draws the lines of a list as its row specification says.

Must not do: know what a line looks like.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from ui.lists.list_model import LINE
from ui.lists.row_spec import Inert, RowSpec, RowState

_Index = QModelIndex | QPersistentModelIndex


class RowPainter(QStyledItemDelegate):
    """Draws lines.

    Attributes:
        hovered: the line under the pointer; -1 for none.
    """

    def __init__(self, spec: RowSpec[Any], view: QListView) -> None:
        super().__init__(view)
        self._spec, self._view = spec, view
        self.hovered = -1

    def sizeHint(self, _option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: N802 - Qt's name
        """As high as a line's words need."""
        line, place = index.data(LINE), index.row()
        measured = self._spec.inert_height if isinstance(line, Inert) else self._spec.height
        return QSize(100, measured(line, place))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Draw a line."""
        rect, line, place = QRect(option.rect), index.data(LINE), index.row()
        state = RowState(
            place,
            is_chosen=bool(option.state & QStyle.StateFlag.State_Selected),
            is_hovered=place == self.hovered,
            has_focus=place == self._view.currentIndex().row() and self._view.hasFocus(),
        )
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(line, Inert):
            self._spec.draw_inert(painter, rect, line, state)
        else:
            self._spec.draw_ground(painter, rect, line, state)
            self._spec.draw_row(painter, rect, line, state)
        painter.restore()
