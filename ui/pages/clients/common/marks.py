"""The shape of a standing: a shape beside every colour.

Awake is a full disc, asleep a moon, paused two bars, one that is unpaired an open ring, revoked a cross in a ring.
Must not do: say the word; that stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QWidget

from core.types.clients import Standing
from ui.pages.clients.common.words import standing_word
from ui.theme.theme import Theme

TOKENS: Mapping[Standing, str] = {
    Standing.AWAKE: "success",
    Standing.ASLEEP: "muted",
    Standing.PAUSED: "warning",
    Standing.UNPAIRED: "warning",
    Standing.REVOKED: "danger",
}
_SIDE = 12


def draw_standing(painter: QPainter, standing: Standing, centre: QPointF, side: float, colour: QColor) -> None:
    """Draw a standing.

    Args:
        painter: with antialiasing set by the caller.
        standing: which.
        centre: its middle.
        side: pixels.
        colour: of it.
    """
    painter.save()
    painter.translate(centre)
    painter.scale(side, side)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    match standing:
        case Standing.AWAKE:
            painter.drawEllipse(QPointF(0, 0), 0.4, 0.4)
        case Standing.ASLEEP:
            moon, bite = QPainterPath(), QPainterPath()
            moon.addEllipse(QPointF(0, 0), 0.45, 0.45)
            bite.addEllipse(QPointF(0.24, -0.2), 0.38, 0.38)
            painter.drawPath(moon.subtracted(bite))
        case Standing.PAUSED:
            for left in (-0.36, 0.1):
                painter.drawRoundedRect(QRectF(left, -0.42, 0.26, 0.84), 0.06, 0.06)
        case Standing.UNPAIRED:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colour, 0.14))
            painter.drawArc(QRectF(-0.42, -0.42, 0.84, 0.84), 30 * 16, 300 * 16)
        case Standing.REVOKED:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colour, 0.12))
            painter.drawEllipse(QPointF(0, 0), 0.44, 0.44)
            painter.drawLine(QPointF(-0.18, -0.18), QPointF(0.18, 0.18))
            painter.drawLine(QPointF(-0.18, 0.18), QPointF(0.18, -0.18))
    painter.restore()


class StandingMark(QWidget):
    """A standing as a small widget."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self._standing = theme, Standing.AWAKE
        theme.changed.connect(self._restyle)
        self._restyle()

    def show_standing(self, standing: Standing) -> None:
        """Show another standing."""
        self._standing = standing
        self.setAccessibleName(standing_word(standing))
        self.update()

    def _restyle(self) -> None:
        side = self._theme.px(_SIDE)
        self.setFixedSize(side, side)
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        """Draw it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        centre = QPointF(self.width() / 2, self.height() / 2)
        colour = self._theme.colour(TOKENS[self._standing])
        draw_standing(painter, self._standing, centre, self.width() * 0.95, colour)
