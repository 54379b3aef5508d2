"""The help of the journal: how the palace keeps itself in order, with the curves of a life over years.

The words are `resources/help/order.json`; the figures are those of a simulation (tests/bench/bench_years.py, `--json`),
kept as it wrote them in `resources/help/life.json`. The curves differ in their strokes and are named at their ends:
colour is never alone. Must not do: ask the engine, or make a figure up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QSizePolicy, QWidget

from ui.strings import order_strings, read_strings
from ui.theme.theme import Theme
from ui.widgets.basics import make_column, make_label, make_row, make_scroll_area, make_tool_button
from ui.widgets.labels import count_of

DAYS = 365
_SLACK = 31  # a year told by its quarters ends some days before
CURVES = ("stored", "archived", "active")
"""Keys of a row, from the back to the front."""
_INKS = {"stored": "muted", "archived": "warning", "active": "accent"}
_STROKES: Mapping[str, tuple[float, ...]] = {"stored": (5.0, 3.0), "archived": (1.0, 2.5), "active": ()}
_PLOT_HIGH, _TOP, _FOOT, _GAP, _EDGE, _LINES = 230, 10, 22, 8, 3, 4
_STEPS = (1, 2, 2.5, 5, 10)
_LEFT, _RIGHT, _MIDDLE = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, slots=True)
class LifeCurves:
    """The counts behind the curves of a life.

    Attributes:
        days: ends of the stretches of time, ascending.
        curves: key of `CURVES` to its count at each of `days`.
    """

    days: tuple[int, ...]
    curves: Mapping[str, tuple[int, ...]]

    @property
    def last(self) -> Mapping[str, int]:
        """The counts at the end."""
        return {name: counts[-1] for name, counts in self.curves.items()}

    @property
    def years(self) -> int:
        """How many whole years it is long, the nearest number."""
        return round(self.days[-1] / DAYS)

    @property
    def span(self) -> str:
        """How long it is, in words."""
        return count_of(self.years, "year") if self.days[-1] >= DAYS - _SLACK else count_of(self.days[-1], "day")

    def counts_on(self, day: int) -> Mapping[str, int]:
        """The counts on the day that is known and nearest to a day."""
        place = min(range(len(self.days)), key=lambda nr: abs(self.days[nr] - day))
        return {name: counts[place] for name, counts in self.curves.items()}


def life_of(rows: Sequence[Mapping[str, Any]]) -> LifeCurves:
    """The figures of a simulation.

    Args:
        rows: as it writes them: `day` and a count for each of `CURVES`; at least one.
    """
    return LifeCurves(
        tuple(int(row["day"]) for row in rows), {name: tuple(int(row[name]) for row in rows) for name in CURVES}
    )


@cache
def read_life_curves() -> LifeCurves:
    """The figures that are kept, read once."""
    return life_of(read_strings("life"))


def describe_life(known: LifeCurves, words: Mapping[str, str]) -> str:
    """The picture in words and numbers: how it ends, then year by year.

    Args:
        words: `told`, `year` and their names of the page's help.
    """
    shown = {name: f"{count:,}" for name, count in known.last.items()}
    years = [
        words["year"].format(year=year, **{name: f"{count:,}" for name, count in known.counts_on(year * DAYS).items()})
        for year in range(1, known.years + 1)
    ]
    return " ".join((words["told"].format(span=known.span, **shown), *years))


def axis_steps_to(most: int) -> tuple[int, ...]:
    """Round numbers from 0 up to the first that is not below a count: lines to read a curve by.

    Args:
        most: the highest count; 0 or more.
    """
    wanted = max(1.0, most / _LINES)
    size = 10 ** (len(str(int(wanted))) - 1)
    step = max(1, int(next(one * size for one in _STEPS if one * size >= wanted)))
    return tuple(range(0, max(most, 1) + step, step))


class LifePlot(QWidget):
    """The curves of a life, drawn."""

    def __init__(self, theme: Theme, known: LifeCurves, names: Mapping[str, str], year: str) -> None:
        """Make it.

        Args:
            names: key of `CURVES` to its name.
            year: what stands under a year, with `{year}` in it.
        """
        super().__init__()
        self._theme, self._known, self._names, self._year = theme, known, names, year
        self._steps = axis_steps_to(max(max(counts) for counts in known.curves.values()))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As high as its lines need."""
        return QSize(300, self._theme.px(_PLOT_HIGH))

    # ---- measures

    def plot_rect(self) -> QRectF:
        """Where the curves are drawn: numbers stand at its left, names at its right, years below."""
        px, measure = self._theme.px, QFontMetricsF(self._theme.font("caption"))
        left = measure.horizontalAdvance(f"{self._steps[-1]:,}") + px(_GAP + _EDGE)
        strong = QFontMetricsF(self._theme.font("small"))
        right = max(strong.horizontalAdvance(part) for name in CURVES for part in self._end_labels(name)) + px(
            _GAP + _EDGE
        )
        wide = max(60.0, self.width() - left - right)
        return QRectF(left, px(_TOP), wide, self.height() - px(_TOP + _FOOT))

    def _end_labels(self, name: str) -> tuple[str, str]:
        return self._names[name], f"{self._known.last[name]:,}"

    def point_at(self, day: float, count: float) -> QPointF:
        """Where a day and a count lie."""
        field = self.plot_rect()
        x = field.left() + field.width() * day / self._known.days[-1]
        return QPointF(x, field.bottom() - field.height() * count / self._steps[-1])

    # ---- drawing

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw what is filled, the lines to read by, the curves, their names: no line lies under a filling."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for name in CURVES:
            self._fill_below(painter, name)
        self._draw_ground(painter)
        for name in CURVES:
            self._draw_curve(painter, name)
        self._draw_names(painter)
        painter.end()

    def _draw_ground(self, painter: QPainter) -> None:
        theme, field, px = self._theme, self.plot_rect(), self._theme.px
        painter.setFont(theme.font("caption"))
        for count in self._steps:
            y = self.point_at(0, count).y()
            painter.setPen(QPen(theme.colour("line"), 1))
            painter.drawLine(QPointF(field.left(), y), QPointF(field.right(), y))
            painter.setPen(theme.colour("muted"))
            painter.drawText(QRectF(0, y - 10, field.left() - px(_GAP), 20), _RIGHT | _MIDDLE, f"{count:,}")
        measure = QFontMetricsF(theme.font("caption"))
        for year in range(1, self._known.days[-1] // DAYS + 1):
            told = self._year.format(year=year)
            wide = measure.horizontalAdvance(told) + 2
            x = min(self.point_at(year * DAYS, 0).x() - wide / 2, field.right() - wide / 2)
            painter.drawText(QRectF(x, field.bottom() + 2, wide, px(_FOOT) - 2), _LEFT | _MIDDLE, told)

    def _curve_path(self, name: str) -> QPainterPath:
        path = QPainterPath(self.point_at(0, 0))
        for day, count in zip(self._known.days, self._known.curves[name], strict=True):
            path.lineTo(self.point_at(day, count))
        return path

    def _fill_below(self, painter: QPainter, name: str) -> None:
        """Fill what lies below a curve that is drawn without gaps."""
        if _STROKES[name]:
            return
        ground = self._curve_path(name)
        ground.lineTo(self.point_at(self._known.days[-1], 0))
        ground.closeSubpath()
        painter.fillPath(ground, self._theme.colour("accent_soft"))

    def _draw_curve(self, painter: QPainter, name: str) -> None:
        pen = QPen(self._theme.colour(_INKS[name]), 2.0)
        if _STROKES[name]:
            pen.setDashPattern(list(_STROKES[name]))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen)
        painter.drawPath(self._curve_path(name))

    def _draw_names(self, painter: QPainter) -> None:
        """Name and last count of each curve at its end, moved apart where they would lie on each other."""
        theme, field, font = self._theme, self.plot_rect(), self._theme.font("small")
        painter.setFont(font)
        high = QFontMetricsF(font).height()
        block, floor = 2 * high, field.bottom() + high / 2
        for name in sorted(CURVES, key=lambda one: self._known.last[one]):
            top = min(self.point_at(0, self._known.last[name]).y() - block / 2, floor - block)
            painter.setPen(theme.colour(_INKS[name]))
            for nr, told in enumerate(self._end_labels(name)):
                at = QRectF(field.right() + theme.px(_GAP), top + nr * high, self.width(), high)
                painter.drawText(at, _LEFT | _MIDDLE, told)
            floor = top - 2


_WIDE, _HIGH = 760, 640


class LifecycleHelp(QFrame):
    """A panel over the page; what is in it is made when it is first opened.

    Signals:
        closed: it is shown no more.
    """

    closed = Signal()

    def __init__(self, theme: Theme, host: QWidget) -> None:
        super().__init__(host)
        self.setObjectName("popover")
        self._theme = theme
        self._before: QWidget | None = None
        self.area: QScrollArea | None = None
        self.plot: LifePlot | None = None
        self.hide()

    def _build_content(self) -> QScrollArea:
        """Make what is in it, once."""
        if self.area is not None:
            return self.area
        said = order_strings()
        self.setAccessibleName(said["title"])
        inner = QWidget()
        inner.setAccessibleName(said["title"])
        layout = make_column(inner, make_label(said["lead"], "muted", wrap=True), gap=8)
        layout.setContentsMargins(0, 0, 12, 8)
        self.plot = LifePlot(self._theme, read_life_curves(), said["curves"], said["under"])
        told = describe_life(read_life_curves(), said)
        self.plot.setAccessibleName(said["picture"].format(span=read_life_curves().span))
        self.plot.setAccessibleDescription(told)
        layout.addSpacing(4)
        layout.addWidget(make_label(said["picture"].format(span=read_life_curves().span), "strong"))
        layout.addWidget(self.plot)
        layout.addWidget(make_label(told, "small", wrap=True))
        layout.addWidget(make_label(said["made"], "small", wrap=True))
        for section in said["sections"]:
            layout.addSpacing(8)
            layout.addWidget(make_label(section["title"], "strong"))
            layout.addWidget(make_label(section["text"], wrap=True))
        layout.addStretch(1)
        self.area = make_scroll_area(inner)
        self.area.setAccessibleName(said["title"])
        self.area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # nothing in it takes the keyboard, and it is long
        head = make_row(
            make_label(said["title"], "section", wrap=True),
            make_tool_button(self._theme, "x", "Close (Esc)", self.close_help),
        )
        head.setStretch(0, 1)
        outer = make_column(self, margins=16, gap=8)
        outer.addLayout(head)
        outer.addWidget(self.area, 1)
        return self.area

    def open_below(self, top: int) -> None:
        """Show it; the keyboard comes back to where it was when it is closed.

        Args:
            top: pixels from the upper edge of the page.
        """
        area = self._build_content()
        if self.isHidden():
            self._before = QApplication.focusWidget()
        self.place_below(top)
        self.show()
        self.raise_()
        area.setFocus()

    def place_below(self, top: int) -> None:
        """Take the room there is below a line."""
        host = self.parentWidget()
        if host is not None:
            px = self._theme.px
            width = min(px(_WIDE), host.width() - 32)
            self.setGeometry((host.width() - width) // 2, top, width, min(px(_HIGH), host.height() - top - 16))

    def close_help(self) -> None:
        """Show it no more."""
        if self.isHidden():
            return
        before, self._before = self._before, None
        self.hide()
        if before is not None and before.isVisible():
            before.setFocus()
        self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Esc closes."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_help()
        else:
            super().keyPressEvent(event)
