"""A community of the vault, or all of it, on one canvas: a picture made in slices, shown by one blit, labels above it.

A picture is larger than the canvas by a margin: panning moves it, zooming scales it, and a new one is made meanwhile.
Must not do: ask the engine; it says which rows it needs and is handed them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QElapsedTimer, QPointF, QRectF, QSizeF, Qt, QVariantAnimation, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPaintEvent, QPen, QPixmap, QShowEvent

from core.types.views import EDGE_TYPES, MEANING, NODE_KINDS, GraphNode, MemoryRow, WholeGraph
from ui.pages.graph.canvas import (
    GraphCanvas,
    LabelCache,
    make_motion,
    paint_edge,
    paint_ground,
    paint_plate,
    paint_ring,
    wrap_label,
)
from ui.pages.graph.geometry import (
    GraphViewport,
    LabelRequest,
    Numbers,
    Points,
    clip_lines,
    lines_path,
    place_graph_labels,
    typical_distance,
)
from ui.pages.graph.legend import TIES, GraphCounts
from ui.pages.graph.node_style import is_entity, mix_colours, name_apart, node_name, node_pixmap, node_style
from ui.strings import graph_strings
from ui.theme.theme import Theme
from ui.widgets.basics import make_timer

MARGIN = 0.25
"""Of the canvas's size, on each side."""
MOST_EDGES = 60_000
"""Our choice: of more visible edges only the strongest are drawn; one more line would not be seen."""
LIVE_EDGES = 8_000
"""Drawn while nodes move."""
SHAPES = 12_000
"""Up to so many visible nodes are drawn as shapes, more as dots."""
_FEW = 300
"""So few nodes are never drawn so small that their icons cannot be seen."""
_SLICE_EDGES = 1_000
_SLICE_NODES = 1_200
_SLICE_CLIPPED = 30_000
_SMOOTH_EDGES = 40_000
_DASHED = 4_000
# Weak ties first, so that what was said about two memories lies above what is only near.
_ORDER = tuple(reversed(range(len(EDGE_TYPES))))


@dataclass(frozen=True, slots=True)
class WholeScene:
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

    def node_size(self, look: GraphViewport, theme: Theme) -> float:
        """Size of a node, px: what the distance between neighbours leaves room for."""
        least = 9.0 if len(self.graph.ids) <= _FEW else 4.5
        return float(np.clip(self.apart * look.scale * 0.85, least, 15.0 * theme.scale / 100))

    def edges_of(self, node: int) -> Numbers:
        """The edges of a node that show."""
        return np.flatnonzero(((self.graph.a == node) | (self.graph.b == node)) & self.shown)

    def node_of(self, node: int, rows: Mapping[str, MemoryRow]) -> GraphNode | None:
        """What is known of a node; None of a memory that was not read.

        Args:
            rows: memories that were read.
        """
        if node < len(self.graph.entities):
            return GraphNode(None, self.graph.entities[node])
        row = rows.get(self.graph.ids[node]) if node < len(self.graph.ids) else None
        return None if row is None else GraphNode(row)


@dataclass(frozen=True, slots=True)
class DrawnFrame:
    """A finished picture.

    Attributes:
        image: larger than the canvas by the margin.
        look: the look it was made for.
    """

    image: QImage
    look: GraphViewport

    def draw_scaled(self, painter: QPainter, look: GraphViewport) -> None:
        """Show it under another look."""
        ratio = look.scale / self.look.scale
        size = self.image.deviceIndependentSize() * ratio
        middle = look.to_px(np.array([[self.look.x, self.look.y]]))[0]
        left, top = middle[0] - size.width() / 2, middle[1] - size.height() / 2
        if ratio == 1.0:
            painter.drawImage(QPointF(round(left), round(top)), self.image)
            return
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, on=True)
        painter.drawImage(QRectF(left, top, size.width(), size.height()), self.image)

    def covers_canvas(self, look: GraphViewport) -> bool:
        """Whether it reaches to every border of the canvas under a look of the same scale."""
        away = np.abs(np.array((look.x - self.look.x, look.y - self.look.y))) * look.scale
        return bool(away[0] <= look.w * MARGIN and away[1] <= look.h * MARGIN)


class FrameMaker:
    """Makes one picture, slice by slice."""

    def __init__(self, scene: WholeScene, look: GraphViewport, theme: Theme, ratio: float) -> None:
        """Prepare.

        Args:
            look: how the canvas looks at it.
            ratio: device pixels a pixel.
        """
        self._scene, self._look, self._theme = scene, look, theme
        self._big = replace(look, w=float(round(look.w * (1 + 2 * MARGIN))), h=float(round(look.h * (1 + 2 * MARGIN))))
        wide, high = round(self._big.w * ratio), round(self._big.h * ratio)
        self._image = QImage(wide, high, QImage.Format.Format_RGB32)
        self._image.setDevicePixelRatio(ratio)
        self._image.fill(theme.colour("surface"))
        self._pixmaps = {
            number: node_pixmap(theme, NODE_KINDS[number], _picture_side(scene, look, theme, number), ratio)
            for number in np.unique(scene.graph.kind).tolist()
        }
        self._rest = self._drawn_slices()

    def draw_slices(self, is_time: Callable[[], bool]) -> DrawnFrame | None:
        """Go on while there is time.

        Args:
            is_time: asked after each slice.

        Returns:
            The picture once it is finished.
        """
        while is_time():
            if next(self._rest, None) is None:
                return DrawnFrame(self._image, self._look)
        return None

    def _drawn_slices(self) -> Iterator[bool]:
        scene, big = self._scene, self._big
        px = big.to_px(scene.xy)
        rows = np.flatnonzero(scene.shown)
        yield True
        found: list[tuple[NDArray[np.int8], Points, Points]] = []
        for chunk in _split_chunks(rows, _SLICE_CLIPPED):
            crossing, start, end = clip_lines(px[scene.graph.a[chunk]], px[scene.graph.b[chunk]], big.w, big.h)
            found.append((scene.graph.edge_type[chunk[crossing]], start, end))
            yield True
            if sum(len(types) for types, _, _ in found) >= MOST_EDGES:
                break
        if found:
            types, start, end = (np.concatenate(parts)[:MOST_EDGES] for parts in zip(*found, strict=True))
            yield from self._draw_edges(types, start, end)
        side = scene.node_size(self._look, self._theme)
        low, high = (-side, -side), (big.w + side, big.h + side)
        inside = np.flatnonzero(((px >= low) & (px <= high)).all(axis=1))
        yield from self._draw_nodes(px, inside, side)

    def _draw_edges(self, types: NDArray[np.int8], start: Points, end: Points) -> Iterator[bool]:
        for number in _ORDER:
            rows = np.flatnonzero(types == number)
            for chunk in _split_chunks(rows, _SLICE_EDGES):
                with _Painting(self._image, smooth=len(types) <= _SMOOTH_EDGES) as painter:
                    painter.strokePath(lines_path(start[chunk], end[chunk]), _make_pen(number, self._theme, len(types)))
                yield True

    def _draw_nodes(self, px: Points, inside: Numbers, side: float) -> Iterator[bool]:
        kinds = self._scene.graph.kind[inside]
        # Entities last: what is named lies above what names it.
        for number, pixmap in self._pixmaps.items():
            rows = inside[kinds == number]
            for chunk in _split_chunks(rows, _SLICE_NODES if len(inside) <= SHAPES else 8 * _SLICE_NODES):
                with _Painting(self._image, smooth=False) as painter:
                    if len(inside) <= SHAPES:
                        _draw_shapes(painter, px[chunk], pixmap)
                    else:
                        draw_dots(painter, px[chunk], self._theme.colour(node_style(NODE_KINDS[number]).colour), side)
                yield True


def _picture_side(scene: WholeScene, look: GraphViewport, theme: Theme, number: int) -> int:
    """An entity is drawn larger than a memory, so that its icon can be seen where there is room."""
    side = scene.node_size(look, theme) / 0.78
    return round(side * _ENTITY_LARGER if is_entity(NODE_KINDS[number]) else side)


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


def _make_pen(number: int, theme: Theme, count: int) -> QPen:
    tie = TIES[EDGE_TYPES[number]]
    # Mixed, not translucent: a blended line costs ten times an opaque one in software rendering.
    colour = mix_colours(theme.colour("surface"), theme.colour(tie.colour), edge_strength(number, count))
    if count > _DASHED:
        # Dashes of thousands of lines melt into grey, and width 1 is the last one that is drawn fast.
        return QPen(colour, 1.0)
    pen = tie.make_pen(theme)
    pen.setColor(colour)
    pen.setWidthF(min(tie.width, 1.4))
    return pen


def _split_chunks(rows: Numbers, size: int) -> Iterator[Numbers]:
    for low in range(0, len(rows), size):
        yield rows[low : low + size]


def _draw_shapes(painter: QPainter, px: Points, pixmap: QPixmap) -> None:
    half = pixmap.deviceIndependentSize().width() / 2
    for x, y in (px - half).tolist():
        painter.drawPixmap(QPointF(x, y), pixmap)


def draw_dots(painter: QPainter, px: Points, colour: QColor, side: float) -> None:
    """Nodes as square dots."""
    pen = QPen(colour, max(2.0, side * 0.8))
    pen.setCapStyle(Qt.PenCapStyle.SquareCap)
    painter.setPen(pen)
    x, y = np.ascontiguousarray(px[:, 0]), np.ascontiguousarray(px[:, 1])
    painter.drawPointsNp(x, y)  # type: ignore[arg-type]  # arrays are what it is for


def paint_live(painter: QPainter, scene: WholeScene, look: GraphViewport, theme: Theme) -> None:
    """The strongest edges and all nodes as dots, at once: what shows while nodes move."""
    px = look.to_px(scene.xy)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    rows = np.flatnonzero(scene.shown)[:LIVE_EDGES]
    crossing, start, end = clip_lines(px[scene.graph.a[rows]], px[scene.graph.b[rows]], look.w, look.h)
    types = scene.graph.edge_type[rows[crossing]]
    count = max(int(scene.shown.sum()), _DASHED + 1)
    for number in _ORDER:
        chosen = types == number
        if chosen.any():
            painter.strokePath(lines_path(start[chosen], end[chosen]), _make_pen(number, theme, count))
    side = scene.node_size(look, theme)
    for number in np.unique(scene.graph.kind).tolist():
        colour = theme.colour(node_style(NODE_KINDS[number]).colour)
        draw_dots(painter, px[scene.graph.kind == number], colour, side)


NEAR = 120
"""With so few visible nodes memories have labels, too; else entities alone."""
_LABELS = 90
_CROWD_LABELS = 40
_LABEL_PX = 170
_FEW_LABELS = 60
_MAIN = 2
"""So many of the most important names are always there."""
_KEPT_ROWS = 600
_ENTITY_LARGER = 1.7


@dataclass(frozen=True, slots=True)
class Highlight:
    """Which nodes are meant; -1 for none.

    Attributes:
        selected: the one that is looked at.
        hovered: the one under the pointer.
        reach: px from a node's middle to where its ring is.
        blocked: where controls float on the canvas.
    """

    selected: int
    hovered: int
    reach: float
    blocked: Sequence[QRectF] = ()


@dataclass(frozen=True, slots=True)
class _Label:
    """A placed label: its node, its words, where it is from its node's middle, and to which side they lie."""

    node: int
    text: str
    offset: QRectF
    side: Qt.AlignmentFlag


class WholeOverlay:
    """Draws edges and labels above the picture."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._rows: dict[str, MemoryRow] = {}
        self._names: dict[int, str] = {}
        self._pictures = LabelCache(theme)
        self._placed_for: tuple[object, ...] = ()
        self._placed: list[_Label] = []

    def show_graph(self, graph: WholeGraph) -> None:
        """Take the names of another graph."""
        self._names = name_apart([GraphNode(None, line) for line in graph.entities])
        self._placed_for, self._placed = (), []

    def store_rows(self, rows: Iterable[MemoryRow]) -> None:
        """Keep light rows."""
        if len(self._rows) > _KEPT_ROWS:
            self._rows.clear()
        self._rows |= {row.id: row for row in rows}

    def clear_rows(self) -> None:
        """Forget all rows: some changed."""
        self._rows.clear()

    @property
    def rows(self) -> Mapping[str, MemoryRow]:
        """The rows that were read."""
        return self._rows

    def paint(
        self,
        painter: QPainter,
        scene: WholeScene,
        look: GraphViewport,
        highlight: Highlight,
        *,
        at_rest: bool,
        still: bool,
    ) -> None:
        """Paint everything onto the canvas.

        Args:
            look: how the canvas looks at it.
            highlight: which nodes are meant.
            at_rest: whether no node moves.
            still: whether the plane is not moved, either.
        """
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_meant(painter, scene, look, highlight)
        if at_rest:
            self._paint_labels(painter, scene, look, highlight, still)
        node = scene.node_of(highlight.hovered, self._rows) if highlight.hovered >= 0 else None
        if node is not None and at_rest:
            at = QPointF(*look.to_px(scene.xy[[highlight.hovered]])[0])
            paint_plate(painter, self._theme, node, at, highlight.reach + self._theme.px(8), look)

    def _paint_meant(self, painter: QPainter, scene: WholeScene, look: GraphViewport, highlight: Highlight) -> None:
        node, graph = highlight.hovered if highlight.hovered >= 0 else highlight.selected, scene.graph
        if node >= 0:
            rows = scene.edges_of(node)
            start, end = look.to_px(scene.xy[graph.a[rows]]), look.to_px(scene.xy[graph.b[rows]])
            for number in np.unique(graph.edge_type[rows]).tolist():
                chosen = graph.edge_type[rows] == number
                pen = TIES[EDGE_TYPES[number]].make_pen(self._theme)
                pen.setWidthF(pen.widthF() + 0.6)
                painter.strokePath(lines_path(start[chosen], end[chosen]), pen)
        radius = scene.node_size(look, self._theme) / 2 + self._theme.px(4)
        for of, colour in ((highlight.hovered, "muted"), (highlight.selected, "accent")):
            if of >= 0:
                paint_ring(painter, QPointF(*look.to_px(scene.xy[[of]])[0]), radius, self._theme.colour(colour))

    def _paint_labels(
        self, painter: QPainter, scene: WholeScene, look: GraphViewport, highlight: Highlight, still: bool
    ) -> None:
        """Labels keep their nodes and sides while the plane is moved; once it rests they are placed anew."""
        key = (look, highlight.selected, highlight.blocked, len(self._rows), self._theme.scale, id(scene.xy))
        if still and key != self._placed_for:
            self._placed_for, self._placed = key, self._place_labels(scene, look, highlight)
        numbers = [label.node for label in self._placed]
        for label, (x, y) in zip(self._placed, look.to_px(scene.xy[numbers]).tolist(), strict=True):
            rect = label.offset.translated(x, y)
            if -rect.width() < rect.left() < look.w and -rect.height() < rect.top() < look.h:
                font = self._label_font(scene, label.node)
                self._pictures.paint(painter, rect.adjusted(4, 1, -4, -1), label.text, font, "ink", label.side)

    def _place_labels(self, scene: WholeScene, look: GraphViewport, highlight: Highlight) -> list[_Label]:
        nodes, px = labelled_nodes(scene, look, highlight.selected), look.to_px(scene.xy)
        texts: dict[int, str] = {}
        requests: list[LabelRequest] = []
        wide = self._theme.px(_LABEL_PX)
        for place, number in enumerate(nodes.tolist()):
            node = scene.node_of(number, self._rows)
            if node is None:
                continue
            metrics = QFontMetricsF(self._label_font(scene, number))
            lines = 2 if node.row is not None and len(nodes) <= _FEW_LABELS else 1
            texts[place] = wrap_label(self._names.get(number, node_name(node, 120)), metrics, wide, lines)
            parts = texts[place].split("\n")
            width = max(metrics.horizontalAdvance(part) for part in parts) + 8
            size = QSizeF(width, metrics.lineSpacing() * len(parts) + 2)
            is_main = node.row is None and place < _MAIN and len(nodes) <= _FEW_LABELS
            must = is_main or number == highlight.selected
            requests.append(LabelRequest(place, size, below=node.row is None, must=must))
        is_named = nodes < len(scene.graph.entities)
        radius = np.where(is_named, highlight.reach * _ENTITY_LARGER * 0.7, highlight.reach * 0.7)
        found = []
        for place, rect in place_graph_labels(requests, px[nodes], radius, look, highlight.blocked).items():
            x, y = px[nodes[place]].tolist()
            side = Qt.AlignmentFlag.AlignHCenter
            if not rect.left() <= x <= rect.right():
                side = Qt.AlignmentFlag.AlignLeft if rect.left() > x else Qt.AlignmentFlag.AlignRight
            found.append(_Label(int(nodes[place]), texts[place], rect.translated(-x, -y), side))
        return found

    def _label_font(self, scene: WholeScene, node: int) -> QFont:
        return self._theme.font("strong" if node < len(scene.graph.entities) else "small")


def labelled_nodes(scene: WholeScene, look: GraphViewport, selected: int) -> Numbers:
    """The visible nodes that should have a label, most important first: the selected one, then by rank."""
    nodes = visible_nodes(scene, look)
    most = _LABELS if len(nodes) <= NEAR else _CROWD_LABELS
    if len(nodes) > NEAR:
        nodes = nodes[nodes < len(scene.graph.entities)]
    nodes = nodes[np.argsort(-scene.graph.rank[nodes], kind="stable")][:most]
    return nodes if selected < 0 else np.concatenate(([selected], nodes[nodes != selected])).astype(np.int64)


def visible_nodes(scene: WholeScene, look: GraphViewport) -> Numbers:
    """The nodes on the canvas."""
    px = look.to_px(scene.xy)
    return np.flatnonzero(((px >= 0) & (px <= (look.w, look.h))).all(axis=1))


_MOVE_MS = 450
_GLIDING = 20_000
"""More nodes jump from step to step: a frame of them would take too long."""
_PAUSE_MS = 150
_SLICE_MS = 8
_WANT_MS = 90
_PAD = 24
_WIDEST = 1.6
"""How much wider than high the plane may be drawn, so that it fills a wide canvas."""


class WholeCanvas(GraphCanvas):
    """The whole vault.

    Signals:
        wanted: memories whose light rows are needed.
    """

    wanted = Signal(tuple)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, graph_strings()["canvas"]["whole"])
        self.scene: WholeScene | None = None
        self.overlay = WholeOverlay(theme)
        self._wide = 1.0
        self._frame: DrawnFrame | None = None
        self._maker: FrameMaker | None = None
        self._from: Points = self.xy
        self._to: Points = self.xy
        self._moving = make_motion(self, self._set_progress, _MOVE_MS)
        self._moving.finished.connect(self._restart_drawing)
        self._pause = make_timer(self, self._restart_drawing, _PAUSE_MS)
        self._slice = make_timer(self, self._draw_next_slices)
        self._want = make_timer(self, self._request_rows, _WANT_MS)

    # ---- what there is

    def show_graph(self, graph: WholeGraph, off: frozenset[str]) -> None:
        """Draw another vault; its nodes have no places yet."""
        chosen = self.ids[self.selected] if self.selected >= 0 else ""
        self.stop_motion()
        self.ids, self._frame = graph.ids, None
        self.xy = self._to = np.zeros((len(graph.ids), 2))
        self.scene = None if not graph.ids else WholeScene(graph, self.xy, _edge_type_mask(graph, off))
        self.overlay.show_graph(graph)
        self.hovered = -1
        self.select_node(chosen)
        self.update()

    def move_nodes(self, xy: NDArray[np.float32]) -> None:
        """Move the nodes; the first places are taken at once."""
        if self.scene is None or len(xy) != len(self.ids):
            return
        is_first = not self._to.any()
        self._moving.stop()
        if is_first:
            self._wide = float(np.clip(self.look.w / self.look.h, 1.0, _WIDEST))
        self._from, self._to = self.xy, xy.astype(np.float64) * (self._wide, 1.0)
        if is_first or self._fits:
            self.look = self.home_viewport()
        if is_first or self.theme.reduced_motion or not self.isVisible() or len(xy) > _GLIDING:
            self._set_progress(1.0)
            self._restart_drawing()
        else:
            self._moving.start()

    def show_edge_types(self, off: frozenset[str]) -> None:
        """Show edges of other types; nothing moves."""
        if self.scene is not None:
            self.scene = replace(self.scene, shown=_edge_type_mask(self.scene.graph, off))
            self._restart_drawing()

    def _set_progress(self, share: float) -> None:
        if self.scene is not None:
            self.xy = self._to if share >= 1 else self._from + (self._to - self._from) * share
            gap = typical_distance(self.xy) if share >= 1 else self.scene.apart
            self.scene = WholeScene(self.scene.graph, self.xy, self.scene.shown, gap)
            self.update()

    @property
    def is_settled(self) -> bool:
        """Whether it shows what it is about to show."""
        is_drawn = self._frame is not None and self._frame.look == self.look
        idle = not (self._maker or self._pause.isActive() or self._want.isActive())
        return self.scene is None or (is_drawn and idle and not self.is_moving)

    @property
    def is_moving(self) -> bool:
        """Whether nodes are on their way."""
        return self._moving.state() == QVariantAnimation.State.Running

    @property
    def counts(self) -> GraphCounts:
        """What is drawn, for the legend."""
        if self.scene is None:
            return GraphCounts({}, {})
        graph = self.scene.graph
        kinds, ties = np.bincount(graph.kind).tolist(), np.bincount(graph.edge_type).tolist()
        return GraphCounts(
            {NODE_KINDS[number]: count for number, count in enumerate(kinds) if count},
            {EDGE_TYPES[number]: count for number, count in enumerate(ties) if count},
        )

    def stop_motion(self) -> None:
        """Nobody looks: no timer runs any more."""
        self._moving.stop()
        for timer in (self._pause, self._slice, self._want):
            timer.stop()
        self._maker = None
        if self.scene is not None:
            self._set_progress(1.0)

    def show_rows(self, rows: Iterable[MemoryRow]) -> None:
        """Take light rows that were wanted."""
        self.overlay.store_rows(rows)
        self.describe_selected()
        self.update()

    def forget_rows(self) -> None:
        """Rows that were read may have changed."""
        self.overlay.clear_rows()
        if self.isVisible():
            self._want.start()

    # ---- what the ground asks

    def home_viewport(self) -> GraphViewport:
        """The whole plane: places lie within -1 to 1."""
        corners = self._to if len(self._to) else np.array([[-1.0, -1.0], [1.0, 1.0]])
        # Few nodes have labels, which need room beside the outermost.
        across = self.theme.px(_LABEL_PX) * 0.7 if len(self.ids) <= _FEW else self.theme.px(_PAD)
        down = self.theme.px(2 * _PAD if len(self.ids) <= _FEW else _PAD)
        return self.look.fit_points(corners, min(across, self.look.w * 0.18), down, 2000.0)

    def neighbours_of(self, node: int) -> Numbers:
        """The nodes at the other ends of the edges that show."""
        if self.scene is None:
            return np.zeros(0, np.int64)
        rows, graph = self.scene.edges_of(node), self.scene.graph
        ends = np.concatenate((graph.a[rows], graph.b[rows])).astype(np.int64)
        return np.unique(ends[ends != node])

    def node_of(self, node: int) -> GraphNode | None:
        """What is known of a node."""
        return None if self.scene is None else self.scene.node_of(node, self.overlay.rows)

    def is_memory(self, node: int) -> bool:
        """Whether a node is a memory, not an entity."""
        return self.scene is not None and node >= len(self.scene.graph.entities)

    def hit_radius(self) -> float:
        """As far as a shape, at least eight pixels."""
        return 8.0 if self.scene is None else max(8.0, self.scene.node_size(self.look, self.theme) * 0.8)

    def restyle_canvas(self) -> None:
        """The theme is another one: the picture has old colours."""
        self._frame = None
        self._restart_drawing()

    def on_look_changed(self) -> None:
        """The look is another one: show the picture under it, make a new one once it rests or does not reach."""
        frame = self._frame
        if frame is not None and frame.look.scale == self.look.scale and not frame.covers_canvas(self.look):
            if self._maker is None:
                self._restart_drawing()
        else:
            self._pause.start()
        self._want.start()
        self.update()

    def hover_at(self, at: QPointF | None) -> None:
        """The pointer is over a node: its text will be wanted."""
        before = self.hovered
        super().hover_at(at)
        if self.hovered != before and self.hovered >= 0:
            self._want.start()

    def pick_node(self, node: int) -> None:
        """Choose a node."""
        super().pick_node(node)
        self._want.start()

    # ---- the picture

    def _restart_drawing(self) -> None:
        self._pause.stop()
        self._want.start()
        if self.scene is not None and self.isVisible() and not self.is_moving:
            self._maker = FrameMaker(self.scene, self.look, self.theme, self.devicePixelRatioF())
            self._slice.start()
        self.update()

    def _draw_next_slices(self) -> None:
        if self._maker is None:
            return
        watch = QElapsedTimer()
        watch.start()
        frame = self._maker.draw_slices(lambda: watch.elapsed() < _SLICE_MS)
        if frame is None:
            self._slice.start()
            return
        self._frame, self._maker = frame, None
        if frame.look != self.look and not self._pause.isActive():
            self._pause.start()
        self.update()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Somebody looks: make the picture."""
        super().showEvent(event)
        if self.scene is not None and (self._frame is None or self._frame.look != self.look):
            self._pause.start()

    # ---- visible texts

    def _request_rows(self) -> None:
        if self.scene is None:
            return
        rows = [row for row in (self.selected, self.hovered) if row >= 0]
        rows += labelled_nodes(self.scene, self.look, self.selected).tolist()
        missing = tuple(self.ids[row] for row in dict.fromkeys(rows) if self.node_of(row) is None)
        if missing:
            self.wanted.emit(missing)

    # ---- painting

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Show the picture, and above it what must be sharp."""
        painter = QPainter(self)
        painter.setClipRect(event.rect())
        paint_ground(painter, self, self.theme)
        if self.scene is not None:
            if self.is_moving or self._frame is None:
                paint_live(painter, self.scene, self.look, self.theme)
            else:
                self._frame.draw_scaled(painter, self.look)
            highlight = Highlight(self.selected, self.hovered, self.hit_radius(), self.blocked)
            still = self._frame is not None and self._frame.look == self.look
            self.overlay.paint(painter, self.scene, self.look, highlight, at_rest=not self.is_moving, still=still)
        paint_edge(painter, self, self.theme, is_focused=self.is_ringed)
        painter.end()


def _edge_type_mask(graph: WholeGraph, off: frozenset[str]) -> NDArray[np.bool_]:
    return ~np.isin(graph.edge_type, [EDGE_TYPES.index(name) for name in off])
