"""How much of one client may wait for the person: who asks without end gets no more of the person's time (purpose).

Must not do: decide an item, or count what another client asked.
"""

from __future__ import annotations

from core.errors import Code, UserError
from core.types.values import Actor
from core.vault.rows import Rows

# Of all kinds: what it proposed or brought, what it wishes to have changed, and its doubts about what is the person's.
_WAITING = (
    "SELECT count(*) FROM conflicts k JOIN memories i ON i.id = k.incoming_id "
    "LEFT JOIN approvals a ON a.conflict_id = k.id "
    "WHERE k.state = 'open' AND CASE WHEN a.conflict_id IS NOT NULL THEN a.client_id = :client "
    "ELSE i.client_id = :client OR (k.reason = 'client_doubts' AND json_extract(k.detail, '$.client') = :name) END"
)


def check_waiting(rows: Rows, actor: Actor, most: int) -> None:
    """Refuse what would make more of a client's questions wait than the person wants to see.

    Args:
        rows: the transaction, with the item that was just opened.
        actor: the client.
        most: so many may be open.

    Raises:
        UserError: RATE_LIMITED.
    """
    if actor.client_id is None:
        return
    if int(rows.value(_WAITING, {"client": actor.client_id, "name": actor.name})) > most:
        raise UserError(
            Code.RATE_LIMITED,
            f"{most} questions of this client wait for the person already; some must be decided first.",
        )
