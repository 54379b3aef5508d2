"""Gives every memory its place in the palace: a first plan for a new wing, free places in one that stands.

Nothing that is placed moves. Arranging is no undo step; each transaction has its audit row with counts. Which room and
which place a newcomer gets is worked out without reading the vault. Must not do: start by itself, or hold the writer
for more than `BATCH` rows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.lifecycle.palace.clarity import theme_of
from core.lifecycle.palace.context import LABEL, VERB, PalaceContext
from core.lifecycle.palace.furnisher import new_wing_look
from core.lifecycle.palace.room_choice import (
    NEW,
    CandidateRoom,
    Homes,
    Numbers,
    PlacementPlan,
    Vectors,
    assign_places,
    choose_rooms,
    find_grounds,
    free_capacity,
    main_rooms,
    rect_of,
    widen_wing,
)
from core.lifecycle.palace.room_layout import LEAST_ALCOVE, RoomMembers, cut_by_season, lay_out_room
from core.lifecycle.palace.room_texts import (
    NamingText,
    authors_elsewhere,
    number_talks,
    read_naming_texts,
    read_origins,
    read_traits,
    room_texts,
    said_times,
    sample_evenly,
    speaker_stems,
)
from core.lifecycle.palace.theme_division import DividedMemories, DivisionLimits, divide_by_theme, least_speakers
from core.lifecycle.palace.time_rooms import (
    divide_by_source,
    divide_by_title,
    read_sources,
    read_time_room,
    read_titles,
    relate_to_rooms,
)
from core.memory import floor_plan as stored
from core.memory.floor_plan import LEAST_WING, Places, Room, Wing
from core.memory.landmarks import read_alcove_names, read_alcoves
from core.score.centres import blend_with_conversation, mean_directions
from core.score.communities import MOST_COMMUNITIES, SAMPLE
from core.score.floor_plan import Rect, count_cards, lay_out
from core.score.room_sections import name_grounds
from core.text.room_names import TEXTS, is_named_by_time, is_unused, name_by_time, name_by_title
from core.text.terms import fold_case
from core.types.values import LIFECYCLE_ACTOR
from core.types.views import Alcove
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

_NO_ROOMS = PlacementPlan()
BATCH = 2_000
"""Rows written in one transaction at most."""
_FETCH = 4_096
_TRIES = 3
_SAMPLE = 200
_SPEAKERS = 24
_ENOUGH = 8
"""So many who speak of a theme make a room of it in any wing; in a small wing fewer do."""

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

_ROOMS_OF_EPISODES = (
    "SELECT w.value, p.room_id FROM json_each(?) w CROSS JOIN memories m ON m.n = w.value "
    "CROSS JOIN statements s ON s.memory_id = m.id CROSS JOIN memories e ON e.id = s.episode_id "
    "CROSS JOIN places p ON p.memory_id = e.id CROSS JOIN rooms r ON r.id = p.room_id AND r.parent_id = ? "
    "ORDER BY w.value, e.n DESC"
)


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


@dataclass(frozen=True, slots=True)
class _NewTopic:
    """What becomes a room.

    Attributes:
        members: who belongs into it, as places in the batch.
        speakers: stems of the names of who speaks.
        cards: how many memories with a card need as much room.
    """

    name: str
    members: Numbers
    speakers: frozenset[str]
    cards: int


class Arranger:
    """Arranges one vault; one run at a time."""

    def __init__(self, site: PalaceContext) -> None:
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
        wing_x = {wing.space_id: wing.x for wing in self._site.read(stored.read_wings)}
        placed = total = 0
        # Wings that stand first; of the new ones the largest is the leftmost.
        order = sorted(waiting, key=lambda i: (i not in wing_x, wing_x.get(i, 0.0), -len(waiting[i]), i))
        for space_id in order:
            total += len(waiting[space_id])
            placed += self._arrange_space(space_id, waiting[space_id])
        return ArrangementResult(placed, total - placed)

    def _free_strays(self) -> None:
        """Let those who stand in another space's wing wait for a place in their own."""
        found = self._site.read(stored.find_misplaced)
        for low in range(0, len(found), BATCH):
            self._site.check_not_closing()
            part = found[low : low + BATCH]
            self._site.write(lambda tx: self._delete_strays(tx, part))  # noqa: B023 - waited for

    def _delete_strays(self, tx: Tx, memory_ids: Sequence[str]) -> None:
        still = stored.find_misplaced(tx, memory_ids)
        if not still:
            return
        with self._site.work.verb(tx, VERB, LABEL, LIFECYCLE_ACTOR) as verb:
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
        blend_with_conversation(vectors, number_talks(talks))
        return _Batch(space_id, tuple(row[1] for row in kept), found, talks, vectors)

    def _fetch_vectors(self, labels: Numbers) -> tuple[Numbers, Vectors]:
        """Vectors in chunks into one array: at 100,000 a second copy would be 150 MB."""
        fetched: Vectors | None = None
        found = np.empty(len(labels), np.int64)
        count = 0
        for low in range(0, len(labels), _FETCH):
            self._site.check_not_closing()
            part, vectors = self._site.fetch_vectors(labels[low : low + _FETCH])
            if fetched is None:
                fetched = np.empty((len(labels), vectors.shape[1]), np.float32)
            found[count : count + len(part)] = part
            fetched[count : count + len(part)] = vectors
            count += len(part)
        if fetched is None:
            fetched = np.empty((0, 1), np.float32)
        return found[:count], fetched[:count]

    # ---- planning

    def _plan_first_rooms(self, batch: _Batch) -> tuple[Wing, PlacementPlan]:
        topics = self._divide_into_topics(batch, np.arange(len(batch.ids)), ())
        rects = lay_out(
            [topic.cards for topic in topics],
            [at for at, topic in enumerate(topics) if is_named_by_time(topic.name)],
        )
        wing = Wing(self._site.make_id(), batch.space_id, "", 0.0, max(LEAST_WING, *(float(r.x + r.w) for r in rects)))
        return wing, self._new_rooms(batch, wing, topics, rects, {fold_case(topic.name) for topic in topics})

    def _plan_into_rooms(self, batch: _Batch, wing: Wing, start: _Start) -> PlacementPlan:
        counts = self._site.read(lambda rows: stored.count_by_room(rows, wing.id))
        alcoves = self._site.read(read_alcoves)
        reserved = self._site.read(lambda rows: stored.reserved_places(rows, [room.id for room in start.rooms]))
        found = [
            self._read_candidate(
                room,
                free_capacity(
                    room,
                    counts.get(room.id, 0) + len(reserved.get(room.id, ())),
                    name_grounds(alcoves.get(room.id, ())),
                ),
            )
            for room in start.rooms
        ]
        homes = self._site.read(lambda rows: _read_homes(rows, wing.id, batch))
        by_time = self._site.read(lambda rows: _relate_by_time(rows, start.rooms, batch.labels))
        chosen = choose_rooms(batch.vectors, found, homes, by_time)
        plan = PlacementPlan()
        for place, room in enumerate(start.rooms):
            newcomers = np.flatnonzero(chosen == place)
            if newcomers.size:
                self._site.check_not_closing()
                plan.places += self._assign_places(
                    newcomers, batch.vectors[newcomers], room, reserved.get(room.id), alcoves.get(room.id, ())
                )
        strangers = np.flatnonzero(chosen == NEW)
        if strangers.size:
            topics = self._divide_into_topics(batch, strangers, start.rooms)
            grounds = self._site.read(lambda rows: stored.reserved_rects(rows, wing.id))
            taken = [rect_of(room) for room in start.rooms]
            taken += [Rect(round(x), round(y), round(w), round(h)) for x, y, w, h in grounds]
            sizes = [topic.cards for topic in topics]
            rects = find_grounds(sizes, taken, widen_wing(wing.w, taken, sizes))
            named = [*(room.name for room in start.rooms), *(topic.name for topic in topics)]
            named += self._site.read(lambda rows: read_alcove_names(rows, wing.id))
            new = self._new_rooms(batch, wing, topics, rects, {fold_case(name) for name in named})
            plan.rooms += new.rooms
            plan.places += new.places
            plan.alcoves += new.alcoves
            plan.landmarks += new.landmarks
        return plan

    def _new_rooms(
        self, batch: _Batch, wing: Wing, topics: Sequence[_NewTopic], rects: Sequence[Rect], taken: set[str]
    ) -> PlacementPlan:
        new = [
            Room(self._site.make_id(), wing.id, batch.space_id, topic.name, rect.x, rect.y, rect.w, rect.h, "lifecycle")
            for topic, rect in zip(topics, rects, strict=True)
        ]
        plan = PlacementPlan(new)
        turns: list[tuple[int, int, tuple[int, str, float, float]]] = []
        dice = np.random.default_rng(len(batch.labels))
        for number, (room, topic) in enumerate(zip(new, topics, strict=True)):
            self._site.check_not_closing()
            inside = topic.members
            talks = number_talks([batch.talks[place] for place in inside.tolist()])
            inner = RoomMembers(batch.labels[inside], batch.vectors[inside], talks, theme_of(room.name), topic.speakers)
            layout = lay_out_room(self._site, room, inner, taken)
            taken |= {fold_case(alcove.name) for alcove in layout.alcoves}
            plan.alcoves += [(room.id, alcove) for alcove in layout.alcoves]
            plan.landmarks += [(room.id, at, int(inside[mark])) for at, mark in enumerate(layout.landmarks)]
            # Every part of every room comes early: where writing is interrupted, what stands then is a sample of the
            # whole, and the rest finds its kin.
            for turn, at in enumerate(dice.permutation(len(inside)).tolist()):
                x, y = layout.places[at].tolist()
                turns.append((turn, number, (int(inside[at]), room.id, x, y)))
        plan.places = [row for _, _, row in sorted(turns, key=lambda entry: entry[:2])]
        return plan

    def _read_candidate(self, room: Room, left: int) -> CandidateRoom:
        labels = self._site.read(lambda rows: stored.sample_labels(rows, room.id, _SAMPLE))
        found, vectors = self._site.fetch_vectors(labels)
        if not len(found):
            return CandidateRoom(room, None, left)
        centre = mean_directions(vectors, np.zeros(len(found), np.int64), 1)[0]
        return CandidateRoom(room, centre, left, float(np.median(vectors @ centre)))

    def _assign_places(
        self, newcomers: Numbers, vectors: Vectors, room: Room, reserved: Places | None, alcoves: Sequence[Alcove]
    ) -> list[tuple[int, str, float, float]]:
        labels, _, places = self._site.read(lambda rows: stored.read_room_loci(rows, room.id))
        found, found_vectors = self._fetch_vectors(labels)
        found_places = places[np.isin(labels, found)]
        taken = places if reserved is None else np.unique(np.concatenate((places, reserved)), axis=0)
        return assign_places(newcomers, vectors, room, taken, found_places, found_vectors, name_grounds(alcoves))

    def _divide_into_topics(self, batch: _Batch, which: Numbers, rooms: Sequence[Room]) -> list[_NewTopic]:
        """Divide newcomers into topics for new rooms, the largest first; what has no theme by the time it was said.

        Args:
            which: their places in the batch.
            rooms: rooms whose names are taken.
        """
        if not which.size:
            return []
        space = str(self._site.read(lambda rows: rows.value("SELECT name FROM spaces WHERE id = ?", (batch.space_id,))))
        talks = number_talks([batch.talks[place] for place in which.tolist()])
        traits = self._site.read(lambda rows: read_traits(rows, batch.labels[which]))
        speakers: Counter[str] = Counter()
        self._read_texts(batch.labels[which], speakers)
        others = [self._read_texts(self._sample_room(room), speakers) for room in rooms]
        authors = [one.author for texts in others for one in texts]
        often = sorted(speakers, key=lambda name: (-speakers[name], name))[:_SPEAKERS]
        taken = [room.name for room in rooms]
        limits = DivisionLimits(
            SAMPLE,
            MOST_COMMUNITIES,
            _ENOUGH,
            [*taken, space],
            [[one.text for one in texts] for texts in others],
            often,
            space,
        )
        members = DividedMemories(batch.labels[which], batch.vectors[which], talks, traits.is_ground)
        divided = divide_by_theme(self._site, members, limits)
        stems = speaker_stems(often)

        def make_topic(name: str, part: Numbers) -> _NewTopic:
            return _NewTopic(name, which[part], stems, count_cards(len(part), int(traits.is_ground[part].sum())))

        found = [make_topic(name, part) for name, part in divided.parts]
        used = {fold_case(name) for name in (*taken, *(topic.name for topic in found))}
        titles = self._site.read(lambda rows: read_titles(rows, batch.labels[which]))
        rest = divided.rest
        least = least_speakers(len(which), is_first=not others)
        for title, part in divide_by_title(rest, titles, traits.times, least, MOST_COMMUNITIES - len(found)):
            titled = name_by_title(title, often)
            if titled is not None and is_unused(titled, used):
                used.add(fold_case(titled))
                found.append(make_topic(titled, part))
                rest = np.setdiff1d(rest, part)
        sources = self._site.read(lambda rows: read_sources(rows, batch.labels[which]))
        for source in divide_by_source(rest, sources, LEAST_ALCOVE):
            for part in cut_by_season(source, talks, traits.times):
                texts = self._read_texts(batch.labels[which[part]], speakers)
                elsewhere = authors_elsewhere(traits, part) + authors
                name = name_by_time(room_texts(texts, said_times(traits, part)), used, elsewhere)
                used.add(fold_case(name))
                found.append(make_topic(name, part))
        return sorted(found, key=lambda topic: -len(topic.members))

    def _read_texts(self, labels: Numbers, speakers: Counter[str]) -> list[NamingText]:
        found = list(
            self._site.read(
                lambda rows: read_naming_texts(rows, sample_evenly(labels, TEXTS), self._site.phrases)
            ).values()
        )
        speakers.update(one.author for one in found if one.author)
        return found

    def _sample_room(self, room: Room) -> Numbers:
        return self._site.read(lambda rows: stored.sample_labels(rows, room.id, _SAMPLE))

    # ---- writing

    def _write_plan(
        self, batch: _Batch, wing: Wing, plan: PlacementPlan, start: _Start, *, is_first: bool
    ) -> int | None:
        """Write a plan in batches; None where the palace changed before the first, so that it must be made anew."""
        placed = 0
        marks = {at: (room_id, position) for room_id, position, at in plan.landmarks}
        # After the first batch, which is a sample of everything, in the order of the memories: at random, every batch
        # would touch every page of the index over them (twice the time at 100,000).
        ordered = sorted(plan.places[:BATCH]) + sorted(plan.places[BATCH:])
        for low in range(0, max(1, len(ordered)), BATCH):
            self._site.check_not_closing()
            part = ordered[low : low + BATCH]
            context = (wing if is_first else None, plan) if low == 0 else (None, _NO_ROOMS)
            written = self._site.write(lambda tx: self._write_part(tx, batch, wing, context, part, marks, start))  # noqa: B023 - waited for
            if written is None:
                return None if low == 0 else placed
            placed += written
        return placed

    def _write_part(
        self,
        tx: Tx,
        batch: _Batch,
        wing: Wing,
        ground: tuple[Wing | None, PlacementPlan],
        part: Sequence[tuple[int, str, float, float]],
        marks: Mapping[int, tuple[str, int]],
        start: _Start,
    ) -> int | None:
        new_wing, new_rooms, new_alcoves = ground[0], ground[1].rooms, ground[1].alcoves
        is_changed = _step_mark(tx) != start.steps
        if is_changed and (new_wing is not None or new_rooms):
            return None
        with self._site.work.verb(tx, VERB, LABEL, LIFECYCLE_ACTOR) as verb:
            tx.recorder = None  # giving a first place is no step: undo takes places away with their memories
            if new_wing is not None:
                high = max(room.y + room.h for room in new_rooms)
                look = new_wing_look(tx, new_wing.id)
                stored.insert_wing(tx, new_wing.id, batch.space_id, new_wing.w, high, look)
            for room in new_rooms:
                stored.insert_room(tx, room)
            stored.insert_alcoves(tx, new_alcoves)
            rows = _select_writable_rows(tx, batch, part, is_changed=is_changed)
            tx.insert_many("places", rows)
            there = {str(row["memory_id"]) for row in rows}
            known = [(*marks[at], batch.ids[at]) for at, *_ in part if at in marks and batch.ids[at] in there]
            stored.insert_landmarks(tx, known)
            verb.note_audit(wing.id, placed=len(rows), rooms=len(new_rooms), wings=int(new_wing is not None))
        return len(rows)


def _read_unplaced(rows: Rows) -> dict[str, list[tuple[int, str, str | None]]]:
    """Space to label, id and conversation of those who wait, oldest first."""
    found: dict[str, list[tuple[int, str, str | None]]] = {}
    for n, memory_id, space_id, talk in rows.all(_UNPLACED):
        found.setdefault(space_id, []).append((n, memory_id, talk))
    return found


def _relate_by_time(rows: Rows, rooms: Sequence[Room], labels: Numbers) -> NDArray[np.int8]:
    """What each room is to each newcomer, as `choose_rooms` asks for it."""
    found = [read_time_room(rows, room) for room in rooms]
    return relate_to_rooms(found, read_sources(rows, labels), read_traits(rows, labels).times)


def has_unplaced(rows: Rows) -> bool:
    """Whether a memory has no place yet, or one in another space's wing; at 100,000 memories two tenths of a second.

    Returns:
        Whether `Arranger.run` would find something.
    """
    waits = rows.one(f"SELECT 1 FROM ({_UNPLACED}) LIMIT 1") is not None  # noqa: S608 - constants only
    return waits or bool(stored.find_misplaced(rows))


def _step_mark(rows: Rows) -> tuple[Any, ...]:
    """Changes whenever a verb ran that may have changed memories, rooms or places."""
    return rows.one("SELECT count(*), max(rowid) FROM undo_steps") or ()


def _read_start(rows: Rows, space_id: str) -> _Start:
    wing = stored.find_wing(rows, space_id)
    return _Start(wing, () if wing is None else stored.read_rooms(rows, wing.id), _step_mark(rows))


def _read_homes(rows: Rows, wing_id: str, batch: _Batch) -> Homes:
    """Where newcomers belong: a statement where what it was made of stands, a turn where its conversation stands."""
    talks = _main_room_by_conversation(rows, wing_id, batch.talks)
    # The first of several that a statement was made of decides.
    made = dict(rows.all(_ROOMS_OF_EPISODES, (json.dumps(batch.labels.tolist()), wing_id)))
    homes = [
        made.get(label, talks.get(talk or "")) for label, talk in zip(batch.labels.tolist(), batch.talks, strict=True)
    ]
    origins = read_origins(rows, batch.labels)
    origins[np.isin(batch.labels, np.array(list(made), np.int64))] = -1  # that stands already
    origins[(origins >= 0) & (origins[origins] >= 0)] = -1  # a statement of a statement finds its room by itself
    return Homes(homes, origins)


def _main_room_by_conversation(rows: Rows, wing_id: str, talks: Iterable[str | None]) -> dict[str, str]:
    # In this order: left to itself, the planner begins with the rooms and reads every place.
    found = rows.all(
        "SELECT t.value, p.room_id, count(*) FROM json_each(?) t CROSS JOIN memories m ON m.conversation_id = t.value "
        "CROSS JOIN places p ON p.memory_id = m.id CROSS JOIN rooms r ON r.id = p.room_id AND r.parent_id = ? "
        "GROUP BY 1, 2",
        (json.dumps(sorted({talk for talk in talks if talk is not None})), wing_id),
    )
    return dict(main_rooms([(talk, room_id, count) for talk, room_id, count in found]))


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
        stored.make_place_row(batch.ids[at], room_id, (x, y), "lifecycle")
        for at, room_id, x, y in part
        if batch.ids[at] in still and room_id in there and (room_id, x, y) not in spots
    ]


def _to_json_list(values: Iterable[str]) -> str:
    return json.dumps(sorted(values))
