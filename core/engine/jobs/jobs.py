"""The lifecycle for callers: what is scheduled, did and is taken back, and what a client may know and ask of it.

A preview is the plan that a run would carry out, so that the two agree. Of what runs over the whole vault a client
learns what lies within its scope. Must not do: carry out a job (the scheduler does); show a text.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, replace
from functools import cache
from importlib.resources import files
from typing import Any

from core.config.help_strings import read_help_strings
from core.engine.authority import Authority
from core.engine.health import health_report, read_trends
from core.engine.jobs.due_times import TURN, job_wordings, next_at
from core.engine.jobs.runner import JobCheckpoint
from core.engine.jobs.scheduler import Scheduler
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.settings import Settings
from core.engine.runtime.storage import Storage, chain_work, map_result
from core.errors import Code, EnvironmentFaultError, UserError
from core.intake.revise.revision import SPARED_DAYS, accept_link, open_links, reject_link, spare_memories
from core.intake.transaction.unit_of_work import IdempotentCall
from core.lifecycle.archive import read_archive_page
from core.lifecycle.consolidate.consolidate import (
    count_active,
    count_plan,
    forecast_memories,
    make_report,
)
from core.lifecycle.distill import model_queue
from core.lifecycle.episode_cleanup import EpisodeCleanupJob, count_remaining, plan_cleanup
from core.lifecycle.gauges import count_gauges_by_state, read_gauges
from core.lifecycle.job_support import job_store
from core.lifecycle.job_support.job_context import JobContext, Planner, StreamJob
from core.lifecycle.sweep import count_sweep
from core.recall.scope import Scope, visible_ids
from core.types.lifecycle import (
    ArchivePage,
    Consolidation,
    Gauges,
    Health,
    JobAction,
    JobRow,
    Jobs,
    JobState,
    JobType,
    OwnAction,
    PlannedAction,
    Preview,
    PreviewItem,
    ScheduledJob,
    Tidied,
    Trends,
)
from core.types.memory import ProposedLink
from core.types.values import GLOBAL_SPACE, OWNER_ACTOR, Actor, Grant, seen_from
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

CLEANUP = "episode_cleanup"
"""The verb of a cleanup in the audit."""
_BATCH = 500  # actions of one undo step: the writer is not held longer
_LOOKED_BACK = 200_000  # rows of the audit in which those of one client are looked for; it has no index over actors
_WORDS = frozenset({"operation", "phase", "action", "verdict", "signal", "maturity", "by", "code", "format", "how"})
"""Members of an audit row that hold a word of Loci's own; ids and figures of trust stay out."""
_AUDIT = (
    "SELECT a.at, a.verb, a.object, a.detail FROM audit a WHERE (:who IS NULL OR a.actor = :who) "
    "AND a.nr > (SELECT coalesce(max(nr), 0) FROM audit) - :back ORDER BY a.nr DESC LIMIT :most"
)
_CHANGED = (
    "SELECT DISTINCT m.id FROM undo_rows r JOIN memories m ON m.n = json_extract(r.row_key, '$.n') "
    "WHERE r.step_id = ? AND r.tbl = 'memories'"
)
_STATUSES = "SELECT status, count(*) FROM memories WHERE id IN (SELECT value FROM json_each(?)) GROUP BY status"
_PLACES = (
    "SELECT m.id, m.kind, s.name FROM memories m JOIN spaces s ON s.id = m.space_id "
    "WHERE m.id IN (SELECT value FROM json_each(?))"
)


class Maintenance:
    """Counts and runs as one asker sees them. Each method returns at once with a Future."""

    def __init__(
        self, open_vault: Callable[[], OpenVault], authority: Authority, jobs: JobsGroup, scheduler: Scheduler
    ) -> None:
        self._open_vault = open_vault
        self._authority = authority
        self._jobs = jobs
        self._scheduler = scheduler

    def count_by_state(self, space: str | None, actor: Actor) -> Future[Mapping[str, Mapping[str, Any]]]:
        """How many memories there are in each state of their life (seed B, memory stats), within the asker's scope.

        Args:
            space: count this space and GLOBAL only; None for all that the asker sees.

        Returns:
            `core.lifecycle.gauges.count_gauges_by_state`; the future raises NOT_FOUND for a space out of sight or
            unknown.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED without `read`.
        """
        open_vault = self._open_vault()
        scope = self._authority.make_scope(actor)
        now_ms = open_vault.storage.clock.now_ms()
        channels = None if scope.client_id is None else seen_from(scope.channel)
        return open_vault.storage.read(
            lambda rows: count_gauges_by_state(rows, _visible_space_ids(rows, space, scope), now_ms, channels)
        )

    def list_own_actions(self, limit: int, actor: Actor) -> Future[tuple[OwnAction, ...]]:
        """The last of what the asker did, newest first (E19d); to the owner what anybody did.

        Reads are put down within a second, and of a client only the last 200,000 rows of all are looked through.

        Args:
            limit: at most so many, from 1 on.

        Returns:
            Ids and counts; the id of what the asker may not see (any more) is left out.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED without `read`.
        """
        open_vault = self._open_vault()
        scope = self._authority.make_scope(actor)
        who = None if actor.client_id is None else f"client:{actor.client_id}"
        return open_vault.storage.read(lambda rows: _list_own_actions(rows, who, max(1, limit), scope))

    def consolidate(
        self, actor: Actor, *, dry_run: bool = False, request_id: str | None = None
    ) -> Future[Consolidation]:
        """Ask for a consolidation now, or for what the next one would do; the scheduler runs it over the whole vault.

        Args:
            actor: who asks; a client needs `curate`.
            dry_run: only tell what would be done.
            request_id: the caller's own id for this call: a run that came of it is not run again.

        Returns:
            Counts of memories that the asker sees; with a plan, of actions all of whose memories it sees. The future
            raises BACKGROUND_STALLED, or the run's own code, where it did not end well.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED.
        """
        open_vault = self._open_vault()
        client = self._authority.require_grant(actor, Grant.CURATE)
        scope = self._authority.make_scope(actor)
        if dry_run:
            return open_vault.storage.run_on(
                open_vault.storage.threads.checks, self._preview_consolidation, open_vault, scope
            )
        call = IdempotentCall(actor, request_id, {"verb": "consolidate"})

        def report_consolidation(row: JobRow) -> Future[Consolidation]:
            if request_id is None:
                return open_vault.storage.read(lambda rows: _report_consolidation(rows, row, scope))
            return open_vault.storage.write(lambda tx: record_consolidation(tx, row))

        def record_consolidation(tx: Tx, row: JobRow) -> Consolidation:
            self._authority.check_terms_hold(actor, client)
            with open_vault.storage.verb(tx, actor, "consolidate", call) as verb:
                if verb.earlier is not None:
                    return Consolidation(**verb.earlier)
                done = _report_consolidation(tx, row, scope)
                verb.set_outcome(None, asdict(done))  # the run itself was announced
                return done

        def run(known: Mapping[str, Any] | None) -> Future[Consolidation]:
            if known is not None:
                return open_vault.storage.read(lambda _: Consolidation(**known))
            asked = self._jobs.run(JobType.CONSOLIDATE, actor, lambda: self._authority.check_terms_hold(actor, client))
            return chain_work(asked, report_consolidation)

        return run(None) if request_id is None else chain_work(open_vault.storage.read(call.find_reply), run)

    def archive_own_notes(self, most: int | None, actor: Actor, request_id: str | None = None) -> Future[Tidied]:
        """Archive the asker's own consolidated notes: those whose time is over, then those that are too many.

        Seed B's episode cleanup. What is not consolidated is never taken; each 500 are one undo step.

        Args:
            most: notes that may stand; None for the option `episode_capacity`.
            actor: who asks; a client needs `curate` and cleans up its own notes, the owner everybody's.
            request_id: the caller's own id for this call: one that comes twice is carried out once.

        Returns:
            Counts of those notes.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED, INVALID_INPUT.
        """
        open_vault = self._open_vault()
        client = self._authority.require_grant(actor, Grant.CURATE)
        if most is not None and most < 0:
            raise UserError(Code.INVALID_INPUT, "The number of notes that may stand is 0 or more.")
        context = self._scheduler.make_context(open_vault)
        options = (
            open_vault.options if most is None else open_vault.options.model_copy(update={"episode_capacity": most})
        )
        call = IdempotentCall(actor, request_id, {"verb": CLEANUP, "most": most})

        def check_terms() -> None:
            self._authority.check_terms_hold(actor, client)

        return open_vault.storage.run_on(
            open_vault.storage.threads.jobs,
            _tidy_in_batches,
            open_vault.storage,
            replace(context, options=options),
            call,
            check_terms,
        )

    def _preview_consolidation(self, open_vault: OpenVault, scope: Scope) -> Consolidation:
        work = self._scheduler.agenda.jobs[JobType.CONSOLIDATE]
        context = self._scheduler.make_context(open_vault)
        actions = work.plan(context) if isinstance(work, Planner) else ()
        visible = open_vault.storage.vault.read(
            lambda rows: visible_ids(rows, {one for action in actions for one in _planned_ids(action)}, scope)
        )
        known = [action for action in actions if visible.issuperset(_planned_ids(action))]
        return Consolidation(dry_run=True, planned=dict(Counter(action.action.value for action in known)))


def _planned_ids(action: PlannedAction) -> tuple[str, ...]:
    return (action.memory_id, *action.others)


def _visible_space_ids(rows: Rows, space: str | None, scope: Scope) -> frozenset[str] | None:
    """The spaces that count (seed B, scope filtering on stats: the one that is named, and GLOBAL)."""
    allowed = None if scope.unrestricted else scope.space_ids
    if space is None:
        return allowed
    found = rows.value("SELECT id FROM spaces WHERE name = ?", (space,))
    if found is None or (allowed is not None and found not in allowed):
        raise UserError(Code.NOT_FOUND, "There is no such space.")
    return frozenset({str(found), GLOBAL_SPACE})


def _list_own_actions(rows: Rows, who: str | None, limit: int, scope: Scope) -> tuple[OwnAction, ...]:
    found = rows.all(_AUDIT, {"who": who, "back": _LOOKED_BACK, "most": limit})
    visible = visible_ids(rows, {str(row[2]) for row in found}, scope)
    places = {str(row[0]): (str(row[1]), str(row[2])) for row in rows.all(_PLACES, (json.dumps(sorted(visible)),))}
    own_actions = []
    for at, verb, obj, detail in found:
        kind, space = places.get(obj, ("", ""))
        details = json.loads(detail)
        kept = {name: value for name, value in details.items() if type(value) in (int, bool) or name in _WORDS}
        own_actions.append(OwnAction(at, verb, obj if obj in places else "", kind, space, kept, verb != "refused"))
    return tuple(own_actions)


def _report_consolidation(rows: Rows, row: JobRow, scope: Scope) -> Consolidation:
    if row.state is not JobState.DONE:
        code = Code(row.code) if row.code else Code.BACKGROUND_STALLED
        raise EnvironmentFaultError(code, "The consolidation did not end well; the person finds it in the journal.")
    touched = {str(one[0]) for one in rows.all(_CHANGED, (row.step_id or "",))}
    visible = json.dumps(sorted(visible_ids(rows, touched, scope)))
    return Consolidation(
        dry_run=False, changed={str(status): int(count) for status, count in rows.all(_STATUSES, (visible,))}
    )


def _tidy_in_batches(storage: Storage, context: JobContext, call: IdempotentCall, may: Callable[[], None]) -> Tidied:
    """Each batch is a transaction of its own; one that was cut off and is asked for again does the rest."""
    known, actor = storage.vault.read(call.find_reply), call.actor
    if known is not None:
        return Tidied(**known)
    actions = storage.vault.read(lambda rows: plan_cleanup(rows, context.options, context.now_ms, actor.client_id))
    over = many = 0
    for start in range(0, max(1, len(actions)), _BATCH):
        counts = storage.write(
            _make_cleanup_batch(storage, context, actor, actions[start : start + _BATCH], may)
        ).result()
        over, many = over + counts.get("expired", 0), many + counts.get("capacity", 0)
    done = Tidied(over, many, storage.vault.read(lambda rows: count_remaining(rows, actor.client_id)))

    def keep_reply(tx: Tx) -> None:
        may()
        with storage.verb(tx, actor, CLEANUP, call) as verb:
            verb.set_outcome(None, asdict(done))  # each batch was announced

    storage.write(keep_reply).result()
    return done


def _make_cleanup_batch(
    storage: Storage, context: JobContext, actor: Actor, actions: Sequence[PlannedAction], may: Callable[[], None]
) -> Callable[[Tx], Mapping[str, int]]:
    def write(tx: Tx) -> Mapping[str, int]:
        may()
        with storage.verb(tx, actor, CLEANUP, label="Tidy notes away") as verb:
            batch = EpisodeCleanupJob().apply_plan(tx, verb.step, context, actions)
            counts = {name: count for name, count in batch.counts.items() if name != "remaining"}  # of all clients
            verb.note_audit("", **counts)
            verb.set_outcome(batch.ids or None)
        return counts

    return write


_OTHERS = 5
_WEIGHT = {
    JobAction.ERASE: 0, JobAction.ARCHIVE: 1, JobAction.EXPIRE: 1, JobAction.STACK: 2, JobAction.MERGE: 2,
    JobAction.DIGEST: 2, JobAction.SUPERSEDE: 2, JobAction.ASK: 3, JobAction.FADE: 4, JobAction.RECOVER: 5,
    JobAction.CORROBORATE: 5, JobAction.STRENGTHEN: 6, JobAction.PROPOSE: 6,
}  # fmt: skip
"""What is listed first: what takes most away."""


def preview_jobs(
    jobs: Mapping[JobType, Planner | StreamJob], context: JobContext, kinds: Sequence[JobType], limit: int
) -> Preview:
    """Plan some kinds of work and tell what they would do.

    Args:
        jobs: every kind of work there is.
        kinds: which; streams have no plan and are passed over.
        limit: actions that are listed one by one, at most.

    Returns:
        The actions, those that take most away first. A memory that two kinds would act on is listed with the first.
    """
    found: list[tuple[JobType, PlannedAction]] = []
    taken: set[tuple[JobAction, str]] = set()
    reports: dict[JobType, Mapping[str, object]] = {}
    for kind in kinds:
        work = jobs.get(kind)
        if not isinstance(work, Planner):
            continue
        actions = work.plan(context)
        if kind in _REPORTS:
            reports[kind] = _REPORTS[kind](context, actions)
        for action in actions:
            if (action.action, action.memory_id) not in taken:
                taken.add((action.action, action.memory_id))
                found.append((kind, action))
    found.sort(key=lambda pair: (_WEIGHT[pair[1].action], -pair[1].value, pair[1].memory_id))
    counts = Counter(action.action.value for _, action in found)
    items = context.read(lambda rows: _make_preview_items(rows, found[:limit]))
    return Preview(context.now_ms, tuple(items), dict(counts), reports.get(JobType.CONSOLIDATE, {}), reports)


def _forecast_consolidation(context: JobContext, actions: Sequence[PlannedAction]) -> Mapping[str, object]:
    def read(rows: Rows) -> Mapping[str, object]:
        before = count_active(rows)
        after = forecast_memories(rows, actions, before)
        return make_report(count_plan(actions), before=before, after=after, duration_ms=0, dry_run=True).to_json()

    forecast: Mapping[str, object] = context.read(read)
    return forecast


_REPORTS: Mapping[JobType, Callable[[JobContext, Sequence[PlannedAction]], Mapping[str, object]]] = {
    JobType.CONSOLIDATE: _forecast_consolidation,
    JobType.SWEEP: lambda _, actions: count_sweep(actions),
}
"""What a run would report, from its plan: the same names and numbers."""


def _make_preview_items(rows: Rows, found: Sequence[tuple[JobType, PlannedAction]]) -> list[PreviewItem]:
    wanted = {one for _, action in found for one in (action.memory_id, *action.others[:_OTHERS])}
    known = {
        str(memory_id): (str(text), str(kind), str(space))
        for memory_id, text, kind, space in rows.all(
            "SELECT m.id, m.text, m.kind, s.name FROM json_each(?) w JOIN memories m ON m.id = w.value "
            "JOIN spaces s ON s.id = m.space_id",
            (to_json(sorted(wanted)),),
        )
    }
    return [
        PreviewItem(
            job,
            action,
            known[action.memory_id][0],
            tuple(known[one][0] for one in action.others[:_OTHERS] if one in known),
            known[action.memory_id][1],
            known[action.memory_id][2],
            reason_texts().get(action.reason, ""),
        )
        for job, action in found
        if action.memory_id in known
    ]


def reason_texts() -> Mapping[str, str]:
    """Reasons in words; `resources/help/lifecycle.json`."""
    texts: Mapping[str, str] = read_help_strings("lifecycle")
    return texts


PREVIEWED = (JobType.SWEEP, JobType.CONSOLIDATE, JobType.EPISODES, JobType.ERASE)
"""What takes something away: a preview tells of nothing else unless it is asked to."""
_OPEN = "('queued', 'running', 'poison')"
_READ = (
    "SELECT j.id, j.type, j.state, j.actor, j.created_at, j.started_at, j.finished_at, j.progress, j.total, "
    "j.attempts, j.not_before, j.report, j.code, s.id, s.undone_by, s.is_open, s.expires_at FROM jobs j "
    "LEFT JOIN undo_steps s ON s.id = j.step_id"
)


class JobsGroup:
    """Everything a caller does with scheduled work. Each method returns at once with a Future."""

    def __init__(self, open_vault: Callable[[], OpenVault], scheduler: Scheduler, settings: Settings) -> None:
        self._open_vault = open_vault
        self._scheduler = scheduler
        self._settings = settings

    def read_state(self, limit: int = 50) -> Future[Jobs]:
        """The scheduler as it stands.

        Args:
            limit: ended jobs, at most.

        Returns:
            What waits, runs and ended, and the calendar.
        """
        open_vault = self._open_vault()
        return open_vault.storage.read_quietly(lambda rows: self._read_jobs(open_vault, rows, limit))

    def preview_runs(self, limit: int = 200, kinds: Sequence[JobType] = PREVIEWED) -> Future[Preview]:
        """What the next runs would do; nothing is written.

        Args:
            limit: actions that are listed one by one, at most.

        Returns:
            The actions and their counts.
        """
        open_vault = self._open_vault()
        return open_vault.storage.run_on(
            open_vault.storage.threads.checks,
            preview_jobs,
            self._scheduler.agenda.jobs,
            self._scheduler.make_context(open_vault),
            kinds,
            limit,
        )

    def run(self, kind: JobType, actor: Actor = OWNER_ACTOR, may: Callable[[], object] | None = None) -> Future[JobRow]:
        """Run a kind of work now; behind what runs already.

        Args:
            may: raises where the asker may no longer; called where the job is written down.

        Returns:
            The job when it has ended, well or not.
        """
        open_vault = self._open_vault()
        ended = self._scheduler.ask_for(open_vault, kind, _audit_name_of(actor), may)
        return chain_work(ended, lambda kept: self._row_of(open_vault, kept))

    def cancel_job(self, job_id: str) -> Future[JobRow]:
        """Stop a job; what it did so far stays and can be taken back.

        Raises:
            UserError: VAULT_LOCKED; the future raises NOT_FOUND.
        """
        open_vault = self._open_vault()
        open_vault.storage.run_on(open_vault.storage.threads.reads, self._scheduler.cancel_job, open_vault, job_id)
        return open_vault.storage.read(lambda rows: self._require_job_row(open_vault, rows, job_id))

    def retry_job(self, job_id: str) -> Future[JobRow]:
        """Try a job again that failed too often, or that waits for a later time.

        Of the reading by a model any job that ended may be named: the episodes that were left after three bad answers
        are read again, by a new job where none waits.

        Raises:
            UserError: VAULT_LOCKED; the future raises NOT_FOUND.
        """
        open_vault = self._open_vault()

        def write(tx: Tx) -> JobRow:
            stored_job = job_store.read_job(tx, job_id)
            is_reading = stored_job is not None and stored_job.type is JobType.DISTILL
            revived = model_queue.revive_all_episodes(tx) if is_reading else 0
            runs = job_store.revive_job(tx, job_id)
            if runs is None and revived:
                runs = job_store.enqueue_job(tx, open_vault.storage.make_id, JobType.DISTILL, "owner")
            if runs is None:
                raise UserError(Code.NOT_FOUND, "There is no such job, or it needs no second try.")
            return self._require_job_row(open_vault, tx, runs)

        return map_result(open_vault.storage.write(write), lambda row: self._start_queued_job(open_vault, row))

    def set_paused(self, on: bool) -> Future[Jobs]:
        """Let scheduled work rest, or go on; what a person starts runs either way. The option `lifecycle_on`.

        Args:
            on: whether to pause.

        Returns:
            The scheduler as it stands then.
        """
        return chain_work(self._settings.set_option("lifecycle_on", not on), lambda _: self.read_state())

    def note_activity(self) -> None:
        """A hand was on the window: replay is for times without one."""
        self._open_vault().load.activity.note_input()

    def keep_from_archive(self, ids: Sequence[str], days: int = SPARED_DAYS) -> Future[str]:
        """Keep memories that a run would archive: their strength counts from now on; one undo step.

        Args:
            days: how long no run archives them, whatever their strength; 1 or more.

        Raises:
            UserError: VAULT_LOCKED; the future raises NOT_FOUND, INVALID_INPUT.
        """
        open_vault = self._open_vault()

        def write(tx: Tx) -> str:
            with open_vault.storage.verb(tx, OWNER_ACTOR, "spare") as verb:
                step = spare_memories(tx, open_vault.storage.work, ids, days, OWNER_ACTOR)
                verb.set_outcome(tuple(ids))
            return step

        return open_vault.storage.write(write)

    def list_archived(self, after: str | None = None, limit: int = 100) -> Future[ArchivePage]:
        """What is archived, newest first; the way back is `library.revise` to `active`.

        Args:
            after: `next` of the page before; None for the first.
            limit: rows, at most.
        """
        open_vault = self._open_vault()
        return open_vault.storage.read(lambda rows: read_archive_page(rows, after, limit, open_vault.options))

    def read_gauges(self, memory_id: str) -> Future[Gauges]:
        """How firmly a memory is remembered and how sure it is, now and as it goes on.

        Raises:
            UserError: VAULT_LOCKED; the future raises NOT_FOUND.
        """
        open_vault = self._open_vault()
        now = open_vault.storage.clock.now_ms()
        return open_vault.storage.read(lambda rows: read_gauges(rows, memory_id, open_vault.options, now))

    def list_proposed_links(self, limit: int = 100) -> Future[tuple[ProposedLink, ...]]:
        """Relations that replay proposes, the nearest first."""
        return self._open_vault().storage.read(lambda rows: open_links(rows, limit))

    def decide_link(self, from_id: str, to_id: str, *, accept: bool) -> Future[str]:
        """Draw a proposed relation, or never propose it again; one undo step.

        Args:
            accept: whether it is drawn.

        Returns:
            The undo step; the future raises NOT_FOUND where it is not proposed.
        """
        open_vault = self._open_vault()

        def write(tx: Tx) -> str:
            with open_vault.storage.verb(tx, OWNER_ACTOR, "link") as verb:
                if accept:
                    step = accept_link(tx, open_vault.storage.work, open_vault.storage.make_id, from_id, to_id)
                else:
                    step = reject_link(tx, open_vault.storage.work, from_id, to_id)
                verb.set_outcome((from_id, to_id))
            return step

        return open_vault.storage.write(write)

    def read_health(self) -> Future[Health]:
        """How everything is, in figures and plain warnings (E34.8)."""
        open_vault = self._open_vault()
        return open_vault.storage.read_quietly(lambda rows: health_report(open_vault, rows))

    def read_trends(self) -> Future[Trends]:
        """How the vault grew, and how long recall took."""
        open_vault = self._open_vault()
        now = open_vault.storage.clock.now_ms()
        return open_vault.storage.read_quietly(lambda rows: read_trends(rows, now))

    def _start_queued_job(self, open_vault: OpenVault, row: JobRow) -> JobRow:
        open_vault.storage.run_on(open_vault.storage.threads.reads, self._scheduler.start_next, open_vault)
        return row

    def _row_of(self, open_vault: OpenVault, kept: JobCheckpoint) -> Future[JobRow]:
        return open_vault.storage.read_quietly(lambda rows: self._require_job_row(open_vault, rows, kept.job_id))

    def _require_job_row(self, open_vault: OpenVault, rows: Rows, job_id: str) -> JobRow:
        found = rows.one(f"{_READ} WHERE j.id = ?", (job_id,))
        if found is None:
            raise UserError(Code.NOT_FOUND, "There is no such job.")
        return self._job_row_from(open_vault, found)

    def _read_jobs(self, open_vault: OpenVault, rows: Rows, limit: int) -> Jobs:
        waiting = rows.all(f"{_READ} WHERE j.state IN {_OPEN} ORDER BY j.state <> 'running', j.created_at, j.rowid")
        ended = rows.all(
            f"{_READ} WHERE j.state NOT IN {_OPEN} ORDER BY j.finished_at DESC, j.rowid DESC LIMIT ?", (limit,)
        )
        last = job_store.last_ended(rows, open_vault.storage.clock.now_ms())
        made_at = int(rows.value("SELECT created_at FROM vault_state"))
        strained = self._scheduler.agenda.heavy_work_hold(open_vault)
        return Jobs(
            paused=not open_vault.options.lifecycle_on,
            holds=describe_hold(strained),
            pressure=open_vault.load.resources.read_pressure(),
            rows=tuple(self._job_row_from(open_vault, row) for row in (*waiting, *ended)),
            calendar=tuple(
                ScheduledJob(
                    kind,
                    job_wordings()[kind].title,
                    job_wordings()[kind].about,
                    last.get(kind),
                    next_at(kind, open_vault.options, last.get(kind), made_at)
                    if open_vault.options.lifecycle_on
                    else None,
                    job_wordings()[kind].heavy,
                )
                for kind in self._scheduler.agenda.jobs
            ),
            total=int(rows.value(f"SELECT count(*) FROM jobs WHERE state NOT IN {_OPEN}")),  # noqa: S608 - constant
        )

    def _job_row_from(self, open_vault: OpenVault, row: Sequence[Any]) -> JobRow:
        (job_id, kind, state, actor, created, started, finished, progress, total, attempts, not_before, report, code,
         step, undone_by, is_open, expires) = row  # fmt: skip
        known = JobType(kind)
        can_undo = (
            step is not None and undone_by is None and not is_open and expires >= open_vault.storage.clock.now_ms()
        )
        return JobRow(
            id=job_id,
            type=known,
            title=job_wordings()[known].title,
            state=JobState(state),
            actor=actor,
            created_at=created,
            started_at=started,
            finished_at=finished,
            progress=progress,
            total=total,
            attempts=attempts,
            not_before=not_before,
            report=_parse_report(report),
            code=code or "",
            step_id=step,
            can_undo=can_undo,
            undone=undone_by is not None,
            waits_for=self._describe_wait(open_vault, job_id, known, actor, not_before) if state == "queued" else "",
        )

    def _describe_wait(
        self, open_vault: OpenVault, job_id: str, kind: JobType, actor: str, not_before: int | None
    ) -> str:
        job = job_store.StoredJob(job_id, kind, JobState.QUEUED, actor, 0, None, 0, not_before, None)
        return describe_hold(
            self._scheduler.agenda.hold_reason(open_vault, job, self._scheduler.make_context(open_vault)) or TURN
        )


def describe_hold(key: str) -> str:
    """Why a job does not run, as a sentence; "" for nothing."""
    return _load_hold_texts()[key] if key else ""


@cache
def _load_hold_texts() -> Mapping[str, str]:
    texts: dict[str, str] = json.loads((files("resources") / "lifecycle" / "holds.json").read_text(encoding="utf-8"))
    return texts


def _parse_report(text: str | None) -> Mapping[str, Any]:
    report: dict[str, Any] = json.loads(text or "{}")
    return report


def _audit_name_of(actor: Actor) -> str:
    return actor.kind if actor.client_id is None else f"client:{actor.client_id}"
