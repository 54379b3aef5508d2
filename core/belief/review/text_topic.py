"""What two texts disagree about, read from their words alone, where no claim was read of them.

Their one difference is the value, and what stands before it the property: "Mooring paid until: March 2027 or June
2027?". Plain text that somebody else wrote. Must not do: guess where the texts differ in more than one value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from core.belief.review.sides import Place, differing_words
from core.belief.review.wording import ItemTopic, format_line, review_strings

_WORD = re.compile(r"\w+(?:[.'’:/\-]\w+)*")
_MOST_CHARACTERS = 300
_MOST_VALUE = 60
_LEAST_PROPERTY = 3


def find_worded_topic(existing: str, incoming: str, speaker: str = "") -> ItemTopic:
    """The property that two texts give two values of.

    Args:
        existing: what stands.
        speaker: who says so; "" for the owner.

    Returns:
        The topic with `stated` for its property; empty where they differ in more than that.
    """
    if max(len(existing), len(incoming)) > _MOST_CHARACTERS:
        return ItemTopic()
    existing_words, incoming_words = differing_words(existing, incoming)
    pair = _find_values(existing, existing_words), _find_values(incoming, incoming_words)
    if len(pair[0]) != 1 or len(pair[1]) != 1:
        pair = existing_words, incoming_words
    if len(pair[0]) != 1 or len(pair[1]) != 1:
        return ItemTopic()
    (old,), (new,) = pair
    old, new = _widen_value(existing, old), _widen_value(incoming, new)
    old_value, new_value = existing[slice(*old)], incoming[slice(*new)]
    stated = _words_of_subject(existing, old, speaker) or _words_of_subject(incoming, new, speaker)
    if not stated or max(len(old_value), len(new_value)) > _MOST_VALUE or old_value.casefold() == new_value.casefold():
        return ItemTopic()
    return ItemTopic(existing=old_value, incoming=new_value, stated=stated)


def _find_values(text: str, places: Sequence[Place]) -> list[Place]:
    """The words of some places that are a number, a day or a month; neighbours are one."""
    found: list[Place] = []
    for start, end in places:
        for word in _WORD.finditer(text, start, end):
            if _is_value(word.group()):
                is_next = bool(found) and not text[found[-1][1] : word.start()].strip()
                found[-1:] = [(found[-1][0], word.end())] if is_next else [*found[-1:], word.span()]
    return found


def _widen_value(text: str, place: Place) -> Place:
    """A place with the words of a date or number that go on with it: "March" of "March 2027"."""
    start, end = place
    if not all(_is_value(word.group()) for word in _WORD.finditer(text, start, end)):
        return place
    for word in _WORD.finditer(text, end):
        if text[end : word.start()].strip(" ,") or not _is_value(word.group()):
            break
        end = word.end()
    for word in reversed(list(_WORD.finditer(text, 0, start))):
        if text[word.end() : start].strip(" ,") or not _is_value(word.group()):
            break
        start = word.start()
    return start, end


def _words_of_subject(text: str, value: Place, speaker: str) -> str:
    """The words before a value, or behind one that begins the text, without articles and the first "is"."""
    before = list(_iter_words(text, 0, value[0]))
    words = before or list(_iter_words(text, value[1], len(text)))
    strings = review_strings()["worded"]
    while words and words[0].casefold() in strings["left_out_first"]:
        del words[0]
    own_word = strings["said_by_you"].get(words[0].casefold()) if words else None
    if own_word is not None and speaker:
        return ""  # "I take tea with milk", and not the owner's tea: the question names no property
    if own_word is not None:
        words[0] = own_word
    for at, word in enumerate(words[1:], 1):
        if before and word.casefold() in strings["left_out_once"]:
            del words[at]
            break
    stated = format_line(" ".join(words))
    return stated[:1].upper() + stated[1:] if len(stated) >= _LEAST_PROPERTY else ""


def _iter_words(text: str, start: int, end: int) -> Iterator[str]:
    """The words of a text between two places."""
    return (found.group() for found in _WORD.finditer(text, start, end))


def _is_value(word: str) -> bool:
    low = word.casefold()
    return any(sign.isdigit() for sign in low) or low.removesuffix("s") in _date_words()


@cache
def _date_words() -> frozenset[str]:
    """The words that may stand in a date."""
    return frozenset(review_strings()["worded"]["dates"])
