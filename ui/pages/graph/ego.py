"""The canvas of what lies round one memory: what stays glides to its new place when another memory is the centre.

Must not do: ask the engine, choose what is drawn.
"""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEasingCurve, QPointF, QVariantAnimation
from PySide6.QtGui import QPainter, QPaintEvent

from core.types.views import EgoGraph, MemoryRow
from ui.pages.graph.canvas import Canvas, paint_edge, paint_ground
from ui.pages.graph.geometry import Look, Numbers, Points, nearest_line
from ui.pages.graph.legend import Counts
from ui.pages.graph.picture import SIDES, EgoPainter, Marks, Picture
from ui.theme.theme import Theme

_MOVE_MS = 260
_EDGE_REACH = 6
_PAD = (132, 48)
_ROOM_PX = 96
"""The plane's scale grows with the root of the number of nodes: a few nodes stand together, not in the corners."""


class EgoCanvas(Canvas):
    """The graph round one memory; the centre is node 0."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Graph round one memory. Arrows walk along the edges, Enter goes there.")
        self.painter = EgoPainter(theme)
        self._from: Points = self.xy
        self._edge = -1
        self._moving = QVariantAnimation(self)
        self._moving.setStartValue(0.0)
        self._moving.setEndValue(1.0)
        self._moving.setDuration(_MOVE_MS)
        self._moving.setEasingCurve(QEasingCurve.Type.InOutCubic)
        self._moving.valueChanged.connect(self._move)

    @property
    def picture(self) -> Picture:
        """What is drawn."""
        return self.painter.picture

    @property
    def counts(self) -> Counts:
        """What is drawn, for the legend."""
        return self.picture.counts

    @property
    def is_moving(self) -> bool:
        """Whether nodes are on their way."""
        return self._moving.state() == QVariantAnimation.State.Running

    def show_graph(self, graph: EgoGraph) -> None:
        """Draw another graph; what stays glides to its new place unless nothing may move by itself."""
        before = dict(zip(self.ids, self.look.px(self.xy), strict=True)) if self.isVisible() else {}
        chosen = self.ids[self.selected] if self.selected >= 0 else ""
        self._moving.stop()
        picture = Picture(graph)
        self.painter.show_picture(picture)
        self.ids, self.xy, self.hovered, self._edge = picture.ids, picture.places, -1, -1
        self.choose(chosen)
        self.show_look(self.home(), fits=True)
        if not self.theme.reduced_motion and any(memory_id in before for memory_id in self.ids):
            self._glide(before)
        self.update()

    def _glide(self, before: dict[str, Points]) -> None:
        now = self.look.px(self.picture.places)
        start = np.array([before.get(one, place) for one, place in zip(self.ids, now, strict=True)])
        self._from = (start - (self.look.w / 2, self.look.h / 2)) / self.look.scale + (self.look.x, self.look.y)
        self._move(0.0)
        self._moving.start()

    def _move(self, share: float) -> None:
        to = self.picture.places
        self.xy = to if share >= 1 else self._from + (to - self._from) * share
        self.update()

    def rest(self) -> None:
        """Nobody looks: nothing moves any more."""
        self._moving.stop()
        self.xy, self.hovered, self._edge = self.picture.places, -1, -1

    # ---- what the ground asks

    def home(self) -> Look:
        """Everything, with room for labels at the sides."""
        across, down = min(self.theme.px(_PAD[0]), self.look.w * 0.18), min(self.theme.px(_PAD[1]), self.look.h * 0.16)
        most = self.theme.px(_ROOM_PX) * float(np.sqrt(len(self.ids) + 1))
        return self.look.fitting(self.picture.places, across, down, most)

    def linked(self, node: int) -> Numbers:
        """The nodes at the other ends of a node's edges."""
        return self.picture.linked(node)

    def row_of(self, node: int) -> MemoryRow | None:
        """The memory of a node."""
        return self.picture.nodes[node].row if node < len(self.picture.nodes) else None

    def reach(self) -> float:
        """As far as the largest shape, and a little more."""
        return self.theme.px(SIDES[0]) * 0.75

    def restyle(self) -> None:
        """The theme is another one: texts have other widths."""
        self.painter.restyle()
        if self._fits:
            self.fit()
        super().restyle()

    def hover(self, at: QPointF | None) -> None:
        """The pointer is over a node, else perhaps over an edge."""
        super().hover(at)
        edge = -1
        if at is not None and self.hovered < 0:
            edge = nearest_line(*self.picture.ends(self.look.px(self.xy)), at, _EDGE_REACH)
        if edge != self._edge:
            self._edge = edge
            self.update()

    def click(self, at: QPointF) -> None:
        """Choose a node; a badge unfolds what is folded behind it."""
        for node, rect in self.painter.badges(self.look.px(self.xy)):
            if rect.contains(at):
                self.opened.emit(self.ids[node])
                return
        super().click(at)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Paint the graph."""
        painter = QPainter(self)
        painter.setClipRect(event.rect())
        paint_ground(painter, self, self.theme)
        if self.ids:
            marks = Marks(self.selected, self.hovered, self._edge, self.is_moving)
            self.painter.blocked = self.blocked
            self.painter.paint(painter, self.look.px(self.xy), self.look, marks)
        paint_edge(painter, self, self.theme, is_focused=self.is_ringed)
        painter.end()
