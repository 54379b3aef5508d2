"""The closed vocabularies of the vault and the small values made of them: ids, moments, limits, actors, score bands.

Ids are UUIDv7: ordered by time within a process, random beyond it (RFC 9562). Must not do: hold logic beyond making an
id and reading itself.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, Literal, get_args

from core.types.clock import Clock

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


class IdMaker:
    """Makes UUIDv7 texts that never run backwards, even when the clock does.

    Args:
        clock: the one clock.
        chance: gives as many random bytes as it is asked for; the machine's, unless what is made must come out again.
    """

    def __init__(self, clock: Clock, chance: Callable[[int], bytes] = os.urandom) -> None:
        self._clock = clock
        self._chance = chance
        self._lock = threading.Lock()  # guards _last_ms and _counter
        self._last_ms = 0
        self._counter = 0

    def __call__(self) -> str:
        """Make one id.

        Returns:
            A lower-case UUIDv7 in its 36-character form.
        """
        random = int.from_bytes(self._chance(8), "big")
        with self._lock:
            now = self._clock.now_ms()
            if now > self._last_ms:
                self._last_ms, self._counter = now, random & 0x7FF
            else:
                self._counter += 1
                if self._counter > 0xFFF:
                    self._last_ms, self._counter = self._last_ms + 1, 0
            ms, counter = self._last_ms, self._counter
        value = (ms & 0xFFFFFFFFFFFF) << 80 | 7 << 76 | counter << 64 | 0b10 << 62
        value |= random & 0x3FFFFFFFFFFFFFFF
        text = f"{value:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def is_id(text: str) -> bool:
    """Whether a text has the form of a Loci id."""
    return _ID.fullmatch(text) is not None


GLOBAL_SPACE = "GLOBAL"
HOME_SPACE = "home"
OWNER = "owner"


class Kind(StrEnum):
    """What a memory is."""

    EPISODE = "episode"
    FACT = "fact"
    RULE = "rule"
    PROCEDURE = "procedure"
    DIGEST = "digest"


class Status(StrEnum):
    """Where a memory stands. Default recall returns `ACTIVE` only."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    DISPUTED = "disputed"
    QUARANTINED = "quarantined"
    CONSOLIDATED = "consolidated"
    ARCHIVED = "archived"
    DELETED = "deleted"


STANDING = frozenset({Status.ACTIVE, Status.DISPUTED})
"""Current or in doubt: neither replaced nor out of the way."""


class SecurityTier(StrEnum):
    """How well a memory is protected (E10.5.1), the least first."""

    CLEARTEXT = "cleartext"
    SENSITIVE = "sensitive"
    CONFIDENTIAL = "confidential"


TIER_BY = "tier_by"
"""The key of a memory's `extra` that says who chose its tier (`core.memory.protection`)."""
BY_RULES, BY_PERSON = "rules", "owner"


class Source(StrEnum):
    """By what way a memory came, strongest first (seed A, provenance)."""

    USER_EXPLICIT = "user_explicit"
    SYSTEM = "system"
    TOOL_OUTPUT = "tool_output"
    USER_IMPLICIT = "user_implicit"
    DOCUMENT = "document"
    INFERENCE = "inference"


PERSON_SOURCES = frozenset({Source.USER_EXPLICIT, Source.USER_IMPLICIT})
"""Ways of what is brought as the person's words."""


class Role(StrEnum):
    """Whose words a memory's text is."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SOURCE = "source"
    OTHER = "other"


class Precision(StrEnum):
    """How exactly a stored time is known."""

    YEAR = "year"
    MONTH = "month"
    DAY = "day"
    HOUR = "hour"
    MINUTE = "minute"
    SECOND = "second"
    MS = "ms"


class Grant(StrEnum):
    """What a client may do, besides its spaces."""

    READ = "read"
    PROPOSE = "propose"
    WRITE = "write"
    CURATE = "curate"
    SPEAK_FOR_USER = "speak_for_user"
    SENSITIVE = "sensitive"
    ALL_SPACES = "all_spaces"


DEFAULT_GRANTS = (Grant.READ.value, Grant.PROPOSE.value)
"""What a client gets where nobody says otherwise."""


class Action(StrEnum):
    """What a person can decide (design sections 4 and 8)."""

    SUPERSEDE = "supersede"
    REJECT = "reject"
    KEEP_BOTH = "keep_both"
    KEEP_BOTH_DATED = "keep_both_dated"
    MERGE = "merge"
    SCOPE_SPLIT = "scope_split"
    DISPUTE_BOTH = "dispute_both"
    SKIP = "skip"


class Pressure(StrEnum):
    """How much of the memory budget is taken (E21.2): below 70 %, below 90 %, above."""

    NORMAL = "normal"
    ELEVATED = "elevated"
    CRITICAL = "critical"


class Intent(StrEnum):
    """What kind of answer is asked for (E40.1)."""

    LOOKUP = "lookup"
    EXPLORATORY = "exploratory"
    COMPARATIVE = "comparative"
    TEMPORAL = "temporal"
    PROCEDURAL = "procedural"
    CAUSAL = "causal"


ImportFormat = Literal[
    "chatgpt", "claude", "claude-code", "codex", "obsidian", "markdown", "text", "jsonl", "csv", "mem0", "openmemory",
    "mcp-memory", "whatsapp", "telegram", "signal", "slack", "discord", "mail", "gemini", "gemini-cli", "grok", "aider",
    "keep", "evernote", "day-one", "roam", "joplin", "calendar", "contacts", "kindle", "bookmarks", "docx",
    "opencode", "continue", "cursor", "imessage", "notion", "pdf", "html", "org", "pictures",
    "copilot", "perplexity", "lines", "mixed",
]  # fmt: skip
"""What an import can be read as, by the names of the command line's contract."""

IMPORT_FORMATS: tuple[str, ...] = get_args(ImportFormat)

LINES = "lines"
"""The format in which each line of a list is a memory of its own; a person names it, it is never detected."""

LOOK_SIGNAL = "run/look"
"""A file in the home; whoever touches it asks a running engine to look at its watched folders now."""

FIRST_DAY, LAST_DAY = date(1000, 1, 1), date(9000, 12, 31)
"""The days that a person may name."""

LIST_SORTS = ("newest", "oldest", "said", "importance", "trust")
"""Orders of a list: by the time of recording, by the time it was said (the newest first), or the greatest first."""

# Strict inequalities: 0.85 itself is medium.
_BANDS = ((0.85, "high"), (0.60, "medium"), (0.40, "low"))


def band_word(value: float) -> str:
    """The band word of a number.

    Args:
        value: 0 to 1.

    Returns:
        `high` above 0.85, `medium` above 0.60, `low` above 0.40, else `minimal`.
    """
    return next((word for floor, word in _BANDS if value > floor), "minimal")


@dataclass(frozen=True, slots=True)
class When:
    """A moment as far as it is known.

    Attributes:
        ms: epoch milliseconds UTC.
        precision: how exactly it is known.
        offset_min: the zone offset it was written with, minutes east of UTC; None where no zone was written.
    """

    ms: int
    precision: Precision = Precision.MS
    offset_min: int | None = None


_PREFIX = "channel:"
_AS_IT_IS = "~"


def seen_from(channel: str) -> tuple[str, ...]:
    """The channels whose memories are seen from one: none, the channel as a whole, and the person on it.

    Args:
        channel: as `core.ipc.methods.definition.entry.channel_of` writes it.

    Returns:
        Values of `memories.scope_channel`, "" first.
    """
    whole = channel.partition(":")[0]
    return tuple(dict.fromkeys(("", whole, channel)))


def limits_from(channel: str, session: str | None) -> tuple[str, ...]:
    """What limits memories that are seen from a channel and a session.

    Args:
        channel: as `core.ipc.methods.definition.entry.channel_of` writes it.
        session: the session that asks, if any.

    Returns:
        Values of `memories.scope_session`, "" first.
    """
    found = [limit_of(one, None) for one in seen_from(channel)]
    if session:
        found += [limit_of(one, session) for one in seen_from(channel)]
    return tuple(dict.fromkeys(found))


def limit_of(channel: str, session: str | None) -> str:
    """What a memory is limited to by its channel, and by a session where its claim says so.

    Args:
        channel: as `core.ipc.methods.definition.entry.channel_of` writes it.
        session: the session a claim is limited to, if any.

    Returns:
        The value of `scope_session`; "" for no limit.
    """
    if not channel:
        # Any name may be given to a session, also one that reads like a channel.
        named = session or ""
        return _AS_IT_IS + named if named.lstrip(_AS_IT_IS).startswith(_PREFIX) else named
    return f"{_PREFIX}{channel}" + (f" {session}" if session else "")


def channel_in(limit: str) -> str:
    """The channel of what `limit_of` wrote: what is made from a memory stays where that one is seen.

    Args:
        limit: a value of `scope_session`; neither a channel nor a person on it has blanks.

    Returns:
        The value of `scope_channel`; "" where the limit is none, or a session alone.
    """
    return limit.removeprefix(_PREFIX).partition(" ")[0] if limit.startswith(_PREFIX) else ""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who asks for a verb.

    Attributes:
        kind: `owner`, `client` or `scheduler`.
        client_id: the client's id; None for the owner and the scheduler.
        name: a name for the journal.
        session: the session the actor speaks in, if any.
        channel: the channel a client speaks for (`channel_of` of `core.ipc.methods` writes it); "" for none.
    """

    kind: str
    client_id: str | None = None
    name: str = ""
    session: str | None = None
    channel: str = ""

    @property
    def is_owner(self) -> bool:
        """Whether the person at the window or command line asks."""
        return self.kind == OWNER


OWNER_ACTOR = Actor(kind=OWNER, name="you")
OWNER_CHANNEL = "@owner"
"""The name by which the owner's own programs greet the engine; no client can be called so."""
LIFECYCLE_ACTOR = Actor(kind="scheduler", name="lifecycle")
"""Scheduled work, in the audit and in what is announced."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One remembered item as it stands in the vault: a frozen snapshot of a row.

    Attributes:
        n: the integer label used by the lexical and the vector index.
        id: UUIDv7.
        text: the text, byte for byte as it came.
        author: the name of whoever's words these are; role is its class.
        ref: the caller's own reference; returned with every recall item.
        session: the session or conversation name the caller gave.
        conversation_id: the conversation this episode belongs to.
        position: its place in that conversation, counted from 0.
        occurred: when it was said or happened; None where unknown.
        recorded_at: when Loci learned it, epoch ms.
        retired_at: when Loci stopped believing it, epoch ms.
        valid_from: true in the world from, epoch ms; `valid_to` likewise (exclusive).
        trust: 0 to 1, core.score.trust.
        confidence: 0 to 1; equals trust for a plain memory.
        flags: content-free marks such as `surrogates_replaced`.
        extra: format-specific facts that have no column (title, cwd, links …).
        tier: how well it is protected.
    """

    n: int
    id: str
    kind: Kind
    status: Status
    text: str
    space: str
    source: Source
    role: Role
    author: str | None
    category: str
    importance: float
    tags: tuple[str, ...]
    client_id: str | None
    conversation_id: str | None
    position: int | None
    session: str | None
    ref: str | None
    import_id: str | None
    occurred: When | None
    recorded_at: int
    retired_at: int | None
    valid_from: int | None
    valid_to: int | None
    trust: float
    confidence: float
    corroboration: int
    reinforcements: int
    disputes: int
    last_confirmed_at: int
    access_count: int
    last_accessed_at: int | None
    supersedes_id: str | None
    superseded_by_id: str | None
    chain_id: str
    part_of: str | None
    part_index: int | None
    pinned: bool
    version: int
    status_reason: str | None = None
    flags: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    tier: SecurityTier = SecurityTier.CLEARTEXT

    @property
    def is_edited(self) -> bool:
        """Whether the owner wrote these words anew, though they were somebody else's."""
        is_own = self.source is Source.USER_EXPLICIT and self.import_id is None
        return is_own and self.supersedes_id is not None and self.role is not Role.USER

    @property
    def is_found_sensitive(self) -> bool:
        """Whether rules chose its tier, and not the person."""
        return self.extra.get(TIER_BY) == BY_RULES

    def said_by(self, client: str | None) -> str:
        """Whose words it is and who reports it: `user`, `Mara`, `Mara, edited by the user`, `user, via notes-plugin`.

        Args:
            client: the name of the client that brought it; None where none did.
        """
        who = self.author or self.role.value
        who = f"{who}, edited by the user" if self.is_edited else who
        return who if client is None else f"{who}, via {client}"
