"""Claims of a candidate beside the claims that stand: the same, or at odds.

Seed A, feature 1: two claims contradict each other where they share subject, predicate and scope, both hold one
value at a time, the values differ and the windows of validity overlap. Must not do: decide who gives way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.belief.claims.claims import key_form, key_of_draft
from core.belief.extract.residue import has_no_residue
from core.intake.claims.candidate import StoreCandidate
from core.intake.transaction.sources import KINDS_BY_TEXT, standing_twin
from core.memory.draft import to_json
from core.types.belief import ClaimDraft
from core.vault.database.rows import Rows
from core.vault.memory_sql import UNSEALED

_ALWAYS, _NEVER = 2**63 - 1, -(2**63) + 1
_COMPARED = to_json([kind.value for kind in KINDS_BY_TEXT])
"""A claim is at odds with another whatever kind of memory says it: a rule is no way around what a fact says."""


@dataclass(frozen=True, slots=True)
class ClaimConflict:
    """A claim of a memory that a candidate's claim contradicts.

    Attributes:
        memory_id: the memory that backs it.
        claim_id: the claim; `key` is its claim key.
        draft: the candidate's claim; `own_key` is its key.
        given: whether the candidate's claim was given, not read.
    """

    memory_id: str
    claim_id: str
    key: bytes
    draft: ClaimDraft
    own_key: bytes

    @property
    def given(self) -> bool:
        """Whether the caller gave the claim, so that it is no guess."""
        return self.draft.method == "given"


def find_same_claims(rows: Rows, candidate: StoreCandidate) -> str | None:
    """A memory that stands and is backed with every claim of the candidate.

    Returns:
        The memory that backs the first claim; None where a claim is new, or there are none, or the text says more than
        the claims that were read from it (a claim that is given stands for its text).
    """
    if not _is_all_told(candidate):
        return None
    first: str | None = None
    for draft in candidate.claims:
        key = key_of_draft(candidate.space_id, draft, candidate.standing.scope_session)
        found = rows.value(
            "SELECT m.id FROM claims c JOIN evidence e ON e.claim_id = c.id AND e.stance = 'supporting' "  # noqa: S608
            "JOIN memories m ON m.id = e.memory_id WHERE c.space_id = ? AND c.claim_key = ? "
            "AND c.state IN ('asserted', 'disputed') AND m.status IN ('active', 'disputed') "
            f"AND m.id <> ? AND (? IS NULL OR {UNSEALED}) ORDER BY m.status, m.n LIMIT 1",
            (candidate.space_id, key, candidate.memory_id, candidate.stranger),
        )
        if found is None:
            return None
        first = first or str(found)
    return first


def find_same_words(rows: Rows, candidate: StoreCandidate) -> str | None:
    """The memory of the very words of a candidate that stands; what it says may be partly over.

    Returns:
        Its id; None where there is none but the candidate itself.
    """
    if candidate.kind not in KINDS_BY_TEXT:
        return None
    session = candidate.standing.scope_session
    twin = standing_twin(rows, candidate.texts, candidate.kind, candidate.space_id, session)
    return None if twin == candidate.memory_id else twin


def _is_all_told(candidate: StoreCandidate) -> bool:
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
        own = key_of_draft(candidate.space_id, draft, candidate.standing.scope_session)
        for memory_id, claim_id, key in _opposed(rows, candidate, draft):
            found.setdefault((memory_id, claim_id), ClaimConflict(memory_id, claim_id, bytes(key), draft, own))
    return list(found.values())


def _opposed(rows: Rows, candidate: StoreCandidate, draft: ClaimDraft) -> list[tuple[str, str, bytes]]:
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
            key_form(draft.subject),
            draft.predicate,
            candidate.standing.scope_session,
            candidate.standing.owner_said,
            to_json(dict(draft.qualifiers)),
            # Two that the person kept side by side are no gap through which others tell a third.
            not candidate.standing.owner_said,
            to_json(dict(draft.qualifiers)),
            key_form(draft.value),
            candidate.memory_id,
            _COMPARED,
            draft.polarity,
            int(draft.exclusive),
            key_form(draft.value),
            draft.polarity,
            key_form(draft.value),
            _NEVER, end, _ALWAYS, begin, _NEVER, _ALWAYS,
        ),
    )  # fmt: skip
    return [(str(memory_id), str(claim_id), key) for memory_id, claim_id, key in found]


def has_other_claims(rows: Rows, memory_id: str, ending: Sequence[str], *, waiting: bool = False) -> bool:
    """Whether a memory says more that stands, in other sentences than what ends.

    Args:
        ending: claims of it that end.
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
    gone = [sentence_at(text, start, end) for claim_id, start, end in spans if claim_id in ending]
    rest = [sentence_at(text, start, end) for claim_id, start, end in spans if claim_id not in ending]
    return any(all(span[1] <= other[0] or other[1] <= span[0] for other in gone) for span in rest)


def sentence_at(text: str, start: int, end: int) -> tuple[int, int]:
    """The sentence, or the sentences, that hold a span.

    Args:
        start: where the span begins, code points.
        end: where it ends, exclusive.

    Returns:
        Begin and end; bounds are line ends, semicolons, and full stops, exclamation and question marks before a blank.
    """
    begin = start
    while begin > 0 and not _is_bound(text, begin - 1):
        begin -= 1
    stop = end
    while stop < len(text) and not _is_bound(text, stop - 1):
        stop += 1
    return begin, max(stop, end)


def _is_bound(text: str, at: int) -> bool:
    sign = text[at]
    return sign in "\n;" or (sign in ".!?" and (at + 1 >= len(text) or text[at + 1].isspace()))
