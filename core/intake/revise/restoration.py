"""Bringing back what left: it stands again only as the gate lets it stand beside what came meanwhile.

It is judged by what it was when it left, whoever brings it back. Must not do: change what nothing contradicts, or
judge an episode.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from core.intake.revise.revision_plan import ALIKE, AT_ODDS, EARLIER, REJECTED, UNITED
from core.intake.transaction.sources import KINDS_BY_TEXT
from core.intake.transitions.transitions import MERGED, Acts
from core.memory.draft import to_json
from core.memory.read import said_at_sql
from core.types.values import Status
from core.vault.database.rows import Rows

Admit = Callable[[Acts, str], object]
"""Lets a memory that waits through the gate (`core.intake.store.store.Keeper.admit`)."""

_KINDS = to_json([kind.value for kind in KINDS_BY_TEXT])
# Whose claims cannot stand beside others that stand, or that come back with it; and what was never let in.
_CONTESTED = (
    "WITH said AS MATERIALIZED (SELECT e.memory_id, e.claim_id FROM json_each(:ids) w "  # noqa: S608 - constants
    "JOIN evidence e ON e.memory_id = w.value WHERE e.stance = 'supporting') "
    f"SELECT DISTINCT coalesce(m.part_of, m.id), {said_at_sql('m')} AS said_at "
    "FROM json_each(:ids) w JOIN memories m ON m.id = w.value "
    "WHERE m.kind IN (SELECT value FROM json_each(:kinds)) AND ("
    "(m.status = 'quarantined' AND coalesce(m.status_reason, '') <> 'held') "
    "OR EXISTS (SELECT 1 FROM evidence e JOIN claims c ON c.id = e.claim_id "
    "JOIN claims o ON o.space_id IN (c.space_id, 'GLOBAL') AND o.subject_key = c.subject_key "
    "AND o.predicate = c.predicate WHERE e.memory_id = m.id AND e.stance = 'supporting' "
    "AND (o.polarity <> c.polarity OR (o.value_key <> c.value_key AND (o.exclusive = 1 OR c.exclusive = 1))) "
    "AND (o.state IN ('asserted', 'disputed') "
    "OR o.id IN (SELECT s.claim_id FROM said s WHERE s.memory_id <> m.id)))) "
    "ORDER BY said_at, m.n"
)
_WHY = {
    Status.SUPERSEDED.value: EARLIER,
    Status.QUARANTINED.value: AT_ODDS,
    Status.DISPUTED.value: AT_ODDS,
    Status.CONSOLIDATED.value: ALIKE,
    Status.ARCHIVED.value: REJECTED,
}


def contested(rows: Rows, ids: Sequence[str]) -> list[str]:
    """Which of the memories that come back have to pass the gate.

    Args:
        rows: the transaction; the memories still stand as they did before.
        ids: the memories.

    Returns:
        Some of them, of a split text the head; what was said first before what was said later.
    """
    found = rows.all(_CONTESTED, {"ids": to_json(list(ids)), "kinds": _KINDS})
    return list(dict.fromkeys(str(row[0]) for row in found))


def let_in(acts: Acts, admit: Admit, heads: Sequence[str]) -> Counter[str]:
    """Let memories through the gate, one after the other.

    Args:
        acts: the steps of the running verb.
        admit: the gate.
        heads: from `contested`; they wait as `quarantined`.

    Returns:
        For those that do not stand after it: sentence to count of rows.
    """
    for head in heads:
        if acts.tx.value("SELECT status FROM memories WHERE id = ?", (head,)) == Status.QUARANTINED.value:
            admit(acts, head)
    why: Counter[str] = Counter()
    for head in heads:
        status, reason = acts.tx.all("SELECT status, status_reason FROM memories WHERE id = ?", (head,))[0]
        if status != Status.ACTIVE.value:
            why[UNITED if reason == MERGED else _WHY[status]] += len(acts.parts(head))
    return why
