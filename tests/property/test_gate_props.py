"""Laws of the trust gate that hold for all standings and relations."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gate_rig import DAY_MS, by_client, by_import, by_owner
from hypothesis import assume, given
from hypothesis import strategies as st

from core.belief.trust_gate import (
    GateDecision,
    SourceAuthority,
    decide_gate,
    is_outranking,
    may_act_on,
    resolve_contradiction,
)
from core.types.belief import ACTED_ON, LABELS, Label, Relation
from core.types.values import Action, Source

_days = st.integers(0, 4)
_sources = st.sampled_from(list(Source))
_vouched = st.booleans()


@st.composite
def _timed(draw: st.DrawFn, standings: st.SearchStrategy[SourceAuthority]) -> SourceAuthority:
    standing = replace(draw(standings), at_ms=draw(_days) * DAY_MS)
    # Corroboration, verdicts and ceilings move trust away from the way's own weight.
    return replace(standing, trust=draw(st.sampled_from([standing.trust, 0.0, 0.3, 0.75, 1.0])))


OWNERS = st.builds(by_owner, _sources, vouched=_vouched)
CLIENTS = st.builds(by_client, _sources, client=st.sampled_from(["aster", "borage"]), vouched=_vouched)
IMPORTS = st.builds(by_import, _sources, store=st.sampled_from(["import:a", "import:b"]), vouched=_vouched)
STANDINGS = _timed(OWNERS | CLIENTS | IMPORTS)
_OF_OTHERS = st.sampled_from([source for source in Source if source is not Source.USER_EXPLICIT])
OTHERS = _timed(
    st.builds(by_client, _OF_OTHERS, client=st.sampled_from(["aster", "borage"]))
    | st.builds(by_import, _OF_OTHERS, store=st.sampled_from(["import:a", "import:b"]))
)
"""Neither the person nor who passes on what the person typed."""


@st.composite
def _relations(draw: st.DrawFn) -> Relation:
    weights = [draw(st.floats(0.001, 1)) for _ in LABELS]
    shares = dict(zip(LABELS, (weight / sum(weights) for weight in weights), strict=True))
    label = draw(st.sampled_from(LABELS))
    confidence = draw(st.floats(0, 1))
    reason = draw(st.sampled_from(["claims_at_odds", "value_changed", "value_returns", ""]))
    return Relation(label, confidence, shares, draw(st.sampled_from(["rules", "builtin", "model"])), reason)


RELATIONS = _relations()
_ENDS_IT = frozenset({GateDecision.SUPERSEDE, GateDecision.MERGE, GateDecision.HOLD_EXISTING})
"""Deeds after which the one that stood does not stand as it did."""


@given(STANDINGS, STANDINGS, RELATIONS)
def test_nobody_but_the_person_takes_what_the_person_said_away(
    new: SourceAuthority, old: SourceAuthority, told: Relation
) -> None:
    assume(old.owner_said and not new.owner_said)
    assert decide_gate(new, old, told).decision not in _ENDS_IT


@given(STANDINGS, STANDINGS, RELATIONS)
def test_nobody_else_takes_away_what_passes_for_the_persons_own(
    new: SourceAuthority, old: SourceAuthority, told: Relation
) -> None:
    assume(old.persons and not new.persons)
    assert decide_gate(new, old, told).decision not in _ENDS_IT


@given(STANDINGS, STANDINGS, RELATIONS)
def test_what_is_not_certain_ends_nothing_and_is_no_verdict_of_its_own(
    new: SourceAuthority, old: SourceAuthority, told: Relation
) -> None:
    assume(told.confidence < ACTED_ON)
    found = decide_gate(new, old, told)
    assert found.decision in (GateDecision.COEXIST, GateDecision.QUARANTINE, GateDecision.HOLD_EXISTING)
    if found.decision is GateDecision.HOLD_EXISTING:  # what others told waits beside the person's own words
        assert new.owner_said
        assert not old.persons
    if found.decision is GateDecision.COEXIST and not found.review and not found.noted:
        assert told.label in (Label.COEXIST, Label.MERGE)
        if told.label is Label.MERGE:  # nor would it if it were certain
            assert decide_gate(new, old, replace(told, confidence=1.0)).decision in (
                GateDecision.COEXIST,
                GateDecision.QUARANTINE,
            )


@given(STANDINGS, STANDINGS, RELATIONS)
def test_whoever_waits_is_asked_about_and_a_question_always_suggests(
    new: SourceAuthority, old: SourceAuthority, told: Relation
) -> None:
    found = decide_gate(new, old, told)
    if found.decision in (GateDecision.QUARANTINE, GateDecision.DISPUTE, GateDecision.HOLD_EXISTING):
        assert found.review
        assert found.reason
    assert (found.suggestion is not None) == (found.review or found.noted)
    assert found.kind == ("contradiction" if may_act_on(told) or found.suggestion is None else "classification") or (
        found.kind == "classification" and new.owner_said and old.owners_word
    )


@given(STANDINGS, STANDINGS)
def test_the_owners_word_always_stands_in_the_end(new: SourceAuthority, old: SourceAuthority) -> None:
    assume(new.owners_word)
    deed = resolve_contradiction(new, old).decision
    assert deed not in (GateDecision.QUARANTINE, GateDecision.DISPUTE)
    if (
        deed is GateDecision.ENTER_SUPERSEDED
    ):  # only a later word of the person's, or of one that may speak so, comes after it
        assert old.owner_said
        assert old.at_ms > new.at_ms


@given(OTHERS, OTHERS)
def test_between_others_less_trust_never_takes_the_place_of_more(new: SourceAuthority, old: SourceAuthority) -> None:
    assume(not new.owner_said and not old.owner_said)
    found = resolve_contradiction(new, old)
    if found.decision is GateDecision.SUPERSEDE:
        assert new.weight >= old.weight - 1e-9
    if found.decision is GateDecision.ENTER_SUPERSEDED:
        assert old.weight >= new.weight - 1e-9


def _left(new: SourceAuthority, old: SourceAuthority) -> tuple[frozenset[str], frozenset[str]]:
    """Who stands after a contradiction, and who waits for a person; by name."""
    deed = resolve_contradiction(new, old).decision
    stands = {
        GateDecision.SUPERSEDE: {"new"},
        GateDecision.ENTER_SUPERSEDED: {"old"},
        GateDecision.QUARANTINE: {"old"},
        GateDecision.DISPUTE: {"old"},
        GateDecision.HOLD_EXISTING: {"new"},
    }[deed]
    waits = {
        GateDecision.QUARANTINE: {"new"},
        GateDecision.DISPUTE: {"new"},
        GateDecision.HOLD_EXISTING: {"old"},
    }.get(deed, set())
    return frozenset(stands), frozenset(waits)


_TURNED = {"new": "old", "old": "new"}


@given(STANDINGS, STANDINGS)
def test_the_order_of_arrival_does_not_matter(a: SourceAuthority, b: SourceAuthority) -> None:
    assume(a.at_ms != b.at_ms)
    one, other = resolve_contradiction(a, b).decision, resolve_contradiction(b, a).decision
    # Equals of several sources, and the person's word that a client brings: both stand, and a person is asked. A text
    # that is dated back is judged as if it came today.
    assume({GateDecision.DISPUTE, GateDecision.COEXIST}.isdisjoint((one, other)))
    earlier, later = sorted((a, b), key=lambda side: side.at_ms)
    assume(earlier.persons or not later.persons or later.owner_said)
    stands, waits = _left(b, a)
    assert _left(a, b) == (frozenset(_TURNED[x] for x in stands), frozenset(_TURNED[x] for x in waits))


@given(STANDINGS, STANDINGS)
def test_two_equals_disagree_in_both_orders(a: SourceAuthority, b: SourceAuthority) -> None:
    assume(a.at_ms != b.at_ms)
    earlier, later = sorted((a, b), key=lambda side: side.at_ms)
    assume(earlier.persons or not later.persons or later.owner_said)
    assert (resolve_contradiction(a, b).decision is GateDecision.DISPUTE) == (
        resolve_contradiction(b, a).decision is GateDecision.DISPUTE
    )


@given(STANDINGS, STANDINGS)
def test_dating_a_text_back_gains_nobody_anything_against_the_person(
    new: SourceAuthority, old: SourceAuthority
) -> None:
    assume(old.persons and not new.persons)
    for days in range(9):
        dated = replace(new, at_ms=old.at_ms - days * DAY_MS)
        assert resolve_contradiction(dated, old).decision in (
            GateDecision.QUARANTINE,
            GateDecision.DISPUTE,
            GateDecision.ENTER_SUPERSEDED,
        )


@given(STANDINGS, STANDINGS, RELATIONS, st.sampled_from(["", "s"]), st.sampled_from(["", "t"]))
def test_other_scopes_do_not_meet(
    new: SourceAuthority, old: SourceAuthority, told: Relation, one: str, two: str
) -> None:
    assume(one != two)
    # But for the person's word and somebody else's: no session is a place to contradict it.
    assume(new.persons == old.persons or (one and two))
    found = decide_gate(replace(new, scope_session=one), replace(old, scope_session=two), told)
    assert (found.decision, found.review, found.suggestion) == (GateDecision.COEXIST, False, None)


@given(STANDINGS, STANDINGS, STANDINGS)
def test_ranks_are_an_order(a: SourceAuthority, b: SourceAuthority, c: SourceAuthority) -> None:
    assert not is_outranking(a, a)
    assert not (is_outranking(a, b) and is_outranking(b, a))
    if is_outranking(a, b) and is_outranking(b, c):
        assert is_outranking(a, c)


@pytest.mark.parametrize("label", [Label.DUPLICATE, Label.MERGE, Label.COEXIST])
@given(STANDINGS, STANDINGS)
def test_what_is_certainly_no_contradiction_is_never_a_question(
    label: Label, new: SourceAuthority, old: SourceAuthority
) -> None:
    found = decide_gate(new, old, Relation(label, 1.0, dict.fromkeys(LABELS, 0.25), "rules"))
    assert not found.review
    assert found.suggestion is not Action.REJECT
    assert found.decision in (GateDecision.COEXIST, GateDecision.STACK, GateDecision.MERGE)
