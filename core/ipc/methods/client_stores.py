"""The methods of clients that store one kind of memory: memory_store_episode, memory_store_fact, memory_store_rule.

Each is `memory_store` with the seed's parameters; what a client may say is checked the same way. Must not do: take an
identity, a trust or a time of recording from a parameter.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

from core.engine.facade import Engine
from core.ipc.methods.client_checks import check_store
from core.ipc.methods.memory_json import stored
from core.ipc.methods.owner.base import Params, wait
from core.ipc.methods.owner.memories import store_request
from core.ipc.protocol.sessions import Session
from core.types.requests import FactRequest
from core.types.values import Kind


async def memory_store_episode(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Store something said or done, word for word (seed B, `memory_store_episode`)."""
    return await _store(engine, params, session, Kind.EPISODE)


async def memory_store_rule(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Store guidance; it begins as a candidate (seed B, `memory_store_rule`)."""
    return await _store(engine, params, session, Kind.RULE)


async def _store(engine: Engine, params: Params, session: Session, kind: Kind) -> dict[str, Any]:
    request = store_request({**params, "kind": kind.value})
    check_store(request, session)
    reply = await wait(engine.memories.store(request, session.actor(request.session)))
    return stored(reply, classification=session.owner)


async def memory_store_fact(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Store a fact as subject, predicate and content, with its claim (seed B, `memory_store_fact`)."""
    request = store_request({**params, "kind": Kind.FACT.value})
    check_store(request, session)
    fact = FactRequest(
        subject=params["subject"],
        predicate=params["predicate"],
        store=request,
        value=params.get("value"),
        valid_from=params.get("valid_from"),
        valid_to=params.get("valid_to"),
    )
    reply = await wait(engine.memories.store_fact(fact, session.actor(request.session)))
    return stored(reply, classification=session.owner)


STORE_METHODS: Mapping[str, Callable[[Engine, Params, Session], Awaitable[dict[str, Any]]]] = MappingProxyType(
    {
        "memory_store_episode": memory_store_episode,
        "memory_store_fact": memory_store_fact,
        "memory_store_rule": memory_store_rule,
    }
)
