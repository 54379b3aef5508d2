"""What plain looking for words finds: the baseline that recall is held against.

It does what `grep -i` and a count do over an exported conversation. Must not do: index, stem, or weigh a word.
"""

from __future__ import annotations

from collections.abc import Sequence

from locomo import Turn

from core.text.terms import query_terms


def content_words(question: str) -> tuple[str, ...]:
    """The words of a question that are not function words, in small letters; all of them where there is no other."""
    terms = query_terms(question)
    wanted = [term for term in terms if not term.stop] or list(terms)
    return tuple(dict.fromkeys(term.word.casefold() for term in wanted))


def grepped(turns: Sequence[Turn], question: str, limit: int) -> list[str]:
    """The turns that hold most of a question's content words.

    Args:
        turns: of one conversation; a line is the speaker and the text.
        question: any text.
        limit: turns at most.

    Returns:
        References, most words first; among equals the newest. A word inside a longer one counts, as with grep; a turn
        without any is not there.
    """
    words = content_words(question)
    counted = [(sum(word in f"{turn.author}: {turn.text}".casefold() for word in words), turn) for turn in turns]
    hits = [(count, turn.at_ms, turn.position, turn.ref) for count, turn in counted if count]
    return [hit[-1] for hit in sorted(hits, key=lambda hit: hit[:3], reverse=True)[:limit]]
