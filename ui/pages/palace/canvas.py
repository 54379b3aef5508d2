"""The canvas: the plan under pointer and keyboard.

Must not do: ask the engine; it says what is picked, dropped or asked for, and the page sees to it.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QWheelEvent,
)

from ui.pages.palace.drag import Pointer
from ui.pages.palace.items import RoomItem
from ui.pages.palace.navigation import Navigator
from ui.pages.palace.scene import LOCUS, ROOM, WHOLE, Scene, Spot
from ui.pages.palace.view import PlanView
from ui.theme.theme import Theme

_BY_KEY = {Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason}


class Canvas(PlanView):
    """The plan under pointer and keyboard."""

    def __init__(self, theme: Theme, scene: Scene) -> None:
        super().__init__(theme, scene)
        self._pointer, self._walker = Pointer(self, self.click), Navigator(self)

    def paint_over(self, painter: QPainter) -> None:
        """Paint what is in hand, else what the locus under the pointer says."""
        if self._pointer.gesture is not None:
            self._pointer.gesture.paint(painter)
        else:
            super().paint_over(painter)

    def rest(self) -> None:
        """The page is left: nothing is in hand, nothing moves any more."""
        self._pointer.cancel()
        super().rest()

    def click(self, spot: Spot | None, room: RoomItem | None) -> None:
        """A press and release without a drag."""
        if spot is None and room is not None:
            self.marks.selected, self.marks.others = "", {}
            self.picked.emit("")
            self.stand(room_id=room.id)
        else:
            self.pick(spot)

    # ---- Qt's events

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Zoom at the pointer."""
        turned = event.pixelDelta().y() * 2 or event.angleDelta().y()
        if turned:
            self.hover(None)
            self.camera.zoom(1.0018**turned, event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Take hold."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.camera.stop()
            self._pointer.press(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Hover, or drag."""
        self._pointer.move(event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Let go."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._pointer.release()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Go in, or out where there is nothing."""
        at = event.position()
        x, y = self.camera.lens.point(at.x(), at.y())
        spot, room, wing = self.spot_at(at), self.scene.room_at(x, y), self.scene.wing_at(x, y, 1.0)
        level = self.where.level
        if spot is not None and level in {ROOM, LOCUS}:
            self.enter_locus(spot)
        elif level == WHOLE and wing is not None:
            self.enter_wing(wing.id)
        elif room is not None:
            self.enter_room(room.id)
        else:
            self.camera.home()

    def event(self, event: QEvent) -> bool:
        """Keys of the plan are the plan's, although a command of the window has them too; and the pointer left."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._walker.wants(event):
            event.accept()
            return True
        if event.type() == QEvent.Type.Leave and self._pointer.gesture is None:
            self.hover(None)
        elif isinstance(event, QFocusEvent):
            self.ringed = event.gotFocus() and event.reason() in _BY_KEY
            self.update()
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Walk; Escape lets go of what is in hand first."""
        if event.key() == Qt.Key.Key_Escape and self._pointer.cancel():
            return
        if not self._walker.press(event):
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
        """Offer what can be done with what lies there, or with what the keyboard stands on."""
        at = QPointF(event.pos())
        target: Spot | RoomItem | None
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            target = self.scene.spot_of(self.marks.selected) or self.scene.rooms.get(self.marks.cursor_room)
            if isinstance(target, Spot):
                at = self.painter.spot_px(target, self.camera.lens)[0]
            elif target is not None:
                at = self.painter.name_rect(target, self.camera.lens).center()
        else:
            target = self.spot_at(at) or self.scene.room_at(*self.camera.lens.point(at.x(), at.y()))
        if target is not None:
            if isinstance(target, Spot):
                self.pick(target)
            else:
                self.stand(room_id=target.id)
            self.menu_asked.emit(target, self.mapToGlobal(at.toPoint()))
