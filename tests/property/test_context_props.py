"""Whatever is found and whatever the budget: a context is never over it, and every memory in it is a whole tier."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from contract_shapes import memories_in
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st
from ipc_values import make_memory

from core.embed.embedder import counter_for
from core.recall.context import OPENING, pack_context
from core.recall.result import RecallItem, Signals
from core.score.context_budget import WORTH, PackItem, choose_items
from core.text.screening.egress import is_withheld
from core.text.screening.fences import escape_fenced
from core.text.sentences import make_tiers, split_sentences
from core.types.recall import Context
from core.types.values import Kind, Memory

NO_SIGNALS = Signals(0.5, 0.5, 0.5, 0.5, 0.5)
HOSTILE = ("</memory>", "\n# Memory Context\n", "<memory id='x'>", "&lt;", "]]>", "\u202e", "\x00", "\ud800", "\u2028")


class Quarters:
    """A fast counter: every fourth character, and one a line; parts cost less than the whole, so only that tells."""

    name, exact = "quarters", True

    def count(self, text: str) -> int:
        return len(text) // 4 + text.count("\n")


class NoRows:
    """A vault that knows neither claims nor rules nor tiers."""

    def all(self, _sql: str, _params: Any = ()) -> list[tuple[Any, ...]]:
        return []

    def one(self, _sql: str, _params: Any = ()) -> None:
        return None

    def value(self, _sql: str, _params: Any = (), default: Any = None) -> Any:
        return default


words = st.sampled_from(["harbour", "Ruben", "paid", "450", "red", "is", "the", "We moved", "Antwerp", *HOSTILE])
ends = st.sampled_from([". ", "? ", "\n", "! ", "。"])
told = st.builds(lambda parts, end: " ".join(parts) + end, st.lists(words, min_size=1, max_size=12), ends)
texts = st.one_of(st.lists(told, min_size=1, max_size=8).map("".join), st.text(max_size=120))


@st.composite
def found(draw: st.DrawFn, most: int = 25) -> list[RecallItem]:
    """Recall items, best first, as a vault could hold them."""
    scores = sorted(draw(st.lists(st.floats(0.0, 1.0), max_size=most)), reverse=True)
    out = []
    for n, score in enumerate(scores, 1):
        memory = make_memory(
            n,
            text=draw(texts),
            kind=draw(st.sampled_from(list(Kind))),
            category=draw(st.sampled_from(["general", "a] [b", "<x>"])),
            author=draw(st.sampled_from([None, "Ana", "</memory>\nEve"])),
            confidence=draw(st.floats(0.0, 1.0)),
            recorded_at=draw(st.integers(0, 5)),
        )
        out.append(RecallItem(memory, score, NO_SIGNALS, {}, (), ()))
    return out


def packed(items: Sequence[RecallItem], budget: int) -> Context:
    return pack_context(NoRows(), items, budget, Quarters())


def tier_texts(memory: Memory) -> dict[str, str]:
    return dict(make_tiers(memory.text, memory.kind.value, memory.category).list_tiers())


@pytest.mark.slow
@settings(max_examples=count_examples(100))
@given(found(), st.integers(0, 5000))
def test_never_over_the_budget_and_everything_is_accounted_for(items: list[RecallItem], budget: int) -> None:
    context = packed(items, budget)
    assert context.tokens == Quarters().count(context.text) <= budget
    inside, outside = [one.id for one in context.included], [one.id for one in context.excluded]
    assert sorted(inside + outside) == sorted(item.memory.id for item in items)
    assert context == packed(items, budget)


@given(found(), st.integers(0, 5000))
def test_each_memory_is_one_of_its_tiers_word_for_word(items: list[RecallItem], budget: int) -> None:
    context = packed(items, budget)
    by_id = {item.memory.id: item.memory for item in items}
    elements = re.findall(r'^<memory id="([^"]*)" type="([^"]*)">\n(- .*)\n</memory>$', context.text, re.MULTILINE)
    assert [one for one, _, _ in elements] == [one.id for one in context.included]
    for (memory_id, kind, line), included in zip(elements, context.included, strict=True):
        memory = by_id[memory_id]
        assert kind == memory.kind.value
        assert escape_fenced(tier_texts(memory)[included.tier]) in line


@given(found(), st.integers(0, 5000))
def test_no_memory_leaves_its_element(items: list[RecallItem], budget: int) -> None:
    context = packed(items, budget)
    assert len(memories_in(context.text)) == len(context.included) == context.text.count("</memory>")
    if context.text:
        assert context.text.startswith(OPENING)
        outside = re.sub(
            r"^<memory id=.*?^</memory>$", "", context.text[len(OPENING) :], flags=re.DOTALL | re.MULTILINE
        )
        allowed = {"", "## Key Facts", "## Active Rules", "## Episodes", "Nothing relevant is remembered."}
        assert set(outside.split("\n")) <= allowed


@given(found(), st.integers(0, 5000))
def test_sections_and_their_order_are_fixed(items: list[RecallItem], budget: int) -> None:
    context = packed(items, budget)
    recorded = {item.memory.id: item.memory.recorded_at for item in items}
    sections = ["facts", "rules", "episodes"]
    keys = [(sections.index(one.section), -one.score, -recorded[one.id], one.id) for one in context.included]
    assert keys == sorted(keys)


@given(found(most=12))
def test_with_room_enough_all_of_it_goes_in_whole(items: list[RecallItem]) -> None:
    context = packed(items, 50_000)
    assert {one.tier for one in context.included} <= {"full"}
    left = {one.id for one in context.excluded if one.reason != "duplicate"}
    assert left == {item.memory.id for item in items if is_withheld(item.memory)}


packable = st.builds(
    lambda value, costs: PackItem(value, "facts", tuple(WORTH.values())[: len(costs)], tuple(costs)),
    st.floats(0.0, 1.0),
    st.sets(st.integers(1, 400), min_size=1, max_size=4).map(lambda costs: sorted(costs, reverse=True)),
)


@given(st.lists(packable, max_size=60), st.integers(0, 5000), st.integers(0, 50))
def test_a_choice_keeps_the_room_and_leaves_no_useful_gap(items: list[PackItem], room: int, heading: int) -> None:
    chosen = choose_items(items, room, {"facts": heading})
    spent = sum(items[place].costs[form] for place, form in chosen.items()) + (heading if chosen else 0)
    assert spent <= room
    for place, item in enumerate(items):
        if place not in chosen:
            assert item.costs[-1] + (0 if chosen else heading) > room - spent
        elif chosen[place] > 0:
            form = chosen[place]
            assert item.costs[form - 1] - item.costs[form] > room - spent


@given(st.lists(packable, min_size=1, max_size=40), st.integers(0, 3000), st.integers(0, 3000))
def test_more_room_never_costs_more_than_half_of_the_worth(items: list[PackItem], one: int, other: int) -> None:
    def worth(room: int) -> float:
        chosen = choose_items(items, room, {})
        return sum(items[place].value * items[place].worths[form] for place, form in chosen.items())

    assert worth(max(one, other)) >= 0.4 * worth(min(one, other))


@given(texts, st.sampled_from(["fact", "episode"]))
def test_tiers_are_whole_sentences_in_their_order(text: str, kind: str) -> None:
    found = make_tiers(text, kind, "general")
    assert found.full == text
    if found.summary == text:
        return
    own = [text[start:end].strip() for start, end in split_sentences(text)]
    own = [one for one in own if one]
    assert found.key_fact in own
    assert len(found.summary) <= max(len(found.key_fact), 0.55 * len(" ".join(own)))
    left = found.summary
    for one in own:  # greedily: the summary is a subsequence of the sentences
        if left == one or left.startswith(one + " "):
            left = left[len(one) :].lstrip(" ")
    assert left.strip() == ""


@given(st.text())
def test_a_fenced_text_is_one_line_of_character_data(text: str) -> None:
    out = escape_fenced(text)
    assert len(out.splitlines()) <= 1
    assert not set("<>\"'") & set(out)
    ET.fromstring(f'<m id="{out}">{out}</m>')  # noqa: S314 - what the test looks at


@given(st.text(), st.text())
def test_counting_is_never_below_a_quarter_and_nearly_adds_up(one: str, other: str) -> None:
    count = counter_for().count
    assert count(one) >= -(-len(one) // 4)
    assert (count(one) == 0) == (one == "")
    assert count(one) == count(one)
