"""The camera over the plan: what is fitted, flights, and the bounds it keeps to.

Must not do: paint, know a widget.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QEasingCurve, QObject, QPointF, QRectF, QSize, QVariantAnimation, Signal

from ui.pages.palace.scene import ROOM, WHOLE, WING, Fit, Lens, Scene, between, wing_rect
from ui.theme.theme import Theme

_FLIGHT_MS = 260
_WHEEL_MS = 140
_MOST_SCALE = 260.0
_ROOM_SCALE = 150.0
_LOCUS_PX = 140
_EDGE = 24.0
"""Px kept free beside what is fitted, as beside the head of the page."""


class Camera(QObject):
    """Where the canvas looks, and its flights there.

    Attributes:
        lens: the look in force.
        fit: what is fitted into the canvas, as (level, id); ("", "") once the person pushed or zoomed.

    Signals:
        moved: the look is another one.
        rested: a flight is over.
    """

    moved = Signal()
    rested = Signal()

    def __init__(self, scene: Scene, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._scene, self._theme = scene, theme
        self.lens = Lens(0, 0, 10, 640, 480)
        self.fit: Fit = ("", "")
        self._start = self._end = self.lens
        self._flight = QVariantAnimation(self)
        self._flight.setStartValue(0.0)
        self._flight.setEndValue(1.0)
        self._flight.valueChanged.connect(self._step)
        self._flight.finished.connect(self.rested)

    @property
    def is_flying(self) -> bool:
        """Whether it is under way."""
        return self._flight.state() == QVariantAnimation.State.Running

    @property
    def goal(self) -> Lens:
        """Where it will be once it rests."""
        return self._end if self.is_flying else self.lens

    def stop(self) -> None:
        """Be where it would have ended."""
        if self.is_flying:
            self._flight.stop()
            self._put(self._end)

    def resize(self, size: QSize) -> None:
        """The canvas has another size."""
        self._flight.stop()
        self.lens = replace(self.lens, w=float(max(size.width(), 1)), h=float(max(size.height(), 1)))
        self.refit()

    def refit(self) -> None:
        """Fit again what was fitted."""
        found = self._fitted(*self.fit)
        if found is not None:
            self._put(found)

    def _put(self, lens: Lens) -> None:
        self.lens = lens
        self.moved.emit()

    def _step(self, share: float) -> None:
        self._put(between(self._start, self._end, share))

    def fly(self, to: Lens, fit: Fit = ("", ""), ms: int = _FLIGHT_MS) -> None:
        """Go there; at once where nothing may move by itself."""
        self.fit = fit
        self._flight.stop()
        if self._theme.reduced_motion:
            self._put(to)
            self.rested.emit()
            return
        self._start, self._end = self.lens, to
        self._flight.setDuration(ms)
        curve = QEasingCurve.Type.OutCubic if ms == _WHEEL_MS else QEasingCurve.Type.InOutCubic
        self._flight.setEasingCurve(curve)
        self._flight.start()

    def jump(self, to: Lens, fit: Fit = ("", "")) -> None:
        """Be there."""
        self.fit = fit
        self._flight.stop()
        self._put(to)
        self.rested.emit()

    def _held(self, lens: Lens) -> Lens:
        home = self._fitted(WHOLE, "")
        return lens if home is None else lens.within(self._scene.bounds, home.scale * 0.6, _MOST_SCALE)

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Nearer or farther, towards a point of the canvas or its middle."""
        px, py = (self.lens.w / 2, self.lens.h / 2) if at is None else (at.x(), at.y())
        self.fly(self._held(self.goal.zoomed(factor, px, py)), ms=_WHEEL_MS)

    def push(self, dx: float, dy: float) -> None:
        """Push the plan by so many px."""
        self.jump(self._held(self.goal.moved(dx, dy)))

    def home(self) -> None:
        """All of it; the one wing where there is but one."""
        self.show_fit(WHOLE, "")

    def show_fit(self, level: str, of: str, *, at_once: bool = False) -> None:
        """Show a wing or room whole.

        Args:
            level: palace, wing or room.
            of: id of the wing or room.
            at_once: without a flight.
        """
        found = self._fitted(level, of)
        if found is not None:
            (self.jump if at_once else self.fly)(found, (level, of))

    def _fitted(self, level: str, of: str) -> Lens | None:
        wings = [wing for wing in self._scene.wings if wing.rooms]
        if level == WHOLE and wings:
            if len(wings) == 1:
                return self.lens.fitting(wing_rect(wings[0]), pad=_EDGE, corner=True, most=_ROOM_SCALE)
            return self.lens.fitting(
                self._scene.bounds, pad=_EDGE, top=self._theme.px(32), corner=True, most=_ROOM_SCALE
            )
        wing = self._scene.wing(of)
        if level == WING and wing is not None and wing.rooms:
            return self.lens.fitting(wing_rect(wing), pad=_EDGE, corner=True, most=_ROOM_SCALE)
        room = self._scene.rooms.get(of)
        if level == ROOM and room is not None:
            return self.lens.fitting(room.rect, pad=_EDGE, most=_ROOM_SCALE)
        return None

    def near(self, x: float, y: float, step: float) -> None:
        """So near to a place that its text can be read."""
        scale = max(self._theme.px(_LOCUS_PX) / step, self.lens.scale)
        self.fly(replace(self.goal, x=x, y=y, scale=min(scale, max(_MOST_SCALE, self._theme.px(_LOCUS_PX) / step))))

    def reveal(self, x: float, y: float) -> None:
        """Bring a place onto the canvas, if it is not there or at its very edge."""
        goal = self.goal
        edge = min(48.0, goal.w / 4, goal.h / 4)
        if not QRectF(edge, edge, goal.w - 2 * edge, goal.h - 2 * edge).contains(goal.across(x), goal.down(y)):
            inner = QRectF(0, 0, goal.w, goal.h).contains(goal.across(x), goal.down(y))
            to = replace(goal, x=x, y=y)
            self.fly(between(goal, to, 0.5) if inner else to)
