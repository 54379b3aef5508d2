"""The drawing of a plot by pyqtgraph, in the colours and fonts of the theme.

Loaded when the first plot is seen (`ui/plots/view.py`), on the window's own thread: importing it takes a quarter of a
second and makes classes of Qt. The library's own menus,
buttons, keys and colours are off; ticks are ours. Must not do: say anything in words but what the specification says.
"""

from __future__ import annotations

from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QMouseEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from ui.plots.scale import date_ticks, format_number, format_tick, number_ticks
from ui.plots.specification import DASHES, Axis, PlotSpec, ReferenceLine, Series, Shape, Stroke
from ui.theme.theme import Theme
from ui.theme.tokens import spacing
from ui.widgets.basics import make_column

_SYMBOLS = {"circle": "o", "square": "s", "triangle": "t1", "diamond": "d"}
_MARKED = 40
"""Up to so many points each has its mark."""
_STROKE, _FILL_ALPHA, _THICKNESS, _BEYOND = 1.8, 36, 0.8, 0.015
_MOST_TICKS, _LINES_APART = 8, 1.8
_NEAREST = 5.0
"""Points that are in sight at the nearest zoom."""
_WHOLE = 0.999
"""Where so much of it is in sight, it is not zoomed."""
_FRONT, _GROUND = 20, -20
_WORDS_LONG, _WORDS_SHARE = 0.35, 0.15
"""How long and how high the words above a line are, shares of the axes."""
_BESIDE, _CROWDED = 0.08, 0.85
"""Where the words beside an upright line lie, and from which height on a curve would lie on them; shares of an axis."""


def _make_pen(theme: Theme, ink: str, width: float, stroke: Stroke = "solid") -> QPen:
    pen = QPen(theme.colour(ink), width)
    pen.setCosmetic(True)
    pattern = DASHES[stroke]
    if pattern:
        pen.setDashPattern(list(pattern))
    return pen


class _Axes:
    """The two axes and the lines behind the drawing, with ticks of ours."""

    def __init__(self, theme: Theme, layout: Any, box: Any) -> None:
        """Put them into a layout.

        Args:
            layout: the library's, with the box in its second column.
            box: what they measure.
        """
        self._theme, self._layout, self._box = theme, layout, box
        self._left, self._bottom = (pg.AxisItem(side, linkView=box) for side in ("left", "bottom"))
        layout.addItem(self._left, 0, 0)
        layout.addItem(self._bottom, 1, 1)
        self._grid: list[Any] = []
        self._ticks: list[tuple[float, str]] | None = None
        self.restyle()

    @property
    def _caption_metrics(self) -> QFontMetricsF:
        return QFontMetricsF(self._theme.font("caption"))

    def restyle(self) -> None:
        """The theme is another one."""
        theme, half = self._theme, round(self._caption_metrics.height() / 2)
        # The words of the outermost ticks reach over the ends.
        self._layout.layout.setContentsMargins(0, half, theme.px(spacing().m), 0)
        for axis in (self._left, self._bottom):
            is_left = axis is self._left
            axis.setStyle(
                tickFont=theme.font("caption"),
                tickLength=0 if is_left else -theme.px(spacing().xs),
                tickAlpha=0 if is_left else None,
                tickTextOffset=theme.px(spacing().xs),
                hideOverlappingLabels=theme.px(spacing().xxl),
            )
            axis.setTextPen(theme.colour("muted"))
            axis.setPen(QPen(Qt.PenStyle.NoPen) if is_left else _make_pen(theme, "outline", 1.0))
            axis.setTickPen(_make_pen(theme, "outline", 1.0))
        self._ticks = None
        self._bottom.setHeight(self._caption_metrics.height() + theme.px(spacing().s))

    def show_y(self, spec: PlotSpec, height: int) -> None:
        """Show ticks and lines from bottom to top.

        Args:
            height: of the whole plot, pixels.
        """
        wanted = max(2, min(5, int(height / (self._caption_metrics.height() * _LINES_APART))))
        ticks = _ticks_of(spec.y, spec.y_range, wanted)
        if ticks == self._ticks:
            return
        self._ticks = ticks
        self._left.setTicks([ticks])
        widest = max((self._caption_metrics.horizontalAdvance(told) for _, told in ticks), default=0.0)
        self._left.setWidth(widest + self._theme.px(spacing().s))
        for line in self._grid:
            self._box.removeItem(line)
        # The library's own grid cuts the words at the ends of the axis.
        pen = _make_pen(self._theme, "line", 1.0)
        self._grid = [pg.InfiniteLine(at, angle=0, movable=False, pen=pen) for at, _ in ticks]
        for line in self._grid:
            line.setZValue(_GROUND * 2)
            self._box.addItem(line, ignoreBounds=True)

    def show_x(self, axis: Axis, seen: tuple[float, float]) -> None:
        """Show ticks from left to right.

        Args:
            seen: from where to where it is shown.
        """
        metrics, width = self._caption_metrics, self._box.width()
        widest = "Mmm 0000" if axis.kind == "date" else format_number(round(seen[1]))
        step = metrics.horizontalAdvance(widest) + self._theme.px(spacing().m)
        ticks = _ticks_of(axis, seen, max(2, min(_MOST_TICKS, int(width / step))))
        self._bottom.setTicks([_drop_cut(ticks, seen, (width, self._theme.px(spacing().m)), metrics)])


class Canvas(QWidget):
    """A plot, drawn.

    Attributes:
        spec: what is drawn; None before the first.
        marked: the number of the place that is marked; -1 for none.

    Signals:
        pointed: the number of the place under the pointer; -1 for none.
        pressed: likewise, where the pointer was pressed and let go.
    """

    pointed = Signal(int)
    pressed = Signal(int)

    def __init__(self, theme: Theme, height: int) -> None:
        """Make it, empty.

        Args:
            height: pixels at 100 %.
        """
        super().__init__()
        self._theme, self._height = theme, height
        self.spec: PlotSpec | None = None
        self.marked = -1
        self._pressed_at = QPointF()
        self.graph: Any = pg.GraphicsView(background=None)
        self.graph.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.graph.setAntialiasing(True)
        self.graph.setFrameShape(self.graph.Shape.NoFrame)
        self.graph.setStyleSheet("background: transparent")  # what it stands on is seen
        # Not the library's PlotItem: it makes menus and a form that nobody owns, whether they are shown or not.
        self._layout: Any = pg.GraphicsLayout()
        self._box: Any = pg.ViewBox(enableMenu=False)
        self._layout.addItem(self._box, 0, 1)
        self._layout.layout.setSpacing(0)
        self._axes = _Axes(theme, self._layout, self._box)
        self.graph.setCentralItem(self._layout)
        self._box.setMouseEnabled(x=True, y=False)
        self._box.setDefaultPadding(0.0)
        self._box.sigXRangeChanged.connect(self._update_axes)
        self._box.sigResized.connect(self._update_axes)
        self._items: list[Any] = []
        self._mark_items: list[Any] = []
        self.graph.viewport().installEventFilter(self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        make_column(self, self.graph, gap=0)
        theme.changed.connect(self.restyle)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As high as it was made, as wide as there is room."""
        return QSize(self._theme.px(160), self._theme.px(self._height))

    # ---- what is shown

    def show_plot(self, spec: PlotSpec, *, keeps_view: bool = False) -> None:
        """Draw another plot.

        Args:
            spec: with at least one point.
            keeps_view: whether what was zoomed to stays in sight, as far as it is there; else all of it is in sight.
        """
        zoomed = self._zoomed_range() if keeps_view else None
        self.spec = spec
        self.marked = -1
        self._draw_all()
        self.reset_zoom()
        if zoomed is not None:
            least, most = self._padded_range()
            first, last = max(zoomed[0], least), min(zoomed[1], most)
            if first < last:
                self._box.setXRange(first, last, padding=0)

    def _zoomed_range(self) -> tuple[float, float] | None:
        """From where to where it is shown; None where all of it is."""
        (first, last), (least, most) = self.x_in_sight, self._padded_range()
        is_whole = last - first >= (most - least) * _WHOLE
        return None if self.spec is None or is_whole else (first, last)

    def restyle(self) -> None:
        """The theme is another one."""
        self.updateGeometry()
        self._axes.restyle()
        self._draw_all()
        self._update_axes()

    def mark_place(self, place: int, *, brings_into_sight: bool = False) -> None:
        """Mark a place.

        Args:
            place: its number; -1 for none.
            brings_into_sight: whether a place that is out of sight is shown.
        """
        self.marked = place
        for item in self._mark_items:
            self._box.removeItem(item)
        self._mark_items = []
        if self.spec is None or place < 0:
            return
        x = self.spec.places[place]
        if brings_into_sight:
            self._bring_into_sight(x)
        line = pg.InfiniteLine(x, angle=90, movable=False, pen=_make_pen(self._theme, "outline", 1.0))
        self._box.addItem(line, ignoreBounds=True)
        self._mark_items.append(line)
        for one in self.spec.series:
            value = one.value_at(x)
            if value is not None:
                self._mark_items.append(self._draw_dot(x, value, one.ink, one.shape))

    def _draw_dot(self, x: float, y: float, ink: str, shape: Shape) -> Any:
        dot = pg.ScatterPlotItem(
            [x],
            [y],
            symbol=_SYMBOLS[shape],
            size=self._theme.px(spacing().close),
            pen=_make_pen(self._theme, "surface", 2.0),
            brush=self._theme.colour(ink),
        )
        dot.setZValue(_FRONT)
        self._box.addItem(dot, ignoreBounds=True)
        return dot

    # ---- zoom

    @property
    def x_in_sight(self) -> tuple[float, float]:
        """From where to where it is shown."""
        first, last = self._box.viewRange()[0]
        return float(first), float(last)

    @property
    def is_zoomed(self) -> bool:
        """Whether only a part of it is in sight."""
        return self._zoomed_range() is not None

    def zoom_by(self, factor: float) -> None:
        """Show less or more of it, about the place that is marked, else about the middle.

        Args:
            factor: above 1 comes nearer.
        """
        if self.spec is None:
            return
        (first, last), (least, most) = self.x_in_sight, self.spec.x_range
        middle = self.spec.places[self.marked] if self.marked >= 0 else (first + last) / 2
        width = min(max((last - first) / factor, self._nearest_width), most - least)
        left = min(max(middle - (middle - first) / (last - first) * width, least), most - width)
        self._box.setXRange(left, left + width, padding=0)

    @property
    def _nearest_width(self) -> float:
        """How much of the x axis is in sight at the nearest zoom; above 0."""
        if self.spec is None:
            return 1.0
        least, most = self.spec.x_range
        return min((most - least) / max(1, len(self.spec.places) - 1) * _NEAREST, most - least)

    def reset_zoom(self) -> None:
        """Show all of it."""
        if self.spec is None:
            return
        least, most = self._padded_range()
        self._box.setLimits(xMin=None, xMax=None, minXRange=None)
        self._box.setXRange(least, most, padding=0)
        self._box.setYRange(*self.spec.y_range, padding=0)
        self._box.setLimits(xMin=least, xMax=most, minXRange=self._nearest_width)
        self._update_axes()

    def _padded_range(self) -> tuple[float, float]:
        """From end to end; half a bar or a mark more, which else would be cut."""
        if self.spec is None:
            return 0.0, 1.0
        least, most = self.spec.x_range
        edge = (most - least) * _BEYOND
        half = max((_bar_width(one, most - least) / 2 for one in self.spec.series if one.is_bars), default=edge)
        return least - half, most + half

    def _bring_into_sight(self, x: float) -> None:
        first, last = self.x_in_sight
        if first <= x <= last:
            return
        least, most = self._padded_range()
        width = last - first
        left = min(max(x - width / 2, least), most - width)
        self._box.setXRange(left, left + width, padding=0)

    # ---- drawing

    def _draw_all(self) -> None:
        if self.spec is None:
            return
        for item in (*self._items, *self._mark_items):
            self._box.removeItem(item)
        self._items = []
        self._mark_items = []
        if self.spec.band is not None:
            band = pg.LinearRegionItem(
                self.spec.band, movable=False, brush=self._theme.colour("selection"), pen=pg.mkPen(None)
            )
            band.setZValue(_GROUND * 3)
            self._add_item(band)
        for one in self.spec.series:
            if one.xs:
                (self._draw_bars if one.is_bars else self._draw_line)(one)
        for line in self.spec.lines:
            self._draw_reference(line)
        self.mark_place(self.marked)

    def _add_item(self, item: Any) -> None:
        """Put it into the drawing; what is in sight is ours to say, not the item's."""
        self._box.addItem(item, ignoreBounds=True)
        self._items.append(item)

    def _draw_line(self, one: Series) -> None:
        ink = self._theme.colour(one.ink)
        has_marks = len(one.xs) == 1 or (len(one.xs) <= _MARKED and not one.is_filled and one.stroke == "solid")
        if one.is_filled:
            tint = QColor(ink)
            tint.setAlpha(_FILL_ALPHA)
            ground = pg.PlotCurveItem(list(one.xs), list(one.ys), pen=None, fillLevel=0.0, brush=tint)
            ground.setZValue(_GROUND)
            self._add_item(ground)
        curve = pg.PlotDataItem(
            list(one.xs),
            list(one.ys),
            pen=_make_pen(self._theme, one.ink, _STROKE, one.stroke),
            antialias=True,
            symbol=_SYMBOLS[one.shape] if has_marks else None,
            symbolSize=self._theme.px(spacing().snug),
            symbolBrush=ink,
            symbolPen=None,
        )
        self._add_item(curve)
        curve.setDownsampling(auto=True, method="peak")

    def _draw_bars(self, one: Series) -> None:
        least, most = self.spec.x_range if self.spec is not None else (0.0, 1.0)
        bars = pg.BarGraphItem(
            x=list(one.xs),
            height=list(one.ys),
            width=_bar_width(one, most - least),
            pen=None,
            brush=self._theme.colour(one.ink),
        )
        self._add_item(bars)

    def _draw_reference(self, line: ReferenceLine) -> None:
        """A dotted line with its name at the end at which the curves leave more room."""
        is_flat = line.across == "y"
        drawn = pg.InfiniteLine(
            line.value, angle=0 if is_flat else 90, movable=False, pen=_make_pen(self._theme, line.ink, 1.0, "dot")
        )
        self._add_item(drawn)
        if line.dot is not None:
            self._items.append(self._draw_dot(line.value, line.dot, "accent", "circle"))
        if not line.name:
            return
        name = pg.TextItem(line.name, color=self._theme.colour(line.ink))
        name.setFont(self._theme.font("caption"))
        name.textItem.document().setDocumentMargin(spacing().hair)
        name.setZValue(_FRONT)
        self._add_item(name)
        if self.spec is None:
            return
        (left, right), (foot, top) = self.spec.x_range, self.spec.y_range
        if is_flat:
            is_left = _room_at(self.spec, line.value, at_end=False) >= _room_at(self.spec, line.value, at_end=True)
            name.setAnchor((0.0 if is_left else 1.0, 1.0))
            name.setPos(left if is_left else right, line.value)
        else:
            is_late = line.value > (left + right) / 2
            name.setAnchor((1.0 if is_late else 0.0, 0.0))
            beside = line.value + (right - left) * (-_BESIDE if is_late else _BESIDE)
            is_crowded = _height_at(self.spec, beside) > foot + (top - foot) * _CROWDED
            name.setPos(line.value, (foot + top) / 2 if is_crowded else top)

    def _update_axes(self, *_changed: object) -> None:
        if self.spec is not None:
            self._axes.show_y(self.spec, self.sizeHint().height())
            self._axes.show_x(self.spec.x, self.x_in_sight)

    # ---- pointer

    def place_under(self, at: QPointF) -> int:
        """The number of the place in sight that is nearest to a point of this widget; -1 where there is none."""
        if self.spec is None:
            return -1
        inside = self.spec.places_within(*self.x_in_sight)
        place = self.spec.nearest_place(self._box.mapSceneToView(at).x())
        return min(max(place, inside.start), inside.stop - 1) if inside else -1

    def point_of(self, x: float, y: float) -> QPointF:
        """Where a point of the axes lies on this widget."""
        return QPointF(self._box.mapViewToScene(QPointF(x, y)))

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """The pointer marks; the wheel is the page's unless Ctrl is held."""
        if isinstance(event, QWheelEvent):
            if event.modifiers() & Qt.KeyboardModifier.ControlModifier and event.angleDelta().y():
                self.zoom_by(1.25 if event.angleDelta().y() > 0 else 0.8)
                event.accept()
            else:
                event.ignore()
            return True
        if event.type() == QEvent.Type.Leave:
            self.pointed.emit(-1)
        elif isinstance(event, QMouseEvent):
            self._follow_pointer(event)
        return False

    def _follow_pointer(self, event: QMouseEvent) -> None:
        at = event.position()
        match event.type():
            case QEvent.Type.MouseMove if not event.buttons():
                self.pointed.emit(self.place_under(at))
            case QEvent.Type.MouseButtonPress:
                self._pressed_at = at
            case QEvent.Type.MouseButtonRelease if (at - self._pressed_at).manhattanLength() < _NEAREST:
                self.pressed.emit(self.place_under(at))
            case _:
                return


def _bar_width(one: Series, span: float) -> float:
    """Four fifths of the distance between bars; of a single bar, of a tenth of the axis."""
    gaps = [after - before for before, after in zip(one.xs, one.xs[1:], strict=False)]
    return _THICKNESS * min(gaps, default=span / 10)


def _room_at(spec: PlotSpec, value: float, *, at_end: bool) -> float:
    """How far the curves stay from the words above a line at one end of the axis."""
    (left, right), (foot, top) = spec.x_range, spec.y_range
    reach, height = (right - left) * _WORDS_LONG, (top - foot) * _WORDS_SHARE
    first, last = (right - reach, right) if at_end else (left, left + reach)
    found = [
        max(value - y, y - value - height, 0.0)
        for one in spec.series
        for x, y in zip(one.xs, one.ys, strict=True)
        if first <= x <= last
    ]
    return min(found, default=0.0)


def _height_at(spec: PlotSpec, x: float) -> float:
    """The greatest value at the place nearest to a value of the x axis."""
    at = spec.places[spec.nearest_place(x)]
    return max(value for one in spec.series if (value := one.value_at(at)) is not None)


def _ticks_of(axis: Axis, seen: tuple[float, float], wanted: int) -> list[tuple[float, str]]:
    if axis.kind == "date":
        # Where a single one would be left, finer ones: what has no room for its words stands without.
        for finer in (wanted, wanted + 1, wanted * 2, wanted * 3):
            found = [(at, told) for at, told in date_ticks(*seen, finer) if seen[0] <= at <= seen[1]]
            if len(found) > 1:
                return found
        return []
    values = number_ticks(*seen, wanted, is_count=axis.kind == "count")
    step = values[1] - values[0] if len(values) > 1 else abs(values[0]) or 1.0 if values else 1.0
    return [(value, format_tick(value, step)) for value in values]


def _drop_cut(
    ticks: list[tuple[float, str]], seen: tuple[float, float], room: tuple[float, float], metrics: QFontMetricsF
) -> list[tuple[float, str]]:
    """The ticks without the words that would be cut at an end or lie on the words before them.

    Args:
        room: the width of the axis, and what is free behind it, pixels.
    """
    width, margin = room
    kept: list[tuple[float, str]] = []
    free = -metrics.height()
    for at, told in ticks:
        middle, half = (at - seen[0]) / (seen[1] - seen[0]) * width, metrics.horizontalAdvance(told) / 2
        has_room = middle - half >= free and middle + half <= width + margin
        kept.append((at, told if has_room else ""))
        free = middle + half + metrics.averageCharWidth() if has_room else free
    return kept
