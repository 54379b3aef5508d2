"""Splits long texts at the best place there is, and finds sentences. Joined again, the parts are the text exactly.

Must not do: trim, normalise or drop anything.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

LIMIT_BYTES = 8192

_PARAGRAPH = re.compile(r"\n[ \t\r]*\n\s*")
# A sentence ends with its mark, closing quotes or brackets, and the space behind; or with a full-width mark; or a line.
_SENTENCE = re.compile(
    "(?:[.!?\u2026]+[\"'\u201d\u2019)\\]]*(?=\\s)|[\u3002\uff01\uff1f\uff0e]+[\u300d\u300f\uff09]*|\u0964|\n)\\s*"
)
# A full stop behind these does not end a sentence; single letters are initials.
_SHORT = re.compile(r"(?:^|[\s(])(?:[A-Za-z]|e\.g|i\.e|etc|vs|cf|Mr|Mrs|Ms|Dr|Prof|St|No|Nr|approx|ca)\.\s*$")
_SPACE = re.compile(r"\s+")
_JOINER = "\u200d"


def split_text(text: str, limit_bytes: int = LIMIT_BYTES) -> tuple[str, ...]:
    """Cut a text into parts of bounded size: between paragraphs, else sentences, else words, else signs.

    Args:
        text: any text; lone surrogates count 3 bytes.
        limit_bytes: UTF-8 bytes a part may have, at least 4.

    Returns:
        Parts with `"".join(parts) == text`; one part for a text that fits, also for an empty one.

    Raises:
        ValueError: a limit under 4.
    """
    if limit_bytes < 4:
        raise ValueError("a part holds at least one character of four bytes")
    parts = []
    start = 0
    while (hard := _reach(text, start, limit_bytes)) < len(text):
        cut = _best_cut(text, start, hard)
        parts.append(text[start:cut])
        start = cut
    parts.append(text[start:])
    return tuple(parts)


def split_sentences(text: str) -> tuple[tuple[int, int], ...]:
    """The sentences of a text.

    Returns:
        Spans in code points that follow one another without a gap; the space behind a sentence belongs to it. Empty for
        an empty text.
    """
    ends = [*_sentence_ends(text, 0, len(text))]
    if text and (not ends or ends[-1] < len(text)):
        ends.append(len(text))
    return tuple(zip([0, *ends], ends, strict=False))


def _reach(text: str, start: int, limit: int) -> int:
    """The furthest index such that text[start:index] fits the limit."""
    if 4 * (len(text) - start) <= limit:
        return len(text)
    window = text[start : start + limit].encode("utf-8", "surrogatepass")
    if len(window) <= limit:
        return min(len(text), start + limit)
    # Cut bytes back to a character's start; what is left decodes to the characters that fit.
    cut = limit
    while window[cut] & 0xC0 == 0x80:
        cut -= 1
    return start + len(window[:cut].decode("utf-8", "surrogatepass"))


def _best_cut(text: str, start: int, hard: int) -> int:
    # A good place in the last half is better than a full part: a part of three words is no help to anyone.
    least = start + (hard - start) // 2
    for ends in (
        _ends(_PARAGRAPH, text, least, hard),
        _sentence_ends(text, least, hard),
        _ends(_SPACE, text, least, hard),
    ):
        cut = max((end for end in ends if least < end <= hard), default=None)
        if cut is not None:
            return cut
    return _between_signs(text, start, hard)


def _ends(pattern: re.Pattern[str], text: str, start: int, stop: int) -> Iterator[int]:
    return (match.end() for match in pattern.finditer(text, start, stop))


def _sentence_ends(text: str, start: int, stop: int) -> Iterator[int]:
    for match in _SENTENCE.finditer(text, start, stop):
        abbreviated = match.group().startswith(".") and _SHORT.search(text, max(start, match.start() - 8), match.end())
        if not abbreviated:
            yield match.end()


def _between_signs(text: str, start: int, hard: int) -> int:
    """Step back until the cut does not part a sign (an emoji of several, a letter and its marks, CR and LF)."""
    cut = hard
    while cut > start + 1 and _joined(text, cut):
        cut -= 1
    # A cluster longer than a whole part (stacked marks) is cut where it must be.
    return cut if cut > start + 1 or not _joined(text, cut) else hard


def _joined(text: str, at: int) -> bool:
    left, right = text[at - 1], text[at]
    if unicodedata.category(right).startswith("M") or right == _JOINER or left == _JOINER:
        return True
    if (left, right) == ("\r", "\n") or "\U0001f3fb" <= right <= "\U0001f3ff" or "\U000e0020" <= right <= "\U000e007f":
        return True
    if "\u1160" <= right <= "\u11ff":  # Hangul vowel or final behind its syllable
        return True
    return _regional(right) and _flag_letters_before(text, at) % 2 == 1


def _regional(sign: str) -> bool:
    return "\U0001f1e6" <= sign <= "\U0001f1ff"


def _flag_letters_before(text: str, at: int) -> int:
    count = 0
    while at - 1 - count >= 0 and _regional(text[at - 1 - count]):
        count += 1
    return count
