"""The verbs on scheduled work: jobs, consolidate, sweep."""

from __future__ import annotations

from typing import Any

from core.engine.facade import Engine
from core.errors import Code, EnvironmentFaultError
from core.ipc.methods.memory_json import plain
from core.ipc.methods.owner.base import Params, Progress, wait
from core.types.lifecycle import JobRow, JobState, JobType
from core.types.values import Actor


def job_json(row: JobRow) -> dict[str, Any]:
    """One job as JSON.

    Args:
        row: the job.

    Returns:
        Its fields; times in ISO 8601.
    """
    told: dict[str, Any] = plain(
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
    return told


async def jobs(engine: Engine, params: Params, _actor: Actor, _progress: Progress) -> dict[str, Any]:
    """What is scheduled, waits, runs and ended."""
    state, now = await wait(engine.jobs.state(params.get("limit", 50))), engine.clock.now_ms()
    calendar = [
        plain(
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


async def consolidate(engine: Engine, params: Params, actor: Actor, progress: Progress) -> dict[str, Any]:
    """Consolidate now, or tell what a run would do; the report of seed A."""
    if params.get("dry_run", False):
        progress.tell("Looking at what a consolidation would do", 0, None)
        preview = await wait(engine.jobs.preview(1, (JobType.CONSOLIDATE,)))
        return {**preview.report, "job": None, "step": None}
    progress.tell("Consolidating", 0, None)
    row = _ended(await wait(engine.jobs.run(JobType.CONSOLIDATE, actor)))
    return {**row.report, "job": row.id, "step": row.step_id}


async def sweep(engine: Engine, _params: Params, actor: Actor, progress: Progress) -> dict[str, Any]:
    """Look for what fades, expires or can be archived, and for assistants' notes that can go."""
    progress.tell("Looking for fading memories", 0, None)
    swept = _ended(await wait(engine.jobs.run(JobType.SWEEP, actor)))
    tidied = _ended(await wait(engine.jobs.run(JobType.EPISODES, actor)))
    steps = [row.step_id for row in (swept, tidied) if row.step_id is not None]
    return {"swept": dict(swept.report), "episodes": dict(tidied.report), "steps": steps}


def _ended(row: JobRow) -> JobRow:
    if row.state is JobState.DONE:
        return row
    code = Code(row.code) if row.code else Code.BACKGROUND_STALLED
    raise EnvironmentFaultError(code, f"“{row.title}” did not end well ({row.state.value}); it is in the journal.")
