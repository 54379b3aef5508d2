"""The help of the journal: how the palace keeps itself in order, with the curves of a life over years.

The words are `resources/help/order.json`; the figures are those of a simulation (tests/bench/bench_years.py, `--json`),
kept as it wrote them in `resources/help/life.json`. The curves differ in their strokes: colour is never alone. Must not
do: ask the engine, or make a figure up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QWidget

from core.config.help_strings import read_help_strings
from ui.context import Context
from ui.plots.specification import Axis, PlotSpec, Series, Stroke
from ui.plots.view import PlotView
from ui.strings import format_count, order_strings, window_strings
from ui.theme.tokens import sizes
from ui.widgets.basics import make_column, make_label, make_row, make_scroll_area, make_tool_button, place_below

DAYS = 365
_SLACK = 31  # a year told by its quarters ends some days before
CURVES = ("stored", "archived", "active")
"""Keys of a row, from the back to the front."""
_INKS = {"stored": "muted", "archived": "warning", "active": "accent"}
_STROKES: Mapping[str, Stroke] = {"stored": "dash", "archived": "dot", "active": "solid"}


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
        strings, has_years = order_strings()["spans"], self.days[-1] >= DAYS - _SLACK
        return format_count(strings["years" if has_years else "days"], self.years if has_years else self.days[-1])

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
    return life_of(read_help_strings("life"))


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


def make_life_spec(known: LifeCurves, words: Mapping[str, Any]) -> PlotSpec:
    """The curves of a life over its years.

    Args:
        words: the page's help.
    """
    years = tuple(day / DAYS for day in known.days)
    return PlotSpec(
        name=words["picture"].format(span=known.span),
        sentence=describe_life(known, words),
        x=Axis(words["axis"]),
        y=Axis(words["counted"], kind="count", least=0.0),
        series=tuple(
            Series(
                words["curves"][name],
                years,
                tuple(float(count) for count in known.curves[name]),
                ink=_INKS[name],
                stroke=_STROKES[name],
                is_filled=_STROKES[name] == "solid",
            )
            for name in CURVES
        ),
    )


_WIDE, _HIGH = 760, 640


class LifecycleHelp(QFrame):
    """A panel over the page; what is in it is made when it is first opened.

    Signals:
        closed: it is shown no more.
    """

    closed = Signal()

    def __init__(self, context: Context, host: QWidget) -> None:
        super().__init__(host)
        self.setObjectName("popover")
        self._context, self._theme = context, context.theme
        self._before: QWidget | None = None
        self.area: QScrollArea | None = None
        self.plot: PlotView | None = None
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
        self.plot = PlotView(self._context, sizes().plot_large)
        self.plot.show_plot(make_life_spec(read_life_curves(), said))
        told = describe_life(read_life_curves(), said)
        layout.addSpacing(4)
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
        self.area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # it is long: arrows scroll it
        head = make_row(
            make_label(said["title"], "section", wrap=True),
            make_tool_button(self._theme, "x", window_strings()["buttons"]["close_key"], self.close_help),
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
        place_below(self, self._theme, top, _WIDE, _HIGH)

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
