"""The floor plan: rows of wings, rooms and places, and the plan with its counts as the window draws it.

A wing is the row of its space without a parent; a room's parent is its wing. A wing's `w` is the width of its ground
and stays; how high it is follows from its rooms, so that growing changes no row and disturbs no undo. Must not do:
decide where something stands.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import Code, UserError
from core.memory.landmarks import (
    GROUND,
    forget_landmarks,
    free_landmark,
    read_alcoves,
    read_furnishings,
    read_landmarks,
    strip_room,
)
from core.memory.read import STRENGTH_COLUMNS, STRENGTH_JOINS, read_strengths
from core.score.appearance import Look
from core.score.floor_plan import Rect, is_free_grid_point
from core.score.room_sections import name_grounds
from core.types.values import Kind, Status
from core.types.views import GAP, Alcove, Furnishing, Loci, PalacePlan, RoomPlan, Whereabouts, WingPlan
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

LEAST_WING = 12.0
"""Plan units that a new wing's ground is wide at least."""
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
FRESH_MS = 7 * 24 * 3_600_000
"""So long a memory counts as fresh after it was recorded."""
# Where nothing is older, as after a first import, all is fresh, and counting it by room would read every memory.
_IS_OLDER = "SELECT 1 FROM memories WHERE recorded_at < ? LIMIT 1"
_FRESH = (
    "SELECT p.room_id, count(*) FROM memories m INDEXED BY ix_memories_recorded CROSS JOIN places p "
    "ON p.memory_id = m.id WHERE m.recorded_at >= ? AND m.status NOT IN ('superseded', 'deleted') GROUP BY p.room_id"
)
_COUNT_ACTIVE = (
    "SELECT space_id, count(*) FROM memories WHERE space_id IN (SELECT id FROM spaces) "
    "AND status IN ('active', 'disputed', 'quarantined', 'consolidated', 'archived') GROUP BY space_id"
)
_LOCI = (
    "SELECT m.id, m.n, p.x, p.y, m.kind, m.status, m.trust, m.importance, m.recorded_at, m.retired_at, "  # noqa: S608
    "m.occurred_at, "
    f"m.pinned, p.placed_by, {GROUND}, {STRENGTH_COLUMNS} "
    f"FROM places p JOIN memories m ON m.id = p.memory_id{STRENGTH_JOINS}WHERE p.room_id = ? ORDER BY m.n"
)
_LOCUS = 14  # columns before those of strength

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


def read_floor_plan(rows: Rows, now_ms: int) -> PalacePlan:
    """The plan without its loci.

    Args:
        now_ms: the present, epoch ms; what was recorded within `FRESH_MS` before it is fresh.

    Returns:
        Wings from left to right, their rooms in the order they were made.
    """
    active_counts, furnishings = dict(rows.all(_COUNT_ACTIVE)), read_furnishings(rows)
    by_wing: dict[str, list[RoomPlan]] = {}
    for wing_id, room in _read_room_plans(rows, now_ms, furnishings):
        by_wing.setdefault(wing_id, []).append(room)
    wings = _push_wings_apart(
        [
            _wing_plan(wing, by_wing.get(wing.id, []), active_counts.get(wing.space_id, 0), furnishings.get(wing.id))
            for wing in read_wings(rows)
        ]
    )
    earliest, latest, recorded = _read_histogram(rows, _RECORDED)
    said_from, said_to, said = _read_histogram(rows, _SAID)
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


def _read_room_plans(rows: Rows, now_ms: int, furnishings: Mapping[str, Furnishing]) -> Iterator[tuple[str, RoomPlan]]:
    """Every room with the id of its wing."""
    faint, landmarks, alcoves = dict(rows.all(_FAINT)), read_landmarks(rows), read_alcoves(rows)
    placed = {room_id: (count, density) for room_id, count, density in rows.all(_ROOMS)}
    since = now_ms - FRESH_MS
    is_all_fresh = rows.one(_IS_OLDER, (since,)) is None
    fresh = {} if is_all_fresh else dict(rows.all(_FRESH, (since,)))
    for room in read_rooms(rows):
        all_there, density = placed.get(room.id, (0, 0))
        count = all_there - faint.get(room.id, 0)
        yield (
            room.wing_id,
            RoomPlan(
                room.id,
                room.name,
                room.x,
                room.y,
                room.w,
                room.h,
                count,
                density,
                room.made_by,
                furnishings.get(room.id),
                landmarks.get(room.id, ()),
                alcoves.get(room.id, ()),
                count if is_all_fresh else fresh.get(room.id, 0),
            ),
        )


def _wing_plan(wing: Wing, inside: Sequence[RoomPlan], active_count: int, furnishing: Furnishing | None) -> WingPlan:
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
        max(0, active_count - count),
        tuple(inside),
        furnishing,
    )


def _push_wings_apart(wings: Sequence[WingPlan]) -> tuple[WingPlan, ...]:
    """Wings in their order; one that grew beyond its first ground pushes those to its right aside."""
    found: list[WingPlan] = []
    right = 0.0
    for wing in wings:
        x = max(wing.x, right)
        found.append(replace(wing, x=x))
        right = x + wing.w + 4 * GAP
    return tuple(found)


def _read_histogram(rows: Rows, queries: tuple[str, str]) -> tuple[int | None, int | None, tuple[int, ...]]:
    """Earliest and latest time (epoch ms), and counts in `BINS` equal spans; nothing and one 0 where none is."""
    low, high = rows.one(queries[0]) or (None, None)
    if low is None or high is None:
        return None, None, (0,) * BINS
    times = np.array(rows.all(queries[1]), np.float64).reshape(-1)
    counts, _ = np.histogram(times, bins=BINS, range=(float(low), float(max(high, low + 1))))
    return int(low), int(high), tuple(int(count) for count in counts)


def read_loci(rows: Rows, room_id: str, now_ms: int) -> Loci:
    """All loci of a room, the faint ones too.

    Args:
        now_ms: the present, epoch ms; strength fades towards it.

    Returns:
        Columns ordered by label.

    Raises:
        UserError: NOT_FOUND.
    """
    if read_room(rows, room_id) is None:
        raise UserError(Code.NOT_FOUND, "There is no such room.")
    read = rows.all(_LOCI, (room_id,))
    found: Any = list(zip(*read, strict=True)) or [()] * _LOCUS
    return Loci(
        room_id=room_id,
        ids=tuple(found[0]),
        n=np.array(found[1], np.int64),
        x=_float32_array(found[2]),
        y=_float32_array(found[3]),
        kind=np.array([_KINDS[kind] for kind in found[4]], np.int8),
        status=np.array([_STATUSES[status] for status in found[5]], np.int8),
        trust=_float32_array(found[6]),
        strength=read_strengths([row[_LOCUS:] for row in read], now_ms).astype(np.float32),
        importance=_float32_array(found[7]),
        recorded_at=np.array(found[8], np.int64),
        retired_at=np.array([_ALWAYS if at is None else at for at in found[9]], np.int64),
        said_at=np.array([own if at is None else at for at, own in zip(found[10], found[8], strict=True)], np.int64),
        pinned=np.array(found[11], np.bool_),
        moved=np.array([by == "owner" for by in found[12]], np.bool_),
        ground=np.array(found[13], np.bool_),
    )


def _float32_array(values: Sequence[float]) -> NDArray[np.float32]:
    """Values as float32, as the window draws them."""
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


_HOLDS_PLACES = ("move_locus", "merge_rooms", "make_room", "undo", "unimport", "revise")
"""Verbs whose steps may have taken a memory from its place."""
_HOLDS_ROOMS = ("move_room", "merge_rooms", "undo", "unimport")

Places = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Wing:
    """A wing's row.

    Attributes:
        x: its left edge in the palace.
        w: the width of its ground.
    """

    id: str
    space_id: str
    name: str
    x: float
    w: float


@dataclass(frozen=True, slots=True)
class Room:
    """A room's row; edges inside its wing."""

    id: str
    wing_id: str
    space_id: str
    name: str
    x: float
    y: float
    w: float
    h: float
    made_by: str


_OVERLAP = (
    "SELECT 1 FROM rooms WHERE parent_id = :parent_id AND id <> :id "
    "AND x < :x + :w AND :x < x + w AND y < :y + :h AND :y < y + h"
)
_WING = (
    "SELECT r.id, r.space_id, s.name, r.x, r.w FROM rooms r JOIN spaces s ON s.id = r.space_id "
    "WHERE r.parent_id IS NULL"
)
# The ids and the spaces are compared in two indexes: reading every memory for its space would take ten times as long.
_MISPLACED = (
    "SELECT p.memory_id FROM rooms r CROSS JOIN places p ON p.room_id = r.id "
    "CROSS JOIN memories w ON w.id = p.memory_id WHERE r.space_id = ? "
    "AND w.n NOT IN (SELECT m.n FROM memories m INDEXED BY ix_memories_scope WHERE m.space_id = ?) ORDER BY p.memory_id"
)
_ROOM = "SELECT id, parent_id, space_id, name, x, y, w, h, made_by FROM rooms WHERE parent_id IS NOT NULL"


def read_wings(rows: Rows) -> tuple[Wing, ...]:
    """All wings, from left to right."""
    return tuple(Wing(*row) for row in rows.all(f"{_WING} ORDER BY r.x, r.id"))


def find_wing(rows: Rows, space_id: str) -> Wing | None:
    """The wing of a space, or None."""
    found = rows.one(f"{_WING} AND r.space_id = ?", (space_id,))
    return None if found is None else Wing(*found)


def read_rooms(rows: Rows, wing_id: str | None = None) -> tuple[Room, ...]:
    """Rooms in the order they were made.

    Args:
        wing_id: of this wing; None for all.
    """
    if wing_id is None:
        return tuple(Room(*row) for row in rows.all(f"{_ROOM} ORDER BY id"))
    return tuple(Room(*row) for row in rows.all(f"{_ROOM} AND parent_id = ? ORDER BY id", (wing_id,)))


def read_room(rows: Rows, room_id: str) -> Room | None:
    """The room of an id, or None."""
    found = rows.one(f"{_ROOM} AND id = ?", (room_id,))
    return None if found is None else Room(*found)


def insert_wing(tx: Tx, wing_id: str, space_id: str, w: float, h: float, look: Look) -> Wing:
    """Give a space its wing, to the right of all others.

    Args:
        w: the width of its ground, plan units.
        h: how high it is at first.
    """
    x = float(tx.value("SELECT coalesce(max(x + w + ?), 0) FROM rooms WHERE parent_id IS NULL", (4 * GAP,)))
    name = str(tx.value("SELECT name FROM spaces WHERE id = ?", (space_id,)))
    rect = {"x": x, "y": 0.0, "w": w, "h": h}
    row = {"id": wing_id, "space_id": space_id, "parent_id": None, "name": name, "made_by": "lifecycle"}
    seen = {"tint": look.tint, "outline": look.outline, "floor": look.floor}
    tx.insert("rooms", {**row, **rect, **seen, "created_at": tx.now_ms})
    return Wing(wing_id, space_id, name, x, w)


def insert_room(tx: Tx, new: Room) -> None:
    """Add a room."""
    row = {"id": new.id, "space_id": new.space_id, "parent_id": new.wing_id, "name": new.name, "made_by": new.made_by}
    tx.insert("rooms", {**row, "x": new.x, "y": new.y, "w": new.w, "h": new.h, "created_at": tx.now_ms})


def insert_alcoves(tx: Tx, alcoves: Iterable[tuple[str, Alcove]]) -> None:
    """Add alcoves.

    Args:
        alcoves: room id and alcove.
    """
    for room_id, new in alcoves:
        edges = {"x": new.x, "y": new.y, "w": new.w, "h": new.h}
        tx.insert("alcoves", {"id": new.id, "room_id": room_id, "name": new.name, **edges})


def insert_landmarks(tx: Tx, landmarks: Iterable[tuple[str, int, str]]) -> None:
    """Add landmarks that the scheduler chose.

    Args:
        landmarks: room id, position, memory id.
    """
    for room_id, position, memory_id in landmarks:
        if tx.row("landmarks", {"room_id": room_id, "position": position}) is not None:
            continue  # the person chose one meanwhile
        free_landmark(tx, memory_id)
        row = {"room_id": room_id, "position": position, "memory_id": memory_id}
        tx.insert("landmarks", {**row, "chosen_by": "lifecycle"})


def make_place_row(memory_id: str, room_id: str, place: Sequence[float], placed_by: str) -> dict[str, object]:
    """A row of `places`."""
    return {
        "memory_id": memory_id,
        "room_id": room_id,
        "x": float(place[0]),
        "y": float(place[1]),
        "placed_by": placed_by,
    }


def read_room_loci(rows: Rows, room_id: str) -> tuple[NDArray[np.int64], list[str], Places]:
    """Who stands in a room, and where; in the order they came.

    Returns:
        Labels, ids, and places (n, 2).
    """
    found = rows.all(
        "SELECT m.n, p.memory_id, p.x, p.y FROM places p JOIN memories m ON m.id = p.memory_id "
        "WHERE p.room_id = ? ORDER BY p.rowid",
        (room_id,),
    )
    labels = np.fromiter((row[0] for row in found), np.int64, len(found))
    places = np.array([row[2:] for row in found], np.float64).reshape(-1, 2)
    return labels, [row[1] for row in found], places


def sample_labels(rows: Rows, room_id: str, most: int) -> NDArray[np.int64]:
    """Labels of the first that came into a room: always the same ones, so that its centre stays."""
    found = rows.all(
        "SELECT m.n FROM places p JOIN memories m ON m.id = p.memory_id WHERE p.room_id = ? ORDER BY p.rowid LIMIT ?",
        (room_id, most),
    )
    return np.fromiter((row[0] for row in found), np.int64, len(found))


def count_by_room(rows: Rows, wing_id: str) -> Mapping[str, int]:
    """How many stand in each room of a wing, the faint ones too."""
    return dict(
        rows.all(
            "SELECT r.id, count(p.room_id) FROM rooms r LEFT JOIN places p ON p.room_id = r.id "
            "WHERE r.parent_id = ? GROUP BY r.id",
            (wing_id,),
        )
    )


def reserved_places(rows: Rows, room_ids: Iterable[str]) -> Mapping[str, Places]:
    """Places that somebody would come back to with an undo or a redo; the scheduler leaves them free.

    Returns:
        Room to places (n, 2); only rooms that have any.
    """
    found = rows.all(
        "SELECT json_extract(u.before, '$.room_id'), json_extract(u.before, '$.x'), json_extract(u.before, '$.y') "
        "FROM undo_steps s CROSS JOIN undo_rows u ON u.step_id = s.id "
        "WHERE s.undone_by IS NULL AND s.verb IN (SELECT value FROM json_each(?)) AND u.tbl = 'places' "
        "AND u.before IS NOT NULL AND json_extract(u.before, '$.room_id') IN (SELECT value FROM json_each(?))",
        (json.dumps(_HOLDS_PLACES), json.dumps(list(room_ids))),
    )
    by_room: dict[str, list[tuple[float, float]]] = {}
    for room_id, x, y in found:
        by_room.setdefault(room_id, []).append((x, y))
    return {room_id: np.unique(np.array(places, np.float64), axis=0) for room_id, places in by_room.items()}


def reserved_rects(rows: Rows, wing_id: str) -> list[tuple[float, float, float, float]]:
    """Grounds of rooms that would come back with an undo or a redo: left edge, upper edge, width, height.

    Returns:
        One for each.
    """
    return rows.all(
        "SELECT json_extract(u.before, '$.x'), json_extract(u.before, '$.y'), json_extract(u.before, '$.w'), "
        "json_extract(u.before, '$.h') FROM undo_steps s CROSS JOIN undo_rows u ON u.step_id = s.id "
        "WHERE s.undone_by IS NULL AND s.verb IN (SELECT value FROM json_each(?)) AND u.tbl = 'rooms' "
        "AND u.before IS NOT NULL AND json_extract(u.before, '$.parent_id') = ?",
        (json.dumps(_HOLDS_ROOMS), wing_id),
    )


class PlaceCheck:
    """Tells an undo whether something else stands where a row of the plan would come back to."""

    def __init__(self) -> None:
        self._rooms: dict[str, dict[tuple[float, float], str]] = {}
        self._walls: dict[str, tuple[float, float, list[Rect]]] = {}

    def is_taken(self, rows: Rows, table: str, row: Mapping[str, Any]) -> bool:
        """Whether undo must leave a row.

        Args:
            rows: the undo's transaction.
            table: only rows of `places` and `rooms` can stand in each other's way.
            row: the row as it would be.

        Returns:
            Whether its place, or a part of its ground, is taken. A place of before its room was laid anew, which is
            outside the walls now or on an alcove's name, counts as taken.
        """
        if table == "rooms" and row["parent_id"] is not None:
            return rows.one(_OVERLAP, row) is not None
        if table != "places":
            return False
        if not self._is_in_room(rows, row):
            return True
        spots = self._rooms.get(row["room_id"])
        if spots is None:
            found = rows.all("SELECT x, y, memory_id FROM places WHERE room_id = ?", (row["room_id"],))
            spots = self._rooms[row["room_id"]] = {(x, y): memory_id for x, y, memory_id in found}
        other = spots.get((row["x"], row["y"]))
        if other is None or other == row["memory_id"]:
            return False
        still = rows.one("SELECT room_id, x, y FROM places WHERE memory_id = ?", (other,))
        return still == (row["room_id"], row["x"], row["y"])

    def _is_in_room(self, rows: Rows, row: Mapping[str, Any]) -> bool:
        """Whether a place is one of its room; a room that is not there yet comes back with its place."""
        room_id = row["room_id"]
        if room_id not in self._walls:
            room = read_room(rows, room_id)
            if room is None:
                return True
            self._walls[room_id] = room.w, room.h, name_grounds(read_alcoves(rows).get(room_id, ()))
        w, h, closed = self._walls[room_id]
        return is_free_grid_point(w, h, row["x"], row["y"], closed)

    def note(self, table: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> None:
        """Follow a change of a row.

        Args:
            before: as it was; None where there was none.
            after: as it is; None where there is none.
        """
        if table in ("rooms", "alcoves"):
            self._walls.clear()
        if table != "places":
            return
        if before is not None and before["room_id"] in self._rooms:
            self._rooms[before["room_id"]].pop((before["x"], before["y"]), None)
        if after is not None and after["room_id"] in self._rooms:
            self._rooms[after["room_id"]][after["x"], after["y"]] = after["memory_id"]


def remove_places(tx: Tx, labels: Sequence[int]) -> None:
    """Free the places of memories that are about to vanish; an undo brings them back."""
    for label in labels:
        found = tx.value(
            "SELECT p.memory_id FROM memories m JOIN places p ON p.memory_id = m.id WHERE m.n = ?", (label,)
        )
        if found is not None:
            tx.delete("places", {"memory_id": found})
    forget_landmarks(tx, labels)


def find_misplaced(rows: Rows, memory_ids: Iterable[str] | None = None) -> list[str]:
    """Memories that stand in a room of another space than their own.

    Args:
        memory_ids: of these; None for all, which at 100,000 memories takes 0.15 s.
    """
    if memory_ids is None:
        spaces = rows.all("SELECT space_id FROM rooms WHERE parent_id IS NULL ORDER BY id")
        return [row[0] for (space_id,) in spaces for row in rows.all(_MISPLACED, (space_id, space_id))]
    found = rows.all(
        "SELECT p.memory_id FROM json_each(?) w CROSS JOIN places p ON p.memory_id = w.value "
        "JOIN rooms r ON r.id = p.room_id JOIN memories m ON m.id = p.memory_id WHERE m.space_id <> r.space_id",
        (json.dumps(sorted(memory_ids)),),
    )
    return [row[0] for row in found]


def remove_newcomers(tx: Tx, room_id: str) -> None:
    """Free the places that the scheduler gave in a room which an undo takes away; it gives others."""
    for (memory_id,) in tx.all(
        "SELECT memory_id FROM places WHERE room_id = ? AND placed_by = 'lifecycle'", (room_id,)
    ):
        tx.delete("places", {"memory_id": memory_id})
    strip_room(tx, room_id)


def remove_plan(tx: Tx, space_id: str) -> None:
    """Take away the empty rooms and the wing of a space that is about to vanish; an undo brings them back.

    Raises:
        UserError: something still stands in one of them.
    """
    for (room_id,) in tx.all("SELECT id FROM rooms WHERE space_id = ? ORDER BY parent_id IS NULL, id", (space_id,)):
        strip_room(tx, room_id)
        tx.delete("rooms", {"id": room_id})
