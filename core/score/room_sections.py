"""Where the first memories of a room stand: columns about its landmarks, alcoves in a large room.

A section is a part of a room's lattice of places. Each memory has as many places as its card takes, as far as there is
room. The landmarks stand in the first row, each at the top of a group of columns; below it stand its kin by time, with
free places where most time passed. Small talk stands in single places at the foot. Must not do: choose a landmark, know
a memory, or let two stand on one place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.score.floor_plan import Places, Rect, column_count, cut_squarified, row_count
from core.types.views import ALCOVE_HEADER, CARD_SIDE, HEADER, MARGIN, Alcove

Numbers = NDArray[np.int64]

_MIDDLE = 0.5
_LEAST_ROWS = 2
_TURNS = 40
_SPREAD = 3
"""One free place of so many is left between others; the rest is at the foot."""
_LEFT_OVER = 1.1
_UNEVEN = 1.1
"""How much fuller than the average a column may be."""
_CARDS = ((CARD_SIDE, CARD_SIDE), (CARD_SIDE, 1), (1, 1))
"""Places across and down of a card, the best first."""


@dataclass(frozen=True, slots=True)
class RoomSection:
    """A part of a room's lattice, in places counted from the room's first one."""

    column: int
    row: int
    columns: int
    rows: int

    @property
    def size(self) -> int:
        """How many places a section of a room has."""
        return self.columns * self.rows


@dataclass(frozen=True, slots=True)
class Members:
    """Who shall stand in a section of a room, one entry for each.

    Attributes:
        vectors: unit rows, (n, dims); zeros where there is none.
        times: epoch ms, when each was said.
        is_ground: who is small talk, or told by another.
    """

    vectors: NDArray[np.float32]
    times: Numbers
    is_ground: NDArray[np.bool_]


def whole_room(w: float, h: float) -> RoomSection:
    """The section that is the whole room, by the length of its sides."""
    return RoomSection(0, 0, column_count(w), row_count(h))


def card_places(count: int, ground: int) -> int:
    """Places that memories with their cards need in a section, with some for what its sides leave over.

    Args:
        count: all of them.
        ground: how many of them are small talk, which takes one place each.
    """
    return math.ceil(_LEFT_OVER * CARD_SIDE**2 * (count - ground)) + ground


def split_alcoves(sizes: Sequence[int], section: RoomSection) -> tuple[RoomSection, ...] | None:
    """Divide a room of the floor plan into alcoves that hold their members below their names.

    Args:
        sizes: places that each needs.

    Returns:
        One section for each, together the whole one; None where the room is too small for so many.
    """
    order = sorted(range(len(sizes)), key=lambda at: (-sizes[at], at))
    ground = Rect(section.column, section.row, section.columns, section.rows)
    weights = [float(sizes[at]) for at in order]
    for _ in range(_TURNS):
        rects = cut_squarified(weights, ground, 0)
        lacking = [place for place, at in enumerate(order) if not _has_room_for(rects[place], sizes[at])]
        if not lacking:
            found = dict(zip(order, rects, strict=True))
            return tuple(RoomSection(r.x, r.y, r.w, r.h) for r in (found[at] for at in range(len(sizes))))
        for place in lacking:
            weights[place] *= 1.2
        if weights != sorted(weights, reverse=True):
            ranked = sorted(range(len(order)), key=lambda place: -weights[place])
            order = [order[place] for place in ranked]
            weights = [weights[place] for place in ranked]
    return None


def _has_room_for(rect: Rect, size: int) -> bool:
    return rect.w >= 1 and rect.h > ALCOVE_HEADER + 1 and rect.w * (rect.h - ALCOVE_HEADER) >= size


def below_name(alcove: RoomSection) -> RoomSection:
    """The places of an alcove."""
    return RoomSection(alcove.column, alcove.row + ALCOVE_HEADER, alcove.columns, alcove.rows - ALCOVE_HEADER)


def ground_of(section: RoomSection) -> Rect:
    """The edges of a section inside its room, plan units."""
    return Rect(int(MARGIN) + section.column, int(HEADER) + section.row, section.columns, section.rows)


def name_grounds(alcoves: Sequence[Alcove]) -> list[Rect]:
    """Where in a room the names of its alcoves stand: no memory may stand there."""
    return [Rect(round(one.x), round(one.y), round(one.w), ALCOVE_HEADER) for one in alcoves]


def lay_section(section: RoomSection, members: Members, heads: Sequence[int]) -> Places:
    """Give the members of a section their first places.

    Args:
        section: with at least as many places as there are members.
        heads: which of the members are its landmarks, in their order.

    Returns:
        A place on the unit grid for each, no two the same, (n, 2).
    """
    count = len(members.times)
    is_ground = members.is_ground.copy()
    is_ground[list(heads)] = False
    told, ground = np.flatnonzero(~is_ground), np.flatnonzero(is_ground)
    foot_rows = -(-len(ground) // max(1, section.columns))
    upper = RoomSection(section.column, section.row, section.columns, section.rows - foot_rows)
    card = next((one for one in _CARDS if _holds_cards(upper, one, len(told), len(heads))), None)
    if card is None:  # so full that small talk stands among the others
        return _cells_to_places(_lay_cards(section, (1, 1), np.arange(count), members, heads), count)
    cells = _lay_cards(upper, card, told, members, heads)
    foot = RoomSection(section.column, section.row + section.rows - foot_rows, section.columns, foot_rows)
    return _cells_to_places(cells + _lay_ground(foot, ground, members, heads), count)


def _holds_cards(section: RoomSection, card: tuple[int, int], count: int, heads: int) -> bool:
    """Whether so many cards of a size have room, with a first row for their landmarks alone."""
    columns, rows = section.columns // card[0], section.rows // card[1]
    return rows >= _LEAST_ROWS and min(heads, columns) + columns * (rows - 1) >= count


def _lay_cards(
    section: RoomSection, card: tuple[int, int], told: Numbers, members: Members, heads: Sequence[int]
) -> list[tuple[int, int, int]]:
    """Who stands in which column and row: landmarks on top, each above its kin."""
    coarse = RoomSection(0, 0, section.columns // card[0], section.rows // card[1])
    kept = [head for head in heads if coarse.rows >= _LEAST_ROWS][: coarse.columns]
    if len(kept) + coarse.columns * (coarse.rows - 1) < len(told):
        kept = []  # so full that the row of the landmarks is needed for others
    if not kept:
        cells = _fill_section(coarse, told, members, has_head=False)
    else:
        near = members.vectors[told] @ members.vectors[kept].T
        wished = np.bincount(near.argmax(axis=1), minlength=len(kept))
        widths = apportion(wished.tolist(), coarse.columns)
        # About even columns: a landmark few are near to has its share of those that are nearly as near.
        even = min(coarse.rows - 1, math.ceil(_UNEVEN * len(told) / coarse.columns))
        rooms = [width * even + 1 for width in widths]
        if sum(rooms) < len(told):
            rooms = [width * (coarse.rows - 1) + 1 for width in widths]
        groups = assign_kin(near, rooms, [int(np.flatnonzero(told == head)[0]) for head in kept])
        cells, left = [], 0
        for place, (head, width) in enumerate(zip(kept, widths, strict=True)):
            kin = told[groups == place]
            group = np.concatenate(([head], kin[kin != head])).astype(np.int64)
            cells += _fill_section(RoomSection(left, 0, width, coarse.rows), group, members, has_head=True)
            left += width
    return [(at, section.column + column * card[0], section.row + row * card[1]) for at, column, row in cells]


def _lay_ground(
    section: RoomSection, ground: Numbers, members: Members, heads: Sequence[int]
) -> list[tuple[int, int, int]]:
    """Small talk column by column, about under the landmark it is nearest to, then by time."""
    if not ground.size:
        return []
    nearest = np.zeros(len(ground), np.int64)
    if heads:
        nearest = (members.vectors[ground] @ members.vectors[list(heads)].T).argmax(axis=1)
    order = ground[np.lexsort((ground, members.times[ground], nearest))]
    return [
        (at, section.column + place // section.rows, section.row + place % section.rows)
        for place, at in enumerate(order.tolist())
    ]


def apportion(shares: Sequence[float], total: int) -> list[int]:
    """Whole numbers in proportion to shares, at least one each (largest remainders).

    Args:
        total: what they make together; at least as many as there are shares.
    """
    spare, whole = total - len(shares), sum(shares)
    exact = [spare * share / whole if whole else 0.0 for share in shares]
    found = [1 + int(part) for part in exact]
    rest = sorted(range(len(shares)), key=lambda at: (-(exact[at] % 1.0), at))
    for turn in range(total - sum(found)):
        found[rest[turn % len(rest)]] += 1
    return found


def assign_kin(near: NDArray[np.float32], rooms: Sequence[int], heads: Sequence[int]) -> Numbers:
    """The landmark of each member: the nearest in meaning that has a place left.

    Args:
        near: cosine of each member to each landmark, (n, landmarks).
        rooms: how many members each landmark takes, itself among them; together at least n.
        heads: which members the landmarks are.

    Returns:
        One landmark for each member.
    """
    left = list(rooms)
    groups = np.full(len(near), -1, np.int64)
    for place, head in enumerate(heads):
        groups[head] = place
        left[place] -= 1
    order = np.argsort(-near, axis=1, kind="stable")
    for member in np.argsort(-near.max(axis=1), kind="stable").tolist():
        if groups[member] < 0:
            groups[member] = next(place for place in order[member].tolist() if left[place] > 0)
            left[groups[member]] -= 1
    return groups


def _fill_section(
    section: RoomSection, group: Numbers, members: Members, *, has_head: bool
) -> list[tuple[int, int, int]]:
    """Column by column from the top: who stands in which column and row."""
    first_row = section.row + int(has_head)
    cells = [
        (column, row)
        for column in range(section.column, section.column + section.columns)
        for row in range(first_row, section.row + section.rows)
    ]
    head, kin = group[: int(has_head)], group[int(has_head) :]
    kin = kin[np.lexsort((kin, members.times[kin], members.is_ground[kin]))]
    found = [(int(head[0]), section.column, section.row)] if head.size else []
    at = 0
    for member, skipped in zip(kin.tolist(), _free_before(members.times[kin], len(cells)), strict=True):
        at += skipped
        found.append((member, *cells[at]))
        at += 1
    return found


def _free_before(times: Numbers, places: int) -> list[int]:
    """How many places stay free before each: one where most time passed."""
    skipped = np.zeros(len(times), np.int64)
    most = min((places - len(times)) // _SPREAD, max(0, len(times) - 1))
    if most > 0:
        jumps = np.abs(np.diff(times))
        skipped[1 + np.lexsort((np.arange(len(jumps)), -jumps))[:most]] = 1
    return list(skipped.tolist())


def _cells_to_places(cells: Sequence[tuple[int, int, int]], count: int) -> Places:
    found = np.empty((count, 2), np.float64)
    for member, column, row in cells:
        found[member] = MARGIN + _MIDDLE + column, HEADER + _MIDDLE + row
    return found
