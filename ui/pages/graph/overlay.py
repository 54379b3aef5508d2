"""What lies above the picture of the whole vault and must be sharp: edges of the node that is meant, names, labels.

Must not do: ask for rows; it draws those it was handed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from core.types.views import EDGE_TYPES, MemoryRow, WholeGraph
from ui.pages.graph.canvas import paint_plate, paint_ring, paint_tag
from ui.pages.graph.frame import Scene, name_places
from ui.pages.graph.geometry import Look, Numbers, Wish, lines_path, place_labels
from ui.pages.graph.legend import TIES
from ui.theme.theme import Theme
from ui.widgets.plaintext import one_line

NEAR = 60
"""With so few nodes in sight each has its own label, else groups have their names."""
_NAMES = 40
_TRIED = 160
_LABEL_PX = 150
_KEPT_ROWS = 600


@dataclass(frozen=True, slots=True)
class Meant:
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


class Overlay:
    """Draws it."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._rows: dict[str, MemoryRow] = {}
        self._names: tuple[str, ...] = ()
        self._sizes: tuple[int, dict[str, tuple[float, float]]] = (0, {})
        self._groups: Numbers = np.zeros(0, np.int64)

    def show_graph(self, graph: WholeGraph) -> None:
        """Take the names of another vault's groups; the largest comes first."""
        counts = np.bincount(graph.group, minlength=len(graph.group_names))
        self._groups = np.argsort(-counts, kind="stable")[:_TRIED]
        self._names = tuple(one_line(graph.group_names[row], 40) for row in self._groups.tolist())
        self._sizes = (0, {})

    def put(self, rows: Iterable[MemoryRow]) -> None:
        """Keep light rows."""
        if len(self._rows) > _KEPT_ROWS:
            self._rows.clear()
        self._rows |= {row.id: row for row in rows}

    def drop(self) -> None:
        """Forget all rows: some changed."""
        self._rows.clear()

    def row_of(self, memory_id: str) -> MemoryRow | None:
        """A row, where it was read."""
        return self._rows.get(memory_id)

    def paint(self, painter: QPainter, scene: Scene, look: Look, meant: Meant, *, at_rest: bool) -> None:
        """Paint it.

        Args:
            painter: on the canvas.
            scene: the graph.
            look: how the canvas looks at it.
            meant: which nodes are meant.
            at_rest: whether no node moves.
        """
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_meant(painter, scene, look, meant)
        near = in_sight(scene, look)
        if len(near) <= NEAR:
            self._paint_labels(painter, scene, look, near, meant)
        else:
            self._paint_names(painter, scene, look, meant)
        row = self.row_of(scene.graph.ids[meant.hovered]) if meant.hovered >= 0 else None
        if row is not None and at_rest:
            at = QPointF(*look.px(scene.xy[[meant.hovered]])[0])
            paint_plate(painter, self._theme, row, at, meant.reach + self._theme.px(8), look)

    def _paint_meant(self, painter: QPainter, scene: Scene, look: Look, meant: Meant) -> None:
        node, graph = meant.hovered if meant.hovered >= 0 else meant.selected, scene.graph
        if node >= 0:
            rows = scene.edges_of(node)
            start, end = look.px(scene.xy[graph.a[rows]]), look.px(scene.xy[graph.b[rows]])
            for number in np.unique(graph.edge_type[rows]).tolist():
                chosen = graph.edge_type[rows] == number
                pen = TIES[EDGE_TYPES[number]].pen(self._theme)
                pen.setWidthF(pen.widthF() + 0.6)
                painter.strokePath(lines_path(start[chosen], end[chosen]), pen)
        radius = scene.side(look, self._theme) / 2 + self._theme.px(4)
        for of, colour in ((meant.hovered, "muted"), (meant.selected, "accent")):
            if of >= 0:
                paint_ring(painter, QPointF(*look.px(scene.xy[[of]])[0]), radius, self._theme.colour(colour))

    def _paint_names(self, painter: QPainter, scene: Scene, look: Look, meant: Meant) -> None:
        font = self._theme.font("strong")
        if self._sizes[0] != self._theme.scale:
            metrics = QFontMetricsF(font)
            wide, high = self._theme.px(14), metrics.height() + self._theme.px(4)
            sizes = {name: (metrics.horizontalAdvance(name) + wide, high) for name in self._names}
            self._sizes = (self._theme.scale, sizes)
        px = look.px(scene.middles()[self._groups])
        ground = self._theme.colour("surface")
        ground.setAlpha(225)
        for row, rect in name_places(self._names, self._sizes[1], px, look, _NAMES, meant.blocked).items():
            paint_tag(painter, rect, self._names[row], font, self._theme.colour("ink"), ground)

    def _paint_labels(self, painter: QPainter, scene: Scene, look: Look, near: Numbers, meant: Meant) -> None:
        font, wide = self._theme.font("small"), self._theme.px(_LABEL_PX)
        metrics = QFontMetricsF(font)
        texts = {}
        for place, node in enumerate(near.tolist()):
            row = self.row_of(scene.graph.ids[node])
            if row is not None:
                texts[place] = metrics.elidedText(one_line(row.head, 60), Qt.TextElideMode.ElideRight, wide)
        order = sorted(texts, key=lambda place: (int(near[place]) != meant.selected, place))
        wishes = [Wish(place, QSizeF(metrics.horizontalAdvance(texts[place]) + 8, metrics.height())) for place in order]
        radius = np.full(len(near), meant.reach * 0.7)
        ground = self._theme.colour("surface")
        ground.setAlpha(215)
        for place, rect in place_labels(wishes, look.px(scene.xy[near]), radius, look, meant.blocked).items():
            paint_tag(painter, rect, texts[place], font, self._theme.colour("ink"), ground)


def in_sight(scene: Scene, look: Look) -> Numbers:
    """The nodes on the canvas."""
    px = look.px(scene.xy)
    return np.flatnonzero(((px >= 0) & (px <= (look.w, look.h))).all(axis=1))
