"""How firmly a memory is remembered: strength fades with time, lasts longer with use, and grows by replay.

Strength is not confidence: a firmly remembered memory may be wrong (design section 6). Replay draws weak memories and
strengthens them (E44.2, E45.C1, X56). Must not do: read a vault, or judge what happens to a weak memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

STEP = 0.2
"""What one replay adds to where strength begins (E44.2)."""
MOVED_ABOVE, MOVED_WEIGHT = 0.6, 2.0
"""Above this arousal a memory is drawn twice as often (E45.C1)."""


def boost_after_replay(importance: ArrayLike, arousal: ArrayLike, boost: ArrayLike) -> Values:
    """The boost after one more replay: +0.2, as far as the beginning stays within 1.5 (X56).

    Args:
        importance: 0 to 1, one number a memory; so are the others.
        arousal: 0 to 1.
        boost: of earlier replays, 0 to 1.

    Returns:
        0 to 1, never below the boost given.
    """
    had = np.asarray(boost, np.float64)
    room = MOST - initial_strength(importance, arousal)
    return np.asarray(np.maximum(had, np.minimum(np.minimum(had + STEP, 1.0), room)), np.float64)


def draw_without_replacement(arousal: ArrayLike, count: int, seed: int) -> NDArray[np.int64]:
    """Draw some without putting them back, what moved twice as likely (E45.C1; Efraimidis and Spirakis 2006).

    Args:
        arousal: 0 to 1, one number a memory, in an order that does not change.
        count: how many at most.
        seed: the same seed draws the same.

    Returns:
        Places of those drawn, the first drawn first.
    """
    moved = np.asarray(arousal, np.float64)
    weights = np.where(moved > MOVED_ABOVE, MOVED_WEIGHT, 1.0)
    keys = np.log(np.maximum(np.random.default_rng(seed).random(len(weights)), np.finfo(np.float64).tiny)) / weights
    return np.asarray(np.argsort(-keys, kind="stable")[: max(0, count)], np.int64)


Values = NDArray[np.float64]

HALF_LIFE_DAYS = 30.0
"""After so many days half is left of a memory that was used once, or never (E4.4.1, settled gap)."""
BASE_TAU_DAYS = HALF_LIFE_DAYS / float(np.log(2.0))
"""Days after which it has faded to 1/e."""
SPACING = 0.3
"""What distinct sessions add, times the logarithm of their number (E4.4.1)."""
AFFECT = 0.5
"""What arousal adds to where a strength begins (E37.2)."""
MOST = 1.5
"""The highest beginning, with arousal and replay (E37.2, X56)."""
_DAY_MS = 86_400_000


def initial_strength(importance: ArrayLike, arousal: ArrayLike = 0.0, boost: ArrayLike = 0.0) -> Values:
    """Where a memory's strength begins: 0.5 + 0.5 importance + 0.5 arousal + boost, at most 1.5 (E37.2, X56).

    The plan speaks of an initial strength "from importance" and gives no formula: that part is our choice.

    Args:
        importance: 0 to 1.
        arousal: 0 to 1.
        boost: what replay added, 0 to 1.

    Returns:
        0.5 to 1.5.
    """
    begun = 0.5 + 0.5 * np.clip(np.asarray(importance, np.float64), 0.0, 1.0)
    moved = AFFECT * np.asarray(arousal, np.float64) + np.asarray(boost, np.float64)
    return np.asarray(np.minimum(MOST, begun + moved), np.float64)


@dataclass(frozen=True, slots=True)
class StrengthCourse:
    """How the strength of memories goes on if nobody touches them; one number a memory in each.

    Attributes:
        since: epoch ms from which time counts.
        begun: the strength at that moment; may be above 1.
        tau: days after which 1/e of it is left.
        pinned: what is pinned does not fade.
    """

    since: Values
    begun: Values
    tau: Values
    pinned: NDArray[np.bool_]

    def at(self, now_ms: ArrayLike) -> Values:
        """The strength at a moment.

        Args:
            now_ms: epoch ms; one moment, or one for each memory.

        Returns:
            0 to 1: what passes 1 is capped.
        """
        days = np.maximum(0.0, np.asarray(now_ms, np.float64) - self.since) / _DAY_MS
        value = np.minimum(1.0, self.begun * np.exp(-days / self.tau))
        return np.asarray(np.where(self.pinned, 1.0, value), np.float64)

    def until(self, line: float) -> Values:
        """When the strength comes down to a line: since + tau ln(begun / line).

        Args:
            line: above 0, at most 1.

        Returns:
            Epoch ms; infinity for what is pinned.
        """
        days = self.tau * np.log(np.maximum(1.0, self.begun / line))
        return np.asarray(np.where(self.pinned, np.inf, self.since + days * _DAY_MS), np.float64)


def strength_course(
    *,
    importance: ArrayLike,
    recorded_at: ArrayLike,
    last_accessed_at: ArrayLike,
    access_count: ArrayLike,
    sessions: ArrayLike,
    pinned: ArrayLike,
    arousal: ArrayLike = 0.0,
    spared_at: ArrayLike = np.nan,
    replays: ArrayLike = 0.0,
    boost: ArrayLike = 0.0,
) -> StrengthCourse:
    """The course of strength (E4.4.1 with settlements C14 and C15, E37.2, X56, X57).

    S = S0 exp(-t / tau) (1 + 0.3 ln n_s), tau = BASE_TAU (1 + ln n) (1 + arousal); n and n_s count at least 1, so that
    a memory that was never used fades like one that was used once. A replay counts as an access in tau. t counts from
    the later of storing, the last access and the person's sparing, never from when it was said.

    Args:
        importance: 0 to 1, one number a memory; so are the others.
        recorded_at: when Loci learned it, epoch ms.
        last_accessed_at: when it was last recalled, epoch ms; NaN where never.
        access_count: how often it was recalled, 0 or more.
        sessions: in how many distinct sessions it was recalled, 0 or more.
        pinned: whether it is pinned.
        arousal: how moving it was, 0 to 1.
        spared_at: when the person spared it, epoch ms; NaN where never.
        replays: how often replay strengthened it, 0 or more.
        boost: what replay added, 0 to 1.

    Returns:
        The course.
    """
    used = np.asarray(access_count, np.float64) + np.asarray(replays, np.float64)
    spread = np.log(np.maximum(1.0, np.asarray(sessions, np.float64)))
    moved = np.asarray(arousal, np.float64)
    since = np.fmax(np.asarray(recorded_at, np.float64), np.asarray(last_accessed_at, np.float64))
    return StrengthCourse(
        since=np.asarray(np.fmax(since, np.asarray(spared_at, np.float64)), np.float64),
        begun=np.asarray(initial_strength(importance, moved, boost) * (1.0 + SPACING * spread), np.float64),
        tau=np.asarray(BASE_TAU_DAYS * (1.0 + np.log(np.maximum(1.0, used))) * (1.0 + moved), np.float64),
        pinned=np.asarray(pinned, np.float64) > 0.0,
    )
