"""The methods of clients on sessions: turn_begin, turn_end, capture, compaction_ingest, session_close.

A reply tells counts, ids and what was not kept, in words; the context in it is that of memory_context. Must not do:
decide what is kept, or take whose words a message is from anything but its role.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from core.errors import Code
from core.ipc.methods import memory_json
from core.ipc.methods.definition.entry import (
    Answer,
    ChannelParams,
    Entry,
    MemberOf,
    MessageParam,
    MessagePart,
    MethodCall,
    RequestId,
    SessionName,
    SpaceName,
    StoreSpace,
    ToolResults,
    await_future,
    check_prompt,
    check_space_writable,
    client_method,
    client_write,
)
from core.ipc.methods.definition.results import flag, list_of, nullable, one_of, record, ref, text, whole_number
from core.ipc.protocol.contract import parse_time_param
from core.types.sessions import Captured, CaptureRequest, Message, Outcome, SummaryRequest, TurnEnd, TurnQuery
from core.types.values import Source

_SOURCES = {"user": Source.USER_IMPLICIT, "assistant": Source.INFERENCE, "tool": Source.TOOL_OUTPUT}
_LEFT_OUT = "Messages are kept word for word only with the grant write; ask the person for it."


class TurnBeginParams(ChannelParams):
    """The parameters of `turn_begin`."""

    prompt: str
    session: SessionName
    model: str | None = Field(
        None,
        min_length=1,
        max_length=128,
        description="The model that will read the context: the budget is 12 % of what it reads at "
        "once, of 32000 tokens where it is not known.",
    )
    token_budget: int | None = Field(
        None,
        ge=0,
        le=100000,
        description="Tokens at most, instead of that share; never above 35 % of what the model reads at once.",
    )
    spaces: tuple[SpaceName, ...] | None = Field(None, min_length=1, max_length=64)


class TurnEndParams(ChannelParams):
    """The parameters of `turn_end`."""

    session: SessionName
    turn: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,63}$(?!\n)",
        description="From turn_begin; the open turn of the session where it is left out.",
    )
    user: str | None = Field(
        None,
        min_length=1,
        description="What the person said, with the weight of a message of the role `user`; with the "
        "rest at most 128 KiB of UTF-8.",
    )
    assistant: str | None = Field(None, min_length=1, description="What the assistant answered.")
    tools: ToolResults | None = None
    outcome: Annotated[Outcome, MemberOf()] = Field(Outcome.DONE, description="How the turn ended.")
    space: StoreSpace | None = None
    request_id: RequestId | None = None


class CaptureParams(ChannelParams):
    """The parameters of `capture`."""

    messages: tuple[MessageParam, ...] = Field(
        min_length=1,
        max_length=200,
        description="In the order in which they were said; together at most 128 KiB of UTF-8.",
    )
    session: SessionName
    space: StoreSpace | None = None
    request_id: RequestId | None = None


class CompactionIngestParams(ChannelParams):
    """The parameters of `compaction_ingest`."""

    summary: str = Field(min_length=1, description="At most 128 KiB of UTF-8 and 512 statements.")
    session: SessionName
    space: StoreSpace | None = None
    request_id: RequestId | None = None


class SessionCloseParams(ChannelParams):
    """The parameters of `session_close`."""

    session: SessionName
    request_id: RequestId | None = None


async def turn_begin(call: MethodCall, params: TurnBeginParams) -> Answer:
    """Begin a turn: what is remembered of its prompt, in what the model can take."""
    check_prompt(call.session, params.prompt, params.spaces or ())
    query = TurnQuery(
        prompt=params.prompt,
        session=params.session,
        model=params.model,
        budget=params.token_budget,
        spaces=params.spaces,
    )
    begun = await await_future(call.engine.sessions.begin_turn(query, call.actor(query.session)))
    return {
        **memory_json.context_json(begun.reply, call.shape),
        "turn": begun.turn,
        "budget": begun.budget,
        "window": begun.window,
        "model_known": begun.known,
        "at_hand": begun.at_hand,
        "resumed": begun.resumed.value,
    }


async def turn_end(call: MethodCall, params: TurnEndParams) -> Answer:
    """End a turn and keep what was said in it."""
    request = TurnEnd(
        session=params.session,
        turn=params.turn,
        messages=_turn_messages(params),
        outcome=params.outcome,
        space=_checked_space(call, params.space),
        request_id=params.request_id,
    )
    ended = await await_future(call.engine.sessions.end_turn(request, call.actor(request.session)))
    reply = {"turn": ended.turn or None, "begun": ended.begun, "outcome": request.outcome.value}
    return {**reply, **_capture_json(ended.captured), "at_hand": ended.at_hand}


async def capture_messages(call: MethodCall, params: CaptureParams) -> Answer:
    """Keep messages of a conversation."""
    request = CaptureRequest(
        session=params.session,
        messages=tuple(_message_from_part(one) for one in params.messages),
        space=_checked_space(call, params.space),
        request_id=params.request_id,
    )
    return _capture_json(
        await await_future(call.engine.sessions.capture_messages(request, call.actor(request.session)))
    )


async def compaction_ingest(call: MethodCall, params: CompactionIngestParams) -> Answer:
    """Keep what is left of messages that a session drops."""
    request = SummaryRequest(
        session=params.session,
        text=params.summary,
        space=_checked_space(call, params.space),
        request_id=params.request_id,
    )
    kept = await await_future(call.engine.sessions.keep_summary(request, call.actor(request.session)))
    return {
        "extracted": kept.extracted,
        "stored": kept.stored,
        "skipped": kept.skipped,
        "proposed": kept.proposed,
        "ids": list(kept.ids),
    }


async def session_close(call: MethodCall, params: SessionCloseParams) -> Answer:
    """Close a session."""
    closing = call.engine.sessions.close(params.session, call.actor(params.session), params.request_id)
    closed = await await_future(closing)
    return {"saved": closed.saved, "ended": closed.ended}


def _checked_space(call: MethodCall, space: str | None) -> str | None:
    check_space_writable(call.session, space)
    return space


def _turn_messages(params: TurnEndParams) -> tuple[Message, ...]:
    """A turn's messages in the order in which they came: the person, the tools, the assistant."""
    messages = [] if params.user is None else [Message(text=params.user, source=_SOURCES["user"])]
    messages += [Message(text=one.text, source=_SOURCES["tool"], author=one.name) for one in params.tools or ()]
    if params.assistant is not None:
        messages.append(Message(text=params.assistant, source=_SOURCES["assistant"]))
    return tuple(messages)


def _message_from_part(one: MessagePart) -> Message:
    return Message(
        text=one.text,
        source=_SOURCES[one.role],
        author=one.name,
        occurred=parse_time_param(one.time, "time"),
        ref=one.ref,
    )


def _capture_json(kept: Captured) -> Answer:
    reply: Answer = {
        "conversation": kept.conversation or None,
        "episodes": kept.episodes,
        "skipped": kept.skipped,
        "extracted": kept.extracted,
        "stored": kept.stored,
        "proposed": kept.proposed,
        "left_out": kept.left_out,
        "ids": list(kept.ids),
    }
    return {**reply, "note": _LEFT_OUT} if kept.left_out else reply


METHODS: tuple[Entry, ...] = (
    client_method(
        "turn_begin",
        "Begin a turn: what is remembered of its prompt, as memory_context gives it, "
        "within the share of the model that is named, with what the session has at hand. "
        "Counts as a search. The turn is open until turn_end, session_close or the end of "
        "the connection; another turn_begin of the session ends it.",
        TurnBeginParams,
        record(
            {
                "turn": text("What turn_end takes."),
                "budget": whole_number("Tokens the context could have.", least=0),
                "window": whole_number("Tokens the model is taken to read at once.", least=0),
                "model_known": flag(),
                "at_hand": whole_number("Memories the session has at hand.", least=0, most=9),
                "resumed": one_of(
                    "new",
                    "held",
                    "whole",
                    "faded",
                    "gone",
                    about="How the session's working set came back: whole within 4 hours, faded within 24, then gone.",
                ),
                "text": text("What the assistant reads; empty where nothing fits the budget."),
                "tokens": whole_number(least=0),
                "included": whole_number(least=0),
                "excluded": whole_number(least=0),
                "excluded_reasons": list_of(ref("excluded")),
                "receipt": text(),
                "tokenizer": text(),
                "exact": flag(),
                "memories?": list_of(ref("packed"), "To the owner."),
                "clarifying?": list_of(ref("clarifying"), most=2),
                "cut?": list_of(text()),
            },
            is_open=True,
        ),
        turn_begin,
        grants=("read",),
        errors=(Code.SEARCH_TIMEOUT, Code.RATE_LIMITED, Code.INVALID_QUERY, Code.ACCESS_DENIED, Code.BUSY),
        aliases={"trigger_prompt": "prompt", "session_id": "session"},
        search=True,
    ),
    client_write(
        "turn_end",
        "End a turn and keep what was said in it: messages word for word as one "
        "conversation a session, and what the person says of themselves as facts. A turn "
        "that was not open is told as such; what it brings is kept all the same. The same "
        "turn ended twice is kept once.",
        TurnEndParams,
        record(
            {
                "turn": nullable(text()),
                "begun": flag("Whether the turn was open."),
                "outcome": one_of("done", "failed", "cancelled"),
                "at_hand": whole_number(least=0, most=9),
                "conversation": nullable(text()),
                "episodes": whole_number("Messages that were kept.", least=0),
                "skipped": whole_number(
                    "What was empty or known, came from Loci itself, or would have to wait behind as "
                    "many questions of this client as the person wants to see. A client that may not "
                    "read is told of what was known or erased as of what was kept, under ids that may "
                    "lead nowhere.",
                    least=0,
                ),
                "extracted": whole_number("Facts that were found.", least=0),
                "stored": whole_number("Facts that stand now.", least=0),
                "proposed": whole_number("Facts that wait for the person.", least=0),
                "left_out": whole_number("Messages that were not kept for want of a grant.", least=0),
                "ids": list_of(text()),
                "note?": text(),
                "cut?": list_of(text()),
            }
        ),
        turn_end,
        grants=("read", "write", "propose"),
        errors=(
            Code.ACCESS_DENIED,
            Code.TEXT_TOO_LARGE,
        ),
        aliases={"session_id": "session"},
    ),
    client_write(
        "capture",
        "Keep messages of a conversation as turn_end does. A client that may only propose "
        "leaves the facts in them for review; the messages are not kept.",
        CaptureParams,
        record(
            {
                "conversation": nullable(text()),
                "episodes": whole_number(least=0),
                "skipped": whole_number(least=0),
                "extracted": whole_number(least=0),
                "stored": whole_number(least=0),
                "proposed": whole_number(least=0),
                "left_out": whole_number(least=0),
                "ids": list_of(text()),
                "note?": text(),
                "cut?": list_of(text()),
            }
        ),
        capture_messages,
        grants=("write", "propose"),
        errors=(
            Code.ACCESS_DENIED,
            Code.TEXT_TOO_LARGE,
        ),
        aliases={"session_id": "session"},
    ),
    client_write(
        "compaction_ingest",
        "Keep what is left of messages that a session drops: its summary, cut into "
        "statements, each an episode. What was kept in the last hour, or in the same "
        "words before, is not kept again.",
        CompactionIngestParams,
        record(
            {
                "extracted": whole_number("Statements that were found.", least=0),
                "stored": whole_number(least=0),
                "skipped": whole_number(least=0),
                "proposed": whole_number(
                    "Statements that wait for the person: they read like an instruction.", least=0
                ),
                "ids": list_of(text()),
                "cut?": list_of(text()),
            }
        ),
        compaction_ingest,
        grants=("write",),
        errors=(
            Code.ACCESS_DENIED,
            Code.TEXT_TOO_LARGE,
        ),
        aliases={"text": "summary", "session_id": "session"},
    ),
    client_write(
        "session_close",
        "Close a session: what it has at hand is kept for when it comes back, an open "
        "turn ends. The same happens when the connection ends, the vault is locked, or "
        "the session is silent for half an hour.",
        SessionCloseParams,
        record(
            {
                "saved": whole_number("Memories it has at hand.", least=0),
                "ended": whole_number("Turns that were open.", least=0),
            }
        ),
        session_close,
        grants=("read", "write", "propose"),
        aliases={"session_id": "session"},
    ),
)
