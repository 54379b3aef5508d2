"""One question from its words to its answer: embedded, answered on a reader thread, noted for its receipt.

It stands apart from what changes memories, so that a command that asks one question loads none of that. Must not do:
say who may ask.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace

from core.engine.recall.recall_runner import feedback_for, note_recall, run_recall
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.search import Embedded
from core.engine.runtime.storage import chain_work
from core.recall.predicate import withheld_count
from core.recall.request import RecallRequest
from core.recall.result import RecallResult
from core.recall.scope import Scope
from core.text.screening.egress import prefetch_scans
from core.types.recall import Metrics
from core.types.requests import RecallQuery
from core.types.values import Actor
from core.vault.database.rows import Rows


@dataclass(frozen=True, slots=True)
class RecallReply:
    """What a recall found, and the id of its receipt.

    Attributes:
        metrics: how good the answer was, where the query asked to `explain`; the receipt has it in any case.
    """

    result: RecallResult
    receipt_id: str
    metrics: Metrics | None = None


def answer_recall(open_vault: OpenVault, query: RecallQuery, scope: Scope, actor: Actor) -> Future[RecallReply]:
    """Find what answers a question.

    Args:
        query: the question and its filters.
        scope: what the actor may see.

    Returns:
        The result with the id of its receipt.

    Raises:
        UserError: INVALID_QUERY, INVALID_INPUT; the future raises NOT_FOUND for an unknown space.
    """
    request = RecallRequest.from_query(query, scope)
    begun = open_vault.storage.clock.monotonic()
    request.check_bounds()

    def run(embedded: Embedded | None) -> RecallReply:
        now = open_vault.storage.clock.now_ms()

        def read_answer(rows: Rows) -> tuple[RecallResult, Mapping[str, str], int]:
            found = run_recall(open_vault.search, rows, request, embedded, now)
            return found, feedback_for(rows, found, embedded, now, scope), withheld_count(rows, request)

        result, feedback, kept = open_vault.storage.vault.read(read_answer)
        if not actor.is_owner:
            prefetch_scans((item.memory for item in result.items), (ref for item in result.items for ref in item.refs))
        result = replace(result, took_ms=(open_vault.storage.clock.monotonic() - begun) * 1000)
        open_vault.load.latency.record_latency(result.took_ms)
        receipt, metrics = note_recall(open_vault.read_log, actor, "recall", query.query, result, feedback, now, kept)
        return RecallReply(result, receipt, metrics() if query.explain else None)

    if not request.wants_vector:
        return open_vault.storage.run_on(open_vault.storage.threads.reads, run, None)
    return chain_work(
        open_vault.search.embed_texts([request.embed_text]),
        lambda embedded: open_vault.storage.run_on(open_vault.storage.threads.reads, run, embedded),
    )
