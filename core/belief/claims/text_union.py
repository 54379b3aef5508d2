"""One text of two, by rule: what a merge stores, and what the desk begins one with.

Must not do: judge whether two texts belong together, or lose a word of either.
"""

from __future__ import annotations

import re

_ENDS = ".!?…。:;,"
_LONG = 320
"""Code points from which two texts stand on lines of their own."""


def unite_texts(standing: str, newcomer: str) -> str:
    """Both texts as one: the one that holds the other, else the standing one first, so that its evidence stays.

    Args:
        standing: a text; may be empty.
        newcomer: another.

    Returns:
        Both, on two lines where they are long together or one has several lines.
    """
    first, second = standing.rstrip(), newcomer.strip()
    if not first.strip() or _holds(second, first):
        return second
    if not second or _holds(first, second):
        return first
    if "\n" in first or "\n" in second or len(first) + len(second) > _LONG:
        return f"{first}\n{second}"
    return f"{first}{'' if first[-1:] in _ENDS else '.'} {second}"


def _holds(text: str, other: str) -> bool:
    """Whether a text says the other's very words, not only a piece of a longer word."""
    wanted = other.strip().casefold()
    return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", text.casefold()) is not None
