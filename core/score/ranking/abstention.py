"""When recall keeps silent: how likely it is that anything in reach answers the question at all.

Where words and meaning are both compared, a logistic model of some ten signs tells; its numbers are data
(`resources/recall/silence.json`), fitted by `packaging/training/fit_silence.py` on questions written for it. A search
by words or by meaning alone has a bar. Must not do: rank.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from core.score.ranking.profile import Profile

Values = NDArray[np.float64]
_NEXT = slice(1, 10)


@dataclass(frozen=True, slots=True)
class CandidateColumns:
    """What a question found, as columns of all candidates that may be returned.

    Attributes:
        evidence: words and meaning added up.
        window: cosine with the surroundings; 0 where there is none.
        vector: own cosine; 0 where there is none.
        coverage: share of the words in and around each.
        own: share of the words in each itself.
        unknown: share of the words, by weight, that nothing in the vault has.
        terms: how many words were looked up.
        size: memories in scope.
    """

    evidence: Values
    window: Values
    vector: Values
    coverage: Values
    own: Values
    unknown: float
    terms: int
    size: int

    def signs(self) -> dict[str, float]:
        """The signs by name; all finite. A question that found nothing has zeros."""
        evidence, window = np.sort(self.evidence)[::-1], np.sort(self.window)[::-1]
        size = math.log(max(1, self.size))
        best = int(np.argmax(self.evidence)) if evidence.size else 0
        top = {
            "meaning": float(window[0]) if window.size else 0.0,
            "own_meaning": float(self.vector.max(initial=0.0)),
            "words": float(self.coverage.max(initial=0.0)),
            "best_words": float(self.coverage[best]) if evidence.size else 0.0,
            "own_words": float(self.own.max(initial=0.0)),
        }
        return {
            **top,
            "unknown": self.unknown,
            "size": size,
            "length": math.log1p(self.terms),
            "lead": _lead(evidence),
            "meaning_lead": _lead(window),
            "meaning_around": float(window[:10].mean()) if window.size else 0.0,
            "meaning_by_size": top["meaning"] * size,
            "words_by_size": top["best_words"] * size,
            "own_words_by_size": top["own_words"] * size,
        }


def _lead(ordered: Values) -> float:
    """How far the first stands above the mean of the nine behind it."""
    if ordered.size == 0:
        return 0.0
    return float(ordered[0] - ordered[_NEXT].mean()) if ordered.size > 1 else float(ordered[0])


@dataclass(frozen=True, slots=True)
class SilenceModel:
    """The fitted numbers.

    Attributes:
        intercept: log odds where every sign has its mean.
        signs: name to mean, spread and weight.
    """

    intercept: float
    signs: Mapping[str, tuple[float, float, float]]


@cache
def silence_model() -> SilenceModel:
    """The model that ships, read once."""
    data = json.loads((files("resources") / "recall" / "silence.json").read_text("utf-8"))
    signs = {name: (one["mean"], one["spread"], one["weight"]) for name, one in data["signs"].items()}
    return SilenceModel(float(data["intercept"]), signs)


def answer_probability(signs: Mapping[str, float], model: SilenceModel | None = None) -> float:
    """How likely something in reach answers the question.

    Args:
        signs: from `Comparison.signs`.
        model: other numbers than those that ship.

    Returns:
        0 to 1.
    """
    model = model or silence_model()
    odds = model.intercept + sum(
        weight * (signs[name] - mean) / spread for name, (mean, spread, weight) in model.signs.items()
    )
    return 1.0 / (1.0 + math.exp(-min(60.0, max(-60.0, odds))))


def evidence_bar(profile: Profile, mode: str, in_scope: int) -> float:
    """The evidence the best candidate must have where words or meaning are compared alone.

    The best of N unrelated memories looks the better the more there are, because it is the maximum of N chances; so the
    bar of meaning rises with ln N.

    Args:
        profile: the numbers.
        mode: `semantic` (cosine only), else coverage only.
        in_scope: memories searched, 0 or more.

    Returns:
        A threshold on `core.score.ranking.fusion.evidence_score`.
    """
    if mode != "semantic":
        return profile.keyword_bar
    return min(profile.bar_cap, profile.bar_base + profile.bar_slope * math.log(max(1, in_scope)))
