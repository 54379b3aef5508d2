"""The options of the vault, by subject, and all of them together. Names are stable: they are keys in its `settings`.

They are read anew with every call, every job and every batch of one. The lines of the injection scan are those of
E10.14.1 and E10.14.3. Must not do: decide anything.
"""

from __future__ import annotations

import re
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from core.config.option_rows import conflicting_options_error, field_extra

_WHEN, _MERGE, _FADE = "Automatic upkeep", "Merging duplicates", "Fading memories"
_KEEP, _REPLAY = "Archive", "While you are away"
_RETENTION = re.compile(r"[^:]*\S.*:\s*(?:episode|fact|rule|procedure|digest|\*)\s*:\s*[1-9][0-9]{0,4}")
_NO_RETENTION = (
    "“Keep for” takes rules such as work:episode:365, each a space, a kind and a number of days, with semicolons "
    "between them."
)


class LifecycleOptions(BaseModel):
    """Options of the scheduled work; part of `Options`."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    lifecycle_on: bool = Field(
        default=True,
        title="Tidy up automatically",
        description="Loci merges duplicates and archives what has faded while you are away. Every run can be "
        "undone. Turned off, it waits until you start it.",
        json_schema_extra=field_extra(_WHEN),
    )
    lifecycle_on_battery: bool = Field(
        default=False,
        title="Also on battery",
        description="Let long work run while this computer is on battery.",
        json_schema_extra=field_extra(_WHEN),
    )
    consolidate_hours: int = Field(
        default=24,
        ge=1,
        le=8_760,
        title="Merge duplicates every",
        description="Hours between two runs.",
        json_schema_extra=field_extra(_WHEN, unit="hours", advanced=True),
    )
    sweep_hours: int = Field(
        default=24,
        ge=1,
        le=8_760,
        title="Look for fading memories every",
        description="Hours between two runs.",
        json_schema_extra=field_extra(_WHEN, unit="hours", advanced=True),
    )
    memory_budget_mb: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        title="Memory limit",
        description="How much of this computer's memory (RAM) Loci may use. 0 chooses for you: 512 MB with up"
        " to 8 GB, else 1,024 MB.",
        json_schema_extra=field_extra(_WHEN, unit="MB", advanced=True),
    )
    dedup_from: float = Field(
        default=0.95,
        ge=0.7,
        le=1.0,
        title="Merge from",
        description="How similar two memories that say the same must be to be merged, from 0.7 to 1.",
        json_schema_extra=field_extra(_MERGE, advanced=True),
    )
    corroborate_from: float = Field(
        default=0.9,
        ge=0.5,
        le=1.0,
        title="Confirm from",
        description="How similar a memory of another source must be to count as a confirmation.",
        json_schema_extra=field_extra(_MERGE, advanced=True),
    )
    cluster_from: float = Field(
        default=0.75,
        ge=0.5,
        le=0.99,
        title="Summarize from",
        description="How similar memories must be to be summarized together.",
        json_schema_extra=field_extra(_MERGE, advanced=True),
    )
    cluster_least: int = Field(
        default=3,
        ge=2,
        le=100,
        title="Smallest group",
        description="How many similar memories make a summary.",
        json_schema_extra=field_extra(_MERGE, unit="memories", advanced=True),
    )
    compress_days: int = Field(
        default=30,
        ge=0,
        le=3_650,
        title="Summarize after",
        description="Only memories that are this old, and not used meanwhile, are summarized.",
        json_schema_extra=field_extra(_MERGE, unit="days", advanced=True),
    )
    fading_below: float = Field(
        default=0.2,
        ge=0.0,
        le=1.0,
        title="Fading below",
        description="A memory with less confidence than this is marked as fading.",
        json_schema_extra=field_extra(_FADE, advanced=True),
    )
    expired_below: float = Field(
        default=0.05,
        ge=0.0,
        le=1.0,
        title="Expired below",
        description="A memory with less confidence than this is archived, unless something protects it.",
        json_schema_extra=field_extra(_FADE, advanced=True),
    )
    archive_below: float = Field(
        default=0.05,
        ge=0.001,
        le=0.2,
        title="Archive below",
        description="A memory with less strength than this is archived, unless something protects it.",
        json_schema_extra=field_extra(_KEEP, advanced=True),
    )
    prune_days: int = Field(
        default=90,
        ge=1,
        le=3_650,
        title="Archive what nobody decided after",
        description="Disputed memories of very low trust, and memories held back without a decision, are "
        "archived after so many days.",
        json_schema_extra=field_extra(_KEEP, unit="days", advanced=True),
    )
    prune_superseded: bool = Field(
        default=False,
        title="Archive old versions",
        description="Archive versions that were replaced long ago. The history still shows them.",
        json_schema_extra=field_extra(_KEEP),
    )
    retention: str = Field(
        default="",
        max_length=4_000,
        title="Keep for",
        description="How long memories of a space and a kind stay before they are archived, as space:kind:days with "
        "semicolons between them, such as work:episode:365; * means every space or kind. Pinned ones stay. Empty: as "
        "long as they are remembered. `loci retention` shows what a rule would archive.",
        json_schema_extra=field_extra(_KEEP),
    )
    erase_kinds: str = Field(
        default="",
        max_length=200,
        title="Erase from the archive",
        description="Kinds that are erased for good after a time in the archive: episode, fact, rule, "
        "procedure, digest, separated by commas. Empty: nothing is ever erased "
        "automatically.",
        json_schema_extra=field_extra(_KEEP),
    )
    erase_days: int = Field(
        default=90,
        ge=1,
        le=3_650,
        title="Erase after",
        description="Days in the archive before one of those kinds is erased for good.",
        json_schema_extra=field_extra(_KEEP, unit="days"),
    )
    episode_days: int = Field(
        default=7,
        ge=1,
        le=3_650,
        title="Keep assistants' notes for",
        description="Days that a note of an assistant stays after facts were made of it. What you imported "
        "always stays.",
        json_schema_extra=field_extra(_KEEP, unit="days", advanced=True),
    )
    episode_capacity: int = Field(
        default=10_000,
        ge=100,
        le=10_000_000,
        title="Most notes of one assistant",
        description="Beyond that number, notes of which facts were made are archived.",
        json_schema_extra=field_extra(_KEEP, unit="episodes", advanced=True),
    )
    replay_on: bool = Field(
        default=True,
        title="Strengthen what is used",
        description="While nobody is working, strengthen memories that are often used and look for related ones.",
        json_schema_extra=field_extra(_REPLAY),
    )
    replay_idle_s: int = Field(
        default=120,
        ge=10,
        le=86_400,
        title="Begin after",
        description="Seconds in which nobody searches or uses the window.",
        json_schema_extra=field_extra(_REPLAY, unit="seconds", advanced=True),
    )
    replay_minutes: int = Field(
        default=30,
        ge=1,
        le=10_080,
        title="Repeat every",
        description="Minutes between two rounds.",
        json_schema_extra=field_extra(_REPLAY, unit="minutes", advanced=True),
    )
    replay_budget: int = Field(
        default=50,
        ge=3,
        le=10_000,
        title="Memories in a round",
        description="Memories that are looked at in one round.",
        json_schema_extra=field_extra(_REPLAY, unit="memories", advanced=True),
    )
    stale_days: int = Field(
        default=90,
        ge=1,
        le=3_650,
        title="Ask again after",
        description="After so many days without a confirmation you are asked whether an often used memory still holds.",
        json_schema_extra=field_extra("Questions", unit="days", advanced=True),
    )
    stale_uses: int = Field(
        default=10,
        ge=1,
        le=100_000,
        title="Often used means",
        description="How often a memory must have been found before you are asked about it.",
        json_schema_extra=field_extra("Questions", unit="recalls", advanced=True),
    )

    @model_validator(mode="after")
    def _has_rules(self) -> Self:
        rules = [one.strip() for one in self.retention.split(";")]
        if not all(_RETENTION.fullmatch(one) for one in rules if one):
            raise conflicting_options_error(_NO_RETENTION, "retention")
        return self


_CLIENTS = "Clients"


class ClientOptions(BaseModel):
    """Options of clients; part of `Options`."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    writes_minute: int = Field(
        default=600,
        ge=1,
        le=100_000,
        title="Changes a minute",
        description="How many changes one assistant may make in a minute.",
        json_schema_extra=field_extra(_CLIENTS, unit="writes", advanced=True),
    )
    reads_minute: int = Field(
        default=600,
        ge=1,
        le=100_000,
        title="Reads a minute",
        description="How many memories and lists one assistant may read in a minute, besides its searches.",
        json_schema_extra=field_extra(_CLIENTS, unit="reads", advanced=True),
    )
    client_waits: int = Field(
        default=500,
        ge=1,
        le=100_000,
        title="Suggestions waiting",
        description="How many suggestions of one assistant may wait in your review. Only the last 30 days count.",
        json_schema_extra=field_extra(_CLIENTS, unit="questions", advanced=True),
    )
    client_idle_minutes: int = Field(
        default=0,
        ge=0,
        le=1_440,
        title="Close silent connections after",
        description="Minutes without a word from an assistant; 0 never closes one.",
        json_schema_extra=field_extra(_CLIENTS, unit="minutes", advanced=True),
    )


_SESSIONS = "Sessions"


class SessionOptions(BaseModel):
    """Options of sessions; part of `Options`."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    context_window_tokens: int = Field(
        default=32_000,
        ge=1_000,
        le=10_000_000,
        title="Size of an unknown model",
        description="How many tokens a model can read at once, where that is not known.",
        json_schema_extra=field_extra(_SESSIONS, unit="tokens", advanced=True),
    )
    recall_budget_ratio: float = Field(
        default=0.12,
        ge=0.0,
        le=0.5,
        title="Share for memories",
        description="How much of what a model can read at once may be memories, in each turn of a conversation.",
        json_schema_extra=field_extra(_SESSIONS, advanced=True),
    )
    memory_share_ceiling: float = Field(
        default=0.35,
        ge=0.0,
        le=0.95,
        title="Largest share",
        description="The most an assistant may ask for.",
        json_schema_extra=field_extra(_SESSIONS, advanced=True),
    )
    open_turns: int = Field(
        default=4,
        ge=1,
        le=100,
        title="Turns at the same time",
        description="How many turns one assistant may have open.",
        json_schema_extra=field_extra(_SESSIONS, unit="turns", advanced=True),
    )
    session_idle_s: int = Field(
        default=1_800,
        ge=60,
        le=86_400,
        title="Store a session after",
        description="A conversation that is silent for so many seconds is saved and leaves the computer's memory.",
        json_schema_extra=field_extra(_SESSIONS, unit="seconds", advanced=True),
    )
    session_whole_h: float = Field(
        default=4.0,
        ge=0.0,
        le=720.0,
        title="Continue completely within",
        description="A conversation that goes on within so many hours still has everything it used.",
        json_schema_extra=field_extra(_SESSIONS, unit="hours", advanced=True),
    )
    session_gone_h: float = Field(
        default=24.0,
        ge=0.0,
        le=8_760.0,
        title="Begin anew after",
        description="After so many hours a conversation starts without it; in between it keeps what it used most.",
        json_schema_extra=field_extra(_SESSIONS, unit="hours", advanced=True),
    )
    repeat_from: float = Field(
        default=0.6,
        ge=0.1,
        le=1.0,
        title="Repeated sentence from",
        description="Share of common words from which a sentence of a summary counts as repeated.",
        json_schema_extra=field_extra(_SESSIONS, advanced=True),
    )
    repeat_within_s: int = Field(
        default=3_600,
        ge=0,
        le=604_800,
        title="Compare sentences for",
        description="Seconds for which a sentence of a summary is compared with later ones.",
        json_schema_extra=field_extra(_SESSIONS, unit="seconds", advanced=True),
    )


FLAG_ABOVE, BLOCK_ABOVE, HARD_ABOVE = 0.5, 0.7, 0.9
_HIDDEN_INSTRUCTIONS = "Hidden instructions"
_ORDER = (
    "Of “Hidden instructions”, “Keep out of contexts above” may not be greater than “Do not show to assistants above”, "
    "and that not greater than “Ask you first above”: what is not shown must not be given unasked."
)


class ScreeningOptions(BaseModel):
    """Options of the scan; part of `Options`. Each is crossed by a score above it, the weaker one first."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    screen_flag: float = Field(
        default=FLAG_ABOVE,
        ge=0.2,
        le=0.95,
        title="Give only when asked above",
        description="A text that looks this much like hidden instructions is not given to assistants unless "
        "they ask for it.",
        json_schema_extra=field_extra(_HIDDEN_INSTRUCTIONS, advanced=True),
    )
    screen_block: float = Field(
        default=BLOCK_ABOVE,
        ge=0.2,
        le=0.95,
        title="Never give above",
        description="A text that looks this much like hidden instructions is not shown to assistants at all.",
        json_schema_extra=field_extra(_HIDDEN_INSTRUCTIONS, advanced=True),
    )
    screen_hard: float = Field(
        default=HARD_ABOVE,
        ge=0.2,
        le=0.95,
        title="Ask you first above",
        description="A text from outside that looks this much like hidden instructions waits for your decision.",
        json_schema_extra=field_extra(_HIDDEN_INSTRUCTIONS, advanced=True),
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.screen_flag <= self.screen_block <= self.screen_hard:
            raise conflicting_options_error(_ORDER, "screen_flag", "screen_block", "screen_hard")
        return self


_BACKUP_DAYS = {"0": "Never", "1": "Day", "7": "Week", "30": "30 days"}
_SYNC_MINUTES = {"0": "Never", "1": "1 minute", "5": "5 minutes", "15": "15 minutes"}


class BasicOptions(BaseModel):
    """Everything but the lifecycle's, the clients', the sessions' and the scan's; part of `Options`."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    undo_days: int = Field(
        default=90,
        ge=1,
        le=3650,
        title="Undo history",
        description="Days in which a change can be undone. Applies to later changes.",
        json_schema_extra=field_extra("History", unit="days"),
    )
    receipt_days: int = Field(
        default=30,
        ge=1,
        le=3650,
        title="Receipts",
        description="Days in which you can see what an assistant was given. Applies to later answers.",
        json_schema_extra=field_extra("History", unit="days"),
    )
    backup_days: int = Field(
        default=7,
        ge=0,
        le=365,
        title="Back up every",
        description="While the vault is open and something changed since the last one. A backup lies in the vault's "
        "folder; copy one to another disk now and then.",
        json_schema_extra=field_extra("Backups", unit="days", choices=_BACKUP_DAYS),
    )
    backups_kept: int = Field(
        default=3,
        ge=1,
        le=100,
        title="Backups kept",
        description="How many of those in the vault's folder. The oldest goes when a new one is made.",
        json_schema_extra=field_extra("Backups", unit="backups"),
    )
    sync_minutes: int = Field(
        default=5,
        ge=0,
        le=1_440,
        title="Synchronise every",
        description="While the vault is open, changes are exchanged with your paired devices at this interval, and "
        "some seconds after you changed something.",
        json_schema_extra=field_extra("Devices", unit="minutes", choices=_SYNC_MINUTES),
    )
    import_batch: int = Field(
        default=250,
        ge=1,
        le=500,
        title="Import batch",
        description="Memories that an import saves at once.",
        json_schema_extra=field_extra("Imports", unit="memories", advanced=True),
    )
    file_limit_mb: int = Field(
        default=50,
        ge=1,
        le=500,
        title="Largest attached file",
        description="How large a file may be that is attached to a memory.",
        json_schema_extra=field_extra("Imports", unit="MB"),
    )
    import_extensions: bool = Field(
        default=False,
        title="Importers of other makers",
        description="Use importers from packages that you installed beside Loci. Their code runs inside Loci and can "
        "read everything in your vault: allow it only for packages that you trust.",
        json_schema_extra=field_extra("Imports", advanced=True),
    )
    relation_gate: float = Field(
        default=0.15,
        ge=0.0,
        le=1.0,
        title="Compare from",
        description="How similar a new memory must be to an existing one to be compared with it.",
        json_schema_extra=field_extra("Contradictions", restart=True, advanced=True),
    )
    searches_minute: int = Field(
        default=20,
        ge=1,
        le=100_000,
        title="Searches a minute",
        description="Limit for a new assistant.",
        json_schema_extra=field_extra("Clients", unit="searches", advanced=True),
    )
    searches_session: int = Field(
        default=200,
        ge=1,
        le=1_000_000,
        title="Searches in a session",
        description="Limit for a new assistant.",
        json_schema_extra=field_extra("Clients", unit="searches", advanced=True),
    )
    hnsw_from: int = Field(
        default=5_000,
        ge=100,
        le=10_000_000,
        title="Fast index from",
        description="Number of memories from which search uses a faster, approximate index.",
        json_schema_extra=field_extra("Search", unit="memories", restart=True, advanced=True),
    )
    context_tokens: int = Field(
        default=3_000,
        ge=0,
        le=100_000,
        title="Memories for an assistant",
        description="How many tokens of memories an assistant is given when it names no number.",
        json_schema_extra=field_extra("Search", unit="tokens", advanced=True),
    )

    embedder: str = Field(
        default="",
        max_length=200,
        pattern=r"^$|^ollama:[^\s#]+$",
        title="Search model",
        description="The model that search by meaning uses. Empty: the built-in one. Or ollama: and the name "
        "of a model on the server below; memories are then read again in the background.",
        json_schema_extra=field_extra("Search", advanced=True),
    )

    model_on: bool = Field(
        default=True,
        title="Use a local model",
        description="If a model server (Ollama) runs on this computer, let it answer on the Ask page and help"
        " with what rules leave open. Loci works without it.",
        json_schema_extra=field_extra("Local model"),
    )
    model_host: str = Field(
        default="127.0.0.1:11434",
        min_length=1,
        max_length=200,
        title="Model server",
        description="Address of the model server: a host and a port on this computer.",
        json_schema_extra=field_extra("Local model", advanced=True),
    )
    model_beyond: bool = Field(
        default=False,
        title="Allow another computer",
        description="The model server may be on another computer. Memories are then sent there, sensitive ones never.",
        json_schema_extra=field_extra("Local model", advanced=True),
    )
    model_name: str = Field(
        default="",
        max_length=200,
        title="Model",
        description="Name of the model to use. If empty, Loci chooses a suitable one.",
        json_schema_extra=field_extra("Local model"),
    )
    protect_health: bool = Field(
        default=False,
        title="Protect health information",
        description="A memory that mentions a condition, a medicine or a test result becomes sensitive: other "
        "assistants can read it only with your permission.",
        json_schema_extra=field_extra("Sensitive content"),
    )
    protect_contacts: bool = Field(
        default=False,
        title="Protect contact data",
        description="A memory that mentions the name of a person, an address, where somebody lives, a phone number or "
        "an e-mail address becomes sensitive, too.",
        json_schema_extra=field_extra("Sensitive content"),
    )
    protected_spaces: str = Field(
        default="",
        max_length=2_000,
        title="Spaces with sensitive content",
        description="Spaces, separated by commas, in which anything found makes a memory at least sensitive.",
        json_schema_extra=field_extra("Sensitive content"),
    )
    protected_sources: str = Field(
        default="",
        max_length=200,
        title="Sources with sensitive content",
        description="How a memory came in, separated by commas (document, tool_output): anything found in it makes it "
        "at least sensitive.",
        json_schema_extra=field_extra("Sensitive content"),
    )
    seal_minutes: int = Field(
        default=5,
        ge=1,
        le=240,
        title="Lock sealed memories after",
        description="Minutes after which sealed memories need their passphrase again.",
        json_schema_extra=field_extra("Sealed memories", unit="minutes"),
    )


class Options(ScreeningOptions, SessionOptions, ClientOptions, LifecycleOptions, BasicOptions):
    """All options with their defaults; frozen, replaced as a whole when one changes."""
