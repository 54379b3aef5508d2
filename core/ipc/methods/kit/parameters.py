"""The parameters of methods: their base, the types that several methods share, and what is published of them.

What is published is what is checked (`core.ipc.protocol.schema`); a model only gives it names and types. Must not do:
know a method.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from core.errors import Code, UserError
from core.types.requests import PLAIN, Extras
from core.types.values import Kind

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
KindName = Annotated[Literal["episode", "fact", "rule", "procedure", "digest"], Shared("kind")]
NewKindName = Annotated[Literal["episode", "fact", "rule", "procedure"], Shared("new_kind")]
SourceName = Annotated[
    Literal["user_explicit", "system", "tool_output", "user_implicit", "document", "inference"],
    Shared(
        "source",
        "By what way it came. `tool_output` is what a tool told the client itself; "
        "`system` is Loci's own and refused to clients (E4006), and `user_explicit` takes "
        "the grant speak_for_user.",
    ),
]
StatusName = Annotated[
    Literal["active", "superseded", "disputed", "quarantined", "consolidated", "archived", "deleted"], Shared("status")
]
ClientStatusName = Annotated[
    Literal["active", "superseded", "disputed", "quarantined", "consolidated", "archived"], Shared("client_status")
]
ModeName = Annotated[Literal["hybrid", "semantic", "keyword"], Shared("mode")]
IntentName = Annotated[
    Literal["lookup", "exploratory", "comparative", "temporal", "procedural", "causal"],
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
FormatName = Annotated[
    Literal[
        "chatgpt",
        "claude",
        "claude-code",
        "codex",
        "obsidian",
        "markdown",
        "text",
        "jsonl",
        "csv",
        "mem0",
        "openmemory",
        "mcp-memory",
    ],
    Shared("format"),
]
AbsolutePath = Annotated[str, Field(min_length=1, max_length=4096), Shared("path", "An absolute path on this machine.")]
Base64Text = Annotated[
    str,
    Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9_-]+={0,2}$"),
    Shared("base64", "base64url, padding optional."),
]
GrantName = Annotated[
    str,
    Field(max_length=160, pattern=r"^(read|propose|write|curate|speak_for_user|all_spaces|space:.{1,128})$"),
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
    Literal["concept", "file", "organization", "other", "person", "place", "project", "service", "technology"],
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
ActionName = Annotated[
    Literal["supersede", "reject", "keep_both", "keep_both_dated", "merge", "scope_split", "dispute_both", "skip"],
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

    def extras(self) -> Extras:
        """What the call brings along: nothing."""
        return PLAIN


class NameParams(Params):
    """A call about one client."""

    name: ClientName


class ExtrasParams(ChannelParams):
    """What a client may bring along with a call about one memory."""

    memory_type: KindName | None = Field(None, description="The memory must be of this kind.")
    request_id: RequestId | None = None

    def extras(self) -> Extras:
        """What the call brings along."""
        return Extras(kind_of(self.memory_type), self.request_id)


class MemoryParams(ExtrasParams, IdParams):
    """A client's call about one memory."""


def kind_of(name: str | None) -> Kind | None:
    """A kind by its name."""
    return None if name is None else Kind(name)


def absolute(text: str, field: str) -> Path:
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
