"""Communities of memories: what speaks of one thing by its words, its meaning and its conversation, or by its ties.

A graph of memories and the phrases they share, with ties to the nearest in meaning and to the neighbour in the same
conversation; its communities (Louvain; Blondel and others 2008) are topics. The same input always gives the same
outcome. Must not do: name a community, know a room, read a clock or a vault, or compare every pair of a large vault.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.score.centres import Groups, Vectors, mean_directions, nearest_centres

if TYPE_CHECKING:
    import networkx as nx

SAMPLE = 2_000
"""Memories of which the graph is made; the others go to the nearest community by meaning."""
LEAST_MEMBERS = 6
"""Smaller communities go to the nearest."""
MOST_COMMUNITIES = 24
_RESOLUTION = 1.4
_NEIGHBOURS = 6
_LEAST_COSINE = 0.35
_COSINE_TIE = 8.0
_TALK_TIE = 2.0
_PAIR_BONUS = 1.5
_MOST_SHARE = 0.12
"""A phrase in more than this share of all texts tells nothing about its own."""
_MOST_BURST = 2.0
_TIE_BREAK = 8.0
_CROWD = 20.0
_SEED = 20_240_117
_CHUNK = 1_024


@dataclass(frozen=True, slots=True)
class MemoryFeatures:
    """What ties memories together, one entry for each memory, in the order in which they were said.

    Attributes:
        vectors: unit rows, (n, dims).
        phrases: what each speaks of, as keys of `core.text.noun_phrases`; only those of `sample_places` are looked at.
        talks: the conversation of each as a number from 0 on; -1 for none.
    """

    vectors: Vectors
    phrases: Sequence[Collection[tuple[str, ...]]]
    talks: Groups


def sample_places(total: int, sample: int = SAMPLE) -> Groups:
    """Of which memories the graph is made, evenly over all."""
    return np.arange(total) if total <= sample else np.linspace(0, total - 1, sample).astype(np.int64)


def find_communities(
    features: MemoryFeatures, sample: int = SAMPLE, most: int = MOST_COMMUNITIES, least: int = LEAST_MEMBERS
) -> Groups:
    """Divide memories into topics.

    Args:
        sample: memories of which the graph is made.
        most: topics at most.
        least: members; smaller communities go to the nearest.

    Returns:
        The topic of each, numbered from 0 by falling size.
    """
    total = len(features.vectors)
    if total <= 2 * least:
        return np.zeros(total, np.int64)
    import networkx as nx  # a tenth of a second, which no start has to pay that arranges nothing

    chosen = sample_places(total, sample)
    graph = _build_graph(features, chosen)
    found = nx.community.louvain_communities(graph, weight="weight", resolution=_RESOLUTION, seed=_SEED)
    members = [sorted(node for node in one if isinstance(node, int)) for one in found]
    kept = sorted((one for one in members if len(one) >= least), key=lambda one: (-len(one), one))
    kept = kept[:most] or [sorted(chosen.tolist())]
    groups = np.full(total, -1, np.int64)
    for number, one in enumerate(kept):
        groups[one] = number
    return _by_size(_settle_rest(features.vectors, groups, len(kept)))


def _build_graph(features: MemoryFeatures, chosen: Groups) -> nx.Graph[Hashable]:
    import networkx as nx

    graph: nx.Graph[Hashable] = nx.Graph()
    nodes = chosen.tolist()
    graph.add_nodes_from(nodes)
    _tie_phrases(graph, features, nodes)
    _tie_meaning(graph, features.vectors[chosen], nodes)
    for before, after in pairwise(nodes):
        if features.talks[before] >= 0 and features.talks[before] == features.talks[after] and after == before + 1:
            _add_weight(graph, before, after, _TALK_TIE)
    return graph


def _tie_phrases(graph: nx.Graph[Hashable], features: MemoryFeatures, nodes: Sequence[int]) -> None:
    counts = Counter(key for node in nodes for key in features.phrases[node])
    talks: dict[tuple[str, ...], set[int]] = {}
    for node in nodes:
        for key in features.phrases[node]:
            talks.setdefault(key, set()).add(int(features.talks[node]))
    most = max(LEAST_MEMBERS, _MOST_SHARE * len(nodes))
    talk_count = len({int(features.talks[node]) for node in nodes})
    for node in nodes:
        for key in sorted(features.phrases[node]):  # sets of words have another order in every process
            if 2 <= counts[key] <= most:
                weight = math.log(1 + len(nodes) / counts[key]) * _phrase_burst(
                    counts[key], len(talks[key]), talk_count
                )
                graph.add_edge(node, key, weight=weight * (_PAIR_BONUS if len(key) > 1 else 1.0))


def _phrase_burst(count: int, talk_count: int, all_talks: int) -> float:
    """How much a phrase keeps to few conversations: expected conversations, spread evenly, over those that have it."""
    expected = all_talks * (1 - (1 - 1 / all_talks) ** count)
    return min(_MOST_BURST, expected / talk_count)


def _tie_meaning(graph: nx.Graph[Hashable], vectors: Vectors, nodes: Sequence[int]) -> None:
    for low in range(0, len(nodes), _CHUNK):
        near = vectors[low : low + _CHUNK] @ vectors.T
        order = np.argsort(-near, axis=1, kind="stable")[:, : _NEIGHBOURS + 1]
        for row, columns in enumerate(order.tolist()):
            for column in columns:
                cosine = float(near[row, column])
                if column != low + row and cosine > _LEAST_COSINE:
                    _add_weight(graph, nodes[low + row], nodes[column], _COSINE_TIE * (cosine - _LEAST_COSINE))


def _add_weight(graph: nx.Graph[Hashable], one: int, other: int, weight: float) -> None:
    held = graph.get_edge_data(one, other, {"weight": 0.0})["weight"]
    graph.add_edge(one, other, weight=held + weight)


def find_link_communities(
    count: int, a: Groups, b: Groups, weight: NDArray[np.floating], least: int = LEAST_MEMBERS
) -> Groups:
    """Divide the nodes of a graph into communities by their edges.

    What is tied to most of the graph would make one community of it: an edge counts the less the more edges its ends
    have. Of more than `SAMPLE` nodes those with the strongest edges are divided; the others follow what they are tied
    to.

    Args:
        count: of nodes.
        a: one end of each edge, 0 to count - 1.
        b: the other.
        weight: one each, above 0.
        least: members; smaller communities go to the one they are tied to most, and together where they are to none.

    Returns:
        The community of each node, numbered from 0 by falling size; at most `MOST_COMMUNITIES` and one.
    """
    if not count:
        return np.zeros(0, np.int64)
    degree = np.maximum(np.bincount(np.concatenate((a, b)), minlength=count), 1)
    tied = weight / np.sqrt(degree[a] * degree[b])
    total = np.bincount(np.concatenate((a, b)), np.concatenate((tied, tied)), minlength=count)
    chosen = np.sort(np.argsort(-total, kind="stable")[:SAMPLE])
    groups = np.full(count, -1, np.int64)
    for number, members in enumerate(_divide_community(chosen, a, b, tied, least)):
        groups[members] = number
    _follow_ties(groups, a, b, tied)
    groups[groups < 0] = groups.max(initial=-1) + 1
    return _by_size(groups)


def _divide_community(
    chosen: Groups, a: Groups, b: Groups, weight: NDArray[np.floating], least: int
) -> list[list[int]]:
    inside = np.isin(a, chosen) & np.isin(b, chosen) & (a != b)
    if not inside.any():
        return []
    import networkx as nx

    graph: nx.Graph[Hashable] = nx.Graph()
    graph.add_nodes_from(np.unique(np.concatenate((a[inside], b[inside]))).tolist())
    for one, other, tie in zip(a[inside].tolist(), b[inside].tolist(), weight[inside].tolist(), strict=True):
        _add_weight(graph, one, other, tie)
    found = nx.community.louvain_communities(graph, weight="weight", resolution=1.0, seed=_SEED)
    members = [sorted(node for node in one if isinstance(node, int)) for one in found]
    return sorted((one for one in members if len(one) >= least), key=lambda one: (-len(one), one))[:MOST_COMMUNITIES]


def _follow_ties(groups: Groups, a: Groups, b: Groups, weight: NDArray[np.floating]) -> None:
    """Bring nodes without a community into that to which their ties are strongest, as far as ties lead."""
    ends, others, ties = np.concatenate((a, b)), np.concatenate((b, a)), np.concatenate((weight, weight))
    count = int(groups.max(initial=-1)) + 1
    while count:
        open_ = (groups[ends] < 0) & (groups[others] >= 0)
        if not open_.any():
            return
        keys, place = np.unique(ends[open_] * count + groups[others[open_]], return_inverse=True)
        strength = np.bincount(place, ties[open_])
        order = np.lexsort((keys, -strength))
        nodes, first = np.unique(keys[order] // count, return_index=True)
        groups[nodes] = keys[order][first] % count


def find_shortest_paths(
    a: Groups, b: Groups, strength: NDArray[np.floating], start: int, end: int, most: int, longest: int
) -> list[list[int]]:
    """The shortest paths between two nodes of a graph.

    Args:
        a: one end of each edge; `b` the other.
        strength: of each edge, 0 to 1: of equally short paths the strongest comes first.
        start: where they begin; `end` where they end.
        most: how many at most.
        longest: edges of a path at most; none is longer than the shortest by more than one.

    Returns:
        The nodes of each, the shortest first; none where nothing leads there.
    """
    import networkx as nx

    graph: nx.Graph[Hashable] = nx.Graph()
    graph.add_nodes_from((start, end))
    degree = Counter(a.tolist()) + Counter(b.tolist())
    for one, other, tie in zip(a.tolist(), b.tolist(), strength.tolist(), strict=True):
        # Less than a step in all, whatever the path: through what is tied to everything anything is reached.
        crowd = math.log1p(degree[one]) + math.log1p(degree[other])
        graph.add_edge(one, other, weight=1 + (1 - tie + crowd / _CROWD) / (_TIE_BREAK * longest))
    found: list[list[int]] = []
    try:
        for path in nx.shortest_simple_paths(graph, start, end, weight="weight"):
            nodes = [node for node in path if isinstance(node, int)]
            if len(nodes) - 1 > longest or len(found) == most or (found and len(nodes) > len(found[0]) + 1):
                break
            found.append(nodes)
    except nx.NetworkXNoPath:
        return []
    return found


def _settle_rest(vectors: Vectors, groups: Groups, count: int) -> Groups:
    """Bring those without a community into the nearest by meaning."""
    inside = np.flatnonzero(groups >= 0)
    rest = np.flatnonzero(groups < 0)
    if rest.size:
        centres = mean_directions(vectors[inside], groups[inside], count)
        groups[rest] = nearest_centres(vectors[rest], centres)[0]
    return groups


def _by_size(groups: Groups) -> Groups:
    sizes = np.bincount(groups)
    rank = np.empty(len(sizes), np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return rank[groups]
