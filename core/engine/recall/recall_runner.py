"""The one way a question is answered in the engine, whoever asks, and its note for the receipt.

Must not do: embed, or count an access.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from core.embed.embedder import counter_for
from core.engine.runtime.read_log import ReadLog
from core.engine.runtime.search import Embedded, Search
from core.recall.predicate import feedback_by_memory
from core.recall.ranking import mark_contradictions
from core.recall.receipt_codec import receipt_body
from core.recall.request import RecallRequest
from core.recall.result import RecallResult
from core.recall.scope import Scope
from core.score.answer_quality import answer_metrics
from core.score.profile import Profile
from core.text.screening.egress import is_blocked
from core.types.recall import Metrics
from core.types.values import Actor
from core.vault.database.rows import Rows

INJECTION = "injection"


def note_recall(
    read_log: ReadLog,
    actor: Actor,
    verb: str,
    query: str,
    result: RecallResult,
    feedback: Mapping[str, str],
    now_ms: int,
    sealed: int = 0,
) -> tuple[str, Callable[[], Metrics]]:
    """Note a recall for its receipt; what that costs is paid when the receipt is written.

    Args:
        verb: `recall`, `context` …
        query: the words asked.
        result: the answer, its time filled in.
        feedback: what feedback said of the answered memories for such questions
        (`core.recall.predicate.feedback_by_memory`).
        sealed: memories that were kept from the asker because they are sealed.

    Returns:
        The receipt's id, and what gives the figures of the answer; they are computed once.
    """

    @cache
    def make_metrics() -> Metrics:
        tokens = count_tokens(result)
        return answer_metrics(result.trace, tokens=tokens, took_ms=result.took_ms, feedback=feedback)

    def make_body() -> Mapping[str, Any]:
        return receipt_body(
            result, query, make_metrics(), **describe_withheld(sealed), **({"blocked": blocked} if blocked else {})
        )

    blocked = [] if actor.is_owner else [item.memory.id for item in result.items if is_blocked(item.memory)]
    # What is not shown was not given: it is not kept alive by being found, and nothing is its echo.
    given = tuple(item.memory.id for item in result.items if item.memory.id not in blocked)
    noted = read_log.note_read(actor, verb, query, given, make_body, now_ms)
    return noted, make_metrics


def describe_withheld(count: int) -> dict[str, int]:
    """How a receipt says that something was kept back because it is sealed: a number, and nothing where there is none.

    Args:
        count: how many memories.

    Returns:
        What its body takes.
    """
    return {"sealed": count} if count else {}


def feedback_for(
    rows: Rows, result: RecallResult, embedded: Embedded | None, now_ms: int, scope: Scope
) -> Mapping[str, str]:
    """What feedback said of the answered memories for such questions.

    Args:
        embedded: the embedded question; None where meaning was not compared.

    Returns:
        Memory id to signal.
    """
    ids = [item.memory.id for item in result.items]
    space = None if embedded is None else embedded.active_space.space.name
    vector = None if embedded is None else embedded.first
    return feedback_by_memory(rows, ids, vector, now_ms, client_id=scope.client_id, vector_space=space)


def count_tokens(result: RecallResult) -> int:
    """Tokens of all texts of an answer, by the built-in estimate."""
    counter = counter_for(None)
    return sum(counter.count(item.memory.text) for item in result.items)


_AWAY = "The search model does not answer at the moment, so meaning was not compared."


def run_recall(
    search: Search,
    rows: Rows,
    request: RecallRequest,
    embedded: Embedded | None,
    now_ms: int,
    profile: Profile | None = None,
) -> RecallResult:
    """Answer a question.

    Args:
        request: the question, checked.
        embedded: the embedded question; None where meaning is not compared.
        profile: other weights than those in force, for a trial.

    Returns:
        The answer; `took_ms` is left to the caller.
    """
    active_space = search.active_space if embedded is None else embedded.active_space
    # Other weights came into force with a new sight: what an older one still answers goes by them too.
    weights = profile or search.recall.profile
    ask = active_space.recall.run
    result = ask(rows, request, None if embedded is None else embedded.first, now_ms, profile=weights)
    result = result.in_order(mark_contradictions(rows, result.items, lambda: search.readers))
    if embedded is None or embedded.code is None:
        return result
    reason = f"{result.reason} {_AWAY}" if result.abstained else f"Found by words alone: {_AWAY[0].lower()}{_AWAY[1:]}"
    return replace(result, reason=reason)
