"""Chooses what is drawn round one memory: breadth first, strongest links first, hubs folded, within a cap.

Pure: it sees labels and links, and asks two functions for more. Must not do: read the vault, or place anything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.recall.browse.links import Link, Links
from core.types.views import EDGE_TYPES

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
        offers = _offers(frontier, near, parents, distance)
        admitted = sorted(offers, key=lambda n: (_order(*offers[n]), n))[: max(0, cap - len(distance))]
        for n in admitted:
            distance[n], parents[n] = step, offers[n][0]
        frontier = admitted
        if not frontier or len(distance) >= cap:
            break
    looked = {n: {link.other(n) for link in links} for n, links in near.items()}
    rest = [n for n in distance if n not in near]
    if rest:
        near.update(_by_end(among(distance.keys()), rest))
    gone = {n: others - distance.keys() for n, others in looked.items()}
    return EgoSelection(
        distance=distance,
        links=_drawn(near, parents, distance),
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


def _order(link: Link, weight: float) -> tuple[float, int, int, int]:
    return -weight, _RANK[link.type], link.a, link.b


def _strongest(links: Links, parent: Link | None) -> list[Link]:
    """The links a memory keeps; that by which it was reached comes first."""
    return sorted(links, key=lambda link: (link != parent, _order(link, links[link])))[:KEPT]


def _is_hub(n: int, links: Links) -> bool:
    return len({link.other(n) for link in links}) > HUB


def _offers(
    frontier: Iterable[int], near: Mapping[int, Links], parents: Mapping[int, Link], drawn: Collection[int]
) -> dict[int, tuple[Link, float]]:
    """Undrawn memory to the strongest link by which it could be reached."""
    offers: dict[int, tuple[Link, float]] = {}
    for n in frontier:
        links = near[n]
        for link in _strongest(links, parents.get(n)) if _is_hub(n, links) else links:
            other, offer = link.other(n), (link, links[link])
            if other not in drawn and (other not in offers or _order(*offer) < _order(*offers[other])):
                offers[other] = offer
    return offers


def _drawn(near: Mapping[int, Links], parents: Mapping[int, Link], distance: Mapping[int, int]) -> Links:
    hubs = {n for n, links in near.items() if _is_hub(n, links)}
    kept: dict[int, set[Link]] = {}
    for n, links in near.items():
        layered = {
            link: weight
            for link, weight in links.items()
            if link.other(n) in distance and abs(distance[link.other(n)] - distance[n]) <= 1
        }
        kept[n] = set(_strongest(layered, parents.get(n)))
    found: Links = {}
    for n, keeping in kept.items():
        for link in keeping:
            other = link.other(n)
            if other not in hubs or link in kept[other]:
                found[link] = near[n][link]
    return dict(sorted(found.items(), key=lambda item: _order(*item)))
