"""Sessions of assistants: what they ask at a turn, what they bring, and what became of it. Frozen values.

Beside them the person's own conversation with a model of this machine (the Ask page).

Must not do: anything; there is no code here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from core.types.belief import ModelServerState
from core.types.recall import ContextReply
from core.types.values import Memory, SecurityTier, Source, When


class Resumed(StrEnum):
    """In what state a session's working set came back (E17.5.5)."""

    NEW = "new"
    HELD = "held"
    WHOLE = "whole"
    FADED = "faded"
    GONE = "gone"


class Outcome(StrEnum):
    """How a turn ended."""

    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation, word for word.

    Attributes:
        text: never trimmed, never cut off.
        source: whose words: `user_implicit` the person's, `inference` an assistant's, `tool_output` a tool's.
        author: the tool's name, or another name.
        occurred: when it was said; None for now.
        ref: the caller's own reference.
    """

    text: str
    source: Source
    author: str | None = None
    occurred: When | None = None
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """Messages to be kept.

    Attributes:
        session: the conversation they belong to.
        messages: in the order in which they were said.
        space: a space's name; None for the actor's own.
        request_id: makes the call idempotent for this actor.
    """

    session: str
    messages: tuple[Message, ...]
    space: str | None = None
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """What is left of messages that a session drops (E13).

    Attributes:
        session: the session that was shortened.
        text: the summary.
        space: a space's name; None for the actor's own.
        request_id: makes the call idempotent for this actor.
    """

    session: str
    text: str
    space: str | None = None
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class Captured:
    """What became of messages or of a summary.

    Attributes:
        conversation: the conversation's id; "" where no message was kept.
        episodes: messages (or statements of a summary) kept word for word.
        skipped: those that were not: empty, repeated, an echo of what the client was given, or one question too many.
        left_out: messages that were not kept because the client may only propose.
        extracted: statements that were found.
        stored: of them, those that stand now as memories of their own.
        proposed: facts that wait for the person, and messages that do because they read like an instruction.
        ids: memories that hold what was brought, of a split text the head.
        facts: of them, the facts that stand now.
        step_id: the undo step; "" for what a turn ended with.
    """

    conversation: str = ""
    episodes: int = 0
    skipped: int = 0
    left_out: int = 0
    extracted: int = 0
    stored: int = 0
    proposed: int = 0
    ids: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    step_id: str = ""


@dataclass(frozen=True, slots=True)
class TurnQuery:
    """What a turn begins with.

    Attributes:
        prompt: what the assistant is about to answer; never logged.
        session: the session it answers in.
        model: the model that will read the context; its size sets the budget.
        budget: tokens the caller wants; None for the share of the model.
        spaces: names of spaces; None for every space the actor may see.
    """

    prompt: str
    session: str
    model: str | None = None
    budget: int | None = None
    spaces: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class TurnBegun:
    """A turn that is open until it is ended, its session is closed, or the client goes.

    Attributes:
        turn: its id.
        reply: the context.
        window: tokens the model is taken to read at once.
        budget: tokens the context could have.
        known: whether the model was known by its name.
        at_hand: how many memories the session has at hand now.
        resumed: in what state its working set came back.
    """

    turn: str
    reply: ContextReply
    window: int
    budget: int
    known: bool
    at_hand: int
    resumed: Resumed


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """What a turn ended with.

    Attributes:
        session: the session.
        turn: the turn; None for the one that is open in the session.
        messages: what was said in it; none where nothing is to be kept.
        outcome: how it ended.
        space: as in `CaptureRequest`; `request_id` likewise, the turn's id where it is left out.
    """

    session: str
    turn: str | None = None
    messages: tuple[Message, ...] = ()
    outcome: Outcome = Outcome.DONE
    space: str | None = None
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """What became of a turn.

    Attributes:
        turn: its id; "" where none was open.
        begun: whether it was open when it was ended.
        captured: what was kept.
        at_hand: how many memories the session has at hand.
    """

    turn: str
    begun: bool
    captured: Captured
    at_hand: int


@dataclass(frozen=True, slots=True)
class SessionClosed:
    """What closing a session did.

    Attributes:
        saved: how many memories it had at hand; they are kept for when it comes back.
        ended: turns that were open.
    """

    saved: int
    ended: int


TIERS: tuple[str, ...] = tuple(tier.value for tier in SecurityTier)
"""Security tiers of memories, the least sensitive first."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was said in one turn.

    Attributes:
        user: by the person.
        assistant: by the model, as far as it came.
        tier: the most sensitive of what the answer rests on, the turns before it included.
    """

    user: str
    assistant: str
    tier: str = TIERS[0]


@dataclass(frozen=True, slots=True)
class AskOffer:
    """What the person can choose from before asking.

    Attributes:
        server: how the model server is.
        host: its address in words.
        is_local: whether it is this machine; only then may it be given what is not `cleartext`.
        models: names of those that can answer.
        chosen: the one that answers unless the person chooses another; "" where none can, which a server that is ready
            may say too.
        code: why it is failing, an E-code; "" otherwise.
        spaces: names of the spaces there are.
    """

    server: ModelServerState
    host: str
    is_local: bool = True
    models: tuple[str, ...] = ()
    chosen: str = ""
    code: str = ""
    spaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AskQuery:
    """A question of the person's.

    Attributes:
        prompt: the question; never logged.
        model: who answers; "" for nobody: the answer is the memories themselves.
        said: the turns before it, oldest first.
        spaces: names of the spaces that may be used; None for all.
        tiers: security tiers that a model may be given.
        before: the question before it, whose words one that goes on with it is searched with; "" for none.
    """

    prompt: str
    model: str = ""
    said: tuple[Exchange, ...] = ()
    spaces: tuple[str, ...] | None = None
    tiers: tuple[str, ...] = TIERS[:1]
    before: str = ""


class AnswerFit(StrEnum):
    """How well the memories found for a question answer it."""

    SURE = "sure"
    POSSIBLE = "possible"
    NEAREST = "nearest"
    """None is likely to answer it; these come closest."""


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """A memory that an answer may rest on.

    Attributes:
        number: by which the answer cites it, from 1.
        memory: as it stood.
        form: how it was given: `full`, `summary`, `key_fact` or `tag`.
        tier: its security tier.
        client: name of the client that brought it; None where none did.
        room: name of the palace's room in which it lies; "" while it has no place.
        answering: as in `core.types.recall.LabItem`.
    """

    number: int
    memory: Memory
    form: str = "full"
    tier: str = TIERS[0]
    client: str | None = None
    room: str = ""
    answering: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class PreparedAnswer:
    """All that an answer is made from; nothing was given to a model yet.

    Attributes:
        query: the question.
        sources: what was found for it, by number.
        messages: what the model reads, role and content each; empty where nobody answers.
        context: the fenced memories in it, as they stand there.
        window: tokens the model reads at once; 0 where nobody answers.
        left_out: why memories that were found are not among the sources: reason to count.
        receipt_id: of the recall.
        reason: why nothing was found, a sentence; "" where something was.
        host: the address the messages are for, in words.
        searched: the words that were searched for; a question that goes on with another has that one's too.
        fit: how well the sources answer it, where they are the answer.
    """

    query: AskQuery
    sources: tuple[AnswerSource, ...]
    messages: tuple[Mapping[str, str], ...] = ()
    context: str = ""
    window: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    receipt_id: str = ""
    reason: str = ""
    host: str = ""
    searched: str = ""
    fit: AnswerFit = AnswerFit.SURE
