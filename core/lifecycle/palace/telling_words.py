"""What of a text tells what it is about: not a picture's caption, and not the words with which people cheer each other.

Must not do: keep or log a text, or name a room.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from functools import cache
from importlib.resources import files

from core.text.noun_phrases import Phrase, stem_of

_CAPTION = re.compile(
    r"[\[(<]\s*(?:photo|image|picture|video|sticker|gif|media|attached|attachment)s?\b[^\])>]{0,400}[\])>]",
    re.IGNORECASE,
)


def strip_captions(text: str) -> str:
    """A text without what a program says of pictures that were sent with it: nobody said that."""
    return _CAPTION.sub(" ", text)


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
