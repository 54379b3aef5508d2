"""Trust: the formula of design section 4, term by term."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.score.trust import SOURCE_WEIGHT, end_shares, trust_terms
from core.types.values import Source


@pytest.mark.parametrize(
    ("source", "weight"),
    [
        (Source.USER_EXPLICIT, 1.0),
        (Source.SYSTEM, 0.95),
        (Source.TOOL_OUTPUT, 0.85),
        (Source.USER_IMPLICIT, 0.7),
        (Source.DOCUMENT, 0.6),
        (Source.INFERENCE, 0.5),
    ],
)
def test_each_way_has_its_weight(source: Source, weight: float) -> None:
    assert trust_terms(source).trust == weight
    assert set(SOURCE_WEIGHT) == set(Source)


@pytest.mark.parametrize(("count", "more"), [(1, 0.0), (2, 0.05), (5, 0.2), (9, 0.2), (0, 0.0)])
def test_corroboration_adds_a_twentieth_each_up_to_a_fifth(count: int, more: float) -> None:
    assert trust_terms(Source.INFERENCE, corroboration=count).trust == pytest.approx(0.5 + more)


@pytest.mark.parametrize(
    ("up", "down", "shift"), [(0, 0, 0.0), (3, 0, 0.15), (0, 2, -0.15), (3, 1, 0.075), (2, 2, 0.0)]
)
def test_feedback_counts_by_its_balance(up: int, down: int, shift: float) -> None:
    assert trust_terms(Source.DOCUMENT, reinforcements=up, disputes=down).trust == pytest.approx(0.6 + shift)


@pytest.mark.parametrize(("days", "loss"), [(0, 0.0), (36.5, 0.01), (365, 0.1), (9999, 0.1), (-50, 0.0)])
def test_age_takes_a_tenth_in_a_year_and_no_more(days: float, loss: float) -> None:
    assert trust_terms(Source.SYSTEM, age_days=days).trust == pytest.approx(0.95 - loss)


def test_what_is_new_loses_nothing_and_no_less_than_nothing() -> None:
    assert str(dict(trust_terms(Source.SYSTEM).list_terms())["age"]) == "0.0"


def test_the_sum_is_clamped_before_parents_and_ceiling() -> None:
    assert trust_terms(Source.USER_EXPLICIT, corroboration=9, reinforcements=5).trust == 1.0
    assert trust_terms(Source.USER_EXPLICIT, corroboration=9, ancestor_minimum=0.4).trust == 0.4
    assert trust_terms(Source.USER_EXPLICIT, ancestor_minimum=0.9, client_ceiling=0.85).trust == 0.85
    assert trust_terms(Source.INFERENCE, ancestor_minimum=0.9, client_ceiling=0.85).trust == 0.5


def test_the_waterfall_names_only_what_did_something() -> None:
    plain = trust_terms(Source.DOCUMENT, corroboration=2, disputes=1, age_days=365)
    assert dict(plain.list_terms()) == pytest.approx(
        {"source": 0.6, "corroboration": 0.05, "feedback": -0.15, "age": -0.1, "trust": 0.4}
    )
    assert [name for name, _ in plain.list_terms()][-1] == "trust"
    lowered = trust_terms(Source.USER_EXPLICIT, ancestor_minimum=0.6, client_ceiling=0.55)
    assert dict(lowered.list_terms())["ancestors"] == 0.6
    assert dict(lowered.list_terms())["ceiling"] == 0.55


odds = st.dictionaries(st.text(max_size=3), st.floats(-800, 800), max_size=8)


@given(odds)
def test_what_is_ended_is_weighed_against_each_other_and_against_nothing(given_odds: dict[str, float]) -> None:
    shares = end_shares(given_odds)
    assert shares.keys() == given_odds.keys()
    assert all(0 <= share <= 1 for share in shares.values())
    assert sum(shares.values()) <= 1 + 1e-9
    for one, other in combinations(shares, 2):
        assert (given_odds[one] <= given_odds[other]) <= (shares[one] <= shares[other])


def test_a_rival_takes_from_the_share_of_an_end() -> None:
    assert end_shares({}) == {}
    assert end_shares({"a": 0.0}) == {"a": 0.5}
    assert end_shares({"a": 0.0, "b": 0.0})["a"] == pytest.approx(1 / 3)
    assert end_shares({"a": 5.0, "b": -5.0})["a"] > 0.99
