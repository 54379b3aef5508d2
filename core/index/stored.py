"""What every backend does alike with the rows it keeps: counts, labels and vectors, under its lock.

Must not do: search.
"""

from __future__ import annotations

from core.index.arrays import as_labels
from core.index.base import Labels, Vectors
from core.index.rows import RowStore
from core.index.rwlock import FairLock


class StoredVectors:
    """The part of `core.index.base.VectorIndex` that needs the rows alone; see there for what each method promises."""

    def __init__(self, store: RowStore) -> None:
        """Keep rows.

        Args:
            store: the rows.
        """
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
