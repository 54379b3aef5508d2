"""Who is never archived by a run, and why (design section 6, collect; E37.3, C16).

Must not do: write, or look at how weak a memory is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime

from core.belief.claims import OWNERS_WORD
from core.lifecycle.kit.reverted_runs import CHANGED
from core.vault.database.rows import Rows

PINNED, OWN_WORD, IMPORTANT, MOVING = "pinned", "own_word", "important", "moving"
FUTURE, IN_REVIEW, SPARED, VERBATIM = "future", "in_review", "spared", "verbatim"
TAKEN_BACK = "taken_back"
PROTECTIONS = (PINNED, OWN_WORD, IMPORTANT, MOVING, FUTURE, IN_REVIEW, SPARED, VERBATIM, TAKEN_BACK)
"""Keys of `resources/help/lifecycle.json`, in the order in which they are told."""

IMPORTANT_FROM, MOVING_FROM = 0.7, 0.5
"""Importance and arousal from which a memory is never archived by a run (E37.3)."""
_AT_ONCE = 2_000

# What a client or an import gives as the person's explicit word counts too: nobody but the person may displace it.
_WORD = f"({OWNERS_WORD} OR m.source = 'user_explicit')"
# A written date may be a year or a month alone: as text it lies before every day in it.
_DATED = (
    "EXISTS (SELECT 1 FROM json_each(felt.body, '$.dates') d WHERE d.type = 'text' "
    "AND d.value GLOB '[0-9][0-9][0-9][0-9]*' AND d.value > :today)"
)
_FUTURE = (
    "coalesce(m.valid_from, 0) > :now OR coalesce(m.valid_to, 0) > :now OR coalesce(m.occurred_at, 0) > :now "
    f"OR coalesce({_DATED}, 0)"
)
# The plus keeps SQLite from walking through all that is open.
_ASKED = (
    "EXISTS (SELECT 1 FROM conflicts c WHERE c.incoming_id = m.id AND +c.state = 'open') "
    "OR EXISTS (SELECT 1 FROM conflicts c WHERE c.existing_id = m.id AND +c.state = 'open')"
)
_READ = (
    f"SELECT coalesce(m.part_of, m.id), m.pinned, {_WORD}, m.importance >= {IMPORTANT_FROM}, "  # noqa: S608 - constants
    f"coalesce(felt.arousal, 0) >= {MOVING_FROM}, {_FUTURE}, {_ASKED}, coalesce(kept.until, 0) > :now, "
    "m.kind = 'episode' AND m.import_id IS NOT NULL, back.memory_id IS NOT NULL "
    "FROM (SELECT value AS id FROM json_each(:heads) UNION SELECT p.id FROM json_each(:heads) h "
    "JOIN memories p ON p.part_of = h.value) w JOIN memories m ON m.id = w.id "
    "LEFT JOIN inferred felt ON felt.memory_id = m.id LEFT JOIN spared kept ON kept.memory_id = m.id "
    "LEFT JOIN taken_back back ON back.memory_id = m.id"
)

# While the step is kept; then `core.lifecycle.kit.reverted_runs` has written a row for each. Few runs are ever
# undone: their memories are listed once, not asked for one by one.
_BACK = (
    "SELECT DISTINCT coalesce(m.part_of, m.id) "  # noqa: S608 - constants
    # In this order: left to itself SQLite walks through the rows of every step.
    "FROM undo_steps s CROSS JOIN undo_rows r ON r.step_id = s.id "
    f"CROSS JOIN memories m ON m.n = json_extract(r.row_key, '$.n') WHERE s.undone_by IS NOT NULL AND {CHANGED}"
)


def _taken_back(rows: Rows) -> set[str]:
    """Heads that a run changed and that were taken back with it, while that step is kept."""
    return {str(row[0]) for row in rows.all(_BACK)}


def find_protections(rows: Rows, heads: Iterable[str], now_ms: int) -> dict[str, tuple[str, ...]]:
    """What keeps memories from being archived by a run.

    Args:
        heads: the memories; of a split text the head. What protects one part protects all of it.

    Returns:
        Head to keys of `resources/help/lifecycle.json`, those without any left out.
    """
    wanted, found = list(dict.fromkeys(heads)), dict[str, set[str]]()
    for head in _taken_back(rows) & set(wanted):
        found[head] = {TAKEN_BACK}
    today = datetime.fromtimestamp(now_ms / 1000, UTC).date().isoformat()
    for at in range(0, len(wanted), _AT_ONCE):
        named = json.dumps(wanted[at : at + _AT_ONCE])
        for head, *told in rows.all(_READ, {"heads": named, "now": now_ms, "today": today}):
            keys = {key for key, holds in zip(PROTECTIONS, told, strict=True) if holds}
            if keys:
                found.setdefault(str(head), set()).update(keys)
    return {head: tuple(key for key in PROTECTIONS if key in keys) for head, keys in found.items()}
