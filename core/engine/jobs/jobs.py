"""The facade's group for the lifecycle: what is scheduled, what a run would do, did, and how it is taken back.

A preview is the plan that a run would carry out, so that the two agree. Must not do: carry out a job; the scheduler
does.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import cache
from importlib.resources import files
from typing import Any

from core.engine.health.report import health_report
from core.engine.jobs.agenda import TURN
from core.engine.jobs.runner import JobCheckpoint
from core.engine.jobs.schedule import job_wordings, next_at
from core.engine.jobs.scheduler import Scheduler
from core.engine.runtime.futures import chain, map_result
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.settings import Settings
from core.errors import Code, UserError
from core.intake.revise.relations import accept_link, open_links, reject_link
from core.intake.revise.retention_hold import SPARED_DAYS, spare_memories
from core.lifecycle.consolidate.run_report import (
    count_plan,
    count_standing,
    count_sweep,
    forecast_memories,
    make_report,
)
from core.lifecycle.decay.archive import read_archive_page
from core.lifecycle.decay.gauges import read_gauges
from core.lifecycle.distill import distill_queue
from core.lifecycle.kit import job_store
from core.lifecycle.kit.job_context import JobContext, Planner, StreamJob
from core.lifecycle.kit.reverted_runs import CHANGED
from core.memory.draft import to_json
from core.types.lifecycle import (
    Beat,
    Deed,
    Gauges,
    Graveyard,
    Health,
    JobRow,
    Jobs,
    JobState,
    JobType,
    Planned,
    Preview,
    PreviewItem,
)
from core.types.memory import ProposedLink
from core.types.values import OWNER_ACTOR, Actor
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

_OTHERS = 5
_WEIGHT = {
    Deed.ERASE: 0, Deed.ARCHIVE: 1, Deed.EXPIRE: 1, Deed.STACK: 2, Deed.MERGE: 2, Deed.DIGEST: 2, Deed.SUPERSEDE: 2,
    Deed.ASK: 3, Deed.FADE: 4, Deed.RECOVER: 5, Deed.CORROBORATE: 5, Deed.STRENGTHEN: 6, Deed.PROPOSE: 6,
}  # fmt: skip
"""What is told first: what takes most away."""


def preview_jobs(
    jobs: Mapping[JobType, Planner | StreamJob], ground: JobContext, kinds: Sequence[JobType], limit: int
) -> Preview:
    """Plan some kinds of work and tell what they would do.

    Args:
        jobs: every kind of work there is.
        ground: what they stand on.
        kinds: which; streams have no plan and are passed over.
        limit: deeds that are told one by one, at most.

    Returns:
        The deeds, those that take most away first. A memory that two kinds would act on is told once, with the first.
    """
    found: list[tuple[JobType, Planned]] = []
    taken: set[tuple[Deed, str]] = set()
    reports: dict[JobType, Mapping[str, object]] = {}
    for kind in kinds:
        work = jobs.get(kind)
        if not isinstance(work, Planner):
            continue
        deeds = work.plan(ground)
        if kind in _REPORTS:
            reports[kind] = _REPORTS[kind](ground, deeds)
        for deed in deeds:
            if (deed.deed, deed.memory_id) not in taken:
                taken.add((deed.deed, deed.memory_id))
                found.append((kind, deed))
    found.sort(key=lambda pair: (_WEIGHT[pair[1].deed], -pair[1].value, pair[1].memory_id))
    counts = Counter(deed.deed.value for _, deed in found)
    items = ground.read(lambda rows: _items(rows, found[:limit]))
    return Preview(ground.now_ms, tuple(items), dict(counts), reports.get(JobType.CONSOLIDATE, {}), reports)


def _consolidated(ground: JobContext, deeds: Sequence[Planned]) -> Mapping[str, object]:
    def read(rows: Rows) -> Mapping[str, object]:
        before = count_standing(rows)
        after = forecast_memories(rows, deeds, before)
        return make_report(count_plan(deeds), before=before, after=after, duration_ms=0, dry_run=True).to_json()

    told: Mapping[str, object] = ground.read(read)
    return told


_REPORTS: Mapping[JobType, Callable[[JobContext, Sequence[Planned]], Mapping[str, object]]] = {
    JobType.CONSOLIDATE: _consolidated,
    JobType.SWEEP: lambda _, deeds: count_sweep(deeds),
}
"""What a run would report, from its plan: the same names and numbers."""


def _items(rows: Rows, found: Sequence[tuple[JobType, Planned]]) -> list[PreviewItem]:
    wanted = {one for _, deed in found for one in (deed.memory_id, *deed.others[:_OTHERS])}
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
            deed,
            known[deed.memory_id][0],
            tuple(known[one][0] for one in deed.others[:_OTHERS] if one in known),
            known[deed.memory_id][1],
            known[deed.memory_id][2],
            reason_texts().get(deed.reason, ""),
        )
        for job, deed in found
        if deed.memory_id in known
    ]


@cache
def reason_texts() -> Mapping[str, str]:
    """Reasons in words; `resources/help/lifecycle.json`."""
    told: dict[str, str] = json.loads((files("resources") / "help" / "lifecycle.json").read_text(encoding="utf-8"))
    return told


PREVIEWED = (JobType.SWEEP, JobType.CONSOLIDATE, JobType.EPISODES, JobType.ERASE)
"""What takes something away: a preview tells of nothing else unless it is asked to."""
_OPEN = "('queued', 'running', 'poison')"
_READ = (
    "SELECT j.id, j.type, j.state, j.actor, j.created_at, j.started_at, j.finished_at, j.progress, j.total, "
    "j.attempts, j.not_before, j.report, j.code, s.id, s.undone_by, s.is_open, s.expires_at FROM jobs j "
    "LEFT JOIN undo_steps s ON s.id = j.step_id"
)

_UNSEEN = (
    "SELECT count(*) FROM jobs j LEFT JOIN undo_steps s ON s.id = j.step_id "  # noqa: S608 - a constant
    "WHERE j.actor = 'scheduler' AND j.finished_at > ? AND (coalesce(json_extract(j.report, '$.erased'), 0) > 0 "
    f"OR s.undone_by IS NULL AND EXISTS (SELECT 1 FROM undo_rows r WHERE r.step_id = s.id AND {CHANGED}))"
)


class JobsGroup:
    """Everything a caller does with scheduled work. Each method returns at once with a Future."""

    def __init__(self, opened: Callable[[], OpenVault], scheduler: Scheduler, settings: Settings) -> None:
        self._opened = opened
        self._scheduler = scheduler
        self._settings = settings

    def state(self, limit: int = 50) -> Future[Jobs]:
        """The scheduler as it stands.

        Args:
            limit: ended jobs, at most.

        Returns:
            What waits, runs and ended, and the calendar.
        """
        opened = self._opened()
        return opened.read_quietly(lambda rows: self._state(opened, rows, limit))

    def preview(self, limit: int = 200, kinds: Sequence[JobType] = PREVIEWED) -> Future[Preview]:
        """What the next runs would do; nothing is written.

        Args:
            limit: deeds that are told one by one, at most.
            kinds: which work.

        Returns:
            The deeds and their counts.
        """
        opened = self._opened()
        return opened.on(
            opened.threads.checks,
            preview_jobs,
            self._scheduler.agenda.jobs,
            self._scheduler.ground(opened),
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
        opened = self._opened()
        ended = self._scheduler.ask_for(opened, kind, _named(actor), may)
        return chain(ended, lambda kept: self._row_of(opened, kept))

    def cancel(self, job_id: str) -> Future[JobRow]:
        """Stop a job; what it did so far stays and can be taken back.

        Raises:
            UserError: VAULT_LOCKED; the future raises NOT_FOUND.
        """
        opened = self._opened()
        opened.on(opened.threads.reads, self._scheduler.cancel, opened, job_id)
        return opened.read(lambda rows: self._row(opened, rows, job_id))

    def retry(self, job_id: str) -> Future[JobRow]:
        """Try a job again that failed too often, or that waits for a later time.

        Of the reading by a model any job that ended may be named: the episodes that were left after three bad answers
        are read again, by a new job where none waits.

        Raises:
            UserError: VAULT_LOCKED; the future raises NOT_FOUND.
        """
        opened = self._opened()

        def write(tx: Tx) -> JobRow:
            held = job_store.by_id(tx, job_id)
            is_reading = held is not None and held.type is JobType.DISTILL
            revived = distill_queue.revive_all_episodes(tx) if is_reading else 0
            runs = job_store.revive(tx, job_id)
            if runs is None and revived:
                runs = job_store.enqueue(tx, opened.make_id, JobType.DISTILL, "owner")
            if runs is None:
                raise UserError(Code.NOT_FOUND, "There is no such job, or it needs no second try.")
            return self._row(opened, tx, runs)

        return map_result(opened.write(write), lambda row: self._kicked(opened, row))

    def pause(self, on: bool) -> Future[Jobs]:
        """Let scheduled work rest, or go on; what a person starts runs either way. The option `lifecycle_on`.

        Args:
            on: whether to pause.

        Returns:
            The scheduler as it stands then.
        """
        return chain(self._settings.set("lifecycle_on", not on), lambda _: self.state())

    def touch(self) -> None:
        """A hand was on the window: replay is for times without one."""
        self._opened().load.activity.touched()

    def spare(self, ids: Sequence[str], days: int = SPARED_DAYS) -> Future[str]:
        """Keep memories that a run would archive: their strength counts from now on; one undo step.

        Args:
            ids: which.
            days: how long no run archives them, whatever their strength; 1 or more.

        Returns:
            The undo step.

        Raises:
            UserError: VAULT_LOCKED; the future raises NOT_FOUND, INVALID_INPUT.
        """
        opened = self._opened()

        def write(tx: Tx) -> str:
            step = spare_memories(tx, opened.work, ids, days, OWNER_ACTOR)
            opened.announce_after(tx, "spare", tuple(ids), OWNER_ACTOR)
            return step

        return opened.write(write)

    def graveyard(self, after: str | None = None, limit: int = 100) -> Future[Graveyard]:
        """What is archived, newest first; the way back is `library.revise` to `active`.

        Args:
            after: `next` of the page before; None for the first.
            limit: rows, at most.

        Returns:
            A page.
        """
        opened = self._opened()
        return opened.read(lambda rows: read_archive_page(rows, after, limit, opened.options))

    def unseen(self, since_ms: int) -> Future[int]:
        """How many runs changed or erased memories by themselves since a moment, and stand."""
        return self._opened().read_quietly(lambda rows: int(rows.value(_UNSEEN, (since_ms,))))

    def gauges(self, memory_id: str) -> Future[Gauges]:
        """How firmly a memory is remembered and how sure it is, now and as it goes on.

        Raises:
            UserError: VAULT_LOCKED; the future raises NOT_FOUND.
        """
        opened = self._opened()
        now = opened.clock.now_ms()
        return opened.read(lambda rows: read_gauges(rows, memory_id, opened.options, now))

    def links(self, limit: int = 100) -> Future[tuple[ProposedLink, ...]]:
        """Relations that replay proposes, the nearest first."""
        return self._opened().read(lambda rows: open_links(rows, limit))

    def decide_link(self, from_id: str, to_id: str, *, accept: bool) -> Future[str]:
        """Draw a proposed relation, or never propose it again; one undo step.

        Args:
            accept: whether it is drawn.

        Returns:
            The undo step; the future raises NOT_FOUND where it is not proposed.
        """
        opened = self._opened()

        def write(tx: Tx) -> str:
            if accept:
                step = accept_link(tx, opened.work, opened.make_id, from_id, to_id)
            else:
                step = reject_link(tx, opened.work, from_id, to_id)
            opened.announce_after(tx, "link", (from_id, to_id), OWNER_ACTOR)
            return step

        return opened.write(write)

    def health(self) -> Future[Health]:
        """How everything is, in figures and plain warnings (E34.8)."""
        opened = self._opened()
        return opened.read_quietly(lambda rows: health_report(opened, rows))

    def _kicked(self, opened: OpenVault, row: JobRow) -> JobRow:
        opened.on(opened.threads.reads, self._scheduler.kick, opened)
        return row

    def _row_of(self, opened: OpenVault, kept: JobCheckpoint) -> Future[JobRow]:
        return opened.read_quietly(lambda rows: self._row(opened, rows, kept.job_id))

    def _row(self, opened: OpenVault, rows: Rows, job_id: str) -> JobRow:
        found = rows.one(f"{_READ} WHERE j.id = ?", (job_id,))
        if found is None:
            raise UserError(Code.NOT_FOUND, "There is no such job.")
        return self._shown(opened, found)

    def _state(self, opened: OpenVault, rows: Rows, limit: int) -> Jobs:
        waiting = rows.all(f"{_READ} WHERE j.state IN {_OPEN} ORDER BY j.state <> 'running', j.created_at, j.rowid")
        ended = rows.all(
            f"{_READ} WHERE j.state NOT IN {_OPEN} ORDER BY j.finished_at DESC, j.rowid DESC LIMIT ?", (limit,)
        )
        last = job_store.last_ended(rows, opened.clock.now_ms())
        made_at = int(rows.value("SELECT created_at FROM vault_state"))
        strained = self._scheduler.agenda.strained(opened)
        return Jobs(
            paused=not opened.options.lifecycle_on,
            holds=describe_hold(strained),
            pressure=opened.load.resources.pressure(),
            rows=tuple(self._shown(opened, row) for row in (*waiting, *ended)),
            calendar=tuple(
                Beat(
                    kind,
                    job_wordings()[kind].title,
                    job_wordings()[kind].about,
                    last.get(kind),
                    next_at(kind, opened.options, last.get(kind), made_at) if opened.options.lifecycle_on else None,
                    job_wordings()[kind].heavy,
                )
                for kind in self._scheduler.agenda.jobs
            ),
            total=int(rows.value(f"SELECT count(*) FROM jobs WHERE state NOT IN {_OPEN}")),  # noqa: S608 - constant
        )

    def _shown(self, opened: OpenVault, row: Sequence[Any]) -> JobRow:
        (job_id, kind, state, actor, created, started, finished, progress, total, attempts, not_before, report, code,
         step, undone_by, is_open, expires) = row  # fmt: skip
        known = JobType(kind)
        can_undo = step is not None and undone_by is None and not is_open and expires >= opened.clock.now_ms()
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
            report=_report(report),
            code=code or "",
            step_id=step,
            can_undo=can_undo,
            undone=undone_by is not None,
            waits_for=self._waits(opened, job_id, known, actor, not_before) if state == "queued" else "",
        )

    def _waits(self, opened: OpenVault, job_id: str, kind: JobType, actor: str, not_before: int | None) -> str:
        job = job_store.StoredJob(job_id, kind, JobState.QUEUED, actor, 0, None, 0, not_before, None)
        return describe_hold(self._scheduler.agenda.holds(opened, job, self._scheduler.ground(opened)) or TURN)


def describe_hold(key: str) -> str:
    """Why a job does not run, as a sentence; "" for nothing."""
    return _holds()[key] if key else ""


@cache
def _holds() -> Mapping[str, str]:
    told: dict[str, str] = json.loads((files("resources") / "lifecycle" / "holds.json").read_text(encoding="utf-8"))
    return told


def _report(text: str | None) -> Mapping[str, Any]:
    told: dict[str, Any] = json.loads(text or "{}")
    return told


def _named(actor: Actor) -> str:
    return actor.kind if actor.client_id is None else f"client:{actor.client_id}"
