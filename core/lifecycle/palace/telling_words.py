"""What of a text tells what it is about: not the words with which people cheer each other.

Must not do: keep or log a text, or name a room.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import cache
from importlib.resources import files

from core.text.noun_phrases import Phrase, stem_of


def is_telling(phrase: Phrase, silent: Collection[str]) -> bool:
    """Whether a phrase is one word that tells what a text is about.

    Args:
        silent: stems of the names of who speaks.
    """
    return len(phrase.key) == 1 and phrase.key[0] not in silent and phrase.key[0] not in _cheers()


@cache
def _cheers() -> frozenset[str]:
    """Stems of the nouns of thanks, praise and cheer (`resources/palace/cheers.json`)."""
    told = json.loads((files("resources") / "palace" / "cheers.json").read_text("utf-8"))
    return frozenset(stem_of(word) for word in told["words"])
