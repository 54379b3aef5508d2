"""Where the first memories of a room stand: columns about its landmarks, alcoves in a large room.

A section is a part of a room's lattice of places. Its landmarks stand in its first row, each at the top of a group of
columns; below it stand its kin by time, ground last, with free places where most time passed and at the foot. Must not
do: choose a landmark, know a memory, or let two stand on one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.score.floor_plan import Places, Rect, column_count, cut_squarified, row_count
from core.types.views import HEADER, MARGIN, Alcove

Numbers = NDArray[np.int64]

ALCOVE_HEADER = 1
"""Rows of places at the top of an alcove that hold its name."""
_MIDDLE = 0.5
_LEAST_ROWS = 2
_TURNS = 40
_SPREAD = 2
"""One free place of so many is left between others; the rest is at the foot."""


@dataclass(frozen=True, slots=True)
class RoomSection:
    """A part of a room's lattice, in places counted from the room's first one."""

    column: int
    row: int
    columns: int
    rows: int

    @property
    def size(self) -> int:
        """Places in it."""
        return self.columns * self.rows


@dataclass(frozen=True, slots=True)
class Members:
    """Who shall stand in a section, one entry for each.

    Attributes:
        vectors: unit rows, (n, dims); zeros where there is none.
        times: epoch ms, when each was said.
        is_ground: who is small talk, or told by another.
    """

    vectors: NDArray[np.float32]
    times: Numbers
    is_ground: NDArray[np.bool_]


def whole_room(w: float, h: float) -> RoomSection:
    """All places of a room of these sides."""
    return RoomSection(0, 0, column_count(w), row_count(h))


def split_alcoves(sizes: Sequence[int], section: RoomSection) -> tuple[RoomSection, ...] | None:
    """Divide a room into alcoves that hold their members below their names.

    Args:
        sizes: members of each.

    Returns:
        One section for each, together the whole one; None where the room is too small for so many.
    """
    order = sorted(range(len(sizes)), key=lambda at: (-sizes[at], at))
    ground = Rect(section.column, section.row, section.columns, section.rows)
    weights = [float(sizes[at]) for at in order]
    for _ in range(_TURNS):
        rects = cut_squarified(weights, ground, 0)
        lacking = [place for place, at in enumerate(order) if not _holds(rects[place], sizes[at])]
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


def _holds(rect: Rect, size: int) -> bool:
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
    kept = [head for head in heads if section.rows >= _LEAST_ROWS][: section.columns]
    if len(kept) * 1 + section.columns * (section.rows - 1) < count:
        kept = []  # so full that the row of the landmarks is needed for others
    if not kept:
        return _to_places(_fill(section, np.arange(count), members, has_head=False), count)
    near = members.vectors @ members.vectors[kept].T
    wished = np.bincount(near.argmax(axis=1), minlength=len(kept)) if count else np.zeros(len(kept), np.int64)
    widths = apportion(wished.tolist(), section.columns)
    rooms = [width * (section.rows - 1) + 1 for width in widths]
    groups = assign_kin(near, rooms, kept)
    cells: list[tuple[int, int, int]] = []
    left = section.column
    for place, (head, width) in enumerate(zip(kept, widths, strict=True)):
        kin = np.flatnonzero(groups == place)
        group = np.concatenate(([head], kin[kin != head])).astype(np.int64)
        cells += _fill(RoomSection(left, section.row, width, section.rows), group, members, has_head=True)
        left += width
    return _to_places(cells, count)


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


def _fill(section: RoomSection, group: Numbers, members: Members, *, has_head: bool) -> list[tuple[int, int, int]]:
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


def _to_places(cells: Sequence[tuple[int, int, int]], count: int) -> Places:
    found = np.empty((count, 2), np.float64)
    for member, column, row in cells:
        found[member] = MARGIN + _MIDDLE + column, HEADER + _MIDDLE + row
    return found
