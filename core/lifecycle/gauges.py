"""The figures that are shown: how many memories are in each state, and the two gauges of one, now and as they go on.

The gauges are strength and confidence, as the inspector draws them. Must not do: work out a formula (`core.score`
does), read a text, or write.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.config.options import Options
from core.errors import Code, UserError
from core.lifecycle.sweep import RECALLED_DAYS, SPARED, find_protections
from core.memory.read import STRENGTH_COLUMNS, STRENGTH_JOINS, read_courses
from core.score.decay import PERMANENT, StrengthCourse, days_until, decay_rate, effective_confidence
from core.types.lifecycle import Curve, Gauges
from core.types.values import Kind
from core.vault.database.rows import Rows, to_json
from core.vault.memory_sql import undecided_sql

AHEAD_DAYS = 365
"""How far the curves look ahead."""
_POINTS = 60
_DAY_MS = 86_400_000
_READ = (
    "SELECT m.id, m.kind, m.permanence, m.confidence, m.last_confirmed_at, m.last_accessed_at, "  # noqa: S608
    "m.status IN ('active', 'disputed'), EXISTS (SELECT 1 FROM fading f WHERE f.memory_id = m.id), kept.until, "
    f"{STRENGTH_COLUMNS} FROM memories m{STRENGTH_JOINS}WHERE m.id = :head OR m.part_of = :head ORDER BY m.n"
)

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Part:
    """A memory, or one part of a split text; times in epoch ms.

    Attributes:
        course: of its strength.
        rate: of its confidence, a day.
    """

    id: str
    kind: str
    permanence: str
    confidence: float
    confirmed: int
    accessed: int
    is_active: bool
    is_fading: bool
    spared_until: int | None
    course: StrengthCourse
    rate: float

    def confidence_at(self, at_ms: Values | int) -> Values:
        """Effective confidence at moments."""
        days = (np.asarray(at_ms, np.float64) - self.confirmed) / _DAY_MS
        return effective_confidence(self.confidence, self.rate, days)

    def falls_at(self, line: float) -> float:
        """When effective confidence comes down to a line, epoch ms; infinity for never."""
        return self.confirmed + float(days_until(self.confidence, self.rate, line)) * _DAY_MS

    def leaves_at(self, options: Options) -> float:
        """When the sweep would archive it if nothing protected it, epoch ms; infinity for never."""
        weak = float(self.course.time_until(options.archive_below)[0])
        expires = self.falls_at(options.expired_below) if self.rate > 0 else math.inf
        return min(weak, max(expires, self.accessed + RECALLED_DAYS * _DAY_MS))


def read_gauges(rows: Rows, memory_id: str, options: Options, now_ms: int) -> Gauges:
    """Read both gauges of a memory.

    Strength is drawn from the last touch on (storing, recall, sparing): how it went before, nothing tells.

    Args:
        memory_id: the memory; of a split text the part that is asked about.

    Returns:
        What the sweep goes by: the same numbers from the same formulas.

    Raises:
        UserError: NOT_FOUND.
    """
    first_part_id = rows.value("SELECT coalesce(part_of, id) FROM memories WHERE id = ?", (memory_id,))
    if first_part_id is None:
        raise UserError(Code.NOT_FOUND, "There is no such memory.")
    parts = _read_gauged_parts(rows, str(first_part_id))
    own = next(part for part in parts if part.id == memory_id)
    kept = find_protections(rows, [str(first_part_id)], now_ms).get(str(first_part_id), ())
    fades = own.falls_at(options.fading_below)
    return Gauges(
        strength=float(own.course.strength_at(now_ms)[0]),
        strength_curve=_sample_curve(own.course.strength_at, float(own.course.since[0]), now_ms),
        confidence=float(own.confidence_at(now_ms)),
        confidence_curve=_sample_curve(own.confidence_at, own.confirmed, now_ms),
        permanence=PERMANENT if own.kind == Kind.EPISODE.value else own.permanence,
        fading_below=options.fading_below,
        expired_below=options.expired_below,
        archive_below=options.archive_below,
        fades_at=math.ceil(fades) if now_ms < fades < math.inf else None,
        archived_at=_archived_at(parts, kept, options, now_ms),
        protected_by=kept,
        is_fading=own.is_fading,
        spared_until=own.spared_until,
    )


def _read_gauged_parts(rows: Rows, first_part_id: str) -> list[_Part]:
    found = rows.all(_READ, {"head": first_part_id})
    return [
        _Part(
            id=row[0],
            kind=row[1],
            permanence=row[2],
            confidence=row[3],
            confirmed=row[4],
            accessed=row[5] or 0,
            is_active=bool(row[6]),
            is_fading=bool(row[7]),
            spared_until=row[8],
            course=read_courses([row[9:]]),
            rate=decay_rate(row[1], row[2]),
        )
        for row in found
    ]


def _archived_at(parts: list[_Part], kept: tuple[str, ...], options: Options, now_ms: int) -> int | None:
    """When the next sweep from then on would archive it; None where what protects it has no known end."""
    if not set(kept) <= {SPARED} or not all(part.is_active for part in parts):
        return None
    # Of a split text the part that lasts longest decides.
    leaves = max(part.leaves_at(options) for part in parts)
    spared = max(part.spared_until or 0 for part in parts)
    return math.ceil(max(leaves, spared, now_ms)) if leaves < math.inf else None


def _sample_curve(at: Callable[[Values], Values], first_ms: float, now_ms: int) -> Curve:
    """Samples from a moment to a year from now; the present is one of them."""
    first = min(0.0, (first_ms - now_ms) / _DAY_MS)
    days = np.unique(np.append(np.linspace(first, AHEAD_DAYS, _POINTS), 0.0))
    values = at(now_ms + days * _DAY_MS)
    return Curve(tuple(days.tolist()), tuple(np.broadcast_to(values, days.shape).tolist()))


_HOUR_MS = 3_600_000
_IN = (
    "(:spaces IS NULL OR m.space_id IN (SELECT value FROM json_each(:spaces))) "  # noqa: S608 - constants
    "AND coalesce(m.part_index, 0) = 0 "
    # For a client, whatever its channel: what is sealed, or was never let in, does not count.
    f"AND (:channels IS NULL OR (m.security_tier = 'cleartext' AND NOT {undecided_sql()} "
    "AND m.scope_channel IN (SELECT value FROM json_each(:channels))))"
)
_WAITS = "e.consolidated_at IS NULL AND d.state IS NOT 'done' AND m.status = 'active'"
_EPISODES = (
    f"SELECT count(*), coalesce(sum({_WAITS}), 0), "  # noqa: S608 - constants only
    f"min(CASE WHEN {_WAITS} THEN m.recorded_at END) FROM memories m "
    "LEFT JOIN episodes e ON e.memory_id = m.id LEFT JOIN distilled d ON d.memory_id = m.id "
    f"WHERE m.kind = 'episode' AND m.status IN ('active', 'disputed', 'consolidated') AND {_IN}"
)
_FACTS = (
    "SELECT coalesce(sum(m.status = 'active' AND f.memory_id IS NULL), 0), "  # noqa: S608 - constants only
    "coalesce(sum(m.status = 'active' AND f.memory_id IS NOT NULL), 0), coalesce(sum(m.status = 'superseded'), 0), "
    "coalesce(sum(m.status = 'archived' AND m.status_reason IS 'expired'), 0) "
    f"FROM memories m LEFT JOIN fading f ON f.memory_id = m.id WHERE m.kind = 'fact' AND {_IN}"
)
_RULES = (
    "SELECT CASE WHEN m.status IN ('archived', 'deleted') THEN 'forgotten' "  # noqa: S608 - constants only
    "WHEN r.is_antipattern = 1 THEN 'anti_pattern' ELSE coalesce(r.maturity, 'candidate') END, count(*) "
    "FROM memories m LEFT JOIN rules r ON r.memory_id = m.id WHERE m.kind = 'rule' "
    f"AND m.status IN ('active', 'disputed', 'archived', 'deleted') AND {_IN} GROUP BY 1"
)


def count_gauges_by_state(
    rows: Rows, spaces: Collection[str] | None, now_ms: int, channels: Collection[str] | None = None
) -> dict[str, dict[str, Any]]:
    """Count memories by kind and state; a split text counts once.

    Args:
        spaces: ids of the spaces that count; None for all.
        channels: what memories that count may be limited to (`memories.scope_channel`), without what is sealed; None
            for anything.

    Returns:
        `episodes` with total, unconsolidated and backlog_age_hours (of the oldest that waits; None where none does),
        `facts` with active, fading, superseded and expired, `rules` with candidate, established, proven,
        anti_pattern and forgotten.
    """
    named = {
        "spaces": None if spaces is None else to_json(sorted(spaces)),
        "channels": None if channels is None else to_json(sorted(channels)),
    }
    total, waiting, oldest = rows.one(_EPISODES, named) or (0, 0, None)
    age = None if oldest is None else max(0.0, (now_ms - int(oldest)) / _HOUR_MS)
    facts = rows.one(_FACTS, named) or (0, 0, 0, 0)
    rules = dict.fromkeys(("candidate", "established", "proven", "anti_pattern", "forgotten"), 0)
    rules.update({str(word): int(count) for word, count in rows.all(_RULES, named)})
    return {
        "episodes": {
            "total": int(total),
            "unconsolidated": int(waiting),
            "backlog_age_hours": None if age is None else round(age, 2),
        },
        "facts": dict(zip(("active", "fading", "superseded", "expired"), map(int, facts), strict=True)),
        "rules": rules,
    }
