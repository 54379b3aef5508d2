"""Words on the plan: what rooms say from outside and from within, what is found, what gives way, what is recognised."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace

import numpy as np
import pytest
from engine_rig import Rig
from hypothesis import given
from hypothesis import strategies as st
from palace_rig import first, furnish, opened, press, shut
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPixmap
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from window_rig import hear, settle

from core.errors import Code, EnvironmentFaultError
from core.types.values import Kind
from core.types.views import HEADER, MARGIN, Alcove, Furnishing, Landmark, RoomPlan
from ui.bridge import read_emblems
from ui.context import Context
from ui.pages.palace.emblems import EmblemDialog
from ui.pages.palace.items import RoomItem
from ui.pages.palace.lattice import WIDEST, assign_card_cells, lattice_shape
from ui.pages.palace.page import PalacePage
from ui.pages.palace.picture.furniture import outline_path
from ui.pages.palace.picture.layout import CanvasRoom, DetailLevel, layout_room
from ui.pages.palace.picture.room_face import share_lines
from ui.pages.palace.picture.words import break_text
from ui.pages.palace.scene import ROOM, WHOLE, Lens, PlacedLocus


@pytest.fixture
def page(qtbot: QtBot, context: Context, rig: Rig) -> Iterator[PalacePage]:
    """Two wings."""
    furnish(rig, spaces=("home", "work"))
    made = opened(qtbot, context)
    yield made
    shut(qtbot, made)


def furnished(room: RoomItem, count: int = 6) -> RoomItem:
    """A room whose first memories are its landmarks."""
    marks = tuple(
        Landmark(room.ids[nr], f"The {nr}th landmark says a whole sentence about itself, so that it has to be cut",
                 Kind.FACT, nr, float(room.x[nr]), float(room.y[nr]), 0, "lifecycle")
        for nr in range(count)
    )  # fmt: skip
    plan = replace(room.plan, landmarks=marks, furnishing=Furnishing("house", 3, 1, 2))
    room.update_plan(room.wing, plan)
    return room


def lens_for(room: RoomItem, wide: float) -> Lens:
    """A look in which a room is so wide, px."""
    return Lens(room.rect.center().x(), room.rect.center().y(), wide / room.rect.width(), 1400, 900)


# ---- lines


@given(
    st.lists(st.integers(1, 4), max_size=6), st.floats(10, 20), st.floats(0, 12), st.floats(0, 8), st.floats(0, 300),
    st.integers(1, 3),
)  # fmt: skip
def test_lines_fit_and_the_most_important_come_first(
    needs: list[int], line: float, frame: float, gap: float, high: float, most: int
) -> None:
    found = share_lines(needs, line, frame, gap, high, most)
    assert len(found) <= len(needs)
    assert all(1 <= got <= max(1, need) for got, need in zip(found, needs, strict=False))
    assert sum(got * line + frame for got in found) + gap * max(len(found) - 1, 0) <= high + 1e-6
    if needs and high >= line + frame:
        assert found


def test_a_text_is_cut_at_the_end_of_a_word(qapp: object) -> None:
    assert qapp is not None
    font, text = QFont(), "The printer has talked us into the heavier paper after all"
    font.setPixelSize(13)  # the application's may be as large as the test before wished
    metrics = QFontMetricsF(font)
    for wide in range(140, 400, 7):
        last = break_text(text, font, wide, 1)[-1]
        assert metrics.horizontalAdvance(last) <= wide
        if last.endswith("…"):
            assert text.startswith(last[:-1])
            assert text[len(last) - 1] in " ,"


def test_words_of_a_person_in_brackets_stay(page: PalacePage) -> None:
    words, font = page.canvas.painter._words, QFont()
    assert words.break_lines("Trips (photos)", font, 900, 2) == ("Trips (photos)",)
    assert words.break_lines("No penicillin (image in the folder)", font, 900, 2) == (
        "No penicillin (image in the folder)",
    )


def test_of_the_neighbours_of_a_fitted_room_no_mere_strip_is_shown(
    page: PalacePage, monkeypatch: pytest.MonkeyPatch
) -> None:
    canvas, shown = page.canvas, list[str]()
    room = first(page).room
    other = next(one for one in canvas.scene.rooms.values() if one.rect.left() >= room.rect.right())

    def lay_out(one: RoomItem, lens: Lens) -> CanvasRoom:
        shown.append(one.id)
        return layout_room(one, lens, canvas.theme)

    monkeypatch.setattr(canvas.painter, "layout_of", lay_out)
    edge = (other.rect.left() - room.rect.left()) * 100 + 20
    lens = Lens(room.rect.left() + edge / 200, room.rect.center().y(), 100, edge, 900)
    picture = QPixmap(round(edge), 900)
    for fitted in ("", room.id):
        shown.clear()
        painter = QPainter(picture)
        canvas.painter.paint(painter, canvas.scene, lens, 1.0, hidden="", appear=1.0, fitted=fitted)
        painter.end()
        assert room.id in shown
        assert (other.id in shown) is not bool(fitted)


def test_one_long_word_is_cut_within(qapp: object) -> None:
    assert qapp is not None
    found = break_text("Donaudampfschifffahrtsgesellschaft " * 3, QFont(), 90, 1)
    assert found[0].endswith("…")
    assert len(found[0]) > 4


# ---- rooms


def test_the_outlines_differ(qapp: object) -> None:
    assert qapp is not None
    paths = [outline_path(QRectF(0, 0, 200, 120), kind, 11) for kind in range(4)]
    points = [(2, 2), (9, 3), (12, 12)]
    seen = {tuple(path.contains(QPoint(*point)) for point in points) for path in paths}
    assert len(seen) >= 3
    assert all(path.boundingRect() == QRectF(0, 0, 200, 120) for path in paths)


@pytest.mark.parametrize("wide", [90, 130, 180, 260, 340, 480, 600])
def test_words_of_landmarks_stand_in_their_room_and_never_overlap(page: PalacePage, wide: float) -> None:
    room = furnished(first(page).room)
    page.canvas.grab()
    painter = page.canvas.painter
    layout = painter.layout_of(room, lens_for(room, wide))
    if layout.detail > DetailLevel.LANDMARKS:
        return
    composed = painter._faces.compose(room, layout, page.scene.look)
    rects = [card.rect for card in composed.cards] + [composed.emblem, composed.count, composed.name_at]
    rects = [rect for rect in rects if not rect.isEmpty()]
    whole = QRectF(0, 0, layout.rect.width() + 1, layout.rect.height() + 1)
    assert all(whole.contains(rect) for rect in rects)
    inner = [rect.adjusted(0.5, 1, -0.5, -1) for rect in rects]
    assert not any(one.intersects(other) for at, one in enumerate(inner) for other in inner[:at])
    if layout.rect.height() > 100:
        assert composed.cards


def test_a_room_with_ground_left_lists_what_is_read_after_its_landmarks(qtbot: QtBot, page: PalacePage) -> None:
    room = furnished(first(page).room)
    page.canvas.grab()
    painter, heads = page.canvas.painter, page.canvas.heads
    small, large = (
        replace(
            painter.layout_of(room, lens_for(room, wide)), detail=DetailLevel.LANDMARKS, rect=QRectF(0, 0, wide, high)
        )
        for wide, high in ((360.0, 300.0), (560.0, 420.0))
    )
    assert small.listed_rows(room).size == 0
    ground = [at for at in range(len(room.ids)) if at not in room.landmarks][:1]
    room.ground = np.isin(np.arange(len(room.ids)), ground)
    listed = large.listed_rows(room).tolist()
    assert sorted(listed) == [at for at in range(len(room.ids)) if at not in room.landmarks and at not in ground]
    heads.forget_rows(())
    before = painter._faces.compose(room, large, page.scene.look)
    assert {room.row_of(card.landmark.memory_id) for card in before.cards} <= set(room.landmarks)
    page.canvas.wanted.emit(tuple(room.ids[at] for at in listed))
    settle(qtbot, lambda: all(heads.get_row(room.ids[at]) is not None for at in listed))
    cards = painter._faces.compose(room, large, page.scene.look).cards
    shown = [room.row_of(card.landmark.memory_id) for card in cards]
    assert set(room.landmarks) < set(shown)
    assert set(shown) - set(room.landmarks) <= set(listed)
    assert not any(one.rect.intersects(other.rect) for at, one in enumerate(cards) for other in cards[:at])


def test_from_near_every_memory_is_a_card_of_its_own(qtbot: QtBot, page: PalacePage) -> None:
    room = furnished(first(page).room)
    page.canvas.enter_room(room.id)
    lens, painter = page.canvas.camera.lens, page.canvas.painter
    assert all(painter.is_text_shown(lens, PlacedLocus(room, at)) for at in range(len(room.ids)))
    rects = [painter.spot_rect(PlacedLocus(room, at), lens, page.scene.look) for at in range(len(room.ids))]
    assert not any(one.intersects(other) for at, one in enumerate(rects) for other in rects[:at])
    page.canvas._read_heads_in_sight()
    settle(qtbot, lambda: all(page.canvas.heads.get_row(memory_id) is not None for memory_id in room.ids))
    for at, rect in enumerate(rects):
        found = painter.spot_at(rect.center(), page.scene, lens)
        assert found is not None
        assert found.at == at


def test_labels_among_shapes_do_not_overlap_and_give_way(page: PalacePage) -> None:
    room = furnished(first(page).room)
    page.canvas.grab()
    painter = page.canvas.painter
    layout = replace(painter.layout_of(room, lens_for(room, 700)), detail=DetailLevel.SHAPES, least_card=(9e3, 9e3))
    labels = painter._labels_of(room, layout)
    assert labels
    rects = [label.rect for label in labels]
    assert not any(one.intersects(other) for at, one in enumerate(rects) for other in rects[:at])
    assert all(layout.inside.adjusted(-1, -1, 1, 1).contains(rect) for rect in rects)


def test_the_words_of_a_landmark_stay_in_its_alcove_below_the_name(page: PalacePage) -> None:
    room = furnished(first(page).room)
    wide, high = room.plan.w - 2 * MARGIN, room.plan.h - HEADER - MARGIN
    upper = float(high // 2)
    alcoves = (
        Alcove("up", "Upper", MARGIN, HEADER, wide, upper),
        Alcove("low", "Lower", MARGIN, HEADER + upper, wide, high - upper),
    )
    room.update_plan(room.wing, replace(room.plan, alcoves=alcoves))
    page.canvas.grab()
    painter = page.canvas.painter
    layout = replace(painter.layout_of(room, lens_for(room, 1200)), detail=DetailLevel.SHAPES, least_card=(9e3, 9e3))
    labels = painter._labels_of(room, layout)
    assert labels
    names = painter._interior.alcove_names(room, layout)
    for label in labels:
        row = room.row_of(label.landmark.memory_id)
        at = int(float(room.y[row]) >= alcoves[1].y)
        area = layout.area_at(alcoves[at].x, alcoves[at].y, alcoves[at].w, alcoves[at].h)
        assert area.adjusted(-1, -1, 1, 1).contains(label.rect)
        assert label.rect.top() >= names[at].bottom()


def test_the_count_gives_way_before_a_rooms_name_is_cut(page: PalacePage) -> None:
    room = furnished(first(page).room)
    page.canvas.grab()
    painter = page.canvas.painter
    counts = set()
    for wide in range(180, 420, 4):
        layout = painter.layout_of(room, lens_for(room, wide))
        room.update_plan(room.wing, replace(room.plan, name="Summer 2023, Marisol and Bartholomew", count=1_234))
        if layout.detail != DetailLevel.LANDMARKS:
            continue
        composed = painter._faces.compose(room, layout, page.scene.look)
        counts.add((composed.is_whole, composed.count.isEmpty()))
    assert (True, False) in counts
    assert (False, True) not in counts  # without its count it would not be whole either


def test_a_card_begins_where_its_text_says_something(page: PalacePage, rig: Rig) -> None:
    spot = first(page)
    (row,) = rig.engine.library.read_rows((spot.id,)).result(30)
    page.canvas.heads.store_rows([replace(row, head="Thanks, Ada! The kite flew.", said="The kite flew.")])
    assert page.canvas.painter._interior._text_of(spot.room, spot.at) == "The kite flew."


def test_a_room_that_is_entered_shows_words_and_small_talk_as_shapes(qtbot: QtBot, page: PalacePage) -> None:
    room = furnished(first(page).room)
    room.ground = np.arange(len(room.ids)) % 3 == 2
    page.canvas.grab()
    lens, painter = lens_for(room, 700), page.canvas.painter
    layout = replace(painter.layout_of(room, lens), detail=DetailLevel.SHAPES)
    told = [at for at in range(len(room.ids)) if not room.ground[at] or at in room.landmarks]
    assert layout.readable_rows(room).tolist() == told
    rects = [painter._interior.card_rect(room, layout, at) for at in told]
    assert not any(one.intersects(other) for at, one in enumerate(rects) for other in rects[:at])
    assert all(rect.width() >= layout.least_card[0] * 0.9 for rect in rects)


def test_a_click_on_any_part_of_a_card_selects_it(page: PalacePage) -> None:
    room = furnished(first(page).room)
    page.canvas.enter_room(room.id)
    lens, painter = page.canvas.camera.lens, page.canvas.painter
    wide = [at for at in range(len(room.ids)) if room.card_places()[at].tolist() == [2, 2]]
    assert wide
    for at in wide:
        rect = painter.spot_rect(PlacedLocus(room, at), lens, page.scene.look)
        for point in (rect.topLeft() + QPointF(3, 3), rect.bottomRight() - QPointF(3, 3), rect.center()):
            found = painter.spot_at(point, page.scene, lens)
            assert found is not None
            assert found.at == at


@given(st.integers(0, 2), st.integers(4, 12), st.integers(4, 16), st.integers(0, 60), st.integers(0, 99))
def test_no_two_cards_share_a_place_and_none_leaves_its_alcove(
    density: int, wide: int, high: int, count: int, seed: int
) -> None:
    step, dice = 2.0**-density, np.random.default_rng(seed)
    half = wide // 2
    alcoves = tuple(
        Alcove(str(nr), "One", MARGIN + nr * half, HEADER, (half, wide - half)[nr], float(high)) for nr in range(2)
    )
    plan = RoomPlan("r", "Room", 0, 0, wide + 2 * MARGIN, high + HEADER + MARGIN, count, density, "lifecycle",
                    None, (), alcoves)  # fmt: skip
    lines, columns = lattice_shape(plan, step)
    first_line = int(np.ceil((1 - 0.5) / step)) if density else 1
    cells = dice.permutation(np.arange(first_line * columns, lines * columns))[:count]
    x, y = MARGIN + 0.5 + cells % columns * step, HEADER + 0.5 + cells // columns * step
    sizes = assign_card_cells(plan, step, x, y, range(0, len(cells), 2))
    assert np.all(sizes[1::2] == 1)
    held = np.zeros((lines, columns), np.int64)
    for cell, (across, down) in zip(cells.tolist(), sizes.tolist(), strict=True):
        line, column = divmod(cell, columns)
        held[line : line + down, column : column + across] += 1
        assert line + down <= lines
        edges = {MARGIN + 0.5 + at * step >= MARGIN + half for at in range(column, column + across)}
        assert len(edges) == 1
        assert 1 <= across <= WIDEST
        assert 1 <= down <= 2
    assert held.max(initial=0) <= 1


def test_a_card_takes_what_is_free_to_its_right() -> None:
    plan = RoomPlan("r", "Room", 0, 0, 10 + 2 * MARGIN, 6 + HEADER + MARGIN, 3, 0, "lifecycle")
    places = np.array([(0, 0), (4, 0), (0, 2)], np.float64)
    sizes = assign_card_cells(plan, 1.0, MARGIN + 0.5 + places[:, 0], HEADER + 0.5 + places[:, 1], range(3))
    assert sizes.tolist() == [[4, 2], [WIDEST, 2], [WIDEST, 2]]


def test_a_room_says_its_landmarks_to_those_who_do_not_see_it(page: PalacePage) -> None:
    room = furnished(first(page).room)
    page.canvas.set_cursor_at(room_id=room.id)
    said = page.canvas.accessibleDescription()
    assert said.startswith(f"Room {room.plan.name}: ")
    assert "The 0th landmark" in said
    assert "The 5th landmark" in said


def test_what_came_later_is_an_empty_place_in_the_past(page: PalacePage) -> None:
    room = first(page).room
    assert room.loci is not None
    room.apply_style(replace(page.scene.look, until=int(room.loci.recorded_at.min()) - 1))
    assert room.pending.all()
    assert not room.replaced.any()
    assert not np.any(room.opacity == 1)


# ---- what is found


def test_answers_light_up_and_enter_leads_to_them(qtbot: QtBot, context: Context, page: PalacePage) -> None:
    page.canvas.setFocus()
    QTest.keyClick(page.canvas, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    bar = page.finder.bar
    assert bar.isVisible()
    assert bar.field.accessibleName()
    QTest.keyClicks(bar.field, "sourdough loaf")
    settle(qtbot, lambda: bool(page.canvas.marks.found))
    assert page.canvas.marks.found is not None
    before = page.canvas.grab().toImage()
    QTest.keyClick(bar.field, Qt.Key.Key_Return)
    assert context.selection.current in page.canvas.marks.found
    spot = page.scene.spot_of(context.selection.current)
    assert spot is not None
    assert (page.canvas.where.level, page.canvas.where.room_id) == (ROOM, spot.room.id)
    assert spot.room.plan.name in page.line.whole
    one = context.selection.current
    QTest.keyClick(bar.field, Qt.Key.Key_Down)
    assert context.selection.current != one
    QTest.keyClick(bar.field, Qt.Key.Key_Up)
    assert context.selection.current == one
    QTest.keyClick(bar.field, Qt.Key.Key_Escape)
    assert not bar.isVisible()
    assert not page.canvas.marks.found
    assert bar.field.text() == ""
    page.canvas.camera.show_whole()
    page.canvas.select_locus(None)
    assert page.canvas.grab().toImage() != before


def test_nothing_found_is_said(qtbot: QtBot, page: PalacePage, monkeypatch: pytest.MonkeyPatch) -> None:
    press(page, Qt.Key.Key_Slash)
    bar = page.finder.bar
    assert bar.isVisible()
    page.finder._typed = "zzz"
    page.finder._on_recalled("zzz", ())
    assert bar.count.text() == "Nothing found"
    assert page.canvas.marks.found == frozenset()
    page.finder._on_recalled("an older text", ())
    QTest.keyClick(bar.field, Qt.Key.Key_Return)
    assert page.canvas.where.level == WHOLE


def test_a_search_that_fails_says_so_and_not_that_nothing_is_there(
    qtbot: QtBot, context: Context, page: PalacePage, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard, bar = hear(context), page.finder.bar
    press(page, Qt.Key.Key_Slash)
    page.finder._show_answers((first(page).id,), is_asked=True)
    broken: Future[object] = Future()
    broken.set_exception(EnvironmentFaultError(Code.DISK_FULL, "The disk is full."))
    monkeypatch.setattr(rig.engine.memories, "recall", lambda *_: broken)
    QTest.keyClicks(bar.field, "loaf")
    settle(qtbot, lambda: len(heard.problems) == 1)
    assert bar.count.text() == ""
    assert page.canvas.marks.found is None


def test_an_answer_whose_room_was_not_read_is_found_when_one_goes_there(
    qtbot: QtBot, context: Context, page: PalacePage
) -> None:
    wanted, room = first(page).id, first(page).room
    room.loci, room.ids, room._rows = None, (), {}
    assert page.scene.spot_of(wanted) is None
    page.finder._show_answers((wanted, "018bcfe5-6800-7000-8000-000000000000"), is_asked=True)
    page.finder.go_to_answer(1)
    settle(qtbot, lambda: page.canvas.marks.selected == wanted)
    assert context.selection.current == wanted
    assert page.canvas.where.room_id == room.id
    assert page.finder.bar.count.text().startswith("1 of 2")
    page.finder.go_to_answer(1)  # what has no place is no answer
    settle(qtbot, lambda: page.finder.bar.count.text().startswith("1 of 1"))
    assert page.canvas.marks.found == frozenset({wanted})


# ---- what the person decides


def test_an_emblem_is_chosen_by_a_word(qtbot: QtBot, context: Context, page: PalacePage) -> None:
    heard = hear(context)
    room = first(page).room
    dialog = page.verbs.ask_emblem(room)
    assert isinstance(dialog, EmblemDialog)
    assert dialog.emblems.count() == len(read_emblems())
    dialog.filter.setText("sail")
    assert 0 < dialog.emblems.count() < len(read_emblems())
    item = dialog.emblems.item(0)
    wanted = item.data(Qt.ItemDataRole.UserRole)
    assert item.data(Qt.ItemDataRole.AccessibleTextRole)
    assert dialog.shown.text() == item.toolTip()
    QTest.keyClick(dialog.emblems, Qt.Key.Key_Return)
    settle(qtbot, lambda: heard.sentences == ["The room has another emblem."])
    settle(qtbot, lambda: (found := page.scene.rooms[room.id].plan.furnishing) is not None and found.emblem == wanted)


def test_a_memory_is_made_a_landmark_and_none_again(qtbot: QtBot, page: PalacePage) -> None:
    room = first(page).room
    settle(qtbot, lambda: bool(room.landmarks))
    at = next(at for at in range(len(room.ids)) if at not in room.landmarks)
    memory_id = room.ids[at]
    page.verbs.open_menu(PlacedLocus(room, at), QPoint(10, 10))
    titles = {action.text().split("\t")[0]: action for action in page.verbs.menu.actions()}
    titles["Make landmark"].trigger()

    def is_landmark() -> bool:
        return memory_id in {mark.memory_id for mark in page.scene.rooms[room.id].plan.landmarks}

    settle(qtbot, is_landmark)
    page.verbs.menu.close()
    spot = page.scene.spot_of(memory_id)
    page.verbs.open_menu(spot, QPoint(10, 10))
    titles = {action.text().split("\t")[0]: action for action in page.verbs.menu.actions()}
    titles["No landmark"].trigger()
    settle(qtbot, lambda: not is_landmark())
    page.verbs.menu.close()


# ---- flights


def test_a_flight_draws_nothing_anew(
    qtbot: QtBot, context: Context, page: PalacePage, monkeypatch: pytest.MonkeyPatch
) -> None:
    context.theme.reduced_motion = False
    settle(qtbot, page.is_settled)
    drawn: list[Lens] = []
    whole = page.canvas.painter.paint

    def paint(painter: object, scene: object, lens: Lens, *rest: object, **more: object) -> None:
        drawn.append(lens)
        whole(painter, scene, lens, *rest, **more)  # type: ignore[arg-type]  # handed on as it came

    monkeypatch.setattr(page.canvas.painter, "paint", paint)
    room = first(page).room
    page.canvas.enter_room(room.id)
    assert page.canvas.camera.is_flying
    end = page.canvas.camera.goal
    for _ in range(5):
        page.canvas.repaint()
    assert drawn == [end], "where it ends, once"
    page.canvas.camera.finish_flight()
    page.canvas.repaint()
    assert page.canvas.camera.lens == end
