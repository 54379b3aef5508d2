"""What time does to a memory: effective confidence falls with the days, strength fades and lasts longer with use.

Confidence is not strength: what is surely true may be all but forgotten, and a firmly remembered memory may be wrong
(design section 6). Replay draws weak memories and strengthens them (E44.2, E45.C1, X56). Must not do: read a vault, or
say what becomes of a memory that fell below a line; the lifecycle does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import Code, UserError

STEP = 0.2
"""What one replay adds to where strength begins (E44.2)."""
MOVED_ABOVE, MOVED_WEIGHT = 0.6, 2.0
"""Above this arousal a memory is drawn twice as often (E45.C1)."""
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
Values = NDArray[np.float64]
PERMANENT, STANDARD = "permanent", "standard"
RATES: Mapping[str, float] = MappingProxyType(
    {PERMANENT: 0.0, "stable": 0.002, STANDARD: 0.008, "volatile": 0.03, "ephemeral": 0.1}
)
"""Permanence to the share that is lost each day (seed B, permanence-to-decay-rate mapping)."""
RULE_RATE = 0.01
"""The rate of a rule of which nobody said how lasting it is (seed B, store rule as candidate)."""
_EPISODE, _RULE = "episode", "rule"
HOLDS, FADING, EXPIRED = 0, 1, 2
"""What `classify_bands` gives."""


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

    def strength_at(self, now_ms: ArrayLike) -> Values:
        """The strength at a moment.

        Args:
            now_ms: epoch ms; one moment, or one for each memory.

        Returns:
            0 to 1: what passes 1 is capped.
        """
        days = np.maximum(0.0, np.asarray(now_ms, np.float64) - self.since) / _DAY_MS
        value = np.minimum(1.0, self.begun * np.exp(-days / self.tau))
        return np.asarray(np.where(self.pinned, 1.0, value), np.float64)

    def time_until(self, line: float) -> Values:
        """When the strength comes down to a line: since + tau ln(begun / line).

        Args:
            line: above 0, at most 1.

        Returns:
            Epoch ms; infinity for what is pinned.
        """
        days = self.tau * np.log(np.maximum(1.0, self.begun / line))
        return np.asarray(np.where(self.pinned, np.inf, self.since + days * _DAY_MS), np.float64)


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


def check_permanence(name: str) -> str:
    """Refuse a permanence that is none.

    Args:
        name: as somebody gave it.

    Raises:
        UserError: INVALID_INPUT; the sentence lists the valid ones.
    """
    if name not in RATES:
        raise UserError(Code.INVALID_INPUT, f"The permanence of a memory is one of {', '.join(RATES)}.")
    return name


def decay_rate(kind: str, permanence: str) -> float:
    """How fast the confidence of one memory falls.

    An episode is a record of what was said: it is never confirmed, and does not become less certain (seed B keeps no
    confidence for episodes).

    Args:
        kind: the memory's kind.
        permanence: its level.

    Returns:
        The rate a day, 0 or more.

    Raises:
        UserError: INVALID_INPUT for an unknown level.
    """
    rate = RATES[check_permanence(permanence)]
    if kind == _EPISODE:
        return 0.0
    return RULE_RATE if kind == _RULE and permanence == STANDARD else rate


def decay_rates(kinds: Iterable[str], permanences: Iterable[str]) -> Values:
    """`decay_rate` for many memories.

    Args:
        permanences: their levels, as many.

    Returns:
        Rates a day, one number a memory.

    Raises:
        UserError: INVALID_INPUT for an unknown level.
    """
    known: dict[tuple[str, str], float] = {}
    found: list[float] = []
    for pair in zip(kinds, permanences, strict=True):
        rate = known.get(pair)
        if rate is None:
            rate = known[pair] = decay_rate(*pair)
        found.append(rate)
    return np.array(found, np.float64)


def effective_confidence(confidence: ArrayLike, rate: ArrayLike, days: ArrayLike) -> Values:
    """Confidence as it counts now: c exp(-rate d) (seed B, confidence decay with exponential formula).

    Args:
        confidence: as it was last worked out, 0 to 1, one number a memory; so are the others.
        rate: a day, 0 or more.
        days: since it was last confirmed; a time to come counts as now. NaN for never: then only what does not decay
            keeps its confidence, the rest has none.

    Returns:
        0 to 1.
    """
    held, lost = np.asarray(confidence, np.float64), np.asarray(rate, np.float64)
    passed = np.asarray(days, np.float64)
    gone = np.where(np.isnan(passed), np.inf, np.maximum(0.0, passed))
    with np.errstate(invalid="ignore"):  # 0 times infinity: chosen below
        falling = held * np.exp(-lost * gone)
    return np.asarray(np.where(lost == 0.0, held, falling), np.float64)


def classify_bands(values: ArrayLike, fading_below: float, expired_below: float) -> NDArray[np.int8]:
    """Where values lie between the lines (seed B, decay sweep threshold transitions).

    Args:
        values: effective confidence, 0 to 1.
        fading_below: the line of fading; on the line it holds.
        expired_below: the line of expiry; on the line it has not expired. It goes before the other one.

    Returns:
        `HOLDS`, `FADING` or `EXPIRED` for each.
    """
    found = np.asarray(values, np.float64)
    bands = np.where(found < fading_below, FADING, HOLDS)
    return np.asarray(np.where(found < expired_below, EXPIRED, bands), np.int8)


def days_until(confidence: ArrayLike, rate: ArrayLike, below: float) -> Values:
    """After how many days without a confirmation the value comes down to a line: ln(c / line) / rate.

    Args:
        confidence: 0 to 1, one number a memory.
        rate: a day, 0 or more.
        below: the line, 0 to 1.

    Returns:
        Days since the last confirmation; 0 where it is below from the first, infinity where it never comes there.
    """
    held, lost = np.broadcast_arrays(np.asarray(confidence, np.float64), np.asarray(rate, np.float64))
    found = np.full(held.shape, np.inf)
    found[held < below] = 0.0
    falls = (held >= below) & (lost > 0.0)
    if below > 0.0 and np.any(falls):
        found[falls] = np.log(held[falls] / below) / lost[falls]
    return found
