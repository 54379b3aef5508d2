"""The options that exist today. Names are stable: they are keys in the vault's `settings`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from core.config.clients import ClientOptions
from core.config.lifecycle import LifecycleOptions
from core.config.option_rows import field_extra, load_options
from core.config.screening import ScreeningOptions
from core.config.sessions import SessionOptions


class BasicOptions(BaseModel):
    """Everything but the lifecycle's, the clients', the sessions' and the scan's; part of `Options`."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    undo_days: int = Field(
        default=90,
        ge=1,
        le=3650,
        title="Undo history",
        description="Days a change can be taken back; counts for changes made from then on.",
        json_schema_extra=field_extra("History", unit="days"),
    )
    receipt_days: int = Field(
        default=30,
        ge=1,
        le=3650,
        title="Receipts",
        description="Days the record of a recall is kept; counts for recalls from then on.",
        json_schema_extra=field_extra("History", unit="days"),
    )
    backups_kept: int = Field(
        default=3,
        ge=1,
        le=100,
        title="Backups",
        description="Automatic backups that are kept.",
        json_schema_extra=field_extra("Backups", unit="backups"),
    )
    import_batch: int = Field(
        default=250,
        ge=1,
        le=500,
        title="Import batch",
        description="Memories written in one transaction by an import.",
        json_schema_extra=field_extra("Imports", unit="memories"),
    )
    relation_gate: float = Field(
        default=0.15,
        ge=0.0,
        le=1.0,
        title="Compare from",
        description="Likeness from which a new memory is compared with one that stands.",
        json_schema_extra=field_extra("Belief", restart=True),
    )
    searches_minute: int = Field(
        default=20,
        ge=1,
        le=100_000,
        title="Searches a minute",
        description="A new client's limit.",
        json_schema_extra=field_extra("Clients", unit="searches"),
    )
    searches_session: int = Field(
        default=200,
        ge=1,
        le=1_000_000,
        title="Searches a session",
        description="A new client's limit.",
        json_schema_extra=field_extra("Clients", unit="searches"),
    )
    hnsw_from: int = Field(
        default=5_000,
        ge=100,
        le=10_000_000,
        title="Approximate search from",
        description="Number of memories above which the approximate index is used.",
        json_schema_extra=field_extra("Search", unit="memories", restart=True),
    )
    context_tokens: int = Field(
        default=3_000,
        ge=0,
        le=100_000,
        title="Context size",
        description="Tokens a context may have when an assistant names no number.",
        json_schema_extra=field_extra("Search", unit="tokens"),
    )

    embedder: str = Field(
        default="",
        max_length=200,
        pattern=r"^$|^ollama:[^\s#]+$",
        title="Search model",
        description="What search by meaning goes by: empty for the built-in model, or ollama: and the name of a model "
        "of the server below. Memories get their new vectors in the background; search goes on meanwhile.",
        json_schema_extra=field_extra("Search"),
    )

    model_on: bool = Field(
        default=True,
        title="Local model",
        description="Let a model server on this machine, if one runs, refine what rules leave open. Nothing needs it.",
        json_schema_extra=field_extra("Local model"),
    )
    model_host: str = Field(
        default="127.0.0.1:11434",
        min_length=1,
        max_length=200,
        title="Model server",
        description="Where the model server (Ollama) listens: a host and a port of this machine.",
        json_schema_extra=field_extra("Local model"),
    )
    model_beyond: bool = Field(
        default=False,
        title="Allow a model server elsewhere",
        description="Confirms an address that is not this machine: memories are sent there, sensitive ones never.",
        json_schema_extra=field_extra("Local model"),
    )
    model_name: str = Field(
        default="",
        max_length=200,
        title="Model",
        description="The model that is asked, as the server names it; empty for one that fits.",
        json_schema_extra=field_extra("Local model"),
    )


class Options(ScreeningOptions, SessionOptions, ClientOptions, LifecycleOptions, BasicOptions):
    """All options with their defaults; frozen, replaced as a whole when one changes."""


def load(stored: Mapping[str, Any]) -> tuple[Options, tuple[str, ...]]:
    """Build options from stored values; a bad value falls back to its default.

    Args:
        stored: key to JSON value, as in the vault's `settings`.

    Returns:
        The options, and the names of stored options that were refused.
    """
    return load_options(Options, stored)
