"""Two sentences of one frame that fill its last open place differently: "my bank is A", "the user's bank is B".

A check beside the relation model, for texts that would otherwise stand beside what the person said. Pure. Must not do:
say which of the two is right, or that they cannot both be true; it only says that a person should look.
"""

from __future__ import annotations

import re

from core.belief.extract.normal_form import as_read
from core.belief.extract.vocabulary import exclusivity
from core.belief.relate.relation import at_odds
from core.text.stopwords import stop_words
from core.types.belief import Told

_WORD = re.compile(r"[\w@.+-]+")
_PERSON = re.compile(r"\b(?:the\s+)?user(?:'s|’s)?(?!\w)|\b(?:i|i'm|my|me|mine)(?!\w)", re.IGNORECASE)
_LEFT_OUT = frozenset({"a", "an", "the"})
_PASSING = frozenset({"now", "currently", "new", "current", "actually", "still", "today", "called", "named"})
_BE = frozenset({"is", "was", "become", "became"})
_SELF = "\x01"
_MOST_NAMED = 5
_MOST_WORDS, _MOST_APART = 24, 4


def one_slot_apart(existing: Told, incoming: Told) -> bool:
    """Whether two short texts differ in one place only, in what fills it, and that place holds one value as a rule.

    Args:
        existing: what stands.
        incoming: what is new.

    Returns:
        False for texts of many words, and where both are read as claims of a predicate that holds many values.
    """
    return at_odds(existing.claims, incoming.claims) or _apart(existing, incoming) is not None


def one_value_apart(existing: Told, incoming: Told) -> bool:
    """Whether two short texts are one sentence with another value in it: what fills the place are no clauses.

    Args:
        existing: what stands.
        incoming: what is new.

    Returns:
        As `one_slot_apart`, but False where a function word is among what differs ("my wife's name is A" and "my wife's
        sister is called B" speak of two things), or where things of two names are told the same of.
    """
    apart = _apart(existing, incoming)
    if apart is None or not stop_words().isdisjoint(word for part in apart for word in part):
        return False
    words = _words(existing.text)
    at = _shared(words, _words(incoming.text))
    # Behind the thing's name stands its value, or before "is my ..."; else two things are told apart.
    return _SELF in words[at:] or not (stop_words() | {_SELF}).issuperset(words[:at])


def _apart(existing: Told, incoming: Told) -> tuple[list[str], list[str]] | None:
    """What differs where two texts differ in one place only; None where they do not."""
    old, new = _words(existing.text), _words(incoming.text)
    if not old or not new or max(len(old), len(new)) > _MOST_WORDS or _many(existing, incoming):
        return None
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    apart = old[head : len(old) - tail], new[head : len(new) - tail]
    kept = {*old[:head], *old[len(old) - tail :]} - {_SELF}
    return apart if all(0 < len(part) <= _MOST_APART for part in apart) and kept - stop_words() else None


def other_attribute(existing: Told, incoming: Told) -> bool:
    """Whether two sentences give one thing of the person's two values, however they go on behind them.

    "My bank is A." beside "the user's bank is B, in case anybody asks": one thing of a person has one value as a rule.

    Args:
        existing: what stands.
        incoming: what is new.
    """
    old, new = _attribute(existing.text), _attribute(incoming.text)
    if old is None or new is None or old[0] != new[0]:
        return False
    least = min(len(old[1]), len(new[1]))
    return old[1][:least] != new[1][:least]


def shares_matter(existing: str, incoming: str) -> bool:
    """Whether two texts have a word in common that is neither a function word nor the person.

    Args:
        existing: what stands.
        incoming: what is new.
    """
    return bool((set(_words(existing)) & set(_words(incoming))) - stop_words() - _PASSING - {_SELF})


def _attribute(text: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The thing of the person's that a sentence gives the value of, and the first words of that value."""
    words = [word for word in _words(text) if word not in _PASSING]
    if _SELF not in words:
        return None
    behind = words[words.index(_SELF) + 1 :]
    at = next((n for n, word in enumerate(behind) if word in _BE), 0)
    if not 0 < at <= _MOST_NAMED or not behind[at + 1 :]:
        return None
    return tuple(behind[:at]), tuple(behind[at + 1 : at + 1 + _MOST_APART])


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
