"""How much of what one text says another one speaks of: a remark about one line of a document does not replace it.

A check behind the relation model, which reads 64 tokens of each side. With the opposite check beside it: whether what
stands has a word for everything a newcomer says, so that it is no more than said again. Pure. Must not do: say whether
two texts agree.
"""

from __future__ import annotations

import re

from core.belief.extract.normal_form import read_as_seen
from core.belief.relate.features import PreparedText, prepare_text, vocabulary
from core.text.sentences import split_sentences
from core.text.terms import index_terms, stop_words

_WORD = re.compile(r"[^\W\d_]{3,}")
_FRONT_MATTER = re.compile(r"\s*---[ \t]*\n")
_ENUMERATED = re.compile(r":[^:.!?\n]*[,;][^:.!?\n]*[,;]")
_STEM = 5
_SHORT = 24
"""Content words up to which one sentence makes one point, which a few words can replace."""
_SHARE = 0.4
"""Our choice: so much of what makes several points a text must have in common with it to take its place."""
_TURNS = frozenset({"again", "off", "over", "out", "down", "up", "away", "still", "yet", "without", "instead", "until"})
"""Function words that tell what became of something."""


def covers_text(existing: str, incoming: str) -> bool:
    """Whether a text is about all that another one says, so that it could take its place.

    Args:
        existing: what stands.
        incoming: what is new.

    Returns:
        True for a text that makes one point, in whatever words; for one that makes several (sentences, lines, front
        matter, a list behind a colon, or very many words) whether two fifths of its content words are in the newcomer.
    """
    old = _content(existing)
    if _makes_one_point(existing) and len(old) <= _SHORT:
        return True
    return len(old & _content(incoming)) >= _SHARE * len(old)


def says_all_of(existing: str, incoming: str) -> bool:
    """Whether everything that a newcomer says has a word in what stands: a repeat by meaning is one only then.

    "The museum is shut for renovation." is near to "The museum has reopened its doors.", and says nothing of doors.

    Args:
        existing: what stands.
        incoming: what is new.
    """
    old, new = prepare_text(read_as_seen(existing)), prepare_text(read_as_seen(incoming))
    return _telling(new) <= _telling(old) and new.numbers <= old.numbers and old.negations == new.negations


def _telling(side: PreparedText) -> frozenset[str]:
    """The stems of what tells something, and the function words that tell a turn."""
    left_out = (stop_words() - _TURNS) | vocabulary()["owners"]
    return frozenset(index_terms(word.form) for word in side.words if word.form not in left_out)


def _makes_one_point(text: str) -> bool:
    if _FRONT_MATTER.match(text) or _ENUMERATED.search(text):
        return False
    return sum(1 for begin, end in split_sentences(text.strip()) if _WORD.search(text.strip(), begin, end)) <= 1


def _content(text: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(text.casefold()) if word not in stop_words()}
