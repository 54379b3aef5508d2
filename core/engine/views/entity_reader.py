"""What the group for entities reads: lists, one entity with all that is known of it, what a merge would do.

Must not do: write, or say who may ask.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from core.entities import entity_rows, resolution
from core.entities.excerpts import excerpt
from core.entities.name_words import name_key
from core.entities.resolution import EntityCandidate, ResolutionHints, content_terms
from core.entities.similar_names import CountedName, find_similar_pairs
from core.errors import UserError
from core.intake.claims.entity_claims import claims_about, find_endings
from core.intake.entities.entity_verbs import check_merge_pair, is_in_other_space
from core.memory.read import read_occurred, said_at_sql
from core.types.entities import (
    EntityCard,
    EntityLine,
    EntityList,
    EntityQuery,
    EntityView,
    Joined,
    MergePreview,
    Place,
    Reach,
    Resolving,
    Told,
)
from core.types.values import GLOBAL_SPACE
from core.vault.database.rows import Rows

FACTS = 500
"""Facts about a candidate that are read for its neighbourhood, at most (seed B)."""
SHOWN = 200
"""Mentions and claims of one entity that are shown; our choice."""
ALIKE = 3
"""Others of a near name that are shown beside one; our choice."""

_LINES = (
    "SELECT e.id, e.name, e.type, s.name, (SELECT count(DISTINCT n.memory_id) FROM mentions n "
    "JOIN memories m ON m.id = n.memory_id WHERE n.entity_id = e.id AND m.status <> 'deleted') AS named "
    "FROM entities e JOIN spaces s ON s.id = e.space_id WHERE e.merged_into_id IS NULL "
    "ORDER BY named DESC, e.name COLLATE NOCASE, e.id"
)
_LINES_OF = _LINES.replace("ORDER BY", "AND e.id IN (SELECT value FROM json_each(?)) ORDER BY")
# Of a type that is no other: what is not known to be anything may be the same as what is.
_SAME_NAME = (
    "SELECT DISTINCT e.id FROM entity_aliases a JOIN entities e ON e.id = a.entity_id "
    "WHERE a.alias_key IN (SELECT value FROM json_each(:keys)) AND e.id <> :id AND e.merged_into_id IS NULL "
    "AND (e.type = :type OR 'other' IN (e.type, :type))"
)
_NEAR = (
    "SELECT e.id, e.name, e.type FROM entities e WHERE e.merged_into_id IS NULL "
    "AND e.space_id = (SELECT space_id FROM entities WHERE id = :id) "
    "AND e.type = (SELECT type FROM entities WHERE id = :id) ORDER BY e.id = :id DESC, e.recorded_at DESC LIMIT 3000"
)
_DECIDED = (
    "SELECT c.detail FROM conflicts c WHERE c.kind = 'entity_merge' AND c.state <> 'open' "
    "AND EXISTS (SELECT 1 FROM json_each(c.detail, '$.entities') w WHERE w.value = :id)"
)
_ALIASES = (
    "SELECT a.entity_id, a.alias_key, a.alias FROM entity_aliases a JOIN entities e ON e.id = a.entity_id "
    "WHERE e.merged_into_id IS NULL ORDER BY a.recorded_at, a.alias_key"
)
_PLACES = (
    "SELECT m.id, m.text, json_group_array(json_array(n.start_at, n.end_at)), m.kind, m.status, "  # noqa: S608 - constants
    "m.occurred_at, m.occurred_prec, m.occurred_offset, m.recorded_at "
    "FROM mentions n JOIN memories m ON m.id = n.memory_id WHERE n.entity_id = ? AND m.status <> 'deleted' "
    f"GROUP BY m.id ORDER BY {said_at_sql('m')} DESC, m.n DESC LIMIT ?"
)
_NAMING = (
    "SELECT count(DISTINCT n.memory_id) FROM mentions n JOIN memories m ON m.id = n.memory_id "
    "WHERE n.entity_id = ? AND m.status <> 'deleted'"
)
_TOLD = (
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


def resolve_entities(rows: Rows, wanted: Resolving, reach: Reach) -> tuple[EntityCandidate, ...]:
    """The entities that a name may mean (seed B, entity resolution).

    Hints weigh with facts that the asker may see, and with nothing else.

    Args:
        wanted: the name and what is known of it.
        reach: whose entities.

    Returns:
        The best first, 200 at most.
    """
    found = entity_rows.find_candidates(rows, wanted.name, wanted.type, reach, fuzzy=wanted.fuzzy)
    hints = ResolutionHints(wanted.topic, wanted.mentioned_with, wanted.domain_scores)
    told = {one.id: _terms(rows, one.id, reach) for one, _ in found} if hints.terms else {}
    return resolution.rank_candidates(found, hints, told)[: entity_rows.CANDIDATES]


def _terms(rows: Rows, entity_id: str, reach: Reach) -> frozenset[str]:
    claims = json.dumps([one.id for one in claims_about(rows, entity_id)][:FACTS])
    seen = entity_rows.reach_params(reach)["seen"]
    found = rows.all(_FACTS, {"id": entity_id, "claims": claims, "seen": seen, "most": FACTS})
    return content_terms(f"{str(predicate).replace('_', ' ')} {content}" for predicate, content in found)


def list_entities(rows: Rows, query: EntityQuery) -> EntityList:
    """Entities as a list, all of the vault.

    Returns:
        Those named most often first.
    """
    keys: dict[str, list[tuple[str, str]]] = {}
    for one, key, alias in rows.all(_ALIASES):
        keys.setdefault(str(one), []).append((str(key), str(alias)))
    wanted = name_key(query.text) or query.text.strip().casefold()
    lines = [
        EntityLine(str(one), str(name), str(kind), str(space), int(named), _others(str(name), keys.get(str(one), ())))
        for one, name, kind, space, named in rows.all(_LINES)
        if not wanted or any(wanted in key for key, _ in keys.get(str(one), ()))
    ]
    known = int(rows.value("SELECT count(*) FROM entities WHERE merged_into_id IS NULL"))
    chosen = [line for line in lines if not query.types or line.type in query.types]
    limit = max(1, min(query.limit, 10_000))
    return EntityList(tuple(chosen[:limit]), len(chosen), dict(Counter(line.type for line in lines)), known)


def _others(name: str, keys: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    own = name_key(name)
    return tuple(alias for key, alias in keys if key != own)


def read_entity(rows: Rows, entity_id: str, reach: Reach, now_ms: int) -> EntityView:
    """One entity with all that is known of it, the owner's view.

    Args:
        reach: whose entities.

    Returns:
        It.

    Raises:
        UserError: NOT_FOUND.
    """
    card = entity_rows.read_card(rows, entity_id, reach)
    ids = [one.id for one in claims_about(rows, entity_id)]
    return EntityView(
        card,
        tuple(_place(row) for row in rows.all(_PLACES, (entity_id, SHOWN))),
        int(rows.value(_NAMING, (entity_id,))),
        _told(rows, ids)[:SHOWN],
        tuple(_joined(rows, str(one), str(name), entity_id, now_ms) for one, name in rows.all(_JOINED, (entity_id,))),
        _alike(rows, card),
    )


def _place(row: Sequence[Any]) -> Place:
    memory_id, text, places, kind, status, *said, recorded_at = row
    text, start, end = excerpt(text, ((int(start), int(end)) for start, end in json.loads(places)))
    return Place(memory_id, text, start, end, kind, status, read_occurred(*said), recorded_at)


def _alike(rows: Rows, card: EntityCard) -> tuple[EntityLine, ...]:
    """Others that may be the same: of one name in whatever space, or spelt almost alike within its own."""
    keys = json.dumps(sorted({name_key(name) for name in (card.name, *card.aliases)}))
    found = {str(one) for (one,) in rows.all(_SAME_NAME, {"keys": keys, "id": card.id, "type": card.type})}
    names = [CountedName(str(one), str(name), str(kind)) for one, name, kind in rows.all(_NEAR, {"id": card.id})]
    mine = [name for name in names if name.id == card.id]
    found |= {side.id for pair in find_similar_pairs(mine, names) for side in (pair.keep, pair.other)}
    for (detail,) in rows.all(_DECIDED, {"id": card.id}):
        found -= set(json.loads(detail)["entities"])
    ids = json.dumps(sorted(found - {card.id}))
    lines = (
        EntityLine(str(one), str(name), str(kind), str(space), int(named))
        for one, name, kind, space, named in rows.all(_LINES_OF, (ids,))[:ALIKE]
    )
    return tuple(lines)


def _told(rows: Rows, claim_ids: Sequence[str]) -> tuple[Told, ...]:
    found = rows.all(_TOLD, (json.dumps(list(claim_ids)),))
    return tuple(
        Told(str(claim), str(memory), str(subject), str(predicate), str(value), str(polarity), str(state), float(sure))
        for claim, memory, subject, predicate, value, polarity, state, sure in found
    )


def _joined(rows: Rows, entity_id: str, name: str, into: str, now_ms: int) -> Joined:
    key = json.dumps({"id": entity_id}, separators=(",", ":"))
    step = rows.one(_STEP, {"key": key, "into": into})
    if step is None:
        return Joined(entity_id, name, None, "")
    good = rows.value("SELECT expires_at >= ? FROM undo_steps WHERE id = ?", (now_ms, step[0]))
    return Joined(entity_id, name, int(step[1]), str(step[0]) if good else "")


def preview_merge(rows: Rows, keep_id: str, other_id: str, reach: Reach) -> MergePreview:
    """What merging one entity into another would do.

    Args:
        keep_id: the one that would stay.
        other_id: the one that would lead to it.
        reach: whose entities.

    Returns:
        Counts, names and claims that would end, or why it cannot be.

    Raises:
        UserError: NOT_FOUND.
    """
    keep, other = entity_rows.read_card(rows, keep_id, reach), entity_rows.read_card(rows, other_id, reach)
    refusal = ""
    try:
        check_merge_pair(rows, other_id, keep_id, reach, widen=True)
    except UserError as error:
        refusal = error.sentence
    lifted = not refusal and is_in_other_space(keep, other)
    known = {name_key(name) for name in (keep.name, *keep.aliases)}
    names = tuple(name for name in (other.name, *other.aliases) if name_key(name) not in known)
    ending = find_endings(rows, keep_id, other_id)
    told = {one.claim_id: one for one in _told(rows, [side for one in ending for side in (one.loser, one.winner)])}
    return MergePreview(
        keep,
        other,
        mentions=int(rows.value(_NAMING, (other_id,))),
        claims=len(claims_about(rows, other_id, keep_id)),
        names=names,
        ending=tuple((told[one.loser], told[one.winner]) for one in ending),
        refusal=refusal,
        widened=lifted or keep.space == GLOBAL_SPACE != other.space,
        lifted=lifted,
    )
