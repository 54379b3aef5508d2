"""By what a room is recognised: its tint, the corners of its outline with the door in it, its floor, its emblem.

Must not do: know what a room holds.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPixmap

from core.types.views import Furnishing
from ui.theme.theme import Theme
from ui.theme.tokens import TINTS

NEUTRAL = "landmark"
"""The emblem of a room that has none yet."""
SQUARE, CUT, ROUND, NOTCHED = range(4)
_TILE_PX = 24
_FLOOR_ALPHA = 0.13
_DOOR_AT = 0.76
"""Where in its lower wall a room's door is, as a share of its width."""


def tint_role(furnishing: Furnishing | None) -> str:
    """The colour's name of a room's lines and emblem."""
    return "outline" if furnishing is None else f"tint_{furnishing.tint % TINTS}"


def soft_role(furnishing: Furnishing | None) -> str:
    """The colour's name of a room's ground."""
    return "surface" if furnishing is None else f"tint_soft_{furnishing.tint % TINTS}"


def outline_path(rect: QRectF, outline: int, corner: float) -> QPainterPath:
    """The outline of a room.

    Args:
        outline: square, cut, round or notched, as `Furnishing` numbers them.
        corner: size of a corner, px.
    """
    path, c = QPainterPath(), min(corner, rect.width() / 3, rect.height() / 3)
    if outline == ROUND:
        path.addRoundedRect(rect, c * 1.4, c * 1.4)
        return path
    if outline == SQUARE:
        path.addRoundedRect(rect, 2.5, 2.5)
        return path
    left, top, right, bottom = rect.left(), rect.top(), rect.right(), rect.bottom()
    corners = (  # each corner as the points one passes on the way round, from the upper left one
        ((left, top + c), (left + c, top + c), (left + c, top)),
        ((right - c, top), (right - c, top + c), (right, top + c)),
        ((right, bottom - c), (right - c, bottom - c), (right - c, bottom)),
        ((left + c, bottom), (left + c, bottom - c), (left, bottom - c)),
    )
    points = [QPointF(*corners[0][2])]
    for one in (*corners[1:], corners[0]):
        points += [QPointF(*point) for point in (one if outline == NOTCHED else (one[0], one[2]))]
    path.moveTo(points[0])
    for point in points[1:]:
        path.lineTo(point)
    path.closeSubpath()
    return path


class Furniture:
    """Paints what represents a room: ground, floor, outline, door, emblem."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._tiles: dict[tuple[int, str, float], QPixmap] = {}

    def clear_tiles(self) -> None:
        """The theme is another one."""
        self._tiles.clear()

    def paint_room(self, painter: QPainter, rect: QRectF, furnishing: Furnishing | None, *, is_near: bool) -> None:
        """Paint a room without what is in it.

        Args:
            painter: with antialiasing set by the caller.
            rect: its ground, px.
            furnishing: None for one that has none yet.
            is_near: whether there is room for a floor and the leaf of the door.
        """
        theme = self._theme
        inner = rect.adjusted(1, 1, -1, -1)
        corner = min(theme.px(11), inner.width() * 0.07, inner.height() * 0.1)
        kind = ROUND if furnishing is None else furnishing.outline % 4
        path = outline_path(inner, kind, corner)
        painter.fillPath(path, theme.colour(soft_role(furnishing)))
        if is_near and furnishing is not None:
            self._paint_floor(painter, path, furnishing)
        colour = theme.colour("line" if furnishing is None else tint_role(furnishing))
        if min(inner.width(), inner.height()) < theme.px(18):
            painter.strokePath(path, QPen(colour, 1.0))
            return
        self._paint_walls(painter, inner, path, colour, is_near=is_near)

    def _paint_floor(self, painter: QPainter, path: QPainterPath, furnishing: Furnishing) -> None:
        painter.save()
        painter.setClipPath(path, Qt.ClipOperation.IntersectClip)
        tile = self._floor_tile(
            furnishing.floor % len(_FLOORS), tint_role(furnishing), painter.device().devicePixelRatioF()
        )
        painter.drawTiledPixmap(path.boundingRect(), tile)
        painter.restore()

    def _floor_tile(self, floor: int, role: str, ratio: float) -> QPixmap:
        key = (floor, role, ratio)
        if key not in self._tiles:
            side = _TILE_PX
            tile = QPixmap(round(side * ratio), round(side * ratio))
            tile.setDevicePixelRatio(ratio)
            tile.fill(Qt.GlobalColor.transparent)
            painter = QPainter(tile)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            colour = self._theme.colour(role)
            colour.setAlphaF(_FLOOR_ALPHA)
            painter.setPen(QPen(colour, 1.0))
            _FLOORS[floor](painter, colour)
            painter.end()
            self._tiles[key] = tile
        return self._tiles[key]

    def _paint_walls(
        self, painter: QPainter, rect: QRectF, path: QPainterPath, colour: QColor, *, is_near: bool
    ) -> None:
        """The outline with a gap for the door; from near the door is open."""
        wide = min(self._theme.px(22), rect.width() * 0.12)
        left = rect.left() + rect.width() * _DOOR_AT - wide / 2
        gap = QRectF(left, rect.bottom() - 3, wide, 8)
        painter.save()
        everywhere = QPainterPath()
        everywhere.addRect(rect.adjusted(-4, -4, 4, 4))
        door = QPainterPath()
        door.addRect(gap)
        painter.setClipPath(everywhere.subtracted(door), Qt.ClipOperation.IntersectClip)
        painter.strokePath(path, QPen(colour, 1.5))
        painter.restore()
        if is_near and rect.height() >= self._theme.px(116):  # else its leaf would lie under words
            faint = QColor(colour)
            faint.setAlphaF(0.55)
            leaf = QPainterPath(QPointF(left, rect.bottom()))
            leaf.lineTo(left, rect.bottom() - wide)
            leaf.arcTo(QRectF(left - wide, rect.bottom() - wide, 2 * wide, 2 * wide), 90, -90)
            painter.strokePath(leaf, QPen(faint, 1.0))

    def paint_emblem(self, painter: QPainter, rect: QRectF, furnishing: Furnishing | None) -> None:
        """Paint a room's emblem on a small plate of its tint."""
        theme = self._theme
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("muted" if furnishing is None else tint_role(furnishing)))
        painter.drawRoundedRect(rect, rect.width() * 0.24, rect.width() * 0.24)
        side = round(rect.width() * 0.64)
        name = NEUTRAL if furnishing is None else furnishing.emblem
        ratio = painter.device().devicePixelRatioF()
        icon = theme.emblem(name, side, "surface", ratio)
        painter.drawPixmap(rect.center() - QPointF(side / 2, side / 2), icon)


def _draw_dots(painter: QPainter, colour: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    strong = QColor(colour)
    strong.setAlphaF(min(1.0, colour.alphaF() * 1.6))
    painter.setBrush(strong)
    for x, y in ((6, 6), (18, 18)):
        painter.drawEllipse(QPointF(x, y), 1.2, 1.2)


def _draw_lines(painter: QPainter, *lines: tuple[float, float, float, float]) -> None:
    for x1, y1, x2, y2 in lines:
        painter.drawLine(QPointF(x1, y1), QPointF(x2, y2))


def _draw_waves(painter: QPainter, _colour: QColor) -> None:
    path = QPainterPath(QPointF(0, 12))
    path.cubicTo(QPointF(6, 7), QPointF(6, 7), QPointF(12, 12))
    path.cubicTo(QPointF(18, 17), QPointF(18, 17), QPointF(24, 12))
    painter.drawPath(path)


_Lines = tuple[tuple[float, float, float, float], ...]
_PLANKS: _Lines = ((0, 0.5, 24, 0.5), (0, 12.5, 24, 12.5), (6.5, 0, 6.5, 12), (18.5, 12, 18.5, 24))
_TILES: _Lines = ((0, 0.5, 24, 0.5), (0.5, 0, 0.5, 24))
_SLANTS: _Lines = ((0, 24, 24, 0), (-12, 12, 12, -12), (12, 36, 36, 12))
_LOZENGES: _Lines = ((0, 24, 24, 0), (0, 0, 24, 24))
_STRIPES: _Lines = ((0.5, 0, 0.5, 24), (12.5, 0, 12.5, 24))
_PARQUET: _Lines = (
    (0, 12, 12, 0),
    (0, 12, 12, 24),
    (12, 24, 24, 12),
    (12, 0, 24, 12),
    (12, 12, 18, 6),
    (12, 12, 6, 18),
)


def _lines_floor(lines: _Lines) -> Callable[[QPainter, QColor], None]:
    return lambda painter, _: _draw_lines(painter, *lines)


_FLOORS: tuple[Callable[[QPainter, QColor], None], ...] = (
    _draw_dots, _lines_floor(_PLANKS), _lines_floor(_TILES), _lines_floor(_SLANTS), _lines_floor(_LOZENGES),
    _lines_floor(_STRIPES), _draw_waves, _lines_floor(_PARQUET),
)  # fmt: skip
