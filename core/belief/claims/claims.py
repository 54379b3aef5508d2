"""Claims as rows. A claim starts as a draft; it is asserted only with evidence."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.belief.extract.normal_form import value_key
from core.types.belief import ClaimDraft
from core.types.values import When
from core.vault.database.tx import Tx


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """The memory a claim rests on.

    Attributes:
        memory_id: its id.
        text: its exact text; the quote is a part of it.
        space_id: its space.
        lineage: its independent source.
        observed_at: when it was said, epoch ms.
    """

    memory_id: str
    text: str
    space_id: str
    lineage: str
    observed_at: int


def key_form(text: str) -> str:
    """How subjects and values are compared: case, width, look-alike letters, numbers, dates.

    Args:
        text: a subject or value as written.

    Returns:
        Its key.
    """
    return value_key(text)


def claim_key(space_id: str, claim: Mapping[str, Any], scope_session: str = "") -> bytes:
    """The identity of what a claim says (seed C part 5, claim_key).

    Args:
        space_id: the space it holds in.
        claim: subject, predicate, value, polarity, qualifiers.
        scope_session: the session it is limited to, or "".

    Returns:
        32 bytes of SHA-256 over the canonical parts.
    """
    parts = [
        space_id,
        key_form(claim["subject"]),
        claim["predicate"],
        key_form(claim["value"]),
        claim["polarity"],
        json.dumps(claim["qualifiers"], sort_keys=True, separators=(",", ":"), ensure_ascii=False),
        scope_session,
    ]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode("utf-8")).digest()


def draft_given_claim(claim: Mapping[str, Any], text: str, validity: tuple[When | None, When | None]) -> ClaimDraft:
    """A claim that came with its text: the whole text is its evidence.

    Args:
        claim: a claim with its defaults filled in (`core.intake.transaction.admission.check_claim`).
        text: the memory's text.
        validity: from when and until when it holds.

    Returns:
        The draft.
    """
    return ClaimDraft(
        subject=claim["subject"],
        predicate=claim["predicate"],
        value=claim["value"],
        exclusive=bool(claim["exclusive"]),
        polarity=claim["polarity"],
        valid_from=validity[0],
        valid_to=validity[1],
        qualifiers=claim["qualifiers"],
        start=0,
        end=len(text),
        method="given",
    )


def key_of_draft(space_id: str, draft: ClaimDraft, scope_session: str = "") -> bytes:
    """`claim_key` of a draft."""
    said = {
        "subject": draft.subject,
        "predicate": draft.predicate,
        "value": draft.value,
        "polarity": draft.polarity,
        "qualifiers": dict(draft.qualifiers),
    }
    return claim_key(space_id, said, scope_session)


def draft_claim(
    tx: Tx, draft: ClaimDraft, on: EvidenceSource, ids: tuple[str, str], scope_session: str = ""
) -> str | None:
    """Write a claim as a draft, with its quote as evidence.

    Args:
        draft: what was read or given; its span must lie in the text.
        on: the memory it rests on.
        ids: the ids of the claim and of its evidence.
        scope_session: the session it is limited to, or "".

    Returns:
        The claim's id; None where this memory backs the same claim already, or the span is no quote of the text.
    """
    quote = on.text[draft.start : draft.end]
    if not quote or draft.start < 0:
        return None
    key = key_of_draft(on.space_id, draft, scope_session)
    if tx.one(
        "SELECT 1 FROM claims c JOIN evidence e ON e.claim_id = c.id WHERE e.memory_id = ? AND c.claim_key = ?",
        (on.memory_id, key),
    ):
        return None
    tx.insert("claims", _claim_row(draft, on, ids[0], key, scope_session, tx.now_ms))
    tx.insert("evidence", _evidence_row(draft, on, ids, quote, tx.now_ms))
    return ids[0]


def _claim_row(
    draft: ClaimDraft, on: EvidenceSource, claim_id: str, key: bytes, scope_session: str, now_ms: int
) -> dict[str, object]:
    begin, end = draft.valid_from, draft.valid_to
    return {
        "id": claim_id,
        "space_id": on.space_id,
        "claim_key": key,
        "subject": draft.subject,
        "subject_key": key_form(draft.subject),
        "predicate": draft.predicate,
        "value": draft.value,
        "value_key": key_form(draft.value),
        "exclusive": int(draft.exclusive),
        "polarity": draft.polarity,
        "qualifiers": json.dumps(dict(draft.qualifiers), sort_keys=True, separators=(",", ":"), ensure_ascii=False),
        "scope_session": scope_session,
        "valid_from": None if begin is None else begin.ms,
        "valid_from_prec": None if begin is None else begin.precision.value,
        "valid_to": None if end is None else end.ms,
        "valid_to_prec": None if end is None else end.precision.value,
        "confidence": 0.0,
        "extracted_by": draft.method,
        "recorded_at": now_ms,
    }


def _evidence_row(
    draft: ClaimDraft, on: EvidenceSource, ids: tuple[str, str], quote: str, now_ms: int
) -> dict[str, object]:
    return {
        "id": ids[1],
        "claim_id": ids[0],
        "memory_id": on.memory_id,
        "space_id": on.space_id,
        "quote": quote,
        "start_at": draft.start,
        "end_at": draft.start + len(quote),
        "span_hash": hashlib.sha256(quote.encode("utf-8")).digest(),
        "confidence": draft.confidence,
        "method": draft.method,
        "lineage": on.lineage,
        "observed_at": on.observed_at,
        "recorded_at": now_ms,
    }
