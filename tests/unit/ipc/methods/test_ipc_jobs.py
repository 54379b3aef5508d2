"""The verbs on scheduled work, against a stand-in for the engine."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from ipc_engine import FakeEngine

from core.errors import Code, EnvironmentFaultError
from core.ipc.methods.table import run_verb
from core.ipc.protocol.call_progress import CallProgress
from core.ipc.protocol.schema import load
from core.types.lifecycle import JobState, JobType

REGISTRY = load()


def asked(engine: FakeEngine, verb: str, **params: object) -> dict[str, Any]:
    return asyncio.run(run_verb(engine.real, REGISTRY, verb, params, CallProgress()))


def test_jobs_are_told_with_the_calendar() -> None:
    told = asked(FakeEngine(), "jobs")
    assert [(row["type"], row["state"]) for row in told["jobs"]] == [("sweep", "done"), ("replay", "queued")]
    assert told["jobs"][0]["finished_at"].endswith("Z")
    assert told["jobs"][1]["waits_for"] == "Waits for its turn."
    assert told["calendar"][0]["next_at"] > told["calendar"][0]["last_at"]
    assert len(asked(FakeEngine(), "jobs", limit=1)["jobs"]) == 1


def test_a_dry_run_of_a_consolidation_runs_nothing() -> None:
    engine = FakeEngine()
    told = asked(engine, "consolidate", dry_run=True)
    assert (told["dry_run"], told["deduplicated"], told["step"]) == (True, 4, None)
    assert engine.jobs.asked == []


def test_a_consolidation_answers_with_its_report_and_its_step() -> None:
    engine = FakeEngine()
    told = asked(engine, "consolidate")
    assert (told["dry_run"], told["deduplicated"]) == (False, 4)
    assert told["contradictions"] == {"resolved": 0, "pending": 0}
    assert told["step"] is not None
    assert engine.jobs.asked == [JobType.CONSOLIDATE]


def test_a_sweep_tidies_notes_too() -> None:
    engine = FakeEngine()
    told = asked(engine, "sweep")
    assert engine.jobs.asked == [JobType.SWEEP, JobType.EPISODES]
    assert told["swept"] == {"faded": 2}
    assert len(told["steps"]) == 2


def test_a_job_that_gave_up_is_an_error_with_its_code() -> None:
    engine = FakeEngine()
    engine.jobs.fails = JobState.POISON
    with pytest.raises(EnvironmentFaultError) as caught:
        asked(engine, "consolidate")
    assert caught.value.code is Code.BACKGROUND_STALLED
    assert "poison" in str(caught.value)
