"""Two sentences of one frame that fill its last open place differently: "my bank is A", "the user's bank is B".

A check beside the relation model, for texts that would otherwise stand beside what the person said. Pure. Must not do:
say which of the two is right, or that they cannot both be true; it only says that a person should look.
"""

from __future__ import annotations

import re

from core.belief.normal import as_read
from core.belief.relation import at_odds
from core.belief.vocabulary import exclusivity
from core.text.stopwords import stop_words
from core.types.belief import Told

_WORD = re.compile(r"[\w@.+-]+")
_PERSON = re.compile(r"\b(?:the\s+)?user(?:'s|’s)?(?!\w)|\b(?:i|i'm|my|me|mine)(?!\w)", re.IGNORECASE)
_LEFT_OUT = frozenset({"a", "an", "the"})
_SELF = "\x01"
_MOST_WORDS, _MOST_APART = 24, 4


def one_slot_apart(existing: Told, incoming: Told) -> bool:
    """Whether two short texts differ in one place only, in what fills it, and that place holds one value as a rule.

    Args:
        existing: what stands.
        incoming: what is new.

    Returns:
        False for texts of many words, and where both are read as claims of a predicate that holds many values.
    """
    if at_odds(existing.claims, incoming.claims):
        return True
    old, new = _words(existing.text), _words(incoming.text)
    if not old or not new or max(len(old), len(new)) > _MOST_WORDS or _many(existing, incoming):
        return False
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    apart = [old[head : len(old) - tail], new[head : len(new) - tail]]
    kept = {*old[:head], *old[len(old) - tail :]} - {_SELF}
    return all(0 < len(part) <= _MOST_APART for part in apart) and bool(kept - stop_words())


def _many(existing: Told, incoming: Told) -> bool:
    known = exclusivity()
    both = {one.predicate for one in existing.claims} & {one.predicate for one in incoming.claims}
    return any(not known.get(predicate, False) for predicate in both)


def _words(text: str) -> list[str]:
    folded = _PERSON.sub(_SELF, as_read(text)).casefold()
    found = [word.strip(".-") for word in re.findall(rf"{_SELF}|{_WORD.pattern}", folded)]
    return [word if len(word) < 4 else word.removesuffix("s") for word in found if word and word not in _LEFT_OUT]


def _shared(old: list[str], new: list[str]) -> int:
    """How many words at the beginning are the same."""
    count = 0
    for a, b in zip(old, new, strict=False):
        if a != b:
            break
        count += 1
    return count
