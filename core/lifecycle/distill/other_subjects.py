"""The relation model is asked about two statements only where one may end, repeat or complete the other.

Statements of two people do not, nor do two of one person that speak of nothing in common: the model reads two texts and
no more, and is as often sure of such a pair as of others; comparing is most of what writing a statement costs. Must not
do: keep from the model two texts whose claims are about one property, or a word of a change beside a short statement.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from core.belief.extract.normal_form import value_key
from core.belief.relate.relation_model import certain_relation
from core.belief.relate.supersession import SupersessionText, read_supersession_text
from core.intake.claims import Relate
from core.intake.store.store import StoreService
from core.text.terms import common_words
from core.types.belief import ComparedText, Label, Relation

_NAMES = re.compile(r"[^\W\d_][\w-]*")
_LEAST_SHARED = 3  # letters at which a short form may begin a name
_IN_COMMON = 0.6  # share of the shorter one's stems that is in the other, from which both speak of one thing
_SHORT = 2  # stems up to which one in common is enough
_SPEAKERS = frozenset(("you", "your", "i", "my", "me", "we", "our", "us"))
_APART = certain_relation(Label.COEXIST, "other_claims")


@dataclass(frozen=True, slots=True)
class SubjectRelations:
    """Compares by another what may be about one thing of one subject.

    Attributes:
        relate: is asked about the rest.
    """

    relate: Relate

    def classify(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> tuple[Relation, ...]:
        """One relation for each pair (existing, incoming)."""
        apart = [_are_apart(existing, incoming) for existing, incoming in pairs]
        asked = [pair for pair, is_apart in zip(pairs, apart, strict=True) if not is_apart]
        relations = iter(self.relate.classify(asked) if asked else ())
        return tuple(_APART if is_apart else next(relations) for is_apart in apart)


def compare_by_subject(store_service: StoreService) -> StoreService:
    """The same store, which asks its relation model only about what may be about one thing of one subject."""
    relate = store_service.readers.relate
    if relate is None:
        return store_service
    return replace(store_service, readers=replace(store_service.readers, relate=SubjectRelations(relate)))


def forget_statements() -> None:
    """Let go of the statements that were read last."""
    _read_again.cache_clear()


# One statement stands in every pair of its call, and those near to it are near to the next of its talk, too.
_read_again = lru_cache(maxsize=256)(read_supersession_text)


def _are_apart(existing: ComparedText, incoming: ComparedText) -> bool:
    """Whether neither can end, repeat or complete the other, as far as claims, names and words tell."""
    if _share_property(existing, incoming):
        return False
    if are_of_others(existing.text, incoming.text):
        return True
    return speak_of_others(_read_again(existing.text), _read_again(incoming.text))


def _share_property(existing: ComparedText, incoming: ComparedText) -> bool:
    first, second = ({(value_key(one.subject), one.predicate) for one in side.claims} for side in (existing, incoming))
    return not first.isdisjoint(second)


def speak_of_others(earlier: SupersessionText, later: SupersessionText) -> bool:
    """Whether two statements have too little in common, beside whom they are about, to be about one thing."""
    about = {*earlier.stems[:1], *later.stems[:1]} & {*earlier.stems} & {*later.stems}
    old, new = earlier.topic - about, later.topic - about
    shared, least = len(old & new), min(len(old), len(new))
    if not shared:
        return least > 1 or not later.changes
    return least > _SHORT and shared < _IN_COMMON * least


def are_of_others(first: str, second: str) -> bool:
    """Whether two statements begin with a name each, and no name of the one may mean anybody of the other."""
    names = _leading_names(first), _leading_names(second)
    if not names[0] or not names[1]:
        return False
    return not any(_may_be_one(one, other) for one in names[0] for other in names[1])


def _leading_names(text: str) -> list[str]:
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
