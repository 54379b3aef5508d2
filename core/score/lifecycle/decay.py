"""How sure we still are of something that nobody confirmed: effective confidence, which falls with the days.

Confidence is not strength: what is surely true may be all but forgotten (`core.score.lifecycle.strength`). Must not
do: say what becomes of a memory that fell below a line; that is the lifecycle's work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import Code, UserError

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
"""What `classify` gives."""


def check_permanence(name: str) -> str:
    """Refuse a permanence that is none.

    Args:
        name: as somebody gave it.

    Returns:
        The same.

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
        kinds: their kinds.
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


def classify(values: ArrayLike, fading_below: float, expired_below: float) -> NDArray[np.int8]:
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
