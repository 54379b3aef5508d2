"""Which memories that stay say the same as what was erased: the very same words, or the same number in any writing.

Whoever erases a leaked number wants to know where else it stands. Must not do: give out a text, or change a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from core.memory.write import content_hash
from core.sensitivity.detector import find_sensitive
from core.vault.database.rows import Rows, to_json

_SAME_WORDS = "SELECT id FROM memories WHERE content_hash IN (SELECT unhex(value) FROM json_each(?)) ORDER BY n"
_TEXTS = "SELECT n, id, text FROM memories WHERE n > ? ORDER BY n LIMIT 1000"
_LEAST_DIGITS = 6
"""Of a number that is looked for: a shorter one stands in many texts by chance."""
_MOST_TEXTS, _MOST_NUMBERS = 1_000, 200
"""Of what goes, so that erasing a whole import does not take hours."""
_BETWEEN = re.compile(r"[\s.\-/()+]")
_DIGIT = re.compile(r"\d")


def find_other_holders(rows: Rows, texts: Iterable[str]) -> tuple[tuple[str, ...], bool]:
    """Memories that say the same as erased ones.

    Args:
        rows: a snapshot behind the erasure.
        texts: that went.

    Returns:
        Ids, oldest first, and whether every number of the texts was looked for.
    """
    gone = tuple(dict.fromkeys(texts))
    found = {str(row[0]): None for row in rows.all(_SAME_WORDS, (to_json([content_hash(one).hex() for one in gone]),))}
    numbers = tuple(dict.fromkeys(number for text in gone[:_MOST_TEXTS] for number in _numbers_of(text)))
    if numbers:
        found |= dict.fromkeys(_find_numbers(rows, numbers[:_MOST_NUMBERS]))
    return tuple(found), len(gone) <= _MOST_TEXTS and len(numbers) <= _MOST_NUMBERS


def _numbers_of(text: str) -> Iterator[str]:
    for span in find_sensitive(text):
        number = _squeeze(text[span.start : span.end])
        if len(_DIGIT.findall(number)) >= _LEAST_DIGITS:
            yield number


def _find_numbers(rows: Rows, numbers: Sequence[str]) -> Iterator[str]:
    last = 0
    while some := rows.all(_TEXTS, (last,)):
        for _, memory_id, text in some:
            if _DIGIT.search(text):
                squeezed = _squeeze(text)
                if any(number in squeezed for number in numbers):
                    yield str(memory_id)
        last = int(some[-1][0])


def _squeeze(text: str) -> str:
    """A text without what stands between the digits of a number, in small letters."""
    return _BETWEEN.sub("", text).casefold()
