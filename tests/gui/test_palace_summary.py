"""What the inspector shows of a room or a wing that was chosen on the plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from engine_rig import Rig
from palace_rig import LEFT, first, furnish, opened, press, shut
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot
from window_rig import settle

from ui.context import Context
from ui.inspector.panel import Inspector
from ui.pages.palace.page import PalacePage
from ui.pages.palace.picture.layout import wing_block
from ui.pages.palace.scene import ROOM, WING
from ui.pages.palace.summary import PlaceSummaryView
from ui.pages.palace.verbs import RoomNameField
from ui.strings import palace_strings
from ui.widgets.memory_line import MemoryLine


@pytest.fixture
def page(qtbot: QtBot, context: Context, rig: Rig) -> Iterator[PalacePage]:
    """Two wings."""
    furnish(rig, spaces=("home", "work"), each=8)
    made = opened(qtbot, context)
    yield made
    shut(qtbot, made)


@pytest.fixture
def inspector(qtbot: QtBot, context: Context) -> Inspector:
    made = Inspector(context, ())
    qtbot.addWidget(made)
    made.resize(360, 700)
    made.show()
    return made


def shown(qtbot: QtBot, inspector: Inspector) -> PlaceSummaryView:
    """The summary that is shown, once it was read."""

    def views() -> list[PlaceSummaryView]:
        return [one for one in inspector.findChildren(PlaceSummaryView) if one.isVisible() and one.summary is not None]

    settle(qtbot, lambda: bool(views()) and labels(views()[-1]) != "")  # its labels show in a later event
    return views()[-1]


def button(view: PlaceSummaryView, act: str) -> QPushButton:
    title = palace_strings()["summary"]["acts"][act]
    return next(one for one in view.findChildren(QPushButton) if one.accessibleName() == title)


def labels(view: PlaceSummaryView) -> str:
    return "\n".join(one.text() for one in view.findChildren(QLabel) if one.isVisibleTo(view))


def middle(page: PalacePage, room_id: str) -> QPoint:
    rect = page.canvas.camera.lens.canvas_rect(page.scene.rooms[room_id].rect)
    return rect.center().toPoint()


def test_a_click_on_a_room_shows_what_it_holds(qtbot: QtBot, page: PalacePage, inspector: Inspector) -> None:
    room = first(page).room
    page.canvas.camera.show_whole()
    band = page.canvas.painter.name_rect(room, page.canvas.camera.lens)
    QTest.mouseClick(page.canvas, LEFT, pos=band.center().toPoint())
    view = shown(qtbot, inspector)
    summary = view.summary
    assert summary is not None
    assert (summary.id, summary.count) == (room.id, room.plan.count)
    words = labels(view)
    assert room.plan.name in words
    for kind, count in summary.kinds.items():
        assert f"{count} {kind.value}" in words
    assert "Said " in words
    assert [line.memory_id for line in view.findChildren(MemoryLine)[: len(summary.landmarks)]] == [
        mark.memory_id for mark in room.plan.landmarks
    ]
    assert summary.fresh == summary.count
    assert "in the last seven days" not in words, "of a room in which all is new that tells nothing"
    view._show_summary(replace(summary, fresh=2))
    settle(qtbot, lambda: "2 memories were recorded in the last seven days." in labels(view))


def test_the_words_of_a_wing_are_shown_by_a_click_on_its_name(
    qtbot: QtBot, page: PalacePage, inspector: Inspector
) -> None:
    wing = page.scene.wings[0]
    page.canvas.camera.show_whole()
    block = wing_block(wing, page.scene, page.canvas.camera.lens, page.context.theme)
    QTest.mouseClick(page.canvas, LEFT, pos=QPoint(round(block.left() + 20), round(block.top() + 8)))
    view = shown(qtbot, inspector)
    assert view.summary is not None
    assert (view.summary.id, view.summary.rooms) == (wing.id, len(wing.rooms))
    assert view.summary.count == wing.count
    acts = palace_strings()["summary"]["acts"]
    assert not [one for one in view.findChildren(QPushButton) if one.accessibleName() == acts["rename"]]
    button(view, "open").click()
    assert page.canvas.camera.fit == (WING, wing.id)


def test_the_arrows_show_summaries_and_a_memory_takes_their_place(
    qtbot: QtBot, context: Context, page: PalacePage, inspector: Inspector
) -> None:
    page.canvas.camera.show_whole()
    press(page, Qt.Key.Key_Right)
    view = shown(qtbot, inspector)
    landmark = view.findChildren(MemoryLine)[0]
    QTest.keyClick(landmark, Qt.Key.Key_Space)
    assert context.selection.current == landmark.memory_id
    assert page.canvas.marks.selected == landmark.memory_id
    settle(qtbot, lambda: not any(one.isVisible() for one in inspector.findChildren(PlaceSummaryView)))
    assert context.selection.summary is None


def test_open_walk_and_rename_do_what_they_say(qtbot: QtBot, page: PalacePage, inspector: Inspector) -> None:
    rooms = page.scene.rooms_of_wing(page.scene.wings[0].id)
    room = rooms[-1]
    page.canvas.handle_click(None, room)
    view = shown(qtbot, inspector)
    button(view, "open").click()
    assert page.canvas.camera.fit == (ROOM, room.id)
    button(view, "rename").click()
    field = page.canvas.findChild(RoomNameField)
    assert field is not None
    field.setText("The pantry")
    QTest.keyClick(field, Qt.Key.Key_Return)
    settle(qtbot, lambda: "The pantry" in labels(view))
    button(view, "walk").click()
    settle(qtbot, lambda: page.walk.round is not None)
    assert page.walk.round is not None
    assert page.walk.round.current.room_id == room.id
    assert {stop.room_id for stop in page.walk.round.stops} == {one.id for one in rooms}
    page.walk.end()


def test_leaving_the_page_or_locking_takes_the_summary_away(
    qtbot: QtBot, context: Context, page: PalacePage, inspector: Inspector, rig: Rig
) -> None:
    page.canvas.handle_click(None, first(page).room)
    shown(qtbot, inspector)
    page.deactivate()
    assert context.selection.summary is None
    assert not any(one.isVisible() for one in inspector.findChildren(PlaceSummaryView))
    page.activate()
    shown(qtbot, inspector)
    rig.engine.vault.lock().result(30)
    settle(qtbot, lambda: context.selection.summary is None)
    assert not any(one.isVisible() for one in inspector.findChildren(PlaceSummaryView))


def test_a_hidden_inspector_reads_the_summary_once_it_is_shown(
    qtbot: QtBot, context: Context, page: PalacePage, inspector: Inspector
) -> None:
    inspector.hide()
    page.canvas.handle_click(None, first(page).room)
    settle(qtbot, lambda: context.selection.summary is not None)
    assert not inspector.findChildren(PlaceSummaryView)
    inspector.show()
    assert shown(qtbot, inspector).summary is not None


def test_everything_in_a_summary_has_a_name(qtbot: QtBot, page: PalacePage, inspector: Inspector) -> None:
    page.canvas.handle_click(None, first(page).room)
    view = shown(qtbot, inspector)
    buttons = view.findChildren(QPushButton)
    assert buttons
    assert all(one.accessibleName() and one.focusPolicy() & Qt.FocusPolicy.TabFocus for one in buttons)
