"""Plots as values: what is refused, the table, the words of a point, ticks and how numbers are written."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.plots.scale import date_ticks, format_number, format_tick, number_ticks
from ui.plots.specification import MOST, Axis, PlotSpec, ReferenceLine, Series

DAY = 86_400_000.0
NOON = datetime(2026, 11, 20, 12).astimezone().timestamp() * 1000


def plot(*series: Series, **more: object) -> PlotSpec:
    member: dict[str, object] = {"x": Axis("Year"), "y": Axis("memories", kind="count", least=0.0), **more}
    return PlotSpec("Life", "It grows.", series=series, **member)  # type: ignore[arg-type]  # a bag of fields


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), MOST * 2])
def test_what_is_no_number_or_too_large_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="numbers"):
        Series("a", (0.0, 1.0), (0.0, bad))
    with pytest.raises(ValueError, match="numbers"):
        Series("a", (bad,), (0.0,))


@pytest.mark.parametrize("xs", [(1.0, 0.0), (1.0, 1.0)])
def test_points_that_do_not_ascend_are_refused(xs: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="ascend"):
        Series("a", xs, (0.0, 0.0))


def test_a_point_without_a_value_is_refused() -> None:
    with pytest.raises(ValueError, match="one value"):
        Series("a", (0.0, 1.0), (0.0,))


def test_the_table_has_a_row_for_each_place_and_a_gap_where_a_series_has_no_point() -> None:
    spec = plot(Series("stored", (1.0, 2.0), (1_200.0, 2_400.0)), Series("active", (2.0, 2.5), (7.0, 8.0)))
    assert spec.columns == ("Year", "stored", "active")
    assert spec.rows == (("1", "1,200", ""), ("2", "2,400", "7"), ("2.5", "", "8"))
    assert spec.describe_place(1) == "Year 2: 2,400 stored, 7 active"
    assert spec.describe_place(2) == "Year 2.5: 8 active"


def test_units_shares_and_dates_are_told() -> None:
    share = plot(Series("forecast", (NOON,), (0.3,)), x=Axis(kind="date"), y=Axis(kind="share", least=0.0, most=1.0))
    assert share.describe_place(0) == "20 Nov 2026: forecast 0.30"
    took = plot(Series("half within", (NOON,), (12.5,)), x=Axis(kind="date", has_time=True), y=Axis(unit="ms"))
    assert took.rows == (("20 Nov 2026, 12:00", "12.5 ms"),)


def test_places_may_have_names_of_their_own() -> None:
    spec = plot(
        Series("memories", (1.0, 2.0), (3.0, 1.0), is_bars=True, name_of_one="memory"),
        x=Axis(),
        place_names=("May", "June"),
    )
    assert [row[0] for row in spec.rows] == ["May", "June"]
    assert [spec.describe_place(place) for place in (0, 1)] == ["May: 3 memories", "June: 1 memory"]


def test_empty_data_and_one_point_have_a_range_that_can_be_drawn() -> None:
    empty = plot()
    assert (empty.places, empty.rows, empty.nearest_place(3.0)) == ((), (), -1)
    one = plot(Series("a", (NOON,), (5.0,)), x=Axis(kind="date"), y=Axis())
    first, last = one.x_range
    assert (first, last) == (NOON - DAY / 2, NOON + DAY / 2)
    assert one.y_range[0] < 5.0 < one.y_range[1]
    for spec in (empty, one):
        assert spec.x_range[0] < spec.x_range[1]
        assert spec.y_range[0] < spec.y_range[1]


def test_bars_and_fillings_stand_on_nothing_and_lines_are_in_sight() -> None:
    bars = plot(Series("a", (0.0, 1.0), (5.0, 9.0), is_bars=True), y=Axis(kind="count"))
    assert bars.y_range[0] == 0.0
    spec = plot(Series("a", (0.0, 1.0), (5.0, 9.0)), y=Axis(), lines=(ReferenceLine(20.0, "limit"),))
    assert spec.y_range[1] > 20.0


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40, unique=True), st.floats(-2e6, 2e6))
def test_the_nearest_place_is_the_nearest(xs: list[float], x: float) -> None:
    places = sorted(xs)
    spec = plot(Series("a", tuple(places), tuple(0.0 for _ in places)))
    assert abs(places[spec.nearest_place(x)] - x) == min(abs(place - x) for place in places)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0.0, "0"),
        (1_204.0, "1,204"),
        (12.5, "12.5"),
        (0.031, "0.031"),
        (9e14, "900,000,000,000,000"),
        (4.2e18, "4.2e+18"),
    ],
)
def test_numbers_are_written_as_they_are_read(value: float, told: str) -> None:
    assert format_number(value) == told


@pytest.mark.parametrize(
    ("value", "step", "told"),
    [(0.5, 0.5, "0.5"), (0.25, 0.05, "0.25"), (1_200.0, 200.0, "1,200"), (1.5e6, 5e5, "1.5 M"), (2e14, 1e14, "200 T")],
)
def test_ticks_are_written_short(value: float, step: float, told: str) -> None:
    assert format_tick(value, step) == told


@given(st.floats(-1e6, 1e6), st.floats(1e-2, 1e12), st.integers(2, 9))
def test_ticks_are_round_equally_far_apart_and_not_too_many(least: float, span: float, wanted: int) -> None:
    most = least + span
    ticks = number_ticks(least, most, wanted)
    assert 1 <= len(ticks) <= 2 * wanted + 1
    steps = [after - before for before, after in pairwise(ticks)]
    assert all(step == pytest.approx(steps[0], rel=1e-3) for step in steps)
    assert all(least - span * 1e-6 <= tick <= most + span * 1e-6 for tick in ticks)


@given(st.integers(0, 10**9), st.integers(3, 6))
def test_counts_have_whole_ticks_from_nothing_on(most: int, wanted: int) -> None:
    ticks = number_ticks(0.0, most + 0.05 * max(most, 1), wanted, is_count=True)
    assert ticks[0] == 0
    assert all(tick == round(tick) for tick in ticks)


@pytest.mark.parametrize(
    ("days", "wanted", "first"),
    [(1.0, 5, "12:00"), (10.0, 6, "20 Nov"), (365.0, 5, "Jan 2027"), (4_000.0, 6, "2028")],
)
def test_dates_have_ticks_of_hours_days_months_or_years(days: float, wanted: int, first: str) -> None:
    ticks = [(at, told) for at, told in date_ticks(NOON, NOON + days * DAY, wanted) if at >= NOON - DAY]
    assert first in [told for _, told in ticks][:3]
    assert 2 <= len(ticks) <= 2 * wanted
    assert [at for at, _ in ticks] == sorted(at for at, _ in ticks)


def test_a_year_is_told_once_with_its_first_month() -> None:
    told = [words for _, words in date_ticks(NOON, NOON + 420 * DAY, 8)]
    assert sum("2027" in words for words in told) == 1


@pytest.fixture
def oslo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Oslo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("oslo")
@pytest.mark.parametrize("change", [datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)])
@pytest.mark.parametrize(("days", "form"), [(1.5, "%H:%M"), (6.0, None)])
def test_ticks_are_local_times_on_both_sides_of_a_change_of_the_clocks(
    change: datetime, days: float, form: str | None
) -> None:
    begin = (change.timestamp() - days / 2 * 86_400) * 1000
    ticks = date_ticks(begin, begin + days * DAY, 7)
    assert len(ticks) > 3
    for at, told in ticks:
        local = datetime.fromtimestamp(at / 1000, UTC).astimezone()
        assert told == (local.strftime(form) if form else f"{local.day} {local:%b}")
        assert local.minute == 0
        assert form or local.hour == 0


@pytest.mark.starts_process
def test_the_library_is_not_loaded_with_the_pages() -> None:
    """Whatever the window imports at its start, the drawing library is not among it."""
    found = subprocess.run(
        [sys.executable, "-c", "import sys, app.window.desktop, ui.registry; print('pyqtgraph' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert found.stdout.strip() == "False"


@pytest.fixture
def zone_with_summer_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Local time is that of Berlin."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("zone_with_summer_time")
def test_months_begin_at_midnight_on_both_sides_of_a_change_of_the_clocks() -> None:
    begin, end = (datetime(2026, month, 15, tzinfo=UTC).timestamp() * 1000 for month in (1, 12))
    begins = [datetime.fromtimestamp(at / 1000, UTC).astimezone() for at, _ in date_ticks(begin, end, 12)]
    assert [one.month for one in begins] == list(range(1, 13))
    assert {(one.day, one.hour, one.minute) for one in begins} == {(1, 0, 0)}
    assert len({one.utcoffset() for one in begins}) == 2
