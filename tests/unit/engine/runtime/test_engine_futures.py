"""Chained futures: every road of an error ends in the reply, and a pool that ended means a locked vault."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from engine_rig import HandClock, error_of, refused

from core.engine.runtime.progress import ImportProgress
from core.engine.runtime.storage import chain_work, log_failure, map_result, submit_work
from core.errors import BugError, CancelledError, Code, UserError

LOG = logging.getLogger("loci.test")


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def done(value: int) -> Future[int]:
    future: Future[int] = Future()
    future.set_result(value)
    return future


def failed(error: BaseException) -> Future[int]:
    future: Future[int] = Future()
    future.set_exception(error)
    return future


def dropped() -> Future[int]:
    future: Future[int] = Future()
    assert future.cancel()
    future.set_running_or_notify_cancel()
    return future


def boom(_: int) -> int:
    raise BugError("then")


def test_a_value_goes_through(pool: ThreadPoolExecutor) -> None:
    assert map_result(done(2), lambda n: n + 1).result(5) == 3
    assert chain_work(done(2), lambda n: done(n * 10)).result(5) == 20
    assert chain_work(submit_work(pool, lambda: 4), lambda n: submit_work(pool, lambda: n + 1)).result(5) == 5
    assert submit_work(pool, lambda a, b: a - b, 3, b=1).result(5) == 2


def test_every_error_arrives() -> None:
    for error in (UserError(Code.NOT_FOUND, "no"), ValueError("x"), KeyboardInterrupt()):
        assert map_result(failed(error), lambda n: n).exception(5) is error
        assert chain_work(failed(error), done).exception(5) is error
        assert chain_work(done(1), lambda _, e=error: failed(e)).exception(5) is error  # type: ignore[misc]  # a default
    assert error_of(map_result(done(1), boom)).code is Code.BUG
    assert error_of(chain_work(done(1), lambda n: done(boom(n)))).code is Code.BUG


def test_what_a_pool_dropped_is_locked() -> None:
    assert error_of(map_result(dropped(), lambda n: n)).code is Code.VAULT_LOCKED
    assert error_of(chain_work(dropped(), done)).code is Code.VAULT_LOCKED
    assert error_of(chain_work(done(1), lambda _: dropped())).code is Code.VAULT_LOCKED


def test_an_ended_pool_is_locked() -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with refused(Code.VAULT_LOCKED):
        submit_work(pool, lambda: 1)


def test_an_error_can_be_told_in_other_words() -> None:
    other = UserError(Code.BUSY, "busy")
    assert map_result(failed(ValueError()), lambda n: n, lambda _: other).exception(5) is other
    assert map_result(done(1), lambda n: n, lambda _: other).result(5) == 1


def test_a_reply_that_is_cancelled_takes_waiting_work_with_it() -> None:
    one: Future[int] = Future()
    two: Future[int] = Future()
    assert map_result(one, boom).cancel()
    assert chain_work(two, lambda n: done(boom(n))).cancel()
    assert one.cancelled()
    assert two.cancelled()


def test_a_reply_that_is_cancelled_leaves_running_work_alone() -> None:
    first: Future[int] = Future()
    first.set_running_or_notify_cancel()
    called: list[int] = []
    reply = chain_work(first, lambda n: done(called.append(n) or n))  # type: ignore[func-returns-value]  # a list
    assert reply.cancel()
    first.set_result(1)
    assert (reply.cancelled(), called) == (True, [])


@pytest.mark.expected_logs("the job stopped: E2005", "the job stopped: ValueError")
def test_what_nobody_waits_for_is_put_down_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    log_failure(failed(UserError(Code.NOT_FOUND, "There is no Quittenmarmelade.")), LOG, "the job")
    log_failure(failed(ValueError("Quittenmarmelade")), LOG, "the job")
    log_failure(failed(UserError(Code.VAULT_LOCKED, "locked")), LOG, "the job")
    log_failure(dropped(), LOG, "the job")
    log_failure(done(1), LOG, "the job")
    assert [record.getMessage() for record in caplog.records] == [
        "the job stopped: E2005",
        "the job stopped: ValueError",
    ]
    assert "Quitten" not in caplog.text


def test_progress_is_throttled_and_asks() -> None:
    told: list[tuple[int, int | None]] = []
    now = [0.0]

    class Clock(HandClock):
        def monotonic(self) -> float:
            return now[0]

    progress = ImportProgress(Clock(0), lambda at, total: told.append((at, total)))
    for step in range(10):
        now[0] = step * 0.03
        progress.report_progress(step, 10)
    progress.report_progress(10, 10)
    assert told == [(0, 10), (4, 10), (8, 10), (10, 10)]


def test_progress_stops_on_request_and_when_the_vault_closes() -> None:
    with pytest.raises(CancelledError):
        ImportProgress(HandClock(0), None, lambda: True).report_progress(1, 2)
    with refused(Code.VAULT_LOCKED):
        ImportProgress(HandClock(0), None, lambda: True, lambda: True).report_progress(1, 2)
    ImportProgress(HandClock(0), None, lambda: False, lambda: False).report_progress(1, 2)
    ImportProgress(HandClock(0)).report_progress(1, None)
