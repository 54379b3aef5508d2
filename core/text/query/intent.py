"""What kind of answer a question asks for, and how much its words count against its meaning (E40, X45; E35.3, X5, X6).

Six intents, each scored by its cues; signals of the question shift the weight of the keyword list. The cues, signals
and weights are data (`resources/query/intent.json`, `weight.json`). Must not do: call a model, or know a vault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import prod

from core.text.stopwords import stop_words
from core.types.values import Intent


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
        base: the configured weight, 0 to 1.
        scores: what speaks for each intent.

    Returns:
        The weight between `low` and `high`, and what moved it: names of signals, or `intent_` and the intent.
    """
    rules = weight_rules()
    intent, margin = best_intent(scores)
    # A margin from sums of chances is never exact: 0.1 is reached where the sixth digit says so.
    factual, conceptual = weight_signals(query)
    if margin >= rules.margin - 1e-9:
        shift = intent_cues().shifts[intent]
        return _clamped(base + rules.up * len(factual) + shift, rules), (*factual, f"intent_{intent.value}")
    weight = base + rules.up * len(factual) - rules.down * len(conceptual)
    return _clamped(weight, rules), (*factual, *conceptual)


def weight_signals(query: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
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


SHORT_WORDS, LONG_WORDS = 8, 12
_DROPPED = re.compile(r"['’‘ʼ]")
_GAPS = re.compile(r"[\W_]+")
_OWNED = re.compile(r"\w['’]s \w+(?: \w+)?\W*$")


@dataclass(frozen=True, slots=True)
class IntentCues:
    """The rules of `resources/query/intent.json`.

    Attributes:
        courtesies: what is taken off the beginning.
        cues: intent to pattern and weight; above 0 it speaks for the intent, below 0 it takes a share away.
        features: name of a feature to intent to weight.
        damping: what an intent's score is multiplied by; lookup is what is left where nothing else speaks.
        order: which intent wins where two have the same.
        shifts: what each intent adds to the text weight.
        several: what a question has that wants more than one thing.
    """

    courtesies: re.Pattern[str]
    cues: Mapping[Intent, tuple[tuple[re.Pattern[str], float], ...]]
    features: Mapping[str, Mapping[Intent, float]]
    damping: Mapping[Intent, float]
    order: tuple[Intent, ...]
    shifts: Mapping[Intent, float]
    several: tuple[re.Pattern[str], ...]


@cache
def intent_cues() -> IntentCues:
    """The rules, read and compiled once."""
    data = json.loads((files("resources") / "query" / "intent.json").read_text("utf-8"))
    words = data["words"]
    cues = {
        Intent(name): tuple((re.compile(_filled(pattern, words)), weight) for pattern, weight in rules)
        for name, rules in data["cues"].items()
    }
    features = {
        name: {Intent(intent): weight for intent, weight in weights.items()}
        for name, weights in data["features"].items()
    }
    shifts, damping = ({Intent(name): value for name, value in data[key].items()} for key in ("shifts", "damping"))
    order = tuple(Intent(name) for name in data["order"])
    several = tuple(re.compile(pattern) for pattern in data["several"])
    return IntentCues(re.compile(data["courtesies"]), cues, features, damping, order, shifts, several)


def _filled(pattern: str, words: Mapping[str, str]) -> str:
    for name, choice in words.items():
        pattern = pattern.replace("{" + name + "}", choice)
    return pattern


def intent_scores(query: str, *, has_time: bool) -> dict[Intent, float]:
    """What speaks for each intent.

    Each cue that is found speaks with its weight w; together they give (1 - product of (1 - w)) times the product of
    (1 - |w|) of the cues that speak against it (E40.2 with the weights of X45).

    Args:
        has_time: whether it names days.

    Returns:
        All six, 0 to 1, in the order in which they win ties.
    """
    rules = intent_cues()
    plain = normalize_question(query)
    found = question_traits(query, plain, has_time=has_time)
    scores = {}
    for intent in rules.order:
        weights = [weight for pattern, weight in rules.cues[intent] if pattern.search(plain)]
        weights += [rules.features[name].get(intent, 0.0) for name in found]
        left = prod(1 - weight for weight in weights if weight > 0)
        kept = prod(1 + weight for weight in weights if weight < 0) * rules.damping.get(intent, 1.0)
        scores[intent] = round((1 - left) * kept, 6)
    return scores


def best_intent(scores: Mapping[Intent, float]) -> tuple[Intent, float]:
    """The intent with the highest score, and its margin over the next.

    Args:
        scores: from `intent_scores`.

    Returns:
        The intent, by the fixed order where two have the same (X45), lookup where nothing speaks for any; the margin,
        0 to 1.
    """
    order = intent_cues().order
    ranked = sorted(order, key=lambda intent: (-scores.get(intent, 0.0), order.index(intent)))
    first, second = scores.get(ranked[0], 0.0), scores.get(ranked[1], 0.0)
    return (ranked[0], first - second) if first > 0 else (Intent.LOOKUP, 0.0)


def asks_for_several(query: str, intent: Intent) -> bool:
    """Whether a question wants more than one thing: a list, a number of things, an overview, a comparison.

    Args:
        intent: what kind of answer it asks for.

    Returns:
        Whether it does.
    """
    if intent in (Intent.EXPLORATORY, Intent.COMPARATIVE):
        return True
    plain = normalize_question(query)
    return any(pattern.search(plain) for pattern in intent_cues().several)


def normalize_question(query: str) -> str:
    """The question as the patterns see it: small letters, words one blank apart, courtesies off."""
    words = _GAPS.sub(" ", _DROPPED.sub("", query.lower())).strip()
    return intent_cues().courtesies.sub("", words)


def question_traits(query: str, plain: str, *, has_time: bool) -> tuple[str, ...]:
    """Traits of a question beside its cues: `time`, `bare`, `short`, `long`, `owned`.

    Args:
        query: as typed.
        plain: from `normalize_question`.
        has_time: whether it names days.
    """
    words = plain.split()
    traits = {
        "time": has_time,
        "bare": bool(words) and len(words) <= SHORT_WORDS and not _asks(words),
        "short": 0 < len(words) <= SHORT_WORDS,
        "long": len(words) > LONG_WORDS,
        "owned": bool(_OWNED.search(query.lower())) and len(words) <= SHORT_WORDS,
    }
    return tuple(name for name, holds in traits.items() if holds)


def _asks(words: list[str]) -> bool:
    """Whether it is more than names of things: a question word, a verb of asking or a helping verb."""
    return any(word in _askers() for word in words)


@cache
def _askers() -> frozenset[str]:
    kept = {"of", "the", "a", "an", "my", "our", "his", "her", "their", "for", "in", "on", "at", "to", "with", "and"}
    return stop_words() - kept | {"whats", "whos", "hows", "wheres", "tell", "show", "give", "list"}
