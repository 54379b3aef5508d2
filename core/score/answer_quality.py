"""How good an answer was: mean relevancy, NDCG, and the health of the last answers. All pure.

Must not do: read a vault, or grade an order by what made it (C23).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.types.recall import Metrics, Trace, TracedCandidate

POOR_IN_A_ROW = 10
"""So many poor answers one after another put the embedder in doubt (E5.3.4)."""

GRADES: Mapping[str, float] = {"helpful": 1.0, "irrelevant": 0.0, "corrected": 0.0, "harmful": 0.0}
"""What an explicit feedback says about a result."""


@dataclass(frozen=True, slots=True)
class AnswerHealth:
    """The health of the last answers.

    Attributes:
        average_relevancy: mean; None where there is no answer.
        ndcg: mean; None where there is none.
        ndcg_before: mean; None where there is none.
        poor_run: how many of the newest in a row are poor.
    """

    average_relevancy: float | None
    ndcg: float | None
    ndcg_before: float | None
    poor_run: int


def average_relevancy(cosines: Sequence[float]) -> float:
    """Mean cosine of what is shown to the question (E5.3.3, settled by C22); 0 for an empty answer.

    Args:
        cosines: -1 to 1 each; below 0 counts as 0.

    Returns:
        0 to 1.
    """
    return math.fsum(_clamp_to_unit(one) for one in cosines) / len(cosines) if cosines else 0.0


def ndcg(grades: Sequence[float]) -> float:
    """Normalised discounted cumulative gain (E5.3.2): sum of rel_i / log2(i + 2), i from 0, over the best order's.

    Args:
        grades: how good each result is, in the order shown; 0 to 1 each.

    Returns:
        0 to 1; 0 for an empty list or one without any grade above 0.
    """
    ideal = _discounted_gain(sorted(grades, reverse=True))
    return min(1.0, _discounted_gain(grades) / ideal) if ideal > 0 else 0.0


def answer_metrics(
    trace: Trace, *, tokens: int, took_ms: float, feedback: Mapping[str, str] | None = None, packed: int | None = None
) -> Metrics:
    """The eight figures of one answer (E5.3.1).

    Args:
        tokens: of all that is shown.
        took_ms: milliseconds.
        feedback: memory to what was said of it in such a context, a key of `GRADES`.
        packed: how many memories were handed on, where that is less than the answer (a context).

    Returns:
        The figures; grades are feedback where there is some, else cosine, so they do not follow the order they judge.
    """
    shown = sorted((one for one in trace.candidates if one.place is not None), key=lambda one: one.place or 0)
    cosines = [cosine for one in shown if (cosine := _cosine_of(one)) is not None]
    grades = {one.id: _grade_of(one, feedback or {}) for one in shown}
    before = sorted(shown, key=lambda one: (-one.relevance, -one.recorded_at, one.id))
    return Metrics(
        average_relevancy=average_relevancy(cosines),
        ndcg=ndcg([grades[one.id] for one in shown]),
        ndcg_before=ndcg([grades[one.id] for one in before]),
        candidates_after_filter=int(trace.stages.get("after_duplicates", len(shown))),
        memories_packed=len(shown) if packed is None else packed,
        tokens_consumed=tokens,
        search_latency_ms=took_ms,
        rerank_applied=trace.rerank,
        hybrid_text_weight=trace.plan.text_weight,
        graded=bool(cosines) or any(one.id in (feedback or {}) for one in shown),
    )


def answer_health(answers: Sequence[Metrics], poor_below: float) -> AnswerHealth:
    """The health of the last answers.

    Args:
        answers: newest first; empty and ungraded ones are left out (C22).
        poor_below: a mean relevancy under this is poor.

    Returns:
        Means over all, and how many of the newest are poor in a row.
    """
    counted = [one for one in answers if one.memories_packed > 0 and one.graded]
    if not counted:
        return AnswerHealth(None, None, None, 0)
    poor = [one.average_relevancy < poor_below for one in counted]
    return AnswerHealth(
        _mean_of([one.average_relevancy for one in counted]),
        _mean_of([one.ndcg for one in counted]),
        _mean_of([one.ndcg_before for one in counted]),
        poor.index(False) if False in poor else len(poor),
    )


def rank_percentile(values: Sequence[float], share: float) -> float | None:
    """The value that a share of all do not exceed, by nearest rank.

    Args:
        share: 0 to 1.

    Returns:
        One of them; None where there are none.
    """
    if not values:
        return None
    return sorted(values)[min(len(values) - 1, max(0, math.ceil(share * len(values)) - 1))]


def signal_shares(candidate: TracedCandidate, weights: Mapping[str, float]) -> dict[str, float]:
    """How much of a score each signal made, none below 0; they add up to the score.

    The multiplier 1 + b * sum(w (2 s - 1)) / sum(w) is (1 - b) + 2 b * sum(w s) / sum(w): the relevance makes the
    first part, each side signal its share of the second. Variety lowers all alike.

    Args:
        weights: names to numbers; `side_bound`, and `side.` or `sides.` before the name of each signal.

    Returns:
        `relevance` first, then the side signals.
    """
    bound = weights.get("side_bound", 0.0)
    shares = {name: _side_weight(weights, name) for name in candidate.signals}
    total = math.fsum(shares.values())
    made = {"relevance": 1.0 - bound if total > 0 else 1.0}
    for name, signal in candidate.signals.items():
        made[name] = 2.0 * bound * shares[name] * signal / total if total > 0 else 0.0
    whole = math.fsum(made.values())
    if whole <= 0:
        return {**dict.fromkeys(made, 0.0), "relevance": candidate.score}
    return {name: candidate.score * part / whole for name, part in made.items()}


def _side_weight(weights: Mapping[str, float], name: str) -> float:
    return weights.get(f"side.{name}", weights.get(f"sides.{name}", 0.0))


def _discounted_gain(grades: Sequence[float]) -> float:
    return math.fsum(grade / math.log2(at + 2) for at, grade in enumerate(grades))


def _clamp_to_unit(value: float) -> float:
    return min(1.0, max(0.0, value))


def _cosine_of(one: TracedCandidate) -> float | None:
    place = one.lists.get("vector")
    return None if place is None else place[1]


def _grade_of(one: TracedCandidate, feedback: Mapping[str, str]) -> float:
    said = GRADES.get(feedback.get(one.id, ""))
    return _clamp_to_unit(_cosine_of(one) or 0.0) if said is None else said


def _mean_of(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
