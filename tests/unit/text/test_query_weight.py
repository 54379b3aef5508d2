"""How much words count against meaning (E35.3, X5, X6)."""

from __future__ import annotations

import pytest

from core.text.query_plan import text_weight, weight_rules, weight_signals
from core.types.values import Intent

NONE: dict[Intent, float] = {}


@pytest.mark.parametrize(
    ("query", "factual", "conceptual"),
    [
        ("src/auth_v2.rs", ("slash", "digit", "underscore_or_dot", "few_words"), ()),
        ("how does auth work?", (), ("starts_how",)),
        ("what port does the server use?", (), ()),
        ("How do the bells in the old tower get wound up?", (), ("starts_how", "many_words")),
        ("Why?", ("few_words",), ("starts_why",)),
        ("The end of the road.", (), ()),
        ("what's the name of the song", (), ("starts_what_is",)),
        ("find the words 'blue moon' in my notes", ("quotes",), ()),
        ("Omar's house and Ida's boat", (), ()),
        ("explain the plan of the garden", (), ("starts_explain",)),
        ("", (), ()),
    ],
)
def test_signals(query: str, factual: tuple[str, ...], conceptual: tuple[str, ...]) -> None:
    assert weight_signals(query) == (factual, conceptual)


@pytest.mark.parametrize(
    ("query", "expected"),
    [("src/auth_v2.rs", 0.7), ("how does auth work?", 0.22), ("what port does the server use?", 0.3)],
)
def test_the_weights_of_the_plan(query: str, expected: float) -> None:
    assert text_weight(query, 0.3, NONE)[0] == pytest.approx(expected)


def test_the_weight_stays_between_its_bounds() -> None:
    assert text_weight("a/b_c.d 1 'x y'", 0.9, NONE)[0] == 0.9
    assert text_weight("how is it that all of these many things are so?", 0.0, NONE)[0] == 0.1


def test_an_intent_that_leads_decides() -> None:
    weight, signals = text_weight("a/b", 0.5, {Intent.LOOKUP: 0.6, Intent.CAUSAL: 0.5})
    assert (weight, signals) == (0.7, ("slash", "few_words", "intent_lookup"))
    weight, signals = text_weight("a/b", 0.5, {Intent.LOOKUP: 0.59, Intent.CAUSAL: 0.5})
    assert (weight, signals) == (0.7, ("slash", "few_words"))


def test_every_signal_has_a_name_for_people() -> None:
    rules = weight_rules()
    assert {*rules.factual, *rules.conceptual, "few_words", "many_words"} <= set(rules.names)
    assert {f"intent_{intent.value}" for intent in Intent} <= set(rules.names)
