"""What is done on the plan: dragging, renaming, merging, menus and keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from engine_rig import Rig
from palace_rig import LEFT, drag, first, furnish, opened, places, point, press, refused, shut
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot
from window_rig import hear, settle

from ui.context import Command, Context
from ui.pages.palace.page import PalacePage
from ui.pages.palace.scene import PlacedLocus
from ui.pages.palace.verbs import MergeDialog, RoomNameField


@pytest.fixture
def page(qtbot: QtBot, context: Context, rig: Rig) -> Iterator[PalacePage]:
    """One wing with rooms."""
    furnish(rig)
    made = opened(qtbot, context)
    yield made
    shut(qtbot, made)


@pytest.fixture
def wide(qtbot: QtBot, context: Context, rig: Rig) -> Iterator[PalacePage]:
    """Two wings."""
    furnish(rig, spaces=("home", "work"))
    made = opened(qtbot, context)
    yield made
    shut(qtbot, made)


# ---- moving


def test_a_locus_is_dragged_to_a_free_place_and_undo_brings_it_back(qtbot: QtBot, page: PalacePage, rig: Rig) -> None:
    spot = first(page)
    memory_id, before = spot.id, (spot.x, spot.y)
    room = spot.room
    far = room.find_free_place(room.plan.w - 1.5, room.plan.h - 1.5, memory_id)
    assert far is not None
    layout = page.canvas.painter.layout_of(room, page.canvas.camera.lens)
    drag(page, point(page, spot), layout.point_at(*far).toPoint())
    assert (room.x[spot.at], room.y[spot.at]) == pytest.approx(far), "at once, before the engine has said so"
    expected = places(page)[memory_id]
    settle(qtbot, lambda: rig.value("SELECT placed_by FROM places WHERE memory_id = ?", memory_id) == "owner")
    settle(qtbot, lambda: bool(room.loci is not None and room.loci.moved[room.row_of(memory_id)]))
    assert places(page)[memory_id] == pytest.approx(expected)
    rig.undo()
    settle(qtbot, lambda: places(page)[memory_id] == pytest.approx(before))


def test_what_the_engine_refuses_flies_back_and_is_told(
    qtbot: QtBot, context: Context, page: PalacePage, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = hear(context)
    monkeypatch.setattr(rig.engine.palace, "move_locus", lambda *_: refused())
    monkeypatch.setattr(rig.engine.palace, "move_room", lambda *_: refused())
    spot = first(page)
    before = (spot.x, spot.y)
    far = spot.room.find_free_place(spot.room.plan.w - 1.5, spot.room.plan.h - 1.5, spot.id)
    assert far is not None
    page.mover.move_locus(spot, spot.room, *far)
    assert (spot.x, spot.y) != before
    settle(qtbot, lambda: (spot.x, spot.y) == pytest.approx(before))
    corner = spot.room.rect.topLeft()
    page.mover.move_room(spot.room, 40, 40)
    assert spot.room.rect.topLeft() != corner
    settle(qtbot, lambda: spot.room.rect.topLeft() == corner)
    assert [problem.sentence for problem in heard.problems] == ["That room cannot stand there."] * 2


def test_what_is_refused_flies_back_visibly_where_things_may_move(
    qtbot: QtBot, context: Context, page: PalacePage, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rig.engine.palace, "move_locus", lambda *_: refused())
    context.theme.reduced_motion = False
    spot = first(page)
    before = (spot.x, spot.y)
    page.mover.move_locus(spot, spot.room, spot.room.plan.w - 1.5, spot.room.plan.h - 1.5)
    settle(qtbot, lambda: (spot.x, spot.y) == pytest.approx(before))


def test_a_locus_does_not_leave_its_wing(context: Context, wide: PalacePage, rig: Rig) -> None:
    heard = hear(context)
    ran: list[str] = []
    context.commands.add(Command("memory.move", "Move …", lambda: ran.append("move")))
    one, other = (
        wide.scene.rooms_of_wing(wide.scene.wings[0].id)[0],
        wide.scene.rooms_of_wing(wide.scene.wings[1].id)[0],
    )
    before = places(wide)
    wide.mover.move_locus(PlacedLocus(one, 0), other, 1.5, 2.5)
    assert places(wide) == before
    assert "another wing" in heard.sentences[0]
    assert rig.value("SELECT count(*) FROM places WHERE placed_by = 'owner'") == 0


def test_a_room_is_dragged_by_its_name(qtbot: QtBot, page: PalacePage, rig: Rig) -> None:
    room = first(page).room
    lens = page.canvas.camera.lens
    start = page.canvas.painter.name_rect(room, lens).center().toPoint()
    down = max(other.rect.bottom() for other in page.scene.rooms.values()) + 2 - room.rect.top()
    drag(page, start, start + QPoint(0, round(down * lens.scale)))
    settle(qtbot, lambda: rig.value("SELECT made_by FROM rooms WHERE id = ?", room.id) == "owner")
    stood = rig.rows("SELECT x, y FROM rooms WHERE id = ?", room.id)[0]
    settle(qtbot, lambda: (page.scene.rooms[room.id].plan.x, page.scene.rooms[room.id].plan.y) == stood)


def test_escape_lets_go_of_what_is_in_hand(page: PalacePage) -> None:
    spot = first(page)
    before = places(page)
    start = point(page, spot)
    page.canvas.setFocus()
    QTest.mousePress(page.canvas, LEFT, pos=start)
    page.canvas._pointer.move_to(QPointF(start) + QPointF(60, 30))
    assert page.canvas.marks.hidden == spot.id
    page.canvas.grab()
    press(page, Qt.Key.Key_Escape)
    assert page.canvas.marks.hidden == ""
    QTest.mouseRelease(page.canvas, LEFT, pos=start)
    assert places(page) == before


# ---- rooms


def test_a_room_is_renamed_where_its_name_stands(qtbot: QtBot, context: Context, page: PalacePage) -> None:
    heard = hear(context)
    room = first(page).room
    page.canvas.handle_click(None, room)
    press(page, Qt.Key.Key_F2)
    field = page.canvas.findChild(RoomNameField)
    assert isinstance(field, QLineEdit)
    assert field.text() == room.plan.name
    field.setText("Under the <i>stairs</i>")
    QTest.keyClick(field, Qt.Key.Key_Return)
    settle(qtbot, lambda: page.scene.rooms[room.id].plan.name == "Under the <i>stairs</i>")
    settle(qtbot, lambda: heard.sentences == ["The room has another name."])
    page.canvas.grab()


def test_escape_leaves_a_name_as_it_was(qtbot: QtBot, page: PalacePage) -> None:
    room = first(page).room
    field = page.verbs.start_rename(room)
    field.setText("Something else")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    settle(qtbot, lambda: page.canvas.findChild(RoomNameField) is None)
    assert page.scene.rooms[room.id].plan.name == room.plan.name != "Something else"


def test_two_rooms_become_one(qtbot: QtBot, page: PalacePage) -> None:
    rooms = list(page.scene.rooms.values())
    assert len(rooms) > 1
    gone = rooms[0]
    page.canvas.handle_click(None, gone)
    press(page, Qt.Key.Key_M)
    dialog = page.window().findChild(MergeDialog)
    assert dialog is not None
    assert dialog.rooms.count() == len(rooms) - 1
    dialog._on_room_chosen()
    settle(qtbot, lambda: gone.id not in page.scene.rooms)
    settle(qtbot, lambda: len(places(page)) == 42)


def test_a_memory_gets_a_room_of_its_own(qtbot: QtBot, page: PalacePage) -> None:
    spot = first(page)
    memory_id = spot.id
    dialog = page.verbs.ask_new_room(memory_id, "home")
    dialog.name.setText("Attic")
    dialog._on_name_entered()
    settle(qtbot, lambda: "Attic" in {room.plan.name for room in page.scene.rooms.values()})
    settle(qtbot, lambda: (found := page.scene.spot_of(memory_id)) is not None and found.room.plan.name == "Attic")


# ---- verbs by key and menu


def test_keys_run_the_commands_of_the_selected_memory(context: Context, page: PalacePage) -> None:
    ran: list[str] = []
    for command_id in ("memory.pin", "memory.forget", "memory.edit", "memory.move"):
        context.commands.add(Command(command_id, command_id, _noting(ran, command_id)))
    heard = hear(context)
    page.canvas.set_cursor_at(room_id=first(page).room.id)
    press(page, Qt.Key.Key_Space, Qt.Key.Key_P, Qt.Key.Key_Delete, Qt.Key.Key_E)
    assert ran == [], "nothing is selected"
    assert heard.sentences == ["Choose a memory first."] * 4
    page.canvas.select_locus(first(page))
    press(page, Qt.Key.Key_Space, Qt.Key.Key_Delete, Qt.Key.Key_F2, Qt.Key.Key_M)
    assert ran == ["memory.pin", "memory.forget", "memory.edit", "memory.move"]
    assert page.canvas.findChild(RoomNameField) is None, "a room is renamed where the keyboard stands on one"


def _noting(ran: list[str], name: str) -> Callable[[], None]:
    return lambda: ran.append(name)


def test_menus_offer_what_can_be_done(qtbot: QtBot, context: Context, page: PalacePage) -> None:
    searched: list[str] = []
    context.desk.search.connect(searched.append)
    context.commands.add(Command("memory.pin", "Pin or unpin", lambda: None))
    room = first(page).room
    name = page.canvas.painter.name_rect(room, page.canvas.camera.lens).center().toPoint()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, name, page.canvas.mapToGlobal(name))
    QApplication.sendEvent(page.canvas, event)
    titles = {action.text().split("\t")[0]: action for action in page.verbs.menu.actions()}
    assert {"Go in", "Rename …", "Merge into …", "Show in library"} <= set(titles)
    titles["Show in library"].trigger()
    assert searched == [f'space:home room:"{room.plan.name}"']
    context.bridge.engine.palace.rename_room(room.id, 'The "old" shed').result(30)
    settle(qtbot, lambda: room.plan.name == 'The "old" shed')
    terms = context.bridge.engine.library.parse_search(page.verbs.search_term_of(room)).terms
    assert {term.key: term.values for term in terms} == {"space": ("home",), "room": ('The "old" shed',)}
    page.verbs.menu.close()
    page.verbs.open_menu(first(page), QPoint(10, 10))
    titles = {action.text().split("\t")[0]: action for action in page.verbs.menu.actions()}
    assert {"Look closer", "Pin or unpin", "Show in graph"} <= set(titles)
    page.verbs.menu.close()


def test_dialogs_of_the_plan_go_with_it(page: PalacePage) -> None:
    room = first(page).room
    for dialog in (page.verbs.ask_merge(room), page.verbs.ask_new_room(first(page).id, room.wing.space)):
        assert dialog is not None
        assert dialog.isWindow()
        assert page.canvas.isAncestorOf(dialog) or dialog.parentWidget() is page.canvas
        dialog.close()


def test_a_room_too_small_for_its_name_says_it_under_the_pointer(
    qtbot: QtBot, context: Context, page: PalacePage
) -> None:
    canvas, room = page.canvas, first(page).room
    page.resize(470, 420)
    settle(qtbot, lambda: canvas.width() <= 470)
    band = canvas.painter.name_rect(room, canvas.camera.lens)
    at = QPointF(band.center().x(), band.top() + 2)
    canvas.hover_at(at)
    assert canvas.toolTip() == "", "its name stands there"
    name = f"<b>Sails</b> and everything else {'W' * 31}"
    context.bridge.engine.palace.rename_room(room.id, name).result(30)
    settle(qtbot, lambda: room.plan.name == name)
    canvas.hover_at(at)
    assert "&lt;b&gt;Sails&lt;/b&gt; and everything else" in canvas.toolTip()
    assert f"{len(room.ids)} memories" in canvas.toolTip()
    canvas.hover_at(None)
    assert canvas.toolTip() == ""


def test_from_far_away_a_name_is_whole_or_not_said(page: PalacePage) -> None:
    room = first(page).room
    painter, near, look = page.canvas.painter, page.canvas.camera.lens, page.scene.look
    assert painter.is_name_shown(room, near, look)
    assert not painter.is_name_shown(room, replace(near, scale=1.0), look)
