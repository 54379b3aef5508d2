"""What the emblems of rooms stand for (`resources/palace/emblems.json`), and how well words fit them.

Must not do: choose an emblem, or keep a text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain

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
        for emblem, meaning in chain.from_iterable(_meanings_by_stem().get(stem, ()) for stem in words):
            scores[emblem] = max(scores[emblem], _share_of_meaning(words, meaning) / (1 + turn))
    return scores


def _share_of_meaning(words: frozenset[str], meaning: frozenset[str]) -> float:
    """How much of a meaning words say that have one in common with it."""
    return _WHOLE if words == meaning else _PART * len(words & meaning) / len(meaning)


@cache
def _meanings_by_stem() -> Mapping[str, Sequence[tuple[str, frozenset[str]]]]:
    """Emblems and the stems of one thing that each stands for, by every such stem: most say nothing of a phrase."""
    found: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for emblem, meanings in read_emblems().items():
        for meaning in map(_stems_of_phrase, (emblem, *meanings)):
            for stem in meaning:
                found.setdefault(stem, []).append((emblem, meaning))
    return found


def _stems_of_phrase(phrase: str) -> frozenset[str]:
    words = fold_width(phrase).replace("-", " ").replace("'s ", " ").replace(",", " ").split()
    return frozenset(filter(None, map(stem_of, words)))
