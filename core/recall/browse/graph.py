"""Reads what is drawn of the graph of memories: what lies round one of them, and the whole vault as columns.

Round one memory: breadth first, strongest links first, hubs folded, within a cap. Must not do: place anything (the
engine's layouts do), or show what the filter leaves out, but for the centre.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from core.errors import Code, UserError
from core.memory.read import said_at_sql
from core.recall.browse.library import find_rows, read_rows
from core.recall.browse.links import (
    Link,
    LinkColumns,
    Links,
    Nearness,
    Vectors,
    nearest_pairs,
    read_all_links,
    read_links_around,
    sample_links,
)
from core.recall.scope import Labels
from core.recall.vectors import SnapshotVectors
from core.types.values import Kind, Status
from core.types.views import EDGE_TYPES, MEANING, EgoGraph, FindRequest, GraphEdge, GraphFilter, GraphNode, WholeGraph
from core.vault.database.rows import Rows, parse_labels

KEPT = 12
"""Links that a memory keeps for its own part; a neighbour may keep one more to it."""
HUB = 25
"""A memory with more neighbours than this is folded: only the links it keeps itself are drawn."""

_RANK = {name: place for place, name in enumerate(EDGE_TYPES)}


@dataclass(frozen=True, slots=True)
class EgoSelection:
    """What is drawn.

    Attributes:
        distance: label to links from the centre, the centre first, then by distance and strength.
        links: those between drawn memories, strongest first.
        folded: label to how many of its neighbours are not drawn; only of memories whose neighbours were looked for.
        left_out: neighbours that were found and not drawn.
    """

    distance: Mapping[int, int]
    links: Links
    folded: Mapping[int, int]
    left_out: int


def select_ego(
    centre: int,
    depth: int,
    cap: int,
    look: Callable[[Sequence[int], Collection[int]], Links],
    among: Callable[[Collection[int]], Links],
) -> EgoSelection:
    """Choose what is drawn.

    A memory with up to `HUB` neighbours brings all of them, a hub those of its `KEPT` strongest links. Of each round
    the strongest come first until the cap is reached. A link is drawn where one of its ends keeps it among its `KEPT`
    strongest to drawn memories, unless the other end is a hub that does not; it never skips a distance.

    Args:
        centre: its label.
        depth: links from the centre, 1 or more.
        cap: memories at most, the centre among them; 1 or more.
        look: everything that may be drawn and touches some labels, given them and what is drawn already.
        among: all links among some labels.

    Returns:
        What is drawn; connected, the same for the same links.
    """
    distance, parents = {centre: 0}, dict[int, Link]()
    near: dict[int, Links] = {}
    frontier = [centre]
    for step in range(1, depth + 1):
        near.update(_by_end(look(frontier, distance.keys()), frontier))
        offers = _reachable_memories(frontier, near, parents, distance)
        admitted = sorted(offers, key=lambda n: (_order_key(*offers[n]), n))[: max(0, cap - len(distance))]
        for n in admitted:
            distance[n], parents[n] = step, offers[n][0]
        frontier = admitted
        if not frontier or len(distance) >= cap:
            break
    looked = {n: {link.other_end(n) for link in links} for n, links in near.items()}
    rest = [n for n in distance if n not in near]
    if rest:
        near.update(_by_end(among(distance.keys()), rest))
    gone = {n: others - distance.keys() for n, others in looked.items()}
    return EgoSelection(
        distance=distance,
        links=_choose_links(near, parents, distance),
        folded={n: len(others) for n, others in gone.items()},
        left_out=len(set[int]().union(*gone.values())),
    )


def _by_end(links: Links, ends: Iterable[int]) -> dict[int, Links]:
    near: dict[int, Links] = {n: {} for n in ends}
    for link, weight in links.items():
        for n in (link.a, link.b):
            if n in near:
                near[n][link] = weight
    return near


def _order_key(link: Link, weight: float) -> tuple[float, int, int, int]:
    return -weight, _RANK[link.type], link.a, link.b


def _strongest_links(links: Links, parent: Link | None) -> list[Link]:
    """The links a memory keeps; that by which it was reached comes first."""
    return sorted(links, key=lambda link: (link != parent, _order_key(link, links[link])))[:KEPT]


def _is_hub(n: int, links: Links) -> bool:
    return len({link.other_end(n) for link in links}) > HUB


def _reachable_memories(
    frontier: Iterable[int], near: Mapping[int, Links], parents: Mapping[int, Link], drawn: Collection[int]
) -> dict[int, tuple[Link, float]]:
    """Undrawn memory to the strongest link by which it could be reached."""
    offers: dict[int, tuple[Link, float]] = {}
    for n in frontier:
        links = near[n]
        for link in _strongest_links(links, parents.get(n)) if _is_hub(n, links) else links:
            other, offer = link.other_end(n), (link, links[link])
            if other not in drawn and (other not in offers or _order_key(*offer) < _order_key(*offers[other])):
                offers[other] = offer
    return offers


def _choose_links(near: Mapping[int, Links], parents: Mapping[int, Link], distance: Mapping[int, int]) -> Links:
    hubs = {n for n, links in near.items() if _is_hub(n, links)}
    kept: dict[int, set[Link]] = {}
    for n, links in near.items():
        layered = {
            link: weight
            for link, weight in links.items()
            if link.other_end(n) in distance and abs(distance[link.other_end(n)] - distance[n]) <= 1
        }
        kept[n] = set(_strongest_links(layered, parents.get(n)))
    found: Links = {}
    for n, keeping in kept.items():
        for link in keeping:
            other = link.other_end(n)
            if other not in hubs or link in kept[other]:
                found[link] = near[n][link]
    return dict(sorted(found.items(), key=lambda item: _order_key(*item)))


MAX_DEPTH = 3
MAX_CAP = 1000
"""Our choice: past it the layout takes more than a second and nobody can read the picture."""
EDGES_PER_NODE = 3
"""Of the whole vault's edges the strongest are kept, this many a memory."""

Number = TypeVar("Number", bound=np.generic)

_STANDING = ("active", "disputed")
# What no longer stands is drawn next to what took its place, and nowhere else.
_REPLACED = frozenset({"superseded", "consolidated"})
_REPLACING = frozenset({"supersedes", "derived_from"})
_NEAREST = 3
_KIND = {kind.value: place for place, kind in enumerate(Kind)}
_SMALL = "EXISTS (SELECT 1 FROM readings t WHERE t.memory_id = m.id AND t.small_talk = 1)"
_STATUSES = (
    f"SELECT m.n, CASE WHEN :hides AND {_SMALL} THEN 'small_talk' ELSE m.status END FROM memories m "  # noqa: S608
    "WHERE m.n IN (SELECT value FROM json_each(:labels))"
)
_LABELS = "SELECT group_concat(n) FROM memories WHERE id IN (SELECT value FROM json_each(?))"
_IDS = "SELECT n, id FROM memories WHERE n IN (SELECT value FROM json_each(?))"
_ALL_STANDING = (
    "SELECT group_concat(m.n) FROM memories m WHERE m.status IN ('active', 'disputed') "  # noqa: S608 - constants
    f"AND NOT (:hides AND {_SMALL})"
)
_COLUMNS = (
    f"SELECT m.n, m.id, m.kind, m.trust, {said_at_sql('m')}, coalesce(p.room_id, m.space_id), "  # noqa: S608 - constants
    "coalesce(r.name, s.name) FROM memories m JOIN spaces s ON s.id = m.space_id "
    "LEFT JOIN places p ON p.memory_id = m.id LEFT JOIN rooms r ON r.id = p.room_id "
    f"WHERE m.status IN ('active', 'disputed') AND NOT (:hides AND {_SMALL}) ORDER BY m.n"
)
_COLUMNS_OF = _COLUMNS.replace("m.status IN ('active', 'disputed')", "m.n IN (SELECT value FROM json_each(:wanted))")


def check_filter(wanted: GraphFilter) -> None:
    """Refuse a filter that makes no sense.

    Args:
        wanted: what shall be shown; its query is read later.

    Raises:
        UserError: INVALID_INPUT.
    """
    if not 0 <= wanted.min_similarity <= 1:
        raise UserError(Code.INVALID_INPUT, "Similarity is a number from 0 to 1.")
    unknown = set(wanted.edge_types or ()) - set(EDGE_TYPES)
    if unknown:
        raise UserError(Code.INVALID_INPUT, f"An edge is one of {', '.join(EDGE_TYPES)}.")


def _wanted_types(wanted: GraphFilter) -> frozenset[str]:
    return frozenset(EDGE_TYPES if wanted.edge_types is None else wanted.edge_types)


class _Shown:
    """Which memories a filter lets through, in one snapshot."""

    def __init__(self, rows: Rows, wanted: GraphFilter, now_ms: int) -> None:
        self._rows = rows
        self._hides = int(wanted.hides_small_talk)
        self._every: Labels | None = None
        self._status: dict[int, str] = {}
        self.is_narrowed = bool(wanted.query.strip())
        if self.is_narrowed:
            ids = find_rows(rows, FindRequest(wanted.query), now_ms)
            self._every = np.sort(parse_labels(rows.value(_LABELS, (json.dumps(ids),))))

    def all_labels(self) -> Labels:
        """All of them, ascending."""
        if self._every is None:
            self._every = np.sort(parse_labels(self._rows.value(_ALL_STANDING, {"hides": self._hides})))
        return self._every

    def select_visible(self, labels: Labels) -> Labels:
        """Those of some labels."""
        if self.is_narrowed:
            return np.intersect1d(labels, self.all_labels())
        self._read_statuses(labels.tolist())
        standing = [n for n in labels.tolist() if self._status[n] in _STANDING]
        return np.array(sorted(standing), np.int64)

    def visible_links(self, links: Links, drawn: Collection[int]) -> Links:
        """The links between what is drawn already and what may be."""
        ends = {n for link in links for n in (link.a, link.b)} - set(drawn)
        may = set(self.select_visible(np.array(sorted(ends), np.int64)).tolist()) | set(drawn)
        replaced = set() if self.is_narrowed else {n for n in ends if self._status[n] in _REPLACED}
        return {
            link: weight
            for link, weight in links.items()
            if all(n in may or (n in replaced and link.type in _REPLACING) for n in (link.a, link.b))
        }

    def _read_statuses(self, labels: Sequence[int]) -> None:
        unknown = [n for n in labels if n not in self._status]
        if unknown:
            params = {"labels": json.dumps(unknown), "hides": self._hides}
            self._status |= dict(self._rows.all(_STATUSES, params))
            self._status |= {n: Status.DELETED.value for n in unknown if n not in self._status}


def read_ego(
    rows: Rows, stored: SnapshotVectors, memory_id: str, depth: int, cap: int, wanted: GraphFilter, now_ms: int
) -> EgoGraph:
    """What lies round one memory, without places.

    With an empty query what stands is shown, and beside it, along `supersedes` and `derived_from`, what it replaced.

    Args:
        stored: the vectors of the same snapshot.
        memory_id: the centre; it always shows.
        depth: edges from the centre, 1 to `MAX_DEPTH`.
        cap: memories at most, the centre among them, 1 to `MAX_CAP`.

    Returns:
        The graph; `places` is empty.

    Raises:
        UserError: NOT_FOUND, INVALID_INPUT, or INVALID_QUERY for the filter's search.
    """
    check_filter(wanted)
    if not (1 <= depth <= MAX_DEPTH and 1 <= cap <= MAX_CAP):
        raise UserError(Code.INVALID_INPUT, f"Depth is 1 to {MAX_DEPTH}, and at most {MAX_CAP} memories are drawn.")
    centre = rows.value("SELECT n FROM memories WHERE id = ?", (memory_id,))
    if centre is None:
        raise UserError(Code.NOT_FOUND, "There is no such memory.")
    shown, types = _Shown(rows, wanted, now_ms), _wanted_types(wanted)
    near = Nearness(stored, wanted.min_similarity, shown.select_visible, shown.all_labels)

    def links_around(labels: Sequence[int], drawn: Collection[int]) -> Links:
        links = read_links_around(rows, labels, types)
        if MEANING in types:
            links |= near.nearest_links_around(labels)
        return shown.visible_links(links, drawn)

    def links_among(labels: Collection[int]) -> Links:
        links = read_links_around(rows, labels, types)
        inside = {link: weight for link, weight in links.items() if link.a in labels and link.b in labels}
        return inside | near.nearest_links_among(labels) if MEANING in types else inside

    picked = select_ego(int(centre), depth, cap, links_around, links_among)
    ids: dict[int, str] = dict(rows.all(_IDS, (json.dumps(list(picked.distance)),)))
    light = {row.n: row for row in read_rows(rows, list(ids.values()), now_ms)}
    return EgoGraph(
        centre=memory_id,
        nodes=tuple(GraphNode(light[n], far, picked.folded.get(n, 0)) for n, far in picked.distance.items()),
        edges=tuple(GraphEdge(ids[e.a], ids[e.b], e.type, weight) for e, weight in picked.links.items()),
        places={},
        left_out=picked.left_out,
    )


@dataclass(frozen=True, slots=True)
class GraphRows:
    """What one snapshot tells of the whole vault; nearness is computed from it without the vault.

    Attributes:
        found: rows of `_COLUMNS`.
        links: what stands.
        labels: of `vectors`, ascending.
        vectors: unit rows.
    """

    found: Sequence[tuple[int, str, str, float, int, str, str]]
    links: LinkColumns
    labels: Labels
    vectors: Vectors


def gather_whole(rows: Rows, stored: SnapshotVectors, wanted: GraphFilter, now_ms: int) -> GraphRows:
    """Read everything that `draw_whole` is made of.

    Args:
        stored: the vectors of the same snapshot.

    Returns:
        The rows, the links that stand, and the vectors of at most `links.SAMPLE` memories.

    Raises:
        UserError: INVALID_INPUT, or INVALID_QUERY for the filter's search.
    """
    check_filter(wanted)
    shown, types = _Shown(rows, wanted, now_ms), _wanted_types(wanted)
    if shown.is_narrowed:
        found = rows.all(_COLUMNS_OF, {"wanted": json.dumps(shown.all_labels().tolist()), "hides": 0})
    else:
        found = rows.all(_COLUMNS, {"hides": int(wanted.hides_small_talk)})
    chosen = np.array([row[0] for row in found] if MEANING in types else [], np.int64)
    labels, vectors = stored.fetch_vectors(sample_links(chosen))
    return GraphRows(found, read_all_links(rows, types), labels, vectors)


def draw_whole(gathered: GraphRows, wanted: GraphFilter, stopped: Callable[[], bool] = lambda: False) -> WholeGraph:
    """The whole vault as columns.

    Nearness in meaning is exact, three a memory, and bounded: of more than `links.SAMPLE` memories it is computed among
    a part of them, chosen by label, the same each time. At most `EDGES_PER_NODE` edges a memory are kept in all, the
    strongest.

    Args:
        gathered: from `gather_whole`.
        wanted: the same filter.
        stopped: asked now and then.

    Returns:
        The columns, in the order of labels; read-only.

    Raises:
        CancelledError: it was stopped.
    """
    found = gathered.found
    n = np.array([row[0] for row in found], np.int64)
    links = _join_columns(gathered.links, _links_by_meaning(gathered, wanted, stopped))
    a, b, kind, weight = _strongest_edges(n, links)
    groups: dict[str, int] = {}
    names: list[str] = []
    for row in found:
        if groups.setdefault(row[5], len(names)) == len(names):
            names.append(row[6])
    return WholeGraph(
        ids=tuple(row[1] for row in found),
        kind=_make_read_only(np.array([_KIND[row[2]] for row in found], np.int8)),
        trust=_make_read_only(np.array([row[3] for row in found], np.float32)),
        said_at=_make_read_only(np.array([row[4] for row in found], np.int64)),
        group=_make_read_only(np.array([groups[row[5]] for row in found], np.int32)),
        group_names=tuple(names),
        a=_make_read_only(a),
        b=_make_read_only(b),
        edge_type=_make_read_only(kind),
        weight=_make_read_only(weight),
    )


def _links_by_meaning(gathered: GraphRows, wanted: GraphFilter, stopped: Callable[[], bool]) -> LinkColumns:
    i, j, cosines = nearest_pairs(gathered.vectors, _NEAREST, wanted.min_similarity, stopped)
    kind = np.full(i.size, EDGE_TYPES.index(MEANING), np.int8)
    return LinkColumns(gathered.labels[i], gathered.labels[j], kind, cosines)


def _join_columns(one: LinkColumns, other: LinkColumns) -> LinkColumns:
    return LinkColumns(
        np.concatenate((one.a, other.a)),
        np.concatenate((one.b, other.b)),
        np.concatenate((one.type, other.type)),
        np.concatenate((one.weight, other.weight)),
    )


def _strongest_edges(
    n: Labels, links: LinkColumns
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int8], NDArray[np.float32]]:
    """Ends as places in `n`, type, weight: each edge once, strongest first, at most `EDGES_PER_NODE` a memory."""
    inside = np.isin(links.a, n) & np.isin(links.b, n)
    a, b = np.searchsorted(n, links.a[inside]), np.searchsorted(n, links.b[inside])
    kind, weight = links.type[inside], links.weight[inside]
    order = np.lexsort((b, a, kind, -weight))
    key = (a[order] * max(n.size, 1) + b[order]) * len(EDGE_TYPES) + kind[order]
    _, first = np.unique(key, return_index=True)
    kept = order[np.sort(first)][: EDGES_PER_NODE * n.size]
    return a[kept].astype(np.int32), b[kept].astype(np.int32), kind[kept], weight[kept]


def _make_read_only(array: NDArray[Number]) -> NDArray[Number]:
    array.setflags(write=False)
    return array
