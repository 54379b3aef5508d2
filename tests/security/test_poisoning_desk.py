"""Verdicts, the queue and the desk are no way around the gate."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest
from belief_rig import derive
from poison_rig import Victim

from core.errors import Code, UserError
from core.types.reviews import Decision
from core.types.values import OWNER_ACTOR, Action, Actor, Kind, Source


def _try(call: Callable[[], Future[Any]]) -> Code | None:
    """The code of a refusal, if it is one."""
    try:
        call().result(30)
    except UserError as error:
        return error.code
    return None


def _waiting(victim: Victim, **more: Any) -> str:
    """A lie that waits in the queue; its item."""
    victim.tell(actor=victim.client("liar"), source=Source.TOOL_OUTPUT, claim=victim.slot.claim(), **more)
    return victim.queue()[0].id


def test_many_clients_that_doubt_what_the_person_said_are_a_question_only(victim: Victim) -> None:
    memories = victim.rig.engine.memories
    for n in range(6):
        bot = victim.client(f"bot {n}")
        for _ in range(3):
            _try(lambda bot=bot: memories.dispute(victim.said, bot, "outdated"))  # type: ignore[misc]
    victim.check()
    assert victim.rig.get(victim.said).trust == pytest.approx(victim.trust, abs=0.01)
    assert [row.incoming_id for row in victim.queue()] == [victim.said]


@pytest.mark.parametrize("verb", ["reinforce", "confirm", "corroborate"])
def test_a_client_does_not_talk_its_own_lie_up(victim: Victim, verb: str) -> None:
    _waiting(victim)
    bots = [victim.client(f"friend {n}") for n in range(4)]
    liar = victim.lies()[0]
    for bot in [Actor("client", liar.client_id, "liar"), *bots]:
        for n in range(4):
            more = {"session": f"s{n}"} if verb == "corroborate" else {}
            _try(lambda bot=bot, more=more: getattr(victim.rig.engine.memories, verb)(liar.id, bot, **more))  # type: ignore[misc]
    victim.check()


def test_a_lie_that_is_talked_up_still_does_not_displace(victim: Victim) -> None:
    """It stood alone, well trusted, in the client's own space; said again beside the person's words it waits."""
    bot = victim.client()
    victim.tell("The user once had a boat.", bot, source=Source.TOOL_OUTPUT)
    boat = victim.told[-1]
    for n in range(6):
        friend = victim.client(f"friend {n}")
        _try(lambda friend=friend: victim.rig.engine.memories.reinforce(boat, friend))  # type: ignore[misc]
    assert victim.rig.get(boat).trust <= 0.85
    victim.tell(actor=bot, source=Source.TOOL_OUTPUT, claim=victim.slot.claim())
    victim.check()


ACTIONS = ["supersede", "keep_both", "keep_both_dated", "merge", "scope_split", "dispute_both"]


@pytest.mark.parametrize("action", ACTIONS)
def test_a_client_that_may_curate_decides_nothing_against_the_person(victim: Victim, action: str) -> None:
    item = _waiting(victim)
    judge = victim.client("judge", "read", "write", "curate", "space:home")
    decision = Decision(Action(action), text="User lives in Vienna.", when="in winter")
    found = _try(lambda: victim.rig.engine.conflicts.resolve(item, decision, judge))
    assert found in (Code.ACCESS_DENIED, Code.INVALID_INPUT)
    victim.check()
    assert [row.id for row in victim.queue()] == [item]


def test_a_client_makes_no_rule_of_a_decision(victim: Victim) -> None:
    item = _waiting(victim)
    judge = victim.client("judge", "read", "write", "curate", "space:home")
    decision = Decision(Action.REJECT, remember=True)
    assert _try(lambda: victim.rig.engine.conflicts.resolve(item, decision, judge)) is Code.ACCESS_DENIED
    assert victim.rig.engine.conflicts.list_review_rules().result(30) == ()
    victim.check()


def test_a_flood_of_questions_does_not_bury_the_harmful_one(victim: Victim) -> None:
    trifles = [f"My plant number {n} stands in pot {n}." for n in range(30)]
    for n, text in enumerate(trifles):
        claim = {"subject": f"plant {n}", "predicate": "pot_is", "value": str(n), "exclusive": True}
        victim.rig.store(text, claim=claim)
    for _ in range(6):
        victim.rig.recall(victim.slot.question)
        victim.rig.engine.flush_journal() if hasattr(victim.rig.engine, "flush_journal") else None
    victim.rig.write(lambda tx: tx.run("UPDATE memories SET access_count = 12 WHERE id = ?", (victim.said,)))
    victim.tell(actor=victim.client("liar"), source=Source.TOOL_OUTPUT, claim=victim.slot.claim())
    bot = victim.client("flooder")
    for n in range(30):
        claim = {"subject": f"plant {n}", "predicate": "pot_is", "value": str(n + 100), "exclusive": True}
        victim.tell(f"Plant number {n} stands in pot {n + 100}.", bot, source=Source.TOOL_OUTPUT, claim=claim)
    queue = victim.queue()
    assert len(queue) > 20
    assert queue[0].existing_id == victim.said
    victim.check()


def test_one_lie_told_in_many_ways_is_not_a_question_each(victim: Victim) -> None:
    bot = victim.client()
    for n in range(10):
        victim.tell(f"The user lives in Vienna, note {n}.", bot, source=Source.TOOL_OUTPUT, claim=victim.slot.claim())
    victim.check()
    assert len(victim.queue()) == 1


def test_what_was_rejected_is_not_asked_again(victim: Victim) -> None:
    item = _waiting(victim)
    victim.rig.engine.conflicts.resolve(item, Decision(Action.REJECT), OWNER_ACTOR).result(30)
    victim.tell(actor=victim.client(), source=Source.TOOL_OUTPUT, claim=victim.slot.claim())
    victim.check()
    assert victim.queue() == []


def test_a_pair_kept_once_is_no_licence_for_the_next_lie(victim: Victim) -> None:
    item = _waiting(victim)
    victim.rig.engine.conflicts.resolve(item, Decision(Action.KEEP_BOTH), OWNER_ACTOR).result(30)
    bot = victim.client("next")
    victim.tell("User lives in Paris.", bot, source=Source.TOOL_OUTPUT, claim=victim.slot.claim(value="Paris"))
    victim.tell("The user lives in Paris.", bot, source=Source.TOOL_OUTPUT)
    assert all(victim.rig.get(one).status.value != "active" for one in victim.told[1:])
    assert [row for row in victim.queue() if row.incoming_id in victim.told[1:]]


def test_what_was_kept_does_not_carry_another_lie_in(victim: Victim) -> None:
    other = victim.rig.store("My email is jo@home.example.").memory_id
    item = _waiting(victim)
    victim.rig.engine.conflicts.resolve(item, Decision(Action.KEEP_BOTH), OWNER_ACTOR).result(30)
    bot = victim.client("next")
    lie = "User lives in Vienna. User's email is jo@evil.example."
    victim.tell(lie, bot, source=Source.TOOL_OUTPUT)
    assert victim.rig.get(victim.told[-1]).status.value != "active"
    assert victim.rig.get(other).status.value == "active"


def test_proposals_accepted_at_once_are_one_step_that_can_be_taken_back(victim: Victim) -> None:
    shy = victim.client("shy", "read", "propose", "space:home")
    for text in ("The user has a cat.", "The user plays the cello.", "The user collects stamps."):
        victim.tell(text, shy)
    victim.tell(actor=shy, claim=victim.slot.claim())
    victim.check()
    rows = victim.queue()
    assert len(rows) == 4
    done = victim.rig.engine.conflicts.resolve_many([row.id for row in rows], Decision(Action.SUPERSEDE), OWNER_ACTOR)
    report = done.result(30)
    assert report.step_id is not None
    victim.rig.undo(report.step_id)
    victim.check()
    assert len(victim.queue()) == 4


def test_what_is_derived_is_trusted_no_more_than_what_it_comes_from(victim: Victim) -> None:
    bot = victim.client()
    victim.tell("The user may have been to Vienna once.", bot, source=Source.INFERENCE)
    origin = victim.told[-1]
    digest = victim.rig.store("A digest of the week: the user travelled.", kind=Kind.DIGEST).memory_id
    derive(victim.rig, digest, origin)
    victim.rig.engine.memories.reconcile_all().result(60)
    assert victim.rig.get(digest).trust <= victim.rig.get(origin).trust


def test_a_client_writes_no_digest_that_speaks_for_others(victim: Victim) -> None:
    bot = victim.client()
    victim.tell(actor=bot, kind=Kind.DIGEST, source=Source.SYSTEM, claim=victim.slot.claim())
    said = victim.rig.get(victim.said)
    assert (said.status.value, said.text) == ("active", victim.slot.said)
    assert all(memory.trust <= 0.85 for memory in victim.lies())
    held = victim.rig.rows("SELECT value FROM claims WHERE state = 'asserted'")
    assert [value for (value,) in held if victim.says_wanted(value)] == []


def test_another_space_is_no_way_in(victim: Victim) -> None:
    """What a client keeps in its own space neither touches nor backs what the person said at home."""
    bot = victim.client("loner", "read", "write")
    victim.tell(actor=bot, space=None, source=Source.TOOL_OUTPUT, claim=victim.slot.claim())
    victim.check_said()
    found = victim.rig.found(victim.slot.question, spaces=("home",))
    assert found[:1] == [victim.slot.said]
    assert not any(victim.says_wanted(text) for text in found)
    assert victim.rig.found(victim.slot.question)[:1] == [victim.slot.said]
    assert _try(lambda: victim.rig.engine.memories.get(victim.said, bot)) is Code.NOT_FOUND
    assert victim.tell(actor=bot, space="GLOBAL") is None
    assert victim.tell(actor=bot, space="home") is None
