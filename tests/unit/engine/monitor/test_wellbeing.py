"""Health: every figure of E34.8, and every fault in words that say what to do."""

from __future__ import annotations

import json
import shutil
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from decay_rig import put
from engine_rig import START_MS, HandClock, Rig, facts, refused, rig_at, talk

from core.config.options import Options
from core.engine.health import describe_problem, health_report
from core.engine.runtime.monitor import RECALLS, LatencyWindow, ResourceMonitor, ResourceProbes
from core.errors import Code
from core.types.belief import ModelServerState, ModelState
from core.types.lifecycle import Health
from core.vault.database.faults import disk_full_error
from core.vault.database.tx import Tx
from core.vault.vault import Vault

DAY_MS = 86_400_000
MB = 1024 * 1024
ROOMY = 10_000 * MB
Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What the disk has left; a test sets the first."""
    left = [ROOMY]
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(ROOMY, 0, left[0]))
    return left


@pytest.fixture
def rig(tmp_path: Path, free: list[int]) -> Iterator[Rig]:
    with rig_at(tmp_path) as rig:
        yield rig


def later(rig: Rig, milliseconds: int) -> None:
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(milliseconds)


def how(rig: Rig) -> Health:
    return rig.opened.storage.vault.read(lambda rows: health_report(rig.opened, rows))


def test_a_palace_that_is_well_has_no_warning(rig: Rig) -> None:
    rig.bring([*talk(4), *facts(3)])
    rig.recall("garden")
    found = how(rig)
    assert found.warnings == ()
    assert found.degradation == {"search_strategy": "full", "model_server": "absent", "warnings": []}


def test_e34_8_all_figures_are_there_and_follow_what_happens(rig: Rig) -> None:
    before = how(rig)
    assert before.performance == {
        "avg_search_ms": None,
        "p99_search_ms": None,
        "write_queue": 0,
        "readers_idle": 3,  # this very reading has one
    }
    assert set(before.counts.values()) == {0}
    rig.bring([*talk(4), *facts(3)])
    rig.recall("garden")
    after = how(rig)
    assert after.counts == {
        "episodes": 4,
        "facts": 3,
        "rules": 0,
        "procedures": 0,
        "digests": 0,
        "edges": 0,
        "pending_embeddings": 0,
    }
    took = after.performance["avg_search_ms"]
    assert took is not None
    assert took > 0
    assert after.performance["p99_search_ms"] == took
    assert set(after.ram) == {"index_mb", "total_mb", "budget_mb", "pressure", "index_kind"}
    assert float(after.ram["index_mb"]) > 0
    assert (after.ram["pressure"], after.ram["index_kind"]) == ("normal", "flat")
    assert after.background == {
        "last_consolidation": None,
        "last_sweep": None,
        "consolidation_backlog": 7,
        "archive_candidates": 0,
    }


def test_the_backlog_of_consolidation_counts_from_the_last_one(rig: Rig) -> None:
    rig.store("Ada keeps bees")
    rig.write(lambda tx: _job(tx, "consolidate", "done", finished_at=tx.now_ms))
    later(rig, 1_000)
    rig.store("Eva keeps goats")
    background = how(rig).background
    assert (background["last_consolidation"], background["consolidation_backlog"]) == (START_MS, 1)


def test_what_a_sweep_would_archive_is_a_candidate_and_what_only_fades_is_none(rig: Rig) -> None:
    put(rig, "fades")
    rig.write(lambda tx: tx.insert("fading", {"memory_id": "fades", "since": START_MS, "confidence": 0.1}))
    put(rig, "weak", days=900)
    put(rig, "expired", days=900, permanence="ephemeral")
    put(rig, "pinned", days=900, pinned=1)
    assert how(rig).background["archive_candidates"] == 2
    rig.write(lambda tx: tx.run("UPDATE memories SET pinned = 1 WHERE id = 'weak'"))
    assert how(rig).background["archive_candidates"] == 1


def test_notes_that_were_left_are_told(rig: Rig) -> None:
    put(rig, "note", kind="episode")
    left = {"memory_id": "note", "state": "dead", "attempts": 3, "code": "E3005", "at": START_MS}
    rig.write(lambda tx: tx.insert("distilled", left))
    assert describe_problem("episodes_left", n=1) in how(rig).warnings


@pytest.mark.parametrize(
    ("left", "said"),
    [(499 * MB, describe_problem("disk_low", mb=499)), (7 * MB, describe_problem("disk_full")), (500 * MB, None)],
)
def test_a_disk_that_fills_up(rig: Rig, free: list[int], left: int, said: str | None) -> None:
    free[0] = left
    assert how(rig).warnings == (() if said is None else (said,))


def test_a_disk_that_does_not_tell_is_no_fault(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(shutil, "disk_usage", fails)
    assert how(rig).warnings == ()


def test_receipts_that_cannot_be_written_are_told(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.store("Ada keeps bees")

    def refuse(*_: object) -> None:
        raise disk_full_error()

    with monkeypatch.context() as full:
        full.setattr(Vault, "_run_transaction", refuse)
        assert rig.found("bees") == ["Ada keeps bees"]
        with refused(Code.DISK_FULL):
            rig.engine.flush_journal()
        assert how(rig).warnings == (describe_problem("disk_full"),)
    rig.engine.flush_journal()
    assert how(rig).warnings == ()
    assert rig.value("SELECT count(*) FROM receipts") == 1


@pytest.mark.parametrize("age", [6, 7, 30])
def test_a_vault_without_a_backup_is_told_after_a_week(tmp_path: Path, free: list[int], age: int) -> None:
    with rig_at(tmp_path, clock=HandClock(START_MS + age * DAY_MS)) as rig:
        rig.write(lambda tx: tx.run("UPDATE vault_state SET created_at = ?", (START_MS,)))
        assert (describe_problem("backup_none") in how(rig).warnings) is (age >= 7)


def test_a_backup_that_grew_old_is_told(rig: Rig) -> None:
    rig.engine.vault.backup().result(60)
    later(rig, 7 * DAY_MS - 1)
    assert how(rig).warnings == ()
    later(rig, 2 * DAY_MS)
    assert how(rig).warnings == (describe_problem("backup_old", days=8),)


def _job(tx: Tx, kind: str, state: str, **more: object) -> None:
    tx.insert("jobs", {"id": kind, "type": kind, "state": state, "created_at": 1, **more})


def test_jobs_that_failed_or_do_not_move_are_told(rig: Rig) -> None:
    def write(tx: Tx) -> None:
        _job(tx, "sweep", "poison")
        _job(tx, "replay", "running", lease_until=START_MS - 3_600_001)

    rig.write(write)
    assert how(rig).warnings == (describe_problem("jobs_poison", n=1), describe_problem("jobs_stuck"))


def test_a_clock_that_was_set_back_is_told(rig: Rig) -> None:
    rig.store("Ada keeps bees")
    later(rig, -DAY_MS)
    assert describe_problem("clock_back") in how(rig).warnings


def test_memory_that_is_short_is_told_with_figures(rig: Rig) -> None:
    held = [0]
    rig.opened.load.resources = ResourceMonitor(
        rig.clock, 100, ResourceProbes(lambda: held[0], lambda: 16 * 1024 * MB, lambda: None)
    )
    held[0] = 80 * MB
    assert how(rig).warnings == (describe_problem("memory_elevated", mb=80, budget=100),)
    held[0] = 95 * MB
    assert how(rig).warnings == (describe_problem("memory_critical", mb=95, budget=100),)
    assert how(rig).ram["total_mb"] == 95


def test_a_server_that_nobody_chose_may_be_away(rig: Rig) -> None:
    rig.opened.model = ModelState(ModelServerState.ABSENT)
    assert how(rig).warnings == ()
    rig.opened.options = replace_option(rig, model_name="small:3b")
    assert how(rig).warnings == (describe_problem("model_absent"),)
    rig.opened.model = ModelState(ModelServerState.FAILING, code="E3005")
    assert how(rig).warnings == (describe_problem("model_failing", code="E3005"),)
    rig.opened.model = ModelState(ModelServerState.OFF)
    assert how(rig).warnings == ()


def replace_option(rig: Rig, **more: object) -> Options:
    return rig.opened.options.model_copy(update=more)


def test_what_opening_found_is_told_first(rig: Rig) -> None:
    info = rig.opened.storage.vault.info
    rig.opened.storage.vault.info = replace(info, lost_commits=2, head_state="missing")
    rig.opened.model = ModelState(ModelServerState.FAILING, code="E3005")
    assert how(rig).warnings == (
        describe_problem("damaged_log"),
        describe_problem("head_unknown", state="missing"),
        describe_problem("model_failing", code="E3005"),
    )


def test_the_pulse_keeps_the_last_hundred() -> None:
    pulse = LatencyWindow()
    assert (pulse.mean_ms(), pulse.slowest_ms()) == (None, None)
    for took in range(1, 151):
        pulse.record_latency(float(took))
    assert pulse.mean_ms() == sum(range(51, 151)) / RECALLS
    assert pulse.slowest_ms() == 149.0


def test_one_and_several_are_told_apart() -> None:
    assert describe_problem("queue_long", n=1).startswith("1 change waits ")
    assert describe_problem("queue_long", n=1_200).startswith("1,200 changes wait ")
    assert describe_problem("jobs_poison", n=0).startswith("0 tasks ")


def test_every_sentence_says_what_is_wrong_and_what_to_do() -> None:
    said = json.loads(files("resources").joinpath("help").joinpath("health.json").read_text(encoding="utf-8"))
    assert list(said) == sorted(said)
    for key, words in said.items():
        assert set(words) == {"says", "do"}, key
        says = words["says"] if isinstance(words["says"], dict) else {"": words["says"]}
        assert set(says) in ({""}, {"one", "many"}), key
        assert all(form.endswith(".") for form in says.values()), key
        assert words["do"].endswith("."), key
