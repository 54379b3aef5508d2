"""Lists of names that tell what a name most likely is where no word beside it does: given names, towns, makers.

Given names and towns are those that sensitive content is found by (`resources/sensitivity`); makers of known works are
`resources/enrich/makers.json`. A word that people also write small, and one that stands in two lists, tells nothing.
Must not do: find names.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from core.text.terms import common_words, fold_word, plain_words

_LEAST = 3


def is_given_name(word: str) -> bool:
    """Whether a word is a given name somewhere, and neither a town nor an everyday word."""
    key = fold_word(word)
    return _is_telling(key) and key in _names("given_names") and key not in _names("cities")


def is_town(word: str) -> bool:
    """Whether a word is the name of a town, and neither a given name nor an everyday word."""
    key = fold_word(word)
    return _is_telling(key) and key in _names("cities") and key not in _names("given_names")


def is_maker(word: str) -> bool:
    """Whether somebody is known by this surname for what they composed, painted, wrote or found out."""
    return fold_word(word) in _makers()


def _is_telling(key: str) -> bool:
    return len(key) >= _LEAST and key not in plain_words() and key not in common_words()


@cache
def _names(folder: str) -> frozenset[str]:
    listed = (files("resources") / "sensitivity" / folder / "names.txt").read_text("utf-8")
    return frozenset(listed.splitlines())


@cache
def _makers() -> frozenset[str]:
    data: dict[str, str] = json.loads((files("resources") / "enrich" / "makers.json").read_text("utf-8"))
    return frozenset(fold_word(name) for name in data["surnames"].split())
