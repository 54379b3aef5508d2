"""The graph of memories: what is drawn round a memory, and the whole vault as columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.types.library import MemoryRow

MEANING = "meaning"
"""Edge type: near in meaning (cosine of the stored vectors), computed, not stored."""
CONVERSATION = "conversation"
"""Edge type: the next message of the same conversation."""
PART = "part"
"""Edge type: parts of one split text."""
STORED = (
    "caused_by", "instance_of", "inferred_from", "contradicts", "supports", "related_to", "supersedes",
    "coexists_with", "example_of", "derived_from",
)  # fmt: skip
"""Edge types that stand in the vault."""
EDGE_TYPES = (*STORED, CONVERSATION, PART, MEANING)
"""All of them; `Whole.edge_type` indexes this."""


@dataclass(frozen=True, slots=True)
class GraphFilter:
    """What the graph shows.

    Attributes:
        query: in the search syntax of the library; empty for all that stands. The centre always shows.
        edge_types: names of `EDGE_TYPES`; None for all.
        min_similarity: cosine from which two memories are near in meaning, 0 to 1.
    """

    query: str = ""
    edge_types: tuple[str, ...] | None = None
    min_similarity: float = 0.5


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A memory, or a hub that stands for several.

    Attributes:
        row: the memory.
        distance: edges from the centre; 0 for the centre.
        folded: how many of its neighbours are not drawn (over the cap, or a hub that was folded).
    """

    row: MemoryRow
    distance: int
    folded: int = 0


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """An edge between two drawn nodes.

    Attributes:
        type: one of `EDGE_TYPES`.
        weight: 0 to 1.
    """

    a: str
    b: str
    type: str
    weight: float


@dataclass(frozen=True, slots=True)
class EgoGraph:
    """What lies round one memory.

    Attributes:
        nodes: the centre first, then by distance; at most the cap.
        places: id to position, roughly within -1 to 1; the centre at 0, 0.
        left_out: neighbours that were found and not drawn.
    """

    centre: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    places: Mapping[str, tuple[float, float]]
    left_out: int


@dataclass(frozen=True, slots=True)
class WholeGraph:
    """The whole vault as columns, without places.

    Attributes:
        ids: memory ids, one a node.
        kind: index into `Kind`, int8. `trust` float32. `said_at` epoch ms int64.
        group: index into `group_names`, int32: the room the memory stands in.
        a: index of one end, int32; `b` of the other; `edge_type` index into `EDGE_TYPES`, int8; `weight` float32.
    """

    ids: tuple[str, ...]
    kind: NDArray[np.int8]
    trust: NDArray[np.float32]
    said_at: NDArray[np.int64]
    group: NDArray[np.int32]
    group_names: tuple[str, ...]
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    edge_type: NDArray[np.int8]
    weight: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Placed:
    """One step of a layout.

    Attributes:
        xy: positions, (nodes, 2) float32, roughly within -1 to 1.
        step: 1, 2, …; the last one has `is_last`.
    """

    xy: NDArray[np.float32]
    step: int
    is_last: bool


@dataclass(frozen=True, slots=True)
class GraphView:
    """A named view the person saved.

    Attributes:
        centre: memory id; None for the whole vault.
        depth: edges from the centre, 1 to 3.
    """

    name: str
    centre: str | None
    depth: int
    filter: GraphFilter
