"""Hostile text made visible: what has no shape of its own, or turns the order of others, is shown as a mark.

Memory text is never interpreted: no markup, no links, no escape codes. Must not do: change what is stored.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtGui import Qt

# Format characters that belong to ordinary writing: emoji sequences and scripts that join letters.
_JOINERS = {"\u200d", "\u200c"}
_SPACES = {"\u00a0": "nbsp", "\u202f": "nnbsp", "\u2007": "figure space", "\u3000": "wide space"}
_NAMES = {
    "\u200b": "zero width space",
    "\u200c": "zero width non-joiner",
    "\u200d": "zero width joiner",
    "\u2060": "word joiner",
    "\ufeff": "byte order mark",
    "\u00ad": "soft hyphen",
    "\u202a": "left-to-right embedding",
    "\u202b": "right-to-left embedding",
    "\u202c": "end of direction",
    "\u202d": "left-to-right override",
    "\u202e": "right-to-left override",
    "\u2066": "left-to-right isolate",
    "\u2067": "right-to-left isolate",
    "\u2068": "first strong isolate",
    "\u2069": "end of isolate",
    "\u200e": "left-to-right mark",
    "\u200f": "right-to-left mark",
    "\x00": "NUL",
    "\x1b": "escape",
    "\r": "carriage return",
}
# What stands above a note's words: properties between two lines of dashes, and the signs of a heading.
_FRONT_MATTER = re.compile(r"\A---\n.{0,2000}?\n---\s+(?:#{1,6} )?|\A#{1,6} (?=\S)", re.DOTALL)
_KEPT = {"\n", "\t"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of a text.

    Attributes:
        text: what to show: the characters themselves, or `U+202E` for a mark.
        name: what the mark stands for, in words; "" for ordinary text.
        start: offset of the run in the original, in characters.
    """

    text: str
    name: str
    start: int

    @property
    def is_mark(self) -> bool:
        """Whether it stands for a character that cannot be seen."""
        return bool(self.name)


def pieces(text: str) -> Iterator[Piece]:
    r"""Cut a text into runs that can be seen and marks for what cannot.

    Args:
        text: any text.

    Yields:
        The runs in order; a `\r\n` is a line end, not a mark.
    """
    start, at, end = 0, 0, len(text)
    while at < end:
        name = _hidden(text, at)
        if name:
            if at > start:
                yield Piece(text[start:at], "", start)
            yield Piece(f"U+{ord(text[at]):04X}", name, at)
            start = at + 1
        at += 1
    if end > start:
        yield Piece(text[start:end], "", start)


def _hidden(text: str, at: int) -> str:
    character = text[at]
    if character in _KEPT or (character == "\r" and text[at + 1 : at + 2] == "\n"):
        return ""
    if " " <= character <= "~":
        return ""
    if character in _JOINERS and _joins(text, at):
        return ""
    if character in _SPACES:
        return ""
    category = unicodedata.category(character)
    if category in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} or _is_filler(character):
        return _NAMES.get(character) or unicodedata.name(character, "control character").lower()
    return ""


def _joins(text: str, at: int) -> bool:
    """A joiner between two visible characters of an emoji or of a script that joins is part of ordinary writing."""
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    return bool(before and after) and ord(before) > 0x2FF and ord(after) > 0x2FF


def _is_filler(character: str) -> bool:
    code = ord(character)
    return code in {0x115F, 0x1160, 0x3164, 0xFFA0} or 0xE0000 <= code <= 0xE01EF or code == 0x2800


def one_line(text: str, most: int = 300) -> str:
    """A text as one line for a list: marks visible, line ends as spaces, a note's front matter left out.

    Args:
        text: any text.
        most: characters at most; an ellipsis stands for the rest.
    """
    text = _FRONT_MATTER.sub("", text, count=1)
    shown = "".join(f"‹{piece.text}›" if piece.is_mark else piece.text for piece in pieces(text[: most * 2]))
    line = " ".join(shown.split())
    return line if len(line) <= most and len(text) <= most * 2 else line[: most - 1].rstrip() + "…"


def has_marks(text: str) -> bool:
    """Whether a text holds anything that cannot be seen."""
    return any(piece.is_mark for piece in pieces(text))


def tip(text: str) -> str:
    """A text as a tooltip that shows it as it is: Qt takes what looks like markup for markup.

    Args:
        text: any text.
    """
    return f"<span>{html.escape(text)}</span>" if Qt.mightBeRichText(text) else text
