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
        title="Keep the palace in order",
        description="Let scheduled work run by itself. Turned off, nothing fades or is merged until you start it.",
        json_schema_extra=field_extra(_WHEN),
    )
    lifecycle_on_battery: bool = Field(
        default=False,
        title="Work on battery",
        description="Let heavy work run while this machine is on battery.",
        json_schema_extra=field_extra(_WHEN),
    )
    consolidate_hours: int = Field(
        default=24,
        ge=1,
        le=8_760,
        title="Merge duplicates every",
        description="Hours between two runs that merge what says the same and settle what contradicts itself.",
        json_schema_extra=field_extra(_WHEN, unit="hours"),
    )
    sweep_hours: int = Field(
        default=24,
        ge=1,
        le=8_760,
        title="Look for fading memories every",
        description="Hours between two looks at what fades, expires or can be archived.",
        json_schema_extra=field_extra(_WHEN, unit="hours"),
    )
    memory_budget_mb: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        title="Memory budget",
        description="What the engine may take; 0 for 512 MB on machines of up to 8 GB, else 1,024 MB.",
        json_schema_extra=field_extra(_WHEN, unit="MB"),
    )
    dedup_from: float = Field(
        default=0.95,
        ge=0.7,
        le=1.0,
        title="Duplicates from",
        description="Similarity from which two memories are merged, if they say the same.",
        json_schema_extra=field_extra(_MERGE),
    )
    corroborate_from: float = Field(
        default=0.9,
        ge=0.5,
        le=1.0,
        title="Confirmation from",
        description="Similarity from which a memory of another source confirms one.",
        json_schema_extra=field_extra(_MERGE),
    )
    cluster_from: float = Field(
        default=0.75,
        ge=0.5,
        le=0.99,
        title="Related from",
        description="Similarity from which memories are summed up together.",
        json_schema_extra=field_extra(_MERGE),
    )
    cluster_least: int = Field(
        default=3,
        ge=2,
        le=100,
        title="Smallest summary",
        description="How many related memories there must be before they are summed up.",
        json_schema_extra=field_extra(_MERGE, unit="memories"),
    )
    compress_days: int = Field(
        default=30,
        ge=0,
        le=3_650,
        title="Sum up after",
        description="Days that related memories must be old, and unused, before they are summed up.",
        json_schema_extra=field_extra(_MERGE, unit="days"),
    )
    fading_below: float = Field(
        default=0.2,
        ge=0.0,
        le=1.0,
        title="Fading below",
        description="Confidence below which a memory is marked as fading.",
        json_schema_extra=field_extra(_FADE),
    )
    expired_below: float = Field(
        default=0.05,
        ge=0.0,
        le=1.0,
        title="Expired below",
        description="Confidence below which a memory that nothing protects is archived.",
        json_schema_extra=field_extra(_FADE),
    )
    archive_below: float = Field(
        default=0.05,
        ge=0.001,
        le=0.2,
        title="Archive below",
        description="Strength below which a memory that nothing protects is archived.",
        json_schema_extra=field_extra(_KEEP),
    )
    prune_days: int = Field(
        default=90,
        ge=1,
        le=3_650,
        title="Archive doubts after",
        description="Days after which a disputed memory of very low trust is archived, and one that was held back and "
        "that nobody decided about.",
        json_schema_extra=field_extra(_KEEP, unit="days"),
    )
    prune_superseded: bool = Field(
        default=False,
        title="Archive old versions",
        description="Archive versions that were replaced that long ago. History shows them either way.",
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
        description="Kinds (episode, fact, rule, procedure, digest; with commas) that are erased for good from the "
        "archive after the days below; a digest goes with what it was made of, where all of it is of chosen kinds. "
        "Empty: nothing is ever erased by itself.",
        json_schema_extra=field_extra(_KEEP),
    )
    erase_days: int = Field(
        default=90,
        ge=1,
        le=3_650,
        title="Erase after",
        description="Days in the archive before one of those kinds is erased. A clock that leapt ahead counts only "
        "when it was seen for a week.",
        json_schema_extra=field_extra(_KEEP, unit="days"),
    )
    episode_days: int = Field(
        default=7,
        ge=1,
        le=3_650,
        title="Assistants' notes",
        description="Days that what an assistant noted stays once facts were made of it. Imports are never touched.",
        json_schema_extra=field_extra(_KEEP, unit="days"),
    )
    episode_capacity: int = Field(
        default=10_000,
        ge=100,
        le=10_000_000,
        title="Most notes",
        description="How many notes of one assistant stay; of the others, what facts were made of is archived first.",
        json_schema_extra=field_extra(_KEEP, unit="episodes"),
    )
    replay_on: bool = Field(
        default=True,
        title="Strengthen what is used",
        description="Strengthen what is often used and propose relations while nobody is at work.",
        json_schema_extra=field_extra(_REPLAY),
    )
    replay_idle_s: int = Field(
        default=120,
        ge=10,
        le=86_400,
        title="Idle after",
        description="Seconds without a search or a hand on the window before it begins.",
        json_schema_extra=field_extra(_REPLAY, unit="seconds"),
    )
    replay_minutes: int = Field(
        default=30,
        ge=1,
        le=10_080,
        title="Every",
        description="Minutes between two rounds.",
        json_schema_extra=field_extra(_REPLAY, unit="minutes"),
    )
    replay_budget: int = Field(
        default=50,
        ge=3,
        le=10_000,
        title="At once",
        description="Memories that are looked at in one round.",
        json_schema_extra=field_extra(_REPLAY, unit="memories"),
    )
    stale_days: int = Field(
        default=90,
        ge=1,
        le=3_650,
        title="Ask again after",
        description="Days after which an often used memory that nobody confirmed is asked about.",
        json_schema_extra=field_extra("Questions", unit="days"),
    )
    stale_uses: int = Field(
        default=10,
        ge=1,
        le=100_000,
        title="Often used",
        description="How often a memory must have been recalled to be asked about.",
        json_schema_extra=field_extra("Questions", unit="recalls"),
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
        title="Writes a minute",
        description="Changes one client may make in any minute, whatever limit its searches have.",
        json_schema_extra=field_extra(_CLIENTS, unit="writes"),
    )
    reads_minute: int = Field(
        default=600,
        ge=1,
        le=100_000,
        title="Reads a minute",
        description="Lists and single memories one client may read in any minute, besides its searches.",
        json_schema_extra=field_extra(_CLIENTS, unit="reads"),
    )
    client_waits: int = Field(
        default=500,
        ge=1,
        le=100_000,
        title="Questions of one client",
        description="So many suggestions and questions of one client of the last 30 days wait in your review at most.",
        json_schema_extra=field_extra(_CLIENTS, unit="questions"),
    )
    client_idle_minutes: int = Field(
        default=0,
        ge=0,
        le=1_440,
        title="End silent connections",
        description="Minutes after which the connection of a client ends that says nothing and listens to no changes; "
        "0 for never.",
        json_schema_extra=field_extra(_CLIENTS, unit="minutes"),
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
        description="Tokens a model is taken to read at once when it is not named or not known.",
        json_schema_extra=field_extra(_SESSIONS, unit="tokens"),
    )
    recall_budget_ratio: float = Field(
        default=0.12,
        ge=0.0,
        le=0.5,
        title="Memory in a turn",
        description="Share of what a model reads at once that memory takes in a turn of a conversation.",
        json_schema_extra=field_extra(_SESSIONS),
    )
    memory_share_ceiling: float = Field(
        default=0.35,
        ge=0.0,
        le=0.95,
        title="Most memory",
        description="The largest share an assistant may ask for.",
        json_schema_extra=field_extra(_SESSIONS),
    )
    open_turns: int = Field(
        default=4,
        ge=1,
        le=100,
        title="Turns at once",
        description="Turns of one assistant that may be open at the same time.",
        json_schema_extra=field_extra(_SESSIONS, unit="turns"),
    )
    session_idle_s: int = Field(
        default=1_800,
        ge=60,
        le=86_400,
        title="Put a session away after",
        description="A session that is silent so long is saved and leaves the memory of this machine.",
        json_schema_extra=field_extra(_SESSIONS, unit="seconds"),
    )
    session_whole_h: float = Field(
        default=4.0,
        ge=0.0,
        le=720.0,
        title="A session comes back whole for",
        description="Taken up again within so many hours, a session has everything at hand that it had.",
        json_schema_extra=field_extra(_SESSIONS, unit="hours"),
    )
    session_gone_h: float = Field(
        default=24.0,
        ge=0.0,
        le=8_760.0,
        title="A session begins anew after",
        description="From so many hours on it has nothing at hand; in between it has what was in use most.",
        json_schema_extra=field_extra(_SESSIONS, unit="hours"),
    )
    repeat_from: float = Field(
        default=0.6,
        ge=0.1,
        le=1.0,
        title="Repetition in a summary from",
        description="Share of common words from which a sentence of a summary repeats one that was just kept.",
        json_schema_extra=field_extra(_SESSIONS),
    )
    repeat_within_s: int = Field(
        default=3_600,
        ge=0,
        le=604_800,
        title="Repetition within",
        description="So long after it a sentence of a summary is compared with what was kept.",
        json_schema_extra=field_extra(_SESSIONS, unit="seconds"),
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
        title="Keep out of contexts above",
        description="How much a text must read like an instruction before assistants are not given it by themselves.",
        json_schema_extra=field_extra(_HIDDEN_INSTRUCTIONS),
    )
    screen_block: float = Field(
        default=BLOCK_ABOVE,
        ge=0.2,
        le=0.95,
        title="Do not show to assistants above",
        description="How much a text must read like an instruction before an assistant that asks for it gets no word.",
        json_schema_extra=field_extra(_HIDDEN_INSTRUCTIONS),
    )
    screen_hard: float = Field(
        default=HARD_ABOVE,
        ge=0.2,
        le=0.95,
        title="Ask you first above",
        description="How much a text from outside must read like an instruction before it waits for you.",
        json_schema_extra=field_extra(_HIDDEN_INSTRUCTIONS),
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.screen_flag <= self.screen_block <= self.screen_hard:
            raise conflicting_options_error(_ORDER, "screen_flag", "screen_block", "screen_hard")
        return self


class BasicOptions(BaseModel):
    """Everything but the lifecycle's, the clients', the sessions' and the scan's; part of `Options`."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    undo_days: int = Field(
        default=90,
        ge=1,
        le=3650,
        title="Undo history",
        description="Days a change can be undone; applies to changes made from then on.",
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
        json_schema_extra=field_extra("Contradictions", restart=True),
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
    protect_health: bool = Field(
        default=False,
        title="Protect what is said of health",
        description="A memory in which a condition, a medicine or a test result of somebody is found is sensitive: "
        "other assistants get it only with your yes.",
        json_schema_extra=field_extra("Sensitive content"),
    )
    protect_contacts: bool = Field(
        default=False,
        title="Protect contact data",
        description="A memory in which a name of somebody, an address, a place where one lives, a telephone number or "
        "an e-mail address is found is sensitive too.",
        json_schema_extra=field_extra("Sensitive content"),
    )
    protected_spaces: str = Field(
        default="",
        max_length=2_000,
        title="Spaces with sensitive content",
        description="Spaces, with commas between them, in which whatever is found makes a memory sensitive at least.",
        json_schema_extra=field_extra("Sensitive content"),
    )
    protected_sources: str = Field(
        default="",
        max_length=200,
        title="Ways with sensitive content",
        description="By what way a memory came, with commas between them (document, tool_output): whatever is found in "
        "it makes it sensitive at least.",
        json_schema_extra=field_extra("Sensitive content"),
    )
    seal_minutes: int = Field(
        default=5,
        ge=1,
        le=240,
        title="Close sealed memories after",
        description="Minutes after which sealed memories need their passphrase again.",
        json_schema_extra=field_extra("Sealed memories", unit="minutes"),
    )


class Options(ScreeningOptions, SessionOptions, ClientOptions, LifecycleOptions, BasicOptions):
    """All options with their defaults; frozen, replaced as a whole when one changes."""
