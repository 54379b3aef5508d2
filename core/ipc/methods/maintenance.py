"""The methods about upkeep: statistics, the audit log, jobs, consolidation, the sweep, the cleanup of episodes.

A client's figures are counted within its scope by the engine. Must not do: tell a client a text, or a figure of the
whole vault.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from core.errors import Code, EnvironmentFaultError, UserError
from core.ipc.methods.definition.entry import (
    Answer,
    ChannelParams,
    Cursor,
    Entry,
    MemberOf,
    MemoryId,
    MethodCall,
    NoParams,
    Params,
    RequestId,
    SpaceName,
    await_future,
    check_spaces,
    client_method,
    client_write,
    owner_method,
    unpublished_field,
)
from core.ipc.methods.definition.results import (
    any_object,
    flag,
    list_of,
    map_of,
    nullable,
    number,
    one_of,
    record,
    ref,
    text,
    whole_number,
)
from core.ipc.methods.memory_json import to_json_value
from core.ipc.protocol.contract import format_wire_time
from core.types.lifecycle import DistilledTalk, JobRow, JobState, JobType, ListedStatement, RetentionLine
from core.types.sensitivity import SensitiveType
from core.types.talk import StatementType
from core.types.values import SecurityTier


class StatsParams(ChannelParams):
    """The parameters of `memory_stats`."""

    space: SpaceName | None = Field(None, description="Count this space and GLOBAL only.")


SensitiveTypeParam = Annotated[SensitiveType, MemberOf()]


class SensitiveParams(Params):
    """The parameters of `owner.sensitive`."""

    types: tuple[SensitiveTypeParam, ...] = Field(
        (), max_length=len(SensitiveType), description="Only these types of content."
    )
    space: SpaceName | None = Field(None, description="Only memories of this space.")
    after: int = Field(0, ge=0, description="The `next` of an earlier reply to the same call.")


class ProtectParams(Params):
    """The parameters of `owner.protect`."""

    space: SpaceName | None = Field(None, description="Only memories of this space.")
    after: int = Field(0, ge=0, description="The `next` of an earlier reply to the same call.")


class RetentionParams(Params):
    """The parameters of `owner.retention`."""

    space: str | None = Field(None, min_length=1, max_length=128, description="A space's name, or * for every space.")
    kind: str = Field("*", min_length=1, max_length=16, description="A kind, or * for every kind.")
    days: int | None = Field(None, ge=0, le=36_500, description="How long they stay; 0 takes the rule away.")
    dry_run: bool = unpublished_field(default=False)


class AuditLogParams(ChannelParams):
    """The parameters of `memory_audit_log`."""

    limit: int = Field(50, ge=1, le=200)


class ConsolidationParams(Params):
    """The parameters of `memory_run_consolidation`."""

    dry_run: bool = False
    request_id: RequestId | None = Field(None, description="Of a run; a dry run writes nothing.")


class EpisodeCleanupParams(Params):
    """The parameters of `memory_run_episode_cleanup`."""

    max_entries: int = Field(10000, ge=0, le=10000000, description="Episodes of this client that may stand.")
    request_id: RequestId | None = None


class JobsParams(Params):
    """The parameters of `owner.jobs`."""

    limit: int = unpublished_field(50, ge=1, le=500, description="Ended jobs, at most.")


class ConsolidateParams(Params):
    """The parameters of `owner.consolidate`."""

    dry_run: bool = unpublished_field(default=False, description="Only tell what a run would do.")


class DistillParams(Params):
    """The parameters of `owner.distill`."""

    import_id: MemoryId | None = Field(None, description="Of one import alone, as `import` answered.")
    dry_run: bool = unpublished_field(default=False, description="Only tell what a run would make.")
    after: Cursor | None = None


async def memory_stats(call: MethodCall, params: StatsParams) -> Answer:
    """How many memories there are in each state of their life, as far as the client may see them."""
    if params.space is not None:
        check_spaces(call.session, [params.space])
    found = await await_future(call.engine.maintenance.count_by_state(params.space, call.actor()))
    return {name: dict(counts) for name, counts in found.items()}


async def memory_audit_log(call: MethodCall, params: AuditLogParams) -> Answer:
    """The last of what this client did, newest first."""
    found = await await_future(call.engine.maintenance.list_own_actions(params.limit, call.actor()))
    return {
        "entries": [
            {
                "at": format_wire_time(action.at),
                "verb": action.verb,
                "id": action.id or None,
                "kind": action.kind or None,
                "space": action.space or None,
                "detail": dict(action.detail),
                "success": action.success,
            }
            for action in found
        ]
    }


async def memory_run_consolidation(call: MethodCall, params: ConsolidationParams) -> Answer:
    """Run a consolidation, or tell what the next would do."""
    run = call.engine.maintenance.consolidate
    found = await await_future(run(call.actor(), dry_run=params.dry_run, request_id=params.request_id))
    return {"dry_run": found.dry_run, "planned": dict(found.planned), "changed": dict(found.changed)}


async def use_retention(call: MethodCall, params: RetentionParams) -> Answer:
    """The rules of retention; with a space and days, what one would archive, or the rules with it."""
    retention = call.engine.retention
    if params.space is None or params.days is None:
        if params.space is not None or params.days is not None or params.dry_run:
            raise UserError(Code.INVALID_INPUT, "A rule needs a space and a number of days.")
        return {"rules": [_retention_json(one) for one in await await_future(retention.read_rules())]}
    if params.dry_run:
        line = await await_future(retention.preview_rule(params.space, params.kind, params.days))
        return {"rules": [_retention_json(line)]}
    lines = await await_future(retention.set_rule(params.space, params.kind, params.days))
    return {"rules": [_retention_json(one) for one in lines]}


def _retention_json(line: RetentionLine) -> dict[str, object]:
    return {"space": line.space, "kind": line.kind, "days": line.days, "over": line.over, "ids": list(line.ids)}


async def protect_found(call: MethodCall, params: ProtectParams) -> Answer:
    """Protect what was stored before texts were looked at, a page at a time."""
    done = await await_future(call.engine.library.protect_found(params.space, params.after))
    reply: Answer = {"protected": done.protected, "looked_at": done.looked_at, "step": done.step_id}
    return reply if done.next is None else {**reply, "next": done.next}


async def find_sensitive(call: MethodCall, params: SensitiveParams) -> Answer:
    """Memories that hold sensitive content, a page at a time, and where in their text."""
    page = await await_future(call.engine.library.find_sensitive(params.types, params.space, params.after))
    items = [
        {
            "id": one.id,
            "kind": one.kind.value,
            "status": one.status.value,
            "space": one.space,
            "tier": one.tier.value,
            "text": one.text,
            "spans": [{"type": span.type.value, "start": span.start, "end": span.end} for span in one.spans],
        }
        for one in page.items
    ]
    reply: Answer = {"items": items, "looked_at": page.looked_at}
    return reply if page.next is None else {**reply, "next": page.next}


async def memory_run_episode_cleanup(call: MethodCall, params: EpisodeCleanupParams) -> Answer:
    """Archive this client's consolidated notes that are old or too many (seed B)."""
    done = await await_future(
        call.engine.maintenance.archive_own_notes(params.max_entries, call.actor(), params.request_id)
    )
    return {"expired_deleted": done.expired, "capacity_deleted": done.capacity, "remaining": done.remaining}


async def list_jobs(call: MethodCall, params: JobsParams) -> Answer:
    """What is scheduled, waits, runs and ended."""
    state, now = await await_future(call.engine.jobs.read_state(params.limit)), call.engine.clock.now_ms()
    calendar = [
        to_json_value(
            {
                "type": beat.type.value,
                "title": beat.title,
                "about": beat.about,
                "last_at": beat.last_at,
                "next_at": beat.next_at,
                "due": beat.next_at is not None and beat.next_at <= now,
            }
        )
        for beat in state.calendar
    ]
    return {
        "paused": state.paused,
        "holds": state.holds,
        "pressure": state.pressure.value,
        "jobs": [job_json(row) for row in state.rows],
        "calendar": calendar,
        "total": state.total,
    }


async def consolidate_now(call: MethodCall, params: ConsolidateParams) -> Answer:
    """Consolidate now, or tell what a run would do; the report of seed A."""
    if params.dry_run:
        call.progress.report_progress("Looking at what a consolidation would do", 0, None)
        preview = await await_future(call.engine.jobs.preview_runs(1, (JobType.CONSOLIDATE,)))
        return {**preview.report, "job": None, "step": None}
    call.progress.report_progress("Consolidating", 0, None)
    row = _require_done(await await_future(call.engine.jobs.run(JobType.CONSOLIDATE, call.actor())))
    return {**row.report, "job": row.id, "step": row.step_id}


async def sweep_now(call: MethodCall, _params: NoParams) -> Answer:
    """Look for what fades, expires or can be archived, and for assistants' notes that can go."""
    call.progress.report_progress("Looking for fading memories", 0, None)
    swept = _require_done(await await_future(call.engine.jobs.run(JobType.SWEEP, call.actor())))
    tidied = _require_done(await await_future(call.engine.jobs.run(JobType.EPISODES, call.actor())))
    steps = [row.step_id for row in (swept, tidied) if row.step_id is not None]
    return {"swept": dict(swept.report), "episodes": dict(tidied.report), "steps": steps}


STATEMENTS_A_PAGE, IDS_A_PAGE = 200, 2000
_DRY = "dry"


async def distill_now(call: MethodCall, params: DistillParams) -> Answer:
    """Make statements of what was said, or tell what a run would make; a long answer comes in pages."""
    steps, begin = _job_page_of(params)
    found = await _run_distill(call, params, steps)
    statements = [_statement_json(one) for one in found.statements]
    page = statements[begin : begin + STATEMENTS_A_PAGE]
    end = begin + len(page)
    small: list[str] = []
    if end >= len(statements):
        at = max(0, begin - len(statements))
        small = list(found.small_talk[at : at + IDS_A_PAGE])
        end = len(statements) + at + len(small)
    more = {} if end >= len(statements) + len(found.small_talk) else {"next": f"{_runs_of(params, found)}/{end}"}
    return {
        "statements": page,
        "small_talk": small,
        "skipped": dict(found.skipped),
        **more,
    }


async def _run_distill(call: MethodCall, params: DistillParams, steps: Sequence[str]) -> DistilledTalk:
    statements = call.engine.statements
    if params.dry_run:
        waiting, done = await await_future(statements.count_waiting(params.import_id)), 0

        def report_read(count: int) -> None:
            nonlocal done
            done += count
            call.progress.report_progress("Reading what was said", done, waiting)

        return await await_future(statements.preview_statements(params.import_id, report_read, call.actor()))
    if params.after is not None:
        return await await_future(statements.read_runs(steps, params.import_id))
    call.progress.report_progress("Making statements", 0, None)
    return await await_future(statements.run(params.import_id, call.actor()))


def _job_page_of(params: DistillParams) -> tuple[tuple[str, ...], int]:
    """The runs that a page is of, and where it begins."""
    if params.after is None:
        return (), 0
    runs, _, begin = params.after.rpartition("/")
    if not begin.isdigit() or (runs == _DRY) is not params.dry_run:
        raise UserError(Code.INVALID_INPUT, "`after` is not the `next` of such a call.")
    return tuple(runs.split("+")), int(begin)


def _runs_of(params: DistillParams, found: DistilledTalk) -> str:
    return _DRY if params.dry_run else "+".join((*found.step_ids, *found.empty_ids))


def _statement_json(one: ListedStatement) -> dict[str, Any]:
    statement = one.told
    return {
        "id": one.id,
        "text": statement.text,
        "about": statement.about,
        "type": statement.type.value,
        "lasting": statement.is_lasting,
        "confidence": round(statement.confidence, 6),
        "episode_id": statement.episode_id,
        "span": list(statement.span),
        "operation": one.operation,
    }


def _require_done(row: JobRow) -> JobRow:
    if row.state is JobState.DONE:
        return row
    code = Code(row.code) if row.code else Code.BACKGROUND_STALLED
    raise EnvironmentFaultError(code, f"“{row.title}” did not end well ({row.state.value}); it is in the journal.")


def job_json(row: JobRow) -> dict[str, Any]:
    """One job as JSON; times in ISO 8601."""
    document: dict[str, Any] = to_json_value(
        {
            "id": row.id,
            "type": row.type.value,
            "title": row.title,
            "state": row.state.value,
            "by": row.actor,
            "progress": row.progress,
            "total": row.total,
            "attempts": row.attempts,
            "created_at": row.created_at,
            "started_at": row.started_at,
            "finished_at": row.finished_at,
            "report": dict(row.report),
            "code": row.code,
            "step": row.step_id,
            "can_undo": row.can_undo,
            "undone": row.undone,
            "waits_for": row.waits_for,
        }
    )
    return document


METHODS: tuple[Entry, ...] = (
    client_method(
        "memory_stats",
        "How many memories there are in each state of their life, as far as this client "
        "may see them; a split text counts once.",
        StatsParams,
        record(
            {
                "episodes": record(
                    {
                        "total": ref("count"),
                        "unconsolidated": ref("count"),
                        "backlog_age_hours": nullable(
                            number(least=0), "Of the oldest that waits; null where none does."
                        ),
                    }
                ),
                "facts": record(
                    {
                        "active": ref("count"),
                        "fading": ref("count"),
                        "superseded": ref("count"),
                        "expired": ref("count"),
                    }
                ),
                "rules": record(
                    {
                        "candidate": ref("count"),
                        "established": ref("count"),
                        "proven": ref("count"),
                        "anti_pattern": ref("count"),
                        "forgotten": ref("count"),
                    }
                ),
            }
        ),
        memory_stats,
        grants=("read",),
        errors=(Code.NOT_FOUND, Code.ACCESS_DENIED),
        aliases={"scope": "space"},
    ),
    client_method(
        "memory_audit_log",
        "The last of what this client did, newest first; ids and counts, never a text. "
        "Reads are put down within a second.",
        AuditLogParams,
        record(
            {
                "entries": list_of(
                    record(
                        {
                            "at": text(),
                            "verb": text("What was done, or `refused`."),
                            "id": nullable(
                                text(), "The memory; null for a search, and for what this client cannot see."
                            ),
                            "kind": nullable(ref("kind")),
                            "space": nullable(text()),
                            "detail": any_object("Counts and words of Loci's own."),
                            "success": flag(),
                        }
                    )
                ),
                "cut?": list_of(text()),
            }
        ),
        memory_audit_log,
        grants=("read",),
        errors=(Code.ACCESS_DENIED,),
    ),
    client_write(
        "memory_run_consolidation",
        "Consolidate now, or with `dry_run` tell what the next run would do. The run is "
        "Loci's own and goes over the whole vault; the counts are of what this client may "
        "see.",
        ConsolidationParams,
        record(
            {
                "dry_run": flag(),
                "planned": map_of(ref("count"), "Of a dry run: deed to count."),
                "changed": map_of(
                    ref("count"), "Of a run: memories that it changed, by the status that they have now."
                ),
            }
        ),
        memory_run_consolidation,
        grants=("curate",),
        errors=(
            Code.ACCESS_DENIED,
            Code.BACKGROUND_STALLED,
        ),
        long=True,
    ),
    client_write(
        "memory_run_episode_cleanup",
        "Archive this client's own consolidated episodes: those whose time is over, then "
        "the oldest of those that are too many. What is not consolidated stays; the "
        "person can bring everything back.",
        EpisodeCleanupParams,
        record({"expired_deleted": ref("count"), "capacity_deleted": ref("count"), "remaining": ref("count")}),
        memory_run_episode_cleanup,
        grants=("curate",),
        errors=(Code.ACCESS_DENIED,),
    ),
    owner_method(
        "jobs",
        "Scheduled work: what waits, runs and ended, and when each kind is due.",
        JobsParams,
        record(
            {
                "paused": flag(),
                "holds": text(),
                "pressure": one_of("normal", "elevated", "critical"),
                "jobs": list_of(any_object()),
                "calendar": list_of(any_object()),
                "total": whole_number(),
                "cut?": list_of(text()),
            }
        ),
        list_jobs,
    ),
    owner_method(
        "consolidate",
        "Consolidate now: unite what says the same, settle contradictions where trust allows it, make digests.",
        ConsolidateParams,
        record(
            {
                "deduplicated": whole_number(),
                "contradictions": any_object(),
                "corroborated": whole_number(),
                "compressed": any_object(),
                "pruned": any_object(),
                "before?": any_object(),
                "after?": any_object(),
                "duration_ms?": whole_number(),
                "dry_run": flag(),
                "skipped?": whole_number(),
                "job?": text(null=True),
                "step": text(null=True),
            }
        ),
        consolidate_now,
        effect="write",
        errors=(Code.BACKGROUND_STALLED,),
        long=True,
    ),
    owner_method(
        "distill",
        "Make statements of what was said: each in the third person, with the exact words of its episode as its "
        "source. What is small talk is marked so. One undo step where anything is made; with `dry_run` nothing is "
        "written.",
        DistillParams,
        record(
            {
                "statements": list_of(
                    record(
                        {
                            "id": text("Null in a dry run.", null=True),
                            "text": text(),
                            "about": text("Whom or what it tells of; of the owner `You`."),
                            "type": one_of(*(one.value for one in StatementType if one is not StatementType.NONE)),
                            "lasting": flag("Likely of use in a month."),
                            "confidence": number(),
                            "episode_id": text(),
                            "span": list_of(whole_number(), "From and to, in characters of the episode's text."),
                            "operation": text("What the gate made of it: ADD, NOOP where it stands already, …"),
                        }
                    )
                ),
                "small_talk": list_of(text("An episode that holds nothing worth keeping.")),
                "skipped": map_of(ref("count"), "What was left out, by reason."),
                "next?": text("Of a long answer; `after` of the next call with the same parameters."),
            }
        ),
        distill_now,
        effect="write",
        errors=(Code.NOT_FOUND, Code.EMBEDDER_UNAVAILABLE, Code.BACKGROUND_STALLED),
        long=True,
        short_ids={"import_id": "import"},
    ),
    owner_method(
        "retention",
        "How long memories of a space and kind stay before the sweep archives them: the rules, each with how many it "
        "would archive now. With a space and days a rule is set, or only looked at (`dry_run`).",
        RetentionParams,
        record(
            {
                "rules": list_of(
                    record(
                        {
                            "space": text(),
                            "kind": text(),
                            "days": whole_number(least=1),
                            "over": whole_number("Memories that the next sweep would archive by it.", least=0),
                            "ids": list_of(text(), "The first of them."),
                        }
                    )
                )
            }
        ),
        use_retention,
        effect="write",
        errors=(Code.NOT_FOUND,),
    ),
    owner_method(
        "protect",
        "Protect memories that were stored before texts were looked at, as if they were stored now; some hundreds are "
        "looked at for one answer, and one undo step takes their protection back.",
        ProtectParams,
        record(
            {
                "protected": whole_number("How many were raised to a higher tier.", least=0),
                "looked_at": whole_number("Memories read for this answer.", least=0),
                "step": nullable(text(), "The step that can be undone; null where nothing changed."),
                "next?": whole_number("Where there are more: `after` of the next call with the same parameters."),
            }
        ),
        protect_found,
        effect="write",
    ),
    owner_method(
        "sensitive",
        "Memories that hold sensitive content, told by rules: numbers of people and cards, credentials, contacts, "
        "homes, names, health. Forgotten and replaced ones too; some hundreds are looked at for one answer.",
        SensitiveParams,
        record(
            {
                "items": list_of(
                    record(
                        {
                            "id": text(),
                            "kind": text(),
                            "status": text(),
                            "space": text(),
                            "tier": one_of(*(one.value for one in SecurityTier)),
                            "text": text(),
                            "spans": list_of(
                                record(
                                    {
                                        "type": one_of(*(one.value for one in SensitiveType)),
                                        "start": whole_number("In characters of `text`."),
                                        "end": whole_number("Exclusive."),
                                    }
                                )
                            ),
                        }
                    )
                ),
                "looked_at": whole_number("Memories read for this answer."),
                "next?": whole_number("Where there are more: `after` of the next call with the same parameters."),
                "cut?": list_of(text()),
            }
        ),
        find_sensitive,
    ),
    owner_method(
        "sweep",
        "Look now for what fades, expires or can be archived, and for assistants' notes that can go.",
        NoParams,
        record({"swept": any_object(), "episodes": any_object(), "steps": list_of(text())}),
        sweep_now,
        effect="write",
        errors=(Code.BACKGROUND_STALLED,),
        long=True,
    ),
)
