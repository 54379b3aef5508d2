"""The plan under a camera: what is there, the current position, and what lies at a point.

Must not do: ask the engine; it says what is picked, dropped or asked for, and the page sees to it.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt, QVariantAnimation, Signal
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
from ui.pages.palace.camera import NEAR_PX, PalaceCamera
from ui.pages.palace.items import LocusStyle, MemoryHeads, RoomItem
from ui.pages.palace.picture.layout import wing_block
from ui.pages.palace.picture.marks import MarkPainter, PlanMarks
from ui.pages.palace.picture.pictures import PlanPictures
from ui.pages.palace.picture.plan import PlanPainter
from ui.pages.palace.scene import ROOM, WHOLE, WING, Lens, Location, PalaceScene, PlacedLocus
from ui.strings import palace_strings
from ui.theme.theme import Theme
from ui.widgets.basics import make_timer
from ui.widgets.labels import KIND_WORDS, count_memories, count_unit, format_said_or_noted, name_space
from ui.widgets.plaintext import escape_tooltip, one_line, plain_line

_LOOK_UP_MS = 90
_HOVER_MS = 280
_APPEAR_MS = 500
_WANTED = 240


class PalaceView(QWidget):
    """The plan under a camera, with the locus the keyboard is on.

    Signals:
        picked: the memory that was chosen, "" for none.
        placed: the keyboard came to a room or a wing (its id), or left it ("").
        looked: the look or what there is to see changed.
        asked: a verb for what the keyboard is on: pin, forget, edit, rename or merge.
        menu_asked: (a `PlacedLocus` or `RoomItem`, the global point).
        locus_dropped: (`PlacedLocus`, `RoomItem`, x, y inside the room).
        room_dropped: (`RoomItem`, x, y inside its wing).
        said: a sentence on what the keyboard is on.
        wanted: memories whose light rows are needed.
        find_asked: the person wants to find something on the plan.
    """

    picked = Signal(str)
    placed = Signal(str)
    looked = Signal()
    asked = Signal(str)
    menu_asked = Signal(object, object)
    locus_dropped = Signal(object, object, float, float)
    room_dropped = Signal(object, float, float)
    said = Signal(str)
    wanted = Signal(tuple)
    find_asked = Signal()

    def __init__(self, theme: Theme, scene: PalaceScene) -> None:
        super().__init__()
        self.theme, self.scene, self.marks = theme, scene, PlanMarks()
        self.heads = MemoryHeads()
        self.painter = PlanPainter(theme, self.heads)
        self.mark_painter = MarkPainter(theme, self.painter, self.heads.get_row)
        self.camera = PalaceCamera(scene, theme, self)
        self.where = Location(WHOLE)
        self._plate = False
        self.ringed = False
        self.pictures = PlanPictures(self, self.painter, scene, self.marks, theme)
        self._look_up = make_timer(self, self._read_heads_in_sight, _LOOK_UP_MS)
        self._hovering = make_timer(self, self._show_plate, _HOVER_MS)
        self._appearing = QVariantAnimation(self)
        self._appearing.setStartValue(0.0)
        self._appearing.setEndValue(1.0)
        self._appearing.setDuration(_APPEAR_MS)
        self._appearing.valueChanged.connect(self._on_appearing_step)
        self._appearing.finished.connect(self._on_appearing_finished)
        self.camera.departed.connect(lambda: self.pictures.begin_flight(self.camera))
        self.camera.rested.connect(self.pictures.end_flight)
        self.camera.moved.connect(self._on_camera_moved)
        theme.changed.connect(self._restyle_painter)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(240, 160)
        self.setAccessibleName(palace_strings()["name"])

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
        self.pictures.note_flown(self.camera.flown)
        self._look_up.start()
        self.looked.emit()
        self.update()

    def _restyle_painter(self) -> None:
        self.painter.clear_cache()
        self.camera.space_wings()
        self.update()

    def _on_appearing_step(self, share: float) -> None:
        self.marks.appear = share
        self.update()

    def _on_appearing_finished(self) -> None:
        self.marks.appear = 1.0
        for room in self.scene.rooms.values():
            room.clear_fresh()

    def _read_heads_in_sight(self) -> None:
        lens, ids = self.camera.goal, [self.marks.selected] if self.marks.selected else []
        for room in self.scene.rooms_in_sight(lens):
            ids += [room.ids[at] for at in self.painter.readable_rows_in_sight(room, lens, self.scene.look)]
        if self.marks.hover is not None and self.marks.hover.at < len(self.marks.hover.room.ids):
            ids.append(self.marks.hover.id)
        missing = self.heads.missing_ids(ids, _WANTED)
        if missing:
            self.wanted.emit(missing)

    def show_heads(self, rows: tuple[MemoryRow, ...]) -> None:
        """Take light rows that were wanted."""
        self.heads.store_rows(rows)
        self.emit_sentence()
        self.looked.emit()
        self.update()

    # ---- the current position

    def select_locus(self, spot: PlacedLocus | None) -> None:
        """Choose a locus; none lets go."""
        self.marks.selected = "" if spot is None else spot.id
        self.marks.others = {}
        self.set_cursor_at()
        self.picked.emit(self.marks.selected)

    def set_cursor_at(self, *, room_id: str = "", wing_id: str = "") -> None:
        """Put the keyboard on a room, a wing, or neither."""
        self.marks.cursor_room, self.marks.cursor_wing = room_id, wing_id
        self.placed.emit(room_id or wing_id)
        self._look_up.start()
        self.emit_sentence()
        self.update()

    def emit_sentence(self) -> None:
        """Say what the keyboard is on."""
        marks, scene = self.marks, self.scene
        spot, sentence = scene.spot_of(marks.selected), ""
        room, wing = scene.rooms.get(marks.cursor_room), scene.find_wing(marks.cursor_wing)
        if spot is not None:
            memory = self.heads.get_row(spot.id)
            sentence = "" if memory is None else describe_locus(memory, spot.room.plan.name)
        elif room is not None:
            sentence = describe_room(room, room.count_shown(scene.look))
        elif wing is not None:
            sentence = describe_wing(wing, scene.count_shown(scene.rooms_of_wing(wing.id)))
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
        self.camera.fly_to(zoom_on_locus(self, spot, self.camera.goal))

    def reveal_locus(self, spot: PlacedLocus) -> None:
        """Bring a memory onto the canvas, if it is not there: its wing or room where one was seen whole."""
        level, of = self.camera.fit
        if level == WING and of != spot.room.wing.id:
            self.enter_wing(spot.room.wing.id)
            return
        if level == ROOM and of != spot.room.id:
            self.enter_room(spot.room.id)
            return
        middle = self.painter.spot_middle(spot, self.camera.goal, self.scene.look)
        self.camera.reveal_point(*self.camera.goal.plan_point(middle.x(), middle.y()))

    # ---- what lies under the pointer

    def spot_at(self, at: QPointF) -> PlacedLocus | None:
        """The locus at a point of the canvas."""
        return self.painter.spot_at(at, self.scene, self.camera.lens)

    def name_at(self, at: QPointF) -> RoomItem | None:
        """The room whose name is at a point of the canvas."""
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
        self.setToolTip("" if at is None or spot is not None else room_tooltip(self, at))

    def _show_plate(self) -> None:
        self._plate = True
        self.update()

    # ---- Qt's events

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Paint what is on the canvas."""
        painter = QPainter(self)
        painter.setClipRect(event.rect())
        self.marks.has_focus = self.hasFocus()
        lens = self.camera.lens
        if not self.pictures.paint_flight(painter, self.camera):
            self.pictures.fitted_room = self.camera.fitted_room
            painter.drawPixmap(0, 0, self.pictures.plan_picture(lens))
            self.mark_painter.paint(painter, self.scene, lens, self.marks)
        self.paint_overlay(painter)
        if self.ringed and not (self.marks.selected or self.marks.cursor_room or self.marks.cursor_wing):
            painter.setPen(QPen(self.theme.colour("focus"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 10, 10)
        painter.end()

    def paint_overlay(self, painter: QPainter) -> None:
        """Paint what lies above the plan: what the locus under the pointer says."""
        if self._plate and self.marks.hover is not None:
            self.mark_painter.paint_plate(painter, self.marks.hover, self.scene.look, self.camera.lens)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Keep what was fitted fitted."""
        self.pictures.end_flight()
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
        self.painter.drop_pictures()


def wing_block_at(view: PalaceView, at: QPointF) -> WingPlan | None:
    """The wing whose ground or name is at a point of the canvas; a wing that is alone has all of the plan."""
    wings = [wing for wing in view.scene.wings if wing.rooms]
    if len(wings) == 1:
        return wings[0]
    scene, lens, theme = view.scene, view.camera.lens, view.theme
    return next((wing for wing in wings if wing_block(wing, scene, lens, theme).contains(at)), None)


def zoom_on_locus(view: PalaceView, spot: PlacedLocus, goal: Lens) -> Lens:
    """The look from which all of a locus's text can be read, for one who comes from another look."""
    high = view.painter.layout_of(spot.room, goal).slot_h * int(spot.room.card_places()[spot.at, 1])
    return view.camera.near_lens(goal, spot.room.rect, high, lambda lens: view.painter.card_middle(spot, lens))


def describe_locus(row: MemoryRow, room: str) -> str:
    """What a locus is, in one line."""
    date = format_said_or_noted(row.occurred, row.recorded_at)
    kind, text = KIND_WORDS[row.kind], plain_line(row.head, 140)
    return str(palace_strings()["spoken"]["memory"]).format(kind=kind, text=text, room=one_line(room, 60), date=date)


def describe_room(room: RoomItem, count: int) -> str:
    """What a room is and what is there, in one line."""
    words = "; ".join(plain_line(mark.words, 60) for mark in room.plan.landmarks)
    form = palace_strings()["spoken"]["room_of" if words else "room"]
    return str(form).format(name=one_line(room.plan.name, 60), count=count_memories(count), landmarks=words)


def describe_wing(wing: WingPlan, count: int) -> str:
    """What a wing is, in one line."""
    rooms, name = count_unit(len(wing.rooms), "room"), name_space(wing.space)
    return str(palace_strings()["spoken"]["wing"]).format(name=name, count=count_memories(count), rooms=rooms)


def room_tooltip(view: PalaceView, at: QPointF) -> str:
    """Name and count of the room at a point, as a tooltip, where the plan has no room for all of its name."""
    lens, look = view.camera.lens, view.scene.look
    room = view.scene.room_at(*lens.plan_point(at.x(), at.y()))
    if room is None or view.painter.is_name_shown(room, lens, look):
        return ""
    return escape_tooltip(describe_room(room, room.count_shown(look)))
