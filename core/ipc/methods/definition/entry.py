"""One row of the table of methods: what it takes and answers, who may call it, and what is refused to a client first.

What it takes is a model of parameters: their base and the types that several methods share stand first. A model gives
the published schema, which is what is checked (`core.ipc.protocol.contract`), and reads what passed. A client is
refused spaces out of its reach, texts too long and another's word before the engine is asked. Must not do: check what
was sent, or decide what the engine decides: it looks at the scope of every query once more.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from core.engine.facade import Engine
from core.errors import BugError, Code, UserError
from core.ipc.methods.definition.results import Schema
from core.ipc.methods.memory_json import Shape
from core.ipc.protocol.contract import Registry
from core.ipc.protocol.messages import BadMessage, check_message_text
from core.ipc.protocol.sessions import OWNER_SESSION, Session
from core.types.requests import PLAIN, Extras, StoreRequest
from core.types.values import (
    GLOBAL_SPACE,
    Action,
    Actor,
    Grant,
    ImportFormat,
    Intent,
    Kind,
    SecurityTier,
    Source,
    Status,
)

SHARED = "x-shared"
"""The key under which the name of a shared definition stands, until `packaging/make_protocol.py` draws it out."""

UNPUBLISHED = "x-unpublished"
"""The mark of a default that the protocol does not tell."""


@dataclass(frozen=True, slots=True)
class Shared:
    """A type that has a definition of its own in `$defs`.

    Attributes:
        name: the definition's.
        about: what it is.
        schema: instead of the one that follows from the type. Of a number with bounds, so that one that is none (NaN,
            which no line can hold) comes to the method's own check.
    """

    name: str
    about: str = ""
    schema: Mapping[str, Any] | None = field(default=None, hash=False)

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Name the definition and give it."""
        schema = dict(handler(core) if self.schema is None else self.schema)
        if self.about:
            schema["description"] = self.about
        return {SHARED: self.name, "schema": schema}


@dataclass(frozen=True, slots=True)
class MemberOf:
    """A parameter that is a member of its type, an enumeration: the values are told in the enumeration's order.

    Attributes:
        without: members that it may not be.
    """

    without: tuple[StrEnum, ...] = ()

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Tell the values, without the name that the enumeration has in the code."""
        values = handler.resolve_ref_schema(handler(core))["enum"]
        return {"enum": [value for value in values if value not in self.without], "type": "string"}


def unpublished_field(default: Any, **rules: Any) -> Any:
    """A field with a default that the protocol does not tell."""
    return Field(default, json_schema_extra={UNPUBLISHED: True}, **rules)


class Params(BaseModel):
    """What a method is sent. None stands for what was left out: no parameter may be null."""

    # A Rust expression knows no look-ahead, and most models are needed by no call of this process.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, regex_engine="python-re")

    @classmethod
    def read(cls, checked: Mapping[str, Any]) -> Self:
        """Give checked parameters their types.

        Args:
            checked: already checked against the published schema.

        Returns:
            The same, typed.

        Raises:
            UserError: INVALID_INPUT for what is right by the schema and yet no value of the type.
        """
        try:
            return cls.model_validate(dict(checked))
        except ValidationError as error:
            where = ".".join(str(part) for part in error.errors()[0]["loc"])
            raise UserError(Code.INVALID_INPUT, f"`{where}` has a form that is not allowed.") from None


class NoParams(Params):
    """A method that takes nothing."""


MemoryId = Annotated[str, Field(min_length=1, max_length=64), Shared("id", "A memory's id (UUIDv7 text).")]
Cursor = Annotated[
    str, Field(min_length=1, max_length=256), Shared("cursor", "The `next` of an earlier reply to the same call.")
]
ClientName = Annotated[str, Field(min_length=1, max_length=1000), Shared("client_name", "A client's name.")]
SpaceName = Annotated[str, Field(min_length=1, max_length=128), Shared("space_name", "A space's name.")]
StoreSpace = Annotated[
    str,
    Field(min_length=1, max_length=128),
    Shared(
        "store_space",
        "The space it goes to; of a client one that it was granted. Without it a client's "
        "goes to its own, `client:<name>`, which other clients do not see, the owner's to "
        "`home`.",
    ),
]
SessionName = Annotated[
    str, Field(min_length=1, max_length=256), Shared("session_name", "The session or conversation the call belongs to.")
]
RequestId = Annotated[
    str,
    Field(min_length=1, max_length=128),
    Shared("request_id", "Makes the call idempotent: the same id is carried out once."),
]
ImportanceShare = Annotated[
    float, Shared("importance", "0 (trivial) to 1 (critical).", schema={"type": "number", "minimum": 0, "maximum": 1})
]
Fraction = Annotated[float, Shared("fraction", schema={"type": "number", "minimum": 0, "maximum": 1})]
Reference = Annotated[
    str, Field(min_length=1, max_length=512), Shared("ref", "The caller's own reference; comes back with every item.")
]
PermanenceName = Annotated[
    Literal["permanent", "stable", "standard", "volatile", "ephemeral"],
    Shared("permanence", "How long it goes on being true; read from the text where it is left out."),
]
ChannelName = Annotated[
    str,
    Field(min_length=1, max_length=32, pattern=r"^[a-z0-9][a-z0-9_-]*$"),
    Shared(
        "channel",
        "The channel this client speaks for in this call, like discord. What is stored "
        "then is limited to it, and of such memories only those of the channel that is "
        "named are seen.",
    ),
]
ChannelUser = Annotated[
    str,
    Field(min_length=1, max_length=161),
    Shared("channel_user", "The person on that channel, like user123 or discord:user123; no blanks. Needs `channel`."),
]
NoChannelName = Annotated[
    str,
    Field(min_length=1, max_length=32, pattern=r"^[a-z0-9][a-z0-9_-]*$"),
    Shared(
        "no_channel",
        "Refused (E4001): what is known of an entity belongs to its space, and every channel of that space sees it.",
    ),
]
NoChannelUser = Annotated[
    str, Field(min_length=1, max_length=161), Shared("no_channel_user", "Refused (E4001), as `channel` is.")
]
KindParam = Annotated[Kind, MemberOf(), Shared("kind")]
NewKindParam = Annotated[Kind, MemberOf(without=(Kind.DIGEST,)), Shared("new_kind")]
SourceParam = Annotated[
    Source,
    MemberOf(),
    Shared(
        "source",
        "By what way it came. `tool_output` is what a tool told the client itself; "
        "`system` is Loci's own and refused to clients (E4006), and `user_explicit` takes "
        "the grant speak_for_user.",
    ),
]
StatusParam = Annotated[Status, MemberOf(), Shared("status")]
ClientStatusParam = Annotated[Status, MemberOf(without=(Status.DELETED,)), Shared("client_status")]
TierParam = Annotated[SecurityTier, MemberOf(), Shared("tier", "How well a memory is protected.")]
ModeName = Annotated[Literal["hybrid", "semantic", "keyword"], Shared("mode")]
IntentParam = Annotated[
    Intent,
    MemberOf(),
    Shared("intent", "What kind of answer is asked for."),
]
DayText = Annotated[
    str, Field(min_length=1, max_length=64), Shared("day", "A day in this machine's zone, like 2026-01-31.")
]
CategoryName = Annotated[str, Field(min_length=1, max_length=64), Shared("category")]
TagNames = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=128)], ...], Field(max_length=64), Shared("tags")
]
TimeText = Annotated[
    str | int | float,
    Shared(
        "time",
        "ISO 8601 (UTC where no zone is written) or an epoch number.",
        schema={"type": ["string", "number"], "maxLength": 64},
    ),
]
FormatName = Annotated[ImportFormat, Shared("format")]
AbsolutePath = Annotated[str, Field(min_length=1, max_length=4096), Shared("path", "An absolute path on this machine.")]
Base64Text = Annotated[
    str,
    Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9_-]+={0,2}$"),
    Shared("base64", "base64url, padding optional."),
]
GrantName = Annotated[
    str,
    Field(max_length=160, pattern=r"^(read|propose|write|curate|speak_for_user|sensitive|all_spaces|space:.{1,128})$"),
    Shared("grant", "One grant."),
]
GrantNames = Annotated[tuple[GrantName, ...], Field(min_length=1, max_length=64), Shared("grants")]
MinuteLimit = Annotated[
    Annotated[int, Field(ge=1, le=100000)] | Literal["none"],
    Shared("limit_minute", "Searches a minute; `none` lifts the session limit too."),
]


class ClaimPart(Params):
    """A structured reading of a text."""

    subject: str = Field(min_length=1, max_length=1024)
    predicate: str = Field(min_length=1, max_length=64)
    value: str = Field(min_length=1, max_length=1024)
    exclusive: bool = unpublished_field(default=False)
    polarity: Literal["positive", "negative"] | None = None
    scope: Literal["global", "session", "temporal"] | None = Field(
        None,
        description="`session`: true only in the session of the call, which must be named; it "
        "replaces nothing outside.",
    )
    qualifiers: dict[str, Annotated[str, Field(max_length=256)]] | None = Field(None, max_length=16)
    valid_from: TimeText | None = None
    valid_to: TimeText | None = None


ClaimParam = Annotated[ClaimPart, Shared("claim", "A structured reading of the text.")]
EntityId = Annotated[str, Field(min_length=1, max_length=64), Shared("entity_id", "An entity's id (UUIDv7 text).")]
EntityName = Annotated[
    str, Field(min_length=1, max_length=80), Shared("entity_name", "Has a letter or a digit, and no line break.")
]
EntityType = Annotated[
    Literal[
        "concept", "file", "organization", "other", "person", "pet", "place", "project", "service", "technology", "work"
    ],
    Shared("entity_type"),
]
EntityAliases = Annotated[tuple[EntityName, ...], Field(max_length=64), Shared("entity_aliases", "All other names.")]
EntityMetadata = Annotated[
    dict[str, Any],
    Field(max_length=64),
    Shared("entity_metadata", "What else is known, in the caller's own words; 8 KiB at most."),
]
ConflictId = Annotated[
    str,
    Field(min_length=8, max_length=64),
    Shared(
        "conflict_id",
        "A conflict's id, or eight characters or more of its beginning or its end, where only one has them.",
    ),
]
ActionParam = Annotated[
    Action,
    MemberOf(),
    Shared("action", "supersede takes the newcomer (accepts it, where it is alone), reject keeps what stands."),
]


class MessagePart(Params):
    """One message of a conversation."""

    role: Literal["user", "assistant", "tool"] = Field(
        description="Whose words: the person's, the assistant's, a tool's. From a client without "
        "`speak_for_user`, `user` is its own account of what the person said: it is kept "
        "under the client's name and trust, and nothing takes it for the person's word."
    )
    text: str = Field(min_length=1, description="Word for word.")
    name: str | None = Field(
        None, min_length=1, max_length=128, description="The tool's name, or another name of who speaks."
    )
    time: TimeText | None = Field(None, description="When it was said; now where it is left out.")
    ref: str | None = Field(None, min_length=1, max_length=512, description="The caller's own reference.")


MessageParam = Annotated[MessagePart, Shared("message", "One message of a conversation.")]


class ToolResult(Params):
    """What a tool gave back."""

    name: str = Field(min_length=1, max_length=128, description="The tool.")
    text: str = Field(min_length=1, description="What it gave back.")


ToolResults = Annotated[
    tuple[ToolResult, ...], Field(max_length=64), Shared("tool_results", "What tools gave back in the turn.")
]
VerdictReason = Annotated[str, Field(min_length=1, max_length=512), Shared("verdict_reason", "Why, in a few words.")]


class ChannelParams(Params):
    """What a client may send with most calls: whom it speaks for. Published behind the method's own."""

    channel: ChannelName | None = None
    channel_user: ChannelUser | None = None


class NoChannelParams(Params):
    """Of a method that is refused to who speaks for a channel."""

    channel: NoChannelName | None = None
    channel_user: NoChannelUser | None = None


class IdParams(Params):
    """A call about one memory."""

    id: MemoryId

    def make_extras(self) -> Extras:
        """What the call brings along: nothing."""
        return PLAIN


class NameParams(Params):
    """A call about one client."""

    name: ClientName


class ExtrasParams(ChannelParams):
    """What a client may bring along with a call about one memory."""

    memory_type: KindParam | None = Field(None, description="The memory must be of this kind.")
    request_id: RequestId | None = None

    def make_extras(self) -> Extras:
        """What the call brings along."""
        return Extras(self.memory_type, self.request_id)


class MemoryParams(ExtrasParams, IdParams):
    """A client's call about one memory."""


def absolute_path(text: str, field: str) -> Path:
    """A path that means the same in every process.

    Args:
        text: as sent.
        field: the parameter's name, for the error.

    Raises:
        UserError: INVALID_INPUT for a relative one.
    """
    path = Path(text)
    if not path.is_absolute():
        raise UserError(Code.INVALID_INPUT, f"`{field}` must be an absolute path.")
    return path


T = TypeVar("T")

Answer = dict[str, Any]
Effect = Literal["read", "write", "session"]
Paged = Literal["again", "id"]

_SPELT: Mapping[str, str] = MappingProxyType({"channel_user_id": "channel_user"})
_CLIENT_ERRORS = (Code.VAULT_LOCKED, Code.INVALID_INPUT, Code.UNAUTHENTICATED, Code.MALFORMED_MESSAGE)
_WRITE_ERRORS = (Code.BUSY, Code.DISK_FULL, Code.WRITE_FAILED)
_OWNER_ERRORS = (Code.VAULT_LOCKED, Code.INVALID_INPUT, Code.MALFORMED_MESSAGE)

TEXT_BYTES = 8 * 1024  # design section 8, texts of store methods
_CHANNEL = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}", re.ASCII)
_USER = re.compile(r"[^\s\x00-\x1f\x7f]{1,128}")


class CallProgress:
    """Reports of one call. May be used on any thread."""

    def __init__(self, report: Callable[[str, int, int | None], None] | None = None) -> None:
        """Make it.

        Args:
            report: told what is done, in words without memory text, units done, and units in all (None while unknown).
        """
        self._report = report
        self._stopped = threading.Event()

    def report_progress(self, label: str, done: int, total: int | None) -> None:
        """Report how far the work is."""
        if self._report is not None:
            self._report(label, done, total)

    def cancel(self) -> None:
        """Ask the work to stop at its next safe point."""
        self._stopped.set()

    def is_cancelled(self) -> bool:
        """Whether the person wants it stopped."""
        return self._stopped.is_set()


@dataclass(frozen=True, slots=True)
class MethodCall:
    """One call, as what carries it out sees it.

    Attributes:
        engine: an engine on any loop.
        session: who asks.
        exact: whether it is answered as the command line is: with everything there is.
        progress: how a long call reports, and learns that it should stop.
    """

    engine: Engine
    session: Session
    exact: bool = False
    progress: CallProgress = field(default_factory=CallProgress)

    def actor(self, session: str | None = None) -> Actor:
        """Who asks, in a session of its own where it names one; a call of the command line stands in none."""
        actor = self.session.actor
        return actor if self.exact or session is None else replace(actor, session=session)

    @property
    def shape(self) -> Shape:
        """How memories are shown to who asks."""
        return Shape(exact=self.session.actor.is_owner, name_of=self.engine.authority.name_of)


Run = Callable[[MethodCall, Any], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Entry:
    """One method.

    Attributes:
        name: as it is called.
        about: what it does, for who writes a client.
        params: the model of its parameters.
        result: the schema of its answer.
        run: carries it out; None where the connection answers by itself (`core.ipc.socket.dispatch`).
        who: `anyone` (before the handshake is done), `client` (and the owner) or `owner`.
        effect: `read` (may be given up when the caller goes), `write` (is finished) or `session`.
        grants: any one of these is needed; none for no grant.
        errors: codes it can answer with, beside those of every method of its kind.
        aliases: other spelling of a parameter to its name.
        exact: answers as the command line does: with everything there is.
        search: counts against the search limits; otherwise its effect says against which.
        long: may report progress.
        paged: how a reply that was cut goes on; see `core.ipc.protocol.contract.Method`.
        short_ids: parameters in which the end of an id is enough, and what it is an id of.
    """

    name: str
    about: str
    params: type[Params]
    result: Schema
    run: Run | None = None
    who: Literal["anyone", "client", "owner"] = "client"
    effect: Effect = "read"
    grants: tuple[str, ...] = ()
    errors: tuple[Code, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    exact: bool = False
    search: bool = False
    long: bool = False
    paged: Paged | None = None
    short_ids: Mapping[str, str] = field(default_factory=dict)

    def default_of(self, name: str) -> Any:
        """What a parameter is where it is left out."""
        return self.params.model_fields[name].default

    async def answer_call(self, call: MethodCall, params: Mapping[str, Any]) -> Answer:
        """Carry a call out.

        Args:
            params: already checked against the schema.

        Returns:
            Its JSON.

        Raises:
            LociError: what the engine raises; INVALID_INPUT where several ids end alike.
        """
        if self.run is None:
            raise BugError(self.name)
        short = {name: what for name, what in self.short_ids.items() if name in params}
        whole = {
            name: await await_future(call.engine.library.full_id(what, params[name])) for name, what in short.items()
        }
        return await self.run(call, self.params.read({**params, **whole}))

    async def answer_owner(
        self, engine: Engine, registry: Registry, params: Mapping[str, Any], progress: CallProgress
    ) -> Answer:
        """Check parameters as the socket does, then answer the owner; the command line calls this in process.

        Args:
            engine: an engine on any loop.
            registry: the methods that exist.
            params: as typed.
            progress: how it reports.

        Raises:
            UserError: parameters that are not allowed.
            LociError: what the verb itself raises.
        """
        try:
            check_message_text(dict(params))
        except BadMessage as bad:
            raise UserError(Code.INVALID_INPUT, bad.sentence) from None
        checked = registry.find_method(self.name).check_params(params)
        return await self.answer_call(MethodCall(engine, OWNER_SESSION, self.exact, progress), checked)


def client_method(
    name: str,
    about: str,
    params: type[Params],
    result: Schema,
    run: Run,
    *,
    grants: tuple[str, ...],
    errors: tuple[Code, ...],
    effect: Effect = "read",
    aliases: Mapping[str, str] | None = None,
    search: bool = False,
    long: bool = False,
    paged: Paged | None = None,
) -> Entry:
    """Define a socket method that clients call, and the owner too; `errors` are those beside every such method's."""
    spelt = _SPELT if "channel_user" in params.model_fields else {}
    return Entry(
        name=name,
        about=about,
        params=params,
        result=result,
        run=run,
        effect=effect,
        grants=grants,
        errors=(*_CLIENT_ERRORS, *errors),
        aliases={**(aliases or {}), **spelt},
        search=search,
        long=long,
        paged=paged,
    )


def client_write(
    name: str,
    about: str,
    params: type[Params],
    result: Schema,
    run: Run,
    *,
    grants: tuple[str, ...],
    errors: tuple[Code, ...] = (),
    aliases: Mapping[str, str] | None = None,
    long: bool = False,
) -> Entry:
    """Define a socket method of clients that changes the vault; `errors` are those beside every such method's."""
    codes = (*errors, *_WRITE_ERRORS)
    return client_method(
        name, about, params, result, run, effect="write", grants=grants, errors=codes, aliases=aliases, long=long
    )


def memory_write(
    name: str,
    about: str,
    params: type[Params],
    result: Schema,
    run: Run,
    *,
    grants: tuple[str, ...] = ("write", "curate"),
    errors: tuple[Code, ...] = (),
    aliases: Mapping[str, str] | None = None,
) -> Entry:
    """A method of clients that changes one memory, the one of `id`."""
    codes = (Code.NOT_FOUND, Code.ACCESS_DENIED, *errors)
    spelt = {"memory_id": "id", "rule_id": "id", **(aliases or {})}
    return client_write(name, about, params, result, run, grants=grants, errors=codes, aliases=spelt)


def owner_method(
    name: str,
    about: str,
    params: type[Params],
    result: Schema,
    run: Run | None,
    *,
    errors: tuple[Code, ...] = (),
    effect: Effect = "read",
    aliases: Mapping[str, str] | None = None,
    long: bool = False,
    paged: Paged | None = None,
    short_ids: Mapping[str, str] | None = None,
    may_be_wrong: bool = True,
) -> Entry:
    """A verb of the command line, called `owner.<verb>` on the socket; `may_be_wrong`: its parameters may."""
    common = _OWNER_ERRORS if may_be_wrong else (Code.VAULT_LOCKED, Code.MALFORMED_MESSAGE)
    return Entry(
        name=f"owner.{name}",
        about=about,
        params=params,
        result=result,
        run=run,
        who="owner",
        effect=effect,
        errors=(*common, *errors),
        aliases=aliases or {},
        exact=True,
        long=long,
        paged=paged,
        short_ids=short_ids or {},
    )


def owner_memory_method(
    name: str,
    about: str,
    params: type[Params],
    result: Schema,
    run: Run,
    *,
    errors: tuple[Code, ...] = (),
    effect: Effect = "read",
    paged: Paged | None = None,
) -> Entry:
    """A verb of the command line about one memory, the one of `id`; the end of an id is enough."""
    return owner_method(
        name,
        about,
        params,
        result,
        run,
        errors=(Code.NOT_FOUND, *errors),
        effect=effect,
        aliases={"memory_id": "id"},
        paged=paged,
        short_ids={"id": "memory"},
    )


async def await_future(future: Future[T]) -> T:
    """Await an engine future on this loop; giving up the wait cancels it if it has not begun."""
    return await asyncio.wrap_future(future)


def items_after(items: list[Answer], after: str | None) -> list[Answer]:
    """The items behind a cursor; for lists that are made whole each time.

    Args:
        items: all of them, each with an `id`.
        after: the id of the last item already seen; None from the start.

    Raises:
        UserError: INVALID_INPUT when that item is no longer among them.
    """
    if after is None:
        return items
    for index, item in enumerate(items):
        if item["id"] == after:
            return items[index + 1 :]
    raise UserError(Code.INVALID_INPUT, "`after` is out of date; ask again from the start.")


def check_spaces(session: Session, names: Iterable[str]) -> None:
    """Refuse spaces that a client may not see.

    Raises:
        UserError: ACCESS_DENIED, in the same words whether or not there is such a space.
    """
    if not all(session.may_see(name) for name in names):
        raise UserError(Code.ACCESS_DENIED, "This client has no grant for that space.")


def check_prompt(session: Session, prompt: str, spaces: Iterable[str]) -> None:
    """Refuse a prompt that asks nothing, or asks in spaces that a client may not see.

    Raises:
        UserError: ACCESS_DENIED, INVALID_QUERY.
    """
    check_spaces(session, spaces)
    if not prompt.strip():
        raise UserError(Code.INVALID_QUERY, "The prompt is empty; write what the assistant is asked.")


def check_store(request: StoreRequest, session: Session) -> None:
    """Refuse what a client may not store; the owner may store anything.

    Raises:
        UserError: TEXT_TOO_LARGE, FORBIDDEN_FIELD, ACCESS_DENIED.
    """
    if session.actor.is_owner:
        return
    size = len(request.text.encode("utf-8"))
    if size > TEXT_BYTES:
        raise UserError(
            Code.TEXT_TOO_LARGE, f"The text has {size} bytes; a client may store {TEXT_BYTES} at once, so split it."
        )
    if request.source is Source.USER_EXPLICIT and not session.has_any_grant(Grant.SPEAK_FOR_USER.value):
        raise UserError(Code.FORBIDDEN_FIELD, "`source` may be user_explicit only with the grant speak_for_user.")
    check_space_writable(session, request.space)


def check_space_writable(session: Session, space: str | None) -> None:
    """Refuse a space that a client may put nothing into; the owner may put anything anywhere.

    Args:
        space: its name; None for the asker's own.

    Raises:
        UserError: ACCESS_DENIED.
    """
    if space is None or session.actor.is_owner:
        return
    check_spaces(session, [space])
    if space == GLOBAL_SPACE:
        raise UserError(Code.ACCESS_DENIED, "Only the person puts memories into GLOBAL.")


def channel_of(channel: str | None, user: str | None) -> str:
    """A channel in one word (E11a; `core.types.clients`).

    Args:
        channel: such as `discord`: small letters, digits, `-` and `_`.
        user: who on it, with or without the channel before it (`discord:user123` is `user123`); no blanks.

    Returns:
        `discord`, `discord:user123`, or "" for none.

    Raises:
        UserError: INVALID_INPUT for another form, a user without a channel, or one of another channel.
    """
    if channel is None:
        if user is not None:
            raise UserError(Code.INVALID_INPUT, "`channel_user` needs the `channel` that it is on.")
        return ""
    if _CHANNEL.fullmatch(channel) is None:
        raise UserError(
            Code.INVALID_INPUT, "`channel` has 1 to 32 small letters, digits, - and _, like discord or my-forum."
        )
    if user is None:
        return channel
    bare = user.removeprefix(f"{channel}:")
    if _USER.fullmatch(bare) is None:
        raise UserError(Code.INVALID_INPUT, "`channel_user` has 1 to 128 characters and no blanks.")
    return f"{channel}:{bare}"
