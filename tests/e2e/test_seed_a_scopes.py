"""Seed A, features 1 to 3, beside `test_seed_a_belief.py`: scopes, the claim index, the rest of the lists."""

from __future__ import annotations

from typing import Any

import pytest
from engine_rig import Rig, refused

from core.errors import Code
from core.types.replies import StoreReply
from core.types.reviews import Decision
from core.types.values import OWNER_ACTOR, Action, Actor, Source

DAY_MS = 86_400_000


def budget(value: str, **more: Any) -> dict[str, Any]:
    return {"subject": "user", "predicate": "budget_is", "value": value, **more}


def tell(rig: Rig, value: str, actor: Actor = OWNER_ACTOR, source: Source | None = None, **more: Any) -> StoreReply:
    """A budget, a day later than the last; fields of the claim that are not of the request go into the claim."""
    rig.clock.advance(DAY_MS)  # type: ignore[attr-defined]
    session = more.pop("session", None)
    return rig.store(
        f"User budget is {value}", actor, source=source, space="home", session=session, claim=budget(value, **more)
    )


def status(rig: Rig, *replies: StoreReply) -> list[str]:
    return [rig.get(reply.memory_id).status.value for reply in replies]


def bot(rig: Rig, name: str = "bot") -> Actor:
    return rig.client(name, "read", "write", "space:home")


# ---- scopes


def test_a_claim_for_a_session_does_not_supersede_a_global_one(rig: Rig) -> None:
    old, new = tell(rig, "$500"), tell(rig, "$750", scope="session", session="trip")
    assert (new.superseded, new.conflict) == ((), None)
    assert status(rig, old, new) == ["active", "active"]


def test_a_claim_for_a_session_does_not_supersede_even_with_higher_trust(rig: Rig) -> None:
    old = tell(rig, "$500", bot(rig), Source.DOCUMENT)
    new = tell(rig, "$750", bot(rig, "tool"), Source.TOOL_OUTPUT, scope="session", session="trip")
    assert rig.get(new.memory_id).trust > rig.get(old.memory_id).trust
    assert (new.superseded, status(rig, old, new)) == ((), ["active", "active"])


def test_a_claim_for_a_session_overrides_when_that_session_asks(rig: Rig) -> None:
    tell(rig, "$500")
    tell(rig, "$750", scope="session", session="trip")
    assert rig.found("User budget", session="trip") == ["User budget is $750"]
    assert rig.found("User budget") == ["User budget is $500"]
    assert rig.found("User budget", session="other") == ["User budget is $500"]
    reader = bot(rig)
    assert rig.found("User budget", reader, session="trip") == ["User budget is $750"]
    assert rig.found("User budget", reader) == ["User budget is $500"]


def test_within_a_session_the_later_claim_supersedes(rig: Rig) -> None:
    old = tell(rig, "$600", scope="session", session="trip")
    new = tell(rig, "$750", scope="session", session="trip")
    assert (new.superseded, status(rig, old, new)) == ((old.memory_id,), ["superseded", "active"])


def test_two_sessions_do_not_meet(rig: Rig) -> None:
    one = tell(rig, "$600", scope="session", session="trip")
    two = tell(rig, "$750", scope="session", session="party")
    assert status(rig, one, two) == ["active", "active"]
    assert rig.found("User budget", session="party") == ["User budget is $750"]


def test_a_claim_for_a_session_needs_its_session(rig: Rig) -> None:
    with refused(Code.INVALID_INPUT):
        rig.store("User budget is $750", claim=budget("$750", scope="session"))
    assert rig.texts(None) == []


@pytest.mark.parametrize("scope", ["global", "temporal"])
def test_global_and_temporal_claims_supersede(rig: Rig, scope: str) -> None:
    old, new = tell(rig, "$500", scope=scope), tell(rig, "$750", scope=scope)
    assert status(rig, old, new) == ["superseded", "active"]


@pytest.mark.parametrize("scope", ["forever", "", 1, None])
def test_there_is_no_other_scope(rig: Rig, scope: object) -> None:
    with refused(Code.INVALID_INPUT):
        rig.store("User budget is $750", session="s", claim=budget("$750", scope=scope))


def test_undoing_takes_a_session_s_claim_back(rig: Rig) -> None:
    tell(rig, "$500")
    before = rig.dump()
    tell(rig, "$750", scope="session", session="trip")
    rig.undo()
    assert rig.dump() == before
    assert rig.found("User budget", session="trip") == ["User budget is $500"]


# ---- one value at a time


def test_a_claim_excludes_others_where_nothing_is_said(rig: Rig) -> None:
    claims = [{"subject": "user", "predicate": "orbits", "value": what} for what in ("Mars", "Venus")]
    old, new = (rig.store(f"User orbits {claim['value']}", claim=claim) for claim in claims)
    assert status(rig, old, new) == ["superseded", "active"]


def test_claims_that_do_not_exclude_each_other_stand_together(rig: Rig) -> None:
    old, new = tell(rig, "$500", exclusive=False), tell(rig, "$750", exclusive=False)
    assert (new.conflict, status(rig, old, new)) == (None, ["active", "active"])


@pytest.mark.parametrize("which", [0, 1])
def test_one_claim_that_does_not_exclude_is_no_conflict(rig: Rig, which: int) -> None:
    old, new = tell(rig, "$500", exclusive=which != 0), tell(rig, "$750", exclusive=which != 1)
    assert (new.conflict, status(rig, old, new)) == (None, ["active", "active"])


@pytest.mark.parametrize("part", ["subject", "predicate", "value"])
def test_a_claim_needs_each_of_its_parts(rig: Rig, part: str) -> None:
    claim = budget("$500")
    for wrong in ({**claim, part: ""}, {key: value for key, value in claim.items() if key != part}):
        with refused(Code.INVALID_INPUT):
            rig.store("User budget is $500", claim=wrong)


# ---- what a claim is compared with


def test_a_claim_is_found_by_its_subject_and_predicate_only(rig: Rig) -> None:
    first = tell(rig, "$500")
    other = rig.store("Ada's budget is $750", claim={**budget("$750"), "subject": "Ada"})
    third = rig.store("User limit is $750", claim={**budget("$750"), "predicate": "limit_is"})
    assert status(rig, first, other, third) == ["active"] * 3


def test_what_is_superseded_or_quarantined_is_no_side_of_a_conflict(rig: Rig) -> None:
    gone, stands = tell(rig, "$300"), tell(rig, "$500")
    held = tell(rig, "$9", bot(rig), Source.DOCUMENT)
    new = tell(rig, "$750")
    assert new.superseded == (stands.memory_id,)
    assert status(rig, gone, stands, held, new) == ["superseded", "superseded", "quarantined", "active"]


def test_a_forgotten_claim_conflicts_with_nothing(rig: Rig) -> None:
    rig.forget(tell(rig, "$500").memory_id)
    new = tell(rig, "$750", bot(rig), Source.DOCUMENT)
    assert (new.conflict, status(rig, new)) == (None, ["active"])


def test_claims_are_found_again_after_the_vault_was_locked(rig: Rig) -> None:
    old = tell(rig, "$500")
    rig.lock()
    rig.unlock()
    rig.settle()
    assert tell(rig, "$750").superseded == (old.memory_id,)


def test_the_same_value_is_no_conflict(rig: Rig) -> None:
    first = tell(rig, "$500")
    again = rig.store("The budget of the user: $500.", claim=budget("$500"))
    assert (again.deduplicated, again.memory_id, again.conflict) == (True, first.memory_id, None)


# ---- the gate


def test_the_gate_lets_windows_that_do_not_overlap_stand(rig: Rig) -> None:
    old = tell(rig, "$500", valid_from="2019", valid_to="2022-01-01")
    new = tell(rig, "$9", bot(rig), Source.DOCUMENT, valid_from="2022-01-01")
    assert (new.conflict, status(rig, old, new)) == (None, ["active", "active"])


def test_the_gate_lets_several_values_stand(rig: Rig) -> None:
    likes = [{"subject": "user", "predicate": "likes", "value": what} for what in ("tea", "coal")]
    old = rig.store("User likes tea", space="home", claim=likes[0])
    new = rig.store("User likes coal", bot(rig), space="home", source=Source.DOCUMENT, claim=likes[1])
    assert (new.conflict, status(rig, old, new)) == (None, ["active", "active"])


def test_the_person_s_correction_supersedes_any_other_source(rig: Rig) -> None:
    for source in (Source.SYSTEM, Source.TOOL_OUTPUT, Source.DOCUMENT, Source.INFERENCE):
        teller = OWNER_ACTOR if source is Source.SYSTEM else bot(rig, source.value)
        old = tell(rig, f"${len(source.value)}", teller, source)
        new = tell(rig, "$750")
        assert status(rig, old, new) == ["superseded", "active"]
        rig.forget(new.memory_id)


def test_a_decided_conflict_cannot_be_decided_again(rig: Rig) -> None:
    tell(rig, "$500")
    held = tell(rig, "$9", bot(rig), Source.DOCUMENT)
    assert held.conflict is not None
    rig.engine.conflicts.resolve(held.conflict, Decision(Action.REJECT), OWNER_ACTOR).result(30)
    with refused(Code.INVALID_INPUT):
        rig.engine.conflicts.resolve(held.conflict, Decision(Action.SUPERSEDE), OWNER_ACTOR).result(30)
    with refused(Code.NOT_FOUND):
        rig.engine.conflicts.resolve("00000000-nothing", Decision(Action.REJECT), OWNER_ACTOR).result(30)


def test_a_search_takes_the_statuses_it_names(rig: Rig) -> None:
    one, two = bot(rig), bot(rig, "other")
    tell(rig, "$500", one, Source.DOCUMENT)
    tell(rig, "$750", two, Source.DOCUMENT)
    assert rig.found("User budget") == ["User budget is $750"]
    both = rig.found("User budget", statuses=("active", "disputed"))
    assert sorted(both) == ["User budget is $500", "User budget is $750"]


def test_a_memory_has_its_provenance(rig: Rig) -> None:
    memory = rig.get(tell(rig, "$500", bot(rig), Source.DOCUMENT).memory_id)
    assert (memory.source, memory.corroboration, memory.reinforcements, memory.disputes) == (Source.DOCUMENT, 1, 0, 0)
    assert memory.trust == memory.confidence == pytest.approx(0.6)


def test_what_the_person_says_is_trusted_more_than_an_inference(rig: Rig) -> None:
    said, guessed = rig.store("The lake is deep"), rig.store("A train is late", source=Source.INFERENCE)
    assert rig.get(said.memory_id).trust > rig.get(guessed.memory_id).trust
