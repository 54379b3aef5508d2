"""Chooses what is drawn round one node: the best neighbours by relation, worth and distance, within a cap.

Must not do: read anything itself; it is told what touches what, and what each node is worth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.recall.browse.links import OWNER_LABEL, Link, Links
from core.types.values import Kind
from core.types.views import ABOUT, CONVERSATION, EDGE_TYPES, MEANING, MENTIONS, PART, RELATION, SAYS

KEPT = 12
"""Links that a node keeps for its own part; a neighbour may keep one more to it."""
HUB = 25
"""A node with more neighbours than this is folded unless it is the centre: only the links it keeps itself are drawn."""
TYPE_WEIGHT: Mapping[str, float] = dict.fromkeys(EDGE_TYPES, 0.8) | {
    RELATION: 1.0, ABOUT: 1.0, "contradicts": 1.0, "supersedes": 0.9, MENTIONS: 0.8, SAYS: 0.55, PART: 0.5,
    CONVERSATION: 0.35, MEANING: 0.6,
}  # fmt: skip
"""Our choice: how much a relation of each type counts beside the others."""
MEMORY_SHARE = 0.6
"""Our choice: of the nodes that are drawn so many are memories as long as there are entities for the rest."""
STEP = 0.7
"""Our choice: how much less a node counts with each further edge from the centre."""

ENTITY_WEIGHT: Mapping[str, float] = {"technology": 0.8, "file": 0.7, "service": 0.7, "concept": 0.6, "other": 0.6}
"""Our choice: how much an entity of each type counts; people, places, projects and works count in full."""
EPISODE, EPISODE_WITH_STATEMENT = 0.45, 0.2
"""Our choice: how much a message or note counts beside a fact, and one that a statement tells already."""
_WELL_KNOWN = 20
_YEAR_MS = 365 * 86_400_000

_RANK = {name: place for place, name in enumerate(EDGE_TYPES)}


@dataclass(frozen=True, slots=True)
class EgoSelection:
    """What is drawn.

    Attributes:
        distance: label to links from the centre, the centre first, then by distance and score.
        links: those between drawn nodes, strongest first.
        folded: label to how many of its neighbours are not drawn; only of nodes whose neighbours were looked for.
        left_out: neighbours that were found and not drawn.
    """

    distance: Mapping[int, int]
    links: Links
    folded: Mapping[int, int]
    left_out: int


@dataclass(frozen=True, slots=True)
class _Offer:
    """How a node could be reached: by which link of what weight, in how many steps, and what it scores so."""

    link: Link
    weight: float
    distance: int
    score: float


def memory_worth(kind: str, importance: float, trust: float, age_ms: int, names: int, *, has_statement: bool) -> float:
    """How much a memory counts by itself: kind, importance, trust, recency.

    Args:
        kind: its kind.
        importance: 0 to 1; `trust` likewise.
        age_ms: since it was said, milliseconds.
        names: entities that it is about or names: what ties two things says more than what tells of one.
        has_statement: whether a statement says what it says.

    Returns:
        0 to 1.
    """
    weight = 1.0 if kind != Kind.EPISODE.value else EPISODE_WITH_STATEMENT if has_statement else EPISODE
    recency = 0.75 + 0.25 * math.exp(-max(age_ms, 0) / _YEAR_MS)
    tying = 1.0 if names > 1 else 0.75
    return weight * tying * (0.55 + 0.45 * importance) * (0.6 + 0.4 * trust) * recency


def entity_worth(kind: str, mentions: int) -> float:
    """How much an entity counts by itself.

    Args:
        kind: its type.
        mentions: memories that name it.

    Returns:
        0 to 1.
    """
    known = min(1.0, math.log1p(mentions) / math.log1p(_WELL_KNOWN))
    return ENTITY_WEIGHT.get(kind, 1.0) * (0.6 + 0.4 * known)


def link_strength(link: Link, weight: float) -> float:
    """How much a link counts: its weight by what its type is worth.

    Args:
        weight: 0 to 1.
    """
    return TYPE_WEIGHT[link.type] * weight


def select_ego(
    centre: int,
    depth: int,
    cap: int,
    look: Callable[[Sequence[int], Collection[int]], Links],
    among: Callable[[Collection[int]], Links],
    worth: Callable[[Collection[int]], Mapping[int, float]],
) -> EgoSelection:
    """Choose what is drawn.

    A node scores what its link from the node before is worth, times its own worth, times that node's score, less with
    each step; the best are drawn until the cap is reached. A hub other than the centre brings no more than its `KEPT`
    strongest links. A link is drawn where a node was reached by it, or one of its ends keeps it among its `KEPT`
    strongest to drawn nodes, unless the other end is a hub that does not; it never skips a distance.

    Args:
        centre: its label.
        depth: links from the centre, 1 or more.
        cap: nodes at most, the centre among them; 1 or more.
        look: everything that may be drawn and touches some labels, given them and what is taken already.
        among: all links among some labels.
        worth: how much nodes count by themselves, 0 to 1.

    Returns:
        What is drawn; connected, the same for the same links.
    """
    offers: dict[int, _Offer] = {}
    neighbourhood: dict[int, Links] = {}
    worths: dict[int, float] = {}
    frontier = [centre]
    for step in range(1, depth + 1):
        neighbourhood.update(_edges_by_end(look(frontier, {centre, *offers}), frontier))
        found = _reachable_nodes(frontier, neighbourhood, offers, centre)
        worths |= worth(found.keys() - worths.keys())
        for n, (link, parent) in found.items():
            before, weight = 1.0 if parent == centre else offers[parent].score, neighbourhood[parent][link]
            offers[n] = _Offer(link, weight, step, before * STEP * link_strength(link, weight) * worths[n])
        frontier = [n for n in _select_best_offers(offers)[: cap - 1] if offers[n].distance == step]
        if not frontier:
            break
    chosen = sorted(_choose_nodes(offers, centre, cap - 1), key=lambda n: (offers[n].distance, -offers[n].score, n))
    distance = {centre: 0} | {n: offers[n].distance for n in chosen}
    parents = {n: offers[n].link for n in chosen}
    neighbourhood = {n: links for n, links in neighbourhood.items() if n in distance}
    looked = {n: {link.other_end(n) for link in links} for n, links in neighbourhood.items()}
    rest = [n for n in distance if n not in neighbourhood]
    if rest:
        neighbourhood.update(_edges_by_end(among(distance.keys()), rest))
    for n, link in parents.items():  # what is among the drawn may be cut: the way to each node never is
        neighbourhood[n][link] = offers[n].weight
    gone = {n: others - distance.keys() for n, others in looked.items()}
    return EgoSelection(
        distance=distance,
        links=_choose_links(neighbourhood, parents, distance),
        folded={n: len(others) for n, others in gone.items()},
        left_out=len(set[int]().union(*gone.values())),
    )


def _select_best_offers(offers: Mapping[int, _Offer]) -> list[int]:
    """The best nodes first; what leads to each stands before it, since it scores more."""
    return sorted(offers, key=lambda n: (-offers[n].score, offers[n].distance, n))


def _choose_nodes(offers: Mapping[int, _Offer], centre: int, most: int) -> set[int]:
    """The best nodes, each with the way to it; memories leave room for the entities they tie to the centre."""
    chosen = {centre}
    rounds = (math.ceil(most * MEMORY_SHARE), most)
    for memories in rounds:
        free = memories - sum(n > OWNER_LABEL for n in chosen - {centre})
        for n in _select_best_offers(offers):
            is_memory = n > OWNER_LABEL
            is_tied = offers[n].link.other_end(n) in chosen
            if n not in chosen and is_tied and len(chosen) <= most and (free > 0 or not is_memory):
                chosen.add(n)
                free -= is_memory
    return chosen - {centre}


def _edges_by_end(links: Links, ends: Iterable[int]) -> dict[int, Links]:
    neighbourhood: dict[int, Links] = {n: {} for n in ends}
    for link, weight in links.items():
        for n in (link.a, link.b):
            if n in neighbourhood:
                neighbourhood[n][link] = weight
    return neighbourhood


def _order_key(link: Link, weight: float) -> tuple[float, int, int, int, str]:
    return -link_strength(link, weight), _RANK[link.type], link.a, link.b, link.label


def _strongest_links(links: Links, parent: Link | None) -> list[Link]:
    """The links a node keeps; that by which it was reached comes first."""
    return sorted(links, key=lambda link: (link != parent, _order_key(link, links[link])))[:KEPT]


def _is_hub(n: int, links: Links) -> bool:
    return len({link.other_end(n) for link in links}) > HUB


def _reachable_nodes(
    frontier: Iterable[int], neighbourhood: Mapping[int, Links], offers: Mapping[int, _Offer], centre: int
) -> dict[int, tuple[Link, int]]:
    """New node to the link by which it is best reached, and from where."""
    found: dict[int, tuple[Link, int]] = {}
    best: dict[int, tuple[float, tuple[float, int, int, int, str]]] = {}
    for n in frontier:
        links = neighbourhood[n]
        folds = n != centre and _is_hub(n, links)
        for link in _strongest_links(links, offers[n].link) if folds else links:
            other = link.other_end(n)
            score = (1.0 if n == centre else offers[n].score) * link_strength(link, links[link])
            key = (-score, _order_key(link, links[link]))
            if other != centre and other not in offers and (other not in best or key < best[other]):
                best[other], found[other] = key, (link, n)
    return found


def _choose_links(
    neighbourhood: Mapping[int, Links], parents: Mapping[int, Link], distance: Mapping[int, int]
) -> Links:
    hubs = {n for n, links in neighbourhood.items() if _is_hub(n, links)}
    ways = set(parents.values())
    kept: dict[int, set[Link]] = {}
    for n, links in neighbourhood.items():
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
            if link in ways or other not in hubs or link in kept[other]:
                found[link] = neighbourhood[n][link]
    return dict(sorted(found.items(), key=lambda item: _order_key(*item)))
