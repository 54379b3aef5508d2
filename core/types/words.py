"""The closed vocabularies of the vault, as enumerations."""

from __future__ import annotations

from enum import StrEnum

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


class Source(StrEnum):
    """By what way a memory came, strongest first (seed A, provenance)."""

    USER_EXPLICIT = "user_explicit"
    SYSTEM = "system"
    TOOL_OUTPUT = "tool_output"
    USER_IMPLICIT = "user_implicit"
    DOCUMENT = "document"
    INFERENCE = "inference"


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
    ALL_SPACES = "all_spaces"
