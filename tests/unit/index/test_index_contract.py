"""What both backends promise, in one suite."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.errors import Code, LociError
from core.index.base import VectorIndex
from core.index.flat import FlatIndex
from core.index.hnsw import HnswIndex

DIMS = 32
Make = Callable[..., NDArray[np.float32]]
Exact = Callable[..., list[int]]


@pytest.fixture(params=["flat", "hnsw", "staged"])
def index(request: pytest.FixtureRequest) -> VectorIndex:
    return make_index(request.param)


def make_index(backend: str) -> VectorIndex:
    if backend == "flat":
        return FlatIndex(DIMS)
    return HnswIndex(DIMS) if backend == "hnsw" else StagedIndex(DIMS)


class StagedIndex(HnswIndex):
    """The graph backend as the manager feeds it: nothing linked until the staged part grows."""

    def add(self, labels: Any, vectors: Any) -> None:
        self.stage(labels, vectors)
        if self.staged > 700:
            self.link(limit=500)


def test_empty_answers_empty(index: VectorIndex, clustered: Make) -> None:
    hits = index.search(clustered(1)[0], 5)
    assert (hits.labels.size, hits.cosines.size) == (0, 0)
    assert str(hits.labels.dtype) == "int64"
    assert str(hits.cosines.dtype) == "float32"
    assert (index.count, index.dead, index.dims) == (0, 0, DIMS)
    assert index.labels().size == 0
    assert index.remove(np.array([1, 2])) == 0


@pytest.mark.slow
def test_finds_what_exact_search_finds(index: VectorIndex, clustered: Make, exact: Exact) -> None:
    rows, labels = clustered(1500), np.arange(1500) * 7 + 3
    index.add(labels, rows)
    queries = clustered(40, seed=2)
    found = [set(index.search(q, 10).labels.tolist()) for q in queries]
    right = [set(exact(labels, rows, q, 10)) for q in queries]
    kept = sum(len(a & b) for a, b in zip(found, right, strict=True)) / 400
    assert kept >= (1.0 if index.backend == "flat" else 0.98)
    assert all(index.search(rows[i], 1).labels.tolist() == [labels[i]] for i in range(0, 1500, 50))


def test_order_and_cosines(index: VectorIndex, clustered: Make, exact: Exact) -> None:
    rows, labels = clustered(90), np.arange(90)
    index.add(labels, rows)
    query = clustered(1, seed=5)[0]
    hits = index.search(query, 90)
    assert hits.labels.tolist() == exact(labels, rows, query, 90)
    assert (np.diff(hits.cosines) <= 0).all()
    true = rows @ query / np.linalg.norm(rows, axis=1) / np.linalg.norm(query)
    assert np.allclose(hits.cosines, true[hits.labels], atol=1e-3)


def test_backends_give_equal_cosines_to_the_bit(clustered: Make) -> None:
    flat, graph = FlatIndex(DIMS), HnswIndex(DIMS)
    rows = clustered(80)
    for each in (flat, graph):
        each.add(np.arange(80), rows)
    one, other = flat.search(rows[3], 80), graph.search(rows[3], 80)
    assert one.labels.tolist() == other.labels.tolist()
    assert np.array_equal(one.cosines, other.cosines)


def test_ties_stand_in_label_order(index: VectorIndex, clustered: Make) -> None:
    same = clustered(1)[0]
    labels = np.array([9, 2, 77, 5, 31])
    index.add(labels, np.stack([same] * 5))
    index.add(np.arange(100, 160), clustered(60, seed=8))
    hits = index.search(same, 5)
    assert hits.labels.tolist() == [2, 5, 9, 31, 77]
    assert np.unique(hits.cosines).size == 1


def test_length_does_not_matter(index: VectorIndex, clustered: Make) -> None:
    rows = clustered(20)
    index.add(np.arange(20), rows * np.linspace(0.01, 900, 20, dtype=np.float32)[:, None])
    hits = index.search(rows[4] * 40, 1)
    assert hits.labels.tolist() == [4]
    assert hits.cosines[0] == pytest.approx(1.0, abs=1e-3)


def test_k_beyond_what_is_here(index: VectorIndex, clustered: Make) -> None:
    index.add(np.arange(7), clustered(7))
    assert sorted(index.search(clustered(1)[0], 50).labels.tolist()) == list(range(7))
    assert index.search(clustered(1)[0], 0).labels.size == 0
    assert index.search(clustered(1)[0], -3).labels.size == 0


def test_removed_is_never_found(index: VectorIndex, clustered: Make, exact: Exact) -> None:
    rows, labels = clustered(600), np.arange(600)
    index.add(labels, rows)
    gone = np.arange(0, 600, 2)
    assert index.remove(gone) == 300
    assert index.remove(gone) == 0
    assert index.count == 300
    assert index.labels().tolist() == list(range(1, 600, 2))
    for query in rows[:20]:
        hits = index.search(query, 10).labels
        assert hits.size == 10
        assert (hits % 2 == 1).all()
    assert index.search(rows[1], 300).labels.size == 300


def test_a_removed_label_can_come_back(index: VectorIndex, clustered: Make) -> None:
    rows = clustered(200)
    index.add(np.arange(200), rows)
    for _ in range(3):
        index.remove(np.arange(50, 100))
        index.add(np.arange(50, 100), rows[100:150])
        index.remove(np.arange(50, 60))
        index.add(np.arange(50, 60), rows[50:60])
    assert index.count == 200
    assert index.search(rows[55], 1).labels.tolist() == [55]
    assert set(index.search(rows[120], 2).labels.tolist()) == {70, 120}


def test_adding_again_replaces(index: VectorIndex, clustered: Make) -> None:
    rows = clustered(60)
    index.add(np.arange(60), rows)
    index.add(np.array([5]), -rows[5:6])
    assert index.count == 60
    assert index.search(-rows[5], 1).labels.tolist() == [5]
    assert 5 not in index.search(rows[5], 40).labels


def test_of_a_repeated_label_the_last_counts(index: VectorIndex, clustered: Make) -> None:
    rows = clustered(4)
    index.add(np.array([3, 3, 1, 3]), rows)
    assert index.labels().tolist() == [1, 3]
    assert index.search(rows[3], 1).labels.tolist() == [3]
    _, kept = index.fetch(np.array([3]))
    assert kept[0] @ rows[3] / np.linalg.norm(rows[3]) == pytest.approx(1.0, abs=1e-3)


def test_fetch_gives_what_the_vault_would_keep(index: VectorIndex, clustered: Make) -> None:
    rows = clustered(30)
    index.add(np.arange(30), rows)
    found, kept = index.fetch(np.array([12, 999, 3]))
    assert found.tolist() == [12, 3]
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert np.array_equal(kept, kept.astype(np.float16).astype(np.float32))
    assert np.allclose(kept, unit[[12, 3]], atol=1e-3)


@pytest.fixture(scope="module", params=["flat", "hnsw", "staged"])
def filled(request: pytest.FixtureRequest, clustered: Make) -> VectorIndex:
    """Four thousand rows of `clustered`, only looked at."""
    made = make_index(request.param)
    made.add(np.arange(4000), clustered(4000))
    return made


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.001, 0.01, 0.1, 0.5, 0.97])
def test_scopes_never_under_fill(filled: VectorIndex, clustered: Make, exact: Exact, share: float) -> None:
    index, rows = filled, clustered(4000)
    scope = np.sort(np.random.default_rng(4).permutation(4000)[: max(1, int(4000 * share))])
    fill = min(10, scope.size)
    right = found = 0
    for query in clustered(12, seed=6):
        hits = index.search(query, 10, scope)
        again = index.search(query, 10, lambda known: np.isin(known, scope))
        assert hits.labels.size == again.labels.size == fill
        assert np.isin(hits.labels, scope).all()
        assert np.isin(again.labels, scope).all()
        want = set(exact(scope, rows[scope], query, fill))
        found += len(want & set(hits.labels.tolist()))
        right += fill
    assert found / right >= (1.0 if index.backend == "flat" or scope.size <= 2000 else 0.98)


@pytest.mark.slow
def test_a_scope_far_from_the_query_still_fills(index: VectorIndex, clustered: Make) -> None:
    near = clustered(3000) + 6.0
    far = clustered(2900, seed=9) - 6.0
    index.add(np.arange(3000), near)
    index.add(np.arange(3000, 5900), far)
    hits = index.search(near[0], 15, np.arange(3000, 5900))
    assert hits.labels.size == 15
    assert (hits.labels >= 3000).all()


def test_a_scope_may_name_strangers_and_repeat(index: VectorIndex, clustered: Make) -> None:
    rows = clustered(30)
    index.add(np.arange(30), rows)
    index.remove(np.array([4]))
    hits = index.search(rows[4], 10, np.array([900, 4, 7, 7, 2, 10**12]))
    assert sorted(hits.labels.tolist()) == [2, 7]
    assert index.search(rows[4], 10, np.array([], np.int64)).labels.size == 0
    assert index.search(rows[4], 10, lambda known: np.zeros(known.size, np.bool_)).labels.size == 0


@pytest.mark.parametrize("answer", [np.ones(3, np.bool_), np.ones(30), True])
def test_a_scope_function_that_does_not_fit_is_refused(index: VectorIndex, clustered: Make, answer: Any) -> None:
    index.add(np.arange(30), clustered(30))
    with pytest.raises(LociError):
        index.search(clustered(1)[0], 3, lambda _known: answer)


@pytest.mark.parametrize(
    ("query", "code"),
    [
        (np.ones(DIMS - 1, np.float32), Code.DIMENSION_MISMATCH),
        (np.ones(10, np.float32), Code.DIMENSION_MISMATCH),
        (np.ones((1, DIMS), np.float32), Code.DIMENSION_MISMATCH),
        (np.ones(DIMS, np.int64), Code.DIMENSION_MISMATCH),
        (np.zeros(DIMS, np.float32), Code.EMBEDDING_FAILED),
        (np.full(DIMS, np.nan, np.float32), Code.EMBEDDING_FAILED),
        (np.full(DIMS, np.inf, np.float32), Code.EMBEDDING_FAILED),
    ],
)
def test_bad_queries_are_refused(index: VectorIndex, clustered: Make, query: Any, code: Code) -> None:
    index.add(np.arange(5), clustered(5))
    with pytest.raises(LociError) as caught:
        index.search(query, 3)
    assert caught.value.code is code


@pytest.mark.parametrize(
    ("labels", "vectors", "code"),
    [
        (np.array([1]), np.ones((1, DIMS + 1), np.float32), Code.DIMENSION_MISMATCH),
        (np.array([1, 2]), np.ones((1, DIMS), np.float32), Code.DIMENSION_MISMATCH),
        (np.array([-1]), np.ones((1, DIMS), np.float32), Code.DIMENSION_MISMATCH),
        (np.array([1.5]), np.ones((1, DIMS), np.float32), Code.DIMENSION_MISMATCH),
        (np.array([[1]]), np.ones((1, DIMS), np.float32), Code.DIMENSION_MISMATCH),
        (np.array([2**63], np.uint64), np.ones((1, DIMS), np.float32), Code.DIMENSION_MISMATCH),
        (np.array([1, 2]), np.array([[1.0] * DIMS, [np.nan] * DIMS], np.float32), Code.EMBEDDING_FAILED),
        (np.array([1]), np.zeros((1, DIMS), np.float32), Code.EMBEDDING_FAILED),
    ],
)
def test_bad_vectors_are_refused_whole(index: VectorIndex, labels: Any, vectors: Any, code: Code) -> None:
    with pytest.raises(LociError) as caught:
        index.add(labels, vectors)
    assert caught.value.code is code
    assert index.count == 0


def test_nothing_to_add_is_fine(index: VectorIndex) -> None:
    index.add(np.array([], np.int64), np.empty((0, DIMS), np.float32))
    assert index.count == 0


def test_big_and_sparse_labels(index: VectorIndex, clustered: Make) -> None:
    labels = np.array([0, 1, 4095, 4096, 10**9, 2**62, 2**63 - 1])
    rows = clustered(7)
    index.add(labels, rows)
    assert index.labels().tolist() == labels.tolist()
    assert [int(index.search(row, 1).labels[0]) for row in rows] == labels.tolist()


def test_memory_is_told(index: VectorIndex, clustered: Make) -> None:
    index.add(np.arange(1000), clustered(1000))
    assert 1000 * DIMS * 2 < index.memory_bytes() < 1000 * (DIMS * 6 + 400)


@pytest.mark.slow
def test_readers_and_a_writer_at_once(index: VectorIndex, clustered: Make) -> None:
    """A vector that is in the index throughout is found by every query, whatever is added and removed meanwhile."""
    rows = clustered(2000)
    index.add(np.arange(500), rows[:500])

    def write(start: int) -> None:
        for low in range(start, 2000, 200):
            part = np.arange(low, low + 100)
            index.add(part, rows[part])
            index.remove(part[::3])

    def read(seed: int) -> Any:
        picks = np.random.default_rng(seed).integers(0, 500, 60)
        scope = np.arange(0, 500)
        found = [int(index.search(rows[i], 1).labels[0]) == i for i in picks]
        scoped = [int(index.search(rows[i], 3, scope).labels[0]) == i for i in picks]
        return sum(found) + sum(scoped)

    with ThreadPoolExecutor(6) as pool:
        writers = [pool.submit(write, 500), pool.submit(write, 600)]
        readers = [pool.submit(read, seed) for seed in range(4)]
        assert [r.result() for r in readers] == [120] * 4
        for each in writers:
            each.result()
    assert index.count == 500 + 15 * (100 - 34)
