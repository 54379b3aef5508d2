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

import consolidation_rig
import job_child
import pytest
from engine_rig import START_MS, HandClock, Rig, Table, facts, rig_at, talk

from core.types.lifecycle import JobRow, JobState, JobType

ROOT = Path(__file__).resolve().parents[2]
DAY_MS = 86_400_000
AT_ONCE = 4
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
    waiting = [one.id for one in rig.engine.jobs.read_state().result(30).rows if one.state is not JobState.DONE]
    row = rig.engine.jobs.run(JobType.SWEEP).result(60)
    assert waiting in ([], [row.id])
    return that_did_it(rig, row)


def that_did_it(rig: Rig, row: JobRow) -> JobRow:
    """The run that did the work: where it had just ended when it was killed, the next one found nothing."""
    assert row.state is JobState.DONE, row.code
    done = [
        one for one in rig.engine.jobs.read_state().result(30).rows if one.type is row.type and one.step_id is not None
    ]
    assert len(done) == 1
    return done[0]


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


@pytest.mark.parametrize("batches", [0, 1, 5])
def test_a_job_killed_behind_a_batch_ends_as_if_nothing_had_been(
    tmp_path: Path, grown: tuple[Path, bytes], batches: int
) -> None:
    source, root = grown
    quiet, killed = tmp_path / "quiet", tmp_path / "killed"
    for folder in (quiet, killed):
        shutil.copytree(source, folder)
    wanted, row = end_of(quiet, root)
    assert row.report["expired"] + row.report.get("faded", 0) > 100

    order = {"folder": str(killed), "root": root.hex(), "now": LATER, "job": "sweep", "batch": 25}
    assert said_before_the_kill(order, batches) == ["batch"] * batches

    found, again = end_of(killed, root)
    assert found == wanted
    assert again.report == row.report


# ---- consolidation: deeds of every kind, four a batch


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A vault in which a consolidation finds something for every phase, several times over."""
    folder = tmp_path_factory.mktemp("full")
    with consolidation_rig.opened(folder) as rig:
        consolidation_rig.of_all_kinds(rig, seed=3, most=4, least=3)
        return folder, rig.root


def gathered(folder: Path, root: bytes) -> tuple[dict[str, Table], dict[str, Table], JobRow]:
    """Let the consolidation run to its end; every row before the undo and behind it, without the ids it made."""
    with rig_at(folder, clock=HandClock(START_MS), root=root, readers=consolidation_rig.READERS) as rig:
        row = that_did_it(rig, rig.engine.jobs.run(JobType.CONSOLIDATE).result(60))
        rig.settle()
        left = rig.dump()
        assert rig.undo(row.step_id).left == ()
        return left, rig.dump(), row


@pytest.fixture(scope="module")
def quiet(
    tmp_path_factory: pytest.TempPathFactory, full: tuple[Path, bytes]
) -> tuple[dict[str, Table], dict[str, Table], JobRow]:
    """Where it ends when nothing interrupts it."""
    folder = tmp_path_factory.mktemp("quiet") / "it"
    shutil.copytree(full[0], folder)
    return gathered(folder, full[1])


@pytest.mark.parametrize("batches", range(7))
def test_a_consolidation_killed_behind_any_batch_ends_as_if_nothing_had_been(
    tmp_path: Path,
    full: tuple[Path, bytes],
    quiet: tuple[dict[str, Table], dict[str, Table], JobRow],
    batches: int,
) -> None:
    wanted, undone, row = quiet
    assert row.total is not None
    assert -(-row.total // AT_ONCE) >= 6
    folder = tmp_path / "killed"
    shutil.copytree(full[0], folder)
    order = {"folder": str(folder), "root": full[1].hex(), "now": START_MS, "job": "consolidate", "batch": AT_ONCE}
    said = said_before_the_kill(order, min(batches, -(-row.total // AT_ONCE)))
    assert set(said) <= {"batch"}

    found, back, again = gathered(folder, full[1])
    known = consolidation_rig.ids_in(undone)
    assert consolidation_rig.without_new_ids(found, known) == consolidation_rig.without_new_ids(wanted, known)
    assert {**again.report, "duration_ms": 0} == {**row.report, "duration_ms": 0}
    assert back == undone
