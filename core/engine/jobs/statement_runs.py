"""Statements of what was said, for callers: what a run made, or what it would make, and how much waits.

The scheduler runs it, as it does by itself; a caller may want one import alone, and has read again what was taken back.
Must not do: read a talk, or write a statement (`core.lifecycle.distill` does).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from core.engine.jobs.runner import JobCheckpoint
from core.engine.jobs.scheduler import Scheduler
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.storage import chain_work
from core.errors import Code, EnvironmentFaultError, UserError
from core.lifecycle.distill.reader_queue import TalkScope, count_waiting
from core.lifecycle.distill.reader_statements import SKIPPED, preview_talk
from core.lifecycle.job_support.job_context import TalkReader
from core.types.lifecycle import DistilledTalk, JobState, JobType, ListedStatement
from core.types.talk import Statement, StatementType
from core.types.values import OWNER_ACTOR, Actor
from core.vault.database.rows import Rows

_ROUNDS = 3
"""A run that goes on already may be about something else: then it is asked for again, so often at most."""
_STEP = "SELECT step_id, code FROM jobs WHERE id = ?"
_MADE = (
    "SELECT s.memory_id, m.text, s.about, s.type, s.lasting, s.confidence, s.episode_id, s.start_at, s.end_at, "
    "s.operation, e.occurred_at FROM undo_rows r JOIN statements s ON s.memory_id = json_extract(r.row_key, "
    "'$.memory_id') AND s.episode_id = json_extract(r.row_key, '$.episode_id') JOIN memories m ON m.id = s.memory_id "
    "JOIN memories e ON e.id = s.episode_id WHERE r.step_id = :step AND r.tbl = 'statements' AND r.before IS NULL "
    "AND (:import_id IS NULL OR e.import_id = :import_id) ORDER BY r.nr"
)
_SMALL = (
    "SELECT r.memory_id FROM undo_rows u JOIN readings r ON r.memory_id = json_extract(u.row_key, '$.memory_id') "
    "JOIN memories m ON m.id = r.memory_id WHERE u.step_id = :step AND u.tbl = 'readings' AND r.small_talk = 1 "
    "AND (:import_id IS NULL OR m.import_id = :import_id) ORDER BY u.nr"
)
# A run that made nothing leaves no step: what it read is known by when it did.
_SMALL_OF_RUN = (
    "SELECT r.memory_id FROM jobs j JOIN readings r ON r.at BETWEEN j.started_at AND j.finished_at "
    "JOIN memories m ON m.id = r.memory_id WHERE j.id = :step AND r.small_talk = 1 "
    "AND (:import_id IS NULL OR m.import_id = :import_id) ORDER BY m.n"
)


class StatementsGroup:
    """What a caller does with statements of talk. Each method returns at once with a Future."""

    def __init__(self, open_vault: Callable[[], OpenVault], scheduler: Scheduler) -> None:
        self._open_vault = open_vault
        self._scheduler = scheduler

    def run(self, import_id: str | None = None, actor: Actor = OWNER_ACTOR) -> Future[DistilledTalk]:
        """Make statements of what was said and is not read yet; behind what runs already, one undo step.

        Args:
            import_id: of one import alone; None for everything.

        Returns:
            What was made; the future raises NOT_FOUND for an import that is not there, BACKGROUND_STALLED or the run's
            own code where it did not end well.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED.
            EnvironmentFaultError: EMBEDDER_UNAVAILABLE where there is no reader.
        """
        open_vault = self._owner_vault(actor)
        scope = TalkScope(_require_reader(open_vault.talk).version, import_id, by_hand=True)
        there = open_vault.storage.read(lambda rows: _check_import(rows, import_id))
        return chain_work(there, lambda _: self._run_statement_round(open_vault, scope, DistilledTalk(), _ROUNDS))

    def preview_statements(
        self,
        import_id: str | None = None,
        progress: Callable[[int], object] = lambda _: None,
        actor: Actor = OWNER_ACTOR,
    ) -> Future[DistilledTalk]:
        """What a run would make; nothing is written.

        Args:
            import_id: of one import alone; None for everything.
            progress: how many episodes more were looked at.

        Returns:
            Statements without ids; the future raises NOT_FOUND for an import that is not there.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED.
            EnvironmentFaultError: EMBEDDER_UNAVAILABLE where there is no reader.
        """
        open_vault = self._owner_vault(actor)
        scope = TalkScope(_require_reader(open_vault.talk).version, import_id, by_hand=True)
        context = self._scheduler.make_context(open_vault)

        def run_preview() -> DistilledTalk:
            context.read(lambda rows: _check_import(rows, import_id))
            return preview_talk(context, scope, progress)

        return open_vault.storage.run_on(open_vault.storage.threads.checks, run_preview)

    def count_waiting(self, import_id: str | None = None) -> Future[int]:
        """How many episodes are not read yet; 0 where there is no reader.

        Args:
            import_id: of one import alone; None for everything.

        Raises:
            UserError: VAULT_LOCKED.
        """
        open_vault = self._open_vault()
        talk = open_vault.talk
        if talk is None:
            return open_vault.storage.read(lambda _: 0)
        scope = TalkScope(talk.version, import_id, by_hand=True)
        return open_vault.storage.read(lambda rows: count_waiting(rows, scope))

    def read_runs(self, run_ids: Sequence[str], import_id: str | None = None) -> Future[DistilledTalk]:
        """What runs made, as far as it stands.

        Args:
            run_ids: of `DistilledTalk.step_ids` and `empty_ids`.
            import_id: of one import alone; None for everything.

        Raises:
            UserError: VAULT_LOCKED.
        """

        def read(rows: Rows) -> DistilledTalk:
            found = DistilledTalk()
            for run in run_ids:
                is_step = rows.value("SELECT 1 FROM undo_steps WHERE id = ?", (run,)) is not None
                read_one = _read_statement_step if is_step else _read_empty_run
                found = _add_results(found, read_one(rows, run, import_id))
            return found

        return self._open_vault().storage.read(read)

    def _run_statement_round(
        self, open_vault: OpenVault, scope: TalkScope, so_far: DistilledTalk, left: int
    ) -> Future[DistilledTalk]:
        asked = self._scheduler.ask_for(open_vault, JobType.DISTILL, "owner", None, scope.to_cursor())

        def read(rows: Rows, kept: JobCheckpoint) -> tuple[DistilledTalk, int]:
            return _add_results(so_far, _read_statement_run(rows, kept, scope.import_id)), count_waiting(rows, scope)

        def run_next_round(found: tuple[DistilledTalk, int]) -> Future[DistilledTalk]:
            done, waiting = found
            is_over = not waiting or left <= 1
            if is_over:
                return open_vault.storage.read(lambda _: done)
            return self._run_statement_round(open_vault, scope, done, left - 1)

        ended = chain_work(asked, lambda kept: open_vault.storage.read(lambda rows: read(rows, kept)))
        return chain_work(ended, run_next_round)

    def _owner_vault(self, actor: Actor) -> OpenVault:
        if not actor.is_owner:
            raise UserError(Code.ACCESS_DENIED, "Only the person may do this.")
        return self._open_vault()


def _require_reader(talk: TalkReader | None) -> TalkReader:
    if talk is None:
        raise EnvironmentFaultError(Code.EMBEDDER_UNAVAILABLE, "The reader of talk is not there; nothing can be made.")
    return talk


def _check_import(rows: Rows, import_id: str | None) -> None:
    if import_id is not None and rows.value("SELECT 1 FROM imports WHERE id = ?", (import_id,)) is None:
        raise UserError(Code.NOT_FOUND, "There is no such import.")


def _read_statement_run(rows: Rows, kept: JobCheckpoint, import_id: str | None) -> DistilledTalk:
    step, code = rows.one(_STEP, (kept.job_id,)) or (None, None)
    if kept.state is not JobState.DONE:
        raise EnvironmentFaultError(
            Code(code) if code else Code.BACKGROUND_STALLED, "The run did not end well; it is in the journal."
        )
    found = DistilledTalk()
    if step is not None:
        found = _read_statement_step(rows, str(step), import_id)
    elif kept.report.get("small_talk"):
        found = _read_empty_run(rows, kept.job_id, import_id)
    return replace(found, skipped=_skipped_counts(kept.report))


def _read_statement_step(rows: Rows, step: str, import_id: str | None) -> DistilledTalk:
    params = {"step": step, "import_id": import_id}
    return DistilledTalk(
        tuple(_listed_statement_from_row(row) for row in rows.all(_MADE, params)),
        tuple(dict.fromkeys(str(row[0]) for row in rows.all(_SMALL, params))),
        step_ids=(step,),
    )


def _read_empty_run(rows: Rows, job_id: str, import_id: str | None) -> DistilledTalk:
    """What a run read that made nothing."""
    found = rows.all(_SMALL_OF_RUN, {"step": job_id, "import_id": import_id})
    return DistilledTalk(small_talk=tuple(str(row[0]) for row in found), empty_ids=(job_id,))


def _skipped_counts(report: Mapping[str, Any]) -> dict[str, int]:
    found = ((str(name), count) for name, count in report.items() if str(name).startswith(SKIPPED))
    return {name.removeprefix(SKIPPED): int(count) for name, count in found}


def _add_results(first: DistilledTalk, second: DistilledTalk) -> DistilledTalk:
    """The counts of two rounds of one run added up."""
    steps = dict.fromkeys((*first.step_ids, *second.step_ids))
    return DistilledTalk(
        (*first.statements, *second.statements),
        (*first.small_talk, *second.small_talk),
        dict(Counter(first.skipped) + Counter(second.skipped)),
        tuple(steps),
        tuple(dict.fromkeys((*first.empty_ids, *second.empty_ids))),
    )


def _listed_statement_from_row(row: Sequence[Any]) -> ListedStatement:
    memory_id, text, about, kind, lasting, confidence, episode, start, end, operation, said_at = row
    statement = Statement(
        str(text), str(about), StatementType(kind), bool(lasting), float(confidence), str(episode),
        (int(start), int(end)), said_at,
    )  # fmt: skip
    return ListedStatement(str(memory_id), statement, str(operation))
