"""The floor plan as the window draws it: wings and rooms with their counts, the loci of one room, where one stands.

Must not do: place anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import Code, UserError
from core.memory import rooms as stored
from core.memory.rooms import Room, Wing
from core.memory.strengths import COLUMNS, JOINS, read_strengths
from core.types.values import Kind, Status
from core.types.views import GAP, Loci, PalacePlan, RoomPlan, Whereabouts, WingPlan
from core.vault.database.rows import Rows

BINS = 96
"""Spans of the time slider."""
_ALWAYS = int(np.iinfo(np.int64).max)
_KINDS = {kind.value: number for number, kind in enumerate(Kind)}
_STATUSES = {status.value: number for number, status in enumerate(Status)}

# The grid of a room is as fine as its finest place (core.score.floor_plan.grid_density).
_ROOMS = (
    "SELECT room_id, count(*), max(CASE WHEN x - 0.5 = CAST(x AS INTEGER) AND y - 0.5 = CAST(y AS INTEGER) THEN 0 "
    "WHEN x * 2 = CAST(x * 2 AS INTEGER) AND y * 2 = CAST(y * 2 AS INTEGER) THEN 1 "
    "WHEN x * 4 = CAST(x * 4 AS INTEGER) AND y * 4 = CAST(y * 4 AS INTEGER) THEN 2 "
    "WHEN x * 8 = CAST(x * 8 AS INTEGER) AND y * 8 = CAST(y * 8 AS INTEGER) THEN 3 "
    "WHEN x * 16 = CAST(x * 16 AS INTEGER) AND y * 16 = CAST(y * 16 AS INTEGER) THEN 4 "
    "WHEN x * 32 = CAST(x * 32 AS INTEGER) AND y * 32 = CAST(y * 32 AS INTEGER) THEN 5 ELSE 6 END) "
    "FROM places GROUP BY room_id"
)
# By the index over space and status: most memories stand, and reading them all would take ten times as long.
_FAINT = (
    "SELECT p.room_id, count(*) FROM memories m JOIN places p ON p.memory_id = m.id "
    "WHERE m.space_id IN (SELECT id FROM spaces) AND m.status IN ('superseded', 'deleted') GROUP BY p.room_id"
)
_STANDING = (
    "SELECT space_id, count(*) FROM memories WHERE space_id IN (SELECT id FROM spaces) "
    "AND status IN ('active', 'disputed', 'quarantined', 'consolidated', 'archived') GROUP BY space_id"
)
_LOCI = (
    "SELECT m.id, m.n, p.x, p.y, m.kind, m.status, m.trust, m.importance, m.recorded_at, m.retired_at, "  # noqa: S608
    "m.occurred_at, "
    f"m.pinned, p.placed_by, {COLUMNS} "
    f"FROM places p JOIN memories m ON m.id = p.memory_id{JOINS}WHERE p.room_id = ? ORDER BY m.n"
)
_LOCUS = 13  # columns before those of strength

_RECORDED = ("SELECT min(recorded_at), max(recorded_at) FROM memories", "SELECT recorded_at FROM memories")
# Two queries, each within one index; where nothing says when it was said, the time of recording stands for it.
_SAID_SPAN = (
    "SELECT min(a), max(b) FROM (SELECT min(occurred_at) AS a, max(occurred_at) AS b FROM memories "
    "UNION ALL SELECT min(recorded_at), max(recorded_at) FROM memories WHERE occurred_at IS NULL)"
)
_SAID_AT = (
    "SELECT occurred_at FROM memories WHERE occurred_at IS NOT NULL "
    "UNION ALL SELECT recorded_at FROM memories WHERE occurred_at IS NULL"
)
_SAID = (_SAID_SPAN, _SAID_AT)


def read_floor_plan(rows: Rows) -> PalacePlan:
    """The plan without its loci.

    Returns:
        Wings from left to right, their rooms in the order they were made.
    """
    standing, faint = dict(rows.all(_STANDING)), dict(rows.all(_FAINT))
    placed = {room_id: (count, density) for room_id, count, density in rows.all(_ROOMS)}
    by_wing: dict[str, list[RoomPlan]] = {}
    for room in stored.read_rooms(rows):
        count, density = placed.get(room.id, (0, 0))
        by_wing.setdefault(room.wing_id, []).append(_room_plan(room, count - faint.get(room.id, 0), density))
    wings = _apart(
        [_wing_plan(wing, by_wing.get(wing.id, []), standing.get(wing.space_id, 0)) for wing in stored.read_wings(rows)]
    )
    earliest, latest, recorded = _histogram(rows, _RECORDED)
    said_from, said_to, said = _histogram(rows, _SAID)
    return PalacePlan(
        wings=wings,
        revision=int(rows.value("SELECT seq FROM vault_state")),
        earliest=earliest,
        latest=latest,
        recorded=recorded,
        said_from=said_from,
        said_to=said_to,
        said=said,
    )


def _room_plan(room: Room, count: int, density: int) -> RoomPlan:
    return RoomPlan(room.id, room.name, room.x, room.y, room.w, room.h, count, density, room.made_by)


def _wing_plan(wing: Wing, inside: Sequence[RoomPlan], standing: int) -> WingPlan:
    count = sum(room.count for room in inside)
    high = max((room.y + room.h for room in inside), default=0.0)
    wide = max((room.x + room.w for room in inside), default=0.0)
    return WingPlan(
        wing.id,
        wing.space_id,
        wing.name,
        wing.x,
        0.0,
        max(wing.w, wide),
        high,
        count,
        max(0, standing - count),
        tuple(inside),
    )


def _apart(wings: Sequence[WingPlan]) -> tuple[WingPlan, ...]:
    """Wings in their order; one that grew beyond its first ground pushes those to its right aside."""
    found: list[WingPlan] = []
    right = 0.0
    for wing in wings:
        x = max(wing.x, right)
        found.append(replace(wing, x=x))
        right = x + wing.w + 4 * GAP
    return tuple(found)


def _histogram(rows: Rows, queries: tuple[str, str]) -> tuple[int | None, int | None, tuple[int, ...]]:
    low, high = rows.one(queries[0]) or (None, None)
    if low is None or high is None:
        return None, None, (0,) * BINS
    times = np.array(rows.all(queries[1]), np.float64).reshape(-1)
    counts, _ = np.histogram(times, bins=BINS, range=(float(low), float(max(high, low + 1))))
    return int(low), int(high), tuple(int(count) for count in counts)


def read_loci(rows: Rows, room_id: str, now_ms: int) -> Loci:
    """All loci of a room, the faint ones too.

    Args:
        room_id: the room.
        now_ms: the present, epoch ms; strength fades towards it.

    Returns:
        Columns ordered by label.

    Raises:
        UserError: NOT_FOUND.
    """
    if stored.read_room(rows, room_id) is None:
        raise UserError(Code.NOT_FOUND, "There is no such room.")
    read = rows.all(_LOCI, (room_id,))
    found: Any = list(zip(*read, strict=True)) or [()] * _LOCUS
    return Loci(
        room_id=room_id,
        ids=tuple(found[0]),
        n=np.array(found[1], np.int64),
        x=_single(found[2]),
        y=_single(found[3]),
        kind=np.array([_KINDS[kind] for kind in found[4]], np.int8),
        status=np.array([_STATUSES[status] for status in found[5]], np.int8),
        trust=_single(found[6]),
        strength=read_strengths([row[_LOCUS:] for row in read], now_ms).astype(np.float32),
        importance=_single(found[7]),
        recorded_at=np.array(found[8], np.int64),
        retired_at=np.array([_ALWAYS if at is None else at for at in found[9]], np.int64),
        said_at=np.array([own if at is None else at for at, own in zip(found[10], found[8], strict=True)], np.int64),
        pinned=np.array(found[11], np.bool_),
        moved=np.array([by == "owner" for by in found[12]], np.bool_),
    )


def _single(values: Sequence[float]) -> NDArray[np.float32]:
    return np.array(values, np.float32)


def find_locus(rows: Rows, memory_id: str) -> Whereabouts:
    """Where a memory stands.

    Returns:
        Its wing, room and place.

    Raises:
        UserError: NOT_FOUND; there is no such memory, or it has no place yet.
    """
    found = rows.one(
        "SELECT p.memory_id, r.parent_id, r.id, r.name, p.x, p.y FROM places p JOIN rooms r ON r.id = p.room_id "
        "WHERE p.memory_id = ?",
        (memory_id,),
    )
    if found is None:
        raise UserError(Code.NOT_FOUND, "That memory has no place in the palace yet.")
    return Whereabouts(*found)
