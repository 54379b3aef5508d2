"""What `loci recall --explain` says to a person: how the question was understood, the funnel, the figures."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from ipc_values import METRICS, PLAN, TRACE

from app.cli.memories import describe_days, print_recall
from app.cli.messages import load_words
from app.cli.output import Output
from core.ipc.methods.memory_json import Shape, explanation_json
from core.ipc.methods.searches import FAR_DAYS
from core.types.recall import STAGES, QueryPlan, TimeRange

NOBODY: dict[str, str] = {}
MAY = date(2026, 5, 4)
ITEM: dict[str, Any] = {
    "id": "m-1", "kind": "fact", "text": "tea", "author": None, "source": "document", "client": None, "space": "home",
    "score": 0.8, "occurred_at": None, "occurred_precision": None, "created_at": "2026-05-04T12:00:00Z", "why": [],
}  # fmt: skip
FUNNEL = (
    "128 by meaning, 64 by words, 12 by time → 151 in scope → 60 strong enough → 41 without repetition "
    "→ 8 in the answer"
)
FIGURES = "likeness to the question 0.62 on average · order 0.93 of 1 (NDCG; 0.91 by relevance alone)"


def reply(plan: QueryPlan = PLAN, items: int = 1, **more: Any) -> dict[str, Any]:
    """A reply of `recall --explain`."""
    told = explanation_json(replace(TRACE, plan=plan), METRICS, Shape(exact=True, name_of=NOBODY.get))
    plain = {
        "items": [ITEM] * items, "abstained": not items, "reason": "It is so.", "near_misses": [],
        "strategy": "hybrid", "took_ms": 3.0,
    }  # fmt: skip
    return {**plain, **told, **more}


def said(found: dict[str, Any], *, explain: bool = True) -> list[str]:
    out = io.StringIO()
    print_recall(Output(as_json=False, out=out), found, explain=explain)
    return out.getvalue().splitlines()


def test_the_reading_stands_first_and_the_funnel_below() -> None:
    lines = said(reply())
    assert lines[0] == ("Understood as: temporal · last week (4–10 May 2026) · Harbour · words 0.45, meaning 0.55")
    assert lines[1] == " 1. tea"
    assert lines[-3:] == [
        FUNNEL,
        f"{FIGURES} · 240 tokens · ordered by rank, then for variety",
        "1 found by hybrid search in 3 ms.",
    ]


def test_without_explain_none_of_it_is_said() -> None:
    lines = said(reply(), explain=False)
    assert (lines[0], len(lines)) == (" 1. tea", 3)


def test_what_was_not_found_is_not_said() -> None:
    bare = QueryPlan(text_weight=1.0)
    lines = said(reply(bare, items=0, stages=dict.fromkeys(STAGES, 0)))
    assert lines == [
        "Nothing found: It is so.",
        "Understood as: lookup · words 1.00, meaning 0.00",
        "nothing by meaning or words → 0 in scope → 0 strong enough → 0 without repetition → 0 in the answer",
        "0 found by hybrid search in 3 ms.",
    ]


def test_a_time_that_was_taken_out_or_given() -> None:
    out = QueryPlan(given=("time",))
    assert said(reply(out))[0] == "Understood as: lookup · no time · words 0.50, meaning 0.50"
    days = replace(out, time=TimeRange("", 0, 0, "2026-05-04", "2026-05-04", 0, 1))
    assert said(reply(days))[0] == "Understood as: lookup · 4 May 2026 · words 0.50, meaning 0.50"


def test_an_answer_that_was_not_graded_says_so() -> None:
    figures = {**reply()["metrics"], "graded": False, "tokens_consumed": 1, "rerank_applied": "rrf"}
    assert said(reply(metrics=figures))[-2] == "nothing to grade the answer by · 1 token · ordered by rank"


def test_a_question_cannot_steer_the_terminal() -> None:
    time = TimeRange("last\x1b[2J week", 0, 12, "2026-05-04", "2026-05-10", 0, 1)
    line = said(reply(replace(PLAN, time=time, entities=("Har\u202ebour\n", "x" * 900))))[0]
    assert line.startswith("Understood as: temporal · last<U+001B>[2J week (4–10 May 2026) · Har<U+202E>bour, xxx")
    assert len(line) < 200


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        (MAY, MAY, "4 May 2026"),
        (MAY, date(2026, 5, 10), "4–10 May 2026"),
        (date(2026, 4, 30), MAY, "30 April – 4 May 2026"),
        (date(2025, 5, 4), MAY, "4 May 2025 – 4 May 2026"),
        (FAR_DAYS.first, MAY, "until 4 May 2026"),
        (MAY, FAR_DAYS.last, "from 4 May 2026 on"),
    ],
)
def test_days_are_told_as_a_person_writes_them(first: date, last: date, told: str) -> None:
    assert describe_days(first, last) == told


def test_every_stage_has_its_words() -> None:
    told = load_words()["recall"]
    assert [*told["lists"], *told["stages"]] == list(STAGES)
    assert set(told["rerank"]) == {"rrf", "mmr", "rrf_then_mmr"}
