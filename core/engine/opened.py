"""Everything that lives while the vault is open, and only then."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from core.config.options import Options
from core.embed.base import Embedder
from core.engine.journal import ReadJournal
from core.engine.threads import Threads
from core.errors import Code, UserError
from core.events import Changed, Hub
from core.index.arrays import NO_LABELS
from core.index.manager import IndexManager
from core.intake.importing import ImportKeeper
from core.intake.store import Keeper
from core.intake.unit_of_work import UnitOfWork
from core.memory.write import VectorSpace
from core.recall.pipeline import Recall
from core.security.subkeys import RootKey
from core.types.clock import Clock
from core.types.ids import IdMaker
from core.types.values import Actor
from core.vault.home import Home
from core.vault.queue import WriteQueue
from core.vault.rows import Rows
from core.vault.vault import Vault

T = TypeVar("T")


@dataclass
class Opened:
    """The parts of an open vault.

    Attributes:
        root: wiped when the vault closes.
        space: the vector space that is searched.
        closing: set when long reads should give up.
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
    log: logging.Handler
    closing: threading.Event = field(default_factory=threading.Event)

    def read(self, fn: Callable[[Rows], T]) -> Future[T]:
        """Read on the pool, one snapshot; never waits for the writer."""
        return self.threads.reads.submit(self.vault.read, fn)

    def embed(self, texts: Sequence[str]) -> Future[NDArray[np.float32]]:
        """Embed on the compute pool.

        Args:
            texts: what to embed.

        Returns:
            Unit rows, (len(texts), dims) float32.
        """
        return self.threads.compute.submit(self.embedder.embed, texts)

    def add_vectors(self, seq: int, labels: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Put committed vectors into the index; on the writer thread.

        Args:
            seq: the vault's sequence after the commit.
            labels: labels of memories.
            vectors: unit rows, (len(labels), dims).
        """
        self.index.apply(seq, np.asarray(labels, dtype=np.int64), vectors)

    def drop_vectors(self, seq: int, labels: Sequence[int]) -> None:
        """Take vanished memories out of the index; on the writer thread.

        Args:
            seq: the vault's sequence after the commit.
            labels: labels of memories.
        """
        none = np.empty((0, self.space.dims), dtype=np.float32)
        self.index.apply(seq, NO_LABELS, none, np.asarray(labels, dtype=np.int64))

    def announce(self, verb: str, ids: Sequence[str], actor: Actor, seq: int) -> None:
        """Tell subscribers that rows changed."""
        self.hub.publish(Changed(verb, tuple(ids), actor, seq))


def locked() -> UserError:
    """The error of every verb while no vault is open."""
    return UserError(Code.VAULT_LOCKED, "The vault is locked; unlock it first.")
