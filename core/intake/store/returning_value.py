"""A candidate beside a version that is over: a value that returns, or somebody who does not know that it is over.

Must not do: change a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from core.belief.gate import GateDecision, has_standing, resolve_contradiction
from core.belief.relate.outdated_value import has_outdated_value
from core.belief.relate.relation import IDENTICAL, certain_relation
from core.belief.review.items import MAY_REPLACE
from core.intake.claims.candidate import Neighbour, StoreCandidate
from core.memory.draft import to_json
from core.types.belief import ACTED_ON, LABELS, Label, Relation
from core.vault.database.rows import Rows

VALUE_RETURNS = "value_returns"
OLD_VALUE = "old_value"
HELD_VALUE = "held_value"
"""Reasons of a relation: it says again what is over; it names the value of what is over, beside what stands now; it
names the value of what was held back."""

_VERSIONS = 8


def past_versions(rows: Rows, memory_ids: Iterable[str]) -> list[str]:
    """Versions that are over in the chains of memories that stand, the newest first.

    Args:
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


def relation_to_past(
    candidate: StoreCandidate, over: Neighbour, head: Neighbour, told: Relation | None
) -> Relation | None:
    """How a candidate relates to what stands now, as a version that is over tells.

    Args:
        over: the version that is over.
        head: what stands in its place.
        told: how the candidate relates to the version that is over; None where that was not asked.

    Returns:
        The relation to the head; None where the version tells nothing.
    """
    if told is not None and told.label is Label.DUPLICATE and told.certain:
        return _returning(candidate, over, head, told)
    if has_standing(candidate.standing, head.standing):
        return None
    if has_outdated_value(over.told, head.told, candidate.told):
        return _doubt(ACTED_ON - 0.01, OLD_VALUE, "rules" if told is None else told.by)
    return None if told is None else _stale(told)


def relation_of_repeat(candidate: StoreCandidate, twin: Neighbour) -> Relation:
    """How a candidate relates to a memory of the same words of which something is over by now.

    Args:
        twin: the memory; it stands.

    Returns:
        SUPERSEDE where the candidate may take its place, so that what is over holds again; else DUPLICATE.
    """
    returns = resolve_contradiction(candidate.standing, twin.standing).deed is GateDecision.SUPERSEDE
    return certain_relation(Label.SUPERSEDE, VALUE_RETURNS) if returns else certain_relation(Label.DUPLICATE, IDENTICAL)


def relations_to_doubted(
    rows: Rows, candidate: StoreCandidate, near: Iterable[Neighbour], relations: Mapping[str, Relation]
) -> dict[str, Relation]:
    """How a candidate relates to what may have taken the place of something: until a person has said so, both stand.

    Whoever repeats the earlier of the two, and may replace neither, waits for the same answer; so does who repeats what
    was held back beside it.

    Args:
        near: what was looked at.
        relations: how it relates to each, by memory id.

    Returns:
        The relations, changed where the candidate speaks for the earlier one.
    """
    known, found = {other.id: other for other in near}, dict(relations)
    for one, two in rows.all(_DOUBTS, (to_json(list(known)), to_json(list(known)))):
        earlier, later = sorted((known[one], known[two]), key=lambda side: (side.standing.at_ms, side.id))
        told = relations.get(earlier.id)
        if told is None or has_standing(candidate.standing, later.standing):
            continue
        doubt = _stale(told)
        if doubt is None and has_outdated_value(earlier.told, later.told, candidate.told):
            doubt = _doubt(ACTED_ON - 0.01, OLD_VALUE, told.by)
        if doubt is not None:
            found[later.id] = doubt
    for stands, held in rows.all(_HELD, (to_json(list(known)), to_json(list(known)))):
        told = relations.get(stands)
        is_open = told is None or told.label is Label.COEXIST
        if not is_open or has_standing(candidate.standing, known[stands].standing):
            continue
        if has_outdated_value(known[held].told, known[stands].told, candidate.told):
            found[stands] = _doubt(ACTED_ON - 0.01, HELD_VALUE, "rules" if told is None else told.by)
    return found


_DOUBTS = (
    "SELECT k.existing_id, k.incoming_id FROM conflicts k "  # noqa: S608 - a constant of core.belief.review.items
    "WHERE k.existing_id IN (SELECT value FROM json_each(?)) AND k.incoming_id IN (SELECT value FROM json_each(?)) "
    f"AND {MAY_REPLACE} ORDER BY k.id"
)


_HELD = (
    "SELECT k.existing_id, k.incoming_id FROM conflicts k JOIN memories m ON m.id = k.incoming_id "
    "AND +m.status = 'quarantined' WHERE k.existing_id IN (SELECT value FROM json_each(?)) "
    "AND k.incoming_id IN (SELECT value FROM json_each(?)) AND +k.state = 'open' "
    "AND k.kind IN ('classification', 'contradiction') ORDER BY k.id"
)


def _returning(candidate: StoreCandidate, over: Neighbour, head: Neighbour, told: Relation) -> Relation:
    """A candidate that repeats what is over replaces what stands now (design section 4: a value that returns)."""
    if over.was == "merged":
        return told  # its words live on in the united text
    if candidate.standing.at_ms <= over.standing.at_ms and not has_standing(candidate.standing, head.standing):
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
