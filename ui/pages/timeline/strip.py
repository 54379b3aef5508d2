"""The strip: how much was said in each period, as squares of days or as bars; a period is chosen on it.

Where something stands is pure geometry. Must not do: ask the engine, or decide what is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from core.types.values import Kind
from core.types.views import Density
from ui.pages.timeline.labels import count_period_memories, kinds_of, range_name
from ui.strings import timeline_strings
from ui.theme.theme import Theme
from ui.widgets.basics import accept_own_key
from ui.widgets.labels import to_local
from ui.widgets.shapes import KIND_TOKENS
from ui.widgets.tooltips import wrap_tooltip

ROWS = 7
_DAY_LEAST, _DAY_USUAL, _DAY_MOST = 10.0, 14.0, 24.0
_BAR_LEAST, _BAR_USUAL = 5.0, 12.0
_BAR_WIDE = 160.0


@dataclass(frozen=True, slots=True)
class TimelineGrid:
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

    def cell_rect(self, place: int) -> QRectF:
        """The cell of a period, gap included."""
        left = self.area.left() + (self.column_of(place) - self.scroll) * self.pitch
        return QRectF(left, self.area.top() + self.weekday_of(place) * self.cell_height, self.pitch, self.cell_height)

    def visible_places(self) -> range:
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

    def scroll_offset_for(self, place: int) -> int:
        """The scroll at which a period is in sight, as near to the present one as can be."""
        column = self.column_of(place)
        scroll = min(self.scroll, column)
        if column >= scroll + self.in_sight:
            scroll = column - self.in_sight + 1
        return min(max(scroll, 0), self.most_scroll)


def grid_of(count: int, *, by_weeks: bool, lead: int, area: QRectF, scale: float, scroll: int) -> TimelineGrid:
    """The grid for a number of periods: as large as they fit, else of the usual size with the rest out of sight.

    Args:
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
    made = TimelineGrid(count, by_weeks, lead, area, pitch)
    return TimelineGrid(count, by_weeks, lead, area, pitch, min(max(scroll, 0), made.most_scroll))


def month_names(at: datetime, year: int, *, by_year: bool, grain: str) -> tuple[str, ...]:
    """What may stand above a month or a year, the longest first.

    Args:
        at: when it begins.
        year: the year that was named last; 0 for none.
        by_year: whether years are named, not months.
        grain: of the periods.
    """
    if by_year:
        return (f"{at:%b %Y}" if grain == "month" and at.month > 1 else str(at.year),)
    if at.year == year:
        return (f"{at:%b}",)
    return (f"{at:%b %Y}", str(at.year)) if at.month == 1 else (f"{at:%b %Y}", f"{at:%b} ’{at:%y}")


def bar_rect(cell: QRectF, scale: float) -> QRectF:
    """Where the bar of a period stands: in the middle of its cell, no wider than a bar looks well.

    Args:
        scale: of lengths, 1.0 at 100 % text.
    """
    wide = max(1.0, min(cell.width() - (3.0 if cell.width() > 8 else 1.0), _BAR_WIDE * scale))
    return QRectF(cell.center().x() - wide / 2, cell.top(), wide, cell.height())


def do_columns_fit(columns: int, width: float, *, by_weeks: bool, scale: float) -> bool:
    """Whether so many columns are in sight all at once, each large enough to be seen.

    Args:
        columns: weeks, or bars.
        width: pixels.
        by_weeks: whether they are weeks of days.
        scale: of lengths, 1.0 at 100 % text.
    """
    return columns * (_DAY_LEAST if by_weeks else _BAR_LEAST) * scale <= width


LEFT, TOP = 34, 18
"""Room for the scale on the left and the months above, pixels at 100 % text."""
_LEAST_BAR = 2.0
_BUSY, _FULL_FROM = 0.95, 3
_WEEKDAYS = ((0, "monday"), (2, "wednesday"), (4, "friday"))
_RIGHT_MIDDLE = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT_MIDDLE = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, slots=True)
class TimelinePicture:
    """What is painted.

    Attributes:
        density: the counts.
        grid: where each period stands.
        chosen: the first and the last chosen period; None for everything.
        hovered: the period under the pointer; -1 for none.
    """

    theme: Theme
    density: Density
    grid: TimelineGrid
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

    def _count_of_full_square(self) -> float:
        """How many memories make a square full: a busy day, not the busiest, which would make all others faint."""
        busy = sorted(count for count in self.density.totals if count)
        return max(_FULL_FROM, busy[int(len(busy) * _BUSY)]) if busy else 1

    def _is_quiet(self, place: int) -> bool:
        return self.chosen is not None and not self.chosen[0] <= place <= self.chosen[1]

    def _paint_days(self, painter: QPainter) -> None:
        """A square a day: the more was said, the larger and the fuller; the root, so that one is seen beside many."""
        theme, grid, most = self.theme, self.grid, self._count_of_full_square()
        painter.setPen(Qt.PenStyle.NoPen)
        for place in grid.visible_places():
            cell, count = grid.cell_rect(place), self.density.totals[place]
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
        names = timeline_strings()["strip"]["weekdays"]
        for row, day in _WEEKDAYS:
            top = grid.area.top() + row * grid.cell_height
            painter.drawText(QRectF(0, top, theme.px(LEFT) - 6, grid.cell_height), _RIGHT_MIDDLE, names[day])

    def _paint_bars(self, painter: QPainter) -> None:
        """A bar a period, in the colours of the kinds, each kind's share of its height."""
        theme, grid, most = self.theme, self.grid, max(self.density.totals, default=0) or 1
        foot = grid.area.bottom()
        self._paint_scale(painter, most)
        kinds = kinds_of(self.density)
        for place in grid.visible_places():
            total, cell = self.density.totals[place], grid.cell_rect(place)
            bar = bar_rect(cell, theme.scale / 100)
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
        by_year = self.density.grain == "year" or (self.density.grain == "month" and grid.pitch < theme.px(30))
        free, year, begun = 0.0, 0, self._month_starts(by_year=by_year)
        lefts = [*map(self._label_left, begun), grid.area.right() * 2]
        for place, left, following in zip(begun, lefts, lefts[1:], strict=False):
            at = to_local(starts[place])
            names = month_names(at, year, by_year=by_year, grain=self.density.grain)
            wide, gap = [metrics.horizontalAdvance(name) for name in names], theme.px(8)
            # A name with its year may be too long before the next month's: that would be missing.
            fit = next((nr for nr, need in enumerate(wide) if left + need + gap <= following), 0)
            # Of the first month only the end may be in sight: its name gives way to that of the whole one after it.
            is_rest = place == begun[0] and at.day > 1 and self.density.grain in {"day", "week"}
            is_cut = is_rest and left + wide[fit] + gap > following
            if left >= free and left + wide[fit] <= grid.area.right() + theme.px(6) and not is_cut:
                painter.drawText(QRectF(left, 0, wide[fit] + 2, theme.px(TOP) - 4), _LEFT_MIDDLE, names[fit])
                free, year = left + wide[fit] + gap, at.year

    def _month_starts(self, *, by_year: bool) -> list[int]:
        """The periods in sight with which a month, or a year, begins."""
        keys = {place: to_local(self.density.starts[place]) for place in self.grid.visible_places()}
        begun: dict[tuple[int, int], int] = {}
        for place, at in keys.items():
            begun.setdefault((at.year, 0 if by_year else at.month), place)
        return list(begun.values())

    def _label_left(self, place: int) -> float:
        cell = self.grid.cell_rect(place)
        return (cell if self.grid.by_weeks else bar_rect(cell, self.theme.scale / 100)).left()

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
        seen = [place for place in grid.visible_places() if chosen[0] <= place <= chosen[1]]
        if not seen:
            return
        outline = QPainterPath()
        if grid.by_weeks:
            for place in seen:
                outline.addRect(grid.cell_rect(place))
        else:
            outline.addRect(grid.cell_rect(seen[0]).united(grid.cell_rect(seen[-1])))
        painter.setPen(QPen(self.theme.colour("ink"), 1.5, j=Qt.PenJoinStyle.RoundJoin))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(outline.simplified())


_RIGHT, _FOOT = 6, 6
_BARS_HIGH = 88
_PAGE = 10
_EMPTY = Density("month", (), (), {}, (), None, None, 0)
_KEY = Qt.Key
_BARS: Mapping[int, int] = {_KEY.Key_Left: -1, _KEY.Key_Down: -1, _KEY.Key_Right: 1, _KEY.Key_Up: 1}
_DAYS: Mapping[int, int] = {_KEY.Key_Left: -ROWS, _KEY.Key_Right: ROWS, _KEY.Key_Up: -1, _KEY.Key_Down: 1}
_PAGES: Mapping[int, int] = {_KEY.Key_PageUp: -_PAGE, _KEY.Key_PageDown: _PAGE}
_ZOOMS: Mapping[int, int] = {_KEY.Key_Plus: 1, _KEY.Key_Equal: 1, _KEY.Key_Minus: -1}
_OTHERS: Mapping[int, str] = {_KEY.Key_T: "today", _KEY.Key_Escape: "everything"}


class Strip(QWidget):
    """The strip of time with its periods.

    Attributes:
        density: what is shown.
        chosen: the first and the last chosen period; None for everything.
        hovered: the period under the pointer; -1 for none.
        grid: where each period stands.

    Signals:
        picked: other periods were chosen, or none.
        pointed: the pointer is over another period.
        zoomed: 1 nearer, -1 farther.
        asked: `today` or `everything`.
    """

    picked = Signal()
    pointed = Signal()
    zoomed = Signal(int)
    asked = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.density = _EMPTY
        self.chosen: tuple[int, int] | None = None
        self.hovered = -1
        self._anchor = self._end = -1
        self._is_dragging = False
        self._scroll = 0
        self.grid = self._measure_grid()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setMinimumWidth(200)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(timeline_strings()["density"]["name"])
        theme.changed.connect(self._restyle_strip)

    # ---- what is shown

    @property
    def places(self) -> range:
        """The chosen periods; all of them where none is chosen."""
        return range(len(self.density.totals)) if self.chosen is None else range(self.chosen[0], self.chosen[1] + 1)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """High enough for seven rows of squares, or for bars one can compare, and their months."""
        high = self.grid.pitch * ROWS if self.grid.by_weeks else self._theme.px(_BARS_HIGH)
        return QSize(self._theme.px(600), round(high) + self._theme.px(TOP) + self._theme.px(_FOOT))

    @property
    def room(self) -> float:
        """Pixels there are for columns."""
        return max(1.0, self.width() - self._theme.px(LEFT) - self._theme.px(_RIGHT))

    def show_density(self, density: Density, chosen: tuple[int, int] | None) -> None:
        """Show other counts.

        Args:
            chosen: the first and the last chosen period; None for everything.
        """
        count = len(density.totals)
        self.density, self.hovered, self._is_dragging = density, -1, False
        self.chosen = None if chosen is None or not count else (max(0, chosen[0]), min(count - 1, chosen[1]))
        self._anchor, self._end = (-1, -1) if self.chosen is None else self.chosen
        self._scroll = 1 << 30  # the newest is in sight
        self.grid = self._measure_grid()
        self._scroll = self.grid.scroll
        if self.chosen is not None:
            self._scroll_to(self.chosen[0])
            self._scroll_to(self.chosen[1])
        self._describe_chosen()
        self.update()

    def choose_periods(self, first: int, last: int) -> None:
        """Choose periods.

        Args:
            first: place of one end.
            last: of the other.
        """
        count = len(self.density.totals)
        if not count:
            return
        self._anchor, self._end = (min(max(place, 0), count - 1) for place in (first, last))
        chosen = (min(self._anchor, self._end), max(self._anchor, self._end))
        self._scroll_to(self._end)
        if chosen != self.chosen:
            self.chosen = chosen
            self._describe_chosen()
            self.picked.emit()
        self.update()

    def choose_everything(self) -> None:
        """Choose no period."""
        if self.chosen is not None:
            self.chosen, self._anchor, self._end = None, -1, -1
            self._describe_chosen()
            self.picked.emit()
            self.update()

    def scroll_by(self, columns: int) -> None:
        """Move what is in sight."""
        self._scroll = min(max(self._scroll + columns, 0), self.grid.most_scroll)
        self.grid = self._measure_grid()
        self.update()

    def describe_periods(self, places: Sequence[int]) -> str:
        """Some periods and what they hold, in words."""
        if not places:
            return ""
        starts = self.density.starts
        name = range_name(self.density.grain, starts[places[0]], starts[places[-1]], starts[places[-1] + 1])
        return f"{name}: {count_period_memories(self.density, places)}"

    def _describe_chosen(self) -> None:
        """Say to those who do not see it what is chosen."""
        strings = timeline_strings()["strip"]
        said = self.describe_periods(self.places) or strings["nothing"]
        self.setAccessibleDescription(said if self.chosen is not None else strings["everything"].format(periods=said))
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    # ---- geometry

    def _measure_grid(self) -> TimelineGrid:
        px, density = self._theme.px, self.density
        by_weeks = density.grain == "day"
        area = QRectF(px(LEFT), px(TOP), self.room, max(1.0, self.height() - px(TOP) - px(_FOOT)))
        lead = to_local(density.starts[0]).weekday() if by_weeks and density.starts else 0
        scale = self._theme.scale / 100
        self.updateGeometry()
        return grid_of(len(density.totals), by_weeks=by_weeks, lead=lead, area=area, scale=scale, scroll=self._scroll)

    def _scroll_to(self, place: int) -> None:
        self._scroll = self.grid.scroll_offset_for(place)
        self.grid = self._measure_grid()

    def _restyle_strip(self) -> None:
        self.updateGeometry()
        self.grid = self._measure_grid()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Use the room there is; the newest stays in sight."""
        was_last = self.grid.scroll >= self.grid.most_scroll
        super().resizeEvent(event)
        self._scroll = 1 << 30 if was_last else self._scroll
        self.grid = self._measure_grid()
        self._scroll = self.grid.scroll

    # ---- painting

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Squares or bars, their scale, what is chosen."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        TimelinePicture(self._theme, self.density, self.grid, self.chosen, self.hovered).paint(painter)
        if self.hasFocus():
            painter.setPen(QPen(self._theme.colour("focus"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)

    # ---- pointer

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """A period is chosen; with Shift all from the one before."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        place = self.grid.place_at(event.position().x(), event.position().y())
        extends = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier) and self._anchor >= 0
        self._is_dragging = place >= 0
        self.choose_periods(self._anchor if extends else place, place)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """A drag takes all it passes."""
        place = self.grid.place_at(event.position().x(), event.position().y())
        if self._is_dragging:
            self.choose_periods(self._anchor, place)
        if place != self.hovered:
            self.hovered = place
            self.pointed.emit()
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """The drag ends."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._is_dragging = False

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """No period is under the pointer."""
        super().leaveEvent(event)
        self.hovered = -1
        self.pointed.emit()
        self.update()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Turning moves what is in sight, with Ctrl it comes nearer."""
        turned = event.angleDelta().y() or event.angleDelta().x()
        if not turned:
            return
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoomed.emit(1 if turned > 0 else -1)
        else:
            self.scroll_by(-2 if turned > 0 else 2)
        event.accept()

    # ---- keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Arrows move the period, with Shift they take more; + and - zoom, T is today, Esc everything."""
        key = event.key()
        if key in _ZOOMS:
            self.zoomed.emit(_ZOOMS[key])
        elif key in _OTHERS:
            self.asked.emit(_OTHERS[key])
        elif not self._move_by_key(key, extends=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)):
            super().keyPressEvent(event)

    def _move_by_key(self, key: int, *, extends: bool) -> bool:
        last = len(self.density.totals) - 1
        steps = {**_PAGES, **(_DAYS if self.grid.by_weeks else _BARS)}
        if last < 0 or (key not in steps and key not in {_KEY.Key_Home, _KEY.Key_End}):
            return False
        if key in {_KEY.Key_Home, _KEY.Key_End}:
            to = 0 if key == _KEY.Key_Home else last
        else:
            to = last if self._end < 0 else self._end + steps[key]
        self.choose_periods(self._anchor if extends and self._anchor >= 0 else to, to)
        return True

    def event(self, event: QEvent) -> bool:
        """Its letters are its own; the tip says what the period under the pointer holds."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = self.grid.place_at(event.pos().x(), event.pos().y())
            words = wrap_tooltip(self.describe_periods((place,))) if place >= 0 else ""
            QToolTip.showText(event.globalPos(), words, self)
            return True
        return accept_own_key(event, _is_own) or super().event(event)


def _is_own(event: QKeyEvent) -> bool:
    held = event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier)
    return held == Qt.KeyboardModifier.NoModifier and (event.key() in _ZOOMS or event.key() in _OTHERS)
