"""The stand-in engine's history of steps: one step of a client.

Must not stand in where the engine itself is tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

from core.types.replies import StepRow, Steps
from core.types.values import Actor

START_MS = 1_700_000_000_000


class FakeJournals:
    def __init__(self) -> None:
        self.asked: list[tuple[str | None, int]] = []
        self.told: list[tuple[str, str, str, tuple[str, ...], tuple[str, ...]]] = []
        self.blocked: list[str] = []

    def note_disclosure(
        self,
        actor: Actor,
        verb: str,
        query: str,
        memory_ids: Sequence[str],
        entity_ids: Sequence[str] = (),
        blocked_ids: Sequence[str] = (),
    ) -> str:
        self.blocked += blocked_ids
        self.told.append((actor.name, verb, query, tuple(memory_ids), tuple(entity_ids)))
        return f"receipt-{len(self.told)}"

    def steps(self, after: str | None = None, limit: int = 100, include_undone: bool = True) -> Future[Steps]:
        self.asked.append((after, limit))
        step = StepRow(
            id="step-1",
            at=START_MS,
            verb="forget",
            label="Forget a memory",
            actor="client",
            client="plug",
            rows=1,
            undone=False,
            can_undo=True,
            is_undo=False,
            expires_at=START_MS,
        )
        told: Future[Steps] = Future()
        told.set_result(Steps((step,), 2, "step-1"))
        return told
