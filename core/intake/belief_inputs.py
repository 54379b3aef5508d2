"""Trust of a memory row: gathers the terms of the formula from the vault."""

from __future__ import annotations

from core.errors import BugError
from core.score.trust import TrustTerms, trust_terms
from core.types.words import Source
from core.vault.rows import Rows
from core.vault.tx import Tx


def terms_of(rows: Rows, memory_id: str, now_ms: int) -> TrustTerms:
    """The terms of a memory's trust as it stands now.

    Args:
        rows: a vault snapshot.
        memory_id: the memory.
        now_ms: the present, epoch ms.

    Returns:
        Every term and the result (core.score.trust; seed A, trust).
    """
    row = rows.one(
        "SELECT m.source, m.reinforcements, m.disputes, m.occurred_at, m.last_confirmed_at, m.recorded_at, "
        "c.trust_ceiling, (SELECT count(*) FROM memory_sources s WHERE s.memory_id = m.id) "
        "FROM memories m LEFT JOIN clients c ON c.id = m.client_id WHERE m.id = ?",
        (memory_id,),
    )
    if row is None:
        raise BugError("trust of a row that is not there")
    source, reinforced, disputed, said, confirmed, recorded, ceiling, sources = row
    ancestors = rows.value(
        "SELECT min(o.trust) FROM derivations d JOIN memories o ON o.id = d.source_id WHERE d.derived_id = ?",
        (memory_id,),
    )
    # Storing sets "last confirmed"; only a person's confirmation after that makes an old text young again.
    since = max(said, confirmed) if said is not None and confirmed > recorded else said
    return trust_terms(
        Source(source),
        corroboration=max(1, int(sources)),
        reinforcements=int(reinforced),
        disputes=int(disputed),
        age_days=age_days(now_ms, since),
        ancestor_minimum=ancestors,
        client_ceiling=ceiling,
    )


def age_days(now_ms: int, since_ms: int | None) -> float:
    """The age that counts in trust.

    Args:
        now_ms: the present, epoch ms.
        since_ms: when it was said or last confirmed by a person; None where unknown, which takes nothing off.

    Returns:
        Days, 0 or more.
    """
    return 0.0 if since_ms is None else max(0, now_ms - since_ms) / 86_400_000


def refresh_trust(tx: Tx, memory_id: str) -> float:
    """Recompute a memory's trust, confidence and corroboration after an input changed.

    Args:
        tx: the verb's transaction.
        memory_id: the memory.

    Returns:
        The new trust, 0 to 1.
    """
    terms = terms_of(tx, memory_id, tx.now_ms)
    # Derived columns: written past the recorder, an undo recomputes them.
    tx.run(
        "UPDATE memories SET trust = ?, confidence = ?, corroboration = max(1, "
        "(SELECT count(*) FROM memory_sources s WHERE s.memory_id = memories.id)) WHERE id = ?",
        (terms.trust, terms.trust, memory_id),
    )
    return terms.trust
