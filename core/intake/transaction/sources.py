"""Independent sources of a memory, and the memories of the same words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.intake.transaction.trust_inputs import refresh_trust
from core.memory.draft import content_hash
from core.score.trust import SOURCE_WEIGHT
from core.types.values import Actor, Kind, Source
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

KINDS_BY_TEXT = (Kind.FACT, Kind.RULE, Kind.PROCEDURE)
"""Kinds that are one memory where they are the same words; an episode is verbatim and may repeat."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """An independent source (design section 4).

    Attributes:
        key: two texts with equal keys are one source.
    """

    key: str
    client_id: str | None = None
    session: str | None = None
    import_id: str | None = None

    @classmethod
    def of_actor(cls, actor: Actor, session: str | None) -> Lineage:
        """The lineage of somebody who speaks: the owner is one source in all sessions, a client one a session."""
        if actor.client_id is None:
            return cls(actor.kind, session=session)
        return cls(f"client:{actor.client_id}:{session or actor.session or ''}", actor.client_id, session)


def standing_twin(rows: Rows, texts: Sequence[str], kind: Kind, space_id: str, scope_session: str = "") -> str | None:
    """Find a memory of the same kind and words that stands in a space.

    Args:
        texts: the text in its parts.
        kind: what it is.
        space_id: where.
        scope_session: the session it is limited to, or "".

    Returns:
        The memory's id, that of the first part for a split text; None where there is none.
    """
    found = rows.all(
        "SELECT id FROM memories WHERE content_hash = ? AND space_id = ? AND kind = ? AND scope_session = ? "
        "AND coalesce(part_index, 0) = 0 AND status IN ('active', 'disputed') ORDER BY n",
        (content_hash(texts[0]), space_id, kind.value, scope_session),
    )
    return _same_parts(rows, found, texts)


def is_partly_over(rows: Rows, memory_id: str) -> bool:
    """Whether something that a standing memory says is over, and nobody has said it anew.

    Args:
        memory_id: the memory; of a split text the head.

    Returns:
        True where a claim of it was replaced, though the memory stands for the rest.
    """
    found = rows.one(
        "SELECT 1 FROM memories m JOIN evidence e ON e.memory_id = m.id AND e.stance = 'supporting' "
        "JOIN claims c ON c.id = e.claim_id AND c.state = 'superseded' WHERE (m.id = ? OR m.part_of = ?) "
        "AND NOT EXISTS (SELECT 1 FROM claims s WHERE s.space_id = c.space_id AND s.claim_key = c.claim_key "
        "AND s.state IN ('asserted', 'disputed')) LIMIT 1",
        (memory_id, memory_id),
    )
    return found is not None


def waiting_twin(
    rows: Rows, texts: Sequence[str], kind: Kind, space_id: str, client_id: str | None, scope_session: str = ""
) -> str | None:
    """Find a proposal of the same client, kind and words that waits in a space.

    Args:
        texts: the text in its parts.
        kind: what it is.
        space_id: where.
        client_id: who proposed it.
        scope_session: what it is limited to, or "".

    Returns:
        The memory's id, that of the first part for a split text; None where there is none.
    """
    found = rows.all(
        "SELECT id FROM memories WHERE content_hash = ? AND space_id = ? AND kind = ? AND scope_session = ? "
        "AND coalesce(part_index, 0) = 0 AND status = 'quarantined' AND client_id = ? ORDER BY n",
        (content_hash(texts[0]), space_id, kind.value, scope_session, client_id),
    )
    return _same_parts(rows, found, texts)


def _same_parts(rows: Rows, found: Sequence[Sequence[object]], texts: Sequence[str]) -> str | None:
    return next((str(memory_id) for (memory_id,) in found if has_parts(rows, str(memory_id), texts)), None)


def has_parts(rows: Rows, memory_id: str, texts: Sequence[str]) -> bool:
    """Whether a memory is a text, part by part.

    Args:
        memory_id: the memory; of a split text the head.
        texts: the text in its parts.
    """
    held = rows.all(
        "SELECT content_hash FROM memories WHERE id = ? OR part_of = ? ORDER BY part_index", (memory_id, memory_id)
    )
    return held == [(content_hash(text),) for text in texts]


def add_source(tx: Tx, memory_id: str, lineage: Lineage, source: Source) -> bool:
    """Note an independent source of a memory.

    Returns:
        Whether this lineage was new to the memory.
    """
    held = tx.row("memory_sources", {"memory_id": memory_id, "lineage": lineage.key})
    if held is not None:
        if SOURCE_WEIGHT[source] > SOURCE_WEIGHT[Source(held["source"])]:
            # The same one, now in so many words: what the owner had only brought is said by the owner from here on.
            tx.update("memory_sources", {"memory_id": memory_id, "lineage": lineage.key}, {"source": source.value})
        return False
    tx.insert(
        "memory_sources",
        {
            "memory_id": memory_id,
            "lineage": lineage.key,
            "source": source.value,
            "client_id": lineage.client_id,
            "session": lineage.session,
            "import_id": lineage.import_id,
            "at": tx.now_ms,
        },
    )
    return True


def corroborate(tx: Tx, memory_id: str, lineage: Lineage, source: Source) -> bool:
    """Another source says the same: note it, with every part of a split text, and recompute trust.

    Returns:
        Whether the source was independent of those known.
    """
    new = False
    for (part,) in tx.all("SELECT id FROM memories WHERE id = ? OR part_of = ?", (memory_id, memory_id)):
        if add_source(tx, part, lineage, source):
            refresh_trust(tx, part)
            new = True
    return new
