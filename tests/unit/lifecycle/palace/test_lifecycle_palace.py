"""The palace on a real engine: first plan, newcomers, what the person moves, and that undo restores all of it."""

from __future__ import annotations

import threading
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_rig import Rig, error_of, facts, refused, rig_at, talk

from core.engine.views.palace import arrange_waiting
from core.errors import Code
from core.events import Changed
from core.lifecycle.palace.arrangement import has_unplaced
from core.score.floor_plan import column_count, row_count
from core.types.values import OWNER_ACTOR, Kind
from core.types.views import GAP, HEADER, MARGIN, PalacePlan, Revision, RoomPlan

Spot = tuple[str, float, float]


def spots(rig: Rig) -> dict[str, Spot]:
    """Memory to room and place."""
    return {row[0]: row[1:] for row in rig.rows("SELECT memory_id, room_id, x, y FROM places")}


def floor(rig: Rig) -> tuple[list[Any], list[Any]]:
    """Every row of the plan."""
    return rig.rows("SELECT * FROM rooms ORDER BY id"), rig.rows("SELECT * FROM places ORDER BY memory_id")


def plan(rig: Rig) -> PalacePlan:
    return rig.engine.palace.read_plan().result(10)


def rooms(rig: Rig, wing: int = 0) -> tuple[RoomPlan, ...]:
    return plan(rig).wings[wing].rooms


def place_all(rig: Rig) -> int:
    return rig.engine.palace.place_waiting().result(30)


def sound(rig: Rig) -> None:
    """Whatever happened: rooms are apart, and every locus stands alone on a place of its room and space."""
    found = plan(rig)
    for wing in found.wings:
        for place, room in enumerate(wing.rooms):
            assert room.x >= 0
            assert room.y >= 0
            assert room.x + room.w <= wing.w
            assert room.y + room.h <= wing.h
            for other in wing.rooms[place + 1 :]:
                beside = room.x + room.w + GAP <= other.x or other.x + other.w + GAP <= room.x
                assert beside or room.y + room.h + GAP <= other.y or other.y + other.h + GAP <= room.y
            standing = rig.rows("SELECT x, y FROM places WHERE room_id = ?", room.id)
            assert len(set(standing)) == len(standing)
            i = (np.array([x for x, _ in standing]) - MARGIN - 0.5) * 2**room.density
            j = (np.array([y for _, y in standing]) - HEADER - 0.5) * 2**room.density
            assert np.all((i == np.floor(i)) & (i >= 0) & (i < column_count(room.w, room.density)))
            assert np.all((j == np.floor(j)) & (j >= 0) & (j < row_count(room.h, room.density)))
        assert len({room.name.casefold() for room in wing.rooms}) == len(wing.rooms)
    edges = sorted((wing.x, wing.x + wing.w) for wing in found.wings)
    assert all(left + 4 * GAP <= right for (_, left), (right, _) in pairwise(edges))
    strays = "SELECT 1 FROM places p JOIN rooms r ON r.id = p.room_id JOIN memories m ON m.id = p.memory_id "
    assert not rig.rows(strays + "WHERE m.space_id <> r.space_id")


def test_an_empty_vault_has_an_empty_plan(rig: Rig) -> None:
    found = plan(rig)
    assert (found.wings, found.earliest, sum(found.recorded), len(found.said)) == ((), None, 0, 96)
    assert place_all(rig) == 0


@pytest.mark.slow
def test_every_space_gets_its_wing_and_every_memory_its_place(rig: Rig) -> None:
    rig.bring([*talk(60, "a"), *facts(60)])
    rig.bring([{**row, "space": "Work"} for row in talk(20, "w")], name="work.jsonl")
    heard: list[Changed] = []
    rig.engine.hub.subscribe(lambda event: heard.append(event) if isinstance(event, Changed) else None)
    assert place_all(rig) == 140
    found = plan(rig)
    assert [(wing.space, wing.count, wing.waiting) for wing in found.wings] == [("home", 120, 0), ("Work", 20, 0)]
    assert sum(found.recorded) == sum(found.said) == 140
    assert len(found.wings[0].rooms) > 1
    assert not any(room.name[0].islower() or any(sign.isdigit() for sign in room.name) for room in found.wings[0].rooms)
    sound(rig)
    assert {(event.verb, event.origin.kind) for event in heard} == {("arrange", "scheduler")}
    assert rig.value("SELECT count(*) FROM undo_steps WHERE verb = 'arrange'") == 0
    noted = rig.rows("SELECT actor, detail FROM audit WHERE verb = 'arrange' ORDER BY rowid")
    assert {actor for actor, _ in noted} == {"scheduler"}
    assert '"placed":120' in noted[0][1]
    assert sum('"furnished"' in detail for _, detail in noted) == 2
    assert rig.verify()["status"] == "ok"


@pytest.mark.slow
def test_the_same_memories_give_the_same_plan(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with rig_at(tmp_path / name) as rig:
            rig.bring([*talk(50, "a"), *facts(50)])
            place_all(rig)
            found.append(
                rig.rows(
                    "SELECT m.n, r.name, r.x, r.y, r.w, r.h, p.x, p.y FROM places p JOIN rooms r ON r.id = p.room_id "
                    "JOIN memories m ON m.id = p.memory_id ORDER BY m.n"
                )
            )
    assert found[0] == found[1]


def test_newcomers_take_free_places_and_move_nobody(rig: Rig) -> None:
    rig.bring(talk(60, "a"))
    place_all(rig)
    before = spots(rig)
    rig.bring([*talk(90, "a")], name="more.jsonl")
    assert place_all(rig) == 30
    after = spots(rig)
    assert {memory_id: after[memory_id] for memory_id in before} == before
    # The conversation goes on in one of the rooms in which most of it stands.
    homes = Counter(room for room, *_ in before.values())
    (room,) = {after[memory_id][0] for memory_id in after.keys() - before.keys()}
    assert homes[room] == max(homes.values())
    sound(rig)


@pytest.mark.slow
def test_a_newcomer_stands_by_its_kin(rig: Rig) -> None:
    rig.bring([{"text": f"{what} {n} {what}", "kind": "fact"} for n in range(40) for what in ("alpha", "omega")])
    place_all(rig)
    kin = rig.store("omega 7 omega omega", kind=Kind.FACT).memory_id
    place_all(rig)
    where = rig.engine.palace.find_locus(kin).result(10)
    nearest = rig.rows(
        "SELECT m.text FROM places p JOIN memories m ON m.id = p.memory_id WHERE p.room_id = ? AND m.id <> ? "
        "ORDER BY (p.x - ?) * (p.x - ?) + (p.y - ?) * (p.y - ?) LIMIT 2",
        where.room_id, kin, where.x, where.x, where.y, where.y,
    )  # fmt: skip
    assert "omega" in nearest[0][0]


@pytest.mark.slow
def test_a_new_topic_in_number_gets_a_room_of_its_own(rig: Rig) -> None:
    rig.bring([{"text": f"alpha beta gamma {n}", "kind": "fact"} for n in range(40)])
    place_all(rig)
    before = rooms(rig)
    rig.bring([{"text": f"zebra quagga okapi {n}", "kind": "fact"} for n in range(11)], name="few.jsonl")
    place_all(rig)
    assert rooms(rig)[: len(before)] != before  # they lodge: the counts rose
    assert len(rooms(rig)) == len(before)
    rig.bring([{"text": f"violin cello viola {n}", "kind": "fact"} for n in range(30)], name="many.jsonl")
    place_all(rig)
    assert len(rooms(rig)) > len(before)
    assert "violin" in rooms(rig)[-1].name.lower() or "cello" in rooms(rig)[-1].name.lower()
    sound(rig)


@pytest.mark.slow
def test_a_small_beginning_can_grow(rig: Rig) -> None:
    rig.store("alpha beginning", kind=Kind.FACT)
    place_all(rig)
    assert len(rooms(rig)) == 1
    rig.bring([{"text": f"alpha beginning {n} and on", "kind": "fact"} for n in range(400)])
    assert place_all(rig) == 400
    assert plan(rig).wings[0].count == 401
    assert max(room.density for room in rooms(rig)) <= 2
    sound(rig)


@pytest.mark.slow
def test_restart_and_rebuilt_index_move_nothing(rig: Rig) -> None:
    rig.bring(talk(80, "a"))
    place_all(rig)
    before = floor(rig)
    rig.lock()
    rig.home.snapshot.unlink(missing_ok=True)
    rig.unlock()
    assert place_all(rig) == 0
    assert floor(rig) == before


@pytest.mark.slow
def test_import_arrange_undo_redo(rig: Rig) -> None:
    kept = rig.bring(facts(20)).import_id
    report = rig.bring([{**row, "space": "Attic"} for row in talk(40, "a")], name="talk.jsonl")
    place_all(rig)
    before = floor(rig)
    undone = rig.unimport(report.import_id)
    assert not undone.left
    assert [wing.space for wing in plan(rig).wings] == ["home"]
    redone = rig.undo(undone.undo_step_id)
    assert not redone.left
    assert floor(rig) == before
    assert place_all(rig) == 0
    assert rig.verify()["status"] == "ok"
    assert kept is not None


@pytest.mark.slow
def test_what_comes_while_it_is_undone_leaves_its_places_free(rig: Rig) -> None:
    rig.bring(facts(10))
    report = rig.bring(facts(10, 100, "The cellar keeps cider"), name="cellar.jsonl")
    place_all(rig)
    before = spots(rig)
    undone = rig.unimport(report.import_id)
    rig.bring(facts(12, 200, "The cellar keeps perry"), name="perry.jsonl")
    place_all(rig)
    rig.undo(undone.undo_step_id)
    after = spots(rig)
    assert {memory_id: after[memory_id] for memory_id in before} == before
    sound(rig)


def test_an_undone_store_takes_its_place_along(rig: Rig) -> None:
    rig.store("alpha", kind=Kind.FACT)
    place_all(rig)
    report = rig.undo()
    assert not report.left
    assert spots(rig) == {}
    rig.undo(report.undo_step_id)
    assert len(spots(rig)) == 1


def test_the_forgotten_keep_their_place_and_are_given_none(rig: Rig) -> None:
    placed = rig.store("alpha", kind=Kind.FACT).memory_id
    place_all(rig)
    late = rig.store("omega", kind=Kind.FACT).memory_id
    before = spots(rig)
    rig.forget(placed)
    rig.forget(late)
    assert place_all(rig) == 0
    assert spots(rig) == before
    wing = plan(rig).wings[0]
    assert (wing.count, wing.waiting) == (0, 0)
    loci = rig.engine.palace.read_loci(wing.rooms[0].id).result(10)
    assert loci.ids == (placed,)
    assert loci.retired_at[0] < np.iinfo(np.int64).max


def test_loci_are_columns_of_one_length(rig: Rig) -> None:
    rig.bring([*talk(10, "a"), *facts(10)])
    place_all(rig)
    for room in rooms(rig):
        loci = rig.engine.palace.read_loci(room.id).result(10)
        assert len(loci.ids) == room.count
        assert list(loci.n) == sorted(loci.n)
        for column in ("x", "y", "kind", "status", "trust", "strength", "importance", "said_at", "pinned", "moved"):
            assert len(getattr(loci, column)) == room.count
        assert np.all((loci.strength > 0) & (loci.strength <= 1))
        assert not loci.moved.any()
    assert error_of(rig.engine.palace.read_loci("nowhere")).code is Code.NOT_FOUND
    assert error_of(rig.engine.palace.find_locus("nobody")).code is Code.NOT_FOUND


@pytest.fixture
def furnished(rig: Rig) -> Rig:
    rig.bring([*talk(60, "a"), *facts(60), {"text": "elsewhere", "kind": "fact", "space": "Work"}])
    place_all(rig)
    return rig


def undone_exactly(rig: Rig, before: tuple[list[Any], list[Any]], step: str) -> None:
    """Taking the step back restores every row, and doing it again brings the same."""
    sound(rig)
    done = floor(rig)
    assert done != before
    report = rig.undo(step)
    assert not report.left
    assert floor(rig) == before
    rig.undo(report.undo_step_id)
    assert floor(rig) == done


@pytest.mark.slow
def test_move_a_locus(furnished: Rig) -> None:
    first, second = rooms(furnished)[:2]
    ids = furnished.engine.palace.read_loci(first.id).result(10).ids
    before = floor(furnished)
    step = furnished.engine.palace.move_locus(ids[0], second.id, 1.4, 2.6).result(10)
    here = furnished.engine.palace.find_locus(ids[0]).result(10)
    assert here.room_id == second.id
    assert here.x + here.y < 8
    assert furnished.engine.palace.read_loci(second.id).result(10).moved.sum() == 1
    undone_exactly(furnished, before, step)
    assert furnished.value("SELECT label FROM undo_steps WHERE id = ?", step) == "Move a locus"
    place_all(furnished)
    assert furnished.engine.palace.find_locus(ids[0]).result(10) == here
    other = plan(furnished).wings[1].rooms[0]
    refusal = error_of(furnished.engine.palace.move_locus(ids[0], other.id, 2, 3))
    assert refusal.code is Code.INVALID_INPUT
    assert "Move" in refusal.sentence


@pytest.mark.slow
def test_a_place_that_was_taken_since_is_left(furnished: Rig) -> None:
    room = rooms(furnished)[0]
    loci = furnished.engine.palace.read_loci(room.id).result(10)
    palace = furnished.engine.palace
    step = palace.move_locus(loci.ids[0], rooms(furnished)[1].id, 3, 4).result(10)
    palace.move_locus(loci.ids[1], room.id, float(loci.x[0]), float(loci.y[0])).result(10)
    report = furnished.undo(step)
    assert [row["table"] for row in report.left] == ["places"]
    sound(furnished)


@pytest.mark.slow
def test_the_left_place_waits_for_an_undo(furnished: Rig) -> None:
    room, other = rooms(furnished)[:2]
    loci = furnished.engine.palace.read_loci(room.id).result(10)
    step = furnished.engine.palace.move_locus(loci.ids[0], other.id, 3, 4).result(10)
    before = floor(furnished)[1]
    furnished.bring(talk(100, "a"), name="more.jsonl")
    furnished.bring(facts(40, 500), name="facts.jsonl")
    place_all(furnished)
    assert not furnished.undo(step).left
    sound(furnished)
    assert len(floor(furnished)[1]) == len(before) + 80


@pytest.mark.slow
def test_move_a_room(furnished: Rig) -> None:
    room = rooms(furnished)[0]
    before = floor(furnished)
    step = furnished.engine.palace.move_room(room.id, 0.3, 900).result(10)
    moved = next(found for found in rooms(furnished) if found.id == room.id)
    assert moved.made_by == "owner"
    assert moved.x == 0
    assert moved.y > room.y
    undone_exactly(furnished, before, step)
    assert error_of(furnished.engine.palace.move_room(room.id, float("nan"), 0)).code is Code.INVALID_INPUT


@pytest.mark.slow
def test_rename_a_room(furnished: Rig) -> None:
    first, second = rooms(furnished)[:2]
    before = floor(furnished)
    step = furnished.engine.palace.rename_room(first.id, "  Grandmother's  kitchen ").result(10)
    assert rooms(furnished)[0].name == "Grandmother's kitchen"
    assert (
        furnished.value("SELECT label FROM undo_steps WHERE id = ?", step) == "Rename a room to Grandmother's kitchen"
    )
    undone_exactly(furnished, before, step)
    for name in ("", "   ", "x" * 65, "a\u202eb", "a\x00b", second.name.upper()):
        assert error_of(furnished.engine.palace.rename_room(first.id, name)).code is Code.INVALID_INPUT
    assert error_of(furnished.engine.palace.rename_room("none", "x")).code is Code.NOT_FOUND


@pytest.mark.slow
def test_merge_rooms(furnished: Rig) -> None:
    first, second = rooms(furnished)[:2]
    standing = spots(furnished)
    before = floor(furnished)
    step = furnished.engine.palace.merge_rooms(second.id, first.id).result(10)
    assert second.id not in {room.id for room in rooms(furnished)}
    merged = rooms(furnished)[0]
    assert (merged.count, merged.made_by) == (first.count + second.count, "owner")
    after = spots(furnished)
    assert all(after[memory_id] == spot for memory_id, spot in standing.items() if spot[0] != second.id)
    undone_exactly(furnished, before, step)
    other = plan(furnished).wings[1].rooms[0]
    for from_id, into_id in ((first.id, first.id), (other.id, first.id)):
        assert error_of(furnished.engine.palace.merge_rooms(from_id, into_id)).code is Code.INVALID_INPUT


@pytest.mark.slow
def test_make_a_room(furnished: Rig) -> None:
    ids = furnished.engine.palace.read_loci(rooms(furnished)[0].id).result(10).ids[:5]
    before = floor(furnished)
    step = furnished.engine.palace.make_room("home", "Treasures", ids).result(10)
    made = rooms(furnished)[-1]
    assert (made.name, made.count, made.made_by) == ("Treasures", 5, "owner")
    undone_exactly(furnished, before, step)
    stranger = furnished.engine.palace.read_loci(plan(furnished).wings[1].rooms[0].id).result(10).ids
    for space, name, chosen, code in (
        ("home", "More", stranger, Code.INVALID_INPUT),
        ("home", "treasures", ids, Code.INVALID_INPUT),
        ("home", "More", ("nobody",), Code.NOT_FOUND),
        ("nowhere", "More", (), Code.NOT_FOUND),
    ):
        assert error_of(furnished.engine.palace.make_room(space, name, chosen)).code is code


@pytest.mark.slow
def test_an_undone_room_sends_its_newcomers_elsewhere(furnished: Rig) -> None:
    ids = furnished.engine.palace.read_loci(rooms(furnished)[0].id).result(10).ids
    step = furnished.engine.palace.make_room("home", "Mine", ids).result(10)
    furnished.bring(talk(70, "a"), name="more.jsonl")
    place_all(furnished)
    assert not furnished.undo(step).left
    place_all(furnished)
    assert plan(furnished).wings[0].waiting == 0
    sound(furnished)


def test_a_room_in_a_space_without_a_wing(rig: Rig) -> None:
    step = rig.engine.palace.make_room("home", "Empty", ()).result(10)
    assert [(room.name, room.count) for room in rooms(rig)] == [("Empty", 0)]
    rig.undo(step)
    rig.bring(facts(30))
    assert place_all(rig) == 30
    sound(rig)


def test_locked_means_locked(rig: Rig) -> None:
    rig.lock()
    for ask in (rig.engine.palace.read_plan, rig.engine.palace.place_waiting):
        with refused(Code.VAULT_LOCKED):
            ask()


def test_a_lock_stops_arranging_and_the_next_start_goes_on(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig:
        rig.bring(talk(80, "a"))
        rig.opened.storage.closing.set()
        with refused(Code.VAULT_LOCKED):
            arrange_waiting(rig.opened.storage, rig.opened.search)
        rig.opened.storage.closing.clear()
        assert place_all(rig) == 80


@pytest.mark.slow
def test_newcomers_are_placed_by_themselves(tmp_path: Path) -> None:
    with rig_at(tmp_path, background=True) as rig:
        arranged = threading.Event()

        def hear(event: object) -> None:
            if isinstance(event, Changed) and event.verb == "arrange":
                arranged.set()

        rig.engine.hub.subscribe(hear)
        rig.bring(facts(20))
        assert arranged.wait(60)
        assert plan(rig).wings[0].count == 20
        arranged.clear()
        rig.lock()
        rig.unlock()
        rig.store("one more thing", kind=Kind.FACT)
        assert arranged.wait(60)
        assert plan(rig).wings[0].count == 21


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 2])
def test_undoing_a_move_to_another_space_gives_back_the_very_place(rig: Rig, times: int) -> None:
    rig.bring(facts(30))
    place_all(rig)
    before = spots(rig)
    moved = sorted(before)[:3]
    step = rig.engine.library.revise_memories(moved, Revision(space="work")).result(30).step_id
    place_all(rig)
    away = spots(rig)
    assert all(away[memory_id][0] != before[memory_id][0] for memory_id in moved)
    for _ in range(times):
        back = rig.engine.memories.undo_step(step, OWNER_ACTOR).result(30)
        assert back.left == ()
        assert spots(rig) == before
        sound(rig)
        again = rig.engine.memories.undo_step(back.undo_step_id, OWNER_ACTOR).result(30)
        assert again.left == ()
        assert spots(rig) == away
        sound(rig)
        step = again.undo_step_id
    assert place_all(rig) == 0
    assert rig.verify()["status"] == "ok"


def test_undoing_a_move_whose_old_place_is_taken_leaves_nothing_in_the_other_wing(rig: Rig) -> None:
    rig.bring(facts(30))
    place_all(rig)
    first, second = sorted(spots(rig))[:2]
    room_id, x, y = spots(rig)[first]
    step = rig.engine.library.revise_memories([first], Revision(space="work")).result(30).step_id
    place_all(rig)
    rig.engine.palace.move_locus(second, room_id, x, y).result(30)
    assert spots(rig)[second] == (room_id, x, y)
    rig.engine.memories.undo_step(step, OWNER_ACTOR).result(30)
    sound(rig)
    assert first not in spots(rig)
    assert place_all(rig) == 1
    sound(rig)


def test_arranging_mends_a_place_in_another_spaces_wing(rig: Rig) -> None:
    rig.bring(facts(10))
    rig.bring([{**row, "space": "Work"} for row in talk(10, "w")], name="work.jsonl")
    place_all(rig)
    assert not rig.opened.storage.vault.read(has_unplaced)
    stray = sorted(spots(rig))[0]
    (work,) = rig.rows("SELECT id FROM spaces WHERE name = 'Work'")
    rig.opened.storage.vault.write(lambda tx: tx.update("memories", {"id": stray}, {"space_id": work[0]}))
    assert rig.opened.storage.vault.read(has_unplaced)
    before = spots(rig)
    assert place_all(rig) == 1
    assert {i: spot for i, spot in spots(rig).items() if i != stray} == {i: s for i, s in before.items() if i != stray}
    sound(rig)
    assert not rig.opened.storage.vault.read(has_unplaced)
