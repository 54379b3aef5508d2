"""Rooms of what has no theme: a conversation that has a title, else one source and one span of seasons.

A source is an import, or what was written here. Must not do: write, or look for a theme.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.lifecycle.palace.room_choice import Numbers
from core.lifecycle.palace.room_texts import read_traits, season_of
from core.memory.floor_plan import Room, sample_labels
from core.text.room_names import is_named_by_time
from core.vault.database.rows import Rows

OWN = ""
"""The source of what was written here or came from a client."""
THEME, ADMITTED, BARRED = 0, 1, -1
"""What a room is to a newcomer: one with a theme, one of its source and time, one of another."""
_SAMPLE = 200
_SOURCES = (
    "SELECT m.n, coalesce(m.import_id, (SELECT e.import_id FROM statements s JOIN memories e ON e.id = s.episode_id "
    "WHERE s.memory_id = m.id LIMIT 1), '') FROM json_each(?) w JOIN memories m ON m.n = w.value"
)
_TITLES = (
    "SELECT m.n, c.title FROM json_each(?) w JOIN memories m ON m.n = w.value "
    "JOIN conversations c ON c.id = coalesce(m.conversation_id, (SELECT e.conversation_id FROM statements s "
    "JOIN memories e ON e.id = s.episode_id WHERE s.memory_id = m.id LIMIT 1)) WHERE c.title IS NOT NULL"
)
_SEASON_MS = 92 * 86_400_000
_MOST_ELSEWHERE = 0.5
"""Share of a conversation that may lie in other rooms where the rest is called by its title."""


@dataclass(frozen=True, slots=True)
class TimeRoom:
    """What a room called by a time holds.

    Attributes:
        begin: the first season; `end` the last.
    """

    sources: frozenset[str]
    begin: int
    end: int


def read_sources(rows: Rows, labels: Numbers) -> list[str]:
    """The import of each memory, or of what it was made of; `OWN` for none."""
    found = dict(rows.all(_SOURCES, (json.dumps(labels.tolist()),)))
    return [str(found.get(label, OWN)) for label in labels.tolist()]


def read_time_room(rows: Rows, room: Room) -> TimeRoom | None:
    """What a room holds; None for one that has another name than a time."""
    if not is_named_by_time(room.name):
        return None
    labels = sample_labels(rows, room.id, _SAMPLE)
    if not len(labels):
        return None
    times = read_traits(rows, labels).times
    begin, end = season_of(int(times.min())), season_of(int(times.max()))
    return TimeRoom(frozenset(read_sources(rows, labels)), begin, end)


def relate_to_rooms(rooms: Sequence[TimeRoom | None], sources: Sequence[str], times: Numbers) -> NDArray[np.int8]:
    """What each room is to each newcomer.

    Args:
        rooms: None for one with a theme.
        sources: of the newcomers.
        times: when each was said, epoch ms.

    Returns:
        `THEME`, `ADMITTED` or `BARRED`, (newcomers, rooms).
    """
    found = np.full((len(sources), len(rooms)), THEME, np.int8)
    seasons = [season_of(at) for at in times.tolist()]
    for place, room in enumerate(rooms):
        if room is not None:
            found[:, place] = [
                ADMITTED if source in room.sources and room.begin <= season <= room.end else BARRED
                for source, season in zip(sources, seasons, strict=True)
            ]
    return found


def read_titles(rows: Rows, labels: Numbers) -> list[str]:
    """The title of the conversation of each memory, or of what it was made of; empty for none."""
    found = dict(rows.all(_TITLES, (json.dumps(labels.tolist()),)))
    return [str(found.get(label, "")) for label in labels.tolist()]


def divide_by_title(
    members: Numbers, titles: Sequence[str], times: Numbers, least: int, most: int
) -> list[tuple[str, Numbers]]:
    """Members of conversations of at most a season by their title, the largest first.

    A messenger's conversation goes on for years under the name of a person: that is a time's, not a topic's.

    Args:
        members: places of those who are divided.
        titles: of all, by place; empty for none.
        times: when each was said, epoch ms.
        least: members of a part.
        most: parts.
    """
    whole = Counter(filter(None, titles))
    parts: dict[str, list[int]] = {}
    for member in members.tolist():
        parts.setdefault(titles[member], []).append(member)
    parts.pop("", None)
    kept = [
        (title, np.array(part, np.int64))
        for title, part in parts.items()
        if len(part) >= max(least, (1 - _MOST_ELSEWHERE) * whole[title])
        and int(times[part].max() - times[part].min()) <= _SEASON_MS
    ]
    return sorted(kept, key=lambda one: (-len(one[1]), int(one[1][0])))[: max(0, most)]


def divide_by_source(members: Numbers, sources: Sequence[str], least: int) -> list[Numbers]:
    """Members by their source, what was written here first; imports with fewer than `least` share one part.

    Args:
        members: places of those who are divided.
        sources: of all, by place.
    """
    parts: dict[str, list[int]] = {}
    for member in members.tolist():
        parts.setdefault(sources[member], []).append(member)
    own = parts.pop(OWN, [])
    small = [source for source, part in parts.items() if len(part) < least]
    shared = sorted(member for source in small for member in parts[source])
    kept = [part for source, part in parts.items() if source not in small]
    return [np.array(part, np.int64) for part in (own, *kept, shared) if part]
