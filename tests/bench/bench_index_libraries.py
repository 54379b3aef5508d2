"""Libraries for the approximate index beside each other, on the same vectors.

    pip install --no-deps --target /tmp/candidates usearch numkong voyager faiss-cpu
    PYTHONPATH=.:/tmp/candidates python tests/bench/bench_index_libraries.py --n 50000

Not a test: it prints a table and asserts nothing. A library that is not there is left out; chroma-hnswlib goes by the
module name of hnswlib and is measured in its place, from a folder of its own. Each library gets the parameters of
`core/index/hnsw.py`, one thread, and is asked for the same: the ten nearest, after a fifth was deleted, after its bytes
were written and read again, and by a second index that was built alike. Times are the processor's, so that a busy
machine changes little.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import io
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from bench_index import DIMS, clustered, machine, resident_mb  # noqa: E402

from core.index.hnsw import EF, EF_CONSTRUCTION, M  # noqa: E402

K = 10
Floats = NDArray[np.float32]
Labels = NDArray[np.int64]


class Candidate(Protocol):
    """What is asked of a library."""

    name: str

    def add(self, labels: Labels, rows: Floats) -> None:
        """Take vectors in."""

    def find(self, query: Floats) -> Labels:
        """The ten nearest."""

    def delete(self, label: int) -> None:
        """Take one out."""

    def save(self, path: Path) -> None:
        """Write everything to a file."""

    def load(self, path: Path) -> None:
        """Read what was written."""


class Hnswlib:
    """hnswlib, or what is installed under its name."""

    def __init__(self, size: int) -> None:
        self._library: Any = importlib.import_module("hnswlib")
        self.name = "chroma-hnswlib" if hasattr(self._library.Index, "persist_dirty") else "hnswlib"
        self._size = size
        self._index = self._library.Index(space="cosine", dim=DIMS)
        self._index.init_index(max_elements=size, M=M, ef_construction=EF_CONSTRUCTION)
        self._index.set_ef(EF)

    def add(self, labels: Labels, rows: Floats) -> None:
        """Take vectors in."""
        self._index.add_items(rows, labels, num_threads=1)

    def find(self, query: Floats) -> Labels:
        """The ten nearest."""
        return np.asarray(self._index.knn_query(query, k=K, num_threads=1)[0][0], np.int64)

    def delete(self, label: int) -> None:
        """Take one out."""
        self._index.mark_deleted(label)

    def save(self, path: Path) -> None:
        """Write everything to a file."""
        self._index.save_index(str(path))

    def load(self, path: Path) -> None:
        """Read what was written."""
        self._index = self._library.Index(space="cosine", dim=DIMS)
        self._index.load_index(str(path), max_elements=self._size)
        self._index.set_ef(EF)


class Usearch:
    """usearch, with vectors of 32 bits."""

    name = "usearch"

    def __init__(self, size: int) -> None:
        library: Any = importlib.import_module("usearch.index")
        self._index = library.Index(
            ndim=DIMS, metric="cos", dtype="f32", connectivity=M, expansion_add=EF_CONSTRUCTION, expansion_search=EF
        )

    def add(self, labels: Labels, rows: Floats) -> None:
        """Take vectors in."""
        self._index.add(labels, rows, threads=1)

    def find(self, query: Floats) -> Labels:
        """The ten nearest."""
        return np.asarray(self._index.search(query, K, threads=1).keys, np.int64)

    def delete(self, label: int) -> None:
        """Take one out."""
        self._index.remove(label)

    def save(self, path: Path) -> None:
        """Write everything to a file."""
        self._index.save(str(path))

    def load(self, path: Path) -> None:
        """Read what was written."""
        self._index.load(str(path))


class Voyager:
    """voyager, which grew from hnswlib."""

    name = "voyager"

    def __init__(self, size: int) -> None:
        self._library: Any = importlib.import_module("voyager")
        self._index = self._library.Index(
            self._library.Space.Cosine, num_dimensions=DIMS, M=M, ef_construction=EF_CONSTRUCTION, max_elements=size
        )
        self._index.ef = EF

    def add(self, labels: Labels, rows: Floats) -> None:
        """Take vectors in."""
        self._index.add_items(rows, labels.tolist(), num_threads=1)

    def find(self, query: Floats) -> Labels:
        """The ten nearest."""
        return np.asarray(self._index.query(query, k=K, num_threads=1, query_ef=EF)[0], np.int64)

    def delete(self, label: int) -> None:
        """Take one out."""
        self._index.mark_deleted(label)

    def save(self, path: Path) -> None:
        """Write everything to a file."""
        self._index.save(str(path))

    def load(self, path: Path) -> None:
        """Read what was written."""
        self._index = self._library.Index.load(str(path))
        self._index.ef = EF


class Faiss:
    """faiss, whose graph cannot delete."""

    name = "faiss-cpu"

    def __init__(self, size: int) -> None:
        self._library: Any = importlib.import_module("faiss")
        self._library.omp_set_num_threads(1)
        self._index = self._library.IndexHNSWFlat(DIMS, M, self._library.METRIC_INNER_PRODUCT)
        self._index.hnsw.efConstruction, self._index.hnsw.efSearch = EF_CONSTRUCTION, EF

    def add(self, labels: Labels, rows: Floats) -> None:
        """Take vectors in."""
        self._index.add(rows)

    def find(self, query: Floats) -> Labels:
        """The ten nearest."""
        return np.asarray(self._index.search(query.reshape(1, -1), K)[1][0], np.int64)

    def delete(self, label: int) -> None:
        """Nothing can be taken out of a graph of this library: the table says so."""
        raise io.UnsupportedOperation("delete")

    def save(self, path: Path) -> None:
        """Write everything to a file."""
        self._library.write_index(self._index, str(path))

    def load(self, path: Path) -> None:
        """Read what was written."""
        self._index = self._library.read_index(str(path))


CANDIDATES: tuple[tuple[str, Callable[[int], Candidate]], ...] = (
    ("hnswlib", Hnswlib), ("usearch", Usearch), ("voyager", Voyager), ("faiss", Faiss),
)  # fmt: skip


def exact(rows: Floats, queries: Floats, left_out: Labels) -> NDArray[np.int64]:
    """The true ten nearest of each query."""
    likeness = queries @ rows.T
    likeness[:, left_out] = -np.inf
    return np.argsort(-likeness, axis=1)[:, :K]


def share(found: list[Labels], wanted: NDArray[np.int64]) -> float:
    """How many of the wanted were found."""
    return float(np.mean([np.isin(true, have).mean() for have, true in zip(found, wanted, strict=True)]))


def measure(make: Callable[[int], Candidate], rows: Floats, queries: Floats) -> Iterator[str]:
    """The figures of one library, as cells of the table."""
    labels, gone = np.arange(len(rows)), np.arange(0, len(rows), 5)
    before, start = resident_mb(), time.process_time()
    index = make(len(rows))
    index.add(labels, rows)
    yield f"{time.process_time() - start:.1f} s"
    yield f"{resident_mb() - before:.0f} MB"
    times, found = [], []
    for query in queries:
        start = time.process_time()
        found.append(index.find(query))
        times.append((time.process_time() - start) * 1e3)
    yield "{:.2f} / {:.2f} ms".format(*np.percentile(times, [50, 95]))
    yield f"{share(found, exact(rows, queries, gone[:0])):.4f}"
    twin = make(len(rows))
    twin.add(labels, rows)
    yield "yes" if all(np.array_equal(twin.find(q), have) for q, have in zip(queries, found, strict=True)) else "no"
    del twin
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        start = time.process_time()
        index.save(path)
        index.load(path)
        yield f"{time.process_time() - start:.2f} s"
        yield f"{path.stat().st_size / 1e6:.0f} MB"
    try:
        for label in gone.tolist():
            index.delete(label)
    except io.UnsupportedOperation:
        yield "cannot delete"
        return
    kept = [index.find(query) for query in queries]
    yield f"{share(kept, exact(rows, queries, gone)):.4f}" + (" (finds deleted)" if np.isin(kept, gone).any() else "")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=20_000, help="vectors")
    count = parser.parse_args().n
    print(machine())
    print(f"{count:,} vectors of {DIMS}, M {M}, ef {EF_CONSTRUCTION} / {EF}, one thread")
    print("library | build | memory | query p50 / p95 | recall@10 | same twice | save and load | file | after deletion")
    # Clusters alone are found by every graph; as far apart from their centres as this, the libraries begin to differ.
    rows = clustered(count, 1).astype(np.float32)
    rows += np.random.default_rng(3).normal(scale=0.09, size=rows.shape).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    chosen = rows[:: max(1, count // 300)][:300]
    queries = np.asarray(chosen + np.random.default_rng(2).normal(scale=0.02, size=chosen.shape), np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    for module, make in CANDIDATES:
        if importlib.util.find_spec(module) is None:
            continue
        name = make(1).name
        print(f"{name} {importlib.metadata.version(name)} | {' | '.join(measure(make, rows, queries))}", flush=True)


if __name__ == "__main__":
    main()
