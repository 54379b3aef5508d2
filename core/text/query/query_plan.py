"""Understands a question before it is searched for: its time, its intent, its names, how much its words count.

One pure function; the same question, moment and zone give the same plan. Must not do: any I/O but reading its own
rules once, any look into a vault but by `known`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo

from core.text.query.intent import best_intent, intent_scores, text_weight
from core.text.query.names import find_question_names
from core.text.timephrases.finder import MAX_CHARS, find_time_range
from core.types.recall import PlanChange, QueryPlan, TimeRange
from core.types.values import Intent


def understand_question(
    query: str,
    now_ms: int,
    zone: tzinfo,
    known: Callable[[str], tuple[str, ...]] | None = None,
    change: PlanChange | None = None,
    base_text_weight: float = 0.5,
) -> QueryPlan:
    """Understand a question.

    Args:
        query: any text; its first 1,024 characters are read.
        zone: the local zone; days are its days.
        known: gives other names of a folded name of the question; empty where there is none.
        change: what the caller decides instead of the rules.
        base_text_weight: the configured weight of words, 0 to 1.

    Returns:
        The plan. What the caller gave stands in it as given and is named in `given`; a text weight given is taken as
        it is, without the bounds of E35.3 (X6).
    """
    head = query[:MAX_CHARS]
    change = change or PlanChange()
    found = find_time_range(head, now_ms, zone)
    time, given = _time(found, change)
    scores = intent_scores(head, has_time=time is not None)
    intent, _ = best_intent(scores)
    weight, signals = text_weight(head, base_text_weight, scores if change.intent is None else {change.intent: 1.0})
    if change.intent is not None:
        intent = change.intent
        given = ("intent", *given)
    if change.text_weight is not None:
        weight, signals, given = change.text_weight, (), (*given, "text_weight")
    place = (time.start, time.end) if time is not None and time is found else (0, 0)
    names = find_question_names(head, known, place)
    return QueryPlan(
        intent=intent,
        intent_scores={one.value: scores[one] for one in Intent},
        time=time,
        entities=names.entities,
        aliases=names.aliases,
        identifiers=names.identifiers,
        text_weight=weight,
        text_signals=signals,
        given=given,
    )


def _time(found: TimeRange | None, change: PlanChange) -> tuple[TimeRange | None, tuple[str, ...]]:
    if change.no_time:
        return None, ("time",)
    if change.time is not None:
        return change.time, ("time",)
    return found, ()
