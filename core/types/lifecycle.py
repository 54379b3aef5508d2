"""The lifecycle in frozen values: jobs, plans and reports of runs, gauges, health, upkeep as a caller may see it.

Must not do: hold a text, or a count of what the caller may not see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from core.types.talk import Statement
from core.types.values import Pressure


@dataclass(frozen=True, slots=True)
class KeptSpace:
    """The vectors of a model that is not used any more.

    Attributes:
        name: of the space.
        vectors: how many there are.
        until: epoch ms from which on they are dropped by themselves.
    """

    name: str
    vectors: int
    until: int


@dataclass(frozen=True, slots=True)
class Embedding:
    """The embedder as it stands.

    Attributes:
        model: what is searched with: "" for the built-in model, else `ollama:<model>`.
        space: the name of its vector space, `dims` the length of its vectors.
        wished: what shall be searched with; the same as `model` where no change is under way.
        done: memories that have their new vector; `total` all that shall get one; 0 of 0 where nothing is under way.
        code: why the embedder does not answer, an E-code; "" while it does.
        kept: spaces that are over.
        note: what the person should know of the model that is wished; "" for nothing.
    """

    model: str
    space: str
    dims: int
    wished: str
    done: int = 0
    total: int = 0
    code: str = ""
    kept: tuple[KeptSpace, ...] = ()
    note: str = ""

    @property
    def is_changing(self) -> bool:
        """Whether a change is under way."""
        return self.wished != self.model


@dataclass(frozen=True, slots=True)
class Offered:
    """A model of the local server that can be searched with.

    Attributes:
        wish: what `spaces.begin` takes.
        bytes: its size on this machine.
    """

    wish: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Offers:
    """What can be searched with beside the built-in model.

    Attributes:
        models: by name.
        code: why the server does not tell, an E-code; "" where it does.
    """

    models: tuple[Offered, ...]
    code: str = ""


@dataclass(frozen=True, slots=True)
class ChangeCost:
    """What a change to another model takes.

    Attributes:
        wish: the model.
        dims: length of its vectors.
        memories: how many need a vector of it.
        seconds: how long making them takes, by the rate of a few texts; the job pauses for a person besides.
        note: what the person should know of that model; "" for nothing.
    """

    wish: str
    dims: int
    memories: int
    seconds: float
    note: str


@dataclass(frozen=True, slots=True)
class OwnAction:
    """One row of the audit about something that the asker did itself (E19b).

    Attributes:
        at: epoch ms.
        verb: what it did, or `refused`.
        id: what it did it to; "" for a search and for what lies out of its sight by now.
        kind: of that memory; "" where it is none, or out of sight.
        space: of that memory; "" likewise.
        detail: counts and words of Loci's own; never a text, never a figure of trust.
        success: False for what was refused.
    """

    at: int
    verb: str
    id: str = ""
    kind: str = ""
    space: str = ""
    detail: Mapping[str, int | bool | str] = field(default_factory=dict)
    success: bool = True


@dataclass(frozen=True, slots=True)
class Consolidation:
    """A consolidation as one asker sees it.

    Attributes:
        dry_run: whether nothing was written.
        planned: what the next run would do to memories that the asker sees, deed to count; empty behind a run.
        changed: memories that it sees and that the run changed, status to count; empty for a dry run.
    """

    dry_run: bool
    planned: Mapping[str, int] = field(default_factory=dict)
    changed: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tidied:
    """What a cleanup of notes did (seed B, cleanup returns statistics); it archives, whatever the names say.

    Attributes:
        expired: notes whose time was over.
        capacity: notes that were too many.
        remaining: notes that still stand.
    """

    expired: int
    capacity: int
    remaining: int


class JobType(StrEnum):
    """The scheduled work."""

    ENRICH = "enrich"
    EMBED = "embed"
    CONSOLIDATE = "consolidate"
    DISTILL = "distill"
    SWEEP = "sweep"
    EPISODES = "episodes"
    ERASE = "erase"
    GAPS = "gaps"
    REPLAY = "replay"
    MIGRATE = "migrate"


class JobState(StrEnum):
    """Where a job stands: `poison` failed too often and waits for the person."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    POISON = "poison"


class JobAction(StrEnum):
    """What a run does to a memory."""

    STACK = "stack"
    MERGE = "merge"
    SUPERSEDE = "supersede"
    ASK = "ask"
    CORROBORATE = "corroborate"
    DIGEST = "digest"
    FADE = "fade"
    RECOVER = "recover"
    EXPIRE = "expire"
    ARCHIVE = "archive"
    ERASE = "erase"
    STRENGTHEN = "strengthen"
    PROPOSE = "propose"


@dataclass(frozen=True, slots=True)
class PlannedAction:
    """One deed of a plan; ids and numbers only, so that a plan can be kept in the vault.

    Attributes:
        action: what is done.
        memory_id: to which memory: of a merge the one that stays, of a digest its first source.
        others: the other memories: those absorbed, the other side of a pair.
        reason: a key of `resources/help/lifecycle.json`.
        value: the number behind it: likeness, effective confidence, strength; 0 to 1.
        detail: ids, counts and offsets that carrying it out needs.
    """

    action: JobAction
    memory_id: str
    others: tuple[str, ...] = ()
    reason: str = ""
    value: float = 0.0
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PreviewItem:
    """One deed of the next run, as the window shows it.

    Attributes:
        job: whose deed.
        planned: the deed.
        text: the memory's text; hostile, plain text only.
        other_texts: of `planned.others`, up to five.
        kind: the memory's kind; `space` is the name of its space.
        words: the reason as a sentence.
    """

    job: JobType
    planned: PlannedAction
    text: str
    other_texts: tuple[str, ...]
    kind: str
    space: str
    words: str


@dataclass(frozen=True, slots=True)
class Preview:
    """What the next run would do; nothing is written.

    Attributes:
        at: as of when, epoch ms.
        items: the deeds, strongest first, at most so many as were asked for.
        counts: deed to how many there are in all; one deed may be about several memories.
        report: of the consolidation among them, as its run would give it; empty where none was asked for.
        reports: of a consolidation and of a sweep, where they were asked for: names and numbers of the report that a
            run at once would give; of a consolidation all but `duration_ms` and `dry_run`.
    """

    at: int
    items: tuple[PreviewItem, ...]
    counts: Mapping[str, int]
    report: Mapping[str, Any] = field(default_factory=dict)
    reports: Mapping[JobType, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far one job has come.

    Attributes:
        actor: `scheduler`, `owner`, or `client:<id>`.
        progress: how much is done; `total` None where nobody can know.
        attempts: how often it failed.
        not_before: epoch ms before which it is not tried again; None for at once.
        step_id: the undo step all its batches share; None where it changed nothing, or where that step has expired.
        code: the E-code of its last failure; "" for none.
    """

    id: str
    type: JobType
    state: JobState
    actor: str
    progress: int
    total: int | None
    attempts: int
    not_before: int | None
    step_id: str | None
    code: str = ""
    started_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow(JobProgress):
    """One job as it is shown, waiting, running or ended.

    Attributes:
        title: in words.
        report: what it did: counts; for a consolidation the report of seed A.
        can_undo: whether its undo step can be taken back now; `undone` whether it was.
        waits_for: why a queued job does not run, in words; "" where nothing holds it.
    """

    title: str
    created_at: int
    finished_at: int | None
    report: Mapping[str, Any]
    can_undo: bool
    undone: bool
    waits_for: str = ""


@dataclass(frozen=True, slots=True)
class ScheduledJob:
    """One kind of scheduled work in the calendar.

    Attributes:
        title: in words; `about` says what it does in a sentence.
        last_at: when it last ended, epoch ms; `next_at` when it is due; None for never, or for no fixed time.
        is_heavy: whether it runs alone and steps aside for a person.
    """

    type: JobType
    title: str
    about: str
    last_at: int | None
    next_at: int | None
    is_heavy: bool


@dataclass(frozen=True, slots=True)
class Jobs:
    """The scheduler as it stands.

    Attributes:
        paused: whether the person paused it.
        holds: why no heavy work runs now, in words (on battery, memory is short, somebody searches); "" for nothing.
        pressure: of memory.
        rows: jobs that wait or run, then those that ended, newest first.
        calendar: every kind of work.
        total: of ended jobs.
    """

    paused: bool
    holds: str
    pressure: Pressure
    rows: tuple[JobRow, ...]
    calendar: tuple[ScheduledJob, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Curve:
    """A gauge over time, for drawing.

    Attributes:
        days: days from now, negative for the past, ascending.
        values: 0 to 1, one for each day.
    """

    days: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Gauges:
    """How firmly a memory is remembered and how sure it is, now and as it goes on if nobody touches it.

    Attributes:
        strength: now; `strength_curve` from the last touch (storing, recall, sparing) to a year from now.
        confidence: effective confidence now; `confidence_curve` likewise, from the last confirmation on.
        permanence: the level that decides how fast confidence falls.
        fading_below: the line of fading; `expired_below` that of expiry; `archive_below` that of strength.
        fades_at: when confidence falls below the line of fading, epoch ms; None for never or already.
        archived_at: when it would be archived by strength or confidence; None for never.
        protected_by: keys of `resources/help/lifecycle.json` that say why it is not archived; empty for nothing.
        is_fading: whether it is marked as fading.
        spared_until: epoch ms; None where the person did not spare it.
    """

    strength: float
    strength_curve: Curve
    confidence: float
    confidence_curve: Curve
    permanence: str
    fading_below: float
    expired_below: float
    archive_below: float
    fades_at: int | None
    archived_at: int | None
    protected_by: tuple[str, ...]
    is_fading: bool
    spared_until: int | None


@dataclass(frozen=True, slots=True)
class ArchivedMemory:
    """One archived memory.

    Attributes:
        text: plain text only.
        reason: a key of `resources/help/lifecycle.json`: `faded`, `expired`, `doubted`, `old_version`, `rejected`, ...
        archived_at: epoch ms.
        erased_at: when it is erased for good; None for never.
        can_return: whether it can be restored as it stands.
    """

    id: str
    text: str
    kind: str
    space: str
    reason: str
    archived_at: int
    erased_at: int | None
    can_return: bool


@dataclass(frozen=True, slots=True)
class ArchivePage:
    """A page of what is archived, newest first; `next` continues, None at the end."""

    rows: tuple[ArchivedMemory, ...]
    total: int
    next: str | None


@dataclass(frozen=True, slots=True)
class Health:
    """The fields of E34.8 under the names of Loci.

    Attributes:
        counts: episodes, facts, rules, procedures, digests, edges, pending_embeddings.
        performance: avg_search_ms and p99_search_ms over the last 100 recalls, write_queue, readers_idle.
        ram: index_mb, total_mb, budget_mb, pressure, index_kind.
        background: last_consolidation and last_sweep (epoch ms or None), consolidation_backlog, archive_candidates.
        degradation: search_strategy (full, bm25_only, degraded), model_server, warnings.
        warnings: plain sentences, the worst first; the same as in `degradation`.
    """

    counts: Mapping[str, int]
    performance: Mapping[str, float | int | None]
    ram: Mapping[str, float | str]
    background: Mapping[str, int | None]
    degradation: Mapping[str, Any]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasure removed; no text.

    Attributes:
        memories: rows, parts of a split text counted.
        backups: names of backup files that still hold it.
    """

    memories: int
    backups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Consolidated:
    """The report of a consolidation (seed A, feature 6)."""

    deduplicated: int = 0
    resolved: int = 0
    pending: int = 0
    corroborated: int = 0
    clusters: int = 0
    source_memories: int = 0
    pruned_superseded: int = 0
    pruned_decayed: int = 0
    pruned_disputed: int = 0
    before: Mapping[str, int] = field(default_factory=dict)
    after: Mapping[str, int] = field(default_factory=dict)
    duration_ms: int = 0
    dry_run: bool = False
    skipped: int = 0

    def to_json(self) -> dict[str, Any]:
        """The shape of seed A, for the command line and the journal."""
        return {
            "deduplicated": self.deduplicated,
            "contradictions": {"resolved": self.resolved, "pending": self.pending},
            "corroborated": self.corroborated,
            "compressed": {"clusters": self.clusters, "source_memories": self.source_memories},
            "pruned": {
                "superseded": self.pruned_superseded,
                "decayed": self.pruned_decayed,
                "disputed": self.pruned_disputed,
            },
            "before": dict(self.before),
            "after": dict(self.after),
            "duration_ms": self.duration_ms,
            "dry_run": self.dry_run,
            "skipped": self.skipped,
        }


@dataclass(frozen=True, slots=True)
class RuleState:
    """How a rule has served.

    Attributes:
        maturity: `candidate`, `established`, `proven` or `anti_pattern`.
        helpful: helpful marks; `harmful` harmful ones; together they are how often it was applied.
        effectiveness: after the last mark, 0 to 1.
        last_applied_at: epoch ms; None where it was never applied.
        needs_inversion: whether it shall be turned into an anti-pattern and is not yet.
        original_text: of an anti-pattern what it said before; plain text only.
        reasons: why it harmed, in the words of those who said so, the oldest first; plain text only.
        proposal: the review item that asks the person to turn it around; None where there is none.
    """

    memory_id: str
    maturity: str
    helpful: int
    harmful: int
    effectiveness: float
    last_applied_at: int | None
    needs_inversion: bool
    original_text: str | None
    reasons: tuple[str, ...]
    proposal: str | None

    @property
    def applied(self) -> int:
        """How often it was applied."""
        return self.helpful + self.harmful


@dataclass(frozen=True, slots=True)
class ProcedureState:
    """How a procedure goes and how it went.

    Attributes:
        steps: in order; plain text only.
        tools: what it uses.
        cues: words that call it up.
        successes: how often it went well; `failures` how often it did not.
        average_ms: how long it took on average where that was said; 0 for never.
        last_used_at: epoch ms; None where it was never used.
    """

    memory_id: str
    steps: tuple[str, ...]
    tools: tuple[str, ...]
    cues: tuple[str, ...]
    successes: int
    failures: int
    average_ms: int
    last_used_at: int | None

    @property
    def success_rate(self) -> float | None:
        """Successes over runs, 0 to 1; None where it never ran."""
        runs = self.successes + self.failures
        return self.successes / runs if runs else None


@dataclass(frozen=True, slots=True)
class Marked:
    """What a mark of a rule did.

    Attributes:
        state: of the rule as it stands now.
        step_id: the undo step.
        inverted: whether the rule was turned into an anti-pattern with it.
        conflict: the review item that asks the person to turn it around; None where none is open.
    """

    state: RuleState
    step_id: str
    inverted: bool = False
    conflict: str | None = None


@dataclass(frozen=True, slots=True)
class OutcomeTaken:
    """What a recorded outcome did: the procedure as it stands now and the undo step."""

    state: ProcedureState
    step_id: str


@dataclass(frozen=True, slots=True)
class Mentioned:
    """An entity at a place of a memory's text.

    Attributes:
        type: person, organization, place, project, technology, file, service, concept or other.
        start: first code point of its first mention; `end` is exclusive.
    """

    id: str
    name: str
    type: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Inferred:
    """What was inferred from a memory's text; words of the text are hostile, plain text only.

    Attributes:
        technologies: as the vocabulary writes them; `paths` and `urls` as written.
        dates: `YYYY-MM-DD` or `YYYY-MM`.
        topics: words of a fixed taxonomy.
        language: of code in it; "" for none.
        valence: -1 (bad) to 1 (good); `arousal` 0 to 1.
        entities: in the order of the text.
        made_by: `rules` or `model`; `at` when, epoch ms.
    """

    technologies: tuple[str, ...]
    paths: tuple[str, ...]
    urls: tuple[str, ...]
    dates: tuple[str, ...]
    topics: tuple[str, ...]
    language: str
    valence: float
    arousal: float
    entities: tuple[Mentioned, ...]
    made_by: str
    at: int


@dataclass(frozen=True, slots=True)
class ListedStatement:
    """A statement that a run made, or would make.

    Attributes:
        id: of the memory that says it; None where nothing was written.
        told: the statement.
        operation: what the gate made of it; NOOP where it stands already.
    """

    id: str | None
    told: Statement
    operation: str


@dataclass(frozen=True, slots=True)
class DistilledTalk:
    """What became of talk.

    Attributes:
        statements: in the order of the talk.
        small_talk: ids of episodes that hold nothing worth keeping.
        skipped: how much was left out, by reason.
        step_ids: undo steps of the runs; empty where nothing was written.
        empty_ids: jobs that read and made nothing, and so left no undo step.
    """

    statements: tuple[ListedStatement, ...] = ()
    small_talk: tuple[str, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    step_ids: tuple[str, ...] = ()
    empty_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LatencyPeriod:
    """How long recalls of an hour or a day took.

    Attributes:
        at: its beginning, epoch ms; that of a day in the local zone.
        recalls: how many there were.
        p50_ms: the median, milliseconds; `p95_ms` the 95th percentile.
    """

    at: int
    recalls: int
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class Trends:
    """How the vault grew, and how long recall took.

    Attributes:
        growth: (beginning of a day of the local zone, epoch ms; memories of now that had been stored by its end),
            ascending; the last one is today, with the total of a status report; empty where there is none.
        latency: periods with recalls, ascending; days, or hours where the receipts are of a few days.
    """

    growth: tuple[tuple[int, int], ...]
    latency: tuple[LatencyPeriod, ...]


@dataclass(frozen=True, slots=True)
class RetentionLine:
    """One rule of retention, and what it would archive now.

    Attributes:
        space: the space's name, or `*`; `kind` likewise.
        over: how many memories have stayed for longer, and nothing protects.
        ids: the first twenty of them.
    """

    space: str
    kind: str
    days: int
    over: int
    ids: tuple[str, ...]
