"""What the emblems of rooms stand for (`resources/palace/emblems.json`), and how well words fit them.

Must not do: choose an emblem, or keep a text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

from core.text.noun_phrases import stem_of
from core.text.terms import fold_width

_WHOLE = 1.0
_PART = 0.5


@cache
def read_emblems() -> Mapping[str, tuple[str, ...]]:
    """Emblem to what it stands for, words or short phrases; by name."""
    told = json.loads((files("resources") / "palace" / "emblems.json").read_text("utf-8"))
    return {name: tuple(told[name]) for name in sorted(told)}


def match_words(phrases: Iterable[str]) -> Mapping[str, float]:
    """How well phrases fit each emblem by their words alone.

    Args:
        phrases: the most telling first.

    Returns:
        Emblem to 0 for no word in common up to 1 for the first phrase itself.
    """
    scores = dict.fromkeys(read_emblems(), 0.0)
    for turn, phrase in enumerate(phrases):
        words = _stems_of_phrase(phrase)
        for emblem, meanings in _emblem_stems().items():
            best = max((_share_of_meaning(words, meaning) for meaning in meanings), default=0.0)
            scores[emblem] = max(scores[emblem], best / (1 + turn))
    return scores


def _share_of_meaning(words: frozenset[str], meaning: frozenset[str]) -> float:
    if not words or not meaning or words.isdisjoint(meaning):
        return 0.0
    return _WHOLE if words == meaning else _PART * len(words & meaning) / len(meaning)


@cache
def _emblem_stems() -> Mapping[str, tuple[frozenset[str], ...]]:
    return {name: tuple(map(_stems_of_phrase, (name, *meanings))) for name, meanings in read_emblems().items()}


def _stems_of_phrase(phrase: str) -> frozenset[str]:
    words = fold_width(phrase).replace("-", " ").replace("'s ", " ").replace(",", " ").split()
    return frozenset(filter(None, map(stem_of, words)))
