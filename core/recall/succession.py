"""A question that a version answers which is over is answered by what stands in its place.

"Which city do I live in" is near to "I live in Graz" and far from "home is Linz from today"; the chain knows that the
second took the place of the first. The old text itself is never returned. Must not do: decide what stands.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from core.belief.doubts import MAY_REPLACE
from core.recall.candidates import Candidates, Question, examine
from core.recall.explain import IN_REVIEW
from core.recall.scope import Predicate
from core.types.words import Status
from core.vault.rows import Rows

SHARE = 0.9
"""Our choice: what answers through an earlier version comes a little behind what answers itself."""

_OVER = frozenset({Status.SUPERSEDED.value, IN_REVIEW})
_HEADS = (
    "SELECT o.n, h.n FROM memories o CROSS JOIN memories h "  # noqa: S608 - conditions of core.recall.scope
    "ON h.chain_id = o.chain_id AND h.status = 'active' "
    "AND coalesce(h.part_index, 0) = 0 WHERE o.n IN (SELECT value FROM json_each(:over)) AND o.status = 'superseded' "
    "AND h.version = (SELECT max(s.version) FROM memories s WHERE s.chain_id = o.chain_id AND s.status = 'active') "
    # Of two of which the person is asked, the later one speaks.
    "UNION SELECT o.n, h.n FROM memories o JOIN conflicts k ON o.id IN (k.incoming_id, k.existing_id) "
    f"AND {MAY_REPLACE} JOIN memories h ON h.id IN (k.incoming_id, k.existing_id) AND h.id <> o.id "
    "AND h.status = 'active' "
    "WHERE o.n IN (SELECT value FROM json_each(:review)) ORDER BY 1, 2"
)


def with_successors(rows: Rows, narrowed: Predicate, question: Question, found: Candidates) -> Candidates:
    """Give what stands the evidence of what it took the place of.

    Args:
        rows: the vault snapshot of the candidates.
        narrowed: the request's conditions.
        question: what they are compared with.
        found: the candidates.

    Returns:
        The candidates, with successors that were not among them. Who may not see a version has nothing of it here.
    """
    over = [at for at, fact in enumerate(found.facts) if fact.status in _OVER and not found.ok[at]]
    over = sorted(over, key=lambda at: (-float(found.evidence[at]), at))[: question.profile.expand_from]
    over = [at for at in over if found.evidence[at] > 0]
    if not over:
        return found
    by_status = {
        name: json.dumps([int(found.labels[at]) for at in over if (found.facts[at].status == IN_REVIEW) is in_review])
        for name, in_review in (("over", False), ("review", True))
    }
    pairs = [(int(old), int(new)) for old, new in rows.all(_HEADS, by_status)]
    fresh = np.setdiff1d(np.array([new for _, new in pairs], np.int64), found.labels)
    if fresh.size:
        found = found.with_others(examine(rows, narrowed, question, fresh)[0])
    return _lifted(found, pairs)


def _lifted(found: Candidates, pairs: list[tuple[int, int]]) -> Candidates:
    place = {label: at for at, label in enumerate(found.labels.tolist())}
    evidence = found.evidence.copy()
    for old, new in pairs:
        at = place.get(new)
        if at is None or not found.ok[at]:
            continue
        gained = SHARE * float(found.evidence[place[old]])
        evidence[at] = max(evidence[at], gained)
    return replace(found, evidence=evidence, lifted=found.lifted + evidence - found.evidence)
