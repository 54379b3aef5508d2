"""Gives rooms and wings what they are recognised by, once: emblem, tint, outline, floor.

What stands there is never changed again; only a person gives a room another emblem. Must not do: start by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.intake.transaction.unit_of_work import UnitOfWork
from core.lifecycle.palace.context import LABEL, VERB, PalaceContext
from core.lifecycle.palace.room_choice import rect_of
from core.memory import floor_plan as stored
from core.memory.floor_plan import Room, Wing
from core.score.appearance import Look, are_neighbours, choose_emblem, choose_look
from core.score.centres import mean_directions
from core.text.emblems import match_words, read_emblems
from core.text.room_names import is_named_by_time
from core.types.values import LIFECYCLE_ACTOR
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

_BY_NAME, _BY_CENTRE, _BY_WORDS = 0.6, 0.4, 0.5
_SAMPLE = 60
_OF_TIME = frozenset(
    {"message-circle", "messages-square", "calendar-days", "clock", "history", "hourglass", "notebook"}
)
"""What a room that is called by a time may be marked with: an emblem of one of its texts would stand for what the rest
is not about."""
_LARGEST = 6
_LOOKS = "SELECT id, parent_id, emblem, tint, outline, floor FROM rooms"


@dataclass(frozen=True, slots=True)
class _Furnished:
    """What stands of rooms and wings.

    Attributes:
        emblems: id to emblem, of those that have one.
        looks: id to look, of those that have one.
    """

    wings: tuple[Wing, ...]
    rooms: tuple[Room, ...]
    emblems: Mapping[str, str]
    looks: Mapping[str, Look]


def emblem_texts() -> list[str]:
    """What is embedded of each emblem, by name: all it stands for."""
    return [", ".join(words) for words in read_emblems().values()]


def has_unfurnished(rows: Rows) -> bool:
    """Whether a room or a wing lacks its furnishing."""
    return rows.one("SELECT 1 FROM rooms WHERE emblem IS NULL OR tint IS NULL LIMIT 1") is not None


def new_wing_look(rows: Rows, wing_id: str) -> Look:
    """The tint, outline and floor of a new wing of the palace."""
    found = [(parent, Look(*look)) for _, parent, _, *look in rows.all(f"{_LOOKS} WHERE tint IS NOT NULL")]
    others = [look for parent, look in found if parent is None]
    return choose_look(wing_id, others[-1:], others)


def furnish(site: PalaceContext) -> int:
    """Furnish every room and wing that is not furnished yet.

    Returns:
        How many were.

    Raises:
        LociError: VAULT_LOCKED; what is furnished by then stays.
    """
    if not site.read(has_unfurnished):
        return 0
    found = site.read(_read_furnished)
    count = 0
    for wing in found.wings:
        rooms = [room for room in found.rooms if room.wing_id == wing.id]
        looks, emblems = _choose_for_wing(site, wing, rooms, found)
        if looks or emblems:
            count += site.write(lambda tx: _write_looks(tx, site.work, looks, emblems))  # noqa: B023 - waited for
    return count


def _read_furnished(rows: Rows) -> _Furnished:
    emblems: dict[str, str] = {}
    looks: dict[str, Look] = {}
    for room_id, _, emblem, tint, outline, floor in rows.all(_LOOKS):
        if emblem is not None:
            emblems[room_id] = emblem
        if tint is not None:
            looks[room_id] = Look(tint, outline, floor)
    return _Furnished(stored.read_wings(rows), stored.read_rooms(rows), emblems, looks)


def _choose_for_wing(
    site: PalaceContext, wing: Wing, rooms: Sequence[Room], found: _Furnished
) -> tuple[dict[str, Look], dict[str, str]]:
    """Looks and emblems of a wing and its rooms that lack them."""
    looks = {room.id: found.looks[room.id] for room in rooms if room.id in found.looks}
    emblems = {room.id: found.emblems[room.id] for room in rooms if room.id in found.emblems}
    new_looks: dict[str, Look] = {}
    new_emblems: dict[str, str] = {}
    scored = _score_emblems(site, [room for room in rooms if room.id not in emblems])
    for room in sorted(rooms, key=lambda one: (one.y, one.x, one.id)):
        neighbour_ids = [
            other.id for other in rooms if other.id != room.id and are_neighbours(rect_of(room), rect_of(other))
        ]
        if room.id not in looks:
            beside = [looks[other] for other in neighbour_ids if other in looks]
            looks[room.id] = new_looks[room.id] = choose_look(room.id, beside, list(looks.values()))
        if room.id not in emblems:
            beside_emblems = {emblems[other] for other in neighbour_ids if other in emblems}
            fitting = _neutral_emblems(scored[room.id]) if is_named_by_time(room.name) else scored[room.id]
            chosen = choose_emblem(room.name, fitting, beside_emblems, set(emblems.values()))
            emblems[room.id] = new_emblems[room.id] = chosen
    if wing.id not in found.looks:
        others = [found.looks[one.id] for one in found.wings if one.id in found.looks]
        new_looks[wing.id] = choose_look(wing.id, others[-1:], others)
    if wing.id not in found.emblems and (rooms or wing.name):
        others_of_wings = {found.emblems[one.id] for one in found.wings if one.id in found.emblems}
        named = [wing.name, *(room.name for room in rooms[:_LARGEST])]
        new_emblems[wing.id] = choose_emblem(wing.name, _score_name(site, named), others_of_wings, ())
    return new_looks, new_emblems


def _score_emblems(site: PalaceContext, rooms: Sequence[Room]) -> dict[str, Mapping[str, float]]:
    """How well every emblem fits each of these rooms, by its name and by what stands in it."""
    if not rooms:
        return {}
    known, named = site.embed_emblems(), site.embed([_emblem_words(room.name) for room in rooms])
    found: dict[str, Mapping[str, float]] = {}
    for place, room in enumerate(rooms):
        site.check_not_closing()
        words = match_words([_emblem_words(room.name)])
        scores = {emblem: _BY_WORDS * score for emblem, score in words.items()}
        if known is not None and named is not None:
            similarity = known @ named[place] * (_BY_NAME if not is_named_by_time(room.name) else 0.0)
            labels = site.read(lambda rows: stored.sample_labels(rows, room.id, _SAMPLE))  # noqa: B023 - called at once
            _, vectors = site.fetch_vectors(labels)
            if len(vectors) and vectors.shape[1] == known.shape[1]:
                similarity = similarity + _BY_CENTRE * (
                    known @ mean_directions(vectors, np.zeros(len(vectors), np.int64), 1)[0]
                )
            scores = {
                emblem: scores[emblem] + round(float(value), 5)
                for emblem, value in zip(read_emblems(), similarity.tolist(), strict=True)
            }
        found[room.id] = scores
    return found


def _emblem_words(name: str) -> str:
    """What an emblem is chosen by: of a room that is called by its time only that there is talk, or notes, in it."""
    if not is_named_by_time(name):
        return name
    return "notes" if name.rpartition(", ")[2].startswith("notes") else "talk"


def _neutral_emblems(scores: Mapping[str, float]) -> dict[str, float]:
    """Of the scores those of emblems that say of a time, talk or notes and of nothing else."""
    return {emblem: score for emblem, score in scores.items() if emblem in _OF_TIME}


def _score_name(site: PalaceContext, names: Sequence[str]) -> Mapping[str, float]:
    words = match_words(names)
    known, named = site.embed_emblems(), site.embed([names[0], ", ".join(names)])
    if known is None or named is None:
        return words
    scores = known @ (named[0] + named[1]) / 2
    return {
        emblem: _BY_WORDS * words[emblem] + round(float(value), 5)
        for emblem, value in zip(read_emblems(), scores.tolist(), strict=True)
    }


def _write_looks(tx: Tx, work: UnitOfWork, looks: Mapping[str, Look], emblems: Mapping[str, str]) -> int:
    with work.verb(tx, VERB, LABEL, LIFECYCLE_ACTOR) as verb:
        tx.recorder = None  # no step: what is chosen once needs no taking back
        count = 0
        for room_id in sorted({*looks, *emblems}):
            row = tx.row("rooms", {"id": room_id})
            if row is None:
                continue
            changes: dict[str, object] = {}
            if room_id in emblems and row["emblem"] is None:
                changes["emblem"] = emblems[room_id]
            if room_id in looks and row["tint"] is None:
                look = looks[room_id]
                changes |= {"tint": look.tint, "outline": look.outline, "floor": look.floor}
            if changes:
                tx.update("rooms", {"id": room_id}, changes)
                count += 1
        verb.note_audit(furnished=count)
    return count
