"""How well a rule serves, and what becomes of it (seed B, rule maturity and rule effectiveness): pure formulas.

Must not do: read a clock or a vault, or say whose mark may do what.
"""

from __future__ import annotations

from enum import StrEnum

HARM_WEIGHT, SMOOTHING = 4, 0.01
"""A harmful mark weighs four helpful ones; a little keeps the division whole."""
ESTABLISHED_USES, ESTABLISHED_FROM = 5, 0.6
PROVEN_USES, PROVEN_FROM, PROVEN_DAYS = 15, 0.8, 30.0
INVERTED_HARM, INVERTED_BELOW = 3, 0.3


class Maturity(StrEnum):
    """How far a rule has come."""

    CANDIDATE = "candidate"
    ESTABLISHED = "established"
    PROVEN = "proven"


ANTI_PATTERN = "anti_pattern"
"""The word for the maturity of a rule that was turned into its opposite."""


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


def promoted(maturity: Maturity, helpful: int, effectiveness: float, age_days: float) -> Maturity:
    """The maturity after a helpful mark (seed B, rule promotion): at most one step up.

    Args:
        maturity: as it was.
        helpful: helpful marks.
        effectiveness: 0 to 1.
        age_days: days since the rule was stored, 0 or more.

    Returns:
        The same or the next one.
    """
    if maturity is Maturity.CANDIDATE and helpful >= ESTABLISHED_USES and effectiveness >= ESTABLISHED_FROM:
        return Maturity.ESTABLISHED
    is_proven = helpful >= PROVEN_USES and effectiveness >= PROVEN_FROM and age_days >= PROVEN_DAYS
    return Maturity.PROVEN if maturity is Maturity.ESTABLISHED and is_proven else maturity


def demoted(maturity: Maturity, effectiveness: float) -> Maturity:
    """The maturity after a harmful mark (seed B, rule demotion): at most one step down.

    Args:
        maturity: as it was.
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
