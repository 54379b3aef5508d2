"""Uniting two memories under one id with nothing lost, and the version numbers of a chain.

Both originals stay as versions that are over. Versions are numbered from 1 on, each once, the later one higher; the
parts of a split text share their number. Must not do: choose the united text, embed it, or decide which version stands.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from core.belief.extract.validity import longest_permanence
from core.errors import BugError
from core.intake.transaction.sources import Lineage, add_source
from core.memory.protection import united_tier
from core.memory.read import time_of_memory_sql
from core.memory.write import content_hash, reserve_labels
from core.text.screening.injection import FLAG, reset_injection_marks
from core.types.values import Source, Status
from core.vault.database.rows import to_json
from core.vault.database.tx import Tx

_HEADS = (
    "SELECT id, version FROM memories WHERE chain_id = ? AND coalesce(part_index, 0) = 0 AND id <> ? "  # noqa: S608 - constants
    f"ORDER BY version, {time_of_memory_sql()}, n"
)


def newest_version(tx: Tx, chain_id: str, but: str = "") -> int:
    """The highest number of a chain.

    Args:
        but: a memory that is not counted.

    Returns:
        0 for a chain of nothing else.
    """
    return int(
        tx.value(
            "SELECT max(version) FROM memories WHERE chain_id = ? AND id <> ? AND coalesce(part_index, 0) = 0",
            (chain_id, but),
        )
        or 0
    )


def assign_version(tx: Tx, memory_id: str, chain_id: str, version: int) -> None:
    """Give a memory, and its other parts, a place in a chain.

    Args:
        memory_id: the memory; of a split text the head.
    """
    rows = tx.all("SELECT id, chain_id, version FROM memories WHERE id = ? OR part_of = ?", (memory_id, memory_id))
    for part, chain, had in rows:
        if (chain, had) != (chain_id, version):
            tx.update("memories", {"id": part}, {"chain_id": chain_id, "version": version})


def append_chain(tx: Tx, chain_id: str, into: str, but: str = "") -> None:
    """The versions of one chain go on from the last one of another.

    Args:
        chain_id: the chain that ends.
        into: the chain that goes on.
        but: a memory that is left as it is.
    """
    if chain_id == into:
        return
    last = newest_version(tx, into, but)
    for place, (memory_id, _) in enumerate(tx.all(_HEADS, (chain_id, but)), last + 1):
        assign_version(tx, str(memory_id), into, place)


def make_room_in_chain(tx: Tx, chain_id: str, row: dict[str, Any]) -> int:
    """Make room in a chain for a version that was said before others.

    Args:
        row: the newcomer's row of `memories`.

    Returns:
        Its number: after what was said before it. Those that follow move up where the number was taken.
    """
    own = str(row["id"])
    before = tx.value(
        "SELECT max(version) FROM memories WHERE chain_id = ? AND id <> ? AND coalesce(part_index, 0) = 0 "  # noqa: S608 - constants
        f"AND {time_of_memory_sql()} <= ?",
        (chain_id, own, row["occurred_at"] if row["occurred_at"] is not None else row["recorded_at"]),
    )
    version = int(before or 0) + 1
    later = [(str(one), int(had)) for one, had in tx.all(_HEADS, (chain_id, own)) if had >= version]
    if any(had == version for _, had in later):
        for memory_id, had in reversed(later):
            assign_version(tx, memory_id, chain_id, had + 1)
    return version


_GENERAL = "general"
"""The category of what has none."""


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The ids a merge left.

    Attributes:
        kept_id: the memory with the united text.
        original_id: the row that keeps its text from before.
        from_id: the other memory, now a version of the same chain.
    """

    kept_id: str
    original_id: str
    from_id: str


def write_merge(tx: Tx, make_id: Callable[[], str], keep_id: str, text: str, from_id: str) -> MergeResult:
    """Write a merge (seed D): tags, sources, entities; the higher importance, the longer permanence, the earlier time.

    Args:
        keep_id: the memory that keeps its id and gets the text.
        text: the united text.
        from_id: the other memory.

    Returns:
        The rows that hold the originals.
    """
    kept, other = tx.row("memories", {"id": keep_id}), tx.row("memories", {"id": from_id})
    if kept is None or other is None:
        raise BugError("merging what is not there")
    original_id = make_id()
    # First the newcomer leaves, then the text changes: two equal texts never stand.
    tx.update(
        "memories",
        {"id": from_id},
        {
            "status": Status.SUPERSEDED.value,
            "status_reason": "merged",
            "superseded_by_id": keep_id,
            "retired_at": tx.now_ms,
        },
    )
    _insert_original(tx, kept, original_id)
    chain = str(kept["chain_id"])
    if str(other["chain_id"]) == chain:
        assign_version(tx, from_id, chain, newest_version(tx, chain, from_id) + 1)
    append_chain(tx, str(other["chain_id"]), chain, but=keep_id)
    place = {"supersedes_id": original_id, "version": newest_version(tx, chain, keep_id) + 1}
    tier = united_tier(tx, (kept, other), {**kept, "text": text})
    tx.update("memories", {"id": keep_id}, {**_united_columns(kept, other, text), **place, **tier})
    _carry_evidence(tx, make_id, keep_id, original_id, text)
    _lend_evidence(tx, make_id, keep_id, from_id, text)
    _unite_sources(tx, keep_id, from_id)
    _unite_mentions(tx, keep_id, original_id, from_id, text)
    return MergeResult(keep_id, original_id, from_id)


def _insert_original(tx: Tx, kept: dict[str, Any], original_id: str) -> None:
    tx.insert(
        "memories",
        {
            **kept,
            "n": reserve_labels(tx, 1),
            "id": original_id,
            "status": Status.SUPERSEDED.value,
            "status_reason": "merged",
            "superseded_by_id": kept["id"],
            "recorded_at": tx.now_ms,
            "retired_at": tx.now_ms,
            "pinned": 0,
            "access_count": 0,
            "last_accessed_at": None,
        },
    )


def _united_columns(kept: dict[str, Any], other: dict[str, Any], text: str) -> dict[str, object]:
    tags = dict.fromkeys([*json.loads(kept["tags"]), *json.loads(other["tags"])])
    columns: dict[str, object] = {
        "text": text,
        "content_hash": content_hash(text),
        "flags": to_json(_united_flags(kept, other, text)),
        "tags": to_json(list(tags)),
        "importance": max(kept["importance"], other["importance"]),
        "pinned": max(kept["pinned"], other["pinned"]),
        # How often either was given to somebody. (Seed D adds one for the merge; here it counts what was recalled.)
        "access_count": kept["access_count"] + other["access_count"],
        "permanence": longest_permanence([str(kept["permanence"]), str(other["permanence"])]),
        "category": kept["category"] if kept["category"] != _GENERAL else other["category"],
    }
    if kept["valid_to"] is not None and (other["valid_to"] is None or other["valid_to"] > kept["valid_to"]):
        # It is over when all of it is.
        columns |= {name: other[name] for name in ("valid_to", "valid_to_prec")}
    if other["occurred_at"] is not None and (kept["occurred_at"] is None or other["occurred_at"] < kept["occurred_at"]):
        columns |= {name: other[name] for name in ("occurred_at", "occurred_prec", "occurred_offset")}
    return columns


def _united_flags(kept: dict[str, Any], other: dict[str, Any], text: str) -> list[str]:
    """The marks of the united text, which nobody has let through; what a claim brought goes on with the claim."""
    flags = reset_injection_marks(json.loads(kept["flags"]), text)
    is_flagged = any(
        FLAG in json.loads(one["flags"]) and FLAG not in reset_injection_marks((), str(one["text"]))
        for one in (kept, other)
    )
    return [*flags, FLAG] if is_flagged and FLAG not in flags else flags


def _carry_evidence(tx: Tx, make_id: Callable[[], str], keep_id: str, original_id: str, text: str) -> None:
    """Spans of the old text: where its quote is in the new one, else they go on in the original."""
    for evidence in _read_evidence(tx, keep_id):
        if text[evidence["start_at"] : evidence["end_at"]] == evidence["quote"]:
            continue
        at = text.find(evidence["quote"])
        moved = None if at < 0 else (at, at + len(evidence["quote"]))
        if moved is not None and not _has_evidence(tx, evidence, keep_id, moved):
            tx.update("evidence", {"id": evidence["id"]}, {"start_at": moved[0], "end_at": moved[1]})
            continue
        tx.insert("evidence", {**evidence, "id": make_id(), "memory_id": original_id})
        tx.delete("evidence", {"id": evidence["id"]})


def _lend_evidence(tx: Tx, make_id: Callable[[], str], keep_id: str, from_id: str, text: str) -> None:
    """What the other memory says is said by the united text too."""
    for evidence in _read_evidence(tx, from_id):
        at = text.find(evidence["quote"])
        span = (at, at + len(evidence["quote"]))
        if at >= 0 and not _has_evidence(tx, evidence, keep_id, span):
            tx.insert(
                "evidence",
                {**evidence, "id": make_id(), "memory_id": keep_id, "start_at": span[0], "end_at": span[1]},
            )


def _read_evidence(tx: Tx, memory_id: str) -> list[dict[str, Any]]:
    found = tx.all("SELECT id FROM evidence WHERE memory_id = ? ORDER BY id", (memory_id,))
    return [row for (one,) in found if (row := tx.row("evidence", {"id": one})) is not None]


def _has_evidence(tx: Tx, evidence: dict[str, Any], memory_id: str, span: tuple[int, int]) -> bool:
    return (
        tx.one(
            "SELECT 1 FROM evidence WHERE claim_id = ? AND memory_id = ? AND start_at = ? AND end_at = ? "
            "AND stance = ?",
            (evidence["claim_id"], memory_id, *span, evidence["stance"]),
        )
        is not None
    )


def _unite_sources(tx: Tx, keep_id: str, from_id: str) -> None:
    for lineage, source, client_id, session, import_id in tx.all(
        "SELECT lineage, source, client_id, session, import_id FROM memory_sources WHERE memory_id = ? "
        "ORDER BY lineage",
        (from_id,),
    ):
        add_source(tx, keep_id, Lineage(lineage, client_id, session, import_id), Source(source))


def _unite_mentions(tx: Tx, keep_id: str, original_id: str, from_id: str, text: str) -> None:
    """Entities of both: the kept one's own spans hold as long as its text begins the united one."""
    texts = dict(tx.all("SELECT id, text FROM memories WHERE id IN (?, ?)", (original_id, from_id)))
    for entity_id, start, end, confidence in tx.all(
        "SELECT entity_id, start_at, end_at, confidence FROM mentions WHERE memory_id = ? AND start_at >= 0 "
        "ORDER BY entity_id, start_at",
        (from_id,),
    ):
        at = text.find(texts[from_id][start:end])
        if at >= 0 and tx.row("mentions", {"memory_id": keep_id, "entity_id": entity_id, "start_at": at}) is None:
            row = {"entity_id": entity_id, "start_at": at, "end_at": at + end - start, "confidence": confidence}
            tx.insert("mentions", {"memory_id": keep_id, **row})
