"""Reading the stored vectors of one vector space for the index.

Must not do: write, or know which space is searched.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from core.embed.codec import from_blob
from core.index.base import Labels
from core.memory.write import VectorSpace
from core.vault.database.rows import Rows

_CHUNK = 2_000


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
        return self._labels("")

    def changed_since(self, revision: int) -> Labels:
        """Labels whose vector was written after a revision."""
        return self._labels(" AND rev > ?", revision)

    def _labels(self, more: str, *values: int) -> Labels:
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
        space: the vector space.
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
