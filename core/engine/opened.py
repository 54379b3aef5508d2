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

from core import log
from core.config.options import Options
from core.config.retrieval import RetrievalOptions
from core.embed.base import Embedder
from core.engine.futures import begun, locked, mapped
from core.engine.journal import ReadJournal
from core.engine.threads import Threads
from core.errors import Code, LociError
from core.events import Changed, Hub
from core.index.arrays import NO_LABELS
from core.index.base import Labels
from core.index.manager import IndexManager
from core.intake.importing import ImportKeeper
from core.intake.store import Keeper
from core.intake.unit_of_work import UnitOfWork
from core.memory.write import VectorSpace
from core.recall.pipeline import Recall
from core.score.tuned import profile_of
from core.security.subkeys import RootKey
from core.types.clock import Clock
from core.types.ids import IdMaker
from core.types.proposals import ModelState, Server
from core.types.values import Actor
from core.vault.home import Home
from core.vault.queue import WriteQueue
from core.vault.rows import Rows
from core.vault.tx import Tx
from core.vault.vault import Vault

T = TypeVar("T")
P = ParamSpec("P")

# While the vault closes, a queue that takes nothing more and an interrupted statement mean the same.
_CLOSING = frozenset({Code.BUSY, Code.CANCELLED})
_log = log.get("engine")


@dataclass
class Opened:
    """The parts of an open vault.

    Attributes:
        root: wiped when the vault closes.
        space: the vector space that is searched.
        scrub_due: set when rows vanished whose words the lexical index still holds in its pages.
        saved: how the index was when it came whole from its snapshot; None where it did not.
        tidied_at: when what expired was last looked for, on the clock's monotonic seconds; None for never.
        closing: set when long reads should give up.
        model: what is known of a local model server.
        retrieval: the options of recall in force.
        probe_vectors: questions of probes with their vectors, so that each is embedded once.
    """

    home: Home
    root: RootKey
    vault: Vault
    queue: WriteQueue
    index: IndexManager
    embedder: Embedder
    space: VectorSpace
    recall: Recall
    options: Options
    clock: Clock
    make_id: IdMaker
    work: UnitOfWork
    keeper: Keeper
    importing: ImportKeeper
    journal: ReadJournal
    threads: Threads
    hub: Hub
    log_handler: logging.Handler
    closing: threading.Event = field(default_factory=threading.Event)
    scrub_due: threading.Event = field(default_factory=threading.Event)
    saved: tuple[object, ...] | None = None
    tidied_at: float | None = None
    model: ModelState = field(default_factory=lambda: ModelState(Server.ABSENT))
    retrieval: RetrievalOptions = field(default_factory=RetrievalOptions)
    probe_vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict)

    def read(self, fn: Callable[[Rows], T]) -> Future[T]:
        """Read on the pool, one snapshot; never waits for the writer."""
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
        try:
            first = self.queue.submit(fn, background=background)
        except LociError as error:
            raise self._said(error) from None
        return mapped(first, lambda value: value, self._said)

    def on(self, pool: Executor, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run work on one of the pools.

        Args:
            pool: of `threads`.
            work: what to do.
            *args: its arguments.
            **kwargs: its arguments.

        Returns:
            Its result; VAULT_LOCKED where the vault closed before its turn.
        """
        return mapped(begun(pool, work, *args, **kwargs), lambda value: value, self._said)

    def _said(self, error: BaseException) -> BaseException:
        if self.closing.is_set() and isinstance(error, LociError) and error.code in _CLOSING:
            return locked()
        return error

    def embed(self, texts: Sequence[str]) -> Future[NDArray[np.float32]]:
        """Embed what somebody waits for: a query, a text to store.

        Args:
            texts: what to embed; few.

        Returns:
            Unit rows, (len(texts), dims) float32.
        """
        return self.on(self.threads.prompt, self.embedder.embed, texts)

    def embed_many(self, texts: Sequence[str]) -> Future[NDArray[np.float32]]:
        """Embed for background work, after what such work asked for before.

        Args:
            texts: what to embed.

        Returns:
            Unit rows, (len(texts), dims) float32.
        """
        return self.on(self.threads.compute, self.embedder.embed, texts)

    def add_vectors(self, seq: int, labels: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Put committed vectors into the index; on the writer thread.

        Args:
            seq: the vault's sequence after the commit.
            labels: labels of memories.
            vectors: unit rows, (len(labels), dims).
        """
        self._apply(seq, np.asarray(labels, dtype=np.int64), vectors, NO_LABELS)

    def drop_vectors(self, seq: int, labels: Sequence[int]) -> None:
        """Take vanished memories out of the index; on the writer thread.

        Args:
            seq: the vault's sequence after the commit.
            labels: labels of memories.
        """
        if labels:
            self.scrub_due.set()
        none = np.empty((0, self.space.dims), dtype=np.float32)
        self._apply(seq, NO_LABELS, none, np.asarray(labels, dtype=np.int64))

    def _apply(self, seq: int, labels: Labels, vectors: NDArray[np.float32], removed: Labels) -> None:
        try:
            self.index.apply(seq, labels, vectors, removed)
        except LociError as error:
            # The rows are saved by now, and saying otherwise would be a lie; the index warms again by itself.
            _log.warning("the index did not take a change: %s", error.code.value)

    def use_options(self, chosen: Options) -> None:
        """Go by other options from here on; what is read at opening only (`needs_restart`) stays as it is.

        Args:
            chosen: all of them.
        """
        self.options = chosen
        self.work.undo_days = chosen.undo_days
        self.journal.receipt_days = chosen.receipt_days

    def use_retrieval(self, chosen: RetrievalOptions) -> None:
        """Rank by other weights from here on; a recall that runs goes on with those it began with.

        Args:
            chosen: all options of recall.
        """
        self.retrieval = chosen
        self.recall.profile = profile_of(chosen)

    def announce(self, verb: str, ids: Sequence[str], actor: Actor, seq: int) -> None:
        """Tell subscribers that rows changed."""
        self.hub.publish(Changed(verb, tuple(ids), actor, seq))
