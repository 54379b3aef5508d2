"""Rows of landmarks, alcoves and rehearsals: who a room is known by, what parts it has, how well one recalls it.

Must not do: choose a landmark.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

MOST = 6
"""Landmarks of a room at most."""


def strip_room(tx: Tx, room_id: str) -> None:
    """Take away the landmarks and alcoves of a room that is about to vanish; an undo brings them back."""
    for (position,) in tx.all("SELECT position FROM landmarks WHERE room_id = ? ORDER BY position", (room_id,)):
        tx.delete("landmarks", {"room_id": room_id, "position": position})
    for (alcove_id,) in tx.all("SELECT id FROM alcoves WHERE room_id = ? ORDER BY id", (room_id,)):
        tx.delete("alcoves", {"id": alcove_id})


def free_landmark(tx: Tx, memory_id: str) -> None:
    """Let a memory be the landmark of no room, so that it can become that of another."""
    for key in tx.all("SELECT room_id, position FROM landmarks WHERE memory_id = ?", (memory_id,)):
        tx.delete("landmarks", {"room_id": key[0], "position": key[1]})


def forget_landmarks(tx: Tx, labels: Sequence[int]) -> None:
    """Forget that memories which are about to vanish were landmarks, and how they were recalled."""
    found = tx.all(
        "SELECT m.id FROM json_each(:labels) w JOIN memories m ON m.n = w.value WHERE EXISTS "
        "(SELECT 1 FROM landmarks l WHERE l.memory_id = m.id) OR EXISTS "
        "(SELECT 1 FROM rehearsals r WHERE r.memory_id = m.id)",
        {"labels": json.dumps(list(labels))},
    )
    for (memory_id,) in found:
        free_landmark(tx, memory_id)
        tx.delete("rehearsals", {"memory_id": memory_id})


def carry_place(tx: Tx, old_id: str, new_id: str, *, is_moved: bool) -> None:
    """Give a new version the place of the old one, and what it is to its room.

    Args:
        is_moved: whether the new version is in another space; then it waits for a place there.
    """
    place = tx.row("places", {"memory_id": old_id})
    if place is not None:
        tx.delete("places", {"memory_id": old_id})
        if not is_moved:
            tx.insert("places", {**place, "memory_id": new_id})
    if is_moved:
        return
    for room_id, position in tx.all("SELECT room_id, position FROM landmarks WHERE memory_id = ?", (old_id,)):
        tx.update("landmarks", {"room_id": room_id, "position": position}, {"memory_id": new_id})
    recalled = tx.row("rehearsals", {"memory_id": old_id})
    if recalled is not None:
        tx.delete("rehearsals", {"memory_id": old_id})
        tx.insert("rehearsals", {**recalled, "memory_id": new_id})
