"""Texts of one frame that differ in what numbers them: "Pot 3 of the series", "fired for the 7th time".

A number that names or counts an occasion makes another matter of it, where a quantity ("20 mg") is a new value of the
same. Pure. Must not do: judge texts whose words differ.
"""

from __future__ import annotations

import re

from core.belief.normal import as_read
from core.belief.vocabulary import words as vocabulary_words

_TOKEN = re.compile(r"[\w.\-]*\w")
_NUMBER = re.compile(r"\d+(?:st|nd|rd|th)?")
_LATEST = 2
"""The place in a text up to which a number after a word is its name: "Pot 3", "Note number 3"."""


def in_series(existing: str, incoming: str) -> bool:
    """Whether two texts say the same of two numbered things or occasions.

    Args:
        existing: what stands.
        incoming: what is new.

    Returns:
        False where any word differs, and where the only number that differs is a quantity.
    """
    old, new = (_TOKEN.findall(as_read(text).casefold()) for text in (existing, incoming))
    apart = [place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b]
    if len(old) != len(new) or not apart:
        return False
    if not all(_NUMBER.fullmatch(old[place]) and _NUMBER.fullmatch(new[place]) for place in apart):
        return False
    return any(not new[place].isdigit() or _names(new, place) for place in apart)


def _names(words: list[str], place: int) -> bool:
    """Whether a number follows the word that it numbers, at the beginning, and is no amount of anything."""
    if not 0 < place <= _LATEST or place + 1 >= len(words) or any(word.isdigit() for word in words[:place]):
        return False
    return words[place + 1] not in vocabulary_words().sets["measures"]
