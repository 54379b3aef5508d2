"""What is contested is marked and comes behind the word it contradicts, whatever the answer looks like."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ipc_values import make_memory

from core.belief.extract.extraction import extract_claims
from core.intake.claims import TextReaders
from core.recall.ranking import mark_contradictions
from core.recall.result import RecallItem, Signals

NO_SIGNALS = Signals(0.0, 0.0, 0.0, 0.0, 0.0)
THINGS = ("bank", "dentist", "landlord", "shoe size")
VALUES = ("Alder", "Birch")


class Voices:
    """Rows that tell whose word a memory is by its id: `own-1`, `typed-2` (relayed), `told-3` (a client's)."""

    def all(self, sql: str, params: Sequence[Any] = ()) -> list[tuple[str]]:
        ids = json.loads(params[0])
        is_said = "CASE WHEN" not in sql
        return [(one,) for one in ids if one.startswith("own") or (one.startswith("typed") and not is_said)]


def _items(rows: list[tuple[str, str, str, float]]) -> tuple[RecallItem, ...]:
    ordered = sorted(enumerate(rows), key=lambda row: -row[1][3])
    return tuple(
        RecallItem(
            replace(
                make_memory(text=f"My {thing} is {value}.", client_id=None if whose == "own" else "c-1"),
                id=f"{whose}-{place}", recorded_at=place, occurred=None,
            ),
            score, NO_SIGNALS, {}, (), (),
        )
        for place, (whose, thing, value, score) in ordered
    )  # fmt: skip


@given(
    st.lists(
        st.tuples(
            st.sampled_from(("own", "typed", "told")), st.sampled_from(THINGS), st.sampled_from(VALUES),
            st.floats(0.01, 1.0),
        ),
        max_size=5,
    )
)  # fmt: skip
def test_nothing_is_lost_and_no_story_comes_before_the_word_it_contradicts(
    rows: list[tuple[str, str, str, float]],
) -> None:
    items = _items(rows)
    found = mark_contradictions(Voices(), items, lambda: TextReaders(extract=extract_claims))  # type: ignore[arg-type]  # a stand-in
    assert sorted(one.memory.id for one in found) == sorted(one.memory.id for one in items)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    places = {one.memory.id: at for at, one in enumerate(found)}
    said = {one.memory.id: one.memory.text for one in items}
    for one in found:
        if one.contradicts is None:
            continue
        whose, own = one.memory.id.split("-")[0], one.contradicts
        assert whose != "own"
        assert said[own].split(" is ")[0] == one.memory.text.split(" is ")[0]
        assert said[own] != one.memory.text
        if whose == "told":
            assert places[own] < places[one.memory.id]


@pytest.mark.parametrize("whose", ["told", "typed"])
def test_a_story_beside_the_persons_word_is_marked(whose: str) -> None:
    items = _items([("own", "bank", "Alder", 0.5), (whose, "bank", "Birch", 0.9)])
    found = mark_contradictions(Voices(), items, lambda: TextReaders(extract=extract_claims))  # type: ignore[arg-type]  # a stand-in
    first, second = (one.memory.id.split("-")[0] for one in found)
    assert (first, second) == (("own", "told") if whose == "told" else ("typed", "own"))
    assert {one.contradicts for one in found} == {None, "own-0"}
