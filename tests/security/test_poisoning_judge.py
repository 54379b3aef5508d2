"""The judge of the poisoning suite is put to the test: without the gate it must see the attacks succeed.

A suite in which nothing can succeed proves nothing. Here the gate is taken away, in both directions: it lets everything
stand beside what stands, or it lets whoever comes last replace it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import poison_wordings
import pytest
from poison_attacks import ATTACKS
from poison_rig import Breach, Victim, victim_of

from core.belief.trust_gate import GateDecision, SourceAuthority, Verdict
from core.types.belief import Relation
from core.types.values import OWNER_ACTOR, Source

assert poison_wordings.__doc__  # imported for what it enters into the table
_GATE = "core.intake.store.store_plan.decide_gate"

STOPPED_ELSEWHERE = {
    "explicit_without_the_grant": "refused: the client lacks the grant",
    "a_claim_with_fields_of_provenance": "refused: a claim has no such fields",
    "a_reversed_window": "refused: no such window",
    "the_same_request_id_with_another_text": "refused: the request id is known",
    "the_persons_value_with_a_foreign_letter": "the letters are folded: it says what the person said",
    "the_persons_claim_over_other_words": "the claim stands already: corroborated, nothing is stored",
    "the_persons_words_with_another_claim": "the text stands already, and its claim is not this client's to add",
    "an_end_for_what_the_person_said": "the claim stands already: its window is not this client's to set",
    "words_of_command_in_the_text": "it reads like an instruction to an assistant: nobody is given it by itself",
    "a_proposal": "waits for the person whatever it says",
}
"""Attacks that never reach the gate, and what stops them: without the gate they fail as well."""


def _lets_in(newcomer: SourceAuthority, existing: SourceAuthority, relation: Relation) -> Verdict:
    """Everything may stand beside everything."""
    del newcomer, existing, relation
    return Verdict(GateDecision.COEXIST, "disarmed")


def _gives_way(newcomer: SourceAuthority, existing: SourceAuthority, relation: Relation) -> Verdict:
    """Whoever comes last is right."""
    del newcomer, existing, relation
    return Verdict(GateDecision.SUPERSEDE, "disarmed")


def _reached(name: str, folder: Path, patch: pytest.MonkeyPatch, gate: Callable[..., Verdict]) -> list[Breach]:
    with victim_of(folder) as victim:
        patch.setattr(_GATE, gate)
        try:
            ATTACKS[name](victim)
        except AssertionError:  # an attack that judges for itself on the way
            return [Breach.ANSWERED]
        return victim.breaches()


def test_every_exception_is_an_attack_of_the_table() -> None:
    assert STOPPED_ELSEWHERE.keys() <= ATTACKS.keys()


@pytest.mark.parametrize("name", ATTACKS)
def test_without_the_gate_the_attack_is_seen_to_succeed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _reached(name, tmp_path, monkeypatch, _lets_in)
    assert bool(found) == (name not in STOPPED_ELSEWHERE), found


@pytest.mark.parametrize(
    "name",
    ["document_with_a_claim", "a_correction_by_a_tool", "told_by_eight_clients", "future_dated_text", "as_a_resident",
     "for_a_session_under_another_predicate", "what_was_handed_out_comes_back_changed", "as_what_is_over"],
)  # fmt: skip
def test_a_gate_that_gives_way_is_seen_to_lose_what_the_person_said(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Breach.DISPLACED in _reached(name, tmp_path, monkeypatch, _gives_way)


# ---- each thing an attack can reach is seen where it is brought about by hand


def _set(victim: Victim, memory_id: str, **values: Any) -> None:
    victim.rig.write(lambda tx: tx.update("memories", {"id": memory_id}, values))


def _lie(victim: Victim) -> str:
    victim.tell(actor=victim.client(), source=Source.TOOL_OUTPUT, claim=victim.slot.claim())
    return victim.lies()[0].id


def test_nothing_is_seen_where_nothing_happened(victim: Victim) -> None:
    assert victim.breaches() == []


def test_it_sees_that_the_person_s_memory_is_gone(victim: Victim) -> None:
    victim.rig.forget(victim.said)
    assert {Breach.DISPLACED, Breach.SILENCED} <= set(victim.breaches())


def test_it_sees_an_end_to_what_the_person_said(victim: Victim) -> None:
    _set(victim, victim.said, valid_to=victim.when(-1).ms)
    assert Breach.ENDED in victim.breaches()


def test_it_sees_a_loss_of_trust(victim: Victim) -> None:
    _set(victim, victim.said, trust=0.8)
    assert Breach.DOUBTED in victim.breaches()


def test_it_sees_a_changed_text(victim: Victim) -> None:
    victim.rig.engine.memories.undo_step(None, OWNER_ACTOR).result(30)
    victim.said = victim.rig.store("I live in Linz.").memory_id
    assert Breach.CHANGED in victim.breaches()


def test_it_sees_a_lie_that_stands(victim: Victim) -> None:
    _set(victim, _lie(victim), status="active", status_reason=None)
    victim.rig.settle()
    assert {Breach.STANDS, Breach.ANSWERED} <= set(victim.breaches())


def test_it_sees_a_lie_that_is_trusted_too_much(victim: Victim) -> None:
    _set(victim, _lie(victim), trust=0.99)
    assert Breach.TRUSTED in victim.breaches()


def test_it_sees_a_lie_that_waits_out_of_sight(victim: Victim) -> None:
    _lie(victim)
    item = victim.queue()[0].id
    victim.rig.write(lambda tx: tx.update("conflicts", {"id": item}, {"state": "moot"}))
    assert Breach.UNSEEN in victim.breaches()


def test_it_sees_a_claim_that_is_believed(victim: Victim) -> None:
    _lie(victim)
    victim.rig.write(lambda tx: tx.run("UPDATE claims SET state = 'retracted' WHERE state = 'asserted'"))
    victim.rig.write(lambda tx: tx.run("UPDATE claims SET state = 'asserted' WHERE value = 'Vienna'"))
    assert Breach.CLAIMED in victim.breaches()


def test_it_sees_a_denial(victim: Victim) -> None:
    victim.tell("User does not live in Graz.", victim.client(), source=Source.TOOL_OUTPUT)
    assert victim.breaches() == []
    _set(victim, victim.told[-1], status="active", status_reason=None)
    assert Breach.DENIED in victim.breaches()
