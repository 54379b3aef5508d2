"""Whether a statement of a summary repeats one that was just kept (E13, X40: Jaccard of words, at least 0.6).

Words in common alone would take "tea in the morning" for "coffee in the morning": what is passed over must also say no
word that the other lacks, function words aside, in the same order, with the same numbers and the same denials. Pure.
"""

from __future__ import annotations

import re

from core.belief.extract.vocabulary import words
from core.text.fold import fold_case
from core.text.stopwords import stop_words

_WORD = re.compile(r"[^\W_]+(?:['’.,:-][^\W_]+)*")


def said_words(text: str) -> tuple[str, ...]:
    """The words of a statement as they are compared: small letters, marks off.

    Args:
        text: any text.

    Returns:
        Words in their order.
    """
    return tuple(fold_case(match.group()).replace("’", "'") for match in _WORD.finditer(text))


def jaccard(left: tuple[str, ...], right: tuple[str, ...]) -> float:
    """Words in common, as a share of all words of both.

    Args:
        left: words.
        right: words.

    Returns:
        0 to 1; 0 where neither has any.
    """
    one, other = set(left), set(right)
    return len(one & other) / len(one | other) if one | other else 0.0


def repeats(new: tuple[str, ...], old: tuple[str, ...], least: float) -> bool:
    """Whether a statement says nothing that another has not said.

    Args:
        new: its words.
        old: those of the other.
        least: the Jaccard similarity from which they are compared at all.

    Returns:
        False wherever that is not sure.
    """
    if jaccard(new, old) < least:
        return False
    denials = words().sets["neg"]
    if [word for word in new if word in denials] != [word for word in old if word in denials]:
        return False
    idle = stop_words() - denials
    left = iter(old)
    return all(word in left for word in new if word not in idle)  # each found behind the one before
