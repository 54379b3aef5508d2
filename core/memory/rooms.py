"""Rows of the floor plan: wings, rooms and places.

A wing is the row of its space without a parent; a room's parent is its wing. A wing's `w` is the width of its ground
and stays; how high it is follows from its rooms, so that growing changes no row and disturbs no undo. Must not do:
decide where something stands.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.types.views import GAP
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

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
_STRAYS = (
    "SELECT p.memory_id FROM rooms r CROSS JOIN places p ON p.room_id = r.id "
    "CROSS JOIN memories w ON w.id = p.memory_id WHERE r.space_id = ? "
    "AND w.n NOT IN (SELECT m.n FROM memories m INDEXED BY ix_memories_scope WHERE m.space_id = ?) ORDER BY p.memory_id"
)
_ROOM = "SELECT id, parent_id, space_id, name, x, y, w, h, made_by FROM rooms WHERE parent_id IS NOT NULL"


def read_wings(rows: Rows) -> tuple[Wing, ...]:
    """All wings, from left to right.

    Returns:
        Their rows.
    """
    return tuple(Wing(*row) for row in rows.all(f"{_WING} ORDER BY r.x, r.id"))


def find_wing(rows: Rows, space_id: str) -> Wing | None:
    """The wing of a space, or None."""
    found = rows.one(f"{_WING} AND r.space_id = ?", (space_id,))
    return None if found is None else Wing(*found)


def read_rooms(rows: Rows, wing_id: str | None = None) -> tuple[Room, ...]:
    """Rooms in the order they were made.

    Args:
        wing_id: of this wing; None for all.

    Returns:
        Their rows.
    """
    if wing_id is None:
        return tuple(Room(*row) for row in rows.all(f"{_ROOM} ORDER BY id"))
    return tuple(Room(*row) for row in rows.all(f"{_ROOM} AND parent_id = ? ORDER BY id", (wing_id,)))


def read_room(rows: Rows, room_id: str) -> Room | None:
    """The room of an id, or None."""
    found = rows.one(f"{_ROOM} AND id = ?", (room_id,))
    return None if found is None else Room(*found)


def insert_wing(tx: Tx, wing_id: str, space_id: str, w: float, h: float) -> Wing:
    """Give a space its wing, to the right of all others.

    Args:
        wing_id: its id.
        w: the width of its ground, plan units.
        h: how high it is at first.

    Returns:
        The wing.
    """
    x = float(tx.value("SELECT coalesce(max(x + w + ?), 0) FROM rooms WHERE parent_id IS NULL", (4 * GAP,)))
    name = str(tx.value("SELECT name FROM spaces WHERE id = ?", (space_id,)))
    ground = {"x": x, "y": 0.0, "w": w, "h": h}
    row = {"id": wing_id, "space_id": space_id, "parent_id": None, "name": name, "made_by": "lifecycle"}
    tx.insert("rooms", {**row, **ground, "created_at": tx.now_ms})
    return Wing(wing_id, space_id, name, x, w)


def insert_room(tx: Tx, new: Room) -> None:
    """Add a room.

    Args:
        new: its row.
    """
    row = {"id": new.id, "space_id": new.space_id, "parent_id": new.wing_id, "name": new.name, "made_by": new.made_by}
    tx.insert("rooms", {**row, "x": new.x, "y": new.y, "w": new.w, "h": new.h, "created_at": tx.now_ms})


def place_row(memory_id: str, room_id: str, place: Sequence[float], placed_by: str) -> dict[str, object]:
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

    Args:
        room_id: the room.

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
    """Labels of the first that came into a room: always the same ones, so that its centre stays.

    Args:
        room_id: the room.
        most: how many.

    Returns:
        Labels.
    """
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

    Args:
        room_ids: of these rooms.

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


def reserved_grounds(rows: Rows, wing_id: str) -> list[tuple[float, float, float, float]]:
    """Grounds of rooms that would come back with an undo or a redo: left edge, upper edge, width, height.

    Args:
        wing_id: of this wing.

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

    def is_taken(self, rows: Rows, table: str, row: Mapping[str, Any]) -> bool:
        """Whether undo must leave a row.

        Args:
            rows: the undo's transaction.
            table: only rows of `places` and `rooms` can stand in each other's way.
            row: the row as it would be.

        Returns:
            Whether its place, or a part of its ground, is taken.
        """
        if table == "rooms" and row["parent_id"] is not None:
            return rows.one(_OVERLAP, row) is not None
        if table != "places":
            return False
        spots = self._rooms.get(row["room_id"])
        if spots is None:
            found = rows.all("SELECT x, y, memory_id FROM places WHERE room_id = ?", (row["room_id"],))
            spots = self._rooms[row["room_id"]] = {(x, y): memory_id for x, y, memory_id in found}
        other = spots.get((row["x"], row["y"]))
        if other is None or other == row["memory_id"]:
            return False
        still = rows.one("SELECT room_id, x, y FROM places WHERE memory_id = ?", (other,))
        return still == (row["room_id"], row["x"], row["y"])

    def note(self, table: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> None:
        """Follow a change of a row.

        Args:
            table: whose row.
            before: as it was; None where there was none.
            after: as it is; None where there is none.
        """
        if table != "places":
            return
        if before is not None and before["room_id"] in self._rooms:
            self._rooms[before["room_id"]].pop((before["x"], before["y"]), None)
        if after is not None and after["room_id"] in self._rooms:
            self._rooms[after["room_id"]][after["x"], after["y"]] = after["memory_id"]


def remove_places(tx: Tx, labels: Iterable[int]) -> None:
    """Free the places of memories that are about to vanish; an undo brings them back.

    Args:
        labels: labels of memories.
    """
    for label in labels:
        found = tx.value(
            "SELECT p.memory_id FROM memories m JOIN places p ON p.memory_id = m.id WHERE m.n = ?", (label,)
        )
        if found is not None:
            tx.delete("places", {"memory_id": found})


def find_strays(rows: Rows, memory_ids: Iterable[str] | None = None) -> list[str]:
    """Memories that stand in a room of another space than their own.

    Args:
        memory_ids: of these; None for all, which at 100,000 memories takes 0.15 s.

    Returns:
        Their ids.
    """
    if memory_ids is None:
        spaces = rows.all("SELECT space_id FROM rooms WHERE parent_id IS NULL ORDER BY id")
        return [row[0] for (space_id,) in spaces for row in rows.all(_STRAYS, (space_id, space_id))]
    found = rows.all(
        "SELECT p.memory_id FROM json_each(?) w CROSS JOIN places p ON p.memory_id = w.value "
        "JOIN rooms r ON r.id = p.room_id JOIN memories m ON m.id = p.memory_id WHERE m.space_id <> r.space_id",
        (json.dumps(sorted(memory_ids)),),
    )
    return [row[0] for row in found]


def remove_newcomers(tx: Tx, room_id: str) -> None:
    """Free the places that the scheduler gave in a room which an undo takes away; it gives others.

    Args:
        room_id: the room.
    """
    for (memory_id,) in tx.all(
        "SELECT memory_id FROM places WHERE room_id = ? AND placed_by = 'lifecycle'", (room_id,)
    ):
        tx.delete("places", {"memory_id": memory_id})


def remove_plan(tx: Tx, space_id: str) -> None:
    """Take away the empty rooms and the wing of a space that is about to vanish; an undo brings them back.

    Raises:
        UserError: something still stands in one of them.
    """
    for (room_id,) in tx.all("SELECT id FROM rooms WHERE space_id = ? ORDER BY parent_id IS NULL, id", (space_id,)):
        tx.delete("rooms", {"id": room_id})
