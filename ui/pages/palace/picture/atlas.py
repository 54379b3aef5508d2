"""Shapes of memories by the thousand: all kinds in all colours and sizes, drawn once in one picture.

10,000 shapes take one `drawPixmapFragments`. Must not do: know where anything is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np
import shiboken6
from numpy.typing import NDArray
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap

from ui.pages.palace.items import KINDS
from ui.theme.theme import Theme
from ui.widgets.shapes import KIND_TOKENS, cached_kind_path

SMALLEST, LARGEST = 2, 22
"""Sides of shapes, px."""
SHADES = 6
_CELLS = len(KINDS) * SHADES * 2
_FAINTEST = 0.7  # size of what is hardly remembered, as a share of what is firmly
Floats = NDArray[np.float64]


def shade_colours(theme: Theme, mode: str) -> list[QColor]:
    """The colours of a colour mode, weakest or oldest first, and the grey of what was not believed.

    Args:
        mode: trust, age or kind.
    """
    if mode == "kind":
        found = [theme.colour(KIND_TOKENS[kind]) for kind in KINDS]
    elif mode == "age":
        old, new = theme.colour("outline"), theme.colour("accent")
        found = [mix_colours(old, new, step / 4) for step in range(5)]
    else:
        found = [theme.colour(f"trust_{step}") for step in range(5)]
    return [*found, theme.colour("faint")]


def mix_colours(one: QColor, other: QColor, share: float) -> QColor:
    """A colour between two.

    Args:
        share: 0 for the first, 1 for the other.
    """

    def mix_channel(a: float, b: float) -> float:
        return a + (b - a) * share

    return QColor.fromRgbF(
        mix_channel(one.redF(), other.redF()),
        mix_channel(one.greenF(), other.greenF()),
        mix_channel(one.blueF(), other.blueF()),
    )


def shape_scale(strength: Floats) -> Floats:
    """How large shapes are for their strength, as a share of the largest."""
    return _FAINTEST + (1 - _FAINTEST) * strength


class Atlas:
    """Shapes by kind, colour, size and outline, drawn once in one picture; a size's row when it is first asked for."""

    def __init__(self, colours: Sequence[QColor], ratio: float) -> None:
        self._colours, self._ratio = list(colours), ratio
        sides = [self._cell_side(size) for size in range(SMALLEST, LARGEST + 1)]
        self.sides = np.zeros(LARGEST + 1)
        self.tops = np.zeros(LARGEST + 1)
        self.sides[SMALLEST:] = sides
        self.tops[SMALLEST:] = np.concatenate(([0], np.cumsum(sides)[:-1]))
        self.pixmap = QPixmap(QSize(round(max(sides) * _CELLS), round(sum(sides))))
        self.pixmap.fill(Qt.GlobalColor.transparent)
        self._drawn: set[int] = set()

    def _cell_side(self, size: int) -> int:
        return math.ceil((size * 1.5 + 3) * self._ratio)

    def draw_missing(self, sizes: Sequence[int]) -> None:
        """Draw the rows of sizes that are needed and missing."""
        for size in sizes:
            if size not in self._drawn:
                self._draw_size(size)
                self._drawn.add(size)

    def _draw_size(self, size: int) -> None:
        painter = QPainter(self.pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        side, top, grown = self.sides[size], self.tops[size], size * self._ratio
        for column in range(_CELLS):
            kind, rest = divmod(column, SHADES * 2)
            shade, hollow = divmod(rest, 2)
            painter.resetTransform()
            painter.translate((column + 0.5) * side, top + side / 2)
            path, colour = cached_kind_path(KINDS[kind]), self._colours[shade]
            if hollow:
                width = max(1.2, size * 0.14) * self._ratio
                painter.scale((grown - width) / 1.0, (grown - width) / 1.0)
                pen = QPen(colour, width)
                pen.setCosmetic(True)
                painter.strokePath(path, pen)
            else:
                painter.scale(grown, grown)
                painter.fillPath(path, colour)
        painter.end()

    def draw_shapes(self, painter: QPainter, places: Floats, columns: NDArray[np.int64], sizes: NDArray[np.int64],
             opacity: Floats) -> None:  # fmt: skip
        """Draw many shapes at once.

        Args:
            painter: on the canvas.
            places: middles, px, (n, 2).
            columns: kind, colour and outline of each: `(kind * 6 + shade) * 2 + hollow`.
            sizes: of each, px.
            opacity: of each, 0 to 1.
        """
        count = len(columns)
        if not count:
            return
        self.draw_missing([int(size) for size in np.unique(sizes)])
        sides = self.sides[sizes]
        fragments = np.empty((count, 10), np.float64)
        fragments[:, 0:2] = np.rint(places)
        fragments[:, 2] = columns * sides
        fragments[:, 3] = self.tops[sizes]
        fragments[:, 4] = fragments[:, 5] = sides
        fragments[:, 6] = fragments[:, 7] = 1 / self._ratio
        fragments[:, 8] = 0
        fragments[:, 9] = opacity
        # Qt reads an array of its own struct of ten doubles; `fragments` lives until it has.
        first = cast(QPainter.PixmapFragment, shiboken6.wrapInstance(fragments.ctypes.data, QPainter.PixmapFragment))
        painter.drawPixmapFragments(first, count, self.pixmap)
