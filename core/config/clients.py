"""The options of clients beside each one's own limits: what all of them together may cost.

They are read with every call. Must not do: decide anything.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from core.config.describe import about

_GROUP = "Clients"


class ClientOptions(BaseModel):
    """Options of clients; part of `Options`."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    writes_minute: int = Field(
        default=600,
        ge=1,
        le=100_000,
        title="Writes a minute",
        description="Changes one client may make in any minute; one whose searches have no limit is free of this too.",
        json_schema_extra=about(_GROUP, unit="writes"),
    )
    client_idle_minutes: int = Field(
        default=0,
        ge=0,
        le=1_440,
        title="End silent connections",
        description="Minutes after which the connection of a client that says nothing ends; 0 for never.",
        json_schema_extra=about(_GROUP, unit="minutes"),
    )
