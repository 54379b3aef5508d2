"""Whether a conversation has stated the same before: then what stands gets one more source, and no second wording.

Must not do: hold two for one that differ in a number, a name or a "not".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.talk.statement_types import is_pursuit
from core.talk.vocabulary import Token, stem_word, talk_words, tokenize_talk
from core.types.talk import Statement

_MOST_COMPARED = 300  # statements of one subject, the latest
_TURNS = frozenset(("not", "no", "never", "cannot"))
_REPEATED = 0.85  # share of content words that two statements of one subject have in common
_NEAR, _LEAST_SHARED = 0.65, 4
"""Likewise of what somebody is after, and how many words at least: said thrice it is one wish still."""


class EarlierStatements:
    """What was stated of each subject so far."""

    def __init__(self) -> None:
        self._told: dict[str, list[tuple[frozenset[str], Statement]]] = {}

    def find_or_note(self, statement: Statement) -> Statement | None:
        """The statement that said the same before; None, and this one is noted, where none did."""
        content, tokens = content_words(statement.text), tokenize_talk(statement.text)
        earlier = self._told.setdefault(statement.about, [])
        for other, said in reversed(earlier[-_MOST_COMPARED:]):
            if _is_same(content, other) or (_is_near(content, other) and _pursue_one(tokens, said.text)):
                return said
        earlier.append((content, statement))
        return None


def find_pursued(text: str, earlier: Iterable[tuple[str, str]]) -> str | None:
    """The statement of one person that tells the pursuit of another: what is looked for, wanted or worked on.

    Args:
        text: of the later one.
        earlier: id and text of those that stand, in the order in which they are looked at.

    Returns:
        The id of the first; None where none does.
    """
    tokens = tokenize_talk(text)
    names, content = _names_of(tokens), content_words(text)
    for known, other in earlier:
        if other.isascii() and not all(name in other.lower() for name in names):
            continue  # most name others: they are not split into words to see that
        if _pursue_one(tokens, other) and _is_near(content, content_words(other)):
            return known
    return None


def content_words(text: str) -> frozenset[str]:
    """The stems of a sentence's words that are not small words of grammar; "not" counts."""
    grammar = talk_words().sets["grammar"]
    return frozenset(
        stem_word(token.low)
        for token in tokenize_talk(text)
        if token.is_word and (token.low not in grammar or token.low in _TURNS)
    )


def _pursue_one(tokens: Sequence[Token], said: str) -> bool:
    """Whether two sentences tell what somebody is after, and name the same: "wants to go to Rome" twice."""
    other = tokenize_talk(said)
    return _names_of(tokens) == _names_of(other) and is_pursuit(tokens) and is_pursuit(other)


def _names_of(tokens: Sequence[Token]) -> frozenset[str]:
    return frozenset(token.low for token in tokens[1:] if token.is_capital)


def _is_near(first: frozenset[str], second: frozenset[str]) -> bool:
    shared = len(first & second)
    return not _is_turned(first ^ second) and shared >= max(_LEAST_SHARED, _NEAR * max(len(first), len(second)))


def _is_same(first: frozenset[str], second: frozenset[str]) -> bool:
    return not _is_turned(first ^ second) and len(first & second) >= _REPEATED * max(len(first), len(second), 1)


def _is_turned(differ: frozenset[str]) -> bool:
    return any(any(sign.isdigit() for sign in word) or word in _TURNS for word in differ)
