"""The methods of clients on sessions: turn_begin, turn_end, capture, compaction_ingest, session_close.

A reply tells counts, ids and what was not kept, in words; the context in it is that of memory_context. Must not do:
decide what is kept, or take whose words a message is from anything but its role.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

from core.engine.facade import Engine
from core.errors import Code, UserError
from core.ipc.methods import memory_json
from core.ipc.methods.client_checks import check_spaces, check_target
from core.ipc.methods.owner.base import Params, shape_for, wait
from core.ipc.protocol.sessions import Session
from core.ipc.protocol.time_format import read
from core.types.sessions import Captured, CaptureRequest, Message, Outcome, SummaryRequest, TurnEnd, TurnQuery
from core.types.values import Source

_SOURCES = {"user": Source.USER_IMPLICIT, "assistant": Source.INFERENCE, "tool": Source.TOOL_OUTPUT}
_LEFT_OUT = "Messages are kept word for word only with the grant write; ask the person for it."


async def turn_begin(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Begin a turn: what is remembered of its prompt, in what the model can take."""
    check_spaces(session, params.get("spaces", ()))
    if not params["prompt"].strip():
        raise UserError(Code.INVALID_QUERY, "The prompt is empty; write what the assistant is asked.")
    budget = params.get("token_budget")
    query = TurnQuery(
        prompt=params["prompt"],
        session=params["session"],
        model=params.get("model"),
        budget=None if budget is None else int(budget),
        spaces=tuple(params["spaces"]) if "spaces" in params else None,
    )
    begun = await wait(engine.sessions.begin(query, session.actor(query.session)))
    return {
        **memory_json.context(begun.reply, shape_for(engine, exact=session.owner)),
        "turn": begun.turn,
        "budget": begun.budget,
        "window": begun.window,
        "model_known": begun.known,
        "at_hand": begun.at_hand,
        "resumed": begun.resumed.value,
    }


async def turn_end(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """End a turn and keep what was said in it."""
    request = TurnEnd(
        session=params["session"],
        turn=params.get("turn"),
        messages=_turn(params),
        outcome=Outcome(params.get("outcome", Outcome.DONE.value)),
        space=_space(params, session),
        request_id=params.get("request_id"),
    )
    ended = await wait(engine.sessions.end(request, session.actor(request.session)))
    told = {"turn": ended.turn or None, "begun": ended.begun, "outcome": request.outcome.value}
    return {**told, **_captured(ended.captured), "at_hand": ended.at_hand}


async def capture(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Keep messages of a conversation."""
    request = CaptureRequest(
        session=params["session"],
        messages=tuple(_message(one) for one in params["messages"]),
        space=_space(params, session),
        request_id=params.get("request_id"),
    )
    return _captured(await wait(engine.sessions.capture(request, session.actor(request.session))))


async def compaction_ingest(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Keep what is left of messages that a session drops."""
    request = SummaryRequest(
        session=params["session"],
        text=params["summary"],
        space=_space(params, session),
        request_id=params.get("request_id"),
    )
    kept = await wait(engine.sessions.summary(request, session.actor(request.session)))
    return {
        "extracted": kept.extracted,
        "stored": kept.stored,
        "skipped": kept.skipped,
        "proposed": kept.proposed,
        "ids": list(kept.ids),
    }


async def session_close(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Close a session."""
    closed = await wait(
        engine.sessions.close(params["session"], session.actor(params["session"]), params.get("request_id"))
    )
    return {"saved": closed.saved, "ended": closed.ended}


def _space(params: Params, session: Session) -> str | None:
    space: str | None = params.get("space")
    check_target(session, space)
    return space


def _turn(params: Params) -> tuple[Message, ...]:
    """A turn's messages in the order in which they came: the person, the tools, the assistant."""
    said: list[Mapping[str, Any]] = []
    if "user" in params:
        said.append({"role": "user", "text": params["user"]})
    said += [{"role": "tool", "text": one["text"], "name": one["name"]} for one in params.get("tools", ())]
    if "assistant" in params:
        said.append({"role": "assistant", "text": params["assistant"]})
    return tuple(_message(one) for one in said)


def _message(one: Mapping[str, Any]) -> Message:
    return Message(
        text=one["text"],
        source=_SOURCES[one["role"]],
        author=one.get("name"),
        occurred=read(one.get("time"), "time"),
        ref=one.get("ref"),
    )


def _captured(kept: Captured) -> dict[str, Any]:
    told: dict[str, Any] = {
        "conversation": kept.conversation or None,
        "episodes": kept.episodes,
        "skipped": kept.skipped,
        "extracted": kept.extracted,
        "stored": kept.stored,
        "proposed": kept.proposed,
        "left_out": kept.left_out,
        "ids": list(kept.ids),
    }
    return {**told, "note": _LEFT_OUT} if kept.left_out else told


SESSION_METHODS: Mapping[str, Callable[[Engine, Params, Session], Awaitable[dict[str, Any]]]] = MappingProxyType(
    {
        "turn_begin": turn_begin,
        "turn_end": turn_end,
        "capture": capture,
        "compaction_ingest": compaction_ingest,
        "session_close": session_close,
    }
)
