"""Which of the person's statements their later one takes the place of: at most one, and none in doubt.

Whether a statement may be meant is judged pair by pair (`core.belief.relate.supersession`). Here they are weighed
against each other: of several that may be meant equally the one ends of which words tell that both give one property,
and none where words tell it of none. Where a name alone is in common, the property has to be seen otherwise: both are
of one sort, or meaning is sure. What is no assertion (a rumour, a wish) ends nothing. Must not do: compare the words
of two people, or change a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from core import log
from core.belief.relate.supersession import (
    InCommon,
    Succession,
    SupersessionText,
    find_in_common,
    judge_later_word,
    leans_on,
    rank_later_word,
    read_supersession_text,
    strip_common_words,
)
from core.belief.trust_gate import LATER_WORD, may_act_on
from core.errors import LociError
from core.intake.candidate import Neighbour, StoreCandidate
from core.intake.claims import TextReaders
from core.intake.store.relation_shares import (
    SAYS_MORE,
    limit_to_part,
    move_merge_to_coexist,
    relation_by_rules,
    without_supersede,
)
from core.score.trust import discount_chance, relevance_probability
from core.types.belief import ACTED_ON, Label, Relation
from core.types.talk import Assertion, Reading

_log = log.get("intake")
_EQUAL = 0.75
"""From this part of the highest rank on, ranks are equal: which of the statements is meant cannot be told by them."""
_EQUAL_BY_NAME = 0.7
"""The same where several have nothing but a name in common: it tells whom both are about, not what of them."""
_SURE = 0.85
"""From this share of SUPERSEDE a name in common is enough, where nothing else may be meant."""
_NEAR = 0.3
"""From this cosine of what is left without the common words, both are of one matter."""
_UNASSERTED = frozenset({Assertion.NONE, Assertion.HYPOTHESIS, Assertion.WISH, Assertion.JOKE})
"""What is told like this ends nothing."""


@dataclass(frozen=True, slots=True)
class _Meant:
    """A statement that the later one may take the place of."""

    other: Neighbour
    side: SupersessionText
    share: float
    rank: float
    in_common: InCommon


class LaterWord:
    """A later statement of the person beside their earlier ones; for one candidate."""

    def __init__(self, candidate: StoreCandidate, readers: TextReaders, others: int) -> None:
        """Take the candidate.

        Args:
            readers: what reads a sentence, and gives its vector; without them words alone tell.
            others: memories that the candidate may be compared with (`core.score.trust`).
        """
        self._candidate = candidate
        self._read_sentence = readers.read_sentence
        self._embed = readers.embed
        self._others = others
        self._meant: dict[str, _Meant] = {}
        self._readings: dict[str, Reading | None] = {}

    @cached_property
    def _side(self) -> SupersessionText:
        return read_supersession_text(self._candidate.compared_text.text)

    def relation_to(self, other: Neighbour, of_model: Relation) -> Relation:
        """How it relates to an earlier statement; where it may replace it, `choose_replaced` decides.

        Args:
            of_model: what the relation model says of the two.
        """
        old, new, shares = read_supersession_text(other.compared_text.text), self._side, of_model.probabilities
        judged = judge_later_word(old, new, shares, relevance_probability(other.cosine, self._others))
        beside = self._relate_beside(old, other, of_model)
        if judged is Succession.BESIDE:
            return without_supersede(beside)
        if judged is Succession.REPLACES:
            rank = rank_later_word(old, new, shares, other.cosine)
            share = shares.get(Label.SUPERSEDE, 0.0)
            self._meant[other.id] = _Meant(other, old, share, rank, find_in_common(old, new))
        if beside.label is Label.SUPERSEDE and may_act_on(beside):
            return replace(beside, confidence=ACTED_ON - 0.01)
        return beside

    def choose_replaced(self, found: Mapping[str, Relation]) -> dict[str, Relation]:
        """The relations with the one statement ended that is meant, if any."""
        ranked = sorted(self._meant.values(), key=lambda one: (-one.rank, one.other.id))
        near = [one for one in ranked if one.rank >= _EQUAL * ranked[0].rank]
        meant = self._find_alone(near, near[0]) if near else None
        if meant is None or _is_one_of_several(meant, ranked) or not self._is_borne_out(meant):
            return dict(found)
        return {**found, meant.other.id: self._relate_ended(meant)}

    def _find_alone(self, near: Sequence[_Meant], likeliest: _Meant) -> _Meant | None:
        """The one of several equals that can be meant; None where words and the sort of both leave more than one."""
        most = max(one.in_common for one in near)
        left = [one for one in near if one.in_common is most]
        if most is InCommon.PROPERTY:
            return left[0]
        if most is InCommon.WORD and len(left) > 1:
            left = [one for one in left if self._is_of_one_sort(one)]
        return likeliest if left == [likeliest] else None

    def _is_of_one_sort(self, meant: _Meant) -> bool:
        earlier, later = self._read(meant.side.text), self._read(self._side.text)
        return earlier is not None and later is not None and earlier.type is later.type

    def _relate_beside(self, old: SupersessionText, other: Neighbour, of_model: Relation) -> Relation:
        """Both stand: what the model says, short of what would act on it."""
        relation = discount_chance(of_model, other.cosine, self._others)
        if relation.label is Label.MERGE and not leans_on(self._side, old):
            relation = Relation(
                Label.COEXIST, relation.confidence, move_merge_to_coexist(relation), relation.by, SAYS_MORE
            )
        return relation

    def _relate_ended(self, meant: _Meant) -> Relation:
        sure = relation_by_rules(Label.SUPERSEDE, ACTED_ON + (0.99 - ACTED_ON) * meant.rank, LATER_WORD)
        return limit_to_part(self._candidate, meant.other, replace(sure, by="builtin"))

    def _is_borne_out(self, meant: _Meant) -> bool:
        """Whether it is an assertion, of the property that the earlier one tells."""
        later = self._read(self._side.text)
        if later is None:
            return True
        if later.assertion in _UNASSERTED and not self._is_standing_order(meant):
            return False
        if meant.in_common or meant.share >= _SURE or self._is_of_one_sort(meant):
            return True
        return self._nearness_of_rest(meant) >= _NEAR

    def _is_standing_order(self, meant: _Meant) -> bool:
        """Whether the earlier one is no assertion either: an order ends another one."""
        earlier = self._read(meant.side.text)
        return earlier is not None and earlier.assertion in _UNASSERTED

    def _nearness_of_rest(self, meant: _Meant) -> float:
        """How near the two are in what they say of what both name."""
        if self._embed is None:
            return 0.0
        sides = (self._side, meant.side), (meant.side, self._side)
        rests = [strip_common_words(*pair) for pair in sides]
        return float(np.dot(*(self._embed(rest) for rest in rests))) if all(rests) else 0.0

    def _read(self, text: str) -> Reading | None:
        if text not in self._readings:
            self._readings[text] = self._read_once(text)
        return self._readings[text]

    def _read_once(self, text: str) -> Reading | None:
        if self._read_sentence is None:
            return None
        try:
            return self._read_sentence(text)
        except LociError as error:
            # Nothing on this path depends on a model: without one, words alone tell.
            _log.warning("the reader of sentences did not answer: %s", error.code.value)
            return None


def _is_one_of_several(meant: _Meant, ranked: Sequence[_Meant]) -> bool:
    """Whether it has but a name in common, and so has another that comes near it."""
    if meant.in_common is not InCommon.NAME:
        return False
    least = _EQUAL_BY_NAME * meant.rank
    return any(one.in_common is InCommon.NAME and least <= one.rank < meant.rank for one in ranked)
