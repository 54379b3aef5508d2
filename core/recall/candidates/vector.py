"""Vectors: candidates from the index, and the stored vectors of any memories.

Must not do: embed, or trust that the index holds everything: what it lacks is read from the vault.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from core.embed.codec import from_blobs
from core.errors import Code, LociError
from core.index.base import Hits
from core.index.manager import IndexManager, IndexState
from core.recall.query.scope import Labels
from core.vault.database.rows import Rows

Vectors = NDArray[np.float32]
_STORED = (
    "SELECT n, vector FROM embeddings WHERE owner = 'memory' AND vector_space = ? AND dims = ? "
    "AND n IN (SELECT value FROM json_each(?))"
)
_CHUNK = 2048


class SnapshotVectors:
    """The vectors of one vault snapshot, through the index and past it."""

    def __init__(self, rows: Rows, index: IndexManager, vector_space: str, dims: int) -> None:
        """Look at one snapshot.

        Args:
            index: the index over it.
            vector_space: which embedder's vectors.
            dims: their length.
        """
        self._rows = rows
        self._index = index
        self._space = vector_space
        self._dims = dims

    def search(self, query: Vectors, k: int, allowed: Labels | None) -> Hits | None:
        """The nearest memories.

        Args:
            query: the query's vector.
            k: how many.
            allowed: labels in scope, ascending; None for no filter.

        Returns:
            The hits, exact cosines; None where there is no index yet, or the vector does not fit it.
        """
        if k <= 0:
            return None
        try:
            return self._index.search(query, k, allowed, self._chunks)
        except LociError as error:
            if error.code in (Code.NO_INDEX, Code.DIMENSION_MISMATCH, Code.EMBEDDING_FAILED):
                return None
            raise

    def fetch(self, labels: Labels) -> tuple[Labels, Vectors]:
        """The stored vectors of memories.

        Args:
            labels: any labels, each once.

        Returns:
            The labels that have a vector, ascending, and the vectors.
        """
        found, vectors = self._index.fetch(labels)
        if found.size < labels.size:
            more, rest = self._read(np.setdiff1d(labels, found))
            found, vectors = np.concatenate((found, more)), np.concatenate((vectors, rest))
        if bool(np.all(found[1:] > found[:-1])):  # as a rule: then half a megabyte need not be laid out anew
            return found, vectors
        order = np.argsort(found, kind="stable")
        return found[order], vectors[order]

    def _read(self, labels: Labels) -> tuple[Labels, Vectors]:
        chunks = list(self._chunks(labels))
        if not chunks:
            return np.empty(0, np.int64), np.empty((0, self._dims), np.float32)
        return np.concatenate([part for part, _ in chunks]), np.concatenate([part for _, part in chunks])

    def _chunks(self, labels: Labels) -> Iterator[tuple[Labels, Vectors]]:
        for low in range(0, labels.size, _CHUNK):
            wanted = json.dumps(labels[low : low + _CHUNK].tolist())
            found = self._rows.all(_STORED, (self._space, self._dims, wanted))
            if found:
                yield np.array([row[0] for row in found], np.int64), from_blobs([row[1] for row in found], self._dims)


def index_backend(index: IndexManager) -> str:
    """The name of the index in use, for the receipt."""
    status = index.status()
    return "none" if status.state is IndexState.EMPTY else status.backend
