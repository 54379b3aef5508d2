"""How one memory is believed: every number of the waterfall, claims, what is against it, versions, what rests on it."""

from __future__ import annotations

import itertools

import pytest
from belief_rig import DAY_MS, change, claim, derive, evidence, item, source, voice
from engine_rig import START_MS, Rig, refused
from hypothesis import given
from hypothesis import strategies as st

from core.engine.memories.detail import ChainVersion, place_chain, trust_steps
from core.errors import Code
from core.score.trust import trust_terms
from core.types.memory import Belief, Chain, ClaimHeld
from core.types.values import Kind, Precision, Source, Status, When
from core.types.views import Revision

NEVER = "0190a000-0000-7000-8000-000000000000"


def belief(rig: Rig, memory_id: str) -> Belief:
    """How a memory is believed."""
    return rig.engine.memories.explain_trust(memory_id).result(30)


def of(found: Belief, predicate: str) -> ClaimHeld:
    """The claim of that predicate."""
    return next(one for one in found.claims if one.seen.predicate == predicate)


def changes(found: Belief) -> dict[str, float]:
    """What each step does, to four places."""
    return {step.name: round(step.change, 4) for step in found.steps}


# ---- the waterfall


@given(
    source=st.sampled_from(list(Source)),
    corroboration=st.integers(1, 9),
    reinforcements=st.integers(0, 9),
    disputes=st.integers(0, 9),
    age_days=st.floats(0, 2_000),
    ancestor_minimum=st.none() | st.floats(0, 1),
    client_ceiling=st.none() | st.floats(0, 1),
)
def test_steps_sum_up_to_the_trust_and_stay_within_bounds_at_the_end(
    source: Source,
    corroboration: int,
    reinforcements: int,
    disputes: int,
    age_days: float,
    ancestor_minimum: float | None,
    client_ceiling: float | None,
) -> None:
    terms = trust_terms(
        source,
        corroboration=corroboration,
        reinforcements=reinforcements,
        disputes=disputes,
        age_days=age_days,
        ancestor_minimum=ancestor_minimum,
        client_ceiling=client_ceiling,
    )
    steps = trust_steps(terms)
    assert [step.name for step in steps[:4]] == ["source", "corroboration", "feedback", "age"]
    assert sum(step.change for step in steps) == pytest.approx(terms.trust, abs=1e-9)
    assert steps[-1].total == pytest.approx(terms.trust, abs=1e-9)
    for before, after in itertools.pairwise(steps):
        assert after.before == pytest.approx(before.total, abs=1e-9)
    assert all(step.change < 0 for step in steps if step.name in ("ancestors", "ceiling"))


def test_a_memory_of_the_owner_shows_source_and_age(rig: Rig) -> None:
    said = START_MS - 73 * DAY_MS
    found = belief(rig, rig.store("Quill closes the weir.", occurred=When(said, Precision.DAY)).memory_id)
    assert changes(found) == {"source": 1.0, "corroboration": 0.0, "feedback": 0.0, "age": -0.02}
    assert (found.inputs.age_days, found.inputs.since_ms, found.inputs.confirmed) == (73, said, False)
    assert found.inputs.client is None
    assert found.trust == pytest.approx(0.98)


def test_numbers_of_feedback_and_sources_stand_beside_their_terms(rig: Rig) -> None:
    memory_id = rig.store("Quill closes the weir.", source=Source.DOCUMENT).memory_id
    change(rig, memory_id, reinforcements=2, disputes=1)
    for name in ("one", "two"):
        source(rig, memory_id, name)
    found = belief(rig, memory_id)
    assert changes(found) == {"source": 0.6, "corroboration": 0.1, "feedback": 0.05, "age": 0.0}
    assert (found.inputs.sources, found.inputs.reinforcements, found.inputs.disputes) == (3, 2, 1)
    assert found.trust == pytest.approx(0.75)


def test_a_sum_above_one_ends_at_one_and_says_so(rig: Rig) -> None:
    memory_id = rig.store("Quill closes the weir.").memory_id
    change(rig, memory_id, reinforcements=1)
    found = belief(rig, memory_id)
    assert changes(found)["bounds"] == -0.15
    assert found.trust == 1.0


def test_a_clients_ceiling_and_the_least_trusted_ancestor_are_named(rig: Rig) -> None:
    actor = rig.client("aster", "read", "write", "speak_for_user", "all_spaces")
    told = rig.store("Quill closes the weir.", actor, source=Source.USER_EXPLICIT).memory_id
    found = belief(rig, told)
    ceiling = float(rig.value("SELECT trust_ceiling FROM clients"))
    assert (found.inputs.client, found.inputs.ceiling) == ("aster", ceiling)
    assert changes(found)["ceiling"] == round(ceiling - 1.0, 4)
    weak = rig.store("The lock keeper guessed.", source=Source.INFERENCE, space="client:aster").memory_id
    made = rig.store("A digest of both.", kind=Kind.FACT, space="client:aster").memory_id
    derive(rig, made, weak)
    below = belief(rig, made)
    assert (below.inputs.ancestors, below.inputs.lowest_id, below.inputs.lowest) == (1, weak, 0.5)
    assert changes(below)["ancestors"] == -0.5
    assert below.trust == pytest.approx(0.5)


def test_a_confirmation_makes_it_young_again(rig: Rig) -> None:
    memory_id = rig.store("Quill closes the weir.", occurred=When(START_MS - 365 * DAY_MS)).memory_id
    change(rig, memory_id, last_confirmed_at=START_MS + 1)
    found = belief(rig, memory_id).inputs
    assert (found.confirmed, found.since_ms, found.age_days) == (True, START_MS + 1, 0)


def test_voices_are_named_with_their_reasons_the_latest_first(rig: Rig) -> None:
    memory_id = rig.store("Quill closes the weir.").memory_id
    client = rig.client("aster", "read").client_id
    voice(rig, memory_id, "confirm", 1)
    voice(rig, memory_id, "dispute", 2, client, "It was open.")
    voices = belief(rig, memory_id).voices
    assert [(v.verdict, v.client, v.reason) for v in voices] == [
        ("dispute", "aster", "It was open."), ("confirm", None, ""),
    ]  # fmt: skip


# ---- claims


def test_claims_come_with_places_quotes_and_who_said_them(rig: Rig) -> None:
    one = rig.store("Quill keeps the weir closed in winter.").memory_id
    two = rig.store("The weir is shut, says the almanac.", source=Source.DOCUMENT).memory_id
    made = claim(rig, one, "weir_rule", "closed", "weir closed", subject="Quill")
    evidence(rig, made, two, "weir is shut")
    evidence(rig, made, one, "in winter", "contradicting")
    held = of(belief(rig, one), "weir_rule")
    assert held.seen.spans == ((16, 27),)
    assert held.denied == ((28, 37),)
    assert [(q.memory_id, q.quote, q.stance) for q in held.evidence] == [
        (one, "weir closed", "supporting"), (one, "in winter", "contradicting"), (two, "weir is shut", "supporting"),
    ]  # fmt: skip
    assert held.evidence[2].source is Source.DOCUMENT
    assert (held.seen.sources, held.seen.against, held.pieces) == (2, 1, 3)
    assert not held.alone
    rig.forget(two)
    again = of(belief(rig, one), "weir_rule")
    assert again.alone
    assert two not in {quote.memory_id for quote in again.evidence}


def test_a_replaced_claim_names_what_took_its_place(rig: Rig) -> None:
    one = rig.store("Quill closes the weir.").memory_id
    two = rig.store("Quill opens the weir.").memory_id
    older = claim(rig, one, "weir_rule", "closed", "closes the weir", state="superseded")
    newer = claim(rig, two, "weir_rule", "open", "opens the weir")
    rig.write(lambda tx: tx.update("claims", {"id": older}, {"superseded_by_id": newer}))
    held = of(belief(rig, one), "weir_rule")
    assert (held.seen.state, held.replaced_by, held.alone) == ("superseded", "open", False)


# ---- what is against it


def test_both_sides_of_an_open_item_see_the_other(rig: Rig) -> None:
    one = rig.store("Quill closes the weir.").memory_id
    two = rig.store("Quill opens the weir.", source=Source.DOCUMENT).memory_id
    claim(rig, one, "weir_rule", "closed", "closes the weir")
    claim(rig, two, "weir_rule", "open", "opens the weir", state="draft")
    wanted = item(rig, two, one)
    mine, theirs = (next(o for o in belief(rig, m).opposed if o.item_id == wanted) for m in (one, two))
    assert [side.id for side in (mine.other, theirs.other) if side is not None] == [two, one]
    assert [said.value for said in (mine.mine, mine.theirs) if said is not None] == ["closed", "open"]
    assert (mine.is_newcomer, theirs.is_newcomer) == (False, True)
    rig.write(lambda tx: tx.update("conflicts", {"id": wanted}, {"state": "moot", "closed_at": 1}))
    assert wanted not in {o.item_id for o in belief(rig, one).opposed}


def test_an_item_about_one_memory_has_no_other_side(rig: Rig) -> None:
    one = rig.store("Quill closes the weir.").memory_id
    wanted = item(rig, one, kind="injection")
    found = next(o for o in belief(rig, one).opposed if o.item_id == wanted)
    assert (found.kind, found.other, found.mine) == ("injection", None, None)


# ---- versions


def test_versions_hold_one_after_the_other_with_their_values(rig: Rig) -> None:
    day = When(START_MS - 30 * DAY_MS, Precision.DAY)
    old = rig.store("The release is on the 28th.", occurred=day).memory_id
    claim(rig, old, "release_day", "the 28th", "the 28th", state="asserted")
    new = rig.engine.library.revise_memories((old,), Revision(text="The release is on the 12th.")).result(30).ids[0]
    found = belief(rig, new).chain
    assert [v.memory_id for v in found.versions] == [old, new]
    assert [v.is_current for v in found.versions] == [False, True]
    assert found.versions[1].end is None
    assert found.versions[0].begin == day.ms
    assert found.versions[0].value == "the 28th"
    assert found.now == START_MS
    assert belief(rig, old).chain == found


def _written(name: str, begin: int | None, end: int | None, status: Status, **more: int) -> ChainVersion:
    return ChainVersion(
        name, more.get("version", 1), status, name, begin, Precision.DAY, end, more.get("said"), Precision.DAY,
        more.get("recorded", 0), more.get("retired"),
    )  # fmt: skip


def test_a_time_of_which_nothing_is_said_is_a_gap() -> None:
    first = _written("a", 0, 10 * DAY_MS, Status.SUPERSEDED)
    second = _written("b", 20 * DAY_MS, None, Status.ACTIVE, version=2)
    found = place_chain([second, first], 30 * DAY_MS)
    assert [v.value for v in found.versions] == ["a", "b"]
    assert [(gap.begin, gap.end) for gap in found.gaps] == [(10 * DAY_MS, 20 * DAY_MS)]
    near = _written("b", 10 * DAY_MS + 1, None, Status.ACTIVE, version=2)
    assert place_chain([first, near], 30 * DAY_MS).gaps == ()


def test_a_version_that_was_never_believed_holds_nothing() -> None:
    held = _written("a", 0, None, Status.ACTIVE)
    waits = _written("b", 5, None, Status.QUARANTINED, version=2)
    found = place_chain([held, waits], 10)
    assert [(v.value, v.ever_held, v.is_current) for v in found.versions] == [("a", True, True), ("b", False, False)]


def test_where_it_is_not_told_a_version_ends_when_the_next_begins_or_when_it_was_retired() -> None:
    first = _written("a", None, None, Status.SUPERSEDED, said=5, recorded=90, retired=95)
    second = _written("b", None, None, Status.DELETED, version=2, said=50, recorded=92, retired=99)
    found = place_chain([first, second], 100)
    assert [(v.begin, v.end, v.begin_by) for v in found.versions] == [(5, 50, "said"), (50, 99, "said")]
    assert not any(v.is_current for v in found.versions)
    learned = place_chain([_written("c", None, None, Status.ACTIVE, recorded=7)], 100).versions[0]
    assert (learned.begin, learned.begin_by, learned.end) == (7, "recorded", None)


_TIMES = st.none() | st.integers(0, 1_000)


@given(
    st.lists(
        st.tuples(_TIMES, _TIMES, _TIMES, st.sampled_from(list(Status)), st.integers(0, 1_000)), min_size=1, max_size=8
    )
)
def test_a_chain_is_in_order_never_ends_before_it_begins_and_has_one_current_at_most(
    rows: list[tuple[int | None, int | None, int | None, Status, int]],
) -> None:
    written = [
        ChainVersion(str(nr), nr + 1, status, "", begin, Precision.MS, end, said, Precision.MS, recorded, recorded + 1)
        for nr, (begin, end, said, status, recorded) in enumerate(rows)
    ]
    found: Chain = place_chain(written, 1_000)
    begins = [v.begin for v in found.versions]
    assert begins == sorted(begins)
    assert all(v.end is None or v.end >= v.begin for v in found.versions)
    assert sum(v.is_current for v in found.versions) <= 1
    assert all(gap.begin < gap.end for gap in found.gaps)


# ---- what rests on it


def test_what_was_made_of_it_counts_at_any_distance(rig: Rig) -> None:
    base, middle, top = (rig.store(f"{word} of the weir.").memory_id for word in ("Log", "Sum", "Book"))
    derive(rig, middle, base)
    derive(rig, top, middle)
    claim(rig, base, "weir_rule", "closed", "weir")
    found = belief(rig, base).rests
    assert dict(found.derived) == {middle: Kind.FACT, top: Kind.FACT}
    assert found.alone == 1
    assert belief(rig, top).rests.derived == ()
    assert belief(rig, top).rests.made_of == (middle,), "what it was made of directly"
    assert belief(rig, base).rests.made_of == ()
    rig.forget(top)
    assert dict(belief(rig, base).rests.derived) == {middle: Kind.FACT}


def test_what_is_not_there_is_not_believed(rig: Rig) -> None:
    with refused(Code.NOT_FOUND):
        belief(rig, NEVER)
