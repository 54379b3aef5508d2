"""What waits in the very words of what stands by now closes itself, whoever proposed it; taken back, it waits again."""

from __future__ import annotations

from typing import Any

import pytest
from desk_rig import upkeep
from engine_rig import DAY_MS, START_MS, Rig

from core.types.replies import StoreReply, WaitingKind
from core.types.reviews import Decision
from core.types.values import OWNER_ACTOR, Action, Actor, Kind, Status, When
from core.vault.memory_sql import OVERTAKEN

CAT = "Our cat is called Mimi."
HOME = "space:home"


def store(rig: Rig, text: str, actor: Actor = OWNER_ACTOR) -> StoreReply:
    return rig.store(text, actor, space="home")


def boat(place: str) -> str:
    return f"The boat is moored in {place}."


def moored(place: str) -> dict[str, Any]:
    return {"subject": "Boat", "predicate": "moored_in", "value": place, "exclusive": True}


def states(rig: Rig) -> list[tuple[str, str | None]]:
    return [(str(row[0]), row[1]) for row in rig.rows("SELECT state, note FROM conflicts ORDER BY id")]


@pytest.mark.parametrize("by_owner", [True, False])
def test_a_proposal_whose_words_were_stored_meanwhile_closes_itself(rig: Rig, *, by_owner: bool) -> None:
    plug, writer = rig.client("plug", "read", "propose", HOME), rig.client("writer", "read", "write", HOME)
    proposed = store(rig, CAT, plug)
    assert proposed.operation == "PROPOSED"
    stored = store(rig, CAT, OWNER_ACTOR if by_owner else writer)
    assert stored.operation == "ADD"
    assert states(rig) == [("moot", "said_meanwhile")]
    held = rig.get(proposed.memory_id, plug)
    assert (held.status, held.status_reason) == (Status.ARCHIVED, OVERTAKEN)
    assert rig.engine.conflicts.list_items(plug).result(10) == ()
    item = rig.engine.conflicts.read_item(str(proposed.conflict)).result(10)
    assert (item.state, item.actions) == ("moot", ())
    assert item.closed == "The same text was stored meanwhile."
    assert rig.get(stored.memory_id).corroboration == rig.get(proposed.memory_id).corroboration


def test_accepting_one_of_two_alike_closes_the_other(rig: Rig) -> None:
    first = store(rig, CAT, rig.client("plug", "read", "propose", HOME))
    second = store(rig, CAT, rig.client("other", "read", "propose", HOME))
    assert first.conflict is not None
    done = rig.engine.conflicts.resolve(first.conflict, Decision(Action.SUPERSEDE)).result(10)
    assert done.active == (first.memory_id,)
    assert rig.get(second.memory_id).status is Status.ARCHIVED
    assert ("moot", "said_meanwhile") in states(rig)


def test_taken_back_it_waits_again(rig: Rig) -> None:
    store(rig, CAT, rig.client("plug", "read", "propose", HOME))
    before = rig.dump()
    store(rig, CAT)
    rig.undo()
    assert rig.dump() == before


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("Our cat is called Minka.", {}),
        ("Our cat is called Mimi", {}),
        (CAT, {"space": "work"}),
        (CAT, {"kind": Kind.RULE}),
        (CAT, {"kind": Kind.EPISODE}),
    ],
)
def test_other_words_and_the_same_elsewhere_or_of_another_kind_leave_it_waiting(
    rig: Rig, text: str, more: dict[str, Any]
) -> None:
    proposed = store(rig, CAT, rig.client("plug", "read", "propose", HOME))
    stored = rig.store(text, **{"space": "home", **more})
    assert rig.get(stored.memory_id).status is Status.ACTIVE
    upkeep(rig)
    assert rig.get(proposed.memory_id).status is Status.QUARANTINED
    assert states(rig) == [("open", None)]


def test_what_is_limited_to_a_session_leaves_what_is_not_waiting(rig: Rig) -> None:
    proposed = store(rig, CAT, rig.client("plug", "read", "propose", HOME))
    rig.write(lambda tx: tx.update("memories", {"id": proposed.memory_id}, {"scope_session": "s1"}))
    store(rig, CAT)
    upkeep(rig)
    assert states(rig) == [("open", None)]


def test_a_proposal_whose_words_came_back_with_an_undo_is_no_question_until_they_go(rig: Rig) -> None:
    stored = store(rig, CAT)
    forgotten = rig.forget(stored.memory_id)
    plug = rig.client("plug", "read", "propose", HOME)
    proposed = store(rig, CAT, plug)
    assert proposed.operation == "PROPOSED"
    rig.undo(forgotten)
    assert rig.engine.conflicts.count_waiting().result(10)[WaitingKind.REVIEWS] == 0
    assert upkeep(rig) == 1
    assert states(rig) == [("moot", "stands")]
    item = rig.engine.conflicts.read_item(str(proposed.conflict)).result(10)
    assert item.closed == "The same text is active by now."
    assert rig.get(proposed.memory_id, plug).status is Status.QUARANTINED
    rig.forget(stored.memory_id)
    assert upkeep(rig) == 1
    assert states(rig) == [("open", None)]
    done = rig.engine.conflicts.resolve(str(proposed.conflict), Decision(Action.SUPERSEDE)).result(10)
    assert done.active == (proposed.memory_id,)


def test_a_proposal_whose_words_stand_disputed_is_no_question_nor_after_the_dispute(rig: Rig) -> None:
    plug, one, other = (
        rig.client(name, "read", grant, HOME) for name, grant in (("plug", "propose"), ("a", "write"), ("b", "write"))
    )
    proposed = store(rig, boat("Kiel"), plug)
    rig.store(boat("Husum"), one, space="home", claim=moored("Husum"))
    before = When(START_MS - DAY_MS)
    twin = rig.store(boat("Kiel"), other, space="home", claim=moored("Kiel"), occurred=before)
    assert rig.get(twin.memory_id).status is Status.DISPUTED
    assert upkeep(rig) == 1
    assert ("moot", "stands") in states(rig)
    [(dispute,)] = rig.rows("SELECT id FROM conflicts WHERE state = 'open'")
    rig.engine.conflicts.resolve(str(dispute), Decision(Action.SUPERSEDE)).result(10)
    upkeep(rig)
    assert rig.engine.conflicts.count_waiting().result(10)[WaitingKind.REVIEWS] == 0
    assert rig.get(proposed.memory_id).status is not Status.ACTIVE


def test_a_proposal_with_a_claim_of_its_own_says_more_than_the_words_that_stand(rig: Rig) -> None:
    stored = store(rig, CAT)
    forgotten = rig.forget(stored.memory_id)
    plug = rig.client("plug", "read", "propose", HOME)
    rig.store(CAT, plug, space="home", claim={"subject": "Cat", "predicate": "called", "value": "Mimi"})
    rig.undo(forgotten)
    assert upkeep(rig) == 0
    assert states(rig) == [("open", None)]
