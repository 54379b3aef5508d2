"""One index that is always ready to answer: chooses the backend, warms it, keeps it in shape.

It starts no thread: the engine calls `warm` and `maintain` on its compute pool, `apply` after each commit, `search`
from anywhere. Must not do: read the vault itself, or answer with less than is known.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.errors import CancelledError, Code, EnvironmentFaultError
from core.index.base import Allowed, Floats, Hits, Labels, VectorIndex, Vectors
from core.index.flat import NO_LABELS, FlatIndex, as_labels, as_query, as_stored, merge_hits, scope_labels, score_rows
from core.index.hnsw import LIVE_BATCH, HnswIndex
from core.index.snapshot import SnapshotRefusal, SnapshotRefused

HNSW_FROM = 5000
_BUILD_BATCH = 256
_LINK_STEP = 512
_COPY = 8192
_DEAD_SHARE = 4
_DEAD_LEAST = 1000

Chunks = Iterable[tuple[Labels, NDArray[np.floating]]]
Fetch = Callable[[Labels], Chunks]
Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]


class IndexState(StrEnum):
    """How far the index is."""

    EMPTY = "empty"
    WARMING = "warming"
    READY = "ready"


class MaintenanceDue(StrEnum):
    """What `maintain` would do."""

    NOTHING = "nothing"
    LINK = "link"
    REBUILD = "rebuild"


class EmbeddingLoader(Protocol):
    """Reads the vault's embeddings, all of it within one read transaction."""

    def revision(self) -> int:
        """The vault's revision that the transaction sees."""
        ...

    def live_labels(self) -> Labels:
        """Every label that has an embedding and should be found, ascending."""
        ...

    def changed_since(self, revision: int) -> Labels:
        """Labels whose embedding was written after a revision; more than that do no harm."""
        ...

    def vectors(self, labels: Labels) -> Chunks:
        """The embeddings of those labels, in chunks of any size and order."""
        ...


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """What the status page says.

    Attributes:
        state: how far.
        done: embeddings that are in memory.
        total: embeddings there are.
        backend: `flat` or `hnsw`.
        staged: embeddings that are found by scan because the graph does not hold them yet.
        dead: rows that wait for the next rebuild.
        revision: the vault revision it stands at.
        memory_bytes: about how much memory it holds.
        snapshot: why the last snapshot was refused; None if it was used or none was tried.
        needs_warm: a change failed to come in; `warm` puts it right.
    """

    state: IndexState
    done: int
    total: int
    backend: str
    staged: int
    dead: int
    revision: int
    memory_bytes: int
    snapshot: SnapshotRefusal | None
    needs_warm: bool


@dataclass(frozen=True, slots=True)
class _View:
    """What a search sees, replaced as a whole: an index, and the labels that are not in it yet."""

    index: VectorIndex
    pending: Labels


@dataclass(frozen=True, slots=True)
class _Gap:
    """A change did not come in: everything between two revisions must be read again."""

    since: int
    until: int


class IndexManager:
    """The vault's vectors in memory; see the module's words."""

    def __init__(self, dims: int, *, hnsw_from: int = HNSW_FROM, threads: int = 2) -> None:
        """Make an empty manager.

        Args:
            dims: length of a vector.
            hnsw_from: from so many vectors on the graph is used.
            threads: native threads that build the graph.
        """
        self._dims = dims
        self._hnsw_from = hnsw_from
        self._threads = threads
        self._work = threading.Lock()  # one warm, maintain or purge at a time; taken before _writes
        self._writes = threading.Lock()  # guards every change of the index and all below
        self._view = _View(FlatIndex(dims), NO_LABELS)
        self._state = IndexState.EMPTY
        # Label -> revision of what `apply` set or removed while others look at older data; None while nobody does.
        self._touched: dict[int, int] | None = {}
        self._gap: _Gap | None = None
        self._refusal: SnapshotRefusal | None = None
        self._is_frugal = False

    # ---- reading

    @property
    def revision(self) -> int:
        """The vault revision the index stands at; 0 before it was warm."""
        return self._view.index.revision

    def status(self) -> IndexStatus:
        """How it is."""
        view = self._view
        index = view.index
        return IndexStatus(
            state=self._state,
            done=index.count,
            total=index.count + int(view.pending.size),
            backend=index.backend,
            staged=index.staged if isinstance(index, HnswIndex) else 0,
            dead=index.dead,
            revision=index.revision,
            memory_bytes=index.memory_bytes(),
            snapshot=self._refusal,
            needs_warm=self._gap is not None or self._state is IndexState.EMPTY,
        )

    def search(self, query: Floats, k: int, allowed: Allowed = None, fetch: Fetch | None = None) -> Hits:
        """Find the nearest vectors: in what is loaded, and in the rest by exact scan.

        Args:
            query: shape (dims,).
            k: how many.
            fetch: reads the embeddings of labels from the vault; asked only while warming. Without it the answer is
                what is loaded, and `status` tells that it is not all.

        Returns:
            The hits, best first.

        Raises:
            EnvironmentFaultError: E2002 if `warm` was never called, so that nothing is known.
            LociError: E3003, E3002 for a query of another shape or without direction.
        """
        if self._state is IndexState.EMPTY:
            raise EnvironmentFaultError(Code.NO_INDEX, "The index is not loaded yet; try again in a moment.")
        # Taken before the search: what leaves `pending` later is in the index already.
        view = self._view
        hits = view.index.search(query, k, allowed)
        wanted = view.pending
        if allowed is not None and wanted.size:
            wanted = np.intersect1d(scope_labels(allowed, lambda: view.pending), wanted)
        if wanted.size == 0 or fetch is None:
            return hits
        unit = as_query(query, self._dims)
        for labels, vectors in fetch(wanted):
            found, rows = as_stored(labels, vectors, self._dims)
            hits = merge_hits(hits, score_rows(found, rows, unit, k), k)
        return hits

    def fetch(self, labels: Labels) -> tuple[Labels, Vectors]:
        """The vectors of those labels that are loaded, in the order asked."""
        return self._view.index.fetch(labels)

    def settled_index(self) -> VectorIndex | None:
        """The index if it agrees with the vault as far as its revision, else None: only such a one makes a snapshot."""
        with self._writes:
            return self._view.index if self._state is IndexState.READY and self._gap is None else None

    # ---- changing

    def apply(self, revision: int, labels: Labels, vectors: Floats, removed: Labels = NO_LABELS) -> None:
        """Bring in one committed change; quick, also for some thousand vectors.

        Args:
            revision: the vault's revision after it; calls come in the order of commits.
            labels: embeddings set by it.
            vectors: one each.
            removed: embeddings that must not be found any more.

        Raises:
            LociError: E3003, E3002 for unusable vectors. The index then lags behind until `warm` is called again.
        """
        with self._writes:
            index, before = self._view.index, self._gap
            # Stands if anything below fails.
            self._gap = _Gap(index.revision if before is None else before.since, revision)
            gone, wanted = as_labels(removed), as_labels(labels)
            _add_vectors(index, wanted, vectors)
            index.remove(np.setdiff1d(gone, wanted))
            touched = np.concatenate((gone, wanted))
            if self._touched is not None:
                self._touched.update(dict.fromkeys(touched.tolist(), revision))
            self._drop_pending(touched)
            self._gap = before
            index.revision = max(index.revision, revision)

    def _drop_pending(self, labels: Labels) -> None:
        """Labels are in the index, or gone: no longer pending."""
        if self._view.pending.size:
            self._view = _View(self._view.index, np.setdiff1d(self._view.pending, labels))

    # ---- warming

    def warm(
        self,
        loader: EmbeddingLoader,
        progress: Progress,
        cancelled: Cancelled,
        snapshot: Callable[[], VectorIndex | SnapshotRefused] | None = None,
    ) -> None:
        """Make the index agree with the vault; searches are answered all the while.

        Can be called again at any time, after a cancel too: only what is missing, changed or gone is touched.

        Args:
            loader: reads the vault.
            progress: told (done, total) after each chunk.
            cancelled: asked before each chunk.
            snapshot: reads the snapshot; asked at the first warm only.

        Raises:
            CancelledError: it was cancelled; the rest stays pending and is still found.
        """
        with self._work:
            revision = loader.revision()
            live = np.unique(as_labels(loader.live_labels()))
            first = self._state is IndexState.EMPTY
            self._begin_load(loader, live, revision)
            if first and snapshot is not None and live.size:
                self._use_snapshot(snapshot(), loader, live, revision)
            self._load_pending(loader, live.size, progress, cancelled)
            with self._writes:
                self._view = _View(self._view.index, NO_LABELS)
                self._state, self._touched = IndexState.READY, None
                if self._gap is not None and self._gap.until <= revision:
                    self._gap = None

    def _begin_load(self, loader: EmbeddingLoader, live: Labels, revision: int) -> None:
        """From here on searches are complete: what is not in the index is pending."""
        index, gap = self._view.index, self._gap
        changed = as_labels(loader.changed_since(gap.since if gap else index.revision)) if index.count else NO_LABELS
        with self._writes:
            # What was applied up to the loader's revision is no newer than what the loader reads.
            self._touched = {n: at for n, at in (self._touched or {}).items() if at > revision}
            if self._state is IndexState.EMPTY and live.size >= self._hnsw_from:
                index = HnswIndex(self._dims, threads=self._threads)
                _add_vectors(index, *self._view.index.fetch(self._view.index.labels()))
                index.revision = self._view.index.revision
            self._reconcile_with_vault(index, live, changed, revision)
            self._state = IndexState.WARMING

    def _reconcile_with_vault(self, index: VectorIndex, live: Labels, changed: Labels, revision: int) -> None:
        """Take out what is gone or older than the vault, but for what `apply` set; publish the rest as pending."""
        touched = self._touched_labels()
        old = np.union1d(np.setdiff1d(index.labels(), live), changed)
        index.remove(np.setdiff1d(old, touched))
        missing = np.setdiff1d(live, index.labels())
        # Every change up to here is in the index or pending, so this is the revision, though much may be pending.
        index.revision = max(index.revision, revision)
        self._view = _View(index, np.setdiff1d(missing, touched))

    def _touched_labels(self) -> Labels:
        return np.array(sorted(self._touched or ()), np.int64)

    def _use_snapshot(
        self, loaded: VectorIndex | SnapshotRefused, loader: EmbeddingLoader, live: Labels, revision: int
    ) -> None:
        if isinstance(loaded, SnapshotRefused):
            self._refusal = loaded.reason
            return
        if loaded.revision > revision:
            self._refusal = SnapshotRefusal.OTHER_HISTORY
            return
        changed = as_labels(loader.changed_since(loaded.revision))
        with self._writes:
            self._carry_over(self._view.index, loaded)
            self._reconcile_with_vault(loaded, live, changed, revision)

    def _carry_over(self, old: VectorIndex, new: VectorIndex) -> None:
        """Give another index what `apply` did to the one in use."""
        touched = self._touched_labels()
        new.remove(touched)
        _add_vectors(new, *old.fetch(touched))
        new.revision = max(new.revision, old.revision)

    def _load_pending(self, loader: EmbeddingLoader, total: int, progress: Progress, cancelled: Cancelled) -> None:
        pending = self._view.pending
        progress(total - pending.size, total)
        if pending.size == 0:
            return
        for labels, vectors in loader.vectors(pending):
            if cancelled():
                raise CancelledError
            with self._writes:
                wanted = as_labels(labels)
                fresh = np.isin(wanted, self._touched_labels(), invert=True)
                _add_vectors(self._view.index, wanted[fresh], np.asarray(vectors)[fresh])
                self._drop_pending(wanted)
            progress(total - self._view.pending.size, total)

    # ---- upkeep

    def due(self) -> MaintenanceDue:
        """What `maintain` would do now; cheap, to be asked after `apply` and `warm`."""
        index = self._view.index
        if self._state is not IndexState.READY or self._is_frugal:
            return MaintenanceDue.NOTHING
        if not isinstance(index, HnswIndex):
            return MaintenanceDue.REBUILD if index.count >= self._hnsw_from else MaintenanceDue.NOTHING
        if index.dead > max(_DEAD_LEAST, index.count // _DEAD_SHARE):
            return MaintenanceDue.REBUILD
        return MaintenanceDue.LINK if index.staged else MaintenanceDue.NOTHING

    def maintain(self, progress: Progress, cancelled: Cancelled) -> MaintenanceDue:
        """Link staged vectors, change to the graph, or build it anew; searches and writes go on.

        Args:
            progress: told (done, total).
            cancelled: asked between batches; what was linked stays, a rebuild is dropped.

        Returns:
            What was done.

        Raises:
            CancelledError: it was cancelled.
        """
        with self._work:
            due, index = self.due(), self._view.index
            if due is MaintenanceDue.REBUILD:
                self._rebuild_index(progress, cancelled)
            elif due is MaintenanceDue.LINK and isinstance(index, HnswIndex):
                _link_staged_rows(index, progress, cancelled)
            return due

    def spare_memory(self, *, on: bool) -> bool:
        """Do without the graph while memory is short, or let `maintain` link it again (E21.3).

        Exact scan takes its place: no answer changes, each takes longer. The exact backend has nothing to give.

        Args:
            on: whether memory is short.

        Returns:
            Whether anything was dropped.
        """
        self._is_frugal = on
        if not on:
            return False
        with self._work:
            index = self._view.index
            if not isinstance(index, HnswIndex) or index.staged == index.count + index.dead:
                return False
            index.unlink()
            return True

    def purge(self, progress: Progress, cancelled: Cancelled) -> None:
        """Build the graph anew so that no removed vector is left in it, nor in the next snapshot.

        Args:
            progress: as `maintain`.
            cancelled: as `maintain`.

        Raises:
            CancelledError: it was cancelled; the removed vectors are still held.
        """
        with self._work:
            # The exact backend wipes a vector as it removes it.
            if self._state is IndexState.READY and isinstance(self._view.index, HnswIndex) and self._view.index.dead:
                self._rebuild_index(progress, cancelled)

    def _rebuild_index(self, progress: Progress, cancelled: Cancelled) -> None:
        with self._writes:
            old = self._view.index
            self._touched = {}
            labels = old.labels()
        try:
            new = self._copy_of(old, labels, progress, cancelled)
            with self._writes:
                # What was written meanwhile is carried over; the old index answered until here.
                self._carry_over(old, new)
                self._view = _View(new, NO_LABELS)
        finally:
            with self._writes:
                self._touched = None

    def _copy_of(self, old: VectorIndex, labels: Labels, progress: Progress, cancelled: Cancelled) -> VectorIndex:
        as_graph = labels.size >= self._hnsw_from
        new = HnswIndex(self._dims, batch=_BUILD_BATCH, threads=self._threads) if as_graph else FlatIndex(self._dims)
        for low in range(0, labels.size, _COPY):
            _add_vectors(new, *old.fetch(labels[low : low + _COPY]))
        if isinstance(new, HnswIndex):
            _link_staged_rows(new, progress, cancelled)
            new.batch = LIVE_BATCH
        return new


def _add_vectors(index: VectorIndex, labels: Labels, vectors: Floats) -> None:
    """Add without waiting for the graph."""
    if isinstance(index, HnswIndex):
        index.stage(labels, vectors)
    else:
        index.add(labels, vectors)


def _link_staged_rows(graph: HnswIndex, progress: Progress, cancelled: Cancelled) -> None:
    total = graph.staged
    while left := graph.link(_LINK_STEP, cancelled):
        if cancelled():
            raise CancelledError
        progress(max(0, total - left), total)
    progress(total, total)
