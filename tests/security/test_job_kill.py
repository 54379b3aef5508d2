"""A job that is killed behind any batch goes on behind it and ends as if nothing had been."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import job_child
import pytest
from engine_rig import START_MS, HandClock, Rig, Table, facts, rig_at, talk

from core.types.lifecycle import JobRow, JobState, JobType

ROOT = Path(__file__).resolve().parents[2]
DAY_MS = 86_400_000
LATER = START_MS + 800 * DAY_MS


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A vault in which much has faded, and its root key."""
    folder = tmp_path_factory.mktemp("grown")
    with rig_at(folder, clock=HandClock(START_MS)) as rig:
        rig.bring([*facts(260), *talk(20)])
        rig.settle()
        return folder, rig.root


def end_of(folder: Path, root: bytes) -> tuple[dict[str, Table], JobRow]:
    """Let the sweep run to its end, and look at every row."""
    with rig_at(folder, clock=HandClock(LATER), root=root) as rig:
        row = _whole(rig)
        left = rig.dump()
        report = rig.undo(row.step_id)
        assert report.restored > 0
        assert rig.value("SELECT count(*) FROM memories WHERE status = 'archived'") == 0
        return left, row


def _whole(rig: Rig) -> JobRow:
    waiting = [one.id for one in rig.engine.jobs.state().result(30).rows if one.state is not JobState.DONE]
    row = rig.engine.jobs.run(JobType.SWEEP).result(60)
    assert waiting in ([], [row.id])
    return row


def said_before_the_kill(order: dict[str, Any], batches: int) -> list[str]:
    """Start the job in a process of its own and end it as a power cut would, behind so many batches."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests" / "helpers")])}
    command = [sys.executable, job_child.__file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(json.dumps(order) + "\n")
        child.stdin.flush()
        said = [child.stdout.readline().strip() for _ in range(batches)]
        time.sleep(0.0 if batches else 0.7)  # without a batch: while it opens, plans or has just begun
        child.send_signal(signal.SIGKILL)
        return said


@pytest.mark.parametrize("batches", [0, 1, 3])
def test_a_job_killed_behind_a_batch_ends_as_if_nothing_had_been(
    tmp_path: Path, grown: tuple[Path, bytes], batches: int
) -> None:
    source, root = grown
    quiet, killed = tmp_path / "quiet", tmp_path / "killed"
    for folder in (quiet, killed):
        shutil.copytree(source, folder)
    wanted, row = end_of(quiet, root)
    assert row.report["expired"] + row.report.get("faded", 0) > 100

    order = {"folder": str(killed), "root": root.hex(), "now": LATER, "job": "sweep"}
    assert said_before_the_kill(order, batches) == ["batch"] * batches

    found, again = end_of(killed, root)
    assert found == wanted
    assert again.report == row.report
