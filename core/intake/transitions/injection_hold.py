"""Texts that read like an instruction: held for the person, or refused, and released by the person.

A text of a client or an import that reads like an instruction waits for the person above the hard limit; above the soft
one any text is marked, which keeps it out of what assistants are given by themselves (E10.14.3, E10.24.3). The owner's
own words are marked, never refused. Must not do: decide an item, or put memory text into `reason` or `detail`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping

from core.errors import Code, UserError
from core.intake.transaction.unit_of_work import UnitOfWork
from core.intake.transitions.review_items import open_review
from core.text.screening.injection import ALLOWED, FLAG, ScreenedText, current_limits, scan_text, screen_text
from core.types.values import Actor
from core.vault.database.rows import to_json
from core.vault.database.tx import Tx

VERB = "let_through"
LABEL = "Let a memory through to assistants"
REASON = "suspicious"
"""Why it waits: a key of `resources/help/review.json`, and the reason of its status."""
_WHOLE = (
    "SELECT id, flags FROM memories WHERE coalesce(part_of, id) = "
    "(SELECT coalesce(part_of, id) FROM memories WHERE id = ?) ORDER BY n"
)
_OPEN = "SELECT id FROM conflicts WHERE incoming_id = ? AND kind = 'injection' AND +state = 'open' LIMIT 1"


def raise_review(tx: Tx, item_id: str, memory_id: str, seen: ScreenedText) -> str:
    """Open the review item of a memory that waits because it reads like an instruction.

    Args:
        item_id: the id it gets.

    Returns:
        The item's id.
    """
    return open_review(tx, item_id, memory_id, "injection", REASON, seen.detail)


def screen_claim(
    tx: Tx, make_id: Callable[[], str], memory_id: str, claim: Mapping[str, object] | None, *, stranger: bool
) -> str | None:
    """Screen a claim that comes later than its text; the memory is marked as if the two had come together.

    The caller lets no such claim hold before the person decided the item.

    Args:
        memory_id: the memory that stands or waits.
        stranger: it comes from a client or an import.

    Returns:
        The review item the person has to decide; None where none is needed.
    """
    seen = screen_text("", claim, stranger=stranger)
    if not seen.flags:
        return None
    for part, flags in tx.all(_WHOLE, (memory_id,)):
        kept = [flag for flag in json.loads(flags) if flag not in (FLAG, ALLOWED)]
        tx.update("memories", {"id": part}, {"flags": to_json([*kept, FLAG])})
    if not seen.waits:
        return None
    open_already = tx.value(_OPEN, (memory_id,))
    return str(open_already) if open_already is not None else raise_review(tx, make_id(), memory_id, seen)


def refuse_imperatives(names: Iterable[str], words: Iterable[str] = ()) -> None:
    """Refuse what a client says where nothing could wait for the person, and it reads like an instruction (E10.14.3).

    Args:
        names: names and conditions, which stand beside memories: refused above the limit of a mark.
        words: longer texts: refused above the hard limit.

    Raises:
        UserError: ACCESS_DENIED.
    """
    named, texts = list(names), list(words)
    beside = max((scan_text(one).score for one in (*named, " ".join(named))), default=0.0)
    text_score = max((scan_text(one).score for one in (*texts, " ".join(texts))), default=0.0)
    if beside > current_limits().flag or text_score > current_limits().hard:
        raise UserError(Code.ACCESS_DENIED, "This text reads like an instruction; only the person may let it stand.")


def release_hold(tx: Tx, work: UnitOfWork, memory_id: str, actor: Actor) -> str:
    """Take the mark off a memory, with all parts of a split text: assistants may be given it.

    Raises:
        UserError: ACCESS_DENIED for anybody but the owner; NOT_FOUND.
    """
    if not actor.is_owner:
        raise UserError(Code.ACCESS_DENIED, "Only the person lets through what reads like an instruction.")
    if tx.row("memories", {"id": memory_id}) is None:
        raise UserError(Code.NOT_FOUND, "There is no such memory.")
    with work.verb(tx, VERB, LABEL, actor) as verb:
        clear_hold(tx, memory_id)
        verb.note_audit(memory_id)
    return verb.step_id


def clear_hold(tx: Tx, memory_id: str) -> None:
    """The steps of letting through, within a running verb."""
    for part, flags in tx.all(_WHOLE, (memory_id,)):
        kept = [flag for flag in json.loads(flags) if flag not in (FLAG, ALLOWED)]
        tx.update("memories", {"id": part}, {"flags": to_json([*kept, ALLOWED])})
