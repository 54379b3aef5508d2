"""The methods of clients about upkeep: memory_stats, memory_audit_log, memory_run_consolidation, and the cleanup's.

All of it is counted within the client's scope by the engine. Must not do: tell a text, or a figure of the whole vault.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

from core.engine.facade import Engine
from core.ipc.methods.client_checks import check_spaces
from core.ipc.methods.owner.base import Params, wait
from core.ipc.protocol.sessions import Session
from core.ipc.protocol.time_format import iso

_LAST = 50
_CLEANUP_MOST = 10_000  # seed B, `memory_run_episode_cleanup`


async def memory_stats(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """How many memories there are in each state of their life, as far as the client may see them."""
    space = params.get("space")
    if space is not None:
        check_spaces(session, [space])
    found = await wait(engine.upkeep.stats(space, session.actor()))
    return {name: dict(counts) for name, counts in found.items()}


async def memory_audit_log(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """The last of what this client did, newest first."""
    found = await wait(engine.upkeep.audit(int(params.get("limit", _LAST)), session.actor()))
    return {
        "entries": [
            {
                "at": iso(deed.at),
                "verb": deed.verb,
                "id": deed.id or None,
                "kind": deed.kind or None,
                "space": deed.space or None,
                "detail": dict(deed.detail),
                "success": deed.success,
            }
            for deed in found
        ]
    }


async def memory_run_consolidation(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Run a consolidation, or tell what the next would do."""
    found = await wait(
        engine.upkeep.consolidate(
            session.actor(), dry_run=params.get("dry_run", False), request_id=params.get("request_id")
        )
    )
    return {"dry_run": found.dry_run, "planned": dict(found.planned), "changed": dict(found.changed)}


async def memory_run_episode_cleanup(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Archive this client's consolidated notes that are old or too many."""
    most = int(params.get("max_entries", _CLEANUP_MOST))
    done = await wait(engine.upkeep.tidy(most, session.actor(), params.get("request_id")))
    return {"expired_deleted": done.expired, "capacity_deleted": done.capacity, "remaining": done.remaining}


UPKEEP_METHODS: Mapping[str, Callable[[Engine, Params, Session], Awaitable[dict[str, Any]]]] = MappingProxyType(
    {
        "memory_stats": memory_stats,
        "memory_audit_log": memory_audit_log,
        "memory_run_consolidation": memory_run_consolidation,
        "memory_run_episode_cleanup": memory_run_episode_cleanup,
    }
)
