"""The verbs on memories: remember, recall, context, list, show, history, forget, undo and the steps it takes back."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any

from core.engine.facade import Engine, RecallResult
from core.errors import Code, PreconditionError, UserError
from core.ipc.methods import memory_json
from core.ipc.methods.memory_json import Shape
from core.ipc.methods.owner.base import Params, Progress, behind, shape_for, wait
from core.ipc.protocol.time_format import read, read_as_of
from core.text.timephrases.finder import range_of
from core.text.timephrases.spans import Span
from core.types.clock import LocalZone
from core.types.recall import ContextQuery, PlanChange, TimeRange
from core.types.requests import ListRequest, RecallQuery, StoreRequest
from core.types.values import FIRST_DAY, LAST_DAY, Actor, Intent, Kind, Source
from core.types.views import Revision

FAR_DAYS = Span(FIRST_DAY, LAST_DAY)
"""The days that may be named; a range without a first day begins with the first of them."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def store_request(params: Params) -> StoreRequest:
    """The engine's request of checked `remember` or `memory_store…` parameters.

    Args:
        params: already checked against the schema.

    Returns:
        The request.

    Raises:
        UserError: INVALID_INPUT for a time that cannot be read.
    """
    source = params.get("source")
    return StoreRequest(
        text=params["text"],
        kind=Kind(params.get("kind", Kind.FACT.value)),
        category=params.get("category", "general"),
        importance=params.get("importance"),
        tags=tuple(params.get("tags", ())),
        space=params.get("space"),
        session=params.get("session"),
        occurred=read(params.get("time"), "time"),
        claim=params.get("claim"),
        source=None if source is None else Source(source),
        ref=params.get("ref"),
        author=params.get("author"),
        request_id=params.get("request_id"),
        permanence=params.get("permanence"),
    )


def recall_query(params: Params, now_ms: int) -> RecallQuery:
    """The engine's question of checked `recall` or `memory_search` parameters.

    Args:
        params: already checked against the schema; `space` and `spaces` add up.
        now_ms: the present, epoch ms.

    Returns:
        The question.

    Raises:
        UserError: INVALID_QUERY for an empty query, INVALID_INPUT for a time or day that cannot be read, or days that
            make no range.
    """
    if not params["query"].strip():
        raise UserError(Code.INVALID_QUERY, "The query is empty; write what you are looking for.")
    return RecallQuery(
        query=params["query"],
        limit=int(params.get("limit", 10)),
        spaces=_spaces(params),
        kinds=_some(params, "kinds"),
        categories=_some(params, "categories"),
        statuses=_some(params, "status") or ("active",),
        as_of_ms=read_as_of(params.get("as_of")),
        mode=params.get("mode", "hybrid"),
        min_confidence=float(params.get("min_confidence", 0.0)),
        session=params.get("session"),
        explain=params.get("explain", False),
        plan=plan_change(params, now_ms),
        tags=_some(params, "tags") or None,
        since_ms=_moment(params, "since"),
        until_ms=_moment(params, "until"),
    )


def _moment(params: Params, field: str) -> int | None:
    when = read(params.get(field), field)
    return None if when is None else when.ms


def plan_change(params: Params, now_ms: int) -> PlanChange | None:
    """What a caller decides about the reading of its question.

    Args:
        params: already checked against the schema: `intent`, `text_weight`, `from`, `to`, `no_time`.
        now_ms: the present, epoch ms.

    Returns:
        The change; None where all is left to the rules.

    Raises:
        UserError: INVALID_INPUT for a weight out of range, a day that cannot be read, days that make no range, or days
            beside `no_time`.
    """
    intent, weight, no_time = params.get("intent"), params.get("text_weight"), params.get("no_time", False)
    days = _days(params, now_ms)
    if weight is not None and not 0.0 <= weight <= 1.0:  # NaN passes the schema where no line is parsed
        raise UserError(Code.INVALID_INPUT, "`text_weight` must be a number from 0 to 1.")
    if no_time and days is not None:
        raise UserError(Code.INVALID_INPUT, "`no_time` cannot stand beside `from` or `to`; leave one of them out.")
    change = PlanChange(
        intent=None if intent is None else Intent(intent),
        time=days,
        no_time=no_time,
        text_weight=None if weight is None else float(weight),
    )
    return None if change == PlanChange() else change


def _days(params: Params, now_ms: int) -> TimeRange | None:
    """The days from `from` to `to`, both inclusive, in the zone in which a question's own days are read."""
    first, last, zone = _day(params, "from"), _day(params, "to"), LocalZone()
    if first is None and last is None:
        return None
    if first is None:
        first = FAR_DAYS.first
    if last is None:
        # As "since" is read: what lies near a range counts by its distance from the middle, and a far end would put
        # the middle where nothing is.
        today = datetime.fromtimestamp(now_ms / 1000, zone).date()
        last = today if first <= today else FAR_DAYS.last
    if first > last:
        raise UserError(Code.INVALID_INPUT, "`from` is a later day than `to`; the range ends before it begins.")
    return range_of(Span(first, last), "", (0, 0), zone)


def _day(params: Params, field: str) -> date | None:
    text = params.get(field)
    if text is None:
        return None
    try:
        day = date.fromisoformat(text) if _DAY.fullmatch(text) else None
    except ValueError:
        day = None
    if day is None:
        raise UserError(Code.INVALID_INPUT, f"`{field}` is not a day; write it like 2026-01-31.")
    if not FAR_DAYS.first <= day <= FAR_DAYS.last:
        years = f"{FAR_DAYS.first.year} to {FAR_DAYS.last.year}"
        raise UserError(Code.INVALID_INPUT, f"`{field}` lies outside the years {years}.")
    return day


def context_query(params: Params) -> ContextQuery:
    """The engine's question of checked `context` or `memory_context` parameters.

    Args:
        params: already checked against the schema; `space` and `spaces` add up.

    Returns:
        The question.

    Raises:
        UserError: INVALID_QUERY for an empty prompt.
    """
    if not params["prompt"].strip():
        raise UserError(Code.INVALID_QUERY, "The prompt is empty; write what the assistant is asked.")
    budget = params.get("token_budget")
    return ContextQuery(
        prompt=params["prompt"],
        budget=None if budget is None else int(budget),
        model=params.get("model"),
        session=params.get("session"),
        spaces=_spaces(params),
    )


def _spaces(params: Params) -> tuple[str, ...] | None:
    return (*params.get("spaces", ()), *((params["space"],) if "space" in params else ())) or None


def _some(params: Params, name: str) -> tuple[str, ...] | None:
    return tuple(params[name]) if name in params else None


def list_request(params: Params, default_limit: int | None) -> ListRequest:
    """The engine's request of checked `list` or `memory_list` parameters.

    Args:
        params: already checked against the schema; `status` may be `all`.
        default_limit: items where the caller names no limit; None for all.

    Returns:
        The request.

    Raises:
        UserError: INVALID_INPUT for a time that cannot be read.
    """
    kind, status, limit = params.get("kind"), params.get("status", ["active"]), params.get("limit", default_limit)
    return ListRequest(
        text=params.get("text"),
        kind=None if kind is None else Kind(kind),
        statuses=None if status == "all" else tuple(status),
        space=params.get("space"),
        import_id=params.get("import_id"),
        limit=None if limit is None else int(limit),
        after=params.get("after"),
        category=params.get("category"),
        since_ms=_moment(params, "since"),
        until_ms=_moment(params, "until"),
        tags=tuple(params.get("tags", ())),
        client=params.get("client"),
        sort=params.get("sort", "newest"),
    )


async def listed(engine: Engine, request: ListRequest, actor: Actor, shape: Shape) -> dict[str, Any]:
    """One page as JSON.

    Args:
        engine: the engine.
        request: the page.
        actor: who asks.
        shape: how memories are shown to it.

    Returns:
        `{items, total}`, and `next` where there is more.
    """
    page = await wait(engine.memories.list(request, actor))
    result: dict[str, Any] = {"items": [shape.memory(memory) for memory in page.items], "total": page.total}
    if page.next is not None:
        result["next"] = page.next
    return result


async def remember(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Store one text with the owner's word."""
    reply = await wait(engine.memories.store(store_request(params), actor))
    return memory_json.stored(reply, classification=True)


async def recall(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Search with exact scores."""
    query = recall_query(params, engine.clock.now_ms())
    reply = await wait(engine.memories.recall(query, actor))
    result: RecallResult = reply.result
    shape = shape_for(engine, exact=True)
    found = {
        "items": behind([shape.found(item, query.explain) for item in result.items], params.get("after")),
        "abstained": result.abstained,
        "reason": result.reason,
        "near_misses": memory_json.plain(result.near_misses),
        "strategy": result.strategy,
        "took_ms": round(float(result.took_ms), 3),
        "receipt": reply.receipt_id,
    }
    return {**found, **memory_json.explained(result.trace, reply.metrics, shape)} if query.explain else found


async def context(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """What is remembered of a prompt, as one text within a token budget."""
    reply = await wait(engine.memories.context(context_query(params), actor))
    return memory_json.context(reply, shape_for(engine, exact=True))


async def list_(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """List memories, newest first unless another order is named."""
    return await listed(engine, list_request(params, 50), actor, shape_for(engine, exact=True))


async def show(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Everything about one memory."""
    return memory_json.detail(await wait(engine.memories.show(params["id"], actor)), shape_for(engine, exact=True))


async def history(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """All versions of one memory's chain."""
    shape = shape_for(engine, exact=True)
    chain = [shape.memory(memory) for memory in await wait(engine.memories.history(params["id"], actor))]
    return {"items": behind(chain, params.get("after"))}


async def edit(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Give a memory another text; the old version stays in its history."""
    done = await wait(engine.changes.update(params["id"], params["text"], actor))
    step, former = done.step_id, list(done.superseded)
    return {
        "id": params["id"],
        "operation": done.operation,
        "memory_id": done.memory_id,
        "superseded": former,
        "step": step,
    }


async def pin(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Pin a memory, or let it go again."""
    wanted = not params.get("off", False)
    step = await _revised(engine, params["id"], Revision(pinned=wanted), actor)
    return {"id": params["id"], "pinned": wanted, "step": step}


async def tag(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Add tags to a memory and take tags from it; one step."""
    more, less = tuple(params.get("add", ())), tuple(params.get("remove", ()))
    if not more and not less:
        raise UserError(Code.INVALID_INPUT, "Say which tags are added, or which are taken away.")
    if set(more) & set(less):
        raise UserError(Code.INVALID_INPUT, "A tag is added or taken away, not both.")
    step = await _revised(engine, params["id"], Revision(add_tags=more, remove_tags=less), actor)
    found = await wait(engine.memories.get(params["id"], actor))
    return {"id": params["id"], "tags": list(found.tags), "step": step}


async def _revised(engine: Engine, memory_id: str, revision: Revision, actor: Actor) -> str | None:
    """The step of a change; None where the memory was like that already."""
    await wait(engine.memories.get(memory_id, actor))  # one that is not there is told as such
    report = await wait(engine.library.revise([memory_id], revision))
    if report.refused:
        raise PreconditionError(next(iter(report.refused)))
    return report.step_id


async def spaces(engine: Engine, _params: Params, _actor: Actor, _progress: Progress) -> dict[str, Any]:
    """All spaces, with how many memories stand in each."""
    names = (await wait(engine.vault.status())).values["spaces"]
    counts = (await wait(engine.library.facets())).spaces
    return {"spaces": [{"name": name, "memories": counts.get(name, 0)} for name in names]}


async def forget(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Delete one memory softly."""
    return {"id": params["id"], "step": await wait(engine.memories.forget(params["id"], actor))}


async def undo(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Take back a step."""
    return memory_json.undone(await wait(engine.memories.undo(params.get("step"), actor)))


async def steps(engine: Engine, params: Params, _actor: Actor, _progress: Progress) -> dict[str, Any]:
    """What was done and can be taken back, newest first."""
    return memory_json.steps(await wait(engine.journal.steps(params.get("after"), int(params.get("limit", 50)))))
