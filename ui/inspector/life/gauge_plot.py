"""A gauge over time, drawn: what was, what will be if nobody touches the memory, the lines at which something happens.

What will be is dashed, a line at which something happens is dotted and named: colour is never alone. Must not do: work
out a value; the curve and the number are the engine's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.types.lifecycle import Curve
from ui.theme.theme import Theme

_HIGH, _FOOT, _TOP, _GAP, _DOT = 76, 18, 6, 6, 4.0


@dataclass(frozen=True, slots=True)
class Mark:
    """A line at which something happens: its value, 0 to 1, and its name."""

    value: float
    name: str


def clipped(curve: Curve, first: float, last: float) -> tuple[tuple[float, float], ...]:
    """The points of a curve between two days; where it is cut, the value is on the straight line between its points.

    Args:
        curve: days ascending, one value each.
        first: days from now.
        last: likewise, not before `first`.

    Returns:
        (day, value) pairs; empty where the curve has no point there.
    """
    points = list(zip(curve.days, curve.values, strict=True))
    inside = [(day, value) for day, value in points if first <= day <= last]
    if not points or first > points[-1][0] or last < points[0][0]:
        return ()
    if not inside or inside[0][0] > first > points[0][0]:
        inside.insert(0, (first, value_at(curve, first)))
    if inside[-1][0] < last < points[-1][0]:
        inside.append((last, value_at(curve, last)))
    return tuple(inside)


def value_at(curve: Curve, day: float) -> float:
    """The value of a curve on a day, on the straight line between its points; beyond its ends, that of the end.

    Args:
        curve: at least one point.
        day: days from now.
    """
    before = None
    for point in zip(curve.days, curve.values, strict=True):
        if point[0] >= day:
            if before is None or point[0] == before[0]:
                return point[1]
            share = (day - before[0]) / (point[0] - before[0])
            return before[1] + share * (point[1] - before[1])
        before = point
    return curve.values[-1]


class Plot(QWidget):
    """One gauge."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._curve = Curve((), ())
        self._value = 0.0
        self._marks: tuple[Mark, ...] = ()
        self._feet = ("", "", "")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_curve(self, curve: Curve, value: float, marks: Sequence[Mark], feet: tuple[str, str, str]) -> None:
        """Draw another one.

        Args:
            curve: over time.
            value: now.
            marks: lines at which something happens.
            feet: words under the beginning, the present and the end.
        """
        self._curve, self._value, self._marks, self._feet = curve, value, tuple(marks), feet
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Low and wide."""
        return QSize(160, self._theme.px(_HIGH + _FOOT))

    # ---- measures

    def field(self) -> QRectF:
        """Where the curve is drawn."""
        px = self._theme.px
        wide = self.width() - 2 - self._gutter()
        return QRectF(1, px(_TOP), max(40.0, wide), self.height() - px(_TOP + _FOOT))

    def _gutter(self) -> float:
        """Room at the right for the names of the lines."""
        measure = QFontMetricsF(self._theme.font("caption"))
        widest = max((measure.horizontalAdvance(mark.name) for mark in self._marks), default=0.0)
        return widest + self._theme.px(_GAP) if widest else self._theme.px(_DOT)

    def at(self, day: float, value: float) -> QPointF:
        """Where a day and a value lie."""
        field, days = self.field(), self._curve.days or (0.0, 1.0)
        first, last = min(days[0], 0.0), max(days[-1], 1.0)
        share = (day - first) / (last - first)
        return QPointF(
            field.left() + field.width() * share, field.bottom() - field.height() * min(1.0, max(0.0, value))
        )

    # ---- drawing

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the ground, the lines, the curve, the present."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        field, colour = self.field(), self._theme.colour
        painter.setPen(QPen(colour("line"), 1))
        painter.drawLine(field.bottomLeft(), field.bottomRight())
        painter.drawLine(field.topLeft(), field.topRight())
        if self._curve.days:
            self._draw_curve(painter)
            self._draw_marks(painter)
            self._draw_now(painter)
        painter.end()

    def _path(self, first: float, last: float) -> QPainterPath:
        path = QPainterPath()
        for nr, point in enumerate(clipped(self._curve, first, last)):
            (path.lineTo if nr else path.moveTo)(self.at(*point))
        return path

    def _draw_curve(self, painter: QPainter) -> None:
        colour, last = self._theme.colour, self._curve.days[-1]
        past, ahead = self._path(min(self._curve.days[0], 0.0), 0.0), self._path(0.0, max(last, 0.0))
        ground = QPainterPath(past)
        if not ground.isEmpty():
            ground.lineTo(self.at(0.0, 0.0))
            ground.lineTo(self.at(self._curve.days[0], 0.0))
            ground.closeSubpath()
            painter.fillPath(ground, colour("accent_soft"))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(colour("accent"), 1.8))
        painter.drawPath(past)
        dashed = QPen(colour("accent"), 1.8)
        dashed.setDashPattern([3.0, 2.5])
        painter.setPen(dashed)
        painter.drawPath(ahead)

    def _draw_marks(self, painter: QPainter) -> None:
        """The lines; their names stand at their right ends, moved apart where they would lie on each other."""
        colour, field, font = self._theme.colour, self.field(), self._theme.font("caption")
        high, floor = QFontMetricsF(font).height(), field.bottom() + self._theme.px(_TOP)
        pen = QPen(colour("warning"), 1)
        pen.setDashPattern([1.0, 3.0])
        painter.setFont(font)
        for mark in sorted(self._marks, key=lambda one: one.value):
            y = self.at(0.0, mark.value).y()
            painter.setPen(pen)
            painter.drawLine(QPointF(field.left(), y), QPointF(field.right(), y))
            top = min(y - high / 2, floor - high)
            painter.setPen(colour("warning"))
            at = QRectF(field.right() + self._theme.px(_GAP), top, self.width(), high)
            painter.drawText(at, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, mark.name)
            floor = top

    def _draw_now(self, painter: QPainter) -> None:
        theme, field = self._theme, self.field()
        now = self.at(0.0, self._value)
        painter.setPen(QPen(theme.colour("outline"), 1))
        painter.drawLine(QPointF(now.x(), field.top()), QPointF(now.x(), field.bottom()))
        painter.setPen(QPen(theme.colour("surface"), 2))
        painter.setBrush(theme.colour("accent"))
        painter.drawEllipse(now, _DOT, _DOT)
        self._draw_feet(painter, now.x())

    def _draw_feet(self, painter: QPainter, now: float) -> None:
        """Words under the beginning, the present and the end; the ends give way to the present."""
        theme, field, font = self._theme, self.field(), self._theme.font("caption")
        measure = QFontMetricsF(font)
        painter.setFont(font)
        painter.setPen(theme.colour("muted"))
        first, middle, last = self._feet
        wide, gap = measure.horizontalAdvance(middle), theme.px(8)
        left = min(max(field.left(), now - wide / 2), field.right() - wide)
        top, high = field.bottom() + theme.px(2), self.height() - field.bottom() - theme.px(2)
        middle_of = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(left, top, wide + 1, high), Qt.AlignmentFlag.AlignLeft | middle_of, middle)
        if field.left() + measure.horizontalAdvance(first) + gap <= left:
            painter.drawText(QRectF(field.left(), top, left, high), Qt.AlignmentFlag.AlignLeft | middle_of, first)
        if field.right() - measure.horizontalAdvance(last) - gap >= left + wide:
            at = QRectF(left, top, field.right() - left, high)
            painter.drawText(at, Qt.AlignmentFlag.AlignRight | middle_of, last)
