"""Folds text so that two spellings of one word meet: compatibility forms, case, diacritics.

Must not do: stemming, splitting, or any change to a text that is stored.
"""

from __future__ import annotations

import re
import unicodedata

# Marks that decorate a letter without being one: Latin, Greek and Cyrillic accents, Hebrew points, Arabic vowel signs.
# Vowel signs of Indic scripts and the voicing marks of kana are letters to their readers and stay.
_DECORATION = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]"
)
# Letters that Unicode does not decompose although people type them without their stroke.
_STROKES = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ŋ": "n"}
)


def fold_width(text: str) -> str:
    """Compatibility forms to plain ones (NFKC) and every apostrophe to the ASCII one; the case stays.

    Returns:
        The folded text.
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", text).replace("\u2019", "'").replace("\u02bc", "'").replace("\u2018", "'")


def fold_case(word: str) -> str:
    """Case and diacritics off: `Ærø`, `aero` and `ÆRØ` become one word.

    Args:
        word: a text in the form of `fold_width`.

    Returns:
        The folded word in NFC.
    """
    if word.isascii():
        return word.lower()
    bare = _DECORATION.sub("", unicodedata.normalize("NFD", word.casefold()))
    return unicodedata.normalize("NFKC", bare).translate(_STROKES)
