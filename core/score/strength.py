"""How firmly a memory is remembered: its strength, which fades with time and holds longer the more it is used.

Strength is not confidence: a firmly remembered memory may be wrong (design section 6). Must not do: judge what happens
to a weak memory; that is the lifecycle's work.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]

BASE_TAU_DAYS = 30.0
"""Days after which a memory that was never used has faded to 1/e. The plan gives BASE_TAU no value: our choice."""
SPACING = 0.3
"""What distinct sessions add, times the logarithm of their number (E4.4.1)."""
_DAY_MS = 86_400_000


def initial_strength(importance: ArrayLike) -> Values:
    """Where a memory's strength begins: clamp(0.5 + 0.5 importance).

    The plan speaks of an initial strength "from importance" and gives no formula: this one is our choice.

    Args:
        importance: 0 to 1.

    Returns:
        0.5 to 1.
    """
    return np.asarray(np.clip(0.5 + 0.5 * np.asarray(importance, np.float64), 0.0, 1.0), np.float64)


def strength_of(
    now_ms: int,
    *,
    importance: ArrayLike,
    recorded_at: ArrayLike,
    last_accessed_at: ArrayLike,
    access_count: ArrayLike,
    sessions: ArrayLike,
    pinned: ArrayLike,
) -> Values:
    """Strength as it is shown (E4.4.1 with settlements C14 and C15).

    S = S0 exp(-t / tau) (1 + 0.3 ln n_s), tau = BASE_TAU (1 + ln n); n and n_s count at least 1, so that a memory that
    was never used fades like one that was used once. t counts from the later of storing and the last access, never
    from when it was said. The sum may pass S0 and is capped at 1; what is pinned does not fade.

    Args:
        now_ms: the present, epoch ms.
        importance: 0 to 1, one number a memory; so are the others.
        recorded_at: when Loci learned it, epoch ms.
        last_accessed_at: when it was last recalled, epoch ms; NaN where never.
        access_count: how often it was recalled, 0 or more.
        sessions: in how many distinct sessions it was recalled, 0 or more.
        pinned: whether it is pinned.

    Returns:
        0 to 1, one number a memory.
    """
    since = np.fmax(np.asarray(recorded_at, np.float64), np.asarray(last_accessed_at, np.float64))
    days = np.maximum(0.0, now_ms - since) / _DAY_MS
    used = np.log(np.maximum(1.0, np.asarray(access_count, np.float64)))
    spread = np.log(np.maximum(1.0, np.asarray(sessions, np.float64)))
    value = initial_strength(importance) * np.exp(-days / (BASE_TAU_DAYS * (1.0 + used))) * (1.0 + SPACING * spread)
    return np.asarray(np.where(np.asarray(pinned, np.bool_), 1.0, np.minimum(1.0, value)), np.float64)
