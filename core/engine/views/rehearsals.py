"""The facade's group for the walk along the landmarks of a wing and for rehearsing them.

Everything here is the owner's. Walking keeps nothing; a grade is one undo step.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

from core.engine.runtime.storage import Storage
from core.errors import Code, UserError
from core.memory.rehearsals import count_due, read_rehearsal, read_walk, write_rehearsal
from core.score.rehearsal import forecast_intervals, grade_rehearsal
from core.types.values import OWNER_ACTOR
from core.types.views import Grade, GradeReply, WalkStop
from core.vault.database.tx import Tx

VERB = "rehearse"
_IS_REHEARSABLE = "SELECT 1 FROM memories WHERE id = ? AND status NOT IN ('deleted', 'superseded')"


class Rehearsals:
    """Landmarks to walk along and to recall."""

    def __init__(self, storage: Callable[[], Storage]) -> None:
        self._storage = storage

    def read_walk(self, wing_id: str | None = None) -> Future[tuple[WalkStop, ...]]:
        """The landmarks of a wing in the order in which they are passed, with their texts.

        Args:
            wing_id: None for all wings, one after the other.

        Returns:
            Room by room, from the top and from the left; none where no landmark has been chosen yet. The future raises
            NOT_FOUND where there is no such wing.

        Raises:
            UserError: VAULT_LOCKED.
        """
        storage = self._storage()
        now = storage.clock.now_ms()
        return storage.read(lambda rows: read_walk(rows, wing_id, now))

    def count_due(self, wing_id: str | None = None) -> Future[int]:
        """How many landmarks that were rehearsed before are to be recalled again now.

        Args:
            wing_id: of this wing; None for all.

        Raises:
            UserError: VAULT_LOCKED.
        """
        storage = self._storage()
        now = storage.clock.now_ms()
        return storage.read_quietly(lambda rows: count_due(rows, wing_id, now))

    def grade(self, memory_id: str, grade: Grade) -> Future[GradeReply]:
        """Keep how well a landmark was recalled.

        Returns:
            When it is to be recalled next, and the undo step. The future raises NOT_FOUND for a memory that is gone.

        Raises:
            UserError: VAULT_LOCKED.
        """
        storage = self._storage()

        def write(tx: Tx) -> GradeReply:
            if tx.value(_IS_REHEARSABLE, (memory_id,)) is None:
                raise UserError(Code.NOT_FOUND, "That memory is gone; its landmark cannot be graded.")
            with storage.verb(tx, OWNER_ACTOR, VERB, label="Grade a landmark") as running:
                graded = grade_rehearsal(read_rehearsal(tx, memory_id), grade, tx.now_ms)
                write_rehearsal(tx, memory_id, graded)
                running.note_audit(memory_id, grade=grade.value)
                running.set_outcome((memory_id,))
            return GradeReply(running.step_id, graded.due_at, forecast_intervals(graded, tx.now_ms))

        return storage.write(write)
