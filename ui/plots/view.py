"""A plot with its legend, the value at a point, its keys and its table: what pages show.

The drawing is loaded when the first plot is seen; until then its room is empty. Must not do: know what is
measured, or work a figure out.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QShowEvent,
)
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from ui.context import Context
from ui.lists.table_view import TableColumn, TableSpec, TableView
from ui.plots.specification import DASHES, PlotSpec, Series
from ui.strings import plot_strings
from ui.theme.theme import Theme
from ui.theme.tokens import sizes, spacing
from ui.widgets.basics import (
    Elided,
    FlowLayout,
    accept_own_key,
    clear_layout,
    make_column,
    make_label,
    make_row,
    make_tool_button,
    plain_key,
)

if TYPE_CHECKING:
    from ui.plots.canvas import Canvas

_CANVAS = "ui.plots.canvas"
_KEY = Qt.Key
_STEPS = {_KEY.Key_Left: -1, _KEY.Key_Right: 1, _KEY.Key_PageUp: -10, _KEY.Key_PageDown: 10}
_ENDS = {_KEY.Key_Home: False, _KEY.Key_End: True}
_ZOOMS = {_KEY.Key_Plus: 1.5, _KEY.Key_Equal: 1.5, _KEY.Key_Minus: 1 / 1.5}
_PRESSES = {_KEY.Key_Return, _KEY.Key_Enter, _KEY.Key_Space}
_OWN = {*_STEPS, *_ENDS, *_ZOOMS, *_PRESSES, _KEY.Key_0, _KEY.Key_T}


class PlotView(QWidget):
    """A plot.

    Attributes:
        spec: what is shown; None before the first.
        marked: the number of the place whose values are told; -1 for none.
        toggle: the button that shows the table in the place of the drawing.

    Signals:
        picked: the number of the place that was pressed, by pointer or Return.
    """

    picked = Signal(int)

    def __init__(self, context: Context, height: int, *, role: str = "strong", is_bare: bool = False) -> None:
        """Make it, empty.

        Args:
            role: of its name, as in `make_label`.
            height: of the drawing, pixels at 100 %.
            is_bare: whether the owner says above it what it is, and puts `toggle` there.
        """
        super().__init__()
        self._context, self._theme, self._height = context, context.theme, height
        self.spec: PlotSpec | None = None
        self.marked = -1
        words = plot_strings()
        self.toggle = make_tool_button(self._theme, "list", words["as_table"], self.switch_table)
        self.toggle.setCheckable(True)
        self._name, self._unit = make_label("", role), Elided("", "small")
        self._legend = Legend(self._theme)
        self._readout, self._x_title = Elided("", "small"), make_label("", "small")
        self._empty = make_label("", "muted", wrap=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._drawing = Drawing(context, height)
        self._drawing.loaded.connect(self._connect_canvas)
        self._drawing.failed.connect(self._show_table_alone)
        self._stack = QStackedWidget()
        self._table: PlotTable | None = None
        self._is_bare = is_bare
        self._build_layout()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._theme.changed.connect(self._name_toggle)
        self._name_toggle()

    def _build_layout(self) -> None:
        self._stack.addWidget(self._drawing)
        self._stack.addWidget(self._empty)
        layout = make_column(self, gap=spacing().xs)
        head = QWidget()
        row = make_row(self._name, self._unit, parent=head, gap=spacing().s)
        row.setStretch(1, 1)
        if not self._is_bare:
            row.addWidget(self.toggle)
        foot = make_row(self._readout, self._x_title, gap=spacing().s)
        foot.setStretch(0, 1)
        for widget in (head, self._legend, self._stack):
            layout.addWidget(widget)
        layout.addLayout(foot)
        head.setVisible(not self._is_bare)

    # ---- what is shown

    def show_plot(self, spec: PlotSpec) -> None:
        """Show another plot; where name, subject and axes are the same, zoom, mark, table and keyboard stay."""
        if spec == self.spec:
            return
        before, self.spec = self.spec, spec
        keeps_view = before is not None and _are_alike(before, spec)
        marked = -1
        if before is not None and keeps_view and self.marked >= 0:
            marked = spec.nearest_place(before.places[self.marked])
        self.marked = -1
        self._name.setText(spec.name.upper() if self._name.property("role") == "label" else spec.name)
        self.setAccessibleName(spec.name)
        self._unit.set_text(spec.y.title)
        self._x_title.setText(spec.x.title)
        self._legend.show_series(() if self._is_bare else spec.series)
        self._empty.setText(spec.empty)
        self.toggle.setEnabled(bool(spec.places))
        self._drawing.show_plot(spec, keeps_view=keeps_view)
        self._update_table(spec)
        self.mark_place(marked, brings_into_sight=False)
        self._tell_values()

    def _update_table(self, spec: PlotSpec) -> None:
        table = self._table
        if table is not None and spec.places:
            if table.plot_columns == spec.columns:
                table.show_rows(spec)
                return
            has_focus = table.hasFocus()
            self._drop_table()
            made = self._open_table()
            if has_focus:
                made.setFocus()
            return
        self._drop_table()
        self._stack.setCurrentWidget(self._drawing if spec.places else self._empty)

    @property
    def canvas(self) -> Canvas | None:
        """The drawing; None until it was loaded."""
        return self._drawing.canvas

    def _connect_canvas(self, made: Canvas) -> None:
        made.pointed.connect(self._on_pointed)
        made.pressed.connect(self._on_pressed)
        made.mark_place(self.marked)

    def _show_table_alone(self) -> None:
        """Where the library cannot be loaded, the values are told all the same."""
        if not self.is_table and self.spec is not None and self.spec.places:
            self._open_table()

    # ---- the table

    @property
    def is_table(self) -> bool:
        """Whether the table stands in the place of the drawing."""
        return self._table is not None and self._stack.currentWidget() is self._table

    @property
    def table(self) -> PlotTable | None:
        """The table; None until it was asked for."""
        return self._table

    def switch_table(self) -> None:
        """Show the table, or the drawing again."""
        if self.spec is None or not self.spec.places:
            return
        if self._table is not None:
            place = self._table.currentIndex().row()
            self._drop_table()
            self._stack.setCurrentWidget(self._drawing)
            self.setFocus()
            self.mark_place(place)
        else:
            place = max(0, self.marked)
            made = self._open_table()
            made.selectRow(place)
            made.setFocus()

    def _open_table(self) -> PlotTable:
        if self.spec is None:
            raise RuntimeError("a table needs something to show")
        self._table = PlotTable(self._theme, self.spec)
        self._table.left.connect(self.switch_table)
        self._table.picked.connect(self.picked)
        self._stack.addWidget(self._table)
        self._stack.setCurrentWidget(self._table)
        self._name_toggle()
        return self._table

    def _name_toggle(self) -> None:
        """The button says what it would show; a table has more room than the drawing."""
        height = max(self._height, sizes().plot_large) if self.is_table else self._height
        self._stack.setFixedHeight(self._theme.px(height))
        self.toggle.setChecked(self.is_table)
        self.toggle.setIcon(self._theme.icon("activity" if self.is_table else "list"))
        for put in (self.toggle.setToolTip, self.toggle.setAccessibleName):
            put(plot_strings()["as_plot" if self.is_table else "as_table"])

    def _drop_table(self) -> None:
        if self._table is not None:
            self._stack.removeWidget(self._table)
            self._table.deleteLater()
            self._table = None
            self._name_toggle()

    # ---- the place whose values are told

    @property
    def readout(self) -> str:
        """What is said below it."""
        return self._readout.whole

    def mark_place(self, place: int, *, brings_into_sight: bool = True) -> None:
        """Tell the values of a place.

        Args:
            place: its number, made to fit; below 0 for none.
            brings_into_sight: whether a place that is out of sight is shown.
        """
        count = 0 if self.spec is None else len(self.spec.places)
        place = min(place, count - 1)
        if place == self.marked:
            return
        self.marked = max(-1, place)
        if self.canvas is not None:
            self.canvas.mark_place(self.marked, brings_into_sight=brings_into_sight)
        self._tell_values()

    def _tell_values(self) -> None:
        if self.spec is None:
            return
        said = self.spec.describe_place(self.marked) if self.marked >= 0 else ""
        self._readout.set_text(said or self.spec.caption)
        told = self.spec.sentence if self.spec.places else self.spec.empty
        self.setAccessibleDescription(f"{said}. {told}" if said else told)
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    def _on_pointed(self, place: int) -> None:
        if place >= 0 or not self.hasFocus():
            self.mark_place(place, brings_into_sight=False)

    def _on_pressed(self, place: int) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.mark_place(place, brings_into_sight=False)
        if place >= 0:
            self.picked.emit(place)

    # ---- keys

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Arrows move along the points, + and - zoom, 0 and Esc show all, T is the table, Return picks."""
        if _is_escape(event) and self.go_back():
            return
        count = 0 if self.spec is None else len(self.spec.places)
        if not count or not _is_own_key(event):
            super().keyPressEvent(event)
            return
        key = _KEY(event.key())
        if key == _KEY.Key_T:
            self.switch_table()
        elif key in _PRESSES and self.marked >= 0:
            self.picked.emit(self.marked)
        elif key in _STEPS or key in _ENDS:
            self.mark_place(_place_after(key, self.marked, count - 1))
        elif self.canvas is not None and key in _ZOOMS:
            self.canvas.zoom_by(_ZOOMS[key])
        elif self.canvas is not None and key == _KEY.Key_0:
            self.canvas.reset_zoom()

    def go_back(self) -> bool:
        """Show all of it, where only a part is in sight.

        Returns:
            Whether anything was done; else Esc is for whoever the plot is part of.
        """
        is_zoomed = self.canvas is not None and not self.is_table and self.canvas.is_zoomed
        if self.canvas is not None and is_zoomed:
            self.canvas.reset_zoom()
        return is_zoomed

    def event(self, event: QEvent) -> bool:
        """Its keys are its own, although some are shortcuts of the window."""
        return accept_own_key(event, _is_own_key) or super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """It takes the keyboard."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        event.accept()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Without the keyboard nothing is marked, unless only the window lost it."""
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.ActiveWindowFocusReason:
            self.mark_place(-1)
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """A ring says that it has the keyboard."""
        super().focusInEvent(event)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """The ring of the keyboard."""
        if self.hasFocus():
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(self._theme.colour("focus"), 2))
            ring = QRectF(self._stack.geometry()).adjusted(1, 1, -1, -1)
            painter.drawRoundedRect(ring, spacing().snug, spacing().snug)


def _are_alike(before: PlotSpec, spec: PlotSpec) -> bool:
    """Whether a plot is the one before, read again."""
    return (before.name, before.subject, before.x, before.y) == (spec.name, spec.subject, spec.x, spec.y)


def _place_after(key: Qt.Key, place: int, last: int) -> int:
    """The place a key leads to; from none to the end it comes from."""
    if key in _ENDS:
        return last if _ENDS[key] else 0
    if place < 0:
        return 0 if _STEPS[key] > 0 else last
    return min(max(0, place + _STEPS[key]), last)


def _is_own_key(event: QKeyEvent) -> bool:
    held = event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier)
    return held == Qt.KeyboardModifier.NoModifier and event.key() in _OWN


def _is_escape(event: QKeyEvent) -> bool:
    return plain_key(event) == _KEY.Key_Escape


class Legend(QWidget):
    """The strokes of several series with their names; nothing where there is one."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._flow = FlowLayout(self, gap=spacing().m)
        self.hide()

    def show_series(self, series: Sequence[Series]) -> None:
        """Explain other series."""
        clear_layout(self._flow)
        for one in series if len(series) > 1 else ():
            entry = QWidget()
            make_row(StrokeSwatch(self._theme, one), make_label(one.name, "small"), gap=spacing().xs, parent=entry)
            self._flow.addWidget(entry)
        self.setVisible(len(series) > 1)


class Drawing(QWidget):
    """The room of the drawing, which is loaded when it is first seen.

    Attributes:
        canvas: the drawing; None until it was loaded.

    Signals:
        loaded: the canvas is there.
        failed: it could not be loaded.
    """

    loaded = Signal(object)
    failed = Signal()

    def __init__(self, context: Context, height: int) -> None:
        super().__init__()
        self._context, self._height = context, height
        self.canvas: Canvas | None = None
        self._spec: PlotSpec | None = None
        self._is_asked = False
        self._column = make_column(self, gap=0)

    def show_plot(self, spec: PlotSpec, *, keeps_view: bool = False) -> None:
        """Draw another plot, once it is loaded.

        Args:
            keeps_view: as in `Canvas.show_plot`.
        """
        self._spec = spec
        if self.canvas is None:
            self._request_canvas()
        elif spec.places:
            self.canvas.show_plot(spec, keeps_view=keeps_view)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """It is seen: now the drawing is needed."""
        super().showEvent(event)
        self._request_canvas()

    def _request_canvas(self) -> None:
        if self._is_asked or self.canvas is not None or not self.isVisible() or not (self._spec and self._spec.places):
            return
        self._is_asked = True
        # Trigger: importing pyqtgraph makes classes of Qt. Why: made by a worker while the window lives, they ended the
        # process now and then. Outcome: it is imported here, once what asks for it was shown; a quarter of a second.
        QTimer.singleShot(0, self, self._load_canvas)

    def _load_canvas(self) -> None:
        try:
            module = import_module(_CANVAS)
        except ImportError:
            self._is_asked = False
            self.failed.emit()
            return
        self._add_canvas(module)

    def _add_canvas(self, module: ModuleType) -> None:
        made: Canvas = module.Canvas(self._context.theme, self._height)
        self._column.addWidget(made)
        self.canvas = made
        if self._spec is not None and self._spec.places:
            made.show_plot(self._spec)
        self.loaded.emit(made)


class StrokeSwatch(QWidget):
    """The colour and the stroke of a series, for its legend."""

    def __init__(self, theme: Theme, series: Series) -> None:
        super().__init__()
        self._theme, self._series = theme, series
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As long as a few dashes."""
        return QSize(self._theme.px(spacing().xl), self._theme.px(spacing().m))

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """The stroke, or a square of a bar."""
        painter, middle = QPainter(self), self.height() / 2
        ink = self._theme.colour(self._series.ink)
        if self._series.is_bars:
            side = self._theme.px(spacing().s)
            painter.fillRect(QRectF((self.width() - side) / 2, middle - side / 2, side, side), ink)
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(ink, 2)
        if DASHES[self._series.stroke]:
            pen.setDashPattern(list(DASHES[self._series.stroke]))
        painter.setPen(pen)
        painter.drawLine(QRectF(self.rect()).topLeft().toPoint().x(), int(middle), self.width(), int(middle))


class _Rows(TableSpec[tuple[str, ...]]):
    """The points of a plot, one a line."""

    def __init__(self, spec: PlotSpec) -> None:
        first, *others = spec.columns
        titles = tuple(f"{title[:1].upper()}{title[1:]}" for title in (first or plot_strings()["when"], *others))
        self._titles = titles
        self.columns = tuple(
            TableColumn(title, 96 if not nr else 72, stretches=True, is_number=nr > 0)
            for nr, title in enumerate(titles)
        )

    def cell_text(self, title: str, row: tuple[str, ...]) -> str:
        """What stands in a cell."""
        return row[self._titles.index(title)]

    def accessible_text(self, title: str, row: tuple[str, ...]) -> str:
        """A value with the name of its column."""
        return f"{title}: {self.cell_text(title, row)}"


class PlotTable(TableView):
    """The points of a plot as a table.

    Attributes:
        plot_columns: the titles its columns were made of.

    Signals:
        left: the person wants the drawing again.
        picked: the number of the place whose row was opened, by Return or double click.
    """

    left = Signal()
    picked = Signal(int)

    def __init__(self, theme: Theme, spec: PlotSpec) -> None:
        super().__init__(theme, _Rows(spec), plot_strings()["table_of"].format(name=spec.name))
        self.plot_columns = spec.columns
        self.lines.show_rows(spec.rows)
        self.asked.connect(self._on_asked)

    def _on_asked(self, verb: str) -> None:
        if verb == "open" and self.currentIndex().isValid():
            self.picked.emit(self.currentIndex().row())

    def show_rows(self, spec: PlotSpec) -> None:
        """Show other rows in the same columns; the row that is looked at and the place scrolled to stay."""
        row, scrolled = self.currentIndex().row(), self.verticalScrollBar().value()
        self.lines.show_rows(spec.rows)
        if row >= 0:
            self.selectRow(min(row, len(spec.rows) - 1))
        self.verticalScrollBar().setValue(scrolled)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """T goes back to the drawing."""
        if plain_key(event) == _KEY.Key_T:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """T is its own, although it may be a shortcut of the window."""
        return accept_own_key(event, lambda key: plain_key(key) == _KEY.Key_T) or super().event(event)
