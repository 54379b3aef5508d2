"""How a memory did as an answer, put down with the question it was an answer to (E7.3.1).

Must not do: change the memory, or keep the words of the question: its vector is enough to know one like it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future

from core.embed.codec import to_blob
from core.engine.runtime.futures import chain
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.vector_space import Embedded
from core.engine.startup import flush_journal
from core.errors import Code, UserError
from core.score.belief.quality import GRADES
from core.text.compose import query_text
from core.types.recall import FeedbackReply
from core.types.values import Actor
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

VERB, LABEL = "feedback", "Judge a result"


def give_feedback(
    opened: OpenVault,
    memory_id: str,
    signal: str,
    query: str,
    actor: Actor,
    receipt_id: str | None,
    check: Callable[[Rows], None],
) -> Future[FeedbackReply]:
    """Put a feedback down: one verb, one step.

    Args:
        signal: a key of `core.score.belief.quality.GRADES`.
        receipt_id: of the recall it was seen in; one that is not the actor's own, or has expired, is left out.
        check: raises where the actor may not see the memory.

    Returns:
        The feedback with its step; the future raises what `check` does.

    Raises:
        UserError: INVALID_INPUT for another signal, INVALID_QUERY for an empty question.
    """
    if signal not in GRADES:
        raise UserError(Code.INVALID_INPUT, f"A feedback is one of: {', '.join(GRADES)}.")
    if not query.replace("\0", " ").strip():
        raise UserError(Code.INVALID_QUERY, "Say which question the memory was an answer to.")

    def write(tx: Tx, meant: Embedded) -> FeedbackReply:
        check(tx)
        more = {"receipt_id": _own_receipt(tx, receipt_id, actor), **_compared_by(meant)}
        return write_feedback(tx, opened, memory_id, signal, actor, more)

    def with_receipts(meant: Embedded) -> Future[Embedded]:
        """The receipt may be of the last second, and then waits to be written."""
        return opened.on(opened.threads.reads, _flushed, opened, meant, receipt_id)

    embedded = chain(opened.search.embed_texts([query_text(query)]), with_receipts)
    return chain(embedded, lambda meant: opened.write(lambda tx: write(tx, meant)))


def write_feedback(
    tx: Tx, opened: OpenVault, memory_id: str, signal: str, actor: Actor, more: Mapping[str, object]
) -> FeedbackReply:
    """Put a feedback down within a transaction: one verb, one step.

    Args:
        memory_id: the memory; the caller has checked that the actor may see it.
        signal: a key of `core.score.belief.quality.GRADES`.
        more: further columns; without a question it is held against none.

    Returns:
        The feedback with its step.
    """
    feedback_id = opened.make_id()
    row = {"id": feedback_id, "memory_id": memory_id, "signal": signal, "actor": actor.kind}
    with opened.work.verb(tx, VERB, LABEL, actor) as verb:
        tx.insert("feedback", {**row, "client_id": actor.client_id, "at": tx.now_ms, **more})
        verb.note(memory_id, signal=signal)
    opened.announce_after(tx, VERB, (memory_id,), actor)
    return FeedbackReply(feedback_id, memory_id, signal, verb.step_id)


def _compared_by(meant: Embedded) -> dict[str, object]:
    """The question as a vector; a feedback without one counts for the memory and holds it back from no question."""
    vector = meant.first
    if vector is None:
        return {"context": None, "vector_space": None}
    return {"context": to_blob(vector), "vector_space": meant.active_space.space.name}


def _flushed(opened: OpenVault, meant: Embedded, receipt_id: str | None) -> Embedded:
    if receipt_id is not None:
        flush_journal(opened)
    return meant


def _own_receipt(rows: Rows, receipt_id: str | None, actor: Actor) -> str | None:
    found = rows.value(
        "SELECT id FROM receipts WHERE id = ? AND client_id IS ? AND actor = ?",
        (receipt_id, actor.client_id, actor.kind),
    )
    return None if found is None else str(found)
