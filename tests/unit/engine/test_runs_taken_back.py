"""What a person takes back of a run stays back, and what age erased may be said again; through the engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import HandClock, Rig, rig_at

from core.types.lifecycle import JobState, JobType

DAY_MS = 86_400_000
TEXTS = ("The plum jars stand on the cellar shelf.", "Ada repaired the kiln.", "The ferry leaves at nine.")


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as opened:
        opened.bring([{"text": text, "kind": "fact", "source": "inference"} for text in TEXTS])
        opened.settle()
        yield opened


def later(rig: Rig, days: int) -> None:
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(days * DAY_MS)


def sweep(rig: Rig) -> int:
    row = rig.engine.jobs.run(JobType.SWEEP).result(30)
    assert row.state is JobState.DONE
    return int(row.report.get("expired", 0)) + int(row.report.get("faded", 0))


def test_what_was_taken_back_is_not_archived_again_while_the_step_is_kept(rig: Rig) -> None:
    later(rig, 700)
    assert sweep(rig) == 3
    rig.undo()
    later(rig, 1)
    assert sweep(rig) == 0
    memory_id = rig.value("SELECT id FROM memories LIMIT 1")
    assert "taken_back" in rig.engine.jobs.gauges(memory_id).result(30).protected_by


def test_a_preview_tells_of_what_would_be_erased(rig: Rig) -> None:
    later(rig, 700)
    sweep(rig)
    rig.engine.settings.set("erase_kinds", "fact").result(30)
    later(rig, 100)
    assert rig.engine.jobs.preview().result(30).counts["erase"] == 3


def test_what_age_erased_may_be_said_again_and_no_file_brings_it_back(rig: Rig) -> None:
    later(rig, 700)
    sweep(rig)
    rig.engine.settings.set("erase_kinds", "fact").result(30)
    later(rig, 100)
    assert rig.engine.jobs.run(JobType.ERASE).result(30).report["erased"] == 3
    again = rig.bring(rig.folder / "rows.jsonl")
    assert (again.stored, dict(again.skipped)) == (0, {"erased": 3})
    client = rig.client("notes", "read", "write")
    assert rig.store(TEXTS[1], client).operation == "ADD"
