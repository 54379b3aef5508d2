"""What the person does to the floor plan: move a locus or a room, rename, merge and make rooms. Each is one undo step.

Must not do: move what was not named, or let two stand on one place.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from core.errors import Code, PreconditionError, UserError
from core.intake.transaction.unit_of_work import UnitOfWork
from core.lifecycle.palace import room_choice
from core.lifecycle.palace.clarity import theme_of
from core.lifecycle.palace.furnisher import new_wing_look
from core.lifecycle.palace.landmark_choice import MOST
from core.lifecycle.palace.room_choice import Numbers, Vectors
from core.lifecycle.palace.room_layout import RoomMembers, lay_out_room
from core.lifecycle.palace.room_texts import PhraseReader, number_talks
from core.memory import floor_plan as stored
from core.memory.floor_plan import Room, Wing
from core.memory.landmarks import MAY_MARK, free_landmark, read_alcoves, strip_room
from core.score.floor_plan import Grid, Rect, free_ground, places_needed, room_size
from core.score.room_sections import name_grounds
from core.text.emblems import read_emblems
from core.types.values import OWNER_ACTOR
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

T = TypeVar("T")

NAME_CHARS = 64
"""Characters of a room's name at most."""
_BAD = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d")  # letters of some scripts need them


@dataclass(frozen=True, slots=True)
class FloorPlanContext:
    """What these verbs need beside their transaction.

    Attributes:
        fetch: vectors of those labels that have one, in the order asked.
    """

    work: UnitOfWork
    make_id: Callable[[], str]
    fetch: Callable[[Numbers], tuple[Numbers, Vectors]]


def move_locus(tx: Tx, desk: FloorPlanContext, memory_id: str, room_id: str, x: float, y: float) -> str:
    """Put a memory on the free place nearest to a point.

    Args:
        room_id: its room, or another of the same wing.
        x: inside the room, plan units.
        y: likewise.

    Returns:
        The id of the undo step; it names none where nothing changed.

    Raises:
        UserError: NOT_FOUND; INVALID_INPUT for a room of another wing.
    """
    room = _require_room(tx, room_id)
    space_id = tx.value("SELECT space_id FROM memories WHERE id = ?", (memory_id,))
    if space_id is None:
        raise UserError(Code.NOT_FOUND, "There is no such memory.")
    if space_id != room.space_id:
        raise UserError(
            Code.INVALID_INPUT,
            "That room is in the wing of another space; use Move to bring the memory into that space.",
        )
    _, ids, places = stored.read_room_loci(tx, room_id)
    others = places[[other != memory_id for other in ids]] if ids else places
    place = Grid(room.w, room.h, others, _name_grounds(tx, room_id)).take_nearest(*_clamp_to_room(room, x, y))
    with desk.work.verb(tx, "move_locus", "Move a locus", OWNER_ACTOR) as verb:
        _write_memory_place(tx, memory_id, room_id, place)
        verb.note_audit(memory_id, room=room_id)
    return verb.step_id


def move_room(tx: Tx, desk: FloorPlanContext, room_id: str, x: float, y: float) -> str:
    """Put a room on the free ground of its wing nearest to a point; the wing grows downward as needed.

    Args:
        x: where its left edge shall be inside the wing.
        y: where its upper edge shall be.

    Returns:
        The id of the undo step; it names none where nothing changed.

    Raises:
        UserError: NOT_FOUND, INVALID_INPUT.
    """
    room = _require_room(tx, room_id)
    _need_numbers(x, y)
    wing = _require_wing(tx, room.space_id)
    others = [room_choice.rect_of(other) for other in stored.read_rooms(tx, room.wing_id) if other.id != room_id]
    wide = max(round(wing.w), *(rect.x + rect.w for rect in (room_choice.rect_of(room), *others)))
    left, top = free_ground(others, round(room.w), round(room.h), wide, (x, y))
    with desk.work.verb(tx, "move_room", "Move a room", OWNER_ACTOR) as verb:
        if (left, top) != (room.x, room.y):
            tx.update("rooms", {"id": room_id}, {"x": float(left), "y": float(top), "made_by": "owner"})
        verb.note_audit(room_id)
    return verb.step_id


def rename_room(tx: Tx, desk: FloorPlanContext, room_id: str, name: str) -> str:
    """Give a room the person's own name.

    Args:
        name: 1 to `NAME_CHARS` characters; blanks at its ends are left out.

    Returns:
        The id of the undo step.

    Raises:
        UserError: NOT_FOUND; INVALID_INPUT for a name that cannot be or that another room of the wing has.
    """
    room = _require_room(tx, room_id)
    wanted = _check_room_name(name)
    _need_free_name(tx, room.wing_id, wanted, room_id)
    with desk.work.verb(tx, "rename_room", f"Rename a room to {wanted}", OWNER_ACTOR) as verb:
        tx.update("rooms", {"id": room_id}, {"name": wanted, "made_by": "owner"})
        verb.note_audit(room_id)
    return verb.step_id


def merge_rooms(tx: Tx, desk: FloorPlanContext, from_id: str, into_id: str) -> str:
    """Bring all loci of one room to free places near their kin in another; the empty room goes.

    Args:
        from_id: the room that goes.
        into_id: the room that stays; of the same wing.

    Returns:
        The id of the undo step.

    Raises:
        UserError: NOT_FOUND; INVALID_INPUT for rooms that cannot become one.
    """
    merged_room, room = _require_room(tx, from_id), _require_room(tx, into_id)
    if from_id == into_id:
        raise UserError(Code.INVALID_INPUT, "A room cannot be merged with itself; choose another one.")
    if merged_room.wing_id != room.wing_id:
        raise PreconditionError("Those rooms are in different wings; only rooms of one wing can be merged.")
    labels, ids, places = stored.read_room_loci(tx, from_id)
    vectors = _fetch_vectors(desk, labels)
    own, _, own_places = stored.read_room_loci(tx, into_id)
    found, found_vectors = desk.fetch(own)
    found_places = own_places[np.isin(own, found)]
    held = stored.reserved_places(tx, [into_id]).get(into_id)
    taken = own_places if held is None else np.unique(np.concatenate((own_places, held)), axis=0)
    if not len(found_vectors) and len(ids):
        # Nobody is there to stand by: they keep their order as far as it goes.
        grid = Grid(room.w, room.h, taken, _name_grounds(tx, into_id))
        rows = [(at, into_id, *grid.take_nearest(*_clamp_to_room(room, *places[at]))) for at in range(len(ids))]
    else:
        rows = room_choice.assign_places(
            np.arange(len(ids)), vectors, room, taken, found_places, found_vectors, _name_grounds(tx, into_id)
        )
    with desk.work.verb(tx, "merge_rooms", f"Merge a room into {room.name}", OWNER_ACTOR) as verb:
        for at, _, x, y in rows:
            _write_memory_place(tx, ids[at], into_id, (x, y))
        tx.update("rooms", {"id": into_id}, {"made_by": "owner"})
        strip_room(tx, from_id)
        tx.delete("rooms", {"id": from_id})
        verb.note_audit(into_id, merged=from_id, loci=len(ids))
    return verb.step_id


def make_room(tx: Tx, desk: FloorPlanContext, space: str, name: str, memory_ids: Sequence[str]) -> str:
    """Make a room in the wing of a space and bring memories of that space into it.

    Args:
        space: the space's name.
        name: the room's.
        memory_ids: who moves in; may be none.

    Returns:
        The id of the undo step.

    Raises:
        UserError: NOT_FOUND; INVALID_INPUT for memories of another space or a name that cannot be.
    """
    space_id = tx.value("SELECT id FROM spaces WHERE name = ?", (space,))
    if space_id is None:
        raise UserError(Code.NOT_FOUND, "There is no such space.")
    wanted, ids = _check_room_name(name), list(dict.fromkeys(memory_ids))
    labels = _labels_within(tx, ids, space_id)
    w, h = room_size(max(room_choice.LEAST_NEW, places_needed(len(ids))))
    wing = stored.find_wing(tx, space_id)
    if wing is None:
        # No part of the step: an empty wing stays when the room is taken back, and the scheduler finds it there.
        wing = _make_wing(tx, desk, space_id, w, h)
    _need_free_name(tx, wing.id, wanted, None)
    w, h = room_size(max(room_choice.LEAST_NEW, places_needed(len(ids))), int(wing.w))
    x, y = free_ground([room_choice.rect_of(room) for room in stored.read_rooms(tx, wing.id)], w, h, int(wing.w))
    room = Room(desk.make_id(), wing.id, space_id, wanted, float(x), float(y), float(w), float(h), "owner")
    members = RoomMembers(labels, _fetch_vectors(desk, labels), _read_talks(tx, ids), theme_of(wanted))
    layout = lay_out_room(_RoomReader(tx, desk.make_id), room, members)
    with desk.work.verb(tx, "make_room", f"Make the room {wanted}", OWNER_ACTOR) as verb:
        stored.insert_room(tx, room)
        stored.insert_alcoves(tx, [(room.id, alcove) for alcove in layout.alcoves])
        for memory_id, place in zip(ids, layout.places.tolist(), strict=True):
            _write_memory_place(tx, memory_id, room.id, place)
        verb.note_audit(room.id, loci=len(ids))
    return verb.step_id


def set_emblem(tx: Tx, desk: FloorPlanContext, room_id: str, emblem: str) -> str:
    """Give a room or a wing another emblem; it stays.

    Args:
        room_id: of the room, or of the wing's own row.
        emblem: a name of `core.text.emblems.read_emblems`.

    Returns:
        The id of the undo step; it names none where nothing changed.

    Raises:
        UserError: NOT_FOUND; INVALID_INPUT for an emblem that there is not.
    """
    if tx.row("rooms", {"id": room_id}) is None:
        raise UserError(Code.NOT_FOUND, "There is no such room.")
    if emblem not in read_emblems():
        raise UserError(Code.INVALID_INPUT, "There is no such emblem.")
    with desk.work.verb(tx, "set_emblem", f"Give a room the emblem {emblem}", OWNER_ACTOR) as verb:
        tx.update("rooms", {"id": room_id}, {"emblem": emblem})
        verb.note_audit(room_id)
    return verb.step_id


def set_landmark(tx: Tx, desk: FloorPlanContext, memory_id: str) -> str:
    """Make a memory a landmark of its room; it stays one as long as it stands there.

    Returns:
        The id of the undo step; it names none where nothing changed.

    Raises:
        UserError: NOT_FOUND for one without a place; INVALID_INPUT where all landmarks of the room are the person's.
    """
    place = tx.row("places", {"memory_id": memory_id})
    is_markable = tx.one(f"SELECT 1 FROM memories m WHERE m.id = ? AND {MAY_MARK}", (memory_id,))  # noqa: S608 - constant
    if place is None or is_markable is None:
        raise UserError(Code.NOT_FOUND, "That memory has no place in the palace.")
    room_id = str(place["room_id"])
    with desk.work.verb(tx, "set_landmark", "Make a memory a landmark", OWNER_ACTOR) as verb:
        tx.delete("unset_landmarks", {"memory_id": memory_id})
        current = tx.one("SELECT position FROM landmarks WHERE memory_id = ? AND room_id = ?", (memory_id, room_id))
        if current is not None:
            tx.update("landmarks", {"room_id": room_id, "position": current[0]}, {"chosen_by": "owner"})
        else:
            free_landmark(tx, memory_id)
            key = {"room_id": room_id, "position": _free_position(tx, room_id)}
            tx.delete("landmarks", key)
            tx.insert("landmarks", {**key, "memory_id": memory_id, "chosen_by": "owner"})
        verb.note_audit(memory_id, room=room_id)
    return verb.step_id


def _free_position(rows: Rows, room_id: str) -> int:
    """A position that is free, else the last that the scheduler filled."""
    chosen_by = dict(rows.all("SELECT position, chosen_by FROM landmarks WHERE room_id = ?", (room_id,)))
    free = [position for position in range(MOST) if position not in chosen_by]
    others = [position for position, by in chosen_by.items() if by != "owner"]
    if not free and not others:
        raise PreconditionError(f"A room has {MOST} landmarks at most; take one away first.")
    return free[0] if free else max(others)


def unset_landmark(tx: Tx, desk: FloorPlanContext, memory_id: str) -> str:
    """Let a memory be no landmark, and not be chosen again; another takes its position.

    Returns:
        The id of the undo step.

    Raises:
        UserError: NOT_FOUND for one that is none.
    """
    if tx.one("SELECT 1 FROM landmarks WHERE memory_id = ?", (memory_id,)) is None:
        raise UserError(Code.NOT_FOUND, "That memory is no landmark.")
    with desk.work.verb(tx, "unset_landmark", "Take a landmark away", OWNER_ACTOR) as verb:
        free_landmark(tx, memory_id)
        tx.insert("unset_landmarks", {"memory_id": memory_id})
        verb.note_audit(memory_id)
    return verb.step_id


class _RoomReader:
    """The transaction as laying out a room reads it."""

    def __init__(self, tx: Tx, make_id: Callable[[], str]) -> None:
        self._tx = tx
        self.make_id = make_id
        self.phrases = PhraseReader()

    def read(self, fn: Callable[[Rows], T]) -> T:
        return fn(self._tx)

    def check_not_closing(self) -> None:
        """A transaction that has begun is not stopped."""


def _make_wing(tx: Tx, desk: FloorPlanContext, space_id: str, w: int, h: int) -> Wing:
    wing_id = desk.make_id()
    look = new_wing_look(tx, wing_id)
    return stored.insert_wing(tx, wing_id, space_id, max(stored.LEAST_WING, float(w)), float(h), look)


def _name_grounds(rows: Rows, room_id: str) -> list[Rect]:
    return name_grounds(read_alcoves(rows).get(room_id, ()))


def _read_talks(rows: Rows, ids: Sequence[str]) -> Numbers:
    found = dict(
        rows.all(
            "SELECT id, conversation_id FROM memories WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
    )
    return number_talks([found.get(memory_id) for memory_id in ids])


def _write_memory_place(tx: Tx, memory_id: str, room_id: str, place: Sequence[float]) -> None:
    row = stored.make_place_row(memory_id, room_id, place, "owner")
    if not tx.update("places", {"memory_id": memory_id}, {name: row[name] for name in row if name != "memory_id"}):
        tx.insert("places", row)


def _require_room(rows: Rows, room_id: str) -> Room:
    found = stored.read_room(rows, room_id)
    if found is None:
        raise UserError(Code.NOT_FOUND, "There is no such room.")
    return found


def _require_wing(rows: Rows, space_id: str) -> Wing:
    found = stored.find_wing(rows, space_id)
    if found is None:
        raise UserError(Code.NOT_FOUND, "There is no such wing.")
    return found


def _clamp_to_room(room: Room, x: float, y: float) -> tuple[float, float]:
    _need_numbers(x, y)
    return min(max(float(x), 0.0), room.w), min(max(float(y), 0.0), room.h)


def _need_numbers(*values: float) -> None:
    if not all(math.isfinite(value) for value in values):
        raise UserError(Code.INVALID_INPUT, "A place on the plan is two finite numbers.")


def _check_room_name(name: str) -> str:
    wanted = " ".join(unicodedata.normalize("NFC", name).split())
    if not 0 < len(wanted) <= NAME_CHARS:
        raise UserError(Code.INVALID_INPUT, f"A room's name has 1 to {NAME_CHARS} characters.")
    if any(unicodedata.category(sign) in _BAD and sign not in _JOINERS for sign in wanted):
        raise UserError(Code.INVALID_INPUT, "A room's name may hold no invisible or control characters.")
    return wanted


def _need_free_name(rows: Rows, wing_id: str, name: str, besides: str | None) -> None:
    folded = name.casefold()
    if any(room.name.casefold() == folded and room.id != besides for room in stored.read_rooms(rows, wing_id)):
        raise PreconditionError("Another room of this wing has that name; choose a different one.")


def _labels_within(rows: Rows, ids: Sequence[str], space_id: str) -> Numbers:
    found = {
        memory_id: (n, within)
        for memory_id, n, within in rows.all(
            "SELECT id, n, space_id FROM memories WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
    }
    if len(found) < len(ids):
        raise UserError(Code.NOT_FOUND, "One of those memories does not exist any more.")
    if any(within != space_id for _, within in found.values()):
        raise UserError(
            Code.INVALID_INPUT,
            "Some of those memories are in another space; use Move to bring them into this one first.",
        )
    return np.array([found[memory_id][0] for memory_id in ids], np.int64)


def _fetch_vectors(desk: FloorPlanContext, labels: Numbers) -> Vectors:
    """One row for each label; zeros where there is no vector yet."""
    found, vectors = desk.fetch(labels)
    fetched = np.zeros((len(labels), vectors.shape[1] if vectors.ndim == 2 else 1), np.float32)
    fetched[np.isin(labels, found)] = vectors
    return fetched
