"""Random histories: the exact backend equals brute force, the graph finds what it holds, the map what it was told."""

from __future__ import annotations

from typing import Any

import numpy as np
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.embed.embedder import from_blobs, to_blob
from core.index.base import VectorIndex
from core.index.flat import FlatIndex, LabelMap
from core.index.hnsw import HnswIndex

DIMS = 8
POOL = np.random.default_rng(7).normal(size=(64, DIMS)).astype(np.float32)

labels_st = st.lists(st.integers(0, 40), min_size=1, max_size=12, unique=True)
seeds = st.integers(0, 63)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), labels_st, seeds),
        st.tuples(st.just("remove"), labels_st, seeds),
        st.tuples(st.just("search"), labels_st, seeds),
    ),
    max_size=25,
)


def rows_for(labels: list[int], seed: int) -> NDArray[np.float32]:
    return np.take(POOL, (np.array(labels) * 5 + seed) % 64, axis=0)


def brute(model: dict[int, NDArray[np.float32]], query: NDArray[np.float32], scope: set[int] | None) -> list[int]:
    ranked = []
    for label, vector in model.items():
        if scope is None or label in scope:
            kept = (vector / np.linalg.norm(vector)).astype(np.float16).astype(np.float64)
            unit = (query / np.linalg.norm(query)).astype(np.float32).astype(np.float64)
            ranked.append((-np.float32((kept * unit).sum() / np.sqrt((kept * kept).sum())), label))
    return [label for _, label in sorted(ranked)]


def run(index: VectorIndex, history: list[tuple[str, list[int], int]]) -> None:
    model: dict[int, NDArray[np.float32]] = {}
    for verb, labels, seed in history:
        if verb == "add":
            index.add(np.array(labels), rows_for(labels, seed))
            model.update(zip(labels, rows_for(labels, seed), strict=True))
        elif verb == "remove":
            assert index.remove(np.array(labels)) == sum(model.pop(n, None) is not None for n in labels)
        else:
            query = POOL[seed] + 0.01
            scope = np.array(sorted(labels))
            assert index.search(query, 50).labels.tolist() == brute(model, query, None)
            assert index.search(query, 4).labels.tolist() == brute(model, query, None)[:4]
            assert index.search(query, 4, scope).labels.tolist() == brute(model, query, set(labels))[:4]
            assert (
                index.search(query, 4, lambda n: n % 2 == 0).labels.tolist()
                == [n for n in brute(model, query, None) if n % 2 == 0][:4]
            )
        assert index.labels().tolist() == sorted(model)
        assert index.count == len(model)


@settings(max_examples=count_examples(60), deadline=None)
@given(steps)
def test_flat_equals_brute_force(history: list[tuple[str, list[int], int]]) -> None:
    run(FlatIndex(DIMS), history)


@settings(max_examples=count_examples(40), deadline=None)
@given(steps)
def test_a_small_graph_equals_brute_force(history: list[tuple[str, list[int], int]]) -> None:
    """Below ef every element is reached, so even the graph is exact; scopes and ties included."""
    run(HnswIndex(DIMS), history)


@settings(max_examples=count_examples(15), deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 400), st.floats(0, 0.6))
def test_the_graph_finds_every_vector_it_holds(seed: int, count: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, DIMS)).astype(np.float32)
    labels = rng.permutation(count * 3)[:count].astype(np.int64)
    index = HnswIndex(DIMS)
    index.add(labels, rows)
    gone = labels[: int(count * share)]
    index.remove(gone)
    for label, row in list(zip(labels, rows, strict=True))[gone.size :: 9]:
        hits = index.search(row, 1)
        assert hits.labels.tolist() == [label]
        assert hits.cosines[0] > 0.999


@settings(max_examples=count_examples(40), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20_000), st.integers(-1, 99)), max_size=60))
def test_the_label_map_is_a_dict(pairs: list[tuple[int, int]]) -> None:
    table, model = LabelMap(), dict[int, int]()
    for low in range(0, len(pairs), 7):
        part = dict(pairs[low : low + 7])
        table.put(np.array(list(part), np.int64), np.array(list(part.values()), np.int64))
        model.update(part)
    asked = np.array([*model, 20_001, 5], np.int64)
    assert table.get(asked).tolist() == [model.get(n, -1) for n in asked.tolist()]


@settings(max_examples=count_examples(40), deadline=None)
@given(st.lists(st.lists(st.floats(-1, 1, width=16), min_size=5, max_size=5), max_size=6))
def test_float16_values_survive_the_codec_to_the_bit(rows: Any) -> None:
    matrix = np.array(rows, np.float32).reshape(len(rows), 5)
    assert np.array_equal(from_blobs([to_blob(row) for row in matrix], 5), matrix)
