"""Keeps the landmarks of rooms: chooses them where there are none, and another in the same position where one fell.

One falls when it is deleted or superseded, leaves its room, or proves to be small talk; whoever took its place in
meaning (its newer version, the statement made of it) takes its position, else the next best. The others stay, also one
of which a statement was made: a room is known by what stood there when it was learnt, and statements become landmarks
in free positions alone. Whom the person chose stays as long as it stands. Must not do: move a memory, start by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.intake.transaction.unit_of_work import UnitOfWork
from core.lifecycle.palace.clarity import theme_of
from core.lifecycle.palace.context import LABEL, VERB, PalaceContext
from core.lifecycle.palace.landmark_choice import MOST, LandmarkCandidates, choose_landmarks, landmark_count
from core.lifecycle.palace.room_texts import read_weights, sample_evenly, speaker_stems
from core.memory.landmarks import GROUND, MAY_MARK
from core.memory.read import SMALL_TALK
from core.types.values import LIFECYCLE_ACTOR
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

_SAMPLE = 400
_STATE = (
    f"SELECT l.room_id, l.position, l.memory_id, {MAY_MARK} AND coalesce(p.room_id = l.room_id, 0) "  # noqa: S608 - constants
    f"AND (l.chosen_by = 'owner' OR NOT {SMALL_TALK}) FROM landmarks l CROSS JOIN memories m ON m.id = l.memory_id "
    "LEFT JOIN places p ON p.memory_id = l.memory_id ORDER BY l.room_id, l.position"
)
_COUNTS = (
    "SELECT p.room_id, count(*) FROM places p JOIN rooms r ON r.id = p.room_id "
    "WHERE r.parent_id IS NOT NULL GROUP BY p.room_id"
)
_MAY_BE_CHOSEN = (
    f"{MAY_MARK} AND NOT {GROUND} AND NOT EXISTS (SELECT 1 FROM unset_landmarks u WHERE u.memory_id = m.id)"  # noqa: S608 - constants
)
_CANDIDATES = (
    "SELECT m.n, m.id FROM places p JOIN memories m ON m.id = p.memory_id "  # noqa: S608 - constants
    f"WHERE p.room_id = ? AND {_MAY_BE_CHOSEN} ORDER BY m.n"
)
_STANDING = "SELECT n, id FROM memories WHERE id IN (SELECT value FROM json_each(?))"
# The newer version first, then what was made of it; only who stands in the room and is no landmark.
_HEIRS = (
    "SELECT h.id FROM (SELECT superseded_by_id AS id, 0 AS turn FROM memories WHERE id = :memory "  # noqa: S608 - constants
    "UNION ALL SELECT memory_id, 1 FROM statements WHERE episode_id = :memory) h "
    "JOIN memories m ON m.id = h.id JOIN places p ON p.memory_id = h.id AND p.room_id = :room "
    f"WHERE {_MAY_BE_CHOSEN} AND NOT EXISTS (SELECT 1 FROM landmarks l WHERE l.memory_id = h.id) "
    "ORDER BY h.turn, m.importance DESC, m.n"
)


@dataclass(frozen=True, slots=True)
class _RoomState:
    """The landmarks of a room: position to memory, those that stand and those that fell.

    Attributes:
        count: memories that may be chosen; where enough stand already, all of the room.
    """

    room_id: str
    current: Mapping[int, str]
    fallen: Mapping[int, str]
    count: int


def keep_landmarks(site: PalaceContext) -> int:
    """Bring the landmarks of all rooms up to date.

    Returns:
        How many were chosen or went.

    Raises:
        LociError: VAULT_LOCKED; what is done by then stays.
    """
    changed = 0
    for state in site.read(_read_room_states):
        if state.fallen or len(state.current) < landmark_count(state.count):
            site.check_not_closing()
            changed += _fill_missing_landmarks(site, state)
    return changed


def has_landmarks_to_mend(rows: Rows) -> bool:
    """Whether a landmark fell, or a room has none though it holds something that may be one."""
    return any(state.fallen or (state.count and not state.current) for state in _read_room_states(rows))


def _read_room_states(rows: Rows) -> list[_RoomState]:
    current: dict[str, dict[int, str]] = {}
    fallen: dict[str, dict[int, str]] = {}
    for room_id, position, memory_id, is_current in rows.all(_STATE):
        (current if is_current else fallen).setdefault(room_id, {})[position] = memory_id
    counts = dict(rows.all(_COUNTS))
    for room_id, count in counts.items():
        # Whether a memory may be chosen takes reading it: only where the number of all says that one may be wanting.
        if len(current.get(room_id, {})) < landmark_count(count):
            counts[room_id] = int(rows.value(f"SELECT count(*) FROM ({_CANDIDATES})", (room_id,)))  # noqa: S608 - constant
    return [
        _RoomState(room_id, current.get(room_id, {}), fallen.get(room_id, {}), counts.get(room_id, 0))
        for room_id in sorted({*counts, *current, *fallen})
    ]


def _fill_missing_landmarks(site: PalaceContext, state: _RoomState) -> int:
    """Choose what a room lacks, and write it."""
    chosen: dict[int, str] = {}
    for position, memory_id in state.fallen.items():
        heirs = site.read(lambda rows: rows.all(_HEIRS, {"memory": memory_id, "room": state.room_id}))  # noqa: B023
        heir = next((one for (one,) in heirs if one not in chosen.values()), None)
        if heir is not None:
            chosen[position] = heir
    found = site.read(lambda rows: rows.all(_CANDIDATES, (state.room_id,)))
    occupied = {**state.current, **chosen}
    wanted = max(0, min(MOST, landmark_count(len(found))) - len(occupied))
    free = [position for position in range(MOST) if position not in occupied]
    order = sorted(free, key=lambda position: (position not in state.fallen, position))[:wanted]
    chosen.update(
        zip(
            sorted(order),
            _choose_next_landmarks(site, state.room_id, found, list(occupied.values()), wanted),
            strict=False,
        )
    )
    if not chosen and not state.fallen:
        return 0
    return site.write(lambda tx: _write_landmarks(tx, site.work, state, chosen))


def _choose_next_landmarks(
    site: PalaceContext, room_id: str, found: Sequence[tuple[int, str]], chosen_ids: Sequence[str], wanted: int
) -> list[str]:
    """The next best of a room, oldest first."""
    if wanted <= 0 or not found:
        return []
    # One that is ground by now is no candidate, and still what the next ones are to be unlike.
    standing = dict(site.read(lambda rows: rows.all(_STANDING, (to_json(list(chosen_ids)),))))
    every = np.array(sorted(n for n, _ in found), np.int64)
    some = sample_evenly(every, _SAMPLE)
    ids, also = {**dict(found), **standing}, np.array(sorted(standing), np.int64)
    labels, vectors = site.fetch_vectors(np.union1d(some, also))
    if not len(labels):
        return []
    name, authors = site.read(lambda rows: _read_about(rows, room_id))
    theme, speakers = theme_of(name), speaker_stems(authors)
    weights = site.read(lambda rows: read_weights(rows, labels, site.phrases, theme, speakers))
    chosen_places = [place for place, n in enumerate(labels.tolist()) if n in standing]
    best = choose_landmarks(
        LandmarkCandidates(vectors, weights.importance, weights.uses, weights.clarity), wanted, chosen_places
    )
    return [ids[n] for n in sorted(int(labels[place]) for place in best)]


def _read_about(rows: Rows, room_id: str) -> tuple[str, frozenset[str]]:
    """A room's name, and who speaks in it."""
    authors = rows.all(
        "SELECT DISTINCT m.author FROM places p JOIN memories m ON m.id = p.memory_id "
        "WHERE p.room_id = ? AND m.author IS NOT NULL LIMIT 24",
        (room_id,),
    )
    name = str(rows.value("SELECT name FROM rooms WHERE id = ?", (room_id,), ""))
    return name, frozenset(author for (author,) in authors)


def _write_landmarks(tx: Tx, work: UnitOfWork, state: _RoomState, chosen: Mapping[int, str]) -> int:
    changed = 0
    with work.verb(tx, VERB, LABEL, LIFECYCLE_ACTOR) as verb:
        tx.recorder = None  # no step: the scheduler chooses anew where one falls
        for position in sorted({*state.fallen, *chosen}):
            key = {"room_id": state.room_id, "position": position}
            row = tx.row("landmarks", key)
            if (None if row is None else row["memory_id"]) != state.fallen.get(position):
                continue  # the person chose meanwhile
            heir = chosen.get(position)
            if row is not None:
                tx.delete("landmarks", key)
                changed += 1
            if heir is not None and _may_stand(tx, state.room_id, heir):
                tx.insert("landmarks", {**key, "memory_id": heir, "chosen_by": "lifecycle"})
                changed += 1
        verb.note_audit(state.room_id, landmarks=changed)
    return changed


def _may_stand(tx: Tx, room_id: str, memory_id: str) -> bool:
    place = tx.row("places", {"memory_id": memory_id})
    is_free = tx.one("SELECT 1 FROM landmarks WHERE memory_id = ?", (memory_id,)) is None
    has_room = tx.one("SELECT 1 FROM rooms WHERE id = ?", (room_id,)) is not None
    return place is not None and place["room_id"] == room_id and is_free and has_room
