"""The notes of assistants: once consolidated they leave after their time, and when there are too many.

Seed B's episode cleanup, per client; it archives and never deletes. What the person imported is never touched, and
what is not consolidated yet is never taken for being too many; nor is a note taken again that the person took back
with a run, or brought back from the archive (`protection`). Must not do: consolidate anything.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from core.config.options import Options
from core.intake.transaction.unit_of_work import Verb
from core.lifecycle.job_support.job_context import BatchResult, JobContext
from core.lifecycle.sweep import find_protections
from core.types.lifecycle import JobAction, JobType, PlannedAction
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

OVER, TOO_MANY = "consolidated_note", "over_capacity"
"""Reasons: keys of `resources/help/lifecycle.json`."""
_LAST = "last"
_DAY_MS = 86_400_000

# A note is the head of its text. What a digest stands for is out of the way already, and its way back leads through
# the digest: it is left alone. The plus: the index over clients finds them, not that over the status.
_NOTES = (
    "FROM memories m LEFT JOIN episodes e ON e.memory_id = m.id LEFT JOIN distilled d ON d.memory_id = m.id "
    "AND d.state = 'done' WHERE m.client_id IS NOT NULL AND m.import_id IS NULL AND m.kind = 'episode' "
    "AND m.part_of IS NULL AND +m.status IN ('active', 'disputed')"
)
_SINCE = "coalesce(e.consolidated_at, d.at)"
_OF_ONE = "(:client IS NULL OR m.client_id = :client)"
_COUNTS = f"SELECT m.client_id, count(*) {_NOTES} AND {_OF_ONE} GROUP BY m.client_id"
_DONE = f"SELECT m.client_id, m.id, {_SINCE} {_NOTES} AND {_OF_ONE} AND {_SINCE} IS NOT NULL"
_REMAINING = f"SELECT count(*) {_NOTES} AND {_OF_ONE}"


class EpisodeCleanupJob:
    """Plans and carries out the cleanup (seed B, episode cleanup with TTL and capacity limits)."""

    @property
    def type(self) -> JobType:
        """Which job."""
        return JobType.EPISODES

    def plan(self, context: JobContext) -> Sequence[PlannedAction]:
        """List the notes whose time is over, then those beyond the capacity, each the oldest first.

        Returns:
            The actions; the last one is marked, so that what remains is counted behind it.
        """
        options, now_ms = context.options, context.now_ms
        actions: list[PlannedAction] = context.read(lambda rows: plan_cleanup(rows, options, now_ms))
        return actions

    def apply_plan(self, tx: Tx, verb: Verb, context: JobContext, actions: Sequence[PlannedAction]) -> BatchResult:
        """Archive a few notes.

        Args:
            actions: from `plan`.

        Returns:
            Counts `expired`, `capacity` and `skipped`; behind the last action `remaining`, the notes that still
            stand.
        """
        memory_ids = [action.memory_id for action in actions]
        done = {memory_id: since for _, memory_id, since in _read_consolidated(tx, memory_ids)}
        kept = find_protections(tx, memory_ids, context.now_ms)
        before = context.now_ms - context.options.episode_days * _DAY_MS
        transitions, counts, ids = context.make_transitions(tx, verb), Counter[str](), list[str]()
        for action in actions:
            since = done.get(action.memory_id)
            fits = since is not None and action.memory_id not in kept and (action.reason == TOO_MANY or since < before)
            if fits:
                transitions.archive(action.memory_id, action.reason)
                ids.append(action.memory_id)
            counts[("capacity" if action.reason == TOO_MANY else "expired") if fits else "skipped"] += 1
            if action.detail.get(_LAST):
                counts["remaining"] = count_remaining(tx)
        transitions.close_moot()
        return BatchResult(len(actions), dict(counts), tuple(ids))


def plan_cleanup(rows: Rows, options: Options, now_ms: int, client_id: str | None = None) -> list[PlannedAction]:
    """All that a cleanup of assistants' episodes would do.

    Args:
        options: how long notes stand, and how many.
        client_id: whose notes; None for everybody's.

    Returns:
        `EXPIRE` for those whose time is over, `ARCHIVE` for those beyond the capacity; of what is protected none.
    """
    counts: Mapping[str, int] = {str(client): int(count) for client, count in rows.all(_COUNTS, {"client": client_id})}
    before = now_ms - options.episode_days * _DAY_MS
    found = _read_consolidated(rows, None, client_id)
    crowded = {client for client, count in counts.items() if count > options.episode_capacity}
    asked = [memory_id for client, memory_id, since in found if since < before or client in crowded]
    kept = find_protections(rows, asked, now_ms)
    free = [(client, memory_id, since) for client, memory_id, since in found if memory_id not in kept]
    over = [(client, memory_id) for client, memory_id, since in free if since < before]
    left = Counter(counts)
    left.subtract(Counter(client for client, _ in over))
    expired = {memory_id for _, memory_id in over}
    actions = [PlannedAction(JobAction.EXPIRE, memory_id, reason=OVER) for _, memory_id in over]
    for client, memory_id, _ in free:
        if memory_id not in expired and left[client] > options.episode_capacity:
            left[client] -= 1
            actions.append(PlannedAction(JobAction.ARCHIVE, memory_id, reason=TOO_MANY))
    if actions:
        last = actions[-1]
        actions[-1] = PlannedAction(last.action, last.memory_id, reason=last.reason, detail={_LAST: True})
    return actions


def count_remaining(rows: Rows, client_id: str | None = None) -> int:
    """How many episodes noted by assistants still stand.

    Args:
        client_id: whose notes; None for everybody's.

    Returns:
        Of all clients together where none is named; a split text counts once.
    """
    return int(rows.value(_REMAINING, {"client": client_id}))


def _read_consolidated(
    rows: Rows, memory_ids: Sequence[str] | None, client_id: str | None = None
) -> list[tuple[str, str, int]]:
    """Client, id and time of consolidation of notes, the oldest first."""
    named = "" if memory_ids is None else " AND m.id IN (SELECT value FROM json_each(:ids))"
    params: dict[str, object] = {"client": client_id}
    if memory_ids is not None:
        params["ids"] = json.dumps(list(memory_ids))
    found = rows.all(f"{_DONE}{named} ORDER BY m.recorded_at, m.n", params)
    return [(str(client), str(memory_id), int(since)) for client, memory_id, since in found]
