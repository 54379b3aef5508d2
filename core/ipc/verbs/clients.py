"""The verbs on clients: pair, revoke, clients."""

from __future__ import annotations

from typing import Any

from core.ipc.moments import iso
from core.ipc.ports import Engine
from core.ipc.verbs.base import Params, Progress, wait
from core.security.handshake import encode_value
from core.types.replies import ClientRecord
from core.types.values import Actor


async def pair(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Make a client directly; its token is in the reply and nowhere else."""
    made = await wait(engine.clients.pair(params["name"], params.get("grants", ()), params.get("limit"), actor))
    return {"client": made.name, "token": encode_value(made.token), "grants": present_grants(engine, made.name)}


def present_grants(engine: Engine, name: str) -> list[str]:
    """What a client may do now, as grants are written."""
    record = engine.clients.authenticator().token_for(name)
    return [] if record is None else grants_of(record)


async def revoke(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Revoke a client."""
    return {"client": params["name"], "id": await wait(engine.clients.revoke(params["name"], actor)), "revoked": True}


async def clients(engine: Engine, _params: Params, _actor: Actor, _progress: Progress) -> dict[str, Any]:
    """All clients; never a token."""
    return {"clients": [_shown(record) for record in await wait(engine.clients.list())]}


def grants_of(record: ClientRecord) -> list[str]:
    """A client's grants as they are written: words, then `space:<name>`."""
    return [*sorted(record.grants), *(f"space:{name}" for name in record.spaces)]


def _shown(record: ClientRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "name": record.name,
        "grants": grants_of(record),
        "spaces": list(record.spaces),
        "trust_ceiling": record.trust_ceiling,
        "limits": {"searches_per_minute": record.limit_minute, "searches_per_session": record.limit_session},
        "paired_at": iso(record.paired_at),
        "last_seen_at": iso(record.last_seen_at),
        "state": "revoked" if record.revoked else "paused" if record.paused else "paired",
    }
