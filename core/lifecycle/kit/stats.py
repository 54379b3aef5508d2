"""How many memories there are in each state of their life (seed B, memory stats).

Must not do: read a text.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from core.memory.draft import to_json
from core.vault.database.rows import Rows
from core.vault.memory_sql import undecided_sql

_HOUR_MS = 3_600_000
_IN = (
    "(:spaces IS NULL OR m.space_id IN (SELECT value FROM json_each(:spaces))) "  # noqa: S608 - constants
    "AND coalesce(m.part_index, 0) = 0 "
    # For a client, whatever its channel: what is sealed, or was never let in, does not count.
    f"AND (:channels IS NULL OR (m.security_tier = 'cleartext' AND NOT {undecided_sql()} "
    "AND m.scope_channel IN (SELECT value FROM json_each(:channels))))"
)
_WAITS = "e.consolidated_at IS NULL AND d.state IS NOT 'done' AND m.status = 'active'"
_EPISODES = (
    f"SELECT count(*), coalesce(sum({_WAITS}), 0), "  # noqa: S608 - constants only
    f"min(CASE WHEN {_WAITS} THEN m.recorded_at END) FROM memories m "
    "LEFT JOIN episodes e ON e.memory_id = m.id LEFT JOIN distilled d ON d.memory_id = m.id "
    f"WHERE m.kind = 'episode' AND m.status IN ('active', 'disputed', 'consolidated') AND {_IN}"
)
_FACTS = (
    "SELECT coalesce(sum(m.status = 'active' AND f.memory_id IS NULL), 0), "  # noqa: S608 - constants only
    "coalesce(sum(m.status = 'active' AND f.memory_id IS NOT NULL), 0), coalesce(sum(m.status = 'superseded'), 0), "
    "coalesce(sum(m.status = 'archived' AND m.status_reason IS 'expired'), 0) "
    f"FROM memories m LEFT JOIN fading f ON f.memory_id = m.id WHERE m.kind = 'fact' AND {_IN}"
)
_RULES = (
    "SELECT CASE WHEN m.status IN ('archived', 'deleted') THEN 'forgotten' "  # noqa: S608 - constants only
    "WHEN r.is_antipattern = 1 THEN 'anti_pattern' ELSE coalesce(r.maturity, 'candidate') END, count(*) "
    "FROM memories m LEFT JOIN rules r ON r.memory_id = m.id WHERE m.kind = 'rule' "
    f"AND m.status IN ('active', 'disputed', 'archived', 'deleted') AND {_IN} GROUP BY 1"
)


def count_by_state(
    rows: Rows, spaces: Collection[str] | None, now_ms: int, channels: Collection[str] | None = None
) -> dict[str, dict[str, Any]]:
    """Count memories by kind and state; a split text counts once.

    Args:
        spaces: ids of the spaces that count; None for all.
        channels: what memories that count may be limited to (`memories.scope_channel`), without what is sealed; None
            for anything.

    Returns:
        `episodes` with total, unconsolidated and backlog_age_hours (of the oldest that waits; None where none does),
        `facts` with active, fading, superseded and expired, `rules` with candidate, established, proven,
        anti_pattern and forgotten.
    """
    named = {
        "spaces": None if spaces is None else to_json(sorted(spaces)),
        "channels": None if channels is None else to_json(sorted(channels)),
    }
    total, waiting, oldest = rows.one(_EPISODES, named) or (0, 0, None)
    age = None if oldest is None else max(0.0, (now_ms - int(oldest)) / _HOUR_MS)
    facts = rows.one(_FACTS, named) or (0, 0, 0, 0)
    rules = dict.fromkeys(("candidate", "established", "proven", "anti_pattern", "forgotten"), 0)
    rules.update({str(word): int(count) for word, count in rows.all(_RULES, named)})
    return {
        "episodes": {
            "total": int(total),
            "unconsolidated": int(waiting),
            "backlog_age_hours": None if age is None else round(age, 2),
        },
        "facts": dict(zip(("active", "fading", "superseded", "expired"), map(int, facts), strict=True)),
        "rules": rules,
    }
