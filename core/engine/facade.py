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
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.config.options import Options
from core.embed.embedder import Embedder, lazy_embedder
from core.engine import startup
from core.engine.authority import Authority
from core.engine.background_tasks import BackgroundChores
from core.engine.groups import EngineGroups
from core.engine.home.keys import Home, HomeKeys, RootKey, read_secret_file
from core.engine.runtime.open_vault import OpenVault, VaultSlot
from core.engine.runtime.shared_property import shared_property
from core.engine.runtime.storage import submit_work
from core.engine.runtime.threads import EngineLoop, Threads, start_ticker
from core.engine.startup import SeenCounter, built_in_readers, built_in_talk
from core.errors import Code
from core.events import Hub, StateChanged
from core.recall.result import RecallItem, RecallResult
from core.security.handshake import owner_token
from core.security.keyring_client import Keyring
from core.security.passphrase import KdfCost
from core.security.process_protection import harden_process
from core.types.clock import Clock
from core.types.values import OWNER_ACTOR
from core.vault.bootstrap import OlderCopy, OpenInfo
from core.vault.files.lockfile import VaultLock

if TYPE_CHECKING:
    from core.config.option_rows import option_rows
    from core.engine.copy_viewer import VaultViewer, open_by_secret, open_viewer, rows_as_json
    from core.engine.home.doctor import examine_home, make_finding
    from core.engine.home.removal import write_wipe_report
    from core.engine.home.window_file import WindowFile, load_window, save_window
    from core.engine.jobs.scheduler import Scheduler
    from core.engine.vault.administration import VaultGroup, create_vault, restore_vault
    from core.engine.vault.home_control import HomeControl
    from core.engine.vault.key_changes import KeyGroup
    from core.engine.wipe import Registrations, Wipe
    from core.entities.resolution import EntityCandidate
    from core.intake.claims import TextReaders
    from core.lifecycle.job_support.job_context import TalkReader
    from core.llm.conversation import cited_sources, remove_citations, split_citations
    from core.security.strength import Strength, passphrase_strength
    from core.text.emblems import read_emblems
    from core.text.markdown import mark_spans
    from core.types.replies import Finding
    from core.vault.files.destruction import tidy_home

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
    "VaultViewer",
    "WindowFile",
    "built_in_embedder",
    "built_in_readers",
    "cited_sources",
    "create_vault",
    "examine_home",
    "harden_process",
    "load_window",
    "make_finding",
    "mark_spans",
    "open_by_secret",
    "open_viewer",
    "option_rows",
    "passphrase_strength",
    "read_emblems",
    "read_secret_file",
    "remove_citations",
    "restore_vault",
    "rows_as_json",
    "save_window",
    "split_citations",
    "start_ticker",
    "tidy_home",
    "write_wipe_report",
]

_BESIDE_ENGINE = {
    "EntityCandidate": "core.entities.resolution",
    "Finding": "core.types.replies",
    "Strength": "core.security.strength",
    "WindowFile": "core.engine.home.window_file",
    "cited_sources": "core.llm.conversation",
    "remove_citations": "core.llm.conversation",
    "create_vault": "core.engine.vault.administration",
    "examine_home": "core.engine.home.doctor",
    "load_window": "core.engine.home.window_file",
    "make_finding": "core.engine.home.doctor",
    "mark_spans": "core.text.markdown",
    "option_rows": "core.config.option_rows",
    "passphrase_strength": "core.security.strength",
    "read_emblems": "core.text.emblems",
    "VaultViewer": "core.engine.copy_viewer",
    "open_by_secret": "core.engine.copy_viewer",
    "open_viewer": "core.engine.copy_viewer",
    "restore_vault": "core.engine.vault.administration",
    "write_wipe_report": "core.engine.home.removal",
    "tidy_home": "core.vault.files.destruction",
    "rows_as_json": "core.engine.copy_viewer",
    "save_window": "core.engine.home.window_file",
    "split_citations": "core.llm.conversation",
}
"""What this door offers beside an engine, by module; loaded when it is asked for (PEP 562), as most commands do not."""


def __getattr__(name: str) -> object:
    if name not in _BESIDE_ENGINE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_BESIDE_ENGINE[name]), name)


T = TypeVar("T")


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
        is_for_one_command: whether the engine answers one command and ends, and loads only what that asks for.
        registrations: what Loci put outside the home for this vault; None where nothing is looked for.
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
    is_for_one_command: bool = False
    registrations: Registrations | None = None


class Engine(EngineGroups):
    """A palace: locked, or open with everything in it.

    Attributes:
        state: `locked`, `opening`, `open` or `closing`.
        hub: events; handlers run on engine threads.
        finishing: how many interrupted imports the last `unlock` dealt with; None where it was told not to.
        is_wiped: whether everything was removed from this computer: nothing is written into the home from then on.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._lock = threading.RLock()  # guards what opens, closes and sets the state
        self.state = "locked"
        self.is_wiped = False
        self.hub = Hub()
        self.finishing: Future[int] | None = None
        self._claim = VaultLock(setup.home.lock)
        self._keys = HomeKeys(setup.home, keyring=setup.keyring)
        self._counter = SeenCounter(self._keys)
        self._loop = EngineLoop()
        self._loop.start()

        super().__init__(
            VaultSlot(),
            lambda: self.loop,
            Authority(setup.clock),
            setup.embedder,
            setup.person_home,
            self.flush_journal,
            setup.kdf_cost,
        )
        self._chores = BackgroundChores(
            self, self.hub, self._counter, may_write=setup.background, may_wait=setup.is_for_one_command
        )
        if not setup.is_for_one_command:
            self.make_all()

    @shared_property
    def vault(self) -> VaultGroup:
        """Locking, opening, backup, verification and the passphrase."""
        from core.engine.vault.administration import VaultGroup

        return VaultGroup(self._control, lambda rows: self.seal.check_bodies(rows))

    @shared_property
    def keys(self) -> KeyGroup:
        """New keys for the vault, and the keyring."""
        from core.engine.vault.key_changes import KeyGroup

        return KeyGroup(self._control)

    @shared_property
    def _control(self) -> HomeControl:
        from core.engine.vault.home_control import HomeControl

        setup = self._setup
        return HomeControl(
            self._slot,
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

    def _on_scheduler_made(self, made: Scheduler) -> None:
        """Take up what waits in a vault that is open by now."""
        open_vault = self._slot.vault
        if open_vault is not None and open_vault.storage.vault.older is None:
            made.start_for(open_vault)

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
            if self._slot.vault is not None:
                if root is not self._slot.vault.storage.root:
                    root.wipe()
                return self._slot.vault.storage.vault.info
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
                    lambda space: self.embedding_models.embedder_for(space),
                    setup.chance,
                    self._counter.read(root, threads),
                )
            except BaseException:
                threads.shutdown()
                self._set_state("locked")
                raise
            try:
                open_vault.storage.vault.read(self.authority.reload_clients)
                self.authority.open_owner_channel(owner_token(root))
                # A search is answered from here on: the index knows what it holds and what it does not hold yet.
                startup.begin_warming(open_vault.storage, open_vault.search)
                if setup.readers is None and setup.talk is None:
                    open_vault.make_talk = built_in_talk
                else:
                    open_vault.make_talk = lambda: setup.talk
                if not setup.is_for_one_command:
                    open_vault.search.load_writers()
            except BaseException:
                self._close_vault(open_vault)
                raise
            self._slot.vault = open_vault
            self._set_state("open")
            self.finishing = self._chores.begin(open_vault)
        return open_vault.storage.vault.info

    @property
    def older(self) -> OlderCopy | None:
        """The open vault may be an older copy, which nobody has accepted: clients stay out, nothing is written."""
        open_vault = self._slot.vault
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
            open_vault = self._slot.require_vault()
            if open_vault.storage.vault.older is None:
                return 0
            retired, seq = startup.accept_older(open_vault.storage)
            open_vault.storage.vault.read(self.authority.reload_clients)
            self.finishing = self._chores.begin_writing(open_vault)
        open_vault.storage.announce_change("accept_older", (), OWNER_ACTOR, seq)
        return retired

    def lock(self, within_s: float = startup.CLOSE_S) -> None:
        """Close the vault: drain, snapshot, checkpoint, wipe. Always completes.

        Args:
            within_s: seconds it may take.
        """
        with self._lock:
            open_vault = self._slot.vault
            if open_vault is None:
                return
            self._set_state("closing")
            self._slot.vault = None
            self._close_vault(open_vault, within_s)

    def _close_vault(self, open_vault: OpenVault, within_s: float = startup.CLOSE_S) -> None:
        self.authority.forget_all()
        self._chores.stop_waiting()
        if self.is_made("scheduler"):
            self.scheduler.stop_for_lock()
        if self.is_made("refinement"):
            self.refinement.stop_job()
        if self.is_made("embedding_models"):
            self.embedding_models.close_server()
        if self.is_made("seal"):
            self.seal.close()
        if self.is_made("devices"):
            self.devices.stop()
        if self.is_made("sessions"):
            self.sessions.save_all_sessions(open_vault.storage)
        self._counter.store_last_seen(open_vault.storage)
        startup.close_vault(open_vault, within_s)
        if self.is_made("watches"):
            self.watches.stop()  # once nobody looks any more
        self._set_state("locked")

    def close(self, within_s: float = startup.CLOSE_S) -> None:
        """Lock, give the home back, and end the engine's thread. The object is of no use afterwards.

        Args:
            within_s: seconds locking may take.
        """
        self.lock(within_s)
        self._claim.release()
        self._loop.stop()

    def begin_wipe(self) -> Wipe:
        """What removes Loci's data from this computer; made for each time, since hardly anybody asks for it."""
        from core.engine.wipe import Wipe

        is_served = not self._setup.is_for_one_command
        return Wipe(self._control, lambda: self.devices, self._setup.registrations, self._end_home, is_served=is_served)

    def _end_home(self) -> None:
        self.is_wiped = True
        self._claim.release()

    def claim_home(self) -> None:
        """Take the home for this process, until `close`; locking the vault does not give it back.

        Raises:
            EnvironmentFaultError: VAULT_BUSY, READ_ONLY.
        """
        if not self._claim.is_held:
            self.home.prepare_folders()
            self._claim.acquire()
            self.is_wiped = False

    def note_refusal(self, client_id: str | None, code: Code, method: str = "") -> None:
        """Put down that somebody was refused; nothing while the vault is locked.

        Args:
            client_id: the client; None for a stranger.
            method: what it called, where there is such a method.
        """
        open_vault = self._slot.vault
        if open_vault is not None:
            open_vault.read_log.note_refusal(client_id, code, method)

    @property
    def options(self) -> Options:
        """The options in force; the defaults while the vault is locked."""
        open_vault = self._slot.vault
        return Options() if open_vault is None else open_vault.options

    def embed(self, texts: Sequence[str]) -> Future[NDArray[np.float32]]:
        """Embed texts on one of the two compute workers and keep nothing; for measuring.

        Returns:
            Unit rows, (len(texts), dims).
        """
        return self._slot.require_vault().search.embed_many(texts)

    def run_aside(self, work: Callable[[], T]) -> Future[T]:
        """Run something that waits for the engine, on the thread that opens and closes the vault.

        Args:
            work: may wait for any verb but `vault.open` and `vault.lock`.
        """
        return submit_work(self._loop.control, work)

    def flush_journal(self) -> None:
        """Write receipts and counts that wait, now."""
        startup.flush_journal(self._slot.require_vault())

    def _set_state(self, state: str) -> None:
        self.state = state
        self.hub.publish(StateChanged(state))


def built_in_embedder() -> Embedder:
    """The embedder that needs no server (design section 7); its model is loaded with the first text."""
    return lazy_embedder()
