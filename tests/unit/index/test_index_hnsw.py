"""What only the graph has: staging, tombstones, and the traps of hnswlib that must stay shut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.errors import BugError
from core.index.flat import FlatIndex
from core.index.hnsw import HnswIndex, restored_rows

DIMS = 32
Make = Callable[..., NDArray[np.float32]]


def test_staged_vectors_are_found_at_once(clustered: Make) -> None:
    index = HnswIndex(DIMS)
    rows = clustered(300)
    index.stage(np.arange(300), rows)
    assert index.staged == 300
    assert [int(index.search(row, 1).labels[0]) for row in rows[:30]] == list(range(30))
    assert index.link(limit=100) == 300 - 112
    assert [int(index.search(row, 1).labels[0]) for row in rows[:300:10]] == list(range(0, 300, 10))
    assert index.link() == 0


def test_answers_do_not_change_as_linking_goes_on(clustered: Make) -> None:
    index, flat = HnswIndex(DIMS), FlatIndex(DIMS)
    rows = clustered(1000)
    flat.add(np.arange(1000), rows)
    index.stage(np.arange(1000), rows)
    scope = np.arange(0, 1000, 3)
    while True:
        for query in clustered(5, seed=3):
            assert index.search(query, 8).labels.tolist() == flat.search(query, 8).labels.tolist()
            assert index.search(query, 8, scope).labels.tolist() == flat.search(query, 8, scope).labels.tolist()
        if index.link(limit=250) == 0:
            break


def test_linking_can_be_stopped(clustered: Make) -> None:
    index = HnswIndex(DIMS)
    index.stage(np.arange(200), clustered(200))
    answers = iter([False, False, False, True])
    assert index.link(cancelled=lambda: next(answers)) == 200 - 3 * 16


def test_what_was_removed_before_linking_never_enters_the_graph(clustered: Make) -> None:
    index = HnswIndex(DIMS)
    index.stage(np.arange(100), clustered(100))
    index.remove(np.arange(0, 100, 2))
    index.link()
    assert index._graph.get_current_count() == 50
    assert index._buried == 0
    assert index.dead == 50


@pytest.mark.slow
def test_grows_past_its_first_room(clustered: Make) -> None:
    index = HnswIndex(DIMS)
    rows = clustered(2600)
    for low in range(0, 2600, 650):
        index.add(np.arange(low, low + 650), rows[low : low + 650])
    assert index._graph.get_max_elements() >= 2600
    assert [int(index.search(row, 1).labels[0]) for row in rows[::100]] == list(range(0, 2600, 100))


def test_all_removed_is_empty(clustered: Make) -> None:
    index = HnswIndex(DIMS)
    rows = clustered(100)
    index.add(np.arange(100), rows)
    index.remove(np.arange(100))
    assert index.search(rows[0], 5).labels.size == 0
    assert (index.count, index.dead) == (0, 100)
    index.add(np.array([7]), rows[7:8])
    assert index.search(rows[0], 5).labels.tolist() == [7]


@pytest.mark.slow
def test_falls_back_to_a_scan_where_the_graph_cannot_reach(clustered: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    index = HnswIndex(DIMS)
    rows = clustered(3000)
    index.add(np.arange(3000), rows)

    class Unreachable:
        """A graph that reaches too few elements."""

        def __init__(self, graph: Any) -> None:
            self._graph = graph

        def __getattr__(self, name: str) -> Any:
            return getattr(self._graph, name)

        def knn_query(self, *_args: Any, **_more: Any) -> Any:
            raise RuntimeError("Cannot return the results in a contiguous 2D array")

    monkeypatch.setattr(index, "_graph", Unreachable(index._graph))
    assert index.search(rows[2000], 3).labels[0] == 2000
    assert index.search(rows[2000], 20, np.arange(2900)).labels.size == 20


def test_ef_is_set_and_kept(clustered: Make) -> None:
    index = HnswIndex(DIMS)
    assert index._graph.ef == 100
    index.add(np.arange(20), clustered(20))
    index.search(clustered(1)[0], 10)
    assert index._graph.ef == 100


@pytest.mark.parametrize("fault", ["linked", "strangers", "dims", "missing"])
def test_parts_that_do_not_belong_together_are_refused(clustered: Make, fault: str) -> None:
    source = HnswIndex(DIMS)
    source.add(np.arange(50), clustered(50))
    dims = DIMS + 1 if fault == "dims" else DIMS
    count = 20 if fault == "strangers" else 60
    store = restored_rows(np.arange(count), np.ones((count, dims), np.float16))
    linked = {"linked": 99, "strangers": 20, "dims": 50, "missing": 55}[fault]
    with pytest.raises(BugError):
        HnswIndex(dims).adopt(store, source._graph, linked)
