"""Dates in their user's own fashion: day and month told apart by the whole file, guessed only where nothing tells."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.importers.date_order import DateOrder, make_moment
from core.types.values import Precision

ORDERS = {"dmy": lambda d: (d.day, d.month, d.year), "mdy": lambda d: (d.month, d.day, d.year),
          "ymd": lambda d: (d.year, d.month, d.day)}  # fmt: skip


def settled(*dates: tuple[int, int, int], twelve_hours: bool = False) -> tuple[str, bool]:
    order = DateOrder()
    for one in dates:
        order.see_date(one, twelve_hours=twelve_hours)
    return order.settle()


@pytest.mark.parametrize(
    ("dates", "twelve", "want"),
    [
        ([(25, 3, 24)], False, ("dmy", False)),
        ([(3, 25, 24)], False, ("mdy", False)),
        ([(2024, 3, 4)], False, ("ymd", False)),
        ([(3, 4, 24)], False, ("dmy", True)),
        ([(3, 4, 24)], True, ("mdy", True)),
        ([(4, 4, 24)], False, ("dmy", False)),
        ([(1, 2, 24), (1, 3, 24), (2, 1, 24)], False, ("mdy", False)),
        ([(1, 2, 24), (2, 2, 24), (1, 3, 24)], True, ("dmy", False)),
        ([], False, ("dmy", False)),
    ],
)
def test_the_order_is_told_by_all_dates_together(
    dates: list[tuple[int, int, int]], twelve: bool, want: tuple[str, bool]
) -> None:
    assert settled(*dates, twelve_hours=twelve) == want


@given(st.sampled_from(sorted(ORDERS)), st.dates(date(2009, 1, 1), date(2090, 1, 1)), st.integers(13, 60))
def test_a_month_of_messages_tells_its_order(order: str, first: date, days: int) -> None:
    written = [ORDERS[order](first + timedelta(days=step)) for step in range(31 + days)]
    found, is_guess = settled(*written)
    assert (found, is_guess) == (order, False)
    when = make_moment(written[0], found, (9, 41, None))
    assert when is not None
    assert when.precision is Precision.MINUTE
    assert when.ms == (first - date(1970, 1, 1)).days * 86_400_000 + (9 * 60 + 41) * 60_000


@pytest.mark.parametrize(
    ("numbers", "clock"),
    [((31, 2, 2024), (1, 1, None)), ((1, 1, 2567), (1, 1, 1)), ((0, 1, 2024), (1, 1, 1)), ((1, 1, 2024), (24, 1, 1))],
)
def test_there_is_no_moment_where_there_is_no_such_day_or_hour(
    numbers: tuple[int, int, int], clock: tuple[int, int, int | None]
) -> None:
    assert make_moment(numbers, "dmy", clock) is None
