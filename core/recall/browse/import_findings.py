"""What was found in imports: names, statements, what was replaced, and which questions it raised.

Must not do: look for anything; it counts what is stored.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from core.entities.recognition import name_key
from core.types.replies import ImportFindings
from core.vault.database.rows import Rows
from core.vault.memory_sql import BROUGHT, ENTITY_TYPE

SHOWN = 6
"""Names of each type that are told."""

_BROUGHT = (
    f"SELECT m.id FROM {BROUGHT} b JOIN memories m ON m.n = b.n "  # noqa: S608 - constants only
    "WHERE b.import_id IN (SELECT value FROM json_each(:imports)) AND m.status <> 'deleted'"
)
_MADE = (
    "SELECT s.memory_id FROM statements s JOIN memories t ON t.id = s.memory_id AND t.status <> 'deleted' "  # noqa: S608 - constants only
    f"WHERE s.episode_id IN ({_BROUGHT})"
)
_ALL = f"SELECT id FROM ({_BROUGHT} UNION {_MADE})"  # noqa: S608 - constants only
# An entity of the owner's that is named nowhere in the imports is not found in them.
_NAMES = (
    f"SELECT {ENTITY_TYPE} AS type, e.name, count(DISTINCT n.memory_id) AS named FROM mentions n "  # noqa: S608 - constants only
    f"JOIN entities e ON e.id = n.entity_id WHERE n.memory_id IN ({_BROUGHT}) AND e.merged_into_id IS NULL "
    "GROUP BY e.id ORDER BY named DESC, e.name COLLATE NOCASE, e.id"
)
_COUNTS = (
    f"SELECT (SELECT count(DISTINCT memory_id) FROM ({_MADE})), "  # noqa: S608 - constants only
    f"(SELECT count(*) FROM readings WHERE small_talk = 1 AND memory_id IN ({_BROUGHT})), "
    f"(SELECT count(*) FROM memories WHERE superseded_by_id IN ({_ALL})), "
    "(SELECT count(*) FROM conflicts WHERE state = 'open' "
    f"AND (incoming_id IN ({_ALL}) OR existing_id IN ({_ALL})))"
)


def read_import_findings(rows: Rows, import_ids: Sequence[str], unread: int, readable: int) -> ImportFindings:
    """What was found in imports by now.

    Args:
        unread: memories of them in which names are not looked for yet.
        readable: memories of them in which names are looked for.
    """
    given = {"imports": json.dumps(list(import_ids))}
    names: dict[str, dict[str, str]] = {}
    for kind, name, _ in rows.all(_NAMES, given):  # of several spaces each has its own, and one is told
        names.setdefault(str(kind), {}).setdefault(name_key(str(name)), str(name))
    ((statements, small_talk, changes, questions),) = rows.all(_COUNTS, given)
    return ImportFindings(
        {kind: tuple(found.values())[:SHOWN] for kind, found in names.items()},
        {kind: len(found) for kind, found in names.items()},
        int(statements),
        int(small_talk),
        int(changes),
        int(questions),
        unread,
        readable,
    )
