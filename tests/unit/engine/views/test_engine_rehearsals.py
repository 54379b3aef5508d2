"""The walk along a wing's landmarks and their rehearsal over a real engine: order, grades, undo, what leaves it."""

from __future__ import annotations

import json

import pytest
from engine_rig import DAY_MS, Rig, error_of, facts, later, refused
from walk_rig import choose_landmarks, first_wing, remove_landmarks

from core.errors import Code
from core.types.values import OWNER_ACTOR, Kind, When
from core.types.views import Grade, Revision, WalkStop

MINUTES = 60_000


@pytest.fixture
def walked(rig: Rig) -> Rig:
    """A wing of some rooms with landmarks."""
    rig.bring(
        [
            {"text": f"The {topic} number {nr}", "kind": "fact", "ref": f"{topic}{nr}"}
            for topic in ("garden bed with beans and soil", "boat at the harbour with sails", "sourdough loaf and oven")
            for nr in range(8)
        ]
    )
    rig.settle()
    rig.engine.palace.place_waiting().result(60)
    choose_landmarks(rig)
    return rig


def walk(rig: Rig) -> tuple[WalkStop, ...]:
    return rig.engine.rehearsals.read_walk(first_wing(rig)).result(10)


def due(rig: Rig, wing_id: str | None = None) -> int:
    return rig.engine.rehearsals.count_due(wing_id).result(10)


def grade(rig: Rig, memory_id: str, given: Grade = Grade.GOOD) -> int:
    return rig.engine.rehearsals.grade(memory_id, given).result(10).due_at


def kept(rig: Rig) -> list[tuple[object, ...]]:
    return rig.rows("SELECT * FROM rehearsals ORDER BY memory_id")


def test_a_walk_passes_all_landmarks_room_by_room_from_the_top_left(walked: Rig) -> None:
    wanted = walked.rows(
        "SELECT l.memory_id FROM landmarks l JOIN rooms r ON r.id = l.room_id ORDER BY r.y, r.x, l.position"
    )
    found = walk(walked)
    assert {stop.space for stop in found} == {"home"}
    assert walked.engine.rehearsals.read_walk().result(10) == found
    assert [stop.memory_id for stop in found] == [row[0] for row in wanted]
    assert len({stop.room_id for stop in found}) > 1
    assert {stop.emblem for stop in found} == {"house"}
    place = walked.rows("SELECT x, y FROM places WHERE memory_id = ?", found[0].memory_id)
    assert [(found[0].x, found[0].y)] == place
    assert [stop.due_at for stop in found] == [None] * len(found)
    assert not any(stop.is_due or stop.times for stop in found)


def test_a_wing_that_is_not_there_is_refused_and_one_without_landmarks_is_empty(walked: Rig) -> None:
    assert error_of(walked.engine.rehearsals.read_walk("nothing")).code is Code.NOT_FOUND
    assert error_of(walked.engine.rehearsals.read_walk(walk(walked)[0].room_id)).code is Code.NOT_FOUND
    walked.write(remove_landmarks)
    assert walk(walked) == ()


def test_a_walk_alone_keeps_nothing(walked: Rig) -> None:
    before = walked.dump()
    walk(walked)
    due(walked)
    assert walked.dump() == before


def test_the_text_of_a_split_memory_is_whole(rig: Rig) -> None:
    long = " ".join(f"Sentence {n} about the quince tree." for n in range(700))
    head = rig.store(long, kind=Kind.EPISODE, occurred=When(1_600_000_000_000)).memory_id
    rig.settle()
    rig.engine.palace.place_waiting().result(60)
    choose_landmarks(rig, each=1)
    assert int(rig.value("SELECT count(*) FROM memories")) > 1
    stop = next(stop for stop in walk(rig) if stop.memory_id == head)
    assert stop.text == long
    assert stop.occurred is not None
    assert stop.occurred.ms == 1_600_000_000_000


def test_a_graded_landmark_is_due_when_it_was_said_to_be(walked: Rig) -> None:
    one, other = (stop.memory_id for stop in walk(walked)[:2])
    foretold = walk(walked)[0].intervals[Grade.GOOD]
    now = walked.clock.now_ms()
    assert grade(walked, one) == now + foretold
    assert due(walked) == 0
    first = walk(walked)[0]
    assert (first.due_at, first.times, first.is_due) == (now + foretold, 1, False)
    later(walked, foretold / DAY_MS)
    assert due(walked) == due(walked, first_wing(walked)) == 1
    assert due(walked, "another wing") == 0
    assert walk(walked)[0].is_due
    assert grade(walked, one) - walked.clock.now_ms() > foretold
    assert grade(walked, other, Grade.AGAIN) - walked.clock.now_ms() == 10 * MINUTES
    assert [row[-1] for row in walked.rows("SELECT memory_id, times FROM rehearsals ORDER BY times")] == [1, 2]


def test_undo_of_a_grade_restores_what_was_kept_before(walked: Rig) -> None:
    one = walk(walked)[0].memory_id
    grade(walked, one)
    before, whole = kept(walked), walked.dump()
    later(walked, 3)
    step = walked.engine.rehearsals.grade(one, Grade.AGAIN).result(10).step_id
    assert kept(walked) != before
    walked.undo(step)
    assert kept(walked) == before
    assert walked.dump() == whole
    walked.undo()
    assert kept(walked) == []
    assert one in [stop.memory_id for stop in walk(walked)]


def test_the_audit_holds_no_text(walked: Rig) -> None:
    stop = walk(walked)[0]
    grade(walked, stop.memory_id, Grade.HARD)
    verb, obj, detail = walked.rows("SELECT verb, object, detail FROM audit ORDER BY rowid DESC LIMIT 1")[0]
    assert (verb, obj) == ("rehearse", stop.memory_id)
    assert json.loads(detail) == {"grade": "hard", "rows": 1}
    label = walked.value("SELECT label FROM undo_steps ORDER BY rowid DESC LIMIT 1")
    assert label == "Grade a landmark"
    assert stop.text not in repr(walked.rows("SELECT * FROM audit")) + repr(walked.rows("SELECT label FROM undo_steps"))


def test_what_is_forgotten_leaves_the_walk_and_a_new_version_is_due_instead_of_the_old(walked: Rig) -> None:
    stops = walk(walked)
    gone, old = stops[0].memory_id, stops[1].memory_id
    for memory_id in (gone, old):
        grade(walked, memory_id)
    later(walked, 30)
    assert due(walked) == 2
    walked.forget(gone)
    walked.engine.library.revise_memories([old], Revision(text="Another text altogether")).result(10)
    left = [stop.memory_id for stop in walk(walked)]
    assert gone not in left
    assert old not in left
    assert due(walked) == 1
    new = walked.value("SELECT superseded_by_id FROM memories WHERE id = ?", old)
    assert [stop.memory_id for stop in walk(walked) if stop.is_due] == [new]
    assert error_of(walked.engine.rehearsals.grade(gone, Grade.GOOD)).code is Code.NOT_FOUND
    assert error_of(walked.engine.rehearsals.grade("nobody", Grade.GOOD)).code is Code.NOT_FOUND


def test_an_edit_is_undone_whole_although_its_landmark_was_rehearsed_since(walked: Rig) -> None:
    first = walk(walked)[0].memory_id
    grade(walked, first)
    edited = walked.engine.library.revise_memories([first], Revision(text="The garden bed with kale")).result(30)
    assert edited.step_id is not None
    newer = walked.value("SELECT superseded_by_id FROM memories WHERE id = ?", first)
    later(walked, 3)
    grade(walked, newer)
    scheduled = walked.rows("SELECT due_at, times FROM rehearsals WHERE memory_id = ?", newer)
    report = walked.engine.memories.undo_step(edited.step_id, OWNER_ACTOR).result(30)
    assert report.left == ()
    assert walked.rows("SELECT due_at, times FROM rehearsals WHERE memory_id = ?", first) == scheduled
    assert walked.value("SELECT count(*) FROM rehearsals") == 1


def test_an_erased_landmark_leaves_no_rehearsal(walked: Rig) -> None:
    one, other = (stop.memory_id for stop in walk(walked)[:2])
    grade(walked, one)
    grade(walked, other)
    walked.engine.memories.erase([one], OWNER_ACTOR).result(30)
    assert [row[0] for row in kept(walked)] == [other]
    assert one not in [stop.memory_id for stop in walk(walked)]
    assert walked.verify()["status"] == "ok"


def test_a_graded_memory_whose_import_is_taken_back_goes_and_comes_back_with_its_rehearsal(rig: Rig) -> None:
    report = rig.bring(facts(3))
    one = str(rig.value("SELECT id FROM memories ORDER BY n"))
    grade(rig, one)
    before = kept(rig)
    undone = rig.unimport(report.import_id)
    assert rig.value("SELECT count(*) FROM memories") == 0
    assert kept(rig) == []
    rig.undo(undone.undo_step_id)
    assert kept(rig) == before


def test_nothing_is_read_or_graded_while_the_vault_is_locked(walked: Rig) -> None:
    wing, one = first_wing(walked), walk(walked)[0].memory_id
    walked.lock()
    for call in (
        lambda: walked.engine.rehearsals.read_walk(wing),
        lambda: walked.engine.rehearsals.count_due(),
        lambda: walked.engine.rehearsals.grade(one, Grade.GOOD),
    ):
        with refused(Code.VAULT_LOCKED):
            call()
