"""A kill in any step of sealing and of taking a bundle leaves all or nothing; the bench goes fifty rounds a step."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from bench_kill_steps import NEW, OLD, WORKS, StepKiller
from engine_rig import new_home

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork")


@pytest.mark.starts_process
@pytest.mark.slow
@pytest.mark.parametrize("name", ["seal", "apply"])
def test_a_kill_in_any_step_leaves_all_or_nothing(tmp_path: Path, name: str) -> None:
    new_home(tmp_path / "first")
    killer = StepKiller(WORKS[name], tmp_path / name, random.Random(5))
    assert {"rows", "journals", "commit", "behind the commit", "files"} <= killer.by_step.keys()
    for step in killer.by_step:
        outcomes = killer.kill(step, 1)
        assert outcomes.keys() <= {OLD, NEW}, (step, outcomes)
