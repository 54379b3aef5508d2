"""The strength of stored memories: the one place that reads what `core.score.decay` needs.

Lists, the floor plan, the inspector and the lifecycle take `COLUMNS` into their own queries, so that all of them show
the same number. Must not do: judge a weak memory, or read a text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from core.score.decay import StrengthCourse, Values, strength_course
from core.vault.database.rows import Rows

JOINS = (
    " LEFT JOIN inferred felt ON felt.memory_id = m.id LEFT JOIN spared kept ON kept.memory_id = m.id "
    "LEFT JOIN replays again ON again.memory_id = m.id "
)
"""What a query on memories `m` joins to read `COLUMNS`; each by its key."""
COLUMNS = (
    "m.importance, m.recorded_at, m.last_accessed_at, m.access_count, "
    # Who was recalled once, was recalled in one session.
    "CASE WHEN m.access_count > 1 THEN (SELECT count(*) FROM accesses a WHERE a.memory_id = m.id) ELSE 1 END, "
    "m.pinned, felt.arousal, kept.at, again.times, again.boost"
)
"""The inputs of a memory's strength, `WIDTH` columns."""
WIDTH = 10
_AMONG = f"SELECT m.id, {COLUMNS} FROM json_each(?) w JOIN memories m ON m.id = w.value{JOINS}"  # noqa: S608 - constants


def read_courses(found: Sequence[Sequence[Any]]) -> StrengthCourse:
    """How the strength of read memories goes on.

    Args:
        found: rows of `COLUMNS`.

    Returns:
        One number a row in each.
    """
    columns = np.array(found, dtype=np.float64).reshape(-1, WIDTH).T  # None becomes NaN
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
    """The strength of read memories.

    Args:
        found: rows of `COLUMNS`.

    Returns:
        0 to 1, one number a row.
    """
    return read_courses(found).at(now_ms)


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
