"""The methods of clients that change memories: update, delete, forget, feedback, marks, relate; and memory_history.

What a client may not do by itself is answered PROPOSED, with the review item that waits for the person. Must not do:
say who may do what (the engine does), or tell a client of a version it may not see.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

from core.engine.facade import Engine
from core.errors import Code, UserError
from core.ipc.methods.memory_json import Shape
from core.ipc.methods.owner.base import Params, behind, shape_for, wait
from core.ipc.protocol.sessions import Session
from core.ipc.protocol.time_format import iso
from core.types.memory import ChangeReply, Judgement, Related, Relationship, Wish
from core.types.values import Kind, Memory, Status

_STANDS = frozenset({Status.ACTIVE, Status.DISPUTED})


async def memory_update(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Give a memory another text."""
    return _changed(
        await wait(
            engine.changes.update(
                params["id"], params["text"], session.actor(), params.get("reason"), _kind(params), _request(params)
            )
        )
    )


async def memory_delete(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Delete one memory softly."""
    return await _removed(engine, params, session, Wish.DELETE)


async def memory_forget(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Forget one memory; the person can undo it."""
    return await _removed(engine, params, session, Wish.FORGET)


async def _removed(engine: Engine, params: Params, session: Session, wish: Wish) -> dict[str, Any]:
    reason, request = params.get("reason"), _request(params)
    return _changed(
        await wait(engine.changes.remove(params["id"], session.actor(), wish, reason, _kind(params), request))
    )


async def memory_feedback(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Say whether a memory helped; of a rule from whoever may write it is a mark."""
    return _judged(
        await wait(
            engine.changes.feedback(
                params["id"],
                session.actor(),
                helpful=params["helpful"],
                reason=params.get("reason"),
                kind=_kind(params),
                request_id=_request(params),
            )
        )
    )


async def memory_mark_helpful(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """A rule was applied and it helped."""
    return await _marked(engine, params, session, helpful=True)


async def memory_mark_harmful(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """A rule was applied and it harmed."""
    return await _marked(engine, params, session, helpful=False)


async def _marked(engine: Engine, params: Params, session: Session, *, helpful: bool) -> dict[str, Any]:
    marked = engine.changes.mark(
        params["id"],
        session.actor(),
        helpful=helpful,
        reason=params.get("reason"),
        kind=_kind(params),
        request_id=_request(params),
    )
    return _judged(await wait(marked))


async def memory_relate(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Relate two memories."""
    kind = Relationship(params["relationship"])
    ends = (params["source_id"], params["target_id"])
    return _related(await wait(engine.changes.relate(*ends, kind, session.actor(), _request(params))))


async def memory_history(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """All versions of a memory that the caller may see, the oldest first, and the one that stands (seed D)."""
    versions = await wait(engine.memories.history(params["id"], session.actor()))
    wanted = _kind(params)
    if wanted is not None and all(one.kind is not wanted for one in versions):
        raise UserError(Code.NOT_FOUND, "There is no such memory.")
    shape = shape_for(engine, exact=session.owner)
    seen = frozenset(one.id for one in versions)
    told = [_version(one, shape, seen) for one in versions]
    stands = next((told[at] for at in range(len(told) - 1, -1, -1) if versions[at].status in _STANDS), None)
    return {"versions": behind(told, params.get("after")), "current": stands}


def _version(memory: Memory, shape: Shape, seen: frozenset[str]) -> dict[str, Any]:
    """One version: when it was true, when it was believed, and what took its place, as far as the caller sees that."""
    after = memory.superseded_by_id
    told = shape.memory(memory)
    told |= {  # in place: it may be one that is not shown, and is known by that
        "version": memory.version,
        "valid_from": iso(memory.valid_from),
        "valid_to": iso(memory.valid_to),
        "retired_at": iso(memory.retired_at),
        "superseded_by": after if after in seen else None,
    }
    return told


def _kind(params: Params) -> Kind | None:
    wanted = params.get("memory_type")
    return None if wanted is None else Kind(wanted)


def _request(params: Params) -> str | None:
    found: str | None = params.get("request_id")
    return found


def _changed(reply: ChangeReply) -> dict[str, Any]:
    return {
        "operation": reply.operation,
        "memory_id": reply.memory_id,
        "deduplicated": reply.deduplicated,
        "superseded": list(reply.superseded),
        "conflict": reply.conflict,
        "merged": False,
        "step": reply.step_id,
    }


def _judged(reply: Judgement) -> dict[str, Any]:
    return {
        "id": reply.memory_id,
        "signal": reply.signal,
        "marked": reply.marked,
        "maturity": reply.maturity,
        "step": reply.step_id,
        "conflict": reply.conflict,
    }


def _related(reply: Related) -> dict[str, Any]:
    return {
        "id": reply.id,
        "source_id": reply.from_id,
        "target_id": reply.to_id,
        "relationship": reply.relationship,
        "deduplicated": reply.deduplicated,
        "step": reply.step_id,
    }


CHANGE_METHODS: Mapping[str, Callable[[Engine, Params, Session], Awaitable[dict[str, Any]]]] = MappingProxyType(
    {
        "memory_update": memory_update,
        "memory_delete": memory_delete,
        "memory_forget": memory_forget,
        "memory_feedback": memory_feedback,
        "memory_mark_helpful": memory_mark_helpful,
        "memory_mark_harmful": memory_mark_harmful,
        "memory_relate": memory_relate,
        "memory_history": memory_history,
    }
)
