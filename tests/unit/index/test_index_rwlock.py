"""The fair lock: readers share, a writer is alone, nobody overtakes or starves."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from core.index.flat import FairLock

WAIT = 60.0


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < deadline, "never came true"
        time.sleep(0.001)


def _queued(lock: FairLock, count: int) -> bool:
    return len(lock._queue) == count


def test_readers_share() -> None:
    lock, both = FairLock(), threading.Barrier(2, timeout=WAIT)

    def read() -> int:
        with lock.read():
            return both.wait()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(lambda _: read(), range(2))) == [0, 1]


def test_a_writer_is_alone() -> None:
    lock, inside, most = FairLock(), [0], [0]

    def write() -> None:
        for _ in range(200):
            with lock.write():
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                inside[0] -= 1

    def read() -> int:
        seen = 0
        for _ in range(200):
            with lock.read():
                seen += inside[0]
        return seen

    with ThreadPoolExecutor(6) as pool:
        writers = [pool.submit(write) for _ in range(3)]
        readers = [pool.submit(read) for _ in range(3)]
        assert [r.result(WAIT) for r in readers] == [0, 0, 0]
        for each in writers:
            each.result(WAIT)
    assert most[0] == 1


def test_order_of_arrival_holds() -> None:
    """A reader that comes after a waiting writer waits too, and goes before a writer that comes later."""
    lock, order, gate = FairLock(), [], threading.Event()

    def hold() -> None:
        with lock.read():
            gate.wait(WAIT)

    def enter(name: str) -> None:
        with lock.write() if name.startswith("w") else lock.read():
            order.append(name)

    with ThreadPoolExecutor(8) as pool:
        pool.submit(hold)
        until(lambda: lock._readers == 1)
        for place, name in enumerate(["w1", "r1", "w2", "r2"], start=1):
            pool.submit(enter, name)
            until(partial(_queued, lock, place))
        assert order == []
        gate.set()
    assert order == ["w1", "r1", "w2", "r2"]


def test_a_query_is_let_in_between_two_batches() -> None:
    lock, stop, batches = FairLock(), threading.Event(), [0]

    def add() -> None:
        while not stop.is_set():
            with lock.write():
                batches[0] += 1
                time.sleep(0.002)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(add)
        until(lambda: batches[0] > 3)
        for _ in range(20):
            before = batches[0]
            with lock.read():
                # The batch that ran as we came, and at most one that was queued before us.
                assert batches[0] - before <= 2
        stop.set()


def test_released_after_an_error() -> None:
    lock = FairLock()
    for enter in (lock.write, lock.read):
        with pytest.raises(KeyError), enter():
            raise KeyError
    with lock.write():
        pass
    assert (lock._writing, lock._readers) == (False, 0)


@pytest.mark.parametrize("admitted", [False, True])
def test_an_interrupted_wait_leaves_no_place(monkeypatch: pytest.MonkeyPatch, admitted: bool) -> None:
    """Ctrl+C while waiting: before its turn the place is given up, after it the lock is given back."""
    lock, holding, gate = FairLock(), threading.Event(), threading.Event()

    def hold() -> None:
        with lock.write():
            holding.set()
            gate.wait(WAIT)

    def interrupted(event: threading.Event, timeout: float | None = None) -> bool:
        if admitted:
            gate.set()
            until(event.is_set)
        raise KeyboardInterrupt

    with ThreadPoolExecutor(1) as pool:
        pool.submit(hold)
        assert holding.wait(WAIT)
        with monkeypatch.context() as patch:
            wait = threading.Event.wait
            me = threading.get_ident()
            patch.setattr(
                threading.Event,
                "wait",
                lambda e, t=None: interrupted(e, t) if threading.get_ident() == me else wait(e, t),
            )
            with pytest.raises(KeyboardInterrupt), lock.read():
                pytest.fail("was let in")
        gate.set()
    with lock.write():
        assert not lock._queue
    assert lock._readers == 0
