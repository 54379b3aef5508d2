"""How good an answer is whose evidence is known: recall of turns and of sessions, reciprocal rank, NDCG. All pure.

References look like `SESSION:TURN`. Must not do: read a data set, or know how an answer was found.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def turn_recall(found: Sequence[str], evidence: Sequence[str], k: int = 10) -> float:
    """Share of the evidence among the first k references.

    Args:
        found: references in recall order.
        evidence: references that hold the answer, each once, at least one.
        k: how many count.

    Returns:
        0 to 1.
    """
    first = set(found[:k])
    return sum(ref in first for ref in evidence) / len(evidence)


def session_recall(found: Sequence[str], evidence: Sequence[str], k: int = 10) -> float:
    """Share of the evidence's sessions among the first k distinct sessions.

    Args:
        found: references in recall order.
        evidence: references that hold the answer, at least one.
        k: how many distinct sessions count.

    Returns:
        0 to 1.
    """
    first = set(list(dict.fromkeys(_session(ref) for ref in found))[:k])
    wanted = {_session(ref) for ref in evidence}
    return len(wanted & first) / len(wanted)


def reciprocal_rank(found: Sequence[str], evidence: Sequence[str]) -> float:
    """One over the place of the first evidence; its mean over questions is MRR.

    Args:
        found: references in recall order.
        evidence: references that hold the answer.

    Returns:
        0 where none was found, else above 0 to 1.
    """
    wanted = set(evidence)
    return next((1.0 / place for place, ref in enumerate(found, 1) if ref in wanted), 0.0)


def binary_ndcg(found: Sequence[str], evidence: Sequence[str], k: int = 10) -> float:
    """NDCG of the first k where a reference is evidence or not: sum of 1 / log2(place + 1) over the best there can be.

    The formula is that of E5.3.2, place counted from 1. Other than there, the best order holds all evidence, also what
    was not found: an answer must not look better for what it leaves out.

    Args:
        found: references in recall order, each once.
        evidence: references that hold the answer, each once, at least one.
        k: how many count, 1 or more.

    Returns:
        0 to 1.
    """
    wanted = set(evidence)
    gained = math.fsum(_worth(place) for place, ref in enumerate(found[:k], 1) if ref in wanted)
    return gained / math.fsum(_worth(place) for place in range(1, min(k, len(wanted)) + 1))


def _worth(place: int) -> float:
    return 1.0 / math.log2(place + 1)


def _session(ref: str) -> str:
    return ref.split(":")[0]
