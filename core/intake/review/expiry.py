"""What closes by itself at the desk: questions that are none any more, and old ones that nobody is harmed by.

Closing oneself decides nothing and is no undo step: what closed so is a question again as soon as its memories are.
Must not do: close what the person still has to decide, or touch a memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.belief.claims.authorship import PERSONS
from core.belief.review.harm import LOW, age_days
from core.belief.review.items import find_lapsed, find_reopened, find_restated
from core.belief.review.queue import QueueEntry, read_waiting
from core.memory.draft import to_json
from core.vault.database.rows import EXPIRED, LAPSED, STANDS, Rows
from core.vault.database.tx import Tx

EXPIRES_DAYS = 90
"""Days an unimportant question waits; the spec is silent, our choice."""
_AT_ONCE = 500
# What concerns the owner's word is the owner's to decide, however old and of whatever kind.
_OWNERS = (
    "SELECT c.id FROM json_each(?) w JOIN conflicts c ON c.id = w.value "  # noqa: S608 - constants only
    "WHERE EXISTS (SELECT 1 FROM memories m WHERE m.id IN (c.incoming_id, c.existing_id) AND " + PERSONS + ")"
)


@dataclass(frozen=True, slots=True)
class StaleItems:
    """Ids of the review items that close, reopen or expire."""

    lapsed: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lapsed or self.returned or self.expired)


def find_stale(rows: Rows, now_ms: int, *, expiry: bool) -> StaleItems:
    """Find the review items that close, reopen or expire now.

    Args:
        expiry: whether to look for what expired too; that reads the whole queue.

    Returns:
        The items.
    """
    over = find_expired(rows, now_ms) if expiry else ()
    again = [*find_reopened(rows, LAPSED), *find_reopened(rows, STANDS)]
    return StaleItems(tuple(find_lapsed(rows)[:_AT_ONCE]), tuple(again[:_AT_ONCE]), over[:_AT_ONCE])


def find_expired(rows: Rows, now_ms: int) -> tuple[str, ...]:
    """Items that nobody decided for ninety days and whose harm is low.

    Returns:
        Their ids.
    """
    old = [item.id for item in read_waiting(rows, now_ms) if _is_over(item, now_ms)]
    kept = {row[0] for row in rows.all(_OWNERS, (to_json(old),))} if old else set()
    return tuple(item_id for item_id in old if item_id not in kept)


def _is_over(item: QueueEntry, now_ms: int) -> bool:
    return -item.weight < LOW and age_days(now_ms, -item.newer) > EXPIRES_DAYS


def revalidate(tx: Tx, *, expiry: bool = False) -> int:
    """Close what is no longer a question, open again what is one after all.

    Args:
        tx: the transaction; nothing is recorded for undo.
        expiry: whether to close what expired too.

    Returns:
        How many items changed.
    """
    found = find_stale(tx, tx.now_ms, expiry=expiry)
    recorder, tx.recorder = tx.recorder, None
    try:
        said = find_restated(tx, found.lapsed)
        _close(tx, said, STANDS)
        _close(tx, [one for one in found.lapsed if one not in said], LAPSED)
        _close(tx, found.expired, EXPIRED)
        tx.update_many("conflicts", "id", found.returned, {"state": "open", "note": None, "closed_at": None})
    finally:
        tx.recorder = recorder
    return len(found.lapsed) + len(found.expired) + len(found.returned)


def _close(tx: Tx, ids: Sequence[str], note: str) -> None:
    changes = {"state": "moot", "note": note, "closed_at": tx.now_ms, "later_until": None}
    tx.update_many("conflicts", "id", ids, changes)


def has_stale(rows: Rows, now_ms: int, *, expiry: bool) -> bool:
    """Whether `revalidate` would change anything; so that the writer is not asked for nothing.

    Args:
        expiry: whether to look for what expired too.

    Returns:
        Whether there is any.
    """
    return bool(find_stale(rows, now_ms, expiry=expiry))
