"""Paints the strip: squares of days or bars of periods, their scale, their months, and what is chosen.

Must not do: know a widget, or decide what is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPainterPath, QPen

from core.types.values import Kind
from core.types.views import Density
from ui.pages.timeline.geometry import Grid, bar_in
from ui.pages.timeline.words import kinds_of
from ui.theme.theme import Theme
from ui.widgets.shapes import KIND_TOKENS
from ui.widgets.words import local

LEFT, TOP = 34, 18
"""Room for the scale on the left and the months above, pixels at 100 % text."""
_LEAST_BAR = 2.0
_BUSY, _FULL_FROM = 0.95, 3
_WEEKDAYS = ((0, "Mon"), (2, "Wed"), (4, "Fri"))
_RIGHT_MIDDLE = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT_MIDDLE = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, slots=True)
class Picture:
    """What is painted.

    Attributes:
        density: the counts.
        grid: where each period stands.
        chosen: the first and the last chosen period; None for everything.
        hovered: the period under the pointer; -1 for none.
    """

    theme: Theme
    density: Density
    grid: Grid
    chosen: tuple[int, int] | None
    hovered: int = -1

    def paint(self, painter: QPainter) -> None:
        """Paint all of it.

        Args:
            painter: with antialiasing set by the caller.
        """
        if self.grid.by_weeks:
            self._paint_days(painter)
        else:
            self._paint_bars(painter)
        self._paint_months(painter)
        self._paint_ends(painter)
        if self.chosen is not None:
            self._paint_chosen(painter, self.chosen)

    def _many(self) -> float:
        """How many memories make a square full: a busy day, not the busiest, which would make all others faint."""
        busy = sorted(count for count in self.density.totals if count)
        return max(_FULL_FROM, busy[int(len(busy) * _BUSY)]) if busy else 1

    def _is_quiet(self, place: int) -> bool:
        return self.chosen is not None and not self.chosen[0] <= place <= self.chosen[1]

    def _paint_days(self, painter: QPainter) -> None:
        """A square a day: the more was said, the larger and the fuller; the root, so that one is seen beside many."""
        theme, grid, most = self.theme, self.grid, self._many()
        painter.setPen(Qt.PenStyle.NoPen)
        for place in grid.visible():
            cell, count = grid.rect(place), self.density.totals[place]
            side = min(cell.width(), cell.height()) - 2.0
            share = min(1.0, (count / most) ** 0.5)
            colour = theme.colour("accent" if count else "line")
            if count:
                colour.setAlphaF((0.35 + 0.65 * share) * (0.6 if self._is_quiet(place) else 1.0))
                side *= 0.62 + 0.38 * share
            elif self._is_quiet(place) or place == self.hovered:
                colour.setAlphaF(1.0 if place == self.hovered else 0.6)
            if not count:
                side *= 0.5 if place != self.hovered else 0.8
            square = QRectF(0, 0, side, side)
            square.moveCenter(cell.center())
            painter.setBrush(colour)
            painter.drawRoundedRect(square, side * 0.22, side * 0.22)
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.colour("muted"))
        for row, name in _WEEKDAYS:
            top = grid.area.top() + row * grid.cell_height
            painter.drawText(QRectF(0, top, theme.px(LEFT) - 6, grid.cell_height), _RIGHT_MIDDLE, name)

    def _paint_bars(self, painter: QPainter) -> None:
        """A bar a period, in the colours of the kinds, each kind's share of its height."""
        theme, grid, most = self.theme, self.grid, max(self.density.totals, default=0) or 1
        foot = grid.area.bottom()
        self._paint_scale(painter, most)
        kinds = kinds_of(self.density)
        for place in grid.visible():
            total, cell = self.density.totals[place], grid.rect(place)
            bar = bar_in(cell, theme.scale / 100)
            if place == self.hovered:
                painter.fillRect(cell, theme.colour("hover"))
            if total:
                tall = max(_LEAST_BAR, grid.area.height() * total / most)
                self._paint_bar(painter, kinds, place, QRectF(bar.left(), foot - tall, bar.width(), tall))
        painter.fillRect(QRectF(grid.area.left(), foot, grid.area.width(), 1), theme.colour("line"))

    def _paint_bar(self, painter: QPainter, kinds: Sequence[Kind], place: int, bar: QRectF) -> None:
        total, foot = self.density.totals[place], bar.bottom()
        shape = QPainterPath()
        shape.addRoundedRect(bar.adjusted(0, 0, 0, 3), 2, 2)
        painter.save()
        painter.setClipRect(bar)
        painter.setClipPath(shape, Qt.ClipOperation.IntersectClip)
        for kind in kinds:
            tall = bar.height() * self.density.by_kind[kind][place] / total
            colour = self.theme.colour(KIND_TOKENS[kind])
            colour.setAlphaF(0.35 if self._is_quiet(place) else 0.9)
            painter.fillRect(QRectF(bar.left(), foot - tall, bar.width(), tall), colour)
            foot -= tall
        painter.restore()

    def _paint_scale(self, painter: QPainter, most: int) -> None:
        """How many memories the highest bar stands for."""
        theme, area = self.theme, self.grid.area
        painter.fillRect(QRectF(area.left(), area.top(), area.width(), 1), theme.colour("line"))
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.colour("muted"))
        if any(self.density.totals):
            wide, high = theme.px(LEFT) - 6, theme.px(16)
            painter.drawText(QRectF(0, area.top() - high / 2, wide, high), _RIGHT_MIDDLE, f"{most:,}")
            painter.drawText(QRectF(0, area.bottom() - high / 2, wide, high), _RIGHT_MIDDLE, "0")

    def _paint_months(self, painter: QPainter) -> None:
        """Names above the columns with which a month or a year begins; a year where there is room for it."""
        theme, grid, starts = self.theme, self.grid, self.density.starts
        metrics = QFontMetrics(theme.font("caption"))
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.colour("muted"))
        free, before, year = 0.0, "", 0
        for place in grid.visible():
            at = local(starts[place])
            by_year = self.density.grain == "year" or (self.density.grain == "month" and grid.pitch < theme.px(30))
            key = str(at.year) if by_year else f"{at:%b %Y}"
            if key == before:
                continue
            first, before = not before, key
            name = f"{at:%b %Y}" if by_year and self.density.grain == "month" and at.month > 1 else key
            name = f"{at:%b}" if not by_year and at.year == year else name
            cell = grid.rect(place)
            start = cell if grid.by_weeks else bar_in(cell, theme.scale / 100)
            left, wide = start.left(), metrics.horizontalAdvance(name)
            is_cut = first and self.density.grain in {"day", "week"} and at.day > 20
            if left >= free and left + wide <= grid.area.right() + theme.px(6) and not is_cut:
                painter.drawText(QRectF(left, 0, wide + 2, theme.px(TOP) - 4), _LEFT_MIDDLE, name)
                free, year = left + wide + theme.px(8), at.year

    def _paint_ends(self, painter: QPainter) -> None:
        """A small arrow at an end behind which there is more."""
        theme, area = self.theme, self.grid.area
        painter.setFont(theme.font("strong"))
        painter.setPen(theme.colour("accent"))
        wide, high = theme.px(12), theme.px(TOP) - 4
        if self.grid.scroll:
            painter.drawText(QRectF(area.left() - wide, 0, wide, high), _LEFT_MIDDLE, "‹")
        if self.grid.scroll < self.grid.most_scroll:
            painter.drawText(QRectF(area.right() - wide / 2, 0, wide, high), _LEFT_MIDDLE, "›")

    def _paint_chosen(self, painter: QPainter, chosen: tuple[int, int]) -> None:
        """A line round what is chosen."""
        grid = self.grid
        seen = [place for place in grid.visible() if chosen[0] <= place <= chosen[1]]
        if not seen:
            return
        outline = QPainterPath()
        if grid.by_weeks:
            for place in seen:
                outline.addRect(grid.rect(place))
        else:
            outline.addRect(grid.rect(seen[0]).united(grid.rect(seen[-1])))
        painter.setPen(QPen(self.theme.colour("ink"), 1.5, j=Qt.PenJoinStyle.RoundJoin))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(outline.simplified())
