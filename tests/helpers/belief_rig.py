"""Claims, quotes, items of the review queue and derivations, put into a vault by hand as the store path makes them."""

from __future__ import annotations

import hashlib
from typing import Any

from engine_rig import START_MS, Rig

from core.vault.database.tx import Tx

DAY_MS = 86_400_000


def claim(rig: Rig, memory_id: str, predicate: str, value: str, quote: str, **more: Any) -> str:
    """A claim that a quote of a memory backs.

    Args:
        memory_id: whose text holds the quote.
        quote: words of the memory's text.
        **more: `subject`, `state`, `polarity`, `exclusive`, `confidence`, `valid_from`, `valid_to`, `lineage`,
            `superseded_by_id`, `qualifiers`.

    Returns:
        The claim's id.
    """
    claim_id = f"claim-{predicate}-{value}-{memory_id}"
    subject = more.get("subject", "user")
    row = {
        "id": claim_id, "space_id": _space(rig, memory_id), "claim_key": hashlib.sha256(claim_id.encode()).digest(),
        "subject": subject, "subject_key": subject.casefold(), "predicate": predicate, "value": value,
        "value_key": value.casefold(), "exclusive": int(more.get("exclusive", True)),
        "polarity": more.get("polarity", "positive"), "confidence": more.get("confidence", 0.9),
        "valid_from": more.get("valid_from"), "valid_to": more.get("valid_to"), "extracted_by": "rules",
        "qualifiers": more.get("qualifiers", "{}"), "superseded_by_id": more.get("superseded_by_id"), "recorded_at": 0,
    }  # fmt: skip

    def write(tx: Tx) -> None:
        tx.insert("claims", row)
        _evidence(tx, claim_id, memory_id, quote, "supporting", more.get("lineage", "owner"))
        for state in _path(more.get("state", "asserted")):
            tx.update("claims", {"id": claim_id}, {"state": state})

    rig.write(write)
    return claim_id


def evidence(
    rig: Rig, claim_id: str, memory_id: str, quote: str, stance: str = "supporting", lineage: str = "other"
) -> None:
    """Another quote for or against a claim."""
    rig.write(lambda tx: _evidence(tx, claim_id, memory_id, quote, stance, lineage))


def item(rig: Rig, incoming: str, existing: str | None = None, kind: str = "contradiction") -> str:
    """An open item of the review queue."""
    item_id = f"item-{kind}-{incoming}"
    row = {
        "id": item_id, "kind": kind, "existing_id": existing, "incoming_id": incoming,
        "space_id": _space(rig, incoming), "reason": "claims_at_odds", "opened_at": 0,
        "fingerprint": hashlib.sha256(item_id.encode()).digest(),
    }  # fmt: skip
    rig.write(lambda tx: tx.insert("conflicts", row))
    return item_id


def derive(rig: Rig, derived: str, source: str) -> None:
    """A memory was made of another."""
    row = {"derived_id": derived, "source_id": source, "space_id": _space(rig, source), "recorded_at": 0}
    rig.write(lambda tx: tx.insert("derivations", row))


def source(rig: Rig, memory_id: str, lineage: str) -> None:
    """Another independent source says the same."""
    row = {"memory_id": memory_id, "lineage": lineage, "source": "document", "at": START_MS}
    rig.write(lambda tx: tx.insert("memory_sources", row))


def voice(rig: Rig, memory_id: str, verdict: str, at: int, client_id: str | None = None, reason: str = "") -> None:
    """Somebody said that it is right or wrong."""
    row = {
        "memory_id": memory_id, "voice": f"client:{client_id}" if client_id else "owner", "verdict": verdict,
        "client_id": client_id, "reason": reason or None, "at": at,
    }  # fmt: skip
    rig.write(lambda tx: tx.insert("verdicts", row))


def change(rig: Rig, memory_id: str, **values: Any) -> None:
    """Set columns of a memory."""
    rig.write(lambda tx: tx.update("memories", {"id": memory_id}, values))


def _evidence(tx: Tx, claim_id: str, memory_id: str, quote: str, stance: str, lineage: str) -> None:
    text = str(tx.value("SELECT text FROM memories WHERE id = ?", (memory_id,)))
    start = text.index(quote)
    space = tx.value("SELECT space_id FROM claims WHERE id = ?", (claim_id,))
    row = {
        "id": f"quote-{claim_id}-{memory_id}-{stance}-{start}", "claim_id": claim_id, "memory_id": memory_id,
        "space_id": space, "quote": quote, "start_at": start, "end_at": start + len(quote),
        "span_hash": hashlib.sha256(quote.encode()).digest(), "stance": stance, "confidence": 0.9, "method": "rules",
        "lineage": lineage, "observed_at": 0, "recorded_at": 0,
    }  # fmt: skip
    tx.insert("evidence", row)


def _path(state: str) -> list[str]:
    """The states on the way from a draft."""
    return {"draft": [], "asserted": ["asserted"], "retracted": ["retracted"]}.get(state, ["asserted", state])


def _space(rig: Rig, memory_id: str) -> str:
    return str(rig.value("SELECT space_id FROM memories WHERE id = ?", memory_id))
