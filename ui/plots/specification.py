"""What a plot shows, as frozen values: axes, series, reference lines; and the same as rows of a table.

Must not do: know Qt, or work a figure out.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

from ui.plots.scale import format_date, format_number

AxisKind = Literal["number", "count", "share", "date"]
Stroke = Literal["solid", "dash", "dot"]
Shape = Literal["circle", "square", "triangle", "diamond"]
DASHES: Mapping[Stroke, tuple[float, ...]] = {"solid": (), "dash": (4.0, 2.5), "dot": (1.0, 2.5)}
"""Stroke to its pattern, in widths of the line."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis.

    Attributes:
        title: what it measures; "" where the values say it, such as dates.
        kind: how values are written: any number, a count, a share from 0 to 1, or epoch ms as a date.
        unit: stands behind each value, such as `ms`; "" for none.
        least: where it begins; None for the least value.
        most: where it ends; None for the greatest value.
        has_time: whether a date is told with its time.
    """

    title: str = ""
    kind: AxisKind = "number"
    unit: str = ""
    least: float | None = None
    most: float | None = None
    has_time: bool = False

    def format_value(self, value: float) -> str:
        """A value in words: `1,204`, `0.31`, `12 ms`, `12 Mar 2027`."""
        if self.kind == "date":
            return format_date(value, has_time=self.has_time)
        shown = f"{value:.2f}" if self.kind == "share" else format_number(value)
        return f"{shown} {self.unit}" if self.unit else shown


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one kind, joined by a line or standing as bars.

    Attributes:
        name: in the legend, the table and behind a count; `name_of_one` behind a count of 1.
        xs: where the points are, ascending.
        ys: one value for each.
        ink: token of its colour.
        stroke: how its line is drawn; series differ in it, so that colour is never alone.
        shape: the mark at each of its points, where few are shown.
        is_filled: whether the area below the line is tinted.
        is_bars: whether each point is a bar from 0.
    """

    name: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    ink: str = "accent"
    stroke: Stroke = "solid"
    shape: Shape = "circle"
    is_filled: bool = False
    is_bars: bool = False
    name_of_one: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn.

        Raises:
            ValueError: a value is no number or beyond `MOST`, there is not one value for each point, or points go back.
        """
        if len(self.xs) != len(self.ys):
            raise ValueError("a series needs one value for each of its points")
        if not all(abs(value) <= MOST for value in (*self.xs, *self.ys)):  # of no number at all it is False
            raise ValueError("a series takes numbers up to a thousand billions only")
        if any(after <= before for before, after in pairwise(self.xs)):
            raise ValueError("the points of a series must ascend")

    def value_at(self, x: float) -> float | None:
        """The value of the point at a place; None where the series has no point there."""
        place = bisect_left(self.xs, x)
        return self.ys[place] if place < len(self.xs) and self.xs[place] == x else None


@dataclass(frozen=True, slots=True)
class ReferenceLine:
    """A line to read the plot by.

    Attributes:
        value: where it stands.
        name: stands beside it.
        across: the axis it cuts: `y` for a line from left to right, `x` for one from bottom to top.
        ink: token of its colour.
        dot: where on a line from bottom to top a dot stands; None for nowhere.
    """

    value: float
    name: str
    across: Literal["x", "y"] = "y"
    ink: str = "warning"
    dot: float | None = None


@dataclass(frozen=True)
class PlotSpec:
    """A plot.

    Attributes:
        name: what it is, such as `Growth of the palace`.
        sentence: what it says, with its numbers.
        x: the axis from left to right; `y` the one from bottom to top.
        series: what is drawn, from the back to the front.
        lines: lines to read it by.
        place_names: what each place is called, where its value on the x axis does not say it, such as a period; empty
            for the value.
        band: from where to where of the x axis is set off; None for nothing.
        caption: what stands below it while no point is marked; "" for nothing.
        empty: what is said where there is no point.
        subject: the id of what it is of, where plots of several are named alike; "" for one.
    """

    name: str
    sentence: str
    x: Axis
    y: Axis
    series: tuple[Series, ...] = ()
    lines: tuple[ReferenceLine, ...] = ()
    place_names: tuple[str, ...] = ()
    band: tuple[float, float] | None = None
    caption: str = ""
    empty: str = ""
    subject: str = ""

    @cached_property
    def places(self) -> tuple[float, ...]:
        """Where any series has a point, ascending."""
        return tuple(sorted({x for one in self.series for x in one.xs}))

    @property
    def x_range(self) -> tuple[float, float]:
        """From where to where it is drawn; wider than nothing even for one point."""
        return _range_of(self.x, self.places, ())

    @property
    def y_range(self) -> tuple[float, float]:
        """From where to where it is drawn; bars and fillings stand on 0."""
        values = [value for one in self.series for value in one.ys]
        stands = any(one.is_bars or one.is_filled for one in self.series)
        if stands:
            values.append(0.0)
        ends = _range_of(self.y, values, [one.value for one in self.lines if one.across == "y"])
        return _with_pad(self.y, ends, stands=stands and min(values) >= 0.0)

    def nearest_place(self, x: float) -> int:
        """The number of the place nearest to a value of the x axis; -1 where there is no point."""
        places = self.places
        if not places:
            return -1
        after = min(bisect_left(places, x), len(places) - 1)
        before = max(0, after - 1)
        return before if abs(x - places[before]) <= abs(places[after] - x) else after

    def places_within(self, first: float, last: float) -> range:
        """The numbers of the places between two values of the x axis, both inside."""
        return range(bisect_left(self.places, first), bisect_right(self.places, last))

    def describe_place(self, place: int) -> str:
        """The values at a place, in words: `12 Mar 2027: strength 0.31`."""
        x = self.places[place]
        told = [self._describe_point(one, value) for one in self.series if (value := one.value_at(x)) is not None]
        title = f"{self.x.title} " if self.x.title else ""
        return f"{title}{self._name_place(place)}: {', '.join(told)}"

    def _describe_point(self, one: Series, value: float) -> str:
        shown = self.y.format_value(value)
        if self.y.kind != "count":
            return f"{one.name} {shown}"
        return f"{shown} {one.name_of_one if value == 1 and one.name_of_one else one.name}"

    def _name_place(self, place: int) -> str:
        return self.place_names[place] if self.place_names else self.x.format_value(self.places[place])

    @property
    def columns(self) -> tuple[str, ...]:
        """The titles of its table."""
        return (self.x.title, *(one.name for one in self.series))

    @cached_property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Its table: for each place the value of each series, "" where that has none there."""
        return tuple(
            (self._name_place(place), *(self._format_point(one, x) for one in self.series))
            for place, x in enumerate(self.places)
        )

    def _format_point(self, one: Series, x: float) -> str:
        value = one.value_at(x)
        return "" if value is None else self.y.format_value(value)


_PAD = 0.05
"""Of the range, left free above it, and below it where nothing stands on its foot: a line at an end is not cut."""
_HALF_DAY_MS = 43_200_000.0
MOST = 1e15
"""The greatest value that is drawn."""


def make_count_spec(
    name: str,
    series: Series,
    said: Mapping[str, str],
    sentence: str,
    *,
    place_names: tuple[str, ...] = (),
    band: tuple[float, float] | None = None,
) -> PlotSpec:
    """How many there were over time.

    Args:
        series: the counts, at epoch ms.
        said: of it `unit`, that of the axis, and `none`, which is said where there is no point.
        sentence: what it says, with its numbers.
        place_names: what each place is called; empty for its date.
        band: from where to where is set off; None for nothing.
    """
    return PlotSpec(
        name=name,
        sentence=sentence,
        x=Axis(kind="date"),
        y=Axis(said["unit"], kind="count", least=0.0),
        series=(series,),
        place_names=place_names,
        band=band,
        caption=sentence,
        empty=said["none"],
    )


def _range_of(axis: Axis, values: Sequence[float], lines: Sequence[float]) -> tuple[float, float]:
    every = [*values, *lines]
    least = min(every, default=0.0) if axis.least is None else axis.least
    most = max(every, default=1.0) if axis.most is None else axis.most
    if most <= least:
        half = _HALF_DAY_MS if axis.kind == "date" else max(abs(least) * _PAD, 0.5)
        return least - half, most + half
    return least, most


def _with_pad(axis: Axis, ends: tuple[float, float], *, stands: bool) -> tuple[float, float]:
    """A range with what is left free above it, and below it where nothing stands on its foot."""
    span = (ends[1] - ends[0]) * _PAD
    return ends[0] - (0.0 if stands or axis.least is not None else span), ends[1] + span
