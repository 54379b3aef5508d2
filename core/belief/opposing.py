"""What speaks against a claim: the evidence of claims that cannot be true beside it and have not given way.

Two claims oppose each other that are of one subject, predicate, session and condition, at overlapping times, and hold
two values where one can be true, or the same with the other sign (seed A feature 1; seed C 7.7). It is read from the
claims and memories as they stand, so that it ends with the contradiction: what waits or is over speaks against nothing.
Must not do: decide which is right, or write.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from core.vault.rows import Rows

OPPOSED = (
    "SELECT o.id FROM claims c CROSS JOIN claims o ON o.space_id = c.space_id AND o.subject_key = c.subject_key "
    "AND o.predicate = c.predicate AND o.id <> c.id AND o.scope_session = c.scope_session "
    "AND o.qualifiers = c.qualifiers AND o.state IN ('draft', 'asserted', 'disputed') "
    "AND EXISTS (SELECT 1 FROM evidence v JOIN memories n ON n.id = v.memory_id AND n.status IN ('active', 'disputed') "
    "WHERE v.claim_id = o.id AND v.stance = 'supporting') "
    "AND ((c.polarity = 'positive' AND o.polarity = 'positive' AND c.exclusive = 1 AND o.exclusive = 1 "
    "AND o.value_key <> c.value_key) OR (c.polarity <> o.polarity AND o.value_key = c.value_key)) "
    "AND coalesce(o.valid_from, -9223372036854775808) < coalesce(c.valid_to, 9223372036854775807) "
    "AND coalesce(c.valid_from, -9223372036854775808) < coalesce(o.valid_to, 9223372036854775807) "
    "WHERE c.id "
)
"""Ids of claims that stand and oppose some, `c`; how those are chosen follows."""

IN_QUESTION = " AND c.state IN ('draft', 'asserted', 'disputed')"
"""Of `c`: it is not over. To what is over nothing is opposed any more."""


def opposed_to(rows: Rows, claim_ids: Iterable[str]) -> list[str]:
    """Claims that oppose any of some, also of what has just ended.

    Args:
        rows: a vault snapshot or a transaction.
        claim_ids: the claims.

    Returns:
        Their ids, in a fixed order.
    """
    wanted = json.dumps(list(claim_ids))
    found = rows.all(
        f"SELECT DISTINCT id FROM ({OPPOSED} IN (SELECT value FROM json_each(?))) ORDER BY id",  # noqa: S608 - a constant
        (wanted,),
    )
    return [str(row[0]) for row in found]


def on_topic(rows: Rows, space_id: str, subject_key: str, predicate: str) -> list[str]:
    """Claims of one subject and predicate that are not over.

    Args:
        rows: a vault snapshot or a transaction.
        space_id: the space.
        subject_key: the subject as claims are compared by.
        predicate: the predicate.

    Returns:
        Their ids, in a fixed order.
    """
    found = rows.all(
        f"SELECT c.id FROM claims c WHERE c.space_id = ? AND c.subject_key = ? AND c.predicate = ?"  # noqa: S608
        f"{IN_QUESTION} ORDER BY c.id",
        (space_id, subject_key, predicate),
    )
    return [str(row[0]) for row in found]
