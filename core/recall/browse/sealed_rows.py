"""Sealed memories as they can be seen without their key: their labels and summaries, and finding them by those words.

Must not do: open a body, or write.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.text.terms import query_terms
from core.types.sensitivity import SealedRow
from core.vault.database.rows import Rows

_LEAST_SHARE = 0.5
"""Our choice: how much of a question's words a label and a summary have to say."""


def list_sealed(rows: Rows, open_keys: Sequence[str]) -> tuple[SealedRow, ...]:
    """All sealed memories, the newest first.

    Args:
        open_keys: ids of the keys that are in memory.
    """
    found = rows.all(
        "SELECT s.id, s.label, p.name, s.kind, s.sealed_at, s.key_id, s.summary FROM sealed_memories s "
        "JOIN spaces p ON p.id = s.space_id ORDER BY s.sealed_at DESC, s.id"
    )
    return tuple(
        SealedRow(one, label, space, kind, at, key_id in open_keys, summary)
        for one, label, space, kind, at, key_id, summary in found
    )


def find_in_clear(listed: Sequence[SealedRow], query: str) -> tuple[SealedRow, ...]:
    """Sealed memories whose label and summary say half of a question's words at least, the best first.

    Args:
        listed: of `list_sealed`.
    """
    asked = _content_words(query)
    if not asked:
        return ()
    shares = {one.id: len(asked & _content_words(f"{one.label} {one.summary}")) / len(asked) for one in listed}
    found = [one for one in listed if shares[one.id] >= _LEAST_SHARE]
    return tuple(sorted(found, key=lambda one: -shares[one.id]))


def _content_words(text: str) -> frozenset[str]:
    return frozenset(one.term for one in query_terms(text) if not one.stop)
