"""Where everything of the plan lies on the canvas: rooms, names, memories as they are drawn from here.

Must not do: paint.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF

from core.types.views import CARD_SIDE
from ui.pages.palace.items import LocusStyle, MemoryHeads, RoomItem
from ui.pages.palace.picture.atlas import LARGEST, SMALLEST, shape_scale
from ui.pages.palace.picture.cards import RoomInterior
from ui.pages.palace.picture.furniture import Furniture
from ui.pages.palace.picture.layout import CanvasRoom, DetailLevel, layout_room
from ui.pages.palace.picture.room_face import LandmarkCard, RoomFaces
from ui.pages.palace.picture.words import LineBreaks
from ui.pages.palace.scene import Lens, PalaceScene, PlacedLocus
from ui.theme.theme import Theme

_FILL = 0.6


class PlanGround:
    """Knows where on a canvas everything is."""

    def __init__(self, theme: Theme, heads: MemoryHeads) -> None:
        self._theme, self._heads = theme, heads
        self._words = LineBreaks()
        self._furniture = Furniture(theme)
        self._faces = RoomFaces(theme, self._furniture, self._words, heads.get_row)
        self._interior = RoomInterior(theme, self._furniture, self._words, heads.get_row)
        self._labels: dict[str, tuple[tuple[object, ...], tuple[LandmarkCard, ...]]] = {}

    def layout_of(self, room: RoomItem, lens: Lens) -> CanvasRoom:
        """Where the parts of a room lie on the canvas."""
        return layout_room(room, lens, self._theme)

    def is_text_shown(self, lens: Lens, spot: PlacedLocus) -> bool:
        """Whether a memory's text is shown in its place."""
        return bool(np.isin(spot.at, self.layout_of(spot.room, lens).readable_rows(spot.room)))

    def name_rect(self, room: RoomItem, lens: Lens) -> QRectF:
        """Where a room's name is on the canvas: the band it is dragged by."""
        return self.layout_of(room, lens).band

    def is_name_shown(self, room: RoomItem, lens: Lens, look: LocusStyle) -> bool:
        """Whether a room's name is on the plan whole; from far away it is cut, or has no room at all."""
        layout = self.layout_of(room, lens)
        if layout.has_places:
            return self._interior.is_name_whole(room, layout)
        return layout.detail > DetailLevel.GROUND and self._faces.compose(room, layout, look).is_whole

    def readable_rows_in_sight(self, room: RoomItem, lens: Lens, look: LocusStyle) -> NDArray[np.int64]:
        """Rows of the memories of a room that are on the canvas and whose text is shown there."""
        layout = self.layout_of(room, lens)
        if not layout.has_places or room.loci is None:
            # Its style is left as it was drawn: a picture of the plan holds as long as no room changes.
            return layout.listed_rows(room)
        room.apply_style(look)
        rows = self._visible_rows(room, layout, lens)
        return rows[np.isin(rows, layout.readable_rows(room))]

    def count_texts(self, room: RoomItem, lens: Lens, look: LocusStyle) -> int:
        """How many memories of a room show their words on the canvas."""
        layout = self.layout_of(room, lens)
        room.apply_style(look)
        if not layout.has_places:
            return len(self._faces.compose(room, layout, look).cards)
        labels = [] if layout.detail == DetailLevel.CARDS else self._labels_of(room, layout)
        labelled = {room.row_of(label.landmark.memory_id) for label in labels}
        rows = self._visible_rows(room, layout, lens)
        return int(np.isin(rows, [*layout.readable_rows(room).tolist(), *labelled]).sum())

    @staticmethod
    def _visible_rows(room: RoomItem, layout: CanvasRoom, lens: Lens) -> NDArray[np.int64]:
        places = layout.points_at(room.x, room.y)
        w, h = CARD_SIDE * layout.slot_w, CARD_SIDE * layout.slot_h
        across = (places[:, 0] > -w) & (places[:, 0] < lens.w + w)
        return np.flatnonzero(room.shown & across & (places[:, 1] > -h) & (places[:, 1] < lens.h + h))

    def spot_rect(self, spot: PlacedLocus, lens: Lens, look: LocusStyle) -> QRectF:
        """Where a memory is drawn on the canvas; empty where it is not drawn by itself."""
        room, layout = spot.room, self.layout_of(spot.room, lens)
        if spot.at >= len(room.ids):
            return QRectF()
        if self.is_text_shown(lens, spot):
            return self._interior.card_rect(room, layout, spot.at)
        if layout.detail == DetailLevel.SHAPES:
            label = next((one for one in self._labels_of(room, layout) if one.landmark.memory_id == spot.id), None)
            return self._shape_rect(room, layout, spot.at) if label is None else label.rect
        if layout.detail == DetailLevel.LANDMARKS:
            return self._face_rect(room, layout, look, spot)
        return QRectF()

    def _face_rect(self, room: RoomItem, layout: CanvasRoom, look: LocusStyle, spot: PlacedLocus) -> QRectF:
        composed = self._faces.compose(room, layout, look)
        corner = QPointF(round(layout.rect.left()), round(layout.rect.top()))
        for card in composed.cards:
            if card.landmark.memory_id == spot.id:
                return card.rect.translated(corner)
        if spot.at in composed.marks:
            half = self._theme.px(5)
            middle = composed.mark_at[composed.marks.index(spot.at)] + corner
            return QRectF(middle.x() - half, middle.y() - half, 2 * half, 2 * half)
        return QRectF()

    def spot_middle(self, spot: PlacedLocus, lens: Lens, look: LocusStyle) -> QPointF:
        """Where a memory lies on the canvas; the middle of its room where it is not drawn by itself."""
        rect = self.spot_rect(spot, lens, look)
        return self.layout_of(spot.room, lens).rect.center() if rect.isEmpty() else rect.center()

    def spot_at(self, point: QPointF, scene: PalaceScene, lens: Lens) -> PlacedLocus | None:
        """The memory at a point of the canvas."""
        room = scene.room_at(*lens.plan_point(point.x(), point.y()))
        if room is None or room.loci is None:
            return None
        room.apply_style(scene.look)
        layout = self.layout_of(room, lens)
        if layout.detail == DetailLevel.LANDMARKS:
            row = self._face_row_at(room, layout, scene.look, point)
        elif layout.has_places:
            row = self._place_row_at(room, layout, point)
        else:
            row = -1
        return None if row < 0 else PlacedLocus(room, row)

    def _face_row_at(self, room: RoomItem, layout: CanvasRoom, look: LocusStyle, point: QPointF) -> int:
        composed = self._faces.compose(room, layout, look)
        at = point - QPointF(round(layout.rect.left()), round(layout.rect.top()))
        for card in composed.cards:
            if card.rect.contains(at):
                return room.row_of(card.landmark.memory_id)
        reach = self._theme.px(5)
        for row, middle in zip(composed.marks, composed.mark_at, strict=True):
            if (middle - at).manhattanLength() <= reach:
                return row
        return -1

    def _place_row_at(self, room: RoomItem, layout: CanvasRoom, point: QPointF) -> int:
        for label in self._labels_of(room, layout):
            if label.rect.contains(point):
                return room.row_of(label.landmark.memory_id)
        x, y = layout.place_at(point)
        row = room.nearest_row(x, y, layout.step / 2)
        return row if row >= 0 else room.card_row_at(x, y, layout.readable_rows(room))

    def _shape_rect(self, room: RoomItem, layout: CanvasRoom, row: int) -> QRectF:
        middle = layout.point_at(float(room.x[row]), float(room.y[row]))
        size = shape_side(layout) * float(shape_scale(room.strength[row : row + 1])[0])
        return QRectF(middle.x() - size / 2, middle.y() - size / 2, size, size)

    def _labels_of(self, room: RoomItem, layout: CanvasRoom) -> tuple[LandmarkCard, ...]:
        key = (layout, room.version)
        cached = self._labels.get(room.id)
        if cached is None or cached[0] != key:
            cached = self._labels[room.id] = (key, self._interior.labels_of(room, layout))
        return cached[1]

    def card_middle(self, spot: PlacedLocus, lens: Lens) -> tuple[float, float]:
        """Where in the palace the middle of a memory's card is under a lens, or would be."""
        layout = self.layout_of(spot.room, lens)
        across, down = spot.room.card_places()[spot.at].tolist()
        middle = layout.point_at(float(spot.room.x[spot.at]), float(spot.room.y[spot.at]))
        middle += QPointF((across - 1) * layout.slot_w / 2, (down - 1) * layout.slot_h / 2)
        return lens.plan_point(middle.x(), middle.y())

    def spot_in_middle(self, room: RoomItem, lens: Lens) -> PlacedLocus | None:
        """The memory of a room that is nearest to the middle of the canvas."""
        middle = self.layout_of(room, lens).place_at(QPointF(lens.w / 2, lens.h / 2))
        at = room.nearest_row(*middle, float("inf"))
        return None if at < 0 else PlacedLocus(room, at)


def shape_side(layout: CanvasRoom) -> float:
    """Side of the largest shapes in a room, px."""
    return min(max(min(layout.slot_w, layout.slot_h) * _FILL, float(SMALLEST)), LARGEST)
