"""What the person, or a client for itself, said was wrong for such a question (E7.3): it does not come there again.

A record counts while it is young and the question is like the one it was given for; elsewhere the memory is found as
before. Must not do: judge what a client may say for others (its feedback is its own), or look at any text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from core.embed.codec import from_blobs
from core.vault.database.rows import Rows

LIKE_FROM = 0.7
"""A question is like another above this cosine (E7.3.2)."""
YOUNG_DAYS = 90
"""So long a feedback counts (E7.3.2)."""
NEGATIVE = ("irrelevant", "corrected", "harmful")
"""Signals that keep a memory out."""

_DAY_MS = 86_400_000
_SAID = (
    "SELECT f.memory_id, f.signal, f.context FROM feedback f "
    "WHERE f.memory_id IN (SELECT value FROM json_each(:ids)) AND f.context IS NOT NULL AND f.at > :since "
    "AND length(f.context) = :bytes AND (f.client_id IS NULL OR f.client_id = :client) "
    "AND (:space IS NULL OR f.vector_space IS NULL OR f.vector_space = :space) "
    "ORDER BY f.client_id IS NULL, f.at, f.rowid"  # the last one counts, and the person's after any client's
)


def find_suppressed(
    rows: Rows,
    ids: Iterable[str],
    query_vector: NDArray[np.float32] | None,
    now_ms: int,
    *,
    client_id: str | None = None,
    vector_space: str | None = None,
) -> frozenset[str]:
    """Memories that are not to be answered to this question.

    Args:
        ids: candidates.
        query_vector: the question, a unit vector (dims,); None compares nothing and suppresses nothing.
        client_id: who asks; its own feedback counts beside the person's. None for the person.
        vector_space: the embedder of the question; feedback of another one is passed over. None compares all that
            have the same length.

    Returns:
        Those with a negative feedback for a question with a cosine above `LIKE_FROM`, younger than `YOUNG_DAYS`, unless
        a later one in such a context calls them helpful; what the person said goes before what the client said.
    """
    said = feedback_by_memory(rows, ids, query_vector, now_ms, client_id=client_id, vector_space=vector_space)
    return frozenset(memory_id for memory_id, signal in said.items() if signal in NEGATIVE)


def feedback_by_memory(
    rows: Rows,
    ids: Iterable[str],
    query_vector: NDArray[np.float32] | None,
    now_ms: int,
    *,
    client_id: str | None = None,
    vector_space: str | None = None,
) -> dict[str, str]:
    """The feedback on each memory that applies to questions like this one.

    Args:
        rows: as `find_suppressed`, like the rest.
        ids: see there.
        query_vector: see there.
        now_ms: see there.
        client_id: see there.
        vector_space: see there.

    Returns:
        Memory to signal.
    """
    # Most vaults have no feedback: that costs one look and no list of ids.
    if query_vector is None or rows.value("SELECT 1 FROM feedback LIMIT 1") is None:
        return {}
    query = np.asarray(query_vector, np.float32)
    found = rows.all(
        _SAID,
        {
            "ids": json.dumps(list(ids)),
            "since": now_ms - YOUNG_DAYS * _DAY_MS,
            "bytes": 2 * query.size,
            "client": client_id,
            "space": vector_space,
        },
    )
    if not found:
        return {}
    contexts = from_blobs([row[2] for row in found], query.size)
    lengths = np.linalg.norm(contexts, axis=1) * float(np.linalg.norm(query))
    cosines = np.divide(contexts @ query, lengths, out=np.zeros(len(found), np.float32), where=lengths > 0)
    alike = cosines > LIKE_FROM
    return {memory_id: signal for (memory_id, signal, _), is_like in zip(found, alike.tolist(), strict=True) if is_like}
