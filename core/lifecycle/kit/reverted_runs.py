"""What a person took back of runs, beyond the time for which the undo step itself is kept.

While the step is kept, it tells. When it expires, the lines of the consolidation log say that the person decided
otherwise, episodes whose reading was taken back count as read, and every memory that the run had changed has a row in
`taken_back`: so no run unites again what was taken apart or archives again what was brought back, and no model reads
again what was to be left. Must not do: keep images or texts.
"""

from __future__ import annotations

from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

TAKEN_BACK = "taken_back"
"""Who decided (`consolidation_log.decided_by`), once the step that a person took back has expired."""

CHANGED = "s.verb IN ('sweep', 'consolidate', 'episodes') AND r.tbl = 'memories' AND r.before IS NOT NULL"
"""Of `undo_steps s` and `undo_rows r`: a run changed a memory that stood."""

# A step is known by itself or by the step that took it back: whichever expires first.
_UNDONE = (
    "SELECT id FROM undo_steps WHERE undone_by IS NOT NULL "
    "AND (id IN (SELECT value FROM json_each(:steps)) OR undone_by IN (SELECT value FROM json_each(:steps)))"
)
_MEMORIES = (
    "SELECT DISTINCT h.id FROM undo_steps s JOIN undo_rows r ON r.step_id = s.id "  # noqa: S608 - constants
    "JOIN memories m ON m.n = json_extract(r.row_key, '$.n') JOIN memories h ON h.id = coalesce(m.part_of, m.id) "
    f"WHERE s.id IN ({_UNDONE}) AND {CHANGED} AND h.id NOT IN (SELECT memory_id FROM taken_back) ORDER BY 1"
)
_EPISODES = (
    "SELECT DISTINCT m.id FROM undo_rows r JOIN memories m ON m.id = json_extract(r.row_key, '$.memory_id') "  # noqa: S608 - constants
    f"WHERE r.tbl = 'distilled' AND r.step_id IN ({_UNDONE}) ORDER BY 1"
)
_PAIRS = (
    "SELECT l.operation, l.memory_id, l.other_id FROM undo_steps s JOIN consolidation_log l ON l.step_id = s.id "
    "WHERE s.undone_by IS NOT NULL AND l.other_id IS NOT NULL UNION ALL "
    "SELECT operation, memory_id, other_id FROM consolidation_log WHERE decided_by = ? AND other_id IS NOT NULL"
)


def keep_reverted_pairs(tx: Tx, steps: str) -> None:
    """Keep what steps that expire now say of what was taken back; before their rows go.

    Args:
        steps: ids, a JSON list.
    """
    tx.run(
        f"UPDATE consolidation_log SET decided_by = :by WHERE other_id IS NOT NULL AND step_id IN ({_UNDONE})",  # noqa: S608 - constants
        {"by": TAKEN_BACK, "steps": steps},
    )
    marked = [{"memory_id": row[0], "at": tx.now_ms} for row in tx.all(_MEMORIES, {"steps": steps})]
    tx.insert_many("taken_back", marked)
    for (memory_id,) in tx.all(_EPISODES, {"steps": steps}):
        key, read = {"memory_id": memory_id}, {"state": "done", "code": None}
        if not tx.update("distilled", key, read) and tx.row("distilled", key) is None:
            tx.insert("distilled", {**key, **read, "attempts": 0, "at": tx.now_ms})


def read_reverted_pairs(rows: Rows) -> list[tuple[str, str, str]]:
    """What steps did to two memories and a person took back, however long ago.

    Returns:
        Operation of the consolidation log, and the two ids.
    """
    return [(str(operation), str(one), str(other)) for operation, one, other in rows.all(_PAIRS, (TAKEN_BACK,))]
