"""The time list: what was said or happened in the days that a question speaks of.

Must not do: read a phrase (`core.text` does), or lift what has nothing to do with the question.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.recall.candidates.candidates import Candidates, Question
from core.recall.query.scope import Labels, as_labels
from core.score.ranking.proximity import TOLD_LATER_DAYS, proximity
from core.types.recall import TimeRange
from core.vault.database.rows import Rows

_IN_DAYS = (
    "SELECT group_concat(n) FROM (SELECT n FROM (SELECT n, occurred_at AS at FROM memories "
    "WHERE occurred_at >= :first AND occurred_at < :last "
    "UNION ALL SELECT n, recorded_at AS at FROM memories "
    "WHERE occurred_at IS NULL AND recorded_at >= :first AND recorded_at < :last) ORDER BY at DESC, n LIMIT :most)"
)
_MOST = 20_000
_LEAST = 0.05
_LATER_MS = int(TOLD_LATER_DAYS * 86_400_000)


def nearest_within(rows: Rows, allowed: Labels | None, question: Question, days: TimeRange, k: int) -> Labels:
    """The memories of those days that are nearest in meaning.

    Args:
        rows: a vault snapshot.
        allowed: labels in scope, ascending; None where they are not named, and the caller looks at each candidate.
        question: what they are compared with.
        days: the range; some days after it belong to it, as people tell of a day later.
        k: how many.

    Returns:
        Labels; all of the range where it has no more than `k`, or nothing is compared by meaning.
    """
    params = {"first": days.from_ms, "last": days.to_ms + _LATER_MS, "most": _MOST}
    # Only what the index on time holds is read: conditions on the rows would read every memory of a year.
    here = np.sort(as_labels(rows.value(_IN_DAYS, params)))
    if allowed is not None:
        here = np.intersect1d(here, allowed, assume_unique=True)
    if here.size <= k or question.vector is None:
        return here[:k]
    hits = question.vectors.search(question.vector, k, here)
    return here[:k] if hits is None else hits.labels


def with_time(found: Candidates, days: TimeRange, bonus: float) -> Candidates:
    """Raise what lies in the days that are asked about: evidence x (1 + bonus x nearness).

    Args:
        found: the candidates.
        days: the range.
        bonus: 0 or more.

    Returns:
        The candidates with their nearness.
    """
    near = proximity(found.sides[:, 0], days.from_ms, days.to_ms)
    return replace(found, time=np.where(near >= _LEAST, near, np.nan), evidence=found.evidence * (1.0 + bonus * near))


def of_period(found: Candidates, days: TimeRange, strongest: float) -> Candidates:
    """Where the days themselves are asked for, what lies in them answers, and nothing else.

    Args:
        found: the candidates.
        days: the range.
        strongest: the greatest evidence there can be; what lies in the days has nine tenths of it and more.

    Returns:
        The candidates.
    """
    at = found.sides[:, 0]
    inside = (at >= days.from_ms) & (at < days.to_ms)
    own = np.clip(found.evidence / max(strongest, 1e-9), 0.0, 1.0)
    told = np.where(inside, strongest * (0.9 + 0.1 * own), 0.0)
    return replace(
        found, evidence=told, plain=told, time=np.where(inside, proximity(at, days.from_ms, days.to_ms), np.nan)
    )
