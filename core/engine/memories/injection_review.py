"""What the window shows of a memory that reads like an instruction, and letting it through (E10.14.3).

Must not do: tell a client any of it.
"""

from __future__ import annotations

from concurrent.futures import Future

from core.belief.review.injection_warning import warned_of
from core.engine.runtime.open_vault import Opened
from core.errors import Code, UserError
from core.intake.transitions.injection_hold import VERB, let_through
from core.memory.read import by_id
from core.types.memory import Warned
from core.types.values import OWNER_ACTOR
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx


def warned(opened: Opened, memory_id: str) -> Future[Warned | None]:
    """Whether a memory is kept out of what assistants are given by themselves, and why.

    Args:
        opened: the open vault.
        memory_id: the memory.

    Returns:
        Why; None where it is not, or the person let it through. The future raises NOT_FOUND.
    """

    def read(rows: Rows) -> Warned | None:
        memory = by_id(rows, memory_id)
        if memory is None:
            raise UserError(Code.NOT_FOUND, "There is no such memory.")
        return warned_of(memory)

    return opened.read(read)


def through(opened: Opened, memory_id: str) -> Future[str]:
    """Let a memory through; one undo step (`core.intake.transitions.injection_hold.let_through`).

    Args:
        opened: the open vault.
        memory_id: the memory.

    Returns:
        The undo step; the future raises NOT_FOUND.
    """

    def write(tx: Tx) -> str:
        step = let_through(tx, opened.work, memory_id, OWNER_ACTOR)
        seq = tx.seq
        tx.after_commit(lambda: opened.announce(VERB, (memory_id,), OWNER_ACTOR, seq))
        return step

    return opened.write(write)
