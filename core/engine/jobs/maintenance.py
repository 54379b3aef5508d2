"""The facade's group for what a caller may know and do about upkeep: counts, its own audit, runs it asks for.

Whatever runs over the whole vault, a client learns of it what lies within its scope and nothing else. Must not do:
carry out a job; show a text.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, replace
from typing import Any

from core.engine.access.authority import Authority
from core.engine.jobs.jobs import JobsGroup
from core.engine.jobs.scheduler import Scheduler
from core.engine.runtime.futures import chain
from core.engine.runtime.open_vault import OpenVault
from core.errors import Code, EnvironmentFaultError, UserError
from core.intake.transaction.idempotency import IdempotentCall
from core.lifecycle.decay.episode_cleanup import EpisodeCleanupJob, count_remaining, plan_cleanup
from core.lifecycle.kit.job_context import JobContext, Planner
from core.lifecycle.kit.stats import count_by_state
from core.recall.query.scope import Scope, visible_ids
from core.types.clients import seen_from
from core.types.lifecycle import Consolidation, JobRow, JobState, JobType, OwnDeed, Planned, Tidied
from core.types.values import GLOBAL_SPACE, Actor, Grant
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

CLEANUP = "episode_cleanup"
"""The verb of a cleanup in the audit."""
_BATCH = 500  # deeds of one undo step: the writer is not held longer
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
        self, opened: Callable[[], OpenVault], authority: Authority, jobs: JobsGroup, scheduler: Scheduler
    ) -> None:
        self._opened = opened
        self._authority = authority
        self._jobs = jobs
        self._scheduler = scheduler

    def stats(self, space: str | None, actor: Actor) -> Future[Mapping[str, Mapping[str, Any]]]:
        """How many memories there are in each state of their life (seed B, memory stats), within the asker's scope.

        Args:
            space: count this space and GLOBAL only; None for all that the asker sees.

        Returns:
            `core.lifecycle.kit.stats.count_by_state`; the future raises NOT_FOUND for a space out of sight or unknown.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED without `read`.
        """
        opened = self._opened()
        scope = self._authority.scope(actor)
        now_ms = opened.clock.now_ms()
        channels = None if scope.client_id is None else seen_from(scope.channel)
        return opened.read(lambda rows: count_by_state(rows, _counted(rows, space, scope), now_ms, channels))

    def audit(self, limit: int, actor: Actor) -> Future[tuple[OwnDeed, ...]]:
        """The last of what the asker did, newest first (E19d); to the owner what anybody did.

        Reads are put down within a second, and of a client only the last 200,000 rows of all are looked through.

        Args:
            limit: at most so many, from 1 on.

        Returns:
            Ids and counts; the id of what the asker may not see (any more) is left out.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED without `read`.
        """
        opened = self._opened()
        scope = self._authority.scope(actor)
        who = None if actor.client_id is None else f"client:{actor.client_id}"
        return opened.read(lambda rows: _deeds(rows, who, max(1, limit), scope))

    def consolidate(
        self, actor: Actor, *, dry_run: bool = False, request_id: str | None = None
    ) -> Future[Consolidation]:
        """Ask for a consolidation now, or for what the next one would do; the scheduler runs it over the whole vault.

        Args:
            actor: who asks; a client needs `curate`.
            dry_run: only tell what would be done.
            request_id: the caller's own id for this call: a run that came of it is not run again.

        Returns:
            Counts of memories that the asker sees; with a plan, of deeds all of whose memories it sees. The future
            raises BACKGROUND_STALLED, or the run's own code, where it did not end well.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED.
        """
        opened = self._opened()
        client = self._authority.require(actor, Grant.CURATE)
        scope = self._authority.scope(actor)
        if dry_run:
            return opened.on(opened.threads.checks, self._planned, opened, scope)
        repeat = IdempotentCall(actor, request_id, {"verb": "consolidate"})

        def ended(row: JobRow) -> Future[Consolidation]:
            if request_id is None:
                return opened.read(lambda rows: _consolidated(rows, row, scope))
            return opened.write(lambda tx: noted(tx, row))

        def noted(tx: Tx, row: JobRow) -> Consolidation:
            self._authority.need_terms(actor, client)
            return Consolidation(**repeat.run_once(tx, lambda: asdict(_consolidated(tx, row, scope))))

        def run(known: Mapping[str, Any] | None) -> Future[Consolidation]:
            if known is not None:
                return opened.read(lambda _: Consolidation(**known))
            asked = self._jobs.run(JobType.CONSOLIDATE, actor, lambda: self._authority.need_terms(actor, client))
            return chain(asked, ended)

        return run(None) if request_id is None else chain(opened.read(repeat.known), run)

    def tidy(self, most: int | None, actor: Actor, request_id: str | None = None) -> Future[Tidied]:
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
        opened = self._opened()
        client = self._authority.require(actor, Grant.CURATE)
        if most is not None and most < 0:
            raise UserError(Code.INVALID_INPUT, "The number of notes that may stand is 0 or more.")
        ground = self._scheduler.ground(opened)
        options = opened.options if most is None else opened.options.model_copy(update={"episode_capacity": most})
        repeat = IdempotentCall(actor, request_id, {"verb": CLEANUP, "most": most})

        def may() -> None:
            self._authority.need_terms(actor, client)

        return opened.on(opened.threads.jobs, _tidied, opened, replace(ground, options=options), repeat, may)

    def _planned(self, opened: OpenVault, scope: Scope) -> Consolidation:
        work = self._scheduler.agenda.jobs[JobType.CONSOLIDATE]
        ground = self._scheduler.ground(opened)
        deeds = work.plan(ground) if isinstance(work, Planner) else ()
        visible = opened.vault.read(lambda rows: visible_ids(rows, {one for deed in deeds for one in _of(deed)}, scope))
        known = [deed for deed in deeds if visible.issuperset(_of(deed))]
        return Consolidation(dry_run=True, planned=dict(Counter(deed.deed.value for deed in known)))


def _of(deed: Planned) -> tuple[str, ...]:
    return (deed.memory_id, *deed.others)


def _counted(rows: Rows, space: str | None, scope: Scope) -> frozenset[str] | None:
    """The spaces that count (seed B, scope filtering on stats: the one that is named, and GLOBAL)."""
    allowed = None if scope.unrestricted else scope.space_ids
    if space is None:
        return allowed
    found = rows.value("SELECT id FROM spaces WHERE name = ?", (space,))
    if found is None or (allowed is not None and found not in allowed):
        raise UserError(Code.NOT_FOUND, "There is no such space.")
    return frozenset({str(found), GLOBAL_SPACE})


def _deeds(rows: Rows, who: str | None, limit: int, scope: Scope) -> tuple[OwnDeed, ...]:
    found = rows.all(_AUDIT, {"who": who, "back": _LOOKED_BACK, "most": limit})
    visible = visible_ids(rows, {str(row[2]) for row in found}, scope)
    places = {str(row[0]): (str(row[1]), str(row[2])) for row in rows.all(_PLACES, (json.dumps(sorted(visible)),))}
    told = []
    for at, verb, obj, detail in found:
        kind, space = places.get(obj, ("", ""))
        held = json.loads(detail)
        kept = {name: value for name, value in held.items() if type(value) in (int, bool) or name in _WORDS}
        told.append(OwnDeed(at, verb, obj if obj in places else "", kind, space, kept, verb != "refused"))
    return tuple(told)


def _consolidated(rows: Rows, row: JobRow, scope: Scope) -> Consolidation:
    if row.state is not JobState.DONE:
        code = Code(row.code) if row.code else Code.BACKGROUND_STALLED
        raise EnvironmentFaultError(code, "The consolidation did not end well; the person finds it in the journal.")
    touched = {str(one[0]) for one in rows.all(_CHANGED, (row.step_id or "",))}
    visible = json.dumps(sorted(visible_ids(rows, touched, scope)))
    return Consolidation(
        dry_run=False, changed={str(status): int(count) for status, count in rows.all(_STATUSES, (visible,))}
    )


def _tidied(opened: OpenVault, ground: JobContext, repeat: IdempotentCall, may: Callable[[], None]) -> Tidied:
    """Each batch is a transaction of its own; one that was cut off and is asked for again does the rest."""
    known, actor = opened.vault.read(repeat.known), repeat.actor
    if known is not None:
        return Tidied(**known)
    deeds = opened.vault.read(lambda rows: plan_cleanup(rows, ground.options, ground.now_ms, actor.client_id))
    over = many = 0
    for start in range(0, max(1, len(deeds)), _BATCH):
        counts = opened.write(_batch_of(opened, ground, actor, deeds[start : start + _BATCH], may)).result()
        over, many = over + counts.get("expired", 0), many + counts.get("capacity", 0)
    done = Tidied(over, many, opened.vault.read(lambda rows: count_remaining(rows, actor.client_id)))

    def keep(tx: Tx) -> None:
        may()
        repeat.keep(tx, asdict(done))

    opened.write(keep).result()
    return done


def _batch_of(
    opened: OpenVault, ground: JobContext, actor: Actor, deeds: Sequence[Planned], may: Callable[[], None]
) -> Callable[[Tx], Mapping[str, int]]:
    def write(tx: Tx) -> Mapping[str, int]:
        may()
        with ground.work.verb(tx, CLEANUP, "Tidy notes away", actor) as verb:
            batch = EpisodeCleanupJob().carry_out(tx, verb, ground, deeds)
            counts = {name: count for name, count in batch.counts.items() if name != "remaining"}  # of all clients
            verb.note("", **counts)
        if batch.ids:
            opened.announce_after(tx, CLEANUP, batch.ids, actor)
        return counts

    return write
