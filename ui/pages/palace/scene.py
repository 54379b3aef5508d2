"""The plan as one plane: rooms and wings on it, what is where, and the lens one looks at it through.

Lengths are plan units in the palace's plane, those across it as they are drawn, unless a name says `px`. Must not do:
paint, ask the engine, know a widget.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QRectF

from core.types.views import GAP, PalacePlan, WingPlan
from ui.pages.palace.items import LocusStyle, RoomItem, wing_rect
from ui.widgets.viewport import Viewport

WHOLE, WING, ROOM, LOCUS = "palace", "wing", "room", "locus"
"""How near one is."""

LEAST_SCALE = 0.2
_ROOM_FILLS = 0.35
_WING_FILLS = 0.28
_SHELF = 2.4
"""Width of a shelf of wings in widths of the first wing."""
_BETWEEN_SHELVES, _BETWEEN_WINGS = 6.0, 2 * GAP
_STEP = 4.0
Fit = tuple[str, str]
"""What is fitted into the canvas: level and id."""


@dataclass(frozen=True, slots=True)
class Lens(Viewport):
    """How the canvas looks at the plan; a unit is a plan unit as it is drawn."""

    def canvas_x(self, x: float) -> float:
        """Px from the canvas's left edge."""
        return (x - self.x) * self.scale + self.w / 2

    def canvas_y(self, y: float) -> float:
        """Px from the canvas's upper edge."""
        return (y - self.y) * self.scale + self.h / 2

    def canvas_rect(self, rect: QRectF) -> QRectF:
        """A rectangle of the plan as it lies on the canvas, px."""
        left, top = self.canvas_x(rect.left()), self.canvas_y(rect.top())
        return QRectF(left, top, rect.width() * self.scale, rect.height() * self.scale)

    @property
    def visible_area(self) -> QRectF:
        """What of the plan is on the canvas."""
        w, h = self.w / self.scale, self.h / self.scale
        return QRectF(self.x - w / 2, self.y - h / 2, w, h)

    def fit_rect(
        self, rect: QRectF, *, pad: float = 0.0, top: float = 0.0, foot: float = 0.0, most: float = math.inf,
        corner: bool = False,
    ) -> Lens:  # fmt: skip
        """A rectangle of the plan as large as the canvas allows.

        Args:
            rect: what is to be seen.
            pad: px kept free on the left and on the right.
            top: px more kept free above.
            foot: px more kept free below.
            most: the largest scale.
            corner: whether it lies in the upper left corner instead of the middle.
        """
        wide, high = max(1.0, self.w - 2 * pad), max(1.0, self.h - 2 - top - foot)
        scale = max(LEAST_SCALE, min(wide / max(rect.width(), 1e-6), high / max(rect.height(), 1e-6), most))
        if corner:
            x = rect.left() + (self.w / 2 - pad) / scale
            y = rect.top() + (self.h / 2 - 1 - top) / scale
        else:
            x, y = rect.center().x(), rect.center().y() - (top - foot) / 2 / scale
        return replace(self, x=x, y=y, scale=scale)

    def kept_inside(self, rect: QRectF) -> Lens:
        """The same look, pushed so that as little as can be beyond a rectangle is seen."""
        w, h = self.w / self.scale / 2, self.h / self.scale / 2
        x = rect.center().x() if rect.width() < 2 * w else min(max(self.x, rect.left() + w), rect.right() - w)
        y = rect.center().y() if rect.height() < 2 * h else min(max(self.y, rect.top() + h), rect.bottom() - h)
        return replace(self, x=x, y=y)

    def clamped_to(self, bounds: QRectF, least: float, most: float) -> Lens:
        """The same look, held so that the plan cannot be lost.

        Args:
            least: the smallest scale.
            most: the largest.
        """
        scale = min(max(self.scale, least), most)
        x = min(max(self.x, bounds.left()), bounds.right())
        y = min(max(self.y, bounds.top()), bounds.bottom())
        return replace(self, x=x, y=y, scale=scale)


def interpolate_lens(start: Lens, end: Lens, t: float) -> Lens:
    """A look on the way from one to another: the one point that both show at the same place stays there.

    Args:
        start: where it begins.
        end: where it ends; its canvas counts.
    """
    if t >= 1:
        return end
    ratio = end.scale / start.scale
    if abs(math.log(ratio)) < 1e-3:
        return replace(end, x=start.x + (end.x - start.x) * t, y=start.y + (end.y - start.y) * t, scale=end.scale)
    scale = start.scale * ratio**t
    # How far the middle has come, so that screen = (world - middle) * scale is the same for the fixed point at any t.
    share = (1 - start.scale / scale) / (1 - start.scale / end.scale)
    return replace(end, x=start.x + (end.x - start.x) * share, y=start.y + (end.y - start.y) * share, scale=scale)


@dataclass(frozen=True, slots=True)
class PlacedLocus:
    """A locus on the plan.

    Attributes:
        room: its room.
        at: its row in the room's columns.
    """

    room: RoomItem
    at: int

    @property
    def id(self) -> str:
        """The memory."""
        return self.room.ids[self.at]

    @property
    def x(self) -> float:
        """Where it is in the palace."""
        return float(self.room.wx[self.at])

    @property
    def y(self) -> float:
        """Where it is in the palace."""
        return float(self.room.wy[self.at])


@dataclass(frozen=True, slots=True)
class Location:
    """Where the person is.

    Attributes:
        level: palace, wing, room or locus.
        wing_id: "" at the palace's level.
        room_id: "" above the rooms' level.
    """

    level: str
    wing_id: str = ""
    room_id: str = ""


@dataclass(frozen=True, slots=True)
class WingSpacing:
    """What is kept free for the names of wings, plan units.

    Attributes:
        above: the least between a wing and what is above it.
        widths: the least width of a wing, by its id.
    """

    above: float = _BETWEEN_SHELVES
    widths: Mapping[str, float] = field(default_factory=dict)


class PalaceScene:
    """All rooms of the plan.

    Attributes:
        plan: as it was read last; None before.
        rooms: by id.
        look: how loci are drawn.
    """

    def __init__(self, look: LocusStyle) -> None:
        self.plan: PalacePlan | None = None
        self.rooms: dict[str, RoomItem] = {}
        self.look = look
        self._wings: dict[str, WingPlan] = {}
        self._spacing = WingSpacing()

    # ---- the plan

    def update_plan(self, plan: PalacePlan) -> tuple[str, ...]:
        """Take a plan that was read; rooms that remain keep their loci.

        Returns:
            Rooms whose loci must be read anew.
        """
        old, self.plan = self.rooms, plan
        self._wings = {wing.id: wing for wing in arrange_on_shelves(plan.wings, self._spacing)}
        self.rooms, stale = {}, []
        for wing in self._wings.values():
            for room in wing.rooms:
                item = old.get(room.id)
                if item is None:
                    item = RoomItem(wing, room)
                    stale.append(room.id)
                elif item.update_plan(wing, room):
                    stale.append(room.id)
                self.rooms[room.id] = item
        return tuple(stale)

    @property
    def spacing(self) -> WingSpacing:
        """What is kept free for the names of wings."""
        return self._spacing

    def space_wings(self, spacing: WingSpacing) -> None:
        """Keep another space free for the names of wings; each stays on its shelf, in its column."""
        if spacing == self._spacing or self.plan is None:
            self._spacing = spacing
            return
        self._spacing = spacing
        self._wings = {wing.id: wing for wing in arrange_on_shelves(self.plan.wings, spacing)}
        for wing in self._wings.values():
            for room in wing.rooms:
                self.rooms[room.id].update_plan(wing, room)

    def unspaced_point(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the plan would be with the least space between wings, whatever the window and its text."""
        return _carry_point(x, y, self.wings, arrange_on_shelves(self.plan.wings if self.plan else ()))

    def spaced_point(self, x: float, y: float) -> tuple[float, float]:
        """The point of the plan that `unspaced_point` gave another place."""
        return _carry_point(x, y, arrange_on_shelves(self.plan.wings if self.plan else ()), self.wings)

    def conceal_words(self, ids: frozenset[str]) -> None:
        """Show no words of the landmarks that are among these memories, and those of all others again."""
        for room in self.rooms.values():
            room.conceal_words(ids)

    @property
    def wings(self) -> tuple[WingPlan, ...]:
        """Shelf by shelf, from left to right."""
        return tuple(self._wings.values())

    @property
    def bounds(self) -> QRectF:
        """Everything there is."""
        found = QRectF()
        for wing in self.wings:
            if wing.rooms:
                found = found.united(wing_rect(wing))
        return found

    @property
    def waiting(self) -> int:
        """Memories that have no place yet."""
        return 0 if self.plan is None else sum(wing.waiting for wing in self.plan.wings)

    def find_wing(self, wing_id: str) -> WingPlan | None:
        """A wing by its id."""
        return self._wings.get(wing_id)

    def count_shown(self, rooms: Iterable[RoomItem]) -> int:
        """How many memories show in some rooms."""
        return sum(room.count_shown(self.look) for room in rooms)

    def rooms_of_wing(self, wing_id: str) -> list[RoomItem]:
        """The rooms of a wing."""
        return [room for room in self.rooms.values() if room.wing.id == wing_id]

    # ---- what is where

    def rooms_in_sight(self, lens: Lens) -> Iterator[RoomItem]:
        """Rooms on the canvas."""
        seen = lens.visible_area
        return (room for room in self.rooms.values() if room.rect.intersects(seen))

    def wing_at(self, x: float, y: float, slack: float = 0.0) -> WingPlan | None:
        """The wing at a point of the plan."""
        for wing in self.wings:
            if wing.rooms and wing_rect(wing).adjusted(-slack, -slack, slack, slack).contains(x, y):
                return wing
        return None

    def room_at(self, x: float, y: float) -> RoomItem | None:
        """The room at a point of the plan."""
        return next((room for room in self.rooms.values() if room.rect.contains(x, y)), None)

    def nearest_room(self, x: float, y: float) -> RoomItem | None:
        """The room whose middle is nearest to a point of the plan."""
        middles = {room.id: room.rect.center() for room in self.rooms.values()}
        best = min(middles, key=lambda found: math.hypot(middles[found].x() - x, middles[found].y() - y), default=None)
        return None if best is None else self.rooms[best]

    def spot_of(self, memory_id: str) -> PlacedLocus | None:
        """Where a memory is, if its room was read."""
        if not memory_id:
            return None
        for room in self.rooms.values():
            at = room.row_of(memory_id)
            if at >= 0:
                return PlacedLocus(room, at)
        return None

    def locate_lens(self, lens: Lens, near_scale: float, fit: Fit) -> Location:
        """The position of a person who looks through a lens.

        Args:
            near_scale: the scale from which loci show their text.
            fit: what is fitted into the canvas, if anything.
        """
        level, of = fit
        if level == ROOM and of in self.rooms:
            return Location(ROOM, self.rooms[of].wing.id, of)
        if level == WING and of in self._wings:
            return Location(WING, of)
        seen = lens.visible_area
        area = max(seen.width() * seen.height(), 1e-9)
        room = self._room_most_in_sight(self.rooms.values(), seen)
        if room is not None:
            part = _overlap_area(room.rect, seen)
            if part / area > _ROOM_FILLS:
                level = LOCUS if lens.scale * room.step >= near_scale and part < 0.8 * _area_of(room.rect) else ROOM
                return Location(level, room.wing.id, room.id)
            if lens.scale >= near_scale:
                return Location(LOCUS, room.wing.id, room.id)
        wings = [wing for wing in self.wings if wing.rooms]
        if len(wings) == 1:
            return Location(WING, wings[0].id)
        parts = {wing.id: _overlap_area(wing_rect(wing), seen) for wing in wings}
        most = max(parts, key=lambda found: parts[found], default="")
        total = sum(parts.values())
        if most and parts[most] / area > _WING_FILLS and parts[most] > 0.85 * total:
            return Location(WING, most)
        return Location(WHOLE)

    @staticmethod
    def _room_most_in_sight(rooms: Iterable[RoomItem], seen: QRectF) -> RoomItem | None:
        best, found = 0.0, None
        for room in rooms:
            part = _overlap_area(room.rect, seen)
            if part > best:
                best, found = part, room
        return found


_CLOSE = WingSpacing()


def arrange_on_shelves(wings: Sequence[WingPlan], spacing: WingSpacing = _CLOSE) -> tuple[WingPlan, ...]:
    """The wings as they are shown: on shelves, for one row of them all would be a thin strip.

    A low wing is below the one before it where the shelf is high enough. Where a wing is follows from the wings
    before it alone: a new wing moves no other. More space moves them apart, and none to another shelf or column.

    Args:
        wings: in the order of the plan.
        spacing: what their names take.

    Returns:
        The same wings elsewhere in the palace's plane; those without a room are left out.
    """
    found: list[WingPlan] = []
    top = 0.0
    for shelf in _fill_shelves(sorted((wing for wing in wings if wing.rooms), key=lambda wing: (wing.x, wing.id))):
        left = foot = 0.0
        for column in shelf:
            below = top
            for wing in column:
                found.append(replace(wing, x=left, y=below))
                below += _steps_of(wing) + spacing.above
            foot = max(foot, below)
            left += max(column[0].w, *(spacing.widths.get(wing.id, 0.0) for wing in column)) + _BETWEEN_WINGS
        top = foot
    return tuple(found)


def _fill_shelves(ordered: Sequence[WingPlan]) -> list[list[list[WingPlan]]]:
    """The wings of each column of each shelf, from their own sizes and the least space alone."""
    shelves: list[list[list[WingPlan]]] = []
    left = below = high = 0.0  # of the shelf, of its last column, of the shelf
    for wing in ordered:
        needs = _steps_of(wing)
        if shelves and wing.w <= shelves[-1][-1][0].w and below + needs <= high:
            shelves[-1][-1].append(wing)
            below += needs + _BETWEEN_SHELVES
            continue
        left = left + shelves[-1][-1][0].w + _BETWEEN_WINGS if shelves else 0.0
        if not shelves or (left and left + wing.w > _SHELF * ordered[0].w):
            shelves.append([])
            left = high = 0.0
        shelves[-1].append([wing])
        below, high = needs + _BETWEEN_SHELVES, max(high, needs)
    return shelves


def _steps_of(wing: WingPlan) -> float:
    """Height of a wing in steps, so that one that grows a little pushes nothing down."""
    return math.ceil(wing.h / _STEP) * _STEP


def _carry_point(x: float, y: float, wings: Sequence[WingPlan], to: Sequence[WingPlan]) -> tuple[float, float]:
    """Where a point is when it keeps its place beside the nearest of some wings and these go elsewhere."""
    places = {wing.id: wing_rect(wing) for wing in wings}
    best = min(places, key=lambda one: _distance_to(places[one], x, y), default="")
    target = next((wing_rect(wing) for wing in to if wing.id == best), None)
    if target is None:
        return x, y
    return x + target.left() - places[best].left(), y + target.top() - places[best].top()


def _distance_to(rect: QRectF, x: float, y: float) -> float:
    across = max(rect.left() - x, 0.0, x - rect.right())
    return math.hypot(across, max(rect.top() - y, 0.0, y - rect.bottom()))


def _area_of(rect: QRectF) -> float:
    return max(rect.width() * rect.height(), 1e-9)


def _overlap_area(one: QRectF, other: QRectF) -> float:
    both = one.intersected(other)
    return 0.0 if both.isEmpty() else both.width() * both.height()
