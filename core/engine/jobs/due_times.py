"""When each kind of scheduled work is due, and why what waits does not run.

Must not do: queue or run anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

from core.config.options import Options
from core.engine.runtime.open_vault import OpenVault
from core.lifecycle.job_support import clock_check, job_store
from core.lifecycle.job_support.clock_check import ClockWatch
from core.lifecycle.job_support.job_context import JobContext, Planner, StreamJob
from core.lifecycle.job_support.job_store import StoredJob
from core.types.lifecycle import JobType
from core.types.values import Pressure
from core.vault.database.rows import Rows

_HOUR_MS, _MINUTE_MS = 3_600_000, 60_000
_DISTIL_MS = 10 * _MINUTE_MS


@dataclass(frozen=True, slots=True)
class JobWording:
    """The texts about a kind of work.

    Attributes:
        title: what it is; `running` while it runs; `step` names the undo step.
        about: what it does, in a sentence.
        heavy: whether it steps aside for a battery and for memory that is short.
    """

    title: str
    running: str
    step: str
    about: str
    heavy: bool


@cache
def job_wordings() -> Mapping[JobType, JobWording]:
    """How every kind of work is called; `resources/lifecycle/jobs.json`."""
    wordings = json.loads((files("resources") / "lifecycle" / "jobs.json").read_text(encoding="utf-8"))
    return {kind: JobWording(**wordings[kind.value]) for kind in JobType}


def interval_ms(kind: JobType, options: Options) -> int | None:
    """How often a kind of work is due by the clock.

    Returns:
        Milliseconds between the end of one run and the next; None for work that follows its backlog alone.
    """
    sweeping = options.sweep_hours * _HOUR_MS
    return {
        JobType.CONSOLIDATE: options.consolidate_hours * _HOUR_MS,
        JobType.GAPS: options.consolidate_hours * _HOUR_MS,
        JobType.SWEEP: sweeping,
        JobType.EPISODES: sweeping,
        JobType.ERASE: sweeping if options.erase_kinds.strip() else None,
        JobType.REPLAY: options.replay_minutes * _MINUTE_MS if options.replay_on else None,
        JobType.DISTILL: _DISTIL_MS,
    }.get(kind)


def next_at(kind: JobType, options: Options, last_at: int | None, made_at: int) -> int | None:
    """When a kind of work is due.

    Args:
        last_at: when it last ended, epoch ms; None for never.
        made_at: when the vault was made: nothing is due in a vault that is younger than the interval.

    Returns:
        Epoch ms; None for work without a fixed time.
    """
    every = interval_ms(kind, options)
    return None if every is None else (made_at if last_at is None else last_at) + every


def is_due(kind: JobType, options: Options, last_at: int | None, made_at: int, now_ms: int) -> bool:
    """Whether a kind of work is due by the clock; a clock that was set back by more than an interval makes it due."""
    every, due = interval_ms(kind, options), next_at(kind, options, last_at, made_at)
    if every is None or due is None:
        return False
    return now_ms >= due or due - now_ms > 2 * every


_REST_MS = 120_000
_LONG_REST_MS = 24 * _HOUR_MS
_LAST_RUN = (
    "SELECT state, total, report FROM jobs WHERE type = ? AND finished_at = ? AND state IN ('done', 'cancelled') "
    "ORDER BY rowid DESC LIMIT 1"
)
PAUSED = "paused"
ON_BATTERY = "on_battery"
MEMORY_SHORT = "memory_short"
INDEX_LOADS = "index_loads"
NO_MODEL = "no_model"
LATER = "later"
CLOCK = "clock"
TURN = "turn"
"""Keys of `resources/lifecycle/holds.json`: why a queued job does not run."""


class Agenda:
    """Tells which kinds of work are due, and what holds each back.

    Attributes:
        watch: what is known of the clock in the vault that is open; None before one was.
    """

    def __init__(self, make_jobs: Callable[[], Mapping[JobType, Planner | StreamJob]]) -> None:
        self._make_jobs = make_jobs
        self.watch: ClockWatch | None = None

    @cached_property
    def jobs(self) -> Mapping[JobType, Planner | StreamJob]:
        """Every kind of work, by type; made with the first heartbeat, which few commands live to see."""
        return self._make_jobs()

    def list_due_jobs(self, open_vault: OpenVault, context: JobContext) -> tuple[JobType, ...]:
        """What is to be queued now.

        Args:
            context: what jobs would stand on.

        Returns:
            Kinds of work, in the order in which they shall run.
        """
        if not open_vault.options.lifecycle_on:
            return ()
        urgent = open_vault.load.resources.read_pressure() is Pressure.CRITICAL

        def read(rows: Rows) -> tuple[JobType, ...]:
            busy = {str(row[0]) for row in rows.all(
                "SELECT type FROM jobs WHERE state IN ('queued', 'running', 'poison')"
            )}  # fmt: skip
            last = job_store.last_ended(rows, context.now_ms)
            made_at = int(rows.value("SELECT created_at FROM vault_state"))
            return tuple(
                kind
                for kind in JobType
                if kind.value not in busy
                and self._is_due(kind, open_vault, context, rows, last.get(kind), made_at, urgent=urgent)
            )

        return open_vault.storage.vault.read(read)

    def missing_requirement(self, kind: JobType, context: JobContext) -> str:
        """Why a kind of work can do nothing at present.

        Returns:
            A key of the sentences; "" where it lacks nothing.
        """
        if kind in (JobType.CONSOLIDATE, JobType.REPLAY) and context.neighbours is None:
            return INDEX_LOADS
        if kind is JobType.DISTILL and context.ask is None and context.talk is None:
            return NO_MODEL
        return ""

    def hold_reason(self, open_vault: OpenVault, job: StoredJob, context: JobContext) -> str:
        """Why a queued job does not run now.

        Returns:
            A key of the sentences; "" where nothing holds it.
        """
        lacking = self.missing_requirement(job.type, context)
        if lacking:
            return lacking
        if job.not_before is not None and job.not_before > context.now_ms:
            return LATER
        if job.actor != "scheduler":
            return ""  # whoever asked for it wants it now
        if not open_vault.options.lifecycle_on:
            return PAUSED
        if (
            job.type in clock_check.WAITING
            and self.watch is not None
            and clock_check.is_archiving_paused(self.watch, context.now_ms)
        ):
            return CLOCK
        return self.heavy_work_hold(open_vault) if job_wordings()[job.type].heavy else ""

    def heavy_work_hold(self, open_vault: OpenVault) -> str:
        """Why no heavy work runs by itself now; "" for nothing."""
        if open_vault.load.resources.read_pressure() is not Pressure.NORMAL:
            return MEMORY_SHORT
        if open_vault.load.resources.on_battery() and not open_vault.options.lifecycle_on_battery:
            return ON_BATTERY
        return ""

    def _is_due(
        self,
        kind: JobType,
        open_vault: OpenVault,
        context: JobContext,
        rows: Rows,
        last: int | None,
        made_at: int,
        *,
        urgent: bool,
    ) -> bool:
        work = self.jobs.get(kind)
        if work is None or self.missing_requirement(kind, context):
            return False
        if kind is JobType.SWEEP and urgent and (last is None or context.now_ms - last > _HOUR_MS):
            return True  # always allowed, and soon (E22.7)
        if kind is JobType.REPLAY and open_vault.load.activity.idle_s < open_vault.options.replay_idle_s:
            return False
        timed = interval_ms(kind, open_vault.options) is not None
        if timed and not is_due(kind, open_vault.options, last, made_at, context.now_ms):
            return False
        if isinstance(work, Planner):
            return timed
        # What could not be done a moment ago (a text that has no vector) is looked at again after a while. Names can
        # always be read: what waits for them came since.
        if kind is not JobType.ENRICH and last is not None and 0 <= context.now_ms - last < _REST_MS:
            return False
        waiting = work.count_backlog(rows, context)
        if kind is JobType.EMBED and last is not None and 0 <= context.now_ms - last < _LONG_REST_MS:
            return waiting > _count_fruitless(rows, kind, last)
        return waiting > 0


def _count_fruitless(rows: Rows, kind: JobType, last: int) -> int:
    """How many the last run met where it could do nothing for any of them; 0 where it did something, or was stopped."""
    row = rows.one(_LAST_RUN, (kind.value, last))
    if row is None or row[0] != "done" or any(json.loads(row[2] or "{}").values()):
        return 0
    return int(row[1] or 0)
