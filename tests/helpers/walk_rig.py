"""Landmarks put into rooms by hand, for the tests of the walk, whatever the engine would choose by itself."""

from __future__ import annotations

from engine_rig import Rig

from core.vault.database.tx import Tx


def remove_landmarks(tx: Tx) -> None:
    """No room has a landmark any more."""
    for (memory_id,) in tx.all("SELECT memory_id FROM landmarks"):
        tx.delete("landmarks", {"memory_id": memory_id})


def choose_landmarks(rig: Rig, each: int = 2, emblem: str = "house") -> list[str]:
    """The first memories of every room are its landmarks and every room has an emblem; nothing else is one."""

    def write(tx: Tx) -> list[str]:
        remove_landmarks(tx)
        chosen: list[str] = []
        for (room_id,) in tx.all("SELECT id FROM rooms WHERE parent_id IS NOT NULL ORDER BY y, x, id"):
            tx.update("rooms", {"id": room_id}, {"emblem": emblem, "tint": 1, "outline": 1, "floor": 1})
            found = tx.all(
                "SELECT p.memory_id FROM places p JOIN memories m ON m.id = p.memory_id WHERE p.room_id = ? "
                "AND m.status NOT IN ('deleted', 'superseded') ORDER BY m.n LIMIT ?",
                (room_id, each),
            )
            for position, (memory_id,) in enumerate(found):
                row = {"room_id": room_id, "position": position, "memory_id": memory_id, "chosen_by": "lifecycle"}
                tx.insert("landmarks", row)
                chosen.append(str(memory_id))
        return chosen

    ids: list[str] = rig.write(write)
    return ids


def first_wing(rig: Rig) -> str:
    """The id of the first wing."""
    return str(rig.value("SELECT id FROM rooms WHERE parent_id IS NULL ORDER BY x"))
