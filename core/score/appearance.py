"""How rooms are told from each other: tint, outline and floor unlike those of neighbours, an emblem that fits.

Must not do: read a vault, or give the same room another look on another day.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from core.score.floor_plan import Rect
from core.types.views import GAP

TINTS, OUTLINES, FLOORS = 8, 4, 8
_REACH = int(2 * GAP)
"""Rooms with no more than this between them are neighbours, plan units."""
_SAME_TINT = 1_000
_SAME_SHAPE = 1_000
_SAME_FLOOR = 30
_SAME_OUTLINE = 10


@dataclass(frozen=True, slots=True)
class Look:
    """What of a furnishing is seen from afar; as `core.types.views.Furnishing`."""

    tint: int
    outline: int
    floor: int


def are_neighbours(one: Rect, other: Rect) -> bool:
    """Whether two rooms of a wing stand side by side or corner to corner."""
    across = max(one.x, other.x) - min(one.x + one.w, other.x + other.w)
    down = max(one.y, other.y) - min(one.y + one.h, other.y + other.h)
    return max(across, down) <= _REACH


def choose_look(name: str, neighbours: Sequence[Look], others: Sequence[Look]) -> Look:
    """Choose what a room looks like: another tint than its neighbours', and another outline or floor.

    Args:
        name: of the room, of whatever is stable: among equally good looks it decides.
        neighbours: of the rooms next to it.
        others: of all rooms of its wing; what they have least is taken first.
    """
    tints, outlines, floors = (Counter(getattr(look, part) for look in others) for part in ("tint", "outline", "floor"))
    start = stable_number(name)

    def cost(look: Look) -> tuple[int, int]:
        near = sum(
            _SAME_TINT * (look.tint == other.tint)
            + _SAME_SHAPE * (look.outline == other.outline and look.floor == other.floor)
            + _SAME_FLOOR * (look.floor == other.floor)
            + _SAME_OUTLINE * (look.outline == other.outline)
            for other in neighbours
        )
        often = 2 * tints[look.tint] + outlines[look.outline] + 2 * floors[look.floor]
        turn = (look.tint * OUTLINES * FLOORS + look.outline * FLOORS + look.floor - start) % (
            TINTS * OUTLINES * FLOORS
        )
        return near + often, turn

    return min((Look(*parts) for parts in product(range(TINTS), range(OUTLINES), range(FLOORS))), key=cost)


def choose_emblem(name: str, scores: Mapping[str, float], near: Collection[str], others: Collection[str]) -> str:
    """Choose an emblem: the one that fits best, none of the neighbours', and rather none that the wing has.

    Args:
        name: of the room, of whatever is stable: where nothing fits it decides.
        scores: emblem to how well it fits, 0 for not at all.
        near: emblems of the rooms next to it.
        others: emblems of the wing.
    """
    free = [emblem for emblem in sorted(scores) if emblem not in near] or sorted(scores)
    unused = [emblem for emblem in free if emblem not in others] or free
    best = max(unused, key=lambda emblem: scores[emblem])
    return best if scores[best] > 0 else unused[stable_number(name) % len(unused)]


def stable_number(name: str) -> int:
    """A number that is the same for a name on every machine and day."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=6).digest(), "big")
