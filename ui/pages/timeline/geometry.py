"""Where each period stands on the strip: weeks by weekdays where days are shown, else bars beside each other.

Pure. Must not do: paint, or know a widget.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF

ROWS = 7
_DAY_LEAST, _DAY_USUAL, _DAY_MOST = 10.0, 14.0, 18.0
_BAR_LEAST, _BAR_USUAL = 5.0, 12.0
_BAR_WIDE = 160.0


@dataclass(frozen=True, slots=True)
class Grid:
    """The places of periods in a rectangle.

    Attributes:
        count: periods.
        by_weeks: whether a column is a week and a row a weekday; else each period is a column.
        lead: cells of the first column before the first period.
        area: where it is drawn.
        pitch: from one column to the next, pixels.
        scroll: columns that are out of sight on the left.
    """

    count: int
    by_weeks: bool
    lead: int
    area: QRectF
    pitch: float
    scroll: int = 0

    @property
    def columns(self) -> int:
        """All columns."""
        return -(-(self.count + self.lead) // ROWS) if self.by_weeks else self.count

    @property
    def in_sight(self) -> int:
        """Columns for which there is room."""
        return max(1, int(self.area.width() / self.pitch + 1e-6))  # what was made to fit fits

    @property
    def most_scroll(self) -> int:
        """The scroll at which the last column is the last in sight."""
        return max(0, self.columns - self.in_sight)

    @property
    def cell_height(self) -> float:
        """From one row to the next, pixels."""
        return self.pitch if self.by_weeks else self.area.height()

    def column_of(self, place: int) -> int:
        """The column of a period."""
        return (place + self.lead) // ROWS if self.by_weeks else place

    def weekday_of(self, place: int) -> int:
        """The row of a period: its weekday, 0 for Monday; 0 where bars are shown."""
        return (place + self.lead) % ROWS if self.by_weeks else 0

    def rect(self, place: int) -> QRectF:
        """The cell of a period, gap included."""
        left = self.area.left() + (self.column_of(place) - self.scroll) * self.pitch
        return QRectF(left, self.area.top() + self.weekday_of(place) * self.cell_height, self.pitch, self.cell_height)

    def visible(self) -> range:
        """The periods in sight."""
        first, last = self.scroll, min(self.scroll + self.in_sight, self.columns)
        if not self.by_weeks:
            return range(first, last)
        return range(max(0, first * ROWS - self.lead), min(self.count, last * ROWS - self.lead))

    def place_at(self, x: float, y: float) -> int:
        """The period nearest to a point.

        Args:
            x: pixels; left of the area is its first column in sight.
            y: likewise.

        Returns:
            A place; -1 where there are no periods.
        """
        if not self.count:
            return -1
        last = min(self.scroll + self.in_sight, self.columns) - 1
        column = min(max(int((x - self.area.left()) // self.pitch) + self.scroll, self.scroll), last)
        row = min(max(int((y - self.area.top()) // self.cell_height), 0), ROWS - 1) if self.by_weeks else 0
        place = column * ROWS + row - self.lead if self.by_weeks else column
        return min(max(place, 0), self.count - 1)

    def showing(self, place: int) -> int:
        """The scroll at which a period is in sight, as near to the present one as can be."""
        column = self.column_of(place)
        scroll = min(self.scroll, column)
        if column >= scroll + self.in_sight:
            scroll = column - self.in_sight + 1
        return min(max(scroll, 0), self.most_scroll)


def grid_of(count: int, *, by_weeks: bool, lead: int, area: QRectF, scale: float, scroll: int) -> Grid:
    """The grid for a number of periods: as large as they fit, else of the usual size with the rest out of sight.

    Args:
        count: periods.
        by_weeks: whether weeks by weekdays are shown.
        lead: weekdays before the first period, 0 to 6; 0 where bars are shown.
        area: where it is drawn.
        scale: of lengths, 1.0 at 100 % text.
        scroll: columns out of sight on the left; made to fit.
    """
    least, usual = (_DAY_LEAST, _DAY_USUAL) if by_weeks else (_BAR_LEAST, _BAR_USUAL)
    columns = max(1, -(-(count + lead) // ROWS) if by_weeks else count)
    fitting = area.width() / columns
    largest = min(fitting, _DAY_MOST * scale) if by_weeks else fitting  # few bars share the whole width
    pitch = largest if fitting >= least * scale else usual * scale
    made = Grid(count, by_weeks, lead, area, pitch)
    return Grid(count, by_weeks, lead, area, pitch, min(max(scroll, 0), made.most_scroll))


def bar_in(cell: QRectF, scale: float) -> QRectF:
    """Where the bar of a period stands: in the middle of its cell, no wider than a bar looks well.

    Args:
        cell: of the period.
        scale: of lengths, 1.0 at 100 % text.
    """
    wide = max(1.0, min(cell.width() - (3.0 if cell.width() > 8 else 1.0), _BAR_WIDE * scale))
    return QRectF(cell.center().x() - wide / 2, cell.top(), wide, cell.height())


def fits(columns: int, width: float, *, by_weeks: bool, scale: float) -> bool:
    """Whether so many columns are in sight all at once, each large enough to be seen.

    Args:
        columns: weeks, or bars.
        width: pixels.
        by_weeks: whether they are weeks of days.
        scale: of lengths, 1.0 at 100 % text.
    """
    return columns * (_DAY_LEAST if by_weeks else _BAR_LEAST) * scale <= width
