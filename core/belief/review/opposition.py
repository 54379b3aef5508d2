"""What stands against a memory that waits alone, such as a proposal: nobody laid it beside what stands when it came.

Who accepts it is to know beforehand what it contradicts. Must not do: read a text, or say which of the two is right.
"""

from __future__ import annotations

from core.belief.claims.authorship import persons_among
from core.belief.claims.contradiction import IN_QUESTION, OPPOSED
from core.belief.review.wording import also
from core.types.reviews import Side
from core.vault.database.rows import Rows

_ASKED_ALONE = frozenset({"proposal", "quarantine", "injection"})
# The person's own word first, then what is trusted most.
_STANDS = (
    "SELECT coalesce(m.part_of, m.id) FROM evidence v JOIN memories m ON m.id = v.memory_id "  # noqa: S608 - constants
    "AND +m.status IN ('active', 'disputed') WHERE v.stance = 'supporting' AND v.claim_id IN ("
    f"{OPPOSED} IN (SELECT w.claim_id FROM evidence w WHERE w.memory_id = :id AND w.stance = 'supporting')"
    f"{IN_QUESTION}) AND coalesce(m.part_of, m.id) <> :id "
    "ORDER BY m.client_id IS NOT NULL, m.trust DESC, m.n LIMIT 1"
)


def stands_against(rows: Rows, kind: str, memory_id: str) -> str | None:
    """The memory that a newcomer's claims contradict.

    Args:
        rows: a vault snapshot or a transaction.
        kind: of the item.
        memory_id: the newcomer, which is asked about alone.

    Returns:
        The memory's id, of a split text the head's; of several the weightiest. None where nothing stands against it.
    """
    found = rows.value(_STANDS, {"id": memory_id}) if kind in _ASKED_ALONE else None
    return None if found is None else str(found)


def against_words(rows: Rows, against: Side | None) -> tuple[str, ...]:
    """What accepting the newcomer would mean for what stands.

    Args:
        rows: a vault snapshot or a transaction.
        against: what stands; None where nothing is contradicted.

    Returns:
        One sentence without a word of either memory, or none.
    """
    if against is None:
        return ()
    return (also("against_yours" if persons_among(rows, [against.memory.id]) else "against"),)
