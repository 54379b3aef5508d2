"""How a canvas looks at a plane: which point is in its middle, how near it is, and which point a key leads to.

Must not do: know what is on the plane, paint.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

_ASIDE = 2.4
"""How much worse a step to the side is than one ahead."""
_CONE = 2.2
"""How far aside a target may lie for each step ahead."""


@dataclass(frozen=True, slots=True)
class Viewport:
    """A look at a plane.

    Attributes:
        x: the point in the middle; `y` likewise.
        scale: px a unit of the plane.
        w: the canvas's width, px; `h` its height.
    """

    x: float = 0.0
    y: float = 0.0
    scale: float = 200.0
    w: float = 640.0
    h: float = 480.0

    @property
    def scale_x(self) -> float:
        """Px a unit of the plane across."""
        return self.scale

    def plan_point(self, px: float, py: float) -> tuple[float, float]:
        """The place of the plane under a point of the canvas."""
        return (px - self.w / 2) / self.scale_x + self.x, (py - self.h / 2) / self.scale + self.y

    def zoomed_at(self, factor: float, px: float, py: float) -> Self:
        """Nearer or farther, with the place under a point of the canvas where it is."""
        x, y = self.plan_point(px, py)
        scale, scale_x = self.scale * factor, self.scale_x * factor
        return replace(self, x=x - (px - self.w / 2) / scale_x, y=y - (py - self.h / 2) / scale, scale=scale)

    def panned_by(self, px: float, py: float) -> Self:
        """The plane pushed by so many px."""
        return replace(self, x=self.x - px / self.scale_x, y=self.y - py / self.scale)


def nearest_in_direction(xs: NDArray[np.float64], ys: NDArray[np.float64], x: float, y: float, dx: int, dy: int) -> int:
    """The nearest of some points in a direction; one straight ahead is nearer than one aside.

    Args:
        xs: where they are.
        ys: likewise.
        x: the current position.
        y: likewise.
        dx: -1, 0 or 1.
        dy: likewise; one of them is 0.

    Returns:
        Its index, or -1 where there is none in that direction.
    """
    if not len(xs):
        return -1
    ahead = (xs - x) * dx + (ys - y) * dy
    aside = np.abs((xs - x) * dy) + np.abs((ys - y) * dx)
    cost = np.where((ahead > 1e-9) & (aside <= ahead * _CONE), ahead + aside * _ASIDE, np.inf)
    best = int(np.argmin(cost))
    return best if np.isfinite(cost[best]) else -1
