"""The scheduler: what is due is queued at the heartbeat, and one job at a time goes on, one batch after the other.

Between two batches it looks whether somebody searches, whether memory is short or the machine is on battery, whether
the person paused or stopped it, and whether something else waits on the thread of the jobs (an import). Work that takes
hours (another embedding model) lets whatever else may run go first, at each batch. A job's state is saved with each
batch, so that it goes on behind it after a crash. Must not do: any work of a job itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from core import log
from core.engine.jobs.due_times import NO_MODEL, Agenda
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.storage import Storage, locked_error, submit_work
from core.errors import BugError, CancelledError, Code, EnvironmentFaultError, LociError
from core.lifecycle.job_support import clock_check, job_store
from core.lifecycle.job_support.clock_check import ClockWatch
from core.lifecycle.job_support.job_store import StoredJob
from core.types.lifecycle import JobState, JobType
from core.vault.database.tx import Tx

if TYPE_CHECKING:  # what runs jobs is loaded with the first heartbeat, which few commands live to see
    from core.engine.jobs.model_refinement import ModelRefinement
    from core.engine.jobs.runner import JobCheckpoint, JobRunner
    from core.lifecycle.job_support.job_context import JobContext

_log = log.get("engine")
_TURN_S = 30.0
_RECLAIM, _BY_ITSELF = "reclaim", "scheduler"
_YIELDING = frozenset({JobType.MIGRATE})
"""Work that takes hours and steps aside for all other work."""
_FIRST = JobType.ENRICH
"""Work that is short and that somebody looks at: what runs by itself steps aside for it."""


@dataclass(frozen=True, slots=True)
class SchedulerPacing:
    """How the scheduler paces itself, in seconds.

    Attributes:
        every_s: between two heartbeats; the first one comes as long after opening (E33.1).
        quiet_s: the longest a batch waits for a moment in which nobody searches; one read of it waits half as long.
        pause_s: between two batches, so that half of the thread is free.
    """

    every_s: float = 60.0
    quiet_s: float = 2.0
    pause_s: float = 0.0


@dataclass
class _Open:
    """What is known while one vault is open."""

    open_vault: OpenVault
    agenda: Agenda
    beaten_at: float
    running: str | None = None
    stopping: set[str] = field(default_factory=set)
    waiters: dict[str, list[Future[JobCheckpoint]]] = field(default_factory=dict)

    @cached_property
    def runner(self) -> JobRunner:
        """Carries out the batches."""
        from core.engine.jobs.runner import JobRunner

        return JobRunner(self.open_vault, self.agenda.jobs)


class Scheduler:
    """Runs the jobs of one open vault after another.

    Attributes:
        beats: may be set before `start_for`.
        agenda: what is due, and why what waits does not run.
    """

    def __init__(self, agenda: Agenda, get_model: Callable[[], ModelRefinement]) -> None:
        """Tie the ends together.

        Args:
            agenda: knows every kind of work.
            get_model: gives what asks the local model, once a job runs.
        """
        self.agenda = agenda
        self.beats = SchedulerPacing()
        self._get_model = get_model
        self._lock = threading.Lock()  # guards _now and what it holds
        self._now: _Open | None = None

    # ---- a vault opens and closes

    def start_for(self, open_vault: OpenVault) -> None:
        """Take up what was running when the vault closed; from here on `beat` counts."""
        crashed = open_vault.storage.vault.info.recovered_from_crash
        if open_vault.storage.vault.read(job_store.is_any_running):
            open_vault.storage.write(lambda tx: job_store.put_back(tx, crashed=crashed), background=True).result(
                _TURN_S
            )
        # Of a vault that was never watched, the last change tells how late it was.
        self.agenda.watch = open_vault.storage.vault.read(clock_check.read_clock) or ClockWatch(
            min(open_vault.storage.vault.info.last_at_ms, open_vault.storage.clock.now_ms())
        )
        with self._lock:
            self._now = _Open(open_vault, self.agenda, open_vault.storage.clock.monotonic())

    def stop_for_lock(self) -> None:
        """The vault closes: the batch that runs ends, and everybody who waits for a job hears that it is locked."""
        waiters: list[Future[JobCheckpoint]] = []
        with self._lock:  # a batch that ends meanwhile takes its own out under the same lock: each is answered once
            now, self._now = self._now, None
            if now is not None:
                waiters = [waiter for each in now.waiters.values() for waiter in each]
                now.waiters.clear()
        for waiter in waiters:
            _refuse(waiter, locked_error())

    # ---- the heartbeat

    def queue_due(self, open_vault: OpenVault, *, force: bool = False) -> None:
        """Queue what is due, and go on with what waits.

        Args:
            force: whether to look now, before the next heartbeat is due.

        Raises:
            LociError: what the vault said.
        """
        now = self._open_state_of(open_vault)
        if now is None:
            return
        at = open_vault.storage.clock.monotonic()
        if not force and at - now.beaten_at < self.beats.every_s:
            return
        now.beaten_at = at
        try:
            self._watch_clock(open_vault.storage)
            due = self.agenda.list_due_jobs(open_vault, self.make_context(open_vault))
            if due:
                open_vault.storage.write(lambda tx: _enqueue_due(tx, open_vault.storage, due), background=True).result(
                    _TURN_S
                )
        except TimeoutError:
            return  # behind something long in the queue: it is done in its turn, and looked at again with the next beat
        self.start_next(open_vault)

    def _watch_clock(self, storage: Storage) -> None:
        stored_watch = storage.vault.read(clock_check.read_clock)
        known = stored_watch or self.agenda.watch or ClockWatch(storage.clock.now_ms())
        seen = self.agenda.watch = clock_check.judge_clock(known, storage.clock.now_ms())
        if clock_check.is_worth_keeping(stored_watch, seen):
            storage.write(lambda tx: clock_check.keep_clock(tx, seen), background=True).result(_TURN_S)

    def resume_requested(self, open_vault: OpenVault) -> None:
        """Go on with what somebody waits for, where it could not begin at once; every second.

        Raises:
            LociError: what the vault said.
        """
        now = self._open_state_of(open_vault)
        if now is not None and now.waiters and now.running is None:
            self.start_next(open_vault)

    def check_soon(self) -> None:
        """Let the next heartbeat come at once: something was wished for that the calendar knows."""
        now = self._now
        if now is not None:
            now.beaten_at -= self.beats.every_s

    # ---- one job at a time

    def start_next(self, open_vault: OpenVault) -> None:
        """Go on with the next job that may run, if none runs.

        Raises:
            LociError: what the vault said.
        """
        now = self._open_state_of(open_vault)
        if now is None:
            return
        with self._lock:
            if now.running is not None:
                return
        if open_vault.storage.vault.read(job_store.is_any_running):
            self._reclaim_jobs(now)
            return
        job = self._next_job(open_vault)
        if job is not None and self._try_claim_job(now, job.id):
            self._queue_next_batch(now, job.id)

    def _next_job(self, open_vault: OpenVault) -> StoredJob | None:
        """What may run now: of what nobody asked for names are read first, and what takes hours comes last."""
        context = self.make_context(open_vault)
        queued = open_vault.storage.vault.read(lambda rows: job_store.read_waiting_jobs(rows, context.now_ms))
        queued.sort(key=lambda one: (one.type in _YIELDING, one.actor == _BY_ITSELF and one.type is not _FIRST))
        return next((one for one in queued if not self.agenda.hold_reason(open_vault, one, context)), None)

    def _reclaim_jobs(self, now: _Open) -> None:
        """Take up a job that nobody runs, since its failure could not be noted (a full disk); not on the writer."""
        if not self._try_claim_job(now, _RECLAIM):
            return

        def put_jobs_back() -> None:
            open_vault = now.open_vault
            try:
                open_vault.storage.write(lambda tx: job_store.put_back(tx, crashed=False), background=True).result(
                    _TURN_S
                )
            except (LociError, TimeoutError) as error:
                if not open_vault.storage.closing.is_set():
                    _log.warning("a job could not be taken up again: %s", type(error).__name__)
                return
            finally:
                self._release_claim(now, _RECLAIM)
            self._try_start_next(open_vault)

        try:
            submit_work(now.open_vault.storage.threads.jobs, put_jobs_back)
        except LociError:
            self._release_claim(now, _RECLAIM)  # the vault closes

    def _try_claim_job(self, now: _Open, job_id: str) -> bool:
        """Let a job run, unless another was faster."""
        with self._lock:
            if now.running is not None:
                return False
            now.running = job_id
            return True

    def _queue_next_batch(self, now: _Open, job_id: str) -> None:
        try:
            submit_work(now.open_vault.storage.threads.jobs, self._run_batch, now, job_id)
        except LociError:
            self._release_claim(now, job_id)  # the vault closes

    def _run_batch(self, now: _Open, job_id: str) -> None:
        """One batch of a job; on the thread of the jobs, behind whatever else waits there."""
        open_vault, is_noted = now.open_vault, True
        try:
            kept = self._step_job(now, job_id)
        except CancelledError:
            kept = None
        except LociError as error:
            kept = self._record_failure(now, job_id, error.code)
            is_noted = kept is not None
        except Exception as error:  # noqa: BLE001 - a fault of one job must not end the thread all jobs share
            _log.error("a job stopped: %s", type(error).__name__)
            kept = self._record_failure(now, job_id, Code.BACKGROUND_STALLED)
            is_noted = kept is not None
        if kept is not None and kept.state is JobState.RUNNING and not open_vault.storage.closing.is_set():
            self._queue_next_batch(now, job_id)
            return
        self._release_claim(now, job_id)
        if kept is not None:
            self._resolve_waiters(now, kept)
        # What could not be noted is taken up again by whoever kicks next: not at once, or it would turn in a circle.
        if is_noted and not open_vault.storage.closing.is_set():
            self._try_start_next(open_vault)

    def _step_job(self, now: _Open, job_id: str) -> JobCheckpoint | None:
        open_vault = now.open_vault
        job = open_vault.storage.vault.read(lambda rows: job_store.read_job(rows, job_id))
        if job is None or job.state not in (JobState.QUEUED, JobState.RUNNING):
            return None if job is None else now.runner.checkpoint_of(job)
        if job_id in now.stopping:
            now.stopping.discard(job_id)
            return now.runner.close_job(job, JobState.CANCELLED)
        context = self.make_context(open_vault, lambda: job_id in now.stopping)
        if self.agenda.hold_reason(open_vault, job, context) or self._must_yield(open_vault, job):
            return now.runner.requeue_job(job)
        self._wait_for_quiet(open_vault)
        return now.runner.run_batch(job, context)

    def _must_yield(self, open_vault: OpenVault, job: StoredJob) -> bool:
        if job.started_at is None:
            return False
        if job.type in _YIELDING:
            other = self._next_job(open_vault)
            return other is not None and other.type not in _YIELDING
        if job.actor != _BY_ITSELF or job.type is _FIRST:
            return False
        other = self._next_job(open_vault)
        return other is not None and other.type is _FIRST

    def _wait_for_quiet(self, open_vault: OpenVault) -> None:
        left = self.beats.quiet_s
        while open_vault.load.activity.is_busy and left > 0 and not open_vault.storage.closing.is_set():
            open_vault.storage.closing.wait(0.05)
            left -= 0.05
        if self.beats.pause_s:
            open_vault.storage.closing.wait(self.beats.pause_s)

    def _record_failure(self, now: _Open, job_id: str, code: Code) -> JobCheckpoint | None:
        if now.open_vault.storage.closing.is_set() or code is Code.VAULT_LOCKED:
            return None  # it goes on when the vault is opened again
        _log.warning("a job failed: %s", code.value)
        try:
            return now.runner.record_failure(job_id, code)
        except LociError as error:
            _log.warning("the failure of a job could not be noted: %s", error.code.value)
            return None

    def _release_claim(self, now: _Open, job_id: str) -> None:
        with self._lock:
            if now.running == job_id:
                now.running = None

    def _try_start_next(self, open_vault: OpenVault) -> None:
        try:
            self.start_next(open_vault)
        except LociError as error:
            if not open_vault.storage.closing.is_set():
                _log.warning("the next job could not be begun: %s", error.code.value)

    def _resolve_waiters(self, now: _Open, kept: JobCheckpoint) -> None:
        if kept.state in (JobState.QUEUED, JobState.RUNNING):
            return
        with self._lock:
            waiters = now.waiters.pop(kept.job_id, [])
        for waiter in waiters:
            if waiter.set_running_or_notify_cancel():
                waiter.set_result(kept)

    # ---- what a person asks for

    def ask_for(
        self,
        open_vault: OpenVault,
        kind: JobType,
        actor: str,
        may: Callable[[], object] | None = None,
        cursor: Mapping[str, Any] | None = None,
    ) -> Future[JobCheckpoint]:
        """Run a kind of work now, behind what runs.

        Args:
            actor: `owner` or `client:<id>`.
            may: raises where the asker may no longer; called where the job is written down.
            cursor: what a stream begins with; None for all there is.

        Raises:
            UserError: VAULT_LOCKED.
            IntegrityError: OLDER_VAULT.
            EnvironmentFaultError: EMBEDDER_UNAVAILABLE where the work is a model's and none is ready.
            BugError: there is no such work.
        """
        open_vault.storage.vault.need_accepted()
        now = self._open_state_of(open_vault)
        if now is None:
            raise locked_error()
        if kind not in self.agenda.jobs:
            raise BugError(f"a job of type {kind.value}")
        if self.agenda.missing_requirement(kind, self.make_context(open_vault)) == NO_MODEL:
            raise EnvironmentFaultError(
                Code.EMBEDDER_UNAVAILABLE, "No model server is ready; nothing else can do this."
            )
        waiter: Future[JobCheckpoint] = Future()

        def add_waiter(done: Future[str]) -> None:
            error = done.exception()
            if error is not None:
                _refuse(waiter, error)
                return
            with self._lock:
                is_open = self._now is now
                if is_open:
                    now.waiters.setdefault(done.result(), []).append(waiter)
            if is_open:
                self._try_start_next(open_vault)
            else:
                _refuse(waiter, locked_error())  # the vault closed behind the write: nobody would answer any more

        def enqueue_job(tx: Tx) -> str:
            if may is not None:
                may()
            return job_store.enqueue_job(tx, open_vault.storage.make_id, kind, actor, cursor)

        open_vault.storage.write(enqueue_job).add_done_callback(add_waiter)
        return waiter

    def cancel_job(self, open_vault: OpenVault, job_id: str) -> None:
        """Stop a job: behind the batch that runs, or at once where it waits."""
        open_vault.storage.vault.need_accepted()
        now = self._open_state_of(open_vault)
        if now is None:
            raise locked_error()
        with self._lock:
            is_running = now.running == job_id
            if is_running:
                now.stopping.add(job_id)
        if is_running:
            return
        job = open_vault.storage.vault.read(lambda rows: job_store.read_job(rows, job_id))
        if job is not None and job.state in (JobState.QUEUED, JobState.POISON, JobState.RUNNING):
            self._resolve_waiters(now, now.runner.close_job(job, JobState.CANCELLED))

    def make_context(self, open_vault: OpenVault, is_stopped: Callable[[], bool] | None = None) -> JobContext:
        """What jobs stand on, as the vault and the options are now."""
        from core.engine.jobs.runner import make_job_context

        stopped = is_stopped or (lambda: False)
        return make_job_context(
            open_vault,
            self._get_model(),
            lambda: open_vault.storage.closing.is_set() or stopped(),
            self.beats.quiet_s / 2,
        )

    def running_job_id(self) -> str | None:
        """The id of the job that runs."""
        now = self._now
        return None if now is None else now.running

    def _open_state_of(self, open_vault: OpenVault) -> _Open | None:
        now = self._now
        return now if now is not None and now.open_vault is open_vault else None


def _refuse(waiter: Future[JobCheckpoint], error: BaseException) -> None:
    if waiter.set_running_or_notify_cancel():
        waiter.set_exception(error)


def _enqueue_due(tx: Tx, storage: Storage, due: tuple[JobType, ...]) -> None:
    for kind in due:
        job_store.enqueue_job(tx, storage.make_id, kind, "scheduler")
