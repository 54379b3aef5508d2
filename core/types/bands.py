"""Numbers as four words: what a client is told instead of a score (E10.16.1). Must not do: round anywhere else."""

from __future__ import annotations

# Strict inequalities: 0.85 itself is medium.
_BANDS = ((0.85, "high"), (0.60, "medium"), (0.40, "low"))


def band(value: float) -> str:
    """The band word of a number.

    Args:
        value: 0 to 1.

    Returns:
        `high` above 0.85, `medium` above 0.60, `low` above 0.40, else `minimal`.
    """
    return next((word for floor, word in _BANDS if value > floor), "minimal")
