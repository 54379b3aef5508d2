"""The camera over the plan: where the canvas looks, what it fits, and its flights there.

Must not do: paint, know a room's memories.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QEasingCurve, QObject, QPointF, QRectF, QSize, QSizeF, QVariantAnimation, Signal

from core.types.views import CARD_SIDE, SLOT_ASPECT
from ui.pages.palace.items import wing_rect
from ui.pages.palace.picture.layout import space_above_wing, wing_band, wing_name_width
from ui.pages.palace.scene import (
    LEAST_SCALE,
    ROOM,
    STRETCHES,
    WHOLE,
    WING,
    Fit,
    Lens,
    PalaceScene,
    WingSpacing,
    interpolate_lens,
)
from ui.theme.theme import Theme
from ui.theme.tokens import spacing

_FLIGHT_MS = 260
_WHEEL_MS = 140
_MOST_SCALE = 300.0
_ROOM_SCALE = 96.0
_LOCUS_PX = 150
"""Height of a card from which the whole text can be read, px at 100 %."""
NEAR_PX = 126 // CARD_SIDE
"""Height of a place from which one is at a memory, px at 100 %."""
_EDGE = 24.0
"""Px kept free beside what is fitted, as beside the header of the page."""
_RING = 4.0
"""Px kept free above it and below, for the ring of what the keyboard is on."""


_FARTHEST = 0.9
"""The least scale, in scales at which all of the palace is seen: from farther no name of a wing has room."""
_HALVINGS = 18
_STRETCHINGS = 3


@dataclass(frozen=True, slots=True)
class _WholeFit:
    """How all wings are seen: the space between them, the scale and the stretch."""

    spacing: WingSpacing
    scale: float
    stretch: float


def fit_wings(scene: PalaceScene, canvas: QSizeF, theme: Theme) -> _WholeFit:
    """The space between wings in which their names can be read when all are seen, and the look at which they are.

    Args:
        scene: the wings.
        canvas: what there is for the wings and the names between them, px.
    """
    wings = scene.wings
    if len(wings) < 2:
        return _WholeFit(WingSpacing(), math.inf, 1.0)
    names = {wing.id: wing_name_width(wing, theme) for wing in wings}
    sizes = {wing.id: wing_rect(wing).size() for wing in wings}

    def spacing_at(scale: float, stretch: float) -> WingSpacing:
        widths = {wing_id: wide / scale / stretch / SLOT_ASPECT for wing_id, wide in names.items()}
        return WingSpacing(max(WingSpacing().above, space_above_wing(theme) / scale), widths)

    def share_used(scale: float, stretch: float) -> tuple[float, float]:
        """Of the canvas's width and of its height."""
        right = foot = 0.0
        for wing in scene.arranged_wings(spacing_at(scale, stretch)):
            across = scale * stretch
            right = max(right, wing.x * SLOT_ASPECT * across + max(sizes[wing.id].width() * across, names[wing.id]))
            foot = max(foot, (wing.y + sizes[wing.id].height()) * scale)
        return right / canvas.width(), foot / canvas.height()

    stretch, low = 1.0, LEAST_SCALE
    for _ in range(_STRETCHINGS):
        low, high = LEAST_SCALE, _ROOM_SCALE
        for _ in range(_HALVINGS):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if max(share_used(middle, stretch)) <= 1 else (low, middle)
        across, down = share_used(low, stretch)
        found, stretch = stretch, min(max(stretch * down / across, STRETCHES[0]), STRETCHES[1])
    return _WholeFit(spacing_at(low, found), low, found)


class PalaceCamera(QObject):
    """Where the canvas looks, and its flights there.

    Attributes:
        lens: the look in force.
        fit: what is fitted into the canvas, as (level, id); ("", "") once the person pushed or zoomed.

    Signals:
        departed: a flight begins, to the look in `goal`.
        moved: the look is another one.
        rested: a flight is over.
    """

    departed = Signal()
    moved = Signal()
    rested = Signal()

    def __init__(self, scene: PalaceScene, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._scene, self._theme = scene, theme
        self.lens = Lens(0, 0, 10, 640, 480)
        self._whole = _WholeFit(WingSpacing(), _ROOM_SCALE, 1.0)
        self.fit: Fit = ("", "")
        self._start = self._end = self.lens
        self._flight = QVariantAnimation(self)
        self._flight.setStartValue(0.0)
        self._flight.setEndValue(1.0)
        self._flight.valueChanged.connect(self._on_flight_step)
        self._flight.finished.connect(self.rested)

    @property
    def fitted_room(self) -> str:
        """The room that is fitted into the canvas; "" for none."""
        level, of = self.fit
        return of if level == ROOM else ""

    @property
    def is_flying(self) -> bool:
        """Whether it is under way."""
        return self._flight.state() == QVariantAnimation.State.Running

    @property
    def flown(self) -> float:
        """How much of the flight's way is done, 0 to 1."""
        return float(self._flight.currentValue() or 0.0)

    @property
    def goal(self) -> Lens:
        """Where it will be once it rests."""
        return self._end if self.is_flying else self.lens

    def finish_flight(self) -> None:
        """Be where it would have ended."""
        if self.is_flying:
            self._flight.stop()
            self._set_lens(self._end)
            self.rested.emit()

    def resize_lens(self, size: QSize) -> None:
        """The canvas has another size."""
        self._flight.stop()
        self.lens = replace(self.lens, w=float(max(size.width(), 1)), h=float(max(size.height(), 1)))
        self.space_wings()
        self.fit_again()

    def space_wings(self) -> None:
        """Keep so much space between wings that their names can be read from where all of them are seen.

        What is in the middle of the canvas stays there.
        """
        if self.is_flying or self._scene.plan is None:
            return
        self._whole = fit_wings(self._scene, self._canvas_for_wings(), self._theme)
        if self._whole.spacing != self._scene.spacing:
            x, y = self._scene.unspaced_point(self.lens.x, self.lens.y)
            self._scene.space_wings(self._whole.spacing)
            x, y = self._scene.spaced_point(x, y)
            self.lens = replace(self.lens, x=x, y=y)
            self.fit_again()

    def _canvas_for_wings(self) -> QSizeF:
        px = self._theme.px
        high = self.lens.h - 2 - space_above_wing(self._theme) - px(spacing().m)
        return QSizeF(max(1.0, self.lens.w - 2 * (_EDGE + px(10))), max(1.0, high))

    def fit_again(self) -> None:
        """Fit again what was fitted."""
        found = self.fit_level(*self.fit)
        if found is not None:
            self._set_lens(found)

    def _set_lens(self, lens: Lens) -> None:
        self.lens = lens
        self.moved.emit()

    def _on_flight_step(self, share: float) -> None:
        self._set_lens(interpolate_lens(self._start, self._end, share))

    def fly_to(self, to: Lens, fit: Fit = ("", ""), ms: int = _FLIGHT_MS) -> None:
        """Go there; at once where nothing may move by itself."""
        self.fit = fit
        self._flight.stop()
        if self._theme.reduced_motion:
            self._set_lens(to)
            self.rested.emit()
            return
        self._start, self._end = self.lens, to
        self._flight.setDuration(ms)
        curve = QEasingCurve.Type.OutCubic if ms == _WHEEL_MS else QEasingCurve.Type.InOutCubic
        self._flight.setEasingCurve(curve)
        self._flight.start()
        self.departed.emit()

    def jump_to(self, to: Lens, fit: Fit = ("", "")) -> None:
        """Show a place at once, without a flight."""
        self.fit = fit
        self._flight.stop()
        self._set_lens(to)
        self.rested.emit()

    def _clamp_lens(self, lens: Lens) -> Lens:
        home = self.fit_level(WHOLE, "")
        if home is None:
            return lens
        middle = QRectF(home.x - 1e-6, home.y - 1e-6, 2e-6, 2e-6)  # what is fitted in a corner may leave it outside
        return lens.clamped_to(self._scene.bounds.united(middle), home.scale * _FARTHEST, _MOST_SCALE)

    def zoom_by(self, factor: float, at: QPointF | None = None) -> None:
        """Nearer or farther, towards a point of the canvas or its middle."""
        px, py = (self.lens.w / 2, self.lens.h / 2) if at is None else (at.x(), at.y())
        self.fly_to(self._clamp_lens(self.goal.zoomed_at(factor, px, py)), ms=_WHEEL_MS)

    def pan_by(self, dx: float, dy: float) -> None:
        """Push the plan by so many px."""
        self.jump_to(self._clamp_lens(self.goal.panned_by(dx, dy)))

    def show_whole(self) -> None:
        """All of it; the one wing where there is but one."""
        self.show_fit(WHOLE, "")

    def show_fit(self, level: str, of: str, *, at_once: bool = False) -> None:
        """Show a wing or room whole.

        Args:
            level: palace, wing or room.
            of: id of the wing or room.
            at_once: without a flight.
        """
        found = self.fit_level(level, of)
        if found is not None:
            (self.jump_to if at_once else self.fly_to)(found, (level, of))

    def fit_level(self, level: str, of: str) -> Lens | None:
        """The look that shows a wing or room whole, or all there is; None where that is gone.

        Args:
            level: palace, wing or room.
            of: id of the wing or room.
        """
        wings = [wing for wing in self._scene.wings if wing.rooms]
        if level == WHOLE and len(wings) > 1:
            return self._fit_wings()
        wing = wings[0] if level == WHOLE and wings else self._scene.find_wing(of)
        if level in {WHOLE, WING} and wing is not None and wing.rooms:
            ground = wing_rect(wing)
            return self.lens.fit_rect(
                ground, pad=_EDGE, top=_RING, foot=_RING, corner=True, most=_ROOM_SCALE, stretches=STRETCHES
            )
        room = self._scene.rooms.get(of)
        if level == ROOM and room is not None:
            return self.lens.fit_rect(
                room.rect, pad=_EDGE, top=_RING, foot=_RING, most=_ROOM_SCALE, stretches=STRETCHES
            )
        return None

    def _fit_wings(self) -> Lens:
        """The look that shows all wings with their names."""
        px, bounds, top = self._theme.px, self._scene.bounds, space_above_wing(self._theme)
        foot, pad, most = px(spacing().m), _EDGE + px(10), min(_ROOM_SCALE, self._whole.scale)
        stretches = self._whole.stretch, self._whole.stretch
        near = self.lens.fit_rect(bounds, top=top, foot=foot, pad=pad, most=most, stretches=stretches)
        top = max(top, wing_band(self._scene, near.scale, self._theme) + 1)  # in a small palace there is room for more
        return self.lens.fit_rect(bounds, top=top, foot=foot, pad=pad, most=most, stretches=stretches, corner=True)

    def near_lens(
        self, goal: Lens, room: QRectF, slot: float, middle_at: Callable[[Lens], tuple[float, float]]
    ) -> Lens:
        """The look so near to a memory that all of its text can be read.

        Args:
            goal: the look one comes from.
            room: the ground of its room.
            slot: height of its card, px of the goal.
            middle_at: where in the palace it is drawn under a lens: a room's name takes less of it from near.
        """
        factor = max(self._theme.px(_LOCUS_PX) / max(slot, 1e-6), 1.0)
        closer = replace(goal, scale=min(goal.scale * factor, _MOST_SCALE * self._theme.scale / 100))
        x, y = middle_at(closer)
        beside, above = _EDGE / closer.scale_x, _EDGE / closer.scale
        return replace(closer, x=x, y=y).kept_inside(room.adjusted(-beside, -above, beside, above))

    def reveal_point(self, x: float, y: float) -> None:
        """Bring a place onto the canvas, if it is not there or at its very edge; what is shown whole stays so."""
        goal = self.goal
        if self.fit[0] and QRectF(0, 0, goal.w, goal.h).contains(goal.canvas_x(x), goal.canvas_y(y)):
            return
        edge = min(48.0, goal.w / 4, goal.h / 4)
        if not QRectF(edge, edge, goal.w - 2 * edge, goal.h - 2 * edge).contains(goal.canvas_x(x), goal.canvas_y(y)):
            inner = QRectF(0, 0, goal.w, goal.h).contains(goal.canvas_x(x), goal.canvas_y(y))
            to = replace(goal, x=x, y=y)
            self.fly_to(interpolate_lens(goal, to, 0.5) if inner else to)
