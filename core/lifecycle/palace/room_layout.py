"""The inside of a room when it is laid out: its alcoves with their names, its landmarks, and who stands where.

Must not do: write, or move what a person put somewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from core.lifecycle.palace.context import RoomReader
from core.lifecycle.palace.landmark_choice import MOST, LandmarkCandidates, choose_landmarks, landmark_count
from core.lifecycle.palace.room_choice import Numbers, Vectors
from core.lifecycle.palace.room_texts import (
    NamingText,
    Traits,
    authors_elsewhere,
    read_naming_texts,
    read_traits,
    read_weights,
    room_texts,
    said_times,
    sample_evenly,
    season_of,
)
from core.lifecycle.palace.theme_division import DividedMemories, DivisionLimits, divide_by_theme
from core.memory.floor_plan import Places, Room
from core.score.floor_plan import LARGE
from core.score.room_sections import (
    Members,
    RoomSection,
    apportion,
    below_name,
    card_places,
    ground_of,
    lay_section,
    split_alcoves,
    whole_room,
)
from core.text.room_names import TEXTS, name_by_time
from core.text.terms import fold_case
from core.types.views import Alcove

MOST_ALCOVES = 12
LEAST_ALCOVE = 8
"""Memories of an alcove at least."""
_LEAST_BY_TIME = 12
"""The same of a room by time, which spans more than a season where a season has fewer."""
SAMPLE = 400
"""Memories of a room that are looked at for its alcoves and landmarks."""


@dataclass(frozen=True, slots=True)
class RoomMembers:
    """Who belongs into a room, one entry for each.

    Attributes:
        vectors: unit rows; zeros where there is none.
        talks: the conversation of each as a number; -1 for none.
        theme: stems of the room's name.
        speakers: stems of the names of who speaks.
    """

    labels: Numbers
    vectors: Vectors
    talks: Numbers
    theme: frozenset[str] = frozenset()
    speakers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RoomLayout:
    """The inside of a room.

    Attributes:
        places: of each member, (n, 2).
        landmarks: which members are its landmarks, in the order of the walk.
    """

    places: Places
    landmarks: tuple[int, ...]
    alcoves: tuple[Alcove, ...]


def lay_out_room(
    site: RoomReader, room: Room, members: RoomMembers, taken: Collection[str] = frozenset()
) -> RoomLayout:
    """Lay out a room: about landmarks, a large one by alcoves.

    Args:
        members: at most as many as the room has places.
        taken: names in its wing that no alcove without a theme gets, folded.
    """
    traits = site.read(lambda rows: read_traits(rows, members.labels))
    section = whole_room(room.w, room.h)
    parts: list[tuple[str, Numbers]] = []
    sections: tuple[RoomSection, ...] | None = None
    if int((~traits.is_ground).sum()) > LARGE:
        parts = _divide_room(site, room, members, traits, taken)
        sections = _split_room(section, [part for _, part in parts], traits) if len(parts) > 1 else None
    if sections is None:
        everyone = np.arange(len(members.labels))
        landmark_members = _choose_landmark_members(
            site, members, traits, everyone, landmark_count(int((~traits.is_ground).sum()))
        )
        return RoomLayout(
            _lay_section(section, members, traits, everyone, landmark_members), tuple(landmark_members), ()
        )
    order = sorted(range(len(parts)), key=lambda at: (sections[at].row, sections[at].column))
    shares = _landmark_shares([int((~traits.is_ground[part]).sum()) for _, part in parts])
    places = np.empty((len(members.labels), 2), np.float64)
    landmarks: list[int] = []
    for at in order:
        part = parts[at][1]
        landmark_members = _choose_landmark_members(site, members, traits, part, shares[at])
        places[part] = _lay_section(below_name(sections[at]), members, traits, part, landmark_members)
        landmarks += landmark_members
    return RoomLayout(places, tuple(landmarks), tuple(_to_alcove(site, parts[at][0], sections[at]) for at in order))


def _split_room(section: RoomSection, parts: Sequence[Numbers], traits: Traits) -> tuple[RoomSection, ...] | None:
    """An alcove for each part, with places for cards if the room is large enough, else at least for shapes."""
    places = [card_places(len(part), int(traits.is_ground[part].sum())) for part in parts]
    return split_alcoves(places, section) or split_alcoves([len(part) for part in parts], section)


def _lay_section(
    section: RoomSection, members: RoomMembers, traits: Traits, part: Numbers, landmark_members: Sequence[int]
) -> Places:
    where = {int(member): place for place, member in enumerate(part.tolist())}
    inside = Members(members.vectors[part], traits.times[part], traits.is_ground[part])
    return lay_section(section, inside, [where[landmark] for landmark in landmark_members])


def _to_alcove(site: RoomReader, name: str, section: RoomSection) -> Alcove:
    context = ground_of(section)
    return Alcove(site.make_id(), name, float(context.x), float(context.y), float(context.w), float(context.h))


def _landmark_shares(sizes: Sequence[int]) -> list[int]:
    """How many landmarks each alcove has: the largest first, where there are more alcoves than landmarks."""
    largest = sorted(range(len(sizes)), key=lambda at: (-sizes[at], at))[:MOST]
    given = dict(zip(largest, apportion([sizes[at] for at in largest], MOST), strict=True))
    return [min(given.get(at, 0), size) for at, size in enumerate(sizes)]


def _choose_landmark_members(
    site: RoomReader, members: RoomMembers, traits: Traits, part: Numbers, count: int
) -> list[int]:
    """Landmarks among some of the members, oldest first."""
    if count <= 0:
        return []
    some = sample_evenly(part[~traits.is_ground[part]], SAMPLE)
    weights = site.read(
        lambda rows: read_weights(rows, members.labels[some], site.phrases, members.theme, members.speakers)
    )
    found = choose_landmarks(
        LandmarkCandidates(members.vectors[some], weights.importance, weights.uses, weights.clarity), count
    )
    return sorted((int(some[place]) for place in found), key=lambda at: (int(traits.times[at]), at))


# ---- alcoves


def _divide_room(
    site: RoomReader, room: Room, members: RoomMembers, traits: Traits, taken: Collection[str]
) -> list[tuple[str, Numbers]]:
    """Divide a large room into parts by topic, and what has none by time; each with its name."""
    site.check_not_closing()
    speakers = _speaker_names([_read_texts(site, members.labels)])
    limits = DivisionLimits(SAMPLE, MOST_ALCOVES, LEAST_ALCOVE, (room.name,), (), speakers, room.name)
    divided = divide_by_theme(
        site, DividedMemories(members.labels, members.vectors, members.talks, traits.is_ground), limits
    )
    named = [(name, part) for name, part in divided.parts if part.size >= LEAST_ALCOVE]
    rest = [part for _, part in divided.parts if part.size < LEAST_ALCOVE] + [divided.rest] * bool(divided.rest.size)
    used = {fold_case(name) for name, _ in named} | {fold_case(room.name), *taken}
    if rest:
        for part in _cut_by_time(np.sort(np.concatenate(rest)), members.talks, traits.times, len(members.labels)):
            texts = room_texts(_read_texts(site, members.labels[part]), said_times(traits, part))
            name = name_by_time(texts, used, authors_elsewhere(traits, part))
            used.add(fold_case(name))
            named.append((name, part))
    return named


def _read_texts(site: RoomReader, labels: Numbers) -> list[NamingText]:
    return list(site.read(lambda rows: read_naming_texts(rows, sample_evenly(labels, TEXTS), site.phrases)).values())


def _speaker_names(texts: Sequence[Sequence[NamingText]]) -> list[str]:
    return sorted({one.author for part_texts in texts for one in part_texts if one.author})


def cut_by_season(rest: Numbers, talks: Numbers, times: Numbers) -> list[Numbers]:
    """Divide what has no theme by the season in which its conversation began; small seasons go with the next.

    Args:
        rest: which members.
        talks: the conversation of each member; -1 for none.
        times: epoch ms of each member.
    """
    begun = _talk_starts(rest, talks, times)
    seasons: dict[int, list[int]] = {}
    for member in rest.tolist():
        seasons.setdefault(season_of(begun[member]), []).append(member)
    least = max(_LEAST_BY_TIME, -(-len(rest) // MOST_ALCOVES))
    parts: list[list[int]] = []
    for season in sorted(seasons):
        if parts and len(parts[-1]) < least:
            parts[-1] += seasons[season]
        else:
            parts.append(seasons[season])
    if len(parts) > 1 and len(parts[-1]) < least:
        last = parts.pop()
        parts[-1] += last
    return [np.array(sorted(part), np.int64) for part in parts]


def _talk_starts(rest: Numbers, talks: Numbers, times: Numbers) -> dict[int, int]:
    """Of each member when its conversation began; its own time where it is of none."""
    first: dict[int, int] = {}
    for member in rest.tolist():
        talk = int(talks[member])
        if talk >= 0:
            first[talk] = min(first.get(talk, int(times[member])), int(times[member]))
    return {member: first.get(int(talks[member]), int(times[member])) for member in rest.tolist()}


def _cut_by_time(rest: Numbers, talks: Numbers, times: Numbers, total: int) -> list[Numbers]:
    """Cut what has no theme into parts of some sixty, each of whole conversations one after the other."""
    begun = _talk_starts(rest, talks, times)
    order = sorted(rest.tolist(), key=lambda at: (begun[at], int(talks[at]), int(times[at]), at))
    most = max(LARGE, -(-total // MOST_ALCOVES))
    parts: list[list[int]] = [[]]
    for place, member in enumerate(order):
        begins_talk = place > 0 and (talks[member] < 0 or talks[member] != talks[order[place - 1]])
        if len(parts[-1]) >= most or (begins_talk and 2 * len(parts[-1]) >= most):
            parts.append([])
        parts[-1].append(member)
    if len(parts) > 1 and len(parts[-1]) < LEAST_ALCOVE:
        last = parts.pop()
        parts[-1] += last
    return [np.array(part, np.int64) for part in parts]
