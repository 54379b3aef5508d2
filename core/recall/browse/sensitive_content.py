"""Where sensitive content stands in the vault: which memories hold numbers, credentials, contacts, homes or health.

It is looked for when the person asks, by the rules of `core.sensitivity`; nothing of it is kept. Must not do: change a
memory or its tier, or put what was found into a log, an audit row or an error.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from core.sensitivity.detector import find_sensitive, tier_of
from core.types.sensitivity import SensitiveMemory, SensitivePage, SensitiveType
from core.types.values import Kind, Status
from core.vault.database.rows import Rows

LOOKED_AT = 400
"""Memories that are read for one page at most: some tenths of a second, in which the connection is held."""
MOST = 16
"""Memories of one page at most: with their texts they fit into one message."""
_NEXT = (
    "SELECT m.n, m.id, m.kind, m.status, s.name, m.text FROM memories m JOIN spaces s ON s.id = m.space_id "
    "WHERE m.n > :after AND (:space IS NULL OR s.name = :space COLLATE NOCASE) ORDER BY m.n LIMIT :most"
)


def find_sensitive_memories(
    rows: Rows, types: Collection[SensitiveType], space: str | None, after: int
) -> SensitivePage:
    """Look through the next memories, forgotten and replaced ones too: their words stand in the vault as well.

    Args:
        types: which types count; all of them where there is none.
        space: only memories of this space; None for every space.
        after: where the page begins: 0, or `next` of the page before.
    """
    items: list[SensitiveMemory] = []
    found = rows.all(_NEXT, {"after": after, "space": space, "most": LOOKED_AT})
    for looked_at, row in enumerate(found, 1):
        memory = _read_row(row, types)
        if memory is not None:
            items.append(memory)
        if len(items) == MOST:
            return SensitivePage(tuple(items), looked_at, int(row[0]))
    return SensitivePage(tuple(items), len(found), int(found[-1][0]) if len(found) == LOOKED_AT else None)


def _read_row(row: tuple[Any, ...], types: Collection[SensitiveType]) -> SensitiveMemory | None:
    _, memory_id, kind, status, space, text = row
    spans = [span for span in find_sensitive(text) if not types or span.type in types]
    if not spans:
        return None
    return SensitiveMemory(memory_id, Kind(kind), Status(status), space, text, tier_of(spans), tuple(spans))
