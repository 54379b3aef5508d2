"""The maintained list of function words (`resources/text/stopwords_en.txt`).

Must not do: decide what a search does with them; that is `core.recall.candidates.lexical`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def stop_words() -> frozenset[str]:
    """The English function words, folded, without apostrophes.

    Returns:
        Words as they stand before stemming.
    """
    source = files("resources") / "text" / "stopwords_en.txt"
    lines = source.read_text("utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))
