"""What is doubted is said again: where the owner says it in so many words, it stands (design section 4, trust gate)."""

from __future__ import annotations

import pytest
from desk_rig import DAY_MS
from engine_rig import START_MS, Rig, differences

from core.intake.transitions.verdicts import BY_OWNER
from core.types.values import OWNER_ACTOR, Actor, Source, When

GRAZ, LINZ = (
    {"subject": "Ada", "predicate": "lives_in", "value": town, "exclusive": True} for town in ("Graz", "Linz")
)


def writer(rig: Rig, name: str) -> Actor:
    """A client that writes where the owner does."""
    return rig.client(name, "read", "write", "space:home")


def state(rig: Rig, memory_id: str) -> tuple[str, str | None]:
    """Status and its reason."""
    row = rig.rows("SELECT status, status_reason FROM memories WHERE id = ?", memory_id)[0]
    return str(row[0]), row[1]


def test_the_owner_says_again_what_the_owner_disputed(rig: Rig) -> None:
    memory_id = rig.store("The weir opens at noon").memory_id
    rig.engine.memories.dispute(memory_id, OWNER_ACTOR).result(30)
    before = rig.dump()
    reply = rig.store("The weir opens at noon")
    assert (reply.operation, reply.memory_id) == ("UPDATE", memory_id)
    assert state(rig, memory_id) == ("active", None)
    assert rig.get(memory_id).disputes == 0
    assert rig.engine.memories.reinforce(memory_id, OWNER_ACTOR).result(30).status == "active"
    rig.undo()
    rig.undo()
    assert differences(before, rig.dump()) == {}


@pytest.mark.parametrize("source", [Source.DOCUMENT, Source.USER_IMPLICIT])
def test_a_remark_or_a_document_does_not_lay_the_owners_doubt_to_rest(rig: Rig, source: Source) -> None:
    memory_id = rig.store("The weir opens at noon").memory_id
    rig.engine.memories.dispute(memory_id, OWNER_ACTOR).result(30)
    assert rig.store("The weir opens at noon", source=source).deduplicated
    assert rig.store("The weir opens at noon", writer(rig, "aster"), space="home").deduplicated
    assert state(rig, memory_id) == ("disputed", BY_OWNER)


def two_clients_disagree(rig: Rig, before: int = 0) -> tuple[str, str]:
    """The other contradicts the one that spoke first, or said so many days before; the later of the two speaks."""
    then = When(START_MS - before * DAY_MS)
    first = rig.store("Ada lives in Graz", writer(rig, "aster"), space="home", claim=GRAZ).memory_id
    second = rig.store("Ada lives in Linz", writer(rig, "borage"), space="home", claim=LINZ, occurred=then).memory_id
    earlier, later = (second, first) if before else (first, second)
    assert (state(rig, earlier), state(rig, later)) == (("disputed", "equals_disagree"), ("active", None))
    return first, second


def test_the_question_closes_with_it(rig: Rig) -> None:
    two_clients_disagree(rig)
    rig.store("Ada lives in Graz", claim=GRAZ)
    assert rig.rows("SELECT state FROM conflicts") == [("moot",)]


@pytest.mark.parametrize("text", ["Ada lives in Graz", "It is Graz where Ada lives"])
def test_of_two_that_disagree_the_one_that_the_owner_says_stands(rig: Rig, text: str) -> None:
    _, second = two_clients_disagree(rig)
    reply = rig.store(text, claim=GRAZ)
    assert (reply.operation, reply.superseded) == ("SUPERSEDE", (second,))
    assert rig.found("where does Ada live") == ["Ada lives in Graz"]  # other words of the same claim back it
    assert rig.rows("SELECT value FROM claims WHERE state = 'asserted'") == [("Graz",)]


def test_of_two_that_disagree_the_later_is_found_before_the_person_decides(rig: Rig) -> None:
    first, second = two_clients_disagree(rig)
    result = rig.recall("where does Ada live")
    assert [item.memory.id for item in result.items] == [second]
    assert first in {miss.id for miss in result.near_misses}


def test_an_old_word_of_the_owners_does_not_end_what_was_said_since(rig: Rig) -> None:
    first, second = two_clients_disagree(rig, before=1000)
    rig.engine.memories.confirm(first, OWNER_ACTOR).result(30)
    reply = rig.store("Ada lives in Linz", claim=LINZ, occurred=When(START_MS - 900 * DAY_MS))
    assert reply.superseded == ()
    assert (state(rig, first)[0], state(rig, second)[0]) == ("active", "superseded")


def test_another_wording_of_what_the_owner_disputed_stands_for_itself(rig: Rig) -> None:
    doubted = rig.store("Ada lives in Linz", claim=LINZ).memory_id
    rig.engine.memories.dispute(doubted, OWNER_ACTOR).result(30)
    rig.store("It is Linz where Ada lives", claim=LINZ)
    assert len(rig.found("where does Ada live")) == 1
    assert rig.rows("SELECT DISTINCT state FROM claims WHERE value = 'Linz'") == [("asserted",)]
