"""How far the register reaches: channels, spaces, what a client is told and on whose thread it is scanned."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest
from engine_rig import Rig, differences
from entity_rig import change, get, make, merge, named, refused

from core.entities import registry
from core.errors import Code
from core.ipc.methods.entities import entity_json as entity_json
from core.text.screening import injection
from core.text.screening.egress import sanitize_for_display
from core.types.entities import EntityScope, Resolving
from core.types.reviews import Decision
from core.types.values import GLOBAL_SPACE, Action


def test_on_a_channel_nothing_is_made_of_an_entity(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write", "curate")
    one, two = make(rig, "Rosa", actor=plug), make(rig, "Rosa Castellanos", actor=plug)
    there, before = replace(plug, channel="discord:anna"), rig.dump()
    for call in (
        lambda: make(rig, "Rosie", actor=there),
        lambda: change(rig, one, there, aliases=("Rosie",)),
        lambda: merge(rig, one, two, there),
    ):
        code, sentence = refused(call)
        assert code is Code.ACCESS_DENIED
        assert "belongs to a space" in sentence
    assert differences(before, rig.dump()) == {}


@pytest.mark.slow
def test_names_in_sight_settle_it_however_often_they_are_named(rig: Rig) -> None:
    """The work is counted in steps of the database: reading every mention would be some hundred times this."""
    plug = rig.client("plug", "read", "write")
    anna = named(rig, "Anna mends the quay clock.", "Anna", plug)
    reach = EntityScope(None, is_client=True, channels=("",))

    def steps() -> int:
        def counted(tx: Any) -> int:
            told: list[None] = []
            bare = tx._connection
            bare.set_progress_handler(lambda: told.append(None), 10)
            registry.read_card(tx, anna, reach)
            bare.set_progress_handler(None, 0)
            return len(told)

        found: int = rig.write(counted)
        return found

    def mention(tx: Any) -> None:
        for memory_id in ids:
            tx.insert("mentions", {"memory_id": memory_id, "entity_id": anna, "start_at": 0, "end_at": 4})

    few = steps()
    ids = [rig.store(f"Anna wound the clock on day {nr}.", plug).memory_id for nr in range(60)]
    rig.write(mention)
    assert steps() <= few * 1.2


def test_a_client_is_told_names_that_were_scanned_off_its_loop(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    plug = rig.client("plug", "read", "write", "curate", "space:home")
    scanned, before = [], injection._scan_text

    def counted(text: str) -> Any:
        scanned.append(threading.current_thread())
        return before(text)

    monkeypatch.setattr(injection, "_scan_text", counted)
    one = make(rig, "Quayside Quill", aliases=("The Quill",), metadata={"note": ["ink", {"colour": "green"}]})
    assert scanned == []  # the person's own
    candidates = rig.engine.entities.resolve(Resolving("quill"), plug).result(10)
    shown_names = [sanitize_for_display(name) for each in candidates for name in (each.canonical_name, *each.aliases)]
    assert shown_names == ["Quayside Quill", "The Quill"]
    entity_json(get(rig, one.id, plug))
    mine = make(rig, "Harbour Quill", actor=plug, aliases=("Quilly",), metadata={"note": "blue"})
    entity_json(mine)
    entity_json(change(rig, mine, plug, metadata={"more": "red"}))
    assert scanned
    assert threading.current_thread() not in scanned


# ---- two of different spaces


def test_two_of_different_spaces_become_one_of_global_and_come_apart_again(rig: Rig) -> None:
    here = named(rig, "Raff mends lamps.", "Raff")
    there = named(rig, "Raff likes trains.", "Raff", space="travel")
    rig.write(lambda tx: tx.update("entities", {"id": there}, {"type": "other"}))
    before = rig.dump()
    seen = rig.engine.entities.merge_preview(there, here).result(10)
    assert (seen.refusal, seen.lifted, seen.widened) == ("", True, True)
    done = rig.engine.entities.merge(here, there, widen=True).result(10)
    view = rig.engine.entities.read_detail(done.target_id).result(10)
    assert (view.card.space, view.card.name, view.card.type, view.mentions) == (GLOBAL_SPACE, "Raff", "person", 2)
    assert {one.id for one in view.joined} == {here, there}
    assert get(rig, here).merged_into == get(rig, there).merged_into == done.target_id
    assert rig.undo(done.step_id).left == ()
    assert differences(before, rig.dump()) == {}


def test_two_of_different_spaces_are_not_one_unless_the_person_knows(rig: Rig) -> None:
    here, there = make(rig, "Raff"), make(rig, "Raff", space="travel")
    assert refused(lambda: merge(rig, here, there))[0] is Code.INVALID_INPUT
    plug = rig.client("plug", "read", "write", "curate", "all_spaces")
    assert refused(lambda: merge(rig, here, there, plug, widen=True))[0] is Code.ACCESS_DENIED
    make(rig, "Raff", space=GLOBAL_SPACE)
    assert "already" in rig.engine.entities.merge_preview(there.id, here.id).result(10).refusal
    assert refused(lambda: merge(rig, here, there, widen=True))[0] is Code.INVALID_INPUT
    assert get(rig, here.id).merged_into is None


def test_others_of_a_near_name_are_told_but_those_that_were_kept_apart(rig: Rig) -> None:
    here = named(rig, "Rosa mends lamps.", "Rosa")
    make(rig, "Rosa", "organization", space="travel")
    there = make(rig, "Rosa", "other", space="travel")
    near = make(rig, "Rosa Castellanos")
    make(rig, "Walter Plumtree")

    def alike() -> set[str]:
        return {one.id for one in rig.engine.entities.read_detail(here).result(10).alike}

    assert alike() == {there.id, near.id}
    named(rig, "Rosa Castellanos sings.", "Rosa Castellanos")
    plug = rig.client("plug", "read", "propose", "space:home")
    other = rig.value("SELECT entity_id FROM mentions WHERE end_at = 16")
    item = merge(rig, get(rig, here), get(rig, other), plug).conflict
    assert item is not None
    assert other in alike()
    rig.engine.conflicts.resolve(item, Decision(Action.REJECT)).result(10)
    assert other not in alike()
