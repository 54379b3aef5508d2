"""Everything that lives while the vault is open, and only then."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.config.options import Options
from core.config.retrieval import RetrievalOptions
from core.embed.base import Embedder
from core.engine.runtime.change_feed import publish_changes
from core.engine.runtime.futures import begin, locked_error, map_result
from core.engine.runtime.monitor import Activity, LatencyWindow, ResourceMonitor
from core.engine.runtime.progress import RunningImport
from core.engine.runtime.read_log import ReadLog
from core.engine.runtime.threads import Threads
from core.engine.runtime.vector_space import ActiveVectorSpace, Embedded, embed_texts
from core.errors import Code, LociError
from core.events import Changed, Hub
from core.index.manager import IndexManager
from core.intake.store.import_batch import ImportWriter
from core.intake.store.store import StoreService
from core.intake.transaction.text_readers import TextReaders
from core.intake.transaction.unit_of_work import UnitOfWork
from core.memory.write import Stored, VectorSpace
from core.recall.answer.pipeline import Recall
from core.score.ranking.profile_options import profile_of
from core.security.subkeys import RootKey
from core.text.screening.injection import LimitsHeld, limits_of
from core.types.belief import ModelState, Server
from core.types.clock import Clock
from core.types.ids import IdMaker
from core.types.lifecycle import Pressure
from core.types.values import Actor
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx
from core.vault.files.home import Home
from core.vault.vault import Vault
from core.vault.write_queue import WriteQueue

T = TypeVar("T")
P = ParamSpec("P")

# While the vault closes, a queue that takes nothing more and an interrupted statement mean the same.
_CLOSING = frozenset({Code.BUSY, Code.CANCELLED})
# The vault can be read and not written; the next write that is saved says that this is over.
_UNWRITABLE = frozenset({Code.DISK_FULL, Code.READ_ONLY, Code.WRITE_FAILED, Code.VAULT_REPLACED})


@dataclass(frozen=True, slots=True)
class CachedCount:
    """What was counted a moment ago, since counting takes its time.

    Attributes:
        mark: how everything was that it depends on.
        rests_until: on the clock's monotonic seconds; until then it is not counted anew whatever changed.
    """

    count: int
    mark: tuple[object, ...]
    rests_until: float


@dataclass
class OpenVault:
    """The parts of an open vault.

    Attributes:
        root: wiped when the vault closes.
        active_space: the vector space that is searched, with its embedder, index and keepers; replaced as a whole.
        readers: read claims and relations.
        scrub_due: set when rows vanished whose words the lexical index still holds in its pages.
        saved: how the index was when it came whole from its snapshot; None where it did not.
        tidied_at: when what expired was last looked for, on the clock's monotonic seconds; None for never.
        closing: set when long reads should give up.
        model: what is known of a local model server.
        retrieval: the options of recall in force.
        probe_vectors: questions of probes with their vectors, so that each is embedded once.
        latency: how long the last recalls took.
        pressure_level: the level of memory pressure that was last acted upon.
        write_fault: why the last write was not saved, where the vault itself could not be written; None otherwise.
        resources: what of the memory budget is taken, and whether the machine is on battery.
        activity: when somebody last used the palace.
        imports: what is being imported, by the id of the import.
        next_archived: how many memories a sweep would archive; None before anybody asked.
    """

    home: Home
    root: RootKey
    vault: Vault
    queue: WriteQueue
    active_space: ActiveVectorSpace
    readers: TextReaders
    options: Options
    clock: Clock
    make_id: IdMaker
    work: UnitOfWork
    read_log: ReadLog
    threads: Threads
    hub: Hub
    log_handler: logging.Handler
    closing: threading.Event = field(default_factory=threading.Event)
    scrub_due: threading.Event = field(default_factory=threading.Event)
    saved: tuple[object, ...] | None = None
    tidied_at: float | None = None
    model: ModelState = field(default_factory=lambda: ModelState(Server.ABSENT))
    retrieval: RetrievalOptions = field(default_factory=RetrievalOptions)
    probe_vectors: dict[str, Embedded] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Nobody did anything yet."""
        self.activity = Activity(self.clock)
        self.latency = LatencyWindow()
        self.write_fault: Code | None = None
        self.pressure_level = Pressure.NORMAL
        self.imports: dict[str, RunningImport] = {}
        self.next_archived: CachedCount | None = None
        self.resources = ResourceMonitor(self.clock, self.options.memory_budget_mb)
        self.limits = LimitsHeld()
        self.limits.set(limits_of(self.options))

    @property
    def embedder(self) -> Embedder:
        """Makes the vectors that are searched."""
        return self.active_space.embedder

    @property
    def space(self) -> VectorSpace:
        """The vector space that is searched."""
        return self.active_space.space

    @property
    def index(self) -> IndexManager:
        """The vectors in memory."""
        return self.active_space.index

    @property
    def recall(self) -> Recall:
        """Searches."""
        return self.active_space.recall

    @property
    def store_service(self) -> StoreService:
        """Stores."""
        return self.active_space.store_service

    @property
    def import_writer(self) -> ImportWriter:
        """Imports."""
        return self.active_space.import_writer

    @property
    def add_vectors(self) -> Stored:
        """Puts committed vectors into the index of the vector space in force now; called on the writer thread."""
        return self.active_space.add_vectors

    def read(self, fn: Callable[[Rows], T]) -> Future[T]:
        """Read on the pool, one snapshot; never waits for the writer."""
        self.activity.called()
        return self.read_quietly(fn)

    def read_quietly(self, fn: Callable[[Rows], T]) -> Future[T]:
        """`read` for what looks by itself again and again: it is no sign of somebody being at work."""
        return self.on(self.threads.reads, lambda: self.vault.read(fn))

    def write(self, fn: Callable[[Tx], T], *, background: bool = False) -> Future[T]:
        """Hand a verb to the writer.

        Args:
            fn: the verb.
            background: whether nobody waits for it.

        Returns:
            Its result, once it is saved.

        Raises:
            LociError: VAULT_LOCKED; the vault is closing.
        """
        if not background:
            self.activity.called()
        try:
            first = self.queue.submit(self._told(fn), background=background)
        except LociError as error:
            raise self._said(error) from None
        return map_result(first, self._saved, self._unsaved)

    def _told(self, fn: Callable[[Tx], T]) -> Callable[[Tx], T]:
        """A verb, of which listeners are told what it did."""

        def carried_out(tx: Tx) -> T:
            value = fn(tx)
            publish_changes(tx, self.hub)
            return value

        return carried_out

    def _saved(self, value: T) -> T:
        self.write_fault = None
        return value

    def _unsaved(self, error: BaseException) -> BaseException:
        if isinstance(error, LociError) and error.code in _UNWRITABLE:
            self.write_fault = error.code
        return self._said(error)

    def on(self, pool: Executor, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run work on one of the pools.

        Args:
            pool: of `threads`.

        Returns:
            Its result; VAULT_LOCKED where the vault closed before its turn.
        """
        return map_result(begin(pool, work, *args, **kwargs), lambda value: value, self._said)

    def _said(self, error: BaseException) -> BaseException:
        if self.closing.is_set() and isinstance(error, LociError) and error.code in _CLOSING:
            return locked_error()
        return error

    def embed(self, texts: Sequence[str]) -> Future[NDArray[np.float32]]:
        """Embed what somebody waits for: a query, a text to store.

        Args:
            texts: what to embed; few.

        Returns:
            Unit rows, (len(texts), dims) float32.
        """
        self.activity.called()
        return self.on(self.threads.prompt, self.active_space.embed, texts)

    def embed_texts(self, texts: Sequence[str]) -> Future[Embedded]:
        """As `embed`; an embedder that is away is no failure: then words are compared, and what is stored waits.

        Args:
            texts: what to embed; few.

        Returns:
            The vectors with the vector space they belong to.
        """
        self.activity.called()
        return self.on(self.threads.prompt, embed_texts, self.active_space, texts)

    def embed_many(self, texts: Sequence[str]) -> Future[NDArray[np.float32]]:
        """Embed for background work, after what such work asked for before.

        Returns:
            Unit rows, (len(texts), dims) float32.
        """
        return self.on(self.threads.compute, self.active_space.embed, texts)

    def embed_texts_later(self, texts: Sequence[str]) -> Future[Embedded]:
        """As `embed_texts`, for background work.

        Returns:
            The vectors with the vector space they belong to.
        """
        return self.on(self.threads.compute, embed_texts, self.active_space, texts)

    def drop_vectors(self, seq: int, labels: Sequence[int]) -> None:
        """Take vanished memories out of the index; on the writer thread.

        Args:
            seq: the vault's sequence after the commit.
        """
        if labels:
            self.scrub_due.set()
        self.active_space.drop_vectors(seq, labels)

    def use_vector_space(self, active_space: ActiveVectorSpace) -> None:
        """Search another vector space from here on; on the writer thread. A search that runs ends on the old one.

        Args:
            active_space: of that space.
        """
        self.active_space = active_space
        self.probe_vectors = {}
        self.saved = None

    def use_options(self, chosen: Options) -> None:
        """Go by other options from here on; what is read at opening only (`needs_restart`) stays as it is.

        Args:
            chosen: all of them.
        """
        self.options = chosen
        self.work.undo_days = chosen.undo_days
        self.work.client_waits = chosen.client_waits
        self.read_log.receipt_days = chosen.receipt_days
        self.resources.use_budget(chosen.memory_budget_mb)
        self.limits.set(limits_of(chosen))

    def use_retrieval(self, chosen: RetrievalOptions) -> None:
        """Rank by other weights from here on; a recall that runs goes on with those it began with.

        Args:
            chosen: all options of recall.
        """
        self.retrieval = chosen
        self.recall.profile = profile_of(chosen)

    def announce_after(self, tx: Tx, verb: str, ids: Sequence[str], actor: Actor) -> None:
        """As `announce`, once the transaction is committed; nothing is told of one that is not."""
        seq = tx.seq
        tx.after_commit(lambda: self.announce(verb, ids, actor, seq))

    def announce(self, verb: str, ids: Sequence[str], actor: Actor, seq: int) -> None:
        """Tell subscribers that rows changed."""
        self.hub.publish(Changed(verb, tuple(ids), actor, seq))
