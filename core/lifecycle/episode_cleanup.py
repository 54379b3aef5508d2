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

    def plan(self, ground: JobContext) -> Sequence[PlannedAction]:
        """List the notes whose time is over, then those beyond the capacity, each the oldest first.

        Returns:
            The deeds; the last one is marked, so that what remains is counted behind it.
        """
        options, now_ms = ground.options, ground.now_ms
        deeds: list[PlannedAction] = ground.read(lambda rows: plan_cleanup(rows, options, now_ms))
        return deeds

    def apply_plan(self, tx: Tx, verb: Verb, ground: JobContext, deeds: Sequence[PlannedAction]) -> BatchResult:
        """Archive a few notes.

        Args:
            deeds: from `plan`.

        Returns:
            Counts `expired`, `capacity` and `skipped`; behind the last deed `remaining`, the notes that still
            stand.
        """
        heads = [deed.memory_id for deed in deeds]
        done = {head: since for _, head, since in _read_consolidated(tx, heads)}
        kept = find_protections(tx, heads, ground.now_ms)
        before = ground.now_ms - ground.options.episode_days * _DAY_MS
        transitions, counts, ids = ground.make_transitions(tx, verb), Counter[str](), list[str]()
        for deed in deeds:
            since = done.get(deed.memory_id)
            fits = since is not None and deed.memory_id not in kept and (deed.reason == TOO_MANY or since < before)
            if fits:
                transitions.archive(deed.memory_id, deed.reason)
                ids.append(deed.memory_id)
            counts[("capacity" if deed.reason == TOO_MANY else "expired") if fits else "skipped"] += 1
            if deed.detail.get(_LAST):
                counts["remaining"] = count_remaining(tx)
        transitions.close_moot()
        return BatchResult(len(deeds), dict(counts), tuple(ids))


def plan_cleanup(rows: Rows, options: Options, now_ms: int, client_id: str | None = None) -> list[PlannedAction]:
    """All that a cleanup would do.

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
    asked = [head for client, head, since in found if since < before or client in crowded]
    kept = find_protections(rows, asked, now_ms)
    free = [(client, head, since) for client, head, since in found if head not in kept]
    over = [(client, head) for client, head, since in free if since < before]
    left = Counter(counts)
    left.subtract(Counter(client for client, _ in over))
    gone = {head for _, head in over}
    deeds = [PlannedAction(JobAction.EXPIRE, head, reason=OVER) for _, head in over]
    for client, head, _ in free:
        if head not in gone and left[client] > options.episode_capacity:
            left[client] -= 1
            deeds.append(PlannedAction(JobAction.ARCHIVE, head, reason=TOO_MANY))
    if deeds:
        last = deeds[-1]
        deeds[-1] = PlannedAction(last.action, last.memory_id, reason=last.reason, detail={_LAST: True})
    return deeds


def count_remaining(rows: Rows, client_id: str | None = None) -> int:
    """How many notes of assistants stand.

    Args:
        client_id: whose notes; None for everybody's.

    Returns:
        Of all clients together where none is named; a split text counts once.
    """
    return int(rows.value(_REMAINING, {"client": client_id}))


def _read_consolidated(
    rows: Rows, heads: Sequence[str] | None, client_id: str | None = None
) -> list[tuple[str, str, int]]:
    """Client, id and time of consolidation of notes, the oldest first."""
    named = "" if heads is None else " AND m.id IN (SELECT value FROM json_each(:heads))"
    params: dict[str, object] = {"client": client_id}
    if heads is not None:
        params["heads"] = json.dumps(list(heads))
    found = rows.all(f"{_DONE}{named} ORDER BY m.recorded_at, m.n", params)
    return [(str(client), str(head), int(since)) for client, head, since in found]
