"""How a question was understood, at the doors: what each caller is told, and what it may decide instead."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from contract_shapes import check_plan
from ipc_peers import REGISTRY
from ipc_served import Served, served_at
from ipc_values import METRICS, PLAN, SECRET, START_MS, TRACE, found_item, make_memory

from core.errors import Code, LociError
from core.ipc.methods.memory_json import Shape, explanation_json
from core.ipc.methods.searches import RecallParams, plan_change
from core.types.recall import PlanChange, TimeRange
from core.types.requests import RecallQuery
from core.types.values import Intent

NOBODY: dict[str, str] = {}
EXACT = Shape(exact=True, name_of=NOBODY.get)
DAY_MS = 86_400_000
TOLD = {
    "intent": "temporal",
    "time": {"words": "last week", "from": "2026-05-04", "to": "2026-05-10"},
    "entities": ["Harbour"],
}
ASKED = {"intent": "causal", "text_weight": 0.25, "from": "2026-05-04", "to": "2026-05-10"}


@pytest.fixture
def served(empty_home: Path) -> Iterator[Served]:
    with served_at(empty_home) as made:
        yield made


@pytest.fixture
def questions(served: Served) -> list[RecallQuery]:
    """What the engine is asked; it finds one memory, by a plan that is the same each time."""
    return served.answer_with(found_item(make_memory(1)))


@pytest.fixture(params=["UTC", "Europe/Oslo", "America/New_York"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def asked(served: Served, door: str, **params: Any) -> dict[str, Any]:
    caller = served.owner() if door == "owner.recall" else served.paired()
    found = caller.call(door, {"query": "tea", **params})
    assert not list(REGISTRY.result_checker(door).iter_errors(found))
    return found


def planned(params: dict[str, Any]) -> PlanChange | None:
    return plan_change(RecallParams.read({"query": "tea", **params}), START_MS)


def sentence(params: dict[str, Any]) -> str:
    with pytest.raises(LociError) as caught:
        planned(params)
    assert caught.value.code is Code.INVALID_INPUT
    return caught.value.sentence


# ---- what is told


@pytest.mark.usefixtures("questions")
def test_the_owner_is_told_everything(served: Served) -> None:
    found = asked(served, "owner.recall", explain=True)
    check_plan(found["plan"])
    assert found["plan"] == {
        **TOLD,
        "intent_scores": {one.value: 0.7 if one is Intent.TEMPORAL else 0.123457 for one in Intent},
        "aliases": {"Harbour": ["the quay", "Port"]},
        "identifiers": ["v1.2"],
        "text_weight": 0.45,
        "text_signals": ["digit", "intent_temporal"],
        "given": ["intent"],
    }
    assert found["stages"] == dict(TRACE.stages)
    assert found["chance"] == 0.912346
    assert found["metrics"] == {
        "average_relevancy": 0.623457, "ndcg": 0.93, "ndcg_before": 0.91, "candidates_after_filter": 41,
        "memories_packed": 8, "tokens_consumed": 240, "search_latency_ms": 12.5, "rerank_applied": "rrf_then_mmr",
        "hybrid_text_weight": 0.45, "graded": True,
    }  # fmt: skip


@pytest.mark.usefixtures("questions")
def test_a_client_is_told_no_number(served: Served) -> None:
    found = asked(served, "memory_search", explain=True)
    check_plan(found["plan"], exact=False)
    assert found["plan"] == TOLD
    assert set(found) == {"items", "abstained", "reason", "strategy", "receipt", "plan"}


@pytest.mark.usefixtures("questions")
def test_the_owner_s_own_search_tells_the_whole_plan(served: Served) -> None:
    found = served.owner().call("memory_search", {"query": "tea", "explain": True})
    assert not list(REGISTRY.result_checker("memory_search").iter_errors(found))
    check_plan(found["plan"])
    assert not {"stages", "chance", "metrics"} & set(found)


@pytest.mark.usefixtures("questions")
def test_without_explain_nothing_is_added(served: Served) -> None:
    usual = {"items", "abstained", "reason", "strategy", "receipt"}
    assert set(asked(served, "memory_search")) == usual
    assert set(asked(served, "memory_search", **ASKED)) == usual
    assert set(asked(served, "owner.recall", explain=False)) == {*usual, "near_misses", "took_ms"}


def test_a_question_without_a_time_or_figures() -> None:
    shaped = explanation_json(replace(TRACE, plan=replace(PLAN, time=None)), None, EXACT)
    assert (shaped["plan"]["time"], shaped["metrics"]) == (None, None)


def test_other_names_are_told_up_to_a_bound() -> None:
    many = {f"n{at}": tuple(f"o{at}-{other}" for other in range(40)) for at in range(3)}
    told = EXACT.plan_json(replace(PLAN, aliases=many))["aliases"]
    assert {name: len(others) for name, others in told.items()} == {"n0": 40, "n1": 24}


# ---- what is decided


@pytest.mark.parametrize("door", ["owner.recall", "memory_search"])
def test_what_a_caller_decides_reaches_the_engine(
    served: Served, questions: list[RecallQuery], door: str, zone: str
) -> None:
    asked(served, door, **ASKED)
    (query,) = questions
    assert query.plan is not None
    days = query.plan.time
    assert days is not None
    assert query.plan == PlanChange(Intent.CAUSAL, days, no_time=False, text_weight=0.25)
    offset = {"UTC": 0, "Europe/Oslo": -2, "America/New_York": 4}[zone]
    first = 1_777_852_800_000 + offset * 3_600_000  # 4 May 2026 there
    assert days == TimeRange("", 0, 0, "2026-05-04", "2026-05-10", first, first + 7 * DAY_MS)


@pytest.mark.parametrize("door", ["owner.recall", "memory_search"])
def test_no_time_and_nothing_at_all(served: Served, questions: list[RecallQuery], door: str) -> None:
    asked(served, door, no_time=True)
    asked(served, door)
    asked(served, door, no_time=False)
    plans = [query.plan for query in questions]
    assert plans == [PlanChange(no_time=True), None, None]


def test_weights_at_both_ends_are_given() -> None:
    for weight in (0, 1):
        assert planned({"text_weight": weight}) == PlanChange(text_weight=float(weight))


def test_a_day_on_which_the_clocks_change_is_as_long_as_it_is(zone: str) -> None:
    hours = {"UTC": (24, 24), "Europe/Oslo": (23, 25), "America/New_York": (24, 24)}[zone]
    for day, long in zip(("2026-03-29", "2026-10-25"), hours, strict=True):
        change = planned({"from": day, "to": day})
        assert change is not None
        assert change.time is not None
        assert change.time.to_ms - change.time.from_ms == long * 3_600_000


@pytest.mark.parametrize(
    ("params", "first", "last"),
    [
        ({"from": "2023-11-01"}, "2023-11-01", "2023-11-14"),  # until today, as "since" is read
        ({"from": "2023-11-14"}, "2023-11-14", "2023-11-14"),
        ({"from": "2023-11-15"}, "2023-11-15", "9000-12-31"),
        ({"to": "2023-11-01"}, "1000-01-01", "2023-11-01"),
        ({"to": "2031-01-01"}, "1000-01-01", "2031-01-01"),
        ({"from": "1000-01-01", "to": "9000-12-31"}, "1000-01-01", "9000-12-31"),
    ],
)
def test_one_day_alone_leaves_the_other_end_open(params: dict[str, str], first: str, last: str) -> None:
    change = planned(params)
    assert change is not None
    assert change.time is not None
    assert (change.time.first_day, change.time.last_day) == (first, last)


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"from": "soon"}, "`from` is not a day; write it like 2026-01-31."),
        ({"to": "2026-02-30"}, "`to` is not a day; write it like 2026-01-31."),
        ({"to": "20260131"}, "`to` is not a day; write it like 2026-01-31."),
        ({"to": "2026-W05-6"}, "`to` is not a day; write it like 2026-01-31."),
        ({"from": "2026-01-31T00:00"}, "`from` is not a day; write it like 2026-01-31."),
        ({"from": "0999-12-31"}, "`from` lies outside the years 1000 to 9000."),
        ({"to": "9001-01-01"}, "`to` lies outside the years 1000 to 9000."),
        (
            {"from": "2026-05-02", "to": "2026-05-01"},
            "`from` is a later day than `to`; the range ends before it begins.",
        ),
        (
            {"from": "2026-05-02", "no_time": True},
            "`no_time` cannot stand beside `from` or `to`; leave one of them out.",
        ),
        ({"text_weight": float("nan")}, "`text_weight` must be a number from 0 to 1."),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(params: dict[str, Any], told: str) -> None:
    assert sentence(params) == told


HOSTILE: list[dict[str, Any]] = [
    {"intent": SECRET},
    {"intent": None},
    {"intent": ["causal"]},
    {"text_weight": 1.01},
    {"text_weight": -1e-9},
    {"text_weight": True},
    {"text_weight": SECRET},
    {"from": SECRET},
    {"from": ""},
    {"from": "2026-13-01"},
    {"from": "0000-01-01"},
    {"from": SECRET * 10},
    {"to": "9999-12-31"},
    {"to": "２０２６-０１-０１"},
    {"to": "2026-01-01\n"},
    {"to": 1_767_225_600},
    {"from": "2026-05-02", "to": "2026-05-01"},
    {"no_time": True, "from": "2026-05-01"},
    {"no_time": 1},
    {"plan": {"intent": "causal"}},
    {"filters": {"intent": SECRET}},
]


@pytest.mark.parametrize("door", ["owner.recall", "memory_search"])
@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_reading_that_cannot_be_never_reaches_the_engine(
    served: Served, questions: list[RecallQuery], door: str, number: int
) -> None:
    caller = served.owner() if door == "owner.recall" else served.paired()
    with pytest.raises(LociError) as caught:
        caller.call(door, {"query": "tea", **HOSTILE[number]})
    assert caught.value.code is Code.INVALID_INPUT
    assert SECRET not in caught.value.sentence
    assert "\n" not in caught.value.sentence
    assert questions == []


def test_the_figures_have_the_names_of_the_schema() -> None:
    """The schema is closed: a figure that is added must be told there too."""
    schema = REGISTRY.result_checker("owner.recall").schema
    assert isinstance(schema, dict)
    told = explanation_json(TRACE, METRICS, EXACT)
    assert set(told["metrics"]) == set(schema["$defs"]["metrics"]["properties"])
    assert set(told["plan"]) == set(schema["$defs"]["plan"]["properties"])
    assert schema["$defs"]["intent"]["enum"] == [intent.value for intent in Intent]
