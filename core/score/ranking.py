"""The formulas of recall: ranked lists become one order, side signals move it, a bar decides how much answers.

Confidence, recency, importance and utility may reorder near-equals and nothing more; what repeats something above it
comes later. Where words and meaning are both compared, a logistic model of some ten signs tells whether anything in
reach answers at all; its numbers are data (`resources/recall/silence.json`), fitted by
`packaging/training/fit_silence.py`. A search by words or by meaning alone has a bar. `replay_ranking` computes an order
again from its trace alone. Must not do: look at a query or a text, search, read a calendar, a graph or a vault.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.score.profile import Profile, SideWeights
from core.types.recall import Trace, TracedCandidate

Scores = NDArray[np.float64]
Ranks = NDArray[np.float64]
USUAL_BYTES, MOST_BYTES = 80.0, 400.0
"""A message of one sentence, and the size from which a longer one is no richer (our choice)."""
HOP_DECAY = 0.6
"""DECAY_PER_HOP (E5.1.2)."""
LEAST = 0.1
"""Activation below this is not followed, nor kept (E5.1.2, E5.1.3)."""
Links = Iterable[tuple[int, int, float]]
"""From, to, weight 0 to 1."""
_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
LEAST_SIGMA_H = 6.0
"""Our choice, as E39.2 gives none: the width of a question that speaks of a single moment."""
OPEN_H, OPEN_SIGMA_H = 24.0 * 400, 24.0 * 7
"""Our choice: a range with a longer half than this is open to one side, and how soon nearness falls outside of it."""
TOLD_LATER_DAYS = 3.0
"""Our choice: people tell of a day for some days afterwards; what is said then still speaks of it, half as surely."""
Flags = NDArray[np.bool_]
_DIGITS = 9
Values = NDArray[np.float64]
_NEXT = slice(1, 10)


@dataclass(frozen=True, slots=True)
class SideSignals:
    """The four side signals, each 0 to 1; see the functions of this module."""

    confidence: Values
    recency: Values
    importance: Values
    utility: Values


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

    def make_signs(self) -> dict[str, float]:
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
            "lead": _lead_of_first(evidence),
            "meaning_lead": _lead_of_first(window),
            "meaning_around": float(window[:10].mean()) if window.size else 0.0,
            "meaning_by_size": top["meaning"] * size,
            "words_by_size": top["best_words"] * size,
            "own_words_by_size": top["own_words"] * size,
        }


@dataclass(frozen=True, slots=True)
class SilenceModel:
    """The fitted numbers of the model that tells when a recall should answer nothing.

    Attributes:
        intercept: log odds where every sign has its mean.
        signs: name to mean, spread and weight.
    """

    intercept: float
    signs: Mapping[str, tuple[float, float, float]]


def term_weight(documents: int, frequency: int) -> float:
    """How much a query term tells: ln(1 + (N - n + 0.5) / (n + 0.5)), Robertson and Sparck Jones, never below zero.

    Args:
        documents: memories searched, N.
        frequency: memories that have the term, n; more than N counts as N.

    Returns:
        The weight, above 0.
    """
    n = min(max(frequency, 0), max(documents, 0))
    return math.log(1.0 + (max(documents, 0) - n + 0.5) / (n + 0.5))


def rank_scores(scores: Sequence[float] | Scores) -> Ranks:
    """Ranks of scores, best first from 1.

    Args:
        scores: any finite numbers; NaN means that the item is not in the list.

    Returns:
        One rank each, infinite where the item is not in the list. Equal scores share the better rank, so that the
        order of the input never decides.
    """
    values = np.asarray(scores, np.float64)
    result = np.full(values.shape, np.inf)
    listed = np.flatnonzero(~np.isnan(values))
    ordered = np.sort(-values[listed])
    result[listed] = np.searchsorted(ordered, -values[listed], side="left") + 1.0
    return result


def fuse_ranks(lists: Mapping[str, Ranks], weights: Mapping[str, float], k: float) -> Scores:
    """Weighted reciprocal rank fusion: sum over lists of w / (k + rank) (E9.2.2, C25), scaled to 0..1.

    Args:
        lists: ranks by list; all of one length.
        weights: weight by list, 0 or more; a list without a weight counts nothing.
        k: the constant, above 0; 60 by default (Cormack, Clarke and Buettcher 2009).

    Returns:
        One score each; 1 for an item that leads every list that has a weight.
    """
    length = next(iter(lists.values())).size if lists else 0
    total = np.zeros(length)
    best = 0.0
    for name, places in lists.items():
        weight = weights.get(name, 0.0)
        total += weight / (k + places)
        best += weight / (k + 1.0)
    return total / best if best > 0 else total


def evidence_score(cosine: Scores, coverage: Scores, cosine_weight: float) -> Scores:
    """How strongly an item answers, before any ranking: the weighted cosine and the coverage.

    Args:
        cosine: -1 to 1; below 0 counts as 0.
        coverage: 0 to 1.
        cosine_weight: what a cosine of 1 is worth beside a coverage of 1.

    Returns:
        0 to `cosine_weight` + 1.
    """
    return cosine_weight * np.clip(cosine, 0.0, 1.0) + coverage


def blend_weights(text_weight: float) -> tuple[float, float]:
    """What meaning and words are worth under a text weight (E35.2); at one half both are as the profile has them.

    Args:
        text_weight: 0 (meaning alone) to 1 (words alone).

    Returns:
        Factors of meaning and of words, 0 to 2; together 2.
    """
    return 2.0 * (1.0 - text_weight), 2.0 * text_weight


def substance_factor(asks: NDArray[np.bool_], size: Scores, asking: float, saying: float) -> Scores:
    """What the form of a message tells of it as an answer: one that only asks seldom answers, a longer one says more.

    Our own, fitted on conversations written for it (`tests/bench/heldout/conversations`); where the fit is taken from
    either of two quite different sets of conversations, it helps on the other.

    Args:
        asks: whether it ends in a question.
        size: bytes of its text; below 0 for what is no message but knowledge, which counts as a rich one.
        asking: what asking takes away.
        saying: what a size of e times the usual adds.

    Returns:
        What to add to the evidence, about -0.3 to 0.2.
    """
    ratio = np.log(np.clip(np.where(size < 0, MOST_BYTES, size), 8.0, MOST_BYTES) / USUAL_BYTES)
    return np.asarray(saying * ratio - np.where(asks & (size >= 0), asking, 0.0), np.float64)


def may_spread(value: float, weight: float) -> bool:
    """Whether activation leads on over a link at all: else the link need not be looked up.

    Args:
        value: of the node it leads away from, 0 to 1.
        weight: of the link, 0 to 1.
    """
    return value * min(max(weight, 0.0), 1.0) * HOP_DECAY >= LEAST


def spread_activation(
    seeds: Mapping[int, float], links_of: Callable[[Mapping[int, float]], Links], hops: int
) -> dict[int, float]:
    """Spread activation: level x weight x 0.6 a hop, the greatest counts and never the sum (E5.1.2).

    Args:
        seeds: node to activation, 0 to 1.
        links_of: the links that lead away from some nodes, given with their activation; called once a hop. Those over
            which nothing `may_spread` may be left out.
        hops: how far, 0 or more.

    Returns:
        Node to activation, seeds included, nothing under `LEAST`.
    """
    level = {node: value for node, value in seeds.items() if value >= LEAST}
    front = dict(level)
    for _ in range(hops):
        if not front:
            break
        reached: dict[int, float] = {}
        for start, end, weight in links_of(front):
            given = front[start] * min(max(weight, 0.0), 1.0) * HOP_DECAY
            if given >= LEAST and given > level.get(end, 0.0):
                reached[end] = max(given, reached.get(end, 0.0))
        level.update(reached)
        front = reached
    return level


def time_proximity(at_ms: ArrayLike, from_ms: int, to_ms: int) -> Values:
    """exp(-d^2 / (2 sigma^2)), d from the middle of the range, sigma half the range and at least six hours (E39.2).

    What was said within some days after the range counts too: at most one half, halved again each `TOLD_LATER_DAYS`.

    Args:
        at_ms: when memories were said or happened, epoch ms.
        from_ms: first moment of the range.
        to_ms: first moment after it.

    Returns:
        0 to 1 each; 1 in the middle of the range.
    """
    at = np.asarray(at_ms, np.float64)
    middle, half_h = (from_ms + to_ms) / 2.0, (to_ms - from_ms) / 2.0 / _HOUR_MS
    sigma = max(LEAST_SIGMA_H, half_h)
    near = np.exp(-0.5 * np.square(np.minimum(np.abs(at - middle) / _HOUR_MS / sigma, 40.0)))
    if half_h > OPEN_H:
        # "Until May" has its middle centuries ago: all of it is as near, and what lies outside soon is not.
        outside_h = np.maximum(np.maximum(from_ms - at, at - to_ms), 0.0) / _HOUR_MS
        near = np.exp(-0.5 * np.square(np.minimum(outside_h / OPEN_SIGMA_H, 40.0)))
    days_after = (at - to_ms) / _DAY_MS
    later = np.where(days_after >= 0, 0.5 * np.exp2(-np.clip(days_after, 0.0, 3000.0) / TOLD_LATER_DAYS), 0.0)
    return np.asarray(np.maximum(near, later), np.float64)


def redundancy(cosines: Values, near: float) -> Values:
    """How much two memories say the same: 0 up to a cosine of `near`, 1 at a cosine of 1.

    Two messages of one talk are always somewhat alike; only what lies above that is repetition.

    Args:
        cosines: -1 to 1.
        near: the cosine from which likeness counts, below 1.

    Returns:
        0 to 1, of the same shape.
    """
    return np.asarray(np.clip((cosines - near) / (1.0 - near), 0.0, 1.0), np.float64)


def diversify(scores: Values, alike: Values, trade: float) -> tuple[tuple[int, ...], Values, Values]:
    """Choose one after the other: the greatest score x (1 - (1 - trade) x likeness to what is chosen already).

    The form is multiplicative (our choice for E35.1 and X2): scores keep their scale, and what is chosen later never
    has a greater value, so that sorting by the values gives the order again.

    Args:
        scores: 0 to 1, best first; equal scores keep their order.
        alike: likeness of each pair, 0 to 1, square.
        trade: lambda; 1 keeps the order, 0 puts every repetition last.

    Returns:
        The order; the value of each by its place in `scores`; its greatest likeness to what was chosen before it.
    """
    count = scores.size
    if not (alike > np.eye(count)).any():  # nothing repeats anything, which is usual
        ordered = np.argsort(-scores, kind="stable")
        return tuple(ordered.tolist()), scores.astype(np.float64).copy(), np.zeros(count)
    order: list[int] = []
    values, most = scores.astype(np.float64).copy(), np.zeros(count)
    open_places = np.ones(count, np.bool_)
    for _ in range(count):
        now = np.where(open_places, scores * (1.0 - (1.0 - trade) * most), -1.0)
        best = int(np.argmax(now))
        order.append(best)
        values[best] = now[best]
        open_places[best] = False
        most = np.where(open_places, np.maximum(most, alike[best]), most)
    return tuple(order), values, most


def recency_score(now_ms: int, at_ms: ArrayLike, half_life_days: float) -> Values:
    """How new something is: 2 ** (-age / half-life) (seed B; half-lives of the seeds are in the profiles).

    Args:
        at_ms: when it was said or happened, epoch ms; a future time counts as now.
        half_life_days: days, above 0.

    Returns:
        0 to 1.
    """
    age_days = np.maximum(0.0, (now_ms - np.asarray(at_ms, np.float64)) / _DAY_MS)
    return np.asarray(np.exp2(-np.minimum(age_days / half_life_days, 1000.0)), np.float64)


def utility_score(reinforcements: ArrayLike, disputes: ArrayLike, accesses: ArrayLike) -> Values:
    """How useful it proved: clamp01(0.5 + 0.1 r - 0.1 d + 0.05 ln(1 + accesses)) (E7, settled gap).

    Args:
        reinforcements: positive feedback, 0 or more.
        disputes: negative feedback, 0 or more.
        accesses: how often it was recalled, 0 or more.

    Returns:
        0 to 1.
    """
    told = 0.1 * (np.asarray(reinforcements, np.float64) - np.asarray(disputes, np.float64))
    used = 0.05 * np.log1p(np.asarray(accesses, np.float64))
    return np.asarray(np.clip(0.5 + told + used, 0.0, 1.0), np.float64)


def side_multiplier(signals: SideSignals, weights: SideWeights, bound: float) -> Values:
    """The factor by which the side signals change a memory's relevance.

    Each signal of 0..1 pulls down or up in proportion to its weight; together they stay within the bound, so an item
    whose relevance is more than (1 + bound) / (1 - bound) times another's always stands above it.

    Args:
        signals: the four signals.
        weights: their shares.
        bound: 0 to 1.
    """
    if weights.total <= 0:
        return np.ones_like(signals.confidence)
    pull = (
        weights.confidence * (2 * signals.confidence - 1)
        + weights.recency * (2 * signals.recency - 1)
        + weights.importance * (2 * signals.importance - 1)
        + weights.utility * (2 * signals.utility - 1)
    ) / weights.total
    return 1.0 + bound * pull


def replay_ranking(trace: Trace) -> tuple[tuple[str, float], ...]:
    """Rank the candidates of a trace again.

    From each candidate's ranks and evidence, its side signals and the weights: weighted reciprocal rank fusion, the
    share of the evidence, the bounded factor, the repetition; ties newer first, then by id.

    Args:
        trace: of a recall.

    Returns:
        Id and score of every candidate that could be returned, best first, before anything was folded or cut.
    """
    ranked = [candidate for candidate in trace.candidates if candidate.rank is not None]
    if not ranked:
        return ()
    scores = np.round(_recompute_scores(trace, ranked), _DIGITS)
    trade = trace.weights["trade"]
    repeats = np.array([candidate.diversity or 0.0 for candidate in ranked])
    final = np.round(scores * (1.0 - (1.0 - trade) * repeats), _DIGITS)
    keys = [
        (-value, -candidate.recorded_at, candidate.id, value)
        for value, candidate in zip(final.tolist(), ranked, strict=True)
    ]
    return tuple((key[2], key[3]) for key in sorted(keys))


def replay_answer(trace: Trace) -> tuple[tuple[str, float], ...]:
    """The answer again: the order, each duplicate and source folded into what stands for it, cut where it was cut.

    Args:
        trace: of a recall.

    Returns:
        Id and score of every item of the answer, best first. An item has the score of the best it stands for.
    """
    stands_for = {one.id: one.because for one in trace.candidates if one.dropped == "duplicate"}
    shown = {one.id for one in trace.candidates if one.place is not None}
    best: dict[str, float] = {}
    for memory_id, score in replay_ranking(trace):
        item = stands_for.get(memory_id, memory_id)
        best[item] = max(score, best.get(item, 0.0))
    return tuple((item, score) for item, score in best.items() if item in shown)


@cache
def silence_model() -> SilenceModel:
    """The model that ships for telling when a recall should answer nothing; read once."""
    data = json.loads((files("resources") / "recall" / "silence.json").read_text("utf-8"))
    signs = {name: (one["mean"], one["spread"], one["weight"]) for name, one in data["signs"].items()}
    return SilenceModel(float(data["intercept"]), signs)


def answer_probability(signs: Mapping[str, float], model: SilenceModel | None = None) -> float:
    """How likely any memory in reach answers the question.

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
        mode: `semantic` (cosine only), else coverage only.
        in_scope: memories searched, 0 or more.

    Returns:
        A threshold on `core.score.ranking.evidence_score`.
    """
    if mode != "semantic":
        return profile.keyword_bar
    return min(profile.bar_cap, profile.bar_base + profile.bar_slope * math.log(max(1, in_scope)))


def _recompute_scores(trace: Trace, ranked: Sequence[TracedCandidate]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    weights = trace.weights
    lists = {name.removeprefix("list."): value for name, value in weights.items() if name.startswith("list.")}
    places = {
        name: np.array([float(candidate.lists[name][0]) if name in candidate.lists else np.inf for candidate in ranked])
        for name in lists
    }
    evidence = np.array([candidate.evidence for candidate in ranked])
    share = np.clip(evidence / weights["strongest"], 0.0, 1.0)
    relevance = weights["strength"] * share + (1.0 - weights["strength"]) * fuse_ranks(places, lists, weights["rrf_k"])
    names = ("confidence", "recency", "importance", "utility")
    sides = SideSignals(*(np.array([candidate.signals[name] for candidate in ranked]) for name in names))
    factor = side_multiplier(sides, SideWeights(*(weights[f"side.{name}"] for name in names)), weights["side_bound"])
    return np.asarray(np.clip(relevance * factor, 0.0, 1.0), np.float64)


def _lead_of_first(ordered: Values) -> float:
    """How far the first stands above the mean of the nine behind it."""
    if ordered.size == 0:
        return 0.0
    return float(ordered[0] - ordered[_NEXT].mean()) if ordered.size > 1 else float(ordered[0])
