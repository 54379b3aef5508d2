"""What a room is recognised by: its furnishing, its landmarks and alcoves; and which memories are mere ground in it.

Must not do: choose any of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from core.memory.landmark_words import READ_CHARACTERS, landmark_words
from core.types.values import Kind
from core.types.views import Alcove, Furnishing, Landmark
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

OPENING_CHARACTERS = 200
GROUND = (
    "(EXISTS (SELECT 1 FROM readings told WHERE told.memory_id = m.id AND told.small_talk = 1) OR (m.kind = 'episode' "
    "AND EXISTS (SELECT 1 FROM statements said JOIN memories made ON made.id = said.memory_id "
    "WHERE said.episode_id = m.id AND made.status <> 'deleted')))"
)
"""Whether `m` is the ground others stand on: small talk, or an episode of which a statement was made."""
MAY_MARK = "m.status NOT IN ('superseded', 'deleted', 'quarantined')"
"""Whether `m` may be a landmark: what waits for a decision is not put on a wall."""
_LANDMARKS = (
    f"SELECT l.room_id, l.memory_id, substr(m.text, 1, {READ_CHARACTERS}), m.kind, l.position, p.x, p.y, "  # noqa: S608 - constants
    "coalesce(m.occurred_at, m.recorded_at), l.chosen_by, "
    "CASE WHEN m.kind = 'episode' AND m.role <> 'user' THEN m.author END "
    "FROM landmarks l CROSS JOIN memories m ON m.id = l.memory_id "
    f"JOIN places p ON p.memory_id = l.memory_id AND p.room_id = l.room_id WHERE {MAY_MARK} "
    "ORDER BY l.room_id, l.position"
)
_OF_MEMORY = ("rehearsals", "unset_landmarks")
"""What is kept of a landmark, whatever its words and its space."""
_FURNISHING = "SELECT id, emblem, tint, outline, floor FROM rooms WHERE emblem IS NOT NULL"


def read_furnishings(rows: Rows) -> Mapping[str, Furnishing]:
    """Room or wing to its furnishing; those that have none yet are left out."""
    return {room_id: Furnishing(*columns) for room_id, *columns in rows.all(f"{_FURNISHING} AND tint IS NOT NULL")}


def read_landmarks(rows: Rows) -> Mapping[str, tuple[Landmark, ...]]:
    """Room to its landmarks that stand, by position."""
    found: dict[str, list[Landmark]] = {}
    for room_id, memory_id, opening, kind, position, x, y, at, chosen_by, speaker in rows.all(_LANDMARKS):
        head = landmark_words(opening, OPENING_CHARACTERS)
        made = Landmark(memory_id, head, Kind(kind), position, x, y, at, chosen_by, speaker or "")
        found.setdefault(room_id, []).append(made)
    return {room_id: tuple(marks) for room_id, marks in found.items()}


def read_alcoves(rows: Rows) -> Mapping[str, tuple[Alcove, ...]]:
    """Room to its alcoves, from the top."""
    found: dict[str, list[Alcove]] = {}
    for room_id, *columns in rows.all("SELECT room_id, id, name, x, y, w, h FROM alcoves ORDER BY room_id, y, x"):
        found.setdefault(room_id, []).append(Alcove(*columns))
    return {room_id: tuple(alcoves) for room_id, alcoves in found.items()}


def strip_room(tx: Tx, room_id: str) -> None:
    """Take away the landmarks and alcoves of a room that is about to vanish; an undo brings them back."""
    for (position,) in tx.all("SELECT position FROM landmarks WHERE room_id = ? ORDER BY position", (room_id,)):
        tx.delete("landmarks", {"room_id": room_id, "position": position})
    remove_alcoves(tx, room_id)


def read_alcove_names(rows: Rows, wing_id: str) -> tuple[str, ...]:
    """The names of all alcoves in the rooms of a wing."""
    sql = "SELECT a.name FROM alcoves a JOIN rooms r ON r.id = a.room_id WHERE r.parent_id = ? ORDER BY a.id"
    return tuple(str(name) for (name,) in rows.all(sql, (wing_id,)))


def remove_alcoves(tx: Tx, room_id: str) -> None:
    """Take away the alcoves of a room."""
    for (alcove_id,) in tx.all("SELECT id FROM alcoves WHERE room_id = ? ORDER BY id", (room_id,)):
        tx.delete("alcoves", {"id": alcove_id})


def free_landmark(tx: Tx, memory_id: str) -> None:
    """Let a memory be the landmark of no room, so that it can become that of another."""
    for key in tx.all("SELECT room_id, position FROM landmarks WHERE memory_id = ?", (memory_id,)):
        tx.delete("landmarks", {"room_id": key[0], "position": key[1]})


def forget_landmarks(tx: Tx, labels: Sequence[int]) -> None:
    """Forget that memories which are about to vanish were landmarks, or were to be none; an undo brings that back."""
    wanted = json.dumps(list(labels))
    among = "SELECT l.memory_id FROM json_each(?) w JOIN memories m ON m.n = w.value JOIN {} l ON l.memory_id = m.id"
    for (memory_id,) in tx.all(among.format("landmarks"), (wanted,)):
        free_landmark(tx, memory_id)
    for (memory_id,) in tx.all(among.format("unset_landmarks"), (wanted,)):
        tx.delete("unset_landmarks", {"memory_id": memory_id})


def carry_place(tx: Tx, old_id: str, new_id: str, *, is_moved: bool) -> None:
    """Give a new version the place of the old one, what it is to its room, and how well it is recalled.

    Args:
        is_moved: whether the new version is in another space; then it waits for a place there.
    """
    for table in _OF_MEMORY:
        _carry_row(tx, table, old_id, new_id)
    place = tx.row("places", {"memory_id": old_id})
    if is_moved:
        tx.delete("places", {"memory_id": old_id})
        free_landmark(tx, old_id)
        return
    if place is not None:
        # Trigger: the new version waited for a decision. Why: what waits has a place of its own, and may be a
        # landmark. Outcome: it leaves both.
        free_landmark(tx, new_id)
        _carry_row(tx, "places", old_id, new_id)
    for room_id, position in tx.all("SELECT room_id, position FROM landmarks WHERE memory_id = ?", (old_id,)):
        tx.update("landmarks", {"room_id": room_id, "position": position}, {"memory_id": new_id})


def _carry_row(tx: Tx, table: str, old_id: str, new_id: str) -> None:
    """Give one memory the row of another, in the place of what it has."""
    row = tx.row(table, {"memory_id": old_id})
    if row is not None:
        tx.delete(table, {"memory_id": new_id})
        tx.delete(table, {"memory_id": old_id})
        tx.insert(table, {**row, "memory_id": new_id})
