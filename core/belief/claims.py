"""Claims as rows. A claim starts as a draft; it is asserted only with evidence."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.types.values import When
from core.vault.tx import Tx


@dataclass(frozen=True, slots=True)
class Evidenced:
    """The memory a given claim rests on.

    Attributes:
        memory_id: its id.
        text: its exact text; the quote is the whole of it.
        space_id: its space.
        lineage: its independent source.
        observed_at: when it was said, epoch ms.
        confidence: 0 to 1.
    """

    memory_id: str
    text: str
    space_id: str
    lineage: str
    observed_at: int
    confidence: float


def key_form(text: str) -> str:
    """How subjects and values are compared: NFKC, case folded, single blanks.

    Args:
        text: a subject or value as written.

    Returns:
        Its key.
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


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


def draft_given(
    tx: Tx,
    claim: Mapping[str, Any],
    on: Evidenced,
    ids: tuple[str, str],
    validity: tuple[When | None, When | None] = (None, None),
) -> bool:
    """Write a claim that came with its text: a draft, with the whole text as evidence.

    Args:
        tx: the verb's transaction.
        claim: a claim with its defaults filled in (`core.intake.validate.check_claim`).
        on: the memory it rests on.
        ids: the ids of the claim and of its evidence.
        validity: from when and until when it holds.

    Returns:
        Whether it is new; a claim that this memory backs already is not written twice.
    """
    key = claim_key(on.space_id, claim)
    if tx.one(
        "SELECT 1 FROM claims c JOIN evidence e ON e.claim_id = c.id WHERE e.memory_id = ? AND c.claim_key = ?",
        (on.memory_id, key),
    ):
        return False
    valid_from, valid_to = validity
    tx.insert(
        "claims",
        {
            "id": ids[0],
            "space_id": on.space_id,
            "claim_key": key,
            "subject": claim["subject"],
            "subject_key": key_form(claim["subject"]),
            "predicate": claim["predicate"],
            "value": claim["value"],
            "value_key": key_form(claim["value"]),
            "exclusive": int(claim["exclusive"]),
            "polarity": claim["polarity"],
            "qualifiers": json.dumps(claim["qualifiers"], sort_keys=True, separators=(",", ":"), ensure_ascii=False),
            "valid_from": None if valid_from is None else valid_from.ms,
            "valid_from_prec": None if valid_from is None else valid_from.precision.value,
            "valid_to": None if valid_to is None else valid_to.ms,
            "valid_to_prec": None if valid_to is None else valid_to.precision.value,
            "confidence": on.confidence,
            "extracted_by": "given",
            "recorded_at": tx.now_ms,
        },
    )
    _back(tx, ids, on)
    return True


def _back(tx: Tx, ids: tuple[str, str], on: Evidenced) -> None:
    tx.insert(
        "evidence",
        {
            "id": ids[1],
            "claim_id": ids[0],
            "memory_id": on.memory_id,
            "space_id": on.space_id,
            "quote": on.text,
            "start_at": 0,
            "end_at": len(on.text),
            "span_hash": hashlib.sha256(on.text.encode("utf-8")).digest(),
            "confidence": on.confidence,
            "method": "given",
            "lineage": on.lineage,
            "observed_at": on.observed_at,
            "recorded_at": tx.now_ms,
        },
    )
