"""Approximate search over a graph (hnswlib) that can neither crash nor under-fill, and the graph's bytes.

hnswlib trusts its caller: a query of another length corrupts memory, a resize during a query crashes, a label
deleted and added again can vanish, k above what is reachable raises (stack facts, section 6). Here every array is
checked, changes are alone, each vector gets a row number that is used once in its life, and what the graph cannot
answer is scanned exactly. hnswlib saves only to a path: on Linux that of a file that exists in memory alone; elsewhere
the graph is pickled in memory. Must not do: let anybody else hold the graph, or load bytes that were not authenticated
(damaged ones crash the process or answer nonsense: reliability study, B30).
"""

from __future__ import annotations

import importlib.metadata
import io
import os
import pickle
import struct
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import hnswlib
import numpy as np
from numpy.typing import NDArray

from core.errors import BugError, Code, EnvironmentFaultError
from core.index.base import Allowed, Dump, Floats, Hits, Labels, Rows, Vectors
from core.index.flat import LockedRows, RowStore, as_labels, as_query, as_stored, scope_labels

_DESCRIPTORS = Path("/proc/self/fd")


def memory_files_work() -> bool:
    """Whether this system has files that live in memory and have a path."""
    return hasattr(os, "memfd_create") and _DESCRIPTORS.is_dir()


def graph_format(*, memory_file: bool) -> str:
    """Names the exact layout: another hnswlib or machine may read the bytes differently."""
    kind = "file" if memory_file else "pickle"
    return f"hnswlib-{_library_version()}-{sys.byteorder}-{struct.calcsize('P')}-{kind}"


def _library_version() -> str:
    # In a release the library is part of our own package, which then says so: it has no metadata of its own.
    try:
        return importlib.metadata.version("hnswlib")
    except importlib.metadata.PackageNotFoundError:
        provided = importlib.metadata.metadata("loci-palace").get_all("Provides-Dist") or []
        return next(str(line).split("(")[1].rstrip(")") for line in provided if line.startswith("hnswlib ("))


def new_buffer(*, memory_file: bool) -> BinaryIO:
    """An empty place in memory for a graph's bytes."""
    if memory_file:
        return os.fdopen(os.memfd_create("loci-index"), "w+b")
    return io.BytesIO()


def save_graph(graph: hnswlib.Index, *, memory_file: bool) -> tuple[BinaryIO, int]:
    """Write a graph into memory.

    Args:
        graph: an initialised graph that nobody changes meanwhile.
        memory_file: as `memory_files_work` says.

    Returns:
        The bytes, at their start, and how many they are.

    Raises:
        EnvironmentFaultError: E5001 if memory did not suffice.
    """
    buffer = new_buffer(memory_file=memory_file)
    if memory_file:
        graph.save_index(f"{_DESCRIPTORS}/{buffer.fileno()}")
        size = os.fstat(buffer.fileno()).st_size
        # A save that failed raises nothing; only the size tells.
        if size != graph.index_file_size():
            buffer.close()
            raise EnvironmentFaultError(Code.MEMORY_PRESSURE, "There is too little memory for the index snapshot.")
    else:
        buffer.write(pickle.dumps(graph))
        size = buffer.tell()
    buffer.seek(0)
    return buffer, size


def load_graph(dims: int, buffer: BinaryIO, capacity: int, *, memory_file: bool) -> hnswlib.Index:
    """Read a graph back.

    Args:
        dims: its dimension.
        buffer: authentic bytes that `save_graph` wrote.
        capacity: room for so many elements, at least those in the graph.
        memory_file: as at saving.

    Returns:
        The graph; its `ef` is not set.

    Raises:
        RuntimeError: hnswlib refuses the bytes.
    """
    buffer.flush()
    buffer.seek(0)
    if memory_file:
        graph = hnswlib.Index(space="cosine", dim=dims)
        graph.load_index(f"{_DESCRIPTORS}/{buffer.fileno()}", max_elements=capacity)
        return graph
    try:
        loaded: hnswlib.Index = pickle.load(buffer)  # noqa: S301 - only bytes this vault sealed come here
    except (pickle.UnpicklingError, EOFError, ValueError) as error:
        raise RuntimeError("not a graph") from error
    return loaded


BACKEND = "hnsw"
M = 16
EF_CONSTRUCTION = 200
EF = 100
LIVE_BATCH = 16
_SMALL_SCOPE = 2000
_SMALL_SHARE = 50
_SPARE = 16
# What the graph adds to a vector's bytes: links of the ground floor, label, lock, upper floors (measured).
_GRAPH_OVERHEAD = 273


class HnswIndex(LockedRows):
    """The approximate backend; see `core.index.base.VectorIndex` for what each method promises.

    Vectors are kept twice: as float32 in the graph, which hnswlib needs, and as float16 rows, which make exact
    scans, exact cosines and `fetch` cheap (hnswlib gives vectors back at 15 microseconds each). New vectors are
    *staged* first, found by exact scan, and then *linked* into the graph a few at a time. Removed ones stay in the
    graph as tombstones until the index is built anew.
    """

    def __init__(self, dims: int, *, batch: int = LIVE_BATCH, threads: int = 2) -> None:
        """Make an empty index.

        Args:
            dims: length of a vector.
            batch: vectors linked under one lock; 16 keeps a waiting query's wait below 10 ms, more is for an index
                that nobody searches yet.
            threads: native threads that link a batch.
        """
        super().__init__(RowStore(dims, np.float16, reuse=False))
        self._linking = threading.Lock()  # one linker at a time; taken before _lock
        self._threads = threads
        self.batch = batch
        self._linked = 0  # rows below are in the graph, unless they were dead when their turn came
        self._buried = 0  # elements of the graph that are marked deleted
        self._graph = _empty_graph(dims)

    @property
    def backend(self) -> str:
        """`hnsw`."""
        return BACKEND

    @property
    def staged(self) -> int:
        """Rows that are not in the graph yet and are scanned."""
        return self._store.used - self._linked

    def add(self, labels: Labels, vectors: Floats) -> None:
        """Add or replace vectors, and link all that are staged."""
        self.stage(labels, vectors)
        self.link()

    def stage(self, labels: Labels, vectors: Floats) -> None:
        """Add or replace vectors without linking them; they can be found at once.

        Args:
            labels: as `add`.
            vectors: as `add`.

        Raises:
            LociError: as `add`.
        """
        wanted, rows = as_stored(labels, vectors, self.dims)
        with self._lock.write():
            self._mark_rows_dead(self._store.put(wanted, rows))

    def link(self, limit: int | None = None, cancelled: Callable[[], bool] | None = None) -> int:
        """Bring staged vectors into the graph, a batch under each lock.

        Args:
            limit: at most about so many; None for all.
            cancelled: asked between batches.

        Returns:
            How many rows are still staged.
        """
        done = 0
        with self._linking:
            while (limit is None or done < limit) and not (cancelled is not None and cancelled()):
                moved = self._link_batch()
                if moved == 0:
                    break
                done += moved
        return self.staged

    def unlink(self) -> None:
        """Drop the graph: two thirds of the memory. Every vector is found by exact scan until it is linked again."""
        with self._linking, self._lock.write():
            self._graph = _empty_graph(self.dims)
            self._linked = self._buried = 0

    def _link_batch(self) -> int:
        with self._lock.write():
            start, stop = self._linked, min(self._linked + self.batch, self._store.used)
            rows = self._store.live_rows(start, stop)
            if rows.size:
                self._make_room(int(rows.size))
                self._graph.add_items(self._store.vectors_at(rows), rows, num_threads=self._threads)
            self._linked = stop
            return stop - start

    def _make_room(self, more: int) -> None:
        # Alone under the lock: a resize while another thread queries crashes the process.
        least = self._graph.get_current_count() + more
        if least > self._graph.get_max_elements():
            self._graph.resize_index(max(least, self._graph.get_max_elements() * 3 // 2))

    def remove(self, labels: Labels) -> int:
        """Remove labels; tells how many were here."""
        wanted = as_labels(labels)
        with self._lock.write():
            rows = self._store.drop(wanted)
            self._mark_rows_dead(rows)
            return int(rows.size)

    def _mark_rows_dead(self, rows: Rows) -> None:
        # A row dies once in its life, so nothing is ever marked twice, which would raise.
        for row in rows[rows < self._linked].tolist():
            self._graph.mark_deleted(row)
            self._buried += 1

    def search(self, query: Floats, k: int, allowed: Allowed = None) -> Hits:
        """Find the nearest vectors; scopes never under-fill."""
        unit = as_query(query, self.dims)
        scope = None if allowed is None else scope_labels(allowed, self.labels)
        with self._lock.read():
            if scope is None:
                return self._search_all(unit, k)
            return self._search_scope(unit, k, self._store.rows_of(scope))

    def _search_all(self, query: Vectors, k: int) -> Hits:
        rows = self._near_rows(query, k + _SPARE)
        if rows is None or rows.size == 0:
            return self._store.nearest(query, k)
        return self._store.nearest(query, k, np.concatenate((rows, self._store.live_rows(self._linked))))

    def _search_scope(self, query: Vectors, k: int, rows: Rows) -> Hits:
        if rows.size > max(_SMALL_SCOPE, self.count // _SMALL_SHARE):
            mask = np.zeros(self._store.used, np.bool_)
            mask[rows] = True
            want = 3 * (k + _SPARE) * self.count // (2 * int(rows.size)) + _SPARE
            # A scan costs about as much per row as the graph does per two neighbours asked for.
            while 2 * want < rows.size:
                near = self._near_rows(query, want)
                if near is None:
                    break
                near = near[mask[near]]
                if near.size >= k:
                    return self._store.nearest(query, k, np.concatenate((near, rows[rows >= self._linked])))
                want *= 4
        return self._store.nearest(query, k, rows)

    def _near_rows(self, query: Vectors, want: int) -> Rows | None:
        """About `want` nearest live rows of the graph; None where a scan must answer."""
        alive = self._graph.get_current_count() - self._buried
        if alive == 0:
            return np.empty(0, np.int64)
        want = min(max(want, 1), alive)
        try:
            found, _ = self._graph.knn_query(query.reshape(1, -1), k=want, num_threads=1)
        except RuntimeError:
            # Fewer than k elements could be reached: rare, and no reason to answer with less.
            return None
        rows = np.asarray(found[0], np.int64)
        return rows[self._store.labels_at(rows) >= 0]

    def dump(self) -> Dump:
        """Everything that is in here. Blocks other Python threads for 0.1 s at 100,000 vectors."""
        with self._lock.read():
            labels, vectors = self._store.all_labels(), self._store.all_vectors()
            graph, size = save_graph(self._graph, memory_file=memory_files_work())
            return Dump(BACKEND, self.dims, self.revision, labels, vectors, self._linked, graph, size)

    def memory_bytes(self) -> int:
        """About how much memory it holds."""
        graph = self._graph.get_current_count() * (self.dims * 4 + _GRAPH_OVERHEAD)
        return self._store.memory_bytes() + graph

    def adopt(self, store: RowStore, graph: hnswlib.Index, linked: int) -> None:
        """Take over what a snapshot held; only on an empty index that nobody else has.

        Args:
            store: the rows, the dead ones included.
            linked: rows below are in the graph.

        Raises:
            BugError: the parts do not belong together.
        """
        elements = np.array(graph.get_ids_list(), np.int64)
        alive = store.live_rows(0, linked)
        fits = linked <= store.used and graph.dim == store.dims and elements.size >= alive.size
        if not fits or not bool(np.isin(alive, elements).all()) or bool((elements >= linked).any()):
            raise BugError("index snapshot")
        graph.set_ef(EF)  # not saved in the bytes
        self._store, self._graph, self._linked = store, graph, linked
        self._buried = elements.size - alive.size


def _empty_graph(dims: int) -> hnswlib.Index:
    graph = hnswlib.Index(space="cosine", dim=dims)
    graph.init_index(max_elements=1024, M=M, ef_construction=EF_CONSTRUCTION)
    graph.set_ef(EF)
    return graph


def restore_hnsw(dump: Dump, *, memory_file: bool) -> HnswIndex:
    """An index from what another one dumped.

    Args:
        dump: of an `hnsw` index; its bytes must be authentic.
        memory_file: whether its graph lies in a memory file.

    Raises:
        BugError: the parts do not belong together.
        RuntimeError: hnswlib refuses the graph.
    """
    if dump.graph is None:
        raise BugError("index snapshot")
    index = HnswIndex(dump.dims)
    # Room for a tenth more: a resize right after the start would hold up the first queries.
    capacity = max(1024, dump.row_labels.size * 11 // 10)
    graph = load_graph(dump.dims, dump.graph, capacity, memory_file=memory_file)
    index.adopt(restored_rows(dump.row_labels, dump.vectors), graph, dump.linked)
    index.revision = dump.revision
    return index


def restored_rows(row_labels: Labels, vectors: NDArray[np.float16]) -> RowStore:
    """Rows as they were, dead ones in their places.

    Args:
        row_labels: -1 for a dead row.
        vectors: one row each.
    """
    store = RowStore(int(vectors.shape[1]), np.float16, reuse=False)
    store.lay(row_labels, vectors)
    return store
