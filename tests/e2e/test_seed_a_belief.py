"""Seed A: claims, provenance, trust-gated supersession and the table of success metrics, through the engine's facade.

Claims are given here, so that what is tested is the gate and not the reading of texts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from engine_rig import Rig, refused, rig_at

from core.errors import Code
from core.intake.claims import TextReaders
from core.types.belief import ClaimDraft
from core.types.replies import StoreReply
from core.types.reviews import Decision
from core.types.values import OWNER_ACTOR, Action, Actor, Source

DAY_MS = 86_400_000


def budget(value: str, **more: Any) -> dict[str, Any]:
    return {"subject": "user", "predicate": "budget_is", "value": value, "exclusive": True, **more}


def tell(rig: Rig, value: str, source: Source | None = None, actor: Actor = OWNER_ACTOR, **more: Any) -> StoreReply:
    """A budget, a day later than the last."""
    rig.clock.advance(DAY_MS)  # type: ignore[attr-defined]
    claim = more.pop("claim", None) or budget(value)
    return rig.store(f"User budget is {value}", actor, source=source, space="home", claim=claim, **more)


def status(rig: Rig, reply: StoreReply) -> str:
    return rig.get(reply.memory_id).status.value


def resolve(rig: Rig, reply: StoreReply, action: Action) -> None:
    assert reply.conflict is not None
    rig.engine.conflicts.resolve(reply.conflict, Decision(action), OWNER_ACTOR).result(30)


def bot(rig: Rig, name: str = "bot") -> Actor:
    return rig.client(name, "read", "write", "space:home")


# ---- feature 1: claims


def test_a_claim_is_stored_with_its_memory(rig: Rig) -> None:
    reply = tell(rig, "$750")
    (claim,) = rig.engine.memories.show(reply.memory_id, OWNER_ACTOR).result(30).claims
    assert (claim["subject"], claim["predicate"], claim["value"]) == ("user", "budget_is", "$750")


def test_a_conflict_of_exclusive_claims_is_found_without_a_model(rig: Rig) -> None:
    old, new = tell(rig, "$500"), tell(rig, "$750")
    assert (new.operation, new.superseded) == ("SUPERSEDE", (old.memory_id,))
    assert new.classification is not None
    assert new.classification.by == "rules"


def test_the_same_claim_twice_is_one_memory_that_is_corroborated(rig: Rig) -> None:
    first = tell(rig, "$500")
    other = rig.store("The budget of the user: $500.", bot(rig), space="home", claim=budget("$500"))
    assert (other.operation, other.deduplicated, other.memory_id) == ("NOOP", True, first.memory_id)
    assert rig.get(first.memory_id).corroboration == 2
    assert len(rig.texts(None)) == 1


def test_windows_that_do_not_overlap_are_no_conflict(rig: Rig) -> None:
    old = tell(rig, "$500", claim=budget("$500", valid_from="2019", valid_to="2022-01-01"))
    new = tell(rig, "$750", claim=budget("$750", valid_from="2022-01-01"))
    assert (status(rig, old), status(rig, new), new.conflict) == ("active", "active", None)


def test_windows_that_overlap_are_a_conflict(rig: Rig) -> None:
    old = tell(rig, "$500", claim=budget("$500", valid_from="2019", valid_to="2022-06-01"))
    new = tell(rig, "$750", claim=budget("$750", valid_from="2022-01-01"))
    assert (status(rig, old), status(rig, new)) == ("superseded", "active")


def test_a_predicate_of_many_values_never_conflicts(rig: Rig) -> None:
    replies = [
        rig.store(f"User likes {what}", claim={"subject": "user", "predicate": "likes", "value": what})
        for what in ("tea", "jazz", "rain")
    ]
    assert [status(rig, reply) for reply in replies] == ["active"] * 3


def test_claims_are_read_from_a_text_where_a_reader_is_there(tmp_path: Path) -> None:
    def read(text: str, *, now_ms: int | None = None, said_ms: int | None = None) -> tuple[ClaimDraft, ...]:
        del now_ms, said_ms
        return (ClaimDraft("user", "budget_is", text.split()[-1], exclusive=True, end=len(text)),)

    with rig_at(tmp_path, readers=TextReaders(extract=read)) as rig:
        old, new = rig.store("User budget is $500"), rig.store("User budget is $750")
        assert (status(rig, old), status(rig, new)) == ("superseded", "active")


def test_a_text_without_a_claim_is_stored_as_ever(rig: Rig) -> None:
    first, second = rig.store("The fence is green"), rig.store("A bird sat there")
    assert (first.operation, second.operation, second.conflict) == ("ADD", "ADD", None)


# ---- feature 2: provenance and trust


@pytest.mark.parametrize(
    ("source", "trust"),
    [("user_explicit", 1.0), ("system", 0.95), ("tool_output", 0.85), ("user_implicit", 0.7), ("document", 0.6),
     ("inference", 0.5)],
)  # fmt: skip
def test_trust_begins_with_the_way_it_came(rig: Rig, source: str, trust: float) -> None:
    assert rig.get(rig.store("The lake is deep", source=Source(source)).memory_id).trust == pytest.approx(trust)


def test_a_source_is_taken_where_none_is_given(rig: Rig) -> None:
    assert rig.get(rig.store("The lake is deep").memory_id).source is Source.USER_EXPLICIT
    assert rig.get(rig.store("The lake is wide", bot(rig)).memory_id).source is Source.INFERENCE


def test_corroborating_three_times_raises_trust(rig: Rig) -> None:
    memory = rig.store("The lake is deep", source=Source.DOCUMENT).memory_id
    for n in range(3):
        rig.engine.memories.corroborate(memory, rig.client(f"c{n}", "read", "write", "space:home")).result(30)
    assert rig.get(memory).trust == pytest.approx(0.75)


def test_disputes_below_the_threshold_make_it_disputed(rig: Rig) -> None:
    memory = rig.store("The lake is deep", bot(rig), space="home").memory_id
    for n in range(3):
        rig.engine.memories.dispute(memory, rig.client(f"d{n}", "read", "write", "space:home")).result(30)
    assert rig.get(memory).status.value == "disputed"
    assert rig.found("lake deep") == []


def test_reinforcing_counts_and_raises_trust(rig: Rig) -> None:
    memory = rig.store("The lake is deep", source=Source.DOCUMENT).memory_id
    rig.engine.memories.reinforce(memory, OWNER_ACTOR).result(30)
    found = rig.get(memory)
    assert found.reinforcements == 1
    assert found.trust == pytest.approx(0.75)
    assert found.confidence == pytest.approx(found.trust)


# ---- feature 3: the gate


def test_high_trust_supersedes_low_trust(rig: Rig) -> None:
    old, new = tell(rig, "$500", Source.DOCUMENT, bot(rig)), tell(rig, "$750", Source.TOOL_OUTPUT, bot(rig, "tool"))
    assert (status(rig, old), status(rig, new)) == ("superseded", "active")


def test_low_trust_is_quarantined_and_asked_about(rig: Rig) -> None:
    old, new = tell(rig, "$500"), tell(rig, "$0", Source.DOCUMENT)
    assert (status(rig, old), status(rig, new), new.operation) == ("active", "quarantined", "QUARANTINE")
    (row,) = rig.engine.conflicts.list_queue().result(30).rows
    assert (row.id, row.existing_id, row.incoming_id) == (new.conflict, old.memory_id, new.memory_id)


def test_at_equal_trust_of_one_source_the_newer_wins(rig: Rig) -> None:
    one = bot(rig)
    old, new = tell(rig, "$500", Source.DOCUMENT, one), tell(rig, "$750", Source.DOCUMENT, one)
    assert (status(rig, old), status(rig, new)) == ("superseded", "active")


def test_equals_of_two_sources_are_asked_about(rig: Rig) -> None:
    old = tell(rig, "$500", Source.DOCUMENT, bot(rig))
    new = tell(rig, "$750", Source.DOCUMENT, bot(rig, "other"))
    assert (status(rig, old), status(rig, new)) == ("disputed", "active")  # the later speaks while a person is asked
    assert new.conflict is not None


def test_superseding_by_hand_activates_the_quarantined_one(rig: Rig) -> None:
    old, new = tell(rig, "$500"), tell(rig, "$750", Source.DOCUMENT)
    resolve(rig, new, Action.SUPERSEDE)
    assert (status(rig, old), status(rig, new)) == ("superseded", "active")


def test_rejecting_archives_the_quarantined_one(rig: Rig) -> None:
    old, new = tell(rig, "$500"), tell(rig, "$750", Source.DOCUMENT)
    resolve(rig, new, Action.REJECT)
    assert (status(rig, old), status(rig, new)) == ("active", "archived")
    assert rig.found("User budget") == ["User budget is $500"]


def test_keeping_both_activates_both_and_closes_the_conflict(rig: Rig) -> None:
    old, new = tell(rig, "$500"), tell(rig, "$750", Source.DOCUMENT)
    resolve(rig, new, Action.KEEP_BOTH)
    assert (status(rig, old), status(rig, new)) == ("active", "active")
    assert rig.engine.conflicts.list_queue().result(30).rows == ()


def test_an_undecided_conflict_is_listed_until_it_is_decided(rig: Rig) -> None:
    tell(rig, "$500")
    new = tell(rig, "$750", Source.DOCUMENT)
    assert [item.id for item in rig.engine.conflicts.list_items(OWNER_ACTOR).result(30)] == [new.conflict]
    resolve(rig, new, Action.REJECT)
    assert rig.engine.conflicts.list_items(OWNER_ACTOR).result(30) == ()


def test_recall_gives_what_is_active_and_the_rest_when_asked(rig: Rig) -> None:
    tell(rig, "$300")
    tell(rig, "$500")
    tell(rig, "$750", Source.DOCUMENT)
    assert rig.found("User budget") == ["User budget is $500"]
    every = rig.found("User budget", statuses=("active", "superseded", "quarantined"))
    assert sorted(every) == ["User budget is $300", "User budget is $500", "User budget is $750"]
    assert rig.found("User budget", statuses=("quarantined",)) == ["User budget is $750"]


def test_the_whole_life_of_a_claim(rig: Rig) -> None:
    old, new = tell(rig, "$500"), tell(rig, "$750")
    chain = rig.engine.memories.list_versions(new.memory_id, OWNER_ACTOR).result(30)
    assert [memory.id for memory in chain] == [old.memory_id, new.memory_id]
    assert rig.found("User budget") == ["User budget is $750"]


# ---- the success metrics


def test_metric_no_context_drift(rig: Rig) -> None:
    """Superseded facts in default recall: none, in every mode, after many changes of mind."""
    for n in range(1, 9):
        tell(rig, f"${n}00")
    for mode in ("hybrid", "semantic", "keyword"):
        assert rig.found("User budget", mode=mode) == ["User budget is $800"]


def test_metric_no_contradiction_is_exposed(rig: Rig) -> None:
    """Mutually exclusive claims that are asserted at once: none, whoever said them in whatever order."""
    actors = [OWNER_ACTOR, bot(rig), bot(rig, "other")]
    sources = [Source.DOCUMENT, Source.TOOL_OUTPUT, Source.USER_IMPLICIT, None]
    for n in range(12):
        tell(rig, f"${n}5", sources[n % 4], actors[n % 3])
        found = rig.found("User budget", limit=50)
        assert len(found) == 1
    held = rig.value("SELECT count(*) FROM claims WHERE state = 'asserted' AND predicate = 'budget_is'")
    assert held == 1


def test_metric_no_low_trust_override(rig: Rig) -> None:
    """Low-trust overrides that succeed without a person: none."""
    said = tell(rig, "$500")
    for n, source in enumerate((Source.DOCUMENT, Source.TOOL_OUTPUT, Source.INFERENCE)):
        assert tell(rig, f"${n}", source, bot(rig, f"b{n}")).operation == "QUARANTINE"
        assert rig.found("User budget") == ["User budget is $500"]
    with refused(Code.FORBIDDEN_FIELD):  # Loci's own way is nobody's to claim
        tell(rig, "$9", Source.SYSTEM, bot(rig, "system"))
    assert status(rig, said) == "active"


def test_metric_trust_is_apart_from_importance_and_use(rig: Rig) -> None:
    """Confidence is trust: neither importance nor being recalled moves it."""
    low = rig.store("The lake is deep", importance=0.0).memory_id
    high = rig.store("A train is late", importance=1.0).memory_id
    for _ in range(3):
        rig.recall("The lake is deep")
    assert rig.get(low).confidence == rig.get(high).confidence == rig.get(low).trust


def test_a_claim_needs_its_parts(rig: Rig) -> None:
    with refused(Code.INVALID_INPUT):
        rig.store("x", claim={"subject": "user", "predicate": "budget_is"})
