"""Laws of resolving a name: bounds, symmetry, the order of tiers and of candidates (seed B, entity resolution)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.entities.recognition import name_key
from core.entities.resolution import (
    BASE,
    MOST_BOOST,
    NamedEntity,
    ResolutionHints,
    context_boost,
    match_tier,
    rank_entity_candidates,
    trigram_similarity,
)

TEXTS = st.text(max_size=40)
TERMS = st.frozensets(st.sampled_from("abcdefghij"))
NAMED = st.builds(NamedEntity, st.uuids().map(str), TEXTS, st.just("person"), st.lists(TEXTS, max_size=3).map(tuple))


@given(TEXTS, TEXTS)
def test_likeness_is_a_share_and_has_no_direction(one: str, other: str) -> None:
    assert 0 <= trigram_similarity(one, other) == trigram_similarity(other, one) <= 1


@given(TERMS, TERMS)
def test_a_boost_is_bounded_and_whole_only_for_the_same(hinted: frozenset[str], told: frozenset[str]) -> None:
    found = context_boost(hinted, told)
    assert 0 <= found <= MOST_BOOST
    assert (found == MOST_BOOST) == (bool(hinted) and hinted == told)
    assert (found == 0) == (not hinted & told)


@given(TEXTS, NAMED)
def test_fuzzy_only_adds_and_a_name_finds_itself(name: str, entity: NamedEntity) -> None:
    strict = match_tier(name, entity, fuzzy=False)
    assert match_tier(name, entity, fuzzy=True) in ({strict} if strict is not None else {None, "fuzzy"})
    if name_key(entity.name):
        assert match_tier(entity.name, entity, fuzzy=False) == "exact"


@given(
    st.lists(st.tuples(NAMED, st.sampled_from(sorted(BASE))), max_size=8, unique_by=lambda pair: pair[0].id),
    st.data(),
)
def test_the_order_is_by_score_then_name(found: list[tuple[NamedEntity, str]], data: st.DataObject) -> None:
    marks = {one.id: data.draw(st.floats(-50, 50)) for one, _ in found}
    order = rank_entity_candidates(found, ResolutionHints(domain_scores=marks), {})
    assert [(-one.score, one.canonical_name) for one in order] == sorted(
        (-one.score, one.canonical_name) for one in order
    )
    for one in order:
        assert one.score == pytest.approx(BASE[one.name_match] + marks[one.entity_id], abs=1e-4)
