"""Whose word a memory is, and what contradicts a claim, as parts of queries.

Two claims oppose each other that are of one subject, predicate, session and condition, at overlapping times, and hold
two values where one can be true, or the same with the other sign (seed A feature 1; seed C 7.7). It is read from the
claims and memories as they stand, so that it ends with the contradiction: what waits or is over speaks against nothing.
Whose word a memory `m` is has its one definition here, for the gate and the desk. Must not do: write a claim
(`core.intake.claims` does), read one out of a text (`core.belief.extract` does), weigh one word against another
(`core.belief.trust_gate` does), or decide which is right.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from core.vault.database.rows import Rows

# Without a row of its sources (what version 1 held, and the original of a united text) the memory's own row tells.
_ALONE = (
    "m.client_id IS NULL AND m.import_id IS NULL "
    "AND NOT EXISTS (SELECT 1 FROM memory_sources s WHERE s.memory_id = m.id)"
)
_BROUGHT = "EXISTS (SELECT 1 FROM memory_sources s WHERE s.memory_id = m.id AND s.lineage = 'owner' AND s.source = "
OWNERS_WORD = (
    "("  # noqa: S608 - constants only
    + _BROUGHT
    + "'user_explicit') OR (m.source = 'user_explicit' AND "
    + _ALONE
    + ") "
    "OR EXISTS (SELECT 1 FROM verdicts v WHERE v.memory_id = m.id AND v.voice = 'owner' AND v.verdict = 'confirm'))"
)
"""The owner said it explicitly at the window or the command line, or vouched for it since."""
IN_PASSING = "(" + _BROUGHT + "'user_implicit') OR (m.source = 'user_implicit' AND " + _ALONE + "))"
"""The owner said it without meaning to tell Loci."""
# A client may say `user_explicit` only with the grant `speak_for_user`.
PERSONS = (
    "(" + OWNERS_WORD + " OR " + IN_PASSING + " "
    "OR CASE WHEN m.client_id IS NOT NULL THEN m.source = 'user_explicit' "
    "ELSE m.import_id IS NOT NULL AND m.source IN ('user_explicit', 'user_implicit') END)"
)
"""What the owner said or vouched for, or what passes for the person's own: nobody but the person may displace it."""
_AMONG = "SELECT m.id FROM json_each(?) w JOIN memories m ON m.id = w.value WHERE "
_ONE_TOPIC = "o.space_id = c.space_id AND o.subject_key = c.subject_key AND o.predicate = c.predicate "
_AT_ODDS = (
    "AND o.id <> c.id AND ((c.polarity = 'positive' AND o.polarity = 'positive' AND c.exclusive = 1 "
    "AND o.exclusive = 1 AND o.value_key <> c.value_key) OR (c.polarity <> o.polarity AND o.value_key = c.value_key)) "
    "AND o.scope_session = c.scope_session AND o.qualifiers = c.qualifiers "
    "AND coalesce(o.valid_from, -9223372036854775808) < coalesce(c.valid_to, 9223372036854775807) "
    "AND coalesce(c.valid_from, -9223372036854775808) < coalesce(o.valid_to, 9223372036854775807) "
)
_NOT_OVER = "o.state IN ('draft', 'asserted', 'disputed') "
_BACKED = (
    "AND EXISTS (SELECT 1 FROM evidence v JOIN memories n ON n.id = v.memory_id AND n.status IN ('active', 'disputed') "
    "WHERE v.claim_id = o.id AND v.stance = 'supporting') "
)
RIVAL = f"SELECT o.id FROM claims c CROSS JOIN claims o ON {_ONE_TOPIC}{_AT_ODDS}AND {_NOT_OVER}"  # noqa: S608
"""Ids of claims that may speak against some, `c`: also of what has just ended, and those that wait."""
OPPOSED = f"{RIVAL}{_BACKED}WHERE c.id "
"""Ids of claims that stand and oppose some, `c`; how those are chosen follows."""
IN_QUESTION = " AND c.state IN ('draft', 'asserted', 'disputed')"
"""Of `c`: it is not over. To what is over nothing is opposed any more."""
AGAINST = (
    "WITH wanted (id) AS (SELECT value FROM json_each(?)), "  # noqa: S608 - constants
    "topics AS MATERIALIZED (SELECT DISTINCT c.space_id, c.subject_key, c.predicate "
    "FROM wanted w CROSS JOIN claims c ON c.id = w.id), "
    f"backed AS MATERIALIZED (SELECT o.* FROM topics c CROSS JOIN claims o ON {_ONE_TOPIC}AND {_NOT_OVER}{_BACKED}) "
    "SELECT c.id, e.lineage, max(e.confidence * m.trust) FROM wanted w CROSS JOIN claims c ON c.id = w.id"
    f"{IN_QUESTION} CROSS JOIN backed o ON {_ONE_TOPIC}{_AT_ODDS}"
    "CROSS JOIN evidence e ON e.claim_id = o.id AND e.stance = 'supporting' "
    "CROSS JOIN memories m ON m.id = e.memory_id AND m.status IN ('active', 'disputed') "
    "GROUP BY c.id, e.lineage ORDER BY c.id, e.lineage"
)
"""What speaks against claims, by source: claim, lineage cluster, its strongest evidence against it.

Of a topic only the claims that something standing backs are laid beside each claim: hundreds may wait on one, and each
beside each would be their square.
"""
TOPIC = ("space_id", "subject_key", "predicate", "value_key")
"""Columns of a claim that tell what may oppose it."""


def find_persons_words(rows: Rows, memory_ids: Iterable[str]) -> frozenset[str]:
    """Which memories are the person's: nobody else decides against them.

    Args:
        memory_ids: the memories asked about.
    """
    return _select_memories(rows, memory_ids, PERSONS)


def find_owner_statements(rows: Rows, memory_ids: Iterable[str]) -> frozenset[str]:
    """Which memories the owner said at the window or the command line, in so many words or in passing.

    Args:
        memory_ids: the memories asked about.
    """
    return _select_memories(rows, memory_ids, f"({OWNERS_WORD} OR {IN_PASSING})")


def find_owner_backed(rows: Rows, memory_ids: Iterable[str]) -> frozenset[str]:
    """Which memories the owner said, said as well, or vouched for.

    Args:
        memory_ids: the memories asked about.
    """
    return _select_memories(rows, memory_ids, OWNERS_WORD)


def read_related_claims(rows: Rows, topic: Sequence[str]) -> list[str]:
    """Claims that are not over and may oppose one that is no more.

    Args:
        topic: its TOPIC.

    Returns:
        Their ids, in a fixed order.
    """
    found = rows.all(
        f"SELECT c.id FROM claims c WHERE c.space_id = ? AND c.subject_key = ? AND c.predicate = ?"  # noqa: S608
        f"{IN_QUESTION} AND (c.exclusive = 1 OR c.value_key = ?) ORDER BY c.id",
        tuple(topic),
    )
    return [str(row[0]) for row in found]


def _select_memories(rows: Rows, memory_ids: Iterable[str], condition: str) -> frozenset[str]:
    return frozenset(str(row[0]) for row in rows.all(_AMONG + condition, (json.dumps(list(memory_ids)),)))
