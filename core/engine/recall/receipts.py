"""Receipts of answers as they are shown: pages of them, one of them, and how recall did lately.

Must not do: show a receipt to a client, or look through all of them for one memory.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from core.config.retrieval import RetrievalOptions
from core.engine.recall.recall_runner import INJECTION
from core.errors import Code, UserError
from core.recall.receipt_codec import metrics_from_json, receipt_trace
from core.score.answer_quality import POOR_IN_A_ROW, answer_health, rank_percentile
from core.types.recall import DeliveryCount, RecallHealth, Receipt, ReceiptPage, ReceiptRow
from core.vault.database.rows import Rows

_ROW = (
    "SELECT r.id, r.at, r.actor, c.name, r.session, r.verb, coalesce(r.query, ''), r.items, r.metrics, r.expires_at "
    "FROM receipts r LEFT JOIN clients c ON c.id = r.client_id"
)
_PAGE = _ROW + " WHERE (:at IS NULL OR (r.at, r.id) < (:at, :id)) ORDER BY r.at DESC, r.id DESC LIMIT :most"
_PAGE_OF_CLIENT = (
    _ROW + " WHERE r.client_id = :client AND (:at IS NULL OR (r.at, r.id) < (:at, :id)) "
    "ORDER BY r.at DESC, r.id DESC LIMIT :most"
)
_LATELY = "SELECT items, metrics FROM receipts WHERE metrics IS NOT NULL ORDER BY at DESC, id DESC LIMIT ?"
_LAST_GIVEN = (
    "SELECT c.name, h.last_at FROM handed h JOIN clients c ON c.id = h.client_id WHERE h.memory_id = ? "
    "ORDER BY h.last_at DESC, c.name LIMIT 1"
)
_EMPTY_TOO = 4  # for each answer of the window so many recalls are looked at: most may have had none


def receipts_page(rows: Rows, limit: int, after: str | None, client: str | None) -> ReceiptPage:
    """Receipts, newest first.

    Args:
        limit: how many, 1 to 500.
        after: `next` of the page before.
        client: only this client's, by name.

    Raises:
        UserError: INVALID_INPUT for a limit out of range or an `after` that has expired, NOT_FOUND for the client.
    """
    if not 1 <= limit <= 500:
        raise UserError(Code.INVALID_INPUT, "A page has 1 to 500 receipts.")
    params: dict[str, object] = {"at": None, "id": None, "most": limit + 1}
    if client is not None:
        params["client"] = rows.value("SELECT id FROM clients WHERE name = ?", (client,))
        if params["client"] is None:
            raise UserError(Code.NOT_FOUND, "There is no client of that name.")
    if after is not None:
        place = rows.one("SELECT at, id FROM receipts WHERE id = ?", (after,))
        if place is None:
            raise UserError(Code.INVALID_INPUT, "`after` is out of date; ask again from the start.")
        params["at"], params["id"] = place
    found = rows.all(_PAGE if client is None else _PAGE_OF_CLIENT, params)
    shown = tuple(_receipt_row(row) for row in found[:limit])
    return ReceiptPage(shown, shown[-1].id if len(found) > limit else None)


def read_receipt(rows: Rows, receipt_id: str) -> Receipt | None:
    """One receipt as a whole.

    Returns:
        The receipt; None where there is none.

    Raises:
        IntegrityError: VAULT_DAMAGED; it cannot be read.
    """
    found = rows.one(_ROW + " WHERE r.id = ?", (receipt_id,))
    if found is None:
        return None
    row = _receipt_row(found)
    body: dict[str, Any] = json.loads(rows.value("SELECT body FROM receipts WHERE id = ?", (receipt_id,)))
    trace = receipt_trace(body, row.query)
    body.pop("trace", None)
    return Receipt(
        row=row,
        reason=str(body.get("reason", "")),
        strategy=str(body.get("strategy", "")),
        profile=str(body.get("profile", "")),
        given=_disclosed_ids(body),
        withheld={miss["id"]: miss["why"] for miss in body.get("near_misses", ())}
        | dict.fromkeys(body.get("blocked", ()), INJECTION),
        trace=trace,
        body=body,
        sealed=int(body.get("sealed", 0)),
        reads=int(body.get("reads", 1)),
        unlisted=int(body.get("more_items", 0)),
    )


def count_disclosures(rows: Rows, memory_id: str) -> DeliveryCount:
    """How often a memory left for a client, from counts that are kept for each.

    Raises:
        UserError: NOT_FOUND.
    """
    accesses = rows.value("SELECT access_count FROM memories WHERE id = ?", (memory_id,))
    if accesses is None:
        raise UserError(Code.NOT_FOUND, "There is no such memory.")
    count = int(rows.value("SELECT coalesce(sum(times), 0) FROM handed WHERE memory_id = ?", (memory_id,)))
    name, last_at = rows.one(_LAST_GIVEN, (memory_id,)) or ("", None)
    return DeliveryCount(count, last_at, name, max(0, int(accesses) - count))


def recall_health(rows: Rows, options: RetrievalOptions) -> RecallHealth:
    """How recall did lately (E5.3.4, E5.3.6).

    Args:
        options: window and bounds.

    Returns:
        The figures of the last answers; empty recalls stand in none but the share of those (C22).
    """
    window = options.health_window
    recent_metrics = [metrics_from_json(json.loads(row[1])) for row in rows.all(_LATELY, (window * _EMPTY_TOO,))]
    recalls, answers = [], []
    for metrics in recent_metrics:
        if metrics is None:
            continue
        if metrics.memories_packed > 0 and metrics.graded:
            answers.append(metrics)
        recalls.append(metrics)
        if len(answers) >= window:
            break
    now = answer_health(answers, options.health_poor)
    # A few answers tell nothing yet.
    mean = now.average_relevancy if len(answers) >= POOR_IN_A_ROW else None
    is_low = mean is not None and mean < options.health_low
    in_doubt = now.poor_run >= POOR_IN_A_ROW
    times = [metrics.search_latency_ms for metrics in recalls]
    return RecallHealth(
        answers=len(answers),
        recalls=len(recalls),
        average_relevancy=now.average_relevancy,
        ndcg=now.ndcg,
        ndcg_before=now.ndcg_before,
        abstained=sum(metrics.memories_packed == 0 for metrics in recalls) / len(recalls) if recalls else None,
        p50_ms=rank_percentile(times, 0.5),
        p95_ms=rank_percentile(times, 0.95),
        is_low=is_low,
        poor_run=now.poor_run,
        model_in_doubt=in_doubt,
        sentence=_quality_warning(is_low=is_low, in_doubt=in_doubt),
    )


def _quality_warning(*, is_low: bool, in_doubt: bool) -> str:
    if in_doubt:
        return "The last ten answers were far from their questions; the embedding model may not fit what is asked."
    return "The last answers were far from their questions." if is_low else ""


def _disclosed_ids(body: Mapping[str, Any]) -> tuple[str, ...]:
    """What the asker got: of a context what was packed, else the answer."""
    packed = body.get("context", {}).get("included")
    blocked = frozenset(body.get("blocked", ()))
    items = body.get("items", ()) if packed is None else packed
    return tuple(item["id"] for item in items if packed is not None or item["id"] not in blocked)


def _receipt_row(row: tuple[Any, ...]) -> ReceiptRow:
    metrics = None if row[8] is None else metrics_from_json(json.loads(row[8]))
    return ReceiptRow(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], metrics, row[9])
