"""The child process that places a graph's nodes: one request a life, index arrays in, positions out.

A layout holds the interpreter's lock for seconds and cannot be stopped, so the engine never computes one itself
(`layouts` starts this program, and ends it where it takes too long). It gets counts, index arrays, weights and first
positions: no id, no text, no secret. Must not do: import anything of Loci, log, print, read or write a file.
"""

from __future__ import annotations

import os
import random
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

EGO = 1
"""Few nodes, connected, the first one the centre: Kamada-Kawai."""
WHOLE = 2
"""Nodes with an edge each: few by Fruchterman-Reingold, many by UMAP in rounds of more and more epochs."""

LENGTH = struct.Struct("<Q")
"""Octets that follow; before the request and before each reply."""
HEAD = struct.Struct("<8sBIII")
"""Magic, way, nodes, edges, seed. Then a and b int32, weight float32 (edges each), places float32 (nodes, 2)."""
STEP = struct.Struct("<B")
"""1 for the last reply, else 0. Then positions float32 (nodes, 2), all within -1 to 1."""
MAGIC = b"LOCILAY1"

# Epochs of each round. 10,000 nodes and 30,000 edges take about 0.35, 0.9 and 2.3 s.
_ROUNDS = (15, 40, 100)
_FEW = 600
_FEW_ROUNDS = (60, 160, 400)
_PARTINGS = 24
_LARGE = 30_000
_ROUNDS_LARGE = (10, 25, 50)
_SPREAD = 10.0  # UMAP's own unit is the length of an edge: a start within -1 to 1 would be one knot
_MIN_DIST = 0.5
_OUTER = 0.98
_BEYOND = 1.12
_NICE = 5

Places = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LayoutJob:
    """What shall be placed.

    Attributes:
        way: `EGO` or `WHOLE`.
        a: ends of edges, int32, each within the number of places; `b` likewise.
        weight: float32, above 0 and up to 1.
        places: first positions, (nodes, 2) float32, about -1 to 1.
        seed: of the random numbers; the same job gives the same positions.
    """

    way: int
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    weight: NDArray[np.float32]
    places: Places
    seed: int = 1


def pack_job(job: LayoutJob) -> bytes:
    """A request as it goes through the pipe.

    Returns:
        The octets, their length first.
    """
    nodes, edges = job.places.shape[0], job.a.size
    body = b"".join(
        (
            HEAD.pack(MAGIC, job.way, nodes, edges, job.seed),
            job.a.astype("<i4").tobytes(),
            job.b.astype("<i4").tobytes(),
            job.weight.astype("<f4").tobytes(),
            job.places.astype("<f4").tobytes(),
        )
    )
    return LENGTH.pack(len(body)) + body


def unpack_job(body: bytes) -> LayoutJob:
    """A request from its octets.

    Args:
        body: without the length.

    Raises:
        ValueError: sizes or values do not fit.
    """
    if len(body) < HEAD.size:
        raise ValueError("head")
    magic, way, nodes, edges, seed = HEAD.unpack_from(body)
    if magic != MAGIC or way not in (EGO, WHOLE) or len(body) != HEAD.size + 12 * edges + 8 * nodes:
        raise ValueError("sizes")
    at = HEAD.size
    a = np.frombuffer(body, "<i4", edges, at).astype(np.int32)
    b = np.frombuffer(body, "<i4", edges, at + 4 * edges).astype(np.int32)
    weight = np.frombuffer(body, "<f4", edges, at + 8 * edges).astype(np.float32)
    places = np.frombuffer(body, "<f4", 2 * nodes, at + 12 * edges).astype(np.float32).reshape(nodes, 2)
    ends = np.concatenate((a, b))
    if ends.size and not (ends.min() >= 0 and ends.max() < nodes and bool((weight > 0).all())):
        raise ValueError("edges")
    if not bool(np.isfinite(places).all()):
        raise ValueError("places")
    return LayoutJob(way, a, b, weight, places, seed)


def layout_steps(job: LayoutJob) -> Iterator[tuple[Places, bool]]:
    """Place the nodes.

    Yields:
        Positions (nodes, 2) within -1 to 1, and whether they are the last.
    """
    import igraph  # only the child needs it: 50 ms that the engine's start would pay

    pairs, weight = _simplify_edges(job)
    graph = igraph.Graph(n=job.places.shape[0], edges=pairs.tolist())
    random.seed(job.seed)
    if job.way == EGO:
        placed = np.array(graph.layout_kamada_kawai(seed=job.places.tolist()).coords, np.float64).reshape(-1, 2)
        yield centre_on_first(placed), True
        return
    if job.places.shape[0] <= _FEW:
        for placed, is_last in _place_few(graph, job.places, weight):
            yield within_circle(_part_close_nodes(within_circle(placed).astype(np.float64))), is_last
        return
    rounds = _ROUNDS if job.places.shape[0] < _LARGE else _ROUNDS_LARGE
    # igraph 1.0 passes over every edge whose `weights` is below 1 (tried): nodes stay where they began. Distances work.
    distance = (1.0 - weight).clip(0.0, 1.0).tolist()
    raw = job.places.astype(np.float64) * _SPREAD
    for epochs in rounds:
        layout = graph.layout_umap(dist=distance, min_dist=_MIN_DIST, epochs=epochs, seed=raw.tolist())
        raw = np.array(layout.coords, np.float64).reshape(-1, 2)
        yield within_circle(raw), epochs == rounds[-1]


def _place_few(graph: Any, places: Places, weight: NDArray[np.float64]) -> Iterator[tuple[NDArray[np.float64], bool]]:
    """Few nodes stand evenly, so that each has room for its words; what is not connected stays beside the rest."""
    side = float(np.sqrt(places.shape[0]))  # Fruchterman-Reingold's own unit is the distance of two neighbours
    raw = places.astype(np.float64) * side
    for rounds in _FEW_ROUNDS:
        layout = graph.layout_fruchterman_reingold(
            weights=weight.tolist(), niter=rounds, seed=raw.tolist(), grid="nogrid"
        )
        raw = np.array(layout.coords, np.float64).reshape(-1, 2)
        yield raw, rounds == _FEW_ROUNDS[-1]


def _part_close_nodes(placed: NDArray[np.float64]) -> NDArray[np.float64]:
    """Push nodes apart that stand closer than three fifths of what an even spread leaves."""
    least = 1.1 / np.sqrt(max(placed.shape[0], 1))
    for _ in range(_PARTINGS):
        away = placed[:, None] - placed[None]
        far = np.maximum(np.hypot(away[..., 0], away[..., 1]), 1e-9)
        push = np.where(far < least, (least - far) / (2 * far), 0.0)
        placed = placed + (away * push[..., None]).sum(axis=1) * 0.6
    return placed


def _simplify_edges(job: LayoutJob) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Each pair once, without loops, with its greatest weight: the layouts count a double edge twice."""
    low, high = np.minimum(job.a, job.b).astype(np.int64), np.maximum(job.a, job.b).astype(np.int64)
    keep = low != high
    low, high, weight = low[keep], high[keep], job.weight[keep].astype(np.float64)
    order = np.lexsort((-weight, high, low))
    pairs, first = np.unique(np.column_stack((low, high))[order], axis=0, return_index=True)
    return pairs.reshape(-1, 2), weight[order][first]


def centre_on_first(placed: NDArray[np.float64]) -> Places:
    """Move the first node to 0, 0 and the farthest to distance 1.

    Args:
        placed: finite positions, (nodes, 2).

    Returns:
        The positions.
    """
    moved = placed - placed[:1]
    far = float(np.sqrt((moved**2).sum(axis=1)).max(initial=0.0))
    return np.asarray(moved / far if far > 0 else moved, np.float32)


def within_circle(placed: NDArray[np.float64]) -> Places:
    """Bring positions into the unit circle; the few farthest are drawn in, so that the rest has the room.

    Args:
        placed: finite positions, (nodes, 2).

    Returns:
        The positions; order by distance from the middle is kept.
    """
    moved = placed - np.median(placed, axis=0)
    radius = np.sqrt((moved**2).sum(axis=1))
    usual = float(np.quantile(radius, _OUTER)) or float(radius.max()) or 1.0
    share = radius / usual
    drawn_in = np.where(share <= 1, share, _BEYOND - (_BEYOND - 1) * np.exp(1 - np.maximum(share, 1)))
    factor = np.divide(drawn_in, radius, out=np.zeros_like(radius), where=radius > 0) / _BEYOND
    return np.asarray(moved * factor[:, None], np.float32)


def main(reader: BinaryIO | None = None, writer: BinaryIO | None = None) -> int:
    """Answer the one request.

    Args:
        reader: where it comes from; stdin if None.
        writer: where the replies go; stdout if None.

    Returns:
        0, or 1 for a request that cannot be read.
    """
    source, sink = reader or sys.stdin.buffer, writer or sys.stdout.buffer
    try:
        (length,) = LENGTH.unpack(source.read(LENGTH.size))
        job = unpack_job(source.read(length))
    except (ValueError, struct.error):
        return 1
    for placed, is_last in layout_steps(job):
        body = STEP.pack(is_last) + placed.astype("<f4").tobytes()
        sink.write(LENGTH.pack(len(body)) + body)
        sink.flush()
    return 0


def lower_priority() -> None:
    """Lower this process's priority, so that the window goes first."""
    if hasattr(os, "nice"):
        os.nice(_NICE)


if __name__ == "__main__":
    lower_priority()
    sys.exit(main())
