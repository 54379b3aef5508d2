"""The trust gate: every rule of design section 4 ("Trust gate", recency, below 0.8) as a row of a table."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gate_rig import by_client, by_import, by_owner, later, relation

from core.belief.trust_gate import (
    AT_ODDS,
    GateDecision,
    SourceAuthority,
    decide_gate,
    is_one_source,
    is_outranking,
    may_displace,
)
from core.types.belief import ACTED_ON, BY_MEANING, Label, Relation
from core.types.values import Action, Source

OWNER = by_owner()
REMARK = by_owner(Source.USER_IMPLICIT)
OWNERS_PAPER = by_owner(Source.DOCUMENT)
OWNERS_TOOL = by_owner(Source.TOOL_OUTPUT)
OWNERS_GUESS = by_owner(Source.INFERENCE)
VOUCHED = by_client(vouched=True)
GUESS = by_client()
TOOL = by_client(Source.TOOL_OUTPUT)
SYSTEM = by_client(Source.SYSTEM)
SPEAKER = by_client(Source.USER_EXPLICIT, ceiling=0.9)
OTHER_GUESS = by_client(client="borage")
OTHER_TOOL = by_client(Source.TOOL_OUTPUT, client="borage")
MESSAGE = by_import()
ANSWER = by_import(Source.INFERENCE)
OTHER_STORE = by_import(Source.INFERENCE, store="import:mem0")
PAPER = by_import(Source.DOCUMENT)

CONTRADICTS = relation(Label.SUPERSEDE)


# ---- a certain contradiction, the newcomer said later

LATER: list[tuple[str, SourceAuthority, SourceAuthority, GateDecision, str]] = [
    # The owner's word supersedes anything.
    ("owner over owner", OWNER, OWNER, GateDecision.SUPERSEDE, "owners_word"),
    ("owner over a remark", OWNER, REMARK, GateDecision.SUPERSEDE, "owners_word"),
    ("owner over a vouched guess", OWNER, VOUCHED, GateDecision.SUPERSEDE, "owners_word"),
    ("owner over a tool", OWNER, TOOL, GateDecision.SUPERSEDE, "owners_word"),
    ("owner over the system", OWNER, SYSTEM, GateDecision.SUPERSEDE, "owners_word"),
    ("owner over a speaker", OWNER, SPEAKER, GateDecision.SUPERSEDE, "owners_word"),
    ("owner over a message", OWNER, MESSAGE, GateDecision.SUPERSEDE, "owners_word"),
    ("a vouched guess over the owner", VOUCHED, OWNER, GateDecision.SUPERSEDE, "owners_word"),
    # Nothing else supersedes what the owner said, whatever the numbers.
    ("a guess against the owner", GUESS, OWNER, GateDecision.QUARANTINE, "against_owner"),
    ("a tool against the owner", TOOL, OWNER, GateDecision.QUARANTINE, "against_owner"),
    ("the system against the owner", SYSTEM, OWNER, GateDecision.QUARANTINE, "against_owner"),
    ("a message against the owner", MESSAGE, OWNER, GateDecision.QUARANTINE, "against_owner"),
    ("a paper against the owner", PAPER, OWNER, GateDecision.QUARANTINE, "against_owner"),
    ("a tool against a remark", TOOL, REMARK, GateDecision.QUARANTINE, "against_owner"),
    ("a tool against what was vouched for", TOOL, VOUCHED, GateDecision.QUARANTINE, "against_owner"),
    # The owner who passes on what is not the owner's own word.
    ("the owner's paper against the owner", OWNERS_PAPER, OWNER, GateDecision.QUARANTINE, "against_owner"),
    ("the owner's tool against the owner", OWNERS_TOOL, OWNER, GateDecision.QUARANTINE, "against_owner"),
    ("the owner's guess against the owner", OWNERS_GUESS, OWNER, GateDecision.QUARANTINE, "against_owner"),
    ("the owner's tool against a remark", OWNERS_TOOL, REMARK, GateDecision.QUARANTINE, "against_owner"),
    (
        "the owner's paper over the owner's paper",
        OWNERS_PAPER,
        OWNERS_PAPER,
        GateDecision.SUPERSEDE,
        "one_source_later",
    ),
    ("the owner's paper against a tool", OWNERS_PAPER, TOOL, GateDecision.QUARANTINE, "trust_insufficient"),
    # A remark of the owner's: one person, the later one holds.
    ("a remark over the owner", REMARK, OWNER, GateDecision.SUPERSEDE, "one_source_later"),
    ("a remark over a remark", REMARK, REMARK, GateDecision.SUPERSEDE, "one_source_later"),
    ("a remark over a guess", REMARK, GUESS, GateDecision.SUPERSEDE, "owner_said"),
    ("a remark over a tool that is trusted more", REMARK, TOOL, GateDecision.SUPERSEDE, "owner_said"),
    ("a remark over a speaker", REMARK, SPEAKER, GateDecision.SUPERSEDE, "owner_said"),
    ("a remark and a message", REMARK, MESSAGE, GateDecision.DISPUTE, "equals_disagree"),
    # What passes for the person's own is protected from everybody else.
    ("a tool against a message", TOOL, MESSAGE, GateDecision.QUARANTINE, "against_owner"),
    ("the system against a speaker", SYSTEM, SPEAKER, GateDecision.QUARANTINE, "against_owner"),
    ("an answer against a message of one export", ANSWER, MESSAGE, GateDecision.QUARANTINE, "against_owner"),
    # What a client with speak_for_user brings: the person's word, by another door than the person's own.
    ("a speaker beside the owner", SPEAKER, OWNER, GateDecision.COEXIST, "relayed_against_owner"),
    ("a speaker beside a remark", SPEAKER, REMARK, GateDecision.COEXIST, "relayed_against_owner"),
    ("a speaker beside what was vouched for", SPEAKER, VOUCHED, GateDecision.COEXIST, "relayed_against_owner"),
    ("a speaker over a message", SPEAKER, MESSAGE, GateDecision.SUPERSEDE, "relayed_later"),
    ("a speaker over a speaker", SPEAKER, SPEAKER, GateDecision.SUPERSEDE, "relayed_later"),
    (
        "a speaker over another speaker",
        SPEAKER,
        replace(SPEAKER, client_id="borage"),
        GateDecision.SUPERSEDE,
        "relayed_later",
    ),
    (
        "a speaker over a tool that is trusted more",
        SPEAKER,
        replace(TOOL, trust=0.95),
        GateDecision.SUPERSEDE,
        "relayed_later",
    ),
    ("a speaker over the owner's paper", SPEAKER, OWNERS_PAPER, GateDecision.SUPERSEDE, "relayed_later"),
    ("a message over a message", MESSAGE, MESSAGE, GateDecision.SUPERSEDE, "one_source_later"),
    ("a message against a speaker", MESSAGE, SPEAKER, GateDecision.QUARANTINE, "trust_insufficient"),
    # Between others, trust decides.
    ("a tool over a guess", TOOL, GUESS, GateDecision.SUPERSEDE, "trust_higher"),
    ("a tool over a paper", TOOL, PAPER, GateDecision.SUPERSEDE, "trust_higher"),
    ("a paper over an answer", PAPER, ANSWER, GateDecision.SUPERSEDE, "trust_higher"),
    ("a guess against a tool", GUESS, TOOL, GateDecision.QUARANTINE, "trust_insufficient"),
    ("an answer against a paper", ANSWER, PAPER, GateDecision.QUARANTINE, "trust_insufficient"),
    # Equals of one source: the later one. Equals of several: nobody gives way.
    ("a client over itself", GUESS, GUESS, GateDecision.SUPERSEDE, "one_source_later"),
    ("a store over itself", ANSWER, ANSWER, GateDecision.SUPERSEDE, "one_source_later"),
    ("two clients", OTHER_GUESS, GUESS, GateDecision.DISPUTE, "equals_disagree"),
    ("two clients with tools", OTHER_TOOL, TOOL, GateDecision.DISPUTE, "equals_disagree"),
    ("two stores", OTHER_STORE, ANSWER, GateDecision.DISPUTE, "equals_disagree"),
    ("a client and a store", ANSWER, GUESS, GateDecision.DISPUTE, "equals_disagree"),
    ("one client in two ways of one trust", by_client(Source.SYSTEM), TOOL, GateDecision.DISPUTE, "equals_disagree"),
]


@pytest.mark.parametrize(("new", "old", "deed", "reason"), [row[1:] for row in LATER], ids=[row[0] for row in LATER])
def test_the_later_of_two_that_contradict_each_other(
    new: SourceAuthority, old: SourceAuthority, deed: GateDecision, reason: str
) -> None:
    found = decide_gate(later(new), old, CONTRADICTS)
    assert (found.decision, found.reason) == (deed, reason)
    assert found.review == (deed in (GateDecision.QUARANTINE, GateDecision.DISPUTE, GateDecision.COEXIST))
    wanted = {
        GateDecision.QUARANTINE: Action.REJECT,
        GateDecision.DISPUTE: Action.SUPERSEDE,
        GateDecision.COEXIST: Action.SUPERSEDE,
    }.get(deed)
    assert found.suggestion is wanted
    assert found.kind == "contradiction"


# ---- recency: what counts is when it was said

EARLIER: list[tuple[str, SourceAuthority, SourceAuthority, GateDecision, str]] = [
    ("an old word of the owner's", OWNER, OWNER, GateDecision.ENTER_SUPERSEDED, "said_before"),
    ("an old document", PAPER, OWNER, GateDecision.ENTER_SUPERSEDED, "said_before"),
    ("an old guess of a client", GUESS, OWNER, GateDecision.ENTER_SUPERSEDED, "said_before"),
    ("an old remark beside a remark", REMARK, REMARK, GateDecision.ENTER_SUPERSEDED, "said_before"),
    ("an old tool beside a remark", TOOL, REMARK, GateDecision.ENTER_SUPERSEDED, "said_before"),
    ("an old guess beside a tool", GUESS, TOOL, GateDecision.ENTER_SUPERSEDED, "said_before"),
    ("an old guess of the same client", GUESS, GUESS, GateDecision.ENTER_SUPERSEDED, "said_before"),
    ("an old word of an equal", OTHER_GUESS, GUESS, GateDecision.DISPUTE, "equals_disagree"),
    # Had it come first, what stands would have been held back.
    ("the owner, before a guess", OWNER, GUESS, GateDecision.HOLD_EXISTING, "against_owner"),
    ("the owner, before a speaker", OWNER, SPEAKER, GateDecision.COEXIST, "relayed_against_owner"),
    ("a remark, before a tool", REMARK, TOOL, GateDecision.HOLD_EXISTING, "against_owner"),
    ("a message, before a tool", MESSAGE, TOOL, GateDecision.HOLD_EXISTING, "against_owner"),
    ("a tool, before a guess", TOOL, GUESS, GateDecision.HOLD_EXISTING, "trust_insufficient"),
    # But nobody dates a text back to hold back what the person said.
    ("a tool, dated before a message", TOOL, MESSAGE, GateDecision.QUARANTINE, "against_owner"),
    ("the system, dated before a message", SYSTEM, MESSAGE, GateDecision.QUARANTINE, "against_owner"),
]


@pytest.mark.parametrize(
    ("new", "old", "deed", "reason"), [row[1:] for row in EARLIER], ids=[row[0] for row in EARLIER]
)
def test_the_earlier_of_two_that_contradict_each_other(
    new: SourceAuthority, old: SourceAuthority, deed: GateDecision, reason: str
) -> None:
    found = decide_gate(new, later(old), CONTRADICTS)
    assert (found.decision, found.reason) == (deed, reason)
    assert found.review == (deed is not GateDecision.ENTER_SUPERSEDED)


@pytest.mark.parametrize("mine", [OWNER, REMARK, VOUCHED])
def test_of_two_doors_the_newer_is_suggested(mine: SourceAuthority) -> None:
    assert decide_gate(later(SPEAKER), mine, CONTRADICTS).suggestion is Action.SUPERSEDE
    assert may_displace(SPEAKER, mine)
    if mine is not VOUCHED:
        before = decide_gate(mine, later(SPEAKER), CONTRADICTS)
        assert before.decision is GateDecision.COEXIST
        assert before.suggestion is Action.REJECT


def test_at_the_same_moment_the_newcomer_is_the_later_one() -> None:
    assert decide_gate(OWNER, OWNER, CONTRADICTS).decision is GateDecision.SUPERSEDE
    assert decide_gate(GUESS, GUESS, CONTRADICTS).decision is GateDecision.SUPERSEDE


# ---- scope

SCOPES = [("one", ""), ("", "one"), ("one", "two")]


@pytest.mark.parametrize(("new", "old"), SCOPES)
@pytest.mark.parametrize("label", list(Label))
def test_what_is_limited_to_a_session_touches_nothing_outside(new: str, old: str, label: Label) -> None:
    found = decide_gate(later(replace(TOOL, scope_session=new)), replace(GUESS, scope_session=old), relation(label))
    assert (found.decision, found.reason, found.review) == (GateDecision.COEXIST, "other_scope", False)
    found = decide_gate(later(replace(OWNER, scope_session=new)), replace(OWNER, scope_session=old), relation(label))
    assert (found.decision, found.reason, found.review) == (GateDecision.COEXIST, "other_scope", False)


def test_no_session_is_a_place_to_contradict_the_person() -> None:
    assert (
        decide_gate(later(replace(TOOL, scope_session="one")), OWNER, CONTRADICTS).decision is GateDecision.QUARANTINE
    )
    assert decide_gate(later(OWNER), replace(TOOL, scope_session="one"), CONTRADICTS).decision is GateDecision.SUPERSEDE
    # What the person told for a session is no more than that: outside of it others say what they say.
    assert decide_gate(later(TOOL), replace(OWNER, scope_session="one"), CONTRADICTS).decision is GateDecision.COEXIST
    assert decide_gate(later(replace(OWNER, scope_session="one")), TOOL, CONTRADICTS).decision is GateDecision.COEXIST


def test_within_one_session_the_gate_decides_as_ever() -> None:
    new, old = (replace(one, scope_session="evening") for one in (later(OWNER), GUESS))
    assert decide_gate(new, old, CONTRADICTS).decision is GateDecision.SUPERSEDE
    assert (
        decide_gate(later(old), replace(OWNER, scope_session="evening"), CONTRADICTS).decision
        is GateDecision.QUARANTINE
    )


# ---- the other three labels, certain


@pytest.mark.parametrize("new", [OWNER, REMARK, GUESS, PAPER])
@pytest.mark.parametrize("old", [OWNER, REMARK, GUESS, PAPER])
def test_what_says_the_same_is_kept_beneath_it(new: SourceAuthority, old: SourceAuthority) -> None:
    found = decide_gate(later(new), old, relation(Label.DUPLICATE))
    assert (found.decision, found.review) == (GateDecision.STACK, False)


MERGES: list[tuple[str, SourceAuthority, SourceAuthority, GateDecision]] = [
    ("owner and owner", OWNER, OWNER, GateDecision.MERGE),
    ("remark and remark", REMARK, REMARK, GateDecision.MERGE),
    ("a client with itself", GUESS, GUESS, GateDecision.MERGE),
    ("two clients of one trust", OTHER_GUESS, GUESS, GateDecision.MERGE),
    ("a paper with its like", PAPER, PAPER, GateDecision.MERGE),
    ("a guess into a tool", GUESS, TOOL, GateDecision.COEXIST),
    ("a tool into a guess", OTHER_TOOL, GUESS, GateDecision.COEXIST),
    ("a guess into the owner's word", GUESS, OWNER, GateDecision.COEXIST),
    ("a speaker into the owner's word", SPEAKER, OWNER, GateDecision.COEXIST),
    ("the owner's paper into the owner's word", OWNERS_PAPER, OWNER, GateDecision.COEXIST),
    ("a remark into the owner's word", REMARK, OWNER, GateDecision.COEXIST),
    ("the owner into a guess", OWNER, GUESS, GateDecision.COEXIST),
    # The same client, but the person has vouched for what stands: it is the owner's word by now.
    ("a client into what was vouched for", GUESS, VOUCHED, GateDecision.COEXIST),
    ("a paper into what was vouched for", PAPER, by_import(Source.DOCUMENT, vouched=True), GateDecision.COEXIST),
    (
        "the owner's paper into a paper that was vouched for",
        OWNERS_PAPER,
        by_owner(Source.DOCUMENT, vouched=True),
        GateDecision.COEXIST,
    ),
]


@pytest.mark.parametrize(("new", "old", "deed"), [row[1:] for row in MERGES], ids=[row[0] for row in MERGES])
def test_only_texts_of_one_weight_are_united(new: SourceAuthority, old: SourceAuthority, deed: GateDecision) -> None:
    found = decide_gate(later(new), old, relation(Label.MERGE))
    assert (found.decision, found.review) == (deed, False)


@pytest.mark.parametrize("new", [OWNER, GUESS, PAPER])
@pytest.mark.parametrize("old", [OWNER, GUESS, PAPER])
def test_what_goes_together_stands_together(new: SourceAuthority, old: SourceAuthority) -> None:
    found = decide_gate(later(new), old, relation(Label.COEXIST))
    assert (found.decision, found.reason, found.review) == (GateDecision.COEXIST, "by_test", False)


# ---- below 0.8: a note, and a question only where two values of one property are at odds

SHARES: dict[Label, dict[str, float]] = {
    Label.DUPLICATE: {"duplicate": 0.6, "supersede": 0.1, "merge": 0.1, "coexist": 0.2},
    Label.SUPERSEDE: {"duplicate": 0.1, "supersede": 0.6, "merge": 0.1, "coexist": 0.2},
    Label.MERGE: {"duplicate": 0.1, "supersede": 0.1, "merge": 0.6, "coexist": 0.2},
    Label.COEXIST: {"duplicate": 0.03, "supersede": 0.42, "merge": 0.03, "coexist": 0.52},
}
SUGGESTED = {
    Label.DUPLICATE: Action.REJECT,
    Label.SUPERSEDE: Action.SUPERSEDE,
    Label.MERGE: Action.MERGE,
    Label.COEXIST: Action.KEEP_BOTH,
}


def unsure(label: Label, by: str = "builtin") -> Relation:
    shares = SHARES[label]
    return relation(label, shares[label.value.lower()], by, **shares)


@pytest.mark.parametrize("label", list(Label))
@pytest.mark.parametrize(("new", "old"), [(OWNER, OWNER), (GUESS, GUESS), (TOOL, GUESS), (OTHER_GUESS, GUESS)])
def test_a_guess_at_equal_or_higher_standing_stands_with_a_note(
    label: Label, new: SourceAuthority, old: SourceAuthority
) -> None:
    found = decide_gate(later(new), old, unsure(label))
    if label is Label.MERGE and new is TOOL:
        assert (found.decision, found.reason, found.review) == (GateDecision.COEXIST, "other_standing", False)
        return
    assert (found.decision, found.reason, found.review, found.noted) == (GateDecision.COEXIST, "unsure", False, True)
    assert found.kind == "classification"


@pytest.mark.parametrize("reason", sorted(AT_ODDS))
@pytest.mark.parametrize("label", [Label.SUPERSEDE, Label.COEXIST])
def test_two_values_of_one_property_are_asked_about(label: Label, reason: str) -> None:
    found = decide_gate(later(GUESS), GUESS, replace(unsure(label), reason=reason))
    assert (found.decision, found.review, found.noted) == (GateDecision.COEXIST, True, False)
    assert found.suggestion is SUGGESTED[label]


def test_nobody_is_advised_to_keep_the_old_one_against_the_persons_later_word() -> None:
    doubt = replace(unsure(Label.DUPLICATE), reason="value_changed")
    assert decide_gate(later(OWNER), OWNER, doubt).suggestion is Action.SUPERSEDE
    assert decide_gate(later(GUESS), GUESS, doubt).suggestion is Action.REJECT


@pytest.mark.parametrize(("new", "old"), [(GUESS, OWNER), (PAPER, OWNER), (GUESS, TOOL), (TOOL, MESSAGE)])
def test_a_guess_at_lower_standing_waits_where_it_may_replace(new: SourceAuthority, old: SourceAuthority) -> None:
    found = decide_gate(later(new), old, unsure(Label.SUPERSEDE))
    assert (found.decision, found.reason, found.review) == (GateDecision.QUARANTINE, "unsure_low_trust", True)
    assert (found.kind, found.suggestion) == ("classification", Action.REJECT)


@pytest.mark.parametrize(("label", "noted"), [(Label.DUPLICATE, True), (Label.MERGE, False), (Label.COEXIST, True)])
def test_a_guess_at_lower_standing_stands_where_it_rather_goes_beside(label: Label, noted: bool) -> None:
    found = decide_gate(later(GUESS), OWNER, unsure(label))
    assert (found.decision, found.review, found.noted) == (GateDecision.COEXIST, False, noted)


def test_what_hardly_replaces_anything_is_no_question() -> None:
    shares = {"duplicate": 0.1, "supersede": 0.1, "merge": 0.1, "coexist": 0.7}
    found = decide_gate(later(GUESS), OWNER, relation(Label.COEXIST, 0.7, "builtin", **shares))
    assert (found.decision, found.review, found.suggestion) == (GateDecision.COEXIST, False, None)


@pytest.mark.parametrize("new", [OWNER, REMARK])
def test_what_somebody_told_before_the_person_spoke_waits_while_it_is_unclear(new: SourceAuthority) -> None:
    found = decide_gate(later(new), TOOL, unsure(Label.SUPERSEDE))
    assert (found.decision, found.review, found.kind) == (GateDecision.HOLD_EXISTING, True, "classification")
    assert decide_gate(later(new), MESSAGE, unsure(Label.SUPERSEDE)).decision in (
        GateDecision.COEXIST,
        GateDecision.QUARANTINE,
    )


def test_a_remark_of_the_persons_takes_no_record_away_by_meaning_alone() -> None:
    found = decide_gate(later(REMARK), TOOL, replace(unsure(Label.SUPERSEDE), reason=BY_MEANING))
    assert (found.decision, found.review, found.noted) == (GateDecision.COEXIST, False, True)


@pytest.mark.parametrize(
    ("confidence", "deed"),
    [(ACTED_ON - 1e-6, GateDecision.COEXIST), (ACTED_ON, GateDecision.SUPERSEDE), (1.0, GateDecision.SUPERSEDE)],
)
def test_from_four_fifths_on_a_relation_is_acted_on(confidence: float, deed: GateDecision) -> None:
    assert decide_gate(later(OWNER), OWNER, relation(Label.SUPERSEDE, confidence, "builtin")).decision is deed


# ---- a remark of the owner's against the owner's own word


@pytest.mark.parametrize(
    ("confidence", "by", "reason", "deed"),
    [
        (0.9, "builtin", "value_changed", GateDecision.COEXIST),
        (0.9, "model", "value_changed", GateDecision.COEXIST),
        (0.96, "builtin", "value_changed", GateDecision.SUPERSEDE),
        (0.9, "rules", "value_changed", GateDecision.SUPERSEDE),
        (0.9, "builtin", "claims_at_odds", GateDecision.SUPERSEDE),
    ],
)
def test_a_remark_replaces_the_owners_word_only_where_that_is_very_sure(
    confidence: float, by: str, reason: str, deed: GateDecision
) -> None:
    told = replace(relation(Label.SUPERSEDE, confidence, by), reason=reason)
    found = decide_gate(later(REMARK), OWNER, told)
    assert (found.decision, found.review) == (deed, deed is GateDecision.COEXIST)
    assert decide_gate(later(REMARK), REMARK, told).decision is GateDecision.SUPERSEDE
    assert decide_gate(later(OWNER), OWNER, told).decision is GateDecision.SUPERSEDE


# ---- what the rules are made of


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (OWNER, later(OWNER), True),
        (REMARK, REMARK, True),
        (OWNER, REMARK, False),
        (GUESS, GUESS, True),
        (GUESS, OTHER_GUESS, False),
        (GUESS, TOOL, False),
        (ANSWER, OTHER_STORE, False),
        (ANSWER, GUESS, False),
        (OWNERS_PAPER, PAPER, False),
    ],
)
def test_one_source_is_one_way_of_one_client(a: SourceAuthority, b: SourceAuthority, *, same: bool) -> None:
    assert is_one_source(a, b) is is_one_source(b, a) is same


@pytest.mark.parametrize(
    ("new", "old", "may"),
    [
        (OWNER, OWNER, True),
        (REMARK, OWNER, True),
        (GUESS, OWNER, False),
        (GUESS, MESSAGE, False),
        (GUESS, TOOL, False),
        (TOOL, GUESS, True),
        (OTHER_GUESS, GUESS, True),
    ],
)
def test_who_could_take_the_others_place(new: SourceAuthority, old: SourceAuthority, *, may: bool) -> None:
    assert may_displace(new, old) is may


def test_ranks_go_from_the_owners_word_down_to_bare_trust() -> None:
    ladder = [OWNER, REMARK, SPEAKER, MESSAGE, TOOL, PAPER, GUESS]
    for place, above in enumerate(ladder):
        assert [one for one in ladder if is_outranking(above, one)] == ladder[place + 1 :]
