"""The candidate of the store path, the memories beside it, and its claims against theirs: the same, or in conflict.

Seed A, feature 1: two claims contradict each other where they share subject, predicate and scope, both hold one value
at a time, the values differ and the windows of validity overlap. Must not do: decide who gives way.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.belief.claims import IN_PASSING, OWNERS_WORD, PERSONS
from core.belief.extract.normal_form import key_of_draft, read_as_seen, value_key
from core.belief.relate.coverage import has_no_residue
from core.belief.trust_gate import SourceAuthority
from core.intake.transaction.sources import KINDS_BY_TEXT, base_trusts, find_active_duplicate
from core.memory.read import time_of_memory_sql
from core.text.sentences import sentence_at
from core.types.belief import ClaimDraft, ComparedText
from core.types.values import PERSON_SOURCES, Kind, Precision, Source, When
from core.vault.database.rows import Rows, to_json
from core.vault.memory_sql import given_sql

_ALWAYS, _NEVER = 2**63 - 1, -(2**63) + 1
_COMPARED = to_json([kind.value for kind in KINDS_BY_TEXT])
"""A claim is at odds with another whatever kind of memory says it: a rule is no way around what a fact says."""
_BACKED_BY = (
    "SELECT m.id FROM claims c JOIN evidence e ON e.claim_id = c.id AND e.stance = 'supporting' "  # noqa: S608
    "JOIN memories m ON m.id = e.memory_id WHERE c.space_id = ?1 AND c.claim_key = ?2 "
    "AND c.state IN ('asserted', 'disputed') AND m.status IN ('active', 'disputed') "
    f"AND m.id <> ?3 AND (?4 IS NULL OR {given_sql('?4')}) ORDER BY m.status, m.n LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class ClaimConflict:
    """A claim of a memory that a candidate's claim contradicts.

    Attributes:
        memory_id: the memory that backs it.
        claim_id: the claim; `key` is its claim key.
        draft: the candidate's claim; `own_key` is its key.
        is_supplied: whether the candidate's claim was given, not read.
    """

    memory_id: str
    claim_id: str
    key: bytes
    draft: ClaimDraft
    own_key: bytes

    @property
    def is_supplied(self) -> bool:
        """Whether the caller gave the claim, so that it is no guess."""
        return self.draft.method == "given"


def find_same_claims(rows: Rows, candidate: StoreCandidate) -> str | None:
    """A memory that stands and is backed with every claim of the candidate.

    Returns:
        The memory that backs the first claim; None where a claim is new, or there are none, or the text says more than
        the claims that were read from it (a claim that is given stands for its text).
    """
    first: str | None = None
    for draft in candidate.claims:
        key = key_of_draft(candidate.space_id, draft, candidate.authority.scope_session)
        found = rows.value(_BACKED_BY, (candidate.space_id, key, candidate.memory_id, candidate.stranger))
        if found is None:
            return None
        first = first or str(found)
    # Asked last: most texts say something new, and reading what their claims leave out takes longer than a look-up.
    return first if first is not None and _claims_cover_text(candidate) else None


def find_same_words(rows: Rows, candidate: StoreCandidate) -> str | None:
    """The memory of the very words of a candidate that stands; what it says may be partly over.

    Returns:
        Its id; None where there is none but the candidate itself.
    """
    if candidate.kind not in KINDS_BY_TEXT:
        return None
    session = candidate.authority.scope_session
    twin = find_active_duplicate(rows, candidate.texts, candidate.kind, candidate.space_id, session)
    return None if twin == candidate.memory_id else twin


def _claims_cover_text(candidate: StoreCandidate) -> bool:
    if any(draft.method == "given" for draft in candidate.claims):
        return True
    return len(candidate.texts) == 1 and has_no_residue(candidate.texts[0], candidate.claims)


def find_claim_conflicts(rows: Rows, candidate: StoreCandidate) -> list[ClaimConflict]:
    """Claims that cannot be true beside those of the candidate.

    Returns:
        One for each claim and memory, in a fixed order.
    """
    found: dict[tuple[str, str], ClaimConflict] = {}
    for draft in candidate.claims:
        own = key_of_draft(candidate.space_id, draft, candidate.authority.scope_session)
        for memory_id, claim_id, key in _find_opposed(rows, candidate, draft):
            found.setdefault((memory_id, claim_id), ClaimConflict(memory_id, claim_id, bytes(key), draft, own))
    return list(found.values())


def _find_opposed(rows: Rows, candidate: StoreCandidate, draft: ClaimDraft) -> list[tuple[str, str, bytes]]:
    begin = None if draft.valid_from is None else draft.valid_from.ms
    end = None if draft.valid_to is None else draft.valid_to.ms
    found = rows.all(
        "SELECT DISTINCT m.id, c.id, c.claim_key FROM claims c "
        "JOIN evidence e ON e.claim_id = c.id AND e.stance = 'supporting' JOIN memories m ON m.id = e.memory_id "
        "WHERE c.space_id IN (?, 'GLOBAL') AND c.subject_key = ? AND c.predicate = ? "
        "AND (c.scope_session IN ('', ?) OR ?) "
        "AND (c.qualifiers = ? OR (? AND json_remove(c.qualifiers, '$.kept', '$.side') = ? "
        "AND NOT EXISTS (SELECT 1 FROM claims s WHERE s.space_id = c.space_id AND s.subject_key = c.subject_key "
        "AND s.predicate = c.predicate "
        "AND s.value_key = ? AND s.state = 'asserted'))) AND c.state IN ('draft', 'asserted', 'disputed') "
        "AND m.status IN ('active', 'disputed') AND coalesce(m.part_of, m.id) <> ? "
        "AND m.kind IN (SELECT value FROM json_each(?)) "
        "AND ((c.polarity = 'positive' AND ? = 'positive' AND c.exclusive = 1 AND ? = 1 AND c.value_key <> ?) "
        "OR (c.polarity <> ? AND c.value_key = ?)) "
        "AND coalesce(c.valid_from, ?) < coalesce(?, ?) AND coalesce(?, ?) < coalesce(c.valid_to, ?) "
        "ORDER BY m.n, c.id",
        (
            candidate.space_id,
            value_key(draft.subject),
            draft.predicate,
            candidate.authority.scope_session,
            candidate.authority.owner_said,
            to_json(dict(draft.qualifiers)),
            # Two that the person kept side by side are no gap through which others tell a third.
            not candidate.authority.owner_said,
            to_json(dict(draft.qualifiers)),
            value_key(draft.value),
            candidate.memory_id,
            _COMPARED,
            draft.polarity,
            int(draft.exclusive),
            value_key(draft.value),
            draft.polarity,
            value_key(draft.value),
            _NEVER, end, _ALWAYS, begin, _NEVER, _ALWAYS,
        ),
    )  # fmt: skip
    return [(str(memory_id), str(claim_id), key) for memory_id, claim_id, key in found]


def has_other_claims(rows: Rows, memory_id: str, ending: Sequence[str], *, waiting: bool = False) -> bool:
    """Whether a memory says more that stands, in other sentences than what ends.

    Args:
        waiting: count its drafts too: a memory that waits says more by them.

    Returns:
        True where it must go on standing for the rest (design section 4, one text, several claims).
    """
    spans = rows.all(
        "SELECT c.id, e.start_at, e.end_at FROM evidence e JOIN claims c ON c.id = e.claim_id "
        "WHERE e.memory_id = ? AND e.stance = 'supporting' "
        "AND (c.state IN ('asserted', 'disputed') OR (? AND c.state = 'draft'))",
        (memory_id, waiting),
    )
    text = str(rows.value("SELECT text FROM memories WHERE id = ?", (memory_id,)))
    ending_sentences = [sentence_at(text, start, end) for claim_id, start, end in spans if claim_id in ending]
    rest = [sentence_at(text, start, end) for claim_id, start, end in spans if claim_id not in ending]
    return any(all(span[1] <= other[0] or other[1] <= span[0] for other in ending_sentences) for span in rest)


OWNER_LINEAGE = "owner"


@dataclass(frozen=True, slots=True)
class StoreCandidate:
    """A text on its way in, or a stored one that is judged now.

    Attributes:
        memory_id: its id, given before it is written.
        texts: its parts; the first is compared.
        claims: what it says, given claims first.
        authority: whose word it is.
        vector: of the first part, (dims,); None where it has none yet.
    """

    memory_id: str
    texts: Sequence[str]
    kind: Kind
    space_id: str
    claims: tuple[ClaimDraft, ...]
    authority: SourceAuthority
    vector: NDArray[np.float32] | None

    @property
    def compared_text(self) -> ComparedText:
        """This side of a pair."""
        return ComparedText(read_as_seen(self.texts[0]), self.authority.at_ms, self.claims)

    @property
    def stranger(self) -> str | None:
        """The client whose word it is; None where it counts as the person's, or nobody's in particular."""
        return None if self.authority.owner_said else self.authority.client_id


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory beside a newcomer.

    Attributes:
        cosine: how near its vector is, -1 to 1; 1 where structure brought it up.
        head_id: the standing version of its chain, where it is itself over; else its own id.
        was: its status reason: why it is over, if it is.
    """

    id: str
    text: str
    status: str
    space_id: str
    authority: SourceAuthority
    claims: tuple[ClaimDraft, ...]
    cosine: float
    head_id: str
    was: str | None

    @property
    def compared_text(self) -> ComparedText:
        """This side of a pair."""
        return ComparedText(read_as_seen(self.text), self.authority.at_ms, self.claims)

    @property
    def is_over(self) -> bool:
        """Whether another version stands in its place."""
        return self.status == "superseded"


_BESIDE = (
    "SELECT m.id, m.text, m.status, m.space_id, m.status_reason, m.source, m.client_id, m.import_id, m.lineage, "  # noqa: S608 - constants only
    f"{time_of_memory_sql('m')}, m.scope_session, " + OWNERS_WORD + ", " + IN_PASSING + ", " + PERSONS + ", "
    "CASE WHEN m.status <> 'superseded' THEN m.id ELSE coalesce((SELECT h.id FROM memories h "
    "WHERE h.chain_id = m.chain_id AND h.status IN ('active', 'disputed') ORDER BY h.version DESC, h.n DESC LIMIT 1), "
    "'') END FROM json_each(?) w JOIN memories m ON m.id = w.value"
)


def load_neighbours(rows: Rows, cosines: dict[str, float]) -> dict[str, Neighbour]:
    """Load memories with all that the gate and the relation model ask of them.

    Args:
        cosines: memory id to nearness.

    Returns:
        Id to memory; one that is over and whose chain has no standing version is left out.
    """
    found: dict[str, Neighbour] = {}
    if not cosines:
        return found
    claims, trusts = load_candidate_claims(rows, cosines), base_trusts(rows, cosines)
    for row in rows.all(_BESIDE, (to_json(list(cosines)),)):
        memory_id, text, status, space_id, was, *_rest = row
        if not row[14]:
            continue
        found[memory_id] = Neighbour(
            id=memory_id,
            text=text,
            status=status,
            space_id=space_id,
            authority=_source_authority_from_row(row, trusts[memory_id]),
            claims=tuple(draft for _, draft in claims.get(memory_id, ())),
            cosine=cosines[memory_id],
            head_id=row[14],
            was=was,
        )
    return found


def _source_authority_from_row(row: tuple[Any, ...], trusts: tuple[float, float]) -> SourceAuthority:
    trust, source_weight = trusts
    return SourceAuthority(
        owners_word=bool(row[11]),
        owner_said=bool(row[11] or row[12]),
        persons=bool(row[13]),
        source=Source(row[5]),
        client_id=row[6],
        brought_by=_brought_by(row[6], row[7], row[8]),
        trust=trust,
        at_ms=int(row[9]),
        scope_session=row[10],
        source_weight=source_weight,
    )


def authority_of(rows: Rows, memory_id: str) -> SourceAuthority:
    """The authority of a stored memory: whose word it is, and since when.

    Returns:
        Its standing.
    """
    row = rows.all(_BESIDE, (to_json([memory_id]),))[0]
    return _source_authority_from_row(row, base_trusts(rows, [memory_id])[memory_id])


def counts_as_owner(source: Source, *, imported: bool, by_client: bool) -> bool:
    """Whether a text passes for the person's own, to be protected from others (not to displace what the owner said).

    What is stored is asked by `core.belief.claims.PERSONS`, which says the same.

    Args:
        source: by what way it came.
        imported: from a file of the person's.
        by_client: a client brought it; it may say `user_explicit` only with the grant `speak_for_user`.

    Returns:
        Whether nobody but the person may displace it.
    """
    if by_client:
        return source is Source.USER_EXPLICIT
    return imported and source in PERSON_SOURCES


def _brought_by(client_id: str | None, import_id: str | None, lineage: str) -> str:
    if client_id is not None:
        return "client"
    # One export is one source, whichever of its files a record was in; two formats are two stores.
    return ":".join(lineage.split(":")[:2]) if import_id is not None else "owner"


def load_candidate_claims(
    rows: Rows, memory_ids: Iterable[str], *, back: bool = False
) -> dict[str, list[tuple[str, ClaimDraft]]]:
    """The claims that were read in memories, with their ids.

    Args:
        back: whether they are to come back: then what was retracted with them is told too.

    Returns:
        Memory id to (claim id, claim), in the order of the text; else retracted claims are left out.
    """
    found: dict[str, list[tuple[str, ClaimDraft]]] = {}
    for row in rows.all(
        "SELECT e.memory_id, c.id, c.subject, c.predicate, c.value, c.exclusive, c.polarity, c.valid_from, "
        "c.valid_from_prec, c.valid_to, c.valid_to_prec, c.qualifiers, e.start_at, e.end_at, c.extracted_by, "
        "e.confidence FROM json_each(?) w JOIN evidence e ON e.memory_id = w.value JOIN claims c ON c.id = e.claim_id "
        "WHERE e.stance = 'supporting' AND (c.state <> 'retracted' OR ?) ORDER BY e.memory_id, e.start_at, c.id",
        (to_json(list(memory_ids)), back),
    ):
        draft = ClaimDraft(
            subject=row[2],
            predicate=row[3],
            value=row[4],
            exclusive=bool(row[5]),
            polarity=row[6],
            valid_from=_when_or_none(row[7], row[8]),
            valid_to=_when_or_none(row[9], row[10]),
            qualifiers=json.loads(row[11]),
            start=row[12],
            end=row[13],
            method=row[14],
            confidence=row[15],
        )
        found.setdefault(row[0], []).append((row[1], draft))
    return found


def _when_or_none(at: int | None, precision: str | None) -> When | None:
    return None if at is None else When(int(at), Precision(precision or "ms"))
