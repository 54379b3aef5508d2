"""Vectors: candidates from the index, stored vectors, and what the neighbours in a conversation add to a memory.

"We had the dress rehearsal on Friday" answers a question about a play only together with the line before it. The window
vector is the weighted mean of a memory's own and its neighbours' stored vectors; neither is it stored nor embedded. A
query word that stands next door counts a little less than one in the memory itself, and never twice. Must not do:
embed, trust that the index holds everything (what it lacks is read from the vault), or look past the scope: a neighbour
that the asker may not see adds nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.embed.embedder import from_blobs
from core.errors import Code, LociError
from core.index.base import Hits
from core.index.manager import IndexManager, IndexState
from core.recall.lexical import QueryWords
from core.recall.predicate import ScopePredicate
from core.recall.scope import Labels
from core.score.profile import Profile
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
            return self._index.search(query, k, allowed, self._read_chunks)
        except LociError as error:
            if error.code in (Code.NO_INDEX, Code.DIMENSION_MISMATCH, Code.EMBEDDING_FAILED):
                return None
            raise

    def fetch_vectors(self, labels: Labels) -> tuple[Labels, Vectors]:
        """The stored vectors of memories.

        Args:
            labels: any labels, each once.

        Returns:
            The labels that have a vector, ascending, and the vectors.
        """
        found, vectors = self._index.fetch(labels)
        if found.size < labels.size:
            more, rest = self._read_stored(np.setdiff1d(labels, found))
            found, vectors = np.concatenate((found, more)), np.concatenate((vectors, rest))
        if bool(np.all(found[1:] > found[:-1])):  # as a rule: then half a megabyte need not be laid out anew
            return found, vectors
        order = np.argsort(found, kind="stable")
        return found[order], vectors[order]

    def _read_stored(self, labels: Labels) -> tuple[Labels, Vectors]:
        chunks = list(self._read_chunks(labels))
        if not chunks:
            return np.empty(0, np.int64), np.empty((0, self._dims), np.float32)
        return np.concatenate([part for part, _ in chunks]), np.concatenate([part for _, part in chunks])

    def _read_chunks(self, labels: Labels) -> Iterator[tuple[Labels, Vectors]]:
        for low in range(0, labels.size, _CHUNK):
            wanted = json.dumps(labels[low : low + _CHUNK].tolist())
            found = self._rows.all(_STORED, (self._space, self._dims, wanted))
            if found:
                yield np.array([row[0] for row in found], np.int64), from_blobs([row[1] for row in found], self._dims)


def index_backend(index: IndexManager) -> str:
    """The name of the index in use, for the receipt."""
    status = index.status()
    return "none" if status.state is IndexState.EMPTY else status.backend


REACH = 2
# A long message is many parts at one position; the nearest of them are enough.
MAX_NEIGHBOURS = 12
_EMPTY = REACH + 1
# A part of a long message stands at its message's own position: distance 0 in the table counts as next door.
_AROUND = (
    "SELECT a.n, m.n, abs(m.position - a.position) FROM memories a JOIN memories m "
    "ON m.conversation_id = a.conversation_id AND m.position BETWEEN a.position - :reach AND a.position + :reach "
    "WHERE a.n IN (SELECT value FROM json_each(:labels)) AND m.n <> a.n"
)

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ConversationNeighbours:
    """Memories and those said next to them in a conversation, as a table: a row each, itself in the first column.

    Attributes:
        labels: all labels in the table, ascending, each once.
        place: index into `labels`, (memories, columns).
        distance: 0 for itself, 1 or 2; 3 for an empty cell.
    """

    labels: Labels
    place: NDArray[np.int64]
    distance: NDArray[np.int64]

    def cell_weights(self, near: tuple[float, float]) -> Floats:
        """How much each neighbour in the conversation counts, by its distance.

        Args:
            near: at distance 1 and 2.

        Returns:
            1 for itself, 0 for an empty cell.
        """
        return np.array((1.0, *near, 0.0))[self.distance]

    def labels_around(self, rows: NDArray[np.int64]) -> Labels:
        """The neighbours that some memories have in their conversations.

        Returns:
            Labels, ascending, each once.
        """
        cells = self.distance[rows, 1:]
        return np.unique(self.labels[self.place[rows, 1:][cells < _EMPTY]])


def read_neighbours(rows: Rows, narrowed: ScopePredicate, labels: Labels) -> ConversationNeighbours:
    """The memories within two places in the same conversation.

    Args:
        narrowed: the request's conditions; neighbours must be visible.
        labels: memories, ascending, each once.

    Returns:
        The table, a row for each memory.
    """
    found = rows.all(
        f"{_AROUND} AND {narrowed.visible}",
        {**narrowed.params, "labels": json.dumps(labels.tolist()), "reach": REACH},
    )
    pairs = np.array(found, np.int64).reshape(-1, 3)
    center = np.searchsorted(labels, pairs[:, 0])
    distance = np.maximum(pairs[:, 2], 1)
    order = np.lexsort((pairs[:, 1], distance, center))
    center, other, distance = center[order], pairs[order, 1], distance[order]
    starts = np.searchsorted(center, np.arange(labels.size))
    column = np.arange(center.size) - starts[center] + 1
    kept = column <= MAX_NEIGHBOURS
    center, other, distance, column = center[kept], other[kept], distance[kept], column[kept]
    table = np.full((labels.size, int(column.max(initial=0)) + 1), _EMPTY, np.int64)
    table[:, 0] = 0
    table[center, column] = distance
    known = np.unique(np.concatenate((labels, other)))
    place = np.zeros_like(table)
    place[:, 0] = np.searchsorted(known, labels)
    place[center, column] = np.searchsorted(known, other)
    return ConversationNeighbours(known, place, table)


def window_cosines(
    around: ConversationNeighbours, vectors: SnapshotVectors, query: Vectors, profile: Profile
) -> tuple[Floats, Floats]:
    """Cosines of memories and of their windows with a query.

    Args:
        around: the memories and what stands around them.
        query: the query's vector.
        profile: its window weights.

    Returns:
        Own cosines and window cosines; NaN for a memory without a vector of its own.
    """
    count = around.place.shape[0]
    found, stored = vectors.fetch_vectors(around.labels)
    if found.size == 0:
        return np.full(count, np.nan), np.full(count, np.nan)
    row = np.minimum(np.searchsorted(found, around.labels), found.size - 1)
    has = found[row] == around.labels
    dots = np.where(has, (stored @ (query / np.linalg.norm(query)))[row], 0.0).astype(np.float64)
    weights = around.cell_weights(profile.window_cosine) * has[around.place]
    single = weights.astype(np.float32)
    window = stored[row[around.place[:, 0]]] * single[:, 0, None]
    for column in range(1, around.place.shape[1]):
        # Columns far to the right are mostly empty: only the rows that have something there are added to.
        there = np.flatnonzero(single[:, column])
        window[there] += stored[row[around.place[there, column]]] * single[there, column, None]
    norms = np.linalg.norm(window, axis=1)
    window_cosine = (dots[around.place] * weights).sum(axis=1) / np.where(norms > 0, norms, 1.0)
    own = around.place[:, 0]
    return np.where(has[own], dots[own], np.nan), np.where(has[own], window_cosine, np.nan)


def query_coverage(around: ConversationNeighbours, words: QueryWords, profile: Profile) -> tuple[Floats, Flags, Flags]:
    """How much of a query stands in and around memories.

    Args:
        around: the memories and what stands around them.
        words: the query's words.
        profile: what a word next door is worth.

    Returns:
        Coverage, 0 to 1; then which words each memory has itself, and which it or a neighbour has, (memories, words).
    """
    here = words.presence_matrix(around.labels)
    own = here[around.place[:, 0]]
    weights = around.cell_weights(profile.window_terms)
    # The best place of each word counts, not the sum: a word that everybody repeats must not outweigh the others.
    best = own.astype(np.float64)
    for column in range(1, around.place.shape[1]):
        np.maximum(best, here[around.place[:, column]] * weights[:, column, None], out=best)
    total = words.total
    covered = best @ words.weights / total if total > 0 else np.zeros(best.shape[0])
    return covered, own, best > 0
