"""Wings from afar: each name in its own band, whatever the window and its text; and what a small room still says."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from engine_rig import Rig
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from palace_rig import furnish, opened, shut
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QFontMetricsF
from pytestqt.qtbot import QtBot

from core.types.views import PalacePlan, RoomPlan, WingPlan
from ui.context import Context
from ui.pages.palace.camera import PalaceCamera
from ui.pages.palace.canvas import PalaceCanvas
from ui.pages.palace.items import LocusStyle
from ui.pages.palace.loader import format_camera, format_shelves, parse_shelves, place_camera
from ui.pages.palace.page import PalacePage
from ui.pages.palace.picture.layout import DetailLevel, wing_block
from ui.pages.palace.scene import (
    LEAST_SCALE,
    ROOM,
    WHOLE,
    WING,
    Lens,
    PalaceScene,
    WingSpacing,
    arrange_on_shelves,
    extend_shelves,
)
from ui.widgets.labels import name_space

NOW = 86_400_000_000
BANDS = WingSpacing(31.0, {"w1": 90.0})
sizes = st.lists(st.tuples(st.integers(8, 160), st.integers(6, 120)), min_size=2, max_size=9)


def wing(number: int, w: float, h: float) -> WingPlan:
    room = RoomPlan(f"r{number}", f"Room {number}", 0, 0, w, h, 4, 0, "lifecycle")
    return WingPlan(f"w{number}", f"s{number}", f"space {number}", number * 300.0, 0, w, h, 4, 0, (room,))


def palace(*wings: WingPlan) -> PalacePlan:
    return PalacePlan(wings, 1, 0, NOW, (1,) * 10, 0, NOW, (1, 0) * 5)


def scene_of(found: list[tuple[int, int]]) -> PalaceScene:
    scene = PalaceScene(LocusStyle(now=NOW))
    scene.update_plan(palace(*(wing(number, w, h) for number, (w, h) in enumerate(found))))
    return scene


def bands(scene: PalaceScene, lens: Lens, context: Context) -> list[tuple[QRectF, QRectF]]:
    """Block and rooms of each wing, px."""
    theme = context.theme
    found = []
    for one in scene.wings:
        rooms = lens.canvas_rect(scene.rooms[one.rooms[0].id].rect)
        found.append((wing_block(one, scene, lens, theme), rooms))
    return found


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sizes, st.integers(560, 1400), st.integers(360, 900), st.sampled_from([100, 150]))
def test_each_wing_has_a_band_for_its_name_that_no_other_reaches(
    context: Context, found: list[tuple[int, int]], wide: int, high: int, text_size: int
) -> None:
    theme = context.theme
    theme.scale, theme.reduced_motion = text_size, True
    scene = scene_of(found)
    camera = PalaceCamera(scene, theme, theme)
    camera.resize_lens(QSize(wide, high))
    camera.show_whole()
    metrics = QFontMetricsF(theme.font("section"))
    blocks = bands(scene, camera.lens, context)
    for at, (block, rooms) in enumerate(blocks):
        assert rooms.top() - block.top() >= metrics.height()
        assert block.width() >= metrics.horizontalAdvance(name_space(scene.wings[at].space))
        assert QRectF(0, 0, wide, high).contains(block) or camera.lens.scale < 1.1 * LEAST_SCALE
        assert not any(block.intersects(other) for other, _ in blocks[:at])


@given(sizes)
def test_space_for_names_moves_no_wing_to_another_shelf_or_column(found: list[tuple[int, int]]) -> None:
    wings = [wing(number, w, h) for number, (w, h) in enumerate(found)]
    close, spaced = arrange_on_shelves(wings), arrange_on_shelves(wings, BANDS)
    assert [one.id for one in close] == [one.id for one in spaced]
    for axis in ("x", "y"):
        was, now = ([getattr(one, axis) for one in those] for those in (close, spaced))
        for before, after in zip(pairwise(was), pairwise(now), strict=True):
            assert (before[0] < before[1]) == (after[0] < after[1])


def test_three_wings_use_the_whole_canvas(context: Context) -> None:
    context.theme.reduced_motion = True
    for wide, high in ((930, 440), (970, 650), (1470, 960)):
        scene = scene_of([(50, 90), (36, 60), (30, 52)])
        camera = PalaceCamera(scene, context.theme, context.theme)
        scene.arrange_wings((), wide / high)
        camera.resize_lens(QSize(wide, high))
        camera.show_whole()
        seen = QRectF()
        for block, _ in bands(scene, camera.lens, context):
            seen = seen.united(block)
        assert seen.width() > 0.85 * wide, (wide, high)
        assert seen.height() > 0.85 * high, (wide, high)


def test_a_wing_and_a_room_that_are_fitted_use_the_whole_canvas(context: Context) -> None:
    context.theme.reduced_motion = True
    scene = scene_of([(50, 90), (36, 60)])
    camera = PalaceCamera(scene, context.theme, context.theme)
    for wide, high in ((930, 540), (620, 440)):
        camera.resize_lens(QSize(wide, high))
        for fit in ((WING, "w0"), (ROOM, "r1")):
            camera.show_fit(*fit)
            shown = camera.lens.canvas_rect(scene.rooms["r" + fit[1][1]].rect)
            assert shown.width() > 0.9 * wide, fit
            assert shown.height() > 0.9 * high, fit


@given(sizes, st.floats(0.5, 3), st.floats(0.5, 3))
def test_wings_stay_where_they_stood_when_more_come_and_the_window_is_another(
    found: list[tuple[int, int]], aspect: float, later: float
) -> None:
    scene = scene_of(found[:-1])
    scene.arrange_wings((), aspect)
    kept, stood = format_shelves(scene), {one.id: (one.x, one.y) for one in scene.wings}
    again = scene_of(found)
    again.arrange_wings(parse_shelves(again, kept), later)
    assert {one.id: (one.x, one.y) for one in again.wings if one.id in stood} == stood
    assert len(again.wings) == len(found)


def test_a_wing_that_grew_stays_in_its_column() -> None:
    wings = [wing(number, w, h) for number, (w, h) in enumerate([(60, 40), (50, 30), (50, 12), (40, 9)])]
    shelves = extend_shelves((), wings)
    grown = [wing(0, 60, 44), wing(1, 50, 90), *wings[2:]]
    assert extend_shelves(shelves, grown) == shelves
    assert {one.id: one.x for one in arrange_on_shelves(grown, shelves=shelves)} == {
        one.id: one.x for one in arrange_on_shelves(wings, shelves=shelves)
    }


@given(st.text(alphabet="0123456789+/ x", max_size=40))
def test_a_kept_arrangement_that_cannot_be_read_loses_no_wing(text: str) -> None:
    scene = scene_of([(60, 40), (50, 38), (70, 44)])
    scene.arrange_wings(parse_shelves(scene, text), 1.5)
    assert sorted(one.id for one in scene.wings) == ["w0", "w1", "w2"]


def canvas_of(context: Context, qtbot: QtBot) -> PalaceCanvas:
    context.theme.reduced_motion = True
    canvas = PalaceCanvas(context.theme, scene_of([(60, 40), (50, 38), (70, 44), (12, 9), (10, 7)]))
    qtbot.addWidget(canvas)
    canvas.resize(1100, 800)
    canvas.show()
    return canvas


def test_a_camera_comes_back_in_a_window_of_another_size(context: Context, qtbot: QtBot) -> None:
    canvas = canvas_of(context, qtbot)
    camera, scene = canvas.camera, canvas.scene
    for fit in ((ROOM, "r4"), (WING, "w3")):
        canvas.resize(1100, 800)
        camera.show_fit(*fit)
        kept, where = format_camera(camera, scene), scene.rooms["r4"].rect.top()
        canvas.resize(420, 300)
        camera.show_whole()
        assert scene.rooms["r4"].rect.top() > where
        place_camera(camera, scene, kept)
        assert camera.fit == fit


def test_a_look_at_a_wing_stays_at_it_when_the_window_shrinks(context: Context, qtbot: QtBot) -> None:
    canvas = canvas_of(context, qtbot)
    camera, room = canvas.camera, canvas.scene.rooms["r2"]
    canvas.camera.jump_to(Lens(room.rect.center().x(), room.rect.center().y(), 30.0, camera.lens.w, camera.lens.h))
    was = room.rect.top()
    canvas.resize(420, 300)
    assert room.rect.top() > was
    assert (camera.lens.x, camera.lens.y) == pytest.approx((room.rect.center().x(), room.rect.center().y()))


@pytest.fixture
def page(qtbot: QtBot, context: Context, rig: Rig) -> Iterator[PalacePage]:
    """Two wings."""
    furnish(rig, spaces=("home", "work"))
    made = opened(qtbot, context)
    yield made
    shut(qtbot, made)


def test_from_far_a_room_says_its_name_or_shows_its_emblem(page: PalacePage) -> None:
    painter, scene = page.canvas.painter, page.scene
    page.canvas.camera.show_fit(WHOLE, "")
    lens = page.canvas.camera.lens
    seen = set()
    for share in range(2, 60):
        near = Lens(lens.x, lens.y, lens.scale * share / 20, lens.w, lens.h)
        for room in scene.rooms.values():
            layout = painter.layout_of(room, near)
            if layout.detail == DetailLevel.NAME:
                composed = painter._faces.compose(room, layout, scene.look)
                seen.add((bool(composed.name), composed.emblem.isEmpty()))
                size = QRectF(0, 0, layout.rect.width(), layout.rect.height())
                assert composed.name or size.contains(composed.emblem)
                assert composed.name_font.pixelSize() >= page.context.theme.px(11)
    assert {(False, False), (True, True)} <= seen
