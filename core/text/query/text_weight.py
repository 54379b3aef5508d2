"""How much words count against meaning in a question (E35.3 as settled in X5 and X6).

Its signals and amounts are data (`resources/query/weight.json`). Must not do: know the configuration.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from core.text.query.intent import best_intent, intent_cues
from core.types.recall import Intent


@dataclass(frozen=True, slots=True)
class WeightRules:
    """The rules of `resources/query/weight.json`.

    Attributes:
        factual: signal to the pattern that fires it; each adds `up`.
        conceptual: the same; each takes `down` away.
        up: added for a factual signal.
        down: taken away for a conceptual one.
        low: the least weight; `high` is the greatest.
        few: words at most of a factual question; `many`, above it a conceptual one.
        margin: how far the best intent has to lead to decide instead.
        names: what each signal is called for people.
    """

    factual: Mapping[str, re.Pattern[str]]
    conceptual: Mapping[str, re.Pattern[str]]
    up: float
    down: float
    low: float
    high: float
    few: int
    many: int
    margin: float
    names: Mapping[str, str]


@cache
def weight_rules() -> WeightRules:
    """The rules, read and compiled once."""
    data = json.loads((files("resources") / "query" / "weight.json").read_text("utf-8"))
    factual, conceptual = (
        {name: re.compile(one) for name, one in data[side].items()} for side in ("factual", "conceptual")
    )
    numbers = {name: data[name] for name in ("up", "down", "low", "high", "few", "many", "margin", "names")}
    return WeightRules(factual, conceptual, **numbers)


def text_weight(query: str, base: float, scores: Mapping[Intent, float]) -> tuple[float, tuple[str, ...]]:
    """The weight of words for a question.

    clamp(base + up * F - down * C), where F and C count the factual and the conceptual signals (E35.3). Where one
    intent leads by `margin` or more, its shift stands in the place of the conceptual signals (X6, which lets the intent
    decide alone; but a path in a question is looked for by its letters whatever is asked of it).

    Args:
        query: any text.
        base: the configured weight, 0 to 1.
        scores: what speaks for each intent.

    Returns:
        The weight between `low` and `high`, and what moved it: names of signals, or `intent_` and the intent.
    """
    rules = weight_rules()
    intent, margin = best_intent(scores)
    # A margin from sums of chances is never exact: 0.1 is reached where the sixth digit says so.
    factual, conceptual = signals_of(query)
    if margin >= rules.margin - 1e-9:
        shift = intent_cues().shifts[intent]
        return _clamped(base + rules.up * len(factual) + shift, rules), (*factual, f"intent_{intent.value}")
    weight = base + rules.up * len(factual) - rules.down * len(conceptual)
    return _clamped(weight, rules), (*factual, *conceptual)


def signals_of(query: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The factual and the conceptual signals of a question, in the order of the rules.

    Args:
        query: any text; case and marks at its end do not matter (X5).
    """
    rules = weight_rules()
    plain = query.lower().strip().rstrip(".!?…").rstrip()
    words = len(plain.split())
    factual = [name for name, pattern in rules.factual.items() if pattern.search(plain)]
    conceptual = [name for name, pattern in rules.conceptual.items() if pattern.search(plain)]
    if 0 < words <= rules.few:
        factual.append("few_words")
    if words > rules.many:
        conceptual.append("many_words")
    return tuple(factual), tuple(conceptual)


def _clamped(weight: float, rules: WeightRules) -> float:
    return round(min(rules.high, max(rules.low, weight)), 6)
