"""Exact search: every vector is compared. Below some thousand vectors nothing is quicker.

Must not do: approximate.
"""

from __future__ import annotations

import numpy as np

from core.index.arrays import as_labels, as_query, as_stored, scope_labels
from core.index.base import Allowed, Dump, Floats, Hits, Labels
from core.index.locked_rows import LockedRows
from core.index.rows import RowStore

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

    Returns:
        The index.

    Raises:
        LociError: E3002 or E3003 if vectors are unusable.
    """
    index = FlatIndex(dump.dims)
    live = dump.row_labels >= 0
    index.add(dump.row_labels[live], dump.vectors[live])
    index.revision = dump.revision
    return index
