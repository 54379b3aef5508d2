"""Laws of belief's numbers: trust, the confidence of a claim, what is near by chance; and some worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.score.trust import (
    MINILM,
    PENALTY,
    SOURCE_WEIGHT,
    ChanceModel,
    WeighedEvidence,
    claim_confidence,
    discount_chance,
    expected_chance_neighbours,
    trust_terms,
)
from core.types.belief import LABELS, Label, Relation
from core.types.values import Source

_unit = st.floats(0, 1)
_counts = st.integers(0, 200)
_near = st.floats(-1, 1)


# ---- trust (design section 4; seed A, trust score formula)

GOLDEN_TRUST: list[tuple[Source, dict[str, Any], float]] = [
    (Source.USER_EXPLICIT, {}, 1.0),
    (Source.DOCUMENT, {"corroboration": 3}, 0.7),
    (Source.INFERENCE, {"corroboration": 5}, 0.7),
    (Source.INFERENCE, {"corroboration": 50}, 0.7),
    (Source.TOOL_OUTPUT, {"disputes": 1}, 0.7),
    (Source.TOOL_OUTPUT, {"reinforcements": 3, "disputes": 1}, 0.925),
    (Source.USER_IMPLICIT, {"age_days": 182.5}, 0.65),
    (Source.USER_IMPLICIT, {"age_days": 3650}, 0.6),
    (Source.INFERENCE, {"disputes": 4, "age_days": 365}, 0.25),
    (Source.INFERENCE, {"disputes": 4, "age_days": 365, "corroboration": 2}, 0.3),
    (Source.DOCUMENT, {"reinforcements": 2, "age_days": 73, "corroboration": 2}, 0.78),
    (Source.USER_EXPLICIT, {"client_ceiling": 0.85, "disputes": 1}, 0.85),
    (Source.SYSTEM, {"ancestor_minimum": 0.62, "client_ceiling": 0.7}, 0.62),
]


@pytest.mark.parametrize(("source", "inputs", "trust"), GOLDEN_TRUST)
def test_trust_worked_out_by_hand(source: Source, inputs: dict[str, Any], trust: float) -> None:
    assert trust_terms(source, **inputs).trust == pytest.approx(trust, abs=1e-12)


@given(st.integers(1, 200), _counts, _counts, st.floats(0, 5_000), st.none() | _unit, st.none() | _unit)
def test_a_stronger_way_never_counts_for_less(
    count: int, up: int, down: int, days: float, parent: float | None, ceiling: float | None
) -> None:
    ladder = [
        trust_terms(
            source,
            corroboration=count,
            reinforcements=up,
            disputes=down,
            age_days=days,
            ancestor_minimum=parent,
            client_ceiling=ceiling,
        ).trust
        for source in sorted(Source, key=lambda one: SOURCE_WEIGHT[one])
    ]
    assert ladder == sorted(ladder)


@given(st.sampled_from(list(Source)), _counts, _counts, _unit, _unit)
def test_a_lower_parent_or_ceiling_never_raises_trust(source: Source, up: int, down: int, a: float, b: float) -> None:
    low, high = sorted((a, b))
    for below, above in (
        [trust_terms(source, reinforcements=up, disputes=down, ancestor_minimum=one).trust for one in (low, high)],
        [trust_terms(source, reinforcements=up, disputes=down, client_ceiling=one).trust for one in (low, high)],
    ):
        assert below <= above
        assert below <= low


@given(st.sampled_from(list(Source)), st.integers(1, 200), _counts, _counts, st.floats(-100, 5_000))
def test_no_single_term_moves_trust_by_more_than_it_may(
    source: Source, count: int, up: int, down: int, days: float
) -> None:
    terms = trust_terms(source, corroboration=count, reinforcements=up, disputes=down, age_days=days)
    assert 0 <= terms.corroboration <= 0.2
    assert -0.15 <= terms.feedback <= 0.15
    assert -0.1 <= terms.age <= 0
    assert abs(terms.trust - terms.source) <= 0.2 + 0.15 + 1e-9


# ---- how sure a claim is (seed C 7.7)

PIECES = st.lists(
    st.builds(WeighedEvidence, st.sampled_from(["owner", "a", "b", "c"]), _unit, st.booleans()), max_size=12
)


def _for(*weights: float) -> list[WeighedEvidence]:
    return [WeighedEvidence(f"source {place}", weight) for place, weight in enumerate(weights)]


@pytest.mark.parametrize(
    ("evidence", "confidence"),
    [
        ([], 0.0),
        (_for(0.5), 0.5),
        (_for(0.5, 0.5), 0.75),
        (_for(0.9, 0.8, 0.5), 0.99),
        ([WeighedEvidence("a", 0.5), WeighedEvidence("a", 0.5), WeighedEvidence("a", 0.3)], 0.5),
        ([*_for(0.9), WeighedEvidence("d", 0.4, supports=False)], 0.7),
        ([*_for(0.9), WeighedEvidence("d", 0.4, supports=False), WeighedEvidence("d", 0.2, supports=False)], 0.7),
        ([*_for(0.9), WeighedEvidence("d", 0.4, supports=False), WeighedEvidence("e", 0.6, supports=False)], 0.4),
        ([WeighedEvidence("d", 1.0, supports=False)], 0.0),
        ([*_for(0.3), WeighedEvidence("d", 0.9, supports=False)], 0.0),
        (_for(1.0, 0.2), 1.0),
    ],
)
def test_confidence_worked_out_by_hand(evidence: list[WeighedEvidence], confidence: float) -> None:
    assert claim_confidence(evidence) == pytest.approx(confidence, abs=1e-12)
    assert PENALTY == 0.5


@given(PIECES)
def test_confidence_is_a_share_and_nothing_without_support(evidence: list[WeighedEvidence]) -> None:
    found = claim_confidence(evidence)
    assert 0.0 <= found <= 1.0
    if not any(piece.supports and piece.weight > 0 for piece in evidence):
        assert found == 0.0


@given(PIECES, st.randoms(use_true_random=False))
def test_confidence_does_not_depend_on_the_order(evidence: list[WeighedEvidence], random: Any) -> None:
    turned = list(evidence)
    random.shuffle(turned)
    assert claim_confidence(turned) == claim_confidence(evidence)


@given(PIECES, st.builds(WeighedEvidence, st.sampled_from(["a", "new"]), _unit))
def test_support_never_lowers_and_doubt_never_raises(evidence: list[WeighedEvidence], piece: WeighedEvidence) -> None:
    before = claim_confidence(evidence)
    assert claim_confidence([*evidence, piece]) >= before - 1e-12
    against = WeighedEvidence(piece.lineage, piece.weight, supports=False)
    assert claim_confidence([*evidence, against]) <= before + 1e-12


@given(PIECES, _unit, _unit)
def test_a_stronger_quote_never_lowers_it(evidence: list[WeighedEvidence], a: float, b: float) -> None:
    weak, strong = sorted((a, b))
    less, more = (claim_confidence([*evidence, WeighedEvidence("one", weight)]) for weight in (weak, strong))
    assert less <= more + 1e-12


@given(st.lists(_unit, min_size=1, max_size=9), st.floats(0, 1))
def test_one_source_counts_with_its_strongest_quote_however_often_it_speaks(weights: list[float], other: float) -> None:
    often = [*(WeighedEvidence("one", weight) for weight in weights), WeighedEvidence("two", other)]
    assert claim_confidence(often) == claim_confidence(
        [WeighedEvidence("one", max(weights)), WeighedEvidence("two", other)]
    )


@given(st.lists(st.floats(0.01, 0.99), min_size=1, max_size=9))
def test_several_sources_are_surer_than_the_best_and_never_certain(weights: list[float]) -> None:
    found = claim_confidence(_for(*weights))
    assert max(weights) - 1e-12 <= found <= 1.0
    assert found == pytest.approx(1 - math.prod(1 - weight for weight in weights), abs=1e-12)


# ---- what is near by chance


@st.composite
def _relations(draw: st.DrawFn) -> Relation:
    weights = [draw(st.floats(0.001, 1)) for _ in LABELS]
    shares = dict(zip(LABELS, (weight / sum(weights) for weight in weights), strict=True))
    label = max(shares, key=lambda one: shares[one])
    return Relation(label, shares[label], shares, "builtin", "why")


@given(_near, _near, st.integers(0, 10**6))
def test_the_nearer_the_fewer_strangers(a: float, b: float, others: int) -> None:
    low, high = sorted((a, b))
    assert 0 <= expected_chance_neighbours(high, others) <= expected_chance_neighbours(low, others) <= others


@given(_near, st.integers(-5, 10**6), st.integers(0, 1000))
def test_the_more_memories_the_more_strangers(cosine: float, others: int, more: int) -> None:
    assert expected_chance_neighbours(cosine, others) <= expected_chance_neighbours(cosine, others + more)


def test_strangers_worked_out_by_hand() -> None:
    known = ChanceModel(share=0.1, at=0.5, fall=10.0)
    assert expected_chance_neighbours(0.5, 1000, known) == pytest.approx(100)
    assert expected_chance_neighbours(0.6, 1000, known) == pytest.approx(100 * math.exp(-1))
    assert expected_chance_neighbours(-1.0, 1000, known) == 1000
    assert expected_chance_neighbours(0.9, 0, known) == 0
    assert expected_chance_neighbours(0.2, 1000, MINILM) == pytest.approx(74)


@given(_relations(), _near, st.integers(0, 10**6))
def test_what_is_due_to_chance_goes_to_standing_side_by_side(told: Relation, cosine: float, others: int) -> None:
    found = discount_chance(told, cosine, others)
    assert sum(found.probabilities.values()) == pytest.approx(1.0)
    assert 0.0 <= found.confidence <= 1.0 + 1e-12
    for label in LABELS:
        was, now = told.probabilities[label], found.probabilities[label]
        assert (now >= was - 1e-12) if label is Label.COEXIST else (now <= was + 1e-12)
    assert found.label in (told.label, Label.COEXIST)
    if found.label is Label.COEXIST:
        assert found.confidence >= told.probabilities[Label.COEXIST] - 1e-12
    else:
        assert found.confidence <= told.confidence + 1e-12
    assert (found.by, found.reason) == (told.by, told.reason)


@given(_relations(), _near, st.integers(0, 10**5), st.integers(0, 10**5))
def test_a_larger_vault_never_makes_it_more_daring(told: Relation, cosine: float, others: int, more: int) -> None:
    few, many = discount_chance(told, cosine, others), discount_chance(told, cosine, others + more)
    assert many.probabilities[Label.COEXIST] >= few.probabilities[Label.COEXIST] - 1e-12
    if few.label is Label.COEXIST:
        assert many.label is Label.COEXIST


@given(_relations(), _near)
def test_in_an_empty_vault_nothing_is_due_to_chance(told: Relation, cosine: float) -> None:
    found = discount_chance(told, cosine, 0)
    assert found.label is told.label
    assert found.confidence == pytest.approx(told.confidence)
    assert found.probabilities == pytest.approx(dict(told.probabilities))


def test_a_relation_between_strangers_worked_out_by_hand() -> None:
    shares = {Label.DUPLICATE: 0.0, Label.SUPERSEDE: 0.9, Label.MERGE: 0.0, Label.COEXIST: 0.1}
    known = ChanceModel(share=1.0, at=1.0, fall=0.0)  # everybody is as near: one stranger halves it
    found = discount_chance(Relation(Label.SUPERSEDE, 0.9, shares, "builtin"), 0.4, 1, known)
    assert found.label is Label.COEXIST
    assert found.probabilities[Label.SUPERSEDE] == pytest.approx(0.45)
    assert found.confidence == found.probabilities[Label.COEXIST] == pytest.approx(0.55)
