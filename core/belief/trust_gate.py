"""The trust gate: what may become of a newcomer beside one memory that stands (design section 4, "Trust gate").

Pure: two standings and a relation go in, a verdict comes out. Must not do: read rows, weigh texts, or let a number
override the owner's word.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from core.types.belief import ACTED_ON, Label, Relation
from core.types.values import Action, Source

AT_ODDS = frozenset({"claims_at_odds", "value_changed", "value_returns", "old_value", "held_value", "number_changed"})
"""Reasons of a relation that tell of two values of one property: what a person can be asked about."""
LATER_WORD = "later_word"
"""The reason of a relation: the person said another value of the same thing later."""
RESTATED = frozenset({"claims_at_odds", LATER_WORD})
"""Reasons for which a remark of the owner's may end the owner's own word."""
_EQUAL = 1e-9
_SURE = 0.95
_WORTH_ASKING = 0.4
"""From this probability of SUPERSEDE an unsure COEXIST is shown to a person; else every neighbour were a question."""


@dataclass(frozen=True, slots=True)
class SourceAuthority:
    """Whose word a memory is.

    Contradictions are weighed by `weight`: that others had confirmed what stands makes their equal no less, for what is
    over is confirmed until it is over.

    Attributes:
        owners_word: the owner said it explicitly at the window or the command line, or vouched for it there.
        owner_said: that, or the owner said it in passing (`user_implicit`).
        persons: that, or it is the person's own message in an import, or what a client may mark as the person's.
        source: by what way it came.
        client_id: which client brought it; None for the owner and imports.
        brought_by: `owner`, `client` or `import`: with the way and the client, what one source is.
        trust: its trust without the age term, 0 to 1: how old a text is decides which is later, not whose word counts.
        at_ms: when it was said or happened, epoch ms.
        scope_session: the session it is limited to; "" for none.
        source_weight: its trust without what others added to it by saying or confirming the same, 0 to 1; None where
            nobody did.
    """

    owners_word: bool
    owner_said: bool
    persons: bool
    source: Source
    client_id: str | None
    brought_by: str
    trust: float
    at_ms: int
    scope_session: str = ""
    source_weight: float | None = None

    @property
    def weight(self) -> float:
        """What it counts for before anybody confirmed or repeated it: that of its way and of its client."""
        return self.trust if self.source_weight is None else self.source_weight

    @property
    def is_relayed(self) -> bool:
        """Whether it is the person's word as a client with the grant `speak_for_user` brought it."""
        return self.persons and not self.owner_said and self.brought_by == "client"

    def is_guarded_from(self, client_id: str | None) -> bool:
        """Whether a client may not remove it: it is the person's word, and not what they typed to that client."""
        return self.persons and not (self.is_relayed and self.client_id == client_id)


class GateDecision(StrEnum):
    """What is done with the newcomer and the one that stands."""

    COEXIST = "coexist"
    STACK = "stack"
    MERGE = "merge"
    SUPERSEDE = "supersede"
    ENTER_SUPERSEDED = "enter_superseded"
    QUARANTINE = "quarantine"
    DISPUTE = "dispute"
    HOLD_EXISTING = "hold_existing"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The gate's answer.

    Attributes:
        decision: what is done.
        reason: why: a key of `resources/help/review.json`.
        review: whether a review item is opened.
        kind: of that item.
        suggestion: what Loci would do; None where it suggests nothing.
        noted: whether it is kept as a note that the two may belong together: no question, and in nobody's way.
    """

    decision: GateDecision
    reason: str = ""
    review: bool = False
    kind: str = "contradiction"
    suggestion: Action | None = None
    noted: bool = False


def may_act_on(relation: Relation) -> bool:
    """Whether a relation is sure enough to be acted on without a person."""
    return relation.confidence >= ACTED_ON


def decide_gate(newcomer: SourceAuthority, existing: SourceAuthority, relation: Relation) -> Verdict:
    """What becomes of a newcomer beside one memory that stands.

    Args:
        newcomer: whose word the newcomer is.
        existing: whose word stands.
        relation: how they relate, by structure or by meaning.

    Returns:
        The verdict. Without certainty (`may_act_on`) nothing that stands ends or changes; at most what somebody
        else told before the person spoke waits for a decision.
    """
    if newcomer.scope_session != existing.scope_session and not _is_against_person_across_sessions(newcomer, existing):
        return Verdict(GateDecision.COEXIST, "other_scope")
    if not may_act_on(relation) or _is_only_in_passing(newcomer, existing, relation):
        return _decide_unsure(newcomer, existing, relation)
    if relation.label is Label.DUPLICATE:
        return Verdict(GateDecision.STACK, "same_meaning")
    if relation.label is Label.MERGE:
        united = _may_unite(newcomer, existing)
        return (
            Verdict(GateDecision.MERGE, "complementary") if united else Verdict(GateDecision.COEXIST, "other_standing")
        )
    if relation.label is Label.COEXIST:
        return Verdict(GateDecision.COEXIST, relation.reason)
    return resolve_contradiction(newcomer, existing)


def _is_only_in_passing(newcomer: SourceAuthority, existing: SourceAuthority, relation: Relation) -> bool:
    """A remark of the owner's against the owner's own word: meaning alone must be very sure of what it implies."""
    if relation.label is not Label.SUPERSEDE or not existing.owners_word:
        return False
    in_passing = newcomer.owner_said and not newcomer.owners_word
    return in_passing and relation.by != "rules" and relation.reason not in RESTATED and relation.confidence < _SURE


def resolve_contradiction(newcomer: SourceAuthority, existing: SourceAuthority) -> Verdict:
    """Both cannot be true, that is certain: which of them stands.

    What was said later takes the place of what was said before, where it may; an older newcomer is judged as if it had
    come first, so that the order of arrival does not matter.

    Args:
        newcomer: whose word the newcomer is.
        existing: whose word stands.
    """
    if newcomer.at_ms >= existing.at_ms:
        return _decide_replacement(newcomer, existing)
    turned = _decide_replacement(existing, newcomer)
    if turned.decision is GateDecision.SUPERSEDE:
        return Verdict(GateDecision.ENTER_SUPERSEDED, "said_before")
    if turned.decision is GateDecision.DISPUTE:
        return turned
    if turned.decision is GateDecision.COEXIST:
        return replace(turned, suggestion=Action.REJECT)  # the newer one is there already
    if existing.persons and not newcomer.persons:
        # Else whoever dates a text back could hold back what the person said.
        return Verdict(GateDecision.QUARANTINE, "against_owner", review=True, suggestion=Action.REJECT)
    return Verdict(GateDecision.HOLD_EXISTING, turned.reason, review=True, suggestion=Action.REJECT)


def _decide_replacement(newcomer: SourceAuthority, existing: SourceAuthority) -> Verdict:
    """May the later of two take the place of the other?"""
    if newcomer.owners_word:
        return Verdict(GateDecision.SUPERSEDE, "owners_word")
    if existing.owner_said:
        return _decide_after_owner(newcomer)
    if newcomer.owner_said and (not existing.persons or existing.is_relayed):
        return Verdict(GateDecision.SUPERSEDE, "owner_said")
    if existing.persons and not newcomer.persons:
        return Verdict(GateDecision.QUARANTINE, "against_owner", review=True, suggestion=Action.REJECT)
    if newcomer.is_relayed:
        return Verdict(GateDecision.SUPERSEDE, "relayed_later")
    if newcomer.weight < existing.weight - _EQUAL:
        return Verdict(GateDecision.QUARANTINE, "trust_insufficient", review=True, suggestion=Action.REJECT)
    if newcomer.weight > existing.weight + _EQUAL:
        return Verdict(GateDecision.SUPERSEDE, "trust_higher")
    # What others said as well is theirs too: who said it first takes it back as one of several.
    is_confirmed = existing.trust > newcomer.trust + _EQUAL
    if is_one_source(newcomer, existing) and not is_confirmed:
        return Verdict(GateDecision.SUPERSEDE, "one_source_later")
    return Verdict(GateDecision.DISPUTE, "equals_disagree", review=True, suggestion=Action.SUPERSEDE)


def _decide_after_owner(newcomer: SourceAuthority) -> Verdict:
    """May what was said later take the place of what the owner said, where it is not the owner's word in so many?"""
    if newcomer.owner_said:
        return Verdict(GateDecision.SUPERSEDE, "one_source_later")
    if newcomer.is_relayed:
        # Both stand until the person has answered: each of them is the person's, by another door.
        return Verdict(GateDecision.COEXIST, "relayed_against_owner", review=True, suggestion=Action.SUPERSEDE)
    return Verdict(GateDecision.QUARANTINE, "against_owner", review=True, suggestion=Action.REJECT)


def is_one_source(a: SourceAuthority, b: SourceAuthority) -> bool:
    """Whether two memories come from one source: the same way and the same client; the owner is one client."""
    if a.owner_said and b.owner_said:
        return a.source is b.source
    return (a.source, a.client_id, a.brought_by) == (b.source, b.client_id, b.brought_by)


def is_one_person(a: SourceAuthority, b: SourceAuthority) -> bool:
    """Whether both are the person's words, by whatever door, or come from one source: what one leaves out both know."""
    return (a.persons and b.persons) or is_one_source(a, b)


def may_displace(newcomer: SourceAuthority, existing: SourceAuthority) -> bool:
    """Whether the newcomer could take the other's place if the two contradicted each other and it came later."""
    return _decide_replacement(newcomer, existing).decision is not GateDecision.QUARANTINE


def _is_of_lower_authority(newcomer: SourceAuthority, existing: SourceAuthority) -> bool:
    """Whether a doubt may hold the newcomer back: its source is below the other's."""
    return not may_displace(newcomer, existing)


def is_outranking(a: SourceAuthority, b: SourceAuthority) -> bool:
    """Whether one is the word of somebody above the other: the owner's word, what the owner said, then trust."""
    return (a.owners_word, a.owner_said, a.persons, a.trust - _EQUAL) > (
        b.owners_word,
        b.owner_said,
        b.persons,
        b.trust,
    )


def _is_against_person_across_sessions(newcomer: SourceAuthority, existing: SourceAuthority) -> bool:
    """Sessions keep apart what is told in them, but nobody's session is a place to contradict what the person said."""
    if existing.persons and not newcomer.persons:
        return not existing.scope_session
    return newcomer.owner_said and not existing.persons and not newcomer.scope_session


def _may_unite(newcomer: SourceAuthority, existing: SourceAuthority) -> bool:
    same = is_one_source(newcomer, existing) or _are_of_equal_authority(newcomer, existing)
    return same and _is_let_into(newcomer, existing)


def _is_let_into(newcomer: SourceAuthority, existing: SourceAuthority) -> bool:
    """Nobody's text goes into the person's: also not where it comes from where a text came that was vouched for."""
    return (newcomer.owner_said or not existing.owner_said) and (newcomer.persons or not existing.persons)


def _are_of_equal_authority(a: SourceAuthority, b: SourceAuthority) -> bool:
    """Of equal authority, so that one text of both claims for neither more than it had."""
    ranks = [(one.owners_word, one.owner_said, one.persons) for one in (a, b)]
    return ranks[0] == ranks[1] and abs(a.trust - b.trust) <= _EQUAL


def _decide_unsure(newcomer: SourceAuthority, existing: SourceAuthority, relation: Relation) -> Verdict:
    """A guess: it acts as COEXIST; whose source counts for less waits where it may replace.

    A person is asked only where two values of one property are at odds; that two texts may belong together is a note.
    """
    supersede = relation.probabilities.get(Label.SUPERSEDE, 0.0)
    coexist = relation.probabilities.get(Label.COEXIST, 0.0)
    if _is_of_lower_authority(newcomer, existing) and supersede > coexist:
        reason = "unsure_low_trust"
        return Verdict(GateDecision.QUARANTINE, reason, review=True, kind="classification", suggestion=Action.REJECT)
    if newcomer.owner_said and not existing.persons and supersede > coexist and not relation.by_meaning:
        # The same pair the other way round: what somebody told before the person spoke waits all the same. Not by
        # meaning alone: a remark of the person's beside a record would take the record away.
        reason = "unsure_low_trust"
        return Verdict(GateDecision.HOLD_EXISTING, reason, review=True, kind="classification", suggestion=Action.REJECT)
    if relation.label is Label.COEXIST and supersede < _WORTH_ASKING:
        return Verdict(GateDecision.COEXIST, relation.reason)
    if relation.label is Label.MERGE and supersede < _WORTH_ASKING and not _may_unite(newcomer, existing):
        # Certain or not, they would not be united: whoever asked would ask about nothing.
        return Verdict(GateDecision.COEXIST, "other_standing")
    asked = relation.reason in AT_ODDS
    suggestion = _SUGGESTED[relation.label]
    if suggestion is Action.REJECT and newcomer.persons and newcomer.at_ms >= existing.at_ms:
        suggestion = Action.SUPERSEDE  # nobody is advised to keep the old one against what they said later
    return Verdict(GateDecision.COEXIST, "unsure", asked, "classification", suggestion, noted=not asked)


_SUGGESTED = {
    Label.DUPLICATE: Action.REJECT,
    Label.SUPERSEDE: Action.SUPERSEDE,
    Label.MERGE: Action.MERGE,
    Label.COEXIST: Action.KEEP_BOTH,
}
