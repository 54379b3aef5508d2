"""The shortest paths between two nodes of the graph, and where they are drawn: from left to right, one above the other.

Must not do: follow a relation that the filter leaves out, or nearness in meaning unless it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from core.errors import Code, UserError
from core.recall.browse.ego_selection import link_strength
from core.recall.browse.entity_links import EntityIndex
from core.recall.browse.graph import ShownMemories, check_filter, find_node, make_edges, make_nodes, wanted_types
from core.recall.browse.links import OWNER_LABEL, Link, Links, Nearness, read_all_links
from core.recall.vectors import SnapshotVectors
from core.score.communities import find_shortest_paths
from core.types.views import EDGE_TYPES, MEANING, EgoGraph, GraphFilter, GraphPaths
from core.vault.database.rows import Rows

PATHS = 3
"""Paths that are shown at most."""
LONGEST = 8
"""Steps of a path at most: what hangs together by more tells nothing."""


def read_paths(
    rows: Rows, stored: SnapshotVectors, start_id: str, end_id: str, wanted: GraphFilter, now_ms: int
) -> GraphPaths:
    """The shortest paths between two memories or entities.

    Args:
        stored: the vectors of the same snapshot.
        start_id: where they begin; `end_id` where they end.

    Returns:
        Up to `PATHS` paths with their places; of equally short ones those by the strongest relations come first.

    Raises:
        UserError: NOT_FOUND, INVALID_INPUT, or INVALID_QUERY for the filter's search.
    """
    check_filter(wanted)
    index = EntityIndex(rows)
    start, end = find_node(rows, index, start_id), find_node(rows, index, end_id)
    if start == end:
        raise UserError(Code.INVALID_INPUT, "A path leads from one thing to another.")
    links = _read_shown_links(rows, stored, index, {start, end}, wanted, now_ms)
    best = _strongest_by_pair(links)
    a, b = (np.array([pair[end] for pair in best], np.int64) for end in (0, 1))
    strength = np.array([link_strength(link, links[link]) for link in best.values()], np.float64)
    found = find_shortest_paths(a, b, strength, start, end, PATHS, LONGEST)
    nodes = make_nodes(rows, index, {start, end} | {n for path in found for n in path}, now_ms)
    steps = [[best[_ordered_pair(one, other)] for one, other in pairwise(path)] for path in found]
    used = {link: links[link] for path in steps for link in path}
    edges = dict(zip(used, make_edges(used, nodes), strict=True))
    places = place_paths(found or [[start, end]])
    distance = {n: nr for path in reversed(found) for nr, n in enumerate(path)} | {start: 0}
    order = [start, *(n for n in distance if n not in {start, end}), end]
    graph = EgoGraph(
        centre=nodes[start].id,
        nodes=tuple(replace(nodes[n], distance=min(distance.get(n, 1), 3)) for n in order),
        edges=tuple(edges.values()),
        places={nodes[n].id: places[n] for n in order},
        left_out=0,
    )
    return GraphPaths(graph, tuple(tuple(edges[link] for link in path) for path in steps), nodes[end].id)


def _read_shown_links(
    rows: Rows, stored: SnapshotVectors, index: EntityIndex, ends: set[int], wanted: GraphFilter, now_ms: int
) -> Links:
    shown, types = ShownMemories(rows, wanted, now_ms), wanted_types(wanted)
    columns = read_all_links(rows, types)
    lists = (columns.a.tolist(), columns.b.tolist(), columns.type.tolist(), columns.weight.tolist())
    links = {Link(a, b, EDGE_TYPES[kind]): weight for a, b, kind, weight in zip(*lists, strict=True)}
    links |= index.all_links(types)
    if MEANING in types:
        nearness = Nearness(stored, wanted.min_similarity, shown.select_visible, shown.all_labels)
        links |= nearness.nearest_links_around({n for link in links for n in (link.a, link.b) if n > OWNER_LABEL})
    return shown.visible_links(links, ends)


def _ordered_pair(one: int, other: int) -> tuple[int, int]:
    """Two ends in a fixed order."""
    return min(one, other), max(one, other)


def _strongest_by_pair(links: Links) -> dict[tuple[int, int], Link]:
    best: dict[tuple[int, int], Link] = {}
    for link in sorted(links, key=lambda link: (-link_strength(link, links[link]), link.type, link.label, link.a)):
        best.setdefault(_ordered_pair(link.a, link.b), link)
    return best


def place_paths(paths: Sequence[Sequence[int]]) -> Mapping[int, tuple[float, float]]:
    """Places of the nodes of paths: the start left, the end right, each path on a line of its own between them.

    Args:
        paths: at least one; all from the same node to the same other one.

    Returns:
        Node to x and y within -1 to 1.
    """
    lines = np.linspace(-0.6, 0.6, len(paths)) if len(paths) > 1 else np.zeros(1)
    found: dict[int, tuple[float, float]] = {}
    for path, y in zip(paths, lines.tolist(), strict=True):
        for nr, n in enumerate(path):
            found.setdefault(n, (2 * nr / (len(path) - 1) - 1, y))
    return found | {paths[0][0]: (-1.0, 0.0), paths[0][-1]: (1.0, 0.0)}
