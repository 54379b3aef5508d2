"""What was made of other memories and stands for them: a digest of its sources, a fact of its messages.

Must not do: let a digest that hardly speaks of the question hide the message that does.
"""

from __future__ import annotations

import json
from dataclasses import replace

from core.recall.candidates.candidates import Candidates
from core.vault.database.rows import Rows

SHARE = 0.6
"""Our choice: what was made of others stands for them where it speaks to the question at least so well as they do."""

_PAIRS = (
    "SELECT b.n, a.n FROM memories b JOIN derivations d ON d.source_id = b.id JOIN memories a ON a.id = d.derived_id "
    "AND a.kind IN ('digest', 'fact') WHERE b.n IN (SELECT value FROM json_each(:here)) AND b.kind <> a.kind"
)


def leads(rows: Rows, found: Candidates) -> dict[int, int]:
    """Which candidate stands for which.

    Args:
        rows: a vault snapshot.
        found: candidates that may be returned.

    Returns:
        Place of a source to the place of what was made of it; where several were, of the one that answers best.
    """
    place = {label: at for at, label in enumerate(found.labels.tolist())}
    chosen: dict[int, int] = {}
    for source, made in rows.all(_PAIRS, {"here": json.dumps(found.labels.tolist())}):
        at, by = place[int(source)], place.get(int(made))
        if by is None or not (found.ok[at] and found.ok[by]) or found.evidence[by] < SHARE * found.evidence[at]:
            continue
        if at not in chosen or found.evidence[by] > found.evidence[chosen[at]]:
            chosen[at] = by
    # What stands for others may itself be a source: the last in the row speaks for all. The graph has no circles.
    return {at: _last(chosen, by) for at, by in chosen.items()}


def with_sources(found: Candidates, led: dict[int, int]) -> Candidates:
    """Give what stands for others the evidence of the best of them.

    Args:
        found: the candidates.
        led: from `leads`.

    Returns:
        The candidates.
    """
    told = found.evidence.copy()
    for at, by in led.items():
        told[by] = max(told[by], float(found.evidence[at]))
    return replace(found, evidence=told)


def _last(chosen: dict[int, int], at: int) -> int:
    while at in chosen:
        at = chosen[at]
    return at
