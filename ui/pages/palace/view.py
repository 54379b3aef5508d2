"""The plan under a camera: what is there, where one stands, and what lies at a point.

Must not do: ask the engine; it says what is picked, dropped or asked for, and the page sees to it.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QEasingCurve, QObject, QPointF, QRectF, QSize, Qt, QVariantAnimation, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.types.views import Loci, MemoryRow, WingPlan
from ui.pages.palace.items import Heads, LocusStyle, RoomItem
from ui.pages.palace.paint import NEAR_PX, Marks, PlanPainter, visible_rows
from ui.pages.palace.scene import (
    ROOM,
    WHOLE,
    WING,
    Fit,
    Lens,
    Location,
    PlacedLocus,
    Scene,
    interpolate_lens,
    wing_rect,
)
from ui.theme.theme import Theme
from ui.widgets.basics import make_timer
from ui.widgets.labels import KIND_WORDS, count_memories, count_of, format_said_or_noted
from ui.widgets.plaintext import escape_tooltip, one_line

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
        self._flight.valueChanged.connect(self._on_flight_step)
        self._flight.finished.connect(self.rested)

    @property
    def is_flying(self) -> bool:
        """Whether it is under way."""
        return self._flight.state() == QVariantAnimation.State.Running

    @property
    def goal(self) -> Lens:
        """Where it will be once it rests."""
        return self._end if self.is_flying else self.lens

    def finish_flight(self) -> None:
        """Be where it would have ended."""
        if self.is_flying:
            self._flight.stop()
            self._set_lens(self._end)

    def resize_lens(self, size: QSize) -> None:
        """The canvas has another size."""
        self._flight.stop()
        self.lens = replace(self.lens, w=float(max(size.width(), 1)), h=float(max(size.height(), 1)))
        self.fit_again()

    def fit_again(self) -> None:
        """Fit again what was fitted."""
        found = self._fit_level(*self.fit)
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

    def jump_to(self, to: Lens, fit: Fit = ("", "")) -> None:
        """Show a place at once, without a flight."""
        self.fit = fit
        self._flight.stop()
        self._set_lens(to)
        self.rested.emit()

    def _clamp_lens(self, lens: Lens) -> Lens:
        home = self._fit_level(WHOLE, "")
        return lens if home is None else lens.clamped_to(self._scene.bounds, home.scale * 0.6, _MOST_SCALE)

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
        found = self._fit_level(level, of)
        if found is not None:
            (self.jump_to if at_once else self.fly_to)(found, (level, of))

    def _fit_level(self, level: str, of: str) -> Lens | None:
        wings = [wing for wing in self._scene.wings if wing.rooms]
        if level == WHOLE and wings:
            if len(wings) == 1:
                return self.lens.fit_rect(wing_rect(wings[0]), pad=_EDGE, corner=True, most=_ROOM_SCALE)
            return self.lens.fit_rect(
                self._scene.bounds, pad=_EDGE, top=self._theme.px(32), corner=True, most=_ROOM_SCALE
            )
        wing = self._scene.find_wing(of)
        if level == WING and wing is not None and wing.rooms:
            return self.lens.fit_rect(wing_rect(wing), pad=_EDGE, corner=True, most=_ROOM_SCALE)
        room = self._scene.rooms.get(of)
        if level == ROOM and room is not None:
            return self.lens.fit_rect(room.rect, pad=_EDGE, most=_ROOM_SCALE)
        return None

    def fly_near(self, x: float, y: float, step: float) -> None:
        """So near to a place that its text can be read."""
        scale = max(self._theme.px(_LOCUS_PX) / step, self.lens.scale)
        self.fly_to(replace(self.goal, x=x, y=y, scale=min(scale, max(_MOST_SCALE, self._theme.px(_LOCUS_PX) / step))))

    def reveal_point(self, x: float, y: float) -> None:
        """Bring a place onto the canvas, if it is not there or at its very edge."""
        goal = self.goal
        edge = min(48.0, goal.w / 4, goal.h / 4)
        if not QRectF(edge, edge, goal.w - 2 * edge, goal.h - 2 * edge).contains(goal.canvas_x(x), goal.canvas_y(y)):
            inner = QRectF(0, 0, goal.w, goal.h).contains(goal.canvas_x(x), goal.canvas_y(y))
            to = replace(goal, x=x, y=y)
            self.fly_to(interpolate_lens(goal, to, 0.5) if inner else to)


_LOOK_UP_MS = 90
_HOVER_MS = 280
_APPEAR_MS = 500
_WANTED = 240


class PlanView(QWidget):
    """The plan under a camera, with the locus the keyboard stands on.

    Signals:
        picked: the memory that was chosen, "" for none.
        looked: the look or what there is to see changed.
        asked: a verb for what the keyboard stands on: pin, forget, edit, rename or merge.
        menu_asked: (a `PlacedLocus` or `RoomItem`, the global point).
        locus_dropped: (`PlacedLocus`, `RoomItem`, x, y inside the room).
        room_dropped: (`RoomItem`, x, y inside its wing).
        said: a sentence on what the keyboard stands on.
        wanted: memories whose light rows are needed.
    """

    picked = Signal(str)
    looked = Signal()
    asked = Signal(str)
    menu_asked = Signal(object, object)
    locus_dropped = Signal(object, object, float, float)
    room_dropped = Signal(object, float, float)
    said = Signal(str)
    wanted = Signal(tuple)

    def __init__(self, theme: Theme, scene: Scene) -> None:
        super().__init__()
        self.theme, self.scene, self.marks = theme, scene, Marks()
        self.heads = Heads()
        self.painter = PlanPainter(theme, self.heads.get_row)
        self.camera = Camera(scene, theme, self)
        self.where = Location(WHOLE)
        self._plate = False
        self.ringed = False
        self._look_up = make_timer(self, self._read_heads_in_sight, _LOOK_UP_MS)
        self._hovering = make_timer(self, self._show_plate, _HOVER_MS)
        self._appearing = QVariantAnimation(self)
        self._appearing.setStartValue(0.0)
        self._appearing.setEndValue(1.0)
        self._appearing.setDuration(_APPEAR_MS)
        self._appearing.valueChanged.connect(self._on_appearing_step)
        self._appearing.finished.connect(self._on_appearing_finished)
        self.camera.moved.connect(self._on_camera_moved)
        theme.changed.connect(self._restyle_painter)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(240, 160)
        self.setAccessibleName("Floor plan. Arrows walk, Enter goes in, Escape goes out.")

    # ---- what there is

    def set_loci(self, loci: Loci) -> None:
        """Take the loci of a room."""
        room = self.scene.rooms.get(loci.room_id)
        if room is not None and room.set_loci(loci) and not self.theme.reduced_motion and self.isVisible():
            self._appearing.start()
        self.refresh_view()

    def refresh_view(self) -> None:
        """What there is to see changed."""
        self._look_up.start()
        self._on_camera_moved()

    def set_style(self, look: LocusStyle) -> None:
        """Draw loci in another way."""
        self.scene.look = look
        self.refresh_view()

    def _on_camera_moved(self) -> None:
        self.where = self.scene.locate_lens(self.camera.goal, self.theme.px(NEAR_PX), self.camera.fit)
        self._look_up.start()
        self.looked.emit()
        self.update()

    def _restyle_painter(self) -> None:
        self.painter.clear_cache()
        self.update()

    def _on_appearing_step(self, share: float) -> None:
        self.marks.appear = share
        self.update()

    def _on_appearing_finished(self) -> None:
        self.marks.appear = 1.0
        for room in self.scene.rooms.values():
            room.clear_fresh()

    def _read_heads_in_sight(self) -> None:
        lens, ids = self.camera.lens, [self.marks.selected] if self.marks.selected else []
        for room in self.scene.rooms_in_sight(lens):
            if self.painter.is_text_shown(lens, room):
                room.apply_style(self.scene.look)
                ids += [room.ids[at] for at in visible_rows(room, lens.visible_area, room.step)]
        if self.marks.hover is not None and self.marks.hover.at < len(self.marks.hover.room.ids):
            ids.append(self.marks.hover.id)
        missing = self.heads.missing_ids(ids, _WANTED)
        if missing:
            self.wanted.emit(missing)

    def show_heads(self, rows: tuple[MemoryRow, ...]) -> None:
        """Take light rows that were wanted."""
        self.heads.store_rows(rows)
        self.emit_sentence()
        self.update()

    # ---- where one stands

    def select_locus(self, spot: PlacedLocus | None) -> None:
        """Choose a locus; none lets go."""
        self.marks.selected = "" if spot is None else spot.id
        self.marks.others = {}
        self.set_cursor_at()
        self.picked.emit(self.marks.selected)

    def set_cursor_at(self, *, room_id: str = "", wing_id: str = "") -> None:
        """Put the keyboard on a room, a wing, or neither."""
        self.marks.cursor_room, self.marks.cursor_wing = room_id, wing_id
        self._look_up.start()
        self.emit_sentence()
        self.update()

    def emit_sentence(self) -> None:
        """Say what the keyboard stands on."""
        marks, scene = self.marks, self.scene
        spot, sentence = scene.spot_of(marks.selected), ""
        room, wing = scene.rooms.get(marks.cursor_room), scene.find_wing(marks.cursor_wing)
        if spot is not None:
            head = self.heads.get_row(spot.id)
            sentence = "" if head is None else sentence_of(head, spot.room.plan.name)
        elif room is not None:
            sentence = sentence_of_room(room, room.count_shown(scene.look))
        elif wing is not None:
            sentence = sentence_of_wing(wing, scene.count_shown(scene.rooms_of_wing(wing.id)))
        if sentence != self.accessibleDescription():
            self.setAccessibleDescription(sentence)
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))
        self.said.emit(sentence)

    def enter_wing(self, wing_id: str) -> None:
        """Go to a wing."""
        self.camera.show_fit(WING, wing_id)

    def enter_room(self, room_id: str) -> None:
        """Go to a room."""
        self.camera.show_fit(ROOM, room_id)

    def enter_locus(self, spot: PlacedLocus) -> None:
        """Go near to a locus."""
        self.camera.fly_near(spot.x, spot.y, spot.room.step)

    # ---- what lies under the pointer

    def spot_at(self, at: QPointF) -> PlacedLocus | None:
        """The locus at a point of the canvas."""
        lens = self.camera.lens
        x, y = lens.plan_point(at.x(), at.y())
        room = self.scene.room_at(x, y)
        if room is None or lens.scale * room.step < 4:
            return None
        return self.scene.spot_at(x, y, max(room.step * 0.5, 5 / lens.scale))

    def name_at(self, at: QPointF) -> RoomItem | None:
        """The room whose name stands at a point of the canvas."""
        lens = self.camera.lens
        room = self.scene.room_at(*lens.plan_point(at.x(), at.y()))
        return room if room is not None and self.painter.name_rect(room, lens).contains(at) else None

    def hover_at(self, at: QPointF | None) -> None:
        """The pointer rests over a point, or has left."""
        spot = None if at is None else self.spot_at(at)
        was = self.marks.hover
        if (None if was is None else was.id) != (None if spot is None else spot.id):
            self.marks.hover, self._plate = spot, False
            self._hovering.start() if spot is not None else self._hovering.stop()
            if spot is not None:
                self._look_up.start()
            self.update()
        named = at is not None and spot is None and self.name_at(at) is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if spot is not None else
                       Qt.CursorShape.OpenHandCursor if named else Qt.CursorShape.ArrowCursor)  # fmt: skip
        self.setToolTip("" if at is None or spot is not None else self._room_tooltip(at))

    def _room_tooltip(self, at: QPointF) -> str:
        """Name and count of the room at a point, as a tooltip, where the plan has no room for all of its name."""
        lens = self.camera.lens
        room = self.scene.room_at(*lens.plan_point(at.x(), at.y()))
        if room is None or self.painter.is_name_shown(room, lens):
            return ""
        return escape_tooltip(sentence_of_room(room, room.count_shown(self.scene.look)))

    def _show_plate(self) -> None:
        self._plate = True
        self.update()

    # ---- Qt's events

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Paint what is on the canvas."""
        painter = QPainter(self)
        painter.setClipRect(event.rect())
        self.marks.has_focus = self.hasFocus()
        self.painter.paint(painter, self.scene, self.camera.lens, self.marks, self.devicePixelRatioF())
        self.paint_overlay(painter)
        if self.ringed and not (self.marks.selected or self.marks.cursor_room or self.marks.cursor_wing):
            painter.setPen(QPen(self.theme.colour("focus"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 10, 10)
        painter.end()

    def paint_overlay(self, painter: QPainter) -> None:
        """Paint what lies above the plan: what the locus under the pointer says."""
        if self._plate and self.marks.hover is not None:
            self.painter.paint_plate(painter, self.marks.hover, self.scene.look, self.camera.lens)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Keep what was fitted fitted."""
        self.camera.resize_lens(event.size())
        self._on_camera_moved()

    def stop_motion(self) -> None:
        """The page is left: nothing moves any more."""
        self.camera.finish_flight()
        self._appearing.stop()
        self._on_appearing_finished()
        self._hovering.stop()
        self._look_up.stop()
        self._plate, self.marks.hover = False, None


def sentence_of(row: MemoryRow, room: str) -> str:
    """What a locus is, in one line."""
    date = format_said_or_noted(row.occurred, row.recorded_at)
    return f"{KIND_WORDS[row.kind]}: {one_line(row.head, 140)} · in {one_line(room, 60)} · {date}"


def sentence_of_room(room: RoomItem, count: int) -> str:
    """What a room is, in one line."""
    return f"Room {one_line(room.plan.name, 60)}: {count_memories(count)}"


def sentence_of_wing(wing: WingPlan, count: int) -> str:
    """What a wing is, in one line."""
    return f"Wing {one_line(wing.space, 60)}: {count_memories(count)} in {count_of(len(wing.rooms), 'room')}"
