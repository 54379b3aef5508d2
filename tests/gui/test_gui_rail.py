"""The rail: every page can be reached, however low the window and however large the text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engine_rig import Rig
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot
from window_rig import settle, window_context

from ui.context import Context
from ui.registry import PAGES
from ui.shell.vault_view import Rail, RailButton

ROOM = 640 - 78 - 42
"""What top bar and status bar leave of the lowest window at 150 %."""


@pytest.fixture
def large(rig: Rig) -> Iterator[Context]:
    with window_context(rig.engine, scale=150) as made:
        yield made


def shown(context: Context, qtbot: QtBot, high: int) -> Rail:
    made = Rail(context.theme, PAGES)
    qtbot.addWidget(made)
    made.resize(made.width(), high)
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()
    return made


def is_in_sight(rail: Rail, place: RailButton) -> bool:
    top = place.mapTo(rail, place.rect().topLeft()).y()
    return top >= 0 and top + place.height() <= rail.height()


def test_with_room_for_them_the_words_stand_under_the_icons(large: Context, qtbot: QtBot) -> None:
    rail = shown(large, qtbot, 1_000)
    places = rail.findChildren(RailButton)
    assert len(places) == len(PAGES)
    assert {one.toolButtonStyle() for one in places} == {Qt.ToolButtonStyle.ToolButtonTextUnderIcon}


def test_in_the_lowest_window_of_usual_text_the_words_still_stand(context: Context, qtbot: QtBot) -> None:
    rail = shown(context, qtbot, 640 - 52 - 28)
    places = rail.findChildren(RailButton)
    settle(qtbot, lambda: all(is_in_sight(rail, one) for one in places))
    assert {one.toolButtonStyle() for one in places} == {Qt.ToolButtonStyle.ToolButtonTextUnderIcon}


def test_in_a_usual_window_with_large_text_the_words_still_stand(large: Context, qtbot: QtBot) -> None:
    rail = shown(large, qtbot, 800 - 78 - 42)
    places = rail.findChildren(RailButton)
    settle(qtbot, lambda: all(is_in_sight(rail, one) for one in places))
    assert {one.toolButtonStyle() for one in places} == {Qt.ToolButtonStyle.ToolButtonTextUnderIcon}
    high = places[0].height()
    rail.resize(rail.width(), 1_000)
    settle(qtbot, lambda: places[0].height() > high)


def test_in_a_low_window_with_large_text_every_page_is_in_sight(large: Context, qtbot: QtBot) -> None:
    rail = shown(large, qtbot, ROOM)
    places = rail.findChildren(RailButton)
    settle(qtbot, lambda: all(is_in_sight(rail, one) for one in places))
    assert {one.toolButtonStyle() for one in places} == {Qt.ToolButtonStyle.ToolButtonIconOnly}
    assert [one.accessibleName() for one in places] == [page.title for page in PAGES]
    assert all(one.toolTip().startswith(page.title) for one, page in zip(places, PAGES, strict=True))
    rail.resize(rail.width(), 1_000)
    settle(qtbot, lambda: places[0].toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonTextUnderIcon)


def test_where_even_the_icons_have_no_room_it_follows_the_keyboard(large: Context, qtbot: QtBot) -> None:
    rail = shown(large, qtbot, 260)
    first, *_, last = rail.findChildren(RailButton)
    assert not is_in_sight(rail, last)
    last.setFocus(Qt.FocusReason.TabFocusReason)
    settle(qtbot, lambda: is_in_sight(rail, last))
    rail.show_page(PAGES[0].id)
    settle(qtbot, lambda: is_in_sight(rail, first))
    assert rail.findChildren(QToolButton)
    chosen: list[str] = []
    rail.chosen.connect(chosen.append)
    QTest.keyClick(last, Qt.Key.Key_Space)
    assert chosen == [PAGES[-1].id]
