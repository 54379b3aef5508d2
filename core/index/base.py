"""What every vector index promises, and the words the room shares.

Must not do: import a backend.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int64]
Rows = NDArray[np.int64]
Vectors = NDArray[np.float32]
Floats = NDArray[np.floating]
Predicate = Callable[[Labels], NDArray[np.bool_]]
Allowed = Labels | Predicate | None
"""A scope: None for everything, an array of labels, or a function from labels to a mask (called once, no lock held)."""


class Hits(NamedTuple):
    """An answer, best first; equal cosines stand in the order of their labels.

    Attributes:
        labels: int64, at most k.
        cosines: float32, -1 to 1, of the vectors as they are stored (rounded to float16).
    """

    labels: Labels
    cosines: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Dump:
    """Everything an index is, for a snapshot. Holds plain vectors: memory only.

    Attributes:
        backend: `flat` or `hnsw`.
        dims: length of a vector.
        revision: the vault revision the index stands at.
        row_labels: the label of each row; -1 for a dead row.
        vectors: float16, one row each.
        linked: rows below this number are in the graph; 0 for `flat`.
        graph: the graph's own bytes, at their start; None for `flat`.
        graph_size: how many bytes that is.
    """

    backend: str
    dims: int
    revision: int
    row_labels: Labels
    vectors: NDArray[np.float16]
    linked: int
    graph: BinaryIO | None
    graph_size: int


class VectorIndex(Protocol):
    """Vectors under integer labels, searched by cosine.

    Labels are integers from 0 on (memories.n). Vectors are normalised and rounded to float16 as they come in, which
    is how the vault keeps them, so an answer is the same before and after a restart and from either backend. All
    methods may be called from several threads at once.
    """

    revision: int
    """The vault revision up to which changes are in here; kept by the caller."""

    @property
    def backend(self) -> str:
        """`flat` or `hnsw`."""
        ...

    @property
    def dims(self) -> int:
        """Length of a vector."""
        ...

    @property
    def count(self) -> int:
        """How many labels can be found."""
        ...

    @property
    def dead(self) -> int:
        """Rows that hold memory but cannot be found any more."""
        ...

    def add(self, labels: Labels, vectors: Floats) -> None:
        """Add vectors, or replace those whose label is already here.

        Args:
            labels: one each, not negative; of a repeated label the last counts.
            vectors: shape (len(labels), dims), any length but zero.

        Raises:
            LociError: E3003 for wrong shapes, E3002 for NaN, infinite or zero vectors. Nothing was added then.
        """
        ...

    def remove(self, labels: Labels) -> int:
        """Remove labels; unknown ones are passed over."""
        ...

    def search(self, query: Floats, k: int, allowed: Allowed = None) -> Hits:
        """Find the nearest vectors.

        Args:
            query: shape (dims,), any length but zero.
            k: how many; fewer come back only if fewer are here (or allowed).

        Raises:
            LociError: E3003 for a query of another shape, E3002 for one that is NaN, infinite or zero.
        """
        ...

    def labels(self) -> Labels:
        """All labels, ascending."""
        ...

    def fetch(self, labels: Labels) -> tuple[Labels, Vectors]:
        """The stored vectors of those labels that are here, in the order asked."""
        ...

    def dump(self) -> Dump:
        """Everything that is in here, for a snapshot."""
        ...

    def memory_bytes(self) -> int:
        """About how much memory it holds."""
        ...
