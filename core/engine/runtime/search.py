"""What searches an open vault: the vector space in force, what embeds in it, and the options it ranks by.

Must not do: store anything, or read a row.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.config.retrieval import RetrievalOptions
from core.embed.base import Embedder
from core.engine.runtime.futures import begin, map_result
from core.engine.runtime.monitor import Activity
from core.engine.runtime.threads import Threads
from core.engine.runtime.vector_space import ActiveVectorSpace, Embedded, embed_texts
from core.index.manager import IndexManager
from core.memory.write import Stored, VectorSpace
from core.recall.answer.pipeline import Recall
from core.score.ranking.profile_options import profile_from_options

T = TypeVar("T")
P = ParamSpec("P")


class Search:
    """The vector space in force and everything that works in it.

    Attributes:
        active_space: with its embedder, index and services; replaced as a whole.
        retrieval: the options of recall in force.
        probe_vectors: questions of probes with their vectors, so that each is embedded once.
        saved: how the index was when it came whole from its snapshot; None where it did not.
        scrub_due: set when rows vanished whose words the lexical index still holds in its pages.
    """

    def __init__(
        self,
        active_space: ActiveVectorSpace,
        retrieval: RetrievalOptions,
        threads: Threads,
        activity: Activity,
        translate: Callable[[BaseException], BaseException],
    ) -> None:
        self.active_space = active_space
        self.retrieval = retrieval
        self.probe_vectors: dict[str, Embedded] = {}
        self.saved: tuple[object, ...] | None = None
        self.scrub_due = threading.Event()
        self._threads = threads
        self._activity = activity
        self._translate = translate

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
        """Answers questions."""
        return self.active_space.recall

    @property
    def add_vectors(self) -> Stored:
        """Puts committed vectors into the index of the vector space in force now; called on the writer thread."""
        return self.active_space.add_vectors

    def embed(self, texts: Sequence[str]) -> Future[NDArray[np.float32]]:
        """Embed what somebody waits for: a query, a text to store.

        Args:
            texts: what to embed; few.

        Returns:
            Unit rows, (len(texts), dims) float32.
        """
        self._activity.called()
        return self._on(self._threads.prompt, self.active_space.embed, texts)

    def embed_texts(self, texts: Sequence[str]) -> Future[Embedded]:
        """As `embed`; an embedder that is away is no failure: then words are compared, and what is stored waits.

        Returns:
            The vectors with the vector space they belong to.
        """
        self._activity.called()
        return self._on(self._threads.prompt, embed_texts, self.active_space, texts)

    def embed_many(self, texts: Sequence[str]) -> Future[NDArray[np.float32]]:
        """Embed for background work, after what such work asked for before.

        Returns:
            Unit rows, (len(texts), dims) float32.
        """
        return self._on(self._threads.compute, self.active_space.embed, texts)

    def embed_texts_later(self, texts: Sequence[str]) -> Future[Embedded]:
        """As `embed_texts`, for background work."""
        return self._on(self._threads.compute, embed_texts, self.active_space, texts)

    def drop_vectors(self, seq: int, labels: Sequence[int]) -> None:
        """Take vanished memories out of the index; on the writer thread.

        Args:
            seq: the vault's sequence after the commit.
            labels: labels of memories.
        """
        if labels:
            self.scrub_due.set()
        self.active_space.drop_vectors(seq, labels)

    def use_vector_space(self, active_space: ActiveVectorSpace) -> None:
        """Search another vector space from here on; on the writer thread. A search that runs ends on the old one."""
        self.active_space = active_space
        self.probe_vectors = {}
        self.saved = None

    def use_retrieval(self, chosen: RetrievalOptions) -> None:
        """Rank by other weights from here on; a recall that runs goes on with those it began with."""
        self.retrieval = chosen
        self.recall.profile = profile_from_options(chosen)

    def _on(self, pool: Executor, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        return map_result(begin(pool, work, *args, **kwargs), lambda value: value, self._translate)
