"""Ids: in their form, in the order of their making, and the same again from the same chance."""

from __future__ import annotations

import random
import time

from hypothesis import given
from hypothesis import strategies as st

from core.types.values import IdMaker, is_id


class Jumping:
    """A clock that shows what it is told, backwards too."""

    def __init__(self, times: list[int]) -> None:
        self._times = iter(times)

    def now_ms(self) -> int:
        return next(self._times)

    def monotonic(self) -> float:
        return time.monotonic()


TIMES = st.lists(st.integers(0, 2**48 - 2), min_size=1, max_size=40)


@given(TIMES, st.integers())
def test_ids_are_in_form_and_in_order_whatever_the_clock_does(times: list[int], seed: int) -> None:
    make_id = IdMaker(Jumping(times), random.Random(seed).randbytes)
    made = [make_id() for _ in times]
    assert all(map(is_id, made))
    assert made == sorted(set(made))


@given(TIMES, st.integers())
def test_the_same_chance_makes_the_same_ids(times: list[int], seed: int) -> None:
    one, other = (IdMaker(Jumping(times), random.Random(seed).randbytes) for _ in range(2))
    assert [one() for _ in times] == [other() for _ in times]


def test_more_within_a_millisecond_than_it_holds_go_on_in_the_next() -> None:
    make_id = IdMaker(Jumping([1000] * 9000))
    made = [make_id() for _ in range(9000)]
    assert made == sorted(set(made))
    assert made[0][:13] == "00000000-03e8"
    assert made[-1][:13] > made[0][:13]


def test_two_makers_of_their_own_chance_make_different_ids() -> None:
    assert IdMaker(Jumping([5]))() != IdMaker(Jumping([5]))()
