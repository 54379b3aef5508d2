"""What was inferred from one memory, for showing: metadata, feeling, and the entities it mentions.

Must not do: infer, or show what was inferred of a memory that is not in the clear (I16): nothing is kept of such.
"""

from __future__ import annotations

import json

from core.types.lifecycle import Inferred, Mentioned
from core.vault.database.rows import Rows

_INFERRED = (
    "SELECT i.body, i.valence, i.arousal, i.made_by, i.at FROM inferred i JOIN memories m ON m.id = i.memory_id "
    "WHERE i.memory_id = ? AND m.security_tier = 'cleartext'"
)
_MENTIONED = (
    "SELECT e.id, e.name, e.type, n.start_at, n.end_at FROM mentions n JOIN entities e ON e.id = n.entity_id "
    "JOIN memories m ON m.id = n.memory_id WHERE n.memory_id = ? AND m.security_tier = 'cleartext' "
    "AND n.end_at <= length(m.text) ORDER BY n.start_at, e.id"
)


def described(rows: Rows, memory_id: str) -> Inferred | None:
    """What was inferred from a memory.

    Args:
        rows: a vault snapshot.
        memory_id: the memory.

    Returns:
        It; None where the memory was not read yet, or is not in the clear.
    """
    row = rows.one(_INFERRED, (memory_id,))
    if row is None:
        return None
    body = json.loads(row[0])
    lists = {name: tuple(map(str, body.get(name, ()))) for name in ("technologies", "paths", "urls", "dates", "topics")}
    found = tuple(
        Mentioned(str(one), str(name), str(kind), int(start), int(end))
        for one, name, kind, start, end in rows.all(_MENTIONED, (memory_id,))
    )
    return Inferred(
        **lists,
        language=str(body.get("language", "")),
        valence=float(row[1]),
        arousal=float(row[2]),
        entities=found,
        made_by=str(row[3]),
        at=int(row[4]),
    )
