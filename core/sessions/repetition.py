"""What of a conversation says nothing new: the echo of a context Loci gave, and a repeated statement of a summary.

Contexts that come back inside a message are cut out of it (design section 4). A statement repeats another by Jaccard of
words, at least 0.6 (E13, X40), and must also say no word that the other lacks, function words aside, in the same
order, with the same numbers and denials: words in common alone would take "tea in the morning" for "coffee in the
morning". Must not do: store anything.
"""

from __future__ import annotations

import re

from core.belief.extract.sentence import word_lists
from core.intake.transaction.admission import was_disclosed
from core.memory.draft import content_hash
from core.text.terms import fold_case, stop_words
from core.vault.database.rows import Rows

_OPEN, _CLOSE = "<memory ", "</memory>"


def strip_contexts(text: str, frame: frozenset[str]) -> str:
    """A message without the contexts in it.

    Args:
        text: the message.
        frame: the lines that stand around the memories of a context.

    Returns:
        The text itself where there is no context in it; else what is left, "" where nothing is.
    """
    parts, at = [], 0
    while (start := text.find(_OPEN, at)) >= 0 and (end := text.find(_CLOSE, start)) >= 0:
        parts.append(text[at:start])
        at = end + len(_CLOSE)
    if not at and not any(line in text for line in frame if line.startswith("# ")):
        return text
    parts.append(text[at:])
    lines = "".join(parts).split("\n")
    return "\n".join(line for line in lines if line.strip() not in frame).strip()


def is_echo(rows: Rows, client_id: str | None, text: str, waiting: frozenset[str]) -> bool:
    """Whether a text is, word for word, one that a client was given.

    Args:
        client_id: the client; None for the owner, who is never an echo.
        waiting: memories that were given to it and are not written down yet.

    Returns:
        Whether it came from Loci.
    """
    if client_id is None:
        return False
    same = rows.all("SELECT id FROM memories WHERE content_hash = ? ORDER BY n LIMIT 64", (content_hash(text),))
    return any(was_disclosed(rows, client_id, str(row[0]), waiting) for row in same)


_WORD = re.compile(r"[^\W_]+(?:['’.,:-][^\W_]+)*")


def compared_words(text: str) -> tuple[str, ...]:
    """The words of a statement as they are compared: small letters, marks off.

    Returns:
        Words in their order.
    """
    return tuple(fold_case(match.group()).replace("’", "'") for match in _WORD.finditer(text))


def jaccard(left: tuple[str, ...], right: tuple[str, ...]) -> float:
    """Words in common, as a share of all words of both.

    Args:
        left: words.
        right: words.

    Returns:
        0 to 1; 0 where neither has any.
    """
    one, other = set(left), set(right)
    return len(one & other) / len(one | other) if one | other else 0.0


def is_repetition(new: tuple[str, ...], old: tuple[str, ...], least: float) -> bool:
    """Whether a statement says nothing that another has not said.

    Args:
        new: its words.
        old: those of the other.
        least: the Jaccard similarity from which they are compared at all.

    Returns:
        False wherever that is not sure.
    """
    if jaccard(new, old) < least:
        return False
    denials = word_lists().sets["neg"]
    if [word for word in new if word in denials] != [word for word in old if word in denials]:
        return False
    idle = stop_words() - denials
    left = iter(old)
    return all(word in left for word in new if word not in idle)  # each found behind the one before
