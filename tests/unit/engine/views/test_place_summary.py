"""What a room or a wing of the palace is said to hold."""

from __future__ import annotations

import pytest
from engine_rig import Rig, later

from core.errors import Code, LociError
from core.types.values import Kind

ROWS = [
    {"text": "Mira Holt planted beans in the garden bed.", "kind": "episode", "date": "2024-03-02", "ref": "a"},
    {"text": "Mira Holt waters the garden bed at dawn.", "kind": "fact", "date": "2024-05-04", "ref": "b"},
    {"text": "The garden bed needs lime every spring.", "kind": "rule", "date": "2025-01-07", "ref": "c"},
]


@pytest.fixture
def palace(rig: Rig) -> Rig:
    rig.bring(ROWS, "home")
    rig.settle()
    rig.engine.palace.place_waiting().result(60)
    return rig


def test_a_wing_counts_what_the_plan_counts_and_names_kinds_dates_and_landmarks(palace: Rig) -> None:
    wing = palace.engine.palace.read_plan().result(30).wings[0]
    found = palace.engine.palace.read_place(wing.id).result(30)
    assert (found.name, found.space, found.rooms, found.count) == ("home", "home", len(wing.rooms), wing.count)
    assert found.kinds == {Kind.EPISODE: 1, Kind.FACT: 1, Kind.RULE: 1}
    assert found.first is not None
    assert found.last is not None
    assert found.first < found.last
    marks = [mark.memory_id for room in wing.rooms for mark in room.landmarks]
    assert {row.id for row in found.landmarks} == set(marks)


def test_rooms_add_up_to_their_wing(palace: Rig) -> None:
    wing = palace.engine.palace.read_plan().result(30).wings[0]
    rooms = [palace.engine.palace.read_place(room.id).result(30) for room in wing.rooms]
    assert [room.count for room in rooms] == [room.count for room in wing.rooms]
    assert [room.fresh for room in rooms] == [room.fresh for room in wing.rooms]
    assert {room.rooms for room in rooms} == {0}
    assert {room.space for room in rooms} == {"home"}


def test_what_was_forgotten_is_not_counted_and_old_memories_are_not_new(palace: Rig) -> None:
    wing = palace.engine.palace.read_plan().result(30).wings[0]
    before = palace.engine.palace.read_place(wing.id).result(30)
    assert before.fresh == 3
    assert {row.id for row in before.newest} == {str(one) for (one,) in palace.rows("SELECT id FROM memories")}
    gone = palace.value("SELECT id FROM memories WHERE kind = 'rule'")
    palace.forget(gone)
    later(palace, 8)
    after = palace.engine.palace.read_place(wing.id).result(30)
    assert after.kinds == {Kind.EPISODE: 1, Kind.FACT: 1}
    assert (after.fresh, after.newest) == (0, ())


def test_a_place_that_is_not_there_is_said_so(palace: Rig) -> None:
    with pytest.raises(LociError) as caught:
        palace.engine.palace.read_place("nowhere").result(30)
    assert caught.value.code is Code.NOT_FOUND
