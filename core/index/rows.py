"""A growing matrix of vectors with a label on each row; the floor of both backends.

Must not do: lock; its owner does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.index.arrays import no_hits, score_rows
from core.index.base import Hits, Labels, Rows, Vectors

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
            at, here = self._found(labels >> _PAGE_BITS)
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
        self._need(np.setdiff1d(pages, self._numbers))
        at, _ = self._found(pages)
        self._block[self._place[at], labels & (_PAGE - 1)] = rows

    def _found(self, pages: Labels) -> tuple[Rows, NDArray[np.bool_]]:
        """Where each page stands among the known ones, and whether it is one of them."""
        size = self._numbers.size
        if self._numbers[-1] == size - 1:  # the first pages without a gap, as a vault's labels have them
            return np.minimum(pages, size - 1), pages < size
        at = np.searchsorted(self._numbers, pages)
        at[at == size] = 0
        return at, self._numbers[at] == pages

    def _need(self, fresh: Labels) -> None:
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

        Args:
            labels: any.

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
            self._grow(self.used + fresh)
        rows = np.concatenate((np.array(again, np.int64), np.arange(self.used, self.used + fresh)))
        self.used += fresh
        return rows

    def _grow(self, least: int) -> None:
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

        Returns:
            The hits.
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
        at = _finalists(rough, min(k, self.count))
        chosen = at if rows is None else rows[at]
        return score_rows(self._row_labels[chosen], self._matrix[chosen], query, k)

    def memory_bytes(self) -> int:
        """Bytes of the rows used so far, and of the map."""
        return self.used * (self.dims * self._matrix.itemsize + 8) + self._map.memory_bytes()


def _finalists(rough: NDArray[np.float32], k: int) -> Rows:
    """Places that may be among the k best, given that rough scores are off by less than half the slack."""
    if rough.size <= k:
        return np.flatnonzero(rough > -np.inf)
    kth = np.partition(rough, rough.size - k)[rough.size - k]
    return np.flatnonzero(rough >= kth - _SLACK)
