"""Jobs as the vault keeps them: queued, leased, moved on, ended; and what a person took back of their runs.

A job is written in the same transaction as the batch it did, so that after a kill it goes on exactly behind the last
batch that was saved. All times are the clock's own: work that is paused or due by a time that was wrong once would
never come, or never end. While the undo step of a run is kept, it tells what was taken back. When it expires, the lines
of the consolidation log say that the person decided otherwise, episodes whose reading was taken back count as read, and
every memory that the run had changed has a row in `taken_back`: so no run repeats what was undone. Must not do: run a
job, or hold memory text: a plan has ids and numbers only.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.types.lifecycle import JobAction, JobProgress, JobState, JobType, PlannedAction
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

TAKEN_BACK = "taken_back"
"""Who decided (`consolidation_log.decided_by`), once the step that a person took back has expired."""

CHANGED = "s.verb IN ('sweep', 'consolidate', 'episodes') AND r.tbl = 'memories' AND r.before IS NOT NULL"
"""Of `undo_steps s` and `undo_rows r`: a run changed a memory that stood."""

# A step is known by itself or by the step that took it back: whichever expires first.
_UNDONE = (
    "SELECT id FROM undo_steps WHERE undone_by IS NOT NULL "
    "AND (id IN (SELECT value FROM json_each(:steps)) OR undone_by IN (SELECT value FROM json_each(:steps)))"
)
_MEMORIES = (
    "SELECT DISTINCT h.id FROM undo_steps s JOIN undo_rows r ON r.step_id = s.id "  # noqa: S608 - constants
    "JOIN memories m ON m.n = json_extract(r.row_key, '$.n') JOIN memories h ON h.id = coalesce(m.part_of, m.id) "
    f"WHERE s.id IN ({_UNDONE}) AND {CHANGED} AND h.id NOT IN (SELECT memory_id FROM taken_back) ORDER BY 1"
)
_EPISODES = (
    "SELECT DISTINCT m.id FROM undo_rows r JOIN memories m ON m.id = json_extract(r.row_key, '$.memory_id') "  # noqa: S608 - constants
    f"WHERE r.tbl = 'distilled' AND r.step_id IN ({_UNDONE}) ORDER BY 1"
)
# What was made of talk and taken back is not made again by itself; a row of now says more.
_READ_TALK = (
    "SELECT DISTINCT m.id, m.content_hash FROM undo_rows r "  # noqa: S608 - constants
    "JOIN memories m ON m.id = json_extract(r.row_key, '$.memory_id') "
    f"WHERE r.tbl = 'readings' AND r.before IS NULL AND r.step_id IN ({_UNDONE}) "
    "AND m.id NOT IN (SELECT memory_id FROM readings) ORDER BY 1"
)
_CHANGES = "SELECT 1 FROM undo_rows WHERE step_id = ? AND tbl NOT IN ('readings', 'distilled') LIMIT 1"
"""Whether a run did more than mark what it read."""
_PAIRS = (
    "SELECT l.operation, l.memory_id, l.other_id FROM undo_steps s JOIN consolidation_log l ON l.step_id = s.id "
    "WHERE s.undone_by IS NOT NULL AND l.other_id IS NOT NULL UNION ALL "
    "SELECT operation, memory_id, other_id FROM consolidation_log WHERE decided_by = ? AND other_id IS NOT NULL"
)


def keep_reverted_pairs(tx: Tx, steps: str) -> None:
    """Keep what steps that expire now say of what was taken back; before their rows go.

    Args:
        steps: ids, a JSON list.
    """
    tx.run(
        f"UPDATE consolidation_log SET decided_by = :by WHERE other_id IS NOT NULL AND step_id IN ({_UNDONE})",  # noqa: S608 - constants
        {"by": TAKEN_BACK, "steps": steps},
    )
    marked = [{"memory_id": row[0], "at": tx.now_ms} for row in tx.all(_MEMORIES, {"steps": steps})]
    tx.insert_many("taken_back", marked)
    for (memory_id,) in tx.all(_EPISODES, {"steps": steps}):
        key, done = {"memory_id": memory_id}, {"state": "done", "code": None}
        if not tx.update("distilled", key, done) and tx.row("distilled", key) is None:
            tx.insert("distilled", {**key, **done, "attempts": 0, "at": tx.now_ms})
    read = {"version": TAKEN_BACK, "small_talk": 0, "at": tx.now_ms}
    found = tx.all(_READ_TALK, {"steps": steps})
    tx.insert_many("readings", [{**read, "memory_id": row[0], "content_hash": row[1]} for row in found])


def read_reverted_pairs(rows: Rows) -> list[tuple[str, str, str]]:
    """What steps did to two memories and a person took back, however long ago.

    Returns:
        Operation of the consolidation log, and the two ids.
    """
    return [(str(operation), str(one), str(other)) for operation, one, other in rows.all(_PAIRS, (TAKEN_BACK,))]


LEASE_MS = 300_000
"""A job that runs has moved on within this time, or its process is gone."""
TRIES = 5
"""A job that failed so often in a row waits for the person (`poison`)."""
_PATIENT_MS = 600_000
_FIRST_PAUSE_MS, _LONGEST_PAUSE_MS = 60_000, 6 * 3_600_000
_KEPT = 500
_DAY_MS = 86_400_000
_COLUMNS = "id, type, state, actor, progress, total, attempts, not_before, step_id, cursor, report, code, started_at"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredJob(JobProgress):
    """A job as it is taken up.

    Attributes:
        cursor: where a stream goes on; of a planner what it noted at its beginning.
        counts: what became of what it looked at so far.
    """

    cursor: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)


def enqueue_job(
    tx: Tx, make_id: Callable[[], str], kind: JobType, actor: str, cursor: Mapping[str, Any] | None = None
) -> str:
    """Queue a job, once: where one of its type waits or runs, that one is meant.

    Args:
        actor: `scheduler`, `owner` or `client:<id>`.
        cursor: what a stream begins with; one that has begun goes on with its own.
    """
    known = tx.one("SELECT id, actor FROM jobs WHERE type = ? AND state IN ('queued', 'running')", (kind.value,))
    if known is not None:
        # Asked for by a person it waits for nothing but its turn.
        if actor != "scheduler":
            tx.run("UPDATE jobs SET actor = ?, not_before = NULL WHERE id = ?", (actor, known[0]))
            if cursor is not None:
                tx.run(
                    "UPDATE jobs SET cursor = ? WHERE id = ? AND started_at IS NULL", (to_json(dict(cursor)), known[0])
                )
        return str(known[0])
    job_id = make_id()
    tx.run(
        "INSERT INTO jobs (id, type, state, actor, created_at, cursor) VALUES (?, ?, 'queued', ?, ?, ?)",
        (job_id, kind.value, actor, tx.clock_ms, to_json(dict(cursor or {}))),
    )
    return job_id


def read_job(rows: Rows, job_id: str) -> StoredJob | None:
    """One job; None when there is no such."""
    row = rows.one(f"SELECT {_COLUMNS} FROM jobs WHERE id = ?", (job_id,))  # noqa: S608 - constant
    return None if row is None else _job_from_row(row)


def read_waiting_jobs(rows: Rows, now_ms: int) -> list[StoredJob]:
    """Jobs that may run now: those a person asked for first, then in the order they came.

    Returns:
        Queued jobs whose pause is over.
    """
    found = rows.all(
        f"SELECT {_COLUMNS} FROM jobs WHERE state = 'queued' AND coalesce(not_before, 0) <= ? "  # noqa: S608 - constant
        "ORDER BY actor = 'scheduler', created_at, rowid",
        (now_ms,),
    )
    return [_job_from_row(row) for row in found]


def begin_job(
    tx: Tx, job: StoredJob, actions: Sequence[PlannedAction] | None, total: int | None, cursor: Mapping[str, Any]
) -> None:
    """Note that a job runs, with the plan it will carry out.

    Args:
        job: the job; one that was begun before keeps its plan.
        actions: its plan; None for a stream.
        total: how much there is to do.
        cursor: what is noted at its beginning.
    """
    tx.run(
        "UPDATE jobs SET state = 'running', total = ?, cursor = ?, started_at = ?, lease_until = ?, report = '{}' "
        "WHERE id = ?",
        (total, to_json(dict(cursor)), tx.clock_ms, tx.clock_ms + LEASE_MS, job.id),
    )
    for place, action in enumerate(actions or ()):
        tx.run(
            "INSERT INTO job_deeds (job_id, place, deed) VALUES (?, ?, ?)",
            (job.id, place, to_json(_planned_to_json(action))),
        )


def resume_job(tx: Tx, job: StoredJob) -> None:
    """Note that a job that was begun before runs again."""
    tx.run("UPDATE jobs SET state = 'running', lease_until = ? WHERE id = ?", (tx.clock_ms + LEASE_MS, job.id))


def read_plan(rows: Rows, job_id: str, at: int, most: int) -> list[PlannedAction]:
    """The next actions of a job's plan.

    Args:
        at: how many are done.
        most: how many, at most.

    Returns:
        Actions in their order.
    """
    found = rows.all(
        "SELECT deed FROM job_deeds WHERE job_id = ? AND place >= ? AND place < ? ORDER BY place",
        (job_id, at, at + most),
    )
    return [_planned_from_json(json.loads(row[0])) for row in found]


def move_on(
    tx: Tx, job: StoredJob, done: int, counts: Mapping[str, int], cursor: Mapping[str, Any], step_id: str | None
) -> StoredJob:
    """Note what a batch did; in its transaction.

    Args:
        job: the job before the batch.
        done: how many were looked at.
        cursor: where it goes on.
        step_id: the undo step of the run, if there is one.

    Returns:
        The job behind the batch.
    """
    total = Counter(job.counts)
    total.update(counts)
    tx.run(
        "UPDATE jobs SET progress = ?, report = ?, cursor = ?, step_id = ?, lease_until = ?, attempts = 0, "
        "code = NULL WHERE id = ?",
        (job.progress + done, to_json(dict(total)), to_json(dict(cursor)), step_id, tx.clock_ms + LEASE_MS, job.id),
    )
    return replace(
        job,
        state=JobState.RUNNING,
        progress=job.progress + done,
        step_id=step_id,
        cursor=dict(cursor),
        counts=dict(total),
        code="",
    )


def finish_job(tx: Tx, job_id: str, state: JobState, report: Mapping[str, Any]) -> None:
    """Note that a job ended; its plan goes, and so do the oldest ended jobs.

    Kept are the last 500, and the newest of each type, by which the calendar goes; of scheduled runs that found nothing
    to do only the newest.

    Args:
        state: done or cancelled.
    """
    tx.run(
        "UPDATE jobs SET state = ?, finished_at = ?, lease_until = NULL, not_before = NULL, "
        "cursor = '{}', report = ?, code = NULL WHERE id = ?",
        (state.value, tx.clock_ms, to_json(dict(report)), job_id),
    )
    tx.run("DELETE FROM job_deeds WHERE job_id = ?", (job_id,))
    tx.run(
        "DELETE FROM jobs WHERE state = 'done' AND actor = 'scheduler' AND progress = 0 AND step_id IS NULL "
        "AND id <> ? AND type = (SELECT type FROM jobs WHERE id = ?)",
        (job_id, job_id),
    )
    tx.run(
        "DELETE FROM jobs WHERE state IN ('done', 'cancelled') AND id NOT IN "
        "(SELECT id FROM jobs WHERE state IN ('done', 'cancelled') ORDER BY finished_at DESC, rowid DESC LIMIT ?) "
        "AND id NOT IN (SELECT id FROM (SELECT id, max(finished_at) FROM jobs "
        "WHERE state IN ('done', 'cancelled') GROUP BY type))",
        (_KEPT,),
    )


def fail_job(tx: Tx, job_id: str, code: str, *, is_patient: bool = False) -> JobState:
    """Note that a job failed: it is tried again after a pause that doubles, five times in a row in all.

    Args:
        is_patient: whether it failed for something that comes back by itself (a server that is away, a full disk): it
            is tried again for ever, every ten minutes at least.

    Returns:
        Queued again, or poison.
    """
    attempts = int(tx.value("SELECT attempts FROM jobs WHERE id = ?", (job_id,)) or 0) + 1
    state = JobState.POISON if attempts >= TRIES and not is_patient else JobState.QUEUED
    pause = min(_PATIENT_MS if is_patient else _LONGEST_PAUSE_MS, _FIRST_PAUSE_MS * 2 ** min(attempts - 1, 10))
    tx.run(
        "UPDATE jobs SET state = ?, attempts = ?, code = ?, lease_until = NULL, not_before = ?, finished_at = ? "
        "WHERE id = ?",
        (
            state.value,
            attempts,
            code,
            None if state is JobState.POISON else tx.clock_ms + pause,
            tx.clock_ms if state is JobState.POISON else None,
            job_id,
        ),
    )
    if state is JobState.POISON:
        close_job_step(tx, job_id)
    return state


def close_job_step(tx: Tx, job_id: str) -> None:
    """End the undo step of a run: from here on it can be taken back; where nothing changed, it goes.

    That something was read is no change: the marks of it stay, and without the step nothing takes them back.
    """
    step_id = tx.value("SELECT step_id FROM jobs WHERE id = ?", (job_id,))
    if step_id is None:
        return
    if tx.value(_CHANGES, (step_id,)) is not None:
        tx.run("UPDATE undo_steps SET is_open = 0 WHERE id = ?", (step_id,))
        return
    # Nothing changed after all: a step that takes nothing back would only stand in the way.
    tx.run("DELETE FROM undo_rows WHERE step_id = ?", (step_id,))
    tx.run("UPDATE consolidation_log SET step_id = NULL WHERE step_id = ?", (step_id,))
    tx.run("DELETE FROM undo_steps WHERE id = ?", (step_id,))
    tx.run("UPDATE jobs SET step_id = NULL WHERE id = ?", (job_id,))


def is_any_running(rows: Rows) -> bool:
    """Whether a job runs, or ran when the vault closed."""
    return rows.one("SELECT 1 FROM jobs WHERE state = 'running'") is not None


def put_back(tx: Tx, *, crashed: bool) -> int:
    """Queue what was running when the vault closed, or what nobody runs any more, so that it goes on.

    Args:
        crashed: whether the last process ended without closing; a job that takes the process down each time ends as
            poison, with the code of a stalled job.
    """
    running = [str(row[0]) for row in tx.all("SELECT id FROM jobs WHERE state = 'running' ORDER BY rowid")]
    for job_id in running:
        if crashed:
            fail_job(tx, job_id, "E5002")
            tx.run("UPDATE jobs SET not_before = NULL WHERE id = ?", (job_id,))
        else:
            tx.run("UPDATE jobs SET state = 'queued', lease_until = NULL WHERE id = ?", (job_id,))
    return len(running)


def revive_job(tx: Tx, job_id: str) -> str | None:
    """Let a job run again at once: one that waits goes on, one that gave up begins anew with a plan of now.

    What a run that gave up did before is a step of its own by then, which may have been taken back.

    Returns:
        The job that runs: another of its type where one waits already; None where it needs no second try.
    """
    row = tx.one("SELECT type, state FROM jobs WHERE id = ?", (job_id,))
    if row is None or row[1] not in (JobState.POISON, JobState.QUEUED):
        return None
    if row[1] == JobState.QUEUED:
        tx.run("UPDATE jobs SET not_before = NULL, attempts = 0, actor = 'owner' WHERE id = ?", (job_id,))
        return job_id
    tx.run("DELETE FROM job_deeds WHERE job_id = ?", (job_id,))
    waits = tx.value("SELECT id FROM jobs WHERE type = ? AND state IN ('queued', 'running')", (row[0],))
    if waits is not None:
        tx.run("UPDATE jobs SET state = 'cancelled' WHERE id = ?", (job_id,))
        tx.run("UPDATE jobs SET not_before = NULL, actor = 'owner' WHERE id = ?", (waits,))
        return str(waits)
    tx.run(
        "UPDATE jobs SET state = 'queued', attempts = 0, not_before = NULL, finished_at = NULL, actor = 'owner', "
        "step_id = NULL, started_at = NULL, cursor = '{}', progress = 0, total = NULL, report = NULL, "
        "code = NULL WHERE id = ?",
        (job_id,),
    )
    return job_id


def last_ended(rows: Rows, now_ms: int) -> Mapping[JobType, int]:
    """When each type last ended, done or stopped.

    Args:
        now_ms: the clock's time, epoch ms; what ended more than a day later ended in a year that was wrong.

    Returns:
        Type to epoch ms; a type that never ended is left out.
    """
    found = rows.all(
        "SELECT type, max(finished_at) FROM jobs WHERE state IN ('done', 'cancelled') AND finished_at <= ? "
        "GROUP BY type",
        (now_ms + _DAY_MS,),
    )
    known = {kind.value: kind for kind in JobType}
    return {known[row[0]]: int(row[1]) for row in found if row[0] in known}


def _planned_to_json(action: PlannedAction) -> list[object]:
    return [
        action.action.value,
        action.memory_id,
        list(action.others),
        action.reason,
        action.value,
        dict(action.detail),
    ]


def _planned_from_json(kept: Sequence[Any]) -> PlannedAction:
    action, memory_id, others, reason, value, detail = kept
    return PlannedAction(JobAction(action), memory_id, tuple(others), reason, value, detail)


def _job_from_row(row: Sequence[Any]) -> StoredJob:
    job_id, kind, state, actor, progress, total, attempts, not_before, step, cursor, report, code, started = row
    return StoredJob(
        job_id, JobType(kind), JobState(state), actor, progress, total, attempts, not_before, step,
        code or "", started, cursor=json.loads(cursor), counts=json.loads(report or "{}"),
    )  # fmt: skip
