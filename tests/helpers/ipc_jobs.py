"""Stand-ins for the engine's groups of scheduled work and of practice, for the tests of `core.ipc`: all has ended."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from answered import finished

from core.types.lifecycle import (
    Beat,
    Consolidated,
    JobRow,
    Jobs,
    JobState,
    JobType,
    Marked,
    OutcomeTaken,
    Pressure,
    Preview,
    ProcedureState,
    RuleState,
)
from core.types.values import OWNER_ACTOR, Actor

START_MS = 1_700_000_000_000


def job_row(kind: JobType, state: JobState = JobState.DONE, **changes: Any) -> JobRow:
    """A job that ended well, unless said otherwise."""
    row = JobRow(
        "00000000-0000-7000-8000-00000000000a", kind, kind.value.title(), state, "owner", START_MS, START_MS,
        START_MS + 1000, 3, 3, 0, None, {"faded": 2}, "", "00000000-0000-7000-8000-00000000000b",
        can_undo=True, undone=False,
    )  # fmt: skip
    return replace(row, **changes)


class FakeJobs:
    """Scheduled work that ends at once."""

    def __init__(self) -> None:
        self.asked: list[JobType] = []
        self.fails: JobState | None = None

    def state(self, limit: int = 50) -> Future[Jobs]:
        rows = (job_row(JobType.SWEEP), job_row(JobType.REPLAY, JobState.QUEUED, waits_for="Waits for its turn."))
        beats = (Beat(JobType.SWEEP, "Sweep", "Looks.", START_MS, START_MS + 5000, is_heavy=False),)
        return finished(
            Jobs(paused=False, holds="", pressure=Pressure.NORMAL, rows=rows[:limit], calendar=beats, total=1)
        )

    def preview(self, limit: int = 200, kinds: Sequence[JobType] = ()) -> Future[Preview]:
        report = Consolidated(deduplicated=4, dry_run=True, before={"total": 9, "active": 8}).to_json()
        return finished(Preview(START_MS, (), {"stack": 4}, report))

    def run(self, kind: JobType, actor: Actor = OWNER_ACTOR) -> Future[JobRow]:
        self.asked.append(kind)
        if self.fails is not None:
            return finished(job_row(kind, self.fails, code="E5002"))
        report = Consolidated(deduplicated=4).to_json() if kind is JobType.CONSOLIDATE else {"faded": 2}
        return finished(job_row(kind, report=report))


class FakePractice:
    """Rules and procedures whose every report is the first.

    Attributes:
        said: what was reported: id, word, reason.
        turns: whether harm turns a rule around.
    """

    def __init__(self) -> None:
        self.said: list[tuple[str, str, str | None]] = []
        self.turns = False

    def helpful(self, memory_id: str, _actor: Actor) -> Future[Marked]:
        self.said.append((memory_id, "helpful", None))
        return finished(Marked(_rule(memory_id, 1, 0), "step-1"))

    def harmful(self, memory_id: str, _actor: Actor, reason: str | None = None) -> Future[Marked]:
        self.said.append((memory_id, "harmful", reason))
        return finished(Marked(_rule(memory_id, 0, 1), "step-1", inverted=self.turns))

    def outcome(
        self, memory_id: str, _actor: Actor, *, success: bool, took_ms: int | None = None
    ) -> Future[OutcomeTaken]:
        del took_ms
        self.said.append((memory_id, "worked" if success else "failed", None))
        state = ProcedureState(memory_id, (), (), (), int(success), int(not success), 0, START_MS)
        return finished(OutcomeTaken(state, "step-1"))


def _rule(memory_id: str, helpful: int, harmful: int) -> RuleState:
    return RuleState(
        memory_id, "candidate", helpful, harmful, float(helpful), START_MS, needs_inversion=False, original_text=None,
        reasons=(), proposal=None,
    )  # fmt: skip
