"""Text of strangers made fit to be shown: names and field names, escaped and cut. Pure."""

from __future__ import annotations

import unicodedata

NAME_CHARACTERS = 40  # reliability study, C 33
_MARKUP = frozenset("<>&\\")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def shown(text: str, limit: int = NAME_CHARACTERS) -> str:
    r"""Escape what could deceive or break out of its place, then cut.

    Controls, bidi marks, invisible and private characters, odd spaces and the characters of markup and quoting become
    `\uXXXX`; an escape is never cut in half.

    Args:
        text: any text of a stranger.
        limit: characters at most, `…` at the end where something was left out.

    Returns:
        One line of plain text.
    """
    pieces: list[str] = []
    room = limit
    for character in text.strip():
        piece = _escape(character)
        if len(piece) > room:
            while pieces and room < 1:
                room += len(pieces.pop())
            return "".join(pieces) + "…"
        pieces.append(piece)
        room -= len(piece)
    return "".join(pieces)


def _escape(character: str) -> str:
    if character == " ":
        return character
    category = unicodedata.category(character)
    if category in _UNSEEN or category == "Zs" or character in _MARKUP:
        return f"\\u{ord(character):04x}"
    return character
