"""How many runs by themselves changed memories since a moment: what the window counts beside the Journal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from away_rig import beat, quiet
from engine_rig import Rig, later, rig_at
from life_rig import run

from core.types.lifecycle import JobType
from core.types.replies import WaitingKind

TEXTS = ("The plum jars stand on the cellar shelf.", "Ada repaired the kiln.", "The ferry leaves at nine.")


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as opened:
        quiet(opened)
        opened.bring([{"text": text, "kind": "fact", "source": "inference"} for text in TEXTS])
        opened.settle()
        yield opened


def by_itself(rig: Rig, kind: JobType = JobType.SWEEP) -> None:
    """A run as the calendar begins it; the scheduler's own would wait for days behind the leap of the clock."""
    run(rig, kind)
    rig.write(lambda tx: tx.run("UPDATE jobs SET actor = 'scheduler'"))


def unseen(rig: Rig, since: int) -> int:
    return rig.engine.conflicts.count_waiting(since).result(30)[WaitingKind.RUNS]


def test_a_run_that_archived_is_counted_until_it_was_seen_or_taken_back(rig: Rig) -> None:
    begun = rig.clock.now_ms()
    assert unseen(rig, begun) == 0
    later(rig, 700)
    by_itself(rig)
    assert sorted(rig.texts(("archived",))) == sorted(TEXTS)
    assert unseen(rig, begun) == 1
    assert unseen(rig, rig.clock.now_ms()) == 0
    rig.undo()
    assert unseen(rig, begun) == 0


def test_what_the_person_ran_is_not_counted(rig: Rig) -> None:
    begun = rig.clock.now_ms()
    later(rig, 700)
    run(rig, JobType.SWEEP)
    assert len(rig.texts(("archived",))) == len(TEXTS)
    assert unseen(rig, begun) == 0


def test_a_run_that_found_nothing_is_not_counted(rig: Rig) -> None:
    begun = rig.clock.now_ms()
    later(rig, 2)
    by_itself(rig)
    assert unseen(rig, begun) == 0


def test_what_was_erased_is_counted(rig: Rig) -> None:
    rig.engine.settings.set_option("erase_kinds", "fact").result(30)
    later(rig, 700)
    run(rig, JobType.SWEEP)
    begun = rig.clock.now_ms()
    later(rig, 100)
    for _ in range(9):  # the leap is believed after a week of use
        beat(rig)
        later(rig, 1)
    by_itself(rig, JobType.ERASE)
    assert not rig.texts(("archived",))
    assert unseen(rig, begun) == 1
