"""Reading memories as frozen snapshots, and the strength of stored memories.

Lists, the floor plan, the inspector and the lifecycle take `STRENGTH_COLUMNS` into their own queries, so that all of
them show the same number. Must not do: judge who may see a memory (`core.recall.scope` does), or write.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from core.score.decay import StrengthCourse, Values, strength_course
from core.types.values import Kind, Memory, Precision, Role, SecurityTier, Source, Status, When
from core.vault.database.rows import Rows

STRENGTH_JOINS = (
    " LEFT JOIN inferred felt ON felt.memory_id = m.id LEFT JOIN spared kept ON kept.memory_id = m.id "
    "LEFT JOIN replays again ON again.memory_id = m.id "
)
"""What a query on memories `m` joins to read `STRENGTH_COLUMNS`; each by its key."""
STRENGTH_COLUMNS = (
    "m.importance, m.recorded_at, m.last_accessed_at, m.access_count, "
    # Who was recalled once, was recalled in one session.
    "CASE WHEN m.access_count > 1 THEN (SELECT count(*) FROM accesses a WHERE a.memory_id = m.id) ELSE 1 END, "
    "m.pinned, felt.arousal, kept.at, again.times, again.boost"
)
"""The inputs of a memory's strength, `STRENGTH_WIDTH` columns."""
STRENGTH_WIDTH = 10
_AMONG = f"SELECT m.id, {STRENGTH_COLUMNS} FROM json_each(?) w JOIN memories m ON m.id = w.value{STRENGTH_JOINS}"  # noqa: S608 - constants


def read_courses(found: Sequence[Sequence[Any]]) -> StrengthCourse:
    """The courses that the strength of memories takes over time, from rows of `STRENGTH_COLUMNS`.

    Args:
        found: rows of `STRENGTH_COLUMNS`.

    Returns:
        One number a row in each.
    """
    columns = np.array(found, dtype=np.float64).reshape(-1, STRENGTH_WIDTH).T  # None becomes NaN
    none = np.nan_to_num(columns[[6, 8, 9]])
    return strength_course(
        importance=columns[0],
        recorded_at=columns[1],
        last_accessed_at=columns[2],
        access_count=columns[3],
        sessions=columns[4],
        pinned=columns[5],
        arousal=none[0],
        spared_at=columns[7],
        replays=none[1],
        boost=none[2],
    )


def read_strengths(found: Sequence[Sequence[Any]], now_ms: int) -> Values:
    """The strength of memories at one moment, from rows of `STRENGTH_COLUMNS`.

    Args:
        found: rows of `STRENGTH_COLUMNS`.

    Returns:
        0 to 1, one number a row.
    """
    return read_courses(found).strength_at(now_ms)


def read_strength_by_id(rows: Rows, memory_ids: Iterable[str], now_ms: int) -> dict[str, float]:
    """The strength of named memories.

    Args:
        memory_ids: the memories; unknown ones are left out.

    Returns:
        Id to strength, 0 to 1.
    """
    found = rows.all(_AMONG, (json.dumps(list(memory_ids)),))
    values = read_strengths([row[1:] for row in found], now_ms)
    return {str(row[0]): float(value) for row, value in zip(found, values.tolist(), strict=True)}


_FIELDS = (
    "m.n, m.id, m.kind, m.status, m.text, s.name, m.source, m.role, m.author, m.category, m.importance, m.tags, "
    "m.client_id, m.conversation_id, m.position, m.session, m.ref, m.import_id, m.occurred_at, m.occurred_prec, "
    "m.occurred_offset, m.recorded_at, m.retired_at, m.valid_from, m.valid_to, m.trust, m.confidence, m.corroboration, "
    "m.reinforcements, m.disputes, m.last_confirmed_at, m.access_count, m.last_accessed_at, m.supersedes_id, "
    "m.superseded_by_id, m.chain_id, m.part_of, m.part_index, m.pinned, m.version, m.status_reason, m.flags, m.extra, "
    "m.security_tier"
)
MEMORY_COLUMNS = f"SELECT {_FIELDS} FROM memories m JOIN spaces s ON s.id = m.space_id"  # noqa: S608 - constants only
"""The head of every query whose rows go to `row_to_memory`; `m` is the memory, `s` its space."""
_BY_LABELS = MEMORY_COLUMNS + " WHERE m.n IN (SELECT value FROM json_each(?))"  # noqa: S608 - constants only
_BY_IDS = MEMORY_COLUMNS + " WHERE m.id IN (SELECT value FROM json_each(?))"  # noqa: S608 - constants only


def row_to_memory(row: tuple[Any, ...]) -> Memory:
    """Turn a row into a snapshot.

    Args:
        row: one row of a query that begins with `MEMORY_COLUMNS`.
    """
    (n, memory_id, kind, status, text, space, source, role, author, category, importance, tags) = row[:12]
    (client_id, conversation_id, position, session, ref, import_id) = row[12:18]
    (occurred_at, occurred_prec, occurred_offset, recorded_at, retired_at, valid_from, valid_to) = row[18:25]
    (trust, confidence, corroboration, reinforcements, disputes, confirmed, accesses, accessed) = row[25:33]
    (supersedes, superseded_by, chain_id, part_of, part_index, pinned, version, reason, flags, extra) = row[33:43]
    tier = row[43]
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
        tier=SecurityTier(tier),
    )


IS_EDITED = "(m.source = 'user_explicit' AND m.import_id IS NULL AND m.supersedes_id IS NOT NULL AND m.role <> 'user')"
"""Whether the owner wrote the words of `memories m` anew, though they were somebody else's (`Memory.is_edited`)."""

SMALL_TALK = "EXISTS (SELECT 1 FROM readings t WHERE t.memory_id = m.id AND t.small_talk = 1)"
"""Whether `memories m` was read, and holds nothing worth a statement."""


def time_of_memory_sql(alias: str = "") -> str:
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
    """
    wanted = json.dumps([int(n) for n in ns])
    found = rows.all(_BY_LABELS, (wanted,))
    return {row[0]: row_to_memory(row) for row in found}


def read_by_ids(rows: Rows, ids: Iterable[str]) -> dict[str, Memory]:
    """Memories by their ids.

    Args:
        ids: ids; unknown ones are passed over.
    """
    wanted = json.dumps(list(ids))
    found = rows.all(_BY_IDS, (wanted,))
    return {row[1]: row_to_memory(row) for row in found}


def client_names_of_memories(rows: Rows, memories: Iterable[Memory]) -> dict[str, str]:
    """The names of the clients that brought memories.

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
