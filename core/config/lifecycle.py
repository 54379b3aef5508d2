"""The options of the lifecycle: when jobs run, and the lines at which something happens to a memory.

Every job reads them anew when it begins and at every batch. Must not do: decide anything.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from core.config.option_rows import field_extra

_WHEN, _MERGE, _FADE, _KEEP, _REPLAY = "Lifecycle", "Consolidation", "Fading", "Archive", "Replay"


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
        title="Consolidate every",
        description="Hours between two consolidations.",
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
        title="Same from",
        description="Likeness from which two memories are looked at as one, if what they say is the same.",
        json_schema_extra=field_extra(_MERGE),
    )
    corroborate_from: float = Field(
        default=0.9,
        ge=0.5,
        le=1.0,
        title="Confirms from",
        description="Likeness from which a memory of another source is looked at as confirming.",
        json_schema_extra=field_extra(_MERGE),
    )
    cluster_from: float = Field(
        default=0.75,
        ge=0.5,
        le=0.99,
        title="Related from",
        description="Likeness from which memories are gathered into one cluster.",
        json_schema_extra=field_extra(_MERGE),
    )
    cluster_least: int = Field(
        default=3,
        ge=2,
        le=100,
        title="Smallest cluster",
        description="Memories a cluster must have before a digest is made of it.",
        json_schema_extra=field_extra(_MERGE, unit="memories"),
    )
    compress_days: int = Field(
        default=30,
        ge=0,
        le=3_650,
        title="Digest after",
        description="Days all memories of a cluster must be old, and unused, before a digest is made of them.",
        json_schema_extra=field_extra(_MERGE, unit="days"),
    )
    fading_below: float = Field(
        default=0.2,
        ge=0.0,
        le=1.0,
        title="Fading below",
        description="Effective confidence below which a memory is marked as fading.",
        json_schema_extra=field_extra(_FADE),
    )
    expired_below: float = Field(
        default=0.05,
        ge=0.0,
        le=1.0,
        title="Expired below",
        description="Effective confidence below which a memory that nothing protects is archived as expired.",
        json_schema_extra=field_extra(_FADE),
    )
    archive_below: float = Field(
        default=0.05,
        ge=0.001,
        le=0.2,
        title="Archive below",
        description="Strength below which a memory that nothing protects is archived as faded.",
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
        description="Days an assistant's episode stands once it is consolidated. Imports are never touched.",
        json_schema_extra=field_extra(_KEEP, unit="days"),
    )
    episode_capacity: int = Field(
        default=10_000,
        ge=100,
        le=10_000_000,
        title="Most notes",
        description="Episodes of one assistant that stand; consolidated ones beyond it are archived, oldest first.",
        json_schema_extra=field_extra(_KEEP, unit="episodes"),
    )
    replay_on: bool = Field(
        default=True,
        title="Replay while idle",
        description="Strengthen what is often used and propose relations while nobody is at work.",
        json_schema_extra=field_extra(_REPLAY),
    )
    replay_idle_s: int = Field(
        default=120,
        ge=10,
        le=86_400,
        title="Idle after",
        description="Seconds without a search or a hand on the window before replay begins.",
        json_schema_extra=field_extra(_REPLAY, unit="seconds"),
    )
    replay_minutes: int = Field(
        default=30,
        ge=1,
        le=10_080,
        title="Replay every",
        description="Minutes between two replays.",
        json_schema_extra=field_extra(_REPLAY, unit="minutes"),
    )
    replay_budget: int = Field(
        default=50,
        ge=3,
        le=10_000,
        title="Replay at once",
        description="Memories one replay looks at.",
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
