"""The whole vault as a picture that is made in slices, so that the window never waits for it, and shown by one blit.

A picture is larger than the canvas by a margin: panning moves it, zooming scales it, and a new one is made meanwhile.
Must not do: know a widget, hold a memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen, QPixmap

from core.types.values import Kind
from core.types.views import EDGE_TYPES, MEANING, WholeGraph
from ui.pages.graph.geometry import Look, Numbers, Points, clipped, lines_path
from ui.pages.graph.legend import TIES
from ui.theme.theme import Theme
from ui.widgets.shapes import KIND_TOKENS, kind_pixmap

MARGIN = 0.25
"""Of the canvas's size, on each side."""
MOST_EDGES = 60_000
"""Our choice: of more edges in sight only the strongest are drawn; one more line would not be seen."""
LIVE_EDGES = 8_000
"""Drawn while nodes move."""
SHAPES = 12_000
"""Up to so many nodes in sight are drawn as shapes, more as dots."""
_SLICE_EDGES = 1_000
_SLICE_NODES = 1_200
_SLICE_CLIPPED = 30_000
_SMOOTH_EDGES = 40_000
_DASHED = 4_000
_KINDS = tuple(Kind)
# Weak ties first, so that what was said about two memories lies above what is only near.
_ORDER = tuple(reversed(range(len(EDGE_TYPES))))


@dataclass(frozen=True, slots=True)
class Scene:
    """What is drawn.

    Attributes:
        graph: the columns; edges are sorted, the strongest first.
        xy: where each node is, in the plane.
        shown: whether each edge shows.
        apart: how far a node is from its nearest neighbour as a rule, in the plane.
    """

    graph: WholeGraph
    xy: Points
    shown: NDArray[np.bool_]
    apart: float = 1.0

    def side(self, look: Look, theme: Theme) -> float:
        """Size of a node, px: what the distance between neighbours leaves room for."""
        return float(np.clip(self.apart * look.scale * 0.85, 4.5, 15.0 * theme.scale / 100))

    def edges_of(self, node: int) -> Numbers:
        """The edges of a node that show."""
        return np.flatnonzero(((self.graph.a == node) | (self.graph.b == node)) & self.shown)

    def middles(self) -> Points:
        """The middle of each group."""
        group, total = self.graph.group, len(self.graph.group_names)
        counts = np.maximum(np.bincount(group, minlength=total), 1)
        return np.column_stack([np.bincount(group, self.xy[:, axis], minlength=total) / counts for axis in (0, 1)])


@dataclass(frozen=True, slots=True)
class Frame:
    """A finished picture.

    Attributes:
        image: larger than the canvas by the margin.
        look: the look it was made for.
    """

    image: QImage
    look: Look

    def blit(self, painter: QPainter, look: Look) -> None:
        """Show it under another look."""
        ratio = look.scale / self.look.scale
        size = self.image.deviceIndependentSize() * ratio
        middle = look.px(np.array([[self.look.x, self.look.y]]))[0]
        left, top = middle[0] - size.width() / 2, middle[1] - size.height() / 2
        if ratio == 1.0:
            painter.drawImage(QPointF(round(left), round(top)), self.image)
            return
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, on=True)
        painter.drawImage(QRectF(left, top, size.width(), size.height()), self.image)

    def covers(self, look: Look) -> bool:
        """Whether it reaches to every border of the canvas under a look of the same scale."""
        away = np.abs(np.array((look.x - self.look.x, look.y - self.look.y))) * look.scale
        return bool(away[0] <= look.w * MARGIN and away[1] <= look.h * MARGIN)


class FrameMaker:
    """Makes one picture, slice by slice."""

    def __init__(self, scene: Scene, look: Look, theme: Theme, ratio: float) -> None:
        """Prepare.

        Args:
            scene: what is drawn.
            look: how the canvas looks at it.
            theme: colours and text size.
            ratio: device pixels a pixel.
        """
        self._scene, self._look, self._theme = scene, look, theme
        self._big = replace(look, w=float(round(look.w * (1 + 2 * MARGIN))), h=float(round(look.h * (1 + 2 * MARGIN))))
        wide, high = round(self._big.w * ratio), round(self._big.h * ratio)
        self._image = QImage(wide, high, QImage.Format.Format_RGB32)
        self._image.setDevicePixelRatio(ratio)
        self._image.fill(theme.colour("surface"))
        self._pixmaps = {
            kind: kind_pixmap(kind, round(scene.side(look, theme) / 0.78), theme.colour(token), ratio)
            for kind, token in KIND_TOKENS.items()
        }
        self._rest = self._slices()

    def turn(self, is_time: Callable[[], bool]) -> Frame | None:
        """Go on while there is time.

        Args:
            is_time: asked after each slice.

        Returns:
            The picture once it is finished.
        """
        while is_time():
            if next(self._rest, None) is None:
                return Frame(self._image, self._look)
        return None

    def _slices(self) -> Iterator[bool]:
        scene, big = self._scene, self._big
        px = big.px(scene.xy)
        rows = np.flatnonzero(scene.shown)
        yield True
        found: list[tuple[NDArray[np.int8], Points, Points]] = []
        for chunk in _chunks(rows, _SLICE_CLIPPED):
            crossing, start, end = clipped(px[scene.graph.a[chunk]], px[scene.graph.b[chunk]], big.w, big.h)
            found.append((scene.graph.edge_type[chunk[crossing]], start, end))
            yield True
            if sum(len(types) for types, _, _ in found) >= MOST_EDGES:
                break
        if found:
            types, start, end = (np.concatenate(parts)[:MOST_EDGES] for parts in zip(*found, strict=True))
            yield from self._edges(types, start, end)
        side = scene.side(self._look, self._theme)
        low, high = (-side, -side), (big.w + side, big.h + side)
        inside = np.flatnonzero(((px >= low) & (px <= high)).all(axis=1))
        yield from self._nodes(px, inside, side)

    def _edges(self, types: NDArray[np.int8], start: Points, end: Points) -> Iterator[bool]:
        for number in _ORDER:
            rows = np.flatnonzero(types == number)
            for chunk in _chunks(rows, _SLICE_EDGES):
                with _Painting(self._image, smooth=len(types) <= _SMOOTH_EDGES) as painter:
                    painter.strokePath(lines_path(start[chunk], end[chunk]), _pen(number, self._theme, len(types)))
                yield True

    def _nodes(self, px: Points, inside: Numbers, side: float) -> Iterator[bool]:
        kinds = self._scene.graph.kind[inside]
        for number, kind in enumerate(_KINDS):
            rows = inside[kinds == number]
            for chunk in _chunks(rows, _SLICE_NODES if len(inside) <= SHAPES else 8 * _SLICE_NODES):
                with _Painting(self._image, smooth=False) as painter:
                    if len(inside) <= SHAPES:
                        _shapes(painter, px[chunk], self._pixmaps[kind])
                    else:
                        dots(painter, px[chunk], self._theme.colour(KIND_TOKENS[kind]), side)
                yield True


class _Painting:
    """A painter that is ended whatever happens: it never outlives a turn of the event loop."""

    def __init__(self, image: QImage, *, smooth: bool) -> None:
        self._painter = QPainter(image)
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing, smooth)

    def __enter__(self) -> QPainter:
        return self._painter

    def __exit__(self, *_: object) -> None:
        self._painter.end()


def edge_strength(number: int, count: int) -> float:
    """How much of its own colour an edge shows on the ground's: the more there are, the less each.

    Args:
        number: its type, an index into `EDGE_TYPES`; what was said about two memories shows more than what was only
            computed.
        count: edges that are drawn.

    Returns:
        0 to 1.
    """
    strength = float(np.clip(9.0 / np.sqrt(max(count, 1)), 0.22, 0.75))
    return strength if EDGE_TYPES[number] == MEANING else min(1.0, strength * 1.8)


def _pen(number: int, theme: Theme, count: int) -> QPen:
    tie = TIES[EDGE_TYPES[number]]
    # Mixed, not translucent: a blended line costs ten times an opaque one in software rendering.
    colour = mixed(theme.colour("surface"), theme.colour(tie.colour), edge_strength(number, count))
    if count > _DASHED:
        # Dashes of thousands of lines melt into grey, and width 1 is the last one that is drawn fast.
        return QPen(colour, 1.0)
    pen = tie.pen(theme)
    pen.setColor(colour)
    pen.setWidthF(min(tie.width, 1.4))
    return pen


def mixed(ground: QColor, colour: QColor, share: float) -> QColor:
    """A colour as it would look were it translucent.

    Args:
        ground: below.
        colour: above.
        share: of the colour, 0 to 1.
    """
    parts = zip(ground.getRgb()[:3], colour.getRgb()[:3], strict=True)  # type: ignore[index]
    return QColor(*(round(below + (above - below) * share) for below, above in parts))


def _chunks(rows: Numbers, size: int) -> Iterator[Numbers]:
    for low in range(0, len(rows), size):
        yield rows[low : low + size]


def _shapes(painter: QPainter, px: Points, pixmap: QPixmap) -> None:
    half = pixmap.deviceIndependentSize().width() / 2
    for x, y in (px - half).tolist():
        painter.drawPixmap(QPointF(x, y), pixmap)


def dots(painter: QPainter, px: Points, colour: QColor, side: float) -> None:
    """Nodes as square dots."""
    pen = QPen(colour, max(2.0, side * 0.8))
    pen.setCapStyle(Qt.PenCapStyle.SquareCap)
    painter.setPen(pen)
    x, y = np.ascontiguousarray(px[:, 0]), np.ascontiguousarray(px[:, 1])
    painter.drawPointsNp(x, y)  # type: ignore[arg-type]  # arrays are what it is for


def paint_live(painter: QPainter, scene: Scene, look: Look, theme: Theme) -> None:
    """The strongest edges and all nodes as dots, at once: what shows while nodes move."""
    px = look.px(scene.xy)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    rows = np.flatnonzero(scene.shown)[:LIVE_EDGES]
    crossing, start, end = clipped(px[scene.graph.a[rows]], px[scene.graph.b[rows]], look.w, look.h)
    types = scene.graph.edge_type[rows[crossing]]
    count = max(int(scene.shown.sum()), _DASHED + 1)
    for number in _ORDER:
        chosen = types == number
        if chosen.any():
            painter.strokePath(lines_path(start[chosen], end[chosen]), _pen(number, theme, count))
    side = scene.side(look, theme)
    for number, kind in enumerate(_KINDS):
        of_kind = px[scene.graph.kind == number]
        if len(of_kind):
            dots(painter, of_kind, theme.colour(KIND_TOKENS[kind]), side)


def name_places(
    names: Sequence[str],
    sizes: Mapping[str, tuple[float, float]],
    px: Points,
    look: Look,
    most: int,
    blocked: Sequence[QRectF] = (),
) -> dict[int, QRectF]:
    """Places for names over the middles of their groups, none over another.

    Args:
        names: most important first.
        sizes: width and height of each, px.
        px: the middles, one a name, px.
        look: for the canvas's size.
        most: names at most.
        blocked: where controls float on the canvas.

    Returns:
        Row of a name to its place.
    """
    found: dict[int, QRectF] = {}
    canvas = QRectF(0, 0, look.w, look.h)
    for row, name in enumerate(names):
        if len(found) >= most:
            break
        wide, high = sizes[name]
        rect = QRectF(px[row, 0] - wide / 2, px[row, 1] - high / 2, wide, high)
        if canvas.contains(rect) and not any(rect.intersects(other) for other in (*found.values(), *blocked)):
            found[row] = rect
    return found
