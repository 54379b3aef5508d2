"""Sparing: the person says that a memory shall stay for now, whatever its strength and its confidence.

It counts as a touch: strength fades from here on, and no run archives it before its time is over. Whether it is marked
as fading, and how sure it is, does not change. Must not do: confirm anything, or bring back what does not stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.errors import Code, UserError
from core.intake.transaction.unit_of_work import UnitOfWork
from core.memory.draft import to_json
from core.types.values import Actor
from core.vault.database.tx import Tx

SPARED_DAYS = 90
"""How long it is spared where nobody says how long."""
MOST_DAYS = 3_650
_DAY_MS = 86_400_000
_WHOLE = (
    "SELECT m.id FROM memories m WHERE m.status IN ('active', 'disputed') AND coalesce(m.part_of, m.id) IN "
    "(SELECT coalesce(o.part_of, o.id) FROM json_each(?) w JOIN memories o ON o.id = w.value) ORDER BY m.n"
)


def spare_memories(tx: Tx, work: UnitOfWork, ids: Sequence[str], days: int, actor: Actor) -> str:
    """Spare memories that stand, with all parts of a split text; one undo step.

    Args:
        ids: the memories; those that do not stand are left out.
        days: for how long, 1 to 3,650; one that was spared for longer keeps that.

    Returns:
        The undo step.

    Raises:
        UserError: INVALID_INPUT for the days, NOT_FOUND where none of them stands.
    """
    if not 1 <= days <= MOST_DAYS:
        raise UserError(Code.INVALID_INPUT, f"A memory is spared for 1 to {MOST_DAYS:,} days.")
    parts = _standing(tx, ids)
    if not parts:
        raise UserError(Code.NOT_FOUND, "There is no such memory, or it does not stand any more.")
    count = len(dict.fromkeys(ids))
    label = "Spare a memory" if count == 1 else f"Spare {count:,} memories"
    with work.verb(tx, "spare", label, actor) as verb:
        record_hold(tx, parts, days)
        verb.note(ids[0] if count == 1 else "", memories=len(parts), days=days)
    return verb.step_id


def record_hold(tx: Tx, parts: Iterable[str], days: int = SPARED_DAYS) -> None:
    """Write down that memories are spared, inside a verb that runs.

    Args:
        parts: the memories, all parts of a split text among them.
        days: for how long, from now.
    """
    until = tx.now_ms + days * _DAY_MS
    for part in parts:
        held = tx.row("spared", {"memory_id": part})
        if held is None:
            tx.insert("spared", {"memory_id": part, "at": tx.now_ms, "until": until})
        else:
            tx.update("spared", {"memory_id": part}, {"at": tx.now_ms, "until": max(until, int(held["until"]))})


def _standing(tx: Tx, ids: Sequence[str]) -> list[str]:
    return [str(row[0]) for row in tx.all(_WHOLE, (to_json(list(ids)),))]
