"""The register of entities: found by any of their names within their space or GLOBAL, read as cards, made, changed.

One entity for each (space, type, name) (seed B). A name that was merged away leads to what it was merged into. Other
names come from the owner, from clients that may write into the space, and from `resources/enrich/technologies.json`
alone, so that no text can make one name stand for another. Must not do: join two entities, decide what is a name, or
decide who may write.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.entities.recognition import MOST_NAME, name_key
from core.entities.resolution import NamedEntity, match_tier
from core.errors import Code, PreconditionError, UserError
from core.text.terms import fold_width
from core.types.entities import EntityCard, EntityChange, EntityDraft, EntityScope
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx
from core.vault.memory_sql import ENTITY_TYPE, undecided_sql

METADATA_BYTES = 8 * 1024
"""UTF-8 of the metadata of an entity, at most; our choice: as much as a client's text."""
MOST_ALIASES = 64
"""Other names of an entity that a caller gives, at most; our choice."""
CANDIDATES = 200
"""Candidates of one answer, at most: the items of a client's list (design section 8)."""
MERGED_INTO = "merged_into"
"""The key of seed B's metadata under which a merged entity says where it leads; nobody writes it."""
_UNHEARD = undecided_sql("sm")
SEEN = (
    "((:seen IS NULL OR e.space_id IN (SELECT value FROM json_each(:seen))) AND (NOT :client "  # noqa: S608 - constants
    "OR e.made_by IN ('owner', 'client') OR EXISTS (SELECT 1 FROM mentions sn JOIN memories sm ON sm.id = sn.memory_id "
    f"WHERE sn.entity_id = e.id AND sm.status <> 'deleted' AND sm.security_tier = 'cleartext' AND NOT {_UNHEARD} "
    "AND (:seen IS NULL OR sm.space_id IN (SELECT value FROM json_each(:seen))) "
    "AND (:channels IS NULL OR sm.scope_channel IN (SELECT value FROM json_each(:channels))))))"
)
"""Whether `entities e` exists for who asks; with `reach_params`.

Trigger: a client asks for a name that rules found in a memory that was deleted since, stands in another space, or was
never let in. Why: the name would tell of the memory. Outcome: it exists for a client only where a memory that it may
see, and that was let in, names it.
"""
_CARD = (
    f"SELECT e.id, e.name, {ENTITY_TYPE}, s.name, e.extra, e.made_by, e.recorded_at, e.merged_into_id, e.space_id "  # noqa: S608 - constants only
    "FROM entities e JOIN spaces s ON s.id = e.space_id WHERE e.id = ?"
)
_ALIASES = "SELECT alias FROM entity_aliases WHERE entity_id = ? ORDER BY recorded_at, alias_key"
_IN_REACH = f"SELECT 1 FROM entities e WHERE e.id = :id AND {SEEN}"  # noqa: S608 - constants
_SAME = (
    "SELECT e.name FROM entity_aliases a JOIN entities e ON e.id = a.entity_id WHERE a.alias_key = :key "  # noqa: S608
    f"AND e.space_id = :space AND {ENTITY_TYPE} = :type AND e.id <> :but AND {SEEN}"
)
_LIVE = f"e.merged_into_id IS NULL AND (:type IS NULL OR {ENTITY_TYPE} = :type) AND {SEEN}"
_HOLDING = (
    "SELECT DISTINCT e.id FROM entity_aliases a JOIN entities e ON e.id = a.entity_id "  # noqa: S608 - constants
    f"WHERE instr(a.alias_key, :key) > 0 AND {_LIVE}"
)
_ALL = f"SELECT e.id FROM entities e WHERE {_LIVE}"  # noqa: S608 - constants
_SPELT = (
    "SELECT DISTINCT n.entity_id, substr(m.text, n.start_at + 1, n.end_at - n.start_at) FROM mentions n "
    "JOIN memories m ON m.id = n.memory_id WHERE n.entity_id IN (SELECT value FROM json_each(:ids)) "
)
_ELSEWHERE = f"{_SPELT} AND m.scope_channel <> '' AND m.scope_channel NOT IN (SELECT value FROM json_each(:channels))"  # noqa: S608
_VISIBLE = (
    f"m.status <> 'deleted' AND m.security_tier = 'cleartext' AND NOT {undecided_sql()} "  # noqa: S608 - constants
    "AND (:seen IS NULL OR m.space_id IN (SELECT value FROM json_each(:seen))) "
    "AND m.scope_channel IN (SELECT value FROM json_each(:channels))"
)
_HERE = f"{_SPELT} AND {_VISIBLE}"
# Names as they are written in some memory in sight: the lengths are told apart before a text is opened.
_SPEAKER_NAMES = (
    "SELECT j.value ->> 0, j.value ->> 1 FROM json_each(:names) j WHERE EXISTS ("  # noqa: S608 - constants
    "SELECT 1 FROM mentions n JOIN memories m ON m.id = n.memory_id WHERE n.entity_id = j.value ->> 0 "
    f"AND n.end_at - n.start_at = length(j.value ->> 1) AND {_VISIBLE} "
    "AND substr(m.text, n.start_at + 1, n.end_at - n.start_at) = j.value ->> 1)"
)
# What somebody made is called what they called it, wherever else the name stands.
_GIVEN = (
    "SELECT id, name FROM entities WHERE made_by IN ('owner', 'client') AND id IN (SELECT value FROM json_each(:ids))"
)
_NAMES = (
    f"SELECT e.id, e.name, {ENTITY_TYPE}, a.alias FROM entities e LEFT JOIN entity_aliases a ON a.entity_id = e.id "  # noqa: S608 - constants only
    "WHERE e.id IN (SELECT value FROM json_each(?)) ORDER BY e.id, a.recorded_at, a.alias_key"
)
GLOBAL = "GLOBAL"
FORMS = frozenset(("pet", "work"))
"""Types that the column of the table has no word for; see `core.vault.memory_sql.ENTITY_TYPE`."""
TYPES = FORMS | frozenset(
    ("person", "organization", "place", "project", "technology", "file", "service", "concept", "other")
)
"""What an entity may be (design section 1)."""
_KNOWN = (
    f"SELECT a.alias_key, a.alias, e.id, {ENTITY_TYPE}, e.merged_into_id FROM entity_aliases a "  # noqa: S608 - constants only
    "JOIN entities e ON e.id = a.entity_id WHERE e.space_id IN (:space, 'GLOBAL') "
    "ORDER BY e.space_id = 'GLOBAL', e.recorded_at, e.id"
)
_BY_KEY = (
    "SELECT e.id, e.merged_into_id FROM entity_aliases a JOIN entities e ON e.id = a.entity_id "  # noqa: S608 - constants only
    f"WHERE a.alias_key = :key AND e.space_id IN (:space, 'GLOBAL') AND (:type IS NULL OR {ENTITY_TYPE} = :type) "
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


def reach_params(reach: EntityScope) -> dict[str, object]:
    """The values of `SEEN`.

    Returns:
        `seen`, `client` and `channels`.
    """
    seen = None if reach.space_ids is None else json.dumps(sorted(reach.space_ids))
    channels = None if reach.channels is None else json.dumps(reach.channels)
    return {"seen": seen, "client": int(reach.is_client), "channels": channels}


def read_card(rows: Rows, entity_id: str, reach: EntityScope) -> EntityCard:
    """One entity.

    Returns:
        It, also where it was merged into another.

    Raises:
        UserError: NOT_FOUND where there is none, or none within reach.
    """
    row = rows.one(_CARD, (entity_id,))
    # A merged one has no mentions of its own any more: it is there for whoever sees what it leads to.
    either = {entity_id, find_root(rows, entity_id)}
    # The same is asked whether there is one out of reach, or none at all.
    reachable = [rows.one(_IN_REACH, {"id": one, **reach_params(reach)}) for one in either]
    if row is None or (reach.space_ids is not None and row[8] not in reach.space_ids) or not any(reachable):
        raise _entity_not_found_error()
    return _card_from_row(rows, row, hidden_aliases(rows, read_named_entities(rows, [str(row[0])]), reach))


def hidden_aliases(rows: Rows, named: Sequence[NamedEntity], reach: EntityScope) -> frozenset[tuple[str, str]]:
    """Names that an entity bears only in memories of a channel that is not looked at (E12a; X1, X2).

    Trigger: rules found a name in a memory of one channel, and another name of the same in one that all see. Why: the
    entity is there for all, and the first name tells of the memory. Outcome: it goes by the names that were seen.

    A name is looked for where it is seen first, and the first such place settles it: only of those that are left is
    every mention read.

    Args:
        named: the entities with all their names.

    Returns:
        Id and `name_key` of each such name; a name that stands in no memory at all was given to it, and is none.
    """
    if reach.channels is None:
        return frozenset()
    names = [(one.id, name) for one in named for name in (one.name, *one.aliases)]
    seen = _name_keys(rows.all(_SPEAKER_NAMES, {"names": json.dumps(names), **reach_params(reach)}))
    left = {(one, name_key(name)) for one, name in names} - seen
    if not left:
        return frozenset()
    params = {"ids": json.dumps(sorted({one for one, _ in left})), **reach_params(reach)}
    elsewhere = _name_keys(rows.all(_ELSEWHERE, params)) & left
    if not elsewhere:
        return frozenset()
    return frozenset(elsewhere - _name_keys(rows.all(_GIVEN, params)) - _name_keys(rows.all(_HERE, params)))


def find_candidates(
    rows: Rows, name: str, kind: str | None, reach: EntityScope, *, fuzzy: bool
) -> list[tuple[NamedEntity, str]]:
    """The entities that a name may mean, each with its tier (seed B, entity resolution).

    Args:
        kind: only this type; None for all.
        reach: whose entities; merged ones are never among them.
        fuzzy: whether alike spellings count.

    Returns:
        In no order.
    """
    key = name_key(name)
    if not key:
        return []
    params: dict[str, object] = {"type": kind, **reach_params(reach)}
    found = rows.all(_ALL, params) if fuzzy else rows.all(_HOLDING, {**params, "key": key})
    named = read_named_entities(rows, [str(row[0]) for row in found])
    close = [one for one in named if match_tier(name, one, fuzzy=fuzzy) is not None]
    hidden = hidden_aliases(rows, close, reach)
    tiers = ((one, match_tier(name, one, fuzzy=fuzzy)) for one in _without_hidden_names(close, hidden))
    return [(one, by) for one, by in tiers if by is not None]


def read_named_entities(rows: Rows, entity_ids: Sequence[str]) -> list[NamedEntity]:
    """Entities with all their names.

    Returns:
        Those that are there, by id.
    """
    entities: dict[str, tuple[str, str, list[str]]] = {}
    for one, name, kind, alias in rows.all(_NAMES, (json.dumps(list(entity_ids)),)):
        aliases = entities.setdefault(str(one), (str(name), str(kind), []))[2]
        if alias is not None and name_key(alias) != name_key(name):
            aliases.append(str(alias))
    return [NamedEntity(one, name, kind, tuple(aliases)) for one, (name, kind, aliases) in entities.items()]


def check_draft(draft: EntityDraft) -> None:
    """Refuse an entity that cannot be made, whoever asks.

    Raises:
        UserError: INVALID_INPUT for a type, a name or metadata that cannot be.
    """
    _check_type(draft.type)
    for name in (draft.name, *draft.aliases):
        _check_entity_name(name)
    _check_count(draft.aliases)
    _check_metadata(draft.metadata)


def check_entity_change(change: EntityChange) -> None:
    """Refuse a change that cannot be; see `check_draft`.

    Args:
        change: what shall be different.

    Raises:
        UserError: INVALID_INPUT.
    """
    if change.type is not None:
        _check_type(change.type)
    for name in (*(() if change.name is None else (change.name,)), *(change.aliases or ())):
        _check_entity_name(name)
    _check_count(change.aliases or ())
    _check_metadata(change.metadata or {})


def insert_entity(tx: Tx, entity_id: str, space_id: str, draft: EntityDraft, made_by: str, reach: EntityScope) -> None:
    """Make an entity.

    Args:
        draft: from `check_draft`.
        made_by: `owner` or `client`.
        reach: whose entities: what the asker cannot see is no duplicate of what it makes.

    Raises:
        UserError: INVALID_INPUT where its space has one of this name and type already.
    """
    name = draft.name.strip()
    _check_new(tx, space_id, name, draft.type, "", reach)
    extra = {"metadata": dict(draft.metadata)} if draft.metadata else {}
    row = {"id": entity_id, "space_id": space_id, "name": name, "made_by": made_by, "recorded_at": tx.now_ms}
    tx.insert("entities", {**row, **_type_columns(draft.type, extra)})
    for alias in (name, *draft.aliases):
        add_alias(tx, entity_id, alias.strip())


def change_entity(tx: Tx, entity_id: str, wanted: EntityChange, reach: EntityScope) -> None:
    """Change an entity: name and type are replaced, all other names are, metadata is laid over (seed B).

    Args:
        entity_id: an entity within reach that stands for itself.
        wanted: from `check_entity_change`.
        reach: whose entities, as for `insert_entity`.

    Raises:
        UserError: INVALID_INPUT where its space has one of this name and type already, or the metadata is too much.
    """
    row = tx.row("entities", {"id": entity_id}) or {}
    extra_before = json.loads(row["extra"])
    was = extra_before.get("form", row["type"])
    name, kind = (wanted.name or row["name"]).strip(), wanted.type or was
    if (name, kind) != (row["name"], was):
        _check_new(tx, row["space_id"], name, kind, entity_id, reach)
    extra = merge_metadata(extra_before, {**extra_before.get("metadata", {}), **(wanted.metadata or {})}, tx.now_ms)
    _check_metadata(extra["metadata"])
    tx.update("entities", {"id": entity_id}, {"name": name, **_type_columns(kind, extra)})
    _rename_entity(tx, entity_id, str(row["name"]), name, wanted.aliases)


def is_name_taken(rows: Rows, space_id: str, name: str, kind: str, reach: EntityScope, but: str = "") -> bool:
    """Whether a space has an entity of a name and a type already.

    Args:
        name: the name; case, accents and spacing do not count.
        but: id of one that does not count; "" for none.
    """
    key = name_key(name)
    params = {"key": key, "space": space_id, "type": kind, "but": but, **reach_params(reach)}
    return any(name_key(found) == key for (found,) in rows.all(_SAME, params))


def merge_metadata(extra: Mapping[str, Any], metadata: Mapping[str, Any], now_ms: int) -> dict[str, Any]:
    """What `entities.extra` holds after a change.

    Args:
        extra: what it held.
        metadata: all of the metadata.
        now_ms: the time of the change.

    Returns:
        The new content.
    """
    return {**extra, "metadata": dict(metadata), "updated_at": now_ms}


def make_lexicon(names: Iterable[tuple[str, KnownName]]) -> NameLexicon:
    """Make a lexicon.

    Args:
        names: key and name, in the order in which they are preferred.
    """
    by_key: dict[str, tuple[KnownName, ...]] = {}
    longest: dict[str, int] = {}
    for key, name in names:
        by_key[key] = (*by_key.get(key, ()), name)
        first = key.split(" ", 1)[0]
        longest[first] = max(longest.get(first, 0), key.count(" ") + 1)
    return NameLexicon(by_key, longest)


def read_known_names(rows: Rows, space_id: str) -> NameLexicon:
    """All names of a space and of GLOBAL."""
    found = rows.all(_KNOWN, {"space": space_id})
    merged = {str(row[2]): str(row[4]) for row in found if row[4] is not None}
    types = {str(row[2]): str(row[3]) for row in found}
    names = ((str(key), str(alias), _end_of_merges(merged, str(entity))) for key, alias, entity, _, _ in found)
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
    """What an entity was merged into at last, or itself."""
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
        row = {"id": found, "space_id": space_id, "name": name, "recorded_at": tx.now_ms, "made_by": made_by}
        tx.insert("entities", {**row, **_type_columns(kind, {})})
        add_alias(tx, found, name)
    for other in others:
        add_alias(tx, found, other)
    return found


def add_alias(tx: Tx, entity_id: str, alias: str) -> bool:
    """Give an entity another name.

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
    """Say what an entity is that rules made, when the places that name it tell another type than it has.

    Returns:
        Whether it changed: never what a person said, and not where an entity of that name and type is there.
    """
    row = tx.row("entities", {"id": entity_id})
    if row is None or row["made_by"] in ("owner", "client"):
        return False
    extra = json.loads(row["extra"])
    if kind == extra.get("form", row["type"]):
        return False
    if find_entity(tx, str(row["space_id"]), str(row["name"]), kind) is not None:
        return False
    return tx.update("entities", {"id": entity_id}, _type_columns(kind, extra))


def find_owner(rows: Rows) -> str | None:
    """The entity of the vault's owner; None before the owner spoke in a conversation."""
    found = rows.one("SELECT id FROM entities WHERE space_id = 'GLOBAL' AND extra ->> '$.owner' = 1 LIMIT 1")
    return None if found is None else str(found[0])


def find_owner_names(rows: Rows) -> frozenset[str]:
    """`name_key` of the names by which the vault knows its owner: other names of the entity, and what claims say."""
    speaker_rows = rows.all(
        "SELECT value FROM claims WHERE subject_key = 'user' AND predicate = 'name_is' AND polarity = 'positive' "
        "AND state = 'asserted' UNION SELECT a.alias FROM entity_aliases a JOIN entities e ON e.id = a.entity_id "
        "WHERE e.space_id = 'GLOBAL' AND e.extra ->> '$.owner' = 1"
    )
    return frozenset(name_key(str(name)) for (name,) in speaker_rows) - {""}


def is_made_by_machine(rows: Rows, entity_id: str) -> bool:
    """Whether rules or a model found it, and nobody said anything about it."""
    return rows.value("SELECT made_by FROM entities WHERE id = ?", (entity_id,)) in ("rules", "model")


def make_owner(tx: Tx, make_id: Callable[[], str], name: str) -> str:
    """Make the entity of the vault's owner, unless it is there.

    It is found by no text: its name is a word that everybody is called by, so it has no row among the aliases.

    Args:
        make_id: makes UUIDv7 ids.
        name: how it is called; no other name leads to it.

    Returns:
        Its id.
    """
    found = find_owner(tx)
    if found is None:
        found = make_id()
        row = {"id": found, "space_id": GLOBAL, "name": name, "recorded_at": tx.now_ms, "made_by": "rules"}
        tx.insert("entities", {**row, **_type_columns("person", {"owner": 1})})
    return found


def _type_columns(kind: str, extra: Mapping[str, Any]) -> dict[str, object]:
    """How a type is kept beside what else `extra` holds."""
    other = {name: value for name, value in extra.items() if name != "form"}
    if kind in FORMS:
        return {"type": "other", "extra": _to_json({**other, "form": kind})}
    return {"type": kind, "extra": _to_json(other)}


def _entity_not_found_error() -> UserError:
    """The same words whether there is none or none within reach."""
    return UserError(Code.NOT_FOUND, "There is no such entity.")


def _name_keys(found: Iterable[Sequence[Any]]) -> set[tuple[str, str]]:
    return {(str(one), name_key(str(name))) for one, name in found}


def _card_from_row(rows: Rows, row: Sequence[Any], hidden: frozenset[tuple[str, str]]) -> EntityCard:
    extra, own = json.loads(row[4]), name_key(row[1])
    others = [str(alias) for (alias,) in rows.all(_ALIASES, (row[0],)) if name_key(alias) != own]
    visible_names = [one for one in (str(row[1]), *others) if (str(row[0]), name_key(one)) not in hidden]
    if not visible_names:
        raise _entity_not_found_error()
    name, *aliases = visible_names
    return EntityCard(
        id=str(row[0]),
        name=name,
        type=str(row[2]),
        space=str(row[3]),
        aliases=tuple(aliases),
        metadata=extra.get("metadata", {}),
        made_by=str(row[5]),
        created_at=int(row[6]),
        updated_at=int(extra.get("updated_at", row[6])),
        merged_into=None if row[7] is None else str(row[7]),
        is_owner=bool(extra.get("owner")),
    )


def _without_hidden_names(named: Iterable[NamedEntity], hidden: frozenset[tuple[str, str]]) -> list[NamedEntity]:
    """Entities by the names that may be told; none without any."""
    visible = []
    for one in named:
        names = [name for name in (one.name, *one.aliases) if (one.id, name_key(name)) not in hidden]
        if names:
            visible.append(NamedEntity(one.id, names[0], one.type, tuple(names[1:])))
    return visible


def _rename_entity(tx: Tx, entity_id: str, old: str, name: str, aliases: Iterable[str] | None) -> None:
    alias_by_key = {str(key): str(alias) for key, alias in tx.all(
        "SELECT alias_key, alias FROM entity_aliases WHERE entity_id = ? ORDER BY alias_key", (entity_id,)
    )}  # fmt: skip
    own, was = name_key(name), name_key(old)
    if aliases is None:
        kept = {key for key in alias_by_key if key != was} | {own}
        spelt: list[str] = []
    else:
        spelt = [alias.strip() for alias in aliases]
        kept = {name_key(alias) for alias in spelt} | {own}
    for key in alias_by_key:
        if key not in kept or (key == own and alias_by_key[key] != name):
            tx.delete("entity_aliases", {"entity_id": entity_id, "alias_key": key})
    for alias in (name, *spelt):
        add_alias(tx, entity_id, alias)


def _check_new(rows: Rows, space_id: str, name: str, kind: str, but: str, reach: EntityScope) -> None:
    if is_name_taken(rows, space_id, name, kind, reach, but):
        raise PreconditionError(f"This space has an entity of that name and the type {kind} already.")


def _check_type(kind: str) -> None:
    if kind not in TYPES:
        raise UserError(Code.INVALID_INPUT, f"An entity's type is one of: {', '.join(sorted(TYPES))}.")


def _check_entity_name(name: str) -> None:
    if not name_key(name) or len(name.strip()) > MOST_NAME or not fold_width(name).isprintable():
        raise UserError(
            Code.INVALID_INPUT, f"A name has a letter or a digit, at most {MOST_NAME} characters and no line break."
        )


def _check_count(aliases: Sequence[str]) -> None:
    if len(aliases) > MOST_ALIASES:
        raise UserError(Code.INVALID_INPUT, f"An entity takes at most {MOST_ALIASES} other names.")


def _check_metadata(metadata: Mapping[str, Any]) -> None:
    if MERGED_INTO in metadata:
        raise UserError(Code.INVALID_INPUT, f"`{MERGED_INTO}` is kept by Loci itself; leave it out.")
    if len(_to_json(metadata).encode("utf-8")) > METADATA_BYTES:
        raise UserError(Code.INVALID_INPUT, f"The metadata of an entity takes at most {METADATA_BYTES} bytes.")


def _to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _end_of_merges(merged: Mapping[str, str], entity_id: str) -> str:
    seen = {entity_id}
    while (into := merged.get(entity_id)) is not None and into not in seen:
        entity_id = into
        seen.add(into)
    return entity_id
