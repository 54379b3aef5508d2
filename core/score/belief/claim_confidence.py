"""How sure a claim is, from its evidence (seed C part 7.7; design section 4).

Must not do: read rows, or know why a piece of evidence weighs what it weighs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

PENALTY = 0.5
"""How much a contradiction takes off (seed C 7.7)."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """One piece of evidence.

    Attributes:
        lineage: its independent source; pieces of one lineage are one source.
        weight: how sure the reading is times how far its memory is trusted, 0 to 1.
        supports: whether it speaks for the claim; else against it.
    """

    lineage: str
    weight: float
    supports: bool = True


def claim_confidence(evidence: Iterable[Weighed]) -> float:
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
