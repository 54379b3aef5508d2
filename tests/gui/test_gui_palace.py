"""The palace page over a real engine: reading, walking, following, looks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import Future

import pytest
from engine_rig import Rig
from palace_rig import LEFT, TOPICS, drag, first, furnish, opened, places, point, press, shut
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from window_rig import remember, settle

from core.errors import Code, EnvironmentFaultError
from core.events import Changed
from core.types.values import OWNER_ACTOR, Kind
from core.types.views import Revision
from ui.context import Command, Context
from ui.pages.palace.items import RoomItem
from ui.pages.palace.page import PALACE, PalacePage, WaitingMemoriesLine
from ui.pages.palace.picture.layout import wing_block
from ui.pages.palace.scene import LOCUS, ROOM, WHOLE, WING, PlacedLocus
from ui.shell.window import SearchBox
from ui.widgets.basics import MenuChip, make_column
from ui.widgets.labels import name_space
from ui.widgets.states import EmptyState, TroubleState

HOSTILE = "<b>bold</b> <img src=x> \u202eevil and the boat at the harbour with sails"


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


@pytest.mark.parametrize("is_searching", [True, False])
def test_a_plan_that_comes_late_takes_the_keyboard_from_nobody_who_is_about_to_search(
    qtbot: QtBot, context: Context, rig: Rig, *, is_searching: bool
) -> None:
    host, field, made = QWidget(), QLineEdit(), PALACE.make(context)
    assert isinstance(made, PalacePage)
    make_column(host, field, made)
    qtbot.addWidget(host)
    box = SearchBox(context, field, host)
    context.bridge.changed.connect(made.handle_change)
    host.show()
    host.activateWindow()
    made.setFocus()
    made.activate()
    settle(qtbot, lambda: isinstance(made.states.currentWidget(), EmptyState))
    field.setFocus()  # as if it had fallen there
    settle(qtbot, field.hasFocus)
    if is_searching:
        QTest.mouseClick(field, LEFT)
    rig.bring([{"text": f"{words} {nr}"} for words in TOPICS.values() for nr in range(14)])
    rig.settle()
    rig.engine.palace.place_waiting().result(60)
    settle(qtbot, made.canvas.isVisible)
    assert host.focusWidget() is (field if is_searching else made.canvas)
    box.close()
    shut(qtbot, made)


def test_a_search_lights_up_the_plan_wherever_the_keyboard_is(page: PalacePage) -> None:
    page.header.colour.setFocus()
    assert page.takes_search()
    page.focus_search()
    assert page.finder.bar.isVisible()
    page.finder.bar.field.setFocus()
    assert not page.takes_search(), "the window's own field is next"


def test_a_double_click_on_the_name_of_a_wing_goes_in(wide: PalacePage) -> None:
    wing = wide.scene.wings[1]
    block = wing_block(wing, wide.scene, wide.canvas.camera.lens, wide.context.theme)
    at = QPoint(round(block.left()) + 24, round(block.top()) + 8)
    QTest.mouseDClick(wide.canvas, LEFT, Qt.KeyboardModifier.NoModifier, at)
    assert (wide.canvas.where.level, wide.canvas.where.wing_id) == (WING, wing.id)


def test_a_memory_of_another_wing_or_room_is_shown_in_all_of_it(wide: PalacePage) -> None:
    rooms = [next(room for room in wide.scene.rooms.values() if room.wing.id == wing.id) for wing in wide.scene.wings]
    wide.canvas.enter_wing(rooms[0].wing.id)
    wide.context.selection.select(rooms[1].ids[0], "library")
    assert wide.canvas.camera.fit == (WING, rooms[1].wing.id)
    wide.canvas.enter_room(rooms[1].id)
    wide.context.selection.select(rooms[0].ids[0], "library")
    assert wide.canvas.camera.fit == (ROOM, rooms[0].id)


# ---- states


def test_an_empty_palace_teaches_and_offers_the_import_and_a_new_memory(qtbot: QtBot, context: Context) -> None:
    asked: list[str] = []
    context.commands.add(Command("file.new", "Write a new memory", lambda: asked.append("new")))
    context.desk.import_paths.connect(lambda _: asked.append("import"))
    page = opened(qtbot, context)
    settle(qtbot, lambda: isinstance(page.states.currentWidget(), EmptyState))
    state = page.states.currentWidget()
    assert state is not None
    assert "empty" in state.accessibleName()
    for act in state.findChildren(QPushButton):
        act.click()
    assert asked == ["import", "new"]
    shut(qtbot, page)


def test_what_waits_is_said_and_can_be_arranged(qtbot: QtBot, context: Context, rig: Rig) -> None:
    rig.bring([{"text": f"A thing about {topic} {nr}", "kind": "fact"} for topic in TOPICS for nr in range(5)])
    rig.settle()
    page = opened(qtbot, context)
    settle(qtbot, lambda: isinstance(page.states.currentWidget(), WaitingMemoriesLine))
    page.absence._arrange_memories()
    settle(qtbot, lambda: len(page.scene.rooms) > 0 and page.canvas.isVisible())
    settle(qtbot, lambda: len(places(page)) == 15)
    shut(qtbot, page)


def test_a_plan_that_cannot_be_read_is_told_with_a_way_out(
    qtbot: QtBot, context: Context, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    furnish(rig)
    whole = rig.engine.palace.read_plan
    broken: Future[object] = Future()
    broken.set_exception(EnvironmentFaultError(Code.DISK_FULL, "The disk is full."))
    monkeypatch.setattr(rig.engine.palace, "read_plan", lambda: broken)
    page = PALACE.make(context)
    assert isinstance(page, PalacePage)
    qtbot.addWidget(page)
    page.show()
    page.activate()
    settle(qtbot, lambda: isinstance(page.states.currentWidget(), TroubleState))
    monkeypatch.setattr(rig.engine.palace, "read_plan", whole)
    page.activate()
    settle(qtbot, lambda: page.canvas.isVisible())
    shut(qtbot, page)


# ---- where one is


def test_one_wing_opens_at_the_wing(page: PalacePage) -> None:
    assert page.canvas.where.level == WING
    assert page.header.title.whole == "home"
    assert "42 placed in" in page.header.count.whole
    assert "have a place" in page.header.count.accessibleDescription()
    seen = page.canvas.camera.lens.visible_area
    assert all(seen.contains(room.rect) for room in page.scene.rooms.values())


def test_the_count_in_the_header_is_left_out_before_it_or_a_name_is_cut(page: PalacePage) -> None:
    ways = [(name, page.header.update) for name in ("Palace", "home", "Summer 2023, talk")]
    page.header.show_path("Summer 2023, talk", ways, "· 42")
    seen = set()
    for wide in range(700, 1_300, 20):
        page.header.resize(wide, page.header.height())
        page.header._lines.activate()
        seen.add(page.header.count.isHidden())
        if not page.header.count.isHidden():
            assert page.header.count.text() == page.header.count.whole
            assert page.header.title.text() == page.header.title.whole
    assert seen == {True, False}


def test_several_wings_open_at_the_palace_and_one_walks_in_and_out(wide: PalacePage) -> None:
    page = wide
    assert page.canvas.where.level == WHOLE
    assert page.header.title.whole == "Palace"
    page.canvas.setFocus()
    press(page, Qt.Key.Key_Right, Qt.Key.Key_Right)
    wing = page.scene.wings[1]
    assert page.canvas.marks.cursor_wing == wing.id
    assert page.canvas.accessibleDescription().startswith(f"Wing {wing.space}: ")
    press(page, Qt.Key.Key_Return)
    assert (page.canvas.where.level, page.canvas.where.wing_id) == (WING, wing.id)
    press(page, Qt.Key.Key_Right)
    room = page.scene.rooms[page.canvas.marks.cursor_room]
    assert room.wing.id == wing.id
    assert room.plan.name in page.line.whole
    press(page, Qt.Key.Key_Enter)
    assert (page.canvas.where.level, page.canvas.where.room_id) == (ROOM, room.id)
    assert page.header.title.whole == room.plan.name
    press(page, Qt.Key.Key_Enter)
    assert page.context.selection.current in room.ids
    press(page, Qt.Key.Key_Enter)
    assert page.canvas.where.level == LOCUS
    press(page, Qt.Key.Key_Escape)
    assert page.canvas.where.level == ROOM
    press(page, Qt.Key.Key_Escape)
    assert page.canvas.where.level == WING
    press(page, Qt.Key.Key_Escape)
    assert page.context.selection.current == ""
    press(page, Qt.Key.Key_Escape)
    assert page.canvas.where.level == WHOLE
    press(page, Qt.Key.Key_Home)
    assert page.canvas.camera.fit == (WHOLE, "")


def test_arrows_select_the_next_locus_and_say_what_it_is(qtbot: QtBot, page: PalacePage) -> None:
    spot = first(page)
    page.canvas.select_locus(spot)
    before = (spot.x, spot.y)
    press(page, Qt.Key.Key_Right)
    found = page.scene.spot_of(page.context.selection.current)
    assert found is not None
    assert found.x > before[0]
    settle(qtbot, lambda: found.room.plan.name in page.canvas.accessibleDescription())
    assert page.canvas.accessibleDescription().split(":")[0] in {"Fact", "Rule", "Episode"}
    assert page.line.whole == page.canvas.accessibleDescription()


def test_arrows_go_on_into_the_next_room(page: PalacePage) -> None:
    room = min(page.scene.rooms.values(), key=lambda found: (found.rect.left(), found.rect.top()))
    spots = [PlacedLocus(room, at) for at in range(len(room.ids))]
    page.canvas.select_locus(max(spots, key=lambda spot: spot.x))
    for _ in range(3):
        press(page, Qt.Key.Key_Right)
    found = page.scene.spot_of(page.context.selection.current)
    assert found is not None
    assert found.room is not room


def test_the_wheel_zooms_at_the_pointer_and_empty_ground_pushes(page: PalacePage) -> None:
    canvas = page.canvas
    at = QPointF(300, 200)
    before = canvas.camera.lens.plan_point(at.x(), at.y())
    none = Qt.KeyboardModifier.NoModifier
    inverted = False
    event = QWheelEvent(
        at, at, QPoint(), QPoint(0, 240), Qt.MouseButton.NoButton, none, Qt.ScrollPhase.NoScrollPhase, inverted
    )
    scale = canvas.camera.lens.scale
    QApplication.sendEvent(canvas, event)
    assert canvas.camera.lens.scale > scale
    assert canvas.camera.lens.plan_point(at.x(), at.y()) == pytest.approx(before, abs=1e-6)
    empty = next(
        QPoint(x, y)
        for x in range(4, canvas.width() - 80, 7)
        for y in range(4, canvas.height() - 60, 7)
        if canvas.spot_at(QPointF(x, y)) is None and canvas.name_at(QPointF(x, y)) is None
    )
    place = canvas.camera.lens.plan_point(empty.x(), empty.y())
    drag(page, empty, empty + QPoint(60, 40))
    assert canvas.camera.lens.plan_point(empty.x() + 60, empty.y() + 40) == pytest.approx(place, abs=1e-6)


def test_levels_and_crumbs_lead_there(page: PalacePage) -> None:
    page.canvas.select_locus(first(page))
    page._go_to_level(ROOM)
    assert page.canvas.where.level == ROOM
    page._go_to_level(LOCUS)
    assert page.canvas.where.level == LOCUS
    page._go_to_wing()
    assert page.canvas.where.level == WING


def way_up(page: PalacePage) -> list[str]:
    """The links to the levels above."""
    items = (page.header._way.itemAt(at) for at in range(page.header._way.count()))
    links = [None if item is None else item.widget() for item in items]
    return [link.text() for link in links if isinstance(link, QPushButton)]


def test_the_way_up_names_only_levels_that_can_be_gone_to(page: PalacePage) -> None:
    room = first(page).room
    page.canvas.enter_room(room.id)
    wing, wings = name_space(room.wing.space), sum(bool(one.rooms) for one in page.scene.wings)
    assert way_up(page) == (["Palace", wing] if wings > 1 else [wing])
    page.scene._wings = {room.wing.id: room.wing}
    page.canvas.looked.emit()
    assert way_up(page) == [wing]
    page._go_to_wing()
    assert page.header._crumbs.isHidden()


def test_the_level_of_texts_is_that_of_the_room_one_is_at(page: PalacePage) -> None:
    last = list(page.scene.rooms.values())[-1]
    page.canvas.marks.selected = ""
    page.canvas.set_cursor_at(room_id=last.id)
    page._go_to_level(LOCUS)
    assert page.canvas.where.room_id == last.id


def test_a_palace_of_one_wing_offers_no_level_of_wings(page: PalacePage) -> None:
    page.header.show_level(WING, wings=1)
    assert WHOLE not in page.header.level._choices
    assert page.header.level.current == WING
    page.header.show_level(WHOLE, wings=2)
    assert page.header.level.current == WHOLE
    assert WHOLE in page.header.level._choices


def test_the_camera_is_kept_for_the_next_time(qtbot: QtBot, context: Context, page: PalacePage) -> None:
    room = first(page).room
    page.canvas.enter_room(room.id)
    page.deactivate()
    again = opened(qtbot, context)
    assert (again.canvas.where.level, again.canvas.where.room_id) == (ROOM, room.id)
    shut(qtbot, again)


# ---- the vault changes


def test_nothing_that_stands_moves_and_the_camera_stays(qtbot: QtBot, page: PalacePage, rig: Rig) -> None:
    page.canvas.camera.zoom_by(1.3, QPointF(100, 100))
    before, lens = places(page), page.canvas.camera.lens
    new = remember(
        rig.engine, "home the boat at the harbour with sails, rope and tar number 99", space="home"
    ).memory_id
    rig.settle()
    rig.engine.palace.place_waiting().result(30)
    settle(qtbot, lambda: page.scene.spot_of(new) is not None)
    after = places(page)
    assert {key: after[key] for key in before} == before
    assert page.canvas.camera.lens == lens


def test_only_rooms_that_were_touched_are_read_again(
    qtbot: QtBot, page: PalacePage, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    whole = rig.engine.palace.read_loci

    def loci(room_id: str) -> object:
        asked.append(room_id)
        return whole(room_id)

    monkeypatch.setattr(rig.engine.palace, "read_loci", loci)
    spot = first(page, 2)
    memory_id, room = spot.id, spot.room
    rig.forget(memory_id)
    settle(qtbot, lambda: bool(asked))
    settle(qtbot, lambda: not bool(room.shown[room.row_of(memory_id)]) if len(room.shown) else False)
    assert set(asked) == {room.id}


def test_a_text_that_is_written_anew_keeps_its_place(qtbot: QtBot, page: PalacePage, rig: Rig) -> None:
    spot = first(page, 1)
    stood, old = (spot.x, spot.y), spot.id
    report = rig.engine.library.revise_memories((old,), Revision(text="home the boat, told anew")).result(30)
    assert report.ids[0] != old
    settle(qtbot, lambda: places(page).get(report.ids[0]) == stood)
    assert old not in places(page)


def test_a_page_that_is_not_shown_reads_nothing_until_it_is(qtbot: QtBot, page: PalacePage, rig: Rig) -> None:
    page.hide()
    plan = page.scene.plan
    page.handle_change(Changed("store", ("x",), OWNER_ACTOR, 1))
    assert page.is_stale
    assert not page.reader._reload.isActive()
    page.show()
    page.activate()
    settle(qtbot, lambda: page.scene.plan is not plan)


# ---- selection


def test_a_selection_from_elsewhere_is_followed(qtbot: QtBot, context: Context, page: PalacePage) -> None:
    page.canvas.enter_room(first(page).room.id)
    other = list(page.scene.rooms.values())[-1]
    wanted = other.ids[0]
    context.selection.select(wanted, "library")
    settle(qtbot, lambda: page.canvas.marks.selected == wanted)
    lens, spot = page.canvas.camera.lens, page.scene.spot_of(wanted)
    assert spot is not None
    assert lens.visible_area.contains(spot.x, spot.y)


def test_show_finds_a_memory_whose_room_was_not_read(qtbot: QtBot, context: Context, rig: Rig) -> None:
    furnish(rig)
    wanted = rig.value("SELECT memory_id FROM places LIMIT 1")
    context.theme.reduced_motion = True
    page = PALACE.make(context)
    qtbot.addWidget(page)
    page.show()
    page.activate(f"show:{wanted}")
    assert isinstance(page, PalacePage)
    settle(qtbot, lambda: page.canvas.marks.selected == wanted)
    assert context.selection.current == wanted
    shut(qtbot, page)


def test_a_click_selects_and_one_on_nothing_lets_go(context: Context, page: PalacePage) -> None:
    spot = first(page, 3)
    QTest.mouseClick(page.canvas, LEFT, pos=point(page, spot))
    assert context.selection.current == spot.id
    QTest.mouseClick(page.canvas, LEFT, pos=QPoint(3, page.canvas.height() - 3))
    assert context.selection.current == ""


def test_what_contradicts_the_selected_one_is_tied_to_it(
    qtbot: QtBot, context: Context, page: PalacePage, rig: Rig
) -> None:
    one, other = first(page, 0), first(page, 5)
    space = rig.value("SELECT space_id FROM memories WHERE id = ?", one.id)
    ends = {"from_id": one.id, "to_id": other.id, "space_id": space}
    edge = {"id": "e1", "type": "contradicts", "made_by": "owner", "recorded_at": 1, **ends}
    rig.write(lambda tx: tx.insert("edges", edge))
    page.canvas.select_locus(one)
    settle(qtbot, lambda: page.canvas.marks.others == {other.id: "contradicts"})
    page.canvas.grab()


# ---- how it looks


def test_colour_kind_and_time_change_what_is_counted(qtbot: QtBot, context: Context, page: PalacePage) -> None:
    page.header.colour._on_choice("age")
    assert context.prefs.read_text("palace.colour") == "age"
    page.header.kinds._on_choice("fact")
    assert "15 placed in" in page.header.count.whole
    page.header.kinds._on_choice("all")
    page.time.axes.show_choice("said")
    page.canvas.grab()
    assert page.scene.look.kind is None


def test_every_level_is_painted_in_both_themes_and_large(qtbot: QtBot, context: Context, page: PalacePage) -> None:
    spot = first(page)
    for theme, scale in (("light", 100), ("dark", 150)):
        context.theme.apply_theme(theme, scale, reduced_motion=True)
        for level in (WHOLE, ROOM, LOCUS):
            page.canvas.select_locus(spot)
            page._go_to_level(level)
            page.canvas._read_heads_in_sight()
            settle(qtbot, lambda: page.canvas.heads.get_row(spot.id) is not None)
            image = page.canvas.grab().toImage()
            assert len({image.pixel(x, y) for x in range(0, image.width(), 9) for y in range(0, image.height(), 9)}) > 3


def test_hostile_text_is_shown_as_text(qtbot: QtBot, context: Context, rig: Rig) -> None:
    furnish(rig)
    memory_id = remember(rig.engine, HOSTILE, space="home", kind=Kind.FACT).memory_id
    rig.settle()
    rig.engine.palace.place_waiting().result(30)
    page = opened(qtbot, context)
    spot = page.scene.spot_of(memory_id)
    assert spot is not None
    page.canvas.select_locus(spot)
    settle(qtbot, lambda: "<b>bold</b>" in page.line.whole)
    assert "\u202e" not in page.line.whole
    assert "U+202E" in page.line.whole
    assert page.line.textFormat() == Qt.TextFormat.PlainText
    shut(qtbot, page)


def test_the_page_fits_a_small_window_with_large_text(qtbot: QtBot, context: Context, page: PalacePage) -> None:
    context.theme.apply_theme("light", 150, reduced_motion=True)
    page.resize(470, 620)
    settle(qtbot, lambda: page.width() == 470)
    for widget in (page.header.colour, page.header.kinds, page.time.axes, page.time.bar, page.canvas):
        assert widget.isVisible()
        right = widget.mapTo(page, QPoint(widget.width(), 0)).x()
        assert right <= page.width()
        least = widget.sizeHint().width() if isinstance(widget, MenuChip) else widget.minimumSizeHint().width()
        settle(qtbot, lambda widget=widget, least=least: widget.width() >= least)  # type: ignore[misc]


def test_everything_has_a_name_and_can_be_reached(page: PalacePage) -> None:
    for widget in (page.canvas, page.time.bar, page.header.colour, page.header.kinds, page.header.level, page.legend):
        assert widget.accessibleName()
    for widget in (page.canvas, page.time.bar, page.header.colour, page.header.kinds, page.header.level):
        assert widget.focusPolicy() & Qt.FocusPolicy.TabFocus


def test_leaving_stops_everything(context: Context, page: PalacePage) -> None:
    context.theme.reduced_motion = False
    page.canvas.enter_room(first(page).room.id)
    camera = page.canvas.camera
    flying = [camera.is_flying]
    page.deactivate()
    flying.append(camera.is_flying)
    assert flying == [True, False]
    assert not page.canvas._look_up.isActive()
    assert not page.canvas._hovering.isActive()
    assert not page.reader._reload.isActive()


# ---- a large room


def _reachable_rows(page: PalacePage, room: RoomItem) -> set[int]:
    """Rows of a room that the arrow keys come to from the one that Enter chooses."""
    press(page, Qt.Key.Key_Return)
    spot = page.scene.spot_of(page.canvas.marks.selected)
    assert spot is not None
    seen, todo = {spot.at}, [spot.at]
    while todo:
        row = todo.pop()
        for key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down):
            page.canvas.select_locus(PlacedLocus(room, row))
            press(page, key)
            spot = page.scene.spot_of(page.canvas.marks.selected)
            if spot is not None and spot.room is room and spot.at not in seen:
                seen.add(spot.at)
                todo.append(spot.at)
    return seen


def test_a_room_of_170_says_how_many_texts_are_shown_and_the_arrows_reach_each(
    qtbot: QtBot, context: Context, rig: Rig
) -> None:
    rows = [{"text": f"{TOPICS['garden']} {nr} in summer", "kind": "fact", "ref": f"g{nr}"} for nr in range(170)]
    rig.bring([*rows, *({"text": f"{TOPICS['boat']} {nr}", "kind": "fact", "ref": f"b{nr}"} for nr in range(14))])
    rig.settle()
    rig.engine.palace.place_waiting().result(60)
    page = opened(qtbot, context)
    room = max(page.scene.rooms.values(), key=lambda one: len(one.ids))
    page.canvas.enter_room(room.id)
    for size in ((1000, 760), (640, 480)):
        page.resize(*size)
        settle(
            qtbot, lambda: re.fullmatch(r"· 170 placed · \d\d? with their text", page.header.count.whole) is not None
        )
    page.resize(1400, 900)
    settle(qtbot, lambda: page.header.count.whole == "· 170 placed")
    assert _reachable_rows(page, room) == set(range(170))
    shut(qtbot, page)
