"""Rows and the label map underneath both backends."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from core.index.flat import LabelMap, RowStore, as_query, as_stored

Make = Callable[..., NDArray[np.float32]]


def test_the_map_knows_what_was_put_and_nothing_else() -> None:
    labels = np.array([0, 4095, 4096, 8191, 10**7, 3])
    table = LabelMap()
    table.put(labels, np.arange(6))
    assert table.get(labels).tolist() == list(range(6))
    assert table.get(np.array([1, 4097, 10**7 + 1, 2**62])).tolist() == [-1] * 4
    table.put(labels[:2], np.array([-1, 50]))
    assert table.get(labels).tolist() == [-1, 50, 2, 3, 4, 5]
    assert table.get(np.empty(0, np.int64)).size == 0


def test_dense_labels_cost_four_bytes() -> None:
    table = LabelMap()
    table.put(np.arange(100_000), np.arange(100_000))
    assert table.memory_bytes() < 420_000


@pytest.mark.parametrize("reuse", [True, False])
def test_dead_rows_are_taken_again_only_where_asked(clustered: Make, reuse: bool) -> None:
    store = RowStore(32, np.float32, reuse=reuse)
    labels, rows = as_stored(np.arange(100), clustered(100), 32)
    store.put(labels, rows)
    assert store.drop(np.arange(40)).size == 40
    store.put(labels[:40] + 500, rows[:40])
    assert store.used == (100 if reuse else 140)
    assert store.count == 100


@pytest.mark.parametrize("reuse", [True, False])
def test_a_removed_vector_is_wiped(clustered: Make, reuse: bool) -> None:
    store = RowStore(32, np.float16, reuse=reuse)
    store.put(*as_stored(np.arange(10), clustered(10), 32))
    dead = store.drop(np.array([3, 4]))
    assert not store.all_vectors()[dead].any()
    assert store.all_labels()[dead].tolist() == [-1, -1]


def test_replacing_tells_the_rows_that_died(clustered: Make) -> None:
    store = RowStore(32, np.float16, reuse=False)
    rows = clustered(5)
    assert store.put(*as_stored(np.arange(5), rows, 32)).size == 0
    assert store.put(*as_stored(np.array([2, 9]), rows[:2], 32)).tolist() == [2]
    assert store.rows_of(np.array([2, 9, 77])).tolist() == [5, 6]


def test_near_ties_are_decided_exactly(clustered: Make, exact: Callable[..., list[int]]) -> None:
    """Thousands of nearly equal vectors: the rough pass must not lose one that belongs to the best."""
    base = clustered(1)[0]
    rows = base + np.random.default_rng(0).normal(scale=0.004, size=(3000, 32)).astype(np.float32)
    for dtype in (np.float16, np.float32):
        store = RowStore(32, dtype, reuse=True)
        store.put(*as_stored(np.arange(3000), rows, 32))
        hits = store.nearest(as_query(base, 32), 10)
        _, kept = as_stored(np.arange(3000), rows, 32)
        wide = kept.astype(np.float64)
        cosines = (wide @ as_query(base, 32).astype(np.float64)) / np.linalg.norm(wide, axis=1)
        assert hits.cosines.tolist() == pytest.approx(np.sort(cosines)[::-1][:10].tolist(), abs=1e-7)
