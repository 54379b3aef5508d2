"""Lists look alike: what is cut at an edge fades and no more, one ground for the chosen line."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage, QPainter
from pytestqt.qtbot import QtBot

from ui.context import Context
from ui.lists.list_view import ListView, cut_lines
from ui.lists.row_spec import paint_background
from ui.pages.entities.detail import EntityDetail
from ui.pages.entities.labels import EntityRow, entity_list
from ui.pages.entities.page import EntitiesPage
from ui.strings import clients_strings as client_words


@pytest.fixture
def lines(context: Context, qtbot: QtBot) -> ListView:
    made = entity_list(context.theme, "Names")
    qtbot.addWidget(made)
    made.show_lines([EntityRow(str(number), "tag", "muted", f"Name {number}", "", "") for number in range(20)])
    made.show()
    qtbot.waitExposed(made)
    return made


@pytest.mark.parametrize(("more", "seen"), [(0, 0), (10, 10)])
def test_only_a_line_that_is_cut_fades(lines: ListView, more: int, seen: int) -> None:
    frame, high = lines.height() - lines.viewport().height(), lines.sizeHintForRow(0)
    lines.resize(300, 3 * high + more + frame)
    assert lines.verticalScrollBar().maximum() > 0
    assert cut_lines(lines) == (0, seen)


def test_above_too(lines: ListView) -> None:
    frame, high = lines.height() - lines.viewport().height(), lines.sizeHintForRow(0)
    lines.resize(300, 3 * high + frame)
    lines.verticalScrollBar().setValue(high - 5)
    assert cut_lines(lines) == (5, high - 5)


@pytest.mark.parametrize(("chosen", "hovered", "name"), [(True, True, "selection"), (False, True, "hover")])
def test_what_a_line_stands_on_is_round(context: Context, *, chosen: bool, hovered: bool, name: str) -> None:
    clear, theme = QColor(0, 0, 0, 0), context.theme
    picture = QImage(100, 40, QImage.Format.Format_ARGB32_Premultiplied)
    picture.fill(clear)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    paint_background(painter, theme, QRect(0, 0, 100, 40), is_chosen=chosen, is_hovered=hovered, has_focus=False)
    painter.end()
    assert picture.pixelColor(50, 20) == theme.colour(name)
    assert picture.pixelColor(0, 0).alpha() == 0
    assert (picture.pixelColor(2, 20) == theme.colour("accent")) is chosen


def test_two_ways_to_merge_are_two_words(context: Context, qtbot: QtBot) -> None:
    made = EntityDetail(context.theme)
    qtbot.addWidget(made)
    assert [one.text().strip() for one in (made.merge, made.alike.act)] == ["Merge …", "Compare …"]


def test_the_count_of_names_stands_beside_the_title(context: Context, qtbot: QtBot) -> None:
    page = EntitiesPage(context)
    qtbot.addWidget(page)
    assert page.count.parentWidget() is page


def test_who_does_what_to_pair_is_said() -> None:
    said = client_words()["pair_hint"]
    assert said == "Loci shows a one-time code: give it to the assistant, then allow it."
