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
from core.lifecycle.palace.context import LABEL, SCHEDULER, VERB, PalaceContext
from core.lifecycle.palace.room_choice import Vectors, name_grounds, rect_of
from core.lifecycle.palace.room_layout import RoomLayout, RoomMembers, lay_out_room
from core.lifecycle.palace.room_texts import speaker_stems
from core.memory import floor_plan as stored
from core.memory.floor_plan import Places, Room, Wing
from core.memory.landmarks import remove_alcoves
from core.score.appearance import choose_look
from core.score.floor_plan import WING_ASPECT, Grid, Rect, lay_out, stretch_rooms
from core.types.views import Alcove
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

_BATCH = 2_000
_FORMER_ASPECT = 1.5
_OF_OLD = "SELECT id FROM rooms WHERE parent_id IS NULL AND tint IS NULL"


@dataclass(frozen=True, slots=True)
class _Move:
    """A memory and where it goes: from the place it was read at to another of the same room."""

    memory_id: str
    room_id: str
    before: tuple[float, float]
    after: tuple[float, float]


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
    wing = next(one for one in site.read(stored.read_wings) if one.id == wing_id)
    rooms = site.read(lambda rows: stored.read_rooms(rows, wing_id))
    counts = site.read(lambda rows: stored.count_by_room(rows, wing_id))
    sizes = [counts.get(room.id, 0) for room in rooms]
    rects = _new_grounds(rooms, sizes)
    new: list[_NewRoom] = []
    moves: list[_Move] = []
    for room, rect in zip(rooms, rects, strict=True):
        site.check_not_closing()
        laid, moved = _lay_room(site, room, rect)
        new.append(laid)
        moves += moved
    site.write(lambda tx: _write_grounds(tx, site, wing, new))
    for low in range(0, len(moves), _BATCH):
        site.check_not_closing()
        part = moves[low : low + _BATCH]
        site.write(lambda tx: _write_moves(tx, site, wing, part))  # noqa: B023 - waited for
    site.write(lambda tx: _write_landmarks(tx, site, wing, new))
    return len(moves)


def _new_grounds(rooms: Sequence[Room], sizes: Sequence[int]) -> Sequence[Rect]:
    if any(room.made_by == "owner" for room in rooms):
        narrow = math.sqrt(WING_ASPECT / _FORMER_ASPECT)
        return stretch_rooms([rect_of(room) for room in rooms], sizes, narrow)
    return lay_out(sizes)


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
    talks, is_owners, speakers = site.read(lambda rows: _read_standing(rows, room.id))
    if not len(labels):
        return _NewRoom(new, (), ()), []
    found, vectors = site.fetch_vectors(labels)
    held = np.zeros((len(labels), vectors.shape[1] if vectors.ndim == 2 and vectors.shape[1] else 1), np.float32)
    held[np.isin(labels, found)] = vectors
    members = RoomMembers(labels, held, np.array(talks, np.int64), theme_of(room.name), speakers)
    layout = lay_out_room(site, new, members) if _fits(new, len(labels)) else _crowded(labels)
    after = _settle(room, new, places, np.array(is_owners, np.bool_), layout)
    moves = [_Move(ids[at], room.id, (float(places[at, 0]), float(places[at, 1])), after[at]) for at in range(len(ids))]
    return _NewRoom(new, layout.alcoves, tuple(ids[mark] for mark in layout.landmarks)), moves


def _fits(room: Room, count: int) -> bool:
    return (room.w - 2) * (room.h - 3) >= count


def _crowded(labels: Vectors | np.ndarray) -> RoomLayout:
    """In a room with more memories than places everyone looks for the nearest place, on a finer grid."""
    return RoomLayout(np.full((len(labels), 2), np.nan, np.float64), (), ())


def _settle(
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


def _read_standing(rows: Rows, room_id: str) -> tuple[list[int], list[bool], frozenset[str]]:
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


def _write_grounds(tx: Tx, site: PalaceContext, wing: Wing, new: Sequence[_NewRoom]) -> None:
    with site.work.verb(tx, VERB, LABEL, SCHEDULER) as verb:
        tx.recorder = None  # no step: the plan of an older version cannot be drawn any more
        wide = max((laid.room.x + laid.room.w for laid in new), default=0.0)
        tx.update("rooms", {"id": wing.id}, {"w": max(wide, stored.LEAST_WING)})
        for laid in new:
            room = laid.room
            tx.update("rooms", {"id": room.id}, {"x": room.x, "y": room.y, "w": room.w, "h": room.h})
            remove_alcoves(tx, room.id)
            if tx.row("rooms", {"id": room.id}) is not None:
                stored.insert_alcoves(tx, [(room.id, alcove) for alcove in laid.alcoves])
        verb.note_audit(wing.id, rooms=len(new))


def _write_moves(tx: Tx, site: PalaceContext, wing: Wing, part: Sequence[_Move]) -> None:
    with site.work.verb(tx, VERB, LABEL, SCHEDULER) as verb:
        tx.recorder = None
        for move in part:
            row = tx.row("places", {"memory_id": move.memory_id})
            if row is not None and (row["room_id"], (row["x"], row["y"])) == (move.room_id, move.before):
                tx.update("places", {"memory_id": move.memory_id}, {"x": move.after[0], "y": move.after[1]})
        verb.note_audit(wing.id, moved=len(part))


def _write_landmarks(tx: Tx, site: PalaceContext, wing: Wing, new: Sequence[_NewRoom]) -> None:
    """The last step: from now on the wing counts as laid."""
    with site.work.verb(tx, VERB, LABEL, SCHEDULER) as verb:
        tx.recorder = None
        for laid in new:
            known = tx.one("SELECT 1 FROM landmarks WHERE room_id = ?", (laid.room.id,)) is not None
            if not known and tx.row("rooms", {"id": laid.room.id}) is not None:
                rows = [(laid.room.id, position, memory_id) for position, memory_id in enumerate(laid.landmarks)]
                stored.insert_landmarks(tx, rows)
        look = choose_look(wing.id, (), ())
        tx.update("rooms", {"id": wing.id}, {"tint": look.tint, "outline": look.outline, "floor": look.floor})
        verb.note_audit(wing.id)
