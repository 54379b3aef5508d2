"""The verbs on the conflict desk and the verdicts on one memory: conflicts, resolve, confirm, dispute, reinforce."""

from __future__ import annotations

from typing import Any

from core.engine.facade import Engine
from core.ipc.methods.memory_json import Shape, conflict, decided, judged
from core.ipc.methods.owner.base import Params, Progress, behind, shape_for, wait
from core.ipc.protocol.time_format import read
from core.types.reviews import Decision
from core.types.values import Action, Actor


def decision_of(params: Params) -> Decision:
    """The engine's decision of checked `resolve` or `memory_resolve_conflict` parameters.

    Args:
        params: already checked against the schema.

    Returns:
        The decision.

    Raises:
        UserError: INVALID_INPUT for a time that cannot be read.
    """
    return Decision(
        action=Action(params["action"]),
        text=params.get("text"),
        begin=read(params.get("from"), "from"),
        end=read(params.get("to"), "to"),
        when=params.get("when"),
        remember=params.get("remember", False),
    )


async def listed(engine: Engine, params: Params, actor: Actor, shape: Shape) -> dict[str, Any]:
    """The items of the desk as JSON.

    Args:
        engine: the engine.
        params: `all` and `after`.
        actor: who asks.
        shape: how memories are shown to it.

    Returns:
        `{conflicts}`.
    """
    found = await wait(engine.conflicts.listed(actor, everything=params.get("all", False)))
    return {"conflicts": behind([conflict(item, shape) for item in found], params.get("after"))}


async def settled(engine: Engine, params: Params, actor: Actor) -> dict[str, Any]:
    """Carry a decision out.

    Args:
        engine: the engine.
        params: already checked against the schema.
        actor: who decides.

    Returns:
        What came of it.
    """
    decision = decision_of(params)
    done = await wait(engine.conflicts.resolve(params["id"], decision, actor, params.get("request_id")))
    return decided(params["id"], decision.action, done)


async def conflicts(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """What waits for a decision, and with `all` what was decided."""
    return await listed(engine, params, actor, shape_for(engine, exact=True))


async def resolve(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Decide one item."""
    return await settled(engine, params, actor)


async def turn_down(engine: Engine, params: Params, _actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Turn down all that one client proposed or asked for."""
    done = await wait(engine.conflicts.turn_down(params["name"]))
    return {"name": params["name"], "step": done.step_id, "items": done.items, "left": done.left}


async def confirm(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Confirm one memory."""
    return judged(await wait(engine.memories.confirm(params["id"], actor)), shape_for(engine, exact=True))


async def dispute(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Dispute one memory."""
    done = await wait(engine.memories.dispute(params["id"], actor, params.get("reason")))
    return judged(done, shape_for(engine, exact=True))


async def reinforce(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Reinforce one memory."""
    return judged(await wait(engine.memories.reinforce(params["id"], actor)), shape_for(engine, exact=True))
