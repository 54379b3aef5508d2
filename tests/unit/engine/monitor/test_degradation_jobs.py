"""What scheduled work does while something it needs is away, what is told meanwhile, and the way back by itself (E32).

The rows of E32 that searching and storing meet stand in `test_degradation`, those of the model server in
`test_degradation_model`; those that the lifecycle meets stand here.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from away_rig import LeapingClock, beat, ended, how, later, quiet, rows, until
from decay_rig import put, reasons, standing
from engine_rig import PASSPHRASE, START_MS, HandClock, Rig, WordEmbedder, error_of, facts, new_home, rig_at
from flaky_embedder import FlakyEmbedder
from memory_ring import Ring

from core.engine import startup
from core.engine.facade import Engine, Setup
from core.engine.health import describe_problem
from core.engine.jobs.scheduler import SchedulerPacing
from core.engine.runtime.monitor import ResourceMonitor
from core.engine.runtime.monitor import ResourceProbes as Machine
from core.engine.runtime.search import ActiveVectorSpace, make_active_space
from core.errors import Code
from core.index.manager import IndexManager
from core.score.profile import profile_from_options
from core.security.keyring_client import KeyringCause
from core.security.passphrase import KdfCost
from core.types.clock import ManualClock
from core.types.lifecycle import JobState, JobType
from core.types.values import Pressure
from core.vault.database.faults import disk_full_error
from core.vault.vault import Vault

MB = 1024 * 1024
WORK_WITHOUT_A_MODEL = tuple(kind for kind in JobType if kind not in (JobType.DISTILL, JobType.MIGRATE, JobType.EMBED))


@pytest.fixture
def clock() -> LeapingClock:
    return LeapingClock(START_MS)


@pytest.fixture
def rig(tmp_path: Path, clock: LeapingClock) -> Iterator[Rig]:
    with rig_at(tmp_path, clock=clock) as rig:
        quiet(rig)
        yield rig


# ---- the embedder


@pytest.mark.expected_logs("the embedder does not answer")
@pytest.mark.parametrize("kind", WORK_WITHOUT_A_MODEL)
def test_no_job_but_the_backlog_of_vectors_needs_the_embedder(tmp_path: Path, kind: JobType) -> None:
    """E32.1a, E32.5: with the embedder away each kind of work comes to its end and none waits for the person."""
    flaky = FlakyEmbedder()
    with rig_at(tmp_path, embedder=flaky) as rig:
        quiet(rig)
        rig.bring(facts(8))
        rig.settle()
        later(rig, 24 * 60)
        flaky.code = Code.EMBEDDER_UNAVAILABLE
        row = rig.engine.jobs.run(kind).result(60)
        assert (row.state, row.code) == (JobState.DONE, "")
        flaky.code = None


@pytest.mark.expected_logs("the embedder does not answer", "a job failed: E3001")
def test_the_backlog_of_vectors_waits_with_its_reason_and_is_done_when_the_embedder_is_back(tmp_path: Path) -> None:
    """E32.1a `queue for backfill`: the job says why, is never poisoned, and ends by itself."""
    flaky = FlakyEmbedder()
    with rig_at(tmp_path, embedder=flaky) as rig:
        quiet(rig)
        flaky.code = Code.EMBEDDER_UNAVAILABLE
        rig.store("The boat lies in the harbour")
        for _ in range(7):
            later(rig, 7)
            beat(rig)
            until(lambda: any(row.state is JobState.QUEUED for row in rows(rig, JobType.EMBED)), "it is tried")
        (row,) = rows(rig, JobType.EMBED)
        assert row.code in (Code.EMBEDDER_UNAVAILABLE.value, "")
        assert row.waits_for
        flaky.code = None

        def caught_up() -> bool:
            later(rig, 1)
            beat(rig)
            return how(rig).counts["pending_embeddings"] == 0

        until(caught_up, "the vector is made")
        assert rig.recall("boat").strategy == "hybrid"


# ---- the index


def test_work_that_needs_the_whole_index_waits_until_it_is_loaded(rig: Rig) -> None:
    """E32, E33.1 step 9: words are searched, consolidation says that it waits, and the upkeep loads the index again."""
    rig.bring(facts(12))
    later(rig, 25)
    rig.opened.storage.threads.stop_tickers()
    empty = IndexManager(rig.opened.search.space.dims)
    rig.opened.search.use_vector_space(_with_index(rig, empty))
    assert rig.recall("jar number 3").items[0].memory.text == "The shelf holds jar number 3"
    broken = how(rig)
    assert broken.degradation["search_strategy"] == "bm25_only"
    assert any(warning.startswith("Search is loading") for warning in broken.warnings)
    waiting = rig.engine.jobs.run(JobType.CONSOLIDATE)
    until(lambda: bool(rows(rig, JobType.CONSOLIDATE)), "it is queued")
    (row,) = rows(rig, JobType.CONSOLIDATE)
    assert (row.state, row.waits_for) == (JobState.QUEUED, "Waits until the index is loaded.")
    startup.maintain_index(rig.opened)  # what the upkeep does every second
    rig.engine.scheduler.resume_requested(rig.opened)
    assert waiting.result(60).state is JobState.DONE
    assert how(rig).degradation["search_strategy"] == "full"
    assert rig.recall("jar number 3").strategy == "hybrid"


def _with_index(rig: Rig, index: IndexManager) -> ActiveVectorSpace:
    search, storage = rig.opened.search, rig.opened.storage
    profile = profile_from_options(search.retrieval)
    return make_active_space(
        search.embedder, search.space, index, profile, lambda: search.readers, storage.make_id, storage.work, None
    )


# ---- the disk


@pytest.mark.expected_logs("a job failed: E1003", "the failure of a job could not be noted: E1003")
def test_e32_1f_a_run_on_a_full_disk_loses_nothing_and_goes_on_when_there_is_room(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E32.1f: reading goes on, health says it first, and the run ends by itself as if nothing had been."""
    for n in range(60):
        put(rig, f"old{n:02d}", days=900)
    room = [3]  # the queueing, the plan and one batch
    saving = Vault._run_transaction

    def transact(self: Vault, *args: Any, **more: Any) -> Any:
        room[0] -= 1
        if room[0] < 0:
            raise disk_full_error()
        return saving(self, *args, **more)

    rig.opened.storage.threads.stop_tickers()
    monkeypatch.setattr(Vault, "_run_transaction", transact)
    running = rig.engine.jobs.run(JobType.SWEEP)
    until(lambda: how(rig).warnings[:1] == (describe_problem("disk_full"),), "it is told")
    until(lambda: rig.engine.scheduler.running_job_id() is None, "the job rests")
    assert rig.get("old00").text == "text of old00"
    left = len(standing(rig))
    assert 0 < left <= 60
    room[0] = 1_000_000
    beat(rig)
    assert running.result(60).state is JobState.DONE
    assert standing(rig) == set()
    assert len(reasons(rig)) == 60
    assert describe_problem("disk_full") not in how(rig).warnings


# ---- memory, battery, clock


class Machines:
    """A machine whose memory and plug a test has in hand."""

    def __init__(self, rig: Rig) -> None:
        self.megabytes, self.is_plugged, self.clock = 0, True, ManualClock(0)
        readings = Machine(lambda: self.megabytes * MB, lambda: 16_384 * MB, lambda: self.is_plugged)
        rig.opened.load.resources = ResourceMonitor(self.clock, 100, readings)

    def calm(self, rig: Rig) -> None:
        self.megabytes = 0
        rig.opened.load.resources.read_pressure()
        self.clock.advance(300_000)


@pytest.mark.parametrize(("megabytes", "key"), [(75, "memory_elevated"), (95, "memory_critical")])
def test_e32_1i_heavy_work_rests_while_memory_is_short_and_goes_on_by_itself(
    rig: Rig, megabytes: int, key: str
) -> None:
    """E32.1i, E21.3: consolidation waits and says why; the sweep, which makes room, does not (C4)."""
    machine = Machines(rig)
    rig.bring(facts(4))
    later(rig, 25)
    machine.megabytes = megabytes
    beat(rig)
    until(lambda: ended(rig, JobType.SWEEP), "the sweep ran")
    (row,) = rows(rig, JobType.CONSOLIDATE)
    assert (row.state, row.waits_for) == (JobState.QUEUED, "Waits: memory is short.")
    assert rig.engine.jobs.read_state().result(30).holds == "Waits: memory is short."
    assert describe_problem(key, mb=megabytes, budget=100) in how(rig).warnings
    assert rig.found("jar number 3")[0] == "The shelf holds jar number 3"
    machine.calm(rig)
    beat(rig)
    until(lambda: ended(rig, JobType.CONSOLIDATE), "consolidation ran")
    assert rig.engine.jobs.read_state().result(30).holds == ""


def test_e22_7_when_memory_is_critical_the_sweep_is_due_at_once(rig: Rig) -> None:
    """E22.5, E22.7: under critical pressure the sweep runs an hour after the last one, not a day."""
    machine = Machines(rig)
    later(rig, 25)
    rig.engine.jobs.run(JobType.SWEEP).result(30)
    later(rig, 2)
    scheduler = rig.engine.scheduler
    assert JobType.SWEEP not in scheduler.agenda.list_due_jobs(rig.opened, scheduler.make_context(rig.opened))
    machine.megabytes = 95
    assert rig.opened.load.resources.read_pressure() is Pressure.CRITICAL
    assert JobType.SWEEP in scheduler.agenda.list_due_jobs(rig.opened, scheduler.make_context(rig.opened))


def test_on_battery_heavy_work_waits_and_goes_on_when_the_plug_is_in(rig: Rig) -> None:
    """Issue 6 point 1, battery awareness: told in words, and back at the next beat."""
    machine = Machines(rig)
    machine.is_plugged = False
    later(rig, 25)
    beat(rig)
    until(lambda: ended(rig, JobType.SWEEP), "light work goes on")
    (row,) = rows(rig, JobType.CONSOLIDATE)
    assert (row.state, row.waits_for) == (JobState.QUEUED, "Waits: this machine is on battery.")
    machine.is_plugged = True
    beat(rig)
    until(lambda: ended(rig, JobType.CONSOLIDATE), "heavy work goes on")


def test_a_person_who_asks_gets_heavy_work_on_battery_too(rig: Rig) -> None:
    """The other way round: what a person starts waits for no plug."""
    Machines(rig).is_plugged = False
    assert rig.engine.jobs.run(JobType.CONSOLIDATE).result(30).state is JobState.DONE


def test_a_clock_that_was_set_back_is_told_fades_nothing_and_is_left_by_itself(rig: Rig) -> None:
    """E33, C-list on clocks: a year back nothing is older than before; set right, the warning goes."""
    put(rig, "note", days=1)
    rig.store("Ada keeps bees")
    later(rig, -24 * 365)
    assert describe_problem("clock_back") in how(rig).warnings
    assert rig.engine.jobs.run(JobType.SWEEP).result(30).report == {}
    assert "note" in standing(rig)
    later(rig, 24 * 365)
    assert describe_problem("clock_back") not in how(rig).warnings
    assert rig.engine.jobs.run(JobType.SWEEP).result(30).report == {}


# ---- the keyring


@pytest.mark.parametrize("cause", list(KeyringCause))
def test_e32_1e_a_keyring_that_is_away_opens_nothing_makes_no_key_and_comes_back(
    tmp_path: Path, cause: KeyringCause
) -> None:
    """E32.1e: refused in words, the passphrase opens all the same, and the ring opens again once it is there."""
    home, _ = new_home(tmp_path / "home")
    for left in home.path.iterdir():
        if left.is_file():
            left.unlink()
    ring = Ring()
    engine = Engine(
        Setup(home, HandClock(START_MS), WordEmbedder(), background=False, keyring=ring, kdf_cost=KdfCost.lowest())
    )
    try:
        engine.vault.create(PASSPHRASE, use_keyring=True).result(30)
        before = {path.name: path.read_bytes() for path in home.path.glob("vault.keys*")}
        ring.cause = cause
        error = error_of(engine.vault.open())
        assert error.code is Code.KEYRING_UNAVAILABLE
        assert str(error).endswith(".")
        assert engine.state == "locked"
        assert {path.name: path.read_bytes() for path in home.path.glob("vault.keys*")} == before
        engine.vault.open(PASSPHRASE).result(30)
        assert engine.state == "open"
        engine.vault.lock().result(30)
        ring.cause = None
        engine.vault.open().result(30)
        assert engine.state == "open"
    finally:
        engine.close()


# ---- the beginning


def test_e33_1_the_first_beat_comes_a_minute_after_opening(rig: Rig, clock: LeapingClock) -> None:
    """E33.1 step 11, C40: a vault that was just opened is the person's; what is due waits for the first beat."""
    later(rig, 25)
    rig.engine.scheduler.beats = SchedulerPacing(every_s=60.0, quiet_s=0.0)
    rig.lock()
    rig.unlock()
    rig.engine.scheduler.queue_due(rig.opened)
    clock.leap += 59.0
    rig.engine.scheduler.queue_due(rig.opened)
    assert rows(rig, JobType.SWEEP) == []
    clock.leap += 1.0
    rig.engine.scheduler.queue_due(rig.opened)
    until(lambda: ended(rig, JobType.SWEEP), "the first beat queues what is due")


def test_e33_3_an_unexpected_end_is_an_event_of_the_audit_and_told_by_the_status(tmp_path: Path) -> None:
    """E33.3: a vault that was not closed opens with all that was saved, and one audit row says so."""
    told = "SELECT actor, verb FROM audit WHERE verb = 'crash_recovery'"
    with rig_at(tmp_path / "first") as rig:
        rig.store("Ada keeps bees")
        shutil.copytree(rig.home.path, tmp_path / "second" / "home")  # as the disk is when the power goes
    with rig_at(tmp_path / "second") as rig:
        assert rig.engine.vault.read_status().result(30).values["recovered_from_crash"]
        assert rig.found("bees") == ["Ada keeps bees"]
        assert rig.rows(told) == [("scheduler", "crash_recovery")]
        assert rig.value("SELECT count(*) FROM undo_steps WHERE verb = 'crash_recovery'") == 0
        assert rig.verify()["status"] == "ok"
        rig.lock()
        rig.unlock()
        assert len(rig.rows(told)) == 1
    with rig_at(tmp_path / "first") as rig:
        assert rig.rows(told) == []
