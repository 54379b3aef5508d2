"""One entity for one thing, whatever spaces name it: entities of the same name in several spaces are joined when read.

Each space keeps an entity of its own, so that whoever sees one space learns nothing of another; only the owner, who
sees all of them, is shown one. Two are one where they have the same name and type, or where a name of one is another
name of the other and of nobody else. What speaks against it: another type, another surname, the owner who said that
they are two. Nothing is written. Must not do: be asked for a client.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.entities.recognition import name_key
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx
from core.vault.memory_sql import ENTITY_TYPE, count_namings

APART = "apart"
"""The key of `entities.extra` with ids of spaces in which the same name is another thing: the owner said so."""
_OF_ONE_SPACE = frozenset(("file", "service"))  # a path or a daemon of one space is no other's
_CALLED_BY_FIRST_NAME = frozenset(("person", "pet", "other"))
_UNKNOWN = "other"
_ENTITIES = (
    f"SELECT e.id, e.name, {ENTITY_TYPE}, e.space_id, e.extra ->> '$.apart' FROM entities e "  # noqa: S608 - constants only
    "WHERE e.merged_into_id IS NULL AND e.extra ->> '$.owner' IS NULL "
    "ORDER BY e.recorded_at, e.id"
)
_ALIASES = "SELECT entity_id, alias_key FROM entity_aliases"


@dataclass(frozen=True, slots=True)
class SpacedEntity:
    """An entity of one space, as far as it is compared with those of others.

    Attributes:
        key: `name_key` of its name; `others` are those of its other names.
        mentions: memories that name it.
        apart: spaces in which the same name is another thing.
    """

    id: str
    key: str
    type: str
    space_id: str
    others: frozenset[str] = frozenset()
    mentions: int = 0
    apart: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class EntityGroup:
    """Entities that are one thing.

    Attributes:
        ids: of all, the one named most often first: by that one it is known.
        type: what it is: what nobody could tell in one space may be known in another.
    """

    ids: tuple[str, ...]
    type: str


@dataclass(frozen=True, slots=True)
class EntityGroups:
    """The groups of more than one; whatever is in none stands for itself.

    Attributes:
        by_member: id of an entity to its group.
    """

    by_member: Mapping[str, EntityGroup] = field(default_factory=dict)

    def members_of(self, entity_id: str) -> tuple[str, ...]:
        """All entities that are one with this one, the best known first; itself where it stands alone."""
        group = self.by_member.get(entity_id)
        return (entity_id,) if group is None else group.ids

    def head_of(self, entity_id: str) -> str:
        """The entity by which it is known."""
        return self.members_of(entity_id)[0]


def read_groups(rows: Rows) -> EntityGroups:
    """The groups of the vault as it is now."""
    found = rows.all(_ENTITIES)
    if len({space for _, _, _, space, _ in found}) < 2:
        return EntityGroups()
    counts = count_namings(rows)
    others: dict[str, set[str]] = defaultdict(set)
    for entity_id, key in rows.all(_ALIASES):
        others[str(entity_id)].add(str(key))
    return group_entities(
        SpacedEntity(
            str(one),
            key := name_key(str(name)),
            str(kind),
            str(space),
            frozenset(others[str(one)] - {key}),
            counts.get(str(one), 0),
            frozenset(json.loads(apart)) if apart else frozenset(),
        )
        for one, name, kind, space, apart in found
    )


def group_entities(entities: Iterable[SpacedEntity]) -> EntityGroups:
    """Join what is one.

    Args:
        entities: of all spaces, those that came first in front: of several that fit they are joined first.
    """
    some = [one for one in entities if one.type not in _OF_ONE_SPACE and one.key]
    groups = _join_by_other_name(_join_by_name(some))
    found = (_make_group(group) for group in groups if len(group) > 1)
    return EntityGroups({member: group for group in found for member in group.ids})


def keep_apart(tx: Tx, entity_id: str, space_ids: Iterable[str]) -> None:
    """Note that the same name means another thing in other spaces.

    Args:
        space_ids: spaces in which it does.
    """
    row = tx.row("entities", {"id": entity_id}) or {}
    extra = json.loads(row["extra"])
    extra[APART] = sorted({*extra.get(APART, ()), *space_ids})
    text = json.dumps(extra, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    tx.update("entities", {"id": entity_id}, {"extra": text})


def _make_group(group: Sequence[SpacedEntity]) -> EntityGroup:
    ordered = sorted(group, key=lambda one: -one.mentions)  # stable: of equals the one that came first
    return EntityGroup(tuple(one.id for one in ordered), _type_of(ordered))


def _type_of(group: Sequence[SpacedEntity]) -> str:
    return next((one.type for one in group if one.type != _UNKNOWN), _UNKNOWN)


def _join_by_name(entities: Sequence[SpacedEntity]) -> list[list[SpacedEntity]]:
    by_key: dict[str, list[SpacedEntity]] = defaultdict(list)
    for one in entities:
        by_key[one.key].append(one)
    return [group for same in by_key.values() for group in _split_by_type(same)]


def _split_by_type(same: Sequence[SpacedEntity]) -> list[list[SpacedEntity]]:
    """Those of one name, by type; what is not known to be anything is what all others of the name are."""
    kinds = {one.type for one in same} - {_UNKNOWN}
    if len(kinds) <= 1:
        return _gather_compatible(same)
    parts = [[one for one in same if one.type == kind] for kind in sorted({one.type for one in same})]
    return [group for part in parts for group in _gather_compatible(part)]


def _gather_compatible(same: Sequence[SpacedEntity]) -> list[list[SpacedEntity]]:
    """Each goes to the one group in which nothing speaks against it; where there are two, to neither."""
    groups: list[list[SpacedEntity]] = []
    # Whose surname is told comes first: what is told of nobody joins one of them only if there is but one.
    for one in sorted(same, key=lambda one: not _whole_names(one)):
        fits = [group for group in groups if _may_join(group, [one])]
        if len(fits) == 1:
            fits[0].append(one)
        else:
            groups.append([one])
    return groups


def _may_join(group: Sequence[SpacedEntity], other: Sequence[SpacedEntity]) -> bool:
    return not any(
        a.space_id == b.space_id or b.space_id in a.apart or a.space_id in b.apart or _contradict(a, b)
        for a in group
        for b in other
    )


def _contradict(a: SpacedEntity, b: SpacedEntity) -> bool:
    """Whether two of one first name have two surnames."""
    one, other = _whole_names(a), _whole_names(b)
    return bool(one and other and not one & other)


def _whole_names(one: SpacedEntity) -> frozenset[str]:
    """The last words of its names of several words."""
    if one.type not in _CALLED_BY_FIRST_NAME:
        return frozenset()
    return frozenset(key.rsplit(" ", 1)[1] for key in (one.key, *one.others) if " " in key)


def _join_by_other_name(groups: list[list[SpacedEntity]]) -> list[list[SpacedEntity]]:
    """Join two groups where the name of one is another name of the other, and of no third."""
    named: dict[str, list[int]] = defaultdict(list)
    for place, group in enumerate(groups):
        for key in {key for one in group for key in (one.key, *one.others)}:
            named[key].append(place)
    root = list(range(len(groups)))
    for key, places in sorted(named.items()):
        if len(places) != 2:
            continue
        keep, other = (_root_of(root, place) for place in places)
        is_name = any(one.key == key for place in places for one in groups[place])
        is_one = keep != other and is_name and _is_one_kind(groups[keep], groups[other])
        if is_one and _may_join(groups[keep], groups[other]):
            groups[keep] += groups[other]
            groups[other] = []
            root[other] = keep
    return [group for group in groups if group]


def _is_one_kind(a: Sequence[SpacedEntity], b: Sequence[SpacedEntity]) -> bool:
    one, other = _type_of(a), _type_of(b)
    return one == other or _UNKNOWN in (one, other)


def _root_of(root: Sequence[int], place: int) -> int:
    while root[place] != place:
        place = root[place]
    return place
