"""What the answer to a writer may tell: as much as its asker may look up, and nothing besides.

Whoever may not read gets one answer, whatever stands there: its text is taken, under an id of its own. Where as many of
its questions wait as may, it gets another one, and one again whatever it brings. When that comes hangs on what waits
indeed (`core.intake.transaction.question_quota`), and what stands or was erased waits for nobody: who counts how much
is taken before the bound, and empties it by nothing, learns of the texts before it how many were new. So much this
bound tells, once for all that fits below it (500 questions of 30 days, as it is set first). To whoever reads what it
is kept from is not
there: no answer names it, or is another because of it. What was erased is not stored again, unless the person says it
anew; nobody is told that there was such a memory. Must not do: decide what becomes of a text; that goes the same way
for all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from core.intake.store.requests import CheckedRequest
from core.intake.transaction.question_quota import check_waiting
from core.intake.transaction.tombstones import erased_texts, lift_tombstones
from core.intake.transaction.unit_of_work import UnitOfWork
from core.types.replies import Classification, ClientRecord, StoreReply
from core.types.values import Actor, Grant
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx
from core.vault.memory_sql import UNSEALED, let_in_sql


def reply_if_tombstoned(
    tx: Tx, work: UnitOfWork, make_id: Callable[[], str], parts: Sequence[str], label: str, actor: Actor
) -> StoreReply | None:
    """The reply to somebody who brings an erased text.

    It is the answer to a text that is known already: a refusal of its own would tell a client what there was. Who reads
    finds no memory under the id, and can take it for a text that is gone (the reference says so); who may not is told
    what it is told of any text (`core.intake.store.disclosure`).

    Args:
        tx: the transaction that would store it.
        work: opens the verb, for its line in the audit.
        make_id: makes the id of the memory that there is not.
        parts: the text in its parts.
        label: the verb in words.
        actor: who brings it; where it is the person, the tombstone goes.

    Returns:
        The answer; None where the text may be stored.
    """
    texts = ["".join(parts), *parts]
    if actor.is_owner:
        lift_tombstones(tx, texts)
        return None
    if not erased_texts(tx, texts):
        return None
    with work.verb(tx, "store", label, actor) as verb:
        verb.note(operation="NOOP", erased=True)
    return StoreReply("NOOP", make_id(), deduplicated=True, classification=Classification("DUPLICATE", 1.0, "rules"))


_KEPT_FROM = (
    "SELECT m.id FROM memories m WHERE m.id IN (SELECT value FROM json_each(:ids)) "  # noqa: S608 - constants
    f"AND NOT ({UNSEALED} AND {let_in_sql()})"
)
_SIDES = "SELECT existing_id, incoming_id FROM conflicts WHERE id = ?"


def may_not_read(client: ClientRecord | None) -> bool:
    """Whether a writer may not read at all.

    Args:
        client: who writes; None for the owner.
    """
    return client is not None and Grant.READ.value not in client.grants


def check_room(rows: Rows, actor: Actor, client: ClientRecord | None, most: int, now_ms: int) -> None:
    """Refuse a writer that may not read once as many of its questions wait as may: whatever it brings, it is the same.

    What waits is counted, not what it was told waits.

    Args:
        rows: the transaction, before anything is done.
        actor: who writes; `client` is the client, if one writes.
        client: see there.
        most: so many may be open.

    Raises:
        UserError: RATE_LIMITED.
    """
    if may_not_read(client):
        check_waiting(rows, actor, most, now_ms, coming=1)


def visible_reply(
    rows: Rows,
    make_id: Callable[[], str],
    reply: StoreReply,
    checked: CheckedRequest,
    client: ClientRecord | None,
    own_id: str,
) -> StoreReply:
    """The reply with no more than its asker may know.

    Args:
        rows: the transaction that did it.
        reply: what happened.
        checked: what was asked.
        client: who asked; None for the owner.
        own_id: the id that the asker's own row has, or would have had.

    Returns:
        The reply; to a writer that may not read, one that follows from what it asked alone. An id in it may lead
        nowhere: it could not look there.
    """
    if client is None:
        return reply
    if may_not_read(client):
        return _taken(make_id, checked, own_id, reply.conflict if reply.memory_id == own_id else None)
    hidden = _kept_from(rows, reply, client)
    if not hidden:
        return reply
    if reply.memory_id in hidden:
        against = _existing(rows, reply.conflict)
        is_held = reply.operation == "QUARANTINE" and against is not None and against not in hidden
        return StoreReply("QUARANTINE" if is_held else "ADD", own_id)
    superseded = tuple(one for one in reply.superseded if one not in hidden)
    is_about = _existing(rows, reply.conflict) in hidden
    if is_about or len(superseded) < len(reply.superseded):
        operation = "SUPERSEDE" if superseded else "ADD"
        return replace(reply, operation=operation, superseded=superseded, conflict=None if is_about else reply.conflict)
    return reply


def reply_for_left_out(
    make_id: Callable[[], str], checked: CheckedRequest, client: ClientRecord | None
) -> StoreReply | None:
    """The answer to a text of several that is not stored: it was erased, or is known already.

    Args:
        checked: what was asked.
        client: who asked; None for the owner.

    Returns:
        To a writer that may not read, the answer to any text; None to others, who are told that it was left out.
    """
    return _taken(make_id, checked, make_id(), None) if may_not_read(client) else None


def _taken(make_id: Callable[[], str], checked: CheckedRequest, own_id: str, conflict: str | None) -> StoreReply:
    if not checked.waits:
        return StoreReply("ADD", own_id)
    return StoreReply("QUARANTINE" if checked.screened.waits else "PROPOSED", own_id, conflict=conflict or make_id())


def _kept_from(rows: Rows, reply: StoreReply, client: ClientRecord) -> frozenset[str]:
    """Memories that an answer names, or its question is about, and the asker is kept from."""
    named = [reply.memory_id, *reply.superseded]
    if reply.conflict is not None:
        named += [one for row in rows.all(_SIDES, (reply.conflict,)) for one in row if one is not None]
    return _hidden(rows, named, None if Grant.CURATE.value in client.grants else client.id)


def is_sealed(rows: Rows, memory_id: str | None, client: ClientRecord | None) -> bool:
    """Whether a memory is sealed from a writer: then it is no twin of what the writer brings.

    Args:
        memory_id: the memory; None for none.
        client: who writes; None for the owner, from whom nothing is sealed.
    """
    return client is not None and memory_id is not None and bool(_hidden(rows, [memory_id], None))


def _hidden(rows: Rows, ids: Iterable[str], asker: str | None) -> frozenset[str]:
    return frozenset(str(row[0]) for row in rows.all(_KEPT_FROM, {"ids": json.dumps(list(ids)), "asker": asker}))


def _existing(rows: Rows, conflict: str | None) -> str | None:
    row = None if conflict is None else rows.one(_SIDES, (conflict,))
    return None if row is None or row[0] is None else str(row[0])
