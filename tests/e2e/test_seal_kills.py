"""A power cut while memories are sealed and put back; `tests/bench/bench_kill_seal.py` goes fifty rounds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from cli_rig import Palace

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from bench_kill_seal import SealKiller

ROUNDS = 3


@pytest.mark.slow
def test_every_memory_is_in_one_place_after_a_kill(palace: Palace) -> None:
    told: list[str] = []
    outcome = SealKiller(palace, seed=11, tell=told.append).run(ROUNDS)
    assert outcome.is_clean, outcome
    assert outcome.rounds == ROUNDS
    assert outcome.seals > 0
