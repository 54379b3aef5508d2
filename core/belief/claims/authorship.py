"""Whose word a stored memory is, as parts of queries on a memory `m`: the one definition for the gate and the desk.

Must not do: weigh one word against another (`core.belief.gate` does), or hold a value of a query.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

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


def find_persons_words(rows: Rows, memory_ids: Iterable[str]) -> frozenset[str]:
    """Which memories are the person's: nobody else decides against them.

    Args:
        memory_ids: the memories asked about.

    Returns:
        Some of them.
    """
    return _among(rows, memory_ids, PERSONS)


def find_owner_statements(rows: Rows, memory_ids: Iterable[str]) -> frozenset[str]:
    """Which memories the owner said at the window or the command line, in so many words or in passing.

    Args:
        memory_ids: the memories asked about.

    Returns:
        Some of them.
    """
    return _among(rows, memory_ids, f"({OWNERS_WORD} OR {IN_PASSING})")


def find_owner_backed(rows: Rows, memory_ids: Iterable[str]) -> frozenset[str]:
    """Which memories the owner said, said as well, or vouched for.

    Args:
        memory_ids: the memories asked about.

    Returns:
        Some of them.
    """
    return _among(rows, memory_ids, OWNERS_WORD)


def _among(rows: Rows, memory_ids: Iterable[str], whose: str) -> frozenset[str]:
    return frozenset(str(row[0]) for row in rows.all(_AMONG + whose, (json.dumps(list(memory_ids)),)))
