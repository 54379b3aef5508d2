"""A newcomer beside a version that is over: a value that returns, or somebody who does not know that it is over.

Must not do: change a row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from core.belief.gate import has_standing
from core.belief.retired import brings_back
from core.intake.newcomer import Beside, Newcomer
from core.memory.draft import to_json
from core.types.belief import ACTED_ON, LABELS, Label, Relation
from core.vault.rows import Rows

VALUE_RETURNS = "value_returns"
OLD_VALUE = "old_value"
"""Reasons of a relation: it says again what is over; it names the value of what is over, beside what stands now."""

_VERSIONS = 8


def versions_over(rows: Rows, memory_ids: Iterable[str]) -> list[str]:
    """Versions that are over in the chains of memories that stand, the newest first.

    Args:
        rows: the transaction.
        memory_ids: memories that stand.

    Returns:
        At most eight ids.
    """
    found = rows.all(
        "SELECT DISTINCT o.id, o.version, o.n FROM json_each(?) w CROSS JOIN memories m ON m.id = w.value "
        "CROSS JOIN memories o ON o.chain_id = m.chain_id AND o.id <> m.id AND coalesce(o.part_index, 0) = 0 "
        "WHERE o.status = 'superseded' AND o.status_reason IN ('replaced', 'older') "
        "ORDER BY o.version DESC, o.n DESC LIMIT ?",
        (to_json(list(memory_ids)), _VERSIONS),
    )
    return [str(row[0]) for row in found]


def beside_over(newcomer: Newcomer, over: Beside, head: Beside, told: Relation | None) -> Relation | None:
    """How a newcomer relates to what stands now, as a version that is over tells.

    Args:
        newcomer: the newcomer.
        over: the version that is over.
        head: what stands in its place.
        told: how the newcomer relates to the version that is over; None where that was not asked.

    Returns:
        The relation to the head; None where the version tells nothing.
    """
    if told is not None and told.label is Label.DUPLICATE and told.certain:
        return _returning(newcomer, over, head, told)
    if has_standing(newcomer.standing, head.standing):
        return None
    if brings_back(over.told, head.told, newcomer.told):
        return _doubt(ACTED_ON - 0.01, OLD_VALUE, "rules" if told is None else told.by)
    return None if told is None else _stale(told)


def _returning(newcomer: Newcomer, over: Beside, head: Beside, told: Relation) -> Relation:
    """A newcomer that repeats what is over replaces what stands now (design section 4: a value that returns)."""
    if over.was == "merged":
        return told  # its words live on in the united text
    if newcomer.standing.at_ms <= over.standing.at_ms and not has_standing(newcomer.standing, head.standing):
        return told
    doubt = dict.fromkeys(LABELS, (1.0 - told.confidence) / 3)
    shares = doubt | {Label.SUPERSEDE: told.confidence}
    return replace(told, label=Label.SUPERSEDE, probabilities=shares, reason=VALUE_RETURNS)


def _stale(told: Relation) -> Relation | None:
    """Somebody who may not replace what stands speaks of the very matter that is over: a doubt about what stands."""
    likeness = 1.0 - told.probabilities.get(Label.COEXIST, 0.0)
    return None if likeness <= 0.5 else _doubt(min(likeness, ACTED_ON - 0.01), VALUE_RETURNS, told.by)


def _doubt(share: float, reason: str, by: str) -> Relation:
    shares = dict.fromkeys(LABELS, 0.0) | {Label.SUPERSEDE: share, Label.COEXIST: 1.0 - share}
    return Relation(Label.SUPERSEDE, share, shares, by, reason)
