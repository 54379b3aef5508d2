"""Independent sources of a memory, memories of the same words, and the terms of trust, read from the vault.

Must not do: weigh a term; the formula stands in `core.score.trust`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from core.belief.claims import AGAINST, RIVAL
from core.errors import BugError
from core.memory.read import read_strength_by_id
from core.memory.write import content_hash
from core.score.trust import (
    SOURCE_WEIGHT,
    TrustTerms,
    WeighedEvidence,
    age_days,
    claim_confidence,
    mean_confidence,
    trust_terms,
)
from core.types.values import Actor, Kind, Source
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

_BEFORE_ALL = -(2**62)
_TERMS = (
    "SELECT m.id, m.source, m.reinforcements, m.disputes, m.occurred_at, m.last_confirmed_at, m.recorded_at, "
    "c.trust_ceiling, (SELECT count(*) FROM memory_sources s WHERE s.memory_id = m.id), "
    "(SELECT min(o.trust) FROM derivations d JOIN memories o ON o.id = d.source_id WHERE d.derived_id = m.id), "
    "json_extract(m.origin, '$.edited') IS NOT NULL AND json_extract(m.origin, '$.by') = 'owner' "
)
_CEILING = "LEFT JOIN clients c ON c.id = m.client_id "
_OF_ONE = _TERMS + "FROM memories m " + _CEILING + "WHERE m.id = ?"
_OF_MANY = _TERMS + "FROM json_each(?) w CROSS JOIN memories m ON m.id = w.value " + _CEILING
_EVIDENCE = (
    "SELECT e.claim_id, e.lineage, e.confidence * m.trust, e.stance, m.status = 'active' OR "
    "(m.status = 'consolidated' AND coalesce(o.status, '') = 'active') "
    "FROM json_each(?) w CROSS JOIN evidence e ON e.claim_id = w.value AND e.stance <> 'neutral' "
    "JOIN memories m ON m.id = e.memory_id LEFT JOIN memories o ON o.id = m.consolidated_into "
    "WHERE m.status <> 'deleted' ORDER BY e.claim_id, e.id"
)
_RIVALS = f"SELECT DISTINCT id FROM ({RIVAL} WHERE c.id IN (SELECT value FROM json_each(?))) ORDER BY id"  # noqa: S608


def trust_terms_of(rows: Rows, memory_id: str, now_ms: int) -> TrustTerms:
    """The terms of a memory's trust as it stands now.

    Returns:
        Every term and the result (core.score.trust; seed A, trust).
    """
    found = rows.one(_OF_ONE, (memory_id,))
    if found is None:
        raise BugError("trust of a row that is not there")
    return _trust_terms_from_row(found, now_ms)


def _trust_terms_from_row(row: tuple[Any, ...], now_ms: int) -> TrustTerms:
    _, source, reinforced, disputed, occurred, confirmed, recorded, ceiling, sources, ancestors, edited = row
    # A text that the person wrote anew is their word of that day, though what it tells of may lie years back.
    said = max(occurred, recorded) if occurred is not None and edited else occurred
    # Storing sets "last confirmed"; only a person's confirmation after that makes an old text young again.
    since = max(said, confirmed) if said is not None and confirmed > recorded else said
    return trust_terms(
        Source(source),
        corroboration=max(1, int(sources)),
        reinforcements=int(reinforced),
        disputes=int(disputed),
        age_days=age_days(now_ms, since),
        ancestor_minimum=ancestors,
        client_ceiling=ceiling,
    )


def base_trusts(rows: Rows, memory_ids: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Trust of memories without the age term: whose word each is, not how old it is.

    Returns:
        By id, that trust and what of it its source alone gives, each 0 to 1; what is not there is left out.
    """
    found = rows.all(_OF_MANY, (to_json(list(memory_ids)),))
    return {
        str(row[0]): (_trust_terms_from_row(row, _BEFORE_ALL).trust, _source_weight(row)) for row in found
    }  # nothing is old yet


def _source_weight(row: tuple[Any, ...]) -> float:
    source, ceiling, ancestors = row[1], row[7], row[9]
    return trust_terms(Source(source), ancestor_minimum=ancestors, client_ceiling=ceiling).trust


def refresh_trust(tx: Tx, memory_id: str) -> float:
    """Recompute a memory's trust, confidence and corroboration after an input changed.

    What was derived from it, and the claims that rest on any of these, are recomputed with it.

    Returns:
        The new trust, 0 to 1.
    """
    trust = _refresh_one(tx, memory_id)
    below = derived_from(tx, memory_id)
    for derived in below:
        _refresh_one(tx, derived)
    refresh_claims(tx, claims_backed_by(tx, [memory_id, *below]))
    return trust


def refresh_capped(tx: Tx, client_id: str, old: float, new: float) -> int:
    """Recompute what a client brought, where its ceiling was what limited the trust, or does now.

    Args:
        client_id: the client, whose ceiling has changed.
        old: the ceiling of before.
        new: the ceiling of now; it is in the client's row already.

    Returns:
        How many memories were looked at.
    """
    found = tx.all(
        "SELECT id FROM memories WHERE client_id = ? AND trust >= ? - 1e-9 ORDER BY n", (client_id, min(old, new))
    )
    for (memory_id,) in found:
        refresh_trust(tx, memory_id)
    return len(found)


def derived_from(rows: Rows, memory_id: str) -> list[str]:
    """Everything that was derived from a memory, directly or not.

    Returns:
        Ids, each after all it was derived from.
    """
    found = rows.all(
        "WITH RECURSIVE below (id, depth) AS (SELECT derived_id, 1 FROM derivations WHERE source_id = ? "
        "UNION SELECT d.derived_id, b.depth + 1 FROM derivations d JOIN below b ON d.source_id = b.id) "
        "SELECT id FROM below GROUP BY id ORDER BY max(depth), id",
        (memory_id,),
    )
    return [str(row[0]) for row in found]


def claims_backed_by(rows: Rows, memory_ids: Iterable[str]) -> list[str]:
    """Claims for or against which memories speak.

    Returns:
        Ids in a fixed order.
    """
    found = rows.all(
        "SELECT DISTINCT e.claim_id FROM json_each(?) w JOIN evidence e ON e.memory_id = w.value ORDER BY 1",
        (to_json(list(memory_ids)),),
    )
    return [str(row[0]) for row in found]


def weigh_evidence(rows: Rows, claim_ids: Sequence[str]) -> dict[str, list[WeighedEvidence]]:
    """The evidence of claims as it counts now.

    Only what stands speaks: active memories, and what is stacked under one. Where nothing stands (a draft, a claim that
    is over) all of it is weighed, so that a waiting claim shows how sure it would be. Against it speaks what backs the
    claims that oppose it (`core.belief.claims`).

    Returns:
        By claim, one piece for each span of its own, one for each source against it.
    """
    found = rows.all(_EVIDENCE, (to_json(list(claim_ids)),))
    backed = {claim_id for claim_id, _, _, stance, is_active in found if is_active and stance == "supporting"}
    pieces: dict[str, list[WeighedEvidence]] = {claim_id: [] for claim_id in claim_ids}
    for claim_id, lineage, weight, stance, is_active in found:
        if is_active or claim_id not in backed:
            pieces[claim_id].append(WeighedEvidence(lineage, float(weight), stance == "supporting"))
    for claim_id, lineage, weight in rows.all(AGAINST, (to_json(list(claim_ids)),)):
        pieces[claim_id].append(WeighedEvidence(str(lineage), float(weight), supports=False))
    return pieces


def refresh_claims(tx: Tx, claim_ids: Iterable[str]) -> int:
    """Recompute the confidence of claims after their evidence, or the trust of what it is in, changed.

    So is that of the claims they oppose.
    """
    changed = 0
    given = list(claim_ids)
    rivals = (str(row[0]) for row in tx.all(_RIVALS, (to_json(given),)))
    for claim_id, pieces in weigh_evidence(tx, list(dict.fromkeys([*given, *rivals]))).items():
        confidence = claim_confidence(pieces)
        # Derived, as trust is: written past the recorder.
        changed += tx.run(
            "UPDATE claims SET confidence = ? WHERE id = ? AND abs(confidence - ?) > 1e-12",
            (confidence, claim_id, confidence),
        )
    return changed


def digest_confidence(rows: Rows, memory_id: str, alone: float, now_ms: int) -> float:
    """How sure a digest is: the mean of its sources' confidences, weighted with their strengths (C8).

    Args:
        alone: what it is where it has no sources.
        now_ms: the present, epoch ms: the strengths are those of now.

    Returns:
        0 to 1.
    """
    found = rows.all(
        "SELECT o.id, o.confidence FROM derivations d JOIN memories o ON o.id = d.source_id "
        "WHERE d.derived_id = ? ORDER BY o.n",
        (memory_id,),
    )
    if not found:
        return alone
    strong = read_strength_by_id(rows, [row[0] for row in found], now_ms)
    return mean_confidence([row[1] for row in found], [strong[row[0]] for row in found])


def _refresh_one(tx: Tx, memory_id: str) -> float:
    terms = trust_terms_of(tx, memory_id, tx.now_ms)
    sure = terms.trust
    if tx.value("SELECT kind FROM memories WHERE id = ?", (memory_id,)) == Kind.DIGEST:
        sure = digest_confidence(tx, memory_id, sure, tx.now_ms)
    # Derived columns: written past the recorder, an undo recomputes them.
    tx.run(
        "UPDATE memories SET trust = ?, confidence = ?, corroboration = max(1, "
        "(SELECT count(*) FROM memory_sources s WHERE s.memory_id = memories.id)) WHERE id = ?",
        (terms.trust, sure, memory_id),
    )
    return terms.trust


KINDS_BY_TEXT = (Kind.FACT, Kind.RULE, Kind.PROCEDURE)
"""Kinds that are one memory where they are the same words; an episode is verbatim and may repeat."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """An independent source (design section 4).

    Attributes:
        key: two texts with equal keys are one source.
    """

    key: str
    client_id: str | None = None
    session: str | None = None
    import_id: str | None = None

    @classmethod
    def of_actor(cls, actor: Actor, session: str | None) -> Lineage:
        """The lineage of somebody who speaks: the owner is one source in all sessions, a client one a session."""
        if actor.client_id is None:
            return cls(actor.kind, session=session)
        return cls(f"client:{actor.client_id}:{session or actor.session or ''}", actor.client_id, session)


def find_active_duplicate(
    rows: Rows, texts: Sequence[str], kind: Kind, space_id: str, scope_session: str = ""
) -> str | None:
    """Find a memory of the same kind and words that stands in a space.

    Args:
        texts: the text in its parts.
        scope_session: the session it is limited to, or "".

    Returns:
        The memory's id, that of the first part for a split text; None where there is none.
    """
    found = rows.all(
        "SELECT id FROM memories WHERE content_hash = ? AND space_id = ? AND kind = ? AND scope_session = ? "
        "AND coalesce(part_index, 0) = 0 AND status IN ('active', 'disputed') ORDER BY n",
        (content_hash(texts[0]), space_id, kind.value, scope_session),
    )
    return _find_same_parts(rows, found, texts)


def is_partly_over(rows: Rows, memory_id: str) -> bool:
    """Whether something that a standing memory says is over, and nobody has said it anew.

    Args:
        memory_id: the memory; of a split text the head.

    Returns:
        True where a claim of it was replaced, though the memory stands for the rest.
    """
    found = rows.one(
        "SELECT 1 FROM memories m JOIN evidence e ON e.memory_id = m.id AND e.stance = 'supporting' "
        "JOIN claims c ON c.id = e.claim_id AND c.state = 'superseded' WHERE (m.id = ? OR m.part_of = ?) "
        "AND NOT EXISTS (SELECT 1 FROM claims s WHERE s.space_id = c.space_id AND s.claim_key = c.claim_key "
        "AND s.state IN ('asserted', 'disputed')) LIMIT 1",
        (memory_id, memory_id),
    )
    return found is not None


def waiting_twin(
    rows: Rows, texts: Sequence[str], kind: Kind, space_id: str, client_id: str | None, scope_session: str = ""
) -> str | None:
    """Find a proposal of the same client, kind and words that waits in a space.

    Args:
        texts: the text in its parts.
        client_id: who proposed it.
        scope_session: what it is limited to, or "".

    Returns:
        The memory's id, that of the first part for a split text; None where there is none.
    """
    found = rows.all(
        "SELECT id FROM memories WHERE content_hash = ? AND space_id = ? AND kind = ? AND scope_session = ? "
        "AND coalesce(part_index, 0) = 0 AND status = 'quarantined' AND client_id = ? ORDER BY n",
        (content_hash(texts[0]), space_id, kind.value, scope_session, client_id),
    )
    return _find_same_parts(rows, found, texts)


def _find_same_parts(rows: Rows, found: Sequence[Sequence[object]], texts: Sequence[str]) -> str | None:
    return next((str(memory_id) for (memory_id,) in found if is_split_from(rows, str(memory_id), texts)), None)


def is_split_from(rows: Rows, memory_id: str, texts: Sequence[str]) -> bool:
    """Whether a memory is a text, part by part.

    Args:
        memory_id: the memory; of a split text the head.
    """
    found_hashes = rows.all(
        "SELECT content_hash FROM memories WHERE id = ? OR part_of = ? ORDER BY part_index", (memory_id, memory_id)
    )
    return found_hashes == [(content_hash(text),) for text in texts]


def add_source(tx: Tx, memory_id: str, lineage: Lineage, source: Source) -> bool:
    """Note an independent source of a memory.

    Returns:
        Whether this lineage was new to the memory.
    """
    existing = tx.row("memory_sources", {"memory_id": memory_id, "lineage": lineage.key})
    if existing is not None:
        if SOURCE_WEIGHT[source] > SOURCE_WEIGHT[Source(existing["source"])]:
            # The same one, now in so many words: what the owner had only brought is said by the owner from here on.
            tx.update("memory_sources", {"memory_id": memory_id, "lineage": lineage.key}, {"source": source.value})
        return False
    tx.insert(
        "memory_sources",
        {
            "memory_id": memory_id,
            "lineage": lineage.key,
            "source": source.value,
            "client_id": lineage.client_id,
            "session": lineage.session,
            "import_id": lineage.import_id,
            "at": tx.now_ms,
        },
    )
    return True


def add_corroboration(tx: Tx, memory_id: str, lineage: Lineage, source: Source) -> bool:
    """Another source says the same: note it, with every part of a split text, and recompute trust.

    Returns:
        Whether the source was independent of those known.
    """
    new = False
    for (part,) in tx.all("SELECT id FROM memories WHERE id = ? OR part_of = ?", (memory_id, memory_id)):
        if add_source(tx, part, lineage, source):
            refresh_trust(tx, part)
            new = True
    return new
