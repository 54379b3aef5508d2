"""What speaks against a claim: the evidence of claims that cannot be true beside it and have not given way.

Two claims oppose each other that are of one subject, predicate, session and condition, at overlapping times, and hold
two values where one can be true, or the same with the other sign (seed A feature 1; seed C 7.7). It is read from the
claims and memories as they stand, so that it ends with the contradiction: what waits or is over speaks against nothing.
Must not do: decide which is right, or write.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from core.vault.database.rows import Rows

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
_RIVAL = f"SELECT o.id FROM claims c CROSS JOIN claims o ON {_ONE_TOPIC}{_AT_ODDS}AND {_NOT_OVER}"  # noqa: S608
OPPOSED = f"{_RIVAL}{_BACKED}WHERE c.id "
"""Ids of claims that stand and oppose some, `c`; how those are chosen follows."""

IN_QUESTION = " AND c.state IN ('draft', 'asserted', 'disputed')"
"""Of `c`: it is not over. To what is over nothing is opposed any more."""


def read_opposing_claims(rows: Rows, claim_ids: Iterable[str]) -> list[str]:
    """Claims that any of some may speak against: also of what has just ended, and those that wait.

    Args:
        claim_ids: the claims.

    Returns:
        Their ids, in a fixed order.
    """
    wanted = json.dumps(list(claim_ids))
    found = rows.all(
        f"SELECT DISTINCT id FROM ({_RIVAL} WHERE c.id IN (SELECT value FROM json_each(?))) ORDER BY id",  # noqa: S608
        (wanted,),
    )
    return [str(row[0]) for row in found]


_AGAINST = (
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


def read_opposition(rows: Rows, claim_ids: Iterable[str]) -> list[tuple[str, str, float]]:
    """What speaks against claims, by source.

    Of a topic only the claims that something standing backs are laid beside each claim: hundreds may wait on one, and
    each beside each would be their square.

    Args:
        claim_ids: the claims.

    Returns:
        (claim, lineage cluster, its strongest evidence against it, 0 to 1), in a fixed order.
    """
    found = rows.all(_AGAINST, (json.dumps(list(claim_ids)),))
    return [(str(claim_id), str(lineage), float(weight)) for claim_id, lineage, weight in found]


TOPIC = ("space_id", "subject_key", "predicate", "value_key")
"""Columns of a claim that tell what may oppose it."""


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
