"""Where things stand on the plan: rooms as a treemap on the unit grid, loci on the grid of their room.

Lengths are plan units (`core.types.views`). Everything here is exact: grids are halved, so that every place is a
binary fraction. Must not do: know a memory, a vector's meaning or the vault.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import BugError
from core.types.views import GAP, HEADER, MARGIN

Places = NDArray[np.float64]
"""Rows of x and y."""

ROOMY = 1.6
"""Places of a new room for each of its memories."""
LEAST_PLACES = 12
FULL = 0.85
"""Share of a room's places from which on its grid is halved."""
MOST_DENSITY = 8
_ASPECT = 1.5
_LEAST_SIDE = 6
_GROW = 1.02
_GAP = int(GAP)
_MIDDLE = 0.5
_ACROSS = 2 * MARGIN + 2 * _MIDDLE  # of a room's width, what lies outside the centres of its outermost places
_DOWN = HEADER + MARGIN + 2 * _MIDDLE
_SAMPLE = 1_000
_CLOSER = 1.25
_GOLDEN = 0.6180339887498949
_TURNS = 24
_SEED = 7


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


def places_needed(count: int) -> int:
    """Places that a new room for so many memories should have."""
    return max(LEAST_PLACES, math.ceil(ROOMY * count))


def room_size(places: int, widest: int | None = None) -> tuple[int, int]:
    """Sides of a room that stands for itself, a little wider than high.

    Args:
        places: what it must hold.
        widest: the most it may be wide, at least 6; None for no bound.

    Returns:
        Width and height.
    """
    wide = max(_LEAST_SIDE - 2, math.ceil(math.sqrt(places * 1.2)))
    if widest is not None:
        wide = min(wide, max(_LEAST_SIDE, widest) - 2)
    return wide + 2, max(_LEAST_SIDE, math.ceil(places / wide) + 3)


# ---- rooms


def lay_out(counts: Sequence[int]) -> tuple[Rect, ...]:
    """The first plan of a wing: a squarified treemap (Bruls, Huizing, van Wijk 2000) snapped to the unit grid.

    Args:
        counts: memories of each room.

    Returns:
        A rectangle for each, GAP apart, together filling a rectangle from 0, 0 that is about 1.5 times as wide as high.
    """
    if not counts:
        return ()
    needs = [places_needed(count) for count in counts]
    order = sorted(range(len(needs)), key=lambda at: (-needs[at], at))
    weights = [_room_area(needs[at]) for at in order]
    ground = sum(weights)
    while True:
        wide = max(_LEAST_SIDE + _GAP, round(math.sqrt(ground * _ASPECT)))
        high = max(_LEAST_SIDE + _GAP, math.ceil(ground / wide))
        rects = _cut_squarified(weights, Rect(0, 0, wide, high))
        if all(_has_capacity(rect, needs[at]) for rect, at in zip(rects, order, strict=True)):
            break
        ground *= _GROW
    found = dict(zip(order, rects, strict=True))
    return tuple(found[at] for at in range(len(needs)))


def _room_area(places: int) -> float:
    side = max(_LEAST_SIDE - 2.5, math.sqrt(places))
    return (side + 2 + _GAP) * (side + 3 + _GAP)


def _has_capacity(rect: Rect, places: int) -> bool:
    return rect.w >= _LEAST_SIDE and rect.h >= _LEAST_SIDE and room_capacity(rect.w, rect.h) >= places


def _cut_squarified(weights: Sequence[float], ground: Rect) -> list[Rect]:
    """Cut a ground into strips along its shorter side; each rectangle comes without the gap to its right and below."""
    found: list[Rect] = []
    at = 0
    while at < len(weights):
        rest = sum(weights[at:])
        short, long = min(ground.w, ground.h), max(ground.w, ground.h)
        take = _strip_size(weights[at:], short, short * long / rest if rest else 1.0)
        share = sum(weights[at : at + take]) / rest
        is_last = at + take == len(weights)
        thick = long if is_last else max(1, min(long - 1, round(long * share)))
        found += _cut_strip(weights[at : at + take], ground, thick)
        if ground.w >= ground.h:
            ground = Rect(ground.x + thick, ground.y, ground.w - thick, ground.h)
        else:
            ground = Rect(ground.x, ground.y + thick, ground.w, ground.h - thick)
        at += take
    return found


def _strip_size(weights: Sequence[float], short: int, scale: float) -> int:
    """How many of the next go into one strip so that the worst of them is as square as can be."""
    best, take = math.inf, 1
    for count in range(1, len(weights) + 1):
        thick = sum(weights[:count]) * scale / max(1, short)
        sides = [weight * scale / max(thick, 1e-9) for weight in weights[:count]]
        worst = max(max(thick / max(side, 1e-9), side / max(thick, 1e-9)) for side in sides)
        if worst > best:
            break
        best, take = worst, count
    return take


def _cut_strip(weights: Sequence[float], ground: Rect, thick: int) -> list[Rect]:
    is_wide = ground.w >= ground.h
    short = ground.h if is_wide else ground.w
    total, so_far, low = sum(weights), 0.0, 0
    found = []
    for weight in weights:
        so_far += weight
        high = round(short * so_far / total)
        if is_wide:
            found.append(Rect(ground.x, ground.y + low, thick - _GAP, high - low - _GAP))
        else:
            found.append(Rect(ground.x + low, ground.y, high - low - _GAP, thick - _GAP))
        low = high
    return found


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


def spread_places(vectors: NDArray[np.float32], w: float, h: float) -> Places:
    """First places of memories in a new room: all over it, kin near kin, free places between them.

    The first main direction of the vectors tells the line, the second the order within it.

    Args:
        vectors: one row each, (n, dims); at most as many as the room has places.
        w: the room's width.
        h: its height.

    Returns:
        A place on the unit grid for each, no two the same, (n, 2).
    """
    count, across, down = len(vectors), column_count(w), row_count(h)
    first, second = _main_directions(vectors)
    by_first = np.lexsort((np.arange(count), second, first))
    # A few more lines than make the distance between lines that between neighbours in one: a line left empty in a room
    # that is more than half full looks like a stripe.
    wanted = round(_CLOSER * math.sqrt(count * down / across))
    used = int(np.clip(wanted, math.ceil(count / across), down)) if count else 0
    found = np.empty((count, 2), np.float64)
    for line in range(used):
        members = by_first[line * count // used : (line + 1) * count // used]
        members = members[np.lexsort((members, second[members]))]
        ys = (2 * line + 1) * down // (2 * used)
        # Each line begins a little aside of the one above, never in step: gaps do not line up to columns.
        shift = 0.1 + 0.8 * ((line * _GOLDEN) % 1.0)
        xs = np.floor((np.arange(members.size) + shift) * across / max(1, members.size))
        found[members, 0] = MARGIN + _MIDDLE + xs
        found[members, 1] = HEADER + _MIDDLE + ys
    return found


def _main_directions(vectors: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How far each lies along the two directions in which they differ most (orthogonal iteration)."""
    none = np.zeros(len(vectors), np.float64)
    if len(vectors) < 3:
        return none, none.copy()
    sample = vectors[:: max(1, len(vectors) // _SAMPLE)]
    middle = sample - sample.mean(axis=0)
    axes = np.random.default_rng(_SEED).normal(size=(vectors.shape[1], 2)).astype(np.float32)
    for _ in range(_TURNS):
        axes = np.linalg.qr(middle.T @ (middle @ axes))[0]
    return _project_onto(vectors, axes[:, 0]), _project_onto(vectors, axes[:, 1])


def _project_onto(vectors: NDArray[np.float32], axis: NDArray[np.float32]) -> NDArray[np.float64]:
    sign = 1.0 if axis[np.argmax(np.abs(axis))] >= 0 else -1.0
    # Rounded: the last bits differ from one processor to the next, the order must not.
    return np.asarray(np.round(np.asarray(vectors @ (np.float32(sign) * axis), np.float64), 5), np.float64)


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


class Grid:
    """The places of one room, taken and free.

    Attributes:
        density: how often its grid is halved by now.
    """

    def __init__(self, w: float, h: float, places: Places) -> None:
        """Mark what is taken.

        Args:
            w: the room's width.
            h: its height.
            places: where something stands already, (n, 2).
        """
        self._w, self._h = w, h
        self._placed = [(float(x), float(y)) for x, y in places]
        self.density = grid_density(places)
        self._mark_free()

    @property
    def room(self) -> int:
        """How many more it takes before its grid must be halved."""
        return max(0, int(FULL * self._free.size) - len(self._placed))

    def take_nearest(self, x: float, y: float) -> tuple[float, float]:
        """Take the free place nearest to a point.

        Args:
            x: where it would best be, inside the room.
            y: likewise.

        Returns:
            The place, taken from now on.
        """
        while self.density < MOST_DENSITY and not self.room:
            self.density += 1
            self._mark_free()
        place = self._find_nearest_free(x, y)
        self._placed.append(place)
        self._free[self._cell_of(*place)] = False
        return place

    def _mark_free(self) -> None:
        self._free = np.ones((row_count(self._h, self.density), column_count(self._w, self.density)), np.bool_)
        for x, y in self._placed:
            line, column = self._cell_of(x, y)
            if 0 <= line < self._free.shape[0] and 0 <= column < self._free.shape[1]:
                self._free[line, column] = False

    def _cell_of(self, x: float, y: float) -> tuple[int, int]:
        step = 2**self.density
        return round((y - HEADER - _MIDDLE) * step), round((x - MARGIN - _MIDDLE) * step)

    def _find_nearest_free(self, x: float, y: float) -> tuple[float, float]:
        step = 2**self.density
        line, column = (y - HEADER - _MIDDLE) * step, (x - MARGIN - _MIDDLE) * step
        down, across = self._free.shape
        at = int(np.clip(round(line), 0, down - 1)), int(np.clip(round(column), 0, across - 1))
        reach = 4
        while True:
            top, left = max(0, at[0] - reach), max(0, at[1] - reach)
            ys, xs = np.nonzero(self._free[top : at[0] + reach + 1, left : at[1] + reach + 1])
            if ys.size:
                apart = (ys + top - line) ** 2 + (xs + left - column) ** 2
                best = int(np.argmin(apart))
                near = (ys[best] + top - at[0]) ** 2 + (xs[best] + left - at[1]) ** 2
                if near <= reach**2 or reach >= max(down, across):
                    return (
                        MARGIN + _MIDDLE + float(xs[best] + left) / step,
                        HEADER + _MIDDLE + float(ys[best] + top) / step,
                    )
            if reach >= max(down, across):
                raise BugError("a full room")
            reach *= 2
