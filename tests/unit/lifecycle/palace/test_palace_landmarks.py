"""Landmarks, emblems, alcoves and ground over a real vault: chosen once, followed when one falls, the person's kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from desk_rig import decide
from engine_rig import Rig, facts, refused, rig_at, talk
from statement_rows import link, mark_small_talk

from core.engine.views.palace import has_work
from core.errors import Code, LociError
from core.lifecycle.palace import arrangement, floor_plan_edits, furnisher, plan_renewal
from core.lifecycle.palace.floor_plan_edits import FloorPlanContext
from core.lifecycle.palace.landmark_choice import FEWEST, MOST, landmark_count
from core.lifecycle.palace.room_texts import PhraseReader, read_weights
from core.memory.landmarks import free_landmark
from core.score.floor_plan import Rect, is_free_grid_point
from core.text.emblems import read_emblems
from core.types.values import OWNER_ACTOR, Action, Kind
from core.types.views import GAP, Furnishing, Grade, Landmark, Revision, RoomPlan
from core.vault.database.tx import Tx

TOPICS = {
    "garden": "the garden bed with beans, soil and rain number",
    "boat": "the boat at the harbour with sails, rope and tar number",
    "bread": "the sourdough loaf with flour, oven and starter number",
}

AT = "SELECT memory_id FROM places WHERE room_id = ? AND x = ? AND y = ?"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as found:
        rows = [
            {"text": f"We saw {words} {nr}", "kind": "fact", "ref": f"{topic}{nr}"}
            for topic, words in TOPICS.items()
            for nr in range(14)
        ]
        found.bring(rows)
        found.settle()
        arrange(found)
        yield found


def arrange(rig: Rig) -> int:
    return rig.engine.palace.place_waiting().result(60)


def rooms(rig: Rig) -> tuple[RoomPlan, ...]:
    return rig.engine.palace.read_plan().result(30).wings[0].rooms


def marks(rig: Rig, room: int = 0) -> tuple[Landmark, ...]:
    return rooms(rig)[room].landmarks


def furnishings(rig: Rig) -> list[Furnishing | None]:
    wing = rig.engine.palace.read_plan().result(30).wings[0]
    return [wing.furnishing, *(room.furnishing for room in wing.rooms)]


@pytest.mark.slow
def test_every_room_has_landmarks_where_they_stand_and_a_look_of_its_own(rig: Rig) -> None:
    found = rooms(rig)
    assert len(found) > 1
    for room in found:
        assert FEWEST <= len(room.landmarks) <= MOST
        assert [mark.position for mark in room.landmarks] == list(range(len(room.landmarks)))
        for mark in room.landmarks:
            assert rig.get(mark.memory_id).text == mark.head
            assert (mark.chosen_by, mark.kind) == ("lifecycle", Kind.FACT)
            where = rig.engine.palace.find_locus(mark.memory_id).result(30)
            assert (where.room_id, where.x, where.y) == (room.id, mark.x, mark.y)
        assert room.fresh == room.count
    looks = [room.furnishing for room in found]
    assert all(looks)
    assert len({look.emblem for look in looks if look}) == len(looks)
    assert all(look.emblem in read_emblems() for look in looks if look)
    assert len({(look.tint, look.outline, look.floor) for look in looks if look}) == len(looks)
    assert furnishings(rig)[0] is not None


@pytest.mark.slow
def test_what_is_written_in_parts_is_the_same_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrangement, "BATCH", 7)
    with rig_at(tmp_path) as rig:
        rig.bring(facts(40))
        rig.settle()
        assert arrange(rig) == 40
        assert [len(room.landmarks) for room in rooms(rig)] == [landmark_count(room.count) for room in rooms(rig)]
        assert furnishings(rig)[0] is not None


@pytest.mark.slow
def test_what_is_furnished_stays_for_ever(rig: Rig) -> None:
    before, chosen = furnishings(rig), [room.landmarks for room in rooms(rig)]
    rig.engine.palace.rename_room(rooms(rig)[0].id, "Something else").result(30)
    rig.bring(facts(3))
    rig.settle()
    arrange(rig)
    rig.lock()
    rig.unlock()
    arrange(rig)
    assert furnishings(rig)[: len(before)] == before
    assert [room.landmarks for room in rooms(rig)][: len(chosen)] == chosen


@pytest.mark.slow
def test_the_heads_are_short(rig: Rig) -> None:
    told = rig.store("The boat " + "long " * 100, kind=Kind.FACT).memory_id
    arrange(rig)
    rig.engine.palace.set_landmark(told or "").result(30)
    heads = [mark.head for room in rooms(rig) for mark in room.landmarks if mark.memory_id == told]
    assert [len(head) for head in heads] == [200]


@pytest.mark.slow
@pytest.mark.parametrize("way", ["forget", "small talk", "erase"])
def test_one_that_falls_is_followed_in_its_position_and_the_others_stay(rig: Rig, way: str) -> None:
    before = marks(rig)
    fallen = before[1]
    if way == "forget":
        rig.forget(fallen.memory_id)
    elif way == "small talk":
        mark_small_talk(rig, fallen.memory_id)
    else:
        rig.engine.memories.erase([fallen.memory_id], OWNER_ACTOR).result(60)
    arrange(rig)
    after = marks(rig)
    assert [mark.position for mark in after] == [mark.position for mark in before]
    assert after[1].memory_id not in {mark.memory_id for mark in before}
    assert [mark for mark in after if mark.position != 1] == [mark for mark in before if mark.position != 1]
    assert rig.verify()["status"] == "ok"


@pytest.mark.slow
def test_what_waits_for_a_decision_is_no_landmark(rig: Rig) -> None:
    held = marks(rig)[0].memory_id
    n = rig.value("SELECT n FROM memories WHERE id = ?", held)
    rig.write(lambda tx: tx.update("memories", {"n": n}, {"status": "quarantined"}))
    assert held not in {mark.memory_id for mark in marks(rig)}
    arrange(rig)
    assert held not in {row[0] for row in rig.rows("SELECT memory_id FROM landmarks")}
    with refused(Code.NOT_FOUND):
        rig.engine.palace.set_landmark(held).result(30)


def test_a_statement_may_name_who_speaks_where_an_episode_calls_them(rig: Rig) -> None:
    text = "Ada keeps nine beehives behind the old boathouse"
    rig.bring([{"text": text, "author": "Ada", "session": "s"}, {"text": text, "kind": "fact"}])
    other = rig.store("Nine of them!", kind=Kind.EPISODE).memory_id
    (said, _), (stated, fact) = rig.rows("SELECT n, id FROM memories WHERE text = ? ORDER BY kind", text)
    link(rig, fact, other, "Ada", "possession", 3)
    weights = rig.opened.storage.vault.read(
        lambda rows: read_weights(rows, np.array([said, stated]), PhraseReader(), (), {"ada"})
    )
    assert weights.clarity[1] > weights.clarity[0] > 0


@pytest.mark.slow
def test_landmarks_stay_when_statements_are_made_of_them(rig: Rig) -> None:
    rig.bring(talk(30, "harbour"))
    rig.settle()
    arrange(rig)
    stood = rig.rows("SELECT room_id, position, memory_id FROM landmarks ORDER BY 1, 2")
    room_id, position, episode = rig.rows(
        "SELECT l.room_id, l.position, m.id FROM landmarks l JOIN memories m ON m.id = l.memory_id "
        "WHERE m.kind = 'episode' ORDER BY 1, 2"
    )[0]
    statement = str(rig.store(rig.get(episode).text + " indeed", kind=Kind.FACT).memory_id)
    arrange(rig)
    if rig.value("SELECT room_id FROM places WHERE memory_id = ?", statement) != room_id:
        rig.engine.palace.move_locus(statement, room_id, 2.0, 3.0).result(30)
    link(rig, statement, episode, "Ada", "event", 3)
    arrange(rig)
    assert rig.rows("SELECT room_id, position, memory_id FROM landmarks ORDER BY 1, 2") == stood
    assert not rig.opened.storage.vault.read(has_work)
    loci = rig.engine.palace.read_loci(room_id).result(30)
    assert [loci.ids[at] for at in range(len(loci.ids)) if loci.ground[at]] == [episode]
    for other in [memory_id for room, _, memory_id in stood if room == room_id and memory_id != episode]:
        rig.write(lambda tx, other=other: free_landmark(tx, other))  # type: ignore[misc]  # a default has no type
    arrange(rig)
    held = rig.rows("SELECT position, memory_id FROM landmarks WHERE room_id = ? ORDER BY 1", room_id)
    assert (position, episode) in held
    assert len(held) == len([one for one in stood if one[0] == room_id])
    assert statement not in {one for _, one in held}, "it says what the landmark says"
    mark_small_talk(rig, episode)
    arrange(rig)
    assert rig.value("SELECT memory_id FROM landmarks WHERE memory_id = ?", statement) == statement


@pytest.mark.slow
def test_one_taken_away_takes_no_position_by_what_it_was_made_of(rig: Rig) -> None:
    first, other = marks(rig)[0], marks(rig)[1]
    statement = str(rig.store(first.head + " indeed", kind=Kind.FACT).memory_id)
    arrange(rig)
    rig.engine.palace.move_locus(statement, rooms(rig)[0].id, 2.0, 3.0).result(30)
    rig.engine.palace.set_landmark(statement).result(30)
    rig.engine.palace.unset_landmark(statement).result(30)
    n = rig.value("SELECT n FROM memories WHERE id = ?", first.memory_id)
    rig.write(lambda tx: tx.update("memories", {"n": n}, {"kind": "episode"}))
    link(rig, statement, first.memory_id, "Ada", "event", 3)
    mark_small_talk(rig, first.memory_id)
    arrange(rig)
    after = {mark.memory_id for mark in marks(rig)}
    assert other.memory_id in after
    assert after.isdisjoint({statement, first.memory_id})


@pytest.mark.slow
@pytest.mark.parametrize("way", ["small talk", "quarantined", "unset"])
def test_a_room_in_which_nothing_may_be_a_landmark_waits_for_none(rig: Rig, way: str) -> None:
    room = rooms(rig)[0]
    inside = rig.rows("SELECT m.n, m.id FROM places p JOIN memories m ON m.id = p.memory_id WHERE room_id = ?", room.id)
    for n, memory_id in inside:
        if way == "small talk":
            mark_small_talk(rig, memory_id)
        elif way == "unset":
            rig.write(lambda tx: tx.insert("unset_landmarks", {"memory_id": memory_id}))  # noqa: B023 - waited for
            rig.write(lambda tx: free_landmark(tx, memory_id))  # noqa: B023
        else:
            rig.write(lambda tx: tx.update("memories", {"n": n}, {"status": "quarantined"}))  # noqa: B023
    if way != "unset":
        assert rig.opened.storage.vault.read(has_work)
    arrange(rig)
    assert marks(rig) == ()
    assert not rig.opened.storage.vault.read(has_work)


@pytest.mark.slow
def test_a_new_version_is_the_landmark_and_an_undo_brings_the_old_one_back(rig: Rig) -> None:
    before = marks(rig)
    step = rig.engine.library.revise_memories(
        [before[0].memory_id], Revision(text="We saw the boat and the garden.")
    ).result(30)
    after = marks(rig)
    assert after[0].memory_id != before[0].memory_id
    assert (after[0].head, after[0].position) == ("We saw the boat and the garden.", 0)
    arrange(rig)
    assert marks(rig) == after
    rig.undo(step.step_id)
    assert marks(rig) == before


@pytest.mark.slow
def test_an_allowed_text_that_had_a_place_of_its_own_takes_that_of_the_landmark(rig: Rig) -> None:
    asker = rig.client("asker", "read", "propose", "space:home")
    before, held = marks(rig), marks(rig)[0].memory_id
    asked = rig.engine.client_changes.update_text(held, "We saw the boat with new sails.", asker).result(30)
    rig.settle()
    arrange(rig)
    own = rig.rows("SELECT room_id, x, y FROM places WHERE memory_id = ?", asked.memory_id)
    assert len(own) == 1
    step = decide(rig, str(asked.conflict), Action.SUPERSEDE).step_id
    after = marks(rig)
    assert (after[0].memory_id, after[0].x, after[0].y) == (asked.memory_id, before[0].x, before[0].y)
    assert after[1:] == before[1:]
    arrange(rig)
    assert rig.undo(step).left == ()
    assert marks(rig) == before
    assert rig.rows("SELECT room_id, x, y FROM places WHERE memory_id = ?", asked.memory_id) == own
    assert rig.verify()["status"] == "ok"


@pytest.mark.slow
@pytest.mark.parametrize("is_moved", [False, True])
def test_a_new_version_is_recalled_as_well_and_an_undo_gives_it_back(rig: Rig, is_moved: bool) -> None:
    held = marks(rig)[0].memory_id
    rig.engine.rehearsals.grade(held, Grade.GOOD).result(30)
    rig.engine.palace.unset_landmark(held).result(30)
    told = rig.rows("SELECT * FROM rehearsals")
    change = Revision(text="We saw the boat and the garden.", space="work" if is_moved else None)
    step = rig.engine.library.revise_memories([held], change).result(30)
    new = rig.value("SELECT superseded_by_id FROM memories WHERE id = ?", held)
    assert rig.rows("SELECT * FROM rehearsals") == [(new, *told[0][1:])]
    assert rig.rows("SELECT memory_id FROM unset_landmarks") == [(new,)]
    assert rig.undo(step.step_id).left == ()
    assert rig.rows("SELECT * FROM rehearsals") == told
    assert rig.rows("SELECT memory_id FROM unset_landmarks") == [(held,)]
    assert rig.verify()["status"] == "ok"


@pytest.mark.slow
@pytest.mark.parametrize("chosen_by", ["lifecycle", "owner"])
def test_one_taken_away_comes_back_though_another_took_its_position(rig: Rig, chosen_by: str) -> None:
    held = marks(rig)[1].memory_id
    if chosen_by == "owner":
        rig.engine.palace.set_landmark(held).result(30)
    before = marks(rig)
    step = rig.engine.palace.unset_landmark(held).result(30)
    arrange(rig)
    refilled = marks(rig)
    assert [mark.position for mark in refilled] == [mark.position for mark in before]
    report = rig.undo(step)
    assert report.left == ()
    assert marks(rig) == before
    assert rig.undo(report.undo_step_id).left == ()
    assert marks(rig) == refilled
    assert rig.verify()["status"] == "ok"


@pytest.mark.slow
def test_one_taken_away_and_chosen_again_stays_where_it_was_put(rig: Rig) -> None:
    held = marks(rig)[0].memory_id
    step = rig.engine.palace.unset_landmark(held).result(30)
    arrange(rig)
    rig.engine.palace.set_landmark(held).result(30)
    before = marks(rig)
    rig.undo(step)
    assert marks(rig) == before


@pytest.mark.slow
def test_the_person_chooses_landmarks_and_takes_them_away(rig: Rig) -> None:
    room = rooms(rig)[0]
    ids = [row[0] for row in rig.rows("SELECT memory_id FROM places WHERE room_id = ? ORDER BY memory_id", room.id)]
    others = [one for one in ids if one not in {mark.memory_id for mark in room.landmarks}]
    step = rig.engine.palace.set_landmark(others[0]).result(30)
    added = marks(rig)
    assert [(mark.memory_id, mark.chosen_by) for mark in added][-1] == (others[0], "owner")
    report = rig.undo(step)
    assert marks(rig) == room.landmarks
    rig.undo(report.undo_step_id)
    assert marks(rig) == added
    for one in others[1 : MOST + 2]:
        if sum(mark.chosen_by == "owner" for mark in marks(rig)) == MOST:
            break
        rig.engine.palace.set_landmark(one).result(30)
    assert {mark.chosen_by for mark in marks(rig)} == {"owner"}
    with refused(Code.INVALID_INPUT):
        rig.engine.palace.set_landmark(others[-1]).result(30)
    first = marks(rig)[0].memory_id
    unset = rig.engine.palace.unset_landmark(first).result(30)
    after = marks(rig)
    assert len(after) == MOST - 1
    arrange(rig)
    assert first not in {mark.memory_id for mark in after}
    with refused(Code.NOT_FOUND):
        rig.engine.palace.unset_landmark(first).result(30)
    rig.undo(unset)
    assert first in {mark.memory_id for mark in marks(rig)}


@pytest.mark.slow
def test_an_emblem_the_person_gave_stays_until_it_is_undone(rig: Rig) -> None:
    room = rooms(rig)[0]
    assert room.furnishing is not None
    step = rig.engine.palace.set_emblem(room.id, "anchor").result(30)
    arrange(rig)
    given = rooms(rig)[0].furnishing
    assert given is not None
    assert (given.emblem, given.tint) == ("anchor", room.furnishing.tint)
    rig.undo(step)
    assert rooms(rig)[0].furnishing == room.furnishing
    with refused(Code.INVALID_INPUT):
        rig.engine.palace.set_emblem(room.id, "no such").result(30)
    with refused(Code.NOT_FOUND):
        rig.engine.palace.set_emblem("nowhere", "anchor").result(30)


@pytest.mark.slow
def test_a_room_that_was_furnished_since_it_was_made_can_be_taken_back(rig: Rig) -> None:
    ids = [row[0] for row in rig.rows("SELECT memory_id FROM places ORDER BY memory_id")][:9]
    before = rig.rows("SELECT id, emblem FROM rooms ORDER BY id")
    step = rig.engine.palace.make_room("home", "Mixed", ids).result(30)
    arrange(rig)
    assert len(rig.rows("SELECT 1 FROM landmarks l JOIN rooms r ON r.id = l.room_id WHERE r.name = 'Mixed'")) == FEWEST
    report = rig.undo(step)
    assert report.left == ()
    assert rig.rows("SELECT id, emblem FROM rooms ORDER BY id") == before
    arrange(rig)
    again = rig.undo(report.undo_step_id)
    assert again.left == ()
    assert rig.value("SELECT count(*) FROM rooms WHERE name = 'Mixed'") == 1
    assert rig.verify()["status"] == "ok"


@pytest.mark.slow
def test_a_merged_room_takes_its_landmarks_with_it_and_an_undo_brings_them_back(rig: Rig) -> None:
    gone, into = rooms(rig)[:2]
    step = rig.engine.palace.merge_rooms(gone.id, into.id).result(30)
    assert rig.rows("SELECT 1 FROM landmarks WHERE room_id = ?", gone.id) == []
    arrange(rig)
    rig.undo(step)
    arrange(rig)
    found = {room.id: room for room in rooms(rig)}
    assert found[gone.id].landmarks == gone.landmarks
    assert found[gone.id].furnishing == gone.furnishing
    assert len(found[into.id].landmarks) >= FEWEST


@pytest.mark.slow
def test_a_large_room_has_alcoves_with_names_and_nobody_stands_on_a_name(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig:
        rig.bring([*talk(90, "one"), *talk(90, "two", 500)])
        rig.settle()
        every = [row[0] for row in rig.rows("SELECT id FROM memories ORDER BY n")]
        rig.engine.palace.make_room("home", "All of it", every).result(60)
        arrange(rig)
        large = [room for room in rooms(rig) if room.alcoves]
        assert large
        rig.bring(talk(40, "two", 900), name="more.jsonl")
        rig.settle()
        arrange(rig)
        for room in large:
            assert len({alcove.name for alcove in room.alcoves}) == len(room.alcoves) > 1
            assert len(room.landmarks) <= MOST
            for alcove in room.alcoves:
                assert alcove.x >= 1.0
                assert alcove.x + alcove.w <= room.w - 1.0
                assert alcove.y + alcove.h <= room.h - 1.0
            spots = rig.rows("SELECT x, y FROM places WHERE room_id = ?", room.id)
            assert len(spots) >= room.count
            for x, y in spots:
                inside = [one for one in room.alcoves if one.x < x < one.x + one.w and one.y < y < one.y + one.h]
                assert len(inside) == 1
                assert y > inside[0].y + 1.0


def make_old(rig: Rig) -> None:
    """Make the plan one of an older version: wide rooms, no furnishing, no landmarks."""
    bare = {"emblem": None, "tint": None, "outline": None, "floor": None}

    def change(tx: Tx) -> None:
        for row in tx.all("SELECT room_id, position FROM landmarks"):
            tx.delete("landmarks", {"room_id": row[0], "position": row[1]})
        for (wing_id,) in tx.all("SELECT id FROM rooms WHERE parent_id IS NULL"):
            tx.update("rooms", {"id": wing_id}, bare)
        for number, (room_id,) in enumerate(tx.all("SELECT id FROM rooms WHERE parent_id IS NOT NULL ORDER BY id")):
            tx.update("rooms", {"id": room_id}, {**bare, "x": 15.0 * number, "y": 0.0, "w": 14.0, "h": 9.0})
            inside = tx.all("SELECT memory_id FROM places WHERE room_id = ? ORDER BY rowid", (room_id,))
            for at, (memory_id,) in enumerate(inside):
                tx.update("places", {"memory_id": memory_id}, {"x": 1.5 + at % 12, "y": 2.5 + at // 12})

    rig.write(change)


@pytest.mark.slow
@pytest.mark.parametrize("is_owners", [False, True])
def test_a_wing_of_an_older_version_is_laid_anew_once(rig: Rig, is_owners: bool) -> None:
    make_old(rig)
    before = rooms(rig)
    held = {room.id: room.count for room in before}
    own = rig.value("SELECT memory_id FROM places WHERE room_id = ? ORDER BY x DESC, y DESC LIMIT 1", before[0].id)
    if is_owners:
        rig.write(lambda tx: tx.update("rooms", {"id": before[0].id}, {"made_by": "owner"}))
        rig.write(lambda tx: tx.update("places", {"memory_id": own}, {"placed_by": "owner"}))
    assert arrange(rig) == 0
    after = rooms(rig)
    assert {room.id: room.count for room in after} == held
    assert [room.name for room in after] == [room.name for room in before]
    for place, room in enumerate(after):
        assert room.w < 14.0
        assert room.density == 0
        assert len(room.landmarks) >= FEWEST
        assert room.furnishing is not None
        spots = rig.rows("SELECT x, y FROM places WHERE room_id = ?", room.id)
        assert len(set(spots)) == len(spots)
        assert all(1.0 < x < room.w - 1.0 and 2.0 < y < room.h - 1.0 for x, y in spots)
        for other in after[place + 1 :]:
            assert room.x + room.w + GAP <= other.x or other.x + other.w + GAP <= room.x or room.y != other.y
    if is_owners:
        assert [room.x for room in after] == sorted(room.x for room in after)
        x, placed_by = rig.rows("SELECT x, placed_by FROM places WHERE memory_id = ?", own)[0]
        assert x == after[0].w - 1.5
        assert placed_by == "owner"
    spots_now = rig.rows("SELECT memory_id, x, y FROM places ORDER BY memory_id")
    assert arrange(rig) == 0
    assert rig.rows("SELECT memory_id, x, y FROM places ORDER BY memory_id") == spots_now
    assert rig.verify()["status"] == "ok"


@pytest.mark.slow
def test_a_renewal_that_was_interrupted_stretches_a_wing_once(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    make_old(rig)
    room = rooms(rig)[0]
    own = rig.value("SELECT memory_id FROM places WHERE room_id = ? ORDER BY x DESC, y DESC LIMIT 1", room.id)
    rig.write(lambda tx: tx.update("rooms", {"id": room.id}, {"made_by": "owner"}))
    rig.write(lambda tx: tx.update("places", {"memory_id": own}, {"placed_by": "owner"}))

    def fail(*_: object) -> None:
        raise LociError(Code.VAULT_LOCKED, "The vault is being locked.")

    with monkeypatch.context() as patched:
        patched.setattr(plan_renewal, "_write_moves", fail)
        with refused(Code.VAULT_LOCKED):
            arrange(rig)
    grounds = "SELECT id, x, y, w, h FROM rooms ORDER BY id"
    before = rig.rows(grounds)
    arrange(rig)
    assert rig.rows(grounds) == before
    after = rooms(rig)[0]
    assert rig.value("SELECT x FROM places WHERE memory_id = ?", own) == after.w - 1.5
    for found in rooms(rig):
        assert_apart(rig, found)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["_write_room_rects", "_write_moves"])
def test_what_the_person_does_while_a_wing_is_laid_anew_stays(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    make_old(rig)
    gone, into = rooms(rig)[:2]
    write = getattr(plan_renewal, name)
    done: list[int] = []

    def interfere(tx: Tx, *more: object) -> object:
        if not done:
            done.append(1)
            desk = FloorPlanContext(rig.opened.storage.work, rig.opened.storage.make_id, rig.opened.search.index.fetch)
            floor_plan_edits.merge_rooms(tx, desk, gone.id, into.id)
        return write(tx, *more)

    monkeypatch.setattr(plan_renewal, name, interfere)
    arrange(rig)
    assert done
    found = {room.id: room for room in rooms(rig)}
    assert gone.id not in found
    assert found[into.id].count == gone.count + into.count
    for room in found.values():
        assert_apart(rig, room)
        assert len(room.landmarks) >= FEWEST
    assert rig.verify()["status"] == "ok"


@pytest.mark.slow
@pytest.mark.parametrize("way", ["outside", "on a name"])
def test_a_place_of_before_its_room_was_laid_anew_does_not_come_back(rig: Rig, way: str) -> None:
    told = str(rig.store("We saw the boat at the harbour with tar", kind=Kind.FACT).memory_id)
    arrange(rig)
    make_old(rig)
    place = {"x": 12.5, "y": 4.5} if way == "outside" else {"x": 2.5, "y": 2.5}
    rig.write(lambda tx: tx.update("places", {"memory_id": told}, place))
    room_id = rig.value("SELECT room_id FROM places WHERE memory_id = ?", told)
    gone = rig.undo()
    assert rig.rows("SELECT 1 FROM memories WHERE id = ?", told) == []
    arrange(rig)
    room = next(one for one in rooms(rig) if one.id == room_id)
    alcove = {"id": "a", "room_id": room_id, "name": "Boats", "x": 1.0, "y": 2.0, "w": room.w - 2, "h": room.h - 3}
    if way == "on a name":
        rig.write(lambda tx: tx.delete("places", {"memory_id": tx.value(AT, (room_id, 2.5, 2.5))}))
        rig.write(lambda tx: tx.insert("alcoves", alcove))
    assert rig.undo(gone.undo_step_id).left == ()
    assert rig.get(told).id == told
    assert rig.rows("SELECT x, y FROM places WHERE memory_id = ?", told) == []
    arrange(rig)
    x, y = rig.rows("SELECT x, y FROM places WHERE memory_id = ?", told)[0]
    assert is_free_grid_point(room.w, room.h, x, y, [Rect(1, 2, round(room.w) - 2, 1)] if way == "on a name" else ())


def assert_apart(rig: Rig, room: RoomPlan) -> None:
    """Everyone stands alone on a place within the walls."""
    spots = rig.rows("SELECT x, y FROM places WHERE room_id = ?", room.id)
    assert len(set(spots)) == len(spots)
    assert all(is_free_grid_point(room.w, room.h, x, y) for x, y in spots)


@pytest.mark.slow
def test_an_erased_word_leaves_the_names_of_rooms_and_alcoves(rig: Rig) -> None:
    room = rooms(rig)[0]
    told = rig.store("Zanzibar is where the boat lay.", kind=Kind.FACT).memory_id
    arrange(rig)
    rig.engine.palace.move_locus(told or "", room.id, 2.0, 3.0).result(30)
    row = {"id": "a", "room_id": room.id, "name": "Zanzibar", "x": 1.0, "y": 2.0, "w": room.w - 2, "h": room.h - 3}
    rig.write(lambda tx: tx.insert("alcoves", row))
    rig.write(lambda tx: tx.update("rooms", {"id": room.id}, {"name": "Zanzibar"}))
    rig.engine.memories.erase([told or ""], OWNER_ACTOR).result(60)
    assert "Zanzibar" not in {row[0] for row in rig.rows("SELECT name FROM rooms UNION ALL SELECT name FROM alcoves")}


@pytest.mark.slow
def test_a_room_called_by_a_time_is_marked_with_what_stands_for_talk(rig: Rig) -> None:
    room = rooms(rig)[0]
    rig.write(lambda tx: tx.update("rooms", {"id": room.id}, {"name": "Spring 2023, talk", "emblem": None}))
    arrange(rig)
    (furnishing,) = [one.furnishing for one in rooms(rig) if one.id == room.id]
    assert furnishing is not None
    assert furnishing.emblem in furnisher._OF_TIME


def test_every_emblem_of_a_room_called_by_a_time_is_an_emblem() -> None:
    assert furnisher._OF_TIME.issubset(read_emblems())


@pytest.mark.slow
def test_a_statement_is_placed_in_the_room_of_what_it_was_made_of(rig: Rig) -> None:
    room = rooms(rig)[-1]
    episode = str(rig.engine.palace.read_loci(room.id).result(30).ids[0])
    rig.write(
        lambda tx: tx.update(
            "memories", {"n": tx.value("SELECT n FROM memories WHERE id = ?", (episode,))}, {"kind": "episode"}
        )
    )
    other = rooms(rig)[0]
    near_to_other = rig.get(rig.engine.palace.read_loci(other.id).result(30).ids[0]).text
    statement = str(rig.store(f"{near_to_other} indeed", kind=Kind.FACT).memory_id)
    link(rig, statement, episode, "Ada", "event", 3)
    arrange(rig)
    assert rig.value("SELECT room_id FROM places WHERE memory_id = ?", statement) == room.id != other.id
