"""The verbs on memories: remember, recall, context, list, show, history, forget, undo and the steps it takes back."""

from __future__ import annotations

from typing import Any

from core.errors import Code, UserError
from core.ipc import items
from core.ipc.items import Shape
from core.ipc.moments import read, read_as_of
from core.ipc.ports import Engine, RecallResultLike
from core.ipc.verbs.base import Params, Progress, behind, shape_for, wait
from core.types.contexts import ContextQuery
from core.types.requests import ListRequest, RecallQuery, StoreRequest
from core.types.values import Actor
from core.types.words import Kind, Source


def store_request(params: Params) -> StoreRequest:
    """The engine's request of checked `remember` or `memory_store` parameters.

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
    )


def recall_query(params: Params) -> RecallQuery:
    """The engine's question of checked `recall` or `memory_search` parameters.

    Args:
        params: already checked against the schema; `space` and `spaces` add up.

    Returns:
        The question.

    Raises:
        UserError: INVALID_QUERY for an empty query, INVALID_INPUT for a time that cannot be read.
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
    )


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
    return items.stored(reply, classification=True)


async def recall(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Search with exact scores."""
    query = recall_query(params)
    reply = await wait(engine.memories.recall(query, actor))
    result: RecallResultLike = reply.result
    shape = shape_for(engine, exact=True)
    return {
        "items": behind([shape.found(item, query.explain) for item in result.items], params.get("after")),
        "abstained": result.abstained,
        "reason": result.reason,
        "near_misses": items.plain(result.near_misses),
        "strategy": result.strategy,
        "took_ms": round(float(result.took_ms), 3),
        "receipt": reply.receipt_id,
    }


async def context(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """What is remembered of a prompt, as one text within a token budget."""
    reply = await wait(engine.memories.context(context_query(params), actor))
    return items.context(reply, shape_for(engine, exact=True))


async def list_(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """List memories, newest first."""
    return await listed(engine, list_request(params, 50), actor, shape_for(engine, exact=True))


async def show(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Everything about one memory."""
    return items.detail(await wait(engine.memories.show(params["id"], actor)), shape_for(engine, exact=True))


async def history(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """All versions of one memory's chain."""
    shape = shape_for(engine, exact=True)
    chain = [shape.memory(memory) for memory in await wait(engine.memories.history(params["id"], actor))]
    return {"items": behind(chain, params.get("after"))}


async def forget(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Delete one memory softly."""
    return {"id": params["id"], "step": await wait(engine.memories.forget(params["id"], actor))}


async def undo(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Take back a step."""
    return items.undone(await wait(engine.memories.undo(params.get("step"), actor)))


async def steps(engine: Engine, params: Params, _actor: Actor, _progress: Progress) -> dict[str, Any]:
    """What was done and can be taken back, newest first."""
    return items.steps(await wait(engine.journal.steps(params.get("after"), int(params.get("limit", 50)))))
