"""The clock on trial: leaps ahead and back, a month of sleep, somebody who comes once a week; what waits for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from engine_rig import START_MS, HandClock, Rig, rig_at
from ground_rig import ground_of, run
from hypothesis import given
from hypothesis import strategies as st

from core.engine.health import describe_problem
from core.engine.jobs.scheduler import SchedulerPacing
from core.engine.runtime.expiry import delete_expired
from core.lifecycle.archive import ArchiveErasureJob
from core.lifecycle.job_support.clock_check import (
    DAY_MS,
    HOUR_MS,
    LEAP_MS,
    TRIAL_MS,
    ClockWatch,
    is_archiving_paused,
    is_worth_keeping,
    judge_clock,
    read_clock,
)
from core.types.lifecycle import JobType
from core.types.values import Kind, Status
from core.types.views import Revision

YEAR_MS = 365 * DAY_MS
CHOSEN = {"erase_kinds": "fact", "erase_days": 90}


def through(times: Iterable[int], held: ClockWatch | None = None) -> ClockWatch:
    """What is known behind beats at these times."""
    for at in times:
        held = judge_clock(held or ClockWatch(at), at)
    assert held is not None
    return held


def beats(begin: int, length: int, every: int = HOUR_MS) -> range:
    return range(begin, begin + length, every)


def test_a_clock_that_goes_on_is_believed() -> None:
    now = through(beats(0, 30 * DAY_MS))
    assert now == ClockWatch(30 * DAY_MS - HOUR_MS)
    assert through(beats(0, 30 * DAY_MS, DAY_MS)).at is None  # who comes once a day is no leap


def test_a_leap_is_on_trial_and_one_that_is_set_right_ends_at_once() -> None:
    leapt = judge_clock(ClockWatch(0), YEAR_MS)
    assert leapt.is_ahead
    assert leapt.believed == 0
    assert is_archiving_paused(leapt, YEAR_MS + DAY_MS - 1)
    assert not is_archiving_paused(leapt, YEAR_MS + DAY_MS)
    assert judge_clock(leapt, HOUR_MS) == ClockWatch(HOUR_MS)


def test_a_month_of_sleep_is_believed_after_a_week() -> None:
    awake = 30 * DAY_MS
    assert through(beats(awake, TRIAL_MS), ClockWatch(0)).is_ahead
    assert through(beats(awake, TRIAL_MS + 2 * HOUR_MS), ClockWatch(0)).at is None


@pytest.mark.parametrize("every", [7 * DAY_MS, 30 * DAY_MS])
def test_somebody_who_comes_seldom_is_not_kept_waiting_for_ever(every: int) -> None:
    known, waited, believed = ClockWatch(0), [], []
    for visit in range(1, 10):
        known = through(range(visit * every, visit * every + 10 * 60_000, 60_000), known)
        waited.append(is_archiving_paused(known, visit * every + 10 * 60_000))
        believed.append(known.at is None)
    assert waited == [True, False, False] * 3
    assert believed == [False, False, True] * 3


def test_a_longer_leap_begins_the_trial_anew() -> None:
    known = through([7 * DAY_MS, 8 * DAY_MS, 9 * DAY_MS], ClockWatch(0))
    further = judge_clock(known, 10 * YEAR_MS)
    assert (further.at, further.days) == (10 * YEAR_MS, 1)
    assert is_archiving_paused(further, 10 * YEAR_MS)


def test_a_battery_that_is_empty_at_every_start_keeps_nothing_waiting() -> None:
    known, born = ClockWatch(20 * YEAR_MS), 0
    for day in range(1, 40):
        known = through([born, born + 60_000, 20 * YEAR_MS + day * DAY_MS], known)
        assert known.at is None
    assert known.believed == 20 * YEAR_MS + 39 * DAY_MS


def test_a_wrong_year_that_was_believed_is_given_up_when_the_clock_is_set_back() -> None:
    known = through(beats(YEAR_MS, 9 * DAY_MS), ClockWatch(0))
    assert known.believed > YEAR_MS
    back = judge_clock(known, 10 * DAY_MS)
    assert not back.is_ahead
    assert not is_archiving_paused(back, 10 * DAY_MS)  # what the past makes due is nothing
    assert through(beats(10 * DAY_MS, 8 * DAY_MS), back).believed < YEAR_MS
    assert judge_clock(through(beats(10 * DAY_MS, 8 * DAY_MS), back), YEAR_MS).is_ahead


@given(st.lists(st.integers(0, 100 * YEAR_MS), min_size=1, max_size=30))
def test_no_time_far_from_what_is_believed_is_believed_at_once(times: list[int]) -> None:
    known = ClockWatch(times[0])
    for now in times[1:]:
        after = judge_clock(known, now)
        if abs(now - known.believed) > LEAP_MS and known.at is None:
            assert after.believed == known.believed
            assert after.at == now
        assert after.believed <= max(known.believed, now)
        known = after


@given(st.integers(0, 50 * YEAR_MS), st.integers(DAY_MS // 24, 40 * DAY_MS), st.integers(0, 80 * YEAR_MS))
def test_whatever_the_leap_and_the_habit_it_ends(leap: int, every: int, begin: int) -> None:
    known = judge_clock(ClockWatch(begin), begin + leap)
    for number in range(1, 2_000):
        known = judge_clock(known, begin + leap + number * every)
        if known.at is None:
            return
    raise AssertionError("the trial never ended")


def test_only_what_changed_is_written() -> None:
    assert is_worth_keeping(None, ClockWatch(0))
    assert not is_worth_keeping(ClockWatch(0), ClockWatch(HOUR_MS - 1))
    assert is_worth_keeping(ClockWatch(0), ClockWatch(HOUR_MS))
    assert is_worth_keeping(ClockWatch(0), judge_clock(ClockWatch(0), YEAR_MS))


# ---- in a vault


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as rig:
        rig.engine.scheduler.beats = SchedulerPacing(every_s=0.0, quiet_s=0.0)
        rig.engine.scheduler.start_for(rig.opened)
        yield rig


def later(rig: Rig, milliseconds: int) -> None:
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(milliseconds)


def beat(rig: Rig) -> None:
    rig.engine.scheduler.agenda.jobs = {
        kind: job for kind, job in rig.engine.scheduler.agenda.jobs.items() if kind in (JobType.SWEEP, JobType.ERASE)
    }
    rig.engine.scheduler.queue_due(rig.opened, force=True)
    rig.wait_for_jobs()


def archived(rig: Rig, text: str) -> str:
    memory_id = rig.store(text, kind=Kind.FACT).memory_id
    rig.engine.library.revise_memories([memory_id], Revision(status=Status.ARCHIVED)).result(30)
    return memory_id


def test_a_leap_erases_nothing_until_it_is_believed_and_sleep_ends(rig: Rig) -> None:
    beat(rig)
    archived(rig, "The Quagga stood behind the barn")
    later(rig, 100 * DAY_MS)
    assert ArchiveErasureJob().plan(ground_of(rig, CHOSEN)) == []  # before any beat saw it
    beat(rig)
    for _ in range(6):
        later(rig, DAY_MS)
        beat(rig)
        assert ArchiveErasureJob().plan(ground_of(rig, CHOSEN)) == []
    later(rig, DAY_MS + HOUR_MS)
    beat(rig)
    assert run(rig, ArchiveErasureJob(), ground_of(rig, CHOSEN)).counts["erased"] == 1


def test_a_wrong_year_that_is_set_right_erases_nothing_though_the_vault_keeps_its_time(rig: Rig) -> None:
    beat(rig)
    kept = archived(rig, "The Quagga stood behind the barn")
    later(rig, 3 * YEAR_MS)
    beat(rig)
    rig.store("Ada keeps bees")  # from here on the vault's own times stand in the wrong year
    ground = ground_of(rig, CHOSEN)
    later(rig, HOUR_MS - 3 * YEAR_MS)
    beat(rig)
    assert ArchiveErasureJob().plan(ground) == []
    deeds = ArchiveErasureJob().plan(ground_of(rig, {**CHOSEN, "erase_days": -2_000}))
    done = rig.write(lambda tx: ArchiveErasureJob().apply_plan(tx, None, ground, deeds))  # type: ignore[arg-type]  # it needs no verb
    assert done.counts["erased"] == 0
    assert rig.get(kept).status is Status.ARCHIVED


@pytest.mark.slow
def test_what_is_due_by_the_time_that_was_believed_is_erased_in_the_trial_too(rig: Rig) -> None:
    beat(rig)
    archived(rig, "The Quagga stood behind the barn")
    for _ in range(91):
        later(rig, DAY_MS)
        beat(rig)
    archived(rig, "Ida keeps hens")
    later(rig, YEAR_MS)
    beat(rig)
    assert len(ArchiveErasureJob().plan(ground_of(rig, CHOSEN))) == 1


def test_between_two_sittings_a_leap_counts_as_well(rig: Rig) -> None:
    beat(rig)
    archived(rig, "The Quagga stood behind the barn")
    rig.lock()
    later(rig, 100 * DAY_MS)
    rig.unlock()
    assert ArchiveErasureJob().plan(ground_of(rig, CHOSEN)) == []


def test_a_vault_that_was_never_watched_goes_by_its_last_change(rig: Rig) -> None:
    rig.lock()
    later(rig, 100 * DAY_MS)
    rig.unlock()
    beat(rig)
    held = rig.opened.storage.vault.read(read_clock)
    assert held is not None
    assert held.is_ahead
    assert held.believed == START_MS


def test_a_sweep_after_a_long_absence_waits_a_day_and_the_person_may_start_it(rig: Rig) -> None:
    beat(rig)
    rig.bring([{"text": f"The jar on shelf {n} holds plums", "kind": "fact", "importance": 0.1} for n in range(3)])
    later(rig, 300 * DAY_MS)
    beat(rig)
    (row,) = rig.engine.jobs.read_state().result(30).rows
    assert row.waits_for.startswith("Waits a day: the clock of this machine leapt ahead.")
    warned = rig.engine.jobs.read_health().result(30).warnings
    assert describe_problem("clock_ahead", days=300) in warned
    later(rig, DAY_MS)
    beat(rig)
    assert rig.value("SELECT state FROM jobs WHERE type = 'sweep'") == "done"
    later(rig, 300 * DAY_MS)
    beat(rig)
    assert rig.engine.jobs.run(JobType.SWEEP).result(30).state == "done"


def test_nothing_expires_by_a_clock_that_leapt_ahead(rig: Rig) -> None:
    beat(rig)
    rig.store("Ada keeps bees")
    later(rig, YEAR_MS)
    delete_expired(rig.opened)
    later(rig, HOUR_MS - YEAR_MS)
    rig.undo()
    assert rig.value("SELECT count(*) FROM memories") == 0
