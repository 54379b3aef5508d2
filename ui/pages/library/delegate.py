"""Draws the cells of the table: one object for all of them, no widget in any.

Must not do: change anything, or ask for data that is not there yet.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from core.types.values import Status
from core.types.views import MemoryRow
from ui.pages.library.columns import COLUMNS, TEXT, Column, cell_text, number
from ui.pages.library.model import MemoryTable
from ui.theme.theme import Theme
from ui.theme.tokens import FontRole
from ui.widgets.plaintext import one_line
from ui.widgets.shapes import KIND_TOKENS, draw_kind
from ui.widgets.words import STATUS_WORDS, WARNED_WORDS

_PAD = 8
_BAR = 36  # of trust, pixels at 100 %
_MOST_LINES = 4_000
_LEAST_BESIDE = 260  # pixels a text keeps beside the words of a mark
_QUIET = frozenset({"space", "room", "source", "client", "learned", "recalled", "said"})
_STATUS_INKS = {Status.DISPUTED: "danger", Status.QUARANTINED: "warning"}
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter

Paint = Callable[[QPainter, QRect, MemoryRow, bool], None]


class Cells(QStyledItemDelegate):
    """The cells' painter.

    Attributes:
        hovered: the line under the pointer; -1 for none.
        marked: the line that has the keyboard; -1 for none.
        ends: the first and the last column as they stand.
    """

    def __init__(self, theme: Theme, model: MemoryTable, parent: QObject) -> None:
        super().__init__(parent)
        self._theme, self._model = theme, model
        self.hovered = self.marked = -1
        self.ends = (0, len(COLUMNS) - 1)
        self._lines: dict[str, str] = {}
        self._metrics: dict[FontRole, QFontMetrics] = {}
        self._own: dict[str, Paint] = {
            "kind": self._kind,
            TEXT: self._text,
            "trust": self._trust,
            "status": self._status,
            "tags": self._tags,
        }

    def restyle(self) -> None:
        """The theme is another one."""
        self._metrics.clear()

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: N802
        """All lines are of one height."""
        return QSize(40, self._theme.px(self._theme.tokens.sizes.row))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw a cell."""
        rect = QRect(option.rect)
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        column = COLUMNS[index.column()]
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._ground(painter, rect, index, is_chosen=is_chosen)
        row = self._model.row_at(index.row())
        inner = rect.adjusted(_PAD, 0, -_PAD, 0)
        if row is None:
            self._waiting(painter, inner, column, index.row())
        elif column.id in self._own:
            self._own[column.id](painter, inner, row, is_chosen)
        else:
            self._plain(painter, inner, column, row)
        painter.restore()

    def _ground(
        self, painter: QPainter, rect: QRect, index: QModelIndex | QPersistentModelIndex, *, is_chosen: bool
    ) -> None:
        colour = self._theme.colour
        if is_chosen:
            painter.fillRect(rect, colour("selection"))
        elif index.row() == self.hovered:
            painter.fillRect(rect, colour("raised"))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), colour("line"))
        if index.row() == self.marked:
            ring = colour("focus")
            painter.fillRect(QRect(rect.left(), rect.top(), rect.width(), 1), ring)
            painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), ring)
            if index.column() == self.ends[0]:
                painter.fillRect(QRect(rect.left(), rect.top(), 2, rect.height()), ring)
            if index.column() == self.ends[1]:
                painter.fillRect(QRect(rect.right() - 1, rect.top(), 2, rect.height()), ring)

    def _waiting(self, painter: QPainter, rect: QRect, column: Column, place: int) -> None:
        """A faint bar where words will be; its length differs from line to line, as theirs will."""
        share = 0.4 + 0.5 * ((place * 7919 + COLUMNS.index(column) * 104_729) % 97) / 97
        height = self._theme.px(8)
        width = height if column.id == "kind" else round(rect.width() * share)
        left = rect.right() - width if column.is_number else rect.left()
        left += self._theme.px(12) - height // 2 if column.id == "kind" else 0
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour("line"))
        painter.drawRoundedRect(QRectF(left, rect.center().y() - height / 2, width, height), height / 2, height / 2)

    def _write(
        self,
        painter: QPainter,
        rect: QRect,
        text: str,
        ink: str = "ink",
        role: FontRole = "body",
        align: Qt.AlignmentFlag = _LEFT,
    ) -> None:
        painter.setFont(self._theme.font(role))
        painter.setPen(self._theme.colour(ink))
        shown = self._measure(role).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, align, shown)

    def _measure(self, role: FontRole) -> QFontMetrics:
        if role not in self._metrics:
            self._metrics[role] = QFontMetrics(self._theme.font(role))
        return self._metrics[role]

    def _plain(self, painter: QPainter, rect: QRect, column: Column, row: MemoryRow) -> None:
        ink = "muted" if column.id in _QUIET else "ink"
        role: FontRole = "number" if column.is_number or column.id in {"said", "learned", "recalled"} else "body"
        self._write(painter, rect, cell_text(column, row), ink, role, _RIGHT if column.is_number else _LEFT)

    def _kind(self, painter: QPainter, rect: QRect, row: MemoryRow, _is_chosen: bool) -> None:
        colour = self._theme.colour(KIND_TOKENS[row.kind])
        size = self._theme.px(12)
        draw_kind(painter, row.kind, QPointF(rect.left() + self._theme.px(12), rect.center().y() + 1), size, colour)

    def _text(self, painter: QPainter, rect: QRect, row: MemoryRow, _is_chosen: bool) -> None:
        room = QRect(rect)
        if row.status is not Status.ACTIVE:
            words = STATUS_WORDS[row.status]
            ink = _STATUS_INKS.get(row.status, "muted")
            room.setRight(self._chip(painter, room, words, ink, at_right=True) - _PAD)
        if row.pinned:
            side = self._theme.px(14)
            place = QRect(room.right() - side, room.center().y() - side // 2, side, side)
            self._theme.icon("pin", "accent").paint(painter, place)
            room.setRight(place.left() - _PAD)
        if row.warned:
            room.setRight(self._warning(painter, room) - _PAD)
        stands = row.status in {Status.ACTIVE, Status.DISPUTED}
        self._write(painter, room, self._line(row), "ink" if stands else "muted")

    def _warning(self, painter: QPainter, rect: QRect) -> int:
        """A mark, and its words where the text keeps its room beside them; where it begins."""
        theme, side, words = self._theme, self._theme.px(14), 0
        wide = self._measure("caption").horizontalAdvance(WARNED_WORDS) + theme.px(2)
        if rect.width() > theme.px(_LEAST_BESIDE) + wide:
            words = wide + theme.px(4)
            self._write(painter, rect.adjusted(rect.width() - wide, 0, 0, 0), WARNED_WORDS, "warning", "caption")
        place = QRect(rect.right() - words - side, rect.center().y() - side // 2, side, side)
        theme.icon("triangle-alert", "warning").paint(painter, place)
        return place.left()

    def _line(self, row: MemoryRow) -> str:
        """The text as one line, worked out once: marks are looked for character by character."""
        line = self._lines.get(row.id)
        if line is None:
            if len(self._lines) > _MOST_LINES:
                self._lines.clear()
            line = self._lines[row.id] = one_line(row.head)
        return line

    def _chip(
        self, painter: QPainter, rect: QRect, text: str, ink: str = "muted", rim: str = "", *, at_right: bool = False
    ) -> int:
        """A small pill with a word; where it begins or ends, towards what still has room."""
        theme, metrics = self._theme, self._measure("caption")
        width = min(metrics.horizontalAdvance(text) + theme.px(14), rect.width())
        height = theme.px(20)
        left = rect.right() - width if at_right else rect.left()
        pill = QRectF(left + 0.5, rect.center().y() - height / 2 + 0.5, width - 1, height - 1)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(theme.colour(rim or ("line" if ink == "muted" else ink)))
        painter.drawRoundedRect(pill, height / 2, height / 2)
        inside = pill.toRect().adjusted(theme.px(6), 0, -theme.px(6) + 1, 0)
        self._write(painter, inside, text, ink, "caption", Qt.AlignmentFlag.AlignCenter)
        return left if at_right else left + width

    def _tags(self, painter: QPainter, rect: QRect, row: MemoryRow, is_chosen: bool) -> None:
        room = QRect(rect)
        metrics, theme = self._measure("caption"), self._theme
        for place, tag in enumerate(row.tags):
            words = one_line(tag, 40)
            left = len(row.tags) - place
            rest = theme.px(24) if left > 1 else 0
            if place and metrics.horizontalAdvance(words) + theme.px(14) + rest > room.width():
                self._write(painter, room, f"+{left}", "muted", "caption")
                return
            end = self._chip(painter, room.adjusted(0, 0, -rest, 0), words, rim="faint" if is_chosen else "line")
            room.setLeft(end + theme.px(4))

    def _trust(self, painter: QPainter, rect: QRect, row: MemoryRow, _is_chosen: bool) -> None:
        theme = self._theme
        figure = self._measure("number").horizontalAdvance("0.00") + theme.px(2)
        self._write(painter, rect, number(row.trust), "ink", "number", _RIGHT)
        width, height = theme.px(_BAR), theme.px(4)
        left = rect.right() - figure - theme.px(8) - width
        if left < rect.left():
            return
        track = QRectF(left, rect.center().y() - height / 2 + 0.5, width, height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("line"))
        painter.drawRoundedRect(track, height / 2, height / 2)
        painter.setBrush(QColor(theme.tokens.trust_colour(row.trust)))
        track.setWidth(max(height, width * min(1.0, row.trust)))
        painter.drawRoundedRect(track, height / 2, height / 2)

    def _status(self, painter: QPainter, rect: QRect, row: MemoryRow, _is_chosen: bool) -> None:
        if row.status is Status.ACTIVE:
            self._write(painter, rect, STATUS_WORDS[row.status], "muted")
        else:
            self._chip(painter, rect, STATUS_WORDS[row.status], _STATUS_INKS.get(row.status, "muted"))
