"""The methods of clients: memory_store, memory_get, memory_list, memory_search, memory_context, health, and the desk's.

Grants and spaces are checked here, before the engine is asked; the engine keeps the scope of every query once more.
Must not do: take an identity, a trust or a time of recording from a parameter.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from core.engine.facade import Engine, RecallResult
from core.ipc.methods import memory_json
from core.ipc.methods.client_changes import CHANGE_METHODS
from core.ipc.methods.client_checks import check_spaces, check_store
from core.ipc.methods.client_entities import ENTITY_METHODS
from core.ipc.methods.client_maintenance import UPKEEP_METHODS
from core.ipc.methods.client_review import DESK_METHODS
from core.ipc.methods.client_sessions import SESSION_METHODS
from core.ipc.methods.client_stores import STORE_METHODS
from core.ipc.methods.memory_json import Shape
from core.ipc.methods.owner.base import Params, behind, shape_for, wait
from core.ipc.methods.owner.memories import context_query, list_request, listed, recall_query, store_request
from core.ipc.protocol.sessions import Session
from core.types.replies import ClientRecord
from core.types.requests import ListRequest
from core.types.values import GLOBAL_SPACE, Grant, Kind

RECALLED_FROM = 0.2  # seed B, hybrid search and composite scoring: what is hardly certain stays out
_PAGE = 10  # E14a.5: memories of a list where no number is named

ClientMethod = Callable[[Engine, Params, Session], Awaitable[dict[str, Any]]]


def _shape(engine: Engine, session: Session) -> Shape:
    return shape_for(engine, exact=session.owner)


async def memory_store(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Store one memory; a client that may only propose leaves it for review."""
    request = store_request(params)
    check_store(request, session)
    reply = await wait(engine.memories.store(request, session.actor(request.session)))
    return memory_json.stored(reply, classification=session.owner)


async def memory_get(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """One memory; of a long text what is left of it behind `offset`."""
    wanted = params.get("memory_type")
    kind = None if wanted is None else Kind(wanted)
    memory = await wait(engine.memories.get(params["id"], session.actor(), kind))
    told = _shape(engine, session).memory(memory)
    told["text"] = told["text"][int(params.get("offset", 0)) :]  # in place: one that is not shown is known by its type
    return told


async def memory_list(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """A page of memories."""
    if "space" in params:
        check_spaces(session, [params["space"]])
    return await listed(engine, list_request(params, _PAGE), session.actor(), _shape(engine, session))


async def memory_search(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """A ranked search; what stands in `filters` counts as if it stood beside it.

    With `explain` a client is told how its question was read, in words: no score, weight or count of the vault.
    """
    beside = {key: value for key, value in params.items() if key != "filters"}
    merged = {"min_confidence": RECALLED_FROM, **params.get("filters", {}), **beside}
    if "space" in merged:  # seed B, scoping: the space that is named, and what is everybody's
        merged["spaces"] = [*merged.get("spaces", ()), merged.pop("space"), GLOBAL_SPACE]
    check_spaces(session, merged.get("spaces", ()))
    query = recall_query(merged, engine.clock.now_ms())
    reply = await wait(engine.memories.recall(query, session.actor(query.session)))
    result: RecallResult = reply.result
    shape = _shape(engine, session)
    found = {
        "items": behind([shape.found(item, query.explain) for item in result.items], params.get("after")),
        "abstained": result.abstained,
        "reason": shape.reason(result),
        "strategy": result.strategy,
        "receipt": reply.receipt_id,
    }
    return {**found, "plan": shape.plan(result.trace.plan)} if query.explain else found


async def memory_recall(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """What is remembered of a topic: seed B's other name for `memory_search`."""
    return await memory_search(engine, params, session)


async def memory_context(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """What is remembered of a prompt, fenced as data, within a token budget."""
    check_spaces(session, params.get("spaces", ()))
    query = context_query(params)
    reply = await wait(engine.memories.context(query, session.actor(query.session)))
    return memory_json.context(reply, _shape(engine, session))


async def health(engine: Engine, session: Session, version: str, connections: int) -> dict[str, Any]:
    """Whether the vault is open; to a client also what it may see, to the owner how it is.

    Args:
        engine: the engine.
        session: who asks.
        version: Loci's version.
        connections: authenticated connections; told to the owner only.

    Returns:
        `{state, version, rows}`; a client's `rows` counts what it can see, so it learns nothing of others. A client
        reads `client`, `grants`, `spaces` and `own_space` beside.
    """
    page = await wait(engine.memories.list(ListRequest(statuses=None, limit=1), session.actor()))
    found: dict[str, Any] = {"state": engine.state, "version": version, "rows": page.total}
    record = session.record
    if not session.owner and Grant.ALL_SPACES.value not in record.grants:
        return found | _standing(record, record.spaces)
    values = memory_json.plain((await wait(engine.vault.status())).values)
    if not session.owner:
        return found | _standing(record, values.get("spaces", ()))
    found |= {key: values[key] for key in ("seq", "wal_bytes") if key in values}
    found["clients"] = connections
    return found


def _standing(record: ClientRecord, spaces: Iterable[str]) -> dict[str, Any]:
    """What a client is told of itself: who it is, what it may, which of the person's spaces it may name."""
    own = f"client:{record.name}"
    named = [name for name in spaces if name not in (own, GLOBAL_SPACE)]
    return {"client": record.name, "grants": sorted(record.grants), "spaces": named, "own_space": own}


CLIENT_METHODS: Mapping[str, ClientMethod] = MappingProxyType(
    {
        "memory_store": memory_store,
        "memory_get": memory_get,
        "memory_list": memory_list,
        "memory_search": memory_search,
        "memory_context": memory_context,
        "memory_recall": memory_recall,
        **DESK_METHODS,
        **CHANGE_METHODS,
        **ENTITY_METHODS,
        **SESSION_METHODS,
        **STORE_METHODS,
        **UPKEEP_METHODS,
    }
)
