"""Draws the lines of a `LineModel`: headings, and what is alike in all rows. What a row looks like, its list says.

Must not do: ask the engine, or interpret a text.
"""

from __future__ import annotations

from typing import Any, ClassVar

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QListView, QStyledItemDelegate, QStyleOptionViewItem

from ui.lists.line_model import LINE, Heading
from ui.theme.theme import Theme

PAD = 14
"""Pixels of room, at 100 %, at both sides of a line's words."""


class LinePainter(QStyledItemDelegate):
    """Draws lines.

    Attributes:
        below_heading: pixels of room, at 100 %, under the words of a heading.
        hovered: the line under the pointer; -1 for none.
    """

    below_heading: ClassVar[int]

    def __init__(self, theme: Theme, view: QListView) -> None:
        super().__init__(view)
        self._theme, self._view = theme, view
        self.hovered = -1

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw a line."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect, line = QRect(option.rect), index.data(LINE)
        if isinstance(line, Heading):
            self._heading(painter, rect, line.title)
        else:
            self._ground(painter, option, index.row())
            self._row(painter, rect, line)
        painter.restore()

    def _heading(self, painter: QPainter, rect: QRect, title: str) -> None:
        theme = self._theme
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme.colour("line"))
        inner = rect.adjusted(theme.px(PAD), 0, -theme.px(PAD), -theme.px(self.below_heading))
        low = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom
        self._write(painter, inner, title, "muted", theme.font("label"), low)

    def _ground(self, painter: QPainter, option: QStyleOptionViewItem, place: int) -> None:
        """Draw what the row at a place stands on."""
        raise NotImplementedError  # each list says it; Qt's metaclass goes with no abstract class

    def _row(self, painter: QPainter, rect: QRect, row: Any) -> None:
        """Draw a row."""
        raise NotImplementedError  # each list says it; Qt's metaclass goes with no abstract class

    def _fonts(self) -> tuple[QFont, QFont]:
        """That of a row's head, and the small one."""
        head = self._theme.font("body")
        head.setWeight(QFont.Weight.Medium)
        return head, self._theme.font("small")

    def _write(self, painter: QPainter, rect: QRect, text: str, ink: str, font: QFont, where: Qt.AlignmentFlag) -> None:
        """One line of plain text, cut where there is no room."""
        painter.setFont(font)
        painter.setPen(self._theme.colour(ink))
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, where, shown)
