"""Taking back many steps at once, as one step that can be taken back itself.

Each step is taken back as an undo of it alone would; the newest first. What changed since stays, and a step of which
nothing could be restored stands on. That a step is taken back is itself a change of this verb's: undoing the verb
brings all of them into force again. Must not do: choose the steps.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from core.intake.undo.undo import restore_step
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

_STAND = "SELECT id FROM undo_steps WHERE id IN (SELECT value FROM json_each(?)) AND undone_by IS NULL AND is_open = 0"


@dataclass(frozen=True, slots=True)
class UndoneSteps:
    """What was taken back.

    Attributes:
        steps: ids of steps that were.
        left: ids of steps that stand on, because what they changed was changed since.
        restored: rows restored.
        gone: labels of memories that vanished, for the index.
    """

    steps: tuple[str, ...]
    left: tuple[str, ...]
    restored: int
    gone: tuple[int, ...]


def standing_steps(rows: Rows, step_ids: Sequence[str]) -> list[str]:
    """Which of these steps stand and are closed.

    Args:
        step_ids: steps.

    Returns:
        Their ids, in the order given.
    """
    stand = {str(row[0]) for row in rows.all(_STAND, (json.dumps(list(step_ids)),))}
    return [one for one in step_ids if one in stand]


def undo_many(tx: Tx, step_ids: Sequence[str], by: str) -> UndoneSteps:
    """Take steps back within a running verb.

    Args:
        step_ids: steps that stand and are closed, the newest first.
        by: the running verb's step, which is written already (`UnitOfWork.begin_step`).

    Returns:
        What was done.
    """
    steps, left, gone = [], [], []
    restored = 0
    with tx.purge():
        for step_id in step_ids:
            done = restore_step(tx, step_id)
            restored += done.restored
            gone += done.gone
            if done.left and not done.restored:
                left.append(step_id)
                continue
            steps.append(step_id)
            tx.update("undo_steps", {"id": step_id}, {"undone_by": by})
    return UndoneSteps(tuple(steps), tuple(left), restored, tuple(gone))
