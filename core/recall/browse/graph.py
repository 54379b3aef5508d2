"""Reads what lies round one memory or entity: its best neighbours, hubs folded, within a cap.

Must not do: place anything (the engine's layouts do), or show what the filter leaves out, but for the centre.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.errors import Code, UserError
from core.memory.read import SMALL_TALK, time_of_memory_sql
from core.recall.browse.ego_selection import EgoSelection, entity_worth, link_strength, memory_worth, select_ego
from core.recall.browse.entity_links import EntityIndex
from core.recall.browse.library import find_library_rows, read_memory_rows
from core.recall.browse.links import OWNER_LABEL, Links, Nearness, read_links_around
from core.recall.scope import Labels
from core.recall.vectors import SnapshotVectors
from core.score.communities import find_link_communities
from core.types.values import Status
from core.types.views import (
    EDGE_TYPES,
    MEANING,
    RELATION,
    USUAL_TYPES,
    EgoGraph,
    FindRequest,
    GraphEdge,
    GraphFilter,
    GraphNode,
)
from core.vault.database.rows import Rows, parse_labels

MAX_DEPTH = 3
MAX_CAP = 1000
"""Our choice: past it the layout takes more than a second and nobody can read the picture."""
LEAST_TINTED = 3
"""Nodes of one community round a centre from which on it is told apart."""

_VISIBLE = ("active", "disputed")
# What no longer stands is drawn next to what took its place, and nowhere else.
_REPLACED = frozenset({"superseded", "consolidated"})
_REPLACING = frozenset({"supersedes", "derived_from"})
READ_MESSAGE = (
    "(m.kind = 'episode' AND m.conversation_id IS NOT NULL "
    "AND EXISTS (SELECT 1 FROM readings t WHERE t.memory_id = m.id))"
)
"""Whether memory `m` is a message from which statements were made, or none could be."""
HAS_STATEMENT = "EXISTS (SELECT 1 FROM statements s WHERE s.episode_id = m.id)"
"""Whether a statement says what memory `m` says."""
_STATUSES = (
    f"SELECT m.n, CASE WHEN :small AND {SMALL_TALK} THEN 'small_talk' "  # noqa: S608 - constants
    f"WHEN :talk AND {READ_MESSAGE} THEN 'message' ELSE m.status END FROM memories m "
    "WHERE m.n IN (SELECT value FROM json_each(:labels))"
)
NAMES = (
    "(SELECT count(DISTINCT n.entity_id) FROM mentions n WHERE n.memory_id = m.id) "
    "+ EXISTS (SELECT 1 FROM statements s WHERE s.memory_id = m.id AND s.about = 'You')"
)
"""How many entities memory `m` is about or names; whom a statement of the owner's is about is written so, too."""
_WORTHS = (
    f"SELECT m.n, m.kind, m.importance, m.trust, {time_of_memory_sql('m')}, {HAS_STATEMENT}, {NAMES} FROM memories m "  # noqa: S608 - constants
    "WHERE m.n IN (SELECT value FROM json_each(?))"
)
_LABELS = "SELECT group_concat(n) FROM memories WHERE id IN (SELECT value FROM json_each(?))"
_IDS = "SELECT n, id FROM memories WHERE n IN (SELECT value FROM json_each(?))"
SHOWN = f"m.status IN ('active', 'disputed') AND NOT (:small AND {SMALL_TALK}) AND NOT (:talk AND {READ_MESSAGE})"
"""Which `memories m` the graph shows without a search; `:small` and `:talk` hide small talk and read messages."""
_ALL_SHOWN = f"SELECT group_concat(m.n) FROM memories m WHERE {SHOWN}"  # noqa: S608 - constants


def check_filter(wanted: GraphFilter) -> None:
    """Refuse a filter of the graph that makes no sense.

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


def wanted_types(wanted: GraphFilter) -> frozenset[str]:
    """The types of edges that a filter of the graph lets through."""
    return frozenset(USUAL_TYPES if wanted.edge_types is None else wanted.edge_types)


class ShownMemories:
    """Which memories a filter lets through, in one snapshot.

    Attributes:
        is_narrowed: whether the filter has a search; else all that stands is shown.
    """

    def __init__(self, rows: Rows, wanted: GraphFilter, now_ms: int) -> None:
        self._rows = rows
        self._hides = {"small": int(wanted.hides_small_talk), "talk": int(wanted.hides_messages)}
        self._hides_outdated = wanted.hides_outdated
        self._every: Labels | None = None
        self._status: dict[int, str] = {}
        self.is_narrowed = bool(wanted.query.strip())
        if self.is_narrowed:
            ids = find_library_rows(rows, FindRequest(wanted.query), now_ms)
            self._every = np.sort(parse_labels(rows.value(_LABELS, (json.dumps(ids),))))

    def all_labels(self) -> Labels:
        """All of them, ascending."""
        if self._every is None:
            self._every = np.sort(parse_labels(self._rows.value(_ALL_SHOWN, self._hides)))
        return self._every

    def select_visible(self, labels: Labels) -> Labels:
        """Those of some labels."""
        if self.is_narrowed:
            return np.intersect1d(labels, self.all_labels())
        self._read_statuses(labels.tolist())
        visible = [n for n in labels.tolist() if self._status[n] in _VISIBLE]
        return np.array(sorted(visible), np.int64)

    def visible_links(self, links: Links, drawn: Collection[int]) -> Links:
        """The links between what is drawn already and what may be; an entity may always be."""
        ends = {n for link in links for n in (link.a, link.b) if n > OWNER_LABEL} - set(drawn)
        may = set(self.select_visible(np.array(sorted(ends), np.int64)).tolist()) | set(drawn)
        is_over = not (self.is_narrowed or self._hides_outdated)
        replaced = {n for n in ends if self._status[n] in _REPLACED} if is_over else set()
        return {
            link: weight
            for link, weight in links.items()
            if all(
                n <= OWNER_LABEL or n in may or (n in replaced and link.type in _REPLACING) for n in (link.a, link.b)
            )
            and not (self.is_narrowed and link.type == RELATION)
        }

    def _read_statuses(self, labels: Sequence[int]) -> None:
        unknown = [n for n in labels if n not in self._status]
        if unknown:
            params = {**self._hides, "labels": json.dumps(unknown)}
            self._status |= dict(self._rows.all(_STATUSES, params))
            self._status |= {n: Status.DELETED.value for n in unknown if n not in self._status}


def find_node(rows: Rows, index: EntityIndex, node_id: str) -> int:
    """The label of the node for a memory or an entity.

    Raises:
        UserError: NOT_FOUND.
    """
    label = index.find_label(node_id)
    label = rows.value("SELECT n FROM memories WHERE id = ?", (node_id,)) if label is None else label
    if label is None:
        raise UserError(Code.NOT_FOUND, "There is no such memory or entity.")
    return int(label)


def read_ego(
    rows: Rows, stored: SnapshotVectors, node_id: str, depth: int, cap: int, wanted: GraphFilter, now_ms: int
) -> EgoGraph:
    """What lies round one memory or entity, without places.

    With an empty query what stands is shown, and beside it, along `supersedes` and `derived_from`, what it replaced.

    Args:
        stored: the vectors of the same snapshot.
        node_id: the centre; it always shows.
        depth: edges from the centre, 1 to `MAX_DEPTH`.
        cap: nodes at most, the centre among them, 1 to `MAX_CAP`.

    Returns:
        The graph; `places` is empty.

    Raises:
        UserError: NOT_FOUND, INVALID_INPUT, or INVALID_QUERY for the filter's search.
    """
    check_filter(wanted)
    if not (1 <= depth <= MAX_DEPTH and 1 <= cap <= MAX_CAP):
        raise UserError(Code.INVALID_INPUT, f"Depth is 1 to {MAX_DEPTH}, and at most {MAX_CAP} nodes are drawn.")
    index = EntityIndex(rows)
    centre = find_node(rows, index, node_id)
    shown, types = ShownMemories(rows, wanted, now_ms), wanted_types(wanted)
    nearness = Nearness(stored, wanted.min_similarity, shown.select_visible, shown.all_labels)

    def links_around(labels: Sequence[int], drawn: Collection[int]) -> Links:
        memories = [n for n in labels if n > OWNER_LABEL]
        links = read_links_around(rows, memories, types) | index.links_around(set(labels), types)
        if MEANING in types:
            links |= nearness.nearest_links_around(memories)
        return shown.visible_links(links, drawn)

    def links_among(labels: Collection[int]) -> Links:
        memories = [n for n in labels if n > OWNER_LABEL]
        links = read_links_around(rows, memories, types) | index.links_around(labels, types)
        inside = {link: weight for link, weight in links.items() if link.a in labels and link.b in labels}
        return inside | nearness.nearest_links_among(memories) if MEANING in types else inside

    def worth_of(labels: Collection[int]) -> Mapping[int, float]:
        return read_worths(rows, index, labels, now_ms)

    picked = select_ego(centre, depth, cap, links_around, links_among, worth_of)
    nodes = make_nodes(rows, index, picked.distance, now_ms)
    communities = _find_communities(
        picked, nearness.nearest_links_among([n for n in picked.distance if n > OWNER_LABEL])
    )
    return EgoGraph(
        centre=nodes[centre].id,
        nodes=tuple(
            replace(nodes[n], distance=far, folded=picked.folded.get(n, 0), community=communities.get(n, -1))
            for n, far in picked.distance.items()
        ),
        edges=make_edges(picked.links, nodes),
        places={},
        left_out=picked.left_out,
    )


def read_worths(rows: Rows, index: EntityIndex, labels: Collection[int], now_ms: int) -> dict[int, float]:
    """How much each node of the graph (a memory, an entity) counts by itself.

    Args:
        labels: of memories and entities.
        now_ms: the present, epoch ms.

    Returns:
        Label to 0 to 1.
    """
    ids = json.dumps([n for n in labels if n > OWNER_LABEL])
    found = {
        int(n): memory_worth(kind, importance, trust, now_ms - at, names, has_statement=bool(has_statement))
        for n, kind, importance, trust, at, has_statement, names in rows.all(_WORTHS, (ids,))
    }
    lines = index.lines(n for n in labels if n <= OWNER_LABEL)
    return found | {n: entity_worth(line.type, line.mentions) for n, line in lines.items()}


def make_nodes(rows: Rows, index: EntityIndex, labels: Collection[int], now_ms: int) -> dict[int, GraphNode]:
    """Nodes of labels, each with its memory's light row or its entity.

    Args:
        labels: of memories and entities.
        now_ms: the present, epoch ms; for strength.
    """
    ids: dict[int, str] = dict(rows.all(_IDS, (json.dumps([n for n in labels if n > OWNER_LABEL]),)))
    found = {row.n: GraphNode(row) for row in read_memory_rows(rows, list(ids.values()), now_ms)}
    lines = index.lines(n for n in labels if n <= OWNER_LABEL)
    return found | {n: GraphNode(None, line) for n, line in lines.items()}


def make_edges(links: Links, nodes: Mapping[int, GraphNode]) -> tuple[GraphEdge, ...]:
    """Edges between nodes of the graph.

    Args:
        links: between labels of `nodes`.
    """
    return tuple(GraphEdge(nodes[e.a].id, nodes[e.b].id, e.type, weight, e.label) for e, weight in links.items())


def _find_communities(picked: EgoSelection, links_by_meaning: Links) -> dict[int, int]:
    """Communities among the neighbours of the centre, which belongs to none: everything hangs on it.

    Args:
        links_by_meaning: nearness in meaning among them, whether it is drawn or not.
    """
    labels = list(picked.distance)[1:]
    place = {n: nr for nr, n in enumerate(labels)}
    links = [item for item in (links_by_meaning | picked.links).items() if item[0].a in place and item[0].b in place]
    a, b = (np.array([place[getattr(link, end)] for link, _ in links], np.int64) for end in ("a", "b"))
    weight = np.array([link_strength(link, weight) for link, weight in links], np.float64)
    groups = find_link_communities(len(labels), a, b, weight, least=LEAST_TINTED)
    tied = set(a.tolist()) | set(b.tolist())
    return {n: int(groups[nr]) for n, nr in place.items() if nr in tied}
