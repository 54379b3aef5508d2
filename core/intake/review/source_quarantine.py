"""Holding back everything that comes from one source, with what was derived from it, as one step.

The roots are a memory, or all that a client, an import or a conversation brought; beneath them lies what was made of
them. Must not do: delete, or hold what is gone already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.errors import Code, PreconditionError, UserError
from core.intake.claims import sync_claims
from core.intake.transaction.sources import refresh_trust
from core.intake.transaction.unit_of_work import UnitOfWork
from core.intake.transitions.review_items import ItemSubject, close_moot, open_conflict
from core.types.reviews import HoldPreview, HoldReply, HoldRequest
from core.types.values import Action, Actor, Status
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

VERB, HELD = "hold", "held"
_SHOWN = 200
_ITEMS = 50
_FOLLOWED = 500
_ROOTS = {
    "memory": "SELECT id FROM memories WHERE id = :key OR part_of = :key",
    "client": "SELECT m.id FROM memories m JOIN clients k ON k.id = m.client_id WHERE k.name = :key OR k.id = :key",
    "import": "SELECT id FROM memories WHERE import_id = :key",
    "conversation": "SELECT id FROM memories WHERE conversation_id = :key",
}
_BELOW = """
    WITH RECURSIVE below (id) AS (
        SELECT value FROM json_each(:roots)
        UNION SELECT d.derived_id FROM below b JOIN derivations d ON d.source_id = b.id
    )
    SELECT m.id, m.kind, m.status FROM below b CROSS JOIN memories m ON m.id = b.id
    WHERE m.status IN ('active', 'disputed', 'consolidated') ORDER BY m.n
"""


@dataclass(frozen=True, slots=True)
class _Affected:
    id: str
    kind: str
    is_root: bool


def preview_hold(rows: Rows, request: HoldRequest) -> HoldPreview:
    """What holding a source would hold; nothing is written.

    Returns:
        Counts, and the first ids.

    Raises:
        UserError: NOT_FOUND for a source that brought nothing.
    """
    found = _find_affected(rows, request)
    kinds: dict[str, int] = {}
    for one in found:
        kinds[one.kind] = kinds.get(one.kind, 0) + 1
    return HoldPreview(
        memories=len(found),
        derived=sum(not one.is_root for one in found),
        kinds=kinds,
        ids=tuple(one.id for one in found[:_SHOWN]),
    )


def hold_source(tx: Tx, work: UnitOfWork, make_id: Callable[[], str], request: HoldRequest, actor: Actor) -> HoldReply:
    """Hold back a source and all that was derived from it.

    Returns:
        What was held. Up to fifty of them get an item at the desk; a larger source is taken back as a whole, with the
        step, or brought back in the library.

    Raises:
        UserError: NOT_FOUND for a source that brought nothing, INVALID_INPUT where nothing of it stands.
    """
    found = _find_affected(tx, request)
    if not found:
        raise PreconditionError("Nothing of that source stands; there is nothing to hold back.")
    ids = [one.id for one in found]
    label = f"Hold back {'a memory' if len(ids) == 1 else f'{len(ids):,} memories'} from one source"
    with work.verb(tx, VERB, label, actor) as verb:
        tx.update_many(
            "memories", "id", ids, {"status": Status.QUARANTINED.value, "status_reason": HELD, "retired_at": None}
        )
        for at in range(0, len(ids), _FOLLOWED):
            sync_claims(tx, make_id, ids[at : at + _FOLLOWED])
        close_moot(tx, ids)
        items = _open_items_of_source(tx, make_id, ids)
        for one in found:
            if one.is_root:
                refresh_trust(tx, one.id)
        verb.note_audit(ids[0] if len(ids) == 1 else "", by=request.by, memories=len(ids), items=len(items))
    return HoldReply(verb.step_id, label, tuple(ids), items)


def _find_affected(rows: Rows, request: HoldRequest) -> list[_Affected]:
    sql = _ROOTS.get(request.by)
    if sql is None:
        raise UserError(Code.INVALID_INPUT, "A source is a memory, a client, an import or a conversation.")
    roots = [str(row[0]) for row in rows.all(sql, {"key": request.key})]
    if not roots:
        raise UserError(Code.NOT_FOUND, "There is nothing from that source.")
    known = frozenset(roots)
    found = rows.all(_BELOW, {"roots": to_json(roots)})
    return [_Affected(str(i), str(kind), i in known) for i, kind, _ in found]


def _open_items_of_source(tx: Tx, make_id: Callable[[], str], ids: Sequence[str]) -> tuple[str, ...]:
    """An item at the desk for each, where they are few enough to be looked at one by one."""
    if len(ids) > _ITEMS:
        return ()
    first_parts = tx.all(
        "SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(?)) AND coalesce(part_index, 0) = 0 "
        "ORDER BY n",
        (to_json(list(ids)),),
    )
    opened = (
        _open_quarantine_item(tx, make_id(), memory_id)
        for (memory_id,) in first_parts
        if not tx.one("SELECT 1 FROM conflicts WHERE incoming_id = ? AND state = 'open'", (memory_id,))
    )
    return tuple(item_id for item_id in opened if item_id is not None)


def _open_quarantine_item(tx: Tx, item_id: str, memory_id: str) -> str | None:
    """An item of its own each time: that it was rejected before is no answer for a person who holds it back again."""
    keys = (item_id.encode(),)
    return open_conflict(
        tx, item_id, ItemSubject("quarantine", memory_id, reason=HELD, suggestion=Action.REJECT, keys=keys)
    )
