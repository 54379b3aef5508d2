"""Properties of the bars over time: few of them share the whole width, and none is wider than its cell."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRectF

from ui.pages.timeline.strip import bar_rect, do_columns_fit, grid_of


@given(count=st.integers(1, 400), width=st.integers(60, 2000))
def test_few_bars_share_the_whole_width_and_stay_bars(count: int, width: int) -> None:
    grid = grid_of(count, by_weeks=False, lead=0, area=QRectF(34, 18, width, 100), scale=1.0, scroll=0)
    if do_columns_fit(count, width, by_weeks=False, scale=1.0):
        assert grid.cell_rect(count - 1).right() == pytest.approx(grid.area.right())
    cell = grid.cell_rect(0)
    bar = bar_rect(cell, 1.0)
    assert 1.0 <= bar.width() <= min(cell.width(), 160.0)
    assert bar.center().x() == pytest.approx(cell.center().x())
