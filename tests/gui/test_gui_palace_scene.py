"""The plan without an engine: lens, rooms, looks, walking, shelves, the slider."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.types.clock import ManualClock
from core.types.values import Kind, Role, Source, Status
from core.types.views import GAP, SLOT_ASPECT, Loci, MemoryRow, PalacePlan, RoomPlan, WingPlan
from ui.context import Context
from ui.pages.palace.canvas import PalaceCanvas
from ui.pages.palace.items import GREY, LocusStyle, MemoryHeads, RoomItem
from ui.pages.palace.loader import format_camera, place_camera, ties_to_draw
from ui.pages.palace.picture.layout import layout_room
from ui.pages.palace.picture.words import break_text
from ui.pages.palace.scene import (
    LOCUS,
    ROOM,
    WHOLE,
    WING,
    Lens,
    Location,
    PalaceScene,
    arrange_on_shelves,
    interpolate_lens,
)
from ui.pages.palace.slider import BELIEVED, SAID, TimeCard
from ui.widgets.viewport import nearest_in_direction

STANDS = int(np.iinfo(np.int64).max)
DAY = 86_400_000
NOW = 1_000 * DAY

numbers = st.floats(-500, 500, allow_nan=False)
scales = st.floats(0.5, 200, allow_nan=False)


def lens(x: float = 0, y: float = 0, scale: float = 10, w: float = 800, h: float = 600) -> Lens:
    return Lens(x, y, scale, w, h)


def room_plan(
    room_id: str, x: float, y: float, w: float = 10, h: float = 8, count: int = 4, density: int = 0
) -> RoomPlan:
    return RoomPlan(room_id, f"Room {room_id}", x, y, w, h, count, density, "lifecycle")


def wing_plan(wing_id: str, *rooms: RoomPlan, x: float = 0, w: float = 30, h: float = 20, waiting: int = 0) -> WingPlan:
    return WingPlan(wing_id, f"s-{wing_id}", wing_id, x, 0, w, h, sum(room.count for room in rooms), waiting, rooms)


def palace(*wings: WingPlan) -> PalacePlan:
    return PalacePlan(wings, 1, 0, NOW, (1,) * 10, 0, NOW, (1, 0) * 5)


def loci(room_id: str, places: list[tuple[float, float]], **columns: object) -> Loci:
    count = len(places)
    ids = columns.pop("ids", tuple(f"{room_id}{at}" for at in range(count)))
    full: dict[str, object] = {
        "n": np.arange(count, dtype=np.int64),
        "x": np.array([place[0] for place in places], np.float32),
        "y": np.array([place[1] for place in places], np.float32),
        "kind": np.zeros(count, np.int8),
        "status": np.zeros(count, np.int8),
        "trust": np.full(count, 0.7, np.float32),
        "strength": np.ones(count, np.float32),
        "importance": np.ones(count, np.float32),
        "recorded_at": np.zeros(count, np.int64),
        "retired_at": np.full(count, STANDS, np.int64),
        "said_at": np.zeros(count, np.int64),
        "pinned": np.zeros(count, np.bool_),
        "moved": np.zeros(count, np.bool_),
        "ground": np.zeros(count, np.bool_),
    }
    return Loci(room_id, ids, **{**full, **columns})  # type: ignore[arg-type]  # a bag of fields


GRID = [(1.5 + x, 2.5 + y) for y in range(4) for x in range(6)]


def two_rooms(look: LocusStyle | None = None) -> PalaceScene:
    scene = PalaceScene(look or LocusStyle(now=NOW))
    scene.update_plan(palace(wing_plan("w", room_plan("a", 0, 0), room_plan("b", 11, 0))))
    scene.rooms["a"].set_loci(loci("a", GRID[:6]))
    scene.rooms["b"].set_loci(loci("b", GRID[:6]))
    return scene


# ---- lens


@given(numbers, numbers, scales, st.floats(0, 800), st.floats(0, 600))
def test_a_point_of_the_canvas_and_its_place_belong_together(
    x: float, y: float, scale: float, px: float, py: float
) -> None:
    look = lens(x, y, scale)
    place = look.plan_point(px, py)
    assert look.canvas_x(place[0]) == pytest.approx(px, abs=1e-6)
    assert look.canvas_y(place[1]) == pytest.approx(py, abs=1e-6)


@given(scales, st.floats(0.2, 5), st.floats(0, 800), st.floats(0, 600))
def test_zooming_keeps_the_place_under_the_pointer(scale: float, factor: float, px: float, py: float) -> None:
    before = lens(3, 4, scale)
    after = before.zoomed_at(factor, px, py)
    assert after.scale == pytest.approx(scale * factor)
    assert after.plan_point(px, py) == pytest.approx(before.plan_point(px, py), abs=1e-6)


@given(scales, st.floats(0.2, 5), st.floats(0, 800), st.floats(0, 600), st.floats(0, 1))
def test_every_step_of_a_zoom_keeps_it_too(scale: float, factor: float, px: float, py: float, t: float) -> None:
    start = lens(3, 4, scale)
    middle = interpolate_lens(start, start.zoomed_at(factor, px, py), t)
    # Scales that are nearly the same are joined by a straight line; the difference is below a pixel.
    slack = abs(math.log(factor)) * 800 / scale if abs(math.log(factor)) < 1e-3 else 1e-4
    assert middle.plan_point(px, py) == pytest.approx(start.plan_point(px, py), abs=slack)


def test_what_is_fitted_is_seen_whole() -> None:
    for rect in (QRectF(5, 6, 100, 10), QRectF(-5, 6, 3, 80)):
        seen = lens().fit_rect(rect, pad=24).visible_area
        assert seen.contains(rect)
        corner = lens().fit_rect(rect, pad=24, corner=True)
        assert corner.canvas_x(rect.left()) == pytest.approx(24)
        assert corner.visible_area.adjusted(-1e-6, -1e-6, 1e-6, 1e-6).contains(rect)


def test_a_lens_cannot_lose_the_plan() -> None:
    held = lens(900, -900, 5000).clamped_to(QRectF(0, 0, 50, 40), 2, 200)
    assert (held.x, held.y, held.scale) == (50, 0, 200)


# ---- the scene


def test_a_later_plan_moves_nothing_and_reads_only_what_may_have_changed() -> None:
    scene = two_rooms()
    before = {room.id: (room.rect, room.wx.copy()) for room in scene.rooms.values()}
    new = room_plan("c", 0, 9)
    plan = palace(wing_plan("w", room_plan("a", 0, 0), room_plan("b", 11, 0, count=5), new))
    assert set(scene.update_plan(plan)) == {"b", "c"}
    for room_id, (rect, wx) in before.items():
        assert scene.rooms[room_id].rect == rect
        assert np.array_equal(scene.rooms[room_id].wx, wx)


def test_a_later_wing_moves_no_other() -> None:
    wings = [wing_plan(f"w{nr}", room_plan(f"r{nr}", 0, 0), x=nr * 40.0, w=20 + nr) for nr in range(9)]
    whole = {wing.id: (wing.x, wing.y) for wing in arrange_on_shelves(wings)}
    for count in range(1, 9):
        for wing in arrange_on_shelves(wings[:count]):
            assert whole[wing.id] == (wing.x, wing.y)
    assert len({y for _, y in whole.values()}) > 1


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(6, 200), st.integers(6, 200)), min_size=1, max_size=12))
def test_wings_on_shelves_never_overlap(sizes: list[tuple[int, int]]) -> None:
    wings = [
        wing_plan(f"w{nr:02}", room_plan(f"r{nr}", 0, 0), x=nr * 300.0, w=w, h=h) for nr, (w, h) in enumerate(sizes)
    ]
    rects = [QRectF(wing.x, wing.y, wing.w, wing.h) for wing in arrange_on_shelves(wings)]
    assert not any(one.intersects(other) for at, one in enumerate(rects) for other in rects[:at])


def test_wings_without_a_room_are_not_shown_but_what_waits_in_them_is_counted() -> None:
    scene = PalaceScene(LocusStyle())
    scene.update_plan(palace(wing_plan("w", room_plan("a", 0, 0)), wing_plan("empty", waiting=7)))
    assert [wing.id for wing in scene.wings] == ["w"]
    assert scene.waiting == 7


def test_cards_of_a_room_of_thousands_are_not_worked_out_where_none_can_be_read(context: Context) -> None:
    scene = PalaceScene(LocusStyle(now=NOW))
    many = [(1.5 + x, 2.5 + y) for y in range(50) for x in range(50)]
    scene.update_plan(palace(wing_plan("w", room_plan("a", 0, 0, 52, 54, count=len(many)))))
    room = scene.rooms["a"]
    room.set_loci(loci("a", many))
    far = layout_room(room, lens(w=1200, h=800).fit_rect(room.rect), context.theme)
    assert far.has_places
    assert not len(far.readable_rows(room))
    assert room._cards is None
    near = layout_room(room, Lens(60, 20, 60, 800, 600), context.theme)
    assert len(near.readable_rows(room)) == len(many)


def test_what_stands_where() -> None:
    scene = two_rooms()
    spot = scene.spot_of("b3")
    assert spot is not None
    assert (spot.x, spot.y) == ((11 + 4.5) * SLOT_ASPECT, 2.5), "a place is wider than high"
    assert spot.room.nearest_row(4.7, 2.2, 0.5) == 3
    assert spot.room.nearest_row(4.5, 5.5, 0.5) < 0
    gap = (10.5 * SLOT_ASPECT, 3)
    assert scene.room_at(*gap) is None, "between two rooms"
    assert scene.rooms["b"].rect.left() - scene.rooms["a"].rect.right() == pytest.approx(GAP), "as wide as high"
    room = scene.room_at(12 * SLOT_ASPECT, 1)
    assert room is not None
    assert room.id == "b"
    nearest = scene.nearest_room(900, 0)
    assert nearest is not None
    assert nearest.id == "b"


def test_where_one_stands_follows_the_lens() -> None:
    scene = two_rooms()
    none = ("", "")
    middle = scene.rooms["b"].rect.center()
    near = lens(middle.x(), middle.y(), 140)
    assert scene.locate_lens(lens().fit_rect(scene.bounds), 92, none) == Location(WING, "w")
    assert scene.locate_lens(lens().fit_rect(scene.rooms["b"].rect), 92, none) == Location(ROOM, "w", "b")
    assert scene.locate_lens(near, 92, none) == Location(LOCUS, "w", "b")
    assert scene.locate_lens(near, 92, (ROOM, "a")) == Location(ROOM, "w", "a")
    scene.update_plan(palace(wing_plan("w", room_plan("a", 0, 0)), wing_plan("v", room_plan("b", 0, 0), x=40)))
    assert scene.locate_lens(lens().fit_rect(scene.bounds), 92, none) == Location(WHOLE)


# ---- rooms


def statuses(*found: Status) -> np.ndarray:
    return np.array([tuple(Status).index(status) for status in found], np.int8)


def test_what_is_not_believed_is_grey_and_not_counted() -> None:
    room = RoomItem(wing_plan("w"), room_plan("a", 0, 0))
    columns = {
        "recorded_at": np.array([1, 5, 9], np.int64) * DAY,
        "retired_at": np.array([STANDS, 7 * DAY, STANDS], np.int64),
        "said_at": np.array([9, 2, 1], np.int64) * DAY,
        "status": statuses(Status.ACTIVE, Status.SUPERSEDED, Status.ACTIVE),
    }
    room.set_loci(loci("a", GRID[:3], **columns))
    seen = {}
    for name, axis, until in (("six", BELIEVED, 6 * DAY), ("eight", BELIEVED, 8 * DAY), ("said", SAID, 2 * DAY)):
        look = LocusStyle("kind", None, axis, until, NOW)
        room.apply_style(look)
        seen[name] = (list(room.shade == GREY), room.count_shown(look))
    assert seen["six"] == ([False, False, True], 2)
    assert seen["eight"] == ([False, True, True], 1)
    assert seen["said"] == ([True, True, False], 1), "retired is retired"


def test_for_now_the_plan_counts_and_faint_is_what_no_longer_stands() -> None:
    room = RoomItem(wing_plan("w"), room_plan("a", 0, 0, count=41))
    found = statuses(Status.ACTIVE, Status.ARCHIVED, Status.DISPUTED, Status.DELETED)
    room.set_loci(loci("a", GRID[:4], status=found))
    look = LocusStyle("trust", now=NOW)
    room.apply_style(look)
    assert room.count_shown(look) == 41
    assert room.opacity[0] == 1
    assert room.opacity[1] < 0.5
    assert list(room.hollow) == [0, 0, 1, 0]
    assert list(room.shown) == [True, True, True, False]
    assert room.nearest_row(*GRID[3], 0.4) < 0, "what is forgotten cannot be pointed at"


def test_colours_follow_trust_age_and_kind() -> None:
    room = RoomItem(wing_plan("w"), room_plan("a", 0, 0))
    room.set_loci(
        loci(
            "a",
            GRID[:3],
            kind=np.array([0, 2, 4], np.int8),
            trust=np.array([0.0, 0.6, 1.0], np.float32),
            said_at=np.array([NOW - 400 * DAY, NOW - 100 * DAY, NOW - DAY], np.int64),
        )
    )
    shades = {}
    for mode in ("trust", "age", "kind"):
        room.apply_style(LocusStyle(mode, now=NOW))
        shades[mode] = list(room.shade)
    assert shades == {"trust": [0, 3, 4], "age": [0, 2, 4], "kind": [0, 2, 4]}


def test_one_kind_alone_stands_out_and_is_counted() -> None:
    room = RoomItem(wing_plan("w"), room_plan("a", 0, 0))
    room.set_loci(loci("a", GRID[:3], kind=np.array([0, 1, 1], np.int8)))
    look = LocusStyle("kind", Kind.FACT, now=NOW)
    assert room.count_shown(look) == 2
    assert room.opacity[0] < 0.2 < room.opacity[1]


def test_only_what_came_later_is_fresh() -> None:
    room = RoomItem(wing_plan("w"), room_plan("a", 0, 0))
    assert not room.set_loci(loci("a", GRID[:3]))
    assert room.set_loci(loci("a", GRID[:4]))
    assert list(room.fresh) == [False, False, False, True]
    room.clear_fresh()
    assert not room.fresh.any()


@settings(max_examples=40)
@given(st.floats(-3, 14), st.floats(-3, 12), st.integers(0, 2), st.sets(st.integers(0, 23), max_size=24))
def test_a_free_place_is_free_and_on_the_grid(x: float, y: float, density: int, taken: set[int]) -> None:
    plan = room_plan("a", 0, 0, w=8, h=7, density=density)
    room = RoomItem(wing_plan("w"), plan)
    places = [GRID[at] for at in sorted(taken)]
    room.set_loci(loci("a", places))
    found = room.find_free_place(x, y)
    if density == 0 and len(places) == 24:
        assert found is None
        return
    assert found is not None
    assert found not in places
    step = 2.0**-density
    assert (found[0] - 1.5) % step == 0
    assert (found[1] - 2.5) % step == 0
    assert 1.5 <= found[0] <= 6.5
    assert 2.5 <= found[1] <= 5.5


def test_the_own_place_of_what_is_dragged_is_free() -> None:
    room = RoomItem(wing_plan("w"), room_plan("a", 0, 0))
    room.set_loci(loci("a", GRID[:3]))
    assert room.find_free_place(*GRID[1]) != GRID[1]
    assert room.find_free_place(*GRID[1], "a1") == GRID[1]


def test_rows_are_kept_within_bounds() -> None:
    heads = MemoryHeads()
    heads.store_rows([_row(str(nr)) for nr in range(3_100)])
    assert heads.get_row("0") is None
    assert heads.get_row("3099") is not None
    assert heads.missing_ids(("0", "3099", "1"), 1) == ("0",)
    heads.forget_rows(("3099",))
    assert heads.get_row("3099") is None
    heads.forget_rows(())
    assert heads.get_row("3000") is None


def _row(memory_id: str) -> MemoryRow:
    words: dict[str, object] = {"author": None, "client": None, "category": "", "conversation": None, "room": None}
    times: dict[str, object] = {"occurred": None, "recorded_at": 0, "last_accessed_at": None, "access_count": 0}
    scores = dict.fromkeys(("importance", "trust", "confidence", "strength"), 0.5)
    kind = {"kind": Kind.FACT, "status": Status.ACTIVE, "source": Source.USER_EXPLICIT, "role": Role.USER}
    rest = {"head": "A text", "is_cut": False, "space": "home", "tags": (), "pinned": False}
    return MemoryRow(memory_id, 1, **words, **times, **scores, **kind, **rest)  # type: ignore[arg-type]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(text=st.text(max_size=200), most=st.integers(1, 5))
def test_a_text_is_broken_into_lines_without_a_loss(qapp: object, text: str, most: int) -> None:
    assert qapp is not None
    text = " ".join(text.encode("utf-8", "ignore").decode().split())
    lines = break_text(text, QFont(), 120, most)
    assert len(lines) <= most
    if len(lines) < most:
        assert "".join("".join(lines).split()) == "".join(text.split())


# ---- walking


@settings(max_examples=80)
@given(st.lists(st.tuples(numbers, numbers), max_size=30), st.sampled_from([(1, 0), (-1, 0), (0, 1), (0, -1)]))
def test_a_step_goes_the_way_it_is_asked(points: list[tuple[float, float]], way: tuple[int, int]) -> None:
    xs, ys = np.array([p[0] for p in points]), np.array([p[1] for p in points])
    at = nearest_in_direction(xs, ys, 0.0, 0.0, *way)
    if at >= 0:
        assert xs[at] * way[0] + ys[at] * way[1] > 0
    else:
        assert not any(p[0] * way[0] + p[1] * way[1] > abs(p[0] * way[1]) + abs(p[1] * way[0]) + 1e-5 for p in points)


def test_straight_ahead_is_nearer_than_aside() -> None:
    xs, ys = np.array([1.0, 1.2, 0.4]), np.array([0.9, 0.0, 2.0])
    assert nearest_in_direction(xs, ys, 0, 0, 1, 0) == 1
    assert nearest_in_direction(xs, ys, 0, 0, 0, 1) == 2
    assert nearest_in_direction(xs, ys, 0, 0, -1, 0) == -1


# ---- the camera's memory


def canvas_of(context: Context, qtbot: QtBot) -> PalaceCanvas:
    context.theme.reduced_motion = True
    scene = two_rooms()
    canvas = PalaceCanvas(context.theme, scene)
    qtbot.addWidget(canvas)
    canvas.resize(800, 600)
    canvas.show()
    return canvas


@pytest.mark.parametrize(
    "kept", ["", "nonsense", "free x y z", "free 1 2", "free nan nan 3", "free 999 999 5", "room 900 0 1"]
)
def test_a_camera_that_was_kept_badly_shows_all(context: Context, qtbot: QtBot, kept: str) -> None:
    canvas = canvas_of(context, qtbot)
    place_camera(canvas.camera, canvas.scene, kept)
    assert canvas.camera.fit == (WHOLE, "")
    assert canvas.camera.lens.visible_area.contains(canvas.scene.bounds)


def test_a_camera_comes_back_to_where_it_was(context: Context, qtbot: QtBot) -> None:
    canvas = canvas_of(context, qtbot)
    camera = canvas.camera
    for fit in ((ROOM, "b"), (WING, "w")):
        camera.show_fit(*fit)
        kept = format_camera(camera, canvas.scene)
        camera.show_whole()
        place_camera(camera, canvas.scene, kept)
        assert camera.fit == fit
    camera.jump_to(replace(camera.lens, x=13, y=3.25, scale=77))
    kept = format_camera(camera, canvas.scene)
    assert all(room.plan.name not in kept and room.id not in kept.split() for room in canvas.scene.rooms.values())
    camera.show_whole()
    place_camera(camera, canvas.scene, kept)
    assert (camera.lens.x, camera.lens.y, camera.lens.scale) == (13, 3.25, 77)


def test_what_was_fitted_stays_fitted_when_the_window_changes(context: Context, qtbot: QtBot) -> None:
    canvas = canvas_of(context, qtbot)
    canvas.camera.show_fit(ROOM, "b")
    canvas.resize(500, 300)
    assert canvas.camera.lens.visible_area.contains(canvas.scene.rooms["b"].rect)
    canvas.camera.pan_by(40, 0)
    before = canvas.camera.lens
    canvas.resize(640, 400)
    assert (canvas.camera.lens.x, canvas.camera.lens.scale) == (before.x, before.scale)


def test_what_is_shown_whole_stays_so_when_something_at_its_edge_is_chosen(context: Context, qtbot: QtBot) -> None:
    canvas = canvas_of(context, qtbot)
    camera = canvas.camera
    camera.show_whole()
    seen = camera.lens.visible_area
    camera.reveal_point(seen.left() + seen.width() * 0.01, seen.center().y())
    assert camera.fit == (WHOLE, "")
    camera.reveal_point(seen.right() + seen.width(), seen.center().y())
    assert camera.fit == ("", "")


# ---- the slider


def card(context: Context, qtbot: QtBot) -> TimeCard:
    made = TimeCard(context.theme, ManualClock(NOW))
    qtbot.addWidget(made)
    made.resize(900, 50)
    made.show()
    return made


def test_the_word_now_leads_back_to_now(context: Context, qtbot: QtBot) -> None:
    time = card(context, qtbot)
    time.show_plan(palace())
    time.bar.move_handle(3)
    assert time.until is not None
    time._now.click()
    assert time.until is None


def test_the_slider_by_keyboard(context: Context, qtbot: QtBot) -> None:
    time = card(context, qtbot)
    time.show_plan(palace())
    keys = (Qt.Key.Key_Left, Qt.Key.Key_Home, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Right, Qt.Key.Key_End)
    found = [time.until]
    for key in keys:
        QTest.keyClick(time.bar, key)
        found.append(time.until)
    tenth = NOW // 10
    assert found == [None, 9 * tenth, tenth, None, tenth, 2 * tenth, None]
    assert time.bar.accessibleDescription() == "As known on now"


def test_the_slider_by_pointer_tells_once_a_bin(context: Context, qtbot: QtBot) -> None:
    time = card(context, qtbot)
    time.show_plan(palace())
    with qtbot.waitSignal(time.moved, timeout=60_000):
        QTest.mouseClick(time.bar, Qt.MouseButton.LeftButton, pos=QPointF(time.bar.width() / 2, 10).toPoint())
    assert time.until == NOW // 2


def test_a_history_recorded_at_once_is_shown_as_it_was_said(context: Context, qtbot: QtBot) -> None:
    time = card(context, qtbot)
    time.show_plan(replace(palace(), earliest=NOW - DAY, latest=NOW))
    assert (time.axis, time.axes.current) == (SAID, SAID)
    time.bar.move_handle(5)
    assert time.until == NOW // 2
    QTest.mouseClick(time.axes._buttons[BELIEVED], Qt.MouseButton.LeftButton)
    assert time.axis == BELIEVED
    time.show_plan(replace(palace(), earliest=NOW - DAY, latest=NOW))
    assert time.axis == BELIEVED, "what the person chose stays"


def test_the_handle_stays_at_its_time_when_the_plan_grows(context: Context, qtbot: QtBot) -> None:
    time = card(context, qtbot)
    time.show_plan(palace())
    time.bar.move_handle(5)
    time.show_plan(replace(palace(), latest=2 * NOW, recorded=(1,) * 20))
    assert time.until == NOW // 2


def test_ties_are_few_and_of_two_types() -> None:
    edges = [{"id": "e", "type": "supports", "direction": "out", "other": "x"}]
    edges += [{"id": f"e{nr}", "type": "contradicts", "direction": "in", "other": f"m{nr}"} for nr in range(40)]
    found = ties_to_draw(edges)
    assert "x" not in found
    assert len(found) == 12
    assert set(found.values()) == {"contradicts"}
