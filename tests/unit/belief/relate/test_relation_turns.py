"""Inputs that two threads share: each is run once and answered in its place, and what fails is told to the caller."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st

from core.belief.relate.pair_model import Feed, PairQueue


class Session:
    """Stands for the runtime's session: answers ten times the number it is given, with one thread of its own.

    Attributes:
        ran: what it was given, and whether the thread of its own ran it.
    """

    def __init__(self, pool: ThreadPoolExecutor, bad: frozenset[int] = frozenset()) -> None:
        self._pool = pool
        self._bad = bad
        self.ran: list[tuple[int, bool]] = []

    def run(self, names: list[str], feed: dict[str, Any]) -> list[int]:
        assert names == list(WANTED)
        self.ran.append((feed["nr"], False))
        if feed["nr"] in self._bad:
            raise RuntimeError("refused")
        return [feed["nr"] * 10]

    def run_async(
        self, names: list[str], feed: dict[str, Any], came: Callable[[Any, Any, str], None], about: int
    ) -> None:
        assert names == list(WANTED)

        def work() -> None:
            self.ran.append((feed["nr"], True))
            bad = feed["nr"] in self._bad
            came([] if bad else [feed["nr"] * 10], about, "refused" if bad else "")

        self._pool.submit(work)


WANTED = ("wanted",)


def of(nr: int) -> Feed:
    return {"nr": nr}


def feeds(count: int) -> list[Callable[[], Feed]]:
    return [partial(of, nr) for nr in range(count)]


@pytest.fixture
def pool() -> Any:
    with ThreadPoolExecutor(1) as one:
        yield one


@settings(max_examples=count_examples(60), deadline=None)
@given(count=st.integers(0, 12))
def test_each_is_run_once_and_answered_in_its_place(count: int) -> None:
    with ThreadPoolExecutor(1) as one:
        session = Session(one)
        assert PairQueue(session, WANTED, feeds(count)).run() == [[nr * 10] for nr in range(count)]
    assert sorted(nr for nr, _ in session.ran) == list(range(count))


def test_both_threads_take_part(pool: ThreadPoolExecutor) -> None:
    met = threading.Barrier(2, timeout=30)

    def wait(nr: int) -> Feed:
        if nr == 1:
            met.wait()
        return of(nr)

    class Waiting(Session):
        def run_async(self, names: list[str], feed: dict[str, Any], came: Any, about: int) -> None:
            def slow(*told: Any) -> None:
                met.wait()  # goes on only once the caller's thread is at its own
                came(*told)

            super().run_async(names, feed, slow if about == 0 else came, about)

    session = Waiting(pool)
    assert PairQueue(session, WANTED, [partial(wait, nr) for nr in range(2)]).run() == [[0], [10]]
    assert {own for _, own in session.ran} == {False, True}


def test_what_the_other_thread_could_not_run_has_no_answer(pool: ThreadPoolExecutor) -> None:
    assert PairQueue(Session(pool, frozenset({0})), WANTED, feeds(1)).run() == [None]


def test_what_the_callers_thread_could_not_run_is_raised_after_the_other_ended(pool: ThreadPoolExecutor) -> None:
    class Slow(Session):
        def run_async(self, names: list[str], feed: dict[str, Any], came: Any, about: int) -> None:
            self.let = threading.Event()

            def work() -> None:
                self.let.wait(30)
                came([0], about, "")
                self.ended.append(about)

            self._pool.submit(work)

        def run(self, names: list[str], feed: dict[str, Any]) -> list[int]:
            self.let.set()
            raise RuntimeError("refused")

        ended: list[int] = []  # noqa: RUF012 - of this test alone

    session = Slow(pool)
    with pytest.raises(RuntimeError, match="refused"):
        PairQueue(session, WANTED, feeds(3)).run()
    pool.submit(lambda: None).result(30)
    assert session.ended == [0]


@pytest.mark.parametrize("bad", [0, 1, 4])
def test_an_input_that_cannot_be_made_is_told_to_the_caller(pool: ThreadPoolExecutor, bad: int) -> None:
    def make(nr: int) -> Feed:
        if nr == bad:
            raise ValueError("unreadable")
        return of(nr)

    with pytest.raises(ValueError, match="unreadable"):
        PairQueue(Session(pool), WANTED, [partial(make, nr) for nr in range(5)]).run()
