"""Items of the review queue: opened once for a pair or a memory, closed by a person or by themselves.

Must not do: decide an item, or put memory text into `reason`, `detail` or `note`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.belief.review.items import APPLICABLE, PAIR
from core.types.values import Action
from core.vault.database.rows import MAY_BELONG, Rows, to_json
from core.vault.database.tx import Tx

_LAPSED = "SELECT c.id " + PAIR + "WHERE c.state = 'open' AND NOT coalesce(" + APPLICABLE + ", 0) ORDER BY c.id"
_STATED_BEFORE = (
    "SELECT c.id " + PAIR + "WHERE c.id IN (SELECT value FROM json_each(?)) AND c.kind = 'proposal' "  # noqa: S608
    "AND i.status = 'quarantined' ORDER BY c.id"
)
# The plus keeps the index by state out: few memories are asked for, and thousands of items may be open.
_LAPSED_AMONG = (
    "SELECT c.id "  # noqa: S608 - constants only
    + PAIR
    + "WHERE c.id IN (SELECT o.id FROM json_each(:ids) w JOIN conflicts o ON o.incoming_id = w.value "
    "WHERE +o.state = 'open' UNION SELECT o.id FROM json_each(:ids) w JOIN conflicts o ON o.existing_id = w.value "
    "WHERE +o.state = 'open') AND NOT coalesce(" + APPLICABLE + ", 0) ORDER BY c.id"
)
_RETURNED = (
    "SELECT c.id "  # noqa: S608 - constants only
    + PAIR
    + "WHERE c.state = 'moot' AND c.note = ? AND "
    + APPLICABLE
    + " AND NOT EXISTS (SELECT 1 FROM conflicts o WHERE o.state = 'open' AND o.fingerprint = c.fingerprint) "
    "ORDER BY c.id"
)


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


def make_fingerprint(rows: Rows, matter: ItemSubject) -> bytes:
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
    return _find_earlier_item(rows, make_fingerprint(rows, matter))


def _find_earlier_item(rows: Rows, name: bytes) -> EarlierItem | None:
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
    name = make_fingerprint(tx, matter)
    known = _find_earlier_item(tx, name)
    if known is not None:
        return known.id if known.state == "open" else None
    asked = _find_open_item(tx, matter)
    if asked is not None:
        return asked
    tx.insert("conflicts", {**_make_review_item_row(tx, item_id, matter), "fingerprint": name})
    return item_id


def _make_review_item_row(rows: Tx, item_id: str, matter: ItemSubject) -> dict[str, Any]:
    """The row of an item, without its fingerprint."""
    space = rows.value("SELECT space_id FROM memories WHERE id = ?", (matter.incoming,))
    if matter.existing is not None and space == "GLOBAL":
        space = rows.value("SELECT space_id FROM memories WHERE id = ?", (matter.existing,))
    return {
        "id": item_id,
        "kind": matter.kind,
        "existing_id": matter.existing,
        "incoming_id": matter.incoming,
        "space_id": space,
        "reason": matter.reason,
        "suggestion": None if matter.suggestion is None else matter.suggestion.value,
        "confidence": matter.confidence,
        "opened_at": rows.now_ms,
        "detail": to_json({**matter.detail, "by": matter.by}),
    }


def note_pair(tx: Tx, note_id: str, matter: ItemSubject) -> None:
    """Keep that two memories may belong together: a row that was never open, so nobody is asked and nothing waits.

    Args:
        note_id: the id it gets.
    """
    if known_matter(tx, matter) is not None or _is_noted(tx, matter):
        return
    tx.insert(
        "conflicts",
        {
            **_make_review_item_row(tx, note_id, matter),
            "state": "moot",
            "note": MAY_BELONG,
            "fingerprint": make_fingerprint(tx, matter),
        },
    )


def _is_noted(rows: Rows, matter: ItemSubject) -> bool:
    return bool(
        rows.value(
            "SELECT EXISTS (SELECT 1 FROM conflicts WHERE incoming_id = ? AND existing_id IS ? AND note = ?)",
            (matter.incoming, matter.existing, MAY_BELONG),
        )
    )


def _find_open_item(rows: Rows, matter: ItemSubject) -> str | None:
    """The open item of this kind about the same memories, if any."""
    found = rows.value(
        "SELECT id FROM conflicts WHERE incoming_id = ? AND existing_id IS ? AND kind = ? AND +state = 'open'",
        (matter.incoming, matter.existing, matter.kind),
    )
    return None if found is None else str(found)


def close_conflict(tx: Tx, item_id: str, state: str, resolution: str | None, note: str | None = None) -> bool:
    """Close a review item.

    Args:
        state: `resolved`, or `moot` where it closed itself.
        resolution: the action that was taken; None where none was.
        note: why it closed itself: a key of `resources/help/review.json`.

    Returns:
        Whether it was open, or a note.
    """
    row = tx.row("conflicts", {"id": item_id})
    if row is None or (row["state"] != "open" and row["note"] != MAY_BELONG):
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
        kind: of `conflicts.kind`.
        reason: a key of `resources/help/review.json`.
        detail: numbers and keys; never memory text.

    Returns:
        The item's id.
    """
    space = tx.value("SELECT space_id FROM memories WHERE id = ?", (memory_id,))
    detail_columns = {} if detail is None else {"detail": to_json(dict(detail))}
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
            **detail_columns,
        },
    )
    return item_id


def find_lapsed(rows: Rows) -> list[str]:
    """Open items that are no longer a question, to be closed with a note.

    Returns:
        Their ids; few or none.
    """
    return [str(row[0]) for row in rows.all(_LAPSED)]


def find_restated(rows: Rows, item_ids: Iterable[str]) -> list[str]:
    """Which of the items that are no longer a question are none because the very words of a proposal stand by now.

    Args:
        item_ids: items of `find_lapsed`.

    Returns:
        Their ids, in order.
    """
    return [str(row[0]) for row in rows.all(_STATED_BEFORE, (json.dumps(list(item_ids)),))]


def find_lapsed_among(rows: Rows, memory_ids: Iterable[str]) -> list[str]:
    """Open items about certain memories that are no longer a question.

    A newcomer that is held back goes on waiting when the other side leaves; it is then a question of its own.

    Args:
        memory_ids: memories that changed.
    """
    return [str(row[0]) for row in rows.all(_LAPSED_AMONG, {"ids": json.dumps(list(memory_ids))})]


def find_reopened(rows: Rows, note: str) -> list[str]:
    """Items that closed themselves with a note and are a question again, because what closed them was taken back.

    Returns:
        Their ids; few or none.
    """
    return [str(row[0]) for row in rows.all(_RETURNED, (note,))]
