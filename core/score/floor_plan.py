"""Where things stand on the plan: rooms as a treemap on the unit grid, loci on the grid of their room.

Lengths are plan units (`core.types.views`). A place is drawn `SLOT_ASPECT` times wider than high, so rooms are narrow
in plan units. Everything here is exact: grids are halved, so that every place is a binary fraction. Must not do: know a
memory, a vector's meaning or the vault.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import BugError
from core.types.views import CARD_SIDE, GAP, HEADER, MARGIN, SLOT_ASPECT

Places = NDArray[np.float64]
"""Rows of x and y."""

ROOMY = 5.0
"""Places of a new room for each memory with a card: those of the card, and a fourth more for what comes later."""
ROOMY_LARGE = 5.4
"""The same of a room with alcoves, whose names take places too."""
LARGE = 60
"""Memories of a room up to which it has no alcoves."""
LEAST_PLACES = 12
FULL = 0.85
"""Share of a room's places from which on its grid is halved."""
MOST_DENSITY = 8
WING_ASPECT = 1.5 / SLOT_ASPECT
"""Width of a wing by its height, plan units: it is drawn half as wide again as high."""
_ROOM_ASPECT = 1.4 / SLOT_ASPECT
_LEAST_WIDE, _LEAST_HIGH = 4, 7
_GROW = 1.02
_STRETCHES = 20
_WING_ASPECTS = (1.0, 0.8, 0.85, 0.9, 0.95, 1.05, 1.1, 1.15, 1.2)
"""Aspects that are tried, by the best."""
_WASTE = 0.5
_GAP = int(GAP)
_WALLS_ACROSS, _WALLS_DOWN = int(2 * MARGIN), int(HEADER + MARGIN)
_MIDDLE = 0.5
_CARD_REACH = 16
"""Places from its kin within which room for a card is looked for."""
_ACROSS = 2 * MARGIN + 2 * _MIDDLE  # of a room's width, what lies outside the centres of its outermost places
_DOWN = HEADER + MARGIN + 2 * _MIDDLE


@dataclass(frozen=True, slots=True)
class Rect:
    """A room's ground inside its wing, whole plan units."""

    x: int
    y: int
    w: int
    h: int


def column_count(w: float, density: int = 0) -> int:
    """Places side by side in a room of width `w`."""
    return int((w - _ACROSS) * 2**density) + 1


def row_count(h: float, density: int = 0) -> int:
    """Places one above the other in a room of height `h`."""
    return int((h - _DOWN) * 2**density) + 1


def room_capacity(w: float, h: float, density: int = 0) -> int:
    """All places of a room.

    Args:
        w: its width, plan units.
        h: its height.
        density: how often its grid is halved.
    """
    return column_count(w, density) * row_count(h, density)


def count_cards(count: int, ground: int) -> int:
    """How many memories with a card take as much room as these memories do.

    Args:
        count: all of them.
        ground: how many of them are small talk, which takes one place each.
    """
    return count - ground + math.ceil(ground / CARD_SIDE**2)


def places_needed(cards: int) -> int:
    """Places that a new room for so many memories with a card should have."""
    return max(LEAST_PLACES, math.ceil((ROOMY if cards <= LARGE else ROOMY_LARGE) * cards))


def room_size(places: int, widest: int | None = None) -> tuple[int, int]:
    """Sides of a room that stands for itself, drawn a little wider than high.

    Args:
        places: what it must hold.
        widest: the most it may be wide, at least 4; None for no bound.

    Returns:
        Width and height.
    """
    wide = _width_for(places)
    if widest is not None:
        wide = min(wide, max(_LEAST_WIDE, widest))
    return wide, max(_LEAST_HIGH, math.ceil(places / (wide - _WALLS_ACROSS)) + _WALLS_DOWN)


def _width_for(places: int) -> int:
    """The width at which a room for so many places comes nearest to its aspect."""
    tried = range(_LEAST_WIDE, _LEAST_WIDE + 1 + math.ceil(math.sqrt(places)))

    def distance(wide: int) -> float:
        high = max(_LEAST_HIGH, math.ceil(places / (wide - _WALLS_ACROSS)) + _WALLS_DOWN)
        return abs(math.log(wide / high / _ROOM_ASPECT))

    return min(tried, key=distance)


# ---- rooms


def lay_out(counts: Sequence[int], last: Collection[int] = ()) -> tuple[Rect, ...]:
    """The first plan of a wing: a squarified treemap (Bruls, Huizing, van Wijk 2000) snapped to the unit grid.

    Args:
        counts: memories with a card of each room.
        last: places in `counts` of the rooms that are laid after all others, so that they lie at the far edge.

    Returns:
        A rectangle for each, GAP apart, together filling a rectangle from 0, 0 that is drawn about 1.5 times as wide as
        high.
    """
    if not counts:
        return ()
    needs = [places_needed(count) for count in counts]
    order = sorted(range(len(needs)), key=lambda at: (at in last, -needs[at], at))
    weights = [_room_area(needs[at]) for at in order]
    wanted = [needs[at] for at in order]
    tried = [_cut_wing(weights, wanted, WING_ASPECT * factor) for factor in _WING_ASPECTS]
    best = min(tried, key=_plan_misshape)
    found = dict(zip(order, best, strict=True))
    return tuple(found[at] for at in range(len(needs)))


def _cut_wing(weights: Sequence[float], needs: Sequence[int], aspect: float) -> list[Rect]:
    """A wing of an aspect, as small as its rooms allow."""
    ground = sum(weights)
    while True:
        wide = max(_LEAST_WIDE + _GAP, round(math.sqrt(ground * aspect)))
        high = max(_LEAST_HIGH + _GAP, math.ceil(ground / wide))
        rects = cut_squarified(weights, Rect(0, 0, wide, high), _GAP)
        if all(_has_capacity(rect, need) for rect, need in zip(rects, needs, strict=True)):
            return rects
        ground *= _GROW


def _plan_misshape(rects: list[Rect]) -> float:
    """How far rooms are from their aspect, on average and the worst, squared; and how much ground they take."""
    apart = [math.log(rect.w / rect.h / _ROOM_ASPECT) ** 2 for rect in rects]
    off = sum(apart) / len(apart) + max(apart)
    right, bottom = max(rect.x + rect.w for rect in rects), max(rect.y + rect.h for rect in rects)
    return off + _WASTE * math.log(right * bottom)


def _room_area(places: int) -> float:
    wide = math.sqrt(places * _ROOM_ASPECT)
    return (wide + _WALLS_ACROSS + _GAP) * (places / wide + _WALLS_DOWN + _GAP)


def _has_capacity(rect: Rect, places: int) -> bool:
    return rect.w >= _LEAST_WIDE and rect.h >= _LEAST_HIGH and room_capacity(rect.w, rect.h) >= places


def cut_squarified(weights: Sequence[float], ground: Rect, gap: int) -> list[Rect]:
    """Cut a ground into strips along the side that is drawn shorter, so that rooms come near to their aspect.

    Args:
        weights: the share of each, falling.
        gap: kept free at the right of each and below it.

    Returns:
        One rectangle for each; those of small shares in a small ground may have no area.
    """
    found: list[Rect] = []
    at = 0
    while at < len(weights):
        rest = sum(weights[at:])
        is_wide = ground.w >= ground.h * _ROOM_ASPECT
        short, long = (ground.h, ground.w) if is_wide else (ground.w, ground.h)
        squeeze = _ROOM_ASPECT if is_wide else 1 / _ROOM_ASPECT
        take = _strip_size(weights[at:], short, short * long / rest if rest else 1.0, squeeze)
        share = sum(weights[at : at + take]) / rest if rest else 1.0
        is_last = at + take == len(weights)
        thick = long if is_last else max(1, min(long - 1, round(long * share)))
        found += _cut_strip(weights[at : at + take], ground, thick, gap, is_wide=is_wide)
        if is_wide:
            ground = Rect(ground.x + thick, ground.y, ground.w - thick, ground.h)
        else:
            ground = Rect(ground.x, ground.y + thick, ground.w, ground.h - thick)
        at += take
    return found


def _strip_size(weights: Sequence[float], short: int, scale: float, squeeze: float) -> int:
    """How many of the next go into one strip so that the worst of them is as near to its aspect as can be.

    Args:
        squeeze: thickness by length that is best.
    """
    best, take = math.inf, 1
    for count in range(1, len(weights) + 1):
        thick = sum(weights[:count]) * scale / max(1, short) / squeeze
        sides = [weight * scale / max(thick * squeeze, 1e-9) for weight in weights[:count]]
        worst = max(max(thick / max(side, 1e-9), side / max(thick, 1e-9)) for side in sides)
        if worst > best:
            break
        best, take = worst, count
    return take


def _cut_strip(weights: Sequence[float], ground: Rect, thick: int, gap: int, *, is_wide: bool) -> list[Rect]:
    short = ground.h if is_wide else ground.w
    total, so_far, low = sum(weights), 0.0, 0
    found = []
    for weight in weights:
        so_far += weight
        high = round(short * so_far / total) if total else short
        if is_wide:
            found.append(Rect(ground.x, ground.y + low, thick - gap, high - low - gap))
        else:
            found.append(Rect(ground.x + low, ground.y, high - low - gap, thick - gap))
        low = high
    return found


def stretch_rooms(rects: Sequence[Rect], counts: Sequence[int], narrow: float) -> list[Rect]:
    """Make rooms narrower and higher, each where it stood among the others, until all hold their memories.

    Args:
        rects: their grounds, GAP apart.
        counts: memories of each.
        narrow: by so much widths shrink; heights grow by as much.
    """
    across, down, turns = narrow, 1 / narrow, 0
    while True:
        found = [_stretch_rect(rect, across, down) for rect in rects]
        # A room that was crowded stays so: the whole wing would grow for it.
        needs = [count if turns < _STRETCHES else 1 for count in counts]
        if all(_has_capacity(rect, need) for rect, need in zip(found, needs, strict=True)):
            return found
        across, down, turns = across * _GROW, down * _GROW, turns + 1


def _stretch_rect(rect: Rect, across: float, down: float) -> Rect:
    left, right = round(rect.x * across), round((rect.x + rect.w + _GAP) * across)
    top, bottom = round(rect.y * down), round((rect.y + rect.h + _GAP) * down)
    return Rect(left, top, right - left - _GAP, bottom - top - _GAP)


def free_ground(
    taken: Iterable[Rect], w: int, h: int, width: int, near: tuple[float, float] | None = None
) -> tuple[int, int]:
    """Where in a wing a room can stand, GAP away from every other; the wing grows downward only.

    Args:
        taken: the ground of the other rooms.
        w: the room's width; at most the wing's, else it stands at the left edge.
        h: its height.
        width: the wing's width.
        near: where it would best stand; None for the first free ground from the top.

    Returns:
        Its left and upper edge.
    """
    others = tuple(taken)
    bottom = max((rect.y + rect.h for rect in others), default=0)
    free = np.ones((bottom + _GAP + 1, max(1, width - w + 1)), np.bool_)
    for rect in others:
        free[
            max(0, rect.y - h - _GAP + 1) : max(0, rect.y + rect.h + _GAP),
            max(0, rect.x - w - _GAP + 1) : max(0, rect.x + rect.w + _GAP),
        ] = False
    ys, xs = np.nonzero(free)
    if near is None:
        return int(xs[0]), int(ys[0])
    at = int(np.argmin((xs - near[0]) ** 2 + (ys - near[1]) ** 2))
    return int(xs[at]), int(ys[at])


# ---- places


def grid_density(places: Places) -> int:
    """How often the unit grid was halved for such places.

    Args:
        places: (n, 2).

    Returns:
        0 to `MOST_DENSITY`; places off every grid (there are none but by another hand) count as the last.
    """
    for density in range(MOST_DENSITY):
        steps = (places - _MIDDLE) * 2**density
        if bool(np.all(steps == np.floor(steps))):
            return density
    return MOST_DENSITY


def is_free_grid_point(w: float, h: float, x: float, y: float, closed: Sequence[Rect] = ()) -> bool:
    """Whether something can stand at a point of a room: within its walls, on one of its grids, on no name.

    Args:
        w: the room's width.
        h: its height.
        x: the point's, likewise `y`.
        closed: as of `Grid`.
    """
    step = 2**MOST_DENSITY
    column, line = (x - MARGIN - _MIDDLE) * step, (y - HEADER - _MIDDLE) * step
    is_inside = 0 <= column <= (w - _ACROSS) * step and 0 <= line <= (h - _DOWN) * step
    is_on_grid = float(column).is_integer() and float(line).is_integer()
    is_closed = any(rect.x < x < rect.x + rect.w and rect.y < y < rect.y + rect.h for rect in closed)
    return is_inside and is_on_grid and not is_closed


class Grid:
    """The places of one room, taken and free.

    Attributes:
        density: how often its grid is halved by now.
    """

    def __init__(self, w: float, h: float, places: Places, closed: Sequence[Rect] = ()) -> None:
        """Mark what is taken.

        Args:
            w: the room's width.
            h: its height.
            places: where something stands already, (n, 2).
            closed: where nothing may stand, inside the room: the names of its alcoves.
        """
        self._w, self._h = w, h
        self._closed = tuple(closed)
        self._placed = [(float(x), float(y)) for x, y in places]
        self.density = grid_density(places)
        self._mark_free()

    @property
    def room(self) -> int:
        """How many more it takes before its grid must be halved."""
        return max(0, int(FULL * self._open) - len(self._placed))

    def take_nearest(self, x: float, y: float) -> tuple[float, float]:
        """Take the free place nearest to a point.

        Args:
            x: where it would best be, inside the room.
            y: likewise.

        Returns:
            The place, taken from now on.
        """
        self._refine_when_full()
        return self._take_cell(self._find_nearest(x, y, self._free_within, None))

    def take_with_card(self, x: float, y: float) -> tuple[float, float]:
        """Take the nearest free place beside which a card has room and narrows no other's.

        Args:
            x: where it would best be, inside the room.
            y: likewise.

        Returns:
            The place, taken from now on; the nearest free one where no card has room.
        """
        self._refine_when_full()
        found = self._find_nearest(x, y, self._clear_within, _CARD_REACH)
        return self._take_cell(found or self._find_nearest(x, y, self._free_within, None))

    def _refine_when_full(self) -> None:
        while self.density < MOST_DENSITY and not self.room:
            self.density += 1
            self._mark_free()

    def _take_cell(self, place: tuple[float, float] | None) -> tuple[float, float]:
        if place is None:
            raise BugError("a full room")
        self._placed.append(place)
        self._free[self._cell_of(*place)] = False
        self._taken[self._cell_of(*place)] = True
        return place

    def _mark_free(self) -> None:
        self._free = np.ones((row_count(self._h, self.density), column_count(self._w, self.density)), np.bool_)
        ys = HEADER + _MIDDLE + np.arange(self._free.shape[0]) / 2**self.density
        xs = MARGIN + _MIDDLE + np.arange(self._free.shape[1]) / 2**self.density
        for rect in self._closed:
            lines = (ys > rect.y) & (ys < rect.y + rect.h)
            columns = (xs > rect.x) & (xs < rect.x + rect.w)
            self._free[np.ix_(lines, columns)] = False
        self._open = int(self._free.sum())
        self._taken = np.zeros_like(self._free)
        for x, y in self._placed:
            line, column = self._cell_of(x, y)
            if 0 <= line < self._free.shape[0] and 0 <= column < self._free.shape[1]:
                self._free[line, column] = False
                self._taken[line, column] = True

    def _cell_of(self, x: float, y: float) -> tuple[int, int]:
        step = 2**self.density
        return round((y - HEADER - _MIDDLE) * step), round((x - MARGIN - _MIDDLE) * step)

    def _free_within(self, top: int, bottom: int, left: int, right: int) -> NDArray[np.bool_]:
        return self._free[max(0, top) : bottom, max(0, left) : right]

    def _clear_within(self, top: int, bottom: int, left: int, right: int) -> NDArray[np.bool_]:
        """Which places of a part are free with the right and lower ones of a card, and stand in no other's card."""
        top, left = max(0, top), max(0, left)
        bottom, right = min(bottom, self._free.shape[0]), min(right, self._free.shape[1])
        # One more place all round: beyond the walls nothing is free, and nobody stands there.
        free = np.zeros((bottom - top + 2, right - left + 2), np.bool_)
        taken = np.zeros_like(free)
        outer = (slice(max(0, top - 1), bottom + 1), slice(max(0, left - 1), right + 1))
        low, first = int(top == 0), int(left == 0)
        high, wide = self._free[outer].shape
        free[low : low + high, first : first + wide] = self._free[outer]
        taken[low : low + high, first : first + wide] = self._taken[outer]
        clear = free[1:-1, 1:-1] & free[1:-1, 2:] & free[2:, 1:-1] & free[2:, 2:]
        beside = taken[1:-1, :-2] | taken[:-2, 1:-1] | taken[:-2, :-2] | taken[:-2, 2:] | taken[2:, :-2]
        return np.asarray(clear & ~beside, np.bool_)

    def _find_nearest(
        self, x: float, y: float, mask_of: Callable[[int, int, int, int], NDArray[np.bool_]], farthest: int | None
    ) -> tuple[float, float] | None:
        """The nearest place of a mask.

        Args:
            mask_of: which places between two lines and two columns are meant.
            farthest: places from the point within which it is looked for; None for the whole room.
        """
        step = 2**self.density
        line, column = (y - HEADER - _MIDDLE) * step, (x - MARGIN - _MIDDLE) * step
        down, across = self._free.shape
        at = int(np.clip(round(line), 0, down - 1)), int(np.clip(round(column), 0, across - 1))
        reach = 4
        while True:
            top, left = max(0, at[0] - reach), max(0, at[1] - reach)
            ys, xs = np.nonzero(mask_of(top, at[0] + reach + 1, left, at[1] + reach + 1))
            if ys.size:
                apart = (ys + top - line) ** 2 + (xs + left - column) ** 2
                best = int(np.argmin(apart))
                near = (ys[best] + top - at[0]) ** 2 + (xs[best] + left - at[1]) ** 2
                if near <= reach**2 or reach >= max(down, across):
                    return (
                        MARGIN + _MIDDLE + float(xs[best] + left) / step,
                        HEADER + _MIDDLE + float(ys[best] + top) / step,
                    )
            if reach >= max(down, across) or (farthest is not None and reach >= farthest):
                return None
            reach *= 2
