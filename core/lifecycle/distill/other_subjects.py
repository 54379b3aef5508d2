"""Statements of two people are not compared by the relation model: neither ends, repeats or completes the other.

Comparing is most of what writing a statement costs, and what is near to it is as often about somebody else. Must not
do: decide on two texts that may have one subject, by whatever name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.belief.relate.relation_model import certain_relation
from core.intake.claims import Relate
from core.intake.store.store import StoreService
from core.text.terms import common_words
from core.types.belief import ComparedText, Label, Relation

_NAMES = re.compile(r"[^\W\d_][\w-]*")
_LEAST_SHARED = 3  # letters at which a short form may begin a name
_SPEAKERS = frozenset(("you", "your", "i", "my", "me", "we", "our", "us"))
_APART = certain_relation(Label.COEXIST, "other_claims")


@dataclass(frozen=True, slots=True)
class SubjectRelations:
    """Compares by another what may have one subject.

    Attributes:
        relate: is asked about the rest.
    """

    relate: Relate

    def classify(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> tuple[Relation, ...]:
        """One relation for each pair (existing, incoming)."""
        apart = [are_of_others(existing.text, incoming.text) for existing, incoming in pairs]
        asked = [pair for pair, is_apart in zip(pairs, apart, strict=True) if not is_apart]
        told = iter(self.relate.classify(asked) if asked else ())
        return tuple(_APART if is_apart else next(told) for is_apart in apart)


def compare_by_subject(store_service: StoreService) -> StoreService:
    """The same store, which asks its relation model only about what may have one subject."""
    relate = store_service.readers.relate
    if relate is None:
        return store_service
    return replace(store_service, readers=replace(store_service.readers, relate=SubjectRelations(relate)))


def are_of_others(first: str, second: str) -> bool:
    """Whether two statements begin with a name each, and no name of the one may mean anybody of the other."""
    names = _names(first), _names(second)
    if not names[0] or not names[1]:
        return False
    return not any(_may_be_one(one, other) for one in names[0] for other in names[1])


def _names(text: str) -> list[str]:
    """The words with a capital, the first one before all; none where the text does not begin with a name."""
    words = [found.group() for found in _NAMES.finditer(text)]
    if not words or not words[0][:1].isupper():
        return []
    lead, lows = words[0].casefold(), {word.casefold() for word in words}
    if lead in common_words() or lead in _SPEAKERS or lows & _SPEAKERS:
        return []
    return [word.casefold() for word in words if word[:1].isupper()]


def _may_be_one(first: str, second: str) -> bool:
    return first[:_LEAST_SHARED] == second[:_LEAST_SHARED]
