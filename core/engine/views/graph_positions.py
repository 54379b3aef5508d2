"""Where a graph's nodes stand before and after their layout: patches by group, rings by distance, a ring of the lonely.

Pure geometry over index arrays. Must not do: start a process, know a memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.engine.views.layout_process import EGO, WHOLE, LayoutJob, Places
from core.errors import Code, UserError
from core.types.views import EgoGraph

MAX_NODES = 1_000_000
MAX_EDGES = 4_000_000

_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))
_LEAST_WEIGHT = 0.01
_APART = 1e-3
_RING_FROM = 0.9


def check_graph(nodes: int, a: NDArray[np.integer], b: NDArray[np.integer], weight: NDArray[np.floating]) -> LayoutJob:
    """A graph as the child takes it.

    Args:
        a: one end of each edge, 0 to nodes - 1.
        b: the other.
        weight: one each, 0 to 1.

    Returns:
        The job, without places.

    Raises:
        UserError: INVALID_INPUT; they do not fit together.
    """
    first, second = np.asarray(a), np.asarray(b)
    worth = np.asarray(weight, np.float32)
    ends = np.concatenate((first.ravel(), second.ravel()))
    fits = (
        0 <= nodes <= MAX_NODES
        and first.ndim == 1
        and first.shape == second.shape == worth.shape
        and first.size <= MAX_EDGES
        and (ends.size == 0 or (ends.dtype.kind in "iu" and ends.min() >= 0 and ends.max() < nodes))
        and bool(np.isfinite(worth).all())
    )
    if not fits:
        raise UserError(Code.INVALID_INPUT, "The edges of that graph do not fit its nodes.")
    places = np.zeros((nodes, 2), np.float32)
    return LayoutJob(WHOLE, first.astype(np.int32), second.astype(np.int32), np.clip(worth, _LEAST_WEIGHT, 1), places)


def place_isolated(group: NDArray[np.integer]) -> Places:
    """Places without any edge: each group a round patch, the patches in a sunflower, the largest in the middle.

    Args:
        group: any whole number a node.

    Returns:
        (nodes, 2) within -1 to 1; the same for the same groups, no two on one spot.
    """
    nodes = group.size
    if nodes == 0:
        return np.zeros((0, 2), np.float32)
    _, member, counts = np.unique(group, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    before = np.zeros(counts.size)
    before[order] = np.cumsum(counts[order]) - counts[order]
    turn = np.empty(counts.size)
    turn[order] = np.arange(counts.size) * _GOLDEN_ANGLE
    far = np.where(counts.size > 1, np.sqrt((before + counts / 2) / nodes), 0.0)
    far[order[0]] = 0.0
    by_group = np.argsort(member, kind="stable")
    nr = np.empty(nodes)
    nr[by_group] = np.arange(nodes) - np.repeat(np.cumsum(counts) - counts, counts)
    radius = np.sqrt((nr + 0.5) / counts[member]) * np.sqrt(counts[member] / nodes) * 0.7
    x = far[member] * np.cos(turn[member]) + radius * np.cos(nr * _GOLDEN_ANGLE)
    y = far[member] * np.sin(turn[member]) + radius * np.sin(nr * _GOLDEN_ANGLE)
    placed = np.column_stack((x, y))
    return np.asarray(placed / max(1.0, float(np.sqrt((placed**2).sum(axis=1)).max())), np.float32)


class WholeLayout:
    """What stands between a whole graph and its child: nodes without an edge are not laid out but put on a ring."""

    def __init__(self, job: LayoutJob, group: NDArray[np.integer] | None) -> None:
        """Prepare.

        Args:
            job: from `check_graph`.
            group: a group a node; None for one group.

        Raises:
            UserError: INVALID_INPUT; not one group a node.
        """
        nodes = job.places.shape[0]
        self._group = np.zeros(nodes, np.int64) if group is None else np.asarray(group)
        if self._group.shape != (nodes,) or self._group.dtype.kind not in "iu":
            raise UserError(Code.INVALID_INPUT, "A graph has one group for each node.")
        self.first = place_isolated(self._group)
        proper = job.a != job.b
        tied = np.zeros(nodes, np.bool_)
        tied[job.a[proper]] = True
        tied[job.b[proper]] = True
        self._tied, self._alone = np.flatnonzero(tied), np.flatnonzero(~tied)
        number = np.full(nodes, -1, np.int32)
        number[self._tied] = np.arange(self._tied.size, dtype=np.int32)
        self.job = LayoutJob(
            WHOLE, number[job.a[proper]], number[job.b[proper]], job.weight[proper], self.first[self._tied]
        )
        self._ring = self._around()

    @property
    def needs_child(self) -> bool:
        """Whether there is an edge at all."""
        return bool(self.job.a.size)

    def _around(self) -> Places:
        """Places of the nodes without an edge: outside the others, a sector a group."""
        count = self._alone.size
        inner = self._inner()
        order = np.argsort(self._group[self._alone], kind="stable")
        nr = np.empty(count)
        nr[order] = np.arange(count)
        angle = 2 * np.pi * (nr + 0.5) / max(count, 1)
        spread = (nr * _GOLDEN_ANGLE / (2 * np.pi)) % 1.0
        radius = np.sqrt(inner**2 + (1 - inner**2) * spread)
        return np.column_stack((radius * np.cos(angle), radius * np.sin(angle))).astype(np.float32)

    def _inner(self) -> float:
        """Where the ring begins: as much room a node as inside, but never all of it."""
        if self._alone.size == 0:
            return 1.0
        return float(np.clip(np.sqrt(self._tied.size / (self._tied.size + self._alone.size)), 0.35, _RING_FROM))

    def joined(self, placed: Places) -> Places:
        """Positions of all nodes.

        Args:
            placed: of those with an edge.

        Returns:
            (nodes, 2) float32 within -1 to 1.
        """
        whole = np.empty((self._group.size, 2), np.float32)
        room = self._inner()
        whole[self._tied] = placed * np.float32(room if self._alone.size == 0 else room * 0.97)
        whole[self._alone] = self._ring
        return whole


def ego_job(graph: EgoGraph) -> LayoutJob:
    """An ego graph as the child takes it.

    Args:
        graph: the centre is its first node.

    Returns:
        The job, with places on rings by distance.
    """
    number = {node.row.id: place for place, node in enumerate(graph.nodes)}
    a = np.array([number[edge.a] for edge in graph.edges], np.int32)
    b = np.array([number[edge.b] for edge in graph.edges], np.int32)
    weight = np.array([max(edge.weight, _LEAST_WEIGHT) for edge in graph.edges], np.float32)
    distance = np.array([node.distance for node in graph.nodes], np.int64)
    return LayoutJob(EGO, a, b, weight, place_on_rings(distance, a, b))


def place_on_rings(distance: NDArray[np.int64], a: NDArray[np.int32], b: NDArray[np.int32]) -> Places:
    """Nodes on rings by distance, each near the one it hangs on.

    Args:
        distance: edges from the centre, ascending, the first 0.
        a: one end of each edge.
        b: the other.

    Returns:
        (nodes, 2) within -1 to 1, the first at 0, 0; no two on one spot.
    """
    nodes = distance.size
    angle = np.zeros(nodes)
    parent = np.zeros(nodes, np.int64)
    for i, j in zip(a.tolist() + b.tolist(), b.tolist() + a.tolist(), strict=True):
        if distance[i] == distance[j] + 1:
            parent[i] = j
    deepest = int(distance.max(initial=0))
    for far in range(1, deepest + 1):
        ring = np.flatnonzero(distance == far)
        order = ring[np.argsort(angle[parent[ring]], kind="stable")]
        angle[order] = 2 * np.pi * np.arange(order.size) / max(order.size, 1) + 0.5 * far
    radius = distance / max(deepest, 1)
    return np.column_stack((radius * np.cos(angle), radius * np.sin(angle))).astype(np.float32)


def freeze(placed: Places) -> Places:
    """The same positions, read-only."""
    placed.setflags(write=False)
    return placed


def separate_coincident(placed: Places) -> Places:
    """Part nodes that stand on the same spot.

    Args:
        placed: (nodes, 2) within -1 to 1.

    Returns:
        The same, but of those closer than `_APART` in both directions all but the first step aside.
    """
    taken: set[tuple[int, int]] = set()
    moved = placed.astype(np.float64)
    for nr in range(moved.shape[0]):
        x, y = moved[nr]
        turn = 0
        while (spot := (round(x / _APART), round(y / _APART))) in taken:
            turn += 1
            far = 4 * _APART * np.sqrt(turn)
            x = float(np.clip(moved[nr, 0] + far * np.cos(turn * _GOLDEN_ANGLE), -1, 1))
            y = float(np.clip(moved[nr, 1] + far * np.sin(turn * _GOLDEN_ANGLE), -1, 1))
        taken.add(spot)
        moved[nr] = x, y
    return np.asarray(moved, np.float32)
