"""What searches an open vault: the active vector space with its embedder, index and recall, and the options in force.

The vector space is replaced as a whole when the model changes: whoever embeds keeps the space it embedded in, and
reads through that same one. Must not do: choose a model, start a thread, or store anything.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core import log
from core.config.retrieval import RetrievalOptions
from core.embed.embedder import AWAY, Embedder, from_blob
from core.engine.runtime.shared_property import shared_property
from core.engine.runtime.storage import Storage, log_failure
from core.errors import Code, EnvironmentFaultError, LociError
from core.index.base import Labels
from core.index.flat import NO_LABELS
from core.index.manager import IndexManager
from core.intake.transaction.unit_of_work import UnitOfWork
from core.memory.write import Stored, VectorSpace
from core.recall.answer_fit import WeighAnswers
from core.recall.pipeline import Recall
from core.score.profile import Profile, profile_from_options
from core.text.terms import embedding_text
from core.types.values import Pressure
from core.vault.database.rows import Rows

if TYPE_CHECKING:  # what stores is loaded by who stores: one recall does without it
    from core.intake.claims import TextReaders
    from core.intake.store.import_batch import ImportWriter
    from core.intake.store.store import StoreService

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
        make_readers: gives what reads claims and relations of texts that are stored.
        make_id: makes ids of what is stored.
        work: opens the steps of verbs that store.
        weigh: how well texts answer a question; None where no model tells.
        fault: whether the embedder answers.
    """

    embedder: Embedder
    space: VectorSpace
    index: IndexManager
    recall: Recall
    make_readers: Callable[[], TextReaders]
    make_id: Callable[[], str]
    work: UnitOfWork
    weigh: WeighAnswers | None
    fault: EmbedderFault = field(default_factory=EmbedderFault)

    @shared_property
    def store_service(self) -> StoreService:
        """Stores into it."""
        from core.intake.store.neighbours import NeighbourSearch
        from core.intake.store.store import StoreService

        reading = replace(self.make_readers(), embed=lambda text: self.embedder.embed_one(embedding_text(text)))
        return StoreService(self.make_id, self.work, self.space, NeighbourSearch(self.index, self.space), reading)

    @shared_property
    def import_writer(self) -> ImportWriter:
        """Imports into it."""
        from core.intake.store.import_batch import ImportWriter

        return ImportWriter(self.make_id, self.work, self.space)

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
        self._apply_change(seq, np.asarray(labels, dtype=np.int64), vectors, NO_LABELS)

    def drop_vectors(self, seq: int, labels: Sequence[int]) -> None:
        """Take vanished memories out of the index; on the writer thread.

        Args:
            seq: the vault's sequence after the commit.
        """
        none = np.empty((0, self.space.dims), dtype=np.float32)
        self._apply_change(seq, NO_LABELS, none, np.asarray(labels, dtype=np.int64))

    def _apply_change(self, seq: int, labels: Labels, vectors: NDArray[np.float32], removed: Labels) -> None:
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

    def split_by_text(self, count: int) -> tuple[Embedded, ...]:
        """One of these for every text.

        Args:
            count: how many texts there were.
        """
        rows = [None] * count if self.vectors is None else [self.vectors[at : at + 1] for at in range(count)]
        return tuple(Embedded(self.active_space, row, self.code) for row in rows)

    def vectors_in(self, active_space: ActiveVectorSpace) -> NDArray[np.float32] | None:
        """The vectors, if they are of that vector space; else None, and what is stored waits for its vector."""
        return self.vectors if active_space is self.active_space else None


def embed_texts(active_space: ActiveVectorSpace, texts: Sequence[str]) -> Embedded:
    """Embed what somebody waits for; an embedder that is away is no failure.

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
    make_readers: Callable[[], TextReaders],
    make_id: Callable[[], str],
    work: UnitOfWork,
    weigh: WeighAnswers | None,
) -> ActiveVectorSpace:
    """Put a vector space and what works in it together.

    Args:
        embedder: makes the vectors.
        index: over that space.
        profile: the weights of recall.
        make_readers: gives what reads claims and relations, with the gate in force.
        weigh: how well texts answer a question; None where no model tells.
    """
    return ActiveVectorSpace(
        embedder=embedder,
        space=space,
        index=index,
        recall=Recall(
            index, space.name, profile, dims=space.dims, weigh=None if weigh is None else partial(_weigh_answers, weigh)
        ),
        make_readers=make_readers,
        make_id=make_id,
        work=work,
        weigh=weigh,
    )


def _weigh_answers(weigh: WeighAnswers, question: str, texts: Sequence[str]) -> Sequence[float]:
    """How well texts answer a question; where the model does not tell, all alike and none surely."""
    try:
        return weigh(question, texts)
    except LociError as error:
        _log.warning("the model that weighs answers did not answer: %s", error.code.value)
        return [-1.0] * len(texts)


_CHUNK = 2_000
_MOST_AHEAD = 600
"""Characters of a text that is read ahead, a few sentences: some tens of milliseconds."""


class VaultVectorLoader:
    """Reads embeddings for the index within one snapshot; implements `core.index.manager.EmbeddingLoader`."""

    def __init__(self, rows: Rows, space: VectorSpace) -> None:
        self._rows = rows
        self._space = space

    def revision(self) -> int:
        """The vault's sequence that the snapshot sees."""
        return int(self._rows.value("SELECT seq FROM vault_state"))

    def live_labels(self) -> Labels:
        """Labels of all memories that have a vector, ascending."""
        return self._read_labels("")

    def changed_since(self, revision: int) -> Labels:
        """Labels whose vector was written after a revision."""
        return self._read_labels(" AND rev > ?", revision)

    def _read_labels(self, more: str, *values: int) -> Labels:
        found = self._rows.all(
            f"SELECT n FROM embeddings WHERE owner = 'memory' AND vector_space = ?{more} ORDER BY n",  # noqa: S608 - constant
            (self._space.name, *values),
        )
        return np.fromiter((row[0] for row in found), dtype=np.int64, count=len(found))

    def vectors(self, labels: Labels) -> Iterator[tuple[Labels, NDArray[np.floating]]]:
        """The vectors of those labels, some thousand at a time."""
        for start in range(0, len(labels), _CHUNK):
            yield load_vectors(self._rows, self._space, labels[start : start + _CHUNK])


def load_vectors(rows: Rows, space: VectorSpace, labels: Labels) -> tuple[Labels, NDArray[np.float32]]:
    """Stored vectors of memories.

    Args:
        labels: labels of memories; those without a vector are left out.

    Returns:
        The labels found, ascending, and their vectors (found, dims).
    """
    wanted = json.dumps([int(label) for label in labels])
    found = rows.all(
        "SELECT n, vector FROM embeddings WHERE owner = 'memory' AND vector_space = ? "
        "AND n IN (SELECT value FROM json_each(?)) ORDER BY n",
        (space.name, wanted),
    )
    vectors = np.empty((len(found), space.dims), dtype=np.float32)
    for place, (_, blob) in enumerate(found):
        vectors[place] = from_blob(blob, space.dims)
    return np.fromiter((row[0] for row in found), dtype=np.int64, count=len(found)), vectors


class Search:
    """The vector space in force and everything that works in it.

    Attributes:
        active_space: with its embedder, index and services; replaced as a whole.
        retrieval: the options of recall in force.
        probe_vectors: questions of probes with their vectors, so that each is embedded once.
        emblem_vectors: what the emblems of rooms stand for, embedded once; None before.
        saved: how the index was when it came whole from its snapshot; None where it did not.
        scrub_due: set when rows vanished whose words the lexical index still holds in its pages.
    """

    def __init__(
        self,
        active_space: ActiveVectorSpace,
        retrieval: RetrievalOptions,
        make_readers: Callable[[], TextReaders],
        storage: Storage,
    ) -> None:
        self.active_space = active_space
        self._make_readers = make_readers
        self.retrieval = retrieval
        self.probe_vectors: dict[str, Embedded] = {}
        self.emblem_vectors: Embedded | None = None
        self.saved: tuple[object, ...] | None = None
        self.scrub_due = threading.Event()
        self._storage = storage

    @shared_property
    def readers(self) -> TextReaders:
        """Read claims and relations."""
        return self._make_readers()

    def load_writers(self) -> None:
        """Make what stores now, so that the first store waits for no module."""
        _ = self.store_service, self.import_writer

    @property
    def store_service(self) -> StoreService:
        """Stores into the space that is searched."""
        return self.active_space.store_service

    @property
    def import_writer(self) -> ImportWriter:
        """Imports into the space that is searched."""
        return self.active_space.import_writer

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
        self._storage.activity.note_call()
        return self._storage.run_on(self._storage.threads.prompt, self.active_space.embed, texts)

    def embed_texts(self, texts: Sequence[str]) -> Future[Embedded]:
        """As `embed`; an embedder that is away is no failure: then words are compared, and what is stored waits.

        Returns:
            The vectors with the vector space they belong to.
        """
        self._storage.activity.note_call()
        return self._storage.run_on(self._storage.threads.prompt, embed_texts, self.active_space, texts)

    def read_ahead(self, text: str) -> None:
        """Begin to read the claims of a text that is being embedded, so that the writer finds them read.

        Args:
            text: what is about to be stored; a long one is left to the writer: whoever asks waits for this thread, too.
        """
        read = self.store_service.readers.read_ahead
        if read is not None and len(text) <= _MOST_AHEAD:
            log_failure(self._storage.run_on(self._storage.threads.prompt, read, text), _log, "reading ahead")

    def embed_many(self, texts: Sequence[str]) -> Future[NDArray[np.float32]]:
        """Embed for background work, after what such work asked for before.

        Returns:
            Unit rows, (len(texts), dims) float32.
        """
        return self._storage.run_on(self._storage.threads.compute, self.active_space.embed, texts)

    def embed_texts_later(self, texts: Sequence[str]) -> Future[Embedded]:
        """As `embed_texts`, for background work."""
        return self._storage.run_on(self._storage.threads.compute, embed_texts, self.active_space, texts)

    def drop_vectors(self, seq: int, labels: Sequence[int]) -> None:
        """Take vanished memories out of the index; on the writer thread.

        Args:
            seq: the vault's sequence after the commit.
        """
        if labels:
            self.scrub_due.set()
        self.active_space.drop_vectors(seq, labels)

    def use_vector_space(self, active_space: ActiveVectorSpace) -> None:
        """Search another vector space from here on; on the writer thread. A search that runs ends on the old one."""
        self.active_space = active_space
        self.probe_vectors = {}
        self.emblem_vectors = None
        self.saved = None

    def release_memory(self, level: Pressure) -> None:
        """Give up what memory pressure of a level asks for; answers stay the same."""
        self.index.spare_memory(on=level is Pressure.CRITICAL)
        if level is not Pressure.NORMAL:
            self.probe_vectors = {}
            self.recall.drop_caches()

    def use_retrieval(self, chosen: RetrievalOptions) -> None:
        """Rank by other weights from here on; a recall that runs goes on with those it began with."""
        self.retrieval = chosen
        self.recall.profile = profile_from_options(chosen)
