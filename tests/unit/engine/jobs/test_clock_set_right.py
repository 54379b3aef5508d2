"""A clock that was years ahead, something stored then, and the clock set right again: nothing is lost, nothing turns in
a circle."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from engine_rig import HandClock, Rig, rig_at

from core.engine.jobs import scheduler as scheduler_module
from core.engine.jobs.scheduler import SchedulerPacing
from core.engine.runtime.expiry import delete_expired
from core.engine.runtime.threads import start_ticker
from core.lifecycle.job_support import job_store
from core.lifecycle.job_support.clock_check import DAY_MS, HOUR_MS
from core.types.lifecycle import JobState, JobType
from core.types.values import OWNER_ACTOR

YEARS_MS = 12 * 365 * DAY_MS


@pytest.fixture
def clock() -> HandClock:
    return HandClock(1_700_000_000_000)


@pytest.fixture
def rig(tmp_path: Path, clock: HandClock) -> Iterator[Rig]:
    with rig_at(tmp_path, clock=clock) as rig:
        rig.engine.scheduler.beats = SchedulerPacing(every_s=0.0, quiet_s=0.0)
        rig.engine.scheduler.start_for(rig.opened)
        yield rig


def beat(rig: Rig) -> None:
    rig.engine.scheduler.queue_due(rig.opened, force=True)
    rig.wait_for_jobs()


def wrong_year(rig: Rig, clock: HandClock) -> None:
    """Years ahead: work runs, something is stored; then the clock is right again."""
    beat(rig)
    clock.advance(YEARS_MS)
    beat(rig)
    clock.advance(2 * DAY_MS)
    beat(rig)
    rig.store("a thing of the wrong year")
    clock.advance(HOUR_MS - YEARS_MS - 2 * DAY_MS)
    beat(rig)


def test_no_work_turns_in_a_circle_once_the_clock_is_right(
    rig: Rig, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong_year(rig, clock)
    queued: list[JobType] = []
    enqueue = job_store.enqueue_job

    def noted(tx: Any, make_id: Any, kind: JobType, actor: str) -> str:
        queued.append(kind)
        return enqueue(tx, make_id, kind, actor)

    monkeypatch.setattr(job_store, "enqueue_job", noted)
    for _ in range(90):
        clock.advance(60_000)
        beat(rig)
    often = [kind for kind in JobType if kind is not JobType.REPLAY and queued.count(kind) > 1]
    assert often == []


def test_a_step_from_before_can_still_be_taken_back(rig: Rig, clock: HandClock) -> None:
    rig.engine.settings.set_option("lifecycle_on", value=False).result(30)  # nothing else touches what was stored
    stored = rig.store("Ada keeps bees").memory_id
    step = rig.value("SELECT id FROM undo_steps WHERE verb = 'store'")
    wrong_year(rig, clock)
    rig.opened.tidied_at = None
    clock.advance(3 * DAY_MS)
    delete_expired(rig.opened)
    assert rig.engine.memories.undo_step(step, OWNER_ACTOR).result(30) is not None
    assert stored not in [row[0] for row in rig.rows("SELECT id FROM memories")]


def test_work_that_failed_is_tried_again_by_the_clock(rig: Rig, clock: HandClock) -> None:
    wrong_year(rig, clock)
    make_id = rig.opened.storage.make_id
    job = rig.write(lambda tx: job_store.enqueue_job(tx, make_id, JobType.SWEEP, "scheduler"))
    rig.write(lambda tx: job_store.fail_job(tx, job, "E5002", is_patient=True))
    clock.advance(DAY_MS)
    beat(rig)
    assert rig.value("SELECT state FROM jobs WHERE id = ?", job) == JobState.DONE


def test_a_writer_that_is_long_at_work_ends_no_beat(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler_module, "_TURN_S", 0.01)
    clock_held, free = threading.Event(), threading.Event()

    def held(_: Any) -> None:
        clock_held.set()
        free.wait(30)

    long: Future[None] = rig.opened.storage.write(held)
    assert clock_held.wait(30)
    try:
        rig.engine.scheduler.queue_due(rig.opened, force=True)
    finally:
        free.set()
    long.result(30)
    monkeypatch.undo()
    beat(rig)
    assert rig.value("SELECT count(*) FROM settings WHERE key = 'clock_watch'") == 1


@pytest.mark.expected_logs("a chore stopped: ValueError")
def test_a_chore_that_fails_is_told_and_done_again(caplog: pytest.LogCaptureFixture) -> None:
    done = threading.Event()
    times: list[int] = []

    def chore() -> None:
        times.append(1)
        if len(times) == 1:
            raise ValueError("Quittenmarmelade")
        done.set()

    with caplog.at_level(logging.ERROR):
        stop = start_ticker(0.01, chore, "test")
        assert done.wait(30)
        stop()
    assert "ValueError" in caplog.text
    assert "Quittenmarmelade" not in caplog.text
