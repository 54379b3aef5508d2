"""What else clients say of memories: feedback, marks, relations; and what a memory that is fetched counts for."""

from __future__ import annotations

from typing import Any

import pytest
from engine_rig import Rig, refused

from core.errors import Code
from core.types.memory import Judgement, Related, Relationship
from core.types.values import OWNER_ACTOR, Actor, Kind

HOME = "space:home"


@pytest.fixture
def writer(rig: Rig) -> Actor:
    return rig.client("writer", "read", "write", HOME)


def judge(rig: Rig, memory_id: str, actor: Actor, *, helpful: bool = True, **more: Any) -> Judgement:
    return rig.engine.client_changes.give_feedback(memory_id, actor, helpful=helpful, **more).result(30)


def relate(rig: Rig, a: str, b: str, kind: Relationship, actor: Actor, request_id: str | None = None) -> Related:
    return rig.engine.client_changes.relate_memories(a, b, kind, actor, request_id).result(30)


def test_feedback_is_the_clients_own_and_moves_no_trust(rig: Rig) -> None:
    asker = rig.client("asker", "read", "propose", HOME)
    known = rig.store("The kettle is red.").memory_id
    before = rig.get(known)
    reply = judge(rig, known, asker, helpful=False, reason="Not about kettles.")
    assert (reply.signal, reply.marked) == ("irrelevant", False)
    assert rig.rows("SELECT signal, client_id, reason, context FROM feedback") == [
        ("irrelevant", asker.client_id, "Not about kettles.", None)
    ]
    assert rig.get(known) == before
    assert rig.found("What is red? The kettle.") == ["The kettle is red."]
    rig.undo(reply.step_id)
    assert rig.rows("SELECT id FROM feedback") == []


def test_feedback_on_a_rule_is_a_mark_from_who_may_write(rig: Rig, writer: Actor) -> None:
    asker = rig.client("asker", "read", "propose", HOME)
    rule = rig.store("Warm the pot before the tea.", kind=Kind.RULE).memory_id
    assert judge(rig, rule, asker).marked is False
    marked = judge(rig, rule, writer)
    assert (marked.marked, marked.signal, marked.maturity) == (True, "helpful", "candidate")
    assert judge(rig, rule, writer, helpful=False, reason="It cracked.").signal == "harmful"
    assert rig.rows("SELECT helpful, harmful FROM rules") == [(1, 1)]


def test_a_mark_that_comes_twice_counts_once(rig: Rig, writer: Actor) -> None:
    rule = rig.store("Warm the pot before the tea.", kind=Kind.RULE).memory_id
    mark = rig.engine.client_changes.mark_rule
    first, again = (mark(rule, writer, helpful=True, request_id="r1").result(30) for _ in range(2))
    assert first == again
    bad, bad_again = (mark(rule, writer, helpful=False, reason="No.", request_id="r2").result(30) for _ in range(2))
    assert bad == bad_again
    assert rig.rows("SELECT helpful, harmful FROM rules") == [(1, 1)]
    with refused(Code.INVALID_INPUT):
        mark(rule, writer, helpful=False, request_id="r1").result(30)


def test_marks_are_for_rules_and_for_who_may_write(rig: Rig, writer: Actor) -> None:
    fact = rig.store("The kettle is red.").memory_id
    rule = rig.store("Warm the pot before the tea.", kind=Kind.RULE).memory_id
    with refused(Code.INVALID_INPUT):
        rig.engine.client_changes.mark_rule(fact, writer, helpful=True).result(30)
    with refused(Code.ACCESS_DENIED):
        rig.engine.client_changes.mark_rule(rule, rig.client("asker", "read", "propose", HOME), helpful=True).result(30)


def test_feedback_that_comes_twice_is_kept_once_and_leaves_with_the_memory(rig: Rig, writer: Actor) -> None:
    known = rig.store("The kettle is red.").memory_id
    first, again = (judge(rig, known, writer, reason="Quittenmarmelade", request_id="r1") for _ in range(2))
    assert first == again
    assert rig.value("SELECT count(*) FROM feedback") == 1
    rig.engine.memories.erase([known], OWNER_ACTOR).result(30)
    assert rig.value("SELECT count(*) FROM feedback") == 0


def test_a_relation_is_drawn_once_and_taken_back(rig: Rig, writer: Actor) -> None:
    a, b = rig.store("The pot cracked.").memory_id, rig.store("The pot was cold.").memory_id
    done = relate(rig, a, b, Relationship.CAUSED_BY, writer)
    assert relate(rig, a, b, Relationship.CAUSED_BY, writer) == Related(done.id, a, b, "caused_by", deduplicated=True)
    assert rig.rows("SELECT from_id, to_id, type, made_by FROM edges") == [(a, b, "caused_by", "model")]
    assert rig.rows("SELECT client_id FROM undo_steps WHERE id = ?", done.step_id) == [(writer.client_id,)]
    rig.undo(done.step_id)
    assert rig.rows("SELECT id FROM edges") == []


def test_a_relation_that_comes_twice_is_answered_alike(rig: Rig, writer: Actor) -> None:
    a, b = rig.store("The pot cracked.").memory_id, rig.store("The pot was cold.").memory_id
    first, again = (relate(rig, a, b, Relationship.SUPPORTS, writer, "r1") for _ in range(2))
    assert first == again


def test_a_contradiction_that_a_client_sees_opens_no_question(rig: Rig, writer: Actor) -> None:
    a, b = rig.store("The pot is red.").memory_id, rig.store("The pot was bought in Linz.").memory_id
    relate(rig, a, b, Relationship.CONTRADICTS, writer)
    assert rig.value("SELECT count(*) FROM conflicts") == 0
    shown = rig.engine.memories.show(a, OWNER_ACTOR).result(10)
    assert [edge["type"] for edge in shown.edges] == ["contradicts"]


def test_what_cannot_be_related_is_refused_in_words(rig: Rig, writer: Actor) -> None:
    a, b, c = (rig.store(f"Link {name}.").memory_id for name in "abc")
    relate(rig, a, b, Relationship.CAUSED_BY, writer)
    relate(rig, b, c, Relationship.CAUSED_BY, writer)
    with refused(Code.CYCLE):
        relate(rig, c, a, Relationship.CAUSED_BY, writer)
    relate(rig, c, a, Relationship.RELATED_TO, writer)
    with refused(Code.INVALID_INPUT):
        relate(rig, a, a, Relationship.SUPPORTS, writer)
    own = rig.store("In my own space.", writer).memory_id
    with refused(Code.INVALID_INPUT):
        relate(rig, a, own, Relationship.SUPPORTS, writer)
    hidden = rig.store("The safe is behind the picture.", space="secret").memory_id
    for other in (hidden, "01990000-0000-7000-8000-000000000000"):
        with refused(Code.NOT_FOUND):
            relate(rig, a, other, Relationship.SUPPORTS, writer)
    shared = [rig.store(f"For all {name}.", space="GLOBAL").memory_id for name in "de"]
    with refused(Code.ACCESS_DENIED):
        relate(rig, shared[0], shared[1], Relationship.SUPPORTS, writer)
    assert relate(rig, a, shared[0], Relationship.SUPPORTS, writer).step_id is not None
    with refused(Code.ACCESS_DENIED):
        relate(rig, a, b, Relationship.SUPPORTS, rig.client("asker", "read", "propose", HOME))


def test_a_memory_that_a_client_fetches_counts_as_given(rig: Rig, writer: Actor) -> None:
    known = rig.store("The kettle is red.").memory_id
    rig.get(known, writer)
    rig.get(known)
    rig.engine.flush_journal()
    assert rig.get(known).access_count == 1
    assert rig.rows("SELECT verb, client_id FROM receipts") == [("get", writer.client_id)]
    assert rig.value("SELECT count(*) FROM handed WHERE memory_id = ?", known) == 1


def test_a_client_confirms_no_episode(rig: Rig, writer: Actor) -> None:
    episode = rig.store("We had tea.", kind=Kind.EPISODE).memory_id
    with refused(Code.INVALID_INPUT):
        rig.engine.memories.confirm(episode, writer).result(10)
    assert rig.engine.memories.reinforce(episode, writer).result(10).reinforcements == 1
