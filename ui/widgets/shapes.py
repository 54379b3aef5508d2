"""The shapes of the kinds: a shape beside every colour, the same on every page."""

from __future__ import annotations

import math
from collections.abc import Mapping

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPixmap, QPolygonF
from PySide6.QtWidgets import QWidget

from core.types.values import Kind
from ui.theme.theme import Theme
from ui.widgets.labels import KIND_WORDS

KIND_TOKENS: Mapping[Kind, str] = {kind: f"kind_{kind.value}" for kind in Kind}


def kind_path(kind: Kind) -> QPainterPath:
    """The outline of a kind's shape, round the origin, with the area of a square of side 1.

    Args:
        kind: episode circle, fact square, rule diamond, procedure triangle, digest hexagon.
    """
    path = QPainterPath()
    match kind:
        case Kind.EPISODE:
            path.addEllipse(QPointF(0, 0), 0.54, 0.54)
        case Kind.FACT:
            path.addRoundedRect(QRectF(-0.47, -0.47, 0.94, 0.94), 0.12, 0.12)
        case Kind.RULE:
            path.addPolygon(_make_polygon(4, 0.68, 90))
        case Kind.PROCEDURE:
            path.addPolygon(_make_polygon(3, 0.74, 90))
        case Kind.DIGEST:
            path.addPolygon(_make_polygon(6, 0.6, 0))
    path.closeSubpath()
    return path


def _make_polygon(corners: int, radius: float, first: float) -> QPolygonF:
    angles = (math.radians(first + 360 * k / corners) for k in range(corners))
    drop = 0.1 if corners == 3 else 0.0  # a triangle's weight lies below its middle
    return QPolygonF([QPointF(radius * math.cos(a), -radius * math.sin(a) + drop) for a in angles])


_paths: dict[Kind, QPainterPath] = {}


def cached_kind_path(kind: Kind) -> QPainterPath:
    """`kind_path`, made once."""
    if kind not in _paths:
        _paths[kind] = kind_path(kind)
    return _paths[kind]


def draw_kind(painter: QPainter, kind: Kind, centre: QPointF, size: float, colour: QColor) -> None:
    """Draw a kind's shape.

    Args:
        painter: with antialiasing set by the caller.
        size: side of the square of the same area, pixels.
    """
    painter.save()
    painter.translate(centre)
    painter.scale(size, size)
    painter.fillPath(cached_kind_path(kind), colour)
    painter.restore()


def kind_pixmap(kind: Kind, size: int, colour: QColor, ratio: float = 1.0) -> QPixmap:
    """A kind's shape as a picture.

    Args:
        size: pixels of the picture's side; the shape takes about three quarters of it.
        ratio: device pixels per pixel.
    """
    pixmap = QPixmap(QSize(round(size * ratio), round(size * ratio)))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    draw_kind(painter, kind, QPointF(size / 2, size / 2), size * 0.78, colour)
    painter.end()
    return pixmap


class KindMark(QWidget):
    """A kind's shape, as a small widget with a name for those who do not see it."""

    def __init__(self, theme: Theme, kind: Kind = Kind.EPISODE, size: int = 14, colour: str = "") -> None:
        """Make it.

        Args:
            kind: which shape.
            size: pixels at 100 %.
            colour: a name of the theme's, where the place tells by its colour what it is; "" for the kind's own.
        """
        super().__init__()
        self._theme, self._size, self._kind, self._colour = theme, size, kind, colour
        self.show_kind(kind)
        self.setFixedSize(theme.px(size), theme.px(size))
        theme.changed.connect(self._restyle_mark)

    def show_kind(self, kind: Kind) -> None:
        """Show another kind."""
        self._kind = kind
        self.setAccessibleName(KIND_WORDS[kind])
        self.setToolTip(KIND_WORDS[kind])
        self.update()

    def _restyle_mark(self) -> None:
        self.setFixedSize(self._theme.px(self._size), self._theme.px(self._size))
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        """Draw the shape."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = self._theme.colour(self._colour or KIND_TOKENS[self._kind])
        draw_kind(painter, self._kind, QPointF(self.width() / 2, self.height() / 2), self.width() * 0.8, colour)
