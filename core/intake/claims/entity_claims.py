"""Claims about an entity: those that point at it, and those whose subject is one of its names and nobody else's.

Must not do: write.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from core.belief.claims.claims import key_form
from core.vault.database.rows import Rows

_ENTITY = "SELECT space_id FROM entities WHERE id = ?"
_NAMES = (
    "SELECT a.alias FROM entity_aliases a WHERE a.entity_id = :id AND NOT EXISTS (SELECT 1 FROM entity_aliases b "
    "JOIN entities o ON o.id = b.entity_id WHERE b.alias_key = a.alias_key AND o.merged_into_id IS NULL "
    "AND o.id NOT IN (:id, :with) AND o.space_id IN (:space, 'GLOBAL'))"
)
_ABOUT = (
    "SELECT c.id, c.space_id, c.subject_key, c.subject_entity_id, c.predicate, c.value_key, c.qualifiers, "
    "c.scope_session, c.valid_from, c.valid_to, c.confidence, c.state, c.exclusive AND c.polarity = 'positive' "
    "FROM claims c WHERE (c.subject_entity_id = :id OR (c.subject_entity_id IS NULL "
    "AND (:space = 'GLOBAL' OR c.space_id = :space) AND c.subject_key IN (SELECT value FROM json_each(:keys)))) "
    "AND c.state <> 'draft' ORDER BY c.confidence DESC, c.id"
)


@dataclass(frozen=True, slots=True)
class EntityClaim:
    """A claim about an entity, as far as two of them are compared.

    Attributes:
        by_name: its subject is a name; it does not point at the entity.
        line: what two claims that can exclude each other have in common: space, predicate, qualifiers, session.
        rules_out: whether it excludes another value.
    """

    id: str
    subject_key: str
    by_name: bool
    line: tuple[str, ...]
    value_key: str
    begin: int | None
    end: int | None
    confidence: float
    state: str
    rules_out: bool


@dataclass(frozen=True, slots=True)
class ClaimEnding:
    """A claim that ends when two entities become one, and the one that holds (seed B, fact conflict resolution).

    Attributes:
        loser: the claim that ends.
        winner: the claim that holds.
    """

    loser: str
    winner: str


def claims_about(rows: Rows, entity_id: str, beside: str = "") -> list[EntityClaim]:
    """The claims about an entity.

    A name that another entity of the space has too tells nothing.

    Args:
        beside: another one whose names count as this one's, for a merge of the two.

    Returns:
        The surest first.
    """
    space = rows.value(_ENTITY, (entity_id,))
    names = rows.all(_NAMES, {"id": entity_id, "with": beside or entity_id, "space": space})
    keys = sorted({key_form(str(alias)) for (alias,) in names} - {""})
    found = rows.all(_ABOUT, {"id": entity_id, "space": space, "keys": json.dumps(keys)})
    return [_about(row) for row in found]


def _about(row: tuple[Any, ...]) -> EntityClaim:
    return EntityClaim(
        id=str(row[0]),
        subject_key=str(row[2]),
        by_name=row[3] is None,
        line=(str(row[1]), str(row[4]), str(row[6]), str(row[7])),
        value_key=str(row[5]),
        begin=row[8],
        end=row[9],
        confidence=float(row[10]),
        state=str(row[11]),
        rules_out=bool(row[12]),
    )


def find_endings(rows: Rows, keep: str, merged: str) -> list[ClaimEnding]:
    """Which claims would end if one entity were merged into another.

    Of two that exclude each other the surer one holds; of two equals that of the entity that stays (seed B).

    Args:
        keep: the entity that stays.
        merged: the one that would lead to it.

    Returns:
        Each claim that ends once.
    """
    held = [one for one in claims_about(rows, keep, merged) if _counts(one)]
    ended: dict[str, ClaimEnding] = {}
    for came in claims_about(rows, merged, keep):
        if not _counts(came):
            continue
        for have in held:
            if have.id in (came.id, *ended) or came.id in ended or not _exclude(have, came):
                continue
            loser, winner = (came, have) if have.confidence >= came.confidence else (have, came)
            ended[loser.id] = ClaimEnding(loser.id, winner.id)
    return list(ended.values())


def _counts(one: EntityClaim) -> bool:
    return one.state == "asserted" and one.rules_out


def _exclude(have: EntityClaim, came: EntityClaim) -> bool:
    same = have.value_key == came.value_key and have.by_name and came.by_name
    lasting = (have.begin is None or came.end is None or have.begin < came.end) and (
        came.begin is None or have.end is None or came.begin < have.end
    )
    return have.line == came.line and lasting and not same
