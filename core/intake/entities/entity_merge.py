"""Joining two entities that a person says are one: names united, mentions moved, claims pointed at the one that stays.

Every row goes through the verb's transaction, so that an undo takes the two apart again (seed B, entity merge with fact
conflict resolution). Must not do: decide whether two are one.
"""

from __future__ import annotations

import json
from typing import Any

from core.entities.registry import add_alias, merge_metadata
from core.errors import BugError
from core.intake.claims.assertion import exclusive_rivals, replace_claim
from core.intake.claims.entity_claims import claims_about, find_endings
from core.memory.draft import to_json
from core.vault.database.tx import Tx


def merge_entities(tx: Tx, keep: str, merged: str) -> dict[str, int]:
    """Merge one entity into another.

    Args:
        keep: the entity that stays.
        merged: the one that leads to it from now on; neither is merged already.

    Returns:
        How many other names, mentions and claims moved, and how many claims ended: `aliases`, `mentions`, `claims`,
        `superseded`. A claim whose subject is a name moves with the name.
    """
    rows = [tx.row("entities", {"id": one}) for one in (keep, merged)]
    if keep == merged or any(row is None or row["merged_into_id"] is not None for row in rows):
        raise BugError("joining what is one already")
    settled = _settle(tx, keep, merged)
    counts = {"aliases": _unite_names(tx, keep, merged), "mentions": _move_mentions(tx, keep, merged)}
    counts |= _point(tx, keep, merged)
    tx.update("entities", {"id": merged}, {"merged_into_id": keep})
    _unite_metadata(tx, keep, merged)
    return {**counts, **{name: counts[name] + more for name, more in settled.items()}}


def _settle(tx: Tx, keep: str, merged: str) -> dict[str, int]:
    """Decides between claims that cannot both stand of one thing; a claim told by its subject's name moves with it."""
    moved = [one for one in claims_about(tx, merged, keep) if one.by_name]
    ended = find_endings(tx, keep, merged)
    for one in ended:
        replace_claim(tx, one.loser, one.winner, None)
    own = {one.id for one in claims_about(tx, keep, merged)}
    return {"claims": sum(one.id not in own for one in moved), "superseded": len(ended)}


def _unite_metadata(tx: Tx, keep: str, merged: str) -> None:
    """What the one that leads away knew goes over; where both know something, the one that stays is right (seed B)."""
    into, gone = tx.row("entities", {"id": keep}) or {}, tx.row("entities", {"id": merged}) or {}
    kept, left = json.loads(into["extra"]), json.loads(gone["extra"])
    united = merge_metadata(kept, {**left.get("metadata", {}), **kept.get("metadata", {})}, tx.now_ms)
    tx.update("entities", {"id": keep}, {"extra": to_json(united)})
    tx.update("entities", {"id": merged}, {"extra": to_json({**left, "updated_at": tx.now_ms})})


def _unite_names(tx: Tx, keep: str, merged: str) -> int:
    names = tx.all("SELECT alias FROM entity_aliases WHERE entity_id = ? ORDER BY alias_key", (merged,))
    return sum(add_alias(tx, keep, str(alias)) for (alias,) in names)


def _move_mentions(tx: Tx, keep: str, merged: str) -> int:
    """The schema lets no mention move: it goes, and comes again under the other."""
    found = tx.all("SELECT memory_id, start_at FROM mentions WHERE entity_id = ? ORDER BY 1, 2", (merged,))
    for memory_id, start in found:
        key = {"memory_id": memory_id, "entity_id": merged, "start_at": start}
        row = tx.row("mentions", key)
        tx.delete("mentions", key)
        known = tx.one("SELECT 1 FROM mentions WHERE memory_id = ? AND entity_id = ?", (memory_id, keep))
        if row is not None and known is None:
            tx.insert("mentions", {**row, "entity_id": keep})
    return len(found)


def _point(tx: Tx, keep: str, merged: str) -> dict[str, int]:
    """Point claims at the entity that stays; where two then exclude each other the surer one holds (seed B)."""
    counts = {"claims": 0, "superseded": 0}
    for column in ("subject_entity_id", "object_entity_id"):
        for (claim_id,) in tx.all(f"SELECT id FROM claims WHERE {column} = ? ORDER BY id", (merged,)):  # noqa: S608
            claim = tx.row("claims", {"id": claim_id})
            if claim is None:
                continue
            counts["superseded"] += _make_room(tx, {**claim, column: keep})
            tx.update("claims", {"id": claim_id}, {column: keep})
            counts["claims"] += 1
    return counts


def _make_room(tx: Tx, claim: dict[str, Any]) -> int:
    if claim["state"] != "asserted":
        return 0
    ended = 0
    for other_id in exclusive_rivals(tx, claim):
        other = tx.row("claims", {"id": other_id}) or {}
        if other["confidence"] >= claim["confidence"]:
            replace_claim(tx, str(claim["id"]), other_id, None)
            return ended + 1
        replace_claim(tx, other_id, str(claim["id"]), None)
        ended += 1
    return ended
