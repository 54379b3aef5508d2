"""Where wings' names and the parts of a room lie on the canvas, px, and how much of it can be said from here.

Must not do: paint.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFontMetricsF

from core.types.values import Kind, Status
from core.types.views import CARD_SIDE, HEADER, MARGIN, SLOT_ASPECT, RoomPlan, WingPlan
from ui.pages.palace.items import KINDS, STATUSES, RoomItem, wing_rect
from ui.pages.palace.lattice import WIDEST
from ui.pages.palace.scene import Lens, PalaceScene
from ui.theme.theme import Theme
from ui.theme.tokens import sizes, spacing
from ui.widgets.labels import name_space

_READABLE = 92, 19
"""Width and height of a card, px at the usual size of text, from which on its words are read."""


_LISTS_FROM = 380, 240
"""Width and height of a room, px at the usual size of text, from which on it lists memories after its landmarks."""
_MOST_LISTED = 40
_BETWEEN_BLOCKS = 5.0
_LONGEST_WING_NAME = 150
"""Px at the usual size of text that a wing's name gets however small its rooms are."""


def least_face(theme: Theme) -> int:
    """Width and height of a room, px, from which on it has a name or an emblem."""
    return theme.px(spacing().m)


def wing_pad(theme: Theme) -> int:
    """Px left and right of a wing's name."""
    return theme.px(spacing().close)


def _wing_edge(theme: Theme) -> float:
    """Px of the ground of a wing beside its rooms."""
    return theme.px(spacing().close) / 2


def wing_name_width(wing: WingPlan, theme: Theme) -> float:
    """Px that the name of a wing takes with what is free beside it; that of a long one cut."""
    name = QFontMetricsF(theme.font("section")).horizontalAdvance(name_space(wing.space))
    return min(name + 2.0, float(theme.px(_LONGEST_WING_NAME))) + 2 * wing_pad(theme)


def space_above_wing(theme: Theme) -> float:
    """Px above the rooms of a wing, from whatever is above it, in which its name can be read."""
    return theme.px(sizes().chip) + _wing_edge(theme) + _BETWEEN_BLOCKS


def wing_band(scene: PalaceScene, scale: float, theme: Theme) -> float:
    """Px of the band of a wing's name at a scale: what is free above the wing, as far as the name needs it."""
    free = scene.spacing.above * scale - min(_wing_edge(theme), scale) - _BETWEEN_BLOCKS
    return max(0.0, min(float(theme.px(sizes().field)), free))


def wing_block(wing: WingPlan, scene: PalaceScene, lens: Lens, theme: Theme) -> QRectF:
    """A wing on the canvas: its rooms with an edge, and the band of its name above them."""
    edge, band = min(_wing_edge(theme), lens.scale), wing_band(scene, lens.scale, theme)
    block = lens.canvas_rect(wing_rect(wing)).adjusted(-edge, -band, edge, edge)
    block.setWidth(max(block.width(), min(wing_name_width(wing, theme), _width_kept(wing, scene, lens) + 2 * edge)))
    return block


def _width_kept(wing: WingPlan, scene: PalaceScene, lens: Lens) -> float:
    return scene.spacing.widths.get(wing.id, 0.0) * SLOT_ASPECT * lens.scale_x


class DetailLevel(IntEnum):
    """How much of a room is drawn, by the room there is for it."""

    GROUND = 0
    """Its outline alone."""
    NAME = 1
    """Emblem, name and count, or the one of them that fits."""
    LANDMARKS = 2
    """The words of its landmarks in rows, and marks for the rest where there is room."""
    SHAPES = 3
    """Every memory in its place: as a card where there is room for its words, else as a shape."""
    CARDS = 4
    """Every memory as a card in its place, small talk too."""


@dataclass(frozen=True, slots=True)
class CanvasRoom:
    """A room on the canvas.

    Attributes:
        rect: all of it.
        band: where its name is: what it is dragged by.
        inside: the ground of its places.
        unit_x: px a plan unit across, inside; `unit_y` down.
        step: distance of two places, plan units.
        least_card: width and height, px, from which on a card is read.
        is_listing: whether it has ground to list memories that are no landmarks.
    """

    detail: DetailLevel
    rect: QRectF
    band: QRectF
    inside: QRectF
    unit_x: float
    unit_y: float
    step: float
    least_card: tuple[float, float]
    is_listing: bool = False

    def listed_rows(self, room: RoomItem) -> NDArray[np.int64]:
        """Rows of the memories that a room lists after its landmarks; small talk is not listed.

        What says a thing outright comes before what was said in a talk, then the stronger memory.
        """
        if self.detail != DetailLevel.LANDMARKS or not self.is_listing or room.loci is None:
            return np.empty(0, np.int64)
        is_listed = ~room.ground & (room.loci.status != STATUSES.index(Status.DELETED))
        is_listed[list(room.landmarks)] = False
        rows = np.flatnonzero(is_listed)
        is_episode = room.kind[rows] == KINDS.index(Kind.EPISODE)
        return rows[np.lexsort((-room.strength[rows], is_episode))][:_MOST_LISTED]

    def readable_rows(self, room: RoomItem) -> NDArray[np.int64]:
        """Rows of a room's memories whose words are shown in their places."""
        if self.detail < DetailLevel.SHAPES or room.loci is None:
            return np.empty(0, np.int64)
        if self.detail == DetailLevel.CARDS:
            return np.arange(len(room.ids))
        if self.least_card[0] > WIDEST * self.slot_w or self.least_card[1] > CARD_SIDE * self.slot_h:
            return np.empty(0, np.int64)  # no card is so large; working them out takes its time in a room of thousands
        cells = room.card_places()
        fits = (cells[:, 0] * self.slot_w >= self.least_card[0]) & (cells[:, 1] * self.slot_h >= self.least_card[1])
        is_ground = room.ground.copy()
        is_ground[list(room.landmarks)] = False
        return np.flatnonzero(fits & ~is_ground)

    @property
    def slot_w(self) -> float:
        """Width of a place, px."""
        return self.unit_x * self.step

    @property
    def slot_h(self) -> float:
        """Height of a place, px."""
        return self.unit_y * self.step

    @property
    def has_places(self) -> bool:
        """Whether memories are drawn where they are."""
        return self.detail >= DetailLevel.SHAPES

    def point_at(self, x: float, y: float) -> QPointF:
        """Where a place of the room, plan units inside it, lies on the canvas."""
        return QPointF(self.inside.left() + (x - MARGIN) * self.unit_x, self.inside.top() + (y - HEADER) * self.unit_y)

    def points_at(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """As `point_at` for many, (n, 2)."""
        return np.column_stack((
            self.inside.left() + (x - MARGIN) * self.unit_x,
            self.inside.top() + (y - HEADER) * self.unit_y,
        ))  # fmt: skip

    def slot_at(self, x: float, y: float) -> QRectF:
        """The ground of a place on the canvas."""
        middle = self.point_at(x, y)
        return QRectF(middle.x() - self.slot_w / 2, middle.y() - self.slot_h / 2, self.slot_w, self.slot_h)

    def area_at(self, x: float, y: float, w: float, h: float) -> QRectF:
        """A part of the room on the canvas.

        Args:
            x: its left edge inside the room, plan units; the others likewise.
        """
        return QRectF(self.point_at(x, y), self.point_at(x + w, y + h))

    def place_at(self, point: QPointF) -> tuple[float, float]:
        """The place inside the room, plan units, under a point of the canvas."""
        return (
            MARGIN + (point.x() - self.inside.left()) / max(self.unit_x, 1e-9),
            HEADER + (point.y() - self.inside.top()) / max(self.unit_y, 1e-9),
        )


def layout_room(room: RoomItem, lens: Lens, theme: Theme) -> CanvasRoom:
    """Where a room's parts lie; its places fill what its name and a narrow edge leave.

    Args:
        room: where it is.
        lens: the look at it.
        theme: for lengths that grow with the text.
    """
    rect, scale, px = lens.canvas_rect(room.rect), lens.scale, theme.px
    band = min(HEADER * scale, float(px(56)))
    side, foot = min(scale, float(px(16))), min(MARGIN * scale * 0.8, float(px(20)))
    inside = rect.adjusted(side, band, -side, -foot)
    unit_x, unit_y = _pixels_per_unit(room.plan, inside)
    detail = _detail_level(rect, unit_x * room.step, unit_y * room.step, theme)
    if detail >= DetailLevel.SHAPES and band < px(46):  # in a large room two places are lower than its name
        band = float(px(46))
        inside = rect.adjusted(side, band, -side, -foot)
        unit_x, unit_y = _pixels_per_unit(room.plan, inside)
    high = rect.height() if detail <= DetailLevel.NAME else max(band, float(px(40)))
    top = QRectF(rect.left(), rect.top(), rect.width(), min(high, rect.height()))
    least = float(px(_READABLE[0])), float(px(_READABLE[1]))
    is_listing = rect.width() >= px(_LISTS_FROM[0]) and rect.height() >= px(_LISTS_FROM[1])
    return CanvasRoom(detail, rect, top, inside, unit_x, unit_y, room.step, least, is_listing)


def _pixels_per_unit(room: RoomPlan, inside: QRectF) -> tuple[float, float]:
    across, down = max(room.w - 2 * MARGIN, 1.0), max(room.h - HEADER - MARGIN, 1.0)
    return max(inside.width(), 1e-6) / across, max(inside.height(), 1e-6) / down


def _detail_level(rect: QRectF, slot_w: float, slot_h: float, theme: Theme) -> DetailLevel:
    px, wide, high = theme.px, rect.width(), rect.height()
    if slot_w >= px(_READABLE[0]) and slot_h >= px(30):
        return DetailLevel.CARDS
    is_readable = CARD_SIDE * slot_w >= px(_READABLE[0]) and CARD_SIDE * slot_h >= px(30)
    if (wide >= px(620) and high >= px(380)) or (is_readable and wide >= px(380) and high >= px(300)):
        return DetailLevel.SHAPES
    if wide >= px(84) and high >= px(62):
        return DetailLevel.LANDMARKS
    if min(wide, high) >= least_face(theme):
        return DetailLevel.NAME
    return DetailLevel.GROUND
