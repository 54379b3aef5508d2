"""Draws a line of the answer: place, shape, text, note, stacked bar, score, on cards with round corners.

Must not do: read, or decide what stands where.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPainterPath, QPen

from ui.lists.row_spec import LEFT, MIDDLE, RIGHT, Heading, Inert, RowSpec, RowState, line_height, wrapped
from ui.pages.recall.answer.lines import Details, Row, moved_told, told
from ui.pages.recall.signals import draw_bar
from ui.theme.theme import Theme
from ui.widgets.plaintext import tip
from ui.widgets.shapes import KIND_TOKENS, draw_kind

_PAD, _PLACE, _SHAPE, _SCORE, _GAP = 16, 40, 24, 48, 16
_BAR, _BAR_NARROW, _WIDE = 180, 104, 720
_UPRIGHT, _HEADING_TOP = 10, 14
_MOST_LINES = 2
_RADIUS = 12.0


class AnswerRows(RowSpec[Row]):
    """How the lines of an answer look.

    Attributes:
        opened: id of the row whose details are shown; "" for none.
        height_of: how high the opened details are at a width.
    """

    heading = (44, 44)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.opened = ""
        self.height_of: Callable[[int], int] = lambda _: 0

    def key(self, row: Row) -> str:
        """The memory."""
        return row.id

    def describe(self, row: Row) -> str:
        """All of it."""
        return told(row)

    def hint(self, row: Row) -> str:
        """Its text."""
        return tip(row.text)

    def is_same(self, row: Row, other: Row) -> bool:
        """Whether it is the same memory."""
        return row.id == other.id

    # ---- sizes

    def _body(self) -> QFont:
        font = self.theme.font("body")
        font.setWeight(QFont.Weight.Medium)
        return font

    def text_room(self, width: int) -> int:
        """Pixels a text has in a line of a width."""
        px = self.theme.px
        return width - px(_PAD * 2 + _PLACE + _SHAPE + _GAP * 2 + _SCORE) - self._bar(width)

    def _bar(self, width: int) -> int:
        px = self.theme.px
        return px(_BAR if width >= px(_WIDE) else _BAR_NARROW)

    def height(self, row: Row, _place: int) -> int:
        """As high as its words need."""
        font = self._body()
        lines = len(wrapped(row.text, font, self.text_room(self.width()), _MOST_LINES)) or 1
        return lines * line_height(font) + line_height(self.theme.font("small")) + self.theme.px(_UPRIGHT * 2 + 2)

    def inert_height(self, line: Inert, place: int) -> int:
        """As high as a heading, or the details that are open."""
        return self.height_of(self.width()) if isinstance(line, Details) else super().inert_height(line, place)

    # ---- painting

    def draw_inert(self, painter: QPainter, rect: QRect, line: Inert, _state: RowState) -> None:
        """The card under details; a heading with its note."""
        if isinstance(line, Details):
            self._card(painter, rect, is_first=False, is_last=line.is_last)
        elif isinstance(line, Heading):
            theme = self.theme
            inner = rect.adjusted(0, theme.px(_HEADING_TOP), 0, -theme.px(4))
            font = theme.font("section")
            painter.setFont(font)
            painter.setPen(theme.colour("ink"))
            painter.drawText(inner, LEFT | MIDDLE, line.title)
            wide = QFontMetrics(font).horizontalAdvance(line.title) + theme.px(8)
            self.write(painter, inner.adjusted(wide, 0, 0, 0), line.note, "muted", theme.font("body"))

    def _card(self, painter: QPainter, rect: QRect, *, is_first: bool, is_last: bool, joins: bool = False) -> None:
        """The surface under a line, with round corners where the card begins or ends."""
        colour, radius = self.theme.colour, _RADIUS
        frame = QRectF(rect).adjusted(0.5, 0.5 if is_first else -radius, -0.5, -0.5 if is_last else radius)
        painter.save()
        painter.setClipRect(rect)
        path = QPainterPath()
        path.addRoundedRect(frame, radius, radius)
        painter.fillPath(path, colour("surface"))
        painter.setPen(QPen(colour("line"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)
        if not is_last and not joins:
            painter.drawLine(QPointF(rect.left(), rect.bottom() + 0.5), QPointF(rect.right(), rect.bottom() + 0.5))
        painter.restore()

    def draw_ground(self, painter: QPainter, rect: QRect, row: Row, state: RowState) -> None:
        """Its card, and on that a rounded field."""
        is_open = row.id == self.opened
        self._card(painter, rect, is_first=row.is_first, is_last=row.is_last and not is_open, joins=is_open)
        colour, is_chosen = self.theme.colour, state.is_chosen
        frame = QRectF(rect).adjusted(4.5, 4.5, -4.5, -4.5)
        if is_chosen or state.is_hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour("selection" if is_chosen else "hover"))
            painter.drawRoundedRect(frame, 8, 8)
        if is_chosen:  # a bar beside the colour
            painter.setBrush(colour("accent"))
            painter.drawRoundedRect(QRectF(frame.left(), frame.top() + 8, 3, frame.height() - 16), 1.5, 1.5)
        if state.has_focus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colour("focus"), 2))
            painter.drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)

    def draw_row(self, painter: QPainter, rect: QRect, line: Row, _state: RowState) -> None:
        """Its place, its shape, its words, its bar and its score."""
        theme, px = self.theme, self.theme.px
        inner = rect.adjusted(px(_PAD), px(_UPRIGHT), -px(_PAD), -px(_UPRIGHT))
        left = self._place(painter, inner, line)
        centre = QPointF(left + px(6), inner.center().y())
        draw_kind(painter, line.kind, centre, px(10), theme.colour(KIND_TOKENS[line.kind]))
        left += px(_SHAPE)
        room, body, small = self.text_room(rect.width()), self._body(), theme.font("small")
        at = QRect(left, inner.top(), room, line_height(body))
        painter.setFont(body)
        painter.setPen(theme.colour("ink"))
        for words in wrapped(line.text, body, room, _MOST_LINES):
            painter.drawText(at, LEFT | MIDDLE, words)
            at.translate(0, line_height(body))
        note = QRect(left, inner.bottom() - line_height(small), room, line_height(small))
        self.write(painter, note, line.note, "muted", small)
        bar = QRectF(inner.right() - px(_SCORE + _GAP) - self._bar(rect.width()), 0, self._bar(rect.width()), px(9))
        bar.moveTop(inner.center().y() - bar.height() / 2)
        draw_bar(painter, theme, bar, line.parts)
        self._score(painter, inner, line)

    def _place(self, painter: QPainter, inner: QRect, line: Row) -> int:
        """The place, and under it what the trial weights did to it; gives where it ends."""
        theme, px = self.theme, self.theme.px
        number = theme.font("number")
        at = QRect(inner.left(), inner.top(), px(_PLACE), inner.height())
        moved = moved_told(line.moved) if line.is_answer else ""
        painter.setFont(number)
        painter.setPen(theme.colour("muted"))
        if not moved:
            painter.drawText(at, LEFT | MIDDLE, line.place)
            return at.right()
        half = inner.height() // 2
        upper, lower = at.adjusted(0, 0, 0, -half), at.adjusted(0, half, 0, 0)
        painter.drawText(upper, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom, line.place)
        fell = line.moved is not None and line.moved < 0
        small = theme.font("caption")
        small.setWeight(QFont.Weight.DemiBold)
        painter.setFont(small)
        painter.setPen(theme.colour("danger" if fell else "success"))
        painter.drawText(lower, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, moved)
        return at.right()

    def _score(self, painter: QPainter, inner: QRect, line: Row) -> None:
        font = self.theme.font("number")
        font.setWeight(QFont.Weight.DemiBold)
        painter.setFont(font)
        painter.setPen(self.theme.colour("ink" if line.is_answer else "muted"))
        shown = "—" if line.score is None else f"{line.score:.2f}"
        painter.drawText(inner, RIGHT | MIDDLE, shown)
