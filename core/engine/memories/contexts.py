"""The verb `build_context`: a recall with the prompt as its question, packed into a token budget, with a receipt.

The clarifying questions beside it are chosen and noted in one transaction, so that none is put twice; nothing is
written where there is nothing to ask. Must not do: search by itself, choose what goes in (`core.recall` does both), or
hold a context back because a question could not be noted (seed B, fail-open): it goes out without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass, replace
from typing import Any

from core import log
from core.config.options import Options
from core.embed.embedder import FOLDER, counter_for
from core.engine.recall.recall_runner import describe_withheld, feedback_for, run_recall
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.search import Embedded
from core.engine.runtime.storage import chain_work
from core.errors import Code, LociError, UserError
from core.lifecycle.questions import note_asked, select_questions
from core.llm.model_windows import memory_ceiling, window_of
from core.recall.context import apply_session_boost, average_entry_tokens, pack_with_quota
from core.recall.predicate import withheld_count
from core.recall.ranking import mark_contradictions
from core.recall.receipt_codec import receipt_body
from core.recall.request import RecallRequest
from core.recall.result import RecallResult
from core.recall.scope import Scope, visible_ids
from core.score.answer_quality import answer_metrics
from core.score.context_budget import fetch_count
from core.types.recall import Clarifying, Context, ContextQuery, ContextReply
from core.types.requests import RecallQuery
from core.types.values import Actor
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

_log = log.get("engine")


def choose_questions(open_vault: OpenVault, rows: Rows, query: ContextQuery, scope: Scope) -> tuple[Clarifying, ...]:
    """The questions that may be put with a context.

    Args:
        query: the prompt; without a session nothing is asked.

    Returns:
        None to two.
    """
    if not query.session:
        return ()
    spaces = None if scope.unrestricted else scope.space_ids
    if query.spaces is not None:
        named = {
            str(row[0]) for name in query.spaces for row in rows.all("SELECT id FROM spaces WHERE name = ?", (name,))
        }
        spaces = frozenset(named if spaces is None else named & spaces)
    within = scope if spaces is None else replace(scope, unrestricted=False, space_ids=spaces)
    return select_questions(
        rows,
        open_vault.options,
        lambda ids: visible_ids(rows, ids, within),
        scope.client_id,
        query.session,
        open_vault.storage.clock.now_ms(),
        spaces,
    )


def with_questions(
    open_vault: OpenVault, reply: ContextReply, query: ContextQuery, scope: Scope
) -> Future[ContextReply]:
    """Put the questions beside a context.

    Args:
        reply: the context, with the questions that could be put when it was made.

    Returns:
        The context with those that are noted as put.
    """
    done: Future[ContextReply] = Future()
    bare = replace(reply, clarifying=())
    if not reply.clarifying:
        done.set_result(bare)
        return done

    def choose_and_note(tx: Tx) -> tuple[Clarifying, ...]:
        chosen = choose_questions(open_vault, tx, query, scope)
        note_asked(tx, [one.id for one in chosen], scope.client_id, query.session or "")
        return chosen

    def finish_context(work: Future[tuple[Clarifying, ...]]) -> None:
        error = work.exception()
        if error is None:
            done.set_result(replace(bare, clarifying=work.result()))
            return
        if not isinstance(error, LociError):
            done.set_exception(error)
            return
        _log.warning("questions were left out: %s", error.code.value)
        done.set_result(bare)

    open_vault.storage.write(choose_and_note).add_done_callback(finish_context)
    return done


VERB = "context"
AtHand = Callable[[Rows], Mapping[str, float]]
"""What the asking session has at hand: memory id to activation, read from the snapshot the answer is made from."""
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class _Read:
    """What one snapshot gave."""

    result: RecallResult
    packed: Context
    signals: Mapping[str, str]
    asks: tuple[Clarifying, ...]
    sealed: int


def _load_no_slots(_rows: Rows) -> Mapping[str, float]:
    return {}


def build_context(
    open_vault: OpenVault, query: ContextQuery, scope: Scope, actor: Actor, at_hand: AtHand = _load_no_slots
) -> Future[ContextReply]:
    """Answer a prompt with what is remembered of it.

    Args:
        query: the prompt and its budget.
        scope: what the actor may see.
        at_hand: what its session has at hand.

    Returns:
        The context with the id of its receipt.

    Raises:
        UserError: INVALID_QUERY for an empty prompt, INVALID_INPUT for a budget below 0.
    """
    budget = budget_of(open_vault.options, query)
    asked = RecallQuery(query.prompt, spaces=query.spaces, session=query.session, tiers=query.tiers)
    request = RecallRequest.from_query(asked, scope)
    request.check_bounds()
    begun = open_vault.storage.clock.monotonic()

    def run(embedded: Embedded) -> ContextReply:
        now = open_vault.storage.clock.now_ms()
        counter = counter_for(query.model, open_vault.storage.home.path / FOLDER)

        def read(rows: Rows) -> _Read:
            wanted = replace(request, limit=fetch_count(budget, average_entry_tokens(rows, scope)))
            result = run_recall(open_vault.search, rows, wanted, embedded, now)
            signals = feedback_for(rows, result, embedded, now, scope)
            items = apply_session_boost(rows, result, wanted, at_hand(rows), now)
            if items is not result.items:
                items = mark_contradictions(rows, items, lambda: open_vault.search.readers)
            packed = pack_with_quota(rows, items, budget, counter, scope.client_id, result.sought)
            asks = choose_questions(open_vault, rows, query, scope)
            return _Read(result, packed, signals, asks, withheld_count(rows, wanted))

        found = open_vault.storage.vault.read(read)
        result, packed = found.result, found.packed
        took_ms = (open_vault.storage.clock.monotonic() - begun) * 1000
        open_vault.load.latency.record_latency(took_ms)
        given = tuple(one.id for one in packed.included)

        def make_body() -> Mapping[str, Any]:
            figures = answer_metrics(
                result.trace, tokens=packed.tokens, took_ms=took_ms, feedback=found.signals, packed=len(packed.included)
            )
            more = {"context": _packing_body(packed), **describe_withheld(found.sealed)}
            return receipt_body(replace(result, took_ms=took_ms), query.prompt, figures, **more)

        receipt = open_vault.read_log.note_read(actor, VERB, query.prompt, given, make_body, now, packed=packed)
        return ContextReply(packed, receipt, took_ms, found.asks)

    answered = chain_work(
        open_vault.search.embed_texts([request.embed_text]),
        lambda embedded: open_vault.storage.run_on(open_vault.storage.threads.reads, run, embedded),
    )
    return chain_work(answered, lambda reply: with_questions(open_vault, reply, query, scope))


def budget_of(options: Options, query: ContextQuery) -> int:
    """The tokens a context may have.

    Returns:
        What was asked for, or the option; of a model that is known no more than its share of the window (E15.5c, X21).

    Raises:
        UserError: INVALID_INPUT for a budget below 0.
    """
    budget = options.context_tokens if query.budget is None else query.budget
    if budget < 0:
        raise UserError(Code.INVALID_INPUT, "The token budget must be 0 or more.")
    window = window_of(query.model)
    return budget if window is None else min(budget, memory_ceiling(window, options))


def _packing_body(packed: Context) -> dict[str, Any]:
    """What the receipt keeps of the packing: ids and numbers, no text."""
    return {
        "budget": packed.budget,
        "tokens": packed.tokens,
        "tokenizer": packed.tokenizer,
        "exact": packed.exact,
        "included": [{**asdict(one), "score": round(one.score, _DIGITS)} for one in packed.included],
        "excluded": [{**asdict(one), "value": round(one.value, _DIGITS)} for one in packed.excluded],
    }
