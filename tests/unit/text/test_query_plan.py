"""A question as a whole, and what a caller decides about it."""

from __future__ import annotations

from datetime import UTC, datetime

from core.text.query_plan import understand_question
from core.types.recall import PlanChange, QueryPlan, TimeRange
from core.types.values import Intent

NOW_MS = int(datetime(2025, 6, 18, 10, 20, tzinfo=UTC).timestamp() * 1000)
MAY = TimeRange("May", 0, 3, "2025-05-01", "2025-05-31", 1_746_057_600_000, 1_748_736_000_000)


def plan(query: str, change: PlanChange | None = None) -> QueryPlan:
    return understand_question(query, NOW_MS, UTC, change=change)


def test_a_question_is_understood_as_a_whole() -> None:
    found = plan("what did Noor say about core/a.py in April")
    assert found.intent == Intent.TEMPORAL
    assert found.time is not None
    assert (found.time.first_day, found.time.last_day) == ("2025-04-01", "2025-04-30")
    assert found.entities == ("Noor",)
    assert found.identifiers == ("core/a.py",)
    assert set(found.intent_scores) == {intent.value for intent in Intent}
    assert found.given == ()


def test_what_the_caller_gives_stands() -> None:
    found = plan("why did we leave yesterday", PlanChange(intent=Intent.LOOKUP, time=MAY, text_weight=1.0))
    assert (found.intent, found.time, found.text_weight) == (Intent.LOOKUP, MAY, 1.0)
    assert found.given == ("intent", "time", "text_weight")
    assert found.intent_scores["causal"] > 0.5  # what speaks for each is still told


def test_an_intent_given_decides_the_text_weight() -> None:
    found = plan("why did we leave", PlanChange(intent=Intent.LOOKUP))
    assert found.text_signals == ("intent_lookup",)


def test_time_can_be_taken_away() -> None:
    assert plan("what did I eat yesterday").intent == Intent.TEMPORAL
    found = plan("what did I eat yesterday", PlanChange(no_time=True))
    assert found.time is None
    assert found.given == ("time",)
    assert found.intent != Intent.TEMPORAL


def test_a_name_in_a_phrase_of_time_is_none() -> None:
    assert plan("bills of 12 May from Ida").entities == ("Ida",)


def test_aliases_come_from_the_caller() -> None:
    found = understand_question("is Bram home", NOW_MS, UTC, known=lambda name: ("Abraham",) if name == "bram" else ())
    assert found.aliases == {"Bram": ("Abraham",)}
