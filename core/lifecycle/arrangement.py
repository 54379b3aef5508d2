"""Gives every memory its place in the palace: a first plan for a new wing, free places in one that stands.

Nothing that is placed moves. Arranging is no undo step; each transaction has its audit row with counts. Which room and
which place a newcomer gets is worked out without reading the vault. Must not do: start by itself, or hold the writer
for more than `BATCH` rows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.intake.transaction.unit_of_work import UnitOfWork
from core.memory import floor_plan as stored
from core.memory.floor_plan import Places, Room, Wing
from core.score.communities import MemoryFeatures, find_communities, sample_places
from core.score.floor_plan import (
    FULL,
    Grid,
    Rect,
    free_ground,
    lay_out,
    places_needed,
    room_capacity,
    room_size,
    spread_places,
)
from core.score.topics import FAR, blend_with_conversation, mean_directions
from core.text.noun_phrases import Key, read_phrases, stem_of
from core.text.room_names import TEXTS, RoomTexts, name_rooms
from core.types.values import Actor
from core.types.views import GAP
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

T = TypeVar("T")

BATCH = 2_000
"""Rows written in one transaction at most."""
SCHEDULER = Actor(kind="scheduler", name="lifecycle")
LEAST_WING = 24.0
"""Plan units that a new wing's ground is wide at least: it can grow downward only."""
_FETCH = 4_096
_TRIES = 3
_SAMPLE = 200
_SPEAKERS = 24

# One that was superseded or deleted keeps the place it has, and is given none. The ids are compared in the two indexes
# first: reading every memory would take ten times as long.
_UNPLACED = (
    "SELECT m.n, m.id, m.space_id, m.conversation_id FROM memories m WHERE m.n IN (SELECT w.n FROM memories w "
    "WHERE NOT EXISTS (SELECT 1 FROM places p WHERE p.memory_id = w.id)) "
    "AND m.status NOT IN ('superseded', 'deleted') ORDER BY m.n"
)
_STILL_UNPLACED = (
    "SELECT m.id FROM json_each(?) w CROSS JOIN memories m ON m.id = w.value WHERE m.space_id = ? "
    "AND m.status NOT IN ('superseded', 'deleted') "
    "AND NOT EXISTS (SELECT 1 FROM places p WHERE p.memory_id = m.id)"
)


class ArrangementContext(Protocol):
    """The open vault as far as arranging needs it."""

    work: UnitOfWork
    make_id: Callable[[], str]

    def read(self, fn: Callable[[Rows], T]) -> T:
        """Read on one snapshot."""
        ...

    def write(self, fn: Callable[[Tx], T]) -> T:
        """Run one transaction in the background, and wait for it."""
        ...

    def fetch_vectors(self, labels: Numbers) -> tuple[Numbers, Vectors]:
        """Vectors of those labels that have one, in the order asked."""
        ...

    def check_not_closing(self) -> None:
        """Raise where the vault is being locked."""
        ...


@dataclass(frozen=True, slots=True)
class ArrangementResult:
    """What a run did.

    Attributes:
        placed: memories that got a place.
        waiting: memories that wait for their vector, or that changed meanwhile.
    """

    placed: int
    waiting: int


@dataclass(frozen=True, slots=True)
class _Batch:
    """Newcomers of one space that have vectors, and what the plan was when they were read."""

    space_id: str
    ids: tuple[str, ...]
    labels: Numbers
    talks: tuple[str | None, ...]
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class _Start:
    """The plan that a run begins with.

    Attributes:
        steps: tells whether a verb ran since.
    """

    wing: Wing | None
    rooms: tuple[Room, ...]
    steps: tuple[Any, ...]


class Arranger:
    """Arranges one vault; one run at a time."""

    def __init__(self, site: ArrangementContext) -> None:
        self._site = site

    def run(self) -> ArrangementResult:
        """Place everything that waits and has a vector.

        Returns:
            What was done.

        Raises:
            LociError: VAULT_LOCKED; what is placed by then stays.
        """
        self._free_strays()
        waiting = self._site.read(_read_unplaced)
        standing = {wing.space_id: wing.x for wing in self._site.read(stored.read_wings)}
        placed = total = 0
        # Wings that stand first; of the new ones the largest is the leftmost.
        order = sorted(waiting, key=lambda i: (i not in standing, standing.get(i, 0.0), -len(waiting[i]), i))
        for space_id in order:
            total += len(waiting[space_id])
            placed += self._arrange_space(space_id, waiting[space_id])
        return ArrangementResult(placed, total - placed)

    def _free_strays(self) -> None:
        """Let those who stand in another space's wing wait for a place in their own."""
        found = self._site.read(stored.find_strays)
        for low in range(0, len(found), BATCH):
            self._site.check_not_closing()
            part = found[low : low + BATCH]
            self._site.write(lambda tx: self._delete_strays(tx, part))  # noqa: B023 - waited for

    def _delete_strays(self, tx: Tx, memory_ids: Sequence[str]) -> None:
        still = stored.find_strays(tx, memory_ids)
        if not still:
            return
        with self._site.work.verb(tx, "arrange", "Arrange the palace", SCHEDULER) as verb:
            tx.recorder = None  # no step either: nobody ever gave them such a place
            for memory_id in still:
                tx.delete("places", {"memory_id": memory_id})
            verb.note_audit(freed=len(still))

    def _arrange_space(self, space_id: str, rows: list[tuple[int, str, str | None]]) -> int:
        self._site.check_not_closing()
        batch = self._with_vectors(space_id, rows)
        if not batch.ids:
            return 0
        for _ in range(_TRIES):
            start = self._site.read(lambda rows: _read_start(rows, space_id))
            is_first = start.wing is None
            wing, plan = (
                self._plan_first_rooms(batch)
                if start.wing is None
                else (start.wing, self._plan_into_rooms(batch, start.wing, start))
            )
            placed = self._write_plan(batch, wing, plan, start, is_first=is_first)
            if placed is not None:
                return placed
        return 0

    def _with_vectors(self, space_id: str, rows: list[tuple[int, str, str | None]]) -> _Batch:
        labels = np.fromiter((row[0] for row in rows), np.int64, len(rows))
        found, vectors = self._fetch_vectors(labels)
        has = np.isin(labels, found)
        kept = [row for row, there in zip(rows, has.tolist(), strict=True) if there]
        talks = tuple(row[2] for row in kept)
        blend_with_conversation(vectors, _number_talks(talks))
        return _Batch(space_id, tuple(row[1] for row in kept), found, talks, vectors)

    def _fetch_vectors(self, labels: Numbers) -> tuple[Numbers, Vectors]:
        """Vectors in chunks into one array: at 100,000 a second copy would be 150 MB."""
        held: Vectors | None = None
        found = np.empty(len(labels), np.int64)
        count = 0
        for low in range(0, len(labels), _FETCH):
            self._site.check_not_closing()
            part, vectors = self._site.fetch_vectors(labels[low : low + _FETCH])
            if held is None:
                held = np.empty((len(labels), vectors.shape[1]), np.float32)
            found[count : count + len(part)] = part
            held[count : count + len(part)] = vectors
            count += len(part)
        if held is None:
            held = np.empty((0, 1), np.float32)
        return found[:count], held[:count]

    # ---- planning

    def _plan_first_rooms(self, batch: _Batch) -> tuple[Wing, PlacementPlan]:
        members = self._divide(batch, np.arange(len(batch.ids)))
        rects = lay_out([len(inside) for inside in members])
        wing = Wing(self._site.make_id(), batch.space_id, "", 0.0, max(LEAST_WING, *(float(r.x + r.w) for r in rects)))
        return wing, self._new_rooms(batch, wing, members, rects, ())

    def _plan_into_rooms(self, batch: _Batch, wing: Wing, start: _Start) -> PlacementPlan:
        counts = self._site.read(lambda rows: stored.count_by_room(rows, wing.id))
        held = self._site.read(lambda rows: stored.reserved_places(rows, [room.id for room in start.rooms]))
        found = [
            CandidateRoom(
                room,
                self._centre_of_room(room),
                free_capacity(room, counts.get(room.id, 0) + len(held.get(room.id, ()))),
            )
            for room in start.rooms
        ]
        homes = self._site.read(lambda rows: _main_room_by_conversation(rows, wing.id, batch.talks))
        chosen = choose_rooms(batch.vectors, found, [homes.get(talk or "") for talk in batch.talks])
        plan = PlacementPlan()
        for place, room in enumerate(start.rooms):
            newcomers = np.flatnonzero(chosen == place)
            if newcomers.size:
                self._site.check_not_closing()
                plan.places += self._assign_places(newcomers, batch.vectors[newcomers], room, held.get(room.id))
        strangers = np.flatnonzero(chosen == NEW)
        if strangers.size:
            members = self._divide(batch, strangers)
            grounds = self._site.read(lambda rows: stored.reserved_grounds(rows, wing.id))
            taken = [rect_of(room) for room in start.rooms]
            taken += [Rect(round(x), round(y), round(w), round(h)) for x, y, w, h in grounds]
            sizes = [len(inside) for inside in members]
            rects = find_grounds(sizes, taken, widen_wing(wing.w, taken, sizes))
            new = self._new_rooms(batch, wing, members, rects, start.rooms)
            plan.rooms += new.rooms
            plan.places += new.places
        return plan

    def _new_rooms(
        self, batch: _Batch, wing: Wing, members: Sequence[Numbers], rects: Sequence[Rect], standing: Sequence[Room]
    ) -> PlacementPlan:
        names = self._name_rooms([batch.labels[inside] for inside in members], standing)
        new = [
            Room(self._site.make_id(), wing.id, batch.space_id, name, rect.x, rect.y, rect.w, rect.h, "lifecycle")
            for name, rect in zip(names, rects, strict=True)
        ]
        self._site.check_not_closing()
        return PlacementPlan(new, first_places(new, members, batch.vectors))

    def _centre_of_room(self, room: Room) -> Vectors | None:
        labels = self._site.read(lambda rows: stored.sample_labels(rows, room.id, _SAMPLE))
        found, vectors = self._site.fetch_vectors(labels)
        return None if not len(found) else mean_directions(vectors, np.zeros(len(found), np.int64), 1)[0]

    def _assign_places(
        self, newcomers: Numbers, vectors: Vectors, room: Room, held: Places | None
    ) -> list[tuple[int, str, float, float]]:
        labels, _, places = self._site.read(lambda rows: stored.read_room_loci(rows, room.id))
        found, kin = self._fetch_vectors(labels)
        standing = places[np.isin(labels, found)]
        taken = places if held is None else np.unique(np.concatenate((places, held)), axis=0)
        return assign_places(newcomers, vectors, room, taken, standing, kin)

    def _divide(self, batch: _Batch, which: Numbers) -> list[Numbers]:
        """Divide newcomers into topics for new rooms, the largest first.

        Args:
            which: their places in the batch.

        Returns:
            The members of each, as places in the batch.
        """
        if not which.size:
            return []
        sample = sample_places(len(which))
        said = self._site.read(lambda rows: _read_said(rows, batch.labels[which[sample]]))
        phrases: list[frozenset[Key]] = [frozenset()] * len(which)
        silent = {stem_of(word) for one in said.values() for word in (one.author or "").split()}
        for place, label in zip(sample.tolist(), batch.labels[which[sample]].tolist(), strict=True):
            if label in said:
                keys = (phrase.key for phrase in read_phrases(said[label].text))
                phrases[place] = frozenset(key for key in keys if silent.isdisjoint(key))
        self._site.check_not_closing()
        talks = _number_talks([batch.talks[place] for place in which.tolist()])
        groups = find_communities(MemoryFeatures(batch.vectors[which], phrases, talks))
        order = np.argsort(groups, kind="stable")
        return [which[inside] for inside in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)]

    def _name_rooms(self, members: Sequence[Numbers], standing: Sequence[Room]) -> list[str]:
        speakers: dict[str, int] = {}

        def read(labels: Numbers) -> list[_Said]:
            found = list(self._site.read(lambda rows: _read_said(rows, _sample_evenly(labels, TEXTS))).values())
            for one in found:
                if one.author:
                    speakers[one.author] = speakers.get(one.author, 0) + 1
            return found

        rooms = [_room_texts(read(labels)) for labels in members]
        others = [
            [one.text for one in read(self._site.read(lambda rows: stored.sample_labels(rows, room.id, _SAMPLE)))]  # noqa: B023 - called at once
            for room in standing
        ]
        often = sorted(speakers, key=lambda name: (-speakers[name], name))[:_SPEAKERS]
        return name_rooms(rooms, [room.name for room in standing], others, often)

    # ---- writing

    def _write_plan(
        self, batch: _Batch, wing: Wing, plan: PlacementPlan, start: _Start, *, is_first: bool
    ) -> int | None:
        """Write a plan in batches; None where the palace changed before the first, so that it must be made anew."""
        placed = 0
        # After the first batch, which is a sample of everything, in the order of the memories: at random, every batch
        # would touch every page of the index over them (twice the time at 100,000).
        ordered = sorted(plan.places[:BATCH]) + sorted(plan.places[BATCH:])
        for low in range(0, max(1, len(ordered)), BATCH):
            self._site.check_not_closing()
            part = ordered[low : low + BATCH]
            ground = (wing if is_first else None, plan.rooms) if low == 0 else (None, [])
            written = self._site.write(lambda tx: self._write_part(tx, batch, wing, ground, part, start))  # noqa: B023 - waited for
            if written is None:
                return None if low == 0 else placed
            placed += written
        return placed

    def _write_part(
        self,
        tx: Tx,
        batch: _Batch,
        wing: Wing,
        ground: tuple[Wing | None, Sequence[Room]],
        part: Sequence[tuple[int, str, float, float]],
        start: _Start,
    ) -> int | None:
        new_wing, new_rooms = ground
        is_changed = _step_mark(tx) != start.steps
        if is_changed and (new_wing is not None or new_rooms):
            return None
        with self._site.work.verb(tx, "arrange", "Arrange the palace", SCHEDULER) as verb:
            tx.recorder = None  # giving a first place is no step: undo takes places away with their memories
            if new_wing is not None:
                high = max(room.y + room.h for room in new_rooms)
                stored.insert_wing(tx, new_wing.id, batch.space_id, new_wing.w, high)
            for room in new_rooms:
                stored.insert_room(tx, room)
            rows = _select_writable_rows(tx, batch, part, is_changed=is_changed)
            tx.insert_many("places", rows)
            verb.note_audit(wing.id, placed=len(rows), rooms=len(new_rooms), wings=int(new_wing is not None))
        return len(rows)


def _read_unplaced(rows: Rows) -> dict[str, list[tuple[int, str, str | None]]]:
    """Space to label, id and conversation of those who wait, oldest first."""
    found: dict[str, list[tuple[int, str, str | None]]] = {}
    for n, memory_id, space_id, talk in rows.all(_UNPLACED):
        found.setdefault(space_id, []).append((n, memory_id, talk))
    return found


def has_unplaced(rows: Rows) -> bool:
    """Whether a memory has no place yet, or one in another space's wing; at 100,000 memories two tenths of a second.

    Returns:
        Whether `Arranger.run` would find something.
    """
    waits = rows.one(f"SELECT 1 FROM ({_UNPLACED}) LIMIT 1") is not None  # noqa: S608 - constants only
    return waits or bool(stored.find_strays(rows))


def _step_mark(rows: Rows) -> tuple[Any, ...]:
    """Changes whenever a verb ran that may have changed memories, rooms or places."""
    return rows.one("SELECT count(*), max(rowid) FROM undo_steps") or ()


def _read_start(rows: Rows, space_id: str) -> _Start:
    wing = stored.find_wing(rows, space_id)
    return _Start(wing, () if wing is None else stored.read_rooms(rows, wing.id), _step_mark(rows))


def _main_room_by_conversation(rows: Rows, wing_id: str, talks: Iterable[str | None]) -> dict[str, str]:
    # In this order: left to itself, the planner begins with the rooms and reads every place.
    found = rows.all(
        "SELECT t.value, p.room_id, count(*) FROM json_each(?) t CROSS JOIN memories m ON m.conversation_id = t.value "
        "CROSS JOIN places p ON p.memory_id = m.id CROSS JOIN rooms r ON r.id = p.room_id AND r.parent_id = ? "
        "GROUP BY 1, 2",
        (json.dumps(sorted({talk for talk in talks if talk is not None})), wing_id),
    )
    return dict(main_rooms([(talk, room_id, count) for talk, room_id, count in found]))


@dataclass(frozen=True, slots=True)
class _Said:
    """A text that may give a name, by whom and when it was said, and whether in a conversation."""

    text: str
    author: str | None
    at_ms: int | None
    is_talk: bool


def _read_said(rows: Rows, labels: Numbers) -> dict[int, _Said]:
    """Texts by label, oldest first: what waits for review or was put away gives no name."""
    return {
        n: _Said(text, author, at_ms, is_talk=talk is not None)
        for n, text, author, at_ms, talk in rows.all(
            "SELECT n, text, author, occurred_at, conversation_id FROM memories "
            "WHERE n IN (SELECT value FROM json_each(?)) "
            "AND status IN ('active', 'disputed', 'consolidated') ORDER BY n",
            (json.dumps(labels.tolist()),),
        )
    }


def _room_texts(said: Sequence[_Said]) -> RoomTexts:
    return RoomTexts(
        [one.text for one in said],
        [one.at_ms for one in said if one.at_ms is not None],
        is_talk=2 * sum(one.is_talk for one in said) > len(said),
    )


def _number_talks(talks: Sequence[str | None]) -> Numbers:
    """Conversations as numbers from 0 on; -1 for none."""
    numbers: dict[str, int] = {}
    return np.array([-1 if talk is None else numbers.setdefault(talk, len(numbers)) for talk in talks], np.int64)


def _sample_evenly(labels: Numbers, most: int) -> Numbers:
    if len(labels) <= most:
        return labels
    return labels[np.linspace(0, len(labels) - 1, most).astype(np.int64)]


def _select_writable_rows(
    tx: Tx, batch: _Batch, part: Sequence[tuple[int, str, float, float]], *, is_changed: bool
) -> list[dict[str, object]]:
    """Rows of those that still wait, in rooms that still stand; after another verb, on places that are still free."""
    ids = json.dumps([batch.ids[at] for at, *_ in part])
    still = {row[0] for row in tx.all(_STILL_UNPLACED, (ids, batch.space_id))}
    room_ids = {room_id for _, room_id, _, _ in part}
    there = {
        row[0]
        for row in tx.all(
            "SELECT id FROM rooms WHERE id IN (SELECT value FROM json_each(?))", (_to_json_list(room_ids),)
        )
    }
    spots: set[tuple[str, float, float]] = set()
    if is_changed:
        spots.update(
            tx.all(
                "SELECT room_id, x, y FROM places WHERE room_id IN (SELECT value FROM json_each(?))",
                (_to_json_list(room_ids),),
            )
        )
    return [
        stored.place_row(batch.ids[at], room_id, (x, y), "lifecycle")
        for at, room_id, x, y in part
        if batch.ids[at] in still and room_id in there and (room_id, x, y) not in spots
    ]


def _to_json_list(values: Iterable[str]) -> str:
    return json.dumps(sorted(values))


Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]

NEW = -1
LEAST_BATCH = 12
"""So many newcomers that are far from every room get rooms of their own; fewer lodge in the nearest."""
CROWDED = 2
"""How often a room's grid is halved for newcomers; when that is full too, they go elsewhere."""
LEAST_NEW = 48
"""Places of a room that is added to a wing: it will not stay as small as its first batch."""
_CHUNK = 1_024
_ASPECT = 1.5
_STEP = 12
_STRIP = 1.5


@dataclass(frozen=True, slots=True)
class CandidateRoom:
    """A room as far as choosing needs it.

    Attributes:
        centre: the mean direction of what stands in it; None where nothing there has a vector.
        left: how many more it takes before it is crowded.
    """

    room: Room
    centre: Vectors | None
    left: int


@dataclass
class PlacementPlan:
    """What shall be written.

    Attributes:
        rooms: new rooms.
        places: place in the batch of newcomers, room id, x and y; in the order they are written.
    """

    rooms: list[Room] = field(default_factory=list)
    places: list[tuple[int, str, float, float]] = field(default_factory=list)


def free_capacity(room: Room, count: int) -> int:
    """How many more a room takes before it is crowded.

    Args:
        count: places taken or held in it.

    Returns:
        0 or more.
    """
    return max(0, int(FULL * room_capacity(room.w, room.h, CROWDED)) - count)


def choose_rooms(vectors: Vectors, rooms: Sequence[CandidateRoom], at_home: Sequence[str | None]) -> Numbers:
    """The room of each newcomer: that of its conversation, else the nearest that is not crowded.

    Args:
        vectors: unit rows of the newcomers, (n, dims).
        rooms: the rooms of the wing.
        at_home: id of the room in which the conversation of each stands; None for none.

    Returns:
        Places in `rooms`, or `NEW`.
    """
    known = {found.room.id: place for place, found in enumerate(rooms)}
    left = [found.left for found in rooms]
    near = np.full((len(vectors), len(rooms)), -np.inf, np.float32)
    for place, found in enumerate(rooms):
        if found.centre is not None:
            near[:, place] = vectors @ found.centre
    is_new = _are_far(near, [known.get(home or "") is not None for home in at_home])
    chosen = np.full(len(vectors), NEW, np.int64)
    order = np.argsort(-near, axis=1, kind="stable")
    for newcomer in np.flatnonzero(~is_new).tolist():
        home = known.get(at_home[newcomer] or "")
        tried = [int(place) for place in order[newcomer] if near[newcomer, place] > -np.inf]
        for place in tried if home is None else [home, *tried]:
            if left[place] > 0:
                left[place] -= 1
                chosen[newcomer] = place
                break
    return chosen


def _are_far(near: NDArray[np.float32], has_home: Sequence[bool]) -> NDArray[np.bool_]:
    if not near.shape[1]:
        return np.ones(len(near), np.bool_)
    far = (near.max(axis=1) < FAR) & ~np.array(has_home, np.bool_)
    return far if int(far.sum()) >= LEAST_BATCH else np.zeros(len(near), np.bool_)


def assign_places(
    newcomers: Numbers, vectors: Vectors, room: Room, taken: Places, standing: Places, kin: Vectors
) -> list[tuple[int, str, float, float]]:
    """Give newcomers the free places nearest to their nearest kin.

    Args:
        newcomers: their places in the batch.
        vectors: unit rows of the newcomers, in that order.
        taken: places where nobody can stand, (k, 2); `standing` among them.
        standing: where those with a vector stand, (m, 2).
        kin: their vectors, (m, dims).

    Returns:
        Rows of a plan.
    """
    grid = Grid(room.w, room.h, taken)
    found = []
    for low in range(0, len(newcomers), _CHUNK):
        part = vectors[low : low + _CHUNK]
        nearest = (part @ kin.T).argmax(axis=1) if len(kin) else None
        for at, newcomer in enumerate(newcomers[low : low + _CHUNK].tolist()):
            x, y = (room.w / 2, room.h / 2) if nearest is None else standing[nearest[at]]
            found.append((newcomer, room.id, *grid.take_nearest(float(x), float(y))))
    return found


def widen_wing(width: float, standing: Sequence[Rect], counts: Sequence[int]) -> float:
    """How wide the ground of a wing is for new rooms: it grows to the right where it would become a thin strip.

    A wing that began with a hundred memories and gets six thousand would otherwise pile up room over room. What stands
    stays; only wings to its right are drawn farther to the right.

    Args:
        standing: the ground of its rooms.
        counts: memories of each new room.

    Returns:
        The width, plan units; as before while the wing is at most about twice as large as it was meant to be.
    """
    extent = max((rect.x + rect.w for rect in standing), default=0)
    area = sum((rect.w + GAP) * (rect.h + GAP) for rect in standing)
    for count in counts:
        w, h = room_size(max(LEAST_NEW, places_needed(count)))
        area += (w + GAP) * (h + GAP)
    wanted = math.ceil(math.sqrt(area * _ASPECT) / _STEP) * _STEP
    now = max(width, extent)
    return wanted if wanted > _STRIP * now else now


def find_grounds(counts: Sequence[int], taken: Sequence[Rect], width: float) -> list[Rect]:
    """Ground for new rooms in a wing that stands.

    Args:
        counts: memories of each.
        taken: ground that is not free.
        width: the wing's.

    Returns:
        One for each, in the first free space from the top.
    """
    found: list[Rect] = []
    for count in counts:
        w, h = room_size(max(LEAST_NEW, places_needed(count)), int(width))
        x, y = free_ground((*taken, *found), w, h, int(width))
        found.append(Rect(x, y, w, h))
    return found


def first_places(
    rooms: Sequence[Room], members: Sequence[Numbers], vectors: Vectors
) -> list[tuple[int, str, float, float]]:
    """First places in new rooms, written so that every part of every room comes early.

    Where writing is interrupted, what stands then is a sample of the whole, and the rest finds its kin.

    Args:
        members: who belongs into each, as places in `vectors`.
        vectors: unit rows, (n, dims).

    Returns:
        Rows of a plan.
    """
    turns: list[tuple[int, int, tuple[int, str, float, float]]] = []
    dice = np.random.default_rng(len(vectors))
    for number, (room, inside) in enumerate(zip(rooms, members, strict=True)):
        places = spread_places(vectors[inside], room.w, room.h)
        for turn, at in enumerate(dice.permutation(len(inside)).tolist()):
            turns.append((turn, number, (int(inside[at]), room.id, float(places[at, 0]), float(places[at, 1]))))
    return [row for _, _, row in sorted(turns, key=lambda entry: entry[:2])]


def rect_of(room: Room) -> Rect:
    """The ground of a room."""
    return Rect(round(room.x), round(room.y), round(room.w), round(room.h))


def main_rooms(found: Sequence[tuple[str, str, int]]) -> Mapping[str, str]:
    """The room in which most of a conversation stands.

    Args:
        found: conversation, room and how many of the one stand in the other.
    """
    best: dict[str, tuple[int, str]] = {}
    for talk, room_id, count in found:
        best[talk] = max(best.get(talk, (0, "")), (count, room_id))
    return {talk: room_id for talk, (_, room_id) in best.items()}
