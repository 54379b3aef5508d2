"""Build, search, snapshot and memory of the index: python tests/bench/bench_index.py --n 100000.

Not a test: it prints a table and asserts nothing. The vectors are drawn in clusters, which is easier than real text
for recall and the same for time.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from core.index.base import Allowed, VectorIndex  # noqa: E402
from core.index.flat import FlatIndex  # noqa: E402
from core.index.hnsw import HnswIndex  # noqa: E402
from core.index.snapshot import Identity, SnapshotRefused, read_snapshot, write_snapshot  # noqa: E402
from core.security.keys import open_sealed, seal  # noqa: E402

DIMS = 384
OURS = Identity("00" * 16, "bench", DIMS)


class BenchSealer:
    """The vault's cipher under a fixed key."""

    def seal(self, data: bytes, aad: bytes) -> bytes:
        """Encrypt."""
        return seal(b"k" * 32, data, aad)

    def open(self, sealed: bytes, aad: bytes) -> bytes:
        """Decrypt."""
        return open_sealed(b"k" * 32, sealed, aad)


def machine() -> str:
    """The machine's size in words."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}, load {load:.1f} at the start"


def resident_mb() -> float:
    """Resident memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextmanager
def told(what: str) -> Iterator[None]:
    """Print how long something took and what it did to memory."""
    before, start = resident_mb(), time.perf_counter()
    yield
    print(f"{what:<44} {time.perf_counter() - start:9.2f} s  {resident_mb() - before:+7.0f} MB")


def clustered(count: int, seed: int) -> NDArray[np.float16]:
    """Rows around a centre for each forty."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(max(1, count // 40), DIMS)).astype(np.float32)
    rows = np.empty((count, DIMS), np.float16)
    for low in range(0, count, 5000):
        size = min(5000, count - low)
        part = centres[rng.integers(0, len(centres), size)] + rng.normal(size=(size, DIMS)).astype(np.float32)
        rows[low : low + size] = part / np.linalg.norm(part, axis=1, keepdims=True)
    return rows


def searches(name: str, index: VectorIndex, queries: NDArray[np.float32], k: int, allowed: Allowed = None) -> None:
    """Print p50, p95 and p99 of a search."""
    times = []
    for query in queries:
        start = time.perf_counter()
        index.search(query, k, allowed)
        times.append((time.perf_counter() - start) * 1e3)
    p50, p95, p99 = np.percentile(times, [50, 95, 99])
    print(f"{name:<44} p50 {p50:7.2f}  p95 {p95:7.2f}  p99 {p99:7.2f} ms")


def recall(index: VectorIndex, exact: VectorIndex, queries: NDArray[np.float32]) -> float:
    """Share of the exact top ten that the index finds."""
    same = [np.isin(exact.search(q, 10).labels, index.search(q, 10).labels).sum() for q in queries]
    return float(np.sum(same)) / (10 * len(queries))


def scopes(count: int) -> list[tuple[str, Allowed]]:
    """Scopes of several widths."""
    rng = np.random.default_rng(5)
    shuffled = rng.permutation(count)
    made: list[tuple[str, Allowed]] = [("all", None)]
    shares = (0.001, 0.01, 0.05, 0.3, 0.9)
    made.extend((f"{share:.1%} of labels", np.sort(shuffled[: max(1, int(count * share))])) for share in shares)
    even: Callable[[NDArray[np.int64]], NDArray[np.bool_]] = lambda known: known % 2 == 0  # noqa: E731
    made.append(("a function, half pass", even))
    return made


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=20_000, help="vectors")
    count = parser.parse_args().n
    print(machine())
    labels, rows = np.arange(count, dtype=np.int64), clustered(count, 1)
    noise = np.random.default_rng(2).normal(scale=0.02, size=(200, DIMS))
    queries = np.asarray(rows[:: max(1, count // 200)][:200] + noise[: len(rows[:: max(1, count // 200)])], np.float32)
    graph = HnswIndex(DIMS)
    with told(f"stage {count:,} vectors"):
        for low in range(0, count, 2000):
            graph.stage(labels[low : low + 2000], rows[low : low + 2000])
    searches("search all while nothing is linked, k 10", graph, queries[:20], 10)
    with told("link them, batches of 16"):
        graph.link()
    flat = FlatIndex(DIMS)
    with told("the exact index"):
        flat.add(labels, rows)
    print(f"recall@10 of the graph {recall(graph, flat, queries):.4f}")
    searches("exact index, all, k 10", flat, queries, 10)
    for name, allowed in scopes(count):
        searches(f"graph, {name}, k 10", graph, queries, 10, allowed)
    searches("graph, all, k 100", graph, queries, 100)
    del flat
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.snap"
        with told("write the snapshot"):
            size = write_snapshot(path, graph, OURS, "", BenchSealer())
        with told(f"read the snapshot, {size / 1e6:.0f} MB"):
            back = read_snapshot(path, OURS, BenchSealer(), newest=0)
    if isinstance(back, SnapshotRefused):
        sys.exit(f"The snapshot was refused: {back.reason}.")
    print(f"told {graph.memory_bytes() / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
