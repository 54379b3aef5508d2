"""Reading memories as frozen snapshots.

Must not do: judge who may see them (`core.recall.scope` does), or write.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from core.types.values import Kind, Memory, Precision, Role, Source, Status, When
from core.vault.database.rows import Rows

_FIELDS = (
    "m.n, m.id, m.kind, m.status, m.text, s.name, m.source, m.role, m.author, m.category, m.importance, m.tags, "
    "m.client_id, m.conversation_id, m.position, m.session, m.ref, m.import_id, m.occurred_at, m.occurred_prec, "
    "m.occurred_offset, m.recorded_at, m.retired_at, m.valid_from, m.valid_to, m.trust, m.confidence, m.corroboration, "
    "m.reinforcements, m.disputes, m.last_confirmed_at, m.access_count, m.last_accessed_at, m.supersedes_id, "
    "m.superseded_by_id, m.chain_id, m.part_of, m.part_index, m.pinned, m.version, m.status_reason, m.flags, m.extra"
)
MEMORY_COLUMNS = f"SELECT {_FIELDS} FROM memories m JOIN spaces s ON s.id = m.space_id"  # noqa: S608 - constants only
"""The head of every query whose rows go to `row_to_memory`; `m` is the memory, `s` its space."""
_BY_LABELS = MEMORY_COLUMNS + " WHERE m.n IN (SELECT value FROM json_each(?))"  # noqa: S608 - constants only
_BY_IDS = MEMORY_COLUMNS + " WHERE m.id IN (SELECT value FROM json_each(?))"  # noqa: S608 - constants only


def row_to_memory(row: tuple[Any, ...]) -> Memory:
    """Turn a row into a snapshot.

    Args:
        row: one row of a query that begins with `MEMORY_COLUMNS`.

    Returns:
        The memory.
    """
    (n, memory_id, kind, status, text, space, source, role, author, category, importance, tags) = row[:12]
    (client_id, conversation_id, position, session, ref, import_id) = row[12:18]
    (occurred_at, occurred_prec, occurred_offset, recorded_at, retired_at, valid_from, valid_to) = row[18:25]
    (trust, confidence, corroboration, reinforcements, disputes, confirmed, accesses, accessed) = row[25:33]
    (supersedes, superseded_by, chain_id, part_of, part_index, pinned, version, reason, flags, extra) = row[33:43]
    return Memory(
        n=n,
        id=memory_id,
        kind=Kind(kind),
        status=Status(status),
        text=text,
        space=space,
        source=Source(source),
        role=Role(role),
        author=author,
        category=category,
        importance=importance,
        tags=tuple(json.loads(tags)),
        client_id=client_id,
        conversation_id=conversation_id,
        position=position,
        session=session,
        ref=ref,
        import_id=import_id,
        occurred=read_occurred(occurred_at, occurred_prec, occurred_offset),
        recorded_at=recorded_at,
        retired_at=retired_at,
        valid_from=valid_from,
        valid_to=valid_to,
        trust=trust,
        confidence=confidence,
        corroboration=corroboration,
        reinforcements=reinforcements,
        disputes=disputes,
        last_confirmed_at=confirmed,
        access_count=accesses,
        last_accessed_at=accessed,
        supersedes_id=supersedes,
        superseded_by_id=superseded_by,
        chain_id=chain_id,
        part_of=part_of,
        part_index=part_index,
        pinned=bool(pinned),
        version=version,
        status_reason=reason,
        flags=tuple(json.loads(flags)),
        extra=json.loads(extra),
    )


def said_at_sql(alias: str = "") -> str:
    """The SQL of when a memory was said or, where nobody knows, recorded: to order and to reach by, the one such place.

    It is never stored as the time at which something was said, and whoever shows it says `noted`.

    Args:
        alias: of the table in the statement; "" where it has none.
    """
    table = f"{alias}." if alias else ""
    return f"coalesce({table}occurred_at, {table}recorded_at)"


def read_occurred(at_ms: int | None, precision: str | None, offset_min: int | None) -> When | None:
    """The time something was said or happened, from its three columns.

    Args:
        at_ms: epoch ms, or None where unknown.
        precision: a word of `Precision`; None counts as exact.
        offset_min: the zone offset it was written with.

    Returns:
        The moment, or None.
    """
    if at_ms is None:
        return None
    return When(at_ms, Precision.MS if precision is None else Precision(precision), offset_min)


def read_by_labels(rows: Rows, ns: Iterable[int]) -> dict[int, Memory]:
    """Memories by their labels.

    Args:
        ns: labels; unknown ones are passed over.

    Returns:
        Label to memory.
    """
    wanted = json.dumps([int(n) for n in ns])
    found = rows.all(_BY_LABELS, (wanted,))
    return {row[0]: row_to_memory(row) for row in found}


def read_by_ids(rows: Rows, ids: Iterable[str]) -> dict[str, Memory]:
    """Memories by their ids.

    Args:
        ids: ids; unknown ones are passed over.

    Returns:
        Id to memory.
    """
    wanted = json.dumps(list(ids))
    found = rows.all(_BY_IDS, (wanted,))
    return {row[1]: row_to_memory(row) for row in found}


def client_names(rows: Rows, memories: Iterable[Memory]) -> dict[str, str]:
    """The names of the clients that brought memories.

    Args:
        memories: any.

    Returns:
        Client id to name; empty where no client brought any of them.
    """
    brought = sorted({one.client_id for one in memories if one.client_id is not None})
    if not brought:
        return {}
    found = rows.all(
        "SELECT id, name FROM clients WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(brought),)
    )
    return {str(client): str(name) for client, name in found}


def read_by_id(rows: Rows, memory_id: str) -> Memory | None:
    """The memory of an id, or None."""
    return read_by_ids(rows, (memory_id,)).get(memory_id)
