"""How well a text reads as one line on a wall: short, one plain statement, about something and not to somebody.

Must not do: keep or log a text, or judge whether it is true.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from functools import cache
from importlib.resources import files

from core.memory.landmark_words import strip_captions
from core.talk.vocabulary import length_of_phrase_at, talk_words
from core.text.noun_phrases import Key, Phrase, stem_of
from core.text.room_names import is_named_by_time
from core.text.terms import fold_width

SHORTEST, LONGEST = 20, 160
"""Characters of a text that is read at a glance."""
_FEWEST, _ENOUGH = 2, 4
"""Words that tell something, of which a line has so many at least, and should have."""
_SHORT, _LONG, _LINES, _QUESTION, _CALL = 0.5, 0.7, 0.6, 0.3, 0.85
_REPLY = 0.2
"""It begins as a reply does ("Thanks", "That's great"): it tells of what was said before."""
_TO_SOMEBODY = 0.5
_POINTS_BACK = 0.5
"""It speaks of "them" or "that" before it names anything."""
_THEME = 1.6
HARDLY = 0.12
"""The clarity up to which a text tells hardly anything: it stands for a room that has nothing else."""
_LEAST = 0.02
_OF_PICTURE = 0.6
"""It was said to a picture, without which it may tell little."""
_WORD = re.compile(r"[^\W_]+|'[^\W_]+")
_OPENING = 6
_OPENING_POINTER = 5
_LEAST_NAME = 3
_POINTERS = frozenset({"it", "them", "this", "that", "these", "those"})
_PERSONS = frozenset({"he", "she", "they"})
_YOU = frozenset({"you", "your", "yours", "u", "ur"})


def theme_of(name: str) -> frozenset[str]:
    """The stems of a room's name: what is about them speaks for the room. A time and who speaks are no theme."""
    if is_named_by_time(name):
        return frozenset()
    return frozenset(filter(None, map(stem_of, fold_width(name).replace("'s ", " ").split())))


def read_clarity(text: str, phrases: Sequence[Phrase], theme: Collection[str], speakers: Collection[str]) -> float:
    """How well a text can stand for a room.

    Args:
        phrases: its noun phrases.
        theme: `theme_of` the room's name.
        speakers: stems of the names of who speaks in the room.

    Returns:
        0 for no text; about 1 for a plain sentence about something, more where that is the room's theme.
    """
    stripped = fold_width(strip_captions(text)).strip()
    about: set[Key] = {phrase.key for phrase in phrases if is_telling(phrase, speakers)}
    if len(about) < _FEWEST:
        return _LEAST if stripped else 0.0
    clarity = min(1.0, len(about) / _ENOUGH) * _shape_factor(stripped)
    if len(stripped) < len(text.strip()):
        clarity *= _OF_PICTURE
    lows = [word.lower() for word in _WORD.findall(stripped.replace("’", "'"))]
    phrases_of_talk = talk_words().phrases
    if any(length_of_phrase_at(lows[:_OPENING], 0, phrases_of_talk[kind]) for kind in ("openers", "pleasantries")):
        clarity *= _REPLY
    if _points_back(lows):
        clarity *= _POINTS_BACK
    if not _YOU.isdisjoint(lows):
        clarity *= _TO_SOMEBODY
    if any(_is_called(stem_of(low), speakers) for low in lows):
        clarity *= _TO_SOMEBODY
    return clarity * (_THEME if any(key[0] in theme for key in about) else 1.0)


def _points_back(lows: Sequence[str]) -> bool:
    """Whether a text begins with what stands for something that was said before."""
    return not _POINTERS.isdisjoint(lows[:_OPENING_POINTER]) or (bool(lows) and lows[0] in _PERSONS)


def _is_called(stem: str, speakers: Collection[str]) -> bool:
    """Whether a word is a speaker's name, or short for it ("Mel" of Melanie)."""
    return len(stem) >= _LEAST_NAME and any(name.startswith(stem) for name in speakers)


def _shape_factor(text: str) -> float:
    shape = _SHORT if len(text) < SHORTEST else 1.0
    if len(text) > LONGEST:
        shape *= _LONG * (LONGEST / len(text)) ** 0.5
    if "\n" in text:
        shape *= _LINES
    if "?" in text:
        shape *= _QUESTION
    return shape * (_CALL if "!" in text else 1.0)


def is_telling(phrase: Phrase, silent: Collection[str]) -> bool:
    """Whether a phrase is one word that tells what a text is about, and none with which people cheer each other.

    Args:
        silent: stems of the names of who speaks.
    """
    return len(phrase.key) == 1 and phrase.key[0] not in silent and phrase.key[0] not in _cheers()


@cache
def _cheers() -> frozenset[str]:
    """Stems of the nouns of thanks, praise and cheer (`resources/palace/cheers.json`)."""
    told = json.loads((files("resources") / "palace" / "cheers.json").read_text("utf-8"))
    return frozenset(stem_of(word) for word in told["words"])
