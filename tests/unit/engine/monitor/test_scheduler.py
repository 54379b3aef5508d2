"""The scheduler: what is due, one job at a time, batches that are saved, stops, failures and what comes back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from engine_rig import HandClock, Rig, rig_at

from core.engine.jobs import scheduler
from core.engine.jobs.scheduler import SchedulerPacing
from core.engine.runtime.monitor import ResourceMonitor
from core.engine.runtime.monitor import ResourceProbes as Machine
from core.errors import Code, EnvironmentFaultError, LociError, UserError
from core.intake.transaction.unit_of_work import Verb
from core.lifecycle.job_support import job_store
from core.lifecycle.job_support.job_context import NO_CURSOR, BatchResult, JobContext
from core.types.lifecycle import JobAction, JobRow, JobState, JobType, PlannedAction
from core.types.values import OWNER_ACTOR, Status
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

HOUR_MS = 3_600_000


@dataclass
class Archiving:
    """A planner that archives every memory that stands, one deed each."""

    type: JobType = JobType.SWEEP
    plans: int = 0
    batches: list[int] = field(default_factory=list)
    fails_at: set[int] = field(default_factory=set)
    always: bool = False
    refuses_from: int = 10_000
    gate: threading.Event = field(default_factory=threading.Event)
    reached: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.gate.set()

    def plan(self, ground: JobContext) -> Sequence[PlannedAction]:
        self.plans += 1
        found = ground.read(lambda rows: rows.all("SELECT id FROM memories WHERE status = 'active' ORDER BY n"))
        return [PlannedAction(JobAction.ARCHIVE, row[0], reason="faded", value=0.01) for row in found]

    def apply_plan(self, tx: Tx, verb: Verb, ground: JobContext, deeds: Sequence[PlannedAction]) -> BatchResult:
        self.reached.set()
        assert self.gate.wait(20)
        if self.always:
            raise UserError(Code.INVALID_INPUT, "That is not possible.")
        if len(self.batches) in self.fails_at:
            self.fails_at.discard(len(self.batches))
            raise EnvironmentFaultError(Code.DISK_FULL, "The disk is full.")
        if len(self.batches) >= self.refuses_from:
            raise UserError(Code.INVALID_INPUT, "That is not possible.")
        self.batches.append(len(deeds))
        transitions, done = ground.make_transitions(tx, verb), []
        for deed in deeds:
            row = tx.row("memories", {"id": deed.memory_id})
            if row is not None and row["status"] == Status.ACTIVE:
                transitions.archive(deed.memory_id, deed.reason)
                done.append(deed.memory_id)
        return BatchResult(len(deeds), {"faded": len(done), "skipped": len(deeds) - len(done)}, tuple(done))


@dataclass
class Counting:
    """A stream that numbers memories in a setting; derived, so it is no step."""

    type: JobType = JobType.ENRICH
    is_derived: bool = True
    wrote: list[str] = field(default_factory=list)

    def count_backlog(self, rows: Rows, _ground: JobContext, _cursor: Mapping[str, Any] = NO_CURSOR) -> int:
        return int(rows.value("SELECT count(*) FROM memories")) - len(self.wrote)

    def prepare(self, ground: JobContext, cursor: Mapping[str, Any]) -> Any:
        after = cursor.get("n", 0)
        return ground.read(lambda rows: rows.one("SELECT n, id FROM memories WHERE n > ? ORDER BY n LIMIT 1", (after,)))

    def write(self, _tx: Tx, verb: Verb | None, _ground: JobContext, prepared: Any) -> BatchResult:
        assert verb is None
        self.wrote.append(prepared[1])
        return BatchResult(1, {"enriched": 1}, cursor={"n": prepared[0]})


@contextmanager
def scheduled(folder: Path, *jobs: Any, **more: Any) -> Iterator[Rig]:
    with rig_at(folder, **more) as rig:
        rig.engine.scheduler.agenda.jobs = {job.type: job for job in jobs}
        rig.engine.scheduler.beats = SchedulerPacing(every_s=0.0, quiet_s=0.0)
        rig.engine.scheduler.start_for(rig.opened)
        yield rig


def fill(rig: Rig, count: int = 60) -> None:
    rig.bring([{"text": f"The jar on shelf {n} holds plums of year {n}", "kind": "fact"} for n in range(count)])
    rig.settle()


def run(rig: Rig, kind: JobType = JobType.SWEEP) -> JobRow:
    return rig.engine.jobs.run(kind).result(30)


def later(rig: Rig, milliseconds: int) -> None:
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(milliseconds)


def due(rig: Rig) -> tuple[JobType, ...]:
    scheduler = rig.engine.scheduler
    return scheduler.agenda.list_due_jobs(rig.opened, scheduler.make_context(rig.opened))


def until(rig: Rig, holds: Callable[[JobRow], bool]) -> JobRow:
    """Wait until the one job there is looks so."""
    pause = threading.Event()
    for _ in range(1200):
        rows = rig.engine.jobs.read_state().result(30).rows
        if rows and holds(rows[0]):
            return rows[0]
        pause.wait(0.05)
    raise AssertionError(f"the job never came to that: {rows}")


def active(rig: Rig) -> int:
    return int(rig.value("SELECT count(*) FROM memories WHERE status = 'active'"))


@pytest.mark.slow
def test_a_run_is_one_step_whatever_the_number_of_its_batches(tmp_path: Path) -> None:
    job = Archiving()
    with scheduled(tmp_path, job) as rig:
        fill(rig)
        before = rig.dump()
        row = run(rig)
        assert (row.state, row.progress, row.total, row.report) == (JobState.DONE, 60, 60, {"faded": 60, "skipped": 0})
        assert len(job.batches) > 1
        assert active(rig) == 0
        assert row.can_undo
        assert rig.value("SELECT count(*) FROM undo_steps WHERE verb = 'sweep'") == 1
        rig.undo(row.step_id)
        assert rig.dump() == before
        (again,) = rig.engine.jobs.read_state().result(30).rows
        assert again.undone


def test_a_run_that_changes_nothing_leaves_no_step(tmp_path: Path) -> None:
    with scheduled(tmp_path, Archiving()) as rig:
        row = run(rig)
        assert (row.state, row.step_id, row.total) == (JobState.DONE, None, 0)
        assert rig.value("SELECT count(*) FROM undo_steps") == 0


def test_what_a_person_starts_is_what_a_plain_undo_takes_back(tmp_path: Path) -> None:
    with scheduled(tmp_path, Archiving()) as rig:
        fill(rig, 3)
        run(rig)
        assert rig.undo().label == "Fading and archive"
        assert active(rig) == 3


def test_a_stream_goes_on_where_its_cursor_stands_and_is_audited(tmp_path: Path) -> None:
    job = Counting()
    with scheduled(tmp_path, job) as rig:
        fill(rig, 4)
        row = run(rig, JobType.ENRICH)
        assert (row.state, row.report, row.step_id) == (JobState.DONE, {"enriched": 4}, None)
        assert len(set(job.wrote)) == 4
        assert rig.value("SELECT count(*) FROM audit WHERE verb = 'enrich'") == 1


def test_a_job_that_is_asked_for_twice_runs_once(tmp_path: Path) -> None:
    job = Archiving()
    with scheduled(tmp_path, job) as rig:
        fill(rig, 5)
        job.gate.clear()
        first, second = rig.engine.jobs.run(JobType.SWEEP), rig.engine.jobs.run(JobType.SWEEP)
        assert job.reached.wait(20)
        job.gate.set()
        assert first.result(30).id == second.result(30).id
        assert job.plans == 1


@pytest.mark.slow
def test_stopping_keeps_what_was_done_as_a_step(tmp_path: Path) -> None:
    job = Archiving()
    with scheduled(tmp_path, job) as rig:
        fill(rig, 60)
        job.gate.clear()
        ended = rig.engine.jobs.run(JobType.SWEEP)
        assert job.reached.wait(20)
        (row,) = rig.engine.jobs.read_state().result(30).rows
        rig.engine.scheduler.cancel_job(rig.opened, row.id)
        job.gate.set()
        row = ended.result(30)
        assert row.state is JobState.CANCELLED
        assert 0 < row.report["faded"] < 60
        assert active(rig) == 60 - row.report["faded"]
        rig.undo(row.step_id)
        assert active(rig) == 60


@pytest.mark.slow
@pytest.mark.expected_logs("a job failed: E1003")
def test_a_failed_batch_is_tried_again_and_nothing_is_done_twice(tmp_path: Path) -> None:
    job = Archiving(fails_at={1})
    with scheduled(tmp_path, job) as rig:
        fill(rig, 60)
        code = Code.DISK_FULL.value
        rig.engine.jobs.run(JobType.SWEEP)
        row = until(rig, lambda found: found.code == code)
        assert (row.state, row.attempts, row.code) == (JobState.QUEUED, 1, code)
        assert row.waits_for == "Tried again later."
        assert row.not_before == rig.clock.now_ms() + 60_000
        rig.engine.jobs.retry_job(row.id).result(30)
        row = until(rig, lambda found: found.state is JobState.DONE)
        assert (row.state, row.report["faded"], job.plans) == (JobState.DONE, 60, 1)


@pytest.mark.expected_logs("a job failed: E4005")
def test_a_job_that_fails_five_times_waits_for_the_person(tmp_path: Path) -> None:
    job = Archiving(always=True)
    with scheduled(tmp_path, job) as rig:
        fill(rig, 2)

        def again(found: JobRow) -> bool:
            rig.write(lambda tx: tx.run("UPDATE jobs SET not_before = NULL WHERE state = 'queued'"))
            rig.engine.scheduler.start_next(rig.opened)
            return found.state is JobState.POISON

        ended = rig.engine.jobs.run(JobType.SWEEP)
        row = until(rig, again)
        assert (row.state, row.attempts) == (JobState.POISON, 5)
        assert ended.result(30).state is JobState.POISON
        assert JobType.SWEEP not in due(rig)
        job.always = False
        assert rig.engine.jobs.retry_job(row.id).result(30).state is JobState.QUEUED


@pytest.mark.slow
def test_what_ran_when_the_vault_closed_goes_on_behind_its_last_batch(tmp_path: Path) -> None:
    job = Archiving()
    with scheduled(tmp_path, job) as rig:
        fill(rig, 60)
        job.gate.clear()
        ended = rig.engine.jobs.run(JobType.SWEEP)
        assert job.reached.wait(20)
        closing = threading.Thread(target=rig.lock)  # the batch that runs holds the writer
        closing.start()
        job.gate.set()
        closing.join(60)
        with pytest.raises(LociError) as caught:
            ended.result(30)
        assert caught.value.code is Code.VAULT_LOCKED
        rig.unlock()
        (row,) = rig.engine.jobs.read_state().result(30).rows
        left = active(rig)
        assert row.state in (JobState.QUEUED, JobState.DONE)
        assert left < 60
        row = run(rig)
        assert (row.report["faded"], row.report["skipped"], job.plans, active(rig)) == (60, 0, 1, 0)
        rig.undo(row.step_id)
        assert active(rig) == 60


def test_who_asks_as_the_vault_closes_hears_that_it_is_locked(tmp_path: Path) -> None:
    with scheduled(tmp_path, Archiving()) as rig:
        held, release = threading.Event(), threading.Event()

        def hold_writer(_tx: Tx) -> None:
            held.set()
            assert release.wait(20)

        rig.opened.storage.write(hold_writer)
        assert held.wait(20)
        ended = rig.engine.jobs.run(JobType.SWEEP)  # written down behind what holds the writer
        rig.engine.scheduler.stop_for_lock()
        release.set()
        with pytest.raises(LociError) as caught:
            ended.result(20)
        assert caught.value.code is Code.VAULT_LOCKED


def test_a_job_that_ends_as_the_vault_closes_answers_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Archiving()
    with scheduled(tmp_path, job) as rig:
        fill(rig, 2)
        job.gate.clear()
        ended = rig.engine.jobs.run(JobType.SWEEP)
        assert job.reached.wait(20)
        refuse = scheduler._refuse

        def let_the_batch_end_first(waiter: Any, error: BaseException) -> None:
            job.gate.set()
            until(rig, lambda found: found.state is JobState.DONE)
            assert job_is_released.wait(20)
            refuse(waiter, error)

        job_is_released = threading.Event()
        resolve = rig.engine.scheduler._resolve_waiters

        def resolve_then_tell(now: Any, kept: Any) -> None:
            resolve(now, kept)
            job_is_released.set()

        monkeypatch.setattr(rig.engine.scheduler, "_resolve_waiters", resolve_then_tell)
        monkeypatch.setattr(scheduler, "_refuse", let_the_batch_end_first)
        rig.engine.scheduler.stop_for_lock()
        with pytest.raises(LociError) as caught:
            ended.result(20)
        assert caught.value.code is Code.VAULT_LOCKED


def test_work_is_due_an_interval_after_the_vault_was_made_and_after_each_run(tmp_path: Path) -> None:
    with scheduled(tmp_path, Archiving()) as rig:
        assert due(rig) == ()
        later(rig, 25 * HOUR_MS)
        assert due(rig) == (JobType.SWEEP,)
        run(rig)
        assert due(rig) == ()
        later(rig, 25 * HOUR_MS)
        assert due(rig) == (JobType.SWEEP,)
        later(rig, -80 * HOUR_MS)
        assert due(rig) == (JobType.SWEEP,)  # a clock that was set back keeps nothing waiting for ever


def test_a_pause_holds_what_is_scheduled_and_not_what_a_person_starts(tmp_path: Path) -> None:
    with scheduled(tmp_path, Archiving()) as rig:
        fill(rig, 2)
        assert rig.engine.jobs.set_paused(on=True).result(30).paused
        later(rig, 25 * HOUR_MS)
        assert due(rig) == ()
        rig.engine.scheduler.queue_due(rig.opened, force=True)
        assert active(rig) == 2
        assert run(rig).state is JobState.DONE
        assert not rig.engine.jobs.set_paused(on=False).result(30).paused


def test_heavy_work_waits_for_a_battery_and_for_memory(tmp_path: Path) -> None:
    job = Archiving(JobType.ERASE)  # a heavy one
    with scheduled(tmp_path, job) as rig:
        scheduler = rig.engine.scheduler
        plugged: list[bool] = [False]
        rig.opened.load.resources = ResourceMonitor(rig.clock, readers=Machine(plugged=lambda: plugged[0]))
        rig.engine.settings.set_option("erase_kinds", "fact").result(30)
        fill(rig, 2)
        later(rig, 25 * HOUR_MS)
        scheduler.queue_due(rig.opened, force=True)
        state = rig.engine.jobs.read_state().result(30)
        assert (state.holds, state.rows[0].waits_for) == ("Waits: this machine is on battery.",) * 2
        assert active(rig) == 2
        plugged[0] = True
        done = rig.engine.jobs.run(JobType.ERASE)
        assert done.result(30).report["faded"] == 2


def test_replay_waits_until_nobody_is_at_work(tmp_path: Path) -> None:
    with scheduled(tmp_path, Archiving(JobType.REPLAY)) as rig:
        later(rig, HOUR_MS)
        rig.opened.load.activity._called_at -= 119.0
        rig.opened.load.activity._hand_at -= 119.0
        assert due(rig) == ()
        rig.opened.load.activity._called_at -= 1.5
        rig.opened.load.activity._hand_at -= 1.5
        assert due(rig) == (JobType.REPLAY,)
        rig.engine.jobs.note_activity()
        assert due(rig) == ()


def test_a_search_is_somebody_at_work_and_a_look_at_the_status_is_not(tmp_path: Path) -> None:
    with scheduled(tmp_path) as rig:
        rig.opened.load.activity._called_at -= 1.0
        rig.engine.vault.read_status().result(30)
        rig.engine.jobs.read_state().result(30)
        assert not rig.opened.load.activity.is_busy
        rig.recall("plums")
        assert rig.opened.load.activity.is_busy


def test_a_preview_is_the_plan_and_writes_nothing(tmp_path: Path) -> None:
    with scheduled(tmp_path, Archiving()) as rig:
        fill(rig, 7)
        before = rig.value("SELECT seq FROM vault_state")
        preview = rig.engine.jobs.preview_runs(3).result(30)
        assert (preview.counts, len(preview.items)) == ({"archive": 7}, 3)
        assert preview.items[0].text.startswith("The jar on shelf")
        assert preview.items[0].words
        assert rig.value("SELECT seq FROM vault_state") == before
        assert run(rig).report["faded"] == preview.counts["archive"]


@pytest.mark.slow
def test_a_client_cannot_be_heard_as_the_owner(tmp_path: Path) -> None:
    with scheduled(tmp_path, Archiving()) as rig:
        client = rig.client("notes", "read")
        assert rig.engine.jobs.run(JobType.SWEEP, client).result(30).actor == f"client:{client.client_id}"
        assert rig.engine.jobs.run(JobType.SWEEP, OWNER_ACTOR).result(30).actor == "owner"


@pytest.mark.slow
def test_what_a_person_stopped_is_not_begun_again_at_the_next_beat(tmp_path: Path) -> None:
    job = Archiving()
    with scheduled(tmp_path, job) as rig:
        fill(rig, 60)
        later(rig, 25 * HOUR_MS)
        job.gate.clear()
        rig.engine.scheduler.queue_due(rig.opened, force=True)
        assert job.reached.wait(20)
        rig.engine.scheduler.cancel_job(rig.opened, rig.engine.jobs.read_state().result(30).rows[0].id)
        job.gate.set()
        until(rig, lambda row: row.state is JobState.CANCELLED)
        assert due(rig) == ()
        later(rig, 25 * HOUR_MS)
        assert due(rig) == (JobType.SWEEP,)


@pytest.mark.slow
@pytest.mark.expected_logs("a job failed: E1003", "the failure of a job could not be noted: E1003")
def test_a_failure_that_could_not_be_noted_strands_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Archiving(fails_at={1})
    with scheduled(tmp_path, job) as rig:
        fill(rig, 60)

        def full(*_: object, **__: object) -> JobState:
            raise EnvironmentFaultError(Code.DISK_FULL, "The disk is full.")

        with monkeypatch.context() as broken:
            broken.setattr(job_store, "fail_job", full)
            ended = rig.engine.jobs.run(JobType.SWEEP)
            until(rig, lambda _: rig.engine.scheduler.running_job_id() is None and not job.fails_at)
        rig.engine.scheduler.queue_due(rig.opened, force=True)
        row = ended.result(30)
        assert (row.state, row.report["faded"], job.plans) == (JobState.DONE, 60, 1)


@pytest.mark.slow
@pytest.mark.expected_logs("a job failed: E4005")
def test_a_run_that_gave_up_and_was_taken_back_begins_anew(tmp_path: Path) -> None:
    job = Archiving()
    with scheduled(tmp_path, job) as rig:
        fill(rig, 60)
        job.refuses_from = 1

        def again(found: JobRow) -> bool:
            rig.write(lambda tx: tx.run("UPDATE jobs SET not_before = NULL WHERE state = 'queued'"))
            rig.engine.scheduler.start_next(rig.opened)
            return found.state is JobState.POISON

        rig.engine.jobs.run(JobType.SWEEP)
        row = until(rig, again)
        assert row.can_undo
        rig.undo(row.step_id)
        assert active(rig) == 60
        job.refuses_from = 10_000
        rig.engine.jobs.retry_job(row.id).result(30)
        row = until(rig, lambda found: found.state is JobState.DONE)
        assert (row.report["faded"], row.can_undo, row.undone) == (60, True, False)
        rig.undo(row.step_id)
        assert active(rig) == 60


def test_what_comes_back_by_itself_never_ends_as_poison(tmp_path: Path) -> None:
    with scheduled(tmp_path, Archiving()) as rig:
        job_id = rig.write(lambda tx: job_store.enqueue_job(tx, rig.opened.storage.make_id, JobType.SWEEP, "scheduler"))
        for _ in range(12):
            state = rig.write(lambda tx: job_store.fail_job(tx, job_id, "E3001", is_patient=True))
        assert state is JobState.QUEUED
        (row,) = rig.engine.jobs.read_state().result(30).rows
        assert row.not_before == rig.clock.now_ms() + 600_000


@pytest.mark.slow
@pytest.mark.expected_logs("a job failed: E1003", "the failure of a job could not be noted: E1003")
def test_whoever_asks_takes_a_stranded_job_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Archiving(fails_at={1})
    with scheduled(tmp_path, job) as rig:
        fill(rig, 60)

        def full(*_: object, **__: object) -> JobState:
            raise EnvironmentFaultError(Code.DISK_FULL, "The disk is full.")

        with monkeypatch.context() as broken:
            broken.setattr(job_store, "fail_job", full)
            rig.engine.jobs.run(JobType.SWEEP)
            until(rig, lambda _: rig.engine.scheduler.running_job_id() is None and not job.fails_at)
        assert rig.value("SELECT state FROM jobs") == "running"
        assert run(rig).report["faded"] == 60


def test_work_of_hours_lets_all_other_work_go_first(tmp_path: Path) -> None:
    order: list[str] = []

    @dataclass
    class Moving(Counting):
        type: JobType = JobType.MIGRATE

        def write(self, tx: Tx, verb: Verb | None, ground: JobContext, prepared: Any) -> BatchResult:
            order.append("migrate")
            if len(order) == 3:  # somebody stores, the calendar queues, while it goes on
                for kind in (JobType.SWEEP, JobType.EMBED):
                    job_store.enqueue_job(tx, rig.opened.storage.make_id, kind, "scheduler")
            return super().write(tx, verb, ground, prepared)

    @dataclass
    class Short(Counting):
        type: JobType = JobType.EMBED

        def write(self, tx: Tx, verb: Verb | None, ground: JobContext, prepared: Any) -> BatchResult:
            order.append("embed")
            return super().write(tx, verb, ground, prepared)

    class Sweeping(Archiving):
        def plan(self, ground: JobContext) -> Sequence[PlannedAction]:
            order.append("sweep")
            return super().plan(ground)

    with scheduled(tmp_path, Moving(), Short(), Sweeping()) as rig:
        fill(rig, 10)
        row = run(rig, JobType.MIGRATE)
        assert (row.state, row.report) == (JobState.DONE, {"enriched": 10})
        assert order == ["migrate"] * 3 + ["sweep"] + ["embed"] * 10 + ["migrate"] * 7
        assert active(rig) == 0


def test_names_are_read_before_what_runs_by_itself_goes_on(tmp_path: Path) -> None:
    order: list[str] = []

    @dataclass
    class Long(Counting):
        type: JobType = JobType.EMBED

        def write(self, tx: Tx, verb: Verb | None, ground: JobContext, prepared: Any) -> BatchResult:
            order.append("long")
            if len(order) == 3:  # an import ends while it goes on
                job_store.enqueue_job(tx, rig.opened.storage.make_id, JobType.ENRICH, "scheduler")
            return super().write(tx, verb, ground, prepared)

    @dataclass
    class Names(Counting):
        def write(self, tx: Tx, verb: Verb | None, ground: JobContext, prepared: Any) -> BatchResult:
            order.append("names")
            return super().write(tx, verb, ground, prepared)

    with scheduled(tmp_path, Long(), Names()) as rig:
        fill(rig, 6)
        rig.write(lambda tx: job_store.enqueue_job(tx, rig.opened.storage.make_id, JobType.EMBED, "scheduler"))
        rig.engine.scheduler.start_next(rig.opened)
        rig.wait_for_jobs()
        assert order == ["long"] * 3 + ["names"] * 6 + ["long"] * 3
        order.clear()
        fill(rig, 6)
        run(rig, JobType.EMBED)  # what a person asked for goes on
        rig.wait_for_jobs()
        assert order[:6] == ["long"] * 6


@pytest.mark.slow
def test_the_history_keeps_the_newest_of_each_kind_and_one_empty_run(tmp_path: Path) -> None:
    with scheduled(tmp_path, Archiving()) as rig:

        def ended(tx: Tx, kind: JobType, count: int, *, progress: int) -> None:
            for _ in range(count):
                job_id = job_store.enqueue_job(tx, rig.opened.storage.make_id, kind, "scheduler")
                tx.run("UPDATE jobs SET progress = ? WHERE id = ?", (progress, job_id))
                job_store.finish_job(tx, job_id, JobState.DONE, {})

        for kind, count, progress in ((JobType.CONSOLIDATE, 1, 3), (JobType.GAPS, 20, 0), (JobType.REPLAY, 520, 1)):
            rig.write(partial(ended, kind=kind, count=count, progress=progress))
        counts: dict[str, int] = dict(rig.rows("SELECT type, count(*) FROM jobs GROUP BY type"))
        assert (counts["consolidate"], counts["gaps"], counts["replay"] // 11) == (1, 1, 45)  # some 500 are kept
        known = rig.opened.storage.vault.read(lambda rows: job_store.last_ended(rows, rig.clock.now_ms()))
        assert set(known) == {JobType.CONSOLIDATE, JobType.GAPS, JobType.REPLAY}


def test_a_second_try_joins_the_job_that_waits_already(tmp_path: Path) -> None:
    with scheduled(tmp_path, Archiving()) as rig:
        first = rig.write(lambda tx: job_store.enqueue_job(tx, rig.opened.storage.make_id, JobType.SWEEP, "scheduler"))
        for _ in range(job_store.TRIES):
            rig.write(lambda tx: job_store.fail_job(tx, first, "E4005"))
        second = rig.write(lambda tx: job_store.enqueue_job(tx, rig.opened.storage.make_id, JobType.SWEEP, "scheduler"))
        assert rig.engine.jobs.retry_job(first).result(30).id == second
        assert rig.value("SELECT state FROM jobs WHERE id = ?", first) == "cancelled"
