"""Communities by ties and shortest paths of any graph: all nodes placed, hubs harmless, the same each time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.score.centres import Groups
from core.score.communities import MOST_COMMUNITIES, find_link_communities, find_shortest_paths


def cliques(count: int, size: int) -> tuple[Groups, Groups]:
    pairs = [(k * size + i, k * size + j) for k in range(count) for i in range(size) for j in range(i)]
    ends = np.array(pairs, np.int64)
    return ends[:, 0], ends[:, 1]


def test_cliques_are_told_apart_though_a_hub_is_tied_to_all() -> None:
    a, b = cliques(4, 8)
    hub = np.full(32, 32)
    groups = find_link_communities(33, np.append(a, hub), np.append(b, np.arange(32)), np.ones(a.size + 32))
    assert len({tuple(sorted(np.flatnonzero(groups == k).tolist())) for k in range(4)}) == 4
    for k in range(4):
        assert len(set(groups[k * 8 : k * 8 + 8].tolist())) == 1


def test_few_go_where_their_ties_lead_and_strays_stand_together() -> None:
    a, b = cliques(2, 8)
    a, b = np.append(a, [16, 17]), np.append(b, [0, 16])  # a tail of two on the first clique
    groups = find_link_communities(20, a, b, np.ones(a.size))
    assert groups[16] == groups[17] == groups[0]
    assert groups[18] == groups[19] not in {groups[0], groups[8]}


@given(st.integers(0, 40), st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=120))
def test_every_node_has_one_community(count: int, pairs: list[tuple[int, int]]) -> None:
    kept = np.array([pair for pair in pairs if max(pair) < count], np.int64).reshape(-1, 2)
    groups = find_link_communities(count, kept[:, 0], kept[:, 1], np.ones(len(kept)))
    assert groups.shape == (count,)
    sizes = np.bincount(groups)
    assert not count or (sizes.min() > 0 and bool((np.diff(sizes) <= 0).all()) and sizes.size <= MOST_COMMUNITIES + 1)
    again = find_link_communities(count, kept[:, 0], kept[:, 1], np.ones(len(kept)))
    assert np.array_equal(groups, again)


def test_the_shortest_paths_come_first_and_of_equal_ones_the_strongest() -> None:
    a, b = np.array([0, 1, 0, 2, 0, 3, 4]), np.array([1, 9, 2, 9, 3, 4, 9])
    strength = np.array([0.2, 0.2, 0.9, 0.9, 1.0, 1.0, 1.0])
    assert find_shortest_paths(a, b, strength, 0, 9, 3, 8) == [[0, 2, 9], [0, 1, 9], [0, 3, 4, 9]]
    assert find_shortest_paths(a, b, strength, 0, 9, 2, 8) == [[0, 2, 9], [0, 1, 9]]
    assert find_shortest_paths(a, b, strength, 0, 9, 3, 1) == []
    assert find_shortest_paths(a, b, strength, 0, 77, 3, 8) == []


@given(st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14)), min_size=1, max_size=40))
def test_paths_follow_edges_and_never_come_back(pairs: list[tuple[int, int]]) -> None:
    ends = np.array([pair for pair in pairs if pair[0] != pair[1]], np.int64).reshape(-1, 2)
    found = find_shortest_paths(ends[:, 0], ends[:, 1], np.ones(len(ends)), 0, 14, 3, 8)
    known = {frozenset(pair) for pair in ends.tolist()}
    for path in found:
        assert (path[0], path[-1]) == (0, 14)
        assert len(set(path)) == len(path)
        assert {frozenset(step) for step in pairwise(path)} <= known
    assert [len(path) for path in found] == sorted(len(path) for path in found)
