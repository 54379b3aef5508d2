"""Reads the whole vault as columns: every entity and memory, what ties them, and the communities they form.

One snapshot is gathered, drawn without the vault, and named from another. Must not do: place anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from core.memory.read import time_of_memory_sql
from core.recall.browse.ego_selection import TYPE_WEIGHT, entity_worth, memory_worth
from core.recall.browse.entity_links import EntityIndex
from core.recall.browse.graph import HAS_STATEMENT, NAMES, SHOWN, ShownMemories, check_filter, wanted_types
from core.recall.browse.links import (
    LinkColumns,
    Links,
    Vectors,
    nearest_pairs,
    read_all_links,
    sample_links,
)
from core.recall.scope import Labels
from core.recall.vectors import SnapshotVectors
from core.score.communities import find_link_communities
from core.text.room_names import TEXTS, RoomTexts, name_rooms
from core.types.entities import EntityLine
from core.types.views import EDGE_TYPES, MEANING, NODE_KINDS, RELATION, GraphFilter, WholeGraph
from core.vault.database.rows import Rows

EDGES_PER_NODE = 3
"""Of the whole vault's edges the strongest are kept, this many a node."""
LEAST_MEMBERS = 6
"""Smaller communities go to the one they are tied to most."""
LEAST_COSINE = 0.45
"""From which on nearness counts for communities, whatever is drawn."""

Number = TypeVar("Number", bound=np.generic)

_NEAREST = 3
_KIND = {name: place for place, name in enumerate(NODE_KINDS)}
_TYPE_WEIGHTS = np.array([TYPE_WEIGHT[name] for name in EDGE_TYPES], np.float32)
_CENTRAL_SHARE, _OWN_SHARE = 0.25, 0.35
_HUB_SHARE = 0.4
"""Of the communities: whoever is tied to more of them is a hub."""
_COLUMNS = (
    f"SELECT m.n, m.id, m.kind, m.trust, {time_of_memory_sql('m')}, m.importance, {HAS_STATEMENT}, {NAMES}, m.space_id "  # noqa: S608 - constants
    "FROM memories m "
)
_SHOWN_NODES = f"{_COLUMNS} WHERE {SHOWN} ORDER BY m.n"
_CHOSEN = f"{_COLUMNS} WHERE m.n IN (SELECT value FROM json_each(:wanted)) ORDER BY m.n"  # noqa: S608 - constants
_TEXTS = (
    f"SELECT m.text, {time_of_memory_sql('m')}, m.conversation_id IS NOT NULL FROM json_each(?) w "  # noqa: S608 - constants
    "JOIN memories m ON m.id = w.value"
)


@dataclass(frozen=True, slots=True)
class GraphRows:
    """What one snapshot tells of the whole vault; nearness is computed from it without the vault.

    Attributes:
        found: rows of `_COLUMNS`.
        entities: label to every entity that may be tied to them.
        links: what stands.
        labels: of `vectors`, ascending.
        vectors: unit rows.
        now_ms: when it was read.
    """

    found: Sequence[tuple[int, str, str, float, int, float, int, int, str]]
    entities: dict[int, EntityLine]
    links: LinkColumns
    labels: Labels
    vectors: Vectors
    now_ms: int


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
    shown, types = ShownMemories(rows, wanted, now_ms), wanted_types(wanted)
    if shown.is_narrowed:
        found = rows.all(_CHOSEN, {"wanted": json.dumps(shown.all_labels().tolist())})
    else:
        hides = {"small": int(wanted.hides_small_talk), "talk": int(wanted.hides_messages)}
        found = rows.all(_SHOWN_NODES, hides)
    labels, vectors = stored.fetch_vectors(sample_links(np.array([row[0] for row in found], np.int64)))
    index = EntityIndex(rows)
    ties = index.all_links(types - {RELATION} if shown.is_narrowed else types)
    ends = {n for link in ties for n in (link.a, link.b) if n <= 0}
    links = _join_columns(read_all_links(rows, types), _columns_of(ties))
    return GraphRows(found, index.lines(ends), links, labels, vectors, now_ms)


def _columns_of(links: Links) -> LinkColumns:
    number = {name: place for place, name in enumerate(EDGE_TYPES)}
    return LinkColumns(
        np.array([link.a for link in links], np.int64),
        np.array([link.b for link in links], np.int64),
        np.array([number[link.type] for link in links], np.int8),
        np.array(list(links.values()), np.float32),
    )


def draw_whole(gathered: GraphRows, wanted: GraphFilter, stopped: Callable[[], bool] = lambda: False) -> WholeGraph:
    """The whole vault as columns.

    Nearness in meaning is exact, three a memory, and bounded: of more than `links.SAMPLE` memories it is computed among
    a part of them, chosen by label, the same each time. It forms communities with all that stands, and is drawn where
    it is wanted. At most `EDGES_PER_NODE` edges a node are kept in all, the strongest.

    Args:
        gathered: from `gather_whole`.
        wanted: the same filter.
        stopped: asked now and then.

    Returns:
        The columns, entities first, then memories in the order of labels; read-only. Communities have no names yet.

    Raises:
        CancelledError: it was stopped.
    """
    links_by_meaning = _links_by_meaning(gathered, min(wanted.min_similarity, LEAST_COSINE), stopped)
    entities = _tied_entities(gathered)
    n = np.array([*entities, *(row[0] for row in gathered.found)], np.int64)
    drawn = (
        _join_columns(gathered.links, _at_least(links_by_meaning, wanted))
        if MEANING in wanted_types(wanted)
        else gathered.links
    )
    a, b, kind, weight = _strongest_edges(n, drawn)
    lines = tuple(gathered.entities[label] for label in entities)
    group = _find_groups(n, _join_columns(gathered.links, links_by_meaning))
    return WholeGraph(
        ids=(*(line.id for line in lines), *(row[1] for row in gathered.found)),
        entities=lines,
        kind=_make_read_only(
            np.array([_KIND[line.type] for line in lines] + [_KIND[row[2]] for row in gathered.found], np.int8)
        ),
        trust=_make_read_only(np.array([1.0] * len(lines) + [row[3] for row in gathered.found], np.float32)),
        said_at=_make_read_only(np.array([0] * len(lines) + [row[4] for row in gathered.found], np.int64)),
        rank=_make_read_only(_rank_nodes(gathered, lines)),
        group=_make_read_only(group),
        group_names=("",) * (int(group.max(initial=-1)) + 1),
        a=_make_read_only(a),
        b=_make_read_only(b),
        edge_type=_make_read_only(kind),
        weight=_make_read_only(weight),
    )


def _tied_entities(gathered: GraphRows) -> list[int]:
    """Entities that are tied to what is shown, or to one that is; ascending."""
    memories = np.array([row[0] for row in gathered.found], np.int64)
    a, b = gathered.links.a, gathered.links.b
    inside_a, inside_b = (a <= 0) | np.isin(a, memories), (b <= 0) | np.isin(b, memories)
    ends = np.concatenate((a[inside_a & inside_b], b[inside_a & inside_b]))
    return [int(label) for label in np.unique(ends[ends <= 0])]


def _rank_nodes(gathered: GraphRows, lines: Sequence[EntityLine]) -> NDArray[np.float32]:
    known = [1.0 + entity_worth(line.type, line.mentions) for line in lines]
    worth = [
        memory_worth(kind, importance, trust, gathered.now_ms - at, names, has_statement=bool(has_statement))
        for _, _, kind, trust, at, importance, has_statement, names, _ in gathered.found
    ]
    return np.array([*known, *worth], np.float32) / np.float32(2)


def _find_groups(n: Labels, links: LinkColumns) -> NDArray[np.int32]:
    inside = np.isin(links.a, n) & np.isin(links.b, n)
    a, b = np.searchsorted(n, links.a[inside]), np.searchsorted(n, links.b[inside])
    weight = links.weight[inside] * _TYPE_WEIGHTS[links.type[inside]]
    return find_link_communities(n.size, a, b, weight, least=LEAST_MEMBERS).astype(np.int32)


def name_groups(rows: Rows, graph: WholeGraph) -> WholeGraph:
    """Give the communities their names: the entity that most of one names, else as rooms of the palace get theirs.

    Args:
        graph: from `draw_whole`.

    Returns:
        The same with names, all different.
    """
    is_hub = _find_hubs(graph)
    hubs = [graph.entities[at].name for at in np.flatnonzero(is_hub).tolist()]
    texts = [_room_texts(rows, graph, number) for number in range(len(graph.group_names))]
    central = [_central_entity(graph, number) for number in range(len(texts))]
    names = [name if name not in central[:number] else "" for number, name in enumerate(central)]
    unnamed = [number for number, name in enumerate(names) if not name]
    found = name_rooms([texts[number] for number in unnamed], [name for name in names if name], speakers=hubs)
    for number, name in zip(unnamed, found, strict=True):
        names[number] = name
    return replace(graph, group_names=tuple(names))


def _find_hubs(graph: WholeGraph) -> NDArray[np.bool_]:
    """Which entities are tied to many communities: their names tell nothing of one."""
    first, count = len(graph.entities), len(graph.group_names)
    ends, others = np.concatenate((graph.a, graph.b)), np.concatenate((graph.b, graph.a))
    pairs = np.unique(ends[ends < first].astype(np.int64) * max(count, 1) + graph.group[others[ends < first]])
    return np.bincount(pairs // max(count, 1), minlength=first)[:first] > max(2.0, _HUB_SHARE * count)


def _central_entity(graph: WholeGraph, number: int) -> str:
    """The entity to which most of a community is tied, and which is tied to little else; "" where none stands out."""
    first = len(graph.entities)
    inside = (graph.group[graph.a] == number) & (graph.group[graph.b] == number)
    ends = np.concatenate((graph.a[inside], graph.b[inside]))
    ties = np.bincount(ends[ends < first], minlength=first)
    both = np.concatenate((graph.a, graph.b))
    ties[ties < _OWN_SHARE * np.bincount(both[both < first], minlength=first)] = 0
    size = int((graph.group == number).sum())
    best = int(np.argmax(ties)) if first else -1
    return graph.entities[best].name if best >= 0 and ties[best] >= max(2, _CENTRAL_SHARE * size) else ""


def _room_texts(rows: Rows, graph: WholeGraph, number: int) -> RoomTexts:
    first = len(graph.entities)
    members = np.flatnonzero(graph.group == number)
    members = members[members >= first]
    best = members[np.argsort(-graph.rank[members], kind="stable")][:TEXTS]
    found = rows.all(_TEXTS, (json.dumps([graph.ids[at] for at in best.tolist()]),))
    talks = sum(bool(row[2]) for row in found)
    return RoomTexts([str(row[0]) for row in found], [int(row[1]) for row in found], 2 * talks > len(found))


def _links_by_meaning(gathered: GraphRows, least: float, stopped: Callable[[], bool]) -> LinkColumns:
    i, j, cosines = nearest_pairs(gathered.vectors, _NEAREST, least, stopped)
    a, b = gathered.labels[i], gathered.labels[j]
    # Likeness of words makes no acquaintance: people of two spaces never met, however alike they talk.
    known = np.array([row[0] for row in gathered.found], np.int64)
    spaces = np.unique([row[8] for row in gathered.found] or [""], return_inverse=True)[1]
    is_inside = spaces[np.searchsorted(known, a)] == spaces[np.searchsorted(known, b)]
    kind = np.full(int(is_inside.sum()), EDGE_TYPES.index(MEANING), np.int8)
    return LinkColumns(a[is_inside], b[is_inside], kind, cosines[is_inside])


def _at_least(links: LinkColumns, wanted: GraphFilter) -> LinkColumns:
    is_close = links.weight >= wanted.min_similarity
    return LinkColumns(links.a[is_close], links.b[is_close], links.type[is_close], links.weight[is_close])


def _join_columns(*parts: LinkColumns) -> LinkColumns:
    return LinkColumns(
        np.concatenate([part.a for part in parts]),
        np.concatenate([part.b for part in parts]),
        np.concatenate([part.type for part in parts]),
        np.concatenate([part.weight for part in parts]),
    )


def _strongest_edges(
    n: Labels, links: LinkColumns
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int8], NDArray[np.float32]]:
    """Ends as places in `n`, type, weight: each edge once, strongest first, at most `EDGES_PER_NODE` a node."""
    inside = np.isin(links.a, n) & np.isin(links.b, n)
    a, b = np.searchsorted(n, links.a[inside]), np.searchsorted(n, links.b[inside])
    kind, weight = links.type[inside], links.weight[inside]
    order = np.lexsort((b, a, kind, -weight * _TYPE_WEIGHTS[kind]))
    key = (a[order] * max(n.size, 1) + b[order]) * len(EDGE_TYPES) + kind[order]
    _, first = np.unique(key, return_index=True)
    kept = order[np.sort(first)][: EDGES_PER_NODE * n.size]
    return a[kept].astype(np.int32), b[kept].astype(np.int32), kind[kept], weight[kept]


def _make_read_only(array: NDArray[Number]) -> NDArray[Number]:
    array.setflags(write=False)
    return array
