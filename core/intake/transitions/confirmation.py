"""What verdicts count for: the numbers on a memory, and the person's word given by a decision.

Must not do: take a verdict of a client down, or judge what becomes of the memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.intake.transaction.trust_inputs import refresh_trust
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx


def record_confirmation(tx: Tx, parts: Sequence[str], at_ms: int) -> None:
    """Note that the person confirmed a memory; the gate takes it for the owner's word from then on.

    A doubt of the person's from before is taken back: who confirms has changed their mind.

    Args:
        parts: the memory and its other parts, the head first.
        at_ms: when, epoch ms.
    """
    key = {"memory_id": parts[0], "voice": "owner", "verdict": "confirm"}
    held = tx.row("verdicts", key)
    if held is None:
        tx.insert("verdicts", {**key, "at": at_ms})
    else:
        tx.update("verdicts", key, {"times": int(held["times"]) + 1, "at": at_ms})
    clear_dispute(tx, parts)


def clear_dispute(tx: Tx, parts: Sequence[str]) -> None:
    """Take back that the person disputed a memory.

    Args:
        parts: the memory and its other parts, the head first.
    """
    tx.delete("verdicts", {"memory_id": parts[0], "voice": "owner", "verdict": "dispute"})
    recount_verdicts(tx, parts)


def recount_verdicts(tx: Tx, parts: Sequence[str]) -> tuple[float, bool]:
    """Work out what was said of a memory.

    Args:
        parts: the memory and its other parts, the head first.

    Returns:
        The least trust of its parts, 0 to 1, and whether the owner disputes it.
    """
    reinforced, disputed, by_owner = count_verdicts(tx, parts[0])
    for part in parts:
        tx.update("memories", {"id": part}, {"reinforcements": reinforced, "disputes": disputed})
    return min(refresh_trust(tx, part) for part in reversed(parts)), by_owner


def count_verdicts(rows: Rows, head: str) -> tuple[int, int, bool]:
    """Count verdicts: the owner's each time, a client's once (seed A, feature 2).

    Args:
        head: the memory; of a split text the head.

    Returns:
        Reinforcements and disputes that count, and whether the owner disputes it.
    """
    found = rows.all(
        "SELECT verdict, voice = 'owner', sum(CASE WHEN voice = 'owner' THEN times ELSE 1 END) FROM verdicts "
        "WHERE memory_id = ? GROUP BY verdict, voice = 'owner'",
        (head,),
    )
    reinforced = sum(int(count) for verdict, _, count in found if verdict != "dispute")
    disputed = sum(int(count) for verdict, _, count in found if verdict == "dispute")
    return reinforced, disputed, any(verdict == "dispute" and owner for verdict, owner, _ in found)
