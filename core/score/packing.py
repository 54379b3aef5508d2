"""Chooses which memories go into a token budget, and at what length: the one packer (E5.2, E8.4.5, E8.8, C21).

A 0/1 knapsack with several forms an item, approximated: first inclusion by value density, skipping what does not fit,
each item in the form that says most for its tokens; then longer forms, again by density, while they fit. What is
chosen is measured once more as the assembled text, since counts of parts do not add up.
Must not do: count tokens itself, or look into a text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

WORTH: Mapping[str, float] = {"full": 1.0, "summary": 0.8, "key_fact": 0.6, "tag": 0.1}
"""The share of a memory's value that a tier of it carries. Chosen, not measured: half of the words, chosen well, tell
most of it; a tag only says that there is something to search for (E8.8.2)."""

AVERAGE_TOKENS = 60
"""E8.4.1: tokens of a memory where nothing is known yet."""

LEAST_FETCHED, MOST_FETCHED = 10, 200

Choice = Mapping[int, int]
"""Place of an item to the place of its form; items that are left out are missing."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something that may be packed.

    Attributes:
        value: what it is worth whole, 0 to 1.
        section: the part of the text it belongs to; a section costs its heading once.
        worths: the share of the value in each form, from the most to the least.
        costs: tokens of each form, above 0, strictly falling.
    """

    value: float
    section: str
    worths: tuple[float, ...]
    costs: tuple[int, ...]

    def density(self, form: int) -> float:
        """Value a token of one form (E5.2: activation / max(1, tokens))."""
        return self.value * self.worths[form] / max(1, self.costs[form])


def fetch_count(budget: int, average: int = AVERAGE_TOKENS) -> int:
    """How many memories to ask recall for: max(10, 2 · floor(budget / average)) (E8.4.1), at most 200.

    Args:
        budget: tokens, 0 or more.
        average: tokens of an average memory; below 1 counts as 1.

    Returns:
        10 to 200.
    """
    return min(MOST_FETCHED, max(LEAST_FETCHED, 2 * (budget // max(1, average))))


def choose(items: Sequence[Item], room: int, headings: Mapping[str, int]) -> dict[int, int]:
    """Fill a room greedily.

    Args:
        items: in the order of recall; of equal density the earlier one goes first.
        room: tokens for items and headings.
        headings: tokens of each section's heading.

    Returns:
        What goes in, and in which form. The sum of costs and headings is never above the room.
    """
    plain = _Filling(items, room, headings)
    plain.fill()
    if not items:
        return plain.chosen
    # Many small things may have pushed out one that is worth more than all of them.
    led = _Filling(items, room, headings)
    led.put(max(range(len(items)), key=lambda place: (items[place].value, -place)))
    led.fill()
    return led.chosen if led.worth > plain.worth else plain.chosen


class _Filling:
    """A room that fills."""

    def __init__(self, items: Sequence[Item], room: int, headings: Mapping[str, int]) -> None:
        self._items, self._left, self._headings = items, room, headings
        self._open: set[str] = set()
        self.chosen: dict[int, int] = {}

    @property
    def worth(self) -> float:
        """The value that is in it."""
        return sum(self._items[place].value * self._items[place].worths[form] for place, form in self.chosen.items())

    def fill(self) -> None:
        """Put in what fits, then lengthen it."""
        best = [max(range(len(item.costs)), key=item.density, default=-1) for item in self._items]
        order = sorted(
            (place for place, form in enumerate(best) if form >= 0 and place not in self.chosen),
            key=lambda place: (-self._items[place].density(best[place]), place),
        )
        for place in order:
            if not self._take(place, best[place]):
                self.put(place)
        self._lengthen()

    def put(self, place: int) -> bool:
        """Put an item in at the highest tier that fits; whether one did."""
        return any(self._take(place, form) for form in range(len(self._items[place].costs)))

    def _take(self, place: int, form: int) -> bool:
        item = self._items[place]
        cost = item.costs[form] + (0 if item.section in self._open else self._headings.get(item.section, 0))
        if cost > self._left:
            return False
        self._left -= cost
        self._open.add(item.section)
        self.chosen[place] = form
        return True

    def _lengthen(self) -> None:
        waiting: list[tuple[float, int, int]] = []
        for place in self.chosen:
            self._offer(waiting, place)
        while waiting:
            _, place, form = heappop(waiting)
            more = self._items[place].costs[form] - self._items[place].costs[self.chosen[place]]
            if more <= self._left:
                self._left -= more
                self.chosen[place] = form
                self._offer(waiting, place)

    def _offer(self, waiting: list[tuple[float, int, int]], place: int) -> None:
        """The next longer form of an item, by what it adds a token."""
        item, form = self._items[place], self.chosen[place]
        if form > 0:
            gain = item.value * (item.worths[form - 1] - item.worths[form])
            heappush(waiting, (-gain / (item.costs[form - 1] - item.costs[form]), place, form - 1))


def fitted(items: Sequence[Item], chosen: Choice, fits: Callable[[Choice], bool]) -> dict[int, int]:
    """Drop the least valuable until the assembled text fits.

    Args:
        items: as given to `choose`.
        chosen: from `choose`.
        fits: whether the text of a choice keeps the budget, measured on the text itself.

    Returns:
        What is left; empty where not even one item fits.
    """
    left = dict(chosen)
    while left and not fits(left):
        del left[min(left, key=lambda place: (items[place].value * items[place].worths[left[place]], -place))]
    return left
