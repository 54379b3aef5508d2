"""Chooses which memories go into a token budget, and at what length: the one packer (E5.2, E8.4.5, E8.8, C21).

A 0/1 knapsack with several forms an item, approximated: first inclusion by value density, skipping what does not fit,
each item in the form that says most for its tokens; then longer forms, again by density, while they fit. Of one voice
no more than a third of the room goes in before everybody else, and of all that are bounded no more than two thirds
(`core.recall.client_quota`). What is chosen is measured once more as the assembled text, since counts of parts
do not add up. Must not do: count tokens itself, or look into a text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

WORTH: Mapping[str, float] = {"full": 1.0, "summary": 0.8, "key_fact": 0.6, "tag": 0.1}
"""The share of a memory's value that a tier of it carries. Chosen, not measured: half of the words, chosen well, tell
most of it; a tag only says that there is something to search for (E8.8.2)."""

AVERAGE_TOKENS = 60
"""E8.4.1: tokens of a memory where nothing is known yet."""

LEAST_FETCHED, MOST_FETCHED = 10, 200
PARTS = 3
"""Of how many parts one voice has one before all others (reliability study, C 38)."""
_TURNS = ((PARTS, PARTS), (PARTS, 1), (2, 1), (1, 1))
"""The turns in which a room fills: of how many parts one voice has one, and of how many parts one is kept from all of
them together, where that is more than one."""

Choice = Mapping[int, int]
"""Place of an item to the place of its form; items that are left out are missing."""


@dataclass(frozen=True, slots=True)
class PackItem:
    """Something that may be packed.

    Attributes:
        value: what it is worth whole, 0 to 1.
        section: the part of the text it belongs to; a section costs its heading once.
        worths: the share of the value in each form, from the most to the least.
        costs: tokens of each form, above 0, strictly falling.
        contributor: whose share of the room it takes; None where nothing bounds it.
    """

    value: float
    section: str
    worths: tuple[float, ...]
    costs: tuple[int, ...]
    contributor: str | None = None

    def density_of(self, form: int) -> float:
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


def choose_items(items: Sequence[PackItem], room: int, headings: Mapping[str, int]) -> dict[int, int]:
    """Fill a room greedily.

    Args:
        items: in the order of recall; of equal density the earlier one goes first.
        room: tokens for items and headings.
        headings: tokens of each section's heading.

    Returns:
        What goes in, and in which form. The sum of costs and headings is never above the room.
    """
    plain = _Filling(items, room, headings)
    plain.fill_budget()
    # Many small things may have pushed out one that is worth more than all of them; what cannot fit leads nothing.
    fitting = [
        place
        for place, item in enumerate(items)
        if min(item.costs, default=room) + headings.get(item.section, 0) <= room
    ]
    led = _Filling(items, room, headings)
    led.fill_budget(max(fitting, key=lambda place: (items[place].value, -place), default=None))
    return led.chosen if led.worth > plain.worth else plain.chosen


class _Filling:
    """A room that fills."""

    def __init__(self, items: Sequence[PackItem], room: int, headings: Mapping[str, int]) -> None:
        self._items, self._left, self._headings = items, room, headings
        self._open: set[str] = set()
        self._most = self._together = room
        self._said: Counter[str] = Counter()
        self.chosen: dict[int, int] = {}

    @property
    def worth(self) -> float:
        """The value that is in it."""
        return sum(self._items[place].value * self._items[place].worths[form] for place, form in self.chosen.items())

    def fill_budget(self, lead: int | None = None) -> None:
        """Put in what fits, then lengthen it.

        A voice gets a third of the room at first, all of them together no more than two thirds; then each its third,
        then half of the room, then what is left: beside others it is served first, alone it fills the room as if
        nothing bounded it.

        Args:
            lead: place of the item that goes before all others of its turn, as long as it can.
        """
        best = [max(range(len(item.costs)), key=item.density_of, default=-1) for item in self._items]
        order = sorted(
            (place for place, form in enumerate(best) if form >= 0),
            key=lambda place: (place != lead, -self._items[place].density_of(best[place]), place),
        )
        room = self._left
        bounded = any(item.contributor is not None for item in self._items)
        for parts, kept in _TURNS if bounded else _TURNS[-1:]:
            self._most, self._together = room // parts, room if kept == 1 else room - room // kept
            for place in order:
                if place not in self.chosen:
                    self._take_highest_form(place, 0 if place == lead else best[place], at_last=parts == 1)
            # What nothing bounds is not kept short for what comes after it.
            self._lengthen_forms(place for place in self.chosen if self._items[place].contributor is None)
        self._lengthen_forms(self.chosen)

    def _take_highest_form(self, place: int, form: int, *, at_last: bool) -> None:
        """Put an item in, in this form or else the highest that fits; a share makes nothing shorter, only room does."""
        if not self._try_form(place, form) and (at_last or self._items[place].contributor is None):
            any(self._try_form(place, other) for other in range(len(self._items[place].costs)))

    def _try_form(self, place: int, form: int) -> bool:
        item = self._items[place]
        cost = item.costs[form] + (0 if item.section in self._open else self._headings.get(item.section, 0))
        if cost > self._left:
            return False
        if item.contributor is not None:
            if self._said[item.contributor] + item.costs[form] > self._most:
                return False
            if self._said.total() + item.costs[form] > self._together:
                return False
            self._said[item.contributor] += item.costs[form]
        self._left -= cost
        self._open.add(item.section)
        self.chosen[place] = form
        return True

    def _lengthen_forms(self, places: Iterable[int]) -> None:
        waiting: list[tuple[float, int, int]] = []
        for place in places:
            self._push_longer_form(waiting, place)
        while waiting:
            _, place, form = heappop(waiting)
            more = self._items[place].costs[form] - self._items[place].costs[self.chosen[place]]
            if more <= self._left:
                self._left -= more
                self.chosen[place] = form
                self._push_longer_form(waiting, place)

    def _push_longer_form(self, waiting: list[tuple[float, int, int]], place: int) -> None:
        """The next longer form of an item, by what it adds a token."""
        item, form = self._items[place], self.chosen[place]
        if form > 0:
            gain = item.value * (item.worths[form - 1] - item.worths[form])
            heappush(waiting, (-gain / (item.costs[form - 1] - item.costs[form]), place, form - 1))


def fit_to_budget(items: Sequence[PackItem], chosen: Choice, fits: Callable[[Choice], bool]) -> dict[int, int]:
    """Drop the least valuable until the assembled text fits; first of what voices have above their share.

    Args:
        items: as given to `choose_items`.
        chosen: from `choose_items`.
        fits: whether the text of a choice keeps the budget, measured on the text itself.

    Returns:
        What is left; empty where not even one item fits.
    """
    left = dict(chosen)
    while left and not fits(left):
        above = _find_excessive(items, left) or left.keys()
        del left[min(above, key=lambda place: (items[place].value * items[place].worths[left[place]], -place))]
    return left


def _find_excessive(items: Sequence[PackItem], chosen: Choice) -> list[int]:
    """What is chosen of voices that have more than a third of it, or of all where they have more than two thirds."""
    said: Counter[str | None] = Counter()
    for place, form in chosen.items():
        said[items[place].contributor] += items[place].costs[form]
    loud = {voice for voice, tokens in said.items() if voice is not None and tokens * PARTS > said.total()}
    if not loud and said[None] * PARTS < said.total():
        return [place for place in chosen if items[place].contributor is not None]
    return [place for place in chosen if items[place].contributor in loud]
