"""One batch of one job: what it is given, prepared off the writer, carried out with the job's own state.

Must not do: choose which job runs, or when.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.belief.relate.relation_model import RelationModel
from core.embed.embedder import AWAY
from core.engine.jobs.due_times import job_wordings
from core.engine.jobs.model_refinement import ModelRefinement
from core.engine.memories.memories import vector_remover
from core.engine.runtime.monitor import trim_heap
from core.engine.runtime.open_vault import OpenVault
from core.errors import BugError, Code, EnvironmentFaultError
from core.events import Progress
from core.index.manager import IndexManager, IndexState
from core.intake.store.store import StoreService
from core.lifecycle.consolidate.consolidate import count_active, make_report
from core.lifecycle.job_support import job_store
from core.lifecycle.job_support.job_context import (
    BatchResult,
    JobContext,
    Planner,
    PreparingPlanner,
    StreamJob,
    TalkReader,
)
from core.lifecycle.job_support.job_store import StoredJob
from core.llm.prompts import Prompt
from core.types.belief import ModelServerState
from core.types.lifecycle import JobState, JobType
from core.types.values import LIFECYCLE_ACTOR, OWNER_ACTOR
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

_ASK_S = 300.0
_CLEARTEXT = "cleartext"
_STEP_S = 0.02
_SHARE = 8
"""While somebody searches all the time, work goes on for one part of time in so many and one."""
_NEIGHBOURS_AT_ONCE = 16

T = TypeVar("T")


def make_job_context(
    open_vault: OpenVault, model: ModelRefinement, is_stopped: Callable[[], bool], patience_s: float
) -> JobContext:
    """Make what a job stands on; anew for every batch, so that it goes by the options in force.

    Args:
        is_stopped: whether the job shall end.
        patience_s: the longest one read waits while somebody searches.
    """
    active_space = (
        open_vault.search.active_space
    )  # once: a change of the model in between must not mix two vector spaces
    is_whole = active_space.index.status().state is IndexState.READY
    throttle = _ReadThrottle(open_vault, patience_s)

    def embed_later(texts: Sequence[str]) -> Future[NDArray[np.float32]]:
        return open_vault.storage.run_on(open_vault.storage.threads.compute, active_space.embed, texts)

    return JobContext(
        clock=open_vault.storage.clock,
        options=open_vault.options,
        make_id=open_vault.storage.make_id,
        work=open_vault.storage.work,
        store_service=active_space.store_service,
        space=active_space.space,
        read=throttle.read,
        embed=lambda texts: embed_later(texts).result(),
        neighbours=partial(_find_neighbours, active_space.index, throttle) if is_whole else None,
        ask=partial(_ask_model, model) if open_vault.model.server is ModelServerState.READY else None,
        is_stopped=is_stopped,
        stored=active_space.add_vectors,
        removed=vector_remover(open_vault.storage, open_vault.search),
        tidy=partial(_free_models, active_space.store_service, open_vault.talk),
        talk=open_vault.talk,
        embed_later=embed_later,
        begin=partial(open_vault.storage.run_on, open_vault.storage.threads.compute),
    )


def _free_models(store_service: StoreService, talk: TalkReader | None) -> None:
    """A job's own session of the relation model is some 30 MB, and what a stage freed may be as much."""
    relate = store_service.readers.relate
    if isinstance(relate, RelationModel):
        relate.rest()
    if store_service.readers.rest is not None:
        store_service.readers.rest()
    if talk is not None:
        talk.rest()
    trim_heap()


class _ReadThrottle:
    """Lets a person's search go first: a plan reads for minutes, and waits whenever it is about to read again.

    It waits while somebody is at work, at most `_SHARE` times as long as it worked since it last waited: it is held
    back, and never for good.
    """

    def __init__(self, open_vault: OpenVault, patience_s: float) -> None:
        self._open_vault, self._patience_s = open_vault, patience_s
        self._since = open_vault.storage.clock.monotonic()

    def wait_while_busy(self) -> None:
        open_vault = self._open_vault
        worked = open_vault.storage.clock.monotonic() - self._since
        left = min(self._patience_s, max(_STEP_S, _SHARE * worked))
        while open_vault.load.activity.is_busy and left > 0 and not open_vault.storage.closing.is_set():
            open_vault.storage.closing.wait(_STEP_S)
            left -= _STEP_S
        self._since = open_vault.storage.clock.monotonic()

    def read(self, fn: Callable[[Rows], T]) -> T:
        self.wait_while_busy()
        return self._open_vault.storage.vault.read(fn, deadline_s=None)


def _find_neighbours(
    index: IndexManager, throttle: _ReadThrottle, vectors: NDArray[np.float32], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    labels = np.full((len(vectors), k), -1, np.int64)
    cosines = np.full((len(vectors), k), -1.0, np.float32)
    for place, vector in enumerate(vectors):
        if place % _NEIGHBOURS_AT_ONCE == 0:
            throttle.wait_while_busy()
        hits = index.search(vector, k)
        labels[place, : len(hits.labels)] = hits.labels
        cosines[place, : len(hits.labels)] = hits.cosines
    return labels, cosines


def _ask_model(model: ModelRefinement, prompt: Prompt) -> str:
    """Wait for the model on the thread of the job; never on the writer's. Jobs ask about cleartext memories alone."""
    asked = model.ask_model(prompt, (_CLEARTEXT,))
    try:
        return asked.result(_ASK_S)
    except TimeoutError:
        asked.cancel()
        raise EnvironmentFaultError(Code.MODEL_SERVER_FAILED, "The model server did not answer in time.") from None


_BATCH, _LEAST, _MOST = 25, 1, 200
_PATIENT = AWAY | {Code.DISK_FULL, Code.BUSY}
_AIM_S = 0.08
"""A batch holds the writer about so long."""


@dataclass(frozen=True, slots=True)
class JobCheckpoint:
    """The state of a job after a batch.

    Attributes:
        report: what it did so far.
    """

    job_id: str
    state: JobState
    report: Mapping[str, Any] = field(default_factory=dict)


class JobRunner:
    """Carries out batches in one open vault."""

    def __init__(self, open_vault: OpenVault, jobs: Mapping[JobType, Planner | StreamJob]) -> None:
        self._open_vault = open_vault
        self._jobs = jobs
        self._size: dict[str, int] = {}

    @staticmethod
    def checkpoint_of(job: StoredJob) -> JobCheckpoint:
        """How a job stands of which no batch is run."""
        return JobCheckpoint(job.id, job.state, job.counts)

    def run_batch(self, job: StoredJob, context: JobContext) -> JobCheckpoint:
        """Do the next batch.

        Args:
            job: as it stands in the vault.

        Returns:
            How it stands now.

        Raises:
            LociError: what the vault, the embedder or the model said.
        """
        work = self._jobs[job.type]
        if not isinstance(work, Planner):
            kept = self._run_stream(job, work, context)
        elif job.started_at is None:
            kept = self._plan_job(job, work, context)
        else:
            kept = self._run_planner(job, work, context)
        if kept.state is not JobState.RUNNING:
            context.tidy()
        return kept

    # ---- planned work

    def _plan_job(self, job: StoredJob, work: Planner, context: JobContext) -> JobCheckpoint:
        self._publish_progress(job, 0, None)
        actions = work.plan(context)
        if context.is_stopped():
            return JobCheckpoint(job.id, JobState.RUNNING)  # looked at anew, and closed then
        cursor = {"before": context.read(count_active)}
        self._write_in_background(lambda tx: job_store.begin_job(tx, job, actions, len(actions), cursor))
        self._publish_progress(job, 0, len(actions))
        return JobCheckpoint(job.id, JobState.RUNNING)

    def _run_planner(self, job: StoredJob, work: Planner, context: JobContext) -> JobCheckpoint:
        size = self._size.get(job.id, _BATCH)
        actions = context.read(lambda rows: job_store.read_plan(rows, job.id, job.progress, size))
        if not actions:
            return self.close_job(job, JobState.DONE)
        apply_plan = work.apply_plan
        if isinstance(work, PreparingPlanner):
            apply_plan = partial(work.apply_plan, prepared=work.prepare(context, actions))
        begun = self._open_vault.storage.clock.monotonic()

        def write(tx: Tx) -> StoredJob:
            self._check_unchanged(tx, job)
            with self._open_verb(tx, job) as verb:
                batch = apply_plan(tx, verb, context, actions)
                verb.note_audit(job.id, **batch.counts)
            return self._advance_job(tx, job, BatchResult(len(actions), batch.counts, batch.ids), verb.step_id)

        after = self._write_in_background(write)
        took = max(1e-4, self._open_vault.storage.clock.monotonic() - begun)
        self._size[job.id] = min(_MOST, max(_LEAST, int(size * min(4.0, _AIM_S / took))))
        self._publish_progress(job, after.progress, job.total)
        return JobCheckpoint(job.id, JobState.RUNNING, after.counts)

    # ---- streams

    def _run_stream(self, job: StoredJob, work: StreamJob, context: JobContext) -> JobCheckpoint:
        if job.started_at is None:
            total = context.read(lambda rows: work.count_backlog(rows, context, job.cursor))
            self._write_in_background(lambda tx: job_store.begin_job(tx, job, None, total, job.cursor))
            self._publish_progress(job, 0, total)
            return JobCheckpoint(job.id, JobState.RUNNING)
        prepared = work.prepare(context, job.cursor)
        if prepared is None or context.is_stopped():
            return (
                JobCheckpoint(job.id, JobState.RUNNING) if context.is_stopped() else self.close_job(job, JobState.DONE)
            )

        def write(tx: Tx) -> tuple[StoredJob, bool]:
            self._check_unchanged(tx, job)
            if work.is_derived:
                batch = work.write(tx, None, context, prepared)
                return self._advance_job(tx, job, batch, None), batch.is_last
            with self._open_verb(tx, job) as verb:
                batch = work.write(tx, verb, context, prepared)
                verb.note_audit(job.id, **batch.counts)
            return self._advance_job(tx, job, batch, verb.step_id), batch.is_last

        after, is_last = self._write_in_background(write)
        self._publish_progress(job, after.progress, job.total)
        return (
            self.close_job(after, JobState.DONE) if is_last else JobCheckpoint(job.id, JobState.RUNNING, after.counts)
        )

    # ---- ends

    def close_job(self, job: StoredJob, state: JobState) -> JobCheckpoint:
        """End a job; its undo step, if anything changed, can be taken back from here on.

        Args:
            state: done or cancelled.

        Returns:
            Its end with the report.
        """
        self._size.pop(job.id, None)

        def write(tx: Tx) -> Mapping[str, Any]:
            with self._open_vault.storage.verb(tx, LIFECYCLE_ACTOR, "jobs") as verb:
                report = self._make_report(tx, job)
                job_store.close_job_step(tx, job.id)
                job_store.finish_job(tx, job.id, state, report)
                self._audit_derived(tx, job, job.type.value)
                verb.set_outcome(())
            return report

        report = self._write_in_background(write)
        self._publish_progress(job, 1, 1)
        return JobCheckpoint(job.id, state, report)

    def requeue_job(self, job: StoredJob) -> JobCheckpoint:
        """Let a job wait that cannot go on now."""
        self._write_in_background(
            lambda tx: tx.run("UPDATE jobs SET state = 'queued', lease_until = NULL WHERE id = ?", (job.id,))
        )
        self._publish_progress(job, 1, 1)
        return JobCheckpoint(job.id, JobState.QUEUED, job.counts)

    def record_failure(self, job_id: str, code: Code) -> JobCheckpoint:
        """Note a failure; its step is closed where it is not tried again."""

        def write(tx: Tx) -> JobCheckpoint:
            with self._open_vault.storage.verb(tx, LIFECYCLE_ACTOR, "jobs") as verb:
                state = job_store.fail_job(tx, job_id, code.value, is_patient=code in _PATIENT)
                job = job_store.read_job(tx, job_id)
                if job is None:
                    raise BugError("a job that is gone")
                verb.set_outcome(())
            return JobCheckpoint(job_id, state, job.counts)

        kept: JobCheckpoint = self._write_in_background(write)
        return kept

    # ---- ground

    def _open_verb(self, tx: Tx, job: StoredJob) -> Any:
        wording = job_wordings()[job.type]
        actor = OWNER_ACTOR if job.actor == "owner" else LIFECYCLE_ACTOR
        return self._open_vault.storage.work.verb(
            tx, job.type.value, wording.step, actor, step_id=job.step_id, keep_open=True
        )

    def _advance_job(self, tx: Tx, job: StoredJob, batch: BatchResult, step_id: str | None) -> StoredJob:
        after = job_store.move_on(tx, job, batch.done, batch.counts, batch.cursor or job.cursor, step_id)
        if batch.ids:
            self._open_vault.storage.announce_after(tx, job.type.value, batch.ids, LIFECYCLE_ACTOR)
        return after

    @staticmethod
    def _check_unchanged(tx: Tx, job: StoredJob) -> None:
        stored_job = job_store.read_job(tx, job.id)
        if stored_job is None or stored_job.progress != job.progress:
            raise BugError("a job that two threads run")
        if stored_job.state is not JobState.RUNNING:
            job_store.resume_job(tx, job)

    def _audit_derived(self, tx: Tx, job: StoredJob, kind: str) -> None:
        work = self._jobs.get(job.type)
        if work is None or isinstance(work, Planner) or not work.is_derived or not job.progress:
            return
        with self._open_vault.storage.work.verb(tx, kind, job_wordings()[job.type].step, LIFECYCLE_ACTOR) as verb:
            verb.note_audit(job.id, **job.counts)

    @staticmethod
    def _make_report(tx: Tx, job: StoredJob) -> Mapping[str, Any]:
        if job.type is not JobType.CONSOLIDATE:
            return dict(job.counts)
        took = tx.clock_ms - (job.started_at or tx.clock_ms)
        before = job.cursor.get("before", {})
        return make_report(job.counts, before=before, after=count_active(tx), duration_ms=took).to_json()

    def _write_in_background(self, fn: Any) -> Any:
        return self._open_vault.storage.write(fn, background=True).result()

    def _publish_progress(self, job: StoredJob, done: int, total: int | None) -> None:
        self._open_vault.storage.hub.publish(
            Progress(f"job:{job.type.value}", job_wordings()[job.type].running, done, total)
        )
