"""The pointer on the plan: pushing it, taking a locus or a room elsewhere; and the engine's part of such moves.

What is moved is in its new place at once and flies back if the engine refuses. Must not do: decide what a click
means beyond the plan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from PySide6.QtCore import QObject, QPointF, QRectF, Qt, QVariantAnimation
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QApplication

from core.types.views import GAP, SLOT_ASPECT, WingPlan
from ui.bridge import make_write, problem_of
from ui.context import Context
from ui.pages.palace.items import RoomItem, room_rect
from ui.pages.palace.scene import PlacedLocus
from ui.pages.palace.view import PalaceView, wing_block_at
from ui.strings import palace_strings

_BACK_MS = 260
_IN_HAND = 22.0
"""Side of the shape that represents what is dragged."""
_NEARLY = GAP - 0.01


class DragGesture(Protocol):
    """One drag on the palace canvas, from press to release."""

    def move_to(self, to: QPointF) -> None:
        """The pointer is elsewhere, px."""

    def finish_drag(self) -> None:
        """The button is released."""

    def cancel_drag(self) -> None:
        """Undo the drag; nothing changes."""

    def paint(self, painter: QPainter) -> None:
        """Paint what is dragged over the plan."""


class PanGesture:
    """Drags the view of the plan."""

    def __init__(self, canvas: PalaceView, start: QPointF) -> None:
        self._canvas, self._last = canvas, start
        self._begin = canvas.camera.lens
        canvas.setCursor(Qt.CursorShape.ClosedHandCursor)

    def move_to(self, to: QPointF) -> None:
        """Move the view with the pointer."""
        step, self._last = to - self._last, to
        self._canvas.camera.pan_by(step.x(), step.y())

    def finish_drag(self) -> None:
        """Stop moving the view; it stays where it is."""
        self._canvas.unsetCursor()

    def cancel_drag(self) -> None:
        """Move the view back to where it was."""
        self._canvas.unsetCursor()
        self._canvas.camera.fly_to(self._begin)

    def paint(self, painter: QPainter) -> None:
        """Paint nothing: the view itself moves."""


class LocusDrag:
    """Drags a locus to another place."""

    def __init__(self, canvas: PalaceView, spot: PlacedLocus) -> None:
        self._canvas, self._spot = canvas, spot
        self._at = QPointF()
        self._room: RoomItem | None = None
        self._place: tuple[float, float] | None = None
        canvas.marks.hidden = spot.id
        canvas.setCursor(Qt.CursorShape.ClosedHandCursor)

    def move_to(self, to: QPointF) -> None:
        """Find the free place under the pointer."""
        canvas = self._canvas
        self._at = to
        lens = canvas.camera.lens
        self._room = canvas.scene.room_at(*lens.plan_point(to.x(), to.y()))
        self._place = None
        if self._room is not None:
            x, y = canvas.painter.layout_of(self._room, lens).place_at(to)
            self._place = self._room.find_free_place(x, y, self._spot.id)
        canvas.marks.target_room = "" if self._room is None else self._room.id
        canvas.update()

    def finish_drag(self) -> None:
        """Ask for the move."""
        room, place = self._room, self._place
        self.cancel_drag()
        if room is not None and place is not None:
            self._canvas.locus_dropped.emit(self._spot, room, place[0], place[1])

    def cancel_drag(self) -> None:
        """It stays where it is."""
        self._canvas.marks.hidden = self._canvas.marks.target_room = ""
        self._canvas.unsetCursor()
        self._canvas.update()

    def paint(self, painter: QPainter) -> None:
        """Paint the locus under the pointer, and the place it would take."""
        canvas, lens = self._canvas, self._canvas.camera.lens
        layout = None if self._room is None else canvas.painter.layout_of(self._room, lens)
        if layout is not None and layout.has_places and self._place is not None:
            painter.setPen(QPen(canvas.theme.colour("accent"), 1.5, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(layout.slot_at(*self._place).adjusted(2, 2, -2, -2), 5, 5)
        canvas.painter.paint_shape(painter, self._spot, self._at, _IN_HAND, 0.9)


class RoomDrag:
    """Drags a room to another place in its wing."""

    def __init__(self, canvas: PalaceView, room: RoomItem, start: QPointF) -> None:
        self._canvas, self._room, self._start = canvas, room, start
        self._to = QRectF(room.rect)
        self._place = (room.plan.x, room.plan.y)
        canvas.setCursor(Qt.CursorShape.ClosedHandCursor)

    @property
    def _is_free(self) -> bool:
        wide = self._to.adjusted(-_NEARLY, -_NEARLY, _NEARLY, _NEARLY)
        others = (room for room in self._canvas.scene.rooms_of_wing(self._room.wing.id) if room is not self._room)
        return not any(wide.intersects(room.rect) for room in others)

    def move_to(self, to: QPointF) -> None:
        """Snap it to the grid under the pointer."""
        lens, room = self._canvas.camera.lens, self._room
        step = to - self._start
        x = max(0.0, round(room.plan.x + step.x() / lens.scale_x / SLOT_ASPECT))
        y = max(0.0, round(room.plan.y + step.y() / lens.scale))
        self._place = (x, y)
        self._to = room_rect(room.wing, replace(room.plan, x=x, y=y))
        self._canvas.update()

    def finish_drag(self) -> None:
        """Ask for the move."""
        self.cancel_drag()
        room = self._room
        if self._place != (room.plan.x, room.plan.y):
            self._canvas.room_dropped.emit(room, *self._place)

    def cancel_drag(self) -> None:
        """It stays where it is."""
        self._canvas.unsetCursor()
        self._canvas.update()

    def paint(self, painter: QPainter) -> None:
        """Paint the area the room would take."""
        theme, rect = self._canvas.theme, self._canvas.camera.lens.canvas_rect(self._to)
        fill = theme.colour("accent_soft")
        fill.setAlphaF(0.6)
        pen = QPen(theme.colour("accent" if self._is_free else "outline"), 2.0)
        pen.setStyle(Qt.PenStyle.SolidLine if self._is_free else Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(fill)
        painter.drawRoundedRect(rect, 10, 10)


class DragPointer:
    """Turns presses, moves and releases of the pointer into clicks and drags on the canvas."""

    def __init__(
        self, canvas: PalaceView, click: Callable[[PlacedLocus | None, RoomItem | None, WingPlan | None], None]
    ) -> None:
        self._canvas, self._click = canvas, click
        self._pressed: QPointF | None = None
        self._spot: PlacedLocus | None = None
        self._room: RoomItem | None = None
        self.gesture: DragGesture | None = None

    def press_at(self, at: QPointF) -> None:
        """The left button goes down."""
        self._pressed = at
        self._spot = self._canvas.spot_at(at)
        self._room = None if self._spot is not None else self._canvas.name_at(at)

    def move_to(self, to: QPointF) -> None:
        """The pointer moves; held for long enough a way, it drags."""
        if self._pressed is None:
            self._canvas.hover_at(to)
            return
        if self.gesture is None:
            far = (to - self._pressed).manhattanLength() >= QApplication.startDragDistance()
            if not far:
                return
            self._canvas.hover_at(None)
            self.gesture = self._begin_gesture(self._pressed)
        self.gesture.move_to(to)

    def _begin_gesture(self, start: QPointF) -> DragGesture:
        if self._spot is not None:
            return LocusDrag(self._canvas, self._spot)
        if self._room is not None:
            return RoomDrag(self._canvas, self._room, start)
        return PanGesture(self._canvas, start)

    def release_button(self) -> None:
        """The left button comes up: the end of a drag, or a click."""
        gesture, self.gesture = self.gesture, None
        was, self._pressed = self._pressed, None
        if gesture is not None:
            gesture.finish_drag()
        elif was is not None:
            canvas = self._canvas
            room = canvas.scene.room_at(*canvas.camera.lens.plan_point(was.x(), was.y()))
            self._click(self._spot, self._room or room, wing_block_at(canvas, was))

    def cancel_gesture(self) -> bool:
        """Let go of what is in hand.

        Returns:
            Whether there was anything.
        """
        gesture, self.gesture, self._pressed = self.gesture, None, None
        if gesture is not None:
            gesture.cancel_drag()
        return gesture is not None


class PlanMover(QObject):
    """Asks the engine to move loci and rooms, and moves back what it refuses."""

    def __init__(self, context: Context, canvas: PalaceView) -> None:
        super().__init__(canvas)
        self._context, self._canvas = context, canvas
        canvas.locus_dropped.connect(self.move_locus)
        canvas.room_dropped.connect(self.move_room)

    def move_locus(self, spot: PlacedLocus, room: RoomItem, x: float, y: float) -> None:
        """Take a locus to a free place of a room of its wing."""
        strings = palace_strings()["move"]
        if room.wing.id != spot.room.wing.id:
            commands = {command.id for command in self._context.commands.list_commands()}
            run: Callable[[], None] | None = None
            if "memory.move" in commands:
                self._context.selection.select(spot.id, "palace")
                run = self._move_wing
            self._context.desk.show_message(strings["other_wing"], strings["act"] if run is not None else "", run)
            return
        memory_id, start, end = spot.id, (float(spot.room.x[spot.at]), float(spot.room.y[spot.at])), (x, y)
        if room is spot.room:
            room.place_locus(spot.at, x, y)
        else:  # it is drawn nowhere until the engine has said that it is in the other room
            spot.room.set_away(spot.at, away=True)
            end = start
        self._canvas.update()
        palace = self._context.bridge.engine.palace
        self._context.tasks.run(
            make_write(strings["memory"], lambda: palace.move_locus(memory_id, room.id, x, y))
            .within(self)
            .failure(lambda error: self._on_move_refused(error, lambda: self._return_locus(memory_id, end, start)))
        )

    def _move_wing(self) -> None:
        self._context.commands.run("memory.move")

    def move_room(self, room: RoomItem, x: float, y: float) -> None:
        """Take a room elsewhere in its wing."""
        start = room.rect.topLeft()
        room.move_corner_to(room_rect(room.wing, replace(room.plan, x=x, y=y)).topLeft())
        self._canvas.update()
        room_id, palace = room.id, self._context.bridge.engine.palace
        self._context.tasks.run(
            make_write(palace_strings()["move"]["room"], lambda: palace.move_room(room_id, x, y))
            .within(self)
            .failure(lambda error: self._on_move_refused(error, lambda: self._return_room(room_id, start)))
        )

    def _on_move_refused(self, error: BaseException, back: Callable[[], None]) -> None:
        back()
        problem = problem_of(error)
        if problem is not None:
            self._context.tasks.problem.emit(problem)

    def _return_locus(self, memory_id: str, start: tuple[float, float], end: tuple[float, float]) -> None:
        def place_at_share(share: float) -> None:
            spot = self._canvas.scene.spot_of(memory_id)
            if spot is not None:
                spot.room.set_away(spot.at, away=False)
                spot.room.place_locus(
                    spot.at, start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share
                )

        self._animate_return(place_at_share)

    def _return_room(self, room_id: str, end: QPointF) -> None:
        room = self._canvas.scene.rooms.get(room_id)
        if room is None:
            return
        start = room.rect.topLeft()
        self._animate_return(lambda share: room.move_corner_to(start + (end - start) * share))

    def _animate_return(self, put: Callable[[float], None]) -> None:
        """Back to where it was, over a moment in which the eye can follow."""
        if self._context.theme.reduced_motion or not self._canvas.isVisible():
            put(1.0)
            self._canvas.update()
            return
        flight = QVariantAnimation(self)
        flight.setDuration(_BACK_MS)
        flight.setStartValue(0.0)
        flight.setEndValue(1.0)

        def apply_share(share: float) -> None:
            put(share)
            self._canvas.update()

        flight.valueChanged.connect(apply_share)
        flight.start(QVariantAnimation.DeletionPolicy.DeleteWhenStopped)
