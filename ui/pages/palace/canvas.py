"""The canvas: the plan under pointer and keyboard; keys walk to the nearest locus, room or wing in a direction.

Must not do: ask the engine; it says what is picked, dropped or asked for, and the page sees to it.
"""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QWheelEvent,
)

from core.types.views import WingPlan
from ui.pages.palace.drag import DragPointer
from ui.pages.palace.items import RoomItem, wing_rect
from ui.pages.palace.scene import LOCUS, ROOM, WHOLE, WING, PalaceScene, PlacedLocus
from ui.pages.palace.view import PalaceView, wing_block_at
from ui.theme.theme import Theme
from ui.widgets.viewport import nearest_in_direction

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


class CanvasNavigator:
    """What the keys do on a canvas."""

    def __init__(self, canvas: PalaceView) -> None:
        self._canvas = canvas

    def is_canvas_key(self, event: QKeyEvent) -> bool:
        """Whether a key is the canvas's, although a command of the window may have it too."""
        if event.matches(QKeySequence.StandardKey.Find):
            return True
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        key = _KEY(event.key())
        others = {_KEY.Key_Escape, _KEY.Key_Home, _KEY.Key_Return, _KEY.Key_Enter, _KEY.Key_Slash}
        return key in _ARROWS or key in _VERBS or key in others

    def handle_key(self, event: QKeyEvent) -> bool:
        """Do what a key asks for.

        Returns:
            Whether it was one of the canvas's.
        """
        if event.matches(QKeySequence.StandardKey.Find):
            self._canvas.find_asked.emit()
            return True
        if event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier):
            return False
        key, canvas = _KEY(event.key()), self._canvas
        if key in _ARROWS:
            self.move_selection(*_ARROWS[key])
        elif key in _VERBS:
            canvas.asked.emit(_VERBS[key])
        elif key in {_KEY.Key_Return, _KEY.Key_Enter}:
            self.zoom_in_level()
        elif key == _KEY.Key_Escape:
            return self.zoom_out_level()
        elif key == _KEY.Key_Home:
            canvas.camera.show_whole()
        elif key == _KEY.Key_Slash:
            canvas.find_asked.emit()
        elif key in _NEARER | _FARTHER:
            canvas.camera.zoom_by(1.4 if key in _NEARER else 1 / 1.4)
        else:
            return False
        return True

    # ---- steps

    def move_selection(self, dx: int, dy: int) -> None:
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
            self._select_middle_locus()

    def _step_locus(self, spot: PlacedLocus, dx: int, dy: int) -> None:
        canvas = self._canvas
        inside = self._next_locus_in([spot.room], spot, dx, dy)
        others = [room for room in canvas.scene.rooms_of_wing(spot.room.wing.id) if room is not spot.room]
        found = inside or self._next_locus_in(others, spot, dx, dy)
        if found is not None:
            canvas.select_locus(found)
            canvas.reveal_locus(found)

    def _next_locus_in(self, rooms: list[RoomItem], spot: PlacedLocus, dx: int, dy: int) -> PlacedLocus | None:
        filled = [room for room in rooms if len(room.ids)]
        if not filled:
            return None
        for room in filled:
            room.apply_style(self._canvas.scene.look)
        shown = [np.flatnonzero(room.shown) for room in filled]
        xs = np.concatenate([room.wx[rows] for room, rows in zip(filled, shown, strict=True)])
        ys = np.concatenate([room.wy[rows] for room, rows in zip(filled, shown, strict=True)])
        at = nearest_in_direction(xs, ys, spot.x, spot.y, dx, dy)
        if at < 0:
            return None
        for room, rows in zip(filled, shown, strict=True):
            if at < len(rows):
                return PlacedLocus(room, int(rows[at]))
            at -= len(rows)
        return None

    def _step_room(self, dx: int, dy: int) -> None:
        canvas = self._canvas
        here = canvas.scene.rooms.get(canvas.marks.cursor_room)
        if here is None:
            rooms = canvas.scene.rooms_of_wing(canvas.where.wing_id)
            first = min(rooms, key=lambda room: (room.rect.top(), room.rect.left()), default=None)
            if first is not None:
                canvas.set_cursor_at(room_id=first.id)
            return
        rooms = [room for room in canvas.scene.rooms.values() if room.wing.id == here.wing.id and room is not here]
        middle = here.rect.center()
        xs = np.array([room.rect.center().x() for room in rooms])
        ys = np.array([room.rect.center().y() for room in rooms])
        at = nearest_in_direction(xs, ys, middle.x(), middle.y(), dx, dy)
        if at >= 0:
            canvas.set_cursor_at(room_id=rooms[at].id)
            canvas.camera.reveal_point(float(xs[at]), float(ys[at]))

    def _step_wing(self, dx: int, dy: int) -> None:
        canvas = self._canvas
        wings = [wing for wing in canvas.scene.wings if wing.rooms]
        known = [wing.id for wing in wings]
        if canvas.marks.cursor_wing not in known:
            if wings:
                canvas.set_cursor_at(wing_id=known[0])
            return
        at = known.index(canvas.marks.cursor_wing) + dx + dy
        if 0 <= at < len(wings):
            canvas.set_cursor_at(wing_id=known[at])
            middle = wing_rect(wings[at]).center()
            canvas.camera.reveal_point(middle.x(), middle.y())

    def _select_middle_locus(self) -> None:
        canvas = self._canvas
        room = canvas.scene.rooms.get(canvas.where.room_id)
        spot = None if room is None else canvas.painter.spot_in_middle(room, canvas.camera.lens)
        if spot is not None:
            canvas.select_locus(spot)

    # ---- in and out

    def zoom_in_level(self) -> None:
        """Palace to wing to room to locus."""
        canvas = self._canvas
        where = canvas.where
        spot = canvas.scene.spot_of(canvas.marks.selected)
        if where.level == WHOLE:
            wing = spot.room.wing.id if spot is not None else canvas.marks.cursor_wing
            canvas.enter_wing(wing or next((w.id for w in canvas.scene.wings if w.rooms), ""))
        elif where.level == WING:
            room = spot.room.id if spot is not None else canvas.marks.cursor_room
            canvas.enter_room(room or next((r.id for r in canvas.scene.rooms_of_wing(where.wing_id)), ""))
        elif spot is None:
            self._select_middle_locus()
        else:
            canvas.enter_locus(spot)

    def zoom_out_level(self) -> bool:
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
                canvas.set_cursor_at(room_id=where.room_id)
        elif canvas.marks.selected:
            spot = canvas.scene.spot_of(canvas.marks.selected)
            canvas.select_locus(None)
            if spot is not None and where.level == WING:
                canvas.set_cursor_at(room_id=spot.room.id)
        elif where.level == WING and sum(bool(wing.rooms) for wing in canvas.scene.wings) > 1:
            canvas.camera.show_whole()
            canvas.set_cursor_at(wing_id=where.wing_id)
        elif canvas.marks.cursor_room or canvas.marks.cursor_wing:
            canvas.set_cursor_at()
        else:
            return False
        return True


_BY_KEY = {Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason}


class PalaceCanvas(PalaceView):
    """The plan under pointer and keyboard."""

    def __init__(self, theme: Theme, scene: PalaceScene) -> None:
        super().__init__(theme, scene)
        self._pointer, self._walker = DragPointer(self, self.handle_click), CanvasNavigator(self)

    def paint_overlay(self, painter: QPainter) -> None:
        """Paint what is in hand, else what the locus under the pointer says."""
        if self._pointer.gesture is not None:
            self._pointer.gesture.paint(painter)
        else:
            super().paint_overlay(painter)

    def stop_motion(self) -> None:
        """The page is left: nothing is in hand, nothing moves any more."""
        self._pointer.cancel_gesture()
        super().stop_motion()

    def handle_click(self, spot: PlacedLocus | None, room: RoomItem | None, wing: WingPlan | None = None) -> None:
        """A press and release without a drag.

        Args:
            spot: the locus that was hit.
            room: the room that was hit, where no locus was.
            wing: the wing that was hit, where no room was.
        """
        if spot is not None or (room is None and wing is None):
            self.select_locus(spot)
            return
        self.marks.selected, self.marks.others = "", {}
        self.picked.emit("")
        self.set_cursor_at(room_id="" if room is None else room.id, wing_id=wing.id if wing and not room else "")

    # ---- Qt's events

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Zoom at the pointer."""
        turned = event.pixelDelta().y() * 2 or event.angleDelta().y()
        if turned:
            self.hover_at(None)
            self.camera.zoom_by(1.0018**turned, event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Take hold."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.camera.finish_flight()
            self._pointer.press_at(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Hover, or drag."""
        self._pointer.move_to(event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Let go."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._pointer.release_button()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Go in, or out where there is nothing."""
        at = event.position()
        x, y = self.camera.lens.plan_point(at.x(), at.y())
        spot, room, wing = self.spot_at(at), self.scene.room_at(x, y), wing_block_at(self, at)
        level = self.where.level
        if spot is not None and level in {ROOM, LOCUS}:
            self.enter_locus(spot)
        elif level == WHOLE and wing is not None:
            self.enter_wing(wing.id)
        elif room is not None:
            self.enter_room(room.id)
        else:
            self.camera.show_whole()

    def event(self, event: QEvent) -> bool:
        """Keys of the plan are the plan's, although a command of the window has them too; and the pointer left."""
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and self._walker.is_canvas_key(event)
        ):
            event.accept()
            return True
        if event.type() == QEvent.Type.Leave and self._pointer.gesture is None:
            self.hover_at(None)
        elif isinstance(event, QFocusEvent):
            self.ringed = event.gotFocus() and event.reason() in _BY_KEY
            self.update()
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Walk; Escape lets go of what is in hand first."""
        if event.key() == Qt.Key.Key_Escape and self._pointer.cancel_gesture():
            return
        if not self._walker.handle_key(event):
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
        """Offer what can be done with what lies there, or with what the keyboard is on."""
        at = QPointF(event.pos())
        target: PlacedLocus | RoomItem | None
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            target = self.scene.spot_of(self.marks.selected) or self.scene.rooms.get(self.marks.cursor_room)
            if isinstance(target, PlacedLocus):
                at = self.painter.spot_middle(target, self.camera.lens, self.scene.look)
            elif target is not None:
                at = self.painter.name_rect(target, self.camera.lens).center()
        else:
            target = self.spot_at(at) or self.scene.room_at(*self.camera.lens.plan_point(at.x(), at.y()))
        if target is not None:
            if isinstance(target, PlacedLocus):
                self.select_locus(target)
            else:
                self.set_cursor_at(room_id=target.id)
            self.menu_asked.emit(target, self.mapToGlobal(at.toPoint()))
