"""Work that takes long lets people go first, and is never held back for good."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from engine_rig import rig_at

from core.belief.relate.relation_model import RelationModel
from core.engine.jobs.runner import _SHARE, _find_neighbours, _ReadThrottle
from core.engine.runtime.storage import Activity
from core.engine.startup import built_in_readers
from core.types.clock import ManualClock
from core.types.lifecycle import JobState, JobType


class Closing:
    """Waiting moves the clock."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.waited = 0.0

    def is_set(self) -> bool:
        return False

    def wait(self, seconds: float) -> None:
        self._clock.advance(int(seconds * 1000))
        self.waited += seconds


def opened() -> tuple[Any, ManualClock, Closing]:
    clock = ManualClock(1_000)
    closing = Closing(clock)
    read = SimpleNamespace(read=lambda fn, deadline_s: fn(None))
    load = SimpleNamespace(activity=Activity(clock))
    storage = SimpleNamespace(clock=clock, closing=closing, vault=read)
    made = SimpleNamespace(storage=storage, load=load)
    clock.advance(10_000)
    return made, clock, closing


def test_while_nobody_is_at_work_nothing_waits() -> None:
    made, clock, closing = opened()
    throttle = _ReadThrottle(made, 1.0)
    clock.advance(500)
    assert throttle.read(lambda _: 7) == 7
    assert closing.waited == 0


def test_after_a_search_it_waits_until_nobody_searches_any_more() -> None:
    made, clock, closing = opened()
    throttle = _ReadThrottle(made, 1.0)
    clock.advance(500)
    made.load.activity.note_call()
    throttle.wait_while_busy()
    assert 0.25 <= closing.waited < 0.3


def test_whoever_searches_all_the_time_holds_it_back_and_not_for_good() -> None:
    made, clock, closing = opened()
    made.load.activity = SimpleNamespace(is_busy=True)
    throttle = _ReadThrottle(made, 1.0)
    clock.advance(50)
    throttle.wait_while_busy()
    assert abs(closing.waited - 0.05 * _SHARE) < 0.03
    clock.advance(60_000)
    closing.waited = 0
    throttle.wait_while_busy()
    assert closing.waited < 1.1


def test_between_the_questions_to_the_index_it_waits() -> None:
    made, clock, closing = opened()

    def search(vector: Any, k: int) -> Any:
        made.load.activity.note_call()
        clock.advance(1)
        return SimpleNamespace(labels=np.array([3]), cosines=np.array([0.5], np.float32))

    index: Any = SimpleNamespace(search=search)
    labels, cosines = _find_neighbours(index, _ReadThrottle(made, 1.0), np.zeros((40, 3), np.float32), 2)
    assert labels.shape == (40, 2)
    assert labels[39].tolist() == [3, -1]
    assert cosines[0].tolist() == [0.5, -1.0]
    assert closing.waited > 0


def test_behind_a_job_what_only_jobs_need_is_let_go(tmp_path: Path) -> None:
    readers = built_in_readers()
    relate = readers.relate
    assert isinstance(relate, RelationModel)
    with rig_at(tmp_path, readers=readers) as rig:
        for job in (JobType.CONSOLIDATE, JobType.ENRICH):
            before = relate.alone
            assert rig.engine.jobs.run(job).result(60).state is JobState.DONE
            assert relate.alone is not before
