"""Pictures of the plan that are kept: of what is on the canvas, and of both ends of a flight.

A repaint without a change draws one picture; on a flight nothing is drawn anew. Must not do: know what is on them.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPixmap
from PySide6.QtWidgets import QWidget

from ui.pages.palace.camera import PalaceCamera
from ui.pages.palace.picture.marks import PlanMarks
from ui.pages.palace.picture.plan import PlanPainter
from ui.pages.palace.scene import Lens, PalaceScene
from ui.theme.theme import Theme


class FlightPicture:
    """The plan from where a flight begins and from where it ends."""

    def __init__(self, start: Lens, departure: QPixmap, end: Lens, arrival: QPixmap) -> None:
        self._start, self._departure = start, departure
        self._end, self._arrival = end, arrival

    def paint(self, painter: QPainter, lens: Lens, share: float, background: QColor) -> None:
        """Paint what is seen on the way.

        Args:
            painter: on the canvas.
            lens: the look at this moment.
            share: how much of the way is done, 0 to 1.
            background: where neither picture reaches.
        """
        painter.fillRect(QRectF(0, 0, lens.w, lens.h), background)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        share = min(max(share, 0.0), 1.0)
        if share < 1:
            self._paint_one(painter, self._departure, self._start, lens)
        painter.setOpacity(share)
        self._paint_one(painter, self._arrival, self._end, lens)
        painter.setOpacity(1.0)

    @staticmethod
    def _paint_one(painter: QPainter, picture: QPixmap, taken: Lens, lens: Lens) -> None:
        target = lens.canvas_rect(taken.visible_area)
        canvas = QRectF(0, 0, lens.w, lens.h)
        seen = target.intersected(canvas)
        if seen.isEmpty():
            return
        across = picture.width() / max(target.width(), 1e-6)
        down = picture.height() / max(target.height(), 1e-6)
        source = QRectF(
            (seen.left() - target.left()) * across, (seen.top() - target.top()) * down,
            seen.width() * across, seen.height() * down,
        )  # fmt: skip
        painter.drawPixmap(seen, picture, source)


class PlanPictures:
    """Draws pictures of the plan, and keeps them while they hold.

    Attributes:
        fitted_room: the room that is fitted into the canvas; "" for none.
    """

    def __init__(self, canvas: QWidget, plan: PlanPainter, scene: PalaceScene, marks: PlanMarks, theme: Theme) -> None:
        self._canvas, self._plan, self._scene, self._marks, self._theme = canvas, plan, scene, marks, theme
        self._flight: FlightPicture | None = None
        self._flown = 0.0
        self.fitted_room = ""
        self._kept: tuple[tuple[object, ...], QPixmap] | None = None

    def plan_picture(self, lens: Lens) -> QPixmap:
        """The plan without marks, drawn anew where something of it changed."""
        if self._kept is None or self._kept[0] != self._picture_key(lens):
            picture = self._render_plan(lens)
            if self._plan.is_behind:
                self._kept = None
                self._canvas.update()  # the rest of it in the next frame
                return picture
            self._kept = (self._picture_key(lens), picture)  # drawing brings rooms up to date, and so changes the key
        return self._kept[1]

    def is_drawn(self, lens: Lens) -> bool:
        """Whether the picture that is kept shows all of the plan as it is now.

        Args:
            lens: what is in sight.
        """
        return self._kept is not None and self._kept[0] == self._picture_key(lens)

    def _picture_key(self, lens: Lens) -> tuple[object, ...]:
        canvas, marks, theme = self._canvas, self._marks, self._theme
        rooms = tuple((room.id, room.version, id(room.plan)) for room in self._scene.rooms.values())
        size = (canvas.width(), canvas.height(), canvas.devicePixelRatioF())
        look = (self._scene.look, marks.hidden, marks.appear, theme.tokens.name, theme.scale, self._plan.text_version)
        return lens, size, rooms, look, self.fitted_room

    def _make_picture(self) -> QPixmap:
        ratio = self._canvas.devicePixelRatioF()
        picture = QPixmap(self._canvas.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(self._theme.colour("background"))
        return picture

    def _render_plan(self, lens: Lens) -> QPixmap:
        picture, marks = self._make_picture(), self._marks
        painter = QPainter(picture)
        ratio = picture.devicePixelRatioF()
        self._plan.paint(
            painter, self._scene, lens, ratio, hidden=marks.hidden, appear=marks.appear, fitted=self.fitted_room
        )
        painter.end()
        return picture

    # ---- flights

    def begin_flight(self, camera: PalaceCamera) -> None:
        """Draw the plan once from where a flight begins and once from where it ends."""
        if not self._canvas.isVisible():
            self._flight = None
            return
        if self._flight is None:
            departure = self.plan_picture(camera.lens)
        else:  # another flight is broken off: it goes on from what is seen
            departure = self._make_picture()
            painter = QPainter(departure)
            self._flight.paint(painter, camera.lens, self._flown, self._theme.colour("background"))
            painter.end()
        self.fitted_room = camera.fitted_room
        self._flight = FlightPicture(camera.lens, departure, camera.goal, self._render_plan(camera.goal))

    def note_flown(self, share: float) -> None:
        """Note how much of a flight's way is done, 0 to 1."""
        self._flown = share

    def paint_flight(self, painter: QPainter, camera: PalaceCamera) -> bool:
        """Paint what is seen on a flight.

        Returns:
            Whether the camera is under way.
        """
        if self._flight is None or not camera.is_flying:
            return False
        self._flight.paint(painter, camera.lens, self._flown, self._theme.colour("background"))
        return True

    def end_flight(self) -> None:
        """The camera rests."""
        self._flight = None
        self._canvas.update()
