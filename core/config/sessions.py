"""The options of assistants' sessions: what a turn may take, and how long a session keeps what it had at hand.

They are read with every call. Must not do: decide anything.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from core.config.option_rows import field_extra

_GROUP = "Sessions"


class SessionOptions(BaseModel):
    """Options of sessions; part of `Options`."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    context_window_tokens: int = Field(
        default=32_000,
        ge=1_000,
        le=10_000_000,
        title="Size of an unknown model",
        description="Tokens a model is taken to read at once when it is not named or not known.",
        json_schema_extra=field_extra(_GROUP, unit="tokens"),
    )
    recall_budget_ratio: float = Field(
        default=0.12,
        ge=0.0,
        le=0.5,
        title="Memory in a turn",
        description="Share of what a model reads at once that memory takes in a turn of a conversation.",
        json_schema_extra=field_extra(_GROUP),
    )
    memory_share_ceiling: float = Field(
        default=0.35,
        ge=0.0,
        le=0.95,
        title="Most memory",
        description="The largest share an assistant may ask for.",
        json_schema_extra=field_extra(_GROUP),
    )
    open_turns: int = Field(
        default=4,
        ge=1,
        le=100,
        title="Turns at once",
        description="Turns of one assistant that may be open at the same time.",
        json_schema_extra=field_extra(_GROUP, unit="turns"),
    )
    session_idle_s: int = Field(
        default=1_800,
        ge=60,
        le=86_400,
        title="Put a session away after",
        description="A session that is silent so long is saved and leaves the memory of this machine.",
        json_schema_extra=field_extra(_GROUP, unit="seconds"),
    )
    session_whole_h: float = Field(
        default=4.0,
        ge=0.0,
        le=720.0,
        title="A session comes back whole for",
        description="Taken up again within so many hours, a session has everything at hand that it had.",
        json_schema_extra=field_extra(_GROUP, unit="hours"),
    )
    session_gone_h: float = Field(
        default=24.0,
        ge=0.0,
        le=8_760.0,
        title="A session begins anew after",
        description="From so many hours on it has nothing at hand; in between it has what was in use most.",
        json_schema_extra=field_extra(_GROUP, unit="hours"),
    )
    repeat_from: float = Field(
        default=0.6,
        ge=0.1,
        le=1.0,
        title="Repetition in a summary from",
        description="Share of common words from which a sentence of a summary repeats one that was just kept.",
        json_schema_extra=field_extra(_GROUP),
    )
    repeat_within_s: int = Field(
        default=3_600,
        ge=0,
        le=604_800,
        title="Repetition within",
        description="So long after it a sentence of a summary is compared with what was kept.",
        json_schema_extra=field_extra(_GROUP, unit="seconds"),
    )
