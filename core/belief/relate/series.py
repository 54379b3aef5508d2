"""Texts of one frame that differ in what numbers them: "Pot 3 of the series", "web-27", "fired for the 7th time".

A number or code that names the subject, or counts an occasion, makes another matter of it, where a quantity ("20 mg")
is a new value of the same. Pure. Must not do: judge texts of two frames.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from core.belief.extract.normal_form import as_read
from core.belief.extract.vocabulary import words as vocabulary_words
from core.text.stopwords import stop_words

_TOKEN = re.compile(r"[\w.\-]*\w")
_NUMBER = re.compile(r"\d+(?:st|nd|rd|th)?")
_DIGITS = re.compile(r"\d+")
_PRONOUNS = frozenset({"i", "we", "you", "he", "she", "they", "it"})
_LATEST_SUBJECT = 8
"""The place in a text up to which a code is part of its subject: "The word number 3 of the list is …"."""
_MOST_APART = 4
"""Words that one place of a frame may be filled with."""


def in_series(existing: str, incoming: str) -> bool:
    """Whether two texts say the same kind of thing of two numbered things or occasions.

    Args:
        existing: what stands.
        incoming: what is new.

    Returns:
        False where the subject is the same, and where the only number that differs is a quantity.
    """
    old, new = (_TOKEN.findall(as_read(text).casefold()) for text in (existing, incoming))
    place = next((place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
    if place is None:
        return False
    return _is_numbered(old, new) or _of_other_subjects(old, new, place)


def _is_numbered(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether nothing but numbers differs, and one of them names a thing or counts an occasion."""
    apart = [place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b]
    if len(old) != len(new):
        return False
    if not all(_NUMBER.fullmatch(old[place]) and _NUMBER.fullmatch(new[place]) for place in apart):
        return False
    return any(not new[place].isdigit() or _is_subject(new, place) for place in apart)


def _of_other_subjects(old: Sequence[str], new: Sequence[str], place: int) -> bool:
    """Whether the first words that differ are codes within the subject, and the rest fills one frame."""
    if _form(old[place]) != _form(new[place]) or not _is_subject(new, place):
        return False
    rest = old[place + 1 :], new[place + 1 :]
    for kind, a, b, c, d in SequenceMatcher(None, *rest, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        # A word too many ("now", "instead") may be what tells that the one took the place of the other.
        if kind != "replace" or max(b - a, d - c) > _MOST_APART or stop_words() & {*rest[0][a:b], *rest[1][c:d]}:
            return False
    return bool({*rest[0]} & {*rest[1]})


def _form(token: str) -> str:
    """A code with every number in it as one sign: `web-27` and `web-3` are of one form; without a number its own."""
    return _DIGITS.sub("0", token) if _DIGITS.search(token) else token


def _is_subject(words: Sequence[str], place: int) -> bool:
    """Whether the code at a place is a name within the first noun phrase: no verb, no pronoun and no unit about it."""
    known = vocabulary_words().sets
    before, after = words[:place], words[place + 1 : place + 2]
    if place > _LATEST_SUBJECT or (not before and not words[place][0].isalpha()):
        return False
    if any(word in known["aux"] or word in known["finite"] or word.endswith("ed") for word in before):
        return False
    if any(word in _PRONOUNS or _DIGITS.search(word) for word in before):
        return False
    if before and before[-1] in stop_words() and words[place].isdigit():
        return False  # "the 3 cats", "at 5": an amount or a time
    return bool(after) and after[0] not in known["measures"] and after[0] not in known["unit"]
