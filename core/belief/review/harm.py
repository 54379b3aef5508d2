"""How much an open question of the desk could do: the order of the review queue (design section 4).

Harm = how often recalled x how opposed x how new. Must not do: read a row, or close one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

OPPOSED: Mapping[str, float] = MappingProxyType(
    {
        "contradiction": 1.0,
        "injection": 0.9,
        "approval": 0.7,
        "quarantine": 0.6,
        "classification": 0.5,
        "entity_merge": 0.4,
        "proposal": 0.4,
        "stale": 0.3,
        "gap": 0.2,
    }
)
"""How far two memories of a kind of item are against each other at most, 0 to 1. The design gives the order of the
kinds only by their names: these figures are our choice."""

FADES_DAYS = 30.0
"""Days after which an open item counts half as new; our choice."""

LOW = 0.3
"""Below it an old item may close by itself: what nobody was given in ninety days lies there; our choice."""

_UNWEIGHED = 0.5
_DAY_MS = 86_400_000


def opposition(kind: str, confidence: float | None) -> float:
    """How far the two memories of an item are against each other.

    Args:
        kind: a kind of `conflicts.kind`; an unknown one counts least.
        confidence: how sure it is that they do not go together, 0 to 1; None where nothing was weighed.

    Returns:
        Above 0, at most 1.
    """
    most = OPPOSED.get(kind, min(OPPOSED.values()))
    sure = _UNWEIGHED if confidence is None else min(1.0, max(0.0, confidence))
    return most * (0.5 + 0.5 * sure)


def novelty(age_days: float) -> float:
    """How new an item is.

    Args:
        age_days: days since it was opened; a negative age counts as 0.

    Returns:
        1 at first, half of it after `FADES_DAYS`, never 0.
    """
    return 1.0 / (1.0 + max(0.0, age_days) / FADES_DAYS)


def harm_score(recalled: int, opposition: float, age_days: float) -> float:
    """Work out the place of an item: (1 + ln(1 + recalled)) opposed newness (design section 4; peers, rule c).

    The logarithm keeps one much-used memory from burying everything else; the 1 keeps what was never recalled in order.

    Args:
        recalled: how often either memory was given to somebody, 0 or more.
        opposition: from `opposition`, 0 to 1.
        age_days: days since the item was opened.

    Returns:
        0 or more; higher comes first.
    """
    return (1.0 + math.log1p(max(0, recalled))) * min(1.0, max(0.0, opposition)) * novelty(age_days)


def age_days(now_ms: int, since_ms: int) -> float:
    """Days from one moment to another, 0 where the clock was set back.

    Args:
        since_ms: epoch ms.

    Returns:
        0 or more.
    """
    return max(0, now_ms - since_ms) / _DAY_MS
