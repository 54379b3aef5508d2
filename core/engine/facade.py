"""The only door to a palace: groups of verbs, each of which returns at once with a Future.

`app`, `ui` and `core.ipc` use this module and the frozen values of `core.types`,
nothing else of the engine. An engine is made locked; `unlock` opens the vault.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from core import log
from core.config.option_rows import option_rows
from core.config.options import Options
from core.embed.embedder import Embedder, lazy_embedder
from core.engine import startup
from core.engine.access.authority import Authority
from core.engine.client_changes import ClientChanges
from core.engine.clients.clients import ChangeSubscriptions, Clients
from core.engine.clients.sessions import Sessions
from core.engine.conflicts import Conflicts, ReviewChores
from core.engine.home.doctor import examine_home, make_finding
from core.engine.home.keys import Home, HomeKeys, RootKey, read_secret_file
from core.engine.home.window_file import WindowFile, load_window, save_window
from core.engine.imports import Imports
from core.engine.jobs.due_times import Agenda
from core.engine.jobs.jobs import JobsGroup, Maintenance
from core.engine.jobs.model_refinement import ModelRefinement
from core.engine.jobs.scheduler import Scheduler
from core.engine.jobs.statements import StatementsGroup
from core.engine.laboratory import Laboratory
from core.engine.library import Library
from core.engine.memories.import_comparison import compare_imported, reconcile_daily
from core.engine.memories.memories import Memories, embed_backlog
from core.engine.outcomes import Practice
from core.engine.runtime.expiry import delete_expired
from core.engine.runtime.monitor import release_caches
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.search import Search
from core.engine.runtime.settings import Settings
from core.engine.runtime.storage import Storage, locked_error, log_failure, submit_work
from core.engine.runtime.threads import EngineLoop, Threads, start_ticker
from core.engine.startup import SeenCounter, built_in_readers, built_in_talk
from core.engine.vault.embedding_model import EmbeddingModels
from core.engine.vault.history import History
from core.engine.vault.vault import VaultGroup, create_vault, restore_vault
from core.engine.views.entities import Entities
from core.engine.views.graph import Graph
from core.engine.views.palace import Palace
from core.engine.views.rehearsals import Rehearsals
from core.engine.views.timeline import Timeline
from core.entities.resolution import EntityCandidate as EntityCandidate
from core.errors import Code, LociError
from core.events import Hub, Progress, StateChanged
from core.intake.claims import TextReaders
from core.lifecycle.embedding import MigrationJob
from core.lifecycle.kit.job_context import TalkReader
from core.lifecycle.registry import make_jobs
from core.recall.result import RecallItem, RecallResult
from core.security.handshake import owner_token
from core.security.keyring_client import Keyring
from core.security.passphrase import KdfCost
from core.security.process_protection import harden_process
from core.security.strength import Strength, passphrase_strength
from core.types.clock import Clock
from core.types.lifecycle import JobType
from core.types.replies import Finding
from core.types.values import OWNER_ACTOR
from core.vault.bootstrap import OlderCopy, OpenInfo
from core.vault.files.lockfile import VaultLock

__all__ = [
    "Engine",
    "EntityCandidate",
    "Finding",
    "Home",
    "HomeKeys",
    "OlderCopy",
    "OpenInfo",
    "RecallItem",
    "RecallResult",
    "RootKey",
    "Setup",
    "Strength",
    "WindowFile",
    "built_in_embedder",
    "built_in_readers",
    "create_vault",
    "examine_home",
    "harden_process",
    "load_window",
    "make_finding",
    "option_rows",
    "passphrase_strength",
    "read_secret_file",
    "restore_vault",
    "save_window",
    "start_ticker",
]

T = TypeVar("T")

_FLUSH_S = 1.0
_WATCH_S = 5.0
_INDEX_S = 1.0
_log = log.get("engine")


@dataclass(frozen=True, slots=True)
class Setup:
    """What an engine is made of; the composition root fills it in.

    Attributes:
        home: where the vault lives.
        clock: the one clock.
        embedder: the built-in one, or another.
        background: whether to flush, watch and finish interrupted work by itself (off in some tests).
        person_home: the person's own folder, in which exports are looked for; None where none shall be.
        keyring: the system's, unless another is given.
        kdf_cost: of a guess at a passphrase that is set; the standard, unless a test asks for less.
        readers: read claims and relations; the built-in ones, unless a test asks for others.
        take_over: asks another process that owns the vault to hand it over; None where it may keep it.
        talk: makes statements of what was said; the built-in reader, unless a test asks for another.
        chance: where ids take what is random in them; the machine's, unless a sample must come out the same again.
    """

    home: Home
    clock: Clock
    embedder: Embedder
    background: bool = True
    person_home: Path | None = None
    keyring: Keyring | None = None
    kdf_cost: KdfCost | None = None
    take_over: Callable[[RootKey], None] | None = None
    readers: TextReaders | None = None
    talk: TalkReader | None = None
    chance: Callable[[int], bytes] = os.urandom


class Engine:
    """A palace: locked, or open with everything in it.

    Attributes:
        state: `locked_error`, `opening`, `open` or `closing`.
        hub: events; handlers run on engine threads.
        finishing: how many interrupted imports the last `unlock` dealt with; None where it was told not to.
        scheduler: runs the jobs; `jobs` is the group that callers use.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._lock = threading.RLock()  # guards _opened and state
        self._open_vault: OpenVault | None = None
        self.state = "locked"
        self.hub = Hub()
        self.finishing: Future[int] | None = None
        self._authority = Authority(setup.clock.now_ms)
        self._claim = VaultLock(setup.home.lock)
        self._keys = HomeKeys(setup.home, keyring=setup.keyring)
        self._counter = SeenCounter(self._keys)
        self._loop = EngineLoop()
        self._loop.start()
        self._desk = ReviewChores()
        self._unhear: Callable[[], None] = lambda: None

        def get_storage() -> Storage:
            return self._require_open_vault().storage

        def get_search() -> Search:
            return self._require_open_vault().search

        self.memories = Memories(self._require_open_vault, self._authority)
        self.imports = Imports(self._require_open_vault, setup.person_home)
        self.library = Library(get_storage, get_search)
        self.conflicts = Conflicts(get_storage, get_search, self._authority)
        self.clients = Clients(self._require_open_vault, self._authority)
        self.subscriptions = ChangeSubscriptions(get_storage, self._authority)
        self.history = History(self._require_open_vault, self._authority)
        self.settings = Settings(self._require_open_vault)
        self.practice = Practice(get_storage, get_search, self._authority)
        self.client_changes = ClientChanges(get_storage, get_search, self._authority, self.library, self.practice)
        self.entities = Entities(get_storage, self._authority)
        self.sessions = Sessions(self._require_open_vault, self._authority)
        self.graph = Graph(get_storage, get_search)
        self.timeline = Timeline(get_storage, get_search)
        self.palace = Palace(get_storage, get_search)
        self.rehearsals = Rehearsals(get_storage)
        self.laboratory = Laboratory(get_storage, get_search, self.flush_journal, self._authority)
        self.refinement = ModelRefinement(self._require_open_vault, lambda: self.loop)
        self.embedding_models = EmbeddingModels(
            self._require_open_vault, lambda: self.loop, setup.embedder, self.settings
        )
        jobs = {**make_jobs(), JobType.MIGRATE: MigrationJob(self.embedding_models)}
        self.scheduler = Scheduler(Agenda(jobs), self.refinement)
        self.embedding_models.wished = self.scheduler.check_soon
        self.jobs = JobsGroup(self._require_open_vault, self.scheduler, self.settings)
        self.statements = StatementsGroup(self._require_open_vault, self.scheduler)
        self.maintenance = Maintenance(self._require_open_vault, self._authority, self.jobs, self.scheduler)
        self.vault = VaultGroup(
            self._require_open_vault,
            self._loop.control,
            self.unlock,
            self.lock,
            self.claim_home,
            self._keys,
            setup.clock,
            setup.kdf_cost,
            setup.take_over,
        )

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The engine thread's loop; the socket server lives on it."""
        return self._loop.loop

    @property
    def vault_id(self) -> bytes:
        """The vault's public id, 16 bytes; known while locked too."""
        return self._keys.vault_id

    @property
    def clock(self) -> Clock:
        """The one clock."""
        return self._setup.clock

    @property
    def home(self) -> Home:
        """Where the vault lives."""
        return self._setup.home

    def _require_open_vault(self) -> OpenVault:
        open_vault = self._open_vault
        if open_vault is None or self.state != "open":
            raise locked_error()
        return open_vault

    def unlock(self, root: RootKey) -> OpenInfo:
        """Open the vault; the caller has checked the secret at its slot.

        Args:
            root: the root key; the engine wipes it when it locks.

        Returns:
            What opening found: a recovered crash, lost commits, an older copy.

        Raises:
            LociError: VAULT_BUSY, VAULT_DAMAGED, NEWER_VERSION, NO_VAULT …
        """
        with self._lock:
            if self._open_vault is not None:
                if root is not self._open_vault.storage.root:
                    root.wipe()
                return self._open_vault.storage.vault.info
            self.claim_home()
            self._set_state("opening")
            threads = Threads()
            try:
                setup = self._setup
                open_vault = startup.open_vault(
                    setup.home,
                    root,
                    setup.clock,
                    setup.embedder,
                    threads,
                    self.hub,
                    setup.readers,
                    self.embedding_models.embedder_for,
                    setup.chance,
                    self._counter.read(root, threads),
                )
            except BaseException:
                threads.shutdown()
                self._set_state("locked")
                raise
            try:
                open_vault.storage.vault.read(self._authority.reload_clients)
                self._authority.open_owner_channel(owner_token(root))
                # A search is answered from here on: the index knows what it holds and what it does not hold yet.
                startup.begin_warming(open_vault.storage, open_vault.search)
            except BaseException:
                self._close_vault(open_vault)
                raise
            open_vault.talk = built_in_talk() if setup.readers is None and setup.talk is None else setup.talk
            self._open_vault = open_vault
            self._set_state("open")
            self._begin_background(open_vault)
        return open_vault.storage.vault.info

    @property
    def older(self) -> OlderCopy | None:
        """The open vault may be an older copy, which nobody has accepted: clients stay out, nothing is written."""
        open_vault = self._open_vault
        return None if open_vault is None else open_vault.storage.vault.older

    def accept_older(self) -> Future[int]:
        """The person goes on with a vault that is older than the one last seen: from here on this one counts.

        Returns:
            How many clients were revoked by it, since their pairing changed in what is lost, and must be paired anew; 0
            where there was nothing to accept. The future raises VAULT_LOCKED, DISK_FULL …
        """
        return self.run_aside(self._accept_older)

    def _accept_older(self) -> int:
        with self._lock:
            open_vault = self._require_open_vault()
            if open_vault.storage.vault.older is None:
                return 0
            retired, seq = startup.accept_older(open_vault.storage)
            open_vault.storage.vault.read(self._authority.reload_clients)
            self._begin_writing(open_vault)
        open_vault.storage.announce_change("accept_older", (), OWNER_ACTOR, seq)
        return retired

    def _begin_background(self, open_vault: OpenVault) -> None:
        open_vault.storage.threads.run_every(
            _FLUSH_S, lambda: self._run_chore(open_vault, startup.flush_journal), "journal"
        )
        open_vault.storage.threads.run_every(
            _WATCH_S, lambda: self._run_chore(open_vault, startup.watch_vault_file), "watch"
        )
        open_vault.storage.threads.run_every(_INDEX_S, lambda: self._run_chores(open_vault), "index")
        if open_vault.storage.vault.older is None:
            self._begin_writing(open_vault)

    def _begin_writing(self, open_vault: OpenVault) -> None:
        """What writes by itself; of an older copy only once it is accepted."""
        self._counter.start_storing(open_vault.storage)
        self.scheduler.start_for(open_vault)
        if self._setup.background:
            self._unhear()
            self._unhear = self.hub.subscribe(self.laboratory.handle_event)
            self.palace.watch_for_unplaced(open_vault.storage, open_vault.search)
            self.refinement.start_job(open_vault)
            self.finishing = self.imports.finish_interrupted(self._tell_finishing)
            log_failure(self.finishing, _log, "finishing an interrupted import")
            log_failure(
                submit_work(open_vault.storage.threads.jobs, embed_backlog, open_vault.storage, open_vault.search),
                _log,
                "embedding what lacked a vector",
            )
            log_failure(
                submit_work(open_vault.storage.threads.jobs, compare_imported, open_vault.storage, open_vault.search),
                _log,
                "comparing what came in",
            )

    def _tell_finishing(self, done: int, total: int | None) -> None:
        self.hub.publish(Progress("import", "Finishing an interrupted import", done, total))

    def _run_chores(self, open_vault: OpenVault) -> None:
        self._run_chore(open_vault, startup.maintain_index)
        if open_vault.storage.vault.older is not None:
            return
        self._run_chore(open_vault, delete_expired)
        self._run_chore(
            open_vault, lambda one: release_caches(one.load, one.search.release_memory, self.timeline.release_memory)
        )
        self._run_chore(open_vault, self.sessions.run_chores)
        self._run_chore(open_vault, self.scheduler.resume_requested)
        if self._setup.background:
            self._run_chore(open_vault, lambda one: self._desk.run(one.storage, one.search))
            self._run_chore(open_vault, lambda one: reconcile_daily(one.storage))
            self._run_chore(open_vault, self.scheduler.queue_due)

    def _run_chore(self, open_vault: OpenVault, action: startup.Chore) -> None:
        try:
            action(open_vault)
        except LociError as error:
            if not open_vault.storage.closing.is_set():  # a lock stops whatever runs, and that is no fault
                _log.warning("a background chore stopped: %s", error.code.value)

    def lock(self, within_s: float = startup.CLOSE_S) -> None:
        """Close the vault: drain, snapshot, checkpoint, wipe. Always completes.

        Args:
            within_s: seconds it may take.
        """
        with self._lock:
            open_vault = self._open_vault
            if open_vault is None:
                return
            self._set_state("closing")
            self._open_vault = None
            self._close_vault(open_vault, within_s)

    def _close_vault(self, open_vault: OpenVault, within_s: float = startup.CLOSE_S) -> None:
        self._authority.forget_all()
        self.scheduler.stop_for_lock()
        self.refinement.stop_job()
        self.embedding_models.close_server()
        self.sessions.save_all_sessions(open_vault.storage)
        self._counter.store_last_seen(open_vault.storage)
        startup.close_vault(open_vault, within_s)
        self._set_state("locked")

    def close(self, within_s: float = startup.CLOSE_S) -> None:
        """Lock, give the home back, and end the engine's thread. The object is of no use afterwards.

        Args:
            within_s: seconds locking may take.
        """
        self.lock(within_s)
        self._claim.release()
        self._loop.stop()

    def claim_home(self) -> None:
        """Take the home for this process, until `close`; locking the vault does not give it back.

        Raises:
            EnvironmentFaultError: VAULT_BUSY, READ_ONLY.
        """
        if not self._claim.is_held:
            self.home.prepare_folders()
            self._claim.acquire()

    def note_refusal(self, client_id: str | None, code: Code, method: str = "") -> None:
        """Put down that somebody was refused; nothing while the vault is locked.

        Args:
            client_id: the client; None for a stranger.
            method: what it called, where there is such a method.
        """
        open_vault = self._open_vault
        if open_vault is not None:
            open_vault.read_log.note_refusal(client_id, code, method)

    @property
    def options(self) -> Options:
        """The options in force; the defaults while the vault is locked."""
        open_vault = self._open_vault
        return Options() if open_vault is None else open_vault.options

    def embed(self, texts: Sequence[str]) -> Future[NDArray[np.float32]]:
        """Embed texts on one of the two compute workers and keep nothing; for measuring.

        Returns:
            Unit rows, (len(texts), dims).
        """
        return self._require_open_vault().search.embed_many(texts)

    def run_aside(self, work: Callable[[], T]) -> Future[T]:
        """Run something that waits for the engine, on the thread that opens and closes the vault.

        Args:
            work: may wait for any verb but `vault.open` and `vault.lock`.
        """
        return submit_work(self._loop.control, work)

    def flush_journal(self) -> None:
        """Write receipts and counts that wait, now."""
        startup.flush_journal(self._require_open_vault())

    def _set_state(self, state: str) -> None:
        self.state = state
        self.hub.publish(StateChanged(state))


def built_in_embedder() -> Embedder:
    """The embedder that needs no server (design section 7); its model is loaded with the first text."""
    return lazy_embedder()
