"""A question that an old version answers is answered by what stands in its place; the old text stays out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_rig import START_MS, HandClock, Rig, rig_at

from core.recall.result import EARLIER_VERSION
from core.types.values import Source

DAY = 86_400_000
OLD, NEW = "I live in Graz near the clock tower", "Boxes everywhere but home is Linz from today"


def home(town: str) -> dict[str, Any]:
    """A claim that only one value can hold of."""
    return {"subject": "user", "predicate": "lives_in", "value": town, "exclusive": True}


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """The owner lived in Graz, and lives in Linz."""
    with rig_at(tmp_path) as made:
        made.store(OLD, claim=home("Graz"))
        assert isinstance(made.clock, HandClock)
        made.clock.at_ms += DAY
        assert made.store(NEW, claim=home("Linz")).operation == "SUPERSEDE"
        made.clock.at_ms += DAY
        yield made


def test_what_stands_answers_for_what_it_replaced(rig: Rig) -> None:
    found = rig.recall("where do I live near the clock tower", limit=5)
    assert [item.memory.text for item in found.items] == [NEW]
    assert EARLIER_VERSION in found.items[0].why
    assert [(miss.why, rig.get(miss.id).text) for miss in found.near_misses] == [("superseded", OLD)]


def test_as_of_then_the_old_version_itself_answers(rig: Rig) -> None:
    found = rig.recall("where do I live near the clock tower", limit=5, as_of_ms=START_MS + DAY // 2)
    assert [item.memory.text for item in found.items][:1] == [OLD]


def test_a_question_of_neither_version_is_not_answered(rig: Rig) -> None:
    assert rig.recall("quantum chromodynamics lecture", limit=5).abstained


def test_what_answers_itself_is_not_pushed_out(rig: Rig) -> None:
    rig.store("The clock tower is where I live in summer", source=Source.USER_IMPLICIT)
    found = rig.recall("where do I live near the clock tower", limit=5)
    assert {item.memory.text for item in found.items} == {NEW, "The clock tower is where I live in summer"}


def test_who_may_not_see_the_old_version_has_nothing_of_it(rig: Rig) -> None:
    client = rig.client("aster", "read")
    assert rig.recall("where do I live near the clock tower", client, limit=5).abstained


def test_a_successor_that_is_forgotten_answers_no_more(rig: Rig) -> None:
    newest = rig.rows("SELECT id FROM memories WHERE status = 'active'")[0][0]
    rig.forget(newest)
    assert rig.recall("where do I live near the clock tower", limit=5).abstained
