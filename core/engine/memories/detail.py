"""Everything that is told of one memory: `show`, how long it lasts, and how it is believed, each read in one snapshot.

The version chain is placed on the axis of valid time. Must not do: work out a trust anew, or set a permanence level.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.belief.claims import IN_QUESTION, OPPOSED
from core.belief.extract.validity import claim_permanence, classify_permanence
from core.belief.review.items import find_current_side
from core.belief.review.sides import KeyedClaim, pair_opposed_claims, read_claims_of_side
from core.intake.transaction.sources import trust_terms_of
from core.memory.protection import types_in
from core.memory.read import read_by_ids, read_occurred
from core.score.decay import STANDARD
from core.score.trust import TrustTerms, age_days
from core.types.belief import ClaimDraft
from core.types.memory import (
    Belief,
    Chain,
    ClaimHeld,
    EvidenceSeen,
    Gap,
    Lasting,
    MemoryVerdict,
    OpenConflict,
    Rests,
    TrustInputs,
    TrustStep,
    VersionHeld,
)
from core.types.replies import MemoryDetail
from core.types.values import STANDING, Kind, Memory, Precision, Source, Status
from core.vault.database.rows import MAY_BELONG, Rows

_DAY_MS = 86_400_000
_NEVER_VALID = frozenset({Status.QUARANTINED})


@dataclass(frozen=True, slots=True)
class ChainVersion:
    """A version as its row tells it; all times in epoch ms.

    Attributes:
        value: what it says; "" where no claim was read.
        valid_from: true from, where it says so; `valid_to` until when, exclusive.
        said: when it was said; None where unknown.
        recorded_at: when Loci learned it; `retired_at` when it stopped believing it.
    """

    memory_id: str
    version: int
    status: Status
    value: str
    valid_from: int | None
    valid_prec: Precision
    valid_to: int | None
    said: int | None
    said_prec: Precision
    recorded_at: int
    retired_at: int | None

    @property
    def begin(self) -> tuple[int, Precision, str]:
        """From when on it was true, how exactly that is known, and by what."""
        if self.valid_from is not None:
            return self.valid_from, self.valid_prec, "valid"
        if self.said is not None:
            return self.said, self.said_prec, "said"
        return self.recorded_at, Precision.MS, "recorded"


def place_chain(written: Sequence[ChainVersion], now_ms: int) -> Chain:
    """Place the versions of a memory on the axis of valid time.

    A version holds from its `valid_from`, else from when it was said, else from when it was learned; until its
    `valid_to`, else, once it does not stand any more, until the version after it begins, else until it was retired
    (design section 4, superseding; seed D, temporal queries).

    Args:
        written: versions of one chain, in any order.

    Returns:
        The versions in the order in which they held, and the times between them of which none says anything; a gap
        shorter than a day is none.
    """
    ordered = sorted(written, key=lambda one: (one.begin[0], one.version, one.recorded_at))
    valid_versions = [one for one in ordered if one.status not in _NEVER_VALID]
    ends = {one.memory_id: _end_of_version(one, valid_versions[nr + 1 :]) for nr, one in enumerate(valid_versions)}
    current = _current_version_id(valid_versions)
    versions = tuple(_version_from(one, ends.get(one.memory_id), current) for one in ordered)
    return Chain(versions, _find_gaps([v for v in versions if v.ever_held]), now_ms)


def _version_from(one: ChainVersion, end: int | None, current: str | None) -> VersionHeld:
    begin, precision, known_by = one.begin
    return VersionHeld(
        memory_id=one.memory_id,
        version=one.version,
        status=one.status,
        value=one.value,
        begin=begin,
        precision=precision,
        begin_by=known_by,
        end=end,
        recorded_at=one.recorded_at,
        retired_at=one.retired_at,
        is_current=one.memory_id == current,
        ever_held=one.status not in _NEVER_VALID,
    )


def _end_of_version(one: ChainVersion, later: Sequence[ChainVersion]) -> int | None:
    begin = one.begin[0]
    if one.valid_to is not None:
        return max(begin, one.valid_to)
    if one.status in STANDING:
        return None
    after = next((other.begin[0] for other in later if other.begin[0] > begin), one.retired_at)
    return None if after is None else max(begin, after)


def _current_version_id(versions: Sequence[ChainVersion]) -> str | None:
    current = [one for one in versions if one.status in STANDING]
    return current[-1].memory_id if current else None


def _find_gaps(versions: Sequence[VersionHeld]) -> tuple[Gap, ...]:
    found: list[Gap] = []
    reached: int | None = None
    for nr, version in enumerate(versions):
        if nr and reached is not None and version.begin - reached >= _DAY_MS:
            found.append(Gap(reached, version.begin))
        if version.end is None:
            return tuple(found)  # what has no end leaves no gap behind it
        reached = version.end if reached is None else max(reached, version.end)
    return tuple(found)


CLAIMS, QUOTES = 40, 12
"""Claims of one memory and quotes of one claim at most."""
_VERSIONS, _ITEMS, _VOICES, _NAMES, _RULES, _MADE = 200, 20, 20, 3, 50, 200
_ASSERTED = ("asserted", "disputed")
_SPEAKS = (
    "WITH speaks (id, stance) AS (SELECT id, stance FROM evidence WHERE claim_id = :claim UNION ALL "  # noqa: S608
    "SELECT v.id, 'contradicting' FROM evidence v JOIN memories n ON n.id = v.memory_id "
    "AND +n.status IN ('active', 'disputed') WHERE v.stance = 'supporting' "
    f"AND v.claim_id IN ({OPPOSED} = :claim{IN_QUESTION})) "
)
_EVIDENCE = (
    f"{_SPEAKS}SELECT e.memory_id, e.quote, e.start_at, e.end_at, s.stance, m.source, k.name, m.trust, "  # noqa: S608
    "m.occurred_at, m.occurred_prec, m.occurred_offset, m.recorded_at FROM speaks s JOIN evidence e ON e.id = s.id "
    "JOIN memories m ON m.id = e.memory_id AND m.status <> 'deleted' LEFT JOIN clients k ON k.id = m.client_id "
    "ORDER BY e.memory_id <> :memory, s.stance <> 'supporting', e.start_at, e.id LIMIT :most"
)
_BACKED = (
    f"{_SPEAKS}SELECT count(*), sum(s.stance = 'supporting' AND e.memory_id <> :memory AND m.status = 'active') "  # noqa: S608
    "FROM speaks s JOIN evidence e ON e.id = s.id JOIN memories m ON m.id = e.memory_id AND m.status <> 'deleted'"
)
_DENIED = (
    "SELECT claim_id, start_at, end_at FROM evidence WHERE memory_id = ? AND stance = 'contradicting' ORDER BY start_at"
)
_REPLACED = "SELECT n.value FROM claims c JOIN claims n ON n.id = c.superseded_by_id WHERE c.id = ?"
_OPEN = (
    # The plus keeps SQLite from walking through all that is open.
    "SELECT id, kind, existing_id, incoming_id FROM conflicts WHERE +state = 'open' "
    "AND (incoming_id = :id OR existing_id = :id) ORDER BY opened_at, id LIMIT :most"
)
_NOTES = (
    "SELECT c.id, c.kind, c.existing_id, c.incoming_id FROM conflicts c "  # noqa: S608 - constants
    "JOIN memories i ON i.id = c.incoming_id JOIN memories e ON e.id = c.existing_id "
    f"WHERE c.note = '{MAY_BELONG}' AND (c.incoming_id = :id OR c.existing_id = :id) "
    "AND i.status = 'active' AND e.status = 'active' ORDER BY c.opened_at, c.id LIMIT :most"
)
_VERDICTS = (
    "SELECT v.verdict, k.name, coalesce(v.reason, ''), v.at FROM verdicts v LEFT JOIN clients k ON k.id = v.client_id "
    "WHERE v.memory_id = ? ORDER BY v.at DESC, v.verdict, v.voice LIMIT ?"
)
# From what was derived to the memories, not the other way round: those are many.
_DERIVED = (
    "WITH RECURSIVE below (id) AS (SELECT derived_id FROM derivations WHERE source_id = :id "
    "UNION SELECT d.derived_id FROM below b JOIN derivations d ON d.source_id = b.id) "
    "SELECT m.id, m.kind FROM below b CROSS JOIN memories m ON m.id = b.id "
    "WHERE m.status IN ('active', 'disputed', 'quarantined') ORDER BY m.n LIMIT :most"
)
_MADE_OF = (
    "SELECT d.source_id FROM derivations d CROSS JOIN memories m ON m.id = d.source_id WHERE d.derived_id = ? "
    "AND m.status <> 'deleted' ORDER BY m.n LIMIT ?"
)
_SOURCES = 20
_RULE_IDS = (
    "SELECT DISTINCT m.id FROM edges g JOIN memories m ON m.id = g.from_id WHERE g.to_id = ? "
    "AND g.type IN ('inferred_from', 'caused_by', 'instance_of', 'example_of') AND m.kind = 'rule' "
    "AND m.status IN ('active', 'disputed') ORDER BY m.n LIMIT ?"
)
_GIVEN = (
    "SELECT k.name, sum(a.count) FROM accesses a JOIN clients k ON k.id = a.session WHERE a.memory_id = ? "
    "GROUP BY k.name ORDER BY sum(a.count) DESC, k.name LIMIT ?"
)
_ANCESTORS = (
    "SELECT o.id, o.trust, (SELECT count(*) FROM derivations WHERE derived_id = :id) FROM derivations d "
    "JOIN memories o ON o.id = d.source_id WHERE d.derived_id = :id ORDER BY o.trust, o.id LIMIT 1"
)
_CHAIN = (
    "SELECT m.id, m.version, m.status, m.valid_from, m.valid_from_prec, m.valid_to, m.occurred_at, m.occurred_prec, "
    "m.recorded_at, m.retired_at FROM memories m WHERE m.chain_id = ? AND coalesce(m.part_index, 0) = 0 "
    "ORDER BY m.version DESC, m.n DESC LIMIT ?"
)
_STATED = (
    "SELECT m.id, c.subject_key, c.predicate, c.value FROM memories m JOIN evidence e ON e.memory_id = m.id "
    "JOIN claims c ON c.id = e.claim_id WHERE m.chain_id = ? AND e.stance = 'supporting' AND c.exclusive = 1 "
    "AND c.polarity = 'positive' ORDER BY m.n, c.id"
)


def explain_trust(rows: Rows, memory: Memory, now_ms: int) -> Belief:
    """Gather how far a memory is trusted, and why.

    Returns:
        The terms of its trust with what made them, its claims, what is against it, its versions, what rests on it.
    """
    terms = trust_terms_of(rows, memory.id, now_ms)
    own = read_claims_of_side(rows, memory)
    denied = _denied_spans(rows, memory)
    claims = tuple(_explain_claim(rows, memory, claim, denied) for claim in own[:CLAIMS])
    return Belief(
        memory_id=memory.id,
        trust=terms.trust,
        steps=trust_steps(terms),
        inputs=_read_trust_inputs(rows, memory, now_ms),
        voices=tuple(MemoryVerdict(*row) for row in rows.all(_VERDICTS, (_first_part_id(memory), _VOICES))),
        claims=claims,
        opposed=_find_open_conflicts(rows, memory, own, _OPEN),
        notes=_find_open_conflicts(rows, memory, own, _NOTES),
        chain=_read_chain(rows, memory, now_ms),
        rests=_read_dependents(rows, memory, claims),
    )


def trust_steps(terms: TrustTerms) -> tuple[TrustStep, ...]:
    """The terms of a memory's trust as the steps of its waterfall chart, each with the sum after it.

    Args:
        terms: from `core.score.trust`.

    Returns:
        The four summands, then what bounded or lowered their sum; their changes sum up to the trust.
    """
    made: list[TrustStep] = []
    total = 0.0
    for name, change in (
        ("source", terms.source),
        ("corroboration", terms.corroboration),
        ("feedback", terms.feedback),
        ("age", terms.age),
    ):
        total += change
        made.append(TrustStep(name, change, total))
    inside = min(1.0, max(0.0, total))
    lowered = (("bounds", inside if inside != total else None), ("ancestors", terms.ancestors))
    for name, value in (*lowered, ("ceiling", terms.ceiling)):
        if value is not None:
            at = max(0.0, value)
            made.append(TrustStep(name, at - total, at))
            total = at
    return tuple(made)


_EDITED_BY_OWNER = (
    "SELECT json_extract(origin, '$.edited') IS NOT NULL AND json_extract(origin, '$.by') = 'owner' "
    "FROM memories WHERE id = ?"
)


def _read_trust_inputs(rows: Rows, memory: Memory, now_ms: int) -> TrustInputs:
    said_ms = None if memory.occurred is None else memory.occurred.ms
    is_edit = bool(rows.value(_EDITED_BY_OWNER, (memory.id,), default=0))
    edited = is_edit and said_ms is not None and memory.recorded_at > said_ms
    said_ms = memory.recorded_at if edited else said_ms
    # Storing sets "last confirmed": only what came after that is a person's confirmation.
    confirmed = said_ms is not None and memory.last_confirmed_at > max(memory.recorded_at, said_ms)
    since = memory.last_confirmed_at if confirmed else said_ms
    lowest_id, lowest, ancestors = rows.one(_ANCESTORS, {"id": memory.id}) or (None, None, 0)
    client, ceiling = rows.one("SELECT name, trust_ceiling FROM clients WHERE id = ?", (memory.client_id,)) or (
        None,
        None,
    )
    return TrustInputs(
        source=memory.source,
        sources=max(1, int(rows.value("SELECT count(*) FROM memory_sources WHERE memory_id = ?", (memory.id,)))),
        reinforcements=memory.reinforcements,
        disputes=memory.disputes,
        age_days=None if since is None else int(age_days(now_ms, since)),
        since_ms=since,
        confirmed=confirmed,
        edited=edited and not confirmed,
        ancestors=int(ancestors),
        lowest_id=lowest_id,
        lowest=lowest,
        client=client,
        ceiling=ceiling,
    )


def _first_part_id(memory: Memory) -> str:
    """Of a split text the first part: verdicts and review items are about the whole of it."""
    return memory.part_of or memory.id


# ---- claims


def _denied_spans(rows: Rows, memory: Memory) -> Mapping[str, tuple[tuple[int, int], ...]]:
    found: dict[str, tuple[tuple[int, int], ...]] = {}
    for claim_id, start, end in rows.all(_DENIED, (memory.id,)):
        if end <= len(memory.text):
            found[claim_id] = (*found.get(claim_id, ()), (start, end))
    return found


def _explain_claim(
    rows: Rows, memory: Memory, claim: KeyedClaim, denied: Mapping[str, tuple[tuple[int, int], ...]]
) -> ClaimHeld:
    seen = claim.seen
    ids = {"claim": seen.id, "memory": memory.id}
    pieces, others = rows.one(_BACKED, ids) or (0, 0)
    return ClaimHeld(
        seen=seen,
        denied=denied.get(seen.id, ()),
        evidence=tuple(_evidence_from_row(row) for row in rows.all(_EVIDENCE, {**ids, "most": QUOTES})),
        pieces=int(pieces),
        replaced_by=rows.value(_REPLACED, (seen.id,)),
        alone=seen.state in _ASSERTED and bool(seen.spans) and not others,
    )


def _evidence_from_row(row: Sequence[Any]) -> EvidenceSeen:
    memory_id, quote, start, end, stance, source, client, trust, *occurred_columns, recorded_at = row
    occurred = read_occurred(*occurred_columns)
    return EvidenceSeen(memory_id, quote, start, end, stance, Source(source), client, trust, occurred, recorded_at)


# ---- what is against it


def _find_open_conflicts(rows: Rows, memory: Memory, own: Sequence[KeyedClaim], items: str) -> tuple[OpenConflict, ...]:
    made = []
    first_part_id = _first_part_id(memory)
    for item_id, kind, existing, incoming in rows.all(items, {"id": first_part_id, "most": _ITEMS}):
        is_newcomer = incoming == first_part_id
        other_id = (find_current_side(rows, existing, incoming) or existing) if is_newcomer else incoming
        other = None if other_id is None else read_by_ids(rows, [other_id]).get(other_id)
        odds = () if other is None else pair_opposed_claims(own, read_claims_of_side(rows, other))
        own_claim, other_claim = (odds[0].existing, odds[0].incoming) if odds else (None, None)
        made.append(OpenConflict(item_id, kind, is_newcomer, other, own_claim, other_claim))
    return tuple(made)


# ---- versions


def _read_chain(rows: Rows, memory: Memory, now_ms: int) -> Chain:
    values = _read_version_values(rows, memory.chain_id)
    found = [_chain_version_from_row(row, values) for row in rows.all(_CHAIN, (memory.chain_id, _VERSIONS))]
    return place_chain(found, now_ms)


def _read_version_values(rows: Rows, chain_id: str) -> Mapping[str, str]:
    """What each version says of the thing that most of them speak of."""
    values: dict[tuple[str, str], dict[str, str]] = {}
    for memory_id, subject, predicate, value in rows.all(_STATED, (chain_id,)):
        values.setdefault((subject, predicate), {}).setdefault(memory_id, value)
    counted = Counter({topic: len(found) for topic, found in sorted(values.items())})
    return values[counted.most_common(1)[0][0]] if counted else {}


def _chain_version_from_row(row: Sequence[Any], values: Mapping[str, str]) -> ChainVersion:
    memory_id, version, status, begin, begin_prec, end, said, said_prec, recorded, retired = row
    return ChainVersion(
        memory_id=memory_id,
        version=version,
        status=Status(status),
        value=values.get(memory_id, ""),
        valid_from=begin,
        valid_prec=Precision(begin_prec or "ms"),
        valid_to=end,
        said=said,
        said_prec=Precision(said_prec or "ms"),
        recorded_at=recorded,
        retired_at=retired,
    )


# ---- what rests on it


def _read_dependents(rows: Rows, memory: Memory, claims: Sequence[ClaimHeld]) -> Rests:
    rules = tuple(str(row[0]) for row in rows.all(_RULE_IDS, (memory.id, _RULES)))
    found = rows.all(_DERIVED, {"id": memory.id, "most": _MADE})
    derived = tuple((made, Kind(kind)) for made, kind in found if made not in rules)
    return Rests(
        derived=derived,
        rules=rules,
        made_of=tuple(str(row[0]) for row in rows.all(_MADE_OF, (memory.id, _SOURCES))),
        alone=sum(claim.alone for claim in claims),
        given=tuple((str(name), int(count)) for name, count in rows.all(_GIVEN, (memory.id, _NAMES))),
        recalled=memory.access_count,
    )


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
_ROOM = "SELECT r.name FROM places p JOIN rooms r ON r.id = p.room_id WHERE p.memory_id = ?"


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
        sources=_read_source_details(rows, memory),
        conversation=_read_conversation(rows, memory),
        origin=_read_origin(rows, memory),
        claims=_read_claim_details(rows, memory),
        edges=_read_edges(rows, memory),
        trust_terms=terms.list_terms(),
        parts=_read_ids_of_text_parts(rows, memory),
        sensitive=tuple(sorted(types_in(memory.text))),
        room=str(rows.value(_ROOM, (memory.id,), default="")),
    )


def _read_source_details(rows: Rows, memory: Memory) -> tuple[Mapping[str, Any], ...]:
    found = rows.all(
        "SELECT s.lineage, s.source, c.name, s.session, s.import_id, s.at FROM memory_sources s "
        "LEFT JOIN clients c ON c.id = s.client_id WHERE s.memory_id = ? ORDER BY s.at, s.lineage",
        (memory.id,),
    )
    names = ("lineage", "source", "client", "session", "import_id", "at")
    return tuple(dict(zip(names, row, strict=True)) for row in found)


def _read_conversation(rows: Rows, memory: Memory) -> Mapping[str, Any]:
    if memory.conversation_id is None:
        return {}
    row = rows.one("SELECT id, title, started_at FROM conversations WHERE id = ?", (memory.conversation_id,))
    neighbours = rows.all(
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
        "neighbours": [{"id": neighbour_id, "position": position} for neighbour_id, position in neighbours],
    }


def _read_origin(rows: Rows, memory: Memory) -> Mapping[str, Any]:
    stored = rows.value("SELECT origin FROM memories WHERE id = ?", (memory.id,), default="{}")
    origin: dict[str, Any] = json.loads(stored)
    return origin


def _read_claim_details(rows: Rows, memory: Memory) -> tuple[Mapping[str, Any], ...]:
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


def _read_edges(rows: Rows, memory: Memory) -> tuple[Mapping[str, Any], ...]:
    found = rows.all(
        "SELECT id, type, 'out', to_id FROM edges WHERE from_id = ? UNION ALL "
        "SELECT id, type, 'in', from_id FROM edges WHERE to_id = ? ORDER BY 1",
        (memory.id, memory.id),
    )
    return tuple({"id": e, "type": t, "direction": d, "other": o} for e, t, d, o in found)


def _read_ids_of_text_parts(rows: Rows, memory: Memory) -> tuple[str, ...]:
    if memory.part_of is None:
        return ()
    found = rows.all("SELECT id FROM memories WHERE part_of = ? ORDER BY part_index", (memory.part_of,))
    return tuple(row[0] for row in found)
