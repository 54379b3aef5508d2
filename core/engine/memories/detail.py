"""Everything `show` tells of one memory, and how long it lasts and why, read in one snapshot.

Must not do: set a permanence level; `library.revise` does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from core.belief.extract.permanence import claim_permanence, classify_permanence
from core.intake.transaction.trust_inputs import trust_terms_of
from core.score.lifecycle.decay import STANDARD
from core.types.belief import ClaimDraft
from core.types.memory import Lasting
from core.types.replies import MemoryDetail
from core.types.values import Kind, Memory
from core.vault.database.rows import Rows

_LEVEL = "SELECT permanence FROM memories WHERE id = ?"
_CLAIMS = (
    "SELECT c.subject, c.predicate, c.value, c.exclusive, c.polarity, e.start_at, e.end_at FROM claims c "
    "JOIN evidence e ON e.claim_id = c.id WHERE e.memory_id = ? AND e.stance = 'supporting' ORDER BY e.start_at, c.id"
)


def explain_permanence(rows: Rows, memory: Memory) -> Lasting:
    """The level of a memory, and what it rests on.

    Returns:
        As it stands; what was read when it came is read here anew, from its text and the claims it has now.
    """
    level = str(rows.value(_LEVEL, (memory.id,), default=STANDARD))
    if memory.kind is Kind.EPISODE:
        return Lasting(level, level, "record")
    if memory.part_of is not None:
        return Lasting(level, level, "split")
    claims = [
        ClaimDraft(str(subject), str(predicate), str(value), bool(exclusive), str(polarity), start=start, end=end)
        for subject, predicate, value, exclusive, polarity, start, end in rows.all(_CLAIMS, (memory.id,))
    ]
    read = classify_permanence(memory.text, claims, memory.kind)
    if read != level:
        return Lasting(level, read, "chosen")
    if level == STANDARD:
        return Lasting(level, read, "usual")
    named = tuple(dict.fromkeys(claim.predicate for claim in claims if claim_permanence(claim) == level))
    return Lasting(level, read, "claim" if named else "cue", named)


_NEIGHBOURS = 2


def read_detail(rows: Rows, memory: Memory, now_ms: int) -> MemoryDetail:
    """Gather a memory's provenance, claims, relations and trust terms.

    Args:
        memory: the memory, already found to be within the actor's reach.

    Returns:
        The detail; the trust terms are those of now, while `memory.trust` is the stored value.
    """
    terms = trust_terms_of(rows, memory.id, now_ms)
    return MemoryDetail(
        memory=memory,
        sources=_sources(rows, memory),
        conversation=_conversation(rows, memory),
        origin=_origin(rows, memory),
        claims=_claims(rows, memory),
        edges=_edges(rows, memory),
        trust_terms=terms.waterfall(),
        parts=_parts(rows, memory),
    )


def _sources(rows: Rows, memory: Memory) -> tuple[Mapping[str, Any], ...]:
    found = rows.all(
        "SELECT s.lineage, s.source, c.name, s.session, s.import_id, s.at FROM memory_sources s "
        "LEFT JOIN clients c ON c.id = s.client_id WHERE s.memory_id = ? ORDER BY s.at, s.lineage",
        (memory.id,),
    )
    names = ("lineage", "source", "client", "session", "import_id", "at")
    return tuple(dict(zip(names, row, strict=True)) for row in found)


def _conversation(rows: Rows, memory: Memory) -> Mapping[str, Any]:
    if memory.conversation_id is None:
        return {}
    row = rows.one("SELECT id, title, started_at FROM conversations WHERE id = ?", (memory.conversation_id,))
    near = rows.all(
        "SELECT id, position FROM memories WHERE conversation_id = ? AND position BETWEEN ? AND ? AND id <> ? "
        "ORDER BY position, coalesce(part_index, 0)",
        (
            memory.conversation_id,
            (memory.position or 0) - _NEIGHBOURS,
            (memory.position or 0) + _NEIGHBOURS,
            memory.id,
        ),
    )
    return {
        "id": memory.conversation_id,
        "title": None if row is None else row[1],
        "started_at": None if row is None else row[2],
        "position": memory.position,
        "neighbours": [{"id": near_id, "position": position} for near_id, position in near],
    }


def _origin(rows: Rows, memory: Memory) -> Mapping[str, Any]:
    stored = rows.value("SELECT origin FROM memories WHERE id = ?", (memory.id,), default="{}")
    origin: dict[str, Any] = json.loads(stored)
    return origin


def _claims(rows: Rows, memory: Memory) -> tuple[Mapping[str, Any], ...]:
    found = rows.all(
        "SELECT DISTINCT c.id, c.subject, c.predicate, c.value, c.exclusive, c.polarity, c.qualifiers, c.valid_from, "
        "c.valid_to, c.confidence, c.state FROM claims c JOIN evidence e ON e.claim_id = c.id WHERE e.memory_id = ? "
        "AND e.stance = 'supporting' ORDER BY c.id",
        (memory.id,),
    )
    names = (
        "id", "subject", "predicate", "value", "exclusive", "polarity", "qualifiers", "valid_from", "valid_to",
        "confidence", "state",
    )  # fmt: skip
    claims = [dict(zip(names, row, strict=True)) for row in found]
    for claim in claims:
        claim["exclusive"] = bool(claim["exclusive"])
        claim["confidence"] = round(float(claim["confidence"]), 4)
        claim["qualifiers"] = json.loads(claim["qualifiers"])
        claim["evidence"] = [
            {"memory_id": memory_id, "quote": quote, "start": start, "end": end, "stance": stance}
            for memory_id, quote, start, end, stance in rows.all(
                "SELECT memory_id, quote, start_at, end_at, stance FROM evidence WHERE claim_id = ? ORDER BY id",
                (claim["id"],),
            )
        ]
    return tuple(claims)


def _edges(rows: Rows, memory: Memory) -> tuple[Mapping[str, Any], ...]:
    found = rows.all(
        "SELECT id, type, 'out', to_id FROM edges WHERE from_id = ? UNION ALL "
        "SELECT id, type, 'in', from_id FROM edges WHERE to_id = ? ORDER BY 1",
        (memory.id, memory.id),
    )
    return tuple({"id": e, "type": t, "direction": d, "other": o} for e, t, d, o in found)


def _parts(rows: Rows, memory: Memory) -> tuple[str, ...]:
    if memory.part_of is None:
        return ()
    found = rows.all("SELECT id FROM memories WHERE part_of = ? ORDER BY part_index", (memory.part_of,))
    return tuple(row[0] for row in found)
