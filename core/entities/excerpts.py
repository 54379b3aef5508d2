"""Excerpts: the sentence of a memory in which a name stands, the properties of a note left aside."""

from __future__ import annotations

import re
from collections.abc import Iterable

from core.text.sentences import split_sentences

LONGEST = 240
"""Characters of an excerpt, at most; our choice: two lines of a wide window."""
BEFORE = 60
"""Characters before the name from which on the beginning of its sentence is left out; our choice."""
CUT = "… "
"""Stands where the beginning of a sentence was left out."""
_FAR = 600  # where a sentence is this long, it is begun anywhere
_PROPERTIES = re.compile(r"\A---[ \t]*\n.{0,4000}?\n---[ \t]*(?:\n|\Z)\s*", re.DOTALL)
_LINE = re.compile(r"[ \t]*(?:[-*+•>][ \t]+|#{1,6}[ \t]+|\d{1,3}[.)][ \t]+)*")


def body_start(text: str) -> int:
    """Where the words of a note begin: behind the properties that stand above them.

    Args:
        text: of a memory.

    Returns:
        An offset in code points; 0 where there are none.
    """
    found = _PROPERTIES.match(text)
    return found.end() if found else 0


def cut_excerpt(text: str, places: Iterable[tuple[int, int]]) -> tuple[str, int, int]:
    """The sentence of a memory in which a name stands first, the properties of a note left aside.

    Args:
        places: where the name stands, code points; such as lie outside the text are left aside.

    Returns:
        What to show, at most `LONGEST` characters, and where in it the name stands; 0 and 0 where it stands among the
        properties alone.
    """
    body = body_start(text)
    inside = sorted((start, end) for start, end in places if body <= start < end <= len(text))
    if not inside:
        begin = _skip_list_signs(text, body, len(text))
        return _excerpt_to_line_end(text, begin, begin)[:LONGEST], 0, 0
    start, end = inside[0]
    begin = _excerpt_sentence_start(text, body, start)
    lead = ""
    if start - begin > BEFORE:
        lead, begin = CUT, _excerpt_word_start(text, start - BEFORE, start)
    shown = (lead + _excerpt_to_line_end(text, begin, end))[:LONGEST]
    shift = len(lead) - begin
    return shown, start + shift, min(end + shift, len(shown))


def _excerpt_sentence_start(text: str, body: int, start: int) -> int:
    low = max(body, start - _FAR)
    ahead = text[low:start]
    # One sign behind, so that the space before the name does not end the last sentence before it.
    spans = split_sentences(f"{ahead}x")
    return _skip_list_signs(text, low + (spans[-1][0] if spans else 0), start)


def _skip_list_signs(text: str, begin: int, most: int) -> int:
    """Past blanks, and the signs of a list or a heading."""
    while begin < most and text[begin].isspace():
        begin += 1
    found = _LINE.match(text, begin, most)
    return found.end() if found else begin


def _excerpt_word_start(text: str, begin: int, start: int) -> int:
    """The first whole word from there on; anywhere where there is none before the name."""
    blank = next((at for at in range(begin, start) if text[at].isspace()), None)
    return begin if blank is None else min(start, blank + 1)


def _excerpt_to_line_end(text: str, begin: int, behind: int) -> str:
    """To the end of the line in which the name ends."""
    stop = text.find("\n", behind)
    return text[begin : len(text) if stop < 0 else stop].rstrip()
