"""What rests on a memory: what was derived from it, who was given it, which rules and claims lean on it.

Must not do: look further than the memories that would be touched by a decision on this one.
"""

from __future__ import annotations

from collections.abc import Mapping

from core.belief.review.wording import counted, line, words
from core.types.reviews import Follow
from core.types.values import Kind, Memory
from core.vault.database.rows import Rows

_SHOWN = 200
# What was made of it, and what was made of that: trust is no higher than the lowest of a memory's ancestors.
_DERIVED = """
    WITH RECURSIVE below (id) AS (
        SELECT derived_id FROM derivations WHERE source_id = :id
        UNION SELECT d.derived_id FROM below b JOIN derivations d ON d.source_id = b.id
    )
    SELECT m.id, m.kind FROM below b CROSS JOIN memories m ON m.id = b.id
    WHERE m.status IN ('active', 'disputed', 'quarantined') ORDER BY m.n LIMIT :most
"""  # CROSS: without it all memories would be read, to be looked for among the few below
_LEANS = """
    SELECT DISTINCT m.id FROM edges g JOIN memories m ON m.id = g.from_id
    WHERE g.to_id = :id AND g.type IN ('inferred_from', 'caused_by', 'instance_of', 'example_of')
      AND m.kind = 'rule' AND m.status IN ('active', 'disputed') ORDER BY m.n LIMIT :most
"""
_ALONE = """
    SELECT count(*) FROM claims c WHERE c.state IN ('asserted', 'disputed')
      AND c.id IN (SELECT v.claim_id FROM evidence v WHERE v.memory_id = :id AND v.stance = 'supporting')
      AND NOT EXISTS (SELECT 1 FROM evidence o JOIN memories m ON m.id = o.memory_id WHERE o.claim_id = c.id
                      AND o.stance = 'supporting' AND o.memory_id <> :id AND m.status = 'active')
"""
_GIVEN = """
    SELECT k.name FROM accesses a JOIN clients k ON k.id = a.session WHERE a.memory_id = :id
    GROUP BY k.name ORDER BY sum(a.count) DESC, k.name LIMIT 3
"""


def below(rows: Rows, memory_id: str) -> tuple[tuple[str, str], ...]:
    """What was derived from a memory, at any distance, and stands.

    Args:
        rows: a vault snapshot.
        memory_id: the memory.

    Returns:
        Ids and kinds, 200 at most.
    """
    return tuple((str(i), str(kind)) for i, kind in rows.all(_DERIVED, {"id": memory_id, "most": _SHOWN}))


def follows_of(rows: Rows, memory: Memory) -> tuple[Follow, ...]:
    """What would come of a decision on a memory.

    Args:
        rows: a vault snapshot.
        memory: the memory that stands.

    Returns:
        The headlines with their sentences; none where nothing rests on it.
    """
    said = words()["follows"]
    derived = below(rows, memory.id)
    digests = tuple(i for i, kind in derived if kind == Kind.DIGEST.value)
    rules = tuple(str(row[0]) for row in rows.all(_LEANS, {"id": memory.id, "most": _SHOWN}))
    others = tuple(i for i, kind in derived if kind != Kind.DIGEST.value and i not in rules)
    found = [
        Follow(counted(said[name], len(ids)), _sentence(said[name], len(ids)), ids)
        for name, ids in (("digests", digests), ("derived", others), ("rules", rules))
        if ids
    ]
    given = _given(rows, memory)
    claims = int(rows.value(_ALONE, {"id": memory.id}))
    alone = [Follow(counted(said["claims"], claims), _sentence(said["claims"], claims))] if claims else []
    return (*found[:1], *given, *found[1:], *alone)


def _sentence(forms: Mapping[str, str], count: int) -> str:
    return forms.get("sentence_one", forms["sentence"]) if count == 1 else forms["sentence"]


def _given(rows: Rows, memory: Memory) -> tuple[Follow, ...]:
    """Who was given it and how often; a client that named a session of its own is counted without its name."""
    if memory.access_count == 0:
        return ()
    said = words()["follows"]
    names = [line(str(row[0]), 24) for row in rows.all(_GIVEN, {"id": memory.id})]
    if not names:
        nobody = said["given_nobody"]
        return (Follow(str(nobody["headline"]).format(count=memory.access_count), str(nobody["sentence"])),)
    return (Follow(", ".join(names), counted(said["given"], memory.access_count)),)
