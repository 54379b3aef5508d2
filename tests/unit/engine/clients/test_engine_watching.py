"""Listeners: they are told what was done to memories, each by what it could see before and can see since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from engine_rig import Rig, facts, refused

from core.errors import Code
from core.types.clients import Moves
from core.types.memory import RequestedChange
from core.types.reviews import Decision
from core.types.values import OWNER_ACTOR, Action, Actor

Told = Mapping[str, tuple[str, ...]]


class Ears:
    """Listeners, and what each was told since it was last asked."""

    def __init__(self, rig: Rig, **actors: Actor) -> None:
        self.rig, self.actors = rig, actors
        self.moves: list[Moves] = []
        rig.engine.hub.watch(self.moves.append)

    def heard(self) -> dict[str, list[Told]]:
        """Who heard what, change by change; who heard nothing is left out."""
        self.rig.settle()
        moves, self.moves[:] = list(self.moves), []
        told = {
            name: [
                said for one in moves if (said := self.rig.engine.subscriptions.visible_changes(one, actor).result(60))
            ]
            for name, actor in self.actors.items()
        }
        return {name: said for name, said in told.items() if said}


def ears_in(rig: Rig) -> Ears:
    """A writer and two who read, one of them for a person of a channel, in the space home; one who sees it not."""
    rig.store("The house has a name.", space="home")
    ada = rig.client("Ada", "read", "write", "propose", "space:home")
    bea = rig.client("Bea", "read", "space:home")
    return Ears(
        rig, ada=ada, bea=bea, anna=replace(bea, channel="discord:anna"), far=rig.client("Far", "read", "propose")
    )


def all_of(kind: str, *ids: str) -> list[Told]:
    return [{kind: ids}]


def test_only_what_it_may_see_is_told_to_a_listener(rig: Rig) -> None:
    ears = ears_in(rig)
    ada = ears.actors["ada"]
    lamp = rig.store("The lamp of Ada.", ada).memory_id
    assert ears.heard() == {"ada": all_of("stored", lamp)}
    on_channel = rig.store("The lamp of Anna.", replace(ada, channel="discord:anna"), space="home").memory_id
    assert ears.heard() == {"anna": all_of("stored", on_channel)}
    attic = rig.store("The lamp of the attic.", space="attic").memory_id
    rig.undo()
    assert attic not in {row[0] for row in rig.rows("SELECT id FROM memories")}
    assert ears.heard() == {}
    shared = rig.store("The lamp of the hall.", space="home").memory_id
    assert ears.heard() == {name: all_of("stored", shared) for name in ("ada", "bea", "anna")}
    rig.forget(on_channel)
    assert ears.heard() == {"anna": all_of("gone", on_channel)}
    rig.forget(shared)
    assert ears.heard() == {name: all_of("gone", shared) for name in ("ada", "bea", "anna")}
    rig.undo()
    assert ears.heard() == {name: all_of("stored", shared) for name in ("ada", "bea", "anna")}
    with refused(Code.UNAUTHENTICATED):
        rig.engine.subscriptions.visible_changes((), replace(ada, client_id="nobody"))


def test_an_undo_names_what_it_took_away_whole(rig: Rig) -> None:
    ears = ears_in(rig)
    lamp = rig.store("The lamp of the hall.", ears.actors["ada"], space="home").memory_id
    ears.heard()
    rig.undo()
    assert rig.rows("SELECT 1 FROM memories WHERE id = ?", lamp) == []
    assert ears.heard() == {name: all_of("gone", lamp) for name in ("ada", "bea", "anna")}


def test_an_erasure_is_told_and_swallows_no_change_after_it(rig: Rig) -> None:
    ears = ears_in(rig)
    first = rig.store("The lamp of the hall.", space="home").memory_id
    last = rig.store("The lamp of the attic.", space="attic").memory_id
    seen = rig.store("The lamp of the stairs.", space="home").memory_id
    ears.heard()
    rig.engine.memories.erase([last], OWNER_ACTOR).result(30)
    assert ears.heard() == {}
    rig.engine.memories.erase([seen], OWNER_ACTOR).result(30)
    assert ears.heard() == {name: all_of("gone", seen) for name in ("ada", "bea", "anna")}
    rig.forget(first)
    assert ears.heard() == {name: all_of("gone", first) for name in ("ada", "bea", "anna")}


def test_steps_that_expired_swallow_no_change(rig: Rig) -> None:
    ears = ears_in(rig)
    lamp = rig.store("The lamp of the hall.", space="home").memory_id
    rig.forget(rig.store("The lamp of the attic.", space="attic").memory_id)
    ears.heard()

    rig.write(lambda tx: tx.run("DELETE FROM undo_rows"))
    rig.forget(lamp)
    assert ears.heard() == {name: all_of("gone", lamp) for name in ("ada", "bea", "anna")}


def test_a_wish_that_waits_is_no_deed(rig: Rig) -> None:
    ears = ears_in(rig)
    ada = ears.actors["ada"]
    lamp = rig.store("The lamp of the hall is red.", space="home").memory_id
    ears.heard()
    asked = rig.engine.client_changes.remove_memory(lamp, ada, RequestedChange.FORGET).result(30)
    assert asked.operation == "PROPOSED"
    assert ears.heard() == {}
    asked = rig.engine.client_changes.update_text(lamp, "The lamp of the hall is blue.", ada).result(30)
    assert asked.operation == "PROPOSED"
    assert lamp not in str(ears.heard())
    assert asked.conflict is not None
    rig.engine.conflicts.resolve(asked.conflict, Decision(Action.SUPERSEDE), OWNER_ACTOR).result(30)
    (told,) = ears.heard()["bea"]
    assert (told["gone"], len(told["stored"])) == ((lamp,), 1)


def test_what_was_known_already_is_not_stored_again(rig: Rig) -> None:
    ears = ears_in(rig)
    ada = ears.actors["ada"]
    lamp = rig.store("The lamp of the hall is red.", ada, space="home").memory_id
    ears.heard()
    again = rig.store("The lamp of the hall is red.", ada, space="home")
    assert (again.operation, again.memory_id) == ("NOOP", lamp)
    assert ears.heard() == {}
    assert rig.store("The lamp of the hall is red.", space="home").memory_id == lamp
    told = ears.heard()  # the person said it too: it is believed more
    assert told == {name: all_of("changed", lamp) for name in ("ada", "bea", "anna")}


def test_a_rejected_proposal_is_gone_for_who_saw_it(rig: Rig) -> None:
    ears = ears_in(rig)
    far = ears.actors["far"]
    proposed = rig.store("The lamp of the hall is red.", far)
    assert proposed.operation == "PROPOSED"
    assert proposed.conflict is not None
    assert ears.heard() == {"far": all_of("stored", proposed.memory_id)}
    rig.engine.conflicts.resolve(proposed.conflict, Decision(Action.REJECT), OWNER_ACTOR).result(30)
    assert ears.heard() == {"far": all_of("gone", proposed.memory_id)}


def test_what_is_said_of_a_memory_changes_it_and_reading_does_not(rig: Rig) -> None:
    ears = ears_in(rig)
    ada = ears.actors["ada"]
    lamp = rig.store("The lamp of the hall is red.", space="home").memory_id
    ears.heard()
    rig.engine.memories.confirm(lamp, OWNER_ACTOR).result(30)
    assert ears.heard() == {name: all_of("changed", lamp) for name in ("ada", "bea", "anna")}
    rig.get(lamp, ada)
    assert rig.found("red lamp", ada)
    journal = rig.opened.read_log
    waiting = journal.take_pending()
    assert waiting
    rig.opened.storage.write(lambda tx: journal.write(tx, waiting)).result(30)
    assert ears.heard() == {}


def test_an_import_is_told_to_who_may_see_it(rig: Rig) -> None:
    ears = ears_in(rig)
    rig.bring(facts(3), space="home")
    told = ears.heard()
    assert set(told) == {"ada", "bea", "anna"}
    ids = [one for said in told["bea"] for one in said.get("stored", ())]
    assert sorted(ids) == sorted(row[0] for row in rig.rows("SELECT id FROM memories WHERE import_id IS NOT NULL"))


def test_what_is_sealed_is_gone_for_clients_and_nothing_of_it_is_told(rig: Rig) -> None:
    ears = ears_in(rig)
    safe = rig.store("The safe is behind the picture.", space="home").memory_id
    ears.heard()
    seal = {"security_tier": "sensitive"}
    rig.opened.storage.write(lambda tx: tx.update("memories", {"id": safe}, seal)).result(30)
    assert ears.heard() == {name: all_of("gone", safe) for name in ("ada", "bea", "anna")}
    rig.forget(safe)
    assert ears.heard() == {}


def test_a_long_text_is_told_as_one(rig: Rig) -> None:
    ears = ears_in(rig)
    told = rig.store(" ".join(f"The lamp number {number} is red." for number in range(2000)), space="home")
    assert rig.value("SELECT count(*) FROM memories WHERE part_of = ?", told.memory_id) > 0
    assert ears.heard()["bea"] == all_of("stored", told.memory_id)


def test_where_nobody_watches_nothing_is_looked_up(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.engine.runtime.storage._list_moves", lambda _: pytest.fail("looked"))
    rig.store("The lamp of the hall.")
