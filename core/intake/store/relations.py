"""How a candidate relates to what stands: shares moved by rules and claims, and the person's later word.

Which of the person's statements their later one takes the place of: at most one, and none in doubt. Whether a statement
may be meant is judged pair by pair (`core.belief.relate.supersession`). Here they are weighed against each other, by
what the relation model says that each is ended, and by words: of several that may be meant equally the one ends of
which words tell that both give one property, and none where words tell it of none, unless the model is nearly certain
of one. Where a name alone is in common, the property has to be seen otherwise: both are of one sort, or meaning is
sure. What may have ended and does not end is noted. What is no assertion (a question, a wish, a joke) ends nothing.

Must not do: compare the words of two people, say
what becomes of a memory, or change a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from core import log
from core.belief.relate.coverage import covers_text
from core.belief.relate.owner_contradiction import DOUBT, ContradictionOdds
from core.belief.relate.supersession import (
    NEARLY_CERTAIN,
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
from core.belief.trust_gate import LATER_WORD, may_act_on, may_displace
from core.errors import LociError
from core.intake.candidate import Neighbour, StoreCandidate
from core.intake.claims import TextReaders
from core.score.trust import SURE_END, discount_chance, end_shares, relevance_probability
from core.types.belief import ACTED_ON, BY_MEANING, LABELS, Label, Relation
from core.types.talk import Assertion, Reading
from core.types.values import Status

_log = log.get("intake")
SAYS_MORE = "says_more"
"""The reason of a relation: the same in other words, but for something of its own."""
CLAIMS_LIKELIER = 12.0
"""How much likelier claims at odds make SUPERSEDE, and claims of other exclusive matters make it less likely: of the
training pairs with claims at odds 41 of 48 are (of all, 1 in 4); taken lower because there are few."""
_EQUAL = 0.75
"""From this part of the highest rank on, ranks are equal: which of the statements is meant cannot be told by them."""
_EQUAL_BY_NAME = 0.7
"""The same where several have nothing but a name in common: it tells whom both are about, not what of them."""
_SURE = 0.85
"""From this share of SUPERSEDE a name in common is enough, where nothing else may be meant."""
_NEAR = 0.3
"""From this cosine of what is left without the common words, both are of one matter."""
_LEAST_END = 0.3
"""Below this share none ends, whatever words tell."""
_SURE_OF_NAMED = 0.7
"""From this share of SUPERSEDE the model alone tells the end of one that has nothing but a name in common."""
_CERTAIN_END = 0.97
"""From this part of `end_shares`, with NEARLY_CERTAIN, the model alone tells the end of one that words leave open."""
_IMAGINED = frozenset({Assertion.HYPOTHESIS, Assertion.WISH, Assertion.JOKE, Assertion.QUESTION, Assertion.QUOTED})
"""What is told like this ends nothing, and is not noted either."""
_UNASSERTED = _IMAGINED | {Assertion.NONE}
"""What is told like this ends nothing that words alone tell of."""


def relation_by_rules(label: Label, confidence: float, reason: str) -> Relation:
    """A relation that rules tell; the other labels share the rest."""
    rest = (1.0 - confidence) / 3
    return Relation(label, confidence, {one: confidence if one is label else rest for one in LABELS}, "rules", reason)


def doubtful_relation(relation: Relation, reason: str) -> Relation:
    """A question whether one replaces the other, whatever the model said."""
    doubt = {label: relation.probabilities.get(label, 0.0) / 2 for label in LABELS}
    doubt[Label.SUPERSEDE] += 0.5
    asked = min(ACTED_ON - 0.01, doubt[Label.SUPERSEDE])
    return Relation(Label.SUPERSEDE, asked, doubt, relation.by, reason)


def make_at_least_doubtful(relation: Relation | None, odds: ContradictionOdds) -> Relation:
    """Beside the person's word another value of the same thing is asked about, however the texts are worded."""
    if relation is None:
        shares = dict.fromkeys(LABELS, 0.0) | {Label.SUPERSEDE: odds.share, Label.COEXIST: 1.0 - odds.share}
        relation = Relation(Label.COEXIST, 1.0 - odds.share, shares, "builtin", "value_changed")
    if relation.label is not Label.SUPERSEDE:
        return doubtful_relation(relation, "value_changed")
    return replace(relation, reason="value_changed") if relation.by_meaning else relation


def without_supersede(relation: Relation) -> Relation:
    """Not at odds with the person's word: what the model took for its end stands beside it."""
    if relation.label is not Label.SUPERSEDE and relation.probabilities.get(Label.SUPERSEDE, 0.0) < DOUBT:
        return relation
    shares = {label: relation.probabilities.get(label, 0.0) for label in LABELS}
    shares |= {Label.SUPERSEDE: 0.0, Label.COEXIST: shares[Label.COEXIST] + shares[Label.SUPERSEDE]}
    likeliest = max(LABELS, key=lambda one: shares[one])
    return Relation(likeliest, shares[likeliest], shares, relation.by, "other_claims")


def weaken_relation(relation: Relation, reason: str = "other_claims") -> Relation:
    """Neither replaces nor repeats the other, as far as their claims tell: what is taken from both is COEXIST's."""
    shares = {label: relation.probabilities.get(label, 0.0) for label in LABELS}
    for label in (Label.SUPERSEDE, Label.DUPLICATE):
        left = shares[label] / CLAIMS_LIKELIER
        shares[Label.COEXIST] += shares[label] - left
        shares[label] = left
    likeliest = max(LABELS, key=lambda one: shares[one])
    return Relation(likeliest, shares[likeliest], shares, relation.by, reason)


def move_merge_to_coexist(relation: Relation) -> dict[Label, float]:
    """The shares where a further detail is a statement of its own."""
    shares = {label: relation.probabilities.get(label, 0.0) for label in LABELS}
    return shares | {Label.MERGE: 0.0, Label.COEXIST: shares[Label.COEXIST] + shares[Label.MERGE]}


def limit_merge(old: str | SupersessionText, new: str | SupersessionText, relation: Relation) -> Relation:
    """A further detail that can stand alone is no part of the text that it adds to."""
    if relation.label is not Label.MERGE or leans_on(new, old):
        return relation
    return Relation(Label.COEXIST, relation.confidence, move_merge_to_coexist(relation), relation.by, SAYS_MORE)


def limit_to_part(candidate: StoreCandidate, other: Neighbour, relation: Relation) -> Relation:
    """A remark about a line of a document does not take the place of the whole.

    Beside what it may not replace anyway, it stays as suspicious as it was.
    """
    doubted = relation.label is not Label.SUPERSEDE or not may_act_on(relation)
    if doubted or not may_displace(candidate.authority, other.authority):
        return relation
    if covers_text(other.compared_text.text, candidate.compared_text.text):
        return relation
    return weaken_relation(relation, "part_only")


def _note_end(relation: Relation, share: float) -> Relation:
    """A relation that is acted on by nobody, with the share by which it may be an end: a note, and no question."""
    share = max(share, relation.probabilities.get(Label.SUPERSEDE, 0.0))
    others: dict[Label, float] = {
        label: each for label, each in relation.probabilities.items() if label is not Label.SUPERSEDE
    }
    rest = sum(others.values())
    shares = {label: each * (1.0 - share) / (rest or 1.0) for label, each in others.items()}
    shares[Label.SUPERSEDE] = share
    return Relation(Label.SUPERSEDE, min(share, ACTED_ON - 0.01), shares, relation.by, BY_MEANING)


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
        self._open: dict[str, _Meant] = {}
        self._odds: dict[str, float] = {}
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
        if of_model.ends is not None and self._may_end(other):
            self._odds[other.id] = of_model.ends
        beside = self._relate_beside(old, other, of_model)
        if judged is Succession.BESIDE:
            return without_supersede(beside)
        rank = rank_later_word(old, new, shares, other.cosine)
        self._open[other.id] = _Meant(other, old, shares.get(Label.SUPERSEDE, 0.0), rank, find_in_common(old, new))
        if judged is Succession.REPLACES:
            self._meant[other.id] = self._open[other.id]
        if beside.label is Label.SUPERSEDE and may_act_on(beside):
            return replace(beside, confidence=ACTED_ON - 0.01)
        return beside

    def _may_end(self, other: Neighbour) -> bool:
        """Whether it may be ended at all: what waits, or was told in another session, takes no share from others."""
        is_standing = other.status in (Status.ACTIVE.value, Status.DISPUTED.value)
        return is_standing and other.authority.scope_session == self._candidate.authority.scope_session

    def choose_replaced(self, found: Mapping[str, Relation]) -> dict[str, Relation]:
        """The relations with the one statement ended that is meant, if any, or noted that may be."""
        shares = end_shares(self._odds)
        sure = next(
            (one for name, one in self._open.items() if self._is_surely_ended(one, shares.get(name, 0.0))), None
        )
        meant = sure or self._find_by_words(shares)
        if meant is not None and (
            self._is_borne_out(meant) if sure is None else not self._is_told_as(_IMAGINED, meant)
        ):
            ended = self._relate_ended(meant)
            if ended.label is Label.SUPERSEDE and may_act_on(ended):
                return {**found, **self._note_likely(found, shares), meant.other.id: ended}
        return {**found, **self._note_likely(found, shares)}

    def _is_surely_ended(self, meant: _Meant, share: float) -> bool:
        """Whether the model alone tells that it is the one; where words leave it open, it has to be nearly certain."""
        if meant.other.id not in self._meant:
            return share >= _CERTAIN_END and meant.share >= NEARLY_CERTAIN and not self._side.is_tentative
        return share >= SURE_END and (meant.in_common is not InCommon.NAME or meant.share >= _SURE_OF_NAMED)

    def _note_likely(self, found: Mapping[str, Relation], shares: Mapping[str, float]) -> dict[str, Relation]:
        """What may have ended and does not end, unless words tell that both stand: at most one."""
        return {
            name: _note_end(found[name], share)
            for name, share in shares.items()
            if share >= SURE_END and name in self._open and self._may_be_noted(self._open[name], found[name])
        }

    def _may_be_noted(self, meant: _Meant, relation: Relation) -> bool:
        says_same = relation.label in (Label.DUPLICATE, Label.MERGE) and may_act_on(relation)
        if says_same or relation.by == "rules" or self._side.is_tentative or self._is_told_as(_IMAGINED, meant):
            return False
        return may_displace(self._candidate.authority, meant.other.authority)

    def _find_by_words(self, shares: Mapping[str, float]) -> _Meant | None:
        """The one that is meant where words tell it apart from what else may be, and the model does not say no."""
        ranked = sorted(self._meant.values(), key=lambda one: (-one.rank, one.other.id))
        near = [one for one in ranked if one.rank >= _EQUAL * ranked[0].rank]
        meant = self._find_alone(near, near[0]) if near else None
        if meant is None or _is_one_of_several(meant, ranked):
            return None
        return meant if shares.get(meant.other.id, 1.0) >= _LEAST_END else None

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
        return limit_merge(old, self._side, discount_chance(of_model, other.cosine, self._others))

    def _relate_ended(self, meant: _Meant) -> Relation:
        sure = relation_by_rules(Label.SUPERSEDE, ACTED_ON + (0.99 - ACTED_ON) * meant.rank, LATER_WORD)
        return limit_to_part(self._candidate, meant.other, replace(sure, by="builtin"))

    def _is_borne_out(self, meant: _Meant) -> bool:
        """Whether it is an assertion, of the property that the earlier one tells."""
        later = self._read(self._side.text)
        if later is None:
            return True
        if self._is_told_as(_UNASSERTED, meant):
            return False
        if meant.in_common or meant.share >= _SURE or self._is_of_one_sort(meant):
            return True
        return self._nearness_of_rest(meant) >= _NEAR

    def _is_told_as(self, kinds: frozenset[Assertion], meant: _Meant) -> bool:
        """Whether the later one is of such a kind, and no order beside an order."""
        later = self._read(self._side.text)
        return later is not None and later.assertion in kinds and not self._is_standing_order(meant)

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
