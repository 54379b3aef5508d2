"""How long one memory lasts and why, for showing: the level it has beside the one that its words give.

Must not do: set a level; `library.revise` does.
"""

from __future__ import annotations

from core.belief.extract.permanence import level_of, permanence_of
from core.score.lifecycle.decay import STANDARD
from core.types.belief import ClaimDraft
from core.types.memory import Lasting
from core.types.values import Kind, Memory
from core.vault.database.rows import Rows

_LEVEL = "SELECT permanence FROM memories WHERE id = ?"
_CLAIMS = (
    "SELECT c.subject, c.predicate, c.value, c.exclusive, c.polarity, e.start_at, e.end_at FROM claims c "
    "JOIN evidence e ON e.claim_id = c.id WHERE e.memory_id = ? AND e.stance = 'supporting' ORDER BY e.start_at, c.id"
)


def lasting_of(rows: Rows, memory: Memory) -> Lasting:
    """The level of a memory, and what it rests on.

    Args:
        rows: a vault snapshot.
        memory: the memory.

    Returns:
        As it stands; what was read when it came is read here anew, from its text and the claims it has now.
    """
    level = str(rows.value(_LEVEL, (memory.id,), default=STANDARD))
    if memory.kind is Kind.EPISODE:
        return Lasting(level, level, "record")
    if memory.part_of is not None:
        return Lasting(level, level, "split")
    claims = [
        ClaimDraft(str(subject), str(predicate), str(value), bool(exclusive), str(polarity), start=start, end=end)
        for subject, predicate, value, exclusive, polarity, start, end in rows.all(_CLAIMS, (memory.id,))
    ]
    read = permanence_of(memory.text, claims, memory.kind)
    if read != level:
        return Lasting(level, read, "chosen")
    if level == STANDARD:
        return Lasting(level, read, "usual")
    named = tuple(dict.fromkeys(claim.predicate for claim in claims if level_of(claim) == level))
    return Lasting(level, read, "claim" if named else "cue", named)
