"""A verdict on one memory, said once: looked up again, carried out, kept for when it comes again, announced.

Must not do: say who may speak of what; the caller's `may` does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from core.engine.runtime.open_vault import Opened
from core.intake.transaction.idempotency import Repeat
from core.intake.transitions.verdicts import Voices
from core.types.replies import VerdictReply
from core.types.requests import Extras
from core.types.values import Actor
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx


@dataclass(frozen=True, slots=True)
class Spoken:
    """What somebody says of a memory.

    Attributes:
        verdict: the verb.
        memory_id: the memory.
        actor: who says so.
        extras: what the memory must be, and the caller's own id for this call.
        told: what else the call was made with, JSON-able.
    """

    verdict: str
    memory_id: str
    actor: Actor
    extras: Extras
    told: Mapping[str, Any] = field(default_factory=dict)

    @property
    def repeat(self) -> Repeat:
        """By what this call is known again."""
        whole = {"verb": self.verdict, "id": self.memory_id, **self.told}
        return Repeat(self.actor, self.extras.request_id, whole)


def speak(
    tx: Tx, opened: Opened, spoken: Spoken, may: Callable[[Rows], None], say: Callable[[Voices, Tx], VerdictReply]
) -> VerdictReply:
    """Carry a verdict out within a transaction; one that came before is answered as it was then.

    Args:
        tx: the transaction.
        opened: the open vault.
        spoken: what is said.
        may: raises where the actor may not say it.
        say: says it.

    Returns:
        How the memory stands.

    Raises:
        UserError: what `may` and `say` raise; INVALID_INPUT where the id was used for something else.
    """
    may(tx)
    voices = Voices(opened.make_id, opened.work, opened.space, opened.add_vectors)

    def do() -> Mapping[str, Any]:
        reply, seq = say(voices, tx), tx.seq
        tx.after_commit(lambda: opened.announce(spoken.verdict, (reply.memory_id,), spoken.actor, seq))
        return asdict(reply)

    return VerdictReply(**spoken.repeat.once(tx, do))
