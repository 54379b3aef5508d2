"""The plan as one plane: rooms and wings on it, what is where, and the lens one looks at it through.

Lengths are plan units in the palace's plane, those across it as they are drawn, unless a name says `px`. Must not do:
paint, ask the engine, know a widget.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QRectF

from core.types.views import GAP, SLOT_ASPECT, PalacePlan, WingPlan
from ui.pages.palace.items import LocusStyle, RoomItem, wing_rect
from ui.widgets.viewport import Viewport

WHOLE, WING, ROOM, LOCUS = "palace", "wing", "room", "locus"
"""How near one is."""

LEAST_SCALE = 0.2
_ROOM_FILLS = 0.35
_WING_FILLS = 0.28
STRETCHES = 0.7, 1.8
"""The least and the largest stretch with which something is fitted into the canvas."""
_ASPECT = 1.6
"""Width of the canvas by its height where none was seen yet."""
_BETWEEN_SHELVES, _BETWEEN_WINGS = 6.0, 2 * GAP
_STEP = 4.0
_BETTER = 1.0 + 1e-9
Fit = tuple[str, str]
"""What is fitted into the canvas: level and id."""
Shelves = tuple[tuple[tuple[str, ...], ...], ...]
"""Ids of wings as they stand: shelves one below the other, of columns from left to right, of wings downwards."""


@dataclass(frozen=True, slots=True)
class Lens(Viewport):
    """How the canvas looks at the plan; a unit is a plan unit as it is drawn.

    Attributes:
        stretch: px a unit across by px a unit down: what is fitted uses the canvas, whatever its shape.
    """

    stretch: float = 1.0

    @property
    def scale_x(self) -> float:
        """Px a unit of the plan across."""
        return self.scale * self.stretch

    def canvas_x(self, x: float) -> float:
        """Px from the canvas's left edge."""
        return (x - self.x) * self.scale_x + self.w / 2

    def canvas_y(self, y: float) -> float:
        """Px from the canvas's upper edge."""
        return (y - self.y) * self.scale + self.h / 2

    def canvas_rect(self, rect: QRectF) -> QRectF:
        """A rectangle of the plan as it lies on the canvas, px."""
        left, top = self.canvas_x(rect.left()), self.canvas_y(rect.top())
        return QRectF(left, top, rect.width() * self.scale_x, rect.height() * self.scale)

    @property
    def visible_area(self) -> QRectF:
        """What of the plan is on the canvas."""
        w, h = self.w / self.scale_x, self.h / self.scale
        return QRectF(self.x - w / 2, self.y - h / 2, w, h)

    def fit_rect(
        self, rect: QRectF, *, pad: float = 0.0, top: float = 0.0, foot: float = 0.0, most: float = math.inf,
        corner: bool = False, stretches: tuple[float, float] = (1.0, 1.0),
    ) -> Lens:  # fmt: skip
        """A rectangle of the plan as large as the canvas allows.

        Args:
            rect: what is to be seen.
            pad: px kept free on the left and on the right.
            top: px more kept free above.
            foot: px more kept free below.
            most: the largest scale.
            corner: whether it lies in the upper left corner instead of the middle.
            stretches: the least stretch and the largest.
        """
        wide, high = max(1.0, self.w - 2 * pad), max(1.0, self.h - 2 - top - foot)
        across, down = wide / max(rect.width(), 1e-6), high / max(rect.height(), 1e-6)
        stretch = min(max(across / down, stretches[0]), stretches[1])
        scale = max(LEAST_SCALE, min(across / stretch, down, most))
        if corner:
            x = rect.left() + (self.w / 2 - pad) / scale / stretch
            y = rect.top() + (self.h / 2 - 1 - top) / scale
        else:
            x, y = rect.center().x(), rect.center().y() - (top - foot) / 2 / scale
        return replace(self, x=x, y=y, scale=scale, stretch=stretch)

    def kept_inside(self, rect: QRectF) -> Lens:
        """The same look, pushed so that as little as can be beyond a rectangle is seen."""
        w, h = self.w / self.scale_x / 2, self.h / self.scale / 2
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
    x, across = _interpolate_axis(start.x, end.x, start.scale_x, end.scale_x, t)
    y, scale = _interpolate_axis(start.y, end.y, start.scale, end.scale, t)
    return replace(end, x=x, y=y, scale=scale, stretch=across / scale)


def _interpolate_axis(start: float, end: float, start_scale: float, end_scale: float, t: float) -> tuple[float, float]:
    """Middle and scale of one axis on the way."""
    ratio = end_scale / start_scale
    if abs(math.log(ratio)) < 1e-3:
        return start + (end - start) * t, end_scale
    scale = start_scale * ratio**t
    # How far the middle has come, so that screen = (world - middle) * scale is the same for the fixed point at any t.
    share = (1 - start_scale / scale) / (1 - start_scale / end_scale)
    return start + (end - start) * share, scale


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
        shelves: how wings stand; a wing that came is added, and none is moved.
    """

    def __init__(self, look: LocusStyle) -> None:
        self.plan: PalacePlan | None = None
        self.rooms: dict[str, RoomItem] = {}
        self.look = look
        self._wings: dict[str, WingPlan] = {}
        self._spacing = WingSpacing()
        self._aspect = _ASPECT
        self.shelves: Shelves = ()

    # ---- the plan

    def update_plan(self, plan: PalacePlan) -> tuple[str, ...]:
        """Take a plan that was read; rooms that remain keep their loci.

        Returns:
            Rooms whose loci must be read anew.
        """
        old, self.plan = self.rooms, plan
        self.shelves = extend_shelves(self.shelves, plan.wings, self._aspect)
        self._wings = {wing.id: wing for wing in self.arranged_wings(self._spacing)}
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

    def arrange_wings(self, shelves: Shelves, aspect: float) -> None:
        """Let wings stand as they stood when they were last seen, and those that are new as suits the canvas.

        Args:
            shelves: as they stood; () to arrange all of them.
            aspect: the canvas's width by its height.
        """
        self._aspect = aspect
        if self.plan is not None:
            self.shelves = extend_shelves(shelves or arrange_first(self.plan.wings, aspect), self.plan.wings, aspect)
            self._place_wings()

    def space_wings(self, spacing: WingSpacing) -> None:
        """Keep another space free for the names of wings; each stays on its shelf, in its column."""
        was, self._spacing = self._spacing, spacing
        if spacing != was and self.plan is not None:
            self._place_wings()

    def _place_wings(self) -> None:
        self._wings = {wing.id: wing for wing in self.arranged_wings(self._spacing)}
        for wing in self._wings.values():
            for room in wing.rooms:
                self.rooms[room.id].update_plan(wing, room)

    def arranged_wings(self, spacing: WingSpacing) -> tuple[WingPlan, ...]:
        """Where the wings of the plan stand with so much space between them."""
        return () if self.plan is None else arrange_on_shelves(self.plan.wings, spacing, self.shelves)

    def unspaced_point(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the plan would be with the least space between wings, whatever the window and its text."""
        return _carry_point(x, y, self.wings, self.arranged_wings(_CLOSE))

    def spaced_point(self, x: float, y: float) -> tuple[float, float]:
        """The point of the plan that `unspaced_point` gave another place."""
        return _carry_point(x, y, self.arranged_wings(_CLOSE), self.wings)

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


def arrange_on_shelves(
    wings: Sequence[WingPlan], spacing: WingSpacing = _CLOSE, shelves: Shelves = ()
) -> tuple[WingPlan, ...]:
    """The wings as they are shown: on shelves, for one row of them all would be a thin strip.

    More space moves them apart, and none to another shelf or column.

    Args:
        wings: in the order of the plan.
        spacing: what their names take.
        shelves: how they stand; those that are on none stand where `extend_shelves` puts them.

    Returns:
        The same wings elsewhere in the palace's plane; those without a room are left out.
    """
    by_id = {wing.id: wing for wing in wings if wing.rooms}
    found: list[WingPlan] = []
    top = 0.0
    for shelf in extend_shelves(shelves, wings):
        left = foot = 0.0
        for column in shelf:
            below = top
            for wing in map(by_id.__getitem__, column):
                found.append(replace(wing, x=left, y=below))
                below += _steps_of(wing) + spacing.above
            foot = max(foot, below)
            left += max(by_id[column[0]].w, *(spacing.widths.get(one, 0.0) for one in column)) + _BETWEEN_WINGS
        top = foot
    return tuple(found)


def extend_shelves(shelves: Shelves, wings: Sequence[WingPlan], aspect: float = _ASPECT) -> Shelves:
    """The shelves with the wings that stand on none yet, and without those that are gone.

    Each new one goes where all are then seen largest. Where it goes follows from those before it, of which it moves
    none; a column is as wide as its first wing.

    Args:
        shelves: how wings stand.
        wings: all there are.
        aspect: width by height of the canvas they are seen on.
    """
    sizes = {wing.id: (wing.w, _steps_of(wing)) for wing in wings if wing.rooms}
    kept = [[[one for one in column if one in sizes] for column in shelf] for shelf in shelves]
    kept = [[column for column in shelf if column] for shelf in kept if any(shelf)]
    standing = {one for shelf in kept for column in shelf for one in column}
    for wing in sorted(wings, key=lambda one: (one.x, one.id)):
        if wing.id in sizes and wing.id not in standing:
            _add_wing(kept, wing.id, sizes, aspect)
    return tuple(tuple(map(tuple, shelf)) for shelf in kept)


def arrange_first(wings: Sequence[WingPlan], aspect: float) -> Shelves:
    """Shelves for wings that were never seen: in the order, of a few, that shows them largest.

    Args:
        wings: all there are.
        aspect: width by height of the canvas they are seen on.
    """
    sizes = {wing.id: (wing.w, _steps_of(wing)) for wing in wings if wing.rooms}
    orders: tuple[Callable[[str], float], ...] = (
        lambda _: 0.0, lambda one: -sizes[one][0] * sizes[one][1], lambda one: -sizes[one][0],
        lambda one: -sizes[one][1],
    )  # fmt: skip
    by_age = [wing.id for wing in sorted(wings, key=lambda one: (one.x, one.id)) if wing.id in sizes]
    best, found = -1.0, list[list[list[str]]]()
    for order in orders:
        shelves = list[list[list[str]]]()
        for one in sorted(by_age, key=order):
            _add_wing(shelves, one, sizes, aspect)
        grounds = [[_column_size(column, sizes) for column in shelf] for shelf in shelves]
        area = _seen_share(grounds, aspect) if grounds else 0.0
        if area > best * _BETTER:
            best, found = area, shelves
    return tuple(tuple(map(tuple, shelf)) for shelf in found)


def _add_wing(
    shelves: list[list[list[str]]], new: str, sizes: Mapping[str, tuple[float, float]], aspect: float
) -> None:
    """Put a wing where all of them are seen largest, and the first such place of several."""
    best, at = -1.0, (len(shelves), 0)
    grounds = [[_column_size(column, sizes) for column in shelf] for shelf in shelves]
    for nr, shelf in enumerate([*grounds, []]):
        for column in range(len(shelf) + 1):
            grown = _grown_shelf(shelf, column, sizes[new], may_grow=nr >= len(shelves) - 1)
            if grown is None:
                continue
            area = _seen_share([*grounds[:nr], grown, *grounds[nr + 1 :]], aspect)
            if area > best * _BETTER:
                best, at = area, (nr, column)
    if at[0] == len(shelves):
        shelves.append([])
    if at[1] == len(shelves[at[0]]):
        shelves[at[0]].append([])
    shelves[at[0]][at[1]].append(new)


def _column_size(column: Sequence[str], sizes: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    return sizes[column[0]][0], sum(sizes[one][1] for one in column) + _BETWEEN_SHELVES * (len(column) - 1)


def _grown_shelf(
    shelf: Sequence[tuple[float, float]], column: int, new: tuple[float, float], *, may_grow: bool
) -> list[tuple[float, float]] | None:
    """The columns of a shelf with a wing more in one of them; None where it has no room.

    Args:
        shelf: width and height of each column.
        column: which one; one more than there are for a new one.
        new: the wing's width and height.
        may_grow: whether the shelf may become higher.
    """
    if column == len(shelf):
        grown = [*shelf, new]
    elif new[0] <= shelf[column][0]:
        wide, high = shelf[column]
        grown = [*shelf[:column], (wide, high + _BETWEEN_SHELVES + new[1]), *shelf[column + 1 :]]
    else:
        return None
    return grown if may_grow or grown[column][1] <= max(high for _, high in shelf) else None


def _seen_share(shelves: Sequence[Sequence[tuple[float, float]]], aspect: float) -> float:
    """How much of a canvas of height 1 a square of the plan takes when all shelves are seen on it."""
    filled = [shelf for shelf in shelves if shelf]
    wide = max(sum(column for column, _ in shelf) + _BETWEEN_WINGS * (len(shelf) - 1) for shelf in filled) * SLOT_ASPECT
    high = sum(max(down for _, down in shelf) for shelf in filled) + _BETWEEN_SHELVES * (len(filled) - 1)
    stretch = min(max(aspect * high / wide, STRETCHES[0]), STRETCHES[1])
    scale = min(aspect / wide / stretch, 1 / high)
    return scale * scale * stretch


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
