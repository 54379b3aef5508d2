"""The lattice of places in a room: its size, the cell of each memory, and which cells each one's card takes.

Must not do: know the canvas or how a memory looks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.types.views import ALCOVE_HEADER, CARD_SIDE, HEADER, MARGIN, RoomPlan

Cells = NDArray[np.int64]
Lengths = NDArray[np.float64]

WIDEST = 5
"""Places across that a card takes where nobody stands beside it."""
_MIDDLE = 0.5
_CLOSED = -1


def lattice_shape(room: RoomPlan, step: float) -> tuple[int, int]:
    """Lines and columns of a room's places.

    Args:
        room: with its walls.
        step: distance of two places, plan units.
    """
    high = max(1, round((room.h - HEADER - MARGIN - 1) / step) + 1)
    return high, max(1, round((room.w - 2 * MARGIN - 1) / step) + 1)


def cells_of(
    x: NDArray[np.float64], y: NDArray[np.float64], step: float, shape: tuple[int, int]
) -> tuple[Cells, Cells]:
    """Line and column of each place, held inside the lattice.

    Args:
        x: plan units inside the room; `y` likewise.
        step: distance of two places, plan units.
        shape: lines and columns of the room.
    """
    lines = np.rint((y - HEADER - _MIDDLE) / step).astype(np.int64)
    columns = np.rint((x - MARGIN - _MIDDLE) / step).astype(np.int64)
    return lines.clip(0, shape[0] - 1), columns.clip(0, shape[1] - 1)


def assign_card_cells(room: RoomPlan, step: float, x: Lengths, y: Lengths, rows: Iterable[int]) -> Cells:
    """Give each memory's card its own cell and free ones right of it and below.

    First `CARD_SIDE` each way, then what is still free to its right, up to `WIDEST`.

    Args:
        room: with its walls and alcoves; a card stays in its alcove, off its name.
        step: distance of two places, plan units.
        x: where memories stand, plan units inside the room; `y` likewise.
        rows: whose cards may take more than their own cell, the most important first.

    Returns:
        Columns and lines of each card, (n, 2), 1 or more; no two cards share a cell.
    """
    high, wide = lattice_shape(room, step)
    lines, columns = cells_of(x, y, step, (high, wide))
    # Plain lists: rooms have thousands of memories, and an array takes ten times as long to be asked for one cell.
    line_length = wide + WIDEST
    padded = np.full((high + CARD_SIDE, line_length), _CLOSED, np.int64)
    padded[:high, :wide] = _alcove_of_cells(room, step, (high, wide))
    closed = padded == _CLOSED
    closed[lines, columns] = True
    lattice = _Lattice(padded.ravel().tolist(), closed.ravel().tolist(), line_length)
    found = np.ones((len(x), 2), np.int64)
    firsts = (lines * line_length + columns).tolist()
    order = list(rows)
    for row in order:
        found[row] = lattice.take_card(firsts[row])
    for row in order:
        found[row, 0] = lattice.widen_card(firsts[row], int(found[row, 0]), int(found[row, 1]))
    return found


@dataclass(frozen=True, slots=True)
class _Lattice:
    """The cells of a room line by line.

    Attributes:
        parts: the alcove of each.
        taken: whether something is there.
        wide: cells of a line.
    """

    parts: list[int]
    taken: list[bool]
    wide: int

    def take_card(self, first: int) -> tuple[int, int]:
        """Give the card at a cell what is free beside it and below; how many cells across and down."""
        parts, taken, own = self.parts, self.taken, self.parts[first]

        def is_open(cell: int) -> bool:
            return parts[cell] == own and not taken[cell]

        across, down = 1, 1
        while across < CARD_SIDE and is_open(first + across):
            across += 1
        while down < CARD_SIDE and self._is_line_open(first + down * self.wide, first, across):
            down += 1
        for line in range(down):
            start = first + line * self.wide
            taken[start : start + across] = [True] * across
        return across, down

    def widen_card(self, first: int, across: int, down: int) -> int:
        """Give the card what is still free to its right; how many cells across it has then."""
        parts, taken, own = self.parts, self.taken, self.parts[first]
        while across < WIDEST:
            column = [first + across + line * self.wide for line in range(down)]
            if any(parts[cell] != own or taken[cell] for cell in column):
                break
            for cell in column:
                taken[cell] = True
            across += 1
        return across

    def _is_line_open(self, start: int, first: int, across: int) -> bool:
        own = self.parts[first]
        return all(self.parts[cell] == own and not self.taken[cell] for cell in range(start, start + across))


def _alcove_of_cells(room: RoomPlan, step: float, shape: tuple[int, int]) -> Cells:
    """The alcove of each cell as a number from 1 on, 0 for none, `_CLOSED` where an alcove's name stands."""
    found = np.zeros(shape, np.int64)
    ys = HEADER + _MIDDLE + np.arange(shape[0]) * step
    xs = MARGIN + _MIDDLE + np.arange(shape[1]) * step
    for number, alcove in enumerate(room.alcoves, 1):
        columns = (xs > alcove.x) & (xs < alcove.x + alcove.w)
        lines = (ys > alcove.y) & (ys < alcove.y + alcove.h)
        found[np.ix_(lines, columns)] = number
        found[np.ix_(lines & (ys < alcove.y + ALCOVE_HEADER), columns)] = _CLOSED
    return found
