"""The graph list: what is tied to the nearest memories, over edges, shared names and the conversation (E5.1).

Must not do: look past the scope: every hop is judged by the request's conditions (C20).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby

import numpy as np

from core.recall.candidates.candidates import Candidates
from core.recall.query.scope import Labels, Predicate
from core.score.ranking.activation import Links, reaches, spread
from core.vault.database.rows import Rows

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


def activated(rows: Rows, narrowed: Predicate, found: Candidates, hops: int) -> dict[int, float]:
    """Spread activation from the nearest candidates.

    Args:
        rows: a vault snapshot.
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
        strong = sorted(one for one, value in front.items() if reaches(value, SHARED_NAME))
        named = rows.all(_NAMED, {"here": json.dumps(strong)}) if strong else ()
        for name, own in groupby(named, lambda row: str(row[0])):
            # Once a name, and not once for each pair that it ties: in a vault of years that was most of a recall.
            asked = {**narrowed.params, "name": name, "most": _MOST_NAMED}
            all_of = [int(row[0]) for row in rows.all(naming, asked)]
            if len(all_of) < _MOST_NAMED:
                yield from ((int(one), other, SHARED_NAME) for _, one in own for other in all_of if other != one)

    level = spread(seeds, links_of, hops)
    return {label: value for label, value in level.items() if value > seeds.get(label, 0.0)}


def fresh(found: Candidates, level: dict[int, float]) -> Labels:
    """What the spreading reached that is no candidate yet.

    Args:
        found: the candidates.
        level: from `activated`.

    Returns:
        Labels, ascending.
    """
    return np.setdiff1d(np.array(sorted(level), np.int64), found.labels)


def with_graph(found: Candidates, level: dict[int, float], worth: float) -> Candidates:
    """Give what was reached evidence as if it were so near in meaning itself.

    Args:
        found: the candidates, those that were reached among them.
        level: from `activated`.
        worth: what an activation of 1 is worth as evidence.

    Returns:
        The candidates.
    """
    reached = np.array([level.get(label, np.nan) for label in found.labels.tolist()], np.float64)
    told = np.maximum(found.evidence, worth * np.nan_to_num(reached))
    return replace(found, graph=reached, evidence=np.where(found.ok, told, found.evidence))
