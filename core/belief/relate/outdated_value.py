"""Whether a text speaks of a value that is over: "residence Graz", after the move from Graz to Linz.

A check beside the relation model, for texts whose source may not replace what stands. Pure. Must not do: say what
becomes of the text; it only says that it brings an old value back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.belief.extract.normal_form import read_as_seen
from core.belief.relate.features import FeatureWord, prepare_text, vocabulary
from core.text.terms import stop_words
from core.types.belief import Told

_PLURAL = 4
"""From this length a word's final s is left out when words are compared."""
_LONG = 3
"""A number of so many signs tells a value by itself ("1234"); a shorter one only with the word beside it ("60 km")."""


@dataclass(frozen=True, slots=True)
class _ValueWords:
    """The words of a text that tell something: folded, without function words."""

    words: tuple[FeatureWord, ...]
    forms: tuple[str, ...]

    @property
    def known(self) -> frozenset[str]:
        return frozenset(self.forms)

    def marks(self) -> frozenset[str]:
        """Forms that point at one value: numbers, dates and names."""
        dates = vocabulary()["dates"]
        return frozenset(
            form
            for word, form in zip(self.words, self.forms, strict=True)
            if word.number or word.name or word.form in dates
        )

    def beside(self, form: str) -> frozenset[tuple[str, str]]:
        """The pairs of neighbours that a form is one of."""
        return frozenset(pair for pair in self.pairs() if form in pair)

    def pairs(self) -> Iterator[tuple[str, str]]:
        return zip(self.forms, self.forms[1:], strict=False)


def has_outdated_value(over: Told, head: Told, incoming: Told) -> bool:
    """Whether a newcomer names the value of a version that is over, and of the same matter.

    A value is a number, a date, a name, the value of a claim, or the word that another took the place of beside the
    same word ("chicken kibble", then "salmon kibble").

    Args:
        over: a version that is over.
        head: what stands in its place.
        incoming: the newcomer.

    Returns:
        Whether it does. A newcomer that shares nothing else with the matter does not, unless the two versions share
        nothing themselves: then the value alone tells.
    """
    old, now, new = (_read(told.text) for told in (over, head, incoming))
    gone = old.known - now.known
    topic = (old.known & now.known) - old.marks()
    if topic and not topic & new.known:
        return False
    # A name that begins a sentence looks like any word there: what is written like a name in either text is one.
    named = old.marks() | new.marks() | _values(over)
    for form in sorted(gone & new.known):
        if form in named and _tells(form, old, new, is_alone=not topic):
            return True
    return any(pair in set(new.pairs()) for pair in _replaced(old, now, gone))


def _tells(form: str, old: _ValueWords, new: _ValueWords, *, is_alone: bool) -> bool:
    """Whether a form that both have is the same value in both."""
    if not any(char.isdigit() for char in form):
        return True
    return (len(form) >= _LONG and not is_alone) or bool(old.beside(form) & new.beside(form))


def _replaced(old: _ValueWords, now: _ValueWords, gone: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Pairs of the old text in which one word was exchanged and the other stayed."""
    pairs = set(now.pairs())
    for first, second in old.pairs():
        exchanged_first = first in gone and any(b == second and a not in old.known for a, b in pairs)
        exchanged_second = second in gone and any(a == first and b not in old.known for a, b in pairs)
        if exchanged_first or exchanged_second:
            yield first, second


def _values(told: Told) -> frozenset[str]:
    """The words of the values that can hold one at a time."""
    found: Sequence[str] = [claim.value for claim in told.claims if claim.exclusive]
    return frozenset(form for value in found for form in _read(value).forms)


def _read(text: str) -> _ValueWords:
    stops = stop_words()
    words = tuple(word for word in prepare_text(read_as_seen(text)).words if word.form not in stops)
    return _ValueWords(words, tuple(_form(word.form) for word in words))


def _form(form: str) -> str:
    return form.removesuffix("s") if len(form) >= _PLURAL and form.isalpha() else form
