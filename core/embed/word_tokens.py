"""A text's tokens, put together from those of its words: most words were read before.

No token of the bundled WordPiece vocabulary reaches over a blank, and a word of plain letters is read the same whatever
stands beside it, so a text is what its words are. Whatever else a text holds, the tokenizer reads it whole. Must not
do: keep a text; words are kept, as those of the index are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

_WORD = re.compile(r"[^ \t\r\n]+")
_MOST_KEPT = 20_000
_LONGEST_KEPT = 32
"""Signs of a word that is kept; a longer one is a link or a key, and comes once."""

TokenOffsets = list[tuple[int, int]]
ReadWord = Callable[[str], tuple[list[int], TokenOffsets]]


class WordTokens:
    """The tokenizer's ids and offsets of texts. Several threads may use it at once."""

    def __init__(self, tokenizer: Any) -> None:
        """Nothing is read yet.

        Args:
            tokenizer: the embedder's, without padding and truncation.
        """
        self._tokenizer = tokenizer
        self._read_known: ReadWord = lru_cache(_MOST_KEPT)(self._read_whole)

    def read(self, text: str) -> tuple[list[int], TokenOffsets]:
        """What the tokenizer gives for a text.

        Returns:
            Ids, and the signs of the text that each stands for; without the frame's own.
        """
        if not text.isascii():
            return self._read_whole(text)
        ids: list[int] = []
        offsets: TokenOffsets = []
        for match in _WORD.finditer(text):
            word = match.group()
            read, spans = self._read_known(word) if len(word) <= _LONGEST_KEPT else self._read_whole(word)
            ids += read
            at = match.start()
            if len(spans) == 1:
                offsets.append((at + spans[0][0], at + spans[0][1]))
            else:
                offsets += [(at + start, at + end) for start, end in spans]
        return ids, offsets

    def _read_whole(self, text: str) -> tuple[list[int], TokenOffsets]:
        found = self._tokenizer.encode(text, add_special_tokens=False)
        return found.ids, found.offsets
