"""Dates that a program writes in its user's own fashion: which of the three numbers is the day is told by all of them.

`12/03/24` alone may be March or December; a file that also has `25/03/24` is not in doubt, nor is one whose messages
would run backwards in the other order. Must not do: guess without saying so, or add a zone that nobody wrote.
"""

from __future__ import annotations

from datetime import UTC, datetime

from core.types.values import Precision, When

_ORDERS = ("dmy", "mdy", "ymd")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_YEAR, _LAST_YEAR = 1970, 2200

Numbers = tuple[int, int, int]


class DateOrder:
    """Sees every date of a file in its order, then says what they mean."""

    def __init__(self) -> None:
        self._possible = dict.fromkeys(_ORDERS, 0)
        self._backwards = dict.fromkeys(_ORDERS, 0)
        self._last: dict[str, tuple[int, int, int]] = {}
        self._twelve_hours = False
        self._seen: Numbers | None = None

    def see_date(self, numbers: Numbers, *, twelve_hours: bool) -> None:
        """Take one date.

        Args:
            numbers: as they stand, left to right.
            twelve_hours: whether its time of day has a morning and an evening half.
        """
        self._twelve_hours = self._twelve_hours or twelve_hours
        if numbers == self._seen:
            return  # one day's next message tells nothing new
        self._seen = numbers
        for order in _ORDERS:
            date = _arrange(numbers, order)
            if date is None:
                continue
            self._possible[order] += 1
            self._backwards[order] += date < self._last.get(order, date)
            self._last[order] = date

    def settle(self) -> tuple[str, bool]:
        """The order, and whether it is a guess.

        Returns:
            `dmy`, `mdy` or `ymd`. Where two explain as many dates, the one that runs backwards less often; where
            that is equal too, it is a guess: month first beside a clock of twelve hours, else day first.
        """
        usual = "mdy" if self._twelve_hours else "dmy"
        ranked = sorted(_ORDERS, key=lambda order: (*self._rank(order), order != usual, _ORDERS.index(order)))
        first, second = ranked[0], ranked[1]
        is_guess = self._rank(first) == self._rank(second) and self._last.get(first) != self._last.get(second)
        return ranked[0], is_guess

    def _rank(self, order: str) -> tuple[int, int]:
        return -self._possible[order], self._backwards[order]


def _arrange(numbers: Numbers, order: str) -> Numbers | None:
    """Year, month and day of three numbers read in an order; None where that is no date."""
    by_part = dict(zip(order, numbers, strict=True))
    if order == "ymd" and by_part["y"] < 100:
        return None
    year = by_part["y"] + 2000 if by_part["y"] < 100 else by_part["y"]
    if not _FIRST_YEAR <= year <= _LAST_YEAR or not 1 <= by_part["m"] <= 12 or not 1 <= by_part["d"] <= 31:
        return None
    return year, by_part["m"], by_part["d"]


def make_moment(numbers: Numbers, order: str, clock: tuple[int, int, int | None]) -> When | None:
    """The moment of a date and a time of day that name no zone.

    Args:
        numbers: as they stand, left to right.
        order: what `DateOrder` found.
        clock: hour of twenty-four, minute, and second where there is one.

    Returns:
        The moment as if it were in UTC; None where there is no such moment.
    """
    date = _arrange(numbers, order)
    hour, minute, second = clock
    if date is None:
        return None
    try:
        at = datetime(*date, hour, minute, second or 0, tzinfo=UTC)
    except ValueError:
        return None
    seconds = int((at - _EPOCH).total_seconds())
    return When(seconds * 1000, Precision.MINUTE if second is None else Precision.SECOND)
