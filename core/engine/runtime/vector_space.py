"""The one vector space that is searched, and everything that goes by it: replaced as a whole when the model changes.

A question is compared in the space in which it was embedded: whoever embeds keeps the vector space it embedded in,
and reads through that same one. Must not do: choose a model, or start a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from core import log
from core.embed.base import AWAY, Embedder
from core.errors import Code, EnvironmentFaultError, LociError
from core.index.arrays import NO_LABELS
from core.index.base import Labels
from core.index.manager import IndexManager
from core.intake.store.import_batch import ImportWriter
from core.intake.store.neighbours import NeighbourSearch
from core.intake.store.store import StoreService
from core.intake.transaction.text_readers import TextReaders
from core.intake.transaction.unit_of_work import UnitOfWork
from core.memory.write import VectorSpace
from core.recall.answer.pipeline import Recall
from core.score.ranking.profile import Profile
from core.text.compose import embedding_text

_log = log.get("engine")


@dataclass
class EmbedderFault:
    """The error that keeps the embedder from answering.

    Attributes:
        code: of its last failure; None while it answers.
    """

    code: Code | None = None


@dataclass(frozen=True)
class ActiveVectorSpace:
    """One vector space in use.

    Attributes:
        embedder: makes its vectors.
        space: its name, model and length.
        index: the vectors in memory.
        recall: searches them.
        store_service: stores into it.
        import_writer: imports into it.
        fault: whether the embedder answers.
    """

    embedder: Embedder
    space: VectorSpace
    index: IndexManager
    recall: Recall
    store_service: StoreService
    import_writer: ImportWriter
    fault: EmbedderFault = field(default_factory=EmbedderFault)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts; whether that worked is remembered.

        Returns:
            Unit rows, (len(texts), dims).

        Raises:
            LociError: one of `AWAY`.
        """
        try:
            vectors = self.embedder.embed(texts)
            if vectors.shape != (len(texts), self.space.dims):
                raise EnvironmentFaultError(
                    Code.DIMENSION_MISMATCH,
                    f"The search model gave vectors of another length than {self.space.dims}; change the model anew.",
                )
        except LociError as error:
            if error.code in AWAY:
                if self.fault.code is not error.code:
                    _log.warning("the embedder does not answer: %s", error.code.value)
                self.fault.code = error.code
            raise
        if texts:
            self.fault.code = None
        return vectors

    def add_vectors(self, seq: int, labels: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Put committed vectors into the index; on the writer thread.

        Args:
            seq: the vault's sequence after the commit.
            vectors: unit rows of this space, (len(labels), dims).
        """
        self._apply(seq, np.asarray(labels, dtype=np.int64), vectors, NO_LABELS)

    def drop_vectors(self, seq: int, labels: Sequence[int]) -> None:
        """Take vanished memories out of the index; on the writer thread.

        Args:
            seq: the vault's sequence after the commit.
        """
        none = np.empty((0, self.space.dims), dtype=np.float32)
        self._apply(seq, NO_LABELS, none, np.asarray(labels, dtype=np.int64))

    def _apply(self, seq: int, labels: Labels, vectors: NDArray[np.float32], removed: Labels) -> None:
        try:
            self.index.apply(seq, labels, vectors, removed)
        except LociError as error:
            # The rows are saved by now, and saying otherwise would be a lie; the index warms again by itself.
            _log.warning("the index did not take a change: %s", error.code.value)


@dataclass(frozen=True, slots=True)
class Embedded:
    """Texts as vectors of one vector space.

    Attributes:
        active_space: in which they were embedded.
        vectors: unit rows, one a text; None where the embedder could not answer.
        code: why it could not.
    """

    active_space: ActiveVectorSpace
    vectors: NDArray[np.float32] | None
    code: Code | None = None

    @property
    def first(self) -> NDArray[np.float32] | None:
        """The vector of the first text; None where there is none."""
        return None if self.vectors is None else self.vectors[0]

    def each(self, count: int) -> tuple[Embedded, ...]:
        """One of these for every text.

        Args:
            count: how many texts there were.
        """
        rows = [None] * count if self.vectors is None else [self.vectors[at : at + 1] for at in range(count)]
        return tuple(Embedded(self.active_space, row, self.code) for row in rows)

    def within(self, active_space: ActiveVectorSpace) -> NDArray[np.float32] | None:
        """The vectors, if they are of that vector space; else None, and what is stored waits for its vector."""
        return self.vectors if active_space is self.active_space else None


def embed_texts(active_space: ActiveVectorSpace, texts: Sequence[str]) -> Embedded:
    """Embed what somebody waits for; an embedder that is away is no failure.

    Args:
        active_space: in which.

    Returns:
        The vectors, or why there are none.

    Raises:
        LociError: of another kind: the vault closes …
    """
    try:
        return Embedded(active_space, active_space.embed(texts))
    except LociError as error:
        if error.code not in AWAY:
            raise
        return Embedded(active_space, None, error.code)


def make_active_space(
    embedder: Embedder,
    space: VectorSpace,
    index: IndexManager,
    profile: Profile,
    readers: TextReaders,
    make_id: Callable[[], str],
    work: UnitOfWork,
) -> ActiveVectorSpace:
    """Put a vector space and what works in it together.

    Args:
        embedder: makes the vectors.
        space: their space.
        index: over that space.
        profile: the weights of recall.
        readers: read claims and relations, with the gate in force.

    Returns:
        The active vector space.
    """
    reading = replace(readers, embed=lambda text: embedder.embed_one(embedding_text(text)))
    return ActiveVectorSpace(
        embedder=embedder,
        space=space,
        index=index,
        recall=Recall(index, space.name, profile, dims=space.dims),
        store_service=StoreService(make_id, work, space, NeighbourSearch(index, space), reading),
        import_writer=ImportWriter(make_id, work, space),
    )
