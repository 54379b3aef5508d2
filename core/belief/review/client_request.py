"""What a client asked for, as the desk shows it: who, what, and why in its own words.

Must not do: decide, or show a client's words unmarked.
"""

from __future__ import annotations

from core.belief.review.items import QueueItem
from core.belief.review.wording import format_line, review_strings
from core.types.reviews import Asked
from core.vault.database.rows import Rows

REASON_CHARACTERS = 512
"""A reason is shown whole: it has no more (bytes) when it comes."""
_ASKED = (
    "SELECT a.verb, k.name, a.reason, a.asked_at FROM approvals a JOIN clients k ON k.id = a.client_id "
    "WHERE a.conflict_id = ?"
)
_ASKED_BY = (
    "SELECT c.id FROM conflicts c JOIN memories i ON i.id = c.incoming_id "
    "LEFT JOIN approvals a ON a.conflict_id = c.id WHERE c.state = 'open' AND CASE WHEN c.kind = 'entity_merge' "
    "THEN json_extract(c.detail, '$.client') = (SELECT name FROM clients WHERE id = ?1) "
    "ELSE coalesce(a.client_id, i.client_id) = ?1 END AND (c.kind IN ('approval', 'entity_merge') "
    "OR (c.kind IN ('proposal', 'injection') AND i.status = 'quarantined')) "
    "ORDER BY c.opened_at, c.id"
)
_WISHED = "SELECT client_id FROM approvals WHERE conflict_id = ?"
_NAMED = "SELECT id FROM clients WHERE name = ?"


def requesting_client(rows: Rows, item: QueueItem) -> str | None:
    """The client that asked for an item about what is another's: an update, a removal, a merge, or a doubt of its own.

    Returns:
        Its id; None where the item is no client's wish.
    """
    found = rows.value(_WISHED, (item.id,))
    if found is None and isinstance(item.detail.get("client"), str):
        found = rows.value(_NAMED, (item.detail["client"],))
    return None if found is None else str(found)


def open_requests_of(rows: Rows, client_id: str) -> tuple[str, ...]:
    """What a client proposed or asked for and the person has not decided, the oldest first.

    Returns:
        Ids of items; what it merely brought and that disagrees with something is not among them.
    """
    return tuple(str(row[0]) for row in rows.all(_ASKED_BY, (client_id,)))


def read_request(rows: Rows, item_id: str) -> Asked | None:
    """What a client asked for with an item.

    Returns:
        It; None where no client asked.
    """
    row = rows.one(_ASKED, (item_id,))
    return None if row is None else Asked(str(row[0]), str(row[1]), str(row[2] or ""), int(row[3]))


def request_question(asked: Asked) -> str:
    """The matter as a question.

    Args:
        asked: what was asked.

    Returns:
        One sentence.
    """
    return str(review_strings()["asked"][asked.wish])


def request_sentence(asked: Asked) -> str:
    """Who asks, and why: quoted, on one line, without signs that steer a terminal.

    Args:
        asked: what was asked.

    Returns:
        One sentence.
    """
    said = review_strings()["asked"]
    client, reason = _plain(asked.client, 64), _plain(asked.reason, REASON_CHARACTERS)
    return str(said["why" if reason else "who"]).format(client=client, reason=reason)


def _plain(told: str, most: int) -> str:
    return format_line("".join(sign if sign.isprintable() else " " for sign in told), most)
