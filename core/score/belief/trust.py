"""How far a memory is trusted, term by term, and how sure a claim is, from its evidence (design section 4, seeds A, C).

The terms are kept apart so that the inspector can draw the sum. Must not do: read rows, know why a piece of evidence
weighs what it weighs, or decide what happens at a low trust (that is the gate's work).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from core.types.values import Source

PENALTY = 0.5
"""How much a contradiction takes off (seed C 7.7)."""


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
_FEEDBACK = 0.15
_AGE_CAP, _AGE_DAYS = 0.1, 365.0


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

    def waterfall(self) -> tuple[tuple[str, float], ...]:
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

    Returns:
        The terms and the trust.
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
