"""Pictures of rooms that are kept: a few a frame, earlier ones until then, and none of what is gone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import pytest
from engine_rig import Rig
from palace_rig import furnish, opened, shut
from PySide6.QtGui import QPixmap
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.types.values import Kind
from core.types.views import Landmark
from ui.context import Context
from ui.pages.palace.items import RoomItem
from ui.pages.palace.page import PalacePage
from ui.pages.palace.picture import room_face


@pytest.fixture
def page(qtbot: QtBot, context: Context, rig: Rig) -> Iterator[PalacePage]:
    """Two wings of rooms, all drawn."""
    furnish(rig, spaces=("home", "work"))
    made = opened(qtbot, context)
    settle(qtbot, lambda: not made.context.tasks.running)
    paint(made)
    settle(qtbot, made.is_settled)
    yield made
    shut(qtbot, made)


@pytest.fixture
def drawn(page: PalacePage, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Rooms whose face is drawn anew from here on; every look at the clock finds a second gone."""
    found: list[str] = []
    faces, seconds = page.canvas.painter._faces, count()
    render = faces._render_room

    def note(room: RoomItem, *others: object) -> QPixmap:
        found.append(room.id)
        return render(room, *others)  # type: ignore[arg-type]  # handed through

    monkeypatch.setattr(faces, "_render_room", note)
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(seconds)))
    return found


def paint(page: PalacePage) -> QPixmap:
    return page.canvas.pictures.plan_picture(page.canvas.camera.lens)


def change(room: RoomItem, words: str = "It says something else") -> None:
    mark = Landmark(room.ids[0], words, Kind.FACT, 0, float(room.x[0]), float(room.y[0]), 0, "lifecycle")
    room.update_plan(room.wing, replace(room.plan, landmarks=(mark,)))


def test_each_frame_draws_a_face_however_late_it_is(page: PalacePage, drawn: list[str]) -> None:
    rooms = list(page.scene.rooms)
    page.canvas.painter.clear_cache()
    page.canvas.pictures._kept = None
    for nr in range(1, len(rooms) + 1):
        paint(page)
        assert len(drawn) == nr
    paint(page)
    assert page.canvas.pictures.is_drawn(page.canvas.camera.lens)
    assert drawn == rooms


def test_rooms_that_changed_show_what_they_were_until_there_is_time(page: PalacePage, drawn: list[str]) -> None:
    faces, rooms = page.canvas.painter._faces, list(page.scene.rooms.values())
    before = {room.id: faces._kept[room.id].picture for room in rooms}
    for room in rooms:
        change(room)
    paint(page)
    assert drawn == [rooms[0].id]
    assert faces.is_behind
    assert all(faces._kept[room.id].stand_in_for(room) is before[room.id] for room in rooms[1:])
    hidden = frozenset(mark.memory_id for room in rooms for mark in room.plan.landmarks)
    page.scene.conceal_words(hidden)
    assert all(faces._kept[room.id].stand_in_for(room) is None for room in rooms)


def test_a_plan_that_says_the_same_draws_nothing_anew(qtbot: QtBot, page: PalacePage, drawn: list[str]) -> None:
    picture, versions = paint(page), [room.version for room in page.scene.rooms.values()]
    with qtbot.waitSignal(page.reader.got_plan, timeout=60_000):
        page.reader.read_plan()
    settle(qtbot, lambda: not page.context.tasks.running)
    assert [room.version for room in page.scene.rooms.values()] == versions
    assert paint(page).cacheKey() == picture.cacheKey()
    assert drawn == []


def test_faces_go_with_their_rooms_and_with_the_page(page: PalacePage, monkeypatch: pytest.MonkeyPatch) -> None:
    faces, scene = page.canvas.painter._faces, page.scene
    gone, *others = scene.rooms
    assert set(faces._kept) == set(scene.rooms)
    del scene.rooms[gone]
    paint(page)
    assert set(faces._kept) == set(others)
    monkeypatch.setattr(room_face, "_MOST_BYTES", 0)
    faces.begin_frame(1.0)
    faces._shown.add(others[-1])
    faces.end_frame(scene.rooms)
    assert list(faces._kept) == others[-1:]
    page.deactivate()
    assert not faces._kept


def test_a_landmark_of_talk_says_whose_words_it_is() -> None:
    mark = Landmark("m", "I chose them because they help", Kind.EPISODE, 0, 0.0, 0.0, 0, "lifecycle", "Caroline")
    assert mark.words == "Caroline: I chose them because they help"
    assert replace(mark, speaker="").words == mark.head
