"""Spreading activation over a graph of memories (E5.1). Pure.

Must not do: read the graph; the caller hands over what leads on from where the spreading stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

HOP_DECAY = 0.6
"""DECAY_PER_HOP (E5.1.2)."""

LEAST = 0.1
"""Activation below this is not followed, nor kept (E5.1.2, E5.1.3)."""

Links = Iterable[tuple[int, int, float]]
"""From, to, weight 0 to 1."""


def reaches(value: float, weight: float) -> bool:
    """Whether activation leads on over a link at all: else the link need not be looked up.

    Args:
        value: of the node it leads away from, 0 to 1.
        weight: of the link, 0 to 1.
    """
    return value * min(max(weight, 0.0), 1.0) * HOP_DECAY >= LEAST


def spread(seeds: Mapping[int, float], links_of: Callable[[Mapping[int, float]], Links], hops: int) -> dict[int, float]:
    """Spread activation: level x weight x 0.6 a hop, the greatest counts and never the sum (E5.1.2).

    Args:
        seeds: node to activation, 0 to 1.
        links_of: the links that lead away from some nodes, given with their activation; called once a hop. Those over
            which nothing `reaches` may be left out.
        hops: how far, 0 or more.

    Returns:
        Node to activation, seeds included, nothing under `LEAST`.
    """
    level = {node: value for node, value in seeds.items() if value >= LEAST}
    front = dict(level)
    for _ in range(hops):
        if not front:
            break
        reached: dict[int, float] = {}
        for start, end, weight in links_of(front):
            given = front[start] * min(max(weight, 0.0), 1.0) * HOP_DECAY
            if given >= LEAST and given > level.get(end, 0.0):
                reached[end] = max(given, reached.get(end, 0.0))
        level.update(reached)
        front = reached
    return level
