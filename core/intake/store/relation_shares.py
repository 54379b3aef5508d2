"""Relations whose shares are moved by what is known beside the model: rules, claims, whole or part.

Must not do: read a text's meaning, or say what becomes of a memory.
"""

from __future__ import annotations

from dataclasses import replace

from core.belief.relate.coverage import covers_text
from core.belief.relate.owner_contradiction import DOUBT, ContradictionOdds
from core.belief.trust_gate import may_act_on, may_displace
from core.intake.candidate import Neighbour, StoreCandidate
from core.types.belief import ACTED_ON, LABELS, Label, Relation

SAYS_MORE = "says_more"
"""The reason of a relation: the same in other words, but for something of its own."""
CLAIMS_LIKELIER = 12.0
"""How much likelier claims at odds make SUPERSEDE, and claims of other exclusive matters make it less likely: of the
training pairs with claims at odds 41 of 48 are (of all, 1 in 4); taken lower because there are few."""


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
