"""Which room and which place a newcomer gets, worked out without reading the vault.

Must not do: read or write.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.memory.floor_plan import Places, Room
from core.score.centres import FAR
from core.score.floor_plan import FULL, WING_ASPECT, Grid, Rect, free_ground, places_needed, room_capacity, room_size
from core.types.views import GAP, Alcove

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
_STEP = 6
_STRIP = 1.5


@dataclass(frozen=True, slots=True)
class CandidateRoom:
    """A room as far as choosing needs it.

    Attributes:
        centre: the mean direction of what stands in it; None where nothing there has a vector.
        left: how many more it takes before it is crowded.
        usual: the median cosine to the centre of what stands in it.
    """

    room: Room
    centre: Vectors | None
    left: int
    usual: float = 1.0


@dataclass(frozen=True, slots=True)
class Homes:
    """Where newcomers belong whatever they are near to, one entry for each.

    Attributes:
        rooms: id of the room of what a statement was made of, or of most of the conversation; None for none.
        origins: of each statement the place among the newcomers of what it was made of; -1 for none.
    """

    rooms: Sequence[str | None]
    origins: Numbers


@dataclass
class PlacementPlan:
    """What shall be written.

    Attributes:
        rooms: new rooms.
        places: place in the batch of newcomers, room id, x and y; in the order they are written.
        alcoves: room id and alcove.
        landmarks: room id, position, and place in the batch.
    """

    rooms: list[Room] = field(default_factory=list)
    places: list[tuple[int, str, float, float]] = field(default_factory=list)
    alcoves: list[tuple[str, Alcove]] = field(default_factory=list)
    landmarks: list[tuple[str, int, int]] = field(default_factory=list)


def free_capacity(room: Room, count: int, closed: Sequence[Rect] = ()) -> int:
    """How many more a room takes before it is crowded.

    Args:
        count: places taken or held in it.
        closed: where the names of its alcoves stand.

    Returns:
        0 or more.
    """
    names = sum(rect.w * rect.h for rect in closed) * 4**CROWDED
    return max(0, int(FULL * (room_capacity(room.w, room.h, CROWDED) - names)) - count)


def choose_rooms(vectors: Vectors, rooms: Sequence[CandidateRoom], homes: Homes, by_time: NDArray[np.int8]) -> Numbers:
    """The room of each newcomer: its home, else the nearest that is not crowded.

    A room that is called by a time takes those of its source and time alone, and first of all those who are far from
    every theme; as a home it yields to a theme that a newcomer surely belongs to. A statement goes where the newcomer
    goes that it was made of.

    Args:
        vectors: unit rows of the newcomers, (n, dims).
        rooms: the rooms of the wing.
        homes: where the newcomers belong.
        by_time: what each room is to each newcomer, (n, rooms): 0 one with a theme, above 0 one of its time and source,
            below 0 one of another.

    Returns:
        Places in `rooms`, or `NEW`.
    """
    known = {found.room.id: place for place, found in enumerate(rooms)}
    left = [found.left for found in rooms]
    similarity = np.full((len(vectors), len(rooms)), -np.inf, np.float32)
    for place, found in enumerate(rooms):
        if found.centre is not None:
            similarity[:, place] = vectors @ found.centre
    themes = np.where(by_time == 0, similarity, -np.inf)
    own = np.array([known.get(home or "", NEW) for home in homes.rooms], np.int64)
    own = _yield_to_themes(own, themes, np.array([found.usual for found in rooms], np.float32), by_time)
    similarity[by_time < 0] = -np.inf
    is_made = homes.origins >= 0
    is_new = _are_far(similarity[~is_made], (own != NEW)[~is_made])
    chosen = np.full(len(vectors), NEW, np.int64)
    order = np.argsort(-similarity, axis=1, kind="stable")
    # What a statement was made of is placed before it.
    for newcomer in (*np.flatnonzero(~is_made)[~is_new].tolist(), *np.flatnonzero(is_made).tolist()):
        origin = int(homes.origins[newcomer])
        home = int(own[newcomer] if origin < 0 else chosen[origin])
        if home == NEW and origin >= 0:
            continue
        tried = [int(place) for place in order[newcomer] if similarity[newcomer, place] > -np.inf]
        if themes[newcomer].max(initial=-np.inf) < FAR:
            tried.sort(key=lambda place: by_time[newcomer, place] <= 0)
        for place in tried if home == NEW else [home, *tried]:
            if left[place] > 0:
                left[place] -= 1
                chosen[newcomer] = place
                break
    return chosen


def _yield_to_themes(
    own: Numbers, themes: NDArray[np.float32], usual: NDArray[np.float32], by_time: NDArray[np.int8]
) -> Numbers:
    """Homes, where one that is called by a time yields to a theme that is as near as half of what stands there."""
    if not themes.size:
        return own
    rows = np.arange(len(own))
    nearest = themes.argmax(axis=1)
    is_sure = themes[rows, nearest] >= np.maximum(usual[nearest], FAR)
    return np.where((own != NEW) & (by_time[rows, own] != 0) & is_sure, nearest, own)


def _are_far(similarity: NDArray[np.float32], has_home: NDArray[np.bool_]) -> NDArray[np.bool_]:
    if not similarity.shape[1]:
        return np.ones(len(similarity), np.bool_)
    far = (similarity.max(axis=1) < FAR) & ~has_home
    return far if int(far.sum()) >= LEAST_BATCH else np.zeros(len(similarity), np.bool_)


def assign_places(
    newcomers: Numbers,
    vectors: Vectors,
    room: Room,
    taken: Places,
    known_places: Places,
    known_vectors: Vectors,
    closed: Sequence[Rect] = (),
) -> list[tuple[int, str, float, float]]:
    """Give newcomers the free places nearest to their nearest kin, with room for a card as far as there is.

    Args:
        newcomers: their places in the batch.
        vectors: unit rows of the newcomers, in that order.
        taken: places where nobody can stand, (k, 2); `known_places` among them.
        known_places: where those with a vector stand, (m, 2).
        known_vectors: their vectors, (m, dims).
        closed: where the names of its alcoves stand.

    Returns:
        Rows of a plan.
    """
    grid = Grid(room.w, room.h, taken, closed)
    found = []
    for low in range(0, len(newcomers), _CHUNK):
        part = vectors[low : low + _CHUNK]
        nearest = (part @ known_vectors.T).argmax(axis=1) if len(known_vectors) else None
        for at, newcomer in enumerate(newcomers[low : low + _CHUNK].tolist()):
            x, y = (room.w / 2, room.h / 2) if nearest is None else known_places[nearest[at]]
            found.append((newcomer, room.id, *grid.take_with_card(float(x), float(y))))
    return found


def widen_wing(width: float, rects: Sequence[Rect], counts: Sequence[int]) -> float:
    """How wide the ground of a wing is for new rooms: it grows to the right where it would become a thin strip.

    A wing that began with a hundred memories and gets six thousand would otherwise pile up room over room. What stands
    stays; only wings to its right are drawn farther to the right.

    Args:
        rects: the ground of its rooms.
        counts: memories with a card of each new room.

    Returns:
        The width, plan units; as before while the wing is at most about twice as large as it was meant to be.
    """
    extent = max((rect.x + rect.w for rect in rects), default=0)
    area = sum((rect.w + GAP) * (rect.h + GAP) for rect in rects)
    for count in counts:
        w, h = room_size(max(LEAST_NEW, places_needed(count)))
        area += (w + GAP) * (h + GAP)
    wanted = math.ceil(math.sqrt(area * WING_ASPECT) / _STEP) * _STEP
    now = max(width, extent)
    return wanted if wanted > _STRIP * now else now


def find_grounds(counts: Sequence[int], taken: Sequence[Rect], width: float) -> list[Rect]:
    """Ground for new rooms in a wing that stands.

    Args:
        counts: memories with a card of each.
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
