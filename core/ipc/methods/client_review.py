"""The methods of clients on the desk: memory_conflicts, memory_resolve_conflict, and verdicts on one memory.

Numbers are bands and sentences hold none; the engine keeps scope, grants and the owner's word. Must not do: let a
client make a rule, or take who it is from a parameter.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

from core.engine.facade import Engine
from core.ipc.methods.memory_json import judged
from core.ipc.methods.owner.base import Params, shape_for, wait
from core.ipc.methods.owner.conflicts import listed, settled
from core.ipc.protocol.sessions import Session
from core.types.requests import Extras
from core.types.values import Grant, Kind, Source


async def memory_conflicts(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """What waits for a decision, as far as this client may see both sides; to one that may not decide, no answers."""
    found = await listed(engine, params, session.actor(), shape_for(engine, exact=session.owner))
    if session.may(Grant.CURATE.value):
        return found
    return {**found, "conflicts": [{**item, "actions": []} for item in found["conflicts"]]}


async def memory_resolve_conflict(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Decide one item."""
    return await settled(engine, params, session.actor())


async def memory_confirm(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Confirm one memory."""
    done = await wait(engine.memories.confirm(params["id"], session.actor(), _extras(params)))
    return judged(done, shape_for(engine, exact=session.owner))


async def memory_reinforce(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Reinforce one memory."""
    done = await wait(engine.memories.reinforce(params["id"], session.actor(), _extras(params)))
    return judged(done, shape_for(engine, exact=session.owner))


async def memory_dispute(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Dispute one memory."""
    done = await wait(engine.memories.dispute(params["id"], session.actor(), params.get("reason"), _extras(params)))
    return judged(done, shape_for(engine, exact=session.owner))


async def memory_corroborate(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Corroborate one memory from a source of the caller's own."""
    source, within = params.get("source"), params.get("session")
    way = None if source is None else Source(source)
    done = await wait(engine.memories.corroborate(params["id"], session.actor(within), way, within, _extras(params)))
    return judged(done, shape_for(engine, exact=session.owner))


def _extras(params: Params) -> Extras:
    kind = params.get("memory_type")
    return Extras(None if kind is None else Kind(kind), params.get("request_id"))


DESK_METHODS: Mapping[str, Callable[[Engine, Params, Session], Awaitable[dict[str, Any]]]] = MappingProxyType(
    {
        "memory_conflicts": memory_conflicts,
        "memory_resolve_conflict": memory_resolve_conflict,
        "memory_confirm": memory_confirm,
        "memory_reinforce": memory_reinforce,
        "memory_dispute": memory_dispute,
        "memory_corroborate": memory_corroborate,
    }
)
