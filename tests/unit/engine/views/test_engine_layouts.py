"""The child that places nodes: it answers, it is ended, and nothing it says or fails to say does harm."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.engine.views.graph import (
    LayoutProcess,
    WholeLayout,
    check_graph,
    layout_command,
    layout_whole,
    place_on_rings,
)
from core.engine.views.layout_process import EGO, LENGTH, STEP, LayoutJob, main, pack_job
from core.errors import CancelledError, Code, EnvironmentFaultError, LociError
from core.types.clock import SystemClock
from core.types.views import Placed

STOPPED = "a layout stopped: .*"
READ = "import struct, sys, time; i, o = sys.stdin.buffer, sys.stdout.buffer; i.read(); "


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as guards:
        yield guards


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Every child that was started; at the end all of them are gone."""
    found: list[subprocess.Popen[bytes]] = []
    birth: Callable[..., None] = subprocess.Popen.__init__

    def init(self: subprocess.Popen[bytes], *args: object, **more: object) -> None:
        birth(self, *args, **more)
        found.append(self)

    monkeypatch.setattr(subprocess.Popen, "__init__", init)
    yield found
    assert found
    assert all(process.returncode is not None for process in found)


def grid(side: int) -> LayoutJob:
    number = np.arange(side * side).reshape(side, side)
    a = np.concatenate((number[:, :-1].ravel(), number[:-1].ravel()))
    b = np.concatenate((number[:, 1:].ravel(), number[1:].ravel()))
    return check_graph(side * side, a, b, np.full(a.size, 0.8))


def never() -> bool:
    return False


def liar(code: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-c", READ + code)


def child(
    pool: ThreadPoolExecutor, command: tuple[str, ...], stopped: Callable[[], bool] = never, deadline_s: float = 60
) -> LayoutProcess:
    return LayoutProcess(pool, SystemClock(), stopped, command, deadline_s)


def run(pool: ThreadPoolExecutor, command: tuple[str, ...], job: LayoutJob) -> tuple[Placed, list[Placed]]:
    steps: list[Placed] = []
    last = layout_whole(WholeLayout(job, None), lambda: child(pool, command), steps.append, lambda: False)
    return last, steps


def lengths(xy: NDArray[np.float32], job: LayoutJob) -> tuple[float, float]:
    """Median length of an edge, and of any pair."""
    near = np.linalg.norm(xy[job.a] - xy[job.b], axis=1)
    far = np.linalg.norm(xy[:, None] - xy[None], axis=2)
    return float(np.median(near)), float(np.median(far))


@pytest.mark.starts_process
@pytest.mark.usefixtures("started")
def test_a_whole_graph_is_placed_in_steps(pool: ThreadPoolExecutor) -> None:
    job = grid(15)
    last, steps = run(pool, layout_command(), job)
    assert [step.step for step in steps] == [1, 2, 3, 4]
    assert [step.is_last for step in steps] == [False, False, False, True]
    assert last is steps[-1]
    for step in steps:
        assert step.xy.shape == (225, 2)
        assert step.xy.dtype == np.float32
        assert bool((np.abs(step.xy) <= 1).all())
        assert not step.xy.flags.writeable
    edge, pair = lengths(last.xy, job)
    assert edge < 0.3 * pair
    again, _ = run(pool, layout_command(), job)
    assert np.array_equal(again.xy, last.xy)


@pytest.mark.starts_process
@pytest.mark.usefixtures("started")
def test_an_ego_graph_has_its_centre_in_the_middle(pool: ThreadPoolExecutor) -> None:
    distance = np.array([0, 1, 1, 1, 2], np.int64)
    a, b = np.array([0, 0, 0, 1], np.int32), np.array([1, 2, 3, 4], np.int32)
    job = LayoutJob(EGO, a, b, np.ones(4, np.float32), place_on_rings(distance, a, b))
    with child(pool, layout_command()) as running:
        ((placed, is_last),) = list(running.place_nodes(job))
    assert is_last
    assert placed[0].tolist() == [0, 0]
    assert np.isclose(np.linalg.norm(placed, axis=1).max(), 1)
    assert np.linalg.norm(placed[1] - placed[4]) < np.linalg.norm(placed[2] - placed[4])


def test_a_graph_without_edges_needs_no_child() -> None:
    steps: list[Placed] = []
    layout = WholeLayout(check_graph(5, np.empty(0, int), np.empty(0, int), np.empty(0)), np.arange(5))
    last = layout_whole(layout, lambda: pytest.fail("started"), steps.append, lambda: False)
    assert steps == [last]
    assert (last.step, last.is_last) == (1, True)


LIES = {
    "dies": "sys.exit(3)",
    "garbage": "o.write(b'Traceback: no module named igraph' * 9)",
    "short": "o.write(struct.pack('<QB', 1 + 8 * 9, 1) + b'1234')",
    "too many": "o.write(struct.pack('<QB', 1 + 8 * 10, 1) + bytes(80))",
    "huge": "o.write(struct.pack('<Q', 2**63))",
    "flag": "o.write(struct.pack('<QB', 1 + 8 * 9, 7) + bytes(72))",
    "nan": "o.write(struct.pack('<QB18f', 1 + 8 * 9, 1, *[float('nan')] * 18))",
    "infinite": "o.write(struct.pack('<QB18f', 1 + 8 * 9, 1, *[float('inf')] * 18))",
    "far away": "o.write(struct.pack('<QB18f', 1 + 8 * 9, 1, *[40.0] * 18))",
}


@pytest.mark.starts_process
@pytest.mark.expected_logs(STOPPED)
@pytest.mark.parametrize("lie", LIES.values(), ids=LIES.keys())
@pytest.mark.usefixtures("started")
def test_where_the_child_lies_the_first_places_stand(pool: ThreadPoolExecutor, lie: str) -> None:
    last, steps = run(pool, liar(lie), grid(3))
    assert [(step.step, step.is_last) for step in steps] == [(1, False), (2, True)]
    assert last is steps[-1]
    assert np.array_equal(last.xy, steps[0].xy)


@pytest.mark.starts_process
@pytest.mark.expected_logs(STOPPED)
@pytest.mark.usefixtures("started")
def test_where_the_child_dies_on_the_way_its_last_good_places_stand(pool: ThreadPoolExecutor) -> None:
    good = "o.write(struct.pack('<QB18f', 1 + 8 * 9, 0, *[0.5] * 18)); o.flush(); sys.exit(1)"
    last, steps = run(pool, liar(good), grid(3))
    assert [(step.step, step.is_last) for step in steps] == [(1, False), (2, False), (3, True)]
    assert bool((last.xy == 0.5).all())


SILENT = ("time.sleep(600)", "o.write(b'\\0' * 3); o.flush(); time.sleep(600)")


@pytest.mark.starts_process
@pytest.mark.expected_logs(STOPPED)
@pytest.mark.parametrize("silence", SILENT)
@pytest.mark.usefixtures("started")
def test_a_late_child_is_ended(pool: ThreadPoolExecutor, silence: str) -> None:
    with child(pool, liar(silence), deadline_s=0.3) as late, pytest.raises(EnvironmentFaultError) as caught:
        list(late.place_nodes(grid(3)))
    assert caught.value.code is Code.BACKGROUND_STALLED


@pytest.mark.starts_process
@pytest.mark.expected_logs(STOPPED)
@pytest.mark.usefixtures("started")
def test_a_child_that_never_reads_is_ended(pool: ThreadPoolExecutor) -> None:
    deaf = (sys.executable, "-I", "-c", "import time; time.sleep(600)")
    with child(pool, deaf, deadline_s=0.3) as late, pytest.raises(EnvironmentFaultError):
        list(late.place_nodes(grid(120)))  # more than a pipe holds


@pytest.mark.starts_process
@pytest.mark.usefixtures("started")
def test_cancelling_ends_the_child(pool: ThreadPoolExecutor) -> None:
    enough = threading.Event()
    steps: list[Placed] = []

    def on_step(step: Placed) -> None:
        steps.append(step)
        enough.set()

    layout = WholeLayout(grid(3), None)
    with pytest.raises(CancelledError):
        layout_whole(layout, lambda: child(pool, liar("time.sleep(600)"), enough.is_set), on_step, lambda: False)
    assert [step.step for step in steps] == [1]


@pytest.mark.starts_process
@pytest.mark.usefixtures("started")
def test_a_fault_of_the_caller_is_told_and_the_child_ended(pool: ThreadPoolExecutor) -> None:
    def on_step(step: Placed) -> None:
        if step.step == 2:
            raise KeyError

    with pytest.raises(KeyError):
        layout_whole(WholeLayout(grid(3), None), lambda: child(pool, layout_command()), on_step, lambda: False)

    def cancelled() -> bool:
        raise KeyError

    with pytest.raises(KeyError), child(pool, liar("time.sleep(600)"), cancelled) as running:
        list(running.place_nodes(grid(3)))


@pytest.mark.starts_process
def test_a_child_that_cannot_start_is_told(pool: ThreadPoolExecutor) -> None:
    with pytest.raises(EnvironmentFaultError):
        child(pool, ("/nowhere/at/all",))
    last, steps = run(pool, ("/nowhere/at/all",), grid(3))
    assert [step.is_last for step in steps] == [False, True]
    assert last.step == 2


@pytest.mark.starts_process
def test_where_no_guard_can_be_had_no_child_is_left(started: list[subprocess.Popen[bytes]]) -> None:
    ended = ThreadPoolExecutor(1)
    ended.shutdown()
    with pytest.raises(LociError) as caught:
        child(ended, liar("time.sleep(600)"))
    assert caught.value.code is Code.VAULT_LOCKED
    assert len(started) == 1


@pytest.mark.parametrize(
    ("nodes", "a", "b", "weight"),
    [
        (3, [0], [3], [1.0]),
        (3, [-1], [0], [1.0]),
        (3, [0, 1], [2], [1.0]),
        (3, [0], [1], []),
        (3, [0], [1], [float("nan")]),
        (3, [0.0], [1.0], [1.0]),
        (-1, [], [], []),
        (3, [[0]], [[1]], [[1.0]]),
    ],
)
def test_arrays_that_do_not_fit_are_refused(nodes: int, a: list[Any], b: list[Any], weight: list[float]) -> None:
    with pytest.raises(LociError) as caught:
        check_graph(nodes, np.array(a), np.array(b), np.array(weight))
    assert caught.value.code is Code.INVALID_INPUT


def test_groups_must_fit_the_nodes() -> None:
    with pytest.raises(LociError):
        WholeLayout(grid(3), np.zeros(4, int))


def test_the_child_program_refuses_noise() -> None:
    for noise in (b"", b"12", LENGTH.pack(5) + b"hello"):
        answer = io.BytesIO()
        assert main(io.BytesIO(noise), answer) == 1
        assert answer.getvalue() == b""


def test_the_child_program_answers_in_frames() -> None:
    answer = io.BytesIO()
    job = WholeLayout(grid(4), None).job
    assert main(io.BytesIO(pack_job(job)), answer) == 0
    size = STEP.size + 8 * 16
    assert len(answer.getvalue()) == 3 * (LENGTH.size + size)
    flags = [answer.getvalue()[at + LENGTH.size] for at in range(0, 3 * (LENGTH.size + size), LENGTH.size + size)]
    assert flags == [0, 0, 1]
