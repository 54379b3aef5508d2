"""The verbs on scheduled work, on the real engine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import consolidation_rig
import pytest
from engine_rig import Rig, facts, later, rig_at
from ipc_served import listen

from core.errors import Code, EnvironmentFaultError
from core.ipc.methods.definition.entry import CallProgress
from core.ipc.methods.table import METHODS
from core.ipc.protocol.contract import load_registry
from core.types.lifecycle import JobRow, JobState, JobType
from core.types.values import Kind

REGISTRY = load_registry()


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as made:
        yield made


def told(rig: Rig, verb: str, **params: object) -> dict[str, Any]:
    work = METHODS[REGISTRY.find_method(f"owner.{verb}").name].answer_owner(
        rig.engine, REGISTRY, params, CallProgress()
    )
    found = asyncio.run_coroutine_threadsafe(work, rig.engine.loop).result(60)
    for problem in REGISTRY.result_checker(f"owner.{verb}").iter_errors(found):
        raise AssertionError(f"{verb}: {problem.message}")
    return found


def test_jobs_are_told_with_the_calendar(rig: Rig) -> None:
    told(rig, "sweep")
    found = told(rig, "jobs")
    assert {(row["type"], row["state"]) for row in found["jobs"]} == {("sweep", "done"), ("episodes", "done")}
    assert found["jobs"][0]["finished_at"].endswith("Z")
    assert {"sweep", "consolidate"} <= {beat["type"] for beat in found["calendar"]}
    assert all(beat["next_at"] > beat["last_at"] for beat in found["calendar"] if beat["last_at"] and beat["next_at"])
    assert len(told(rig, "jobs", limit=1)["jobs"]) == 1


def test_a_dry_run_of_a_consolidation_runs_nothing(rig: Rig) -> None:
    found = told(rig, "consolidate", dry_run=True)
    assert (found["dry_run"], found["deduplicated"], found["step"]) == (True, 0, None)
    assert told(rig, "jobs")["jobs"] == []


def test_a_consolidation_answers_with_its_report_and_its_job(rig: Rig) -> None:
    asked = listen(rig.engine, "jobs")
    found = told(rig, "consolidate")
    assert (found["dry_run"], found["deduplicated"]) == (False, 0)
    assert found["contradictions"].keys() == {"resolved", "pending"}
    assert found["job"] is not None
    assert [given[0] for _, given, _ in asked] == [JobType.CONSOLIDATE]


def test_a_consolidation_answers_with_its_report_and_its_step(tmp_path: Path) -> None:
    with consolidation_rig.opened(tmp_path) as rig:
        consolidation_rig.duplicates(rig, "blue")
        foretold = told(rig, "consolidate", dry_run=True)
        assert (foretold["dry_run"], foretold["deduplicated"], foretold["step"]) == (True, 2, None)
        assert told(rig, "jobs")["jobs"] == []
        found = told(rig, "consolidate")
        assert (found["dry_run"], found["deduplicated"]) == (False, 2)
        assert found["contradictions"] == {"resolved": 0, "pending": 0}
        (row,) = told(rig, "jobs")["jobs"]
        assert (row["id"], row["type"], row["state"]) == (found["job"], "consolidate", "done")
        assert [step["id"] for step in told(rig, "steps", limit=1)["items"]] == [found["step"]]
        assert len(rig.texts()) == 1
        rig.undo(found["step"])
        assert len(rig.texts()) == 3


def test_a_sweep_tidies_notes_too(rig: Rig) -> None:
    asked = listen(rig.engine, "jobs")
    found = told(rig, "sweep")
    assert [given[0] for _, given, _ in asked] == [JobType.SWEEP, JobType.EPISODES]
    assert (found["swept"], found["episodes"], found["steps"]) == ({}, {}, [])


def test_a_sweep_answers_with_the_steps_of_what_it_tidied(rig: Rig) -> None:
    rig.bring(facts(9))
    later(rig, 800)
    note = rig.store("We swept the yard.", rig.client("plug", "read", "write"), kind=Kind.EPISODE).memory_id
    rig.write(lambda tx: tx.insert("episodes", {"memory_id": note, "consolidated_at": 1}))
    rig.settle()
    found = told(rig, "sweep")
    assert (found["swept"], found["episodes"]) == ({"expired": 9}, {"expired": 1, "remaining": 0})
    swept, tidied = found["steps"]
    assert [step["id"] for step in told(rig, "steps", limit=2)["items"]] == [tidied, swept]
    assert rig.texts() == []
    rig.undo(tidied)
    assert rig.texts() == ["We swept the yard."]
    rig.undo(swept)
    assert len(rig.texts()) == 10


def test_a_job_that_gave_up_is_an_error_with_its_code(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    row = rig.engine.jobs.run(JobType.CONSOLIDATE).result(60)

    def run(*_: object) -> Future[JobRow]:
        future: Future[JobRow] = Future()
        future.set_result(replace(row, state=JobState.POISON))
        return future

    monkeypatch.setattr(rig.engine.jobs, "run", run)
    with pytest.raises(EnvironmentFaultError) as caught:
        told(rig, "consolidate")
    assert caught.value.code is Code.BACKGROUND_STALLED
    assert "poison" in str(caught.value)
