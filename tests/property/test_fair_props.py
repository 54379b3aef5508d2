"""Nobody crowds out others, for any order of any voices: a third goes first, and no room is left free that fits."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st
from ipc_values import make_memory

from core.recall.client_quota import (
    allot_places,
    find_contributors,
    is_crowded,
    saturated_clients,
)
from core.recall.context import OPENING, SHARE, pack_with_quota
from core.recall.result import RecallItem, Signals
from core.score.context_budget import PARTS, WORTH, PackItem, choose_items
from core.types.recall import Context
from core.types.values import Kind

FOUND = st.lists(st.sampled_from([None, None, "a", "b", "c", "d"]), max_size=60)
NO_SIGNALS = Signals(0.5, 0.5, 0.5, 0.5, 0.5)
_HEADINGS = 60
"""More than the headings of all sections cost."""


SHORT = 8
"""So short that a tag is no shorter: the memory has one form only."""


class Letters:
    """A letter is a token: parts cost what the whole costs."""

    name, exact = "letters", True

    def count(self, text: str) -> int:
        return len(text)


class Words:
    """A vault in which some memories are the person's word as well, and nothing else is known."""

    def __init__(self, *owned: str) -> None:
        self._owned = owned

    def all(self, sql: str, params: Any = ()) -> list[tuple[Any, ...]]:
        asked = json.loads(params[0]) if "verdicts" in sql else []
        return [(one,) for one in self._owned if one in asked]

    def one(self, _sql: str, _params: Any = ()) -> None:
        return None

    def value(self, _sql: str, _params: Any = (), default: Any = None) -> Any:
        return default


def item(number: int, voice: str | None, score: float, text: str, kind: Kind = Kind.FACT) -> RecallItem:
    memory = replace(make_memory(number, text=text, kind=kind), client_id=voice)
    return RecallItem(memory, score, NO_SIGNALS, {}, (), ())


def told(number: int, size: int) -> str:
    return f"{number:04} {'x' * size}"


@st.composite
def crowd(draw: st.DrawFn, sizes: st.SearchStrategy[int], said: Sequence[str | None] = (None, "a", "b")) -> Any:
    """Items of one sentence each, best first."""
    scores = sorted(draw(st.lists(st.floats(0.01, 1.0), max_size=30)), reverse=True)
    kinds = st.sampled_from([Kind.FACT, Kind.EPISODE])
    return [
        item(n, draw(st.sampled_from(said)), score, told(n, draw(sizes)), draw(kinds)) for n, score in enumerate(scores)
    ]


def packed(items: Sequence[RecallItem], budget: int, asker: str | None = "me", *owned: str) -> Context:
    return pack_with_quota(Words(*owned), items, budget, Letters(), asker)


def inside(context: Context, items: Sequence[RecallItem], *said: str | None) -> list[str]:
    """What of some voices stands in it, the best first."""
    ids = {one.id for one in context.included}
    return [one.memory.id for one in items if one.memory.id in ids and one.memory.client_id in said]


def cost(context: Context, ids: Sequence[str]) -> int:
    return sum(one.tokens for one in context.included if one.id in ids)


def alone(one: RecallItem) -> int:
    """What a memory costs by itself."""
    return packed([one], 100_000, None).included[0].tokens


# Places


@given(FOUND, st.integers(1, 40))
def test_no_place_stays_empty_and_of_each_voice_the_best_are_handed_out(found: list[str | None], limit: int) -> None:
    taken = allot_places(found, limit)
    assert taken == sorted(set(taken))
    assert len(taken) == min(limit, len(found))
    for voice in set(found):
        own = [place for place, one in enumerate(found) if one == voice]
        kept = [place for place in taken if found[place] == voice]
        assert kept == own[: len(kept)]


@given(FOUND, st.integers(1, 40))
def test_above_its_third_is_nobody_who_keeps_out_others(found: list[str | None], limit: int) -> None:
    said = Counter(found[place] for place in allot_places(found, limit))
    share = max(1, limit // PARTS)
    there = Counter(found)
    waits = [one for one in there if said[one] < (there[one] if one is None else min(there[one], share))]
    if waits:
        assert all(count <= share for voice, count in said.items() if voice is not None)


@given(FOUND, st.integers(2, 40))
def test_all_others_together_have_two_thirds_while_what_nothing_bounds_waits(
    found: list[str | None], limit: int
) -> None:
    said = Counter(found[place] for place in allot_places(found, limit))
    if said[None] < Counter(found)[None]:
        assert said[None] * PARTS >= limit


@given(FOUND, st.integers(1, 40), st.integers(0, 60), st.sampled_from([None, "a", "e"]))
def test_one_more_takes_one_place(found: list[str | None], limit: int, at: int, voice: str | None) -> None:
    at = min(at, len(found))
    before = {place + (place >= at) for place in allot_places(found, limit)}
    more = [*found[:at], voice, *found[at:]]
    lost = [more[place] for place in before - set(allot_places(more, limit))]
    assert len([one for one in lost if one != voice]) <= 1
    if voice is None:
        assert len(lost) <= 1


@given(st.integers(0, 40), st.integers(0, 40), st.integers(2, 40), st.randoms())
def test_two_alone_share_equally(one: int, other: int, limit: int, order: Any) -> None:
    found: list[str | None] = [*("a" for _ in range(one)), *("b" for _ in range(other))]
    order.shuffle(found)
    said = Counter(found[place] for place in allot_places(found, limit))
    if min(one, other) > limit // 2:
        assert abs(said["a"] - said["b"]) <= 1


@given(st.lists(st.just("a"), min_size=1, max_size=60), st.integers(1, 40))
def test_one_alone_is_not_bounded(found: list[str | None], limit: int) -> None:
    assert allot_places(found, limit) == list(range(min(limit, len(found))))


def test_whose_voice_is_bounded() -> None:
    brought: list[tuple[str, str | None]] = [("1", None), ("2", "a"), ("3", "b"), ("4", "a")]
    assert find_contributors(Words(), brought, "a") == [None, None, "b", None]
    assert find_contributors(Words("2"), brought, "c") == [None, None, "b", "a"]
    assert find_contributors(Words(), brought, None) == [None, None, None, None]


def test_twelve_of_the_persons_and_fifty_of_one_client() -> None:
    found = ["liar", None] * 12 + ["liar"] * 38
    assert Counter(found[place] for place in allot_places(found, 39)) == {None: 12, "liar": 27}
    assert Counter(found[place] for place in allot_places(found, 20)) == {None: 12, "liar": 8}
    assert Counter(found[place] for place in allot_places(found, 10)) == {None: 7, "liar": 3}


def test_four_voices_leave_a_third_to_the_person() -> None:
    found = [*"abcd" * 10, None, None, None, None]
    assert Counter(found[place] for place in allot_places(found, 10))[None] == 4
    assert Counter(found[place] for place in allot_places(found, 12)) == {None: 4, "a": 2, "b": 2, "c": 2, "d": 2}
    assert Counter(found[place] for place in allot_places(found[:40], 10)) == {"a": 3, "b": 3, "c": 2, "d": 2}


@given(st.dictionaries(st.sampled_from("abcdefg"), st.integers(1, 50)), st.integers(0, 100), st.integers(1, 40))
def test_who_is_looked_for_beside(brought: dict[str, int], free: int, limit: int) -> None:
    size = sum(brought.values()) + free
    is_little = all(count * 3 <= size for count in brought.values()) and free * 3 >= size
    assert is_crowded(brought, size) is not is_little
    assert saturated_clients(brought, limit) == {
        voice for voice, count in brought.items() if count >= max(1, limit // 3)
    }


def test_nobody_is_looked_for_where_nothing_was_brought() -> None:
    assert not is_crowded({}, 0)
    assert not is_crowded({"a": 4}, 12)
    assert is_crowded({"a": 5}, 12)
    assert is_crowded({"a": 3, "b": 3, "c": 3}, 12)
    assert saturated_clients({"a": 3, "b": 2, "c": 3}, 9) == frozenset("ac")


# Tokens


@settings(max_examples=count_examples(150))
@given(crowd(st.integers(0, 300)), st.integers(0, 3000))
def test_never_over_the_budget_and_all_is_accounted_for(items: list[RecallItem], budget: int) -> None:
    context = packed(items, budget)
    assert context.tokens <= budget
    ids = [one.id for one in context.included] + [one.id for one in context.excluded]
    assert sorted(ids) == sorted(one.memory.id for one in items)
    assert {one.reason for one in context.excluded} <= {"budget", SHARE}


@settings(max_examples=count_examples(150))
@given(crowd(st.integers(0, 300), [None, "a", "a"]), st.integers(0, 3000))
def test_a_flood_leaves_two_thirds_to_the_person(items: list[RecallItem], budget: int) -> None:
    context = packed(items, budget)
    own = inside(context, items, None)
    room = budget - len(OPENING)
    for one in items:
        if one.memory.client_id is None and one.memory.id not in own:
            assert cost(context, own) + alone(one) > room - room // PARTS - _HEADINGS


@settings(max_examples=count_examples(150))
@given(crowd(st.integers(0, 300)), st.integers(0, 3000), st.integers(0, 600), st.floats(0.01, 1.0))
def test_one_more_of_the_persons_costs_the_others_what_it_takes(
    items: list[RecallItem], budget: int, size: int, score: float
) -> None:
    new = item(999, None, score, told(999, size))
    more = sorted([*items, new], key=lambda one: -one.score)
    before, after = packed(items, budget), packed(more, budget)
    of_others = [one.memory.id for one in items]
    lost = cost(before, of_others) - cost(after, of_others)
    # What no longer fits is at most one more: the longest.
    assert lost < cost(after, [new.memory.id]) + max(map(alone, items), default=0) + _HEADINGS


@settings(max_examples=count_examples(150))
@given(crowd(st.just(SHORT)), st.integers(0, 3000), st.floats(0.01, 1.0))
def test_of_equal_length_one_more_takes_one_place(items: list[RecallItem], budget: int, score: float) -> None:
    items = [replace(one, memory=replace(one.memory, kind=Kind.FACT)) for one in items]
    new = item(999, None, score, told(999, SHORT))
    more = sorted([*items, new], key=lambda one: -one.score)
    before = inside(packed(items, budget), items, None, "a", "b")
    assert len(set(before) - set(inside(packed(more, budget), items, None, "a", "b"))) <= 1


@settings(max_examples=count_examples(100))
@given(crowd(st.just(SHORT), ["a"]), st.integers(0, 3000))
def test_alone_a_voice_fills_the_room(items: list[RecallItem], budget: int) -> None:
    context = packed(items, budget)
    assert context.included == packed(items, budget, None).included
    assert SHARE not in {one.reason for one in context.excluded}


@settings(max_examples=count_examples(100))
@given(crowd(st.integers(0, 300)), st.integers(0, 3000))
def test_what_the_person_said_as_well_is_nobody_elses_voice(items: list[RecallItem], budget: int) -> None:
    owned = [one.memory.id for one in items]
    assert packed(items, budget, "me", *owned) == packed(items, budget, None)


@given(st.integers(2, 12), st.integers(0, 3))
def test_two_alone_share_the_tokens(room: int, ahead: int) -> None:
    pairs = [item(n, "ab"[n % 2], 0.9 - n / 100 - (n % 2) * ahead / 10, told(n, SHORT)) for n in range(60)]
    items = sorted(pairs, key=lambda one: -one.score)
    one = alone(items[0])
    context = packed(items, len(OPENING) + _HEADINGS + room * one)
    for voice in "ab":
        own = [one.memory.id for one in items if one.memory.client_id == voice]
        kept = inside(context, items, voice)
        assert kept == own[: len(kept)]
    assert abs(len(inside(context, items, "a")) - len(inside(context, items, "b"))) <= 1


def test_the_words_of_both_are_bounded_for_nobody() -> None:
    flood = [item(n, "a", 0.9 - n / 100, told(n, 100)) for n in range(12)]
    rest = [item(50 + n, None, 0.3 - n / 100, told(50 + n, 100)) for n in range(12)]
    twin = item(99, None, 0.2, flood[10].memory.text)
    budget = len(OPENING) + 25 + 6 * alone(flood[0])
    assert flood[10].memory.id not in inside(packed([*flood, *rest], budget), flood, "a")
    context = packed([*flood, *rest, twin], budget)
    assert flood[10].memory.id in inside(context, flood, "a")
    assert len(inside(context, flood, "a")) == 3


def test_why_it_was_left_out_is_told_where_weaker_ones_stand_in_its_place() -> None:
    flood = [item(n, "a", 0.9 - n / 100, told(n, 100)) for n in range(12)]
    own = [item(50 + n, None, 0.3 - n / 100, told(50 + n, 100)) for n in range(12)]
    context = packed([*flood, *own], len(OPENING) + 25 + 6 * alone(flood[0]))
    reasons = {one.id: one.reason for one in context.excluded}
    assert {reasons[one.memory.id] for one in flood if one.memory.id in reasons} == {SHARE}
    assert {reasons[one.memory.id] for one in own if one.memory.id in reasons} == {"budget"}


packable = st.builds(
    lambda value, costs, voice: PackItem(value, "facts", tuple(WORTH.values())[: len(costs)], tuple(costs), voice),
    st.floats(0.0, 1.0),
    st.sets(st.integers(1, 400), min_size=1, max_size=4).map(lambda costs: sorted(costs, reverse=True)),
    st.sampled_from([None, "a", "b", "c", "d"]),
)


@given(st.lists(packable, max_size=60), st.integers(0, 5000))
def test_shares_leave_no_useful_gap(items: list[PackItem], room: int) -> None:
    chosen = choose_items(items, room, {})
    spent = sum(items[place].costs[form] for place, form in chosen.items())
    assert spent <= room
    for place, one in enumerate(items):
        if place not in chosen:
            assert one.costs[-1] > room - spent
        elif chosen[place] > 0:
            form = chosen[place]
            assert one.costs[form - 1] - one.costs[form] > room - spent


@given(st.lists(packable, max_size=60), st.integers(0, 5000))
def test_what_nobody_bounds_goes_in_before_what_is_above_a_third(items: list[PackItem], room: int) -> None:
    chosen = choose_items(items, room, {})
    loud = {item.contributor for item in items} - {None}
    own = sum(items[place].costs[form] for place, form in chosen.items() if items[place].contributor is None)
    for place, one in enumerate(items):
        if place not in chosen and one.contributor is None:
            assert own + one.costs[-1] > room - min(len(loud), PARTS - 1) * (room // PARTS) - PARTS


@given(st.lists(packable, max_size=40), st.integers(0, 5000), st.sampled_from([None, "a"]), st.floats(0.0, 1.0))
def test_what_can_never_fit_changes_nothing(items: list[PackItem], room: int, voice: str | None, value: float) -> None:
    hopeless = PackItem(value, "facts", (1.0, 0.1), (room + 50, room + 1), voice)
    assert choose_items([*items, hopeless], room, {}) == choose_items(items, room, {})
