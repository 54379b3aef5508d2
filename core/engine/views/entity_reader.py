"""Entities read for their page and for clients: found by name, listed, one in full, and what a merge would do.

Must not do: write, or decide who may see an entity.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.engine.views.entity_topics import read_topics
from core.entities import registry, resolution
from core.entities.across_spaces import EntityGroup, EntityGroups, read_groups
from core.entities.excerpts import cut_excerpt
from core.entities.recognition import name_key
from core.entities.resolution import CountedName, EntityCandidate, ResolutionHints, content_terms, find_similar_pairs
from core.errors import UserError
from core.intake.entities import check_merge_pair, claims_about, find_endings, is_in_other_space
from core.lifecycle.enrich import count_unread
from core.memory.landmarks import GROUND
from core.memory.read import read_occurred, time_of_memory_sql
from core.types.entities import (
    EntityCard,
    EntityLine,
    EntityList,
    EntityMention,
    EntityPart,
    EntityQuery,
    EntityScope,
    EntityStatement,
    EntityView,
    Joined,
    MergePreview,
    Resolving,
)
from core.types.values import GLOBAL_SPACE
from core.vault.database.rows import Rows
from core.vault.memory_sql import ENTITY_TYPE, readable_sql

FACTS = 500
"""Facts about a candidate that are read for its neighbourhood, at most (seed B)."""
SHOWN = 200
"""Mentions and claims of one entity that are shown; our choice."""
ALIKE = 3
"""Others of a near name that are shown beside one; our choice."""

_LINES = (
    f"SELECT e.id, e.name, {ENTITY_TYPE}, s.name, (SELECT count(DISTINCT n.memory_id) FROM mentions n "  # noqa: S608 - constants only
    "JOIN memories m ON m.id = n.memory_id WHERE n.entity_id = e.id AND m.status <> 'deleted') AS named "
    "FROM entities e JOIN spaces s ON s.id = e.space_id WHERE e.merged_into_id IS NULL "
    "ORDER BY named DESC, e.name COLLATE NOCASE, e.id"
)
_LINES_OF = _LINES.replace("ORDER BY", "AND e.id IN (SELECT value FROM json_each(?)) ORDER BY")
# Of a type that is no other: what is not known to be anything may be the same as what is.
_SAME_NAME = (
    "SELECT DISTINCT e.id FROM entity_aliases a JOIN entities e ON e.id = a.entity_id "  # noqa: S608 - constants only
    "WHERE a.alias_key IN (SELECT value FROM json_each(:keys)) AND e.id <> :id AND e.merged_into_id IS NULL "
    f"AND ({ENTITY_TYPE} = :type OR 'other' IN ({ENTITY_TYPE}, :type))"
)
_SIMILAR = (
    f"SELECT e.id, e.name, {ENTITY_TYPE} FROM entities e WHERE e.merged_into_id IS NULL "  # noqa: S608 - constants
    "AND e.space_id = (SELECT space_id FROM entities WHERE id = :id) "
    f"AND {ENTITY_TYPE} = :type ORDER BY e.id = :id DESC, e.recorded_at DESC LIMIT 3000"
)
_DECIDED = (
    "SELECT c.detail FROM conflicts c WHERE c.kind = 'entity_merge' AND c.state <> 'open' "
    "AND EXISTS (SELECT 1 FROM json_each(c.detail, '$.entities') w WHERE w.value = :id)"
)
# Of another space, and the owner said of one of the two that the same name means two things there.
_APART = (
    "SELECT o.id FROM entities o JOIN entities e ON e.id IN (SELECT value FROM json_each(:ids)) "
    "WHERE o.id IN (SELECT value FROM json_each(:found)) "
    "AND (o.space_id IN (SELECT value FROM json_each(coalesce(e.extra ->> '$.apart', '[]'))) "
    "OR e.space_id IN (SELECT value FROM json_each(coalesce(o.extra ->> '$.apart', '[]'))))"
)
_EPISODES = (
    "SELECT count(*), count(r.memory_id) FROM (SELECT DISTINCT memory_id FROM mentions "  # noqa: S608 - constants only
    "WHERE entity_id IN (SELECT value FROM json_each(?))) n JOIN memories m ON m.id = n.memory_id "
    "LEFT JOIN readings r ON r.memory_id = m.id "
    "WHERE m.kind = 'episode' AND +m.status = 'active' AND " + readable_sql() + " AND m.scope_session = ''"
)
"""The episodes that name an entity or in which it speaks, and of how many statements were made or looked for."""
_ALIASES = (
    "SELECT a.entity_id, a.alias_key, a.alias FROM entity_aliases a JOIN entities e ON e.id = a.entity_id "
    "WHERE e.merged_into_id IS NULL ORDER BY a.recorded_at, a.alias_key"
)
_PLACES = (
    "SELECT m.id, m.text, json_group_array(json_array(n.start_at, n.end_at)), m.kind, m.status, "  # noqa: S608 - constants
    "m.occurred_at, m.occurred_prec, m.occurred_offset, m.recorded_at "
    "FROM mentions n JOIN memories m ON m.id = n.memory_id WHERE n.entity_id IN (SELECT value FROM json_each(?)) "
    "AND n.start_at >= 0 AND m.status <> 'deleted' GROUP BY m.id ORDER BY m.status NOT IN ('active', 'disputed'), "
    f"CASE WHEN m.kind <> 'episode' THEN 0 WHEN {GROUND} THEN 2 ELSE 1 END, "
    f"{time_of_memory_sql('m')} DESC, m.n DESC LIMIT ?"
)
"""Where something names an entity, by worth: what stands before what is over, statements before what was said, small
talk and what a statement was made of last; the newest first among equals."""
_NAMING = (
    "SELECT count(DISTINCT n.memory_id) FROM mentions n JOIN memories m ON m.id = n.memory_id "
    "WHERE n.entity_id IN (SELECT value FROM json_each(?)) AND n.start_at >= 0 AND m.status <> 'deleted'"
)
_SPEAKS_IN = _NAMING.replace("n.start_at >= 0", "n.start_at < 0")
# The newest are chosen before a text is read: somebody may have said tens of thousands of things.
_UTTERANCES = (
    "SELECT m.id, m.text, '[[0,0]]', m.kind, m.status, m.occurred_at, m.occurred_prec, "  # noqa: S608 - constants only
    "m.occurred_offset, m.recorded_at "
    "FROM memories m WHERE m.id IN (SELECT k.id FROM mentions n JOIN memories k ON k.id = n.memory_id "
    "WHERE n.entity_id IN (SELECT value FROM json_each(?)) AND n.start_at < 0 AND k.status <> 'deleted' "
    f"ORDER BY {time_of_memory_sql('k')} DESC, k.n DESC LIMIT ?) ORDER BY {time_of_memory_sql('m')} DESC, m.n DESC"
)
_STATED = (
    "SELECT c.id, coalesce((SELECT v.memory_id FROM evidence v WHERE v.claim_id = c.id ORDER BY v.recorded_at, v.id "
    "LIMIT 1), ''), c.subject, c.predicate, c.value, c.polarity, c.state, c.confidence FROM claims c "
    "WHERE c.id IN (SELECT value FROM json_each(?)) "
    "ORDER BY c.state NOT IN ('asserted', 'disputed'), c.confidence DESC, c.recorded_at DESC, c.id"
)
_JOINED = "SELECT id, name FROM entities WHERE merged_into_id = ? ORDER BY name COLLATE NOCASE, id"
# The step whose image of the entity turned it into one that leads to another, and which was not taken back.
_STEP = (
    "SELECT s.id, s.at FROM undo_steps s CROSS JOIN undo_rows r ON r.step_id = s.id WHERE s.undone_by IS NULL "
    "AND s.verb IN ('entity_merge', 'resolve', 'undo') AND r.tbl = 'entities' AND r.row_key = :key "
    "AND json_extract(r.before, '$.merged_into_id') IS NULL AND json_extract(r.after, '$.merged_into_id') IS :into "
    "ORDER BY s.at DESC, s.rowid DESC LIMIT 1"
)
# Facts that may be looked at: what stands, is open to all sessions, and lies within reach.
_OPEN = (
    "m.status = 'active' AND m.security_tier = 'cleartext' AND m.scope_session = '' "
    "AND (:seen IS NULL OR m.space_id IN (SELECT value FROM json_each(:seen)))"
)
_FACTS = (
    "SELECT '', substr(m.text, 1, 1000) FROM mentions n JOIN memories m ON m.id = n.memory_id "  # noqa: S608
    f"WHERE n.entity_id = :id AND m.kind = 'fact' AND {_OPEN} UNION SELECT c.predicate, c.value FROM claims c "
    "WHERE c.id IN (SELECT value FROM json_each(:claims)) AND c.scope_session = '' AND c.state = 'asserted' "
    f"AND EXISTS (SELECT 1 FROM evidence v JOIN memories m ON m.id = v.memory_id WHERE v.claim_id = c.id AND {_OPEN}) "
    "LIMIT :most"
)


_ALL = EntityScope()


def resolve_entities(rows: Rows, wanted: Resolving, reach: EntityScope) -> tuple[EntityCandidate, ...]:
    """The entities that a name may mean (seed B, entity resolution).

    Hints weigh with facts that the asker may see, and with nothing else.

    Args:
        wanted: the name and what is known of it.

    Returns:
        The best first, 200 at most.
    """
    found = registry.find_candidates(rows, wanted.name, wanted.type, reach, fuzzy=wanted.fuzzy)
    hints = ResolutionHints(wanted.topic, wanted.mentioned_with, wanted.domain_scores)
    terms = {one.id: _fact_terms(rows, one.id, reach) for one, _ in found} if hints.terms else {}
    return resolution.rank_entity_candidates(found, hints, terms)[: registry.CANDIDATES]


def _fact_terms(rows: Rows, entity_id: str, reach: EntityScope) -> frozenset[str]:
    claims = json.dumps([one.id for one in claims_about(rows, entity_id)][:FACTS])
    seen = registry.reach_params(reach)["seen"]
    found = rows.all(_FACTS, {"id": entity_id, "claims": claims, "seen": seen, "most": FACTS})
    return content_terms(f"{str(predicate).replace('_', ' ')} {content}" for predicate, content in found)


def list_entities(rows: Rows, query: EntityQuery) -> EntityList:
    """Entities as a list, all of the vault; one that several spaces have is one line.

    Returns:
        Those named most often first.
    """
    keys: dict[str, list[tuple[str, str]]] = {}
    for one, key, alias in rows.all(_ALIASES):
        keys.setdefault(str(one), []).append((str(key), str(alias)))
    wanted = name_key(query.text) or query.text.strip().casefold()
    groups = read_groups(rows)
    own_lines = {
        str(one): EntityLine(str(one), str(name), str(kind), str(space), int(named))
        for one, name, kind, space, named in rows.all(_LINES)
    }
    known = [_join_lines(own_lines, one, groups, keys) for one in own_lines if groups.head_of(one) == one]
    lines = [
        line
        for line in sorted(known, key=lambda line: -line.mentions)
        if not wanted or any(wanted in name_key(name) for name in (line.name, *line.others))
    ]
    chosen = [line for line in lines if not query.types or line.type in query.types]
    limit = max(1, min(query.limit, 10_000))
    by_type = dict(Counter(line.type for line in lines))
    return EntityList(tuple(chosen[:limit]), len(chosen), by_type, len(known), *count_unread(rows))


def _join_lines(
    lines: Mapping[str, EntityLine],
    head: str,
    groups: EntityGroups,
    keys: Mapping[str, Sequence[tuple[str, str]]],
) -> EntityLine:
    """The line of an entity with what others that are the same have."""
    line, members = lines[head], groups.members_of(head)
    group = groups.by_member.get(head)
    names = [pair for member in members for pair in keys.get(member, ())]
    return EntityLine(
        head,
        line.name,
        line.type if group is None else group.type,
        line.space,
        sum(lines[member].mentions for member in members),
        _other_names(line.name, names),
        tuple(lines[member].space for member in members[1:]),
    )


def _other_names(name: str, keys: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    by_key = {key: alias for key, alias in reversed(list(keys)) if key != name_key(name)}
    return tuple(by_key[key] for key in dict.fromkeys(key for key, _ in keys) if key in by_key)


def read_entity(rows: Rows, entity_id: str, now_ms: int) -> EntityView:
    """One entity with all that is known of it in all spaces; the owner's view.

    Args:
        entity_id: of any of those that are one.

    Raises:
        UserError: NOT_FOUND.
    """
    group = read_groups(rows).by_member.get(entity_id)
    cards = [registry.read_card(rows, one, _ALL) for one in ((entity_id,) if group is None else group.ids)]
    card = cards[0] if group is None else _join_cards(cards, group)
    ids = [one.id for one in cards]
    given = json.dumps(ids)
    claims = [claim.id for one in ids for claim in claims_about(rows, one)]
    return EntityView(
        card,
        tuple(_entity_mention_from_row(row) for row in rows.all(_PLACES, (given, SHOWN))),
        int(rows.value(_NAMING, (given,))),
        _read_statements(rows, claims)[:SHOWN],
        tuple(
            _read_merged_entity(rows, str(one), str(name), into, now_ms)
            for into in ids
            for one, name in rows.all(_JOINED, (into,))
        ),
        _find_similar_entities(rows, card, ids),
        int(rows.value(_SPEAKS_IN, (given,))),
        read_topics(rows, cards, now_ms),
        tuple(_entity_mention_from_row(row) for row in rows.all(_UTTERANCES, (given, SHOWN))),
        _read_parts(rows, ids),
        _are_all_read(rows, given),
    )


def _are_all_read(rows: Rows, ids: str) -> bool:
    """Whether statements were looked for in all that could tell something of it."""
    ((episodes, read),) = rows.all(_EPISODES, (ids,))
    return 0 < int(episodes) == int(read)


def _join_cards(cards: Sequence[EntityCard], group: EntityGroup) -> EntityCard:
    """The card of the best known with the names and the metadata of all."""
    first, names = cards[0], [name for one in cards for name in (one.name, *one.aliases)]
    others = _other_names(first.name, [(name_key(name), name) for name in names])
    metadata = {key: value for one in reversed(cards) for key, value in one.metadata.items()}
    return replace(first, type=group.type, aliases=others, metadata=metadata)


def _read_parts(rows: Rows, ids: Sequence[str]) -> tuple[EntityPart, ...]:
    """What each space has of an entity; nothing where one space alone has it."""
    if len(ids) == 1:
        return ()
    found = rows.all(_LINES_OF, (json.dumps(list(ids)),))
    by_id = {str(one): EntityPart(str(one), str(name), str(space), int(named)) for one, name, _, space, named in found}
    return tuple(by_id[one] for one in ids)


def _entity_mention_from_row(row: Sequence[Any]) -> EntityMention:
    memory_id, text, places, kind, status, *occurred_columns, recorded_at = row
    text, start, end = cut_excerpt(text, ((int(start), int(end)) for start, end in json.loads(places)))
    return EntityMention(memory_id, text, start, end, kind, status, read_occurred(*occurred_columns), recorded_at)


def _find_similar_entities(rows: Rows, card: EntityCard, ids: Sequence[str]) -> tuple[EntityLine, ...]:
    """Others that may be the same: of one name in whatever space, or spelt almost alike within its own."""
    keys = json.dumps(sorted({name_key(name) for name in (card.name, *card.aliases)}))
    found = {str(one) for (one,) in rows.all(_SAME_NAME, {"keys": keys, "id": card.id, "type": card.type})}
    similar = rows.all(_SIMILAR, {"id": card.id, "type": card.type})
    names = [CountedName(str(one), str(name), str(kind)) for one, name, kind in similar]
    own_names = [name for name in names if name.id == card.id]
    found |= {side.id for pair in find_similar_pairs(own_names, names) for side in (pair.keep, pair.other)}
    for (detail,) in rows.all(_DECIDED, {"id": card.id}):
        found -= set(json.loads(detail)["entities"])
    apart = {str(one) for (one,) in rows.all(_APART, {"ids": json.dumps(list(ids)), "found": json.dumps(list(found))})}
    others = json.dumps(sorted(found - apart - set(ids)))
    lines = (
        EntityLine(str(one), str(name), str(kind), str(space), int(named))
        for one, name, kind, space, named in rows.all(_LINES_OF, (others,))[:ALIKE]
    )
    return tuple(lines)


def _read_statements(rows: Rows, claim_ids: Sequence[str]) -> tuple[EntityStatement, ...]:
    found = rows.all(_STATED, (json.dumps(list(claim_ids)),))
    return tuple(
        EntityStatement(
            str(claim), str(memory), str(subject), str(predicate), str(value), str(polarity), str(state), float(sure)
        )
        for claim, memory, subject, predicate, value, polarity, state, sure in found
    )


def _read_merged_entity(rows: Rows, entity_id: str, name: str, into: str, now_ms: int) -> Joined:
    key = json.dumps({"id": entity_id}, separators=(",", ":"))
    step = rows.one(_STEP, {"key": key, "into": into})
    if step is None:
        return Joined(entity_id, name, None, "")
    good = rows.value("SELECT expires_at >= ? FROM undo_steps WHERE id = ?", (now_ms, step[0]))
    return Joined(entity_id, name, int(step[1]), str(step[0]) if good else "")


def preview_merge(rows: Rows, keep_id: str, other_id: str, reach: EntityScope) -> MergePreview:
    """What merging one entity into another would do.

    Args:
        keep_id: the one that would stay.
        other_id: the one that would lead to it.

    Returns:
        Counts, names and claims that would end, or why it cannot be.

    Raises:
        UserError: NOT_FOUND.
    """
    keep, other = registry.read_card(rows, keep_id, reach), registry.read_card(rows, other_id, reach)
    refusal = ""
    try:
        check_merge_pair(rows, other_id, keep_id, reach, widen=True)
    except UserError as error:
        refusal = error.sentence
    lifted = not refusal and is_in_other_space(keep, other)
    known = {name_key(name) for name in (keep.name, *keep.aliases)}
    names = tuple(name for name in (other.name, *other.aliases) if name_key(name) not in known)
    ending = find_endings(rows, keep_id, other_id)
    labels = {
        one.claim_id: one
        for one in _read_statements(rows, [side for one in ending for side in (one.loser, one.winner)])
    }
    return MergePreview(
        keep,
        other,
        mentions=int(rows.value(_NAMING, (json.dumps([other_id]),))),
        claims=len(claims_about(rows, other_id, keep_id)),
        names=names,
        ending=tuple((labels[one.loser], labels[one.winner]) for one in ending),
        refusal=refusal,
        widened=lifted or keep.space == GLOBAL_SPACE != other.space,
        lifted=lifted,
    )
