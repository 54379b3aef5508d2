"""The verb that cannot be undone: erase, and what it would take."""

from __future__ import annotations

from typing import Any

from core.engine.facade import Engine
from core.ipc.methods.owner.base import Params, Progress, wait
from core.types.values import Actor


async def erase(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Remove a memory for good; with `dry_run` only tell what would go. No text is in the reply."""
    ids, whole = [params["id"]], bool(params.get("whole_chain", False))
    told = await wait(engine.memories.erase_preview(ids, whole_chain=whole))
    reply: dict[str, Any] = {
        "id": params["id"],
        "erased": False,
        "memories": told.memories,
        "items": [{"id": one.id, "kind": one.kind, "space": one.space, "why": one.why} for one in told.items],
        "back": list(told.back),
        "versions": told.versions,
        "same_words": told.same_words,
        "backups": list(told.backups),
    }
    if params.get("dry_run", False):
        return reply
    done = await wait(engine.memories.erase(ids, actor, whole_chain=whole))
    return reply | {"erased": True, "memories": done.memories, "backups": list(done.backups)}
