"""What an engine does by itself while a vault is open: writing what reads left behind, watching, finishing, tidying.

Must not do: carry out what somebody asks for; that is the groups' part.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING

from core import log
from core.engine import startup
from core.engine.groups import EngineGroups
from core.engine.runtime.expiry import delete_expired
from core.engine.runtime.monitor import release_caches
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.progress import count_interrupted_imports
from core.engine.runtime.shared_property import shared_property
from core.engine.runtime.storage import log_failure, submit_work
from core.engine.startup import SeenCounter
from core.errors import LociError
from core.events import Changed, Event, Hub, Progress
from core.types.values import Pressure

if TYPE_CHECKING:
    from core.engine.conflicts import ReviewChores
    from core.engine.vault.backup_schedule import BackupSchedule

_FLUSH_S = 1.0
_WATCH_S = 5.0
_INDEX_S = 1.0
_ROUNDS = 2
"""Rounds of `_INDEX_S` that a command has for itself."""
_IMPORT = "import"
_log = log.get("engine")


class BackgroundChores:
    """The chores of one open vault after another."""

    def __init__(
        self, groups: EngineGroups, hub: Hub, counter: SeenCounter, *, may_write: bool, may_wait: bool
    ) -> None:
        """Begin nothing yet.

        Args:
            may_write: whether to finish and tidy too, and not only to flush and watch.
            may_wait: whether what nobody asked for begins some seconds later: a command that is over by then needs
                none of it, and loading it takes longer than the answer.
        """
        self._groups, self._hub, self._counter = groups, hub, counter
        self._may_write, self._may_wait = may_write, may_wait
        self._lock = threading.Lock()  # guards the two below
        self._rounds_to_wait = 0
        self._is_stopped = True
        self._has_tidying_begun = True
        self._unsubscribe: Callable[[], None] = lambda: None

    @shared_property
    def review(self) -> ReviewChores:
        """What closes and decides review items."""
        from core.engine.conflicts import ReviewChores

        return ReviewChores()

    @shared_property
    def backups(self) -> BackupSchedule:
        """What backs the vault up without being asked."""
        from core.engine.vault.backup_schedule import BackupSchedule

        return BackupSchedule()

    def begin(self, open_vault: OpenVault) -> Future[int] | None:
        """Begin what a vault needs that was just opened.

        Returns:
            As `begin_writing`; None for an older copy, in which nothing is written before the person accepts it.
        """
        with self._lock:
            self._is_stopped, self._rounds_to_wait = False, 0
        self._has_tidying_begun = True  # so far there is nothing to begin
        open_vault.storage.threads.run_every(
            _FLUSH_S, lambda: self._run_chore(open_vault, startup.flush_journal), "journal"
        )
        open_vault.storage.threads.run_every(
            _WATCH_S, lambda: self._run_chore(open_vault, startup.watch_vault_file), "watch"
        )
        open_vault.storage.threads.run_every(_INDEX_S, lambda: self._run_chores(open_vault), "index")
        return self.begin_writing(open_vault) if open_vault.storage.vault.older is None else None

    def stop_waiting(self) -> None:
        """The vault closes: what has not begun by now does not begin any more."""
        with self._lock:
            self._is_stopped = True

    def begin_writing(self, open_vault: OpenVault) -> Future[int] | None:
        """Begin what writes by itself; of an older copy only once it is accepted.

        Returns:
            How many interrupted imports were dealt with; None where the engine was told to write nothing by itself.
        """
        self._counter.start_storing(open_vault.storage)
        if not self._may_wait or self._groups.is_made("scheduler"):
            self._groups.scheduler.start_for(open_vault)
        if not self._may_write:
            return None
        self._unsubscribe()
        self._unsubscribe = self._hub.subscribe(self._follow_change)
        if not self._may_wait:
            self._groups.watches.stays = True
            self._groups.watches.start_for(open_vault)
        finishing = self._finish_interrupted_imports(open_vault)
        log_failure(finishing, _log, "finishing an interrupted import")
        if self._may_wait:
            self._has_tidying_begun = False
            with self._lock:
                self._rounds_to_wait = _ROUNDS
        else:
            self._begin_tidying(open_vault)
        return finishing

    def _begin_tidying(self, open_vault: OpenVault) -> None:
        from core.engine.imports.comparison import compare_in_turns
        from core.engine.memories.memories import embed_backlog

        try:
            _ = self._groups.scheduler  # made by now, as rounds ask it
        except TimeoutError:
            return  # behind something long in the writer's queue: the next round begins anew
        self._groups.palace.watch_for_unplaced(open_vault.storage, open_vault.search)
        self._groups.refinement.start_job(open_vault)
        log_failure(
            submit_work(open_vault.storage.threads.jobs, embed_backlog, open_vault.storage, open_vault.search),
            _log,
            "embedding what lacked a vector",
        )
        compare_in_turns(open_vault.storage, open_vault.search, "comparing imported memories")
        self._has_tidying_begun = True

    def _finish_interrupted_imports(self, open_vault: OpenVault) -> Future[int]:
        if open_vault.storage.vault.read(count_interrupted_imports):
            return self._groups.imports.finish_interrupted(self._publish_finishing_progress)
        nothing: Future[int] = Future()
        nothing.set_result(0)
        return nothing

    def _follow_change(self, event: Event) -> None:
        """Run the probes again, and read the names of an import now: somebody waits for them, not for the heartbeat."""
        if isinstance(event, Changed):
            self._groups.recall_trials.handle_event(event)
            if self._groups.is_made("devices"):
                self._groups.devices.note_change(event.verb)
            if event.verb == _IMPORT and self._groups.is_made("scheduler"):
                self._groups.scheduler.check_soon()

    def _publish_finishing_progress(self, done: int, total: int | None) -> None:
        self._hub.publish(Progress("import", "Finishing an interrupted import", done, total))

    def _is_waiting(self) -> bool:
        """Whether it is too early for what nobody asked for, or too late."""
        with self._lock:
            if self._is_stopped:
                return True
            self._rounds_to_wait -= 1
            return self._rounds_to_wait >= 0

    def _run_chores(self, open_vault: OpenVault) -> None:
        if self._groups.is_made("seal"):
            self._groups.seal.close_when_due()
        if self._is_waiting():
            return
        if not self._has_tidying_begun:
            self._run_chore(open_vault, self._begin_tidying)
            if not self._has_tidying_begun:
                return
        self._run_chore(open_vault, startup.maintain_index)
        if open_vault.storage.vault.older is not None:
            return
        self._run_chore(open_vault, delete_expired)
        self._run_chore(
            open_vault, lambda one: release_caches(one.load, one.search.release_memory, self._release_memory)
        )
        if self._groups.is_made("sessions"):
            self._run_chore(open_vault, self._groups.sessions.run_chores)
        self._run_chore(open_vault, self._groups.scheduler.resume_requested)
        if self._may_write:
            from core.engine.memories.reconciliation import reconcile_daily

            self._run_chore(open_vault, lambda one: self.review.run(one.storage, one.search))
            self._run_chore(open_vault, lambda one: reconcile_daily(one.storage))
            self._run_chore(open_vault, self._groups.scheduler.queue_due)
            if self._groups.is_made("devices"):
                self._run_chore(open_vault, self._groups.devices.run_when_due)
            if not self._may_wait:
                self._run_chore(open_vault, self.backups.run_when_due)

    def _release_memory(self, level: Pressure) -> None:
        if self._groups.is_made("timeline"):
            self._groups.timeline.release_memory(level)

    def _run_chore(self, open_vault: OpenVault, action: startup.Chore) -> None:
        try:
            action(open_vault)
        except LociError as error:
            if not open_vault.storage.closing.is_set():  # a lock stops whatever runs, and that is no fault
                _log.warning("a background chore stopped: %s", error.code.value)
