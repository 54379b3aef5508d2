"""A plot on a page: loaded when it is seen, read by pointer and keys, listed as a table, in both themes."""

from __future__ import annotations

import importlib
import math
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QContextMenuEvent, QFocusEvent, QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot
from window_rig import application, settle

from ui.context import Context
from ui.plots import view as plot_view
from ui.plots.specification import MOST, Axis, PlotSpec, ReferenceLine, Series
from ui.plots.view import PlotView

RIGHT, LEFT, KEY_T = Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_T


def life(count: int = 5) -> PlotSpec:
    years = tuple(float(nr) for nr in range(1, count + 1))
    return PlotSpec(
        "An ordinary life",
        "After 5 years, 500 memories were stored.",
        Axis("Year"),
        Axis("memories", kind="count", least=0.0),
        (
            Series("stored", years, tuple(year * 100 for year in years), ink="muted", stroke="dash"),
            Series("active", years, tuple(year * 10 for year in years), is_filled=True),
        ),
        (ReferenceLine(40.0, "limit"),),
    )


def one_series(xs: tuple[float, ...], ys: tuple[float, ...], **more: Any) -> PlotSpec:
    return PlotSpec("Values", "They differ.", Axis(), Axis(), (Series("value", xs, ys, **more),))


@pytest.fixture
def view(qtbot: QtBot, context: Context) -> Iterator[PlotView]:
    made = PlotView(context, 160)
    made.resize(420, made.sizeHint().height())
    yield made
    settle(qtbot, lambda: not context.tasks.running)
    made.close()
    made.deleteLater()


def show(qtbot: QtBot, view: PlotView, spec: PlotSpec) -> PlotView:
    view.show_plot(spec)
    view.show()
    qtbot.waitExposed(view)
    settle(qtbot, lambda: view.canvas is not None)
    view.resize(420, view.sizeHint().height())
    application().processEvents()
    return view


def picture(view: PlotView) -> QImage:
    return view.grab().toImage()


def seen(view: PlotView) -> tuple[float, float]:
    assert view.canvas is not None
    return view.canvas.x_in_sight


# ---- loading


def test_it_is_loaded_by_the_windows_own_thread_and_only_once_it_is_seen(
    qtbot: QtBot, view: PlotView, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []

    def noted(name: str) -> Any:
        threads.append(threading.current_thread())
        return importlib.import_module(name)

    monkeypatch.setattr(plot_view, "import_module", noted)
    view.show_plot(life())
    application().processEvents()
    assert threads == []
    assert view.canvas is None
    show(qtbot, view, life())
    assert threads == [threading.main_thread()]


def test_where_it_cannot_be_loaded_the_table_tells_the_values(
    qtbot: QtBot, view: PlotView, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(plot_view, "import_module", fails)
    view.show_plot(life())
    view.show()
    settle(qtbot, lambda: view.is_table)
    assert view.canvas is None
    assert view.table is not None
    assert view.table.lines.rowCount() == 5


# ---- what it says


def test_those_who_do_not_see_it_hear_its_name_and_what_it_says(qtbot: QtBot, view: PlotView) -> None:
    show(qtbot, view, life())
    assert view.accessibleName() == "An ordinary life"
    assert view.accessibleDescription() == "After 5 years, 500 memories were stored."
    view.setFocus()
    QTest.keyClick(view, RIGHT)
    assert view.accessibleDescription().startswith("Year 1: 100 stored, 10 active. After 5 years")


def test_arrows_move_along_the_points_and_stop_at_the_ends(qtbot: QtBot, view: PlotView) -> None:
    show(qtbot, view, life())
    view.setFocus()
    told = []
    for key in (LEFT, RIGHT, Qt.Key.Key_Home, LEFT, RIGHT, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp, Qt.Key.Key_End):
        QTest.keyClick(view, key)
        told.append(view.marked)
    assert told == [4, 4, 0, 0, 1, 4, 0, 4]
    assert view.readout == "Year 5: 500 stored, 50 active"
    view.clearFocus()
    assert (view.marked, view.readout) == (-1, "")


def test_the_pointer_tells_the_nearest_point(qtbot: QtBot, view: PlotView) -> None:
    show(qtbot, view, life())
    assert view.canvas is not None
    viewport = view.canvas.graph.viewport()
    picked: list[int] = []
    view.picked.connect(picked.append)
    at = view.canvas.point_of(2.9, 0.0).toPoint() - QPoint(0, 20)
    QTest.mouseMove(viewport, at)
    settle(qtbot, lambda: view.marked == 2)
    assert view.readout == "Year 3: 300 stored, 30 active"
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    assert picked == [2]
    assert view.hasFocus()
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert picked == [2, 2]


def test_a_point_out_of_sight_is_brought_into_sight(qtbot: QtBot, view: PlotView) -> None:
    show(qtbot, view, life(100))
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Home)
    whole = seen(view)
    for _ in range(6):
        QTest.keyClick(view, Qt.Key.Key_Plus)
    near = seen(view)
    assert near[1] - near[0] < (whole[1] - whole[0]) / 5
    assert near[0] <= 1.0 <= near[1]
    QTest.keyClick(view, Qt.Key.Key_End)
    last = seen(view)
    assert last[0] <= 100.0 <= last[1]
    QTest.keyClick(view, Qt.Key.Key_Minus)
    assert seen(view)[1] - seen(view)[0] > last[1] - last[0]
    QTest.keyClick(view, Qt.Key.Key_0)
    assert seen(view) == pytest.approx(whole)


def test_the_wheel_is_the_pages_unless_ctrl_is_held(qtbot: QtBot, view: PlotView) -> None:
    show(qtbot, view, life(100))
    assert view.canvas is not None
    viewport, whole = view.canvas.graph.viewport(), seen(view)

    def turn(held: Qt.KeyboardModifier) -> bool:
        at = QPointF(viewport.rect().center())
        event = QWheelEvent(
            at, QPointF(viewport.mapToGlobal(at.toPoint())), QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton, held,
            Qt.ScrollPhase.NoScrollPhase, False,  # noqa: FBT003 - Qt's name
        )  # fmt: skip
        QApplication.sendEvent(viewport, event)
        return event.isAccepted()

    assert not turn(Qt.KeyboardModifier.NoModifier)
    assert seen(view) == whole
    assert turn(Qt.KeyboardModifier.ControlModifier)
    assert seen(view)[1] - seen(view)[0] < whole[1] - whole[0]


def test_the_librarys_own_menu_and_buttons_are_off(qtbot: QtBot, view: PlotView) -> None:
    show(qtbot, view, life())
    assert view.canvas is not None
    viewport = view.canvas.graph.viewport()
    at = viewport.rect().center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, viewport.mapToGlobal(at))
    QApplication.sendEvent(viewport, event)
    QTest.mouseClick(viewport, Qt.MouseButton.RightButton, Qt.KeyboardModifier.NoModifier, at)
    application().processEvents()
    assert not [menu for menu in application().topLevelWidgets() if isinstance(menu, QMenu) and menu.isVisible()]
    assert not [menu for menu in application().allWidgets() if isinstance(menu, QMenu)]


# ---- the table


def test_t_shows_the_table_of_all_points_and_the_drawing_again(qtbot: QtBot, view: PlotView) -> None:
    show(qtbot, view, life())
    view.setFocus()
    QTest.keyClick(view, RIGHT)
    QTest.keyClick(view, RIGHT)
    QTest.keyClick(view, KEY_T)
    table = view.table
    assert table is not None
    assert table.hasFocus()
    assert table.accessibleName() == "An ordinary life, as a table"
    assert table.currentIndex().row() == 1
    model = table.lines
    heads = [model.headerData(nr, Qt.Orientation.Horizontal) for nr in range(3)]
    assert heads == ["Year", "Stored", "Active"]
    cells = [[model.index(row, column).data() for column in range(3)] for row in range(model.rowCount())]
    assert cells[:2] == [["1", "100", "10"], ["2", "200", "20"]]
    assert model.index(1, 2).data(Qt.ItemDataRole.AccessibleTextRole) == "Active: 20"
    assert view.toggle.accessibleName() == "Show as a plot (T)"
    QTest.keyClick(table, Qt.Key.Key_Down)
    QTest.keyClick(table, KEY_T)
    assert not view.is_table
    assert view.hasFocus()
    assert view.marked == 2
    assert view.toggle.accessibleName() == "Show as a table (T)"


def test_the_table_stays_where_the_data_changes(qtbot: QtBot, view: PlotView) -> None:
    show(qtbot, view, life())
    view.toggle.click()
    assert view.is_table
    view.show_plot(life(9))
    assert view.is_table
    assert view.table is not None
    assert view.table.lines.rowCount() == 9


# ---- data of all kinds


def test_where_there_is_nothing_it_says_so_and_loads_nothing(qtbot: QtBot, context: Context, view: PlotView) -> None:
    view.show_plot(PlotSpec("Growth", "", Axis(), Axis(), (), empty="Nothing is stored yet."))
    view.show()
    qtbot.waitExposed(view)
    assert not context.tasks.running
    assert view.canvas is None
    assert not view.toggle.isEnabled()
    assert view.accessibleDescription() == "Nothing is stored yet."
    view.setFocus()
    for key in (RIGHT, Qt.Key.Key_Plus, KEY_T, Qt.Key.Key_Return):
        QTest.keyClick(view, key)
    assert (view.marked, view.is_table) == (-1, False)
    show(qtbot, view, life())
    assert view.toggle.isEnabled()


@pytest.mark.parametrize(
    "spec",
    [
        one_series((3.0,), (5.0,)),
        one_series((3.0,), (0.0,), is_bars=True),
        one_series((3.0,), (5.0,), is_filled=True),
        one_series((0.0, 1.0, 2.0), (MOST, -MOST, 1.0)),
        one_series((-MOST, MOST), (0.0, 0.0)),
        one_series((0.0, 1.0), (1e-12, 2e-12)),
        one_series(tuple(map(float, range(10_000))), tuple(math.sin(nr / 300) * nr for nr in range(10_000))),
        one_series(tuple(map(float, range(10_000))), tuple(float(nr % 7) for nr in range(10_000)), is_bars=True),
    ],
    ids=["one point", "one bar", "one filled point", "huge", "wide", "tiny", "many points", "many bars"],
)
def test_data_of_any_size_is_drawn_and_told(qtbot: QtBot, view: PlotView, spec: PlotSpec) -> None:
    show(qtbot, view, spec)
    empty = picture(view)
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_End)
    assert view.marked == len(spec.places) - 1
    assert view.readout == spec.describe_place(view.marked)
    for key in (Qt.Key.Key_Plus, Qt.Key.Key_Minus, Qt.Key.Key_0):
        QTest.keyClick(view, key)
    assert picture(view) != empty
    QTest.keyClick(view, KEY_T)
    assert view.table is not None
    assert view.table.lines.rowCount() == len(spec.places)


def test_what_is_set_off_may_change_while_it_stays_zoomed(qtbot: QtBot, view: PlotView) -> None:
    spec = life(100)
    show(qtbot, view, spec)
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Home)
    QTest.keyClick(view, Qt.Key.Key_Plus)
    zoomed, before = seen(view), picture(view)
    member = {name: getattr(spec, name) for name in ("name", "sentence", "x", "y", "series", "lines")}
    view.show_plot(PlotSpec(**member, band=(1.0, 9.0)))
    assert seen(view) == pytest.approx(zoomed)
    assert view.marked == 0
    assert picture(view) != before


def grown(spec: PlotSpec, by: float) -> PlotSpec:
    """The same plot, read again: values grew."""
    return replace(spec, series=tuple(replace(one, ys=tuple(y + by for y in one.ys)) for one in spec.series))


def test_what_is_read_again_stays_zoomed_and_marked(qtbot: QtBot, view: PlotView) -> None:
    show(qtbot, view, life(100))
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Home)
    QTest.keyClick(view, RIGHT)
    QTest.keyClick(view, Qt.Key.Key_Plus)
    zoomed = seen(view)
    view.show_plot(grown(life(100), 1.0))
    assert seen(view) == pytest.approx(zoomed)
    assert (view.marked, view.readout) == (1, "Year 2: 201 stored, 21 active")
    assert view.canvas is not None
    assert view.canvas.marked == 1
    view.show_plot(replace(life(100), name="Another"))
    assert view.marked == -1
    assert seen(view)[1] - seen(view)[0] > zoomed[1] - zoomed[0]


def test_the_same_plot_of_something_else_is_seen_whole(qtbot: QtBot, view: PlotView) -> None:
    show(qtbot, view, life(100))
    whole = seen(view)
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Home)
    QTest.keyClick(view, Qt.Key.Key_Plus)
    view.show_plot(replace(life(100), subject="another life"))
    assert view.marked == -1
    assert seen(view) == pytest.approx(whole)


def test_a_table_that_is_read_again_keeps_keyboard_and_row(qtbot: QtBot, view: PlotView) -> None:
    show(qtbot, view, life(100))
    view.setFocus()
    QTest.keyClick(view, KEY_T)
    table = view.table
    assert table is not None
    for _ in range(40):
        QTest.keyClick(table, Qt.Key.Key_Down)
    scrolled = table.verticalScrollBar().value()
    assert scrolled > 0
    view.show_plot(grown(life(100), 1.0))
    assert view.table is table
    assert table.hasFocus()
    assert table.currentIndex().row() == 40
    assert table.verticalScrollBar().value() == scrolled
    assert table.lines.index(40, 1).data() == "4,101"
    other = replace(life(5), series=life(5).series[:1])
    view.show_plot(other)
    assert view.table is not table
    assert view.table is not None
    assert view.table.hasFocus()


def test_a_line_of_the_table_is_picked_by_return(qtbot: QtBot, view: PlotView) -> None:
    show(qtbot, view, life())
    picked: list[int] = []
    view.picked.connect(picked.append)
    view.setFocus()
    QTest.keyClick(view, KEY_T)
    assert view.table is not None
    QTest.keyClick(view.table, Qt.Key.Key_Down)
    QTest.keyClick(view.table, Qt.Key.Key_Return)
    QTest.keyClick(view.table, Qt.Key.Key_Delete)
    assert picked == [1]


def test_keys_with_ctrl_or_alt_are_the_windows(qtbot: QtBot, view: PlotView) -> None:
    show(qtbot, view, life())
    view.setFocus()
    QTest.keyClick(view, RIGHT)
    picked: list[int] = []
    view.picked.connect(picked.append)
    QTest.keyClick(view, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(view, RIGHT, Qt.KeyboardModifier.AltModifier)
    assert (picked, view.marked) == ([], 0)


def test_the_mark_stays_where_only_the_window_loses_the_keyboard(qtbot: QtBot, view: PlotView) -> None:
    show(qtbot, view, life())
    view.setFocus()
    QTest.keyClick(view, RIGHT)
    view.focusOutEvent(QFocusEvent(QEvent.Type.FocusOut, Qt.FocusReason.ActiveWindowFocusReason))
    assert view.marked == 0
    view.focusOutEvent(QFocusEvent(QEvent.Type.FocusOut, Qt.FocusReason.TabFocusReason))
    assert view.marked == -1


def test_dragging_zooms_no_nearer_than_the_keys(qtbot: QtBot, view: PlotView) -> None:
    show(qtbot, view, life(100))
    assert view.canvas is not None
    view.canvas._box.setXRange(50.0, 50.0 + 1e-12, padding=0)
    first, last = seen(view)
    assert last - first >= 4.9
    view.canvas.zoom_by(2.0)
    assert seen(view)[1] - seen(view)[0] == pytest.approx(5.0)


def test_escape_is_of_the_plot_only_while_it_is_zoomed(qtbot: QtBot, view: PlotView) -> None:
    show(qtbot, view, life(100))
    assert view.canvas is not None
    assert not view.go_back()
    view.canvas.zoom_by(2.0)
    assert view.go_back()
    assert not view.canvas.is_zoomed


def test_the_pointer_marks_only_what_is_in_sight_and_moves_nothing(qtbot: QtBot, view: PlotView) -> None:
    show(qtbot, view, life(100))
    assert view.canvas is not None
    view.canvas._box.setXRange(10.4, 20.6, padding=0)
    near_edge = seen(view)
    assert view.canvas.place_under(view.canvas.point_of(10.45, 0.0)) == 10  # year 11: year 10 is out of sight
    assert view.canvas.place_under(view.canvas.point_of(20.55, 0.0)) == 19
    view._on_pointed(90)
    assert view.marked == 90
    assert seen(view) == near_edge


# ---- the look


def test_it_follows_the_theme_and_the_text_size(qtbot: QtBot, context: Context, view: PlotView) -> None:
    show(qtbot, view, life())
    assert view.canvas is not None
    light, low = picture(view), view.canvas.sizeHint().height()
    context.theme.apply_theme("dark", 100)
    application().processEvents()
    assert picture(view) != light
    context.theme.apply_theme("dark", 150, reduced_motion=True)
    application().processEvents()
    assert view.canvas.sizeHint().height() > low
    context.theme.apply_theme("light", 100)


@pytest.mark.parametrize("look", ["light", "dark"])
def test_each_series_is_drawn_in_its_colour_and_its_own_stroke(
    qtbot: QtBot, context: Context, view: PlotView, look: str
) -> None:
    context.theme.apply_theme(look, 100)
    years = (1.0, 2.0, 3.0)
    flat = tuple(
        Series(name, years, (height,) * 3, ink=ink, stroke=stroke)  # type: ignore[arg-type]  # literals
        for name, height, ink, stroke in (
            ("solid", 1.0, "accent", "solid"),
            ("dashed", 2.0, "warning", "dash"),
            ("dotted", 3.0, "muted", "dot"),
        )
    )
    show(qtbot, view, PlotSpec("Flat", "Flat.", Axis(), Axis(least=0.0), flat))
    assert view.canvas is not None
    drawn = picture(view)
    shares = []
    for one in flat:
        first, last = (view.canvas.graph.mapTo(view, view.canvas.point_of(x, one.ys[0]).toPoint()) for x in (1.1, 2.9))
        ink = context.theme.colour(one.ink)
        rows = [
            [near(drawn, x, first.y() + dy, ink) for x in range(first.x(), last.x())] for dy in (-1, 0, 1)
        ]  # fmt: skip
        shares.append(max(sum(row) / len(row) for row in rows))
    context.theme.apply_theme("light", 100)
    assert shares[0] > 0.95 > shares[1] > shares[2] > 0.1


def rgb_of(colour: QColor) -> tuple[int, int, int]:
    return colour.red(), colour.green(), colour.blue()


def near(drawn: QImage, x: int, y: int, ink: QColor) -> bool:
    found = drawn.pixelColor(x, y)
    return sum(abs(a - b) for a, b in zip(rgb_of(found), rgb_of(ink), strict=True)) < 90
