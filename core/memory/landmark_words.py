"""The words by which a landmark is shown: from where they say something, without the marks of a program or of Markdown.

For showing alone: the text of the memory stays as it came. Must not do: write, or read what was said before.
"""

from __future__ import annotations

import re
from itertools import islice

from core.talk.vocabulary import length_of_phrase_at, talk_words
from core.text.markdown import find_front_matter, render_markdown

READ_CHARACTERS = 1_000
"""Characters of a text that are looked at."""
_CITATION = re.compile("\ue200[^\ue201]{0,300}(?:\ue201|$)")
_PRIVATE = re.compile("[\ue000-\uf8ff]+")
_HEADING = re.compile(r"^#{1,6}[ \t]+", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<![\w*_~])(\*{1,3}|__|~~)(?=\S)([^*~\n]+?)(?<=\S)\1(?![\w*_~])")
_CAPTION = re.compile(
    r"[\[(<]\s*(?:photo|image|picture|video|sticker|gif|media|attached|attachment)s?\b[^\])>]{0,400}(?:[\])>]|\Z)",
    re.IGNORECASE,
)
"""What a program says of a picture that was sent: nobody said that. The beginning of a text may end within it."""
_WORD = re.compile(r"[^\W_]+|'[^\W_]+")
_CALL = re.compile(r"(?:,?[ \t]*[A-Z][a-z]+)?[ \t]*[!.,…]+\s*")
_SENTENCE_END = re.compile(r"[!.…]+\s+")
_OPENING_WORDS, _OPENINGS = 8, 4
_LONGEST_OPENING, _LEAST_LEFT = 60, 16


def landmark_words(text: str, most: int) -> str:
    """The words of a landmark as they are shown.

    Args:
        text: of the memory, or its beginning.
        most: characters at most.
    """
    text = _CITATION.sub("", text[:READ_CHARACTERS])
    block = find_front_matter(text)
    if block is not None and text[block.body_at :].strip():
        text = text[block.body_at :]
    text = _PRIVATE.sub(
        "", _EMPHASIS.sub(r"\2", _HEADING.sub("", render_markdown(strip_captions(text).strip() or text)))
    )
    return _skip_openings(text.strip())[:most]


def words_from_opening(text: str) -> str:
    """A text as it came, from behind its thanks, greetings and calls; the cheap part of `landmark_words`."""
    return _skip_openings(strip_captions(text).strip() or text)


def strip_captions(text: str) -> str:
    """A text without what a program says of pictures that were sent with it: nobody said that."""
    return _CAPTION.sub(" ", text)


def _skip_openings(text: str) -> str:
    """A text from behind thanks, greetings and calls ("Wow, Caroline, "), as long as something is left."""
    for _ in range(_OPENINGS):
        rest = _behind_opening(text)
        if len(rest) < _LEAST_LEFT or rest == text:
            break
        text = rest[:1].upper() + rest[1:]
    return text


def _behind_opening(text: str) -> str:
    found = list(islice(_WORD.finditer(text.replace("’", "'")), _OPENING_WORDS))
    lows, words = [match.group().lower() for match in found], talk_words()
    if not lows or lows[0] in words.sets["firm_openers"]:
        return text
    polite = length_of_phrase_at(lows, 0, words.phrases["pleasantries"])
    count = max(polite, length_of_phrase_at(lows, 0, words.phrases["openers"]))
    if not count:
        return text
    call = _CALL.match(text, found[count - 1].end())
    if call is not None:
        return text[call.end() :]
    end = _SENTENCE_END.search(text, found[count - 1].end(), _LONGEST_OPENING) if polite else None
    return text if end is None else text[end.end() :]
