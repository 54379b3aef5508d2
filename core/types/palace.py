"""The floor plan: wings, rooms, loci. Lengths are plan units: one unit is the side of one free place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

HEADER = 2.0
"""Plan units at the top of a room that hold its name; no locus stands there."""
MARGIN = 1.0
"""Plan units kept free at the other three sides of a room."""
GAP = 1.0
"""Plan units between two rooms."""


@dataclass(frozen=True, slots=True)
class RoomPlan:
    """A room: a topic inside a wing.

    Attributes:
        x: left edge inside its wing, plan units; `y` the upper edge, `w` and `h` the size.
        count: memories with a place in it that are neither deleted nor superseded.
        density: how often the unit grid is halved in it; 0 for one place a unit, 1 for places every half unit, …
        made_by: `owner` or `lifecycle`; a room the person named, made or moved is the owner's.
    """

    id: str
    name: str
    x: float
    y: float
    w: float
    h: float
    count: int
    density: int
    made_by: str


@dataclass(frozen=True, slots=True)
class WingPlan:
    """A wing: one space.

    Attributes:
        id: the id of its own row in `rooms` (the one without a parent).
        x: left edge in the palace, plan units; `y`, `w`, `h` likewise.
        waiting: memories of the space that have no place yet.
    """

    id: str
    space_id: str
    space: str
    x: float
    y: float
    w: float
    h: float
    count: int
    waiting: int
    rooms: tuple[RoomPlan, ...]


@dataclass(frozen=True, slots=True)
class PalacePlan:
    """The whole plan without its loci.

    Attributes:
        revision: the vault's sequence it was read at.
        earliest: epoch ms of the first memory recorded; None in an empty vault. `latest` of the last.
        recorded: how many were recorded in each of `bins` equal spans from `earliest` to `latest`, for the slider.
        said: the same by when they were said or happened, over the span `said_from` to `said_to`.
    """

    wings: tuple[WingPlan, ...]
    revision: int
    earliest: int | None
    latest: int | None
    recorded: tuple[int, ...]
    said_from: int | None
    said_to: int | None
    said: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Loci:
    """All loci of one room as columns of equal length, ordered by label `n`.

    Attributes:
        ids: memory ids.
        n: labels, int64.
        x: place inside the room, plan units, float32; `y` likewise.
        kind: index into `core.types.words.Kind`, int8; `status` into `Status`, int8.
        trust: 0 to 1, float32; `strength` and `importance` likewise.
        recorded_at: epoch ms, int64.
        retired_at: epoch ms, int64; the largest int64 where it still stands.
        said_at: epoch ms, int64: when it was said or happened, else when it was recorded.
        pinned: bool.
        moved: bool, whether the person put it there.
    """

    room_id: str
    ids: tuple[str, ...]
    n: NDArray[np.int64]
    x: NDArray[np.float32]
    y: NDArray[np.float32]
    kind: NDArray[np.int8]
    status: NDArray[np.int8]
    trust: NDArray[np.float32]
    strength: NDArray[np.float32]
    importance: NDArray[np.float32]
    recorded_at: NDArray[np.int64]
    retired_at: NDArray[np.int64]
    said_at: NDArray[np.int64]
    pinned: NDArray[np.bool_]
    moved: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where one memory stands.

    Attributes:
        x: inside the room, plan units.
    """

    memory_id: str
    wing_id: str
    room_id: str
    room: str
    x: float
    y: float
