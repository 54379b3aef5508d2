"""The register of entities: found by any of their names within their space or GLOBAL, made once (seed B).

One entity for each (space, type, name). A name that was merged away leads to what it was merged into. Other names come
from the owner, from clients that may write into the space, and from `resources/enrich/technologies.json` alone, so that
no text can make one name stand for another. Must not do: join two entities, or decide what is a name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from core.entities.name_words import MOST_NAME, name_key
from core.errors import Code, UserError
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

GLOBAL = "GLOBAL"
TYPES = frozenset(("person", "organization", "place", "project", "technology", "file", "service", "concept", "other"))
"""What an entity may be (design section 1)."""

_KNOWN = (
    "SELECT a.alias_key, a.alias, e.id, e.type, e.merged_into_id FROM entity_aliases a "
    "JOIN entities e ON e.id = a.entity_id WHERE e.space_id IN (:space, 'GLOBAL') "
    "ORDER BY e.space_id = 'GLOBAL', e.recorded_at, e.id"
)
_BY_KEY = (
    "SELECT e.id, e.merged_into_id FROM entity_aliases a JOIN entities e ON e.id = a.entity_id "
    "WHERE a.alias_key = :key AND e.space_id IN (:space, 'GLOBAL') AND (:type IS NULL OR e.type = :type) "
    "ORDER BY e.space_id = 'GLOBAL', e.recorded_at, e.id LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class KnownName:
    """One name of an entity.

    Attributes:
        id: the entity, merges followed.
        type: its type.
        alias: the name as written.
    """

    id: str
    type: str
    alias: str


@dataclass(frozen=True, slots=True)
class NameLexicon:
    """The names that a space knows.

    Attributes:
        by_key: `name_key` to the names under it, the space's own before those of GLOBAL.
        longest: first word of a key to the number of words of the longest key that begins so.
    """

    by_key: Mapping[str, tuple[KnownName, ...]] = field(default_factory=dict)
    longest: Mapping[str, int] = field(default_factory=dict)


def make_lexicon(names: Iterable[tuple[str, KnownName]]) -> NameLexicon:
    """Make a lexicon.

    Args:
        names: key and name, in the order in which they are preferred.

    Returns:
        The lexicon.
    """
    by_key: dict[str, tuple[KnownName, ...]] = {}
    longest: dict[str, int] = {}
    for key, name in names:
        by_key[key] = (*by_key.get(key, ()), name)
        first = key.split(" ", 1)[0]
        longest[first] = max(longest.get(first, 0), key.count(" ") + 1)
    return NameLexicon(by_key, longest)


def read_known_names(rows: Rows, space_id: str) -> NameLexicon:
    """All names of a space and of GLOBAL.

    Returns:
        The lexicon.
    """
    found = rows.all(_KNOWN, {"space": space_id})
    merged = {str(row[2]): str(row[4]) for row in found if row[4] is not None}
    types = {str(row[2]): str(row[3]) for row in found}
    names = ((str(key), str(alias), _end(merged, str(entity))) for key, alias, entity, _, _ in found)
    return make_lexicon((key, KnownName(entity, types.get(entity, "other"), alias)) for key, alias, entity in names)


def find_entity(rows: Rows, space_id: str, name: str, kind: str | None = None) -> str | None:
    """The entity of a name.

    Args:
        space_id: the space; GLOBAL is looked at too, after it.
        name: any of its names, in any case.
        kind: its type; None for any.

    Returns:
        Its id, merges followed; None where there is none.
    """
    row = rows.one(_BY_KEY, {"key": name_key(name), "space": space_id, "type": kind})
    return None if row is None else find_root(rows, str(row[0]))


def find_root(rows: Rows, entity_id: str) -> str:
    """What an entity was merged into at last, or itself.

    Args:
        entity_id: the entity.

    Returns:
        The id.
    """
    seen = {entity_id}
    while True:
        into = rows.value("SELECT merged_into_id FROM entities WHERE id = ?", (entity_id,))
        if into is None or into in seen:
            return entity_id
        entity_id = str(into)
        seen.add(entity_id)


def make_entity(
    tx: Tx, make_id: Callable[[], str], space_id: str, name: str, kind: str, made_by: str, others: Iterable[str] = ()
) -> str:
    """Make an entity, unless one of this type has the name already.

    Args:
        make_id: makes UUIDv7 ids.
        space_id: its space.
        name: its name, 1 to `MOST_NAME` characters.
        kind: of `TYPES`.
        made_by: `owner`, `client`, `rules` or `model`.
        others: other names.

    Returns:
        The id of the new one, or of the one that is there.

    Raises:
        UserError: INVALID_INPUT for a type or a name that cannot be.
    """
    name = name.strip()
    if kind not in TYPES:
        raise UserError(Code.INVALID_INPUT, f"An entity is one of: {', '.join(sorted(TYPES))}.")
    if not name_key(name) or len(name) > MOST_NAME:
        raise UserError(Code.INVALID_INPUT, f"A name has a letter or a digit and at most {MOST_NAME} characters.")
    found = find_entity(tx, space_id, name, kind)
    if found is None:
        found = make_id()
        row = {"id": found, "space_id": space_id, "name": name, "type": kind, "recorded_at": tx.now_ms}
        tx.insert("entities", {**row, "made_by": made_by})
        add_alias(tx, found, name)
    for other in others:
        add_alias(tx, found, other)
    return found


def add_alias(tx: Tx, entity_id: str, alias: str) -> bool:
    """Give an entity another name.

    Args:
        entity_id: the entity.
        alias: the name.

    Returns:
        Whether it is new.
    """
    key = name_key(alias)
    if not key or tx.row("entity_aliases", {"entity_id": entity_id, "alias_key": key}) is not None:
        return False
    row = {"entity_id": entity_id, "alias": alias, "alias_key": key, "recorded_at": tx.now_ms}
    tx.insert("entity_aliases", row)
    return True


def retype_entity(tx: Tx, entity_id: str, kind: str) -> bool:
    """Say what an entity is that rules made of a name without a cue.

    Args:
        entity_id: the entity.
        kind: its type from here on.

    Returns:
        Whether it changed: only from `other`, never what a person said, and not where the name has that type already.
    """
    row = tx.row("entities", {"id": entity_id})
    if row is None or row["type"] != "other" or row["made_by"] in ("owner", "client"):
        return False
    if find_entity(tx, str(row["space_id"]), str(row["name"]), kind) is not None:
        return False
    return tx.update("entities", {"id": entity_id}, {"type": kind})


def _end(merged: Mapping[str, str], entity_id: str) -> str:
    seen = {entity_id}
    while (into := merged.get(entity_id)) is not None and into not in seen:
        entity_id = into
        seen.add(into)
    return entity_id
