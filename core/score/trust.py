"""How far things are believed, from evidence: a memory term by term, a claim, a rule by how it served, a relation.

The terms of a memory's trust are kept apart so that the inspector can draw the sum (design section 4, seeds A, C). A
relation model learns from pairs that belong together; in a vault of thousands the nearest memories of a newcomer are
mostly unrelated, so its answers are weighed with how many of those are to be expected. Must not do: read rows or a
clock, know why a piece of evidence weighs what it weighs, or decide what happens at a low trust (the gate does).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

import numpy as np

from core.types.belief import Label, Relation
from core.types.values import Source

HARM_WEIGHT, SMOOTHING = 4, 0.01
"""A harmful mark weighs four helpful ones; a little keeps the division whole."""
ESTABLISHED_USES, ESTABLISHED_FROM = 5, 0.6
PROVEN_USES, PROVEN_FROM, PROVEN_DAYS = 15, 0.8, 30.0
INVERTED_HARM, INVERTED_BELOW = 3, 0.3
ANTI_PATTERN = "anti_pattern"
"""The word for the maturity of a rule that was turned into its opposite."""
PENALTY = 0.5
"""How much a contradiction takes off (seed C 7.7)."""
SOURCE_WEIGHT: Mapping[Source, float] = MappingProxyType(
    {
        Source.USER_EXPLICIT: 1.0,
        Source.SYSTEM: 0.95,
        Source.TOOL_OUTPUT: 0.85,
        Source.USER_IMPLICIT: 0.7,
        Source.DOCUMENT: 0.6,
        Source.INFERENCE: 0.5,
    }
)
"""Weight of the way a memory came (seed A, provenance)."""
_STEP, _CORROBORATION_CAP = 0.05, 0.2
SURE_END = 0.6
"""Our choice: from this share of `end_shares` a statement ends where words tell that it may, and else is noted."""
_FEEDBACK = 0.15
_AGE_CAP, _AGE_DAYS = 0.1, 365.0


@dataclass(frozen=True, slots=True)
class ChanceModel:
    """How cosines of unrelated texts thin out upwards, for one embedder: `share * exp(-fall * (cosine - at))`.

    Attributes:
        share: of unrelated pairs are at least as near as `at`.
        at: that cosine.
        fall: how fast they become fewer.
    """

    share: float
    at: float
    fall: float


MINILM = ChanceModel(share=0.074, at=0.2, fall=17.8)
"""All-MiniLM-L6-v2, over 490,000 pairs of notes of the project's own training set that do not belong together."""


class Maturity(StrEnum):
    """How far a rule has come."""

    CANDIDATE = "candidate"
    ESTABLISHED = "established"
    PROVEN = "proven"


@dataclass(frozen=True, slots=True)
class WeighedEvidence:
    """One piece of evidence.

    Attributes:
        lineage: its independent source; pieces of one lineage are one source.
        weight: how sure the reading is times how far its memory is trusted, 0 to 1.
        supports: whether it speaks for the claim; else against it.
    """

    lineage: str
    weight: float
    supports: bool = True


@dataclass(frozen=True, slots=True)
class TrustTerms:
    """The waterfall of one trust value.

    Attributes:
        source: weight of the way, 0.5 to 1.
        corroboration: what independent sources add, 0 to 0.2.
        feedback: what reinforcements and disputes add, -0.15 to 0.15.
        age: what age takes, -0.1 to 0.
        ancestors: the lowest trust it was derived from, when that was lower than the sum; else None.
        ceiling: the client's ceiling, when that was lower than all else; else None.
        trust: the result, 0 to 1.
    """

    source: float
    corroboration: float
    feedback: float
    age: float
    ancestors: float | None
    ceiling: float | None
    trust: float

    def list_terms(self) -> tuple[tuple[str, float], ...]:
        """The terms in the order in which they are drawn.

        Returns:
            Name and value: the four summands, then what lowered their sum (only where something did), then `trust`.
        """
        lowered = (("ancestors", self.ancestors), ("ceiling", self.ceiling))
        return (
            ("source", self.source),
            ("corroboration", self.corroboration),
            ("feedback", self.feedback),
            ("age", self.age),
            *((name, value) for name, value in lowered if value is not None),
            ("trust", self.trust),
        )


def expected_chance_neighbours(cosine: float, others: int, known: ChanceModel = MINILM) -> float:
    """How many unrelated memories are at least as near.

    Args:
        cosine: how near, -1 to 1.
        others: how many memories there are.
        known: the embedder's.

    Returns:
        0 or more; at most `others`.
    """
    return max(0, others) * min(1.0, known.share * math.exp(-known.fall * (cosine - known.at)))


def relevance_probability(cosine: float, others: int, known: ChanceModel = MINILM) -> float:
    """Probability that a memory is near because it is related, and not by chance.

    Args:
        cosine: how near, -1 to 1.
        others: how many memories it was picked from.
        known: the embedder's.

    Returns:
        Above 0, up to 1.
    """
    return 1.0 / (1.0 + expected_chance_neighbours(cosine, others, known))


def discount_chance(relation: Relation, cosine: float, others: int, known: ChanceModel = MINILM) -> Relation:
    """A relation with the share that is due to chance given to COEXIST.

    Args:
        relation: what the model says of a pair that belongs together.
        cosine: how near the two are.
        others: how many memories it was picked from.
        known: the embedder's.

    Returns:
        The relation; its probabilities sum to 1 as before. With few memories hardly anything changes.
    """
    belongs = relevance_probability(cosine, others, known)
    shares: Mapping[Label, float] = {
        label: belongs * share + (1.0 - belongs if label is Label.COEXIST else 0.0)
        for label, share in relation.probabilities.items()
    }
    label = max(shares, key=lambda one: (shares[one], one is relation.label))
    confidence = relation.confidence * belongs if label is relation.label is not Label.COEXIST else shares[label]
    if label is relation.label is Label.COEXIST:
        confidence = belongs * relation.confidence + 1.0 - belongs
    return Relation(label, confidence, shares, relation.by, relation.reason)


def end_shares(odds: Mapping[str, float]) -> dict[str, float]:
    """How likely a newcomer ends each of the memories near it, weighed against each other and against none of them.

    Args:
        odds: by memory, the log odds that it is ended, beside 0 for none (`Relation.ends`).

    Returns:
        0 to 1 each; with the share of none they sum to 1.
    """
    most = max(0.0, *odds.values()) if odds else 0.0
    parts = {name: math.exp(each - most) for name, each in odds.items()}
    whole = math.exp(-most) + sum(parts.values())
    return {name: part / whole for name, part in parts.items()}


def helpful_effectiveness(helpful: int, harmful: int) -> float:
    """Effectiveness after a helpful mark (seed B, mark helpful): successes over applications.

    Args:
        helpful: helpful marks, this one included; 0 or more.
        harmful: harmful marks, 0 or more.

    Returns:
        0 to 1; 0 for a rule that was never applied.
    """
    applied = helpful + harmful
    return helpful / applied if applied else 0.0


def harmful_effectiveness(helpful: int, harmful: int) -> float:
    """Effectiveness after a harmful mark (seed B, mark harmful): helpful / (helpful + 4 · harmful + 0.01).

    Args:
        helpful: helpful marks, 0 or more.
        harmful: harmful marks, this one included; 0 or more.

    Returns:
        0 to 1.
    """
    return helpful / (helpful + HARM_WEIGHT * harmful + SMOOTHING)


def promote_maturity(maturity: Maturity, helpful: int, effectiveness: float, age_days: float) -> Maturity:
    """The maturity after a helpful mark (seed B, rule promotion): at most one step up.

    Args:
        effectiveness: 0 to 1.
        age_days: days since the rule was stored, 0 or more.

    Returns:
        The same or the next one.
    """
    if maturity is Maturity.CANDIDATE and helpful >= ESTABLISHED_USES and effectiveness >= ESTABLISHED_FROM:
        return Maturity.ESTABLISHED
    is_proven = helpful >= PROVEN_USES and effectiveness >= PROVEN_FROM and age_days >= PROVEN_DAYS
    return Maturity.PROVEN if maturity is Maturity.ESTABLISHED and is_proven else maturity


def demote_maturity(maturity: Maturity, effectiveness: float) -> Maturity:
    """The maturity after a harmful mark (seed B, rule demotion): at most one step down.

    Args:
        effectiveness: 0 to 1.

    Returns:
        The same or the one below.
    """
    if maturity is Maturity.PROVEN and effectiveness < PROVEN_FROM:
        return Maturity.ESTABLISHED
    if maturity is Maturity.ESTABLISHED and effectiveness < ESTABLISHED_FROM:
        return Maturity.CANDIDATE
    return maturity


def needs_inversion(harmful: int, effectiveness: float) -> bool:
    """Whether a rule shall be turned into an anti-pattern (seed B, anti-pattern inversion trigger).

    Args:
        harmful: harmful marks, 0 or more.
        effectiveness: after a harmful mark, 0 to 1.

    Returns:
        True from three harmful marks on, where the effectiveness is below 0.3.
    """
    return harmful >= INVERTED_HARM and effectiveness < INVERTED_BELOW


def running_average(average: int, count: int, value: int) -> int:
    """The average over one more value (E3.14).

    Args:
        average: over `count` values, 0 or more.
        count: 0 or more.
        value: the new one, 0 or more.

    Returns:
        The rounded average over all of them.
    """
    return round((average * count + value) / (count + 1))


def claim_confidence(evidence: Iterable[WeighedEvidence]) -> float:
    """Noisy-OR over lineage clusters, less half of what speaks against the claim.

    `max(0, 1 - prod(1 - w_c) - 0.5 * sum(w_d))`, where `w_c` is the strongest supporting weight of a cluster and `w_d`
    the strongest contradicting one (seed C 7.7; a cluster counts once, design section 4).

    Args:
        evidence: any number of pieces, in any order.

    Returns:
        0 to 1; 0 without support.
    """
    support: dict[str, float] = {}
    against: dict[str, float] = {}
    for piece in evidence:
        side = support if piece.supports else against
        weight = min(1.0, max(0.0, piece.weight))
        side[piece.lineage] = max(weight, side.get(piece.lineage, 0.0))
    doubt = 1.0
    for weight in sorted(support.values()):
        doubt *= 1.0 - weight
    return min(1.0, max(0.0, (1.0 - doubt) - PENALTY * sum(sorted(against.values()))))


def trust_terms(
    source: Source,
    *,
    corroboration: int = 1,
    reinforcements: int = 0,
    disputes: int = 0,
    age_days: float = 0.0,
    ancestor_minimum: float | None = None,
    client_ceiling: float | None = None,
) -> TrustTerms:
    """Work out a memory's trust.

    clamp01(W + min(0.2, 0.05 (c-1)) + 0.15 (r-d)/(r+d) - min(0.1, 0.1 age/365)), then the minimum over what it was
    derived from, then the client's ceiling (design section 4; seed A, trust score formula).

    Args:
        source: by what way it came.
        corroboration: independent sources, itself included, 1 or more.
        reinforcements: how often it was confirmed.
        disputes: how often it was disputed.
        age_days: days since it was said, or since a person last confirmed it if that is later; negative counts as 0.
        ancestor_minimum: the lowest trust of the memories it was derived from; None where there are none.
        client_ceiling: the client's ceiling; None for the owner.
    """
    weight = SOURCE_WEIGHT[source]
    confirmed = min(_CORROBORATION_CAP, _STEP * max(0, corroboration - 1))
    told = reinforcements + disputes
    feedback = _FEEDBACK * (reinforcements - disputes) / told if told else 0.0
    aged = 0.0 - min(_AGE_CAP, _AGE_CAP * max(0.0, age_days) / _AGE_DAYS)
    value = min(1.0, max(0.0, weight + confirmed + feedback + aged))
    inherited = ancestor_minimum if ancestor_minimum is not None and ancestor_minimum < value else None
    value = value if inherited is None else max(0.0, inherited)
    capped = client_ceiling if client_ceiling is not None and client_ceiling < value else None
    value = value if capped is None else max(0.0, capped)
    return TrustTerms(weight, confirmed, feedback, aged, inherited, capped, value)


def age_days(now_ms: int, since_ms: int | None) -> float:
    """Days from one moment to another, 0 where the clock was set back.

    Args:
        since_ms: epoch ms; None where unknown, which counts as no age.

    Returns:
        Days, 0 or more.
    """
    return 0.0 if since_ms is None else max(0, now_ms - since_ms) / 86_400_000


_STRENGTH_LEAST = 1e-9


def mean_confidence(confidences: Sequence[float], strengths: Sequence[float]) -> float:
    """How sure a digest is (C8): the mean of its members' confidences, weighted with their strengths.

    Args:
        confidences: of the members, 0 to 1 each.
        strengths: of the members, 0 or more each; where all are 0 every member counts alike.

    Returns:
        0 to 1, between the least and the greatest of the confidences.

    Raises:
        ValueError: no members, or lists of two lengths.
    """
    if not confidences or len(confidences) != len(strengths):
        raise ValueError("one strength for each of at least one confidence")
    weights = np.maximum(np.asarray(strengths, float), 0.0)
    if float(weights.sum()) <= _STRENGTH_LEAST:
        weights = np.ones(len(confidences))
    mean = float(np.average(np.asarray(confidences, float), weights=weights))
    return min(max(confidences), max(min(confidences), mean))
