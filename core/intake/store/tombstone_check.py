"""What was erased is not stored again, unless the person says it anew; nobody is told that there was such a memory.

Must not do: judge a text by anything but its tombstone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.intake.transaction.tombstones import erased_texts, lift
from core.intake.transaction.unit_of_work import UnitOfWork
from core.types.replies import Classification, StoreReply
from core.types.values import Actor
from core.vault.database.tx import Tx


def barred(
    tx: Tx, work: UnitOfWork, make_id: Callable[[], str], parts: Sequence[str], label: str, actor: Actor
) -> StoreReply | None:
    """The answer to somebody who brings an erased text.

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
        lift(tx, texts)
        return None
    if not erased_texts(tx, texts):
        return None
    with work.verb(tx, "store", label, actor) as verb:
        verb.note(operation="NOOP", erased=True)
    return StoreReply("NOOP", make_id(), deduplicated=True, classification=Classification("DUPLICATE", 1.0, "rules"))
