"""The whole vault on one canvas: a blitted picture while it is pushed, live dots while it is laid out, names from afar.

Must not do: ask the engine; it says which rows it needs and is handed them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEasingCurve, QElapsedTimer, QPointF, QTimer, QVariantAnimation, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QShowEvent

from core.types.values import Kind
from core.types.views import EDGE_TYPES, MemoryRow, WholeGraph
from ui.pages.graph.canvas import Canvas, paint_edge, paint_ground
from ui.pages.graph.frame import Frame, FrameMaker, Scene, paint_live
from ui.pages.graph.geometry import Look, Numbers, Points, apart
from ui.pages.graph.legend import Counts
from ui.pages.graph.overlay import NEAR, Meant, Overlay, in_sight
from ui.theme.theme import Theme

_MOVE_MS = 450
_GLIDING = 20_000
"""More nodes jump from step to step: a frame of them would take too long."""
_PAUSE_MS = 150
_SLICE_MS = 8
_WANT_MS = 90
_PAD = 24
_WIDEST = 1.6
"""How much wider than high the plane may be drawn, so that it fills a wide canvas."""
_KINDS = tuple(Kind)


class WholeCanvas(Canvas):
    """The whole vault.

    Signals:
        wanted: memories whose light rows are needed.
    """

    wanted = Signal(tuple)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Graph of the whole vault. Arrows walk along the edges, Enter goes into it.")
        self.scene: Scene | None = None
        self.overlay = Overlay(theme)
        self._wide = 1.0
        self._frame: Frame | None = None
        self._maker: FrameMaker | None = None
        self._from: Points = self.xy
        self._to: Points = self.xy
        self._moving = QVariantAnimation(self)
        self._moving.setStartValue(0.0)
        self._moving.setEndValue(1.0)
        self._moving.setDuration(_MOVE_MS)
        self._moving.setEasingCurve(QEasingCurve.Type.InOutCubic)
        self._moving.valueChanged.connect(self._move)
        self._moving.finished.connect(self._redraw)
        self._pause = _timer(self, _PAUSE_MS, self._redraw)
        self._slice = _timer(self, 0, self._turn)
        self._want = _timer(self, _WANT_MS, self._ask)

    # ---- what there is

    def show_graph(self, graph: WholeGraph, off: frozenset[str]) -> None:
        """Draw another vault; its nodes have no places yet."""
        chosen = self.ids[self.selected] if self.selected >= 0 else ""
        self.rest()
        self.ids, self._frame = graph.ids, None
        self.xy = self._to = np.zeros((len(graph.ids), 2))
        self.scene = None if not graph.ids else Scene(graph, self.xy, _shown(graph, off))
        self.overlay.show_graph(graph)
        self.hovered = -1
        self.choose(chosen)
        self.update()

    def place(self, xy: NDArray[np.float32]) -> None:
        """Move the nodes; the first places are taken at once."""
        if self.scene is None or len(xy) != len(self.ids):
            return
        is_first = not self._to.any()
        self._moving.stop()
        if is_first:
            self._wide = float(np.clip(self.look.w / self.look.h, 1.0, _WIDEST))
        self._from, self._to = self.xy, xy.astype(np.float64) * (self._wide, 1.0)
        if is_first:
            self.look = self.home()
        if is_first or self.theme.reduced_motion or not self.isVisible() or len(xy) > _GLIDING:
            self._move(1.0)
            self._redraw()
        else:
            self._moving.start()

    def switch(self, off: frozenset[str]) -> None:
        """Show edges of other types; nothing moves."""
        if self.scene is not None:
            self.scene = replace(self.scene, shown=_shown(self.scene.graph, off))
            self._redraw()

    def _move(self, share: float) -> None:
        if self.scene is not None:
            self.xy = self._to if share >= 1 else self._from + (self._to - self._from) * share
            gap = apart(self.xy) if share >= 1 else self.scene.apart
            self.scene = Scene(self.scene.graph, self.xy, self.scene.shown, gap)
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
    def counts(self) -> Counts:
        """What is drawn, for the legend."""
        if self.scene is None:
            return Counts({}, {})
        graph = self.scene.graph
        kinds, ties = np.bincount(graph.kind).tolist(), np.bincount(graph.edge_type).tolist()
        return Counts(
            {_KINDS[number]: count for number, count in enumerate(kinds) if count},
            {EDGE_TYPES[number]: count for number, count in enumerate(ties) if count},
        )

    def rest(self) -> None:
        """Nobody looks: no timer runs any more."""
        self._moving.stop()
        for timer in (self._pause, self._slice, self._want):
            timer.stop()
        self._maker = None
        if self.scene is not None:
            self._move(1.0)

    def show_rows(self, rows: Iterable[MemoryRow]) -> None:
        """Take light rows that were wanted."""
        self.overlay.put(rows)
        self.describe()
        self.update()

    def forget(self) -> None:
        """Rows that were read may have changed."""
        self.overlay.drop()
        if self.isVisible():
            self._want.start()

    # ---- what the ground asks

    def home(self) -> Look:
        """The whole plane: places lie within -1 to 1."""
        corners = self._to if len(self._to) else np.array([[-1.0, -1.0], [1.0, 1.0]])
        pad = self.theme.px(_PAD)
        return self.look.fitting(corners, pad, pad, 2000.0)

    def linked(self, node: int) -> Numbers:
        """The nodes at the other ends of the edges that show."""
        if self.scene is None:
            return np.zeros(0, np.int64)
        rows, graph = self.scene.edges_of(node), self.scene.graph
        ends = np.concatenate((graph.a[rows], graph.b[rows])).astype(np.int64)
        return np.unique(ends[ends != node])

    def row_of(self, node: int) -> MemoryRow | None:
        """The memory of a node, where it was read."""
        return self.overlay.row_of(self.ids[node]) if node < len(self.ids) else None

    def reach(self) -> float:
        """As far as a shape, at least eight pixels."""
        return 8.0 if self.scene is None else max(8.0, self.scene.side(self.look, self.theme) * 0.8)

    def restyle(self) -> None:
        """The theme is another one: the picture has old colours."""
        self._frame = None
        self._redraw()

    def moved(self) -> None:
        """The look is another one: show the picture under it, make a new one once it rests or does not reach."""
        frame = self._frame
        if frame is not None and frame.look.scale == self.look.scale and not frame.covers(self.look):
            if self._maker is None:
                self._redraw()
        else:
            self._pause.start()
        self._want.start()
        self.update()

    def hover(self, at: QPointF | None) -> None:
        """The pointer is over a node: its text will be wanted."""
        before = self.hovered
        super().hover(at)
        if self.hovered != before and self.hovered >= 0:
            self._want.start()

    def pick(self, node: int) -> None:
        """Choose a node."""
        super().pick(node)
        self._want.start()

    # ---- the picture

    def _redraw(self) -> None:
        self._pause.stop()
        self._want.start()
        if self.scene is not None and self.isVisible() and not self.is_moving:
            self._maker = FrameMaker(self.scene, self.look, self.theme, self.devicePixelRatioF())
            self._slice.start()
        self.update()

    def _turn(self) -> None:
        if self._maker is None:
            return
        watch = QElapsedTimer()
        watch.start()
        frame = self._maker.turn(lambda: watch.elapsed() < _SLICE_MS)
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

    # ---- texts in sight

    def _ask(self) -> None:
        if self.scene is None:
            return
        near = in_sight(self.scene, self.look)
        rows = [row for row in (self.selected, self.hovered) if row >= 0]
        rows += near.tolist() if len(near) <= NEAR else []
        missing = tuple(self.ids[row] for row in dict.fromkeys(rows) if self.row_of(row) is None)
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
                self._frame.blit(painter, self.look)
            meant = Meant(self.selected, self.hovered, self.reach(), self.blocked)
            self.overlay.paint(painter, self.scene, self.look, meant, at_rest=not self.is_moving)
        paint_edge(painter, self, self.theme, is_focused=self.is_ringed)
        painter.end()


def _shown(graph: WholeGraph, off: frozenset[str]) -> NDArray[np.bool_]:
    return ~np.isin(graph.edge_type, [EDGE_TYPES.index(name) for name in off])


def _timer(parent: WholeCanvas, pause_ms: int, then: Callable[[], None]) -> QTimer:
    made = QTimer(parent)
    made.setSingleShot(True)
    made.setInterval(pause_ms)
    made.timeout.connect(then)
    return made
