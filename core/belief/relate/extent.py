"""How much of what one text says another one speaks of: a remark about one line of a document does not replace it.

A check behind the relation model, which reads 64 tokens of each side. Pure. Must not do: say whether two texts agree.
"""

from __future__ import annotations

import re

from core.text.stopwords import stop_words

_WORD = re.compile(r"[^\W\d_]{3,}")
_STEM = 5
_SHORT = 24
"""Content words up to which a text makes one point, which a few words can replace."""
_SHARE = 0.4
"""Our choice: so much of a longer text's content words a text must have that takes its place."""


def speaks_for(existing: str, incoming: str) -> bool:
    """Whether a text is about all that another one says, so that it could take its place.

    Args:
        existing: what stands.
        incoming: what is new.

    Returns:
        True for a short text, which makes one point in whatever words; for a longer one, whether two fifths of its
        content words are in the newcomer.
    """
    old = _content(existing)
    return len(old) <= _SHORT or len(old & _content(incoming)) >= _SHARE * len(old)


def _content(text: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(text.casefold()) if word not in stop_words()}
