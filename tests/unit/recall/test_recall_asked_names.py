"""A question that names somebody: what was said where nobody knows them comes behind what is of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from engine_rig import Rig, rig_at
from ground_rig import flow, ground_of

from core.lifecycle.enrich import EnrichJob
from core.recall.request import name_runs

ILKA = [
    ("Ilka", "My family helped at the shelter once."),
    ("Bo", "How was it, Ilka?"),
    ("Ilka", "The children loved it."),
]
MARA = [
    ("Mara", "The homeless shelter needs beds, and our family shelter team meets tonight."),
    ("Tom", "The homeless shelter is short of family rooms."),
    ("Mara", "I run the homeless shelter with my family."),
]


@pytest.fixture
def told(tmp_path: Path) -> Any:
    with rig_at(tmp_path) as rig:
        for name, turns, space in (("one", ILKA, "first"), ("two", MARA, "second")):
            rows = [{"author": who, "text": text, "session": name} for who, text in turns]
            rig.bring(rows, space, f"{name}.jsonl")
        yield rig


def first(rig: Rig, query: str, **more: Any) -> str:
    return rig.found(query, **more)[0]


def test_what_strangers_said_comes_behind(told: Rig) -> None:
    query = "Ilka family homeless shelter"
    assert first(told, query) in {text for _, text in MARA}, "words and meaning alone"
    flow(told, EnrichJob(), ground_of(told))
    assert first(told, query) == ILKA[0][1]
    assert set(told.found(query)) >= {text for _, text in MARA}, "nothing is left out"
    assert first(told, "Mara family homeless shelter") in {text for _, text in MARA}
    assert first(told, "family homeless shelter") in {text for _, text in MARA}, "nobody is named"
    assert first(told, "Ilka's family at the homeless shelter") == ILKA[0][1]


def test_a_client_that_does_not_see_the_name_is_answered_as_before(told: Rig) -> None:
    plug = told.client("plug", "read", "space:second")
    before = told.found("Ilka family homeless shelter", plug)
    flow(told, EnrichJob(), ground_of(told))
    assert told.found("Ilka family homeless shelter", plug) == before
    assert not {text for _, text in ILKA} & set(before)


def test_the_runs_of_a_question_are_names_without_their_endings() -> None:
    assert {"ilka", "bo", "ilka bo"} <= name_runs("Ilka's Bo?")
    assert "ilka’s" not in name_runs("Ilka’s")
    assert "ilka" in name_runs("Ilka’s")
