"""What can be said of a memory that an answer's trace does not know: why that may be, and what would help.

Pure. Must not do: guess how near a memory is in meaning.
"""

from __future__ import annotations

import re

from core.types.recall import Trace
from core.types.values import Status
from core.types.views import MemoryRow
from ui.pages.recall.words import verdict
from ui.strings import recall_strings
from ui.widgets.plaintext import one_line

_WORD = re.compile(r"[^\W_]+")
_STEM = 4
"""Letters from which on a word counts as another form of one that begins with it."""
_WORDS, _LONG = 4, 40


def shared(essence: str, text: str) -> list[str]:
    """The words of a question that a text has, in one form or another.

    Args:
        essence: the question without the words that tell nothing.
        text: of a memory, or its beginning.

    Returns:
        As they stand in the question, each once.
    """
    known = {word.casefold() for word in _WORD.findall(text)}
    found = {
        word.casefold(): word for word in _WORD.findall(essence) if any(_alike(word.casefold(), one) for one in known)
    }
    return list(found.values())


def _alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= _STEM and long.startswith(short))


def never_told(memory: MemoryRow, essence: str, trace: Trace) -> list[str]:
    """Why a memory may be no candidate, and what to do.

    Args:
        memory: which.
        essence: the question without the words that tell nothing.
        trace: of the answer, which does not know the memory.

    Returns:
        Sentences.
    """
    said = recall_strings()["why_not"]
    kept, scope = len(trace.candidates), trace.stages.get("in_scope", 0)
    first, *more = verdict(None, memory.status)
    if sum(one.rank is not None for one in trace.candidates) < scope:
        first = said["unkept"].format(kept=f"{kept:,}", count=f"{scope:,}")
    if memory.status is not Status.ACTIVE:
        return [first, *more]
    found = [f"“{one_line(word, _LONG)}”" for word in shared(essence, memory.head)[:_WORDS]]
    if found:
        told = said["shares"].format(words=", ".join(found))
    else:
        told = said["shares_none_cut" if memory.is_cut else "shares_none"]
    return [first, told, said["nearness"], said["help"]]
