"""A recall as its receipt keeps it, and back: ids and numbers, no word of a memory and none of the question.

What of the plan is text stands in the question, which has a column of its own: the receipt keeps where. Numbers are
kept to twelve digits: scores are compared to nine, so the order can be computed again from a receipt.
Must not do: read or write a vault.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from core.errors import Code, IntegrityError
from core.recall.result import RecallResult
from core.types.recall import Metrics, QueryPlan, TimeRange, Trace, TracedCandidate
from core.types.values import Intent

VERSION = 1
"""Of the layout of a body; receipts of the first Loci have none."""
DIGITS = 12
_SIGNALS = ("confidence", "recency", "importance", "utility")
_MOST_BYTES = 4_000_000  # of a trace once it is unpacked; one of 200 candidates has a hundredth of it


def receipt_body(result: RecallResult, query: str, metrics: Metrics | None = None, **more: object) -> dict[str, Any]:
    """What the receipt of a recall keeps.

    Args:
        query: the question, to which the places in the plan refer.
        metrics: how good it was.
        **more: what the verb adds, JSON-able: ids and numbers.

    Returns:
        JSON-able; `trace` is packed, everything else is plain.
    """
    return {
        **result.receipt_body(),
        "version": VERSION,
        "trace": _pack_receipt(trace_to_json(result.trace, query)),
        **({} if metrics is None else {"metrics": metrics_to_json(metrics)}),
        **more,
    }


def receipt_trace(body: Mapping[str, Any], query: str) -> Trace | None:
    """The trace of a receipt.

    Args:
        body: from `receipt_body`, as it came out of the vault.
        query: the question.

    Returns:
        The trace, names of aliases left out; None for a receipt that has none.

    Raises:
        IntegrityError: VAULT_DAMAGED; it is not what `receipt_body` made.
    """
    packed = body.get("trace")
    if packed is None:
        return None
    try:
        return trace_from_json(_unpack_receipt(packed), query)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, zlib.error):
        pass
    raise IntegrityError(Code.VAULT_DAMAGED, "A receipt cannot be read; check the vault.")


def metrics_to_json(metrics: Metrics) -> dict[str, Any]:
    """Figures as a receipt keeps them and as the command line prints them."""
    return {name: round(value, 6) if isinstance(value, float) else value for name, value in asdict(metrics).items()}


def metrics_from_json(fields: Mapping[str, Any] | None) -> Metrics | None:
    """Undo `metrics_to_json`; None where there is nothing, or not all of it."""
    try:
        return None if fields is None else Metrics(**fields)
    except TypeError:
        return None


def trace_to_json(trace: Trace, query: str) -> dict[str, Any]:
    """A trace as columns: what is alike stands together and packs well.

    Args:
        query: the question.

    Returns:
        JSON-able.
    """
    found = trace.candidates
    return {
        "plan": _plan_to_json(trace.plan, query),
        "stages": dict(trace.stages),
        "weights": {name: _round_value(value) for name, value in trace.weights.items()},
        "best": _round_value(trace.best),
        "bar": _round_value(trace.bar),
        "chance": _round_value(trace.chance),
        "rerank": trace.rerank,
        "signs": {name: _round_value(value) for name, value in trace.signs.items()},
        "id": [one.id for one in found],
        "place": [one.place for one in found],
        "rank": [one.rank for one in found],
        "lists": _lists_to_columns([one.lists for one in found]),
        "signals": {name: [_round_or_none(one.signals.get(name)) for one in found] for name in _SIGNALS},
        **{
            name: [_round_value(getattr(one, name)) for one in found]
            for name in ("evidence", "relevance", "factor", "score")
        },
        "diversity": [_round_or_none(one.diversity) for one in found],
        "dropped": [one.dropped for one in found],
        "because": [one.because for one in found],
        "recorded_at": [one.recorded_at for one in found],
    }


def trace_from_json(columns: Mapping[str, Any], query: str) -> Trace:
    """Undo `trace_to_json`.

    Args:
        columns: what it gave.
        query: the question.

    Returns:
        The trace, numbers to `DIGITS` digits, without aliases.
    """
    lists = _columns_to_lists(columns["lists"], len(columns["id"]))
    candidates = tuple(
        TracedCandidate(
            id=columns["id"][at],
            place=columns["place"][at],
            rank=columns["rank"][at],
            lists=lists[at],
            evidence=columns["evidence"][at],
            relevance=columns["relevance"][at],
            signals={name: column[at] for name, column in columns["signals"].items() if column[at] is not None},
            factor=columns["factor"][at],
            score=columns["score"][at],
            diversity=columns["diversity"][at],
            dropped=columns["dropped"][at],
            because=columns["because"][at],
            recorded_at=columns["recorded_at"][at],
        )
        for at in range(len(columns["id"]))
    )
    return Trace(
        plan=_read_plan(columns["plan"], query),
        stages=dict(columns["stages"]),
        candidates=candidates,
        weights=dict(columns["weights"]),
        best=columns["best"],
        bar=columns["bar"],
        chance=columns["chance"],
        signs=dict(columns["signs"]),
        rerank=columns["rerank"],
    )


def _round_value(value: float) -> float:
    return round(float(value), DIGITS)


def _round_or_none(value: float | None) -> float | None:
    return None if value is None else _round_value(value)


def _lists_to_columns(lists: Sequence[Mapping[str, tuple[int, float]]]) -> dict[str, list[list[Any]]]:
    """List to `[places of the candidates in it, their ranks, their raw scores]`."""
    found: dict[str, list[list[Any]]] = {}
    for at, ranks in enumerate(lists):
        for name, (rank, raw) in ranks.items():
            column = found.setdefault(name, [[], [], []])
            column[0].append(at)
            column[1].append(rank)
            column[2].append(_round_value(raw))
    return found


def _columns_to_lists(columns: Mapping[str, Sequence[Sequence[Any]]], size: int) -> list[dict[str, tuple[int, float]]]:
    rows: list[dict[str, tuple[int, float]]] = [{} for _ in range(size)]
    for name, (places, ranks, raw) in columns.items():
        for at, rank, score in zip(places, ranks, raw, strict=True):
            rows[at][name] = (rank, score)
    return rows


def _plan_to_json(plan: QueryPlan, query: str) -> dict[str, Any]:
    time = plan.time
    return {
        "intent": plan.intent.value,
        "scores": {name: _round_value(value) for name, value in plan.intent_scores.items()},
        "time": None
        if time is None
        else [time.start, time.end, time.first_day, time.last_day, time.from_ms, time.to_ms],
        "entities": _find_positions(plan.entities, query),
        "identifiers": _find_positions(plan.identifiers, query),
        "text_weight": _round_value(plan.text_weight),
        "text_signals": list(plan.text_signals),
        "period": plan.period,
        "given": list(plan.given),
    }


def _read_plan(fields: Mapping[str, Any], query: str) -> QueryPlan:
    time = None
    if fields["time"] is not None:
        start, end, first, last, begins, ends = fields["time"]
        time = TimeRange(query[start:end], start, end, first, last, begins, ends)
    return QueryPlan(
        intent=Intent(fields["intent"]),
        intent_scores=dict(fields["scores"]),
        time=time,
        entities=tuple(query[start:end] for start, end in fields["entities"]),
        identifiers=tuple(query[start:end] for start, end in fields["identifiers"]),
        text_weight=fields["text_weight"],
        text_signals=tuple(fields["text_signals"]),
        period=fields["period"],
        given=tuple(fields["given"]),
    )


def _find_positions(words: Sequence[str], query: str) -> list[list[int]]:
    """Where words stand in the question; what does not stand there is left out."""
    starts = [(query.find(word), word) for word in words]
    return [[start, start + len(word)] for start, word in starts if start >= 0]


def _pack_receipt(body: Mapping[str, Any]) -> str:
    whole = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return base64.b64encode(zlib.compress(whole, 6)).decode("ascii")


def _unpack_receipt(packed: str) -> dict[str, Any]:
    whole = zlib.decompressobj().decompress(base64.b64decode(packed, validate=True), _MOST_BYTES)
    body: dict[str, Any] = json.loads(whole.decode("utf-8", "surrogatepass"))
    return body
