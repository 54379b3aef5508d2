"""Items of the review queue: opened once for a pair, closed by a person or by themselves.

Must not do: decide an item, or put memory text into `reason`, `detail` or `note`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.belief.review.items import find_lapsed_among
from core.memory.draft import to_json
from core.types.values import Action
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

KEPT = frozenset({Action.KEEP_BOTH.value, Action.KEEP_BOTH_DATED.value, Action.SCOPE_SPLIT.value})
"""Resolutions after which both stand."""


@dataclass(frozen=True, slots=True)
class ItemSubject:
    """The subject of a review item.

    Attributes:
        kind: of `conflicts.kind`.
        incoming: the newcomer's memory id.
        existing: the memory that stands; None where only one is concerned.
        reason: a key of `resources/help/review.json`.
        suggestion: what Loci would do.
        confidence: of the suggestion, 0 to 1.
        by: `rules`, `builtin` or `model`: who weighed it.
        detail: ids, numbers and keys: probabilities, claims at odds; never memory text. Of a client's doubt, its
            name and its own words.
        keys: claim keys of the two claims at odds, for the fingerprint; empty where texts are compared.
    """

    kind: str
    incoming: str
    existing: str | None = None
    reason: str = ""
    suggestion: Action | None = None
    confidence: float | None = None
    by: str = "rules"
    detail: Mapping[str, Any] = field(default_factory=dict)
    keys: Sequence[bytes] = ()


@dataclass(frozen=True, slots=True)
class EarlierItem:
    """An earlier review item about the same subject.

    Attributes:
        id: the earlier item.
        state: `open` or `resolved`.
        incoming: the newcomer of then.
        resolution: what a person decided; None while it is open.
    """

    id: str
    state: str
    incoming: str
    resolution: str | None


def fingerprint(rows: Rows, matter: ItemSubject) -> bytes:
    """A name of what is at odds, whatever ids it has: the same pair imported again has the same one.

    Returns:
        32 bytes of SHA-256 over the kind and the sorted claim keys, or the sorted hashes of both texts.
    """
    sides = sorted(bytes(key) for key in matter.keys)
    if not sides:
        both = dict.fromkeys(one for one in (matter.incoming, matter.existing) if one is not None)
        found = [rows.value("SELECT content_hash FROM memories WHERE id = ?", (memory_id,)) for memory_id in both]
        sides = sorted(bytes(content) for content in found if content is not None)
    return hashlib.sha256(b"\0".join([matter.kind.encode(), *sides])).digest()


def known_matter(rows: Rows, matter: ItemSubject) -> EarlierItem | None:
    """Whether the same was raised before and is open, or was decided so that it is not raised again.

    Returns:
        The earlier item; None where it is new.
    """
    return _known(rows, fingerprint(rows, matter))


def _known(rows: Rows, name: bytes) -> EarlierItem | None:
    row = rows.one(
        "SELECT id, state, incoming_id, resolution FROM conflicts WHERE fingerprint = ? AND (state = 'open' OR "
        "resolution IN ('reject', 'keep_both', 'keep_both_dated', 'scope_split')) "
        "ORDER BY state = 'open' DESC, closed_at DESC LIMIT 1",
        (name,),
    )
    return None if row is None else EarlierItem(str(row[0]), str(row[1]), str(row[2]), row[3])


def open_conflict(tx: Tx, item_id: str, matter: ItemSubject) -> str | None:
    """Open an item, unless the same is open already or was rejected or kept before.

    Two memories are asked about once for each kind, whatever of them is at odds.

    Args:
        item_id: the id it gets.

    Returns:
        The item's id, that of the open one where there is one; None where the matter was decided before.
    """
    name = fingerprint(tx, matter)
    known = _known(tx, name)
    if known is not None:
        return known.id if known.state == "open" else None
    asked = _asked(tx, matter)
    if asked is not None:
        return asked
    space = tx.value("SELECT space_id FROM memories WHERE id = ?", (matter.incoming,))
    if matter.existing is not None and space == "GLOBAL":
        space = tx.value("SELECT space_id FROM memories WHERE id = ?", (matter.existing,))
    tx.insert(
        "conflicts",
        {
            "id": item_id,
            "kind": matter.kind,
            "existing_id": matter.existing,
            "incoming_id": matter.incoming,
            "space_id": space,
            "reason": matter.reason,
            "suggestion": None if matter.suggestion is None else matter.suggestion.value,
            "confidence": matter.confidence,
            "fingerprint": name,
            "opened_at": tx.now_ms,
            "detail": to_json({**matter.detail, "by": matter.by}),
        },
    )
    return item_id


def _asked(rows: Rows, matter: ItemSubject) -> str | None:
    """The open item of this kind about the same memories, if any."""
    found = rows.value(
        "SELECT id FROM conflicts WHERE incoming_id = ? AND existing_id IS ? AND kind = ? AND +state = 'open'",
        (matter.incoming, matter.existing, matter.kind),
    )
    return None if found is None else str(found)


def close_conflict(tx: Tx, item_id: str, state: str, resolution: str | None, note: str | None = None) -> bool:
    """Close an item.

    Args:
        state: `resolved`, or `moot` where it closed itself.
        resolution: the action that was taken; None where none was.
        note: why it closed itself: a key of `resources/help/review.json`.

    Returns:
        Whether it was open.
    """
    row = tx.row("conflicts", {"id": item_id})
    if row is None or row["state"] != "open":
        return False
    tx.update(
        "conflicts",
        {"id": item_id},
        {"state": state, "resolution": resolution, "note": note, "closed_at": tx.now_ms, "later_until": None},
    )
    return True


def close_moot(tx: Tx, memory_ids: Iterable[str], note: str = "side_gone") -> tuple[str, ...]:
    """Close the open items about memories that are no longer a question (`core.belief.review.items`).

    A newcomer that is held back goes on waiting when what it was held against leaves.

    Args:
        memory_ids: memories that changed.
        note: why they close: a key of `resources/help/review.json`.

    Returns:
        Ids of the items that were closed.
    """
    ids = tuple(find_lapsed_among(tx, memory_ids))
    for item_id in ids:
        close_conflict(tx, item_id, "moot", None, note)
    return ids


def open_review(
    tx: Tx, item_id: str, memory_id: str, kind: str, reason: str, detail: Mapping[str, Any] | None = None
) -> str:
    """Open an item for one memory that waits for a person, such as a proposal.

    Args:
        item_id: the id it gets.
        memory_id: what waits.
        kind: of `conflicts.kind`.
        reason: a key of `resources/help/review.json`.
        detail: numbers and keys; never memory text.

    Returns:
        The item's id.
    """
    space = tx.value("SELECT space_id FROM memories WHERE id = ?", (memory_id,))
    told = {} if detail is None else {"detail": to_json(dict(detail))}
    tx.insert(
        "conflicts",
        {
            "id": item_id,
            "kind": kind,
            "incoming_id": memory_id,
            "space_id": space,
            "reason": reason,
            "fingerprint": hashlib.sha256(f"{kind}:{memory_id}".encode()).digest(),
            "opened_at": tx.now_ms,
            **told,
        },
    )
    return item_id
