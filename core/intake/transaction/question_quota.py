"""How many questions of one client may wait for the person, and how often it may report on one rule.

Counted are the questions of the last weeks, so a client that asks a little every day is never refused; what closed at
once, since the person had turned the same down before, counts like what waits. Must not do: decide an item.
"""

from __future__ import annotations

from core.errors import Code, UserError
from core.types.values import Actor
from core.vault.database.rows import Rows
from core.vault.memory_sql import REFUSED

_, _BEFORE = REFUSED
WITHIN_DAYS = 30
"""What was asked longer ago no longer counts."""
MARKS_A_DAY = 20
"""Reports of one client on one rule within a day."""
_DAY_MS = 86_400_000
# Of all kinds: what it proposed or brought, what it wishes to have changed, its doubts about what is the person's, and
# the names it wants to be one.
_WAITING = (
    "SELECT count(*) FROM conflicts k JOIN memories i ON i.id = k.incoming_id "
    "LEFT JOIN approvals a ON a.conflict_id = k.id "
    "WHERE k.state IN ('open', 'moot') AND (k.state = 'open' OR k.note = :before) AND k.opened_at > :since AND "
    "CASE WHEN a.conflict_id IS NOT NULL THEN a.client_id = :client "
    "WHEN json_extract(k.detail, '$.client') IS NOT NULL THEN json_extract(k.detail, '$.client') = :name "
    "ELSE i.client_id = :client END"
)


def check_waiting(rows: Rows, actor: Actor, most: int, now_ms: int, coming: int = 0) -> None:
    """Refuse what would make more of a client's questions wait than the person wants to see.

    Args:
        rows: the transaction, with the item that was just opened.
        most: so many of the last `WITHIN_DAYS` days may be open, or turned down before.
        coming: so many are to be opened yet.

    Raises:
        UserError: RATE_LIMITED.
    """
    if actor.client_id is None:
        return
    since = now_ms - WITHIN_DAYS * _DAY_MS
    asked = {"client": actor.client_id, "name": actor.name, "since": since, "before": _BEFORE}
    if int(rows.value(_WAITING, asked)) + coming > most:
        raise UserError(
            Code.RATE_LIMITED,
            f"{most} questions of this client from the last {WITHIN_DAYS} days wait for the person already; "
            "some must be decided first.",
        )


def is_at_bound(rows: Rows, actor: Actor, most: int, now_ms: int) -> bool:
    """Whether one more question of the client would be refused by `check_waiting`."""
    try:
        check_waiting(rows, actor, most, now_ms, coming=1)
    except UserError:
        return True
    return False


_MARKS = "SELECT count(*) FROM rule_applications WHERE memory_id = ? AND client_id = ? AND applied_at > ?"


def check_mark_limits(rows: Rows, memory_id: str, actor: Actor, now_ms: int) -> None:
    """Refuse a report by which one client alone would talk a rule up or down without end.

    Args:
        rows: the transaction; nothing is taken down yet.
        actor: who reports; the person as often as it likes.

    Raises:
        UserError: RATE_LIMITED.
    """
    if actor.client_id is None:
        return
    if int(rows.value(_MARKS, (memory_id, actor.client_id, now_ms - _DAY_MS))) >= MARKS_A_DAY:
        raise UserError(
            Code.RATE_LIMITED, f"This client has reported on this rule {MARKS_A_DAY} times today; try again tomorrow."
        )
