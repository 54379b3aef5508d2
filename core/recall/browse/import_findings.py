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

# Materialised: each is read once, however often a question names it.
_BROUGHT = (
    "WITH labels AS MATERIALIZED ("  # noqa: S608 - constants only
    f"SELECT DISTINCT n FROM {BROUGHT} WHERE import_id IN (SELECT value FROM json_each(:imports))"
    "), brought AS MATERIALIZED ("
    "SELECT m.id FROM labels l CROSS JOIN memories m ON m.n = l.n WHERE m.status <> 'deleted' ORDER BY m.id)"
)
_MADE = (
    "made AS MATERIALIZED (SELECT DISTINCT t.id FROM brought b CROSS JOIN statements s ON s.episode_id = b.id "
    "CROSS JOIN memories t ON t.id = s.memory_id "
    "WHERE t.n NOT IN (SELECT n FROM memories WHERE status = 'deleted')), "
    "every AS MATERIALIZED (SELECT id FROM brought UNION SELECT id FROM made)"
)
# An entity of the owner's that is named nowhere in the imports is not found in them.
_NAMES = (
    f"{_BROUGHT} SELECT {ENTITY_TYPE}, e.name FROM (SELECT entity_id, count(*) AS named FROM ("  # noqa: S608 - constants only
    "SELECT n.entity_id FROM brought b CROSS JOIN mentions n ON n.memory_id = b.id GROUP BY b.id, n.entity_id"
    ") GROUP BY entity_id) f JOIN entities e ON e.id = f.entity_id WHERE e.merged_into_id IS NULL "
    "ORDER BY f.named DESC, e.name COLLATE NOCASE, e.id"
)
_COUNTS = (
    f"{_BROUGHT}, {_MADE} SELECT (SELECT count(*) FROM made), "  # noqa: S608 - constants only
    "(SELECT count(*) FROM brought b CROSS JOIN readings r ON r.memory_id = b.id WHERE r.small_talk = 1), "
    "(SELECT count(*) FROM every v CROSS JOIN memories o ON o.superseded_by_id = v.id), "
    "(SELECT count(*) FROM conflicts WHERE state = 'open' "
    "AND (incoming_id IN (SELECT id FROM every) OR existing_id IN (SELECT id FROM every)))"
)


def read_import_findings(rows: Rows, import_ids: Sequence[str], unread: int, readable: int) -> ImportFindings:
    """What was found in imports by now.

    Args:
        unread: memories of them in which names are not looked for yet.
        readable: memories of them in which names are looked for.
    """
    given = {"imports": json.dumps(list(import_ids))}
    names: dict[str, dict[str, str]] = {}
    for kind, name in rows.all(_NAMES, given):  # of several spaces each has its own, and one is told
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
