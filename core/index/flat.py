"""Exact search over vectors in memory, and what both backends share: checked arrays, rows with labels, a fair lock.

Every vector is compared; below some thousand vectors nothing is quicker. hnswlib reads past a query of the wrong length
and accepts NaN (stack facts, section 6): every array passes the checks here first, so nothing wrong reaches native
code. The readers-writer lock is first come, first served: with a plain lock queries waited up to three seconds while
vectors were added in a loop. Must not do: approximate.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import Code, LociError
from core.index.base import Allowed, Dump, Floats, Hits, Labels, Predicate, Rows, Vectors

NO_LABELS: Labels = np.empty(0, np.int64)
_CHUNK = 4096


def as_labels(labels: ArrayLike) -> Labels:
    """Labels as a flat int64 array.

    Args:
        labels: whole numbers from 0 on.

    Raises:
        LociError: E3003 if they are not a list of such numbers.
    """
    array = np.asarray(labels)
    if array.size == 0:
        return NO_LABELS
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.min() < 0 or array.max() > np.iinfo(np.int64).max:
        raise LociError(Code.DIMENSION_MISMATCH, "Index labels must be a list of whole numbers from 0 on.")
    return array.astype(np.int64, copy=False)


def as_stored(labels: ArrayLike, vectors: ArrayLike, dims: int) -> tuple[Labels, NDArray[np.float16]]:
    """A batch as it is kept: labels unique (the last one counts), vectors of length 1 in float16.

    Args:
        labels: one each.
        vectors: shape (len(labels), dims).
        dims: the index's dimension.

    Returns:
        Labels and vectors.

    Raises:
        LociError: E3003 for wrong shapes, E3002 for NaN, infinite or zero vectors.
    """
    wanted = as_labels(labels)
    rows = np.asarray(vectors)
    if wanted.size == 0 and rows.size == 0:
        return wanted, np.empty((0, dims), np.float16)
    if rows.dtype.kind != "f" or rows.shape != (wanted.size, dims):
        raise LociError(
            Code.DIMENSION_MISMATCH, f"Vectors for the index must have {dims} dimensions, one for each label."
        )
    unit = _unit_rows(rows.astype(np.float32, copy=False)).astype(np.float16)
    _, last_from_end = np.unique(wanted[::-1], return_index=True)
    if last_from_end.size == wanted.size:
        return wanted, unit
    keep = np.sort(wanted.size - 1 - last_from_end)
    return wanted[keep], unit[keep]


def as_query(query: ArrayLike, dims: int) -> Vectors:
    """A query as a float32 vector of length 1.

    Args:
        query: shape (dims,).
        dims: the index's dimension.

    Raises:
        LociError: E3003 for another shape, E3002 if it is NaN, infinite or zero.
    """
    array = np.asarray(query)
    if array.dtype.kind != "f" or array.shape != (dims,):
        raise LociError(Code.DIMENSION_MISMATCH, f"A query vector must have {dims} dimensions.")
    return _unit_rows(array.astype(np.float32, copy=False).reshape(1, dims)).reshape(dims)


def _unit_rows(rows: Vectors) -> Vectors:
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    if not bool(np.all(np.isfinite(norms) & (norms > 1e-12))):
        raise LociError(Code.EMBEDDING_FAILED, "A vector for the index is zero or not a number.")
    return np.asarray(rows / norms[:, None], np.float32)


def scope_labels(allowed: Labels | Predicate, labels: Callable[[], Labels]) -> Labels:
    """The labels a scope names.

    Args:
        labels: gives all labels, ascending; asked only where the scope is a function.

    Returns:
        Ascending labels without repetition; some may be unknown to the index.

    Raises:
        LociError: E3003 if they are no labels, or the function's mask does not fit.
    """
    if not callable(allowed):
        named = as_labels(allowed)
        return named if bool(np.all(named[1:] > named[:-1])) else np.unique(named)
    known = labels()
    mask = np.asarray(allowed(known))
    if mask.dtype != np.bool_ or mask.shape != known.shape:
        raise LociError(Code.DIMENSION_MISMATCH, "A scope function must answer yes or no for each label.")
    return known[mask]


def exact_cosines(rows: Floats, query: Vectors) -> NDArray[np.float32]:
    """Cosines that depend on the row alone, never on its place in a matrix.

    A matrix product may round the same row differently in another position; ties would then fall by chance.

    Args:
        rows: shape (n, dims), no zero rows.
        query: unit vector.

    Returns:
        float32, -1 to 1.
    """
    wide = rows.astype(np.float64)
    dots = (wide * query.astype(np.float64)).sum(axis=1)
    norms = np.sqrt((wide * wide).sum(axis=1))
    return np.asarray(np.clip(dots / norms, -1.0, 1.0), np.float32)


def top_k(labels: Labels, cosines: NDArray[np.float32], k: int) -> Hits:
    """The k best, ties by label.

    Args:
        labels: unique.
        cosines: one each.
        k: how many.

    Returns:
        The hits in order.
    """
    order = np.lexsort((labels, -cosines))[: max(k, 0)]
    return Hits(labels[order], cosines[order])


def score_rows(labels: Labels, rows: Floats, query: Vectors, k: int) -> Hits:
    """The k best of some rows, by exact cosine, in bounded memory.

    Args:
        labels: unique, one for each row.
        rows: shape (n, dims), no zero rows.
        query: unit vector.
        k: how many.

    Returns:
        The hits in order.
    """
    found = no_hits()
    for low in range(0, labels.size, _CHUNK):
        part = slice(low, low + _CHUNK)
        found = merge_hits(found, Hits(labels[part], exact_cosines(rows[part], query)), k)
    return found


def merge_hits(one: Hits, other: Hits, k: int) -> Hits:
    """The k best of two answers; where both know a label the first one's cosine stands.

    Args:
        other: another.
        k: how many.

    Returns:
        The hits in order.
    """
    fresh = ~np.isin(other.labels, one.labels)
    labels = np.concatenate((one.labels, other.labels[fresh]))
    return top_k(labels, np.concatenate((one.cosines, other.cosines[fresh])), k)


def no_hits() -> Hits:
    """An empty answer."""
    return Hits(NO_LABELS, np.empty(0, np.float32))


_PAGE_BITS = 12
_PAGE = 1 << _PAGE_BITS
_DEAD = -1
# Rows scored at once: few enough that the matrix library stays on one thread; its threads wait for each other when the
# embedder or an import keeps the cores busy, and a search of 1 ms took 20.
_SCAN = 512
# float16 rounding leaves a unit vector within 0.0005 of length 1; twice that covers any two rows.
_SLACK = np.float32(0.0012)


class LabelMap:
    """Label to row number in pages of 4,096: 4 bytes a label where labels are dense, and looked up all at once."""

    def __init__(self) -> None:
        self._numbers: Labels = np.empty(0, np.int64)  # pages that have a table, ascending
        self._place: Rows = np.empty(0, np.int64)  # where each of them lies in the block
        self._block: NDArray[np.int32] = np.empty((0, _PAGE), np.int32)  # grows by half; its end is not used yet

    def get(self, labels: Labels) -> Rows:
        """The row of each label; -1 where there is none."""
        rows = np.full(labels.size, _DEAD, np.int64)
        if self._numbers.size:
            at, here = self._find_pages(labels >> _PAGE_BITS)
            if bool(here.all()):
                rows[:] = self._block[self._place[at], labels & (_PAGE - 1)]
                return rows
            rows[here] = self._block[self._place[at[here]], labels[here] & (_PAGE - 1)]
        return rows

    def put(self, labels: Labels, rows: Rows) -> None:
        """Set the row of each label; -1 forgets it."""
        if labels.size == 0:
            return
        pages = labels >> _PAGE_BITS
        self._ensure_pages(np.setdiff1d(pages, self._numbers))
        at, _ = self._find_pages(pages)
        self._block[self._place[at], labels & (_PAGE - 1)] = rows

    def _find_pages(self, pages: Labels) -> tuple[Rows, NDArray[np.bool_]]:
        """Where each page stands among the known ones, and whether it is one of them."""
        size = self._numbers.size
        if self._numbers[-1] == size - 1:  # the first pages without a gap, as a vault's labels have them
            return np.minimum(pages, size - 1), pages < size
        at = np.searchsorted(self._numbers, pages)
        at[at == size] = 0
        return at, self._numbers[at] == pages

    def _ensure_pages(self, fresh: Labels) -> None:
        used = self._numbers.size
        if fresh.size == 0:
            return
        if used + fresh.size > len(self._block):
            block = np.empty((max(used + fresh.size, used * 3 // 2), _PAGE), np.int32)
            block[:used] = self._block[:used]
            self._block = block
        self._block[used : used + fresh.size] = _DEAD
        numbers = np.concatenate((self._numbers, fresh))
        place = np.concatenate((self._place, np.arange(used, used + fresh.size)))
        order = np.argsort(numbers)
        self._numbers, self._place = numbers[order], place[order]

    def memory_bytes(self) -> int:
        """Bytes held."""
        return int(self._numbers.size) * _PAGE * 4


class RowStore:
    """Vectors in rows; a removed row is dead, and taken again only where `reuse` says so."""

    def __init__(self, dims: int, dtype: type[np.float16 | np.float32], *, reuse: bool) -> None:
        """Make an empty store.

        Args:
            dims: length of a vector.
            dtype: float32 scans faster, float16 takes half the memory; the values are the same.
            reuse: whether new vectors take dead rows.
        """
        self._reuse = reuse
        self._matrix: NDArray[Any] = np.zeros((0, dims), dtype)
        self._row_labels: Labels = np.empty(0, np.int64)
        self._map = LabelMap()
        self._free: list[int] = []
        self.used = 0
        self.count = 0

    @property
    def dims(self) -> int:
        """Length of a vector."""
        return int(self._matrix.shape[1])

    def put(self, labels: Labels, vectors: NDArray[np.float16]) -> Rows:
        """Add or replace vectors.

        Args:
            labels: unique.
            vectors: one each, of length 1.

        Returns:
            The rows that died because their label has a new vector.
        """
        replaced = self.drop(labels)
        rows = self._take_rows(labels.size)
        self._matrix[rows] = vectors
        self._row_labels[rows] = labels
        self._map.put(labels, rows)
        self.count += labels.size
        return replaced

    def lay(self, row_labels: Labels, vectors: NDArray[np.float16]) -> None:
        """Fill an empty store row by row, dead rows included.

        Args:
            row_labels: unique labels; -1 for a dead row.
            vectors: one each; those of dead rows do not matter.
        """
        self._matrix, self._row_labels = vectors, row_labels
        self.used = row_labels.size
        live = np.flatnonzero(row_labels >= 0)
        self._map.put(row_labels[live], live)
        self.count = live.size

    def drop(self, labels: Labels) -> Rows:
        """Forget labels.

        Returns:
            The rows that died.
        """
        rows = self._map.get(np.unique(labels))
        rows = rows[rows >= 0]
        if rows.size:
            self._map.put(self._row_labels[rows], np.full(rows.size, _DEAD, np.int64))
            self._row_labels[rows] = _DEAD
            self._matrix[rows] = 0
            self.count -= rows.size
            if self._reuse:
                self._free.extend(rows.tolist())
        return rows

    def _take_rows(self, count: int) -> Rows:
        again = [self._free.pop() for _ in range(min(count, len(self._free)))]
        fresh = count - len(again)
        if self.used + fresh > self._row_labels.size:
            self._grow_matrix(self.used + fresh)
        rows = np.concatenate((np.array(again, np.int64), np.arange(self.used, self.used + fresh)))
        self.used += fresh
        return rows

    def _grow_matrix(self, least: int) -> None:
        # empty, not zeros: the untouched part of a large block costs no memory until it is used
        size = max(least, self._row_labels.size * 3 // 2, 1024)
        matrix = np.empty((size, self.dims), self._matrix.dtype)
        matrix[: self.used] = self._matrix[: self.used]
        row_labels = np.full(size, _DEAD, np.int64)
        row_labels[: self.used] = self._row_labels[: self.used]
        self._matrix, self._row_labels = matrix, row_labels

    def rows_of(self, labels: Labels) -> Rows:
        """The rows of those labels that are here, in the order asked."""
        rows = self._map.get(labels)
        return rows[rows >= 0]

    def live_rows(self, start: int = 0, stop: int | None = None) -> Rows:
        """The live rows in a range of rows, ascending."""
        return np.flatnonzero(self._row_labels[start : self.used if stop is None else stop] >= 0) + start

    def labels_at(self, rows: Rows) -> Labels:
        """The labels of live rows."""
        return self._row_labels[rows]

    def labels(self) -> Labels:
        """All labels, ascending."""
        return np.sort(self._row_labels[self.live_rows()])

    def vectors_at(self, rows: Rows) -> Vectors:
        """The vectors of rows as float32, a copy."""
        return self._matrix[rows].astype(np.float32, copy=False)  # choosing rows made a copy already

    def all_labels(self) -> Labels:
        """The label of every row used so far, -1 for the dead; a copy."""
        return self._row_labels[: self.used].copy()

    def all_vectors(self) -> NDArray[np.float16]:
        """Every row used so far as float16. A view where rows never change place: read it, do not keep it."""
        rows: NDArray[np.float16] = self._matrix[: self.used].astype(np.float16, copy=self._reuse)
        return rows

    def nearest(self, query: Vectors, k: int, rows: Rows | None = None) -> Hits:
        """The k nearest of some rows, exactly.

        Args:
            query: unit vector.
            k: how many.
            rows: live rows; None for all.
        """
        if rows is not None and rows.size <= max(2 * k, 64):
            return score_rows(self._row_labels[rows], self._matrix[rows], query, k)
        size = self.used if rows is None else rows.size
        if k <= 0 or size == 0 or self.count == 0:
            return no_hits()
        rough = np.empty(size, np.float32)
        for low in range(0, size, _SCAN):
            part = slice(low, min(low + _SCAN, size))
            block = self._matrix[part if rows is None else rows[part]]
            np.matmul(block.astype(np.float32, copy=False), query, out=rough[part])
        if rows is None:
            rough[self._row_labels[:size] < 0] = -np.inf
        at = _rows_near_best(rough, min(k, self.count))
        chosen = at if rows is None else rows[at]
        return score_rows(self._row_labels[chosen], self._matrix[chosen], query, k)

    def memory_bytes(self) -> int:
        """Bytes of the rows used so far, and of the map."""
        return self.used * (self.dims * self._matrix.itemsize + 8) + self._map.memory_bytes()


def _rows_near_best(rough: NDArray[np.float32], k: int) -> Rows:
    """Places that may be among the k best, given that rough scores are off by less than half the slack."""
    if rough.size <= k:
        return np.flatnonzero(rough > -np.inf)
    kth = np.partition(rough, rough.size - k)[rough.size - k]
    return np.flatnonzero(rough >= kth - _SLACK)


class _Waiter:
    """One thread in the queue."""

    __slots__ = ("admitted", "writes")

    def __init__(self, *, writes: bool) -> None:
        self.writes = writes
        self.admitted = threading.Event()


class FairLock:
    """Readers share, a writer is alone, nobody overtakes."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()  # guards the three below
        self._queue: deque[_Waiter] = deque()
        self._readers = 0
        self._writing = False

    @contextmanager
    def read(self) -> Iterator[None]:
        """Hold the lock together with other readers."""
        self._enter_lock(_Waiter(writes=False))
        try:
            yield
        finally:
            self._leave_lock(wrote=False)

    @contextmanager
    def write(self) -> Iterator[None]:
        """Hold the lock alone."""
        self._enter_lock(_Waiter(writes=True))
        try:
            yield
        finally:
            self._leave_lock(wrote=True)

    def _enter_lock(self, waiter: _Waiter) -> None:
        with self._mutex:
            self._queue.append(waiter)
            self._admit_waiters()
        if waiter.admitted.is_set():
            return
        passed = False
        try:
            waiter.admitted.wait()
            passed = True
        finally:
            # An interrupt while waiting must not leave a place in the queue that nobody takes.
            if not passed:
                self._abandon_queue(waiter)

    def _abandon_queue(self, waiter: _Waiter) -> None:
        with self._mutex:
            if waiter in self._queue:
                self._queue.remove(waiter)
                self._admit_waiters()
                return
        self._leave_lock(wrote=waiter.writes)

    def _leave_lock(self, *, wrote: bool) -> None:
        with self._mutex:
            if wrote:
                self._writing = False
            else:
                self._readers -= 1
            self._admit_waiters()

    def _admit_waiters(self) -> None:
        """Let in whoever may enter from the head of the queue; the mutex is held."""
        while self._queue and not self._writing:
            head = self._queue[0]
            if head.writes and self._readers:
                return
            self._queue.popleft()
            if head.writes:
                self._writing = True
            else:
                self._readers += 1
            head.admitted.set()


class LockedRows:
    """The part of `core.index.base.VectorIndex` that needs the rows alone; see there for what each method promises."""

    def __init__(self, store: RowStore) -> None:
        """Keep rows."""
        self.revision = 0
        self._lock = FairLock()
        self._store = store

    @property
    def dims(self) -> int:
        """Length of a vector."""
        return self._store.dims

    @property
    def count(self) -> int:
        """How many labels can be found."""
        return self._store.count

    @property
    def dead(self) -> int:
        """Rows of removed or replaced vectors."""
        return self._store.used - self._store.count

    def labels(self) -> Labels:
        """All labels, ascending."""
        with self._lock.read():
            return self._store.labels()

    def fetch(self, labels: Labels) -> tuple[Labels, Vectors]:
        """The stored vectors of those labels that are here."""
        wanted = as_labels(labels)
        with self._lock.read():
            rows = self._store.rows_of(wanted)
            return self._store.labels_at(rows), self._store.vectors_at(rows)


BACKEND = "flat"


class FlatIndex(LockedRows):
    """The exact backend; see `core.index.base.VectorIndex` for what each method promises."""

    def __init__(self, dims: int) -> None:
        """Make an empty index.

        Args:
            dims: length of a vector.
        """
        super().__init__(RowStore(dims, np.float32, reuse=True))

    @property
    def backend(self) -> str:
        """`flat`."""
        return BACKEND

    def add(self, labels: Labels, vectors: Floats) -> None:
        """Add or replace vectors."""
        wanted, rows = as_stored(labels, vectors, self.dims)
        with self._lock.write():
            self._store.put(wanted, rows)

    def remove(self, labels: Labels) -> int:
        """Remove labels; tells how many were here."""
        wanted = as_labels(labels)
        with self._lock.write():
            return int(self._store.drop(wanted).size)

    def search(self, query: Floats, k: int, allowed: Allowed = None) -> Hits:
        """Find the nearest vectors."""
        unit = as_query(query, self.dims)
        scope = None if allowed is None else scope_labels(allowed, self.labels)
        with self._lock.read():
            rows = None if scope is None else self._store.rows_of(scope)
            return self._store.nearest(unit, k, rows)

    def dump(self) -> Dump:
        """Everything that is in here."""
        with self._lock.read():
            labels, vectors = self._store.all_labels(), self._store.all_vectors()
            return Dump(BACKEND, self.dims, self.revision, labels, vectors, 0, None, 0)

    def memory_bytes(self) -> int:
        """About how much memory it holds."""
        return self._store.memory_bytes()


def restore_flat(dump: Dump) -> FlatIndex:
    """An index from what another one dumped.

    Args:
        dump: of a `flat` index; its bytes must be authentic.

    Raises:
        LociError: E3002 or E3003 if vectors are unusable.
    """
    index = FlatIndex(dump.dims)
    live = dump.row_labels >= 0
    index.add(dump.row_labels[live], dump.vectors[live])
    index.revision = dump.revision
    return index
