"""The lattice of places in a room: its size, the cell of each memory, and which cells each one's card takes.

Must not do: know the canvas or how a memory looks.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from core.types.views import ALCOVE_HEADER, CARD_SIDE, HEADER, MARGIN, RoomPlan

Cells = NDArray[np.int64]
Lengths = NDArray[np.float64]

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
    """Give each memory's card its own cell and the free ones right of it and below, up to `CARD_SIDE` each way.

    A single column that is left over at the wall goes to the card beside it.

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
    parts = np.full((high + CARD_SIDE, wide + CARD_SIDE), _CLOSED, np.int64)
    parts[:high, :wide] = _alcove_of_cells(room, step, (high, wide))
    taken = parts == _CLOSED
    taken[lines, columns] = True
    found = np.ones((len(x), 2), np.int64)
    for row in rows:
        line, column = int(lines[row]), int(columns[row])
        near = (slice(line, line + CARD_SIDE), slice(column, column + CARD_SIDE + 2))
        is_own = parts[near] == parts[line, column]
        is_open = is_own & ~taken[near]
        is_open[0, 0] = True
        across, down = 1, 1
        while across < CARD_SIDE and is_open[0, across]:
            across += 1
        while down < CARD_SIDE and is_open[down, :across].all():
            down += 1
        if across == CARD_SIDE and is_open[:down, across].all() and not is_own[0, across + 1 :].any():
            across += 1
        taken[line : line + down, column : column + across] = True
        found[row] = across, down
    return found


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
