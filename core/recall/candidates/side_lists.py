"""The two candidate lists beside meaning and words: by time and by graph.

The time list holds what was said or happened in the days that a question speaks of; the graph list what is tied to the
nearest memories over edges, shared names and derivations (E5.1). Must not do: read a phrase (`core.text` does), lift
what has nothing to do with the question, or look past the scope: every hop is judged by the request's conditions (C20).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby

import numpy as np

from core.recall.candidates.candidates import Candidates, ComparedQuery
from core.recall.query.predicate import ScopePredicate
from core.recall.query.scope import Labels, parse_labels
from core.score.ranking.nearness import TOLD_LATER_DAYS, Links, may_spread, spread_activation, time_proximity
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


def nearest_in_period(rows: Rows, allowed: Labels | None, question: ComparedQuery, days: TimeRange, k: int) -> Labels:
    """The memories of those days that are nearest in meaning.

    Args:
        allowed: labels in scope, ascending; None where they are not named, and the caller looks at each candidate.
        question: what they are compared with.
        days: the range; some days after it belong to it, as people tell of a day later.
        k: how many.

    Returns:
        Labels; all of the range where it has no more than `k`, or nothing is compared by meaning.
    """
    params = {"first": days.from_ms, "last": days.to_ms + _LATER_MS, "most": _MOST}
    # Only what the index on time holds is read: conditions on the rows would read every memory of a year.
    here = np.sort(parse_labels(rows.value(_IN_DAYS, params)))
    if allowed is not None:
        here = np.intersect1d(here, allowed, assume_unique=True)
    if here.size <= k or question.vector is None:
        return here[:k]
    hits = question.vectors.search(question.vector, k, here)
    return here[:k] if hits is None else hits.labels


def apply_time_bonus(found: Candidates, days: TimeRange, bonus: float) -> Candidates:
    """Raise what lies in the days that are asked about: evidence x (1 + bonus x nearness).

    Args:
        days: the range.
        bonus: 0 or more.

    Returns:
        The candidates with their nearness.
    """
    near = time_proximity(found.sides[:, 0], days.from_ms, days.to_ms)
    return replace(found, time=np.where(near >= _LEAST, near, np.nan), evidence=found.evidence * (1.0 + bonus * near))


def restrict_to_period(found: Candidates, days: TimeRange, strongest: float) -> Candidates:
    """Restrict the answer to a period, for questions that ask what happened in it.

    Args:
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
        found, evidence=told, plain=told, time=np.where(inside, time_proximity(at, days.from_ms, days.to_ms), np.nan)
    )


SEEDS = 50
"""E5.1.1."""

SHARED_NAME = 0.5
"""Our choice: two memories that name the same thing, beside an edge of weight 1."""

_MOST_NAMED = 40  # a name that stands everywhere ties nothing
_TYPES = "('caused_by', 'instance_of', 'inferred_from', 'supports', 'related_to', 'example_of')"
_HERE = "a.n IN (SELECT value FROM json_each(:here))"
_LINKS = (
    f"SELECT a.n, m.n, e.weight FROM memories a JOIN edges e ON e.from_id = a.id AND e.type IN {_TYPES} "  # noqa: S608
    f"JOIN memories m ON m.id = e.to_id WHERE {_HERE} AND {{visible}} "
    f"UNION ALL SELECT a.n, m.n, e.weight FROM memories a JOIN edges e ON e.to_id = a.id AND e.type IN {_TYPES} "
    f"JOIN memories m ON m.id = e.from_id WHERE {_HERE} AND {{visible}} "
    "UNION ALL SELECT a.n, m.n, 1.0 FROM memories a JOIN derivations d ON d.derived_id = a.id "
    f"JOIN memories m ON m.id = d.source_id WHERE {_HERE} AND {{visible}} "
    "UNION ALL SELECT a.n, m.n, 1.0 FROM memories a JOIN derivations d ON d.source_id = a.id "
    f"JOIN memories m ON m.id = d.derived_id WHERE {_HERE} AND {{visible}}"
)
_NAMED = (
    f"SELECT x.entity_id, a.n FROM memories a JOIN mentions x ON x.memory_id = a.id WHERE {_HERE} "  # noqa: S608
    "ORDER BY x.entity_id"
)
_NAMING = (
    "SELECT m.n FROM mentions z JOIN memories m ON m.id = z.memory_id "
    "WHERE z.entity_id = :name AND {visible} LIMIT :most"
)
HAS_LINKS = "(EXISTS (SELECT 1 FROM edges) OR EXISTS (SELECT 1 FROM derivations) OR EXISTS (SELECT 1 FROM mentions))"
"""Whether there is anything to spread over."""


def activate_neighbours(rows: Rows, narrowed: ScopePredicate, found: Candidates, hops: int) -> dict[int, float]:
    """Spread activation from the nearest candidates.

    Args:
        narrowed: the request's conditions; nothing that is not visible is reached, or leads on.
        found: the candidates; their cosine is what they start with, or their share of the words where there is none.
        hops: 2, and 3 where causes are asked for (design section 5).

    Returns:
        Label to the activation that reached it over links; seeds that were not raised are not in it.
    """
    start = np.where(np.isnan(found.vector), found.coverage, found.vector)
    start = np.where(found.ok, np.clip(start, 0.0, 1.0), 0.0)
    best = np.argsort(-start, kind="stable")[:SEEDS]
    seeds = {int(found.labels[at]): float(start[at]) for at in best}
    links, naming = _LINKS.format(visible=narrowed.visible), _NAMING.format(visible=narrowed.visible)

    def links_of(front: Mapping[int, float]) -> Links:
        here = {**narrowed.params, "here": json.dumps(sorted(front))}
        yield from ((int(a), int(b), float(weight)) for a, b, weight in rows.all(links, here))
        # A name ties weakly: most of what was reached over one leads no further over another, and is not looked up.
        strong = sorted(one for one, value in front.items() if may_spread(value, SHARED_NAME))
        named = rows.all(_NAMED, {"here": json.dumps(strong)}) if strong else ()
        for name, own in groupby(named, lambda row: str(row[0])):
            # Once a name, and not once for each pair that it ties: in a vault of years that was most of a recall.
            asked = {**narrowed.params, "name": name, "most": _MOST_NAMED}
            all_of = [int(row[0]) for row in rows.all(naming, asked)]
            if len(all_of) < _MOST_NAMED:
                yield from ((int(one), other, SHARED_NAME) for _, one in own for other in all_of if other != one)

    level = spread_activation(seeds, links_of, hops)
    return {label: value for label, value in level.items() if value > seeds.get(label, 0.0)}


def newly_reached(found: Candidates, level: dict[int, float]) -> Labels:
    """Labels that the activation reached and that are no candidates yet.

    Args:
        level: from `activate_neighbours`.

    Returns:
        Labels, ascending.
    """
    return np.setdiff1d(np.array(sorted(level), np.int64), found.labels)


def apply_activation(found: Candidates, level: dict[int, float], worth: float) -> Candidates:
    """Raise the evidence of each reached candidate to the worth of its activation.

    Args:
        found: the candidates, those that were reached among them.
        level: from `activate_neighbours`.
        worth: what an activation of 1 is worth as evidence.

    Returns:
        The candidates.
    """
    reached = np.array([level.get(label, np.nan) for label in found.labels.tolist()], np.float64)
    told = np.maximum(found.evidence, worth * np.nan_to_num(reached))
    return replace(found, graph=reached, evidence=np.where(found.ok, told, found.evidence))
