"""What waits for the person and is settled by what is said meanwhile: overtaken by it, or said in the very same words.

It was never let in, so it leaves as no version. Must not do: let what waits corroborate anything, or take away what the
person held back.
"""

from __future__ import annotations

from core.belief.review.actions import HELD
from core.intake.transaction.sources import KINDS_BY_TEXT, has_parts
from core.intake.transitions.review_items import close_moot
from core.intake.transitions.transitions import Acts
from core.memory.draft import to_json
from core.types.values import Status
from core.vault.visibility import OVERTAKEN

SAID_MEANWHILE = "said_meanwhile"
"""Note of a question that closed itself so: a key of `closed` in resources/help/review.json."""

_KINDS = to_json([kind.value for kind in KINDS_BY_TEXT])
# What comes with a claim of its own says more than its words: that is for the person to see.
_WAITING = """
    SELECT w.id FROM memories m JOIN memories w ON w.content_hash = m.content_hash
    WHERE m.id = :id AND m.status = 'active' AND m.kind IN (SELECT value FROM json_each(:kinds))
      AND w.id <> m.id AND +w.status = 'quarantined' AND +w.space_id = m.space_id AND +w.kind = m.kind
      AND +w.scope_session = m.scope_session AND coalesce(w.part_index, 0) = 0 AND w.status_reason IS NOT :held
      AND NOT EXISTS (SELECT 1 FROM evidence e
                      WHERE e.memory_id = w.id AND e.method = 'given')
    ORDER BY w.n
"""


def overtake(acts: Acts, waiting_id: str, by_id: str) -> bool:
    """What waits for the person and was never let in leaves, where something else is said: it was no version.

    Trigger: a client's proposal is at odds with what the person says next. Why: as a version that is over it would
    have been true for a while, in every answer about the past and to every client. Outcome: it is in the archive.

    Args:
        acts: the steps of the running verb.
        waiting_id: what the newcomer would take the place of.
        by_id: the newcomer.

    Returns:
        Whether it was so; what the person held back had stood, and has its place in history.
    """
    row = acts.tx.row("memories", {"id": waiting_id})
    if row is None or row["status"] != Status.QUARANTINED or row["status_reason"] == HELD:
        return False
    acts.archive(waiting_id, OVERTAKEN)
    acts.log("ADD", by_id, waiting_id)
    return True


def close_twins(acts: Acts, memory_id: str) -> None:
    """Archive what waits in the same words as a memory that stands, and close what was asked about it.

    Trigger: one client proposed what another, or the person, said before it was decided. Why: accepting it would be
    refused, since the words stand already. Outcome: the question is moot, also for who proposed it.

    Args:
        acts: the steps of the running verb.
        memory_id: the memory that was judged; nothing is done where it does not stand.
    """
    found = acts.tx.all(_WAITING, {"id": memory_id, "kinds": _KINDS, "held": HELD})
    if not found:
        return
    parts = acts.tx.all(
        "SELECT text FROM memories WHERE id = ? OR part_of = ? ORDER BY part_index", (memory_id, memory_id)
    )
    texts = [str(row[0]) for row in parts]
    gone = [str(row[0]) for row in found if has_parts(acts.tx, str(row[0]), texts)]
    for one in gone:
        acts.archive(one, OVERTAKEN)
    close_moot(acts.tx, gone, SAID_MEANWHILE)
