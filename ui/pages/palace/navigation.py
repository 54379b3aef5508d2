"""Walking the plan by keyboard: to the nearest locus, room or wing in a direction, in and out.

Must not do: paint, ask the engine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from ui.pages.palace.items import RoomItem
from ui.pages.palace.scene import LOCUS, ROOM, WHOLE, WING, Spot, wing_rect
from ui.pages.palace.view import PlanView

_ASIDE = 2.4
"""How much worse a step to the side is than one ahead."""
_CONE = 2.2
"""How far aside a target may lie for each step ahead."""
_KEY = Qt.Key
_ARROWS = {_KEY.Key_Left: (-1, 0), _KEY.Key_Right: (1, 0), _KEY.Key_Up: (0, -1), _KEY.Key_Down: (0, 1)}
_VERBS = {
    _KEY.Key_Space: "pin",
    _KEY.Key_P: "pin",
    _KEY.Key_Delete: "forget",
    _KEY.Key_E: "edit",
    _KEY.Key_F2: "rename",
    _KEY.Key_M: "merge",
}
_NEARER, _FARTHER = {_KEY.Key_Plus, _KEY.Key_Equal}, {_KEY.Key_Minus}


def towards(xs: NDArray[np.float64], ys: NDArray[np.float64], x: float, y: float, dx: int, dy: int) -> int:
    """The nearest of some points in a direction; one straight ahead is nearer than one aside.

    Args:
        xs: where they are.
        ys: likewise.
        x: where one stands.
        y: likewise.
        dx: -1, 0 or 1.
        dy: likewise; one of them is 0.

    Returns:
        Its index, or -1 where there is none in that direction.
    """
    if not len(xs):
        return -1
    ahead = (xs - x) * dx + (ys - y) * dy
    aside = np.abs((xs - x) * dy) + np.abs((ys - y) * dx)
    cost = np.where((ahead > 1e-6) & (aside <= ahead * _CONE), ahead + aside * _ASIDE, np.inf)
    best = int(np.argmin(cost))
    return best if np.isfinite(cost[best]) else -1


class Navigator:
    """What the keys do on a canvas."""

    def __init__(self, canvas: PlanView) -> None:
        self._canvas = canvas

    def wants(self, event: QKeyEvent) -> bool:
        """Whether a key is the canvas's, although a command of the window may have it too."""
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        key = _KEY(event.key())
        return (
            key in _ARROWS or key in _VERBS or key in {_KEY.Key_Escape, _KEY.Key_Home, _KEY.Key_Return, _KEY.Key_Enter}
        )

    def press(self, event: QKeyEvent) -> bool:
        """Do what a key asks for.

        Returns:
            Whether it was one of the canvas's.
        """
        if event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier):
            return False
        key, canvas = _KEY(event.key()), self._canvas
        if key in _ARROWS:
            self.step(*_ARROWS[key])
        elif key in _VERBS:
            canvas.asked.emit(_VERBS[key])
        elif key in {_KEY.Key_Return, _KEY.Key_Enter}:
            self.go_in()
        elif key == _KEY.Key_Escape:
            return self.go_out()
        elif key == _KEY.Key_Home:
            canvas.camera.home()
        elif key in _NEARER | _FARTHER:
            canvas.camera.zoom(1.4 if key in _NEARER else 1 / 1.4)
        else:
            return False
        return True

    # ---- steps

    def step(self, dx: int, dy: int) -> None:
        """Go to the next locus, room or wing in a direction."""
        canvas = self._canvas
        spot, level = canvas.scene.spot_of(canvas.marks.selected), canvas.where.level
        if spot is not None:
            self._step_locus(spot, dx, dy)
        elif level == WHOLE:
            self._step_wing(dx, dy)
        elif level == WING:
            self._step_room(dx, dy)
        else:
            self._middle_locus()

    def _step_locus(self, spot: Spot, dx: int, dy: int) -> None:
        canvas = self._canvas
        inside = self._next_in([spot.room], spot, dx, dy)
        others = [room for room in canvas.scene.of_wing(spot.room.wing.id) if room is not spot.room]
        found = inside or self._next_in(others, spot, dx, dy)
        if found is not None:
            canvas.pick(found)
            canvas.camera.reveal(found.x, found.y)

    def _next_in(self, rooms: list[RoomItem], spot: Spot, dx: int, dy: int) -> Spot | None:
        filled = [room for room in rooms if len(room.ids)]
        if not filled:
            return None
        for room in filled:
            room.dress(self._canvas.scene.look)
        shown = [np.flatnonzero(room.shown) for room in filled]
        xs = np.concatenate([room.wx[rows] for room, rows in zip(filled, shown, strict=True)])
        ys = np.concatenate([room.wy[rows] for room, rows in zip(filled, shown, strict=True)])
        at = towards(xs, ys, spot.x, spot.y, dx, dy)
        if at < 0:
            return None
        for room, rows in zip(filled, shown, strict=True):
            if at < len(rows):
                return Spot(room, int(rows[at]))
            at -= len(rows)
        return None

    def _step_room(self, dx: int, dy: int) -> None:
        canvas = self._canvas
        here = canvas.scene.rooms.get(canvas.marks.cursor_room)
        if here is None:
            rooms = canvas.scene.of_wing(canvas.where.wing_id)
            first = min(rooms, key=lambda room: (room.rect.top(), room.rect.left()), default=None)
            if first is not None:
                canvas.stand(room_id=first.id)
            return
        rooms = [room for room in canvas.scene.rooms.values() if room.wing.id == here.wing.id and room is not here]
        middle = here.rect.center()
        xs = np.array([room.rect.center().x() for room in rooms])
        ys = np.array([room.rect.center().y() for room in rooms])
        at = towards(xs, ys, middle.x(), middle.y(), dx, dy)
        if at >= 0:
            canvas.stand(room_id=rooms[at].id)
            canvas.camera.reveal(float(xs[at]), float(ys[at]))

    def _step_wing(self, dx: int, dy: int) -> None:
        canvas = self._canvas
        wings = [wing for wing in canvas.scene.wings if wing.rooms]
        known = [wing.id for wing in wings]
        if canvas.marks.cursor_wing not in known:
            if wings:
                canvas.stand(wing_id=known[0])
            return
        at = known.index(canvas.marks.cursor_wing) + dx + dy
        if 0 <= at < len(wings):
            canvas.stand(wing_id=known[at])
            middle = wing_rect(wings[at]).center()
            canvas.camera.reveal(middle.x(), middle.y())

    def _middle_locus(self) -> None:
        canvas = self._canvas
        room = canvas.scene.rooms.get(canvas.where.room_id)
        if room is None:
            return
        lens = canvas.camera.lens
        at = room.nearest(lens.x, lens.y, float("inf"))
        if at >= 0:
            canvas.pick(Spot(room, at))

    # ---- in and out

    def go_in(self) -> None:
        """Palace to wing to room to locus."""
        canvas = self._canvas
        where = canvas.where
        spot = canvas.scene.spot_of(canvas.marks.selected)
        if where.level == WHOLE:
            wing = spot.room.wing.id if spot is not None else canvas.marks.cursor_wing
            canvas.enter_wing(wing or next((w.id for w in canvas.scene.wings if w.rooms), ""))
        elif where.level == WING:
            room = spot.room.id if spot is not None else canvas.marks.cursor_room
            canvas.enter_room(room or next((r.id for r in canvas.scene.of_wing(where.wing_id)), ""))
        elif spot is None:
            self._middle_locus()
        else:
            canvas.enter_locus(spot)

    def go_out(self) -> bool:
        """Locus to room to wing to palace.

        Returns:
            Whether there was anything to leave.
        """
        canvas = self._canvas
        where = canvas.where
        if where.level == LOCUS:
            canvas.enter_room(where.room_id)
        elif where.level == ROOM:
            canvas.enter_wing(where.wing_id)
            if not canvas.marks.selected:
                canvas.stand(room_id=where.room_id)
        elif canvas.marks.selected:
            spot = canvas.scene.spot_of(canvas.marks.selected)
            canvas.pick(None)
            if spot is not None and where.level == WING:
                canvas.stand(room_id=spot.room.id)
        elif where.level == WING and sum(bool(wing.rooms) for wing in canvas.scene.wings) > 1:
            canvas.camera.home()
            canvas.stand(wing_id=where.wing_id)
        elif canvas.marks.cursor_room or canvas.marks.cursor_wing:
            canvas.stand()
        else:
            return False
        return True
