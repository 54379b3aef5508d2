"""Lays a wing of an older version anew, once: its rooms were as wide as places are high, and its places hold cards now.

A wing in which the person made, named or moved a room is stretched, so that everything keeps its neighbours; another is
laid out as a new one would be. Where the person put a memory, it stays as near as it can; the others stand about the
landmarks of their room. Must not do: touch a wing that was laid since.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.lifecycle.palace.clarity import theme_of
from core.lifecycle.palace.context import LABEL, VERB, PalaceContext
from core.lifecycle.palace.room_choice import Vectors, rect_of
from core.lifecycle.palace.room_layout import RoomLayout, RoomMembers, lay_out_room
from core.lifecycle.palace.room_texts import speaker_stems
from core.memory import floor_plan as stored
from core.memory.floor_plan import Places, Room, Wing
from core.memory.landmarks import read_alcoves, remove_alcoves
from core.score.appearance import choose_look
from core.score.floor_plan import WING_ASPECT, Grid, Rect, is_free_grid_point, lay_out, stretch_rooms
from core.score.room_sections import name_grounds
from core.types.values import LIFECYCLE_ACTOR
from core.types.views import Alcove
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

_BATCH = 2_000
_FORMER_ASPECT = 1.5
_OF_OLD = "SELECT id FROM rooms WHERE parent_id IS NULL AND tint IS NULL"


@dataclass(frozen=True, slots=True)
class _Move:
    """A memory and where it goes: from the place it was read at to another of the same room.

    Attributes:
        is_owners: whether the person put it there.
    """

    memory_id: str
    room_id: str
    before: tuple[float, float]
    after: tuple[float, float]
    is_owners: bool


@dataclass(frozen=True, slots=True)
class _OldWing:
    """A wing as it was read.

    Attributes:
        sizes: memories of each room.
        is_begun: whether its rooms stand on their new ground, because a run was interrupted after that.
    """

    wing: Wing
    rooms: tuple[Room, ...]
    sizes: tuple[int, ...]
    is_begun: bool


@dataclass(frozen=True, slots=True)
class _NewRoom:
    """A room on its new ground."""

    room: Room
    alcoves: tuple[Alcove, ...]
    landmarks: tuple[str, ...]


def has_old_plan(rows: Rows) -> bool:
    """Whether a wing stands as an older version laid it."""
    return rows.one(f"{_OF_OLD} LIMIT 1") is not None


def lay_old_wings(site: PalaceContext) -> int:
    """Lay every wing anew that an older version laid.

    Returns:
        How many memories got another place.

    Raises:
        LociError: VAULT_LOCKED; a wing that is not done begins anew with the next run.
    """
    moved = 0
    for (wing_id,) in site.read(lambda rows: rows.all(f"{_OF_OLD} ORDER BY id")):
        moved += _lay_wing(site, wing_id)
    return moved


def _lay_wing(site: PalaceContext, wing_id: str) -> int:
    while True:
        old = site.read(lambda rows: _read_old_wing(rows, wing_id))
        moved = 0 if old is None else _write_wing(site, old)
        if moved is not None:
            return moved


def _read_old_wing(rows: Rows, wing_id: str) -> _OldWing | None:
    wing = next((one for one in stored.read_wings(rows) if one.id == wing_id), None)
    if wing is None:
        return None
    rooms, counts = stored.read_rooms(rows, wing_id), stored.count_by_room(rows, wing_id)
    is_begun = rows.value("SELECT outline IS NOT NULL FROM rooms WHERE id = ?", (wing_id,))
    return _OldWing(wing, rooms, tuple(counts.get(room.id, 0) for room in rooms), bool(is_begun))


def _write_wing(site: PalaceContext, old: _OldWing) -> int | None:
    """Lay a wing anew; None where the person changed its rooms meanwhile, so that it must be read again."""
    new: list[_NewRoom] = []
    moves: list[_Move] = []
    for room, rect in zip(old.rooms, _new_room_rects(old), strict=True):
        site.check_not_closing()
        new_room, moved = _lay_room(site, room, rect)
        new.append(new_room)
        moves += moved
    # Where the person put a memory is told by its room's former size: it must not be read after that is gone.
    own, others = [move for move in moves if move.is_owners], [move for move in moves if not move.is_owners]
    if not site.write(lambda tx: _write_room_rects(tx, site, old, new, own)):
        return None
    for low in range(0, len(others), _BATCH):
        site.check_not_closing()
        part = others[low : low + _BATCH]
        site.write(lambda tx: _write_moves(tx, site, old.wing, part))  # noqa: B023 - waited for
    site.write(lambda tx: _finish_wing(tx, site, old.wing, new))
    return len(moves)


def _new_room_rects(old: _OldWing) -> Sequence[Rect]:
    if old.is_begun:
        return [rect_of(room) for room in old.rooms]
    if any(room.made_by == "owner" for room in old.rooms):
        narrow = math.sqrt(WING_ASPECT / _FORMER_ASPECT)
        return stretch_rooms([rect_of(room) for room in old.rooms], old.sizes, narrow)
    return lay_out(old.sizes)


def _lay_room(site: PalaceContext, room: Room, rect: Rect) -> tuple[_NewRoom, list[_Move]]:
    new = Room(
        room.id,
        room.wing_id,
        room.space_id,
        room.name,
        float(rect.x),
        float(rect.y),
        float(rect.w),
        float(rect.h),
        room.made_by,
    )
    labels, ids, places = site.read(lambda rows: stored.read_room_loci(rows, room.id))
    talks, is_owners, speakers = site.read(lambda rows: _read_talks_and_speakers(rows, room.id))
    if not len(labels):
        return _NewRoom(new, (), ()), []
    found, vectors = site.fetch_vectors(labels)
    fetched = np.zeros((len(labels), vectors.shape[1] if vectors.ndim == 2 and vectors.shape[1] else 1), np.float32)
    fetched[np.isin(labels, found)] = vectors
    members = RoomMembers(labels, fetched, np.array(talks, np.int64), theme_of(room.name), speakers)
    layout = lay_out_room(site, new, members) if _has_room_for(new, len(labels)) else _is_crowded(labels)
    after = _settle_places(room, new, places, np.array(is_owners, np.bool_), layout)
    moves = [
        _Move(ids[at], room.id, (float(places[at, 0]), float(places[at, 1])), after[at], is_owners[at])
        for at in range(len(ids))
    ]
    return _NewRoom(new, layout.alcoves, tuple(ids[mark] for mark in layout.landmarks)), moves


def _has_room_for(room: Room, count: int) -> bool:
    return (room.w - 2) * (room.h - 3) >= count


def _is_crowded(labels: Vectors | np.ndarray) -> RoomLayout:
    """In a room with more memories than places everyone looks for the nearest place, on a finer grid."""
    return RoomLayout(np.full((len(labels), 2), np.nan, np.float64), (), ())


def _settle_places(
    old: Room, new: Room, places: Places, is_owners: np.ndarray, layout: RoomLayout
) -> list[tuple[float, float]]:
    """Whom the person placed comes first, where it stood in the room; the others where they were laid."""
    grid = Grid(new.w, new.h, np.empty((0, 2)), name_grounds(layout.alcoves))
    found: list[tuple[float, float]] = [(0.0, 0.0)] * len(places)
    for at in np.argsort(~is_owners, kind="stable").tolist():
        x, y = layout.places[at].tolist()
        if is_owners[at] or math.isnan(x):
            x, y = places[at, 0] / old.w * new.w, places[at, 1] / old.h * new.h
        found[at] = grid.take_nearest(min(float(x), new.w), min(float(y), new.h))
    return found


def _read_talks_and_speakers(rows: Rows, room_id: str) -> tuple[list[int], list[bool], frozenset[str]]:
    """The conversation of each as a number, whether the person put it there, and who speaks; in the order they came."""
    numbers: dict[str, int] = {}
    found = rows.all(
        "SELECT m.conversation_id, p.placed_by, m.author FROM places p JOIN memories m ON m.id = p.memory_id "
        "WHERE p.room_id = ? ORDER BY p.rowid",
        (room_id,),
    )
    talks = [-1 if talk is None else numbers.setdefault(talk, len(numbers)) for talk, _, _ in found]
    return talks, [by == "owner" for _, by, _ in found], speaker_stems({author for _, _, author in found})


# ---- writing


def _write_room_rects(
    tx: Tx, site: PalaceContext, old: _OldWing, new: Sequence[_NewRoom], own: Sequence[_Move]
) -> bool:
    """Write the rooms and what the person placed; False where the rooms are no longer as they were read."""
    if stored.read_rooms(tx, old.wing.id) != old.rooms:
        return False
    with site.work.verb(tx, VERB, LABEL, LIFECYCLE_ACTOR) as verb:
        tx.recorder = None  # no step: the plan of an older version cannot be drawn any more
        wide = max((new_room.room.x + new_room.room.w for new_room in new), default=0.0)
        # With its outline the wing counts as begun: a run that comes after an interrupted one leaves the grounds alone.
        outline = choose_look(old.wing.id, (), ()).outline
        tx.update("rooms", {"id": old.wing.id}, {"w": max(wide, stored.LEAST_WING), "outline": outline})
        for new_room in new:
            room = new_room.room
            tx.update("rooms", {"id": room.id}, {"x": room.x, "y": room.y, "w": room.w, "h": room.h})
            remove_alcoves(tx, room.id)
            stored.insert_alcoves(tx, [(room.id, alcove) for alcove in new_room.alcoves])
        _move_memories(tx, own)
        verb.note_audit(old.wing.id, rooms=len(new))
    return True


def _write_moves(tx: Tx, site: PalaceContext, wing: Wing, part: Sequence[_Move]) -> None:
    with site.work.verb(tx, VERB, LABEL, LIFECYCLE_ACTOR) as verb:
        tx.recorder = None
        _move_memories(tx, part)
        verb.note_audit(wing.id, moved=len(part))


def _move_memories(tx: Tx, moves: Sequence[_Move]) -> None:
    """Move who still stands where it was read; the others stand where somebody put them since."""
    for move in moves:
        row = tx.row("places", {"memory_id": move.memory_id})
        if row is not None and (row["room_id"], (row["x"], row["y"])) == (move.room_id, move.before):
            tx.update("places", {"memory_id": move.memory_id}, {"x": move.after[0], "y": move.after[1]})


def _finish_wing(tx: Tx, site: PalaceContext, wing: Wing, new: Sequence[_NewRoom]) -> None:
    """The last step: from now on the wing counts as laid."""
    with site.work.verb(tx, VERB, LABEL, LIFECYCLE_ACTOR) as verb:
        tx.recorder = None
        alcoves = read_alcoves(tx)
        for room in stored.read_rooms(tx, wing.id):
            _move_misplaced(tx, room, name_grounds(alcoves.get(room.id, ())))
        for new_room in new:
            known = tx.one("SELECT 1 FROM landmarks WHERE room_id = ?", (new_room.room.id,)) is not None
            if not known and tx.row("rooms", {"id": new_room.room.id}) is not None:
                marks = [one for one in new_room.landmarks if _may_mark(tx, new_room.room.id, one)]
                stored.insert_landmarks(tx, [(new_room.room.id, at, memory_id) for at, memory_id in enumerate(marks)])
        look = choose_look(wing.id, (), ())
        tx.update("rooms", {"id": wing.id}, {"tint": look.tint, "outline": look.outline, "floor": look.floor})
        verb.note_audit(wing.id)


def _move_misplaced(tx: Tx, room: Room, closed: Sequence[Rect]) -> None:
    """Give places to those who were moved while the room was laid, and stand on another's, on a name or outside."""
    taken: set[tuple[float, float]] = set()
    misplaced = []
    for memory_id, x, y in tx.all(
        "SELECT memory_id, x, y FROM places WHERE room_id = ? ORDER BY placed_by <> 'owner', rowid", (room.id,)
    ):
        if (x, y) not in taken and is_free_grid_point(room.w, room.h, x, y, closed):
            taken.add((x, y))
        else:
            misplaced.append((memory_id, x, y))
    if misplaced:
        grid = Grid(room.w, room.h, np.array(sorted(taken), np.float64).reshape(-1, 2), closed)
        for memory_id, x, y in misplaced:
            place = grid.take_nearest(min(x, room.w), min(y, room.h))
            tx.update("places", {"memory_id": memory_id}, {"x": place[0], "y": place[1]})


def _may_mark(tx: Tx, room_id: str, memory_id: str) -> bool:
    """Whether a memory still stands in a room and is the landmark of no other."""
    place = tx.row("places", {"memory_id": memory_id})
    is_free = tx.one("SELECT 1 FROM landmarks WHERE memory_id = ?", (memory_id,)) is None
    return place is not None and place["room_id"] == room_id and is_free
