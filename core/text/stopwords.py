"""Word lists: English function words, and the common words of several languages that are never a name.

The lists are data (`resources/text`). Must not do: decide what a search does with them (that is
`core.recall.candidates.lexical`), or what is a name.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from core.text.fold import fold_case, fold_width


@cache
def common_words() -> frozenset[str]:
    """Function words of English, and common words of several languages, folded, without apostrophes.

    Returns:
        The words of `resources/text` and the openers of `resources/query/names.json`.
    """
    lines = (files("resources") / "text" / "stopwords_names.txt").read_text("utf-8").splitlines()
    listed = {fold_word(word) for line in lines if not line.startswith("#") for word in line.split()}
    openers = json.loads((files("resources") / "query" / "names.json").read_text("utf-8"))["openers"]
    return stop_words() | listed | {fold_word(word) for word in " ".join(openers).split()}


def fold_word(word: str) -> str:
    """A word as it stands in the lists.

    Args:
        word: any word.

    Returns:
        The word folded, without apostrophes.
    """
    return fold_case(fold_width(word)).replace("'", "")


@cache
def stop_words() -> frozenset[str]:
    """The English function words, folded, without apostrophes.

    Returns:
        Words as they stand before stemming.
    """
    source = files("resources") / "text" / "stopwords_en.txt"
    lines = source.read_text("utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))
