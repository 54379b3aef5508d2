"""What a room or a wing of the palace holds, in a few figures and memories: for whoever looks at it from outside.

Must not do: choose a landmark, or decide where something stands.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from core.errors import Code, UserError
from core.memory.floor_plan import FRESH_MS, Room, Wing, read_room, read_rooms, read_wings
from core.memory.landmarks import GROUND, MAY_MARK, read_furnishings
from core.recall.browse.library import read_memory_rows
from core.types.values import Kind
from core.types.views import PlacePerson, PlaceSummary
from core.vault.database.rows import Rows
from core.vault.memory_sql import ENTITY_TYPE

LANDMARKS, NEWEST, PEOPLE = 6, 3, 6
"""Memories and people that are named, at most; our choice."""

_INSIDE = (
    "FROM json_each(:rooms) w CROSS JOIN places p ON p.room_id = w.value JOIN memories m ON m.id = p.memory_id "
    "WHERE m.status NOT IN ('superseded', 'deleted')"
)
_KINDS = (
    "SELECT m.kind, count(*), min(coalesce(m.occurred_at, m.recorded_at)), "
    f"max(coalesce(m.occurred_at, m.recorded_at)), sum(m.recorded_at >= :since) {_INSIDE} GROUP BY m.kind"
)
_NEWEST = (
    f"SELECT m.id {_INSIDE} AND m.recorded_at >= :since ORDER BY {GROUND}, m.recorded_at DESC, m.n DESC LIMIT {NEWEST}"
)
# Of a room all, by position; of a wing the first of each room, the fullest room first.
_LANDMARKS = (
    "SELECT l.memory_id FROM json_each(:rooms) w CROSS JOIN landmarks l ON l.room_id = w.value "  # noqa: S608
    f"JOIN memories m ON m.id = l.memory_id WHERE {MAY_MARK} ORDER BY l.position, "
    f"(SELECT count(*) FROM places p WHERE p.room_id = l.room_id) DESC, l.room_id LIMIT {LANDMARKS}"
)
_PEOPLE = (
    "SELECT e.id, e.name, count(DISTINCT m.id) AS named "
    f"{_INSIDE.replace('WHERE', 'JOIN mentions n ON n.memory_id = m.id JOIN entities e ON e.id = n.entity_id WHERE')} "
    f"AND e.merged_into_id IS NULL AND {ENTITY_TYPE} = 'person' AND n.start_at >= 0 "
    f"GROUP BY e.id ORDER BY named DESC, e.name COLLATE NOCASE, e.id LIMIT {PEOPLE}"
)


class _Ground(NamedTuple):
    """A room, or a wing with its rooms."""

    place: Room | Wing
    space: str
    rooms: tuple[str, ...]


def read_place_summary(rows: Rows, place_id: str, now_ms: int) -> PlaceSummary:
    """What a room or a wing holds; counts are those of the floor plan.

    Args:
        place_id: of a room, or of a wing.
        now_ms: the present, epoch ms; what was recorded within `FRESH_MS` before it is new.

    Returns:
        Figures, landmarks, what is new, and the people it names most.

    Raises:
        UserError: NOT_FOUND.
    """
    ground = _find_ground(rows, place_id)
    inside = {"rooms": json.dumps(ground.rooms), "since": now_ms - FRESH_MS}
    counted = rows.all(_KINDS, inside)
    counts = {str(kind): int(count) for kind, count, *_ in counted}
    return PlaceSummary(
        id=place_id,
        name=ground.place.name,
        space=ground.space,
        rooms=len(ground.rooms) if isinstance(ground.place, Wing) else 0,
        furnishing=read_furnishings(rows).get(place_id),
        kinds={kind: counts[kind.value] for kind in Kind if kind.value in counts},
        first=min((int(row[2]) for row in counted), default=None),
        last=max((int(row[3]) for row in counted), default=None),
        landmarks=read_memory_rows(rows, _ids_of_rows(rows.all(_LANDMARKS, inside)), now_ms),
        fresh=sum(int(row[4]) for row in counted),
        newest=read_memory_rows(rows, _ids_of_rows(rows.all(_NEWEST, inside)), now_ms),
        people=tuple(PlacePerson(str(one), str(name), int(named)) for one, name, named in rows.all(_PEOPLE, inside)),
    )


def _find_ground(rows: Rows, place_id: str) -> _Ground:
    room, wings = read_room(rows, place_id), read_wings(rows)
    if room is not None:
        space = next((wing.name for wing in wings if wing.id == room.wing_id), "")
        return _Ground(room, space, (room.id,))
    wing = next((wing for wing in wings if wing.id == place_id), None)
    if wing is None:
        raise UserError(Code.NOT_FOUND, "There is no such room or wing.")
    return _Ground(wing, wing.name, tuple(one.id for one in read_rooms(rows, wing.id)))


def _ids_of_rows(found: Sequence[tuple[object, ...]]) -> tuple[str, ...]:
    return tuple(str(row[0]) for row in found)
