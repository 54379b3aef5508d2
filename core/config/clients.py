"""The options of clients beside each one's own limits: what all of them together may cost.

They are read with every call. Must not do: decide anything.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from core.config.option_rows import field_extra

_GROUP = "Clients"


class ClientOptions(BaseModel):
    """Options of clients; part of `Options`."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    writes_minute: int = Field(
        default=600,
        ge=1,
        le=100_000,
        title="Writes a minute",
        description="Changes one client may make in any minute, whatever limit its searches have.",
        json_schema_extra=field_extra(_GROUP, unit="writes"),
    )
    reads_minute: int = Field(
        default=600,
        ge=1,
        le=100_000,
        title="Reads a minute",
        description="Lists and single memories one client may read in any minute, besides its searches.",
        json_schema_extra=field_extra(_GROUP, unit="reads"),
    )
    client_waits: int = Field(
        default=500,
        ge=1,
        le=100_000,
        title="Questions of one client",
        description="So many suggestions and questions of one client of the last 30 days wait in your review at most.",
        json_schema_extra=field_extra(_GROUP, unit="questions"),
    )
    client_idle_minutes: int = Field(
        default=0,
        ge=0,
        le=1_440,
        title="End silent connections",
        description="Minutes after which the connection of a client ends that says nothing and listens to no changes; "
        "0 for never.",
        json_schema_extra=field_extra(_GROUP, unit="minutes"),
    )
