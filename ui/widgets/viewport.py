"""How a canvas looks at a plane: which point is in its middle, and how near it is.

Must not do: know what is on the plane, paint.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self


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

    def plan_point(self, px: float, py: float) -> tuple[float, float]:
        """The place of the plane under a point of the canvas."""
        return (px - self.w / 2) / self.scale + self.x, (py - self.h / 2) / self.scale + self.y

    def zoomed_at(self, factor: float, px: float, py: float) -> Self:
        """Nearer or farther, with the place under a point of the canvas where it is."""
        x, y = self.plan_point(px, py)
        scale = self.scale * factor
        return replace(self, x=x - (px - self.w / 2) / scale, y=y - (py - self.h / 2) / scale, scale=scale)

    def panned_by(self, px: float, py: float) -> Self:
        """The plane pushed by so many px."""
        return replace(self, x=self.x - px / self.scale, y=self.y - py / self.scale)
