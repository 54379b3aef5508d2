"""The list below the strip: draws memories and days; what is chosen in it, the inspector shows.

Must not do: ask the engine.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from core.types.values import Status
from core.types.views import MemoryRow
from ui.context import Context
from ui.pages.timeline.moments import MEMORY, MomentModel, details
from ui.theme.theme import Theme
from ui.widgets.plaintext import one_line
from ui.widgets.shapes import KIND_TOKENS, draw_kind

_HEIGHT, _HEADING, _FIRST = 46, 36, 28
_PAD, _SHAPE = 14, 11
_STANDS = frozenset({Status.ACTIVE, Status.DISPUTED})
_Index = QModelIndex | QPersistentModelIndex


class MomentPainter(QStyledItemDelegate):
    """Draws a line.

    Attributes:
        hovered: the line under the pointer; -1 for none.
        has_keyboard: asks the list.
    """

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self.hovered = -1
        self.has_keyboard: Callable[[], bool] = lambda: False

    def sizeHint(self, _option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: N802 - Qt's name
        """Memories are of one height; a heading is lower, the first one most."""
        if index.data(MEMORY) is not None:
            return QSize(100, self._theme.px(_HEIGHT))
        return QSize(100, self._theme.px(_HEADING if index.row() else _FIRST))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Draw a line."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect, row = QRect(option.rect), index.data(MEMORY)
        if row is None:
            self._heading(painter, rect, str(index.data()))
        else:
            is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
            ground(painter, self._theme, rect, is_chosen, index.row() == self.hovered, self.has_keyboard())
            self._memory(painter, rect, row)
        painter.restore()

    def _heading(self, painter: QPainter, rect: QRect, day: str) -> None:
        theme = self._theme
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme.colour("line"))
        inner = rect.adjusted(theme.px(_PAD), 0, -theme.px(_PAD), -theme.px(6))
        write(painter, theme.font("label"), inner, day, theme.colour("muted").name(), Qt.AlignmentFlag.AlignBottom)

    def _memory(self, painter: QPainter, rect: QRect, row: MemoryRow) -> None:
        theme, pad, side = self._theme, self._theme.px(_PAD), self._theme.px(_SHAPE)
        stands = row.status in _STANDS
        middle = QPointF(rect.left() + pad + side / 2, rect.center().y() + 0.5)
        draw_kind(painter, row.kind, middle, side, theme.colour(KIND_TOKENS[row.kind] if stands else "faint"))
        inner = rect.adjusted(pad + side + theme.px(12), theme.px(4), -pad, -theme.px(6))
        half = inner.height() // 2
        upper, lower = QRect(inner), QRect(inner)
        upper.setHeight(half)
        lower.setTop(upper.bottom() + 1)
        font = theme.font("body")
        font.setWeight(QFont.Weight.Medium)
        font.setStrikeOut(not stands)
        middle_line = Qt.AlignmentFlag.AlignVCenter
        write(painter, font, upper, one_line(row.head), theme.colour("ink" if stands else "muted").name(), middle_line)
        write(painter, theme.font("small"), lower, details(row), theme.colour("muted").name(), middle_line)


def ground(painter: QPainter, theme: Theme, rect: QRect, is_chosen: bool, is_hovered: bool, has_keyboard: bool) -> None:
    """What lies below a line of a list, and the ring round the chosen one that has the keyboard."""
    if is_chosen or is_hovered:
        painter.fillRect(rect, theme.colour("selection" if is_chosen else "raised"))
    painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme.colour("line"))
    if is_chosen and has_keyboard:
        ring = painter.pen()
        ring.setColor(theme.colour("focus"))
        ring.setWidth(2)
        painter.setPen(ring)
        painter.drawRect(rect.adjusted(1, 1, -1, -2))


def write(painter: QPainter, font: QFont, rect: QRect, text: str, colour: str, upright: Qt.AlignmentFlag) -> None:
    """One line of plain text that ends in an ellipsis where there is no room."""
    painter.setFont(font)
    painter.setPen(colour)
    shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | upright | Qt.TextFlag.TextSingleLine, shown)


class MomentList(QListView):
    """The list.

    Signals:
        looked_at: id of the memory that was chosen; "" for none.
    """

    looked_at = Signal(str)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.moments = MomentModel(context, self)
        self.painter = MomentPainter(context.theme, self)
        self.painter.has_keyboard = self.hasFocus
        self.setModel(self.moments)
        self.setItemDelegate(self.painter)
        self.setAccessibleName("Memories of the period")
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.entered.connect(self._hover)
        self.moments.modelReset.connect(self._renew)
        context.theme.changed.connect(self.doItemsLayout)

    def choose(self, memory_id: str) -> bool:
        """Choose a memory, where it is listed.

        Returns:
            Whether it is.
        """
        place = self.moments.place_of(memory_id) if memory_id else -1
        chosen = self.moments.memory_at(self.currentIndex().row())
        if place >= 0 and (chosen is None or chosen.id != memory_id):
            self.setCurrentIndex(self.moments.index(place, 0))
        return place >= 0

    def currentChanged(self, current: _Index, previous: _Index) -> None:  # noqa: N802 - Qt's name
        """Another memory is looked at."""
        super().currentChanged(current, previous)
        row = self.moments.memory_at(current.row())
        if row is not None:
            self.looked_at.emit(row.id)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """The first memory takes the keyboard where none has it yet."""
        if not self.currentIndex().isValid() and self.moments.rowCount() > 1:
            self.setCurrentIndex(self.moments.index(1, 0))
        super().focusInEvent(event)

    def _hover(self, index: QModelIndex) -> None:
        if index.row() != self.painter.hovered:
            self.painter.hovered = index.row()
            self.viewport().update()

    def _renew(self) -> None:
        self.painter.hovered = -1
        self.scrollToTop()
